//! The file that says what a set is: its meaning, and which runs belong to it. Whoever replaces it, replaces the
//! set.
//!
//! ```text
//! uriscan set 1
//! runs 1
//! 6f1c0d2a9b3e4455.keys 1000000
//! hash xxh3-128
//! seed 0
//! grammar RFC-3986 1
//! rung scheme
//! fragment kept
//! check 0123456789abcdef
//! ```
//!
//! Behind the runs, with the number of keys of each, may stand a `note`, and then the [`Meaning`]; `check` is XXH3-64 of all before it.
//! A set that tells when its keys were first seen is of version 2: the file of the times of a run stands behind its
//! number of keys.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::Meaning;
use super::error::{At, Fault, SetError};

/// Its name in the directory of a set.
pub(super) const NAME: &str = "set";

const FIRST_LINE: &str = "uriscan set ";
/// The versions of sets that tell no times, and that do.
const VERSIONS: [&str; 2] = ["1", "2"];
const NOTE: &str = "note ";

/// What it says of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    /// The name of the file of keys.
    pub(super) keys: String,
    pub(super) len: u64,
    /// The name of the file of their times, in a set that tells them.
    pub(super) times: Option<String>,
}

/// What it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    /// Whether it is told when keys were first seen.
    pub(super) is_dated: bool,
    pub(super) runs: Vec<Listed>,
    /// One line that says something about the set to whoever wrote it.
    pub(super) note: Option<String>,
    pub(super) meaning: Meaning,
}

impl Manifest {
    fn to_text(&self) -> String {
        let version = VERSIONS[usize::from(self.is_dated)];
        let mut text = format!("{FIRST_LINE}{version}\nruns {}\n", self.runs.len());
        for Listed { keys, len, times } in &self.runs {
            text += &format!("{keys} {len}");
            if let Some(times) = times {
                text += &format!(" {times}");
            }
            text.push('\n');
        }
        if let Some(note) = &self.note {
            text += &format!("{NOTE}{note}\n");
        }
        text += self.meaning.as_str();
        let check = xxh3_64(text.as_bytes());
        text + &format!("check {check:016x}\n")
    }

    fn from_text(text: &str) -> Option<Manifest> {
        let (body, check) = text.strip_suffix('\n')?.rsplit_once("\ncheck ")?;
        let end = body.len() + 1;
        if format!("{:016x}", xxh3_64(&text.as_bytes()[..end])) != check {
            return None;
        }
        let (first, rest) = text[..end].split_once('\n')?;
        let is_dated = first.strip_prefix(FIRST_LINE)? == VERSIONS[1];
        let (count, mut rest) = rest.strip_prefix("runs ")?.split_once('\n')?;
        let mut runs = Vec::new();
        for _ in 0..count.parse::<u32>().ok()? {
            let (run, behind) = rest.split_once('\n')?;
            let (keys, told) = run.split_once(' ')?;
            let (len, times) = match is_dated {
                true => told.split_once(' ').map(|(len, times)| (len, Some(times.to_owned())))?,
                false => (told, None),
            };
            runs.push(Listed { keys: keys.to_owned(), len: len.parse().ok()?, times });
            rest = behind;
        }
        let mut note = None;
        if let Some((line, behind)) = rest.strip_prefix(NOTE).and_then(|it| it.split_once('\n')) {
            (note, rest) = (Some(line.to_owned()), behind);
        }
        Some(Manifest { is_dated, runs, note, meaning: Meaning::from_text(rest)? })
    }

    /// Reads that of the set in `directory`.
    ///
    /// # Errors
    /// When there is none, it cannot be read, is damaged, or of another version.
    pub(super) fn read(directory: &Path) -> Result<Manifest, SetError> {
        let path = directory.join(NAME);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if is_absence(&error) => {
                return Err(match fs::metadata(directory) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        SetError::new(directory, Fault::Io(error))
                    }
                    _ => SetError::new(directory, Fault::NotASet),
                });
            }
            Err(error) => return Err(SetError::new(&path, Fault::Io(error))),
        };
        let text = String::from_utf8_lossy(&text);
        let first = text.lines().next().unwrap_or_default();
        match first.strip_prefix(FIRST_LINE) {
            Some(version) if VERSIONS.contains(&version) => {}
            Some(version) if version.parse::<u32>().is_ok() => {
                return Err(SetError::new(directory, Fault::Version(version.to_owned())));
            }
            _ => return Err(SetError::damaged(&path, "it does not begin as a set does", 0)),
        }
        Manifest::from_text(&text)
            .ok_or_else(|| SetError::damaged(&path, "its checksum is another", 0))
    }

    /// Makes it that of the set in `directory`: at every moment, also if the system stops, the old one or
    /// this one is there. What it names has to be on the disk.
    ///
    /// # Errors
    /// When it cannot be written; then the old one stays.
    pub(super) fn replace(&self, directory: &Path) -> Result<(), SetError> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("set-").suffix(".partial");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut file = builder.tempfile_in(directory).at(directory)?;
        file.write_all(self.to_text().as_bytes()).at(directory)?;
        file.as_file().sync_all().at(directory)?;
        // The runs have their names before a set is made of them.
        sync_directory(directory)?;
        file.persist(directory.join(NAME)).map_err(|error| error.error).at(directory)?;
        sync_directory(directory)
    }
}

/// Whether there is no such file.
pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Has the names in `directory` written to the disk.
///
/// # Errors
/// When the system cannot.
pub(super) fn sync_directory(directory: &Path) -> Result<(), SetError> {
    // Elsewhere a directory cannot be opened, and its names are as durable as the system makes them.
    if cfg!(unix) {
        File::open(directory).and_then(|directory| directory.sync_all()).at(directory)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Hasher;

    #[test]
    fn no_byte_of_it_can_change_unseen() {
        for is_dated in [false, true] {
            let run = |name: &str, len| Listed {
                keys: format!("{name}.keys"),
                len,
                times: is_dated.then(|| format!("{name}.times")),
            };
            let manifest = Manifest {
                is_dated,
                runs: vec![run("a", 3), run("b", 0)],
                note: Some("{\"done\":3}".to_owned()),
                meaning: Meaning::new(Hasher::with_seed(9), "rung scheme\ndrop utm_* on a.b\n"),
            };
            let text = manifest.to_text();
            assert_eq!(Manifest::from_text(&text), Some(manifest));
            for at in 0..text.len() {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1;
                let read = String::from_utf8(bytes).ok().and_then(|it| Manifest::from_text(&it));
                assert_eq!(read, None);
                assert_eq!(Manifest::from_text(&text[..at]), None);
            }
        }
    }
}
