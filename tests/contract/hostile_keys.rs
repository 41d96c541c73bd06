//! Lists that try to provoke key collisions, by an attacker who knows all of the code, but not the
//! secrets of a run.

use std::collections::HashMap;

use uriscan::key::{Hasher, Key, PublicHash, PublicHasher};

/// Structured forms, `count` of them, all different.
type Family = fn(count: u64) -> Box<dyn Iterator<Item = Vec<u8>>>;

/// A number in letters as digits, so that every bit of the low half of a byte is used.
fn letters(mut number: u64, width: usize) -> Vec<u8> {
    let mut digits = vec![b'a'; width];
    for digit in digits.iter_mut().rev() {
        *digit = b'a' + (number % 16) as u8;
        number /= 16;
    }
    digits
}

fn of(make: impl Fn(u64) -> Vec<u8> + 'static, count: u64) -> Box<dyn Iterator<Item = Vec<u8>>> {
    Box::new((0..count).map(make))
}

/// Patterns that have broken, or might break, one hash or another.
const FAMILIES: [(&str, Family); 9] = [
    ("numbers", |count| of(|i| format!("http://example.com/item/{i}").into_bytes(), count)),
    ("letters", |count| of(|i| [b"http://example.com/".to_vec(), letters(i, 16)].concat(), count)),
    // Two counters that run in opposite directions, in words of 8 bytes: sums stay the same.
    ("opposite counters", |count| {
        of(
            move |i| {
                let (up, down) = (letters(i, 8), letters(count - i, 8));
                [&b"http://example.c"[..], &up, b"/pathpat", &down].concat()
            },
            count,
        )
    }),
    // The same in words of 16 bytes, 64 bytes apart: the two factors of one product, and the same
    // position of two stripes.
    ("opposite counters far apart", |count| {
        of(
            move |i| {
                let (up, down) = (letters(i, 16), letters(count - i, 16));
                [&b"http://example.c"[..], &up, &[b'-'; 48], &down, &[b'x'; 16]].concat()
            },
            count,
        )
    }),
    // Two words of 16 bytes swapped.
    ("swapped words", |count| {
        of(
            |i| {
                let (one, other) = (letters(i / 2, 16), letters(u64::MAX - i / 2, 16));
                let (one, other) = if i % 2 == 0 { (one, other) } else { (other, one) };
                [&b"http://example.com/......./......"[..], &one, &other].concat()
            },
            count,
        )
    }),
    // Words and their complements, within letters.
    ("complemented words", |count| {
        of(
            |i| {
                let word = letters(i / 2, 16);
                let complement: Vec<u8> = word.iter().map(|byte| byte ^ 0x0F).collect();
                let (one, other) =
                    if i % 2 == 0 { (&word, &complement) } else { (&complement, &word) };
                [&b"http://example.c"[..], one, &[b'-'; 96], other].concat()
            },
            count,
        )
    }),
    // Two stripes of one lane in a long form, changed by +1 and -1.
    ("stripes that cancel", |count| {
        of(
            |i| {
                let mut form = b"http://www.example.com/".to_vec();
                form.resize(400, b'm');
                let at = 64 + (i % 200) as usize;
                let step = (i / 200 % 8) as u8;
                form[at] = form[at] + 1 + step;
                form[at + 64] = form[at + 64] - 1 - step;
                form.extend(letters(i / 1600, 4));
                form
            },
            count,
        )
    }),
    ("long common ends", |count| {
        of(
            |i| {
                let middle = letters(i, 6);
                [&[b'h'; 300][..], &middle, &[b't'; 300]].concat()
            },
            count,
        )
    }),
    // Only lengths, and bytes that look like padding.
    ("lengths", |count| {
        of(
            |i| {
                let (len, end) = (i as usize % 700, (i / 700) as usize);
                [&vec![0; len][..], &letters(end as u64, 4), &[0x80; 3], &vec![0; len / 3]].concat()
            },
            count,
        )
    }),
];

/// Number of pairs in `keys` whose `bits` agree.
fn pairs(keys: impl Iterator<Item = u32>) -> u64 {
    let mut keys: Vec<u32> = keys.collect();
    keys.sort_unstable();
    keys.chunk_by(|a, b| a == b).map(|run| (run.len() as u64) * (run.len() as u64 - 1) / 2).sum()
}

/// Number of forms of a family that share a key with another one.
fn collisions(forms: &[Vec<u8>], key: impl Fn(&[u8]) -> u128) -> usize {
    let mut keys: Vec<u128> = forms.iter().map(|form| key(form)).collect();
    keys.sort_unstable();
    keys.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

#[test]
fn families_hold_different_forms() {
    for (name, family) in FAMILIES {
        let mut forms: Vec<Vec<u8>> = family(20_000).collect();
        forms.sort();
        forms.dedup();
        assert_eq!(forms.len(), 20_000, "{name}");
    }
}

#[test]
fn structured_forms_collide_under_no_secret() {
    for (name, family) in FAMILIES {
        let forms: Vec<Vec<u8>> = family(4_000).collect();
        for secret in 0..40 {
            let hasher = Hasher::with_secret([secret; 32]);
            assert_eq!(collisions(&forms, |form| hasher.key(form).0), 0, "{name} {secret}");
        }
        for hash in PublicHash::ALL {
            let hasher = PublicHasher::new(hash);
            assert_eq!(collisions(&forms, |form| hasher.key(form).0), 0, "{name} {hash}");
        }
    }
}

/// The families break hashes that only add or only multiply: the tests can fail.
#[test]
fn weak_hashes_collide_on_the_families() {
    let words = |form: &[u8]| -> Vec<u64> {
        let mut form = form.to_vec();
        form.resize(form.len().next_multiple_of(8), 0);
        form.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
    };
    let sum = |form: &[u8]| words(form).iter().fold(0u64, |sum, word| sum.wrapping_add(*word));
    let product = |form: &[u8]| {
        words(form).iter().fold(1u128, |all, word| all.wrapping_mul(u128::from(*word) | 1))
    };
    let falls = |key: &dyn Fn(&[u8]) -> u128| -> Vec<&str> {
        let fallen = FAMILIES.iter().filter(|(_, family)| {
            let forms: Vec<Vec<u8>> = family(4_000).collect();
            collisions(&forms, key) > 0
        });
        fallen.map(|(name, _)| *name).collect()
    };
    let by_sum = falls(&|form| u128::from(sum(form)));
    assert!(
        by_sum.contains(&"swapped words") && by_sum.contains(&"opposite counters"),
        "{by_sum:?}"
    );
    let by_product = falls(&product);
    assert!(by_product.contains(&"swapped words"), "{by_product:?}");
}

/// Keys of a million forms, truncated to 32 bits, collide as often as chance predicts: 116.4 pairs,
/// plus or minus 10.8.
#[test]
fn truncated_keys_of_a_million_forms_collide_as_by_chance() {
    const COUNT: u64 = 1_000_000;
    let expected = (COUNT * (COUNT - 1)) as f64 / 2.0 / f64::from(u32::MAX);
    let range = expected - 6.0 * expected.sqrt()..expected + 6.0 * expected.sqrt();
    let check = |name: &str, keys: &[Key]| {
        for shift in [0, 32, 64, 96] {
            let pairs = pairs(keys.iter().map(|key| (key.0 >> shift) as u32)) as f64;
            assert!(range.contains(&pairs), "{name}, bits from {shift} on: {pairs} pairs");
        }
    };
    for (i, (name, family)) in FAMILIES.iter().enumerate().take(5) {
        let hasher = Hasher::with_secret([i as u8 + 100; 32]);
        let keys: Vec<Key> = family(COUNT).map(|form| hasher.key(&form)).collect();
        check(name, &keys);
    }
    let public = PublicHasher::new(PublicHash::Blake3);
    let keys: Vec<Key> = FAMILIES[0].1(COUNT).map(|form| public.key(&form)).collect();
    check("public keys", &keys);
    // And run keys that are made from public keys.
    let hasher = Hasher::with_secret([9; 32]).of_public(public);
    check("placed", &keys.iter().map(|&key| hasher.place(key)).collect::<Vec<_>>());
}

/// Public keys can be chosen: one in 4096 has the bits that an attacker wants. This does not
/// determine their position in a table.
#[test]
fn chosen_public_keys_do_not_cluster_in_a_table() {
    let public = PublicHasher::new(PublicHash::Blake3);
    // The bits that would select partitions and slots if the keys were used directly.
    let is_wanted = |key: u128| key >> 123 == 0 && (key as u64) >> 57 == 0;
    let forms = (0..6_000_000).map(|i| format!("http://example.com/{i}"));
    let chosen: Vec<Key> =
        forms.map(|form| public.key(form.as_bytes())).filter(|key| is_wanted(key.0)).collect();
    assert!(chosen.len() > 1200, "{}", chosen.len());
    for secret in [Hasher::random(), Hasher::random(), Hasher::with_secret([1; 32])] {
        let hasher = secret.of_public(public.clone());
        for shift in [123, 59] {
            let mut counts: HashMap<u32, u32> = HashMap::new();
            for &key in &chosen {
                *counts.entry((hasher.place(key).0 >> shift) as u32 & 31).or_default() += 1;
            }
            let fair = chosen.len() as f64 / 32.0;
            let most = counts.values().copied().max().unwrap_or_default();
            assert!(f64::from(most) < fair + 7.0 * fair.sqrt(), "{most} of {fair} at {shift}");
            assert_eq!(counts.len(), 32);
        }
        for &key in &chosen[..100] {
            assert_eq!(hasher.public(hasher.place(key)), key);
        }
    }
}

/// The pair that shared a key when keys were XXH3 under a known seed, and similar ones.
#[test]
fn known_collisions_of_xxh3_are_distinct() {
    let tail = "-".repeat(64);
    let pair = ["hdbocklfimobnfekggjnnemcjjgccldn", "hippcghhihaanjiicbbkdlalnoofmepe"]
        .map(|name| format!("http://www.example.com/products/{name}{tail}"));
    for hash in PublicHash::ALL {
        let hasher = PublicHasher::new(hash);
        assert_ne!(hasher.key(pair[0].as_bytes()), hasher.key(pair[1].as_bytes()));
    }
    for secret in 0..=255 {
        let hasher = Hasher::with_secret([secret; 32]);
        assert_ne!(hasher.key(pair[0].as_bytes()), hasher.key(pair[1].as_bytes()));
    }
    // Differences that cancelled for a share of all seeds of XXH3: 12,000 forms, 40 secrets.
    let forms: Vec<Vec<u8>> = FAMILIES[6].1(12_000).collect();
    for _ in 0..40 {
        let hasher = Hasher::random();
        assert_eq!(collisions(&forms, |form| hasher.key(form).0), 0);
    }
}
