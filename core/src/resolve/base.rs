//! Base URIs (RFC 3986 section 5.1), parsed once.

use crate::chunk::{Padded, PaddedBuf};
use crate::index::{Index, Record};
use crate::simd::{Isa, Kernels, Task};
use crate::uri::dots::has_dot_segment;
use crate::uri::fast::{plain, scan};
use crate::uri::{Components, UriError, UriErrorKind, strict};

/// A parsed base URI.
///
/// ```
/// use uriscan::resolve::BaseUri;
/// use uriscan::uri::UriErrorKind;
/// let base = BaseUri::new(b"http://a/b/c/d;p?q#fragment").unwrap();
/// assert_eq!(base.as_bytes(), b"http://a/b/c/d;p?q");
/// let error = BaseUri::new(b"//a/b").unwrap_err();
/// assert_eq!((error.kind, error.at), (UriErrorKind::Relative, 0));
/// ```
#[derive(Clone, Debug)]
pub struct BaseUri {
    /// The bytes without the fragment.
    text: PaddedBuf,
    shape: Shape,
}

impl BaseUri {
    /// Parses `text` as a base URI, without its fragment and `#` (5.1).
    ///
    /// # Errors
    /// Those of [`crate::uri::parse`]; [`UriErrorKind::Relative`] at byte 0 if `text` has no scheme.
    pub fn new(text: &[u8]) -> Result<BaseUri, UriError> {
        if u32::try_from(text.len()).is_err() {
            return Err(UriError { kind: UriErrorKind::TooLong, at: u32::MAX });
        }
        let mut buf = PaddedBuf::from_content(text);
        let kernels = Kernels::detect();
        let shape = kernels.run(ParseBase(Index::new().only_record(kernels, buf.padded())))?;
        buf.set_len(shape.parts.len as usize);
        Ok(BaseUri { text: buf, shape })
    }

    /// The base URI, without a fragment.
    pub fn as_bytes(&self) -> &[u8] {
        self.text.padded().content()
    }

    /// The base in the form that resolution takes.
    #[inline(always)]
    pub fn view(&self) -> Base<'_> {
        Base { text: self.text.padded(), shape: self.shape }
    }
}

/// A base that borrows its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Base<'a> {
    /// The bytes without the fragment, with their padding.
    text: Padded<'a>,
    shape: Shape,
}

impl<'a> Base<'a> {
    /// The record as a base, without its fragment.
    #[inline(always)]
    pub fn of_record<I: Isa>(isa: I, record: Record<'a>) -> Result<Base<'a>, UriError> {
        let shape = isa.call(ParseBase(record))?;
        Ok(Base { text: record.padded().part(0, shape.parts.len as usize), shape })
    }

    /// The bytes, with their padding.
    #[inline(always)]
    pub(crate) fn padded(&self) -> Padded<'a> {
        self.text
    }

    /// The bytes.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.text.content()
    }

    /// The components: with a scheme, without a fragment.
    #[inline(always)]
    pub(crate) fn parts(&self) -> &Components {
        &self.shape.parts
    }

    /// How a relative path is merged (5.2.3).
    #[inline(always)]
    pub(crate) fn merge(&self) -> Merge {
        self.shape.merge
    }

    /// Whether `target` refers to the same document (4.4): it equals the base, apart from its
    /// fragment.
    #[inline(always)]
    pub fn is_same_document(&self, target: &[u8]) -> bool {
        let base = self.bytes();
        // A base has no `#`, and in a URI the first one begins the fragment. This is tested first,
        // since targets of other documents rarely end here.
        target.get(base.len()).is_none_or(|&byte| byte == b'#') && target.starts_with(base)
    }
}

/// The part of the target before a relative path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    /// This many bytes of the base: up to the last `/` of its path, or up to the start of the path
    /// if it has none.
    UpTo(u32),
    /// The base up to its empty path, and a `/`.
    Root,
    /// For the reference path only: the path of the base has dot segments.
    Exact,
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    parts: Components,
    merge: Merge,
}

/// Parses a base, not inlined.
struct ParseBase<'a>(Record<'a>);

impl Task for ParseBase<'_> {
    type Output = Result<Shape, UriError>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        shape(isa, self.0)
    }
}

/// Parses a base and drops its fragment.
#[inline(always)]
fn shape<I: Isa>(isa: I, record: Record<'_>) -> Result<Shape, UriError> {
    let bytes = record.bytes();
    let (parts, has_dots) = match by_masks(isa, record) {
        Some(found) => found,
        None => by_reference_path(bytes)?,
    };
    let parts = Components { len: parts.query_end, ..parts };
    let path = parts.path(bytes);
    let merge = if has_dots {
        Merge::Exact
    } else if path.is_empty() && parts.authority_start != 0 {
        Merge::Root
    } else {
        let directory = memchr::memrchr(b'/', path).map_or(0, |slash| slash as u32 + 1);
        Merge::UpTo(parts.path_start + directory)
    };
    Ok(Shape { parts, merge })
}

/// The components of a base that a fast path handles, and whether its path has dot segments.
#[inline(always)]
fn by_masks<I: Isa>(isa: I, record: Record<'_>) -> Option<(Components, bool)> {
    if record.is_empty() {
        return None;
    }
    match plain(isa, record) {
        Some(plain) => Some((plain.components(isa, record), false)),
        None => scan(isa, record).map(|scan| (scan.components, scan.dots)),
    }
}

#[cold]
#[inline(never)]
fn by_reference_path(text: &[u8]) -> Result<(Components, bool), UriError> {
    let parts = strict::parse(text)?;
    if !parts.is_uri() {
        return Err(UriError::new(UriErrorKind::Relative, 0));
    }
    Ok((parts, has_dot_segment(parts.path(text))))
}
