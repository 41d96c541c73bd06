//! Handles that are shared.

use std::sync::atomic::{AtomicU64, Ordering};

use uriscan_c::URISCAN_NEW;

use crate::caller::{Equivalence, Set};

fn text(i: u64) -> Vec<u8> {
    match i % 3 {
        0 => format!("http://host{i}.example/%7e{i}").into_bytes(),
        1 => format!("HTTP://Host{}.example:80/~{0}", i - 1).into_bytes(),
        _ => format!("bad {i}").into_bytes(),
    }
}

#[test]
fn each_group_is_new_to_one_thread_only() {
    const EACH: u64 = 3_000;
    let equivalence = Equivalence::new("").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("seen.set");
    let on_disk = Set::open(&equivalence, &path, uriscan_c::URISCAN_UPDATE).unwrap();
    for set in [Set::new(&equivalence), on_disk] {
        let (set, equivalence, first) = (&set, &equivalence, AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let first = &first;
                scope.spawn(move || {
                    for i in 0..EACH {
                        // Each thread in an order of its own.
                        let i = (i * 7 + thread * 375) % EACH;
                        let text = text(i);
                        let result = set.insert(&text).unwrap();
                        first.fetch_add(u64::from(result == URISCAN_NEW), Ordering::Relaxed);
                        if i.is_multiple_of(16) {
                            let form = equivalence.normalize(&text).unwrap();
                            let again = equivalence.normalize(&form).unwrap();
                            assert_eq!(form, again);
                        }
                    }
                });
            }
        });
        assert_eq!(first.into_inner(), EACH / 3 * 2);
        assert_eq!(set.count(), EACH / 3 * 2);
    }
}
