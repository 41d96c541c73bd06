//! The run of a job over tables.

use std::io::Write;

use arrow_schema::SchemaRef;

use super::read::reader::{self, Opened, Reader, each_units};
use super::text::fitting::Omitted;
use super::unit::Unit;
use super::work::selection::Sides;
use super::work::sort::Sorter;
use super::work::task::Work;
use super::write::parts::Parts;
use super::write::writer::{Output, Sink, Writer};
use super::{Folder, Input, Job, Layout};
use uriscan_bulk::error::Error;
use uriscan_bulk::pipeline::{Report, Seen, Sinks, Survey};
use uriscan_core::extract::Filtered;

/// Processes `inputs` as if they were one table, and writes a table to `out`.
///
/// Their columns are unified by name before anything is written: a column that a file does not have is null there, and types
/// are widened where nothing is lost. Columns have the order of the first file; new ones, and then those that directories
/// name ([`Input::partition`]), follow.
///
/// `progress` receives the number of bytes read so far. In the report, a record is a row with a URI; `blank` counts the rows
/// without one, kept or not ([`Job::keeps_blank`]).
///
/// # Errors
/// See [`uriscan_bulk::ErrorKind`]. What was written to `out` until then is incomplete.
pub fn run<'a>(
    inputs: Vec<Input>,
    job: &Job,
    out: &'a mut (dyn Write + Send),
    progress: Option<&'a mut (dyn FnMut(u64) + Send)>,
) -> Result<Report, Error> {
    let mut sinks = Sinks::new(out);
    sinks.progress = progress;
    run_with(inputs, job, None, sinks)
}

/// [`run`] with more outputs, and for `dedup` with a set on disk: rows whose keys are in it count as duplicates.
///
/// [`Sinks::rejects`] receives a table of the rows that [`Job::drops_invalid`] omits, in the format of the results, unless
/// [`Job::skips_bad_rows`] makes them objects of JSON;
/// [`Sinks::dupes`] and [`Sinks::clusters`] receive, for [`Task::Classes`](super::Task::Classes), what
/// [`uriscan_bulk::pipeline::classes()`] writes: the source is the table, and the line is the row, counted from 1 without a header.
/// The meaning of the set must be that of the equivalence under [`uriscan_arrow::Columns::hash`].
///
/// # Errors
/// See [`uriscan_bulk::ErrorKind`]. What was written until then is incomplete.
pub fn run_with(
    inputs: Vec<Input>,
    job: &Job,
    seen: Option<Seen<'_>>,
    sinks: Sinks<'_>,
) -> Result<Report, Error> {
    run_to(None, inputs, job, seen, sinks)
}

/// [`run_with`] that writes the results to several files in `folder`, cut by `layout`; [`Sinks::out`] receives nothing.
///
/// ```
/// use std::io::{self, Write};
/// use std::sync::{Arc, Mutex};
/// use uriscan_arrow::Columns;
/// use uriscan_bulk::pipeline::Sinks;
/// use uriscan_table::{Folder, Input, Job, Layout, PartFile, TableFormat, Task, run_to_files};
///
/// type Text = Arc<Mutex<String>>;
/// struct Print(Text);
/// impl Write for Print {
///     fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
///         self.0.lock().unwrap().push_str(std::str::from_utf8(bytes).unwrap());
///         Ok(bytes.len())
///     }
///     fn flush(&mut self) -> io::Result<()> {
///         Ok(())
///     }
/// }
/// impl PartFile for Print {
///     fn finish(&mut self) -> io::Result<()> {
///         Ok(())
///     }
/// }
/// impl Folder for Print {
///     fn create(&mut self, path: &str) -> io::Result<Box<dyn PartFile>> {
///         self.0.lock().unwrap().push_str(&format!("{path}:\n"));
///         Ok(Box::new(Print(self.0.clone())))
///     }
/// }
/// let csv = &b"url\nhttp://a.com/1\nhttp://b.com\nhttp://www.A.com\n"[..];
/// let job = Job::new("url", Task::Dedup, Columns::default(), TableFormat::Csv);
/// let layout = Layout::default().partition_by(["domain".to_owned()]);
/// let text = Text::default();
/// let inputs = vec![Input::stream("list", TableFormat::Csv, csv)];
/// let sinks = &mut io::sink();
/// run_to_files(inputs, &job, None, Sinks::new(sinks), &layout, &mut Print(text.clone())).unwrap();
/// assert!(text.lock().unwrap().starts_with("domain=a.com/part-00000.csv:\nurl\nhttp://a.com/1\nhttp://www.A.com\n"));
/// ```
///
/// # Errors
/// See [`uriscan_bulk::ErrorKind`]. What was written to `folder` until then is incomplete.
pub fn run_to_files(
    inputs: Vec<Input>,
    job: &Job,
    seen: Option<Seen<'_>>,
    sinks: Sinks<'_>,
    layout: &Layout,
    folder: &mut dyn Folder,
) -> Result<Report, Error> {
    run_to(Some((layout, folder)), inputs, job, seen, sinks)
}

/// Writes the results to several `files`, or else to one output.
fn run_to(
    files: Option<(&Layout, &mut dyn Folder)>,
    inputs: Vec<Input>,
    job: &Job,
    seen: Option<Seen<'_>>,
    sinks: Sinks<'_>,
) -> Result<Report, Error> {
    let Sinks { out, rejects, dupes, clusters, progress, survey, .. } = sinks;
    let (out, rejects) = (Sink::new(out), rejects.map(Sink::new));
    let outs = (out.clone(), rejects.clone());
    let mut sides = Sides { dupes, clusters };
    let result = run_into(inputs, job, seen, files, outs, &mut sides, (progress, survey));
    let faults = [Some(out), rejects].into_iter().flatten().filter_map(|sink| sink.fault());
    faults.map(Err).next().unwrap_or(result)
}

fn run_into<'a>(
    mut inputs: Vec<Input>,
    job: &Job,
    seen: Option<Seen<'_>>,
    files: Option<(&Layout, &mut dyn Folder)>,
    (out, rejects): (Output<'a>, Option<Output<'a>>),
    sides: &mut Sides<'_>,
    (mut progress, mut survey): (Option<&mut (dyn FnMut(u64) + Send)>, Option<&mut Survey>),
) -> Result<Report, Error> {
    let omitted = job.skips_bad_rows.as_deref();
    let omitted = omitted.map(|temp_dir| Omitted::new(rejects.is_some(), temp_dir));
    reader::learn(&mut inputs, job)?;
    inputs.iter_mut().for_each(|input| input.omit_to(omitted.as_ref()));
    let mut lacks_column = true;
    let mut inputs = inputs.into_iter();
    let Some(first) = inputs.next() else { return Ok(Report::default()) };
    // All columns are compared before anything is written, so that a mismatch is found at once and not after hours.
    let first = Opened::open(first, job)?;
    let plan = reader::plan(&first, inputs.as_slice(), job)?;
    reader::pass(&plan, inputs.as_mut_slice());
    let mut reader = first.read(&plan, job)?;
    let mut work = Work::new(job, &reader, seen, sides)?;
    let mut results = match files {
        None => Results::One(Box::new(Writer::new(job, work.schema(), out)?)),
        Some((layout, folder)) => {
            let columns = (work.schema(), reader.target());
            Results::Many(Box::new(Parts::new(job, columns, layout, folder)?))
        }
    };
    let mut rejects = Rejects::begin(rejects, omitted.as_ref(), (job, reader.schema()))?;
    let mut sorter =
        job.sort_by.clone().map(|by| Sorter::new(by, &job.columns, work.schema(), reader.target()));
    let (mut bytes, mut filtered) = (0, Filtered::default());
    let mut put = |units: &[Unit]| match &mut sorter {
        None => results.write(units),
        Some(sorter) => sorter.push(units),
    };
    loop {
        work.begin(&reader)?;
        each_units(&mut reader, |units, read| {
            if let Some(progress) = &mut progress {
                progress(bytes + read);
            }
            if let Some(survey) = &mut survey {
                work.survey(&units, survey)?;
            }
            let rows = work.rows;
            let taken = work.take(units)?;
            if let Some(survey) = &mut survey {
                work.survey_links(&taken, rows, survey)?;
            }
            rejects.write(work.rejected())?;
            put(&taken)
        })?;
        bytes += reader.bytes();
        filtered += &reader.filtered();
        lacks_column &= reader.lacks_column();
        let Some(next) = inputs.next() else { break };
        reader = Reader::open(next, job)?;
    }
    if lacks_column {
        let (table, member) = (reader.name().to_owned(), job.column.clone());
        return Err(Error::no_member(&table, &member));
    }
    if let Some(survey) = &mut survey {
        survey.end();
    }
    let mut report = work.finish(sides, put)?;
    if let Some(sorter) = sorter {
        sorter.finish(|units| results.write(units))?;
    }
    results.finish()?;
    rejects.finish()?;
    (report.bytes, report.filtered) = (bytes, filtered);
    omitted.iter().for_each(|omitted| report += &omitted.report());
    Ok(report)
}

/// Where rows that are omitted go.
enum Rejects<'a> {
    None,
    /// A table of those with an invalid URI.
    Table(Box<Writer<Output<'a>>>),
    /// Objects that say what is wrong.
    Reasons(Output<'a>, Omitted),
}

impl<'a> Rejects<'a> {
    fn begin(
        sink: Option<Output<'a>>,
        omitted: Option<&Omitted>,
        (job, schema): (&Job, SchemaRef),
    ) -> Result<Rejects<'a>, Error> {
        Ok(match (sink, omitted) {
            (None, _) => Rejects::None,
            (Some(sink), Some(omitted)) => Rejects::Reasons(sink, omitted.clone()),
            (Some(sink), None) => Rejects::Table(Box::new(Writer::new(job, schema, sink)?)),
        })
    }

    fn write(&mut self, rejected: Unit) -> Result<(), Error> {
        match self {
            Rejects::None => Ok(()),
            Rejects::Table(table) => table.write(&[rejected]),
            Rejects::Reasons(sink, omitted) => omitted.write_rejects(sink),
        }
    }

    fn finish(mut self) -> Result<(), Error> {
        self.write(Unit::new())?;
        match self {
            Rejects::Table(table) => table.finish(),
            Rejects::None | Rejects::Reasons(..) => Ok(()),
        }
    }
}

/// The results of a job that is running.
enum Results<'r, 'a> {
    One(Box<Writer<Output<'a>>>),
    Many(Box<Parts<'r>>),
}

impl Results<'_, '_> {
    fn write(&mut self, units: &[Unit]) -> Result<(), Error> {
        match self {
            Results::One(writer) => writer.write(units),
            Results::Many(parts) => parts.write(units),
        }
    }

    fn finish(self) -> Result<(), Error> {
        match self {
            Results::One(writer) => writer.finish(),
            Results::Many(parts) => parts.finish(),
        }
    }
}
