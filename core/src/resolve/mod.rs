//! Reference resolution, RFC 3986 section 5, and the references of section 4.

mod base;
mod exact;
mod fast;
mod suffix;
#[cfg(test)]
mod tests;

pub use base::BaseUri;
pub(crate) use suffix::is_suffix;
pub use suffix::{NoScheme, Suffix};

pub use base::Base;
#[cfg(feature = "bulk")]
pub(crate) use exact::resolve_any;
pub(crate) use fast::append_target as append_usual_target;

use crate::chunk::PaddedBuf;
use crate::index::{Index, Record};
use crate::simd::{Isa, Kernels, Task};
use crate::uri::fast::{plain, scan};
use crate::uri::{UriError, UriErrorKind};

/// How references are read.
///
/// ```
/// use uriscan::resolve::{BaseUri, Options, Resolver};
/// let base = BaseUri::new(b"http://a/b/c/d;p?q").unwrap();
/// let mut resolver = Resolver::new(base, Options::default().lenient_scheme(true));
/// assert_eq!(resolver.resolve(b"http:g"), Ok(&b"http://a/b/c/g"[..]));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[must_use]
#[non_exhaustive]
pub struct Options {
    /// Ignore the scheme of a reference if it is that of the base, in any case: the loophole of old
    /// parsers (5.2.2, 5.4.2). `http:g` is `g` then.
    pub lenient_scheme: bool,
}

impl Options {
    /// Sets whether the scheme of a reference is ignored if it is that of the base.
    pub const fn lenient_scheme(mut self, lenient_scheme: bool) -> Options {
        self.lenient_scheme = lenient_scheme;
        self
    }
}

/// Resolves references one at a time against one base, and owns the buffers for that.
///
/// For millions of references in a file, `pipeline::resolve` of the crate `uriscan-bulk` is faster, since it scans them
/// together.
///
/// ```
/// use uriscan::resolve::{BaseUri, Options, Resolver};
/// let base = BaseUri::new(b"http://a/b/c/d;p?q").unwrap();
/// let mut resolver = Resolver::new(base, Options::default());
/// let mut out = Vec::new();
/// resolver.resolve_into(b"../g?y#s", &mut out).unwrap();
/// assert_eq!(out, b"http://a/b/g?y#s");
/// assert!(resolver.resolve_into(b"no reference", &mut out).is_err());
/// assert_eq!(resolver.resolve(b"#s"), Ok(&b"http://a/b/c/d;p?q#s"[..]));
/// assert!(resolver.is_same_document(b"http://a/b/c/d;p?q#s"));
/// ```
#[derive(Clone, Debug)]
pub struct Resolver {
    base: BaseUri,
    options: Options,
    kernels: Kernels,
    text: PaddedBuf,
    index: Index,
    target: Vec<u8>,
}

impl Resolver {
    /// Creates a resolver with the best backend of this CPU.
    pub fn new(base: BaseUri, options: Options) -> Resolver {
        Resolver::with_kernels(base, options, Kernels::detect())
    }

    /// Creates a resolver with the given backend; the results are the same.
    pub fn with_kernels(base: BaseUri, options: Options, kernels: Kernels) -> Resolver {
        Resolver {
            base,
            options,
            kernels,
            text: PaddedBuf::default(),
            index: Index::new(),
            target: Vec::new(),
        }
    }

    /// The base.
    pub fn base(&self) -> &BaseUri {
        &self.base
    }

    /// Appends the target of `reference`, which is all of the bytes, to `out`, which keeps its
    /// content.
    ///
    /// The empty reference is valid: its target is the base.
    ///
    /// # Errors
    /// Those of [`crate::uri::parse`]; `out` is unchanged then.
    pub fn resolve_into(&mut self, reference: &[u8], out: &mut Vec<u8>) -> Result<(), UriError> {
        if u32::try_from(reference.len()).is_err() {
            return Err(UriError { kind: UriErrorKind::TooLong, at: u32::MAX });
        }
        let Resolver { base, options, kernels, text, index, .. } = self;
        text.set(reference);
        let record = index.only_record(*kernels, text.padded());
        kernels.run(Append(&base.view(), *options, record, out))
    }

    /// Returns the target of `reference`.
    ///
    /// # Errors
    /// As [`Resolver::resolve_into`].
    pub fn resolve(&mut self, reference: &[u8]) -> Result<&[u8], UriError> {
        let mut target = core::mem::take(&mut self.target);
        target.clear();
        let result = self.resolve_into(reference, &mut target);
        self.target = target;
        result.map(|()| &self.target[..])
    }

    /// Whether `target` refers to the same document as the base (4.4): apart from a fragment the
    /// bytes are equal. Neither is normalized first.
    pub fn is_same_document(&self, target: &[u8]) -> bool {
        self.base.view().is_same_document(target)
    }
}

/// Appends the target of a record, which may be empty, to `out`. Not inlined.
#[inline(always)]
pub fn append_target<I: Isa>(
    isa: I,
    base: &Base<'_>,
    options: Options,
    record: Record<'_>,
    out: &mut Vec<u8>,
) -> Result<(), UriError> {
    isa.call(Append(base, options, record, out))
}

/// Appends the target of a record to the vector.
struct Append<'a>(&'a Base<'a>, Options, Record<'a>, &'a mut Vec<u8>);

impl Task for Append<'_> {
    type Output = Result<(), UriError>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        let Append(base, options, record, out) = self;
        append_target_here(isa, base, options, record, out)
    }
}

/// [`append_target`], inlined into the caller.
#[inline(always)]
pub fn append_target_here<I: Isa>(
    isa: I,
    base: &Base<'_>,
    options: Options,
    record: Record<'_>,
    out: &mut Vec<u8>,
) -> Result<(), UriError> {
    if fast::append_target(isa, base, record, out).is_some() {
        return Ok(());
    }
    if !options.lenient_scheme && !record.is_empty() {
        // A URI without dot segments is its own target, and most records that are not a relative
        // references are such.
        let is_own_target =
            plain(isa, record).is_some() || scan(isa, record).is_some_and(|scan| !scan.dots);
        if is_own_target {
            out.extend_from_slice(record.bytes());
            return Ok(());
        }
    }
    by_reference_path(base, options, record.bytes(), out)
}

#[cold]
#[inline(never)]
pub(crate) fn by_reference_path(
    base: &Base<'_>,
    options: Options,
    text: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), UriError> {
    exact::resolve_exact(base, text, options.lenient_scheme, out)
}
