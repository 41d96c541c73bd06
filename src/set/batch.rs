//! Many keys looked up at once.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::cursor::Cursor;
use super::error::SetError;
use super::store::KeySet;
use crate::key::Key;

/// Keys of a share, about, which one thread sorts and looks up.
const SHARE: usize = 1 << 12;

/// For each of `keys`, whether it is in `set`.
pub(super) fn contains(set: &KeySet, keys: &[Key]) -> Result<Vec<bool>, SetError> {
    let shares = (keys.len() / SHARE).max(1).next_power_of_two();
    let share_of =
        |key: u128| (key >> 64).wrapping_shr(64 - shares.trailing_zeros()) as usize & (shares - 1);
    let mut counts = vec![0; shares];
    for key in keys {
        counts[share_of(key.0)] += 1;
    }
    let mut by_share: Vec<Vec<(Key, usize)>> =
        counts.iter().map(|&count| Vec::with_capacity(count)).collect();
    for (i, &key) in keys.iter().enumerate() {
        by_share[share_of(key.0)].push((key, i));
    }
    let found: Vec<AtomicBool> = (0..keys.len()).map(|_| AtomicBool::default()).collect();
    by_share.into_par_iter().try_for_each(|mut asked| {
        find(set, &mut asked, |i| found[i].store(true, Ordering::Relaxed))
    })?;
    Ok(found.into_iter().map(AtomicBool::into_inner).collect())
}

/// [`KeySet::find`].
pub(super) fn find(
    set: &KeySet,
    asked: &mut [(Key, usize)],
    mut hit: impl FnMut(usize),
) -> Result<(), SetError> {
    asked.sort_unstable_by_key(|&(key, _)| key);
    let (Some(&(first, _)), Some(&(last, _))) = (asked.first(), asked.last()) else {
        return Ok(());
    };
    for run in set.runs() {
        let mut cursor = Cursor::new(run, asked.len(), first.0, last.0);
        for &(key, i) in &*asked {
            if cursor.seek(key.0)?.1 {
                hit(i);
            }
        }
    }
    Ok(())
}
