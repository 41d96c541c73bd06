//! Which rules have to look at a record: what the quiet screen says to the rules.

use crate::uri::{Components, UriError};

/// Which rules have to look at a record, by what they look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Looks(u8);

impl Looks {
    pub(super) const NONE: Looks = Looks(0);
    /// Scheme and authority.
    pub(super) const HEAD: Looks = Looks(1);
    /// Triplets of the path and the query.
    pub(super) const ENCODED: Looks = Looks(1 << 1);
    /// Segments of the path.
    pub(super) const PATH: Looks = Looks(1 << 2);
    /// Parameters with the name of a secret.
    pub(super) const PARAMETERS: Looks = Looks(1 << 3);
    /// Values of parameters that go up a path.
    pub(super) const TRAVERSAL: Looks = Looks(1 << 4);
    /// Character references.
    pub(super) const ENTITIES: Looks = Looks(1 << 5);
    /// All that is masked.
    pub(super) const SECRETS: Looks = Looks(1 << 6);
    /// What follows the names of secrets, of all that is masked.
    pub(super) const NAMES: Looks = Looks(1 << 7);
    pub(super) const ALL: Looks = Looks(u8::MAX);

    pub(super) const fn or(self, other: Looks) -> Looks {
        Looks(self.0 | other.0)
    }

    pub(super) const fn when(self, condition: bool) -> Looks {
        if condition { self } else { Looks::NONE }
    }

    pub(super) const fn without(self, other: Looks) -> Looks {
        Looks(self.0 & !other.0)
    }

    /// Whether it has any of `looks`.
    pub(super) const fn has(self, looks: Looks) -> bool {
        self.0 & looks.0 != 0
    }
}

/// What is known of a record that is audited.
#[derive(Clone, Copy, Debug)]
pub struct Hint {
    /// Its components, and why it is not a URI-reference, if it is none.
    pub(super) parsed: Option<(Components, Option<UriError>)>,
    /// The rules that may report something.
    pub(super) looks: Looks,
    /// How often a secret may follow a name.
    pub(super) names: usize,
}

impl Hint {
    /// Nothing.
    pub(super) const NONE: Hint = Hint { parsed: None, looks: Looks::ALL, names: usize::MAX };
}
