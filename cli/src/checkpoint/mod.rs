//! Deduplication that can be interrupted and resumed.
//!
//! Files are processed in groups. The keys of all written records are in a set on disk, the checkpoint; its note has the
//! number of files that are done and the length of their results. Both change in one step, after the results are on the
//! disk, so anything after that length belongs to files that will be read again. What a group is, lists or tables, is
//! up to a [`Grouped`] job.

mod lists;
mod note;

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use uriscan::internals::files::{self, File};
use uriscan::pipeline::{DedupOptions, Report, Seen, Sinks};
use uriscan::set::{Fault, SetError, SetWriter};

use crate::config::{Config, Job};
use crate::exit::{Failure, eprint_line};
use crate::inputs::{Input, look};
use crate::output::{Destination, FileId, directory_of, sync};
use crate::progress::Progress;
use crate::sets::records::shares;
use crate::sets::writing::Writing;

pub(crate) use lists::Lists;
pub(crate) use lists::destination;
pub(crate) use note::Fact;
use note::{Done, Entry, Plan};

/// A job on the files of a run that processes them group by group.
pub(crate) trait Grouped {
    /// Its options and their values, as far as they determine the results and are not part of the meaning of keys.
    fn facts(&self) -> Vec<Fact>;

    /// Writes the results of these `files`, which are next; `part` is the name of the file that takes them.
    ///
    /// # Errors
    /// If that is impossible.
    fn run(
        &mut self,
        files: Range<usize>,
        seen: Seen<'_>,
        sinks: Sinks<'_>,
        part: &Path,
    ) -> Result<Report, Failure>;

    /// Puts the results, which are in `part` and end at `ends`, in place, and removes `part`.
    ///
    /// # Errors
    /// If that is impossible. Then it can be tried again.
    fn finish(&mut self, part: &Path, ends: &[u64], output: &Path) -> Result<(), Failure>;
}

/// Runs the job of `config`, resuming from the checkpoint in `directory`.
///
/// # Errors
/// When it fails; then it can be resumed.
pub(crate) fn run(
    config: &Config,
    (directory, size): (&Path, u64),
    job: &mut dyn Grouped,
) -> Result<Report, Failure> {
    let (Job::Dedup(options), Destination::File(output)) = (&config.job, &config.output) else {
        return Err(Failure::at("--checkpoint", "needs -o FILE"));
    };
    let entries = entries(config)?;
    let plan = Plan::new(job.facts(), &entries);
    let shares = shares(&config.job);
    let mut set = open(directory, options, shares.0)?;
    let part = part_of(output);
    let mut done = match set.set().note() {
        Some(note) => Done::from_note(note, &plan).map_err(|difference| {
            let what = format!("belongs to another run: {difference}; remove it to start over");
            Failure::at(directory.display(), what)
        })?,
        None if part.exists() => {
            let what = "already exists; results are written there until all are done, so remove it or name another output";
            return Err(Failure::at(part.display(), what));
        }
        None => {
            // From now on, the file of results is ours.
            let nothing = set.loader(0)?;
            set.add_noting(nothing, &Done::default().note(&plan))?;
            Done::default()
        }
    };
    if done.files > 0 && !config.is_quiet {
        eprint_line(format_args!(
            "uriscan: {} of {} files {} done before",
            done.files,
            entries.len(),
            if done.files == 1 { "was" } else { "were" }
        ));
    }
    // If all files are done, the results may be in place already, and only the set is left.
    if done.files < entries.len() || part.exists() {
        let file = open_part(&part, done.output_bytes())?;
        let left = bytes_of(&entries[done.files..]);
        let name = config.job.name();
        let progress = config.progress.map(|shown| Progress::new(name, shown, Some(left)));
        let (set, part) = (&mut *set, &*part);
        let mut work = Work { job, plan, set, part, file, progress, shares, bytes_read: 0 };
        while done.files < entries.len() {
            done = work.do_group(group(&entries[done.files..], size), done)?;
        }
        work.progress.into_iter().for_each(Progress::finish);
        drop(work.file);
        work.job.finish(part, &done.ends, output)?;
    }
    set.destroy()?;
    Ok(done.report)
}

/// The state of a run between groups.
struct Work<'a> {
    job: &'a mut dyn Grouped,
    plan: Plan,
    set: &'a mut SetWriter,
    /// The file of results until all files are done.
    part: &'a Path,
    file: File,
    progress: Option<Progress>,
    /// Bytes of memory for looking keys up and for adding keys.
    shares: (u64, usize),
    bytes_read: u64,
}

impl Work<'_> {
    /// Processes a group of files; returns the progress after it.
    fn do_group(&mut self, group: &[Entry], mut done: Done) -> Result<Done, Failure> {
        let Work { job, plan, set, part, file, progress, shares, bytes_read } = self;
        let mut loader = set.loader(shares.1)?;
        let mut out = BufWriter::with_capacity(1 << 16, &mut *file);
        // The progress bar covers this run only.
        let bytes_before = *bytes_read;
        let mut update = |bytes| progress.iter_mut().for_each(|it| it.update(bytes_before + bytes));
        let mut sinks = Sinks::new(&mut out);
        sinks.progress = Some(&mut update);
        let seen = Seen::new(set.set()).new_keys(&mut loader);
        let files = done.files..done.files + group.len();
        let report = job.run(files.clone(), seen, sinks, part)?;
        let flushed = out.flush();
        drop(out);
        let end = flushed
            .and_then(|()| file.sync_data())
            .and_then(|()| file.stream_position())
            .map_err(|error| Failure::at(part.display(), error))?;
        done.files = files.end;
        done.ends.push(end);
        done.report += &report;
        *bytes_read += report.bytes;
        set.add_noting(loader, &done.note(plan))?;
        set.set_mut().hold(shares.0);
        Ok(done)
    }
}

/// The input files, all of which can be read again.
fn entries(config: &Config) -> Result<Vec<Entry>, Failure> {
    let entry = |input: &Input| match input {
        Input::Stdin | Input::Typed(_) => {
            Err(Failure::at("-", "standard input cannot be read again; name files"))
        }
        Input::Remote(url) => Err(Failure::at(url, "is no file of this machine; copy it first")),
        Input::File(path) => match look(path)? {
            Some(bytes) => Entry::new(path.clone(), bytes),
            None => Err(Failure::at(
                path.display(),
                "is not a regular file and cannot be read again; copy it to a file first",
            )),
        },
    };
    let entries: Vec<Entry> = config.inputs.iter().map(entry).collect::<Result<_, _>>()?;
    if let Destination::File(output) = &config.output {
        let id = FileId::of(output);
        let is_output = |entry: &&Entry| id.is_some() && FileId::of(&entry.path) == id;
        if let Some(entry) = entries.iter().find(is_output) {
            let what = "cannot be input and output with --checkpoint, which may read it again";
            return Err(Failure::at(entry.path.display(), what));
        }
        if output.exists() && !output.is_file() {
            return Err(Failure::at(
                output.display(),
                "is not a regular file; name another output by -o",
            ));
        }
    }
    Ok(entries)
}

/// The set of the checkpoint in `directory`, created if necessary.
fn open(directory: &Path, options: &DedupOptions, hold: u64) -> Result<Writing, Failure> {
    let meaning = options.equivalence.meaning(options.hash);
    let mut set = match Writing::open(directory) {
        Err(SetError { fault: Fault::NotASet, .. }) => Writing::create(directory, meaning, false)?,
        Ok(set) if set.set().note().is_none() => {
            return Err(Failure::at(
                directory.display(),
                "is a set of keys, not a checkpoint; name another directory, or use --seen",
            ));
        }
        opened => {
            let set = opened?;
            set.set().expect(&meaning)?;
            set
        }
    };
    set.set_mut().hold(hold);
    Ok(set)
}

/// The file of results until all files are done.
fn part_of(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

/// Opens the results so far, truncated to `len` bytes.
fn open_part(part: &Path, len: u64) -> Result<File, Failure> {
    let open = || {
        let mut options = OpenOptions::new();
        options.create(len == 0).truncate(false).read(true).write(true);
        let mut file = File::open_with(part, &options)?;
        if file.metadata()?.len() < len {
            return Err(io::Error::other(
                "is shorter than it was; remove the checkpoint to start over",
            ));
        }
        if len == 0 {
            // The set must not know of results that are in no directory.
            files::sync_directory(directory_of(part))?;
        }
        file.set_len(len)?;
        file.seek(SeekFrom::Start(len))?;
        Ok(file)
    };
    open().map_err(|error| Failure::at(part.display(), error))
}

/// Renames the complete results in `part`.
///
/// # Errors
/// When that fails.
pub(crate) fn rename(part: &Path, output: &Path) -> Result<(), Failure> {
    files::rename(part, output)
        .and_then(|()| sync(output))
        .map_err(|error| Failure::at(output.display(), error))
}

fn bytes_of(entries: &[Entry]) -> u64 {
    entries.iter().map(|entry| entry.bytes).sum()
}

/// The first of `entries` with `size` bytes in total; at least one.
fn group(entries: &[Entry], size: u64) -> &[Entry] {
    let mut sum = 0;
    let enough = entries.iter().position(|entry| {
        sum += entry.bytes;
        sum >= size
    });
    &entries[..enough.map_or(entries.len(), |last| last + 1)]
}
