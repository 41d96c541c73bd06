//! Forms of any length: keys of many at once, on a backend, against those of the crates `blake3` and `sha2` for one; and
//! secret keys on a backend against those of the portable code.

use uriscan::key::{Hasher, Key, PublicHash, PublicHasher};
use uriscan::{Padded, PaddedBuf};
use uriscan_core::chunk::Prefix;
use uriscan_core::simd::{Isa, Task};

use crate::{BACKENDS, Choice};

/// The context of keys with another meaning.
const CONTEXT: &str = "uriscan fuzz";

/// The first byte chooses the backend, the hash and the context; each line of the rest is a form.
pub fn check(data: &[u8]) {
    let Some((mut choice, text)) = Choice::split(data) else { return };
    let (hash, under) = (choice.of(&PublicHash::ALL), choice.of(&[false, true]));
    let kernels = BACKENDS[choice.backend()];
    let hasher = if under { PublicHasher::under(hash, CONTEXT) } else { PublicHasher::new(hash) };
    // Forms stand in a chunk, each after the one before.
    let buf = PaddedBuf::from_content(text);
    let mut start = 0;
    let lines = text.split(|&byte| byte == b'\n').map(|line| {
        let form = buf.padded().part(start, line.len());
        start += line.len() + 1;
        form
    });
    let forms: Vec<Padded<'_>> = lines.collect();
    let secret = Hasher::with_secret([7; 32]);
    let (public, secrets) = kernels.run(Keys { public: &hasher, secret: &secret, forms: &forms });
    assert_eq!(public.len(), forms.len());
    for (i, form) in forms.iter().enumerate() {
        let form = form.content();
        let expected = Key(u128::from_be_bytes(expected(hash, under, form)).max(1));
        assert_eq!(public[i], expected, "{}", form.escape_ascii());
        assert_eq!(hasher.key(form), expected);
        assert_eq!(secrets[i], secret.key(form), "{}", form.escape_ascii());
    }
}

fn expected(hash: PublicHash, under: bool, form: &[u8]) -> [u8; 16] {
    let start = |hash: [u8; 32]| *hash.first_chunk().expect("a hash of 32 bytes");
    match (hash, under) {
        (PublicHash::Blake3, false) => start(blake3::hash(form).into()),
        (PublicHash::Blake3, true) => start(blake3::derive_key(CONTEXT, form)),
        _ => {
            use sha2::{Digest, Sha256};
            let context = if under { format!("{CONTEXT}\n\n") } else { String::new() };
            start(Sha256::new().chain_update(context).chain_update(form).finalize().into())
        }
    }
}

struct Keys<'a> {
    public: &'a PublicHasher,
    secret: &'a Hasher,
    forms: &'a [Padded<'a>],
}

impl Task for Keys<'_> {
    type Output = (Vec<Key>, Vec<Key>);
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        let Keys { public, secret, forms } = self;
        let mut keys = vec![Key(1)];
        public.keys(isa, forms.len(), |i| forms[i], &mut keys);
        assert_eq!(keys.remove(0), Key(1), "the buffer keeps its content");
        (
            keys,
            forms
                .iter()
                .map(|form| secret.key_by(isa, Prefix::new(form.padded(), form.len())))
                .collect(),
        )
    }
}
