//! The files of a dataset: found on a disk, or listed by a store.

use std::fs::{DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::super::TableError;
use super::super::error::unread;
use super::pattern::{Matched, Matching, Selection};

/// The files of a dataset.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// In the order of their paths, compared directory by directory.
    pub files: Vec<FoundFile>,
    /// Files and directories that were left out: hidden ones, files that are no tables by their name, and links to directories
    /// that nothing names.
    pub skipped: u64,
}

/// A file of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct FoundFile {
    /// Its path below the root of the dataset.
    pub below: PathBuf,
    /// Its size.
    pub bytes: u64,
}

impl Selection {
    /// The files below the root on the disk. Nothing is opened but directories.
    ///
    /// Links to files are followed; those to directories only where a part of the pattern other than `**` selects them, so no
    /// loop of links is followed. What vanishes meanwhile is left out.
    ///
    /// # Errors
    /// If a directory cannot be read.
    pub fn files(&self) -> Result<Found, TableError> {
        let mut found = Found::default();
        let mut left = vec![(PathBuf::new(), self.start())];
        while let Some((below, matched)) = left.pop() {
            let directory = self.root().join(&below);
            // The current directory has the empty path.
            let read = match directory.as_os_str().is_empty() {
                true => Path::new("."),
                false => directory.as_path(),
            };
            let fault = |error: io::Error| unread(&read.display().to_string(), error);
            let entries = match read.read_dir() {
                Ok(entries) => entries,
                // There is no such directory, or it has just been removed.
                Err(error) if is_gone(&error) => continue,
                Err(error) => return Err(fault(error)),
            };
            for entry in entries {
                let entry = entry.map_err(fault)?;
                let (name, below) = (entry.file_name(), below.join(entry.file_name()));
                let next = match self.step(&matched, &name.to_string_lossy()) {
                    Matching::Yes(next) => next,
                    Matching::Hidden => {
                        found.skipped += 1;
                        continue;
                    }
                    Matching::No => continue,
                };
                let (is_link, metadata) = match look(&entry) {
                    Ok(looked) => looked,
                    Err(error) if is_gone(&error) => continue,
                    Err(error) => return Err(unread(&entry.path().display().to_string(), error)),
                };
                match (metadata.is_dir(), is_link) {
                    (true, false) => left.push((below, next)),
                    (true, true) => match self.follow(&matched, &name.to_string_lossy()) {
                        Some(named) => left.push((below, named)),
                        None => found.skipped += 1,
                    },
                    (false, _) if !self.is_whole(&next) => {}
                    (false, _) if metadata.is_file() && self.takes(&below) => {
                        found.files.push(FoundFile { below, bytes: metadata.len() });
                    }
                    (false, _) => found.skipped += 1,
                }
            }
        }
        found.files.sort_unstable();
        Ok(found)
    }

    /// The files among those that a store lists, each with its path below the root, parts separated by slashes, and its size.
    pub fn of_listing<N: AsRef<str>>(&self, listing: impl IntoIterator<Item = (N, u64)>) -> Found {
        let mut found = Found::default();
        for (name, bytes) in listing {
            match self.whole(name.as_ref()) {
                Some(true) => {
                    let below = PathBuf::from(name.as_ref());
                    found.files.push(FoundFile { below, bytes });
                }
                Some(false) => found.skipped += 1,
                None => {}
            }
        }
        found.files.sort_unstable();
        found
    }

    /// Whether the file called `name` belongs to the dataset; `Some(false)` if it is left out for its name.
    fn whole(&self, name: &str) -> Option<bool> {
        let mut matched: Matched = self.start();
        for part in name.split('/').filter(|part| !part.is_empty()) {
            matched = match self.step(&matched, part) {
                Matching::Yes(next) => next,
                Matching::Hidden => return Some(false),
                Matching::No => return None,
            };
        }
        self.is_whole(&matched).then(|| !name.ends_with('/') && self.takes(Path::new(name)))
    }
}

/// Whether `entry` is a link, and what it is or leads to.
fn look(entry: &DirEntry) -> io::Result<(bool, Metadata)> {
    let is_link = entry.file_type()?.is_symlink();
    let metadata = if is_link { entry.path().metadata()? } else { entry.metadata()? };
    Ok((is_link, metadata))
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(found: &Found) -> Vec<&str> {
        found.files.iter().map(|file| file.below.to_str().unwrap()).collect()
    }

    fn made(files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "url\n").unwrap();
        }
        root
    }

    #[test]
    fn the_disk_and_a_listing_have_the_same_files() {
        let files = ["b.csv", "a/x.csv", "a.b/y.csv", "a/_SUCCESS", ".c/z.csv", "a/note.txt"];
        let root = made(&files);
        let typed = root.path().to_str().unwrap();
        for (selection, expected, skipped) in [
            (Selection::of_directory(typed, false), &["a/x.csv", "a.b/y.csv", "b.csv"][..], 3),
            (
                Selection::of_directory(typed, true),
                &["a/note.txt", "a/x.csv", "a.b/y.csv", "b.csv"],
                2,
            ),
            (
                Selection::of_pattern(&format!("{typed}/a*/*"), false).unwrap(),
                &["a/x.csv", "a.b/y.csv"],
                2,
            ),
            (
                Selection::of_pattern(&format!("{typed}/.c/*.csv*"), false).unwrap(),
                &[".c/z.csv"],
                0,
            ),
        ] {
            let strip = |it: &Found| {
                let prefix = selection.root().strip_prefix(typed).unwrap();
                it.files.iter().map(|file| prefix.join(&file.below)).collect::<Vec<_>>()
            };
            let found = selection.files().unwrap();
            assert_eq!(strip(&found), expected.iter().map(PathBuf::from).collect::<Vec<_>>());
            assert_eq!((found.skipped, found.files[0].bytes), (skipped, 4));
            if selection.root() == Path::new(typed) {
                let listed = selection.of_listing(files.map(|name| (name, 4)));
                assert_eq!((listed.files, listed.skipped), (found.files, skipped));
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn loops_of_links_end() {
        use std::os::unix::fs::symlink;
        let root = made(&["a/x.csv", "other/y.csv"]);
        symlink("..", root.path().join("a/up")).unwrap();
        symlink("x.csv", root.path().join("a/link.csv")).unwrap();
        symlink("nowhere", root.path().join("a/broken.csv")).unwrap();
        let typed = root.path().to_str().unwrap();
        let found = Selection::of_directory(typed, false).files().unwrap();
        assert_eq!(names(&found), ["a/link.csv", "a/x.csv", "other/y.csv"]);
        assert_eq!(found.skipped, 1);
        let of = |pattern: &str| {
            let selection = Selection::of_pattern(&format!("{typed}/{pattern}"), false).unwrap();
            selection.files().unwrap()
        };
        assert_eq!(names(&of("**/x.csv")), ["a/x.csv"]);
        assert_eq!(names(&of("*/u?/other/*")), ["a/up/other/y.csv"]);
        // A link that a part of the pattern selects is followed, and none below it.
        assert_eq!(names(&of("**/a/**")), ["a/link.csv", "a/x.csv"]);
        let through = of("**/u?/**/x.csv");
        assert_eq!(names(&through), ["a/up/a/x.csv"]);
    }

    #[test]
    fn deep_directories_are_walked_without_recursion() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("d/".repeat(1_500));
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(deep.join("x.csv"), "url\n").unwrap();
        let found = Selection::of_directory(root.path(), false).files().unwrap();
        assert_eq!(found.files.len(), 1);
    }
}
