//! Sets in memory and on disk.

use uriscan_c::*;

use crate::caller::{Equivalence, Set, at, checked};

const TEXTS: [&[u8]; 8] =
    [b"http://h", b"HTTP://H:80/", b"http://h/x", b"a b", b"a b", b"  \t", b"", b"http://h/%78"];
const RESULTS: [u8; 8] = [
    URISCAN_NEW,
    URISCAN_SEEN,
    URISCAN_NEW,
    URISCAN_NEW,
    URISCAN_SEEN,
    URISCAN_SKIPPED,
    URISCAN_SKIPPED,
    URISCAN_SEEN,
];

#[test]
fn the_first_of_each_group_is_new_one_by_one_and_in_a_batch() {
    let equivalence = Equivalence::new("").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let on_disk = |name| {
        let path = directory.path().join(name);
        Set::open(&equivalence, &path, URISCAN_UPDATE).unwrap()
    };
    for (set, other) in
        [(Set::new(&equivalence), Set::new(&equivalence)), (on_disk("a"), on_disk("b"))]
    {
        for (text, expected) in TEXTS.iter().zip(RESULTS) {
            let looked_up = set.contains(text).unwrap();
            assert_eq!((looked_up, set.insert(text).unwrap()), (expected, expected));
        }
        let alone = [0, 0, 0, 0, 0, 2, 2, 0];
        assert_eq!(other.batch(&TEXTS, false).unwrap(), alone, "a look-up adds nothing");
        assert_eq!(other.batch(&TEXTS, true).unwrap(), RESULTS);
        assert_eq!(other.batch(&TEXTS, false).unwrap(), [1, 1, 1, 1, 1, 2, 2, 1]);
        assert_eq!((set.count(), other.count()), (3, 3));
        assert!(set.batch(&[], true).unwrap().is_empty());
    }
}

#[test]
fn a_set_outlives_its_equivalence() {
    let equivalence = Equivalence::new("preset=crawl").unwrap();
    let set = Set::new(&equivalence);
    drop(equivalence);
    assert_eq!(set.insert(b"http://h/?utm_source=a"), Ok(URISCAN_NEW));
    assert_eq!(set.insert(b"http://h/"), Ok(URISCAN_SEEN));
}

#[test]
fn a_set_on_disk_has_what_was_committed() {
    let equivalence = Equivalence::new("").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("seen.set");
    let failed = Set::open(&equivalence, &path, URISCAN_READ).err().unwrap();
    assert!(failed.status == URISCAN_SET && failed.text.contains("seen.set"), "{failed:?}");

    let set = Set::open(&equivalence, &path, URISCAN_UPDATE).unwrap();
    assert_eq!(set.batch(&TEXTS, true).unwrap(), RESULTS);
    assert_eq!(set.commit(), Ok(3));
    assert_eq!((set.insert(b"http://h"), set.insert(b"http://i")), (Ok(1), Ok(0)));
    assert_eq!(set.commit(), Ok(1));
    assert_eq!((set.commit(), set.count()), (Ok(0), 4));
    assert_eq!(set.insert(b"http://lost"), Ok(0));
    let busy = Set::open(&equivalence, &path, URISCAN_UPDATE).err().unwrap();
    assert!(busy.text.contains("another process"), "{busy:?}");
    drop(set);

    let set = Set::open(&equivalence, &path, URISCAN_READ).unwrap();
    assert_eq!(
        (set.count(), set.contains(b"http://I/"), set.contains(b"http://lost")),
        (4, Ok(1), Ok(0))
    );
    assert_eq!(set.insert(b"http://j").unwrap_err().status, URISCAN_ARGUMENT);
    assert_eq!(set.commit().unwrap_err().status, URISCAN_ARGUMENT);

    // The keys are those of every other binding.
    let known = uriscan::set::KeySet::open(&path).unwrap();
    let key = equivalence.key(b"http://h/x").unwrap();
    let key = uriscan::key::Key(u128::from_be_bytes(key));
    assert_eq!(known.contains(&[key]).unwrap(), [true]);

    let other = Equivalence::new("preset=crawl").unwrap();
    let failed = Set::open(&other, &path, URISCAN_READ).err().unwrap();
    assert!(failed.status == URISCAN_SET && failed.text.contains("another meaning"), "{failed:?}");
    let failed = Set::open(&equivalence, &path, 2).err().unwrap();
    assert_eq!(failed.status, URISCAN_ARGUMENT);
}

#[test]
fn an_invalid_text_stops_a_batch_before_anything_is_added() {
    let strict = Equivalence::new("on_invalid=error").unwrap();
    let set = Set::new(&strict);
    let failed = set.batch(&[b"http://h/", b"http://h/a b"], true).unwrap_err();
    assert_eq!((failed.status, failed.row, failed.at), (URISCAN_INVALID, 1, 10));
    assert!(failed.text.starts_with("text 1: space at byte 10"), "{}", failed.text);
    assert_eq!(set.count(), 0);

    let dropping = Equivalence::new("on_invalid=drop").unwrap();
    let set = Set::new(&dropping);
    assert_eq!(set.batch(&[b"http://h/", b"http://h/a b"], true), Ok(vec![0, 2]));
    assert_eq!(set.insert(b"x"), Ok(URISCAN_SKIPPED));
}

#[test]
fn offsets_that_fall_are_refused() {
    let equivalence = Equivalence::new("").unwrap();
    let set = Set::new(&equivalence);
    let mut results = [7; 2];
    for offsets in [[0, 3, 2], [3, 2, 2], [0, 9, 2]] {
        let failed = checked(|error| unsafe {
            let to = results.as_mut_ptr();
            uriscan_set_insert_batch(set.0, at(b"abc"), offsets.as_ptr(), 2, to, error)
        });
        assert_eq!(failed.unwrap_err().status, URISCAN_ARGUMENT);
    }
    assert_eq!((set.count(), results), (0, [7; 2]));
}
