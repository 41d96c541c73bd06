//! One reference at a time: what most users of the library need.

mod uri;

pub use uri::Uri;

use std::borrow::Cow;

use crate::normalize::{Normalizer, Options};
use crate::uri::UriError;

/// The canonical form of a URI at level `scheme` (RFC 3986, 6.2.2 and 6.2.3): `text` itself where it is canonical.
///
/// All of `text` is the URI: nothing is trimmed. For many URIs a [`Normalizer`] is faster, as it keeps its buffers; for
/// files there is `pipeline::normalize` of the crate `uriscan-bulk`.
///
/// A host in raw UTF-8 is mapped by UTS #46, if there is the feature `idna`; [`Uri::parse`] refuses it, as RFC 3986 does.
///
/// ```
/// use std::borrow::Cow;
/// assert_eq!(uriscan::normalize("HTTP://Example.COM:80/%7Ebob/./x")?, "http://example.com/~bob/x");
/// assert!(matches!(uriscan::normalize("http://example.com/~bob/x")?, Cow::Borrowed(_)));
/// # Ok::<(), uriscan::UriError>(())
/// ```
///
/// # Errors
/// What is wrong with `text`, and at which byte; [`crate::UriErrorKind::Relative`] for a reference without a scheme,
/// which has no canonical form of its own.
pub fn normalize<T: AsRef<[u8]> + ?Sized>(text: &T) -> Result<Cow<'_, str>, UriError> {
    let text = text.as_ref();
    let mut normalizer = Normalizer::new(Options::default());
    let form = normalizer.normalize(text)?;
    Ok(match form == text {
        true => Cow::Borrowed(ascii(text)),
        false => Cow::Owned(ascii(form).to_owned()),
    })
}

/// A reference, or a part of one, as text.
fn ascii(reference: &[u8]) -> &str {
    std::str::from_utf8(reference).expect("a reference is ASCII")
}
