//! Base URIs (RFC 3986 section 5.1): parsed once, as long as they serve.

use crate::chunk::{Padded, PaddedBuf};
use crate::index::{Index, Record};
use crate::simd::{Isa, Kernels, Task};
use crate::uri::dots::has_dot_segment;
use crate::uri::fast::{plain, scan};
use crate::uri::{Components, ErrorKind, UriError, strict};

/// A base URI of the caller's, ready to resolve against.
///
/// ```
/// use uriscan::resolve::BaseUri;
/// use uriscan::uri::ErrorKind;
/// let base = BaseUri::new(b"http://a/b/c/d;p?q#fragment").unwrap();
/// assert_eq!(base.as_bytes(), b"http://a/b/c/d;p?q");
/// let error = BaseUri::new(b"//a/b").unwrap_err();
/// assert_eq!((error.kind, error.at), (ErrorKind::Relative, 0));
/// ```
#[derive(Clone, Debug)]
pub struct BaseUri {
    /// The bytes without the fragment.
    text: PaddedBuf,
    shape: Shape,
}

impl BaseUri {
    /// The base that `text` is once its fragment and `#` are stripped (5.1).
    ///
    /// # Errors
    /// What [`crate::uri::parse`] says of `text`; [`ErrorKind::Relative`] at byte 0 when it has no scheme.
    pub fn new(text: &[u8]) -> Result<BaseUri, UriError> {
        if u32::try_from(text.len()).is_err() {
            return Err(UriError { kind: ErrorKind::TooLong, at: u32::MAX });
        }
        let mut buf = PaddedBuf::from_content(text);
        let kernels = Kernels::detect();
        let shape = kernels.run(Judge(Index::new().only_record(kernels, buf.padded())))?;
        buf.set_len(shape.parts.len as usize);
        Ok(BaseUri { text: buf, shape })
    }

    /// The base URI, without a fragment.
    pub fn as_bytes(&self) -> &[u8] {
        self.text.padded().content()
    }

    /// The base, to be resolved against.
    #[inline(always)]
    pub(crate) fn view(&self) -> Base<'_> {
        Base { text: self.text.padded(), shape: self.shape }
    }
}

/// A base wherever its bytes lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Base<'a> {
    /// The bytes without the fragment, with their padding.
    text: Padded<'a>,
    shape: Shape,
}

impl<'a> Base<'a> {
    /// The base that the record is once its fragment is stripped.
    #[inline(always)]
    pub(crate) fn of_record<I: Isa>(isa: I, record: Record<'a>) -> Result<Base<'a>, UriError> {
        let shape = isa.call(Judge(record))?;
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

    /// The components; there is a scheme and no fragment.
    #[inline(always)]
    pub(crate) fn parts(&self) -> &Components {
        &self.shape.parts
    }

    /// How a relative path is merged (5.2.3).
    #[inline(always)]
    pub(crate) fn merge(&self) -> Merge {
        self.shape.merge
    }

    /// Whether `target` refers to the same document (4.4): aside from its fragment it is the base.
    #[inline(always)]
    pub(crate) fn is_same_document(&self, target: &[u8]) -> bool {
        let base = self.bytes();
        // A base has no `#`, and in a URI the first one begins the fragment. Asked first, as hardly any target
        // of another document has its end there.
        target.get(base.len()).is_none_or(|&byte| byte == b'#') && target.starts_with(base)
    }
}

/// What stands before a relative path in the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    /// So many bytes of the base: up to the last `/` of its path, or to where that begins if it has none.
    UpTo(u32),
    /// The base up to its empty path, and a `/`.
    Root,
    /// What only the reference path can tell: dot segments in the path of the base.
    Exact,
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    parts: Components,
    merge: Merge,
}

/// Judges a base, in a function of its own.
struct Judge<'a>(Record<'a>);

impl Task for Judge<'_> {
    type Output = Result<Shape, UriError>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        shape(isa, self.0)
    }
}

/// Judges a base and forgets its fragment.
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

/// The components of a base that a fast path understands, and whether its path has dot segments.
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
        return Err(UriError::new(ErrorKind::Relative, 0));
    }
    Ok((parts, has_dot_segment(parts.path(text))))
}
