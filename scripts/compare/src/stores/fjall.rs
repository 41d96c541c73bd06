//! fjall: sorted keys are ingested into an empty store, and inserted as one batch later.

use std::path::Path;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::{CACHE, Store, count_in_parts, sorted};
use crate::rounds::Outcome;

pub(super) struct Fjall {
    database: Database,
    keys: Keyspace,
}

impl Fjall {
    pub(super) fn create(directory: &Path) -> Outcome<Fjall> {
        let database = Database::builder(directory).cache_size(CACHE as u64).open()?;
        let keys = database.keyspace("keys", KeyspaceCreateOptions::default)?;
        Ok(Fjall { database, keys })
    }
}

impl Store for Fjall {
    fn load(&mut self, keys: Vec<u128>) -> Outcome<()> {
        let mut ingestion = self.keys.start_ingestion()?;
        for key in sorted(keys) {
            ingestion.write(key.to_be_bytes(), [])?;
        }
        ingestion.finish()?;
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }

    fn add(&mut self, keys: Vec<u128>) -> Outcome<()> {
        let mut batch = self.database.batch().durability(Some(PersistMode::SyncAll));
        for key in sorted(keys) {
            batch.insert(&self.keys, key.to_be_bytes(), []);
        }
        Ok(batch.commit()?)
    }

    fn count(&self, keys: &[u128]) -> Outcome<usize> {
        count_in_parts(keys, |keys| {
            let mut count = 0;
            for key in keys {
                count += usize::from(self.keys.contains_key(key.to_be_bytes())?);
            }
            Ok(count)
        })
    }

    fn len(&self) -> Outcome<u64> {
        Ok(self.keys.len()? as u64)
    }
}
