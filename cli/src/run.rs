//! Carries out what [`Config`] says.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use uriscan::io::{ReadError, Source};
use uriscan::pipeline::{
    self, Census, ClassOptions, DedupOptions, Emit, Error, ExplainOptions, FindingCounts, LeftOut,
    LegacyQuestion, Report, Settings, Sinks,
};
use uriscan::uri::{ErrorKind, UriError};

use crate::aliases;
use crate::args::{CensusFormat, StatsFormat};
use crate::checkpoint;
use crate::config::{Config, Destination, Input, Job, KeyForm, SideFiles};
use crate::documents;
use crate::exit::{Failure, Outcome, tell, tell_lines};
use crate::hint;
use crate::inputs::{self, Inputs, StdinHead};
use crate::output::{Output, StdoutFile, is_same_file, sync};
use crate::progress::Progress;
use crate::sets::records::{self, Asked, SetAtWork};
use crate::summary::{Summary, Writes};
use crate::table;

/// Does the job.
///
/// # Errors
/// When it cannot be done. Then no file has changed.
pub(crate) fn run(config: &Config) -> Result<Outcome, Failure> {
    if matches!(config.job, Job::ListRules) {
        return list_rules(&config.output);
    }
    if let Job::KeyContext(context) = &config.job {
        return write_context(context.as_deref(), &config.output);
    }
    #[cfg(feature = "parquet")]
    if let Some((typed, column)) = &config.table {
        return crate::tables::run(config, typed, column);
    }
    let started = Instant::now();
    let mut config = config.clone();
    records::choose_hash(&mut config)?;
    let config = &aliases::read(&config)?;
    let mut unread = 0;
    let mut tell_unread = |name: &dyn std::fmt::Display| {
        unread += 1;
        tell(format_args!("uriscan: {name}"));
    };
    let is_extract = matches!(config.job, Job::Extract(..));
    // What is not in lists of links that are made of documents.
    let left_out = Arc::new(Mutex::new(LeftOut::default()));
    let stdout_file = StdoutFile::of(&config.output);
    let Inputs { sources, total_bytes, stdin_head } = match &config.documents {
        None => inputs::open(&config.inputs)?,
        Some(documents) => documents::open(
            &config.inputs,
            documents,
            !is_extract,
            &config.settings,
            &left_out,
            stdout_file,
            &mut tell_unread,
        )?,
    };
    if let Some(output) = stdout_file {
        output.refuse_as_input(&config.inputs)?;
    }
    refuse_one_file_for_two(config)?;
    if let Some((directory, size)) = &config.checkpoint {
        let report = checkpoint::run(config, directory, *size)?;
        tell_summary(config, report, None, None, started);
        let is_fine = report.invalid.total() == 0 || !config.strict;
        return Ok(if is_fine { Outcome::Done } else { Outcome::SomeInvalid });
    }
    let mut set = records::open(config)?;
    let mut out = Output::open(&config.output)?;
    let open = |path: &Option<PathBuf>| {
        path.clone().map(|path| Output::open(&Destination::File(path))).transpose()
    };
    let SideFiles { rejects, dupes, clusters } = &config.side;
    let mut side = [open(rejects)?, open(dupes)?, open(clusters)?];
    if config.has_hint {
        tell(format_args!(
            "uriscan: reading from the terminal, one URI per line; --help says more"
        ));
    }
    let mut progress = config.has_progress.then(|| Progress::new(total_bytes));
    let mut update = |bytes| progress.iter_mut().for_each(|progress| progress.update(bytes));
    let mut sinks = Sinks::new(&mut out);
    let [rejects, dupes, clusters] = side
        .each_mut()
        .map(|output| output.as_mut().map(|output| output as &mut (dyn io::Write + Send)));
    (sinks.rejects, sinks.dupes, sinks.clusters) = (rejects, dupes, clusters);
    sinks.progress = Some(&mut update);
    let mut unread_later = 0;
    let mut note_unread = |error: &ReadError| {
        unread_later += 1;
        tell(format_args!("uriscan: {error}"));
    };
    if config.documents.is_some() {
        sinks.unread = Some(&mut note_unread);
    }
    let done = work(&config.job, sources, set.as_mut(), &config.settings, &mut sinks);
    unread += unread_later;
    if let Some(progress) = progress {
        progress.finish();
    }
    let Done { report, findings } = match done {
        Ok(done) => done,
        Err(error) => return failed(error, &out, &side),
    };
    // The results last, since a file that is both read and written must not change before.
    for output in side.into_iter().flatten() {
        let name = output.name().to_owned();
        output.commit().map_err(|error| Failure::at(name, error))?;
    }
    let name = out.name().to_owned();
    match out.commit() {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Outcome::ReaderGone),
        result => result.map_err(|error| Failure::at(name, error))?,
    }
    // After the results, which have to last: what is in the set is never written again.
    if matches!(set, Some(SetAtWork::Write(..))) {
        let rejects = config.side.rejects.clone().map(Destination::File);
        for destination in rejects.iter().chain([&config.output]) {
            sync(destination).map_err(|error| Failure::new(error.to_string()))?;
        }
    }
    let set = set.map(SetAtWork::finish).transpose()?.flatten();
    tell_summary(config, report, findings, set, started);
    tell_what_it_looks_like(config, &report, &stdin_head);
    if let Job::Dedup(DedupOptions { approximate: Some(rate), .. }) = &config.job {
        // Of the new ones, which are those that were written and those that were lost.
        let lost = (report.written as f64 * rate / (1.0 - rate)).ceil();
        tell(format_args!(
            "uriscan: --approx {rate}: of {} records left out up to about {lost} may be new",
            report.duplicates
        ));
    }
    if config.documents.is_some() {
        let left_out = left_out.lock().unwrap_or_else(PoisonError::into_inner);
        left_out.faults.iter().for_each(|error| tell(format_args!("uriscan: {error}")));
        unread += tell_left_out(if is_extract { &report } else { &left_out.report }, config);
    }
    if unread > 0 {
        return Ok(Outcome::SomeUnread);
    }
    let is_fine = match (&config.job, findings) {
        (Job::Audit(_, fail_on), Some(counts)) => {
            fail_on.is_none_or(|severity| counts.at_least(severity) == 0)
        }
        (Job::Judge { question: LegacyQuestion::Differ(_), .. }, _) => report.differing == 0,
        (Job::Members(..), _) => report.written > 0,
        _ => report.invalid.total() == 0 || !config.strict,
    };
    Ok(if is_fine { Outcome::Done } else { Outcome::SomeInvalid })
}

/// Prints the totals, if they are asked for.
pub(crate) fn tell_summary(
    config: &Config,
    report: Report,
    findings: Option<FindingCounts>,
    set: Option<(u64, u64)>,
    started: Instant,
) {
    if let Some(format) = config.summary {
        let summary = summary(config, report, findings, set, started);
        tell_lines(&summary.render(format));
    }
}

/// Says what the first input looks like, if most records are no URIs and it looks like something else than a list.
fn tell_what_it_looks_like(config: &Config, report: &Report, stdin_head: &StdinHead) {
    let is_list = config.documents.is_none();
    // Nothing stands beside totals for machines.
    let is_wanted = config.is_talkative && !matches!(config.summary, Some(StatsFormat::Json));
    if !is_list || !is_wanted || report.invalid.total() <= report.records / 2 {
        return;
    }
    let hint = match config.inputs.first() {
        Some(Input::File(path)) => hint::of_file(path),
        Some(Input::Stdin) => stdin_head.get().and_then(|head| hint::of_stdin(head)),
        None => None,
    };
    if let Some(hint) = hint {
        tell(format_args!("uriscan: {hint}"));
    }
}

/// Prints the rules of the audit.
fn list_rules(output: &Destination) -> Result<Outcome, Failure> {
    write_text(&table::of_rules(), output)
}

/// Writes the text that is mixed into keys, and a line feed; nothing if there is none.
fn write_context(context: Option<&str>, output: &Destination) -> Result<Outcome, Failure> {
    write_text(&context.map_or(String::new(), |context| format!("{context}\n")), output)
}

fn write_text(text: &str, output: &Destination) -> Result<Outcome, Failure> {
    let mut out = Output::open(output)?;
    let name = out.name().to_owned();
    let result = out.write_all(text.as_bytes()).and_then(|()| out.commit());
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Outcome::ReaderGone),
        result => result.map(|()| Outcome::Done).map_err(|error| Failure::at(name, error)),
    }
}

/// What a job that was done has to tell.
struct Done {
    report: Report,
    /// Of an audit.
    findings: Option<FindingCounts>,
}

fn work(
    job: &Job,
    sources: Vec<Source>,
    set: Option<&mut SetAtWork>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Done, Error> {
    let mut findings = None;
    let report = match job {
        Job::Dedup(options) => match set {
            None => pipeline::dedup(sources, options, settings, sinks)?,
            Some(set) => pipeline::dedup_unseen(sources, options, set.seen(), settings, sinks)?,
        },
        Job::Collect(options) => match set.and_then(SetAtWork::loader) {
            None => Report::default(),
            Some(loader) => pipeline::collect(sources, options, loader, settings, sinks)?,
        },
        Job::Members(options, asked) => match (set, asked) {
            (None, _) => Report::default(),
            (Some(set), Asked::FirstSeen) => {
                pipeline::first_seen(sources, options, set.set(), settings, sinks)?
            }
            (Some(set), asked) => {
                let is_in = *asked == Asked::In;
                pipeline::members(sources, options, set.set(), is_in, settings, sinks)?
            }
        },
        Job::Classes(options) => match set {
            None => pipeline::classes(sources, options, settings, sinks)?,
            Some(set) => pipeline::classes_unseen(sources, options, set.seen(), settings, sinks)?,
        },
        Job::Normalize { equivalence, on_invalid } => {
            pipeline::normalize(sources, equivalence, *on_invalid, settings, sinks)?
        }
        Job::Key { equivalence, form, on_invalid } => match *form {
            KeyForm::Hex(hash) => {
                pipeline::keys(sources, equivalence, hash, *on_invalid, settings, sinks)?
            }
            KeyForm::Url => {
                pipeline::normalize(sources, equivalence, *on_invalid, settings, sinks)?
            }
            KeyForm::Surt(form) => {
                pipeline::surts(sources, equivalence, form, *on_invalid, settings, sinks)?
            }
        },
        Job::Parse(format, repairs) => pipeline::parse(sources, format, *repairs, settings, sinks)?,
        Job::Judge { question, legacy } => {
            pipeline::judge_rfc2396(sources, *question, *legacy, settings, sinks)?
        }
        Job::Resolve(options) => pipeline::resolve(sources, options, settings, sinks)?,
        Job::Check(format, repairs) => {
            pipeline::check(sources, *format, *repairs, settings, sinks)?
        }
        Job::Audit(options, _) => {
            let (report, counts) = pipeline::audit(sources, options, settings, sinks)?;
            findings = Some(counts);
            report
        }
        Job::Redact => pipeline::redact(sources, settings, sinks)?,
        Job::ListRules | Job::KeyContext(_) => Report::default(),
        Job::Explain(options, uris) if uris.is_empty() => {
            pipeline::explain(sources, options, settings, sinks)?
        }
        Job::Explain(options, uris) => explain_typed(options, uris, sinks)?,
        Job::Extract(options, format) => {
            pipeline::extract(sources, options, *format, settings, sinks)?
        }
        Job::Census(options, format) => {
            let census = pipeline::census(sources, options, settings, sinks.progress.take())?;
            let text = match format {
                CensusFormat::Table => table::of_census(&census),
                CensusFormat::Json => {
                    serde_json::to_string(&census).map_err(|error| Error::Write(error.into()))?
                        + "\n"
                }
            };
            sinks.out.write_all(text.as_bytes()).map_err(Error::Write)?;
            let Census { bytes, records, blank, invalid, repaired, .. } = census;
            Report { bytes, records, blank, invalid, repaired, ..Report::default() }
        }
    };
    Ok(Done { report, findings })
}

/// Explains the URIs that were typed; two of them are compared.
fn explain_typed(
    options: &ExplainOptions,
    uris: &[Vec<u8>],
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let mut report = Report { records: uris.len() as u64, ..Report::default() };
    report.bytes = uris.iter().map(|uri| uri.len() as u64).sum();
    let mut out = Vec::new();
    let mut count = |result: Result<(), UriError>| {
        result.unwrap_or_else(|error| report.invalid.add(error.kind));
    };
    match uris {
        [a, b] => count(pipeline::explain_pair(a, b, options, &mut out)),
        _ => uris.iter().for_each(|uri| count(pipeline::explain_one(uri, options, &mut out))),
    }
    sinks.out.write_all(&out).map_err(Error::Write)?;
    Ok(report)
}

/// Sees to it that all outputs are different files.
fn refuse_one_file_for_two(config: &Config) -> Result<(), Failure> {
    let results = match &config.output {
        Destination::File(path) => Some(path),
        Destination::Stdout => None,
    };
    let SideFiles { rejects, dupes, clusters } = &config.side;
    let files = [
        (results, "results"),
        (rejects.as_ref(), "invalid records"),
        (dupes.as_ref(), "duplicates"),
        (clusters.as_ref(), "clusters"),
    ];
    for (i, &(one, holds)) in files.iter().enumerate() {
        for &(other, other_holds) in &files[i + 1..] {
            if let (Some(one), Some(other)) = (one, other)
                && is_same_file(one, other)
            {
                let why = format_args!("cannot take both {holds} and {other_holds}");
                return Err(Failure::at(one.display(), why));
            }
        }
    }
    Ok(())
}

/// Says what had to be left out of documents; gives the number of kinds of faults among it.
fn tell_left_out(report: &Report, config: &Config) -> usize {
    let (relative, long) =
        (report.invalid.of(ErrorKind::Relative), report.invalid.of(ErrorKind::TooLong));
    if relative > 0 && config.is_talkative {
        tell(format_args!(
            "uriscan: {relative} relative references have no base and were left out; --base gives them one"
        ));
    }
    if long > 0 {
        let limit = config.settings.max_record >> 20;
        tell(format_args!(
            "uriscan: {long} lines or documents of more than {limit} MiB were left out"
        ));
    }
    if report.broken > 0 {
        tell(format_args!("uriscan: {} places in archives hold no record", report.broken));
    }
    if report.partial > 0 {
        tell(format_args!(
            "uriscan: {} bodies in archives were read in part: they break off or have more than 64 MiB",
            report.partial
        ));
    }
    if report.undecoded > 0 {
        tell(format_args!(
            "uriscan: {} bodies in archives were left out: their Content-Encoding cannot be undone",
            report.undecoded
        ));
    }
    if report.unparsed > 0 {
        tell(format_args!(
            "uriscan: {} Markdown documents were searched as plain text, as they have too many marks",
            report.unparsed
        ));
    }
    let faults = [long, report.broken, report.partial, report.undecoded, report.unparsed];
    faults.into_iter().filter(|&count| count > 0).count()
}

/// How a run ends whose work ended with `error`.
fn failed(error: Error, out: &Output, side: &[Option<Output>]) -> Result<Outcome, Failure> {
    match error {
        Error::Write(error) if out.has_failed() => match error.kind() {
            io::ErrorKind::BrokenPipe => Ok(Outcome::ReaderGone),
            _ => Err(Failure::at(out.name(), error)),
        },
        Error::Write(error) => {
            let failed = side.iter().flatten().find(|output| output.has_failed());
            // What is none of these is the file in which records wait that are too long for memory.
            Err(Failure::at(failed.map_or("temporary file", Output::name), error))
        }
        Error::Invalid { .. } => {
            let advice = "--on-invalid pass, drop or FILE goes on instead";
            Err(Failure::new(format!("{error}; {advice}")))
        }
        Error::Aside { .. } => {
            Err(Failure::new(format!("{error}; --temp-dir names another directory")))
        }
        error => Err(Failure::new(error.to_string())),
    }
}

fn summary(
    config: &Config,
    report: Report,
    findings: Option<FindingCounts>,
    set: Option<(u64, u64)>,
    started: Instant,
) -> Summary {
    let (equivalence, on_invalid, hash) = match &config.job {
        Job::Dedup(dedup) | Job::Classes(ClassOptions { dedup, .. }) => {
            let hash = (dedup.emit == Emit::Key || config.set.is_some()).then_some(dedup.hash);
            (Some(&dedup.equivalence), Some(dedup.on_invalid), hash)
        }
        Job::Normalize { equivalence, on_invalid } => (Some(equivalence), Some(*on_invalid), None),
        Job::Key { equivalence, form, on_invalid } => {
            let hash = match *form {
                KeyForm::Hex(hash) => Some(hash),
                KeyForm::Url | KeyForm::Surt(_) => None,
            };
            (Some(equivalence), Some(*on_invalid), hash)
        }
        Job::Collect(options) | Job::Members(options, _) => {
            (Some(&options.equivalence), Some(options.on_invalid), Some(options.hash))
        }
        Job::Resolve(options) => (None, Some(options.on_invalid), None),
        Job::Explain(options, _) => (Some(&options.equivalence), None, None),
        Job::Parse(..) | Job::Check(..) | Job::Census(..) | Job::Judge { .. } => (None, None, None),
        Job::Audit(..) | Job::Redact | Job::ListRules | Job::Extract(..) => (None, None, None),
        Job::KeyContext(_) => (None, None, None),
    };
    Summary {
        command: config.job.name(),
        equivalence: equivalence.cloned(),
        on_invalid,
        writes: match config.job {
            Job::Dedup(_) | Job::Classes(_) => Writes::Firsts,
            Job::Normalize { .. } | Job::Key { .. } | Job::Parse(..) => Writes::Records,
            Job::Redact | Job::Resolve(_) | Job::Members(..) => Writes::Records,
            Job::Collect(_) => Writes::Answers,
            Job::Judge { question, .. } => match question {
                LegacyQuestion::PartsJsonl | LegacyQuestion::PartsTsv => Writes::Records,
                LegacyQuestion::Check(_) | LegacyQuestion::Differ(_) => Writes::Answers,
            },
            Job::Check(..) | Job::Census(..) | Job::Explain(..) => Writes::Answers,
            Job::Audit(..) | Job::ListRules | Job::KeyContext(_) => Writes::Answers,
            Job::Extract(..) => Writes::Links,
        },
        hash,
        settings: config.settings,
        report,
        set,
        differs: matches!(&config.job, Job::Judge { question: LegacyQuestion::Differ(_), .. }),
        findings,
        elapsed: started.elapsed(),
    }
}
