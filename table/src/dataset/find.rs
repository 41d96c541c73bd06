//! The files of a dataset: found on a disk, or listed by a store.

use std::fmt;
use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};

use super::managed::Managed;
use super::pattern::{Matched, Matching, Selection};
use uriscan_bulk::error::Error;

/// The files of a dataset.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// In the order of their paths, compared directory by directory.
    pub files: Vec<FoundFile>,
    /// Files and directories that were left out: hidden ones, files that are not tables by their name, and links to directories
    /// that nothing names, or to nothing, if nothing could be found there.
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
    /// loop of links is followed.
    ///
    /// # Errors
    /// If something that belongs to the dataset by its name is not there: a directory that cannot be read, a link to nothing, what
    /// is neither a file nor a directory, and what vanishes meanwhile. If it is a table whose log says which files belong to it,
    /// such as one of Delta Lake or Iceberg.
    pub fn files(&self) -> Result<Found, Error> {
        let mut found = Found::default();
        if let Some(refused) = Managed::above(self.root()) {
            return Err(refused);
        }
        let mut left = vec![(PathBuf::new(), self.start())];
        while let Some((below, matched)) = left.pop() {
            let directory = self.root().join(&below);
            // The current directory has the empty path.
            let read = match directory.as_os_str().is_empty() {
                true => Path::new("."),
                false => directory.as_path(),
            };
            let entries = match read.read_dir() {
                Ok(entries) => entries,
                // Nothing was said to be there.
                Err(error) if below.as_os_str().is_empty() && is_gone(&error) => continue,
                Err(error) => return Err(Error::read(&read.display().to_string(), error)),
            };
            for entry in entries {
                let entry =
                    entry.map_err(|error| Error::read(&read.display().to_string(), error))?;
                if let Some(managed) = Managed::of_entry(&entry) {
                    return Err(managed.refused(read));
                }
                let below = below.join(entry.file_name());
                left.extend(self.entry(&entry, below, &matched, &mut found)?);
            }
        }
        found.files.sort_unstable();
        Ok(found)
    }

    /// Adds the entry at `below`, in a directory of which so much has `matched`, to `found`; returns a directory to be read.
    fn entry(
        &self,
        entry: &DirEntry,
        below: PathBuf,
        matched: &Matched,
        found: &mut Found,
    ) -> Result<Option<(PathBuf, Matched)>, Error> {
        let name = entry.file_name();
        let next = match self.step(matched, &name.to_string_lossy()) {
            Matching::Yes(next) => next,
            Matching::Hidden => {
                found.skipped += 1;
                return Ok(None);
            }
            Matching::No => return Ok(None),
        };
        let fault =
            |what: &dyn fmt::Display| Error::read(&entry.path().display().to_string(), what);
        let is_link = entry.file_type().map_err(|error| fault(&error))?.is_symlink();
        let named = || self.follow(matched, &name.to_string_lossy());
        let is_whole = self.is_whole(&next);
        let is_table = is_whole && self.takes(&below);
        let metadata = if is_link { entry.path().metadata() } else { entry.metadata() };
        match metadata {
            // Were it a file it would be no table, and were it a directory it would not be followed.
            Err(_) if is_link && !is_table && named().is_none() => found.skipped += 1,
            Err(error) if is_link && is_gone(&error) => return Err(fault(&"is a link to nothing")),
            Err(error) => return Err(fault(&error)),
            Ok(metadata) if metadata.is_dir() && !is_link => return Ok(Some((below, next))),
            Ok(metadata) if metadata.is_dir() => match named() {
                Some(named) => return Ok(Some((below, named))),
                None => found.skipped += 1,
            },
            Ok(_) if !is_whole => {}
            Ok(_) if !is_table => found.skipped += 1,
            Ok(metadata) if metadata.is_file() => {
                found.files.push(FoundFile { below, bytes: metadata.len() });
            }
            Ok(_) => return Err(fault(&"is neither a file nor a directory")),
        }
        Ok(None)
    }

    /// The files among those that a store lists, each with its path below the root, parts separated by slashes, and its size.
    ///
    /// # Errors
    /// If it is a table whose log says which files belong to it, as for [`Selection::files`].
    pub fn of_listing<N: AsRef<str>>(
        &self,
        listing: impl IntoIterator<Item = (N, u64)>,
    ) -> Result<Found, Error> {
        let mut found = Found::default();
        for (name, bytes) in listing {
            if let Some((managed, below)) = Managed::of_file(name.as_ref()) {
                return Err(managed.refused(&self.root().join(below.trim_end_matches('/'))));
            }
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
        Ok(found)
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
                let listed = selection.of_listing(files.map(|name| (name, 4))).unwrap();
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
        // Neither a table nor a directory that is followed.
        symlink("nowhere", root.path().join("a/broken")).unwrap();
        let typed = root.path().to_str().unwrap();
        let found = Selection::of_directory(typed, false).files().unwrap();
        assert_eq!(names(&found), ["a/link.csv", "a/x.csv", "other/y.csv"]);
        assert_eq!(found.skipped, 2);
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

    #[cfg(unix)]
    #[test]
    fn what_belongs_to_a_dataset_and_is_not_there_is_an_error() {
        use std::os::unix::fs::symlink;
        use std::os::unix::net::UnixListener;
        let root = made(&["k=1/a.csv", "k=1/note.txt", "k=2/a.csv"]);
        let at = |name: &str| root.path().join(name);
        let typed = root.path().to_str().unwrap();
        let files = |pattern: &str, takes_any_name| {
            let selection = match pattern {
                "" => Selection::of_directory(typed, takes_any_name),
                pattern => {
                    let pattern = format!("{typed}/{pattern}");
                    Selection::of_pattern(&pattern, takes_any_name).unwrap()
                }
            };
            selection.files().map(|found| found.files.len()).map_err(|error| error.to_string())
        };
        for (target, what) in [
            ("nowhere.csv", "is a link to nothing"),
            ("a.csv/x", "is a link to nothing"),
            ("b.csv", "symbolic links"),
            ("/dev/null", "is neither a file nor a directory"),
        ] {
            symlink(target, at("k=1/b.csv")).unwrap();
            for pattern in ["", "*", "**/*.csv", "k=1/*", "k=?/b.c*"] {
                let error = files(pattern, false).unwrap_err();
                assert!(
                    error.contains("k=1/b.csv: ") && error.contains(what),
                    "{target} {pattern}: {error}"
                );
            }
            // It is not selected.
            assert_eq!((files("k=2/*", false), files("**/a.csv", false)), (Ok(1), Ok(2)));
            std::fs::remove_file(at("k=1/b.csv")).unwrap();
        }
        let socket = UnixListener::bind(at("k=1/c.csv")).unwrap();
        assert!(files("", false).unwrap_err().contains("neither a file nor a directory"));
        drop(socket);
        std::fs::remove_file(at("k=1/c.csv")).unwrap();
        // Disks that are not there.
        symlink("/nowhere", at("k=3")).unwrap();
        assert!(files("k=*/*.csv", false).unwrap_err().contains("k=3: is a link to nothing"));
        // A link to a directory would not be followed, and one to a file would be no table.
        assert_eq!(files("", false), Ok(2));
        assert_eq!(files("**/*.csv", false), Ok(2));
        assert!(files("", true).unwrap_err().contains("k=3: is a link to nothing"));
        std::fs::remove_file(at("k=3")).unwrap();
        symlink("nowhere", at(".hidden.csv")).unwrap();
        symlink("nowhere", at("_temporary.csv")).unwrap();
        assert_eq!(files("", false), Ok(2));
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
