//! Keys against the crates `blake3` and `sha2`, and against constants from elsewhere.

use super::*;
use crate::chunk::PaddedBuf;
use crate::simd::{Kernels, Task};

/// A context longer than a block.
const LONG_CONTEXT: &str =
    "uriscan 2026-11-22 a text of a meaning, which is longer than the 64 bytes of a block";

fn hashers() -> Vec<PublicHasher> {
    let mut hashers = Vec::new();
    for hash in PublicHash::ALL {
        hashers.push(PublicHasher::new(hash));
        for context in ["", "a meaning", LONG_CONTEXT] {
            hashers.push(PublicHasher::under(hash, context));
        }
    }
    hashers
}

/// The key by the simplest calls of the crates.
fn expected(hasher: &PublicHasher, form: &[u8]) -> u128 {
    let hash: [u8; 32] = match (hasher.hash(), hasher.context()) {
        (PublicHash::Blake3, None) => ::blake3::hash(form).into(),
        (PublicHash::Blake3, Some(context)) => ::blake3::derive_key(context, form),
        (PublicHash::Sha256, None) => Sha256::digest(form).into(),
        (PublicHash::Sha256, Some(context)) => {
            Sha256::digest([context.as_bytes(), b"\n\n", form].concat()).into()
        }
    };
    u128::from_be_bytes(*hash.first_chunk().unwrap())
}

struct Keys<'a>(&'a PublicHasher, &'a [Padded<'a>]);

impl Task for Keys<'_> {
    type Output = Vec<Key>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Vec<Key> {
        let before = Key(7);
        let mut keys = vec![before];
        self.0.keys(isa, self.1.len(), |i| self.1[i], &mut keys);
        assert_eq!(keys.remove(0), before);
        keys
    }
}

/// Asserts that the keys of all forms on all backends are those of the crates.
fn assert_keys(hasher: &PublicHasher, forms: &[Padded<'_>]) {
    let expected: Vec<_> = forms.iter().map(|form| expected(hasher, form.content())).collect();
    for (form, expected) in forms.iter().zip(&expected) {
        assert_eq!(hasher.key(form.content()).0, *expected, "{hasher:?}, {} bytes", form.len());
    }
    for kernels in Kernels::available() {
        let keys = kernels.run(Keys(hasher, forms));
        assert_eq!(keys.len(), forms.len());
        for (i, (key, expected)) in keys.iter().zip(&expected).enumerate() {
            let (backend, len) = (kernels.backend(), forms[i].len());
            assert_eq!(
                key.0,
                *expected,
                "{hasher:?} {backend:?}: {i} of {}, {len} bytes",
                forms.len()
            );
        }
    }
}

/// Bytes without a pattern, so that the bytes after a form could be part of a form.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..len).map(|_| byte()).collect()
}

/// A form of `len` bytes from byte `start` of `noise` on, with noise for padding.
fn form(noise: &[u8], start: usize, len: usize) -> Padded<'_> {
    Padded::new(&noise[start..], len).unwrap()
}

/// Every lane has every length, as the groups of one number of blocks begin at different lengths.
#[test]
fn forms_of_every_length_have_the_keys_of_the_crates() {
    let noise = noise(1 << 17);
    let lens = (0..=1100).chain([2047, 2048, 2049, 4096, 70_000]);
    for hasher in hashers() {
        let forms: Vec<_> = lens.clone().map(|len| form(&noise, len % 61, len)).collect();
        for rotation in 0..17 {
            // Each rotation moves every form to another lane.
            let mut forms = forms.clone();
            forms.rotate_left(rotation);
            assert_keys(&hasher, if rotation == 0 { &forms } else { &forms[..1024] });
        }
    }
}

#[test]
fn keys_are_right_for_any_number_of_forms_of_equal_length() {
    let noise = noise(1 << 12);
    for hasher in hashers() {
        for blocks in [1, 2, 3, 16] {
            for count in 0..=40 {
                let forms = (0..count).map(|i| form(&noise, i, 64 * blocks - 7 * i % 64));
                assert_keys(&hasher, &forms.collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn keys_are_right_for_any_number_of_forms_of_mixed_lengths() {
    let noise = noise(1 << 12);
    let mut state = 1u64;
    for hasher in hashers() {
        for count in (0..=40).chain([500]) {
            let forms = (0..count).map(|i| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                // Short ones, as URIs are, and a few long ones.
                let most = if i % 9 == 0 { 1500 } else { 200 };
                form(&noise, i, (state >> 33) as usize % most)
            });
            assert_keys(&hasher, &forms.collect::<Vec<_>>());
        }
    }
}

#[test]
fn bytes_after_a_form_do_not_matter() {
    for len in [0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000, 1023, 1024, 1025] {
        let buffers: Vec<Vec<u8>> = [0, 0x80, 0xFF, b'a']
            .into_iter()
            .cycle()
            .take(40)
            .map(|padding| {
                let mut bytes = vec![b'a'; len];
                bytes.resize(Padded::needed(len), padding);
                bytes
            })
            .collect();
        let forms: Vec<_> = buffers.iter().map(|bytes| form(bytes, 0, len)).collect();
        let hasher = PublicHasher::new(PublicHash::Blake3);
        let key = hasher.key(&vec![b'a'; len]);
        for kernels in Kernels::available() {
            let keys = kernels.run(Keys(&hasher, &forms));
            assert!(keys.iter().all(|other| *other == key), "{:?} {len}", kernels.backend());
        }
    }
}

/// Two forms that end in zeros and differ only in length.
#[test]
fn zeros_at_the_end_change_the_key() {
    let zeros = [0; 512];
    let forms: Vec<_> = (0..=128).map(|len| form(&zeros, 0, len)).collect();
    for hasher in hashers() {
        for kernels in Kernels::available() {
            let mut keys = kernels.run(Keys(&hasher, &forms));
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), forms.len(), "{hasher:?} {:?}", kernels.backend());
        }
    }
}

/// Keys are stored, so they must never change. From BLAKE3's own test vectors (whose input is 0 to
/// 250, repeated), from NIST's examples of SHA-256, and from programs in other languages.
#[test]
fn keys_never_change_between_versions() {
    let vector: Vec<u8> = (0..2048).map(|i| (i % 251) as u8).collect();
    let url = b"http://example.com/";
    let blake3 = PublicHasher::new(PublicHash::Blake3);
    let vectors_context = "BLAKE3 2019-12-27 16:29:52 test vectors context";
    let derived = PublicHasher::under(PublicHash::Blake3, vectors_context);
    let sha256 = PublicHasher::new(PublicHash::Sha256);
    let lined = PublicHasher::under(PublicHash::Sha256, "a meaning");
    let frozen: [(&PublicHasher, &[u8], &str); 16] = [
        (&blake3, b"", "af1349b9f5f9a1a6a0404dea36dcc949"),
        (&blake3, &vector[..1], "2d3adedff11b61f14c886e35afa03673"),
        (&blake3, &vector[..64], "4eed7141ea4a5cd4b788606bd23f46e2"),
        (&blake3, &vector[..65], "de1e5fa0be70df6d2be8fffd0e99ceaa"),
        (&blake3, &vector[..1023], "10108970eeda3eb932baac1428c7a216"),
        (&blake3, &vector[..1024], "42214739f095a406f3fc83deb889744a"),
        (&blake3, &vector[..1025], "d00278ae47eb27b34faecf67b4fe263f"),
        (&blake3, url, "08d8fff27b792ba736c771819e0dec0a"),
        (&derived, b"", "2cc39783c223154fea8dfb7c1b1660f2"),
        (&derived, &vector[..1], "b3e2e340a117a499c6cf2398a19ee0d2"),
        (&derived, &vector[..65], "51fd05c3c1cfbc8ed67d139ad76f5cf8"),
        (&derived, &vector[..1024], "7356cd7720d5b66b6d0697eb3177d9f8"),
        (&derived, &vector[..2048], "7b2945cb4fef70885cc5d78a87bf6f62"),
        (&sha256, b"", "e3b0c44298fc1c149afbf4c8996fb924"),
        (&sha256, b"abc", "ba7816bf8f01cfea414140de5dae2223"),
        (&lined, url, "4bbfe2efbc93514f4fcef507632042d9"),
    ];
    for (hasher, form, hex) in frozen {
        assert_eq!(format!("{}", hasher.key(form)), hex);
        let form = PaddedBuf::from_content(form);
        for kernels in Kernels::available() {
            for key in kernels.run(Keys(hasher, &[form.padded(); 16])) {
                assert_eq!(format!("{key}"), hex, "{:?}", kernels.backend());
            }
        }
    }
}

#[test]
fn contexts_and_hashes_change_the_keys() {
    let mut keys: Vec<_> = hashers().iter().map(|hasher| hasher.key(b"http://h/")).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), hashers().len());
    for (i, a) in hashers().iter().enumerate() {
        for (j, b) in hashers().iter().enumerate() {
            assert_eq!(a == b, i == j);
        }
    }
}

#[test]
fn names_round_trip() {
    for hash in PublicHash::ALL {
        assert_eq!(PublicHash::from_name(hash.name()), Some(hash));
        assert_eq!(hash.to_string(), hash.name());
    }
    assert_eq!(PublicHash::from_name("BLAKE3"), None);
}

#[test]
fn no_key_is_that_of_a_vacant_slot() {
    assert_eq!(Key::of_hash([0; 16]), Key(1));
    assert_eq!(Key::of_hash([0xFF; 16]), Key(u128::MAX));
}
