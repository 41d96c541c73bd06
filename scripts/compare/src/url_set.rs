//! The simple implementation: the `url` crate and a `HashSet` of serialized URLs, one thread.
//!
//! Two lines are equivalent if their serializations under the WHATWG URL Standard are equal. Lines
//! that the standard rejects are kept by their bytes. First seen is first in the file; output is in
//! input order.

use crate::lines::record;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use url::Url;

/// Writes the first line of each class to `out` and returns the number of classes.
///
/// # Errors
///
/// Those of opening or reading `path` or writing to `out`.
pub(crate) fn dedup(path: &Path, out: impl Write) -> io::Result<usize> {
    let mut input = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut out = BufWriter::with_capacity(1 << 20, out);
    let mut valid: HashSet<String> = HashSet::new();
    // Separate from the valid ones: a rejected line cannot be another line's serialization.
    let mut invalid: HashSet<Vec<u8>> = HashSet::new();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? != 0 {
        if let Some(bytes) = record(&line) {
            let url = str::from_utf8(bytes).ok().and_then(|s| Url::parse(s).ok());
            let fresh = match url {
                Some(url) => valid.insert(url.into()),
                None => !invalid.contains(bytes) && invalid.insert(bytes.to_vec()),
            };
            if fresh {
                out.write_all(bytes)?;
                out.write_all(b"\n")?;
            }
        }
        line.clear();
    }
    out.flush()?;
    Ok(valid.len() + invalid.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_first_of_each_class_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("list.txt");
        let text =
            b"HTTP://A/\nno url\nhttp://a\r\n\xff\n\nhttp://a:80/./\nno url\n\xff\nhttp://b/";
        std::fs::write(&path, text).unwrap();
        let mut out = Vec::new();
        assert_eq!(dedup(&path, &mut out).unwrap(), 4);
        assert_eq!(out, b"HTTP://A/\nno url\n\xff\nhttp://b/\n");
    }
}
