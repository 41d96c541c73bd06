//! Opens tables and reads them in batches, whatever they are written in.

pub(crate) mod counted;
pub(crate) mod hint;
pub(crate) mod input;
pub(crate) mod notes;
pub(crate) mod ranged;
pub(crate) mod reader;
pub(crate) mod rows;
pub(crate) mod sequential;
