//! What is to be said of tables that could be read.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// What is to be said of tables that could be read, a sentence each. Clones share them.
///
/// ```
/// use uriscan_table::{Input, Notes, TableFormat};
///
/// let notes = Notes::default();
/// let input = Input::stream("list", TableFormat::ArrowStream, &b""[..]).notes(&notes);
/// assert!(notes.all().is_empty());
/// # drop(input);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Notes(Arc<Mutex<BTreeSet<String>>>);

impl Notes {
    /// All of them, each once however often its table was read.
    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    pub(crate) fn add(&self, note: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(note);
    }
}
