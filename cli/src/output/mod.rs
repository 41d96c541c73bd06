//! Where results go: standard output, or files that change only when all is done.
//!
//! [`Output`] writes one of them, [`commit`] puts all of a run in place together, and [`PathConflicts`] refuses outputs that are
//! inputs or other outputs.

mod destination;
mod identity;
mod path_conflicts;
mod target;
mod write;

pub(crate) use destination::{
    Destination, NOT_COMPRESSED, WRITES_NO_COLUMNS, WRITES_NO_DOCUMENTS, WRITES_NO_JSON,
    has_columns, is_dash, is_directory, is_document, is_jsonl, is_packed,
};
pub(crate) use identity::FileId;
pub(crate) use path_conflicts::{Content, PathConflicts, StdoutFile};
pub(crate) use uriscan_files::directory_of;
pub(crate) use write::{Output, commit, write_text, write_with};
