//! The files to read: looked at before the work starts, opened one by one as it goes on.

use std::fs::File;
use std::path::Path;

use uriscan::io::Source;

use crate::config::Input;
use crate::exit::Failure;

/// The inputs as sources.
pub(crate) struct Inputs {
    pub(crate) sources: Vec<Source>,
    /// Bytes of all inputs, when that is known: all are regular files.
    pub(crate) total_bytes: Option<u64>,
}

/// Makes sources of `inputs`.
///
/// # Errors
/// When a file is missing, not readable, or a directory, so that nothing is done by halves.
pub(crate) fn open(inputs: &[Input]) -> Result<Inputs, Failure> {
    let mut opened = Inputs { sources: Vec::with_capacity(inputs.len()), total_bytes: Some(0) };
    for input in inputs {
        let (source, bytes) = match input {
            Input::Stdin => (Source::new("-", std::io::stdin()), None),
            Input::File(path) => (Source::file(path), look(path)?),
        };
        opened.sources.push(source);
        opened.total_bytes = opened.total_bytes.zip(bytes).map(|(sum, bytes)| sum + bytes);
    }
    Ok(opened)
}

/// Sees whether the file at `path` can be read; gives its size if it is a regular one.
pub(crate) fn look(path: &Path) -> Result<Option<u64>, Failure> {
    let name = path.display();
    let metadata = path.metadata().map_err(|error| Failure::at(name, error))?;
    if metadata.is_dir() {
        let all = path.join("*");
        let what = format_args!("is a directory; name the files in it, such as {}", all.display());
        return Err(Failure::at(path.display(), what));
    }
    if !metadata.is_file() {
        // Opening a pipe may wait for its writer, and would take what can be read only once.
        return Ok(None);
    }
    File::open(path).map_err(|error| Failure::at(path.display(), error))?;
    Ok(Some(metadata.len()))
}
