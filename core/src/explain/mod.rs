//! Explains the canonical form of a URI, and why two URIs are equivalent or not.

mod compare;
mod difference;
mod merge;
pub mod step;
mod trace;

pub use compare::{Comparer, Comparison, compare, compare_with_rules};
pub use difference::{Difference, Reason};
pub use merge::{Merger, mergers};
pub use step::{STEPS, Step};

use crate::grammar::class::UNRESERVED;
use crate::grammar::{PathForm, SchemeFacts, scheme_facts};
use crate::normalize::exact::{encode_host, raw_host};
use crate::normalize::{Level, Options, host, normalize_exact, path_form, percent, port};
use crate::rules::RuleSet;
use crate::uri::dots;
use crate::uri::{Components, HostKind, UriError, parse};
use trace::{Edit, Trace};

named! {
    /// A component of a URI (RFC 3986 section 3).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Component {
        /// The scheme (3.1).
        Scheme = "scheme",
        /// The authority (3.2) as a whole: whether there is one.
        Authority = "authority",
        /// The userinfo (3.2.1).
        Userinfo = "userinfo",
        /// The host (3.2.2).
        Host = "host",
        /// The port (3.2.3).
        Port = "port",
        /// The path (3.3).
        Path = "path",
        /// The query (3.4).
        Query = "query",
        /// The fragment (3.5).
        Fragment = "fragment",
    }
}

impl Component {
    /// The component of the byte at `at` of a URI with these parts.
    fn at(at: usize, parts: &Components) -> Component {
        let is_before = |end: u32| at < end as usize;
        match () {
            () if is_before(parts.scheme_end) => Component::Scheme,
            () if is_before(parts.host_start) => Component::Userinfo,
            () if is_before(parts.host_end) => Component::Host,
            () if is_before(parts.path_start) => Component::Port,
            () if is_before(parts.path_end) => Component::Path,
            () if is_before(parts.query_end) => Component::Query,
            () => Component::Fragment,
        }
    }
}

/// One change on the way to the canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The kind of change.
    pub step: &'static Step,
    /// The component that it changes.
    pub component: Component,
    /// Offset of the first affected byte of the input.
    pub start: usize,
    /// Offset after the last one; equal to `start` for an insertion.
    pub end: usize,
    /// The bytes before the step: those of the input, or the result of earlier steps.
    pub before: Vec<u8>,
    /// The bytes after the step.
    pub after: Vec<u8>,
}

/// How a URI becomes its canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// The changes, in the order of the steps.
    pub changes: Vec<Change>,
    /// The canonical form.
    pub canonical: Vec<u8>,
    /// For each byte of the form, the bytes of the input that it comes from.
    origins: Vec<core::ops::Range<u32>>,
}

impl Explanation {
    /// The offset in the input of the byte that byte `at` of the canonical form comes from, if `at` is in a
    /// component that ends at `end`; at that end, the byte after the source of the byte before.
    fn input_offset(&self, at: usize, end: usize) -> usize {
        let origin = match at {
            _ if at < end => self.origins[at].start,
            0 => 0,
            _ => self.origins[at - 1].end,
        };
        origin as usize
    }
}

/// Length in bytes of the longest URI that is explained in bulk: `explain` takes time quadratic in
/// the number of parameters that rules drop.
pub const LONGEST: usize = 8 << 10;

/// Explains how `uri`, which is all of the bytes, becomes its canonical form under `options`.
///
/// ```
/// use uriscan::explain::explain;
/// use uriscan::normalize::Options;
/// let explained = explain(b"http://Example.com:80/%7Ebob", Options::default()).unwrap();
/// let changes: Vec<_> = explained.changes.iter().map(|c| (c.step.name, c.start, c.end)).collect();
/// assert_eq!(changes, [("triplet-decode", 22, 25), ("host-case", 7, 18), ("default-port", 18, 21)]);
/// assert_eq!(explained.canonical, b"http://example.com/~bob");
/// ```
///
/// # Errors
/// As [`normalize_exact`].
pub fn explain(uri: &[u8], options: Options) -> Result<Explanation, UriError> {
    explain_with_rules(uri, options, None)
}

/// [`explain`], followed by the changes that rules beyond the RFC make to the form.
///
/// Takes time quadratic in the number of parameters that the rules drop.
///
/// # Errors
/// As [`normalize_exact`].
pub fn explain_with_rules(
    uri: &[u8],
    options: Options,
    rules: Option<&RuleSet>,
) -> Result<Explanation, UriError> {
    normalize_exact(uri, options.level, options.drop_fragment, &mut Vec::new())?;
    let mut trace = Trace::new(uri);
    if options.level >= Level::Scheme {
        utf8_host(&mut trace);
    }
    let mut parts = parse(trace.text())?;
    if options.level >= Level::Syntax {
        for step in [scheme_case, triplets, host_case, dot_segments] {
            take(&mut trace, &mut parts, step)?;
        }
    }
    if options.level >= Level::Scheme {
        for step in [host_forms, ports, default_host, empty_path, path_parts] {
            take(&mut trace, &mut parts, step)?;
        }
    }
    if options.drop_fragment {
        take(&mut trace, &mut parts, fragment)?;
    }
    for taken in rules.map_or_else(Vec::new, |rules| rules.steps(trace.text())) {
        let component = Component::at(taken.range.start, &parse(trace.text())?);
        let (step, range, after) = (step::of_rule(taken.rule), taken.range, taken.to);
        trace.apply(vec![Edit { step, component, range, after }]);
    }
    let (canonical, changes, origins) = trace.finish();
    Ok(Explanation { changes, canonical, origins })
}

/// Performs a step that is a function of the text and its components, `parts`.
fn take(
    trace: &mut Trace,
    parts: &mut Components,
    step: fn(&[u8], &Components, &mut Vec<Edit>),
) -> Result<(), UriError> {
    let mut edits = Vec::new();
    step(trace.text(), parts, &mut edits);
    if trace.apply(edits) {
        *parts = parse(trace.text())?;
    }
    Ok(())
}

fn edit(
    step: &'static Step,
    component: Component,
    range: core::ops::Range<u32>,
    after: Vec<u8>,
) -> Edit {
    Edit { step, component, range: range.start as usize..range.end as usize, after }
}

/// Percent-encodes UTF-8 in the host, so that the text can be parsed.
fn utf8_host(trace: &mut Trace) {
    if parse(trace.text()).is_err()
        && let Some((start, host)) = raw_host(trace.text())
    {
        let range = start..start + host.len();
        let after = encode_host(host);
        let (step, component) = (&step::UTF8_HOST, Component::Host);
        trace.apply(vec![Edit { step, component, range, after }]);
    }
}

fn scheme_case(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    let range = 0..parts.scheme_end;
    let after = text[..parts.scheme_end as usize].to_ascii_lowercase();
    edits.push(edit(&step::SCHEME_CASE, Component::Scheme, range, after));
}

fn triplets(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    // In a valid URI every `%` is followed by two digits.
    for at in memchr::memchr_iter(b'%', text) {
        let byte = percent::decode(text[at + 1], text[at + 2]);
        let mut after = Vec::new();
        let step = if UNRESERVED.has(byte) {
            after.push(byte);
            &step::TRIPLET_DECODE
        } else {
            percent::push_triplet(byte, &mut after);
            &step::TRIPLET_CASE
        };
        let component = Component::at(at, parts);
        edits.push(Edit { step, component, range: at..at + 3, after });
    }
}

fn host_case(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    if let Some(before) = parts.host(text) {
        let mut after = Vec::new();
        host::syntax_into(before, parts.host_kind, &mut after);
        edits.push(edit(
            &step::HOST_CASE,
            Component::Host,
            parts.host_start..parts.host_end,
            after,
        ));
    }
}

fn dot_segments(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    let before = parts.path(text);
    if !dots::is_normalized_by_dots(before) {
        return;
    }
    let mut after = before.to_vec();
    dots::remove_dot_segments(&mut after, 0);
    if parts.authority_start == 0 {
        dots::guard_against_authority(&mut after, 0);
    }
    // Only the affected segments are shown.
    let same = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let start = memchr::memrchr(b'/', &before[..same]).unwrap_or(0);
    let rest = before.len().min(after.len()) - start;
    let ends = before.iter().rev().zip(after.iter().rev()).take(rest);
    let same = ends.take_while(|(a, b)| a == b).count();
    let tail = &before[before.len() - same..];
    let kept = memchr::memchr(b'/', tail).map_or(0, |slash| tail.len() - slash);
    let path_start = parts.path_start as usize;
    edits.push(Edit {
        step: &step::DOT_SEGMENTS,
        component: Component::Path,
        range: path_start + start..path_start + before.len() - kept,
        after: after[start..after.len() - kept].to_vec(),
    });
}

fn facts(text: &[u8], parts: &Components) -> Option<&'static SchemeFacts> {
    scheme_facts(&text[..parts.scheme_end as usize])
}

fn host_forms(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    if let Some(before) = parts.host(text) {
        let is_dns = facts(text, parts).is_some_and(|facts| facts.dns_host);
        let is_ipv6 = parts.host_kind == HostKind::Ipv6;
        let mut after = Vec::new();
        host::scheme_into(before, parts.host_kind, is_dns, &mut after);
        let step = if is_ipv6 { &step::IPV6 } else { &step::IDNA };
        edits.push(edit(step, Component::Host, parts.host_start..parts.host_end, after));
    }
}

fn ports(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    let Some(digits) = parts.port(text) else { return };
    let default = facts(text, parts).and_then(|facts| facts.default_port);
    let (step, after) = match port::canonical(digits, default) {
        Some(kept) => (&step::PORT_ZEROS, [b":", kept].concat()),
        None if digits.is_empty() => (&step::EMPTY_PORT, Vec::new()),
        None => (&step::DEFAULT_PORT, Vec::new()),
    };
    edits.push(edit(step, Component::Port, parts.host_end..parts.path_start, after));
}

fn default_host(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    let default = facts(text, parts).and_then(|facts| facts.default_host);
    if default.is_some() && parts.authority_start == 0 && parts.path(text).starts_with(b"/") {
        // What kept the path from looking like an authority is not needed any more.
        let guard = if parts.path(text).starts_with(b"/.//") { 2 } else { 0 };
        let range = parts.path_start..parts.path_start + guard;
        edits.push(edit(&step::DEFAULT_HOST, Component::Authority, range, b"//".to_vec()));
        return;
    }
    let is_alone = parts.userinfo(text).is_none() && parts.port(text).is_none();
    if is_alone && default.is_some_and(|default| parts.host(text) == Some(default.as_bytes())) {
        let range = parts.host_start..parts.host_end;
        edits.push(edit(&step::DEFAULT_HOST, Component::Host, range, Vec::new()));
    }
}

fn empty_path(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    let is_root = facts(text, parts).is_none_or(|facts| facts.empty_path_is_root);
    if is_root && parts.authority_start != 0 && parts.path_start == parts.path_end {
        let range = parts.path_start..parts.path_end;
        edits.push(edit(&step::EMPTY_PATH, Component::Path, range, b"/".to_vec()));
    }
}

fn path_parts(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    if parts.authority_start != 0 {
        return;
    }
    let form = facts(text, parts).map_or(PathForm::Generic, |facts| facts.path_form);
    let step = match form {
        PathForm::Generic => return,
        PathForm::Mailto => &step::MAILTO_DOMAIN,
        PathForm::Urn => &step::URN_NID,
    };
    let mut after = parts.path(text).to_vec();
    path_form::lower_parts(form, &mut after);
    edits.push(edit(step, Component::Path, parts.path_start..parts.path_end, after));
}

fn fragment(_: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    let range = parts.query_end..parts.len;
    edits.push(edit(&step::FRAGMENT, Component::Fragment, range, Vec::new()));
}
