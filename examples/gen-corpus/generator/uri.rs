//! A URI under construction: its bytes, the ranges of its components, and edits that keep both
//! consistent.

use std::ops::Range;

/// The schemes that appear in a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Https,
    Http,
    Ftp,
    Ws,
    Wss,
    Ldap,
    File,
    Mailto,
    Urn,
    News,
    Tel,
    Sip,
    Data,
}

impl Scheme {
    /// The scheme with its `:`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Scheme::Https => "https:",
            Scheme::Http => "http:",
            Scheme::Ftp => "ftp:",
            Scheme::Ws => "ws:",
            Scheme::Wss => "wss:",
            Scheme::Ldap => "ldap:",
            Scheme::File => "file:",
            Scheme::Mailto => "mailto:",
            Scheme::Urn => "urn:",
            Scheme::News => "news:",
            Scheme::Tel => "tel:",
            Scheme::Sip => "sip:",
            Scheme::Data => "data:",
        }
    }

    /// The default port, as `:port` and with a leading zero.
    pub(crate) const fn default_port(self) -> Option<(&'static str, &'static str)> {
        match self {
            Scheme::Https | Scheme::Wss => Some((":443", ":0443")),
            Scheme::Http | Scheme::Ws => Some((":80", ":0080")),
            Scheme::Ftp => Some((":21", ":0021")),
            Scheme::Ldap => Some((":389", ":00389")),
            _ => None,
        }
    }

    /// Whether an empty path after the authority means `/` (6.2.3).
    pub(crate) const fn empty_path_is_root(self) -> bool {
        matches!(self, Scheme::Https | Scheme::Http | Scheme::Ws | Scheme::Wss)
    }
}

/// The kind of host, as far as respelling needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// No authority, or an empty host.
    None,
    /// A DNS name of ASCII letters.
    Name,
    /// A DNS name with the given row of the table of internationalized labels in it.
    Idn(usize),
    /// Four decimal octets.
    Ipv4,
    /// An IPv6 address in brackets, whose last two groups are not zero.
    Ipv6,
}

/// The bytes of a URI and the offsets of its components.
#[derive(Clone, Debug)]
pub(crate) struct Uri {
    /// All bytes.
    pub(crate) text: Vec<u8>,
    /// The scheme, whatever its spelling.
    pub(crate) scheme: Scheme,
    /// The kind of host.
    pub(crate) host_kind: Host,
    /// Whether there is an authority, possibly empty.
    pub(crate) authority: bool,
    /// The host; empty without authority.
    pub(crate) host: Range<usize>,
    /// The path; the port with its `:` is between host and path.
    pub(crate) path: Range<usize>,
}

impl Uri {
    /// An empty URI, to be reused.
    pub(crate) fn new() -> Uri {
        Uri {
            text: Vec::with_capacity(512),
            scheme: Scheme::Https,
            host_kind: Host::None,
            authority: false,
            host: 0..0,
            path: 0..0,
        }
    }

    /// Clears everything and writes the scheme, and `//` if `authority` is true.
    pub(crate) fn begin(&mut self, scheme: Scheme, authority: bool) {
        self.text.clear();
        self.text.extend_from_slice(scheme.name().as_bytes());
        if authority {
            self.text.extend_from_slice(b"//");
        }
        self.scheme = scheme;
        self.host_kind = Host::None;
        self.authority = authority;
        let end = self.text.len();
        self.host = end..end;
        self.path = end..end;
    }

    /// Appends text.
    #[inline]
    pub(crate) fn push(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    /// Whether there is a port, possibly empty.
    pub(crate) fn has_port(&self) -> bool {
        self.authority && self.host.end != self.path.start
    }

    /// Replaces the bytes `old` with `with`, and moves the rest.
    fn splice(&mut self, old: Range<usize>, with: &[u8]) -> Shift {
        let (before, cut) = (self.text.len(), old.len());
        if with.len() > cut {
            self.text.resize(before + with.len() - cut, 0);
        }
        self.text.copy_within(old.end..before, old.start + with.len());
        self.text.truncate(before + with.len() - cut);
        self.text[old.start..old.start + with.len()].copy_from_slice(with);
        Shift { cut, grown: with.len() }
    }

    /// Replaces the port, `:` included.
    pub(crate) fn set_port(&mut self, port: &[u8]) {
        let shift = self.splice(self.host.end..self.path.start, port);
        self.path = shift.of(self.path.start)..shift.of(self.path.end);
    }

    /// Replaces bytes inside the host.
    pub(crate) fn edit_host(&mut self, old: Range<usize>, with: &[u8]) {
        let shift = self.splice(old, with);
        self.host.end = shift.of(self.host.end);
        self.path = shift.of(self.path.start)..shift.of(self.path.end);
    }

    /// Replaces bytes inside the path, or inserts at one of its ends.
    pub(crate) fn edit_path(&mut self, old: Range<usize>, with: &[u8]) {
        let shift = self.splice(old, with);
        self.path.end = shift.of(self.path.end);
    }

    /// Replaces bytes of the query or the fragment.
    pub(crate) fn edit_tail(&mut self, old: Range<usize>, with: &[u8]) {
        self.splice(old, with);
    }
}

/// The distance by which an edit moved the bytes after it.
struct Shift {
    cut: usize,
    grown: usize,
}

impl Shift {
    fn of(&self, offset: usize) -> usize {
        offset + self.grown - self.cut
    }
}
