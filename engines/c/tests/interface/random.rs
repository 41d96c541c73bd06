//! Anything that a caller may pass: no call ends the process, and each says the same as a second time.

use std::ptr::{null, null_mut};

use uriscan_c::*;

use crate::caller::{Equivalence, Set, at, extract, is_valid, parse, resolve};

/// Numbers that follow from a seed (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Bytes of which some are those of URIs.
    fn text(&mut self) -> Vec<u8> {
        const PIECES: [&[u8]; 14] = [
            b"http://",
            b"HTTPS://",
            b"h",
            b"[::1]",
            b":80",
            b"/",
            b"..",
            b"%7e",
            b"%",
            b"?a=b",
            b"#",
            b" ",
            b"@",
            b"\n",
        ];
        let mut text = Vec::new();
        for _ in 0..self.below(12) {
            match self.below(4) {
                0 => text.push(self.next() as u8),
                _ => text.extend_from_slice(PIECES[self.below(PIECES.len())]),
            }
        }
        text
    }
}

#[test]
fn any_bytes_give_a_result_or_an_error() {
    let mut numbers = Numbers(3986);
    let all: Vec<Equivalence> =
        ["", "preset=crawl\non_invalid=drop", "profile=whatwg", "repair=all\non_invalid=error"]
            .map(|options| Equivalence::new(options).unwrap())
            .into();
    let sets: Vec<Set> = all.iter().map(Set::new).collect();
    for _ in 0..1_000 {
        let (one, other) = (numbers.text(), numbers.text());
        for (equivalence, set) in all.iter().zip(&sets) {
            let form = equivalence.normalize(&one);
            assert_eq!(form, equivalence.normalize(&one));
            let key = equivalence.key(&one);
            assert_eq!(key.is_ok(), form.is_ok());
            if let (Ok(form), Ok(equal)) = (&form, equivalence.is_equal(&one, &other)) {
                assert_eq!(equal, equivalence.normalize(&other).as_ref() == Ok(form));
                assert_eq!(equal, key == equivalence.key(&other));
            }
            let looked_up = set.contains(&one);
            assert_eq!(looked_up, set.insert(&one));
            let _ = set.batch(&[&one, &other, &one], true);
        }
        let _ = (parse(&one), is_valid(&one), resolve(&other, &one));
    }
}

#[test]
fn any_bytes_are_options_or_refused() {
    let mut numbers = Numbers(2396);
    let names = [
        "level",
        "preset",
        "rule",
        "base",
        "iri",
        "unicode",
        "format",
        "bare_hosts",
        "scheme",
        "x",
        "",
    ];
    for _ in 0..1_000 {
        let mut options = String::new();
        for _ in 0..numbers.below(4) {
            let value = String::from_utf8_lossy(&numbers.text()).into_owned();
            options += names[numbers.below(names.len())];
            options += ["=", "", "=true\n", "\n"][numbers.below(4)];
            options += &value;
            options.push('\n');
        }
        let _ = Equivalence::new(&options);
        let page = numbers.text();
        let _ = extract(&options, &[&page]);
    }
    for format in uriscan::extract::Format::ALL {
        let options = format!("format={format}\nbare_hosts=true\nrefang=true\nemail=true");
        let texts: Vec<Vec<u8>> = (0..100).map(|_| numbers.text()).collect();
        let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        for (links, text) in extract(&options, &texts).unwrap().iter().zip(texts) {
            assert!(links.iter().all(|&(start, end, ..)| start <= end && end <= text.len()));
        }
    }
}

/// Every combination of NULL and a pointer, and of the lengths 0, 1 and too large to be one.
#[test]
fn any_mix_of_null_and_lengths_is_a_result_or_an_error() {
    let equivalence = Equivalence::new("").unwrap();
    let set = Set::new(&equivalence);
    let mut numbers = Numbers(1738);
    let text = b"http://h/";
    let mut buffer = [0u8; 64];
    let error = uriscan_error_new();
    for _ in 0..20_000 {
        let mut is = || numbers.next() & 1 == 0;
        let eq = if is() { equivalence.0.cast_const() } else { null() };
        let seen = if is() { set.0.cast_const() } else { null() };
        let error = if is() { error } else { null_mut() };
        // A real pointer comes with a length that it has, or one that is refused; NULL with any.
        let (from, size) = match (is(), is(), is()) {
            (true, true, _) => (at(text), text.len()),
            (true, false, true) => (at(text), 0),
            (true, false, false) => (at(text), usize::MAX),
            (false, true, _) => (null(), 0),
            (false, false, true) => (null(), 1),
            (false, false, false) => (null(), usize::MAX),
        };
        let (to, capacity) = match (is(), is()) {
            (true, true) => (buffer.as_mut_ptr(), buffer.len()),
            (true, false) => (buffer.as_mut_ptr(), 1),
            (false, true) => (null_mut(), 0),
            (false, false) => (null_mut(), usize::MAX),
        };
        let mut number = 0;
        let length = if is() { &raw mut number } else { null_mut() };
        let mut wide = 0;
        let count = if is() { &raw mut wide } else { null_mut() };
        let offsets = [0, 4, 9];
        let offsets = if is() { offsets.as_ptr() } else { null() };
        let many = if is() { 2 } else { 0 };
        let many = if is() && offsets.is_null() { usize::MAX } else { many };
        let byte = if is() { to } else { null_mut() };
        let key = if capacity >= 16 && capacity != usize::MAX { to } else { null_mut() };
        let batch = if is() { text.as_ptr().cast() } else { null() };
        let results = if key.is_null() { null_mut() } else { to };
        let statuses = unsafe {
            [
                uriscan_normalize(eq, from, size, to.cast(), capacity, length, error),
                uriscan_key(eq, from, size, key, error),
                uriscan_is_equal(eq, from, size, at(text), 9, byte, error),
                uriscan_is_valid(from, size, error),
                uriscan_resolve(from, size, from, size, to.cast(), capacity, length, error),
                uriscan_set_insert(seen, from, size, byte, error),
                uriscan_set_contains(seen, from, size, byte, error),
                uriscan_set_insert_batch(seen, batch, offsets, many, results, error),
                uriscan_set_contains_batch(seen, batch, offsets, many, results, error),
                uriscan_set_commit(seen, count, error),
                uriscan_set_count(seen, count, error),
                uriscan_error_text(error, to.cast(), capacity, length),
                uriscan_error_kind(error, to.cast(), capacity, length),
            ]
        };
        let is_known = |status: &i32| (URISCAN_OK..URISCAN_PANIC).contains(status);
        assert!(statuses.iter().all(is_known), "{statuses:?}");
    }
    unsafe { uriscan_error_free(error) };
}
