//! Sensitive information (RFC 3986 section 7.5): passwords and tokens, and parameters with the names of secrets ([`super::names`]).

use core::ops::Range;

use super::names::{is_secret_name, may_be_secret, severity};
use super::{Detail, Found, Rule, Severity, shape};
use crate::grammar::class::ByteClass;

/// Replaces a secret: bytes that a userinfo, a path, a query and a fragment may all hold.
pub const MASK: &[u8] = b"***";

/// Why a text is taken for a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It follows the name of a user.
    Password,
    /// The name of a user without a password: it may be a key.
    UserName,
    /// It has the name of a secret, as a parameter or a member of JSON.
    Value,
    /// It begins as tokens do.
    Token,
}

impl Kind {
    /// How severe a finding is that no other rule reports: as is known how surely it is a secret.
    pub(super) const fn severity(self) -> Severity {
        match self {
            Kind::Password | Kind::Token => Severity::Error,
            Kind::Value => Severity::Warning,
            Kind::UserName => Severity::Note,
        }
    }
}

/// The component that holds the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A segment: parameters follow a `;` or `&`.
    Path,
    /// A query: parameters are separated by `&`, `;` or `?`. Also a fragment, in which some
    /// protocols pass tokens.
    Query,
}

/// Whether the user name of `userinfo` is a token, with or without a password.
pub(super) fn is_token(userinfo: &[u8]) -> bool {
    let name_len = memchr::memchr(b':', userinfo).unwrap_or(userinfo.len());
    shape::is_user_name(&userinfo[..name_len])
}

/// The range within `userinfo` that is secret: all of it if the user name is a token, with or
/// without a password; otherwise the part after the first `:`.
fn of_userinfo(userinfo: &[u8]) -> Option<Range<usize>> {
    let name_len = memchr::memchr(b':', userinfo).unwrap_or(userinfo.len());
    if is_token(userinfo) {
        return Some(0..userinfo.len());
    }
    (name_len + 1 < userinfo.len()).then(|| name_len + 1..userinfo.len())
}

/// Checks `userinfo`, which starts at byte `start` of the record.
pub(super) fn check_userinfo(userinfo: &[u8], start: usize, found: &mut Found<'_>) {
    let secret = of_userinfo(userinfo);
    let name_end = secret.clone().map_or_else(
        || memchr::memchr(b':', userinfo).unwrap_or(userinfo.len()),
        |secret| secret.start.saturating_sub(1),
    );
    let parts = [(Rule::UserName, 0..name_end), (Rule::Password, secret.unwrap_or_default())];
    for (rule, part) in parts.into_iter().filter(|(_, part)| !part.is_empty()) {
        let as_rule = (rule, rule.severity());
        found.add_secret(as_rule, &userinfo[part.clone()], start + part.start, Detail::None);
    }
}

/// Calls `each` with the name of every secret parameter in `text` and the range of its value, which
/// is not empty.
pub(super) fn each_parameter<'t>(
    text: &'t [u8],
    part: Part,
    mut each: impl FnMut(&'t [u8], Range<usize>),
) {
    // What separates names, and what ends values: a `?` in a query is part of a value, though
    // another query may begin after it, and so is a second `#`, in texts that are not URIs.
    let (delimiters, ends) = match part {
        Part::Path => (ByteClass::of(b"/;&"), ByteClass::of(b"/;&")),
        Part::Query => (ByteClass::of(b"&;?#"), ByteClass::of(b"&;")),
    };
    // Everything before this offset is done.
    let mut done = 0;
    // Where the last value ends; others may begin in it, and end there too.
    let mut end = None;
    for equals in memchr::memchr_iter(b'=', text) {
        let before = text[done..equals].iter().rposition(|&byte| delimiters.has(byte));
        // Text between two `=` without a delimiter is a value; only the first one ends a name.
        let is_first = done == 0 || before.is_some();
        let name_start = before.map_or(done, |delimiter| done + delimiter + 1);
        done = equals + 1;
        // The first part of a path is not a parameter, nor is the text after a slash.
        let is_parameter = part == Part::Query || name_start > 0 && text[name_start - 1] != b'/';
        let name = &text[name_start..equals];
        // In a path, other bytes end the name of a parameter.
        let may_be = part == Part::Path || may_be_secret(text, equals);
        if is_first && is_parameter && may_be && is_secret_name(name) {
            let value_end = end.filter(|&end| end >= done).unwrap_or_else(|| {
                let len = text[done..].iter().position(|&byte| ends.has(byte));
                len.map_or(text.len(), |len| done + len)
            });
            end = Some(value_end);
            if value_end > done {
                each(name, done..value_end);
            }
        }
    }
}

/// Checks the parameters of `text`, a component that starts at byte `start` of the record.
pub(super) fn check_parameters(text: &[u8], start: usize, part: Part, found: &mut Found<'_>) {
    each_parameter(text, part, |name, value| {
        // Long enough for all meaningful names.
        const SHOWN: usize = 200;
        let severity = severity(name);
        // A session ends by itself, but a token is one under any name. Values may go on to the end of the text, as many as there are.
        const LOOKED_AT: usize = 512;
        let beginning = &text[value.start..value.end.min(value.start + LOOKED_AT)];
        let is_token = severity < Severity::Error && shape::may_hold(beginning);
        let severity = if is_token { Severity::Error } else { severity };
        let name = &name[name.len().saturating_sub(SHOWN)..];
        let name = String::from_utf8_lossy(name).into_owned().into_boxed_str();
        let (as_rule, at) = ((Rule::SecretParameter, severity), start + value.start);
        found.add_secret(as_rule, &text[value], at, Detail::Name(name));
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_without_an_end_take_linear_time() {
        // Each value would be searched for its end up to the end of the text.
        for unit in ["#token=", "?token=", "?sid=a"] {
            let text = unit.repeat(200_000);
            let mut count = 0;
            each_parameter(text.as_bytes(), Part::Query, |_, value| {
                count += 1;
                assert_eq!(value.end, text.len());
            });
            assert!(count >= 199_999, "{unit}");
        }
    }

    proptest! {
        #[test]
        fn parameters_are_separated_by_delimiters(text in "([/;&?#=]|token|a|%74oken|sid){0,12}") {
            let text = text.as_bytes();
            for (part, delimiters, ends) in
                [(Part::Path, &b"/;&"[..], &b"/;&"[..]), (Part::Query, b"&;?#", b"&;")]
            {
                let mut expected = Vec::new();
                let mut at = 0;
                for piece in text.split(|byte| delimiters.contains(byte)) {
                    let is_parameter = part == Part::Query || at > 0 && text[at - 1] != b'/';
                    let equals = piece.iter().position(|&byte| byte == b'=');
                    if let Some(equals) = equals
                        && is_parameter
                        && is_secret_name(&piece[..equals])
                    {
                        // A value goes on after `?` and `#`.
                        let start = at + equals + 1;
                        let end = text[start..].iter().position(|byte| ends.contains(byte));
                        let end = end.map_or(text.len(), |len| start + len);
                        if start < end {
                            expected.push((&piece[..equals], start..end));
                        }
                    }
                    at += piece.len() + 1;
                }
                let mut found = Vec::new();
                each_parameter(text, part, |name, value| found.push((name, value)));
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn user_names_that_are_tokens() {
        assert_eq!(of_userinfo(b"ghp_0123456789abcdef"), Some(0..20));
        // Tokens with a fixed password, or as one.
        assert_eq!(of_userinfo(b"ghp_0123456789abcdef:x-oauth-basic"), Some(0..34));
        assert_eq!(of_userinfo(b"glpat-0123456789abcdef:"), Some(0..23));
        assert_eq!(of_userinfo(b"x-access-token:ghs_0123456789abcdef"), Some(15..35));
        assert_eq!(of_userinfo(b"joe"), None);
        assert_eq!(of_userinfo(b"joe:"), None);
        assert_eq!(of_userinfo(b"joe:x"), Some(4..5));
        assert_eq!(of_userinfo(b":x:y"), Some(1..4));
    }
}
