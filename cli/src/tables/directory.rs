//! Results in a directory of files, which appears when all of them are whole.
//!
//! The files are made in a [`AtomicDirectory`], which takes the name of the results at the end. Few of the files are open at a
//! time: one that is written to again is opened again.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use uriscan_files::{
    self as files, AtomicDirectory, File, followed, is_mount_point, sync_directory,
};
use uriscan_table::{self, PartFile};

use super::folder::Results;
use crate::exit::Failure;
use crate::interrupt::{self, Leftover, Registered};
use crate::output::{FileId, directory_of};

/// Files that are open at a time.
const MOST_OPEN: usize = 64;

/// A directory of results that is being made. Dropped before it is put in place, it is gone.
pub(crate) struct Directory {
    target: PathBuf,
    unfinished: AtomicDirectory,
    /// Directories below it, and files in them, that have been made.
    made: HashSet<PathBuf>,
    files: Vec<PathBuf>,
    pool: Arc<Mutex<Pool>>,
    _registered: Registered,
}

/// The open files, the one that was written to last at the end.
#[derive(Default)]
struct Pool {
    open: Vec<(PathBuf, File)>,
}

/// A file in a hidden directory.
struct Part {
    path: PathBuf,
    pool: Arc<Mutex<Pool>>,
}

impl Directory {
    pub(crate) fn new(path: &Path) -> Result<Directory, Failure> {
        let fault = |error: io::Error| Failure::at(path.display(), error);
        let refuse = |what: &str| Err(Failure::at(path.display(), what));
        let target = followed(path).map_err(fault)?;
        let target = match target.metadata() {
            Ok(metadata) if !metadata.is_dir() => {
                return refuse("is a file; the output must be a directory");
            }
            Ok(_) if !is_vacant(&target).map_err(fault)? => return refuse(NOT_EMPTY),
            Ok(_) => {
                let target = target.canonicalize().map_err(fault)?;
                // One rename replaces it, so that readers see all of the results or none.
                if is_mount_point(&target) {
                    return refuse(
                        "is a mount point and cannot be replaced; name a new directory in it",
                    );
                }
                if FileId::of(&target) == FileId::of(Path::new(".")) {
                    return refuse(
                        "is the working directory and cannot be replaced; name a new directory in it",
                    );
                }
                target
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => target,
            Err(error) => return Err(fault(error)),
        };
        let parent = directory_of(&target);
        if !parent.is_dir() {
            let what = format!("there is no directory {}", parent.display());
            return Err(Failure::at(path.display(), what));
        }
        let _held = interrupt::hold();
        let unfinished = AtomicDirectory::of_output(&target).map_err(|error| {
            let what = format!("cannot make the results in {}: {error}", parent.display());
            Failure::at(path.display(), what)
        })?;
        let _registered = Leftover::Directory(unfinished.path().to_owned()).register();
        let (made, files, pool) = (HashSet::new(), Vec::new(), Arc::default());
        Ok(Directory { target, unfinished, made, files, pool, _registered })
    }
}

impl Results for Directory {
    /// Waits until the files are on the disk, with their names in the hidden directory: otherwise that might have its name
    /// first, and a crash leave a directory that lacks files, or has files that are cut short.
    fn finish(&self) -> io::Result<()> {
        // One call for very many files: each of them would wait for the disk.
        let is_on_disk =
            self.files.len() > MOST_OPEN && files::sync_file_system(self.unfinished.path())?;
        if !is_on_disk {
            self.files.iter().try_for_each(|path| append_to(path)?.sync_all())?;
            self.made.iter().try_for_each(|directory| sync_directory(directory))?;
        }
        self.unfinished.finish()
    }

    /// On error, no file is in place, unless it was the name of the directory that is not durable.
    fn put(self: Box<Self>, is_durable: bool) -> io::Result<()> {
        let _held = interrupt::hold();
        self.unfinished.put().map_err(|error| match error.kind() {
            io::ErrorKind::DirectoryNotEmpty => io::Error::new(error.kind(), NOT_EMPTY),
            _ => error,
        })?;
        if is_durable { sync_directory(directory_of(&self.target)) } else { Ok(()) }
    }
}

/// Why a directory does not take results.
const NOT_EMPTY: &str = "is not empty; name a new directory, or remove what is in it";

fn is_vacant(directory: &Path) -> io::Result<bool> {
    Ok(files::list(directory)?.next().transpose()?.is_none())
}

impl uriscan_table::Folder for Directory {
    fn create(&mut self, path: &str) -> io::Result<Box<dyn PartFile>> {
        let path = self.unfinished.path().join(path);
        // A signal removes the hidden directory, with all that is in it.
        let _held = interrupt::hold();
        let mut missing = Vec::new();
        for directory in path.ancestors().skip(1) {
            if directory == self.unfinished.path() || self.made.contains(directory) {
                break;
            }
            missing.push(directory.to_owned());
        }
        for directory in missing.into_iter().rev() {
            files::create_directory(&directory)?;
            self.made.insert(directory);
        }
        let mut options = OpenOptions::new();
        let file = File::open_with(&path, options.append(true).create_new(true))?;
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).add(&path, file);
        self.files.push(path.clone());
        Ok(Box::new(Part { path, pool: self.pool.clone() }))
    }
}

impl Pool {
    fn add(&mut self, path: &Path, file: File) {
        if self.open.len() == MOST_OPEN {
            // Its bytes are with the system.
            self.open.remove(0);
        }
        self.open.push((path.to_owned(), file));
    }

    /// The file at `path`, which is opened if it is not.
    fn take(&mut self, path: &Path) -> io::Result<File> {
        match self.open.iter().position(|(open, _)| open == path) {
            Some(at) => Ok(self.open.remove(at).1),
            None => append_to(path),
        }
    }
}

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = pool.take(&self.path)?;
        let result = file.write(bytes);
        pool.add(&self.path, file);
        result
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl PartFile for Part {
    fn finish(&mut self) -> io::Result<()> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).take(&self.path).map(drop)
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    File::open_with(path, OpenOptions::new().append(true))
}

#[cfg(test)]
mod tests {
    use uriscan_table::Folder as _;

    use super::*;

    #[test]
    fn many_files_are_written_in_turn() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("out");
        let mut folder = Directory::new(&target).unwrap();
        let mut parts: Vec<Box<dyn PartFile>> = (0..3 * MOST_OPEN)
            .map(|i| folder.create(&format!("k={}/part-{i}", i % 7)).unwrap())
            .collect();
        for round in 0..3 {
            for part in &mut parts {
                write!(part, "{round}").unwrap();
            }
        }
        assert!(folder.pool.lock().unwrap().open.len() <= MOST_OPEN);
        parts.iter_mut().for_each(|part| part.finish().unwrap());
        assert!(!target.exists());
        folder.finish().unwrap();
        Box::new(folder).put(true).unwrap();
        for i in 0..3 * MOST_OPEN {
            let path = target.join(format!("k={}/part-{i}", i % 7));
            assert_eq!(std::fs::read_to_string(path).unwrap(), "012");
        }
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn nothing_is_left_of_a_directory_that_is_not_put_in_place() {
        let place = tempfile::tempdir().unwrap();
        for target in [place.path().join("new"), place.path().join("there")] {
            if target.ends_with("there") {
                std::fs::create_dir(&target).unwrap();
            }
            let mut folder = Directory::new(&target).unwrap();
            folder.create("a=1/b=2/x").unwrap().write_all(b"half").unwrap();
            drop(folder);
            let mut folder = Directory::new(&target).unwrap();
            folder.create("a=1/x").unwrap().finish().unwrap();
            Box::new(folder).put(false).unwrap();
            assert_eq!(std::fs::read_dir(&target).unwrap().count(), 1, "{}", target.display());
            let Err(failure) = Directory::new(&target) else { panic!("it is not empty") };
            assert!(failure.to_string().contains("is not empty"), "{failure}");
        }
    }

    #[test]
    fn what_others_have_put_into_a_directory_stays_as_it_is() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("there");
        std::fs::create_dir(&target).unwrap();
        let mut folder = Directory::new(&target).unwrap();
        folder.create("x").unwrap().write_all(b"new").unwrap();
        // Another run that writes the same has a directory of its own.
        let other = Directory::new(&target).unwrap();
        std::fs::write(target.join("x"), "theirs").unwrap();
        folder.finish().unwrap();
        let error = Box::new(folder).put(false).unwrap_err();
        assert!(error.to_string().contains("is not empty"), "{error}");
        drop(other);
        assert_eq!(std::fs::read_to_string(target.join("x")).unwrap(), "theirs");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    }
}
