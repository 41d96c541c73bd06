//! The components of one reference as offsets into its bytes (RFC 3986 section 3).

/// What the host is (3.2.2), first match wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HostKind {
    /// No authority, hence no host.
    #[default]
    None,
    /// A registered name, possibly empty.
    RegName,
    /// Four decimal octets: `IPv4address`.
    Ipv4,
    /// `[` IPv6address `]`
    Ipv6,
    /// `[` IPvFuture `]`
    IpFuture,
}

impl HostKind {
    /// The stable name used in machine output; `None` has no name.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            HostKind::None => None,
            HostKind::RegName => Some("reg-name"),
            HostKind::Ipv4 => Some("ipv4"),
            HostKind::Ipv6 => Some("ipv6"),
            HostKind::IpFuture => Some("ipvfuture"),
        }
    }
}

/// Offsets of the components of a reference; "undefined" and "empty" are distinct.
///
/// All offsets count bytes from the start of the reference.
///
/// ```text
///  https://user@example.com:8042/over/there?name=ferret#nose
///       |  |    |          |    |          |           |    |
///       |  |    host_start |    path_start path_end    |    len
///       |  authority_start host_end                    query_end
///       scheme_end
/// ```
///
/// | component | undefined when |
/// | --- | --- |
/// | scheme | `scheme_end == 0` (a scheme is never empty) |
/// | authority, host | `authority_start == 0` |
/// | userinfo | `host_start == authority_start` (else `@` is at `host_start - 1`) |
/// | port | `host_end == path_start` (else `:` is at `host_end`) |
/// | query | `path_end == query_end` (else `?` is at `path_end`) |
/// | fragment | `query_end == len` (else `#` is at `query_end`) |
///
/// Without an authority, `host_start`, `host_end` and `path_start` are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Components {
    /// Offset of the `:` that ends the scheme, or 0.
    pub scheme_end: u32,
    /// Offset after the `//`, or 0.
    pub authority_start: u32,
    /// Offset of the host's first byte.
    pub host_start: u32,
    /// Offset after the host's last byte.
    pub host_end: u32,
    /// Offset of the path's first byte; the path may be empty but is always defined.
    pub path_start: u32,
    /// Offset after the path's last byte.
    pub path_end: u32,
    /// Offset after the query's last byte.
    pub query_end: u32,
    /// Length of the reference.
    pub len: u32,
    /// What the host is.
    pub host_kind: HostKind,
}

macro_rules! component {
    ($(#[$doc:meta])* $name:ident, $defined:expr, $start:expr, $end:expr) => {
        $(#[$doc])*
        #[inline]
        pub fn $name<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
            let c = self;
            #[allow(clippy::redundant_closure_call)]
            if ($defined)(c) {
                Some(&text[($start)(c) as usize..($end)(c) as usize])
            } else {
                None
            }
        }
    };
}

impl Components {
    component!(
        /// The scheme without its `:`.
        scheme, |c: &Self| c.scheme_end != 0, |_: &Self| 0u32, |c: &Self| c.scheme_end
    );
    component!(
        /// The authority without its `//`.
        authority, |c: &Self| c.authority_start != 0, |c: &Self| c.authority_start, |c: &Self| c.path_start
    );
    component!(
        /// The user information without its `@`.
        userinfo, |c: &Self| c.host_start != c.authority_start && c.authority_start != 0,
        |c: &Self| c.authority_start, |c: &Self| c.host_start - 1
    );
    component!(
        /// The host, an IP literal with its brackets.
        host, |c: &Self| c.authority_start != 0, |c: &Self| c.host_start, |c: &Self| c.host_end
    );
    component!(
        /// The port without its `:`.
        port, |c: &Self| c.host_end != c.path_start, |c: &Self| c.host_end + 1, |c: &Self| c.path_start
    );
    component!(
        /// The query without its `?`.
        query, |c: &Self| c.path_end != c.query_end, |c: &Self| c.path_end + 1, |c: &Self| c.query_end
    );
    component!(
        /// The fragment without its `#`.
        fragment, |c: &Self| c.query_end != c.len, |c: &Self| c.query_end + 1, |c: &Self| c.len
    );

    /// The path; always defined.
    #[inline]
    pub fn path<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.path_start as usize..self.path_end as usize]
    }

    /// Whether the reference has a scheme (is a URI) rather than being relative (4.1).
    #[inline]
    pub fn is_uri(&self) -> bool {
        self.scheme_end != 0
    }

    /// Whether the reference is an absolute-URI (4.3): a scheme and no fragment.
    #[inline]
    pub fn is_absolute_uri(&self) -> bool {
        self.scheme_end != 0 && self.query_end == self.len
    }
}
