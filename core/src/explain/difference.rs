//! Where two URIs differ for good, and why no level makes them equivalent.

use super::take::ComponentSet;
use super::{Component, Explanation, explain_with_rules};
use crate::normalize::percent::decoded;
use crate::normalize::{Level, Options};
use crate::rules::{INDEX_PAGES, RuleSet};
use crate::uri::{Components, UriError, dots, parse};

named! {
    /// Why two spellings of a component are kept distinct at every level. Those before
    /// [`Reason::Scheme`] are differences that other tools are known to remove.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Reason {
        /// A level above that of the options makes them equivalent.
        HigherLevel = "higher-level",
        /// A reserved character is encoded in one and not in the other (2.2).
        Reserved = "reserved",
        /// One is the other, encoded a second time (2.4).
        DoubleEncoding = "double-encoding",
        /// Case, where it is significant.
        Case = "case",
        /// `+` in one, `%20` in the other.
        PlusSpace = "plus-space",
        /// `http` and `https`.
        Https = "https",
        /// A dot at the end of the host.
        HostDot = "host-dot",
        /// `www.` before the host.
        Www = "www",
        /// A slash at the end of the path.
        TrailingSlash = "trailing-slash",
        /// Several slashes in place of one.
        DuplicateSlash = "duplicate-slash",
        /// An index page and its directory.
        IndexPage = "index-page",
        /// Dot segments of a rootless path, which are kept.
        RootlessDots = "rootless-dots",
        /// The same parts of a query in another order.
        QueryOrder = "query-order",
        /// An empty query and no query.
        EmptyQuery = "empty-query",
        /// An empty fragment and no fragment.
        EmptyFragment = "empty-fragment",
        /// An empty userinfo and no userinfo.
        EmptyUserinfo = "empty-userinfo",
        /// The schemes are different.
        Scheme = "scheme",
        /// One has an authority and the other has none.
        Authority = "authority",
        /// The userinfos are different.
        Userinfo = "userinfo",
        /// The hosts are different.
        Host = "host",
        /// The ports are different.
        Port = "port",
        /// The paths are different.
        Path = "path",
        /// The queries are different.
        Query = "query",
        /// The fragments are different.
        Fragment = "fragment",
        /// At least one of them is not a URI.
        Invalid = "invalid",
    }
}

impl Reason {
    /// The explanation in one sentence.
    pub const fn message(self) -> &'static str {
        match self {
            Reason::HigherLevel => "equivalent at a higher level than the selected one",
            Reason::Reserved => "a reserved character is a delimiter; encoded, it is data",
            Reason::DoubleEncoding => "nothing is decoded twice",
            Reason::Case => "case is significant here",
            Reason::PlusSpace => "a + is a +; only form encoding reads it as a space",
            Reason::Https => "http and https are different schemes and may serve different content",
            Reason::HostDot => "the final dot is part of the host",
            Reason::Www => "a host with www. and one without are different names",
            Reason::TrailingSlash => "the trailing slash is part of the path",
            Reason::DuplicateSlash => "an empty segment is a segment",
            Reason::IndexPage => "only the server knows which page it serves for a directory",
            Reason::RootlessDots => "dot segments are removed only from a path that begins with /",
            Reason::QueryOrder => "the order of a query is part of it",
            Reason::EmptyQuery => "an empty query differs from no query",
            Reason::EmptyFragment => "an empty fragment differs from no fragment",
            Reason::EmptyUserinfo => "an empty userinfo differs from no userinfo",
            Reason::Scheme => "the schemes are different",
            Reason::Authority => "one has an authority and the other has none",
            Reason::Userinfo => "the userinfos are different",
            Reason::Host => "the hosts are different",
            Reason::Port => "the ports are different",
            Reason::Path => "the paths are different",
            Reason::Query => "the queries are different",
            Reason::Fragment => "the fragments are different",
            Reason::Invalid => "an invalid URI is equivalent only to the same bytes",
        }
    }
}

/// One difference between two URIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The component; `None` if one of the two is not a URI.
    pub component: Option<Component>,
    /// Why they differ.
    pub reason: Reason,
    /// Offsets in the two inputs of the first bytes at which the canonical forms of the component
    /// differ. If one form is a prefix of the other, the end of the component, or where it would
    /// be.
    pub at: [usize; 2],
}

/// The differences of `a` and `b`, which are not equivalent under `options`.
pub(super) fn differences(
    a: &[u8],
    b: &[u8],
    options: Options,
    rules: Option<&RuleSet>,
) -> Vec<Difference> {
    let explain = |text, level| explain_with_rules(text, Options { level, ..options }, rules);
    let level = options.level;
    let (Ok(explanation_a), Ok(explanation_b)) = (explain(a, level), explain(b, level)) else {
        let at = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        return vec![Difference { component: None, reason: Reason::Invalid, at: [at, at] }];
    };
    let (form_a, form_b) = (&explanation_a.canonical[..], &explanation_b.canonical[..]);
    // Canonical forms are valid.
    let (Ok(parts_a), Ok(parts_b)) = (parse(form_a), parse(form_b)) else { return Vec::new() };
    let highest = tops(explain(a, Level::Scheme), explain(b, Level::Scheme));
    let is_lone = (parts_a.authority_start == 0) != (parts_b.authority_start == 0);
    let mut differences = Vec::new();
    for (span_a, span_b) in spans(&parts_a).into_iter().zip(spans(&parts_b)) {
        let component = span_a.component;
        // A component that only one of them has is not a difference of its own.
        let is_inner = matches!(component, Component::Userinfo | Component::Host | Component::Port);
        let (text_a, text_b) =
            (&form_a[span_a.start..span_a.end], &form_b[span_b.start..span_b.end]);
        if text_a == text_b || is_lone && is_inner {
            continue;
        }
        let same = text_a.iter().zip(text_b).take_while(|(a, b)| a == b).count();
        let at = [
            explanation_a.input_offset(span_a.start + same, span_a.end),
            explanation_b.input_offset(span_b.start + same, span_b.end),
        ];
        let reason = match highest.iter().flatten().find(|top| top.component == component) {
            Some(top) if top.a == top.b => Reason::HigherLevel,
            Some(top) => reason(component, &top.a, &top.b),
            None => reason(component, text_a, text_b),
        };
        differences.push(Difference { component: Some(component), reason, at });
    }
    differences
}

/// A component of two URIs in their forms at the highest level.
struct Top {
    component: Component,
    a: Vec<u8>,
    b: Vec<u8>,
}

fn tops(a: Result<Explanation, UriError>, b: Result<Explanation, UriError>) -> Option<Vec<Top>> {
    let (a, b) = (a.ok()?.canonical, b.ok()?.canonical);
    let (spans_a, spans_b) = (spans(&parse(&a).ok()?), spans(&parse(&b).ok()?));
    let top = |(of_a, of_b): (ComponentSpan, ComponentSpan)| Top {
        component: of_a.component,
        a: a[of_a.start..of_a.end].to_vec(),
        b: b[of_b.start..of_b.end].to_vec(),
    };
    Some(spans_a.into_iter().zip(spans_b).map(top).collect())
}

/// A component of a form, with the delimiter that belongs to it.
struct ComponentSpan {
    component: Component,
    start: usize,
    end: usize,
}

/// The components of a form with these parts, in order; missing ones are empty.
fn spans(parts: &Components) -> [ComponentSpan; 8] {
    let span = |component, start: u32, end: u32| ComponentSpan {
        component,
        start: start as usize,
        end: end as usize,
    };
    let after_scheme = if parts.scheme_end == 0 { 0 } else { parts.scheme_end + 1 };
    let authority_start = parts.authority_start.max(after_scheme);
    [
        span(Component::Scheme, 0, parts.scheme_end),
        span(Component::Authority, after_scheme, authority_start),
        span(Component::Userinfo, authority_start, parts.host_start),
        span(Component::Host, parts.host_start, parts.host_end),
        span(Component::Port, parts.host_end, parts.path_start),
        span(Component::Path, parts.path_start, parts.path_end),
        span(Component::Query, parts.path_end, parts.query_end),
        span(Component::Fragment, parts.query_end, parts.len),
    ]
}

/// The reason why these forms of `component`, with their delimiters, are kept distinct.
fn reason(component: Component, a: &[u8], b: &[u8]) -> Reason {
    let is = |one: &[u8], other: &[u8]| a == one && b == other || a == other && b == one;
    // Whether `change` turns one of them into the other.
    let becomes = |change: fn(&[u8]) -> Vec<u8>| change(a) == b || change(b) == a;
    match component {
        Component::Scheme if is(b"http", b"https") => return Reason::Https,
        Component::Scheme => return Reason::Scheme,
        Component::Authority => return Reason::Authority,
        Component::Port => return Reason::Port,
        Component::Userinfo if is(b"", b"@") => return Reason::EmptyUserinfo,
        Component::Query if is(b"", b"?") => return Reason::EmptyQuery,
        Component::Fragment if is(b"", b"#") => return Reason::EmptyFragment,
        Component::Host if becomes(|host| [host, b"."].concat()) => return Reason::HostDot,
        Component::Host if becomes(|host| [b"www.", host].concat()) => return Reason::Www,
        Component::Path if is_rootless_dots(a, b) => return Reason::RootlessDots,
        Component::Path if becomes(|path| [path, b"/"].concat()) => return Reason::TrailingSlash,
        Component::Path if squeezed(a) == squeezed(b) => return Reason::DuplicateSlash,
        Component::Path if without_index(a) == without_index(b) => return Reason::IndexPage,
        Component::Query if sorted(a) == sorted(b) => return Reason::QueryOrder,
        _ => {}
    }
    let (decoded_a, decoded_b) = (decoded(a), decoded(b));
    // Both or neither have a delimiter of their own, so no delimiter of the component is involved.
    if decoded_a == decoded_b {
        return Reason::Reserved;
    }
    if decoded(&decoded_a) == decoded_b || decoded(&decoded_b) == decoded_a {
        return Reason::DoubleEncoding;
    }
    if a.eq_ignore_ascii_case(b) {
        return Reason::Case;
    }
    let has_plus_space = matches!(component, Component::Path | Component::Query);
    if has_plus_space && plus_decoded(a) == plus_decoded(b) {
        return Reason::PlusSpace;
    }
    match component {
        Component::Userinfo => Reason::Userinfo,
        Component::Host => Reason::Host,
        Component::Path => Reason::Path,
        Component::Query => Reason::Query,
        Component::Fragment => Reason::Fragment,
        // Handled above.
        Component::Scheme | Component::Authority | Component::Port => Reason::Scheme,
    }
}

fn plus_decoded(text: &[u8]) -> Vec<u8> {
    let spaces: Vec<u8> = text.iter().map(|&byte| if byte == b'+' { b' ' } else { byte }).collect();
    decoded(&spaces)
}

/// `path` without empty segments except the last one.
fn squeezed(path: &[u8]) -> Vec<u8> {
    let mut out = path.to_vec();
    out.dedup_by(|later, earlier| *later == b'/' && *earlier == b'/');
    out
}

/// Whether 5.2.4 would produce the same path from both, one of which is rootless.
fn is_rootless_dots(a: &[u8], b: &[u8]) -> bool {
    let removed = |path: &[u8]| {
        let mut out = path.to_vec();
        dots::remove_dot_segments(&mut out, 0);
        out
    };
    !(a.starts_with(b"/") && b.starts_with(b"/")) && removed(a) == removed(b)
}

/// `path` without a last segment that is a known index page.
fn without_index(path: &[u8]) -> &[u8] {
    let last = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
    let is_index =
        INDEX_PAGES.split(',').any(|page| page.as_bytes().eq_ignore_ascii_case(&path[last..]));
    if is_index { &path[..last] } else { path }
}

/// The parts of a query, with its `?`, sorted.
fn sorted(query: &[u8]) -> Vec<&[u8]> {
    let mut parts: Vec<&[u8]> = query
        .strip_prefix(b"?")
        .map_or_else(Vec::new, |query| query.split(|&b| b == b'&').collect());
    parts.sort_unstable();
    parts
}

/// The components that `a` and `b`, which are equivalent at some level, spell differently. The parts of those that could be
/// parsed are known.
pub(super) fn components_spelled_differently(
    a: (&[u8], &Result<Components, UriError>),
    b: (&[u8], &Result<Components, UriError>),
) -> ComponentSet {
    let pairs = spelling(a).into_iter().zip(spelling(b));
    let mut components = ComponentSet::default();
    for ((component, a), (_, b)) in pairs {
        if a != b {
            components.add(component);
        }
    }
    components
}

/// The components of `text` as written, with their delimiters. It is a URI, except that its host
/// may hold UTF-8: then it could not be parsed.
fn spelling<'t>(
    (text, parts): (&'t [u8], &Result<Components, UriError>),
) -> [(Component, &'t [u8]); 8] {
    let parts = match parts {
        Ok(parts) => *parts,
        // A placeholder of one byte for each byte of UTF-8 preserves all offsets.
        Err(_) => {
            let ascii = text.iter().map(|&byte| if byte.is_ascii() { byte } else { b'x' });
            parse(&ascii.collect::<Vec<u8>>()).unwrap_or_default()
        }
    };
    spans(&parts).map(|span| (span.component, &text[span.start.min(span.end)..span.end]))
}
