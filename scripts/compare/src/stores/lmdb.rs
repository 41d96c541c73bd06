//! LMDB, by the crate `heed`: sorted keys are appended to an empty store; one transaction for each
//! call.

use std::path::Path;

use heed::types::{Bytes, Unit};
use heed::{Database, Env, EnvOpenOptions, PutFlags};

use super::{Store, count_in_parts, sorted};
use crate::rounds::Outcome;

/// Reserved address space; the file is only as large as its content.
const MAP: usize = 1 << 38;

pub(super) struct Lmdb {
    environment: Env,
    table: Database<Bytes, Unit>,
}

impl Lmdb {
    #[allow(unsafe_code, reason = "a border to C: opening a file that is mapped")]
    pub(super) fn create(directory: &Path) -> Outcome<Lmdb> {
        let mut options = EnvOpenOptions::new();
        options.map_size(MAP);
        // SAFETY: the directory was created for this store alone, so nothing else changes the
        // mapped file.
        let environment = unsafe { options.open(directory)? };
        let mut writing = environment.write_txn()?;
        let table = environment.create_database(&mut writing, None)?;
        writing.commit()?;
        Ok(Lmdb { environment, table })
    }

    fn put(&self, keys: Vec<u128>, flags: PutFlags) -> Outcome<()> {
        let mut writing = self.environment.write_txn()?;
        for key in sorted(keys) {
            self.table.put_with_flags(&mut writing, flags, &key.to_be_bytes(), &())?;
        }
        Ok(writing.commit()?)
    }
}

impl Store for Lmdb {
    fn load(&mut self, keys: Vec<u128>) -> Outcome<()> {
        self.put(keys, PutFlags::APPEND)
    }

    fn add(&mut self, keys: Vec<u128>) -> Outcome<()> {
        self.put(keys, PutFlags::empty())
    }

    fn count(&self, keys: &[u128]) -> Outcome<usize> {
        count_in_parts(keys, |keys| {
            let reading = self.environment.read_txn()?;
            let mut count = 0;
            for key in keys {
                count += usize::from(self.table.get(&reading, &key.to_be_bytes())?.is_some());
            }
            Ok(count)
        })
    }

    fn len(&self) -> Outcome<u64> {
        let reading = self.environment.read_txn()?;
        Ok(self.table.len(&reading)?)
    }
}
