//! redb: keys are inserted in sorted order, one transaction for each call.

use std::path::Path;

use redb::{Database, ReadableDatabase, ReadableTableMetadata, TableDefinition};

use super::{CACHE, Store, count_in_parts, sorted};
use crate::rounds::Outcome;

const TABLE: TableDefinition<'_, [u8; 16], ()> = TableDefinition::new("keys");

pub(super) struct Redb(Database);

impl Redb {
    pub(super) fn create(directory: &Path) -> Outcome<Redb> {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE);
        Ok(Redb(builder.create(directory.join("keys.redb"))?))
    }
}

impl Store for Redb {
    fn load(&mut self, keys: Vec<u128>) -> Outcome<()> {
        self.add(keys)
    }

    fn add(&mut self, keys: Vec<u128>) -> Outcome<()> {
        let writing = self.0.begin_write()?;
        {
            let mut table = writing.open_table(TABLE)?;
            for key in sorted(keys) {
                table.insert(key.to_be_bytes(), ())?;
            }
        }
        Ok(writing.commit()?)
    }

    fn count(&self, keys: &[u128]) -> Outcome<usize> {
        let table = self.0.begin_read()?.open_table(TABLE)?;
        count_in_parts(keys, |keys| {
            let mut count = 0;
            for key in keys {
                count += usize::from(table.get(key.to_be_bytes())?.is_some());
            }
            Ok(count)
        })
    }

    fn len(&self) -> Outcome<u64> {
        Ok(self.0.begin_read()?.open_table(TABLE)?.len()?)
    }
}
