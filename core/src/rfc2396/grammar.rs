//! The older generic syntax, RFC 2396, that some systems still follow (`java.net.URI` is the best known).
//!
//! Its byte classes, and how its rules translate to those of RFC 3986 (Appendix D.2 there).
//! [`Grammar`] lists the syntaxes to choose from. RFC 2732 adds IPv6 addresses in brackets to RFC
//! 2396; it is a variant of its own here, because plain RFC 2396 allows no brackets.

use core::fmt;
use core::str::FromStr;

use crate::grammar::class::{ALPHA, ByteClass, DIGIT};

named! {
    /// A generic syntax of URIs.
    ///
    /// ```
    /// use uriscan::rfc2396::Grammar;
    /// assert_eq!("rfc2396+2732".parse(), Ok(Grammar::Rfc2396And2732));
    /// assert_eq!(Grammar::default().name(), "rfc3986");
    /// ```
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Grammar {
        /// RFC 3986, January 2005.
        #[default]
        Rfc3986 = "rfc3986",
        /// RFC 2396, August 1998.
        Rfc2396 = "rfc2396",
        /// RFC 2396 with the changes of RFC 2732, December 1999: `[` and `]` are reserved, an IPv6
        /// address in brackets is a host, and a group of an IPv4 address has at most three digits.
        Rfc2396And2732 = "rfc2396+2732",
    }
}

impl Grammar {
    /// The variant of RFC 2396, if this is one.
    pub const fn legacy(self) -> Option<Legacy> {
        match self {
            Grammar::Rfc3986 => None,
            Grammar::Rfc2396 => Some(Legacy { has_rfc2732: false }),
            Grammar::Rfc2396And2732 => Some(Legacy { has_rfc2732: true }),
        }
    }
}

/// No grammar has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownGrammar;

impl fmt::Display for UnknownGrammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the grammars are rfc3986, rfc2396 and rfc2396+2732")
    }
}

impl core::error::Error for UnknownGrammar {}

impl FromStr for Grammar {
    type Err = UnknownGrammar;

    fn from_str(name: &str) -> Result<Grammar, UnknownGrammar> {
        Grammar::from_name(name).ok_or(UnknownGrammar)
    }
}

/// A variant of RFC 2396: with or without RFC 2732.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Legacy {
    /// Whether the changes of RFC 2732 apply.
    pub has_rfc2732: bool,
}

/// `alphanum = alpha | digit`
pub(super) const ALPHANUM: ByteClass = ALPHA.or(DIGIT);
/// `mark = "-" | "_" | "." | "!" | "~" | "*" | "'" | "(" | ")"`
pub(super) const MARK: ByteClass = ByteClass::of(b"-_.!~*'()");
/// `unreserved = alphanum | mark`
pub(super) const UNRESERVED: ByteClass = ALPHANUM.or(MARK);
/// `reserved = ";" | "/" | "?" | ":" | "@" | "&" | "=" | "+" | "$" | ","`
pub(super) const RESERVED: ByteClass = ByteClass::of(b";/?:@&=+$,");
/// What RFC 2732 adds to `reserved`: `"[" | "]"`
pub(super) const BRACKETS: ByteClass = ByteClass::of(b"[]");
/// `uric = reserved | unreserved | escaped`, without `escaped`; RFC 2732 adds [`BRACKETS`]
pub(super) const URIC: ByteClass = RESERVED.or(UNRESERVED);
/// `uric_no_slash = unreserved | escaped | ";" | "?" | ":" | "@" | "&" | "=" | "+" | "$" | ","`, without `escaped`
pub(super) const URIC_NO_SLASH: ByteClass = URIC.without(ByteClass::of(b"/"));
/// `pchar = unreserved | escaped | ":" | "@" | "&" | "=" | "+" | "$" | ","`, without `escaped`
pub(super) const PCHAR: ByteClass = UNRESERVED.or(ByteClass::of(b":@&=+$,"));
/// The bytes of `path_segments`: `pchar`, the `;` before a `param`, and `/`
pub(super) const PATH_SEGMENTS: ByteClass = PCHAR.or(ByteClass::of(b";/"));
/// `rel_segment = 1*( unreserved | escaped | ";" | "@" | "&" | "=" | "+" | "$" | "," )`, without `escaped`
pub(super) const REL_SEGMENT: ByteClass = UNRESERVED.or(ByteClass::of(b";@&=+$,"));
/// `reg_name = 1*( unreserved | escaped | "$" | "," | ";" | ":" | "@" | "&" | "=" | "+" )`, without `escaped`
pub(super) const REG_NAME: ByteClass = UNRESERVED.or(ByteClass::of(b"$,;:@&=+"));
/// `userinfo = *( unreserved | escaped | ";" | ":" | "&" | "=" | "+" | "$" | "," )`, without `escaped`
pub(super) const USERINFO: ByteClass = UNRESERVED.or(ByteClass::of(b";:&=+$,"));

impl Legacy {
    /// The table of RFC 3986, Appendix D.2, row by row: a rule of RFC 2396, and its equivalent in the ABNF of RFC 3986.
    pub const TRANSLATIONS: [[&str; 2]; 20] = [
        ["absoluteURI", "absolute-URI"],
        ["relativeURI", r#"relative-part [ "?" query ]"#],
        ["hier_part", r#"( "//" authority path-abempty / path-absolute ) [ "?" query ]"#],
        ["opaque_part", r#"path-rootless [ "?" query ]"#],
        ["net_path", r#""//" authority path-abempty"#],
        ["abs_path", "path-absolute"],
        ["rel_path", "path-rootless"],
        ["rel_segment", "segment-nz-nc"],
        ["reg_name", "reg-name"],
        ["server", "authority"],
        ["hostport", r#"host [ ":" port ]"#],
        ["hostname", "reg-name"],
        ["path_segments", "path-abempty"],
        ["param", r#"*<pchar excluding ";">"#],
        [
            "uric",
            r#"unreserved / pct-encoded / ";" / "?" / ":" / "@" / "&" / "=" / "+" / "$" / "," / "/""#,
        ],
        [
            "uric_no_slash",
            r#"unreserved / pct-encoded / ";" / "?" / ":" / "@" / "&" / "=" / "+" / "$" / ",""#,
        ],
        ["mark", r#""-" / "_" / "." / "!" / "~" / "*" / "'" / "(" / ")""#],
        ["escaped", "pct-encoded"],
        ["hex", "HEXDIG"],
        ["alphanum", "ALPHA / DIGIT"],
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::class;

    #[test]
    fn names_round_trip() {
        for grammar in Grammar::ALL {
            assert_eq!(grammar.name().parse(), Ok(grammar));
        }
        assert_eq!("RFC2396".parse::<Grammar>(), Err(UnknownGrammar));
    }

    #[test]
    fn both_grammars_are_made_of_the_same_characters() {
        // RFC 3986 moved five marks to the reserved set (D.2); apart from brackets and `#`, the
        // union of the sets is the same.
        let bytes = |class: ByteClass| (0..128).filter(|&b| class.has(b)).collect::<Vec<u8>>();
        assert_eq!(bytes(UNRESERVED.without(class::UNRESERVED)), b"!'()*");
        assert_eq!(bytes(URIC), bytes(class::QUERY));
        assert_eq!(bytes(PATH_SEGMENTS), bytes(class::PATH));
        assert_eq!(bytes(REG_NAME), bytes(class::PCHAR));
        assert_eq!(bytes(REL_SEGMENT), bytes(class::PCHAR.without(ByteClass::of(b":"))));
        assert_eq!(bytes(USERINFO), bytes(class::USERINFO));
        assert_eq!(bytes(URIC_NO_SLASH), bytes(class::QUERY.without(ByteClass::of(b"/"))));
    }
}
