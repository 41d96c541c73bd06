//! A reference with its text: components by name, in place of offsets.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use super::{ascii, normalize};
use crate::resolve::{BaseUri, Options, Resolver};
use crate::uri::{Components, HostKind, UriError, parse};

/// A URI or relative reference (RFC 3986, 4.1), parsed, with its text: borrowed, or owned.
///
/// Two are equal if their texts are. Whether they are equivalent is a question for [`crate::normalize()`] or, with
/// rules and levels, for `Equivalence` (feature `bulk`).
///
/// ```
/// use uriscan::Uri;
/// let uri = Uri::parse("http://user@Example.com:8080/a/b?q#f")?;
/// assert_eq!((uri.scheme(), uri.host(), uri.port()), (Some("http"), Some("Example.com"), Some("8080")));
/// assert_eq!((uri.path(), uri.query(), uri.fragment()), ("/a/b", Some("q"), Some("f")));
/// assert_eq!(uri.resolve("../c")?.as_str(), "http://user@Example.com:8080/c");
/// assert_eq!(uri.normalize()?.host(), Some("example.com"));
/// assert_eq!(Uri::parse("http://h/a b").unwrap_err().to_string().split(':').next(), Some("space at byte 10"));
/// # Ok::<(), uriscan::UriError>(())
/// ```
#[derive(Clone)]
pub struct Uri<'a> {
    text: Cow<'a, str>,
    parts: Components,
}

impl<'a> Uri<'a> {
    /// Parses `text`, all of it, strictly by RFC 3986: nothing is trimmed, and a host in raw UTF-8 is invalid, which
    /// [`normalize`] maps.
    ///
    /// # Errors
    /// Those of [`crate::uri::parse()`], with the byte at which the text ceases to be a reference.
    pub fn parse<T: AsRef<[u8]> + ?Sized>(text: &'a T) -> Result<Uri<'a>, UriError> {
        let text = text.as_ref();
        let parts = parse(text)?;
        Ok(Uri { text: Cow::Borrowed(ascii(text)), parts })
    }

    fn of_text(text: Cow<'a, str>) -> Result<Uri<'a>, UriError> {
        let parts = parse(text.as_bytes())?;
        Ok(Uri { text, parts })
    }

    /// The text, as it was parsed.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Where the components are in the text.
    pub fn components(&self) -> &Components {
        &self.parts
    }

    /// Whether it is a URI, that is, has a scheme; otherwise it is a relative reference.
    pub fn is_uri(&self) -> bool {
        self.parts.is_uri()
    }

    /// The scheme without its `:`.
    pub fn scheme(&self) -> Option<&str> {
        self.part(Components::scheme)
    }

    /// The authority without its `//`: user information, host and port.
    pub fn authority(&self) -> Option<&str> {
        self.part(Components::authority)
    }

    /// The user information without its `@`.
    pub fn userinfo(&self) -> Option<&str> {
        self.part(Components::userinfo)
    }

    /// The host, an IP literal with its brackets; empty where there is an authority without one.
    pub fn host(&self) -> Option<&str> {
        self.part(Components::host)
    }

    /// What the host is.
    pub fn host_kind(&self) -> HostKind {
        self.parts.host_kind
    }

    /// The port without its `:`: digits, or nothing after the `:`.
    pub fn port(&self) -> Option<&str> {
        self.part(Components::port)
    }

    /// The path, which may be empty.
    pub fn path(&self) -> &str {
        ascii(self.parts.path(self.text.as_bytes()))
    }

    /// The query without its `?`.
    pub fn query(&self) -> Option<&str> {
        self.part(Components::query)
    }

    /// The parameters of the query as they are written: the name, and what follows the first `=`, if there is one.
    ///
    /// ```
    /// let uri = uriscan::Uri::parse("http://h/?a=1&b&a=%32=")?;
    /// let params: Vec<_> = uri.params().collect();
    /// assert_eq!(params, [("a", Some("1")), ("b", None), ("a", Some("%32="))]);
    /// # Ok::<(), uriscan::UriError>(())
    /// ```
    pub fn params(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let query = self.query().filter(|query| !query.is_empty());
        query.into_iter().flat_map(|query| query.split('&')).map(|param| {
            param.split_once('=').map_or((param, None), |(name, value)| (name, Some(value)))
        })
    }

    /// The fragment without its `#`.
    pub fn fragment(&self) -> Option<&str> {
        self.part(Components::fragment)
    }

    /// The canonical form at level `scheme` (RFC 3986, 6.2.3).
    ///
    /// # Errors
    /// [`crate::UriErrorKind::Relative`] without a scheme.
    pub fn normalize(&self) -> Result<Uri<'_>, UriError> {
        Uri::of_text(normalize(&*self.text)?)
    }

    /// The target of `reference` with this URI as the base (RFC 3986, 5.2), as a browser follows a link. For many
    /// references use a [`Resolver`].
    ///
    /// # Errors
    /// What is wrong with `reference`; [`crate::UriErrorKind::Relative`] if this is not a URI.
    pub fn resolve<T: AsRef<[u8]> + ?Sized>(
        &self,
        reference: &T,
    ) -> Result<Uri<'static>, UriError> {
        let base = BaseUri::new(self.text.as_bytes())?;
        let mut resolver = Resolver::new(base, Options::default());
        let target = ascii(resolver.resolve(reference.as_ref())?).to_owned();
        Uri::of_text(Cow::Owned(target))
    }

    /// With a text of its own.
    pub fn into_owned(self) -> Uri<'static> {
        Uri { text: Cow::Owned(self.text.into_owned()), parts: self.parts }
    }

    fn part<'t>(
        &'t self,
        of: impl Fn(&Components, &'t [u8]) -> Option<&'t [u8]>,
    ) -> Option<&'t str> {
        of(&self.parts, self.text.as_bytes()).map(ascii)
    }
}

impl fmt::Display for Uri<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl fmt::Debug for Uri<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Uri").field(&self.text).finish()
    }
}

impl PartialEq for Uri<'_> {
    fn eq(&self, other: &Uri<'_>) -> bool {
        self.text == other.text
    }
}

impl Eq for Uri<'_> {}

impl PartialOrd for Uri<'_> {
    fn partial_cmp(&self, other: &Uri<'_>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Uri<'_> {
    fn cmp(&self, other: &Uri<'_>) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl Hash for Uri<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl AsRef<str> for Uri<'_> {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl AsRef<[u8]> for Uri<'_> {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

impl FromStr for Uri<'static> {
    type Err = UriError;
    fn from_str(text: &str) -> Result<Uri<'static>, UriError> {
        Uri::try_from(text.to_owned())
    }
}

impl<'a> TryFrom<&'a str> for Uri<'a> {
    type Error = UriError;
    fn try_from(text: &'a str) -> Result<Uri<'a>, UriError> {
        Uri::parse(text)
    }
}

impl<'a> TryFrom<&'a [u8]> for Uri<'a> {
    type Error = UriError;
    fn try_from(text: &'a [u8]) -> Result<Uri<'a>, UriError> {
        Uri::parse(text)
    }
}

impl TryFrom<String> for Uri<'static> {
    type Error = UriError;
    fn try_from(text: String) -> Result<Uri<'static>, UriError> {
        Uri::of_text(Cow::Owned(text))
    }
}

impl From<Uri<'_>> for String {
    fn from(uri: Uri<'_>) -> String {
        uri.text.into_owned()
    }
}

/// As its text.
#[cfg(feature = "bulk")]
impl serde::Serialize for Uri<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// From text, which is parsed.
#[cfg(feature = "bulk")]
impl<'de> serde::Deserialize<'de> for Uri<'static> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Uri<'static>, D::Error> {
        let text = String::deserialize(deserializer)?;
        Uri::try_from(text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_those_of_the_components() {
        for text in
            ["", "a", "//", "//@:?#", "http://u@h:1/p?q#f", "urn:a:b", "?q", "#f", "s://[::1]"]
        {
            let (uri, parts) = (Uri::parse(text).unwrap(), parse(text.as_bytes()).unwrap());
            let of =
                |part: Option<&[u8]>| part.map(|part| String::from_utf8(part.to_vec()).unwrap());
            let text = text.as_bytes();
            assert_eq!(uri.scheme().map(str::to_owned), of(parts.scheme(text)));
            assert_eq!(uri.authority().map(str::to_owned), of(parts.authority(text)));
            assert_eq!(uri.userinfo().map(str::to_owned), of(parts.userinfo(text)));
            assert_eq!(uri.host().map(str::to_owned), of(parts.host(text)));
            assert_eq!(uri.port().map(str::to_owned), of(parts.port(text)));
            assert_eq!(uri.path().as_bytes(), parts.path(text));
            assert_eq!(uri.query().map(str::to_owned), of(parts.query(text)));
            assert_eq!(uri.fragment().map(str::to_owned), of(parts.fragment(text)));
            assert_eq!((uri.host_kind(), uri.is_uri()), (parts.host_kind, parts.is_uri()));
            assert_eq!((uri.as_str(), uri.to_string()), (uri.as_ref() as &str, uri.clone().into()));
        }
    }

    #[test]
    fn what_is_not_a_reference_is_an_error_from_every_constructor() {
        for text in ["http://h/a b", "http://[", "%", "a:b\n", "http://ü/"] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert_eq!(Uri::parse(text).unwrap_err(), error);
            assert_eq!(Uri::parse(text.as_bytes()).unwrap_err(), error);
            assert_eq!(text.parse::<Uri<'static>>().unwrap_err(), error);
            assert_eq!(Uri::try_from(text.to_owned()).unwrap_err(), error);
        }
        assert!(Uri::parse(&b"\xff"[..]).is_err());
    }

    #[test]
    fn a_relative_reference_has_no_canonical_form_and_is_not_a_base() {
        let relative = Uri::parse("../a").unwrap();
        assert_eq!(relative.normalize().unwrap_err().kind, crate::uri::UriErrorKind::Relative);
        assert_eq!(relative.resolve("b").unwrap_err().kind, crate::uri::UriErrorKind::Relative);
    }

    #[test]
    fn targets_of_the_examples_of_the_rfc_are_found() {
        let base = Uri::parse("http://a/b/c/d;p?q").unwrap();
        for (reference, target) in
            [("g:h", "g:h"), ("../../../g", "http://a/g"), ("", "http://a/b/c/d;p?q")]
        {
            assert_eq!(base.resolve(reference).unwrap().as_str(), target);
        }
        assert!(base.resolve("a b").is_err());
    }

    #[test]
    fn order_and_hash_are_those_of_the_text() {
        let mut all = ["b:", "a:", "a:", "A:"].map(|text| Uri::parse(text).unwrap());
        all.sort();
        assert_eq!(all.iter().map(Uri::as_str).collect::<Vec<_>>(), ["A:", "a:", "a:", "b:"]);
        let distinct = all.iter().collect::<std::collections::HashSet<_>>();
        assert_eq!(distinct.len(), 3);
    }

    #[cfg(feature = "bulk")]
    #[test]
    fn json_has_the_text_and_is_parsed() {
        let uri: Uri<'static> = serde_json::from_str("\"http:\\/\\/h\"").unwrap();
        assert_eq!(serde_json::to_string(&uri).unwrap(), "\"http://h\"");
        assert!(serde_json::from_str::<Uri<'static>>("\"a b\"").is_err());
    }
}
