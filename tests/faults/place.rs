//! Directories that are made again for each run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A directory, in memory where the system has one.
pub(crate) fn directory() -> TempDir {
    let memory = Path::new("/dev/shm");
    let directory =
        if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    directory.expect("a directory")
}

/// Names and contents of all files below `directory`, and the names of directories.
pub(crate) fn content(directory: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        let Ok(entries) = fs::read_dir(&next) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(directory).unwrap().to_owned();
            if path.is_dir() {
                found.insert(name, None);
                left.push(path);
            } else {
                found.insert(name, Some(fs::read(&path).unwrap()));
            }
        }
    }
    found
}

/// Makes `directory` what it was when its `content` was taken.
pub(crate) fn restore(directory: &Path, content: &BTreeMap<PathBuf, Option<Vec<u8>>>) {
    let _ = fs::remove_dir_all(directory);
    fs::create_dir(directory).unwrap();
    for (name, bytes) in content {
        match bytes {
            None => fs::create_dir(directory.join(name)).unwrap(),
            Some(bytes) => fs::write(directory.join(name), bytes).unwrap(),
        }
    }
}
