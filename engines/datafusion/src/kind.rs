//! The functions and their arguments.

/// A function of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Normalize,
    Key,
    Surt,
    Valid,
    Parse,
    Part,
    Domain,
    Resolve,
}

impl Kind {
    pub(crate) const ALL: [Kind; 8] = [
        Kind::Normalize,
        Kind::Key,
        Kind::Surt,
        Kind::Valid,
        Kind::Parse,
        Kind::Part,
        Kind::Domain,
        Kind::Resolve,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Normalize => "uri_normalize",
            Kind::Key => "uri_key",
            Kind::Surt => "uri_surt",
            Kind::Valid => "uri_valid",
            Kind::Parse => "uri_parse",
            Kind::Part => "uri_part",
            Kind::Domain => "uri_domain",
            Kind::Resolve => "uri_resolve",
        }
    }

    /// The texts that a call must have. All functions take options after them.
    pub(crate) fn texts(self) -> usize {
        match self {
            Kind::Part | Kind::Resolve => 2,
            _ => 1,
        }
    }

    /// The names of the options that may be given as texts, in this order, instead of a struct.
    pub(crate) fn positional(self) -> &'static [&'static str] {
        match self {
            Kind::Normalize => &["level"],
            Kind::Key => &["level", "hash"],
            _ => &[],
        }
    }
}
