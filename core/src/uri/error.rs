//! What is wrong with a record, and where.

use core::fmt;

named! {
    /// Why a record is not a URI-reference of RFC 3986 (or not of the required form).
    ///
    /// There are few kinds, so that they can be counted; the byte position gives the detail.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum UriErrorKind {
        /// The text before the first `:` is not a scheme, and a relative reference may
        /// not have a colon in its first segment (3.1, 4.2). Points at the first byte
        /// that no scheme may hold there (the `:` itself when nothing precedes it).
        Scheme = "scheme",
        /// `%` without two hexadecimal digits after it (2.1). Points at the `%`.
        Percent = "percent",
        /// An ASCII control byte, 0x00-0x1F or 0x7F. Points at it.
        Control = "control",
        /// A space inside the record. Points at it.
        Space = "space",
        /// A byte of 0x80 or above (an IRI, or text in another encoding). Points at the first one.
        NonAscii = "non-ascii",
        /// `[` or `]` outside an IP literal (3.2.2). Points at it.
        Bracket = "bracket",
        /// A general delimiter where no component may end any more: a second `#`, a second `@` in an
        /// authority. Points at it.
        Delimiter = "delimiter",
        /// Another ASCII byte that no URI may hold: `"` `<` `>` `\` `^` `` ` `` `{` `|` `}`. Points at it.
        Byte = "byte",
        /// A byte other than a digit in the port (3.2.3). Points at it.
        Port = "port",
        /// The text between `[` and `]` is neither an IPv6 address nor an IPvFuture, the `]` is
        /// missing, or something other than a port follows it (3.2.2). Points at the `[`, or at the
        /// byte after the `]`.
        IpLiteral = "ip-literal",
        /// A relative reference where a URI with a scheme is needed. Points at byte 0.
        Relative = "relative",
        /// The record is longer than the limit of the reader. Points at the limit.
        TooLong = "too-long",
        /// A row without the selected fields: too few columns, invalid JSON, no such member. Points at
        /// where the row ends or stops being JSON, or at its start.
        Field = "field",
        /// Nothing follows the `:` of a scheme, where RFC 2396 requires a path. Points after the `:`.
        NoPath = "no-path",
        /// The system that a profile models does not accept it as a URL. Points at the first byte that
        /// is not UTF-8 if that is the reason, otherwise at byte 0.
        Profile = "profile",
    }
}

impl UriErrorKind {
    /// One sentence that a person can act on.
    pub const fn message(self) -> &'static str {
        match self {
            UriErrorKind::Scheme => "there is no valid scheme before the first ':'",
            UriErrorKind::Percent => "'%' is not followed by two hexadecimal digits",
            UriErrorKind::Control => "a URI may not hold control characters",
            UriErrorKind::Space => "a URI may not hold spaces; write %20",
            UriErrorKind::NonAscii => "a URI holds ASCII only; percent-encode the UTF-8 bytes",
            UriErrorKind::Bracket => {
                "'[' and ']' are allowed only around an IP address in the host"
            }
            UriErrorKind::Delimiter => "this delimiter is not allowed here a second time",
            UriErrorKind::Byte => "this character is not allowed in a URI; percent-encode it",
            UriErrorKind::Port => "a port holds decimal digits only",
            UriErrorKind::IpLiteral => "this is neither an IPv6 address nor an IPvFuture",
            UriErrorKind::Relative => "a relative reference needs a base URI",
            UriErrorKind::TooLong => "the record is longer than the limit",
            UriErrorKind::Field => "the row does not have the named fields",
            UriErrorKind::NoPath => "by RFC 2396 something must follow the scheme and its ':'",
            UriErrorKind::Profile => "the profile has no form for this",
        }
    }

    /// The kind of a byte that the grammar does not allow at its position.
    pub(crate) const fn of_byte(byte: u8) -> UriErrorKind {
        match byte {
            b' ' => UriErrorKind::Space,
            0x00..=0x1F | 0x7F => UriErrorKind::Control,
            0x80..=0xFF => UriErrorKind::NonAscii,
            b'[' | b']' => UriErrorKind::Bracket,
            b'%' => UriErrorKind::Percent,
            b'#' | b'@' | b':' | b'/' | b'?' => UriErrorKind::Delimiter,
            _ => UriErrorKind::Byte,
        }
    }
}

/// An [`UriErrorKind`] and the byte it points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct UriError {
    /// What is wrong.
    pub kind: UriErrorKind,
    /// Byte offset from the start of the record, 0-based; may equal the record's length.
    pub at: u32,
}

impl UriError {
    /// An error of `kind` at byte `at` of the record.
    pub fn new(kind: UriErrorKind, at: usize) -> UriError {
        UriError { kind, at: u32::try_from(at).unwrap_or(u32::MAX) }
    }
}

impl fmt::Display for UriError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}: {}", self.kind, self.at, self.kind.message())
    }
}

impl core::error::Error for UriError {}
