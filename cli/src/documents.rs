//! Inputs that are not lists: named files, files from a list of names, and files below directories.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::DirEntry;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use uriscan::repair::{Repair, Repairs};
use uriscan::resolve::Context;
use uriscan_bulk::io::{Compression, Source};
use uriscan_bulk::pipeline::{self, Entities, Equivalence, ExtractOptions, Settings, Skipped};
use uriscan_files::{File, Limited, read_limited};

use crate::args;
use crate::bases;
use crate::exit::Failure;
use crate::inputs::{
    Input, Inputs, StdinHead, missing, refuse_table, remote_source, stdin_source, text,
};
use crate::output::{PathConflicts, StdoutFile};

#[derive(Clone, Debug)]
pub(crate) struct Documents {
    pub(crate) options: ExtractOptions,
    pub(crate) walk: args::Walk,
    /// Names of files with the URL of their directory, such as `index.html`.
    pub(crate) index: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkUse<'a> {
    pub(crate) base: Option<&'a str>,
    /// Links may contain characters beyond ASCII.
    pub(crate) accepts_iris: bool,
    pub(crate) entities: Entities,
}

impl<'a> LinkUse<'a> {
    pub(crate) fn of(
        repairs: &args::RepairOptions,
        references: &'a args::References,
    ) -> LinkUse<'a> {
        let base = references.base.as_deref();
        let entities = repairs.of_links();
        LinkUse { base, accepts_iris: repairs.iri, entities }
    }

    pub(crate) fn of_equivalence(typed: &'a args::Equivalence) -> LinkUse<'a> {
        LinkUse::of(&typed.repairs, &typed.references)
    }

    /// The use of links under these settings; repairs that were `typed` decide before those of the settings.
    pub(crate) fn of_settings(
        settings: &'a Equivalence,
        typed: &args::RepairOptions,
    ) -> LinkUse<'a> {
        let base = match &settings.context {
            Some(Context::Base { base, .. }) => str::from_utf8(base.as_bytes()).ok(),
            _ => None,
        };
        let repairs = settings.repairs;
        let entities = match repairs {
            _ if !typed.repair.is_empty() => typed.of_links(),
            _ if repairs.has(Repair::Entity) => Entities::All,
            _ if repairs.or(Repairs::usual()) == repairs => Entities::Text,
            _ => Entities::Keep,
        };
        LinkUse { base, accepts_iris: repairs.has(Repair::Iri), entities }
    }
}

/// Makes sources of `inputs` and of the files that `documents` adds; lists of the links in them if `is_list`.
///
/// Below a directory, the file that standard output goes to is skipped; any other of `outputs` is refused. What cannot be
/// read is reported to `unread` and skipped. What lists of links omit is counted in `skipped`.
pub(crate) fn open(
    inputs: &[Input],
    documents: &Documents,
    is_list: bool,
    settings: &Settings,
    skipped: &Arc<Mutex<Skipped>>,
    outputs: (&PathConflicts, Option<&StdoutFile>),
    unread: &mut dyn FnMut(&dyn Display),
) -> Result<Inputs, Failure> {
    let Documents { options, walk, index } = documents;
    let given = options.extractor.base.as_deref();
    let (conflicts, stdout) = outputs;
    let mut inputs = inputs.to_vec();
    if let Some(list) = &walk.files_from {
        let is_stdin = list.as_os_str() == "-";
        if is_stdin && inputs.contains(&Input::Stdin) {
            return Err(Failure::at(
                "--files-from -",
                "standard input is already an input; name a file with the list",
            ));
        }
        let listed = listed(list, is_stdin, settings.record_end)?;
        listed.iter().try_for_each(|path| conflicts.refuse_evidence(path))?;
        inputs.extend(listed.into_iter().map(Input::named));
    }
    let stdin_head = StdinHead::default();
    let mut found = Inputs { sources: Vec::new(), total_bytes: Some(0), hidden: 0, stdin_head };
    let mut hidden = 0;
    let mut push = |source: Source, bytes: Option<u64>, is_walked: bool| {
        let source = source.text_only(is_walked && !walk.text);
        let source = match is_list {
            true => pipeline::links_of(source, options, settings, skipped),
            false => source,
        };
        found.sources.push(source);
        found.total_bytes = found.total_bytes.zip(bytes).map(|(sum, bytes)| sum + bytes);
    };
    for input in &inputs {
        match input {
            Input::Stdin => push(stdin_source(text(std::io::stdin())), None, false),
            Input::Typed(list) => {
                let source = Source::new("-e", io::Cursor::new(list.clone()));
                push(source, Some(list.len() as u64), false);
            }
            Input::Remote(url) => match remote_source(url, false) {
                Err(error) => unread(&error),
                Ok((source, bytes)) => {
                    push(source.base(url.base().filter(|_| given.is_none())), bytes, false);
                }
            },
            Input::File(path) => match path.metadata() {
                Err(error) => {
                    unread(&format_args!("{}: {}", path.display(), missing(path, &error)));
                }
                Ok(data) if data.is_dir() => {
                    let directory = path;
                    for path in files_below(directory, walk.hidden, &mut hidden, unread) {
                        // Reading what is being written would never end.
                        if stdout.is_some_and(|output| output.is_at(&path)) {
                            continue;
                        }
                        conflicts.refuse_evidence(&path)?;
                        let below = path.strip_prefix(directory).unwrap_or(&path);
                        let base = given.and_then(|given| bases::of_file(given, below, index));
                        // There may be very many, so each is opened in its turn.
                        push(Source::regular_file(path).base(base), None, true);
                    }
                }
                Ok(data) => match if data.is_file() { refuse_table(path) } else { Ok(()) } {
                    Err(error) => unread(&format_args!("{}: {error}", path.display())),
                    Ok(()) => push(Source::file(path), plain_bytes(path), false),
                },
            },
        }
    }
    found.hidden = hidden;
    Ok(found)
}

/// Bytes of a list of files.
const MOST_NAMES: u64 = 256 << 20;

fn listed(path: &Path, is_stdin: bool, end: u8) -> Result<Vec<PathBuf>, Failure> {
    let read = if is_stdin {
        let mut names = Vec::new();
        Limited::new(io::stdin(), MOST_NAMES).read_to_end(&mut names).map(|_| names)
    } else {
        read_limited(path, MOST_NAMES)
    };
    let names = read.map_err(|error| Failure::at(path.display(), error))?;
    let names = names.split(|&byte| byte == end).filter(|name| !name.is_empty());
    Ok(names.map(|name| PathBuf::from(os_string(name))).collect())
}

#[cfg(unix)]
fn os_string(name: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    OsString::from_vec(name.to_vec())
}

#[cfg(not(unix))]
fn os_string(name: &[u8]) -> OsString {
    String::from_utf8_lossy(name).into_owned().into()
}

/// The regular files below `directory`, in the order of names; links are not followed. Counts what is `skipped` because it is hidden,
/// except for what git keeps there.
fn files_below(
    directory: &Path,
    hidden: bool,
    skipped: &mut u64,
    unread: &mut dyn FnMut(&dyn Display),
) -> Vec<PathBuf> {
    let mut files = Vec::new();
    // A stack of paths, each with whether it is a directory.
    let mut left = vec![(directory.to_owned(), true)];
    while let Some((path, is_directory)) = left.pop() {
        if !is_directory {
            files.push(path);
            continue;
        }
        let first = left.len();
        let mut note = |error: io::Error| unread(&format_args!("{}: {error}", path.display()));
        match path.read_dir() {
            Ok(entries) => {
                for entry in entries {
                    match entry.and_then(|entry| looked_at(&entry, hidden, skipped)) {
                        Ok(found) => left.extend(found),
                        Err(error) => note(error),
                    }
                }
            }
            Err(error) => note(error),
        }
        // They share the path of their directory, so this is the order of their names.
        left[first..].sort_unstable_by(|(a, _), (b, _)| b.as_os_str().cmp(a.as_os_str()));
    }
    files
}

/// The path of `entry`, and whether it is a directory; `None` if it is skipped.
fn looked_at(
    entry: &DirEntry,
    hidden: bool,
    skipped: &mut u64,
) -> io::Result<Option<(PathBuf, bool)>> {
    let kind = entry.file_type()?;
    let is_wanted = kind.is_file() || kind.is_dir();
    let name = entry.file_name();
    let is_shown = hidden || !name.as_encoded_bytes().starts_with(b".");
    *skipped += u64::from(is_wanted && !is_shown && name != ".git");
    Ok((is_wanted && is_shown).then(|| (entry.path(), kind.is_dir())))
}

/// The size of the regular file at `path`, unless it is compressed and its size says little.
fn plain_bytes(path: &Path) -> Option<u64> {
    let data = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut head = [0; Compression::HEAD_BYTES];
    let len = File::open(path).and_then(|mut file| file.read(&mut head)).unwrap_or(0);
    Compression::of_head(&head[..len]).is_none().then_some(data.len())
}
