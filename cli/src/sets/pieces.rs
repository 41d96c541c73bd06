//! Sets in pieces: a directory of sets, each with the keys that begin with the same bits, and a file that names them.
//!
//! Many machines share the work on such a set: each piece is a set of its own. The file [`NAME`] is written last, so a
//! directory without it is not complete.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use uriscan::key::Key;
use uriscan::set::{KeySet, Loader, SetError};
use uriscan_files as files;

use super::writing::{LOAD_BYTES, Writing};
use crate::args::SplitSet;
use crate::exit::{Failure, Outcome};
use crate::output::{Destination, write_text};

/// The file that names the pieces.
const NAME: &str = "pieces.json";

/// What it is, and the version of its format.
const FORMAT: &str = "uriscan set pieces 1";

/// The directory of the pieces that are made at first.
const FIRST: &str = "base";

pub(super) fn split(typed: &SplitSet) -> Result<Outcome, Failure> {
    let set = KeySet::open(&typed.set)?;
    let (bits, output) = (typed.bits, &typed.output);
    let made = |path: &Path| {
        files::create_directory(path).map_err(|error| Failure::at(path.display(), error))
    };
    made(output)?;
    made(&output.join(FIRST))?;
    let mut pieces = Pieces { set: &set, output, bits, names: Vec::new(), current: None };
    if set.is_dated() {
        set.each_dated::<SetError>(|keys| {
            for (key, time) in keys {
                pieces.of(key)?.push_dated([(key, time)])?;
            }
            Ok(())
        })?;
    } else {
        set.each_key::<SetError>(|keys| {
            for key in keys {
                pieces.of(key)?.push([key])?;
            }
            Ok(())
        })?;
    }
    pieces.finish_before(1 << bits)?;
    let facts: Vec<&str> = set.meaning().as_str().lines().collect();
    let named: Vec<[&String; 1]> = pieces.names.iter().map(|name| [name]).collect();
    let text = json!({ "format": FORMAT, "bits": bits, "meaning": facts, "pieces": named });
    write_text(&format!("{text}\n"), &Destination::File(output.join(NAME)))
}

/// The pieces of a set, made one after the other.
struct Pieces<'a> {
    set: &'a KeySet,
    output: &'a Path,
    bits: u32,
    /// Of the pieces that are complete, relative to the directory.
    names: Vec<String>,
    /// The piece in the making.
    current: Option<(Writing, Loader)>,
}

impl Pieces<'_> {
    /// The loader of the piece of `key`, which is not below those before it.
    fn of(&mut self, key: Key) -> Result<&mut Loader, SetError> {
        let number = key.0.checked_shr(u128::BITS - self.bits).unwrap_or_default() as usize;
        self.finish_before(number)?;
        let (writer, loader) = match self.current.take() {
            Some(begun) => begun,
            None => self.begin()?,
        };
        Ok(&mut self.current.insert((writer, loader)).1)
    }

    /// Begins the piece after the last complete one.
    fn begin(&self) -> Result<(Writing, Loader), SetError> {
        let width = (self.bits as usize).div_ceil(4).max(1);
        let name = format!("{FIRST}/{:0width$x}.set", self.names.len());
        let path = self.output.join(name);
        let writer = Writing::create(&path, self.set.meaning().clone(), self.set.is_dated())?;
        let loader = writer.loader(LOAD_BYTES)?;
        Ok((writer, loader))
    }

    /// Completes all pieces before this number; those without keys are empty sets.
    fn finish_before(&mut self, number: usize) -> Result<(), SetError> {
        while self.names.len() < number {
            let (mut writer, loader) = match self.current.take() {
                Some(begun) => begun,
                None => self.begin()?,
            };
            writer.add(loader)?;
            let path = writer.set().directory();
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            self.names.push(format!("{FIRST}/{file}"));
        }
        Ok(())
    }
}

const MOST_BYTES: u64 = 64 << 20;

/// The sets at `paths`, where a directory of pieces represents all of them.
pub(super) fn expanded(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut sets = Vec::new();
    for path in paths {
        let list = path.join(NAME);
        if !list.is_file() {
            sets.push(path.clone());
            continue;
        }
        let text = files::read_limited(&list, MOST_BYTES)
            .map_err(|error| Failure::at(list.display(), error))?;
        let names = names_in(&text).filter(|names| !names.is_empty()).ok_or_else(|| {
            Failure::at(list.display(), format_args!("is not a list of pieces ({FORMAT})"))
        })?;
        sets.extend(names.iter().map(|name| path.join(name)));
    }
    Ok(sets)
}

/// The names of sets in a list of pieces; `None` if it is none, or if a name leaves its directory.
fn names_in(text: &[u8]) -> Option<Vec<String>> {
    let list: Value = serde_json::from_slice(text).ok()?;
    if list["format"] != FORMAT {
        return None;
    }
    let pieces = list["pieces"].as_array()?.iter().map(Value::as_array);
    let names = pieces.collect::<Option<Vec<_>>>()?.into_iter().flatten();
    names.map(|name| Some(name.as_str().filter(|name| is_below(name))?.to_owned())).collect()
}

/// Whether `name` is a path below the directory that it is relative to.
fn is_below(name: &str) -> bool {
    let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':']);
    name.split('/').all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_directory() {
        let list = |name: &str| format!(r#"{{"format": "{FORMAT}", "pieces": [["{name}"], []]}}"#);
        assert_eq!(names_in(list("run/0a.set").as_bytes()).unwrap(), ["run/0a.set"]);
        for name in ["", "/etc", "../x", "a/../../b", "a//b", "./a", "C:x"] {
            assert_eq!(names_in(list(name).as_bytes()), None, "{name}");
        }
        for other in ["", "[]", "{}", r#"{"format": "uriscan set pieces 2", "pieces": []}"#] {
            assert_eq!(names_in(other.as_bytes()), None, "{other}");
        }
    }
}
