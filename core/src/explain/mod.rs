//! Explains the canonical form of a URI, and why two URIs are equivalent or not.

mod compare;
mod difference;
mod merge;
pub mod step;
mod take;
mod trace;

pub use compare::{Comparer, Comparison, compare, compare_with_rules};
pub use difference::{Difference, Reason};
pub use merge::{Merger, mergers};
pub use step::{STEPS, Step};

use crate::normalize::{Options, normalize_exact};
use crate::rules::RuleSet;
use crate::uri::{Components, UriError, parse};
use take::{ComponentSet, fragment, take, take_all};
use trace::{Changed, Edit, Trace};

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
    let mut edits = Vec::new();
    let at = (options.level, ComponentSet::ALL);
    let mut parts = take_all(&mut trace, parse(uri), at, &mut edits)?;
    if options.drop_fragment {
        take(&mut trace, &mut parts, fragment, &mut edits)?;
    }
    for taken in rules.map_or_else(Vec::new, |rules| rules.steps(trace.text())) {
        let component = Component::at(taken.range.start, &parse(trace.text())?);
        let (step, range, after) = (step::of_rule(taken.rule), taken.range, taken.to);
        trace.apply(&mut vec![Edit { step, component, range, after }]);
    }
    let (canonical, changes, origins) = trace.finish();
    Ok(Explanation { changes, canonical, origins })
}
