//! Files that are read whole, or that are small for what they are: none without a limit.

use std::io::{self, Read};
use std::path::Path;

use super::File;

/// A reader that fails where its content exceeds a limit: a file may be larger than it says, and need not have an end.
#[derive(Debug)]
pub struct Limited<R> {
    inner: R,
    limit: u64,
    left: u64,
}

impl<R: Read> Limited<R> {
    /// A reader of `inner`, which may have so many bytes.
    pub fn new(inner: R, limit: u64) -> Limited<R> {
        Limited { inner, limit, left: limit }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).saturating_add(1);
        let len = bytes.len().min(most);
        let read = self.inner.read(&mut bytes[..len])?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => return Err(too_long(self.limit)),
        }
        Ok(read)
    }
}

fn too_long(limit: u64) -> io::Error {
    let what = format!("is longer than {limit} bytes, which is the limit for files of this kind");
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// The content of the file at `path`, which may have so many bytes.
///
/// ```
/// use uriscan_files::read_limited;
/// # fn main() -> std::io::Result<()> {
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("rules");
/// std::fs::write(&path, "12345")?;
/// assert_eq!(read_limited(&path, 5)?, b"12345");
/// assert!(read_limited(&path, 4).is_err());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of the system; when it has more.
pub fn read_limited(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.len() > limit {
        return Err(too_long(limit));
    }
    let mut bytes = Vec::new();
    Limited::new(file, limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Bytes of files that are settings, or that the system makes.
const MOST_SETTINGS: u64 = 1 << 20;

/// The content of the file at `path`, which is text of at most 1 MiB.
///
/// # Errors
/// As [`read_limited`]; when it is not UTF-8.
pub fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    let bytes = read_limited(path.as_ref(), MOST_SETTINGS)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_limit_is_read_and_a_longer_one_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        for len in [0, 1, 4095, 4096] {
            std::fs::write(&path, vec![b'x'; len]).unwrap();
            assert_eq!(read_limited(&path, 4096).unwrap().len(), len);
            assert_eq!(read_limited(&path, len as u64).unwrap().len(), len);
        }
        let error = read_limited(&path, 4095).unwrap_err();
        assert!(error.to_string().contains("longer than 4095 bytes"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_has_no_end_is_longer_than_any_limit() {
        let error = read_limited(Path::new("/dev/zero"), 1 << 16).unwrap_err();
        assert!(error.to_string().contains("longer than 65536 bytes"), "{error}");
    }
}
