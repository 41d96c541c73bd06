//! One run, from opening its outputs to its exit code; lists and tables share it.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use uriscan_bulk::io::{ReadError, Source};
use uriscan_bulk::pipeline::{Report, Sinks, Survey};

use crate::exit::{Failure, Outcome, Stop, eprint_line, eprint_lines};
use crate::inputs::Input;
use crate::job::{Done, Run};
use crate::output::{
    self, Content, Destination, FileId, Output, PathConflicts, StdoutFile, WRITES_NO_COLUMNS,
    WRITES_NO_DOCUMENTS, WRITES_NO_JSON, has_columns, is_document, is_jsonl,
};
use crate::plan::Plan;
use crate::progress::Progress;
use crate::rows;
use crate::sets::records::SetAtWork;
use crate::side_outputs::{self, SideFiles, Sink};
use crate::summary::Summary;
use crate::tables::{self, Folder};

/// The outputs; refuses those that are inputs, or are given twice.
pub(crate) fn path_conflicts(plan: &Plan) -> Result<PathConflicts, Failure> {
    refuse_names(plan)?;
    let mut conflicts = PathConflicts::of_results(&plan.output, plan.is_in_place());
    plan.side.iter().try_for_each(|(content, path)| conflicts.add(path, content.name()))?;
    plan.reporting.stats_file.iter().try_for_each(|path| conflicts.add(path, "the summary"))?;
    for input in &plan.inputs {
        match input {
            Input::Stdin => conflicts.refuse_input("-", FileId::of_stdin().as_ref(), true)?,
            Input::File(path) => {
                let id = FileId::of(path).filter(|_| path.is_file());
                conflicts.refuse_input(&path.display().to_string(), id.as_ref(), true)?;
            }
            Input::Remote(url) => {
                conflicts.refuse_input(&url.to_string(), Some(&FileId::of_remote(url)), true)?;
            }
            Input::Typed(_) => {}
        }
    }
    let found = plan.found.iter().flat_map(|found| found.below.iter().zip(&plan.inputs));
    // A pattern that selects the results of the last run was not meant to.
    for input in found.filter_map(|(below, input)| below.as_ref().and(Some(input))) {
        match input {
            Input::File(path) => conflicts.refuse_evidence(path)?,
            Input::Remote(url) => {
                conflicts.refuse_input(&url.to_string(), Some(&FileId::of_remote(url)), false)?;
            }
            Input::Stdin | Input::Typed(_) => {}
        }
    }
    plan.evidence.iter().try_for_each(|path| conflicts.refuse_evidence(path))?;
    refuse_second_reader(plan)?;
    plan.set.iter().try_for_each(|set| conflicts.refuse_inside(&set.path))?;
    if let Some(output) = StdoutFile::of(&plan.output) {
        let inputs = plan.inputs.iter();
        let local: Vec<Option<&Path>> = inputs
            .filter_map(|input| match input {
                Input::Stdin | Input::Typed(_) => Some(None),
                Input::File(path) => Some(Some(path.as_path())),
                Input::Remote(_) => None,
            })
            .collect();
        output.refuse_as_input(local.into_iter(), plan.inputs.len() < 2)?;
        output.refuse_as_input(plan.evidence.iter().map(|path| Some(path.as_path())), false)?;
    }
    Ok(conflicts)
}

/// An error if text is written to a file with the name of a table of columns, or a list to one with that of JSON.
fn refuse_names(plan: &Plan) -> Result<(), Failure> {
    let results = plan.output.path().filter(|_| plan.table.is_none());
    let is_text = |content: &Content| !matches!(content, Content::Dupes | Content::Clusters);
    let texts = plan.side.iter().filter_map(|(content, path)| is_text(content).then_some(&**path));
    let summary = plan.reporting.stats_file.as_deref();
    let writes_list = plan.rows.is_none() && plan.job.writes_list();
    let refused = [
        (results.filter(|path| writes_list && is_jsonl(path)), WRITES_NO_JSON),
        (
            results.into_iter().chain(texts).chain(summary).find(|path| has_columns(path)),
            WRITES_NO_COLUMNS,
        ),
        // It is opened last.
        (summary.filter(|path| is_document(path)), WRITES_NO_DOCUMENTS),
    ];
    match refused.into_iter().find_map(|(path, why)| Some((path?, why))) {
        Some((path, why)) => Err(Failure::at(path.display(), why)),
        None => Ok(()),
    }
}

/// An error if a pipe or a terminal is read by two: each would get a part.
fn refuse_second_reader(plan: &Plan) -> Result<(), Failure> {
    let inputs = plan.inputs.iter().filter_map(|input| match input {
        Input::Stdin => Some(Path::new("-")),
        input => input.path(),
    });
    let mut read = Vec::new();
    // Aliases are read twice, and refused for that.
    let evidence = plan.evidence.iter().filter(|path| plan.aliases.as_ref() != Some(path));
    for path in inputs.chain(evidence.map(|path| path.as_path())) {
        let Some(stream) = FileId::of_stream(path) else { continue };
        if read.contains(&stream) {
            let what = "can be read only once, and is read already, as standard input or by another name; write it to a \
                        file first";
            return Err(Failure::at(path.display(), what));
        }
        read.push(stream);
    }
    Ok(())
}

/// What a run works on.
pub(crate) enum Work {
    /// Records of lists, of documents, or of a column of tables.
    Lists(Vec<Source>),
    Tables(Box<tables::Work>),
}

/// Counts inputs that cannot be read, and prints why.
#[derive(Default)]
pub(crate) struct Unread {
    pub(crate) count: usize,
}

impl Unread {
    /// Reports `what` cannot be read, and why.
    pub(crate) fn note(&mut self, what: &dyn Display) {
        self.count += 1;
        eprint_line(format_args!("uriscan: {what}"));
    }
}

/// The outputs and the progress of a run.
pub(crate) struct Session<'a> {
    plan: &'a Plan,
    pub(crate) out: Output,
    /// The files of the results, if there are several.
    pub(crate) folder: Option<Folder>,
    pub(crate) side: SideFiles<Output>,
    pub(crate) progress: Option<Progress>,
}

impl Session<'_> {
    /// Opens the outputs of `plan`, for a run that reads `total_bytes`, if that is known.
    pub(crate) fn open(plan: &Plan, total_bytes: Option<u64>) -> Result<Session<'_>, Failure> {
        let out = Output::open(&plan.output)?;
        let folder = match &plan.table {
            Some(table) => tables::open_folder(&plan.output, table.temp_dir())?,
            None => None,
        };
        let opened = |(&content, path): (&Content, &PathBuf)| {
            Ok((content, Output::open(&Destination::named(path.clone()))?))
        };
        let side = plan.side.iter().map(opened).collect::<Result<_, Failure>>()?;
        if plan.reporting.reads_terminal {
            eprint_line(format_args!(
                "uriscan: reading URIs from the terminal, one per line; see --help"
            ));
        }
        let name = plan.job.name;
        let progress = plan.reporting.progress.map(|after| Progress::new(name, after, total_bytes));
        Ok(Session { plan, out, folder, side, progress })
    }

    /// Does the work of the run, and completes its side files. What cannot be read is reported to `unread`.
    pub(crate) fn work(
        &mut self,
        work: Work,
        set: Option<&mut SetAtWork>,
        unread: &mut Unread,
    ) -> Result<Done, Stop> {
        let Session { plan, out, side, progress, folder } = self;
        let mut update = |bytes| progress.iter_mut().for_each(|progress| progress.update(bytes));
        let mut sinks = Sinks::new(out);
        let mut side: SideFiles<&mut Output> =
            side.iter_mut().map(|(&content, out)| (content, out)).collect();
        let of_classes = (side.remove(&Content::Dupes), side.remove(&Content::Clusters));
        let mut of_classes =
            side_outputs::open(&plan.side, plan.job.meaning().as_ref(), of_classes)?;
        [sinks.dupes, sinks.clusters] =
            of_classes.each_mut().map(|sink| sink.as_mut().map(Sink::of_classes));
        let [rejects, undecided] = [Content::Rejects, Content::Undecided]
            .map(|content| side.remove(&content).map(|out| out as &mut (dyn Write + Send)));
        (sinks.rejects, sinks.undecided) = (rejects, undecided);
        sinks.progress = Some(&mut update);
        let mut note = |error: &ReadError| unread.note(error);
        let surveyed = plan.has_report().then(|| plan.job.surveyed());
        let mut survey = surveyed.map(|options| Survey::new(options.bytes(plan.report_bytes)));
        sinks.survey = survey.as_mut();
        let mut done = match work {
            Work::Lists(sources) => {
                if plan.documents.is_some() {
                    sinks.unread = Some(&mut note);
                }
                let settings = &plan.settings;
                let rows = plan.rows.as_ref().map(|rows| &rows.options);
                let (job, sinks) = (&plan.job, &mut sinks);
                let run = Run { job, sources, rows, set, settings, sinks };
                plan.runner.run(run).map_err(|error| rows::stop(error, plan))?
            }
            Work::Tables(tables) => tables.run(plan, set, folder.as_mut(), sinks)?.into(),
        };
        done.overview = survey.map(Survey::finish);
        side_outputs::finish(of_classes, plan.settings.threads).map_err(Stop::Unwritten)?;
        Ok(done)
    }

    /// How a run ends because of `stop`.
    /// An error, unless the reader of the results went away.
    pub(crate) fn stopped(&self, stop: Stop) -> Result<Outcome, Failure> {
        match stop {
            Stop::Unwritten(error) => self.unwritten(error),
            Stop::Failed(failure) => Err(failure),
        }
    }

    /// Takes the progress bar away.
    pub(crate) fn end_progress(&mut self) {
        self.progress.take().into_iter().for_each(Progress::finish);
    }

    /// The failure for a write error.
    /// An error, unless the reader of the results went away.
    pub(crate) fn unwritten(&self, error: io::Error) -> Result<Outcome, Failure> {
        if self.out.has_failed() {
            return match error.kind() {
                // A page about a part of the input would say what is not so.
                io::ErrorKind::BrokenPipe if self.plan.has_report() => Err(Failure::new(
                    "the reader of the results went away before the end, so that no report was written; -o /dev/null reads all",
                )),
                io::ErrorKind::BrokenPipe => Ok(Outcome::ReaderGone),
                _ => Err(Failure::at(self.out.name(), error)),
            };
        }
        let failed = self.side.values().find(|out| out.has_failed());
        Err(Failure::at(failed.unwrap_or(&self.out).name(), error))
    }

    /// The rules that an output has stay as they were if there is no evidence for others.
    pub(crate) fn keep_rules(&self) -> Result<(), Failure> {
        match self.plan.output {
            Destination::Stdout => Ok(()),
            _ => Err(Failure::at(
                self.out.name(),
                "is not written, as no row is evidence for a rule",
            )),
        }
    }

    /// Puts all outputs in place, side files first; `false` if the reader of the results went away, and then no file has
    /// changed.
    /// It is an error if nothing was read and a side file looks like the input.
    pub(crate) fn commit(self, report: &Report, is_durable: bool) -> Result<bool, Failure> {
        let Session { plan, out, folder, side, .. } = self;
        if report.bytes == 0 {
            plan.side.iter().try_for_each(|(&content, path)| refuse_foreign(path, content))?;
        }
        let results = out.name().to_owned();
        if let Some(folder) = &folder {
            // What fails for want of room fails here, while all files are as they were.
            folder.finish().map_err(|error| Failure::at(&results, error))?;
        }
        let outputs = side.into_values().chain([out]).collect();
        match output::commit(outputs, is_durable) {
            Ok(()) => {}
            Err((name, error)) if name == results && error.kind() == io::ErrorKind::BrokenPipe => {
                return Ok(false);
            }
            Err((name, error)) => return Err(Failure::at(name, error)),
        }
        if let Some(folder) = folder {
            folder.put(is_durable).map_err(|error| Failure::at(results, error))?;
        }
        Ok(true)
    }
}

/// An error if the side file at `path` would be emptied and looks like a list, which was taken for the value of an option.
fn refuse_foreign(path: &Path, content: Content) -> Result<(), Failure> {
    if !content.is_foreign(path) {
        return Ok(());
    }
    let what = format_args!(
        "stays as it was: no input was read, and its content is not {}; is it the input?",
        content.name()
    );
    Err(Failure::at(path.display(), what))
}

/// Prints the `summary` if it is asked for, or the run took long; returns whether it did.
pub(crate) fn print_summary(plan: &Plan, summary: &Summary<'_>) -> bool {
    let is_due = summary.elapsed >= plan.reporting.summary_after;
    let format = plan.reporting.summary.filter(|_| is_due);
    format.inspect(|&format| eprint_lines(&summary.render(format))).is_some()
}
