//! Keeps outputs apart from inputs and from each other.

use std::fs::Metadata;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use uriscan_files::{File, directory_of};

use super::destination::Destination;
use super::identity::{FileId, stdin_metadata, stdout_metadata, stream_id, target_of};
use super::target::Target;
use crate::exit::Failure;
use crate::remote::Url;

/// The files that a run writes.
#[derive(Debug, Default)]
pub(crate) struct PathConflicts(Vec<Claim>);

#[derive(Debug)]
struct Claim {
    name: String,
    /// What is written there, in the plural.
    holds: &'static str,
    id: Option<FileId>,
    /// Whether it is a file that is there and would be replaced.
    exists: bool,
    /// The directory that it is in.
    directory: Option<FileId>,
    /// Whether it may replace an input: its records are those of the input.
    is_in_place: bool,
}

impl PathConflicts {
    /// The claim of the results, which may replace an input if `is_in_place`.
    pub(crate) fn of_results(results: &Destination, is_in_place: bool) -> PathConflicts {
        let (name, id, directory) = match results {
            Destination::Remote(url) => {
                return PathConflicts(vec![Claim::of_remote(url, "results", is_in_place)]);
            }
            Destination::File(path) => {
                // What is written to an open descriptor would be read, too.
                let is_in_place = is_in_place && Target::is_replaced(path);
                return PathConflicts(vec![Claim::of(path, "results", is_in_place)]);
            }
            Destination::Prefix(url) => {
                return PathConflicts(vec![Claim::of_remote(url, "results", false)]);
            }
            Destination::Directory(path) => {
                return PathConflicts(vec![Claim::of(path, "results", false)]);
            }
            Destination::Stdout => {
                let id = stream_id(stdout_metadata().filter(|it| !is_device(it)));
                ("standard output".to_owned(), id, None)
            }
        };
        // Whatever it replaced, the shell has emptied: see `StdoutFile`.
        let holds = "results";
        PathConflicts(vec![Claim { name, holds, id, exists: false, directory, is_in_place: true }])
    }

    /// Adds the file at `path`, which takes what `holds` says.
    pub(crate) fn add(&mut self, path: &Path, holds: &'static str) -> Result<(), Failure> {
        let new = match Url::of_path(path) {
            Some(url) => Claim::of_remote(&url, holds, false),
            None => Claim::of(path, holds, false),
        };
        if let Some(old) = self.0.iter().find(|old| old.id.is_some() && old.id == new.id) {
            let what = format_args!("cannot take both {} and {holds}", old.holds);
            return Err(Failure::at(&new.name, what));
        }
        if let Some(old) = self.0.iter().find(|old| old.id.is_some() && old.id == new.directory) {
            let what = format_args!("is in {}, which takes the {} only", old.name, old.holds);
            return Err(Failure::at(&new.name, what));
        }
        self.0.push(new);
        Ok(())
    }

    /// An error if the input `id`, called `name`, is an output, unless that `may_replace` it and has its records.
    pub(crate) fn refuse_input(
        &self,
        name: &str,
        id: Option<&FileId>,
        may_replace: bool,
    ) -> Result<(), Failure> {
        let is_kept = |claim: &Claim| may_replace && claim.is_in_place;
        let is_same = |claim: &&Claim| !is_kept(claim) && id.is_some() && claim.id.as_ref() == id;
        self.0.iter().find(is_same).map_or(Ok(()), |claim| Err(claim.is_input(name)))
    }

    /// [`PathConflicts::refuse_input`] for a file that no output may replace, such as aliases or rules.
    pub(crate) fn refuse_evidence(&self, path: &Path) -> Result<(), Failure> {
        // There may be very many inputs, and most runs replace nothing.
        if !self.0.iter().any(|claim| claim.exists) {
            return Ok(());
        }
        let id = FileId::of(path);
        let is_same = |claim: &&Claim| claim.exists && id.is_some() && claim.id == id;
        self.0
            .iter()
            .find(is_same)
            .map_or(Ok(()), |claim| Err(claim.is_input(&path.display().to_string())))
    }

    /// An error if an output is in `directory`, whose files belong to a set, or is that directory.
    pub(crate) fn refuse_inside(&self, directory: &Path) -> Result<(), Failure> {
        let id = FileId::of(directory);
        let is_inside = |claim: &&Claim| id.is_some() && (claim.directory == id || claim.id == id);
        let Some(claim) = self.0.iter().find(is_inside) else { return Ok(()) };
        let what = format_args!("{} must not be written to {}", claim.holds, directory.display());
        Err(Failure::at(&claim.name, what))
    }
}

impl Claim {
    fn of(path: &Path, holds: &'static str, is_in_place: bool) -> Claim {
        let is_shared = path.metadata().is_ok_and(|metadata| is_device(&metadata));
        Claim {
            name: path.display().to_string(),
            holds,
            id: FileId::of(path).filter(|_| !is_shared),
            exists: path.is_file(),
            directory: FileId::of(directory_of(&target_of(path))),
            is_in_place,
        }
    }

    fn of_remote(url: &Url, holds: &'static str, is_in_place: bool) -> Claim {
        let (name, id) = (url.to_string(), Some(FileId::of_remote(url)));
        Claim { name, holds, id, exists: false, directory: None, is_in_place }
    }

    fn is_input(&self, input: &str) -> Failure {
        let Claim { name, holds, .. } = self;
        let alias = if input == *name { String::new() } else { format!(" {input}") };
        let what = format_args!("is the input{alias} and cannot take {holds}; name another file");
        Failure::at(name, what)
    }
}

/// Whether any number of outputs can be written to what `metadata` describes, such as a terminal.
fn is_device(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        !metadata.is_file() && !metadata.is_dir() && !metadata.file_type().is_fifo()
    }
    #[cfg(not(unix))]
    {
        !metadata.is_file() && !metadata.is_dir()
    }
}

/// The regular file that standard output goes to.
#[derive(Clone, Debug)]
pub(crate) struct StdoutFile(FileId);

impl StdoutFile {
    /// The file, if results go to standard output and that is a regular file.
    pub(crate) fn of(destination: &Destination) -> Option<StdoutFile> {
        match destination {
            Destination::Directory(_) | Destination::Prefix(_) => None,
            Destination::File(_) | Destination::Remote(_) => None,
            Destination::Stdout => {
                stream_id(stdout_metadata().filter(Metadata::is_file)).map(StdoutFile)
            }
        }
    }

    pub(crate) fn is_at(&self, path: &Path) -> bool {
        FileId::of(path).is_some_and(|id| id == self.0)
    }

    /// An error if the file is one of several inputs, or has content and is the only one (`None` is standard input):
    /// what is written to it would be read, as by `cat`. There may be other inputs, unless there `is_only` one.
    pub(crate) fn refuse_as_input<'a>(
        &self,
        inputs: impl Iterator<Item = Option<&'a Path>>,
        is_only: bool,
    ) -> Result<(), Failure> {
        for input in inputs {
            let metadata = match input {
                None => stdin_metadata(),
                Some(path) => path.metadata().ok(),
            };
            let is_read = |it: &Metadata| it.is_file() && (!is_only || it.len() > 0);
            if metadata.as_ref().is_some_and(|it| is_read(it) && self.is(it)) {
                let name = input.map_or("-".into(), |path| path.display().to_string());
                let what =
                    "is both an input and standard output; use -o to replace it when all is done";
                return Err(Failure::at(name, what));
            }
        }
        Ok(())
    }

    #[cfg(unix)]
    fn is(&self, metadata: &Metadata) -> bool {
        FileId::of_metadata(metadata) == self.0
    }

    #[cfg(not(unix))]
    fn is(&self, _: &Metadata) -> bool {
        false
    }
}

/// Bytes of a file that are examined.
const LONGEST: u64 = 1 << 16;

/// Whether the file at `path`, which begins with `line`, is a table of dropped records or of classes: it has their columns.
fn is_table_of_classes(path: &Path, line: &[u8]) -> bool {
    let texts: [&[u8]; 3] = [b"source,line,uri,", b"source\tline\turi\t", b"{\"source\":"];
    if texts.iter().any(|text| line.starts_with(text)) {
        return true;
    }
    let is_binary = [&b"PAR1"[..], b"ARROW1", &[0xFF; 4]].iter().any(|it| line.starts_with(it));
    // The names of columns are at the beginning of Arrow, and at the end of Parquet.
    let has_columns = |at: SeekFrom| {
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|mut file| {
            file.seek(at)?;
            file.take(LONGEST).read_to_end(&mut bytes)
        });
        let name = &b"kept_hex"[..];
        read.is_ok() && bytes.windows(name.len()).any(|window| window == name)
    };
    let len = path.metadata().map_or(0, |metadata| metadata.len());
    is_binary
        && [0, len.saturating_sub(LONGEST)].into_iter().any(|at| has_columns(SeekFrom::Start(at)))
}

/// What a side file holds, as far as its first line shows it. They are put in place in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Content {
    /// Records that are not URIs.
    Rejects,
    /// Rows of three columns.
    Dupes,
    /// Objects with a survivor.
    Clusters,
    /// A page about the run.
    Report,
    /// Rows of a URL, a number and hypotheses.
    Undecided,
}

impl Content {
    /// What messages call it, in the plural.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Content::Rejects => "invalid records",
            Content::Dupes => "duplicates",
            Content::Clusters => "clusters",
            Content::Report => "the report",
            Content::Undecided => "URLs to fetch",
        }
    }

    /// Whether the file at `path` has content that cannot come from an earlier run of the same kind.
    ///
    /// A run that reads nothing must not replace such a file: it is likely the input, taken for the value of an option.
    pub(crate) fn is_foreign(self, path: &Path) -> bool {
        if !path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
            return false;
        }
        let mut line = Vec::new();
        let read = File::open(path)
            .and_then(|file| BufReader::new(file.take(LONGEST)).read_until(b'\n', &mut line));
        let line = line.trim_ascii();
        read.is_ok()
            && match self {
                Content::Rejects => uriscan::uri::parse(line).is_ok_and(|parts| parts.is_uri()),
                Content::Undecided => line.iter().filter(|&&byte| byte == b'\t').count() != 2,
                Content::Dupes => {
                    line.iter().filter(|&&byte| byte == b'\t').count() < 2
                        && !is_table_of_classes(path, line)
                }
                Content::Clusters => {
                    !line.starts_with(b"{\"kept\":") && !is_table_of_classes(path, line)
                }
                Content::Report => !line.starts_with(b"<!DOCTYPE html>"),
            }
    }
}
