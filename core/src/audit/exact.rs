//! The audit of one reference: checks each component by the rules that apply to it.

use core::ops::Range;

use super::looks::{Hint, Looks};
use super::{Detail, Finding, Found, MASK, Rule, RuleSet, Severity, triplet};
use super::{address, encoded, host, path, port, redact, search, secret};
use crate::grammar::{character_reference, scheme_facts};
use crate::uri::{Components, UriError, UriErrorKind, host_in, host_kind, parse, split};

/// Replaces `findings` with those of `rules` in `text`, a URI-reference or an attempt at one,
/// ordered by position. Returns the error if `text` is not a URI-reference.
///
/// ```
/// use uriscan::audit::{Rule, RuleSet, audit};
/// let mut findings = Vec::new();
/// // The example of section 7.6.
/// let text = b"ftp://cnn.example.com&story=breaking_news@10.0.0.1/top_story.htm";
/// audit(text, RuleSet::all(), &mut findings);
/// let misleading = findings.iter().find(|finding| finding.rule == Rule::MisleadingUserinfo).unwrap();
/// assert_eq!(&text[misleading.start as usize..misleading.end as usize], b"cnn.example.com&story=breaking_news");
/// assert!(findings.iter().any(|finding| finding.rule == Rule::AddressPrivate));
/// ```
pub fn audit(text: &[u8], rules: RuleSet, findings: &mut Vec<Finding>) -> Option<UriError> {
    audit_with(Hint::NONE, text, rules, findings)
}

/// [`audit`] with the result of the screen for `text`.
pub fn audit_with(
    hint: Hint,
    text: &[u8],
    rules: RuleSet,
    findings: &mut Vec<Finding>,
) -> Option<UriError> {
    let mut found = Found::new(rules, findings);
    let error = find(hint, text, &mut found);
    if error.is_some_and(|error| error.kind == UriErrorKind::TooLong) {
        return error;
    }
    let secrets = match hint.looks {
        looks if !looks.has(Looks::SECRETS.or(Looks::NAMES)) => Secrets::None,
        looks if !looks.has(Looks::SECRETS) && has_only_parameters(text, &hint, &found.secrets) => {
            Secrets::OfParameters
        }
        _ if redact::may_hold_secret(text) => check_secrets(text, &mut found),
        _ => Secrets::None,
    };
    let is_shown = match secrets {
        Secrets::None => true,
        Secrets::OfParameters => shows_names(text, findings),
        Secrets::Some => false,
    };
    if !is_shown {
        hide_details(text, rules, findings);
    }
    findings.sort_by_key(|finding| (finding.start, finding.rule));
    error
}

/// [`audit`] without what spares work for most records: the oracle.
#[cfg(test)]
pub(super) fn audit_slowly(text: &[u8], rules: RuleSet, findings: &mut Vec<Finding>) {
    let mut found = Found::new(rules, findings);
    let error = find(Hint::NONE, text, &mut found);
    if error.is_some_and(|error| error.kind == UriErrorKind::TooLong) {
        return;
    }
    if check_secrets(text, &mut found) != Secrets::None {
        hide_details(text, rules, findings);
    }
    findings.sort_by_key(|finding| (finding.start, finding.rule));
}

/// Finds all but secrets that are nested.
fn find(hint: Hint, text: &[u8], found: &mut Found<'_>) -> Option<UriError> {
    let (parts, error) = hint.parsed.unwrap_or_else(|| match parse(text) {
        Ok(parts) => (parts, None),
        // Its components would not be known.
        Err(error) if error.kind == UriErrorKind::TooLong => (Components::default(), Some(error)),
        Err(error) => (by_appendix_b(text), Some(error)),
    });
    if let Some(error) = error {
        let at = (error.at as usize).min(text.len());
        found.add(Rule::Invalid, at..text.len().min(at + 1), Detail::Error(error));
        if error.kind == UriErrorKind::TooLong {
            return Some(error);
        }
    }
    if hint.looks.has(Looks::HEAD) {
        check_head(text, &parts, error.is_none(), found);
    }
    check_rest(text, &parts, error.is_none(), hint.looks, found);
    error
}

/// What is masked in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Secrets {
    None,
    /// Values of parameters that a rule has looked at, and nothing else.
    OfParameters,
    Some,
}

/// Whether `known`, which rules have found, is all that is masked in `text` by the names before it: as many values as there are such
/// names, one after the other, in the query and the fragment of a URI without what ends values and names in other ways.
fn has_only_parameters(text: &[u8], hint: &Hint, known: &[(Range<usize>, Severity)]) -> bool {
    let Some((parts, None)) = hint.parsed else { return false };
    // The end of another name may be a name of its own, as in `user:code`.
    let is_simple = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-._".contains(byte);
    let has_simple_name = |(value, _): &(Range<usize>, Severity)| {
        let before = text[..value.start - 1].iter().rev().find(|byte| !is_simple(byte));
        before.is_some_and(|byte| b"&?#".contains(byte))
    };
    known.len() == hint.names
        && known.first().is_some_and(|(first, _)| first.start > place(parts.path_end))
        && known.is_sorted_by(|(before, _), (after, _)| before.end <= after.start)
        && known.iter().all(has_simple_name)
        && memchr::memchr2(b'@', b'*', text).is_none()
        && memchr::memchr2(b'%', b';', text).is_none()
}

/// Reports what is masked and no rule has looked at yet: what is nested, and tokens.
fn check_secrets(text: &[u8], found: &mut Found<'_>) -> Secrets {
    found.next_component();
    let all = core::mem::take(&mut found.secrets);
    let mut known = all.iter().peekable();
    // Of each severity, where those end that begin before the end of a secret.
    let mut ends = [0; Severity::ALL.len()];
    let (mut count, mut of_parameters) = (0, 0);
    search::each(text, |secret, kind| {
        let mut is_known = false;
        while let Some((range, severity)) = known.next_if(|(range, _)| range.start < secret.end) {
            is_known |= *range == secret;
            let end = &mut ends[*severity as usize];
            *end = range.end.max(*end);
        }
        count += 1;
        of_parameters += usize::from(is_known && kind == secret::Kind::Value);
        // What is found of a part of it, and is less severe, may be something else.
        let as_severe = &ends[kind.severity() as usize..];
        if !is_known && !as_severe.iter().any(|&end| end > secret.start) {
            let as_rule = (Rule::Secret, kind.severity());
            found.add_secret(as_rule, &text[secret.clone()], secret.start, Detail::None);
        }
    });
    match count {
        0 => Secrets::None,
        // One within another is masked with it, and so is its name.
        _ if of_parameters == count && count == all.len() => Secrets::OfParameters,
        _ => Secrets::Some,
    }
}

/// Whether the record whose secrets are values of parameters only is seen to give the details of `findings` with these masked as well:
/// without quotes, userinfo and `=`, encoded or not, nothing else reads differently then, and names of parameters are not values.
fn shows_names(text: &[u8], findings: &[Finding]) -> bool {
    let is_shown =
        |finding: &Finding| finding.detail == Detail::None || finding.rule == Rule::SecretParameter;
    let is_harmless =
        |at: usize| triplet(text, at).is_some_and(|byte| !b"%@\"'\\=".contains(&byte));
    findings.iter().all(is_shown)
        && memchr::memchr3(b'@', b'"', b'\'', text).is_none()
        && memchr::memchr2_iter(b'%', b'\\', text).all(is_harmless)
}

/// Hides the details of `findings` that the record with its secrets masked does not give as well: names of parameters and hosts
/// may be secrets, hold some, or be made of them.
fn hide_details(text: &[u8], rules: RuleSet, findings: &mut [Finding]) {
    let is_of_text = |detail: &Detail| matches!(detail, Detail::Name(_) | Detail::Address(_));
    if !findings.iter().any(|finding| is_of_text(&finding.detail)) {
        return;
    }
    let mut masked = Vec::with_capacity(text.len());
    redact::redact_into(text, &mut masked);
    let mut of_masked = Vec::new();
    let only = Some(&*findings);
    find(Hint::NONE, &masked, &mut Found { only, ..Found::new(rules, &mut of_masked) });
    for Finding { rule, detail, .. } in findings {
        let is_same = |of_masked: &Finding| of_masked.rule == *rule && of_masked.detail == *detail;
        if is_of_text(detail) && !of_masked.iter().any(is_same) {
            *detail = match detail {
                Detail::Name(_) => Detail::Name(String::from_utf8_lossy(MASK).into()),
                _ => Detail::None,
            };
        }
    }
}

/// The finding for a record of more than `max_record` bytes, which is not checked.
pub fn oversized(max_record: usize) -> Finding {
    let error = UriError::new(UriErrorKind::TooLong, max_record);
    let (rule, at) = (Rule::Invalid, error.at);
    // Not looked at, which is worse than what is invalid.
    let severity = Severity::Warning;
    Finding { rule, severity, start: at, end: at, count: 1, detail: Detail::Error(error) }
}

fn place(offset: u32) -> usize {
    offset as usize
}

/// Checks scheme and authority.
fn check_head(text: &[u8], parts: &Components, is_valid: bool, found: &mut Found<'_>) {
    let scheme = parts.scheme(text);
    let facts = scheme.and_then(scheme_facts);
    if let Some(userinfo) = parts.userinfo(text) {
        let start = place(parts.authority_start);
        secret::check_userinfo(userinfo, start, found);
        host::check_userinfo(userinfo, start, found);
        encoded::check(userinfo, start, encoded::Part::Userinfo, found);
    }
    if let Some(name) = parts.host(text) {
        found.next_component();
        let start = place(parts.host_start);
        encoded::check(name, start, encoded::Part::Host, found);
        address::check(name, start, facts, found);
        host::check_name(name, start, facts, found);
    }
    host::check_grammars(text, parts, is_valid, found);
    if let Some(digits) = parts.port(text) {
        found.next_component();
        port::check(scheme, digits, place(parts.host_end), found);
    }
}

/// Checks path, query and fragment, and character references and backslashes anywhere, by the rules that have to look.
fn check_rest(
    text: &[u8],
    parts: &Components,
    is_valid: bool,
    looks: Looks,
    found: &mut Found<'_>,
) {
    let facts = parts.scheme(text).and_then(scheme_facts);
    // `mailto:a%2Fb@h` has no segments.
    let is_opaque = facts.is_some_and(|facts| !facts.empty_path_is_root && !facts.dns_host)
        && parts.authority_start == 0;
    // Its path and query are content, and so is a line break in them.
    let is_data = facts.is_some_and(|facts| facts.name == "data");

    found.next_component();
    let (path, start) = (parts.path(text), place(parts.path_start));
    if !is_data {
        if looks.has(Looks::ENCODED) {
            let part = if is_opaque { encoded::Part::Opaque } else { encoded::Part::Path };
            encoded::check(path, start, part, found);
        }
        if looks.has(Looks::PARAMETERS) {
            secret::check_parameters(path, start, secret::Part::Path, found);
        }
    }
    if !is_opaque && looks.has(Looks::PATH) {
        path::check(path, start, found);
    }
    if let Some(query) = parts.query(text) {
        found.next_component();
        let start = place(parts.path_end) + 1;
        if !is_data {
            if looks.has(Looks::ENCODED) {
                let has_body = facts.is_some_and(|facts| matches!(facts.name, "mailto" | "sms"));
                encoded::check_query(query, start, has_body, found);
            }
            if looks.has(Looks::PARAMETERS) {
                secret::check_parameters(query, start, secret::Part::Query, found);
            }
        }
        if looks.has(Looks::TRAVERSAL) {
            path::check_query(query, start, found);
        }
    }
    if let (true, Some(fragment)) = (looks.has(Looks::PARAMETERS), parts.fragment(text)) {
        found.next_component();
        let start = place(parts.query_end) + 1;
        secret::check_parameters(fragment, start, secret::Part::Query, found);
    }
    if !is_data && looks.has(Looks::ENTITIES) {
        found.next_component();
        for at in memchr::memchr_iter(b'&', text) {
            if let Some((_, len)) = character_reference(&text[at..]) {
                found.add(Rule::Entity, at..at + len, Detail::None);
            }
        }
    }
    if !is_valid {
        found.next_component();
        let end = place(parts.query_end);
        for at in memchr::memchr_iter(b'\\', &text[..end]) {
            found.add(Rule::Backslash, at..at + 1, Detail::None);
        }
    }
}

/// The components of a text that is not a URI-reference, by its delimiters (Appendix B). The
/// userinfo ends at the last `@`, as in clients, and the host before the first `:` after it.
pub(super) fn by_appendix_b(text: &[u8]) -> Components {
    let offset = |at: usize| at as u32;
    let parts = split(text);
    let mut c = Components { len: offset(text.len()), ..Components::default() };
    let mut at = 0;
    if let Some(scheme) = parts.scheme {
        c.scheme_end = offset(scheme.len());
        at = scheme.len() + 1;
    }
    (c.host_start, c.host_end) = (offset(at), offset(at));
    if let Some(authority) = parts.authority {
        at += 2;
        let (host_start, host_end) = host_in(authority);
        c.authority_start = offset(at);
        c.host_start = offset(at + host_start);
        c.host_end = offset(at + host_end);
        c.host_kind =
            host_kind(&authority[host_start..host_end]).unwrap_or(crate::uri::HostKind::RegName);
        at += authority.len();
    }
    c.path_start = offset(at);
    at += parts.path.len();
    c.path_end = offset(at);
    at += parts.query.map_or(0, |query| query.len() + 1);
    c.query_end = offset(at);
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_references_have_the_same_components_by_appendix_b() {
        for text in [
            "",
            "//",
            "?",
            "#",
            "a:",
            "a:b?c#d",
            "http://u:p@h:8/p?q#f",
            "http://[::1]:8/",
            "//@",
            "//h:",
            "/p/q?",
            "s://1.2.3.4",
        ] {
            let text = text.as_bytes();
            assert_eq!(by_appendix_b(text), parse(text).unwrap(), "{}", text.escape_ascii());
        }
        let parts = by_appendix_b(b"ht tp://a@b@c:d:e/f g?h i#j#k");
        let text = b"ht tp://a@b@c:d:e/f g?h i#j#k";
        assert_eq!(parts.userinfo(text), Some(&b"a@b"[..]));
        assert_eq!((parts.host(text), parts.port(text)), (Some(&b"c"[..]), Some(&b"d:e"[..])));
        assert_eq!((parts.path(text), parts.query(text)), (&b"/f g"[..], Some(&b"h i"[..])));
    }
}
