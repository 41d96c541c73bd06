//! Keys of one run, which are unpredictable from outside.
//!
//! A form is split into pieces of 128 bytes, of which only the last may be shorter. A piece is
//! hashed to a sum of four products in GF(2^128) with eight secret words ([`Isa::product_sum`]):
//! two different pieces collide for one choice of these words in 2^128. The hashes of the pieces
//! are the coefficients of a polynomial with the leading coefficient 1, which is evaluated at a
//! secret point; two different polynomials of degree `n` agree at `n` points at most. So two
//! different forms of at most `n` pieces have the same key with a probability of at most
//! `(n + 1) / 2^128`, over the secrets, whatever the forms are. This is proven, not assumed:
//! Winograd's pseudo-dot product (the NH of UMAC, over a field), and evaluation of polynomials. The
//! assumption is that the secret words are indistinguishable from random ones; they are BLAKE3 of
//! 256 bits from the system.
//!
//! The sum of that value and one more secret word is uniform, and the keys of two forms are
//! independent, so their bits are suitable for picking slots and partitions. Two rounds of a
//! Feistel network with secret multipliers then break up the structure among the keys of many
//! forms; being a permutation, it adds no collisions.
//!
//! Public keys become run keys by a permutation: multiplication by a secret word other than zero,
//! and the same last two steps.

use core::fmt;
use std::sync::Arc;

use super::{Key, PublicHasher};
use crate::chunk::Prefix;
use crate::simd::field::{PIECE, PieceKey};
use crate::simd::{Isa, Kernels, Task};

/// Computes the keys of a run, from canonical bytes or from their public keys.
///
/// Clones share their secrets, and so compute the same keys.
///
/// ```
/// use uriscan::key::Hasher;
/// let hasher = Hasher::random();
/// assert_eq!(hasher.key(b"http://h/"), hasher.key(b"http://h/"));
/// assert_ne!(hasher.key(b"http://h/"), hasher.key(b"http://h/x"));
/// assert_ne!(hasher.key(b"http://h/"), Hasher::random().key(b"http://h/"));
/// ```
#[derive(Clone)]
pub struct Hasher {
    secrets: Arc<Secrets>,
    /// If set, keys are those of this hasher, permuted, and can be mapped back.
    public: Option<PublicHasher>,
}

/// The secrets of a run.
struct Secrets {
    /// For callers without a backend at hand.
    kernels: Kernels,
    /// The words that a piece is combined with.
    piece: PieceKey,
    /// The point at which the polynomial of the pieces is evaluated.
    point: u128,
    /// Added at the end.
    offset: u128,
    /// The factor of public keys; its inverse follows.
    factor: u128,
    inverse: u128,
    /// The addend and the multiplier of each round of the Feistel network.
    rounds: [(u64, u64); 2],
}

impl Hasher {
    /// Creates a hasher with secrets from the system, different for each call.
    ///
    /// # Panics
    /// If the system returns no random bytes, as for the hash maps of the standard library.
    pub fn random() -> Hasher {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).expect("random bytes from the system");
        Hasher::with_secret(secret)
    }

    /// Creates a hasher with secrets derived from `secret`, to repeat a run.
    pub fn with_secret(secret: [u8; 32]) -> Hasher {
        let mut material = ::blake3::Hasher::new_derive_key("uriscan 2026-11-22 secrets of a run");
        let mut reader = material.update(&secret).finalize_xof();
        let mut word = || {
            let mut bytes = [0; 16];
            reader.fill(&mut bytes);
            u128::from_le_bytes(bytes)
        };
        Hasher::with_words(&mut word)
    }

    /// Creates a hasher with the secrets that `word` returns.
    fn with_words(word: &mut dyn FnMut() -> u128) -> Hasher {
        let piece = core::array::from_fn(|_| word());
        let (point, offset, factor) = (word(), word(), word().max(1));
        // An even multiplier, or a small one, would lose bits: one word in 2^64 and fewer.
        let rounds = [word(), word()].map(|word| (word as u64, (word >> 64) as u64 | 1 << 63 | 1));
        // Detecting the CPU takes longer than computing a key.
        let kernels = Kernels::detect();
        let inverse = kernels.run(Invert(factor));
        let secrets = Secrets { kernels, piece, point, offset, factor, inverse, rounds };
        Hasher { secrets: Arc::new(secrets), public: None }
    }

    /// A hasher with the same secrets that permutes the keys of `public`, so that they can be
    /// mapped back ([`Hasher::public`]).
    ///
    /// ```
    /// use uriscan::key::{Hasher, PublicHash, PublicHasher};
    /// let public = PublicHasher::new(PublicHash::Blake3);
    /// let hasher = Hasher::random().of_public(public.clone());
    /// let key = hasher.key(b"http://h/");
    /// assert_ne!(key, public.key(b"http://h/"));
    /// assert_eq!(hasher.public(key), public.key(b"http://h/"));
    /// ```
    #[must_use]
    pub fn of_public(&self, public: PublicHasher) -> Hasher {
        Hasher { secrets: self.secrets.clone(), public: Some(public) }
    }

    /// The hasher of the public keys, if keys are made from public keys.
    pub fn public_hasher(&self) -> Option<&PublicHasher> {
        self.public.as_ref()
    }

    /// The kernels that make keys.
    pub fn kernels(&self) -> Kernels {
        self.secrets.kernels
    }

    /// Computes the key of `canonical`.
    pub fn key(&self, canonical: &[u8]) -> Key {
        self.secrets.kernels.run(KeyTask(self, canonical.into()))
    }

    /// [`Hasher::key`] inside a [`Task`], which has a backend; fastest if 128 bytes may be read.
    ///
    /// ```
    /// use uriscan_core::chunk::Prefix;
    /// use uriscan::key::{Hasher, Key};
    /// use uriscan_core::simd::{Isa, Kernels, Task};
    ///
    /// struct KeyTask<'a>(&'a Hasher, Prefix<'a>);
    ///
    /// impl Task for KeyTask<'_> {
    ///     type Output = Key;
    ///     #[inline(always)]
    ///     fn run<I: Isa>(self, isa: I) -> Key {
    ///         self.0.key_by(isa, self.1)
    ///     }
    /// }
    ///
    /// let hasher = Hasher::random();
    /// for kernels in Kernels::available() {
    ///     assert_eq!(kernels.run(KeyTask(&hasher, b"http://h/"[..].into())), hasher.key(b"http://h/"));
    /// }
    /// ```
    #[doc(hidden)]
    #[inline(always)]
    pub fn key_by<I: Isa>(&self, isa: I, canonical: Prefix<'_>) -> Key {
        match &self.public {
            None => self.secret_key_by(isa, canonical),
            Some(public) => self.place_by(isa, public.key(&canonical)),
        }
    }

    /// The key of `canonical` by the secrets alone, without public keys. The loops over all records
    /// use it, since more code in them makes them slower.
    #[inline(always)]
    pub fn secret_key_by<I: Isa>(&self, isa: I, canonical: Prefix<'_>) -> Key {
        let Secrets { piece, point, .. } = &*self.secrets;
        let hash = match canonical.slack().first_chunk::<PIECE>() {
            Some(text) if canonical.len() < PIECE => {
                isa.product_sum(text, canonical.len(), piece) ^ point
            }
            _ => isa.call(Long(&self.secrets, canonical)),
        };
        self.mixed(hash)
    }

    /// [`Hasher::place`] inside a [`Task`].
    #[inline(always)]
    pub fn place_by<I: Isa>(&self, isa: I, public: Key) -> Key {
        self.mixed(isa.multiply(public.0, self.secrets.factor))
    }

    /// The run key for the public key `public`: the result of [`Hasher::key`] for its form, if this
    /// hasher came from [`Hasher::of_public`].
    pub fn place(&self, public: Key) -> Key {
        self.secrets.kernels.run(PlaceTask(self, public))
    }

    /// The public key of `key`, which a hasher made by [`Hasher::of_public`] computed.
    pub fn public(&self, key: Key) -> Key {
        self.secrets.kernels.run(PublicTask(self, key))
    }

    /// [`Hasher::public`] inside a [`Task`].
    #[inline(always)]
    pub fn public_by<I: Isa>(&self, isa: I, key: Key) -> Key {
        let Secrets { offset, inverse, rounds, .. } = &*self.secrets;
        let (mut low, mut high) = (key.0 as u64, (key.0 >> 64) as u64);
        low ^= folded(high, rounds[1]);
        high ^= folded(low, rounds[0]);
        let hash = (u128::from(high) << 64 | u128::from(low)) ^ offset;
        Key(isa.multiply(hash, *inverse))
    }

    /// The last two steps: a permutation.
    #[inline(always)]
    fn mixed(&self, hash: u128) -> Key {
        let Secrets { offset, rounds, .. } = &*self.secrets;
        let hash = hash ^ offset;
        let (mut low, mut high) = (hash as u64, (hash >> 64) as u64);
        high ^= folded(low, rounds[0]);
        low ^= folded(high, rounds[1]);
        let key = u128::from(high) << 64 | u128::from(low);
        // One value in 2^128 shares its key with its neighbour, so that tables have a value for
        // free slots.
        Key(if key == Key::VACANT { 1 } else { key })
    }
}

/// The sum of the two halves of a product.
#[inline(always)]
fn folded(x: u64, (offset, factor): (u64, u64)) -> u64 {
    let product = u128::from(x ^ offset) * u128::from(factor);
    product as u64 ^ (product >> 64) as u64
}

/// Hashes bytes of more than one piece, or bytes after which a whole piece cannot be read.
struct Long<'a>(&'a Secrets, Prefix<'a>);

impl Task for Long<'_> {
    type Output = u128;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> u128 {
        let Long(Secrets { piece, point, .. }, text) = self;
        let (whole, rest) = text.bytes().as_chunks::<PIECE>();
        let mut last = [0; PIECE];
        last[..rest.len()].copy_from_slice(rest);
        // No closure: it would be compiled for the baseline CPU, and call a function for each instruction.
        let mut hash = 1;
        for text in whole {
            hash = isa.multiply(hash, *point) ^ isa.product_sum(text, PIECE, piece);
        }
        isa.multiply(hash, *point) ^ isa.product_sum(&last, rest.len(), piece)
    }
}

struct KeyTask<'a>(&'a Hasher, Prefix<'a>);

impl Task for KeyTask<'_> {
    type Output = Key;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Key {
        self.0.key_by(isa, self.1)
    }
}

struct PlaceTask<'a>(&'a Hasher, Key);

impl Task for PlaceTask<'_> {
    type Output = Key;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Key {
        self.0.place_by(isa, self.1)
    }
}

struct PublicTask<'a>(&'a Hasher, Key);

impl Task for PublicTask<'_> {
    type Output = Key;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Key {
        self.0.public_by(isa, self.1)
    }
}

/// The inverse of a word other than zero: its power `2^128 - 2`.
struct Invert(u128);

impl Task for Invert {
    type Output = u128;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> u128 {
        let (mut power, mut square) = (1, self.0);
        for _ in 1..128 {
            square = isa.multiply(square, square);
            power = isa.multiply(power, square);
        }
        power
    }
}

/// Does not print the secrets.
impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hasher").field("public", &self.public).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct KeysBy<'a>(&'a Hasher, &'a [u8]);

    impl Task for KeysBy<'_> {
        type Output = [Key; 3];
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> [Key; 3] {
            let KeysBy(hasher, text) = self;
            // With no bytes to read after the form, with some, and with many.
            let mut slack = text.to_vec();
            slack.extend([0xC3; 40]);
            let mut more = slack.clone();
            more.extend([b'/'; 200]);
            let by = |slack: &[u8]| hasher.key_by(isa, Prefix::new(slack, text.len()));
            [hasher.key_by(isa, text.into()), by(&slack), by(&more)]
        }
    }

    #[test]
    fn a_hasher_names_the_public_keys_it_is_made_from() {
        let hasher = Hasher::random();
        assert!(hasher.public_hasher().is_none());
        let public = PublicHasher::new(crate::key::PublicHash::Sha256);
        assert!(hasher.of_public(public).public_hasher().is_some());
    }

    #[test]
    fn a_round_adds_the_halves_of_a_product() {
        assert_eq!(folded(6, (3, 7)), 35);
        assert_eq!(folded(1 << 63, (0, 6)), 3);
        assert_eq!(folded(1 << 63 | 1, (0, 6)), 3 ^ 6);
    }

    #[test]
    fn multipliers_are_odd_and_large() {
        for (word, expected) in [(2, 1 << 63 | 1), (u128::MAX, u64::MAX)] {
            let hasher = Hasher::with_words(&mut || word);
            assert_eq!(hasher.secrets.rounds.map(|(_, factor)| factor), [expected; 2]);
        }
    }

    /// The definition, step by step, with the portable arithmetic.
    fn by_definition(hasher: &Hasher, text: &[u8]) -> Key {
        let Secrets { piece, point, .. } = &*hasher.secrets;
        let mut pieces: Vec<&[u8]> = text.chunks(PIECE).collect();
        if text.len().is_multiple_of(PIECE) {
            pieces.push(&[]);
        }
        let scalar = crate::simd::scalar::Scalar;
        let hash = pieces.iter().fold(1, |hash, text| {
            let mut padded = [0xEE; PIECE];
            padded[..text.len()].copy_from_slice(text);
            scalar.multiply(hash, *point) ^ scalar.product_sum(&padded, text.len(), piece)
        });
        hasher.mixed(hash)
    }

    #[test]
    fn every_backend_computes_the_same_keys_whatever_follows() {
        let hasher = Hasher::with_secret([7; 32]);
        let text: Vec<u8> = (0..600).map(|i| (i * 31 % 251) as u8).collect();
        for len in (0..300).chain([383, 384, 385, 511, 512, 513, 600]) {
            let expected = by_definition(&hasher, &text[..len]);
            for kernels in Kernels::available() {
                let keys = kernels.run(KeysBy(&hasher, &text[..len]));
                assert_eq!(keys, [expected; 3], "{} {len}", kernels.backend().name());
            }
        }
    }

    #[test]
    fn public_keys_are_restored() {
        let public = PublicHasher::new(crate::key::PublicHash::Blake3);
        let hasher = Hasher::random().of_public(public.clone());
        for text in ["", "a", "http://h/", "http://example.com/a/b/c?d=e"] {
            let key = public.key(text.as_bytes());
            assert_eq!(hasher.place(key), hasher.key(text.as_bytes()));
            assert_eq!(hasher.public(hasher.place(key)), key);
        }
        for key in [0, 1, u128::MAX, 1 << 127, 1 << 64] {
            assert_eq!(hasher.public(hasher.place(Key(key))), Key(key));
        }
    }
}
