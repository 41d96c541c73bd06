//! Tables of text: CSV, TSV, JSON lines and JSON arrays, read from front to back.

pub(crate) mod fitting;
pub(crate) mod json_array;
pub(crate) mod jsonl;
pub(crate) mod line;
pub(crate) mod members;
pub(crate) mod nested;
pub(crate) mod separated;
