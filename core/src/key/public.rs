//! Public keys: a hash of the canonical form and nothing else, which anyone can compute.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::Key;
use super::blake3::Mode;
use crate::chunk::Padded;
use crate::simd::Isa;

#[cfg(test)]
mod tests;

named! {
    /// The hash whose first 16 bytes are a public key.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum PublicHash {
        /// BLAKE3, the default.
        #[default]
        Blake3 = "blake3",
        /// SHA-256, for engines without BLAKE3. Slower.
        Sha256 = "sha256",
    }
}

/// Computes public keys of canonical forms: the first 16 bytes of a hash, the same on every
/// machine.
///
/// | hash | plain | under a context |
/// | --- | --- | --- |
/// | `blake3` | BLAKE3 of the form | BLAKE3 in `derive_key` mode, the form is the key material |
/// | `sha256` | SHA-256 of the form | SHA-256 of the context, an empty line and the form |
///
/// So `b3sum --length 16`, with `--derive-key CONTEXT` under a context, prints the key of its
/// input.
#[derive(Clone, Debug)]
pub struct PublicHasher {
    context: Option<Arc<str>>,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Blake3(Mode),
    /// The state after the input that precedes the form.
    Sha256(Sha256),
}

impl PublicHasher {
    /// Creates a hasher of the form alone.
    ///
    /// ```
    /// use uriscan::key::{PublicHash, PublicHasher};
    /// let key = PublicHasher::new(PublicHash::Blake3).key(b"http://example.com/");
    /// // printf %s http://example.com/ | b3sum --length 16
    /// assert_eq!(key.to_string(), "08d8fff27b792ba736c771819e0dec0a");
    /// ```
    pub fn new(hash: PublicHash) -> PublicHasher {
        let state = match hash {
            PublicHash::Blake3 => State::Blake3(Mode::hash()),
            PublicHash::Sha256 => State::Sha256(Sha256::new()),
        };
        PublicHasher { context: None, state }
    }

    /// Creates a hasher for keys with another meaning than those of the plain hash: under another
    /// `context`, or none, equal forms have different keys.
    ///
    /// ```
    /// use uriscan::key::{PublicHash, PublicHasher};
    /// let key = PublicHasher::under(PublicHash::Blake3, "a meaning").key(b"http://example.com/");
    /// // printf %s http://example.com/ | b3sum --length 16 --derive-key 'a meaning'
    /// assert_eq!(key.to_string(), "46622a843d150ae0d9fcec2b5e0a3bd4");
    /// ```
    pub fn under(hash: PublicHash, context: &str) -> PublicHasher {
        let state = match hash {
            PublicHash::Blake3 => State::Blake3(Mode::derive_key(context)),
            PublicHash::Sha256 => {
                // No context has an empty line, so the start of the form is unambiguous.
                State::Sha256(Sha256::new().chain_update(context).chain_update("\n\n"))
            }
        };
        PublicHasher { context: Some(context.into()), state }
    }

    /// The hash.
    pub fn hash(&self) -> PublicHash {
        match self.state {
            State::Blake3(_) => PublicHash::Blake3,
            State::Sha256(_) => PublicHash::Sha256,
        }
    }

    /// The context, if any.
    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    /// Computes the key of `form`.
    pub fn key(&self, form: &[u8]) -> Key {
        match &self.state {
            State::Blake3(mode) => mode.key(form),
            State::Sha256(before) => {
                let hash: [u8; 32] = before.clone().chain_update(form).finalize().into();
                Key::of_hash(*hash.first_chunk().expect("a hash of 32 bytes"))
            }
        }
    }

    /// Appends the keys of `form(0)` to `form(count - 1)` to `out`, in that order.
    ///
    /// The results are those of [`PublicHasher::key`], several times as fast; best for some hundred
    /// forms at a time. Allocates only to grow `out`.
    ///
    /// ```
    /// use uriscan::{Padded, PaddedBuf};
    /// use uriscan::key::{Key, PublicHash, PublicHasher};
    /// use uriscan_core::simd::{Isa, Kernels, Task};
    ///
    /// struct Keys<'a>(&'a PublicHasher, &'a [Padded<'a>]);
    ///
    /// impl Task for Keys<'_> {
    ///     type Output = Vec<Key>;
    ///     #[inline(always)]
    ///     fn run<I: Isa>(self, isa: I) -> Vec<Key> {
    ///         let mut keys = Vec::new();
    ///         self.0.keys(isa, self.1.len(), |i| self.1[i], &mut keys);
    ///         keys
    ///     }
    /// }
    ///
    /// let hasher = PublicHasher::new(PublicHash::Blake3);
    /// let forms = ["http://h/", "urn:a:b"].map(|form| PaddedBuf::from_content(form.as_bytes()));
    /// let keys = Kernels::detect().run(Keys(&hasher, &forms.each_ref().map(PaddedBuf::padded)));
    /// assert_eq!(keys, [hasher.key(b"http://h/"), hasher.key(b"urn:a:b")]);
    /// ```
    #[doc(hidden)]
    #[inline(always)]
    pub fn keys<'a, I: Isa>(
        &self,
        isa: I,
        count: usize,
        form: impl Fn(usize) -> Padded<'a>,
        out: &mut Vec<Key>,
    ) {
        let start = out.len();
        match &self.state {
            State::Blake3(mode) => {
                out.resize(start + count, Key(Key::VACANT));
                mode.keys(isa, form, &mut out[start..]);
            }
            State::Sha256(_) => out.extend((0..count).map(|i| self.key(form(i).content()))),
        }
    }
}

impl PartialEq for PublicHasher {
    fn eq(&self, other: &PublicHasher) -> bool {
        (self.hash(), self.context()) == (other.hash(), other.context())
    }
}

impl Eq for PublicHasher {}

impl Key {
    /// The key with the same hexadecimal form as the hash; [`Key::VACANT`] becomes the next key.
    #[inline(always)]
    pub(super) fn of_hash(start: [u8; 16]) -> Key {
        Key(u128::from_be_bytes(start).max(1))
    }
}
