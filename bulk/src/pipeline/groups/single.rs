//! Equivalence of single URIs, a deduplicator for URIs that come one by one, and `dedup` for a reader and a writer.

use std::borrow::Cow;
use std::io::{Read, Write};

use crate::io::Source;
use crate::pipeline::compare::equivalence::Canonicalizer;
use crate::pipeline::{DedupOptions, Equivalence, Error, Report, Settings, Sinks, dedup};
use uriscan_core::dedup::Numbering;
use uriscan_core::index::trimmed;
use uriscan_core::key::{Hasher, Key, PublicHash};
use uriscan_core::simd::Kernels;
use uriscan_core::uri::UriError;

impl Equivalence {
    /// The canonical form of `uri` under this equivalence: `uri` itself where that is canonical. Nothing is trimmed.
    ///
    /// ```
    /// use uriscan::Equivalence;
    /// use uriscan::normalize::{Level, Options};
    /// let syntax = Equivalence::from(Options::new(Level::Syntax));
    /// assert_eq!(syntax.canonical("HTTP://h:80/")?, &b"http://h:80/"[..]);
    /// # Ok::<(), uriscan::UriError>(())
    /// ```
    ///
    /// # Errors
    /// What is wrong with `uri`, which then has no canonical form.
    pub fn canonical<'u, T: AsRef<[u8]> + ?Sized>(
        &self,
        uri: &'u T,
    ) -> Result<Cow<'u, [u8]>, UriError> {
        let uri = uri.as_ref();
        let mut canonicalizer = Canonicalizer::new(self, Kernels::detect());
        let form = canonicalizer.valid_form(uri)?;
        Ok(if form == uri { Cow::Borrowed(uri) } else { Cow::Owned(form.to_vec()) })
    }

    /// The public key of `uri` by BLAKE3, as `uriscan key` prints it and sets hold it: equivalent URIs have the same key,
    /// on every machine. Aliases count if they were read with their targets ([`crate::pipeline::Aliases::has_targets`]).
    ///
    /// ```
    /// let equivalence = uriscan::Equivalence::default();
    /// assert_eq!(equivalence.key("http://h")?, equivalence.key("HTTP://h:80/")?);
    /// # Ok::<(), uriscan::UriError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Equivalence::canonical`].
    pub fn key<T: AsRef<[u8]> + ?Sized>(&self, uri: &T) -> Result<Key, UriError> {
        let form = self.canonical(uri)?;
        Ok(self.public_hasher(PublicHash::Blake3).key(self.aliased(&form)))
    }

    /// Whether `a` and `b` are equivalent.
    ///
    /// ```
    /// let equivalence = uriscan::Equivalence::default();
    /// assert!(equivalence.is_equal("http://h/%7Ea", "HTTP://h:80/~a")?);
    /// assert!(!equivalence.is_equal("http://h/?a&b", "http://h/?b&a")?);
    /// # Ok::<(), uriscan::UriError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Equivalence::canonical`], for the first of the two that is not a URI.
    pub fn is_equal<A, B>(&self, a: &A, b: &B) -> Result<bool, UriError>
    where
        A: AsRef<[u8]> + ?Sized,
        B: AsRef<[u8]> + ?Sized,
    {
        let (a, b) = (self.canonical(a)?, self.canonical(b)?);
        Ok(a == b
            || self.aliases.as_ref().is_some_and(|aliases| aliases.key(&a) == aliases.key(&b)))
    }
}

/// Finds the first URI of each group of equivalent ones, as they come; in memory: about 30 bytes for each group.
///
/// As by the program, white space around a URI is not part of it, and what is not a URI is compared by its bytes. For lists and files [`dedup()`] is several times as
/// fast; one whose keys last is [`crate::pipeline::SetDeduplicator`].
///
/// ```
/// use uriscan::Deduplicator;
/// let mut seen = Deduplicator::default();
/// let urls = ["http://h", "HTTP://H:80/", "http://h/x"];
/// let first: Vec<_> = urls.into_iter().filter(|url| seen.insert(url)).collect();
/// assert_eq!(first, ["http://h", "http://h/x"]);
/// assert_eq!(seen.len(), 2);
/// assert!(seen.contains("http://h/\n"));
/// ```
pub struct Deduplicator {
    canonicalizer: Canonicalizer<Equivalence>,
    hasher: Hasher,
    seen: Numbering,
}

impl Default for Deduplicator {
    fn default() -> Deduplicator {
        Deduplicator::new(Equivalence::default())
    }
}

impl std::fmt::Debug for Deduplicator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deduplicator").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl Deduplicator {
    /// Has seen nothing.
    pub fn new(equivalence: impl Into<Equivalence>) -> Deduplicator {
        let equivalence = equivalence.into();
        let hasher = equivalence.run_hasher(&Hasher::random(), None);
        let canonicalizer = Canonicalizer::new(equivalence, Kernels::detect());
        Deduplicator { canonicalizer, hasher, seen: Numbering::new() }
    }

    /// Whether `uri` is the first of its group; from now on the group has been seen.
    pub fn insert<T: AsRef<[u8]> + ?Sized>(&mut self, uri: &T) -> bool {
        let key = self.key(uri.as_ref());
        self.seen.reserve(1);
        self.seen.number(key).1
    }

    /// Whether a URI of the group of `uri` has been seen.
    pub fn contains<T: AsRef<[u8]> + ?Sized>(&mut self, uri: &T) -> bool {
        let key = self.key(uri.as_ref());
        self.seen.find(key).is_some()
    }

    /// Number of groups that have been seen.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether nothing has been seen.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// The key of the group of `uri`, which is not zero.
    fn key(&mut self, uri: &[u8]) -> Key {
        let uri = trimmed(uri);
        let key = match self.canonicalizer.valid_form(uri) {
            Ok(form) => self.hasher.key(form),
            Err(_) => self.hasher.key(uri),
        };
        let key = match &self.canonicalizer.equivalence().aliases {
            Some(aliases) => aliases.table().target(key),
            None => key,
        };
        Key(key.0.max(1))
    }
}

/// Writes the first URI of each group of equivalent lines of `reader` to `writer`, in input order: `uriscan dedup`.
///
/// Compressed text is decompressed. Memory: 20 to 40 bytes for each group, and some 20 MB for buffers. Options, several
/// sources and a memory limit are those of [`crate::pipeline`].
///
/// ```
/// let mut out = Vec::new();
/// let report = uriscan::dedup(&b"http://h\nHTTP://H:80/\nhttp://h/x\n"[..], &mut out)?;
/// assert_eq!((&out[..], report.duplicates), (&b"http://h\nhttp://h/x\n"[..], 1));
/// # Ok::<(), uriscan::Error>(())
/// ```
///
/// # Errors
/// When `reader` cannot be read or `writer` not be written. What was written before stays written.
pub fn dedup_text(
    reader: impl Read + Send + 'static,
    writer: &mut (impl Write + Send),
) -> Result<Report, Error> {
    let source = Source::new("input", reader);
    dedup(vec![source], &DedupOptions::default(), &Settings::default(), &mut Sinks::new(writer))
}
