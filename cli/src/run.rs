//! Runs a plan on lists, and on tables by way of [`crate::tables`].

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use uriscan::io::{ReadError, Source};
use uriscan::pipeline::{
    self, AuditOptions, Census, DedupOptions, Error, ExplainOptions, FindingCounts, LegacyQuestion,
    Report, Settings, Sinks, Skipped,
};
use uriscan::uri::ErrorKind;

use crate::aliases;
use crate::args::{CensusFormat, StatsFormat};
use crate::config::{Config, Job, KeyForm, Selection};
use crate::documents;
use crate::exit::{Failure, Outcome, eprint_line};
use crate::hint;
use crate::inputs::{self, Input, Inputs, StdinHead};
use crate::output::{Destination, StdoutFile, write_text};
use crate::report;
use crate::session::{self, Session, print_approximate, print_summary};
use crate::sets::records::{self, SetAtWork};
use crate::sides;
use crate::summary::counted;
use crate::table;
use crate::tables;
use crate::top;

/// Runs the plan.
///
/// # Errors
/// On error, and then no file has changed.
pub(crate) fn run(config: &Config) -> Result<Outcome, Failure> {
    if matches!(config.job, Job::ListRules) {
        return list_rules(&config.output);
    }
    if let Job::KeyContext(context) = &config.job {
        return write_context(context.as_deref(), &config.output);
    }
    let config = &with_all_inputs(config)?;
    let claims = session::claims(config)?;
    if let Some(table) = &config.table {
        return tables::run(config, table);
    }
    let started = Instant::now();
    let config = &aliases::read(config)?;
    let mut unread = 0;
    let mut report_unread = |name: &dyn std::fmt::Display| {
        unread += 1;
        eprint_line(format_args!("uriscan: {name}"));
    };
    let is_extract = matches!(config.job, Job::Extract(..));
    // What was skipped when links were read from documents.
    let skipped = Arc::new(Mutex::new(Skipped::default()));
    let Inputs { sources, total_bytes, stdin_head } = match &config.documents {
        None if config.has_pairs() => tables::open_pairs(config)?,
        None => filtered(open_list(config)?, config, &skipped),
        Some(documents) => documents::open(
            &config.inputs,
            documents,
            !is_extract,
            &config.settings,
            &skipped,
            (&claims, StdoutFile::of(&config.output).as_ref()),
            &mut report_unread,
        )?,
    };
    if config.side.report.is_some() && config.inputs.contains(&Input::Stdin) {
        inputs::keep_stdin(config.report_limit.as_ref())?;
    }
    let mut set = records::open(config)?;
    let mut session = Session::open(config, total_bytes)?;
    let Session { out, side, progress, .. } = &mut session;
    let mut update = |bytes| progress.iter_mut().for_each(|progress| progress.update(bytes));
    let mut sinks = Sinks::new(out);
    let mut side = sides::open(config, side)?;
    let [rejects, dupes, clusters] =
        side.each_mut().map(|sink| sink.as_mut().map(|sink| sink as &mut (dyn io::Write + Send)));
    (sinks.rejects, sinks.dupes, sinks.clusters) = (rejects, dupes, clusters);
    sinks.progress = Some(&mut update);
    let mut unread_later = 0;
    let mut note_unread = |error: &ReadError| {
        unread_later += 1;
        eprint_line(format_args!("uriscan: {error}"));
    };
    if config.documents.is_some() {
        sinks.unread = Some(&mut note_unread);
    }
    let done = work(&config.job, sources, set.as_mut(), &config.settings, &mut sinks);
    let done = done.and_then(|done| {
        let finished = sides::finish(side, config.settings.threads);
        finished.map(|()| done).map_err(Error::Write)
    });
    unread += unread_later;
    session.end_progress();
    let Done { mut report, findings, census, differs } = match done {
        Ok(done) => done,
        Err(error) => return failed(error, &session),
    };
    {
        let skipped = skipped.lock().unwrap_or_else(PoisonError::into_inner);
        report.filtered += skipped.filtered;
        report.filtered += skipped.report.filtered;
    }
    // The exit code counts findings that are not printed, too.
    let printed = match &config.job {
        Job::Audit(AuditOptions { least_written: Some(least), .. }, _) => {
            findings.map(|counts| counts.from_severity(*least))
        }
        _ => findings,
    };
    if let Some(page) = &mut session.report {
        let (findings, census) = (printed.as_ref(), census.as_ref());
        let elapsed = started.elapsed();
        let results = report::Results { report: &report, findings, census, elapsed };
        if let Err(error) = report::write(config, &results, &mut || open_again(config), page) {
            return match error {
                Error::Write(error) => session.unwritten(error),
                error => Err(report::failure(&error)),
            };
        }
    }
    // The results must be durable before the set changes, since its keys are never written again.
    if !session.commit(&report, set.as_ref().is_some_and(SetAtWork::is_changed))? {
        return Ok(Outcome::ReaderGone);
    }
    let set = set.map(SetAtWork::finish).transpose()?.flatten();
    if let Some(change) = set.filter(|change| change.is_removal) {
        write_text(&change.to_string(), &Destination::Stdout)?;
    }
    print_summary(config, report, printed, set, started);
    print_hint(config, &report, &stdin_head);
    if unread == 0 {
        print_unselected(config, &report);
    }
    tables::print_notes();
    if let Job::Dedup(DedupOptions { approximate: Some(rate), .. }) = &config.job {
        print_approximate(*rate, &report);
    }
    if config.documents.is_some() {
        let skipped = skipped.lock().unwrap_or_else(PoisonError::into_inner);
        skipped.faults.iter().for_each(|error| eprint_line(format_args!("uriscan: {error}")));
        unread += report_skipped(if is_extract { &report } else { &skipped.report }, config);
    }
    if unread > 0 {
        return Ok(Outcome::SomeUnread);
    }
    let is_fine = match (&config.job, findings) {
        _ if differs => false,
        (Job::Audit(_, fail_on), Some(counts)) => {
            fail_on.is_none_or(|severity| counts.at_least(severity) == 0)
        }
        (Job::Legacy { question: LegacyQuestion::Differ(_), .. }, _) => report.differing == 0,
        (Job::Members(..), _) => report.written > 0,
        _ => report.invalid.total() == 0 || !config.strict,
    };
    Ok(if is_fine { Outcome::Done } else { Outcome::SomeInvalid })
}

/// `config` with the files and objects that directories, prefixes and patterns stand for instead of these.
fn with_all_inputs(config: &Config) -> Result<Config, Failure> {
    if config.table.is_some() || config.column.is_some() {
        return tables::with_found(config);
    }
    let mut config = config.clone();
    config.inputs = inputs::with_listed(&config.inputs)?;
    Ok(config)
}

/// The lists of `config`, or the column of its tables that is read as one.
fn open_list(config: &Config) -> Result<Inputs, Failure> {
    match &config.column {
        Some(column) => tables::open_column(config, column),
        None => inputs::open(&config.inputs),
    }
}

/// The records of `inputs` that are read, if not all are.
fn filtered(inputs: Inputs, config: &Config, skipped: &Arc<Mutex<Skipped>>) -> Inputs {
    let Some(filter) = &config.filter else { return inputs };
    let read = config.job.read_as();
    let kept = |source| pipeline::records_of(source, filter, &read, &config.settings, skipped);
    let Inputs { sources, total_bytes, stdin_head } = inputs;
    Inputs { sources: sources.into_iter().map(kept).collect(), total_bytes, stdin_head }
}

/// The sources of the records of `config` once more, for its report.
fn open_again(config: &Config) -> Result<Vec<Source>, Error> {
    let opened = match &config.documents {
        None => open_list(config).map(|inputs| filtered(inputs, config, &Arc::default())),
        Some(documents) => {
            // All of this was checked and reported before.
            let claims = session::claims(config).unwrap_or_default();
            let outputs = (&claims, StdoutFile::of(&config.output));
            let (skipped, mut ignore) = (Arc::default(), |_: &dyn std::fmt::Display| {});
            let outputs = (outputs.0, outputs.1.as_ref());
            documents::open(
                &config.inputs,
                documents,
                true,
                &config.settings,
                &skipped,
                outputs,
                &mut ignore,
            )
        }
    };
    let opened = opened.map_err(|failure| Error::Write(io::Error::other(failure.to_string())))?;
    Ok(opened.sources)
}

/// Prints what an input looks like, if it is not a list of URIs.
fn print_hint(config: &Config, report: &Report, stdin_head: &StdinHead) {
    // Not pairs, and not a column.
    let is_list = config.documents.is_none() && config.column.is_none() && !config.has_pairs();
    // A summary in JSON is alone on standard error.
    let is_wanted = !config.is_quiet && !matches!(config.summary, Some(StatsFormat::Json));
    if !is_list || !is_wanted {
        return;
    }
    let is_odd = report.invalid.total() > report.records / 2;
    let is_masked = matches!(config.job, Job::Redact);
    let hint = match config.inputs.first() {
        // What is masked is not parsed, and may be the lines of a log.
        Some(Input::File(path)) if is_masked => hint::of_masked_file(path),
        Some(Input::Stdin) if is_masked => {
            stdin_head.get().and_then(|head| hint::of_masked_stdin(head))
        }
        _ if is_masked => None,
        Some(Input::Remote(url)) if url.is_web() && is_odd => Some(format!(
            "most of {url} is not a list of URIs; use -e URL or `echo URL | uriscan ...` for the URL itself"
        )),
        _ => {
            let inputs = config.inputs.iter().take(hint::MOST_INPUTS);
            let end = config.settings.record_end;
            let beginnings = inputs.filter_map(|input| match input {
                Input::File(path) => hint::Beginning::of_file(path, end),
                Input::Stdin => hint::Beginning::of_stdin(stdin_head.get()?, end),
                Input::Typed(_) | Input::Remote(_) => None,
            });
            let beginnings: Vec<_> = beginnings.collect();
            match config.job.fields() {
                Some(fields) => hint::of_rows(&beginnings, fields, report),
                None => hint::of_inputs(&beginnings, config.inputs.len() == 1, report),
            }
        }
    };
    if let Some(hint) = hint {
        eprint_line(format_args!("uriscan: {hint}"));
    }
}

/// Reports that there is nothing in the columns or members that were selected of what was read, or no entry of the log that
/// was named.
fn print_unselected(config: &Config, report: &Report) {
    let Some(options) = config.documents.as_ref().map(|it| &it.options.extractor) else { return };
    let what = match (&*options.fields, &options.log_format) {
        ([_, ..], _) => format!("no URI was found by --link-column {}", options.fields.join(",")),
        (_, Some(_)) => "no link was found; are the lines such as --log-format says?".to_owned(),
        _ => return,
    };
    let is_empty = report.records == 0 && report.filtered.total() == 0 && report.bytes > 0;
    if is_empty && !config.is_quiet && !matches!(config.summary, Some(StatsFormat::Json)) {
        eprint_line(format_args!("uriscan: {what}"));
    }
}

/// Prints the rules of the audit.
fn list_rules(output: &Destination) -> Result<Outcome, Failure> {
    write_text(&table::of_rules(), output)
}

/// Writes the text that is mixed into keys, if any, and a line feed.
fn write_context(context: Option<&str>, output: &Destination) -> Result<Outcome, Failure> {
    write_text(&context.map_or(String::new(), |context| format!("{context}\n")), output)
}

/// The result of a job.
struct Done {
    report: Report,
    /// Of an audit.
    findings: Option<FindingCounts>,
    census: Option<Census>,
    /// Whether two URIs of the command line were compared and are not equivalent.
    differs: bool,
}

fn work(
    job: &Job,
    sources: Vec<Source>,
    set: Option<&mut SetAtWork>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Done, Error> {
    let (mut findings, mut counted, mut differs) = (None, None, false);
    let report = match job {
        Job::Dedup(options) => match set {
            None => pipeline::dedup(sources, options, settings, sinks)?,
            Some(set) => pipeline::dedup_unseen(sources, options, set.seen(), settings, sinks)?,
        },
        Job::Collect(options, _) => match set.and_then(SetAtWork::loader) {
            None => Report::default(),
            Some(loader) => pipeline::collect(sources, options, loader, settings, sinks)?,
        },
        Job::Members(options, asked) => match (set, asked) {
            (None, _) => Report::default(),
            (Some(set), Selection::FirstSeen) => {
                pipeline::first_seen(sources, options, set.set(), settings, sinks)?
            }
            (Some(set), asked) => {
                let is_in = *asked == Selection::In;
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
        Job::Legacy { question, legacy } => {
            pipeline::inspect_rfc2396(sources, *question, *legacy, settings, sinks)?
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
        Job::Explain(options, uris) => {
            let (report, are_equivalent) = explain_typed(options, uris, sinks)?;
            differs = !are_equivalent;
            report
        }
        Job::Extract(options, format) => {
            pipeline::extract(sources, options, *format, settings, sinks)?
        }
        Job::Top(options, view) => {
            let top = pipeline::top(sources, options, settings, sinks)?;
            let text = top::of_top(&top, *view, options.distinct);
            sinks.out.write_all(text.as_bytes()).map_err(Error::Write)?;
            if let Some(what) = top::inexact(&top) {
                eprint_line(format_args!("uriscan: {what}"));
            }
            top.report
        }
        Job::Census(options, view) => {
            let census = pipeline::census(sources, options, settings, sinks.progress.take())?;
            let text = match view.format {
                CensusFormat::Table => table::of_census(&census, view.has_bars),
                CensusFormat::Json => {
                    serde_json::to_string(&census).map_err(|error| Error::Write(error.into()))?
                        + "\n"
                }
            };
            sinks.out.write_all(text.as_bytes()).map_err(Error::Write)?;
            counted = Some(census);
            let Census { bytes, records, blank, invalid, repaired, .. } = census;
            let mut report = Report::default();
            (report.bytes, report.records, report.blank) = (bytes, records, blank);
            (report.invalid, report.repaired) = (invalid, repaired);
            report
        }
    };
    Ok(Done { report, findings, census: counted, differs })
}

/// Explains the URIs of the command line; returns whether two of them, which are compared, are equivalent.
fn explain_typed(
    options: &ExplainOptions,
    uris: &[Vec<u8>],
    sinks: &mut Sinks<'_>,
) -> Result<(Report, bool), Error> {
    let mut report = Report::default();
    report.records = uris.len() as u64;
    report.bytes = uris.iter().map(|uri| uri.len() as u64).sum();
    let mut out = Vec::new();
    let mut are_equivalent = true;
    match uris {
        [a, b] => {
            let compared = pipeline::explain_pair(a, b, options, &mut out);
            are_equivalent = compared.unwrap_or_else(|error| {
                report.invalid.add(error.kind);
                a == b
            });
        }
        _ => {
            for uri in uris {
                let explained = pipeline::explain_one(uri, options, &mut out);
                explained.unwrap_or_else(|error| report.invalid.add(error.kind));
            }
        }
    }
    sinks.out.write_all(&out).map_err(Error::Write)?;
    Ok((report, are_equivalent))
}

/// Reports what was skipped in documents; returns the number of kinds of faults.
fn report_skipped(report: &Report, config: &Config) -> usize {
    let (relative, long) =
        (report.invalid.of(ErrorKind::Relative), report.invalid.of(ErrorKind::TooLong));
    if relative > 0 && !config.is_quiet {
        let base = config.documents.as_ref().and_then(|it| it.options.extractor.base.as_deref());
        let what = counted(relative, "relative reference", "relative references");
        let were = if relative == 1 { "was" } else { "were" };
        let why = match base {
            None => format!("without a base {were} skipped; set one with --base"),
            Some(base) if !base.windows(2).any(|two| two == b"//") => format!(
                "{were} skipped: --base has no authority, which targets of access logs need"
            ),
            Some(_) => {
                format!("{were} skipped: --base does not apply to archives and headers of mail")
            }
        };
        eprint_line(format_args!("uriscan: {what} {why}"));
    }
    if report.unnamed > 0 && !config.is_quiet {
        let what = counted(
            report.unnamed,
            "line of a log has no #Fields line before it, which names its fields: its target is unknown",
            "lines of logs have no #Fields line before them, which names their fields: their targets are unknown",
        );
        let advice = "put that line before them, as in (echo '#Fields: ...'; cat FILE)";
        eprint_line(format_args!("uriscan: {what}; {advice}"));
    }
    if report.other_lines > 0 && !config.is_quiet {
        let what = counted(
            report.other_lines,
            "line is not an entry of a log and was skipped",
            "lines are not entries of a log and were skipped",
        );
        let advice = "--log-format describes other entries, and without --log-field the links of all lines are found";
        eprint_line(format_args!("uriscan: {what}; {advice}"));
    }
    let limit = config.settings.max_record >> 20;
    let long_one = format!("line or document of more than {limit} MiB was skipped");
    let long_many = format!("lines or documents of more than {limit} MiB were skipped");
    for (count, one, many) in [
        (long, &*long_one, &*long_many),
        (
            report.misjudged,
            "source paused when little of it was there, and looked like another format then: --from names the right one",
            "sources paused when little of them was there, and looked like another format then: --from names the right one",
        ),
        (report.broken, "part of an archive is not a record", "parts of archives are not records"),
        (
            report.partial,
            "body in an archive was read partially: it is truncated or larger than 64 MiB",
            "bodies in archives were read partially: they are truncated or larger than 64 MiB",
        ),
        (
            report.expanded,
            "body in an archive was read partially: it expands too much; --max-expansion raises the limit",
            "bodies in archives were read partially: they expand too much; --max-expansion raises the limit",
        ),
        (report.bases, "base was ignored: it is too long", "bases were ignored: they are too long"),
        (
            report.lost,
            "link was skipped: those of its document have too many bytes",
            "links were skipped: those of their documents have too many bytes",
        ),
        (
            report.undecoded,
            "body in an archive was skipped: its Content-Encoding cannot be decoded",
            "bodies in archives were skipped: their Content-Encoding cannot be decoded",
        ),
        (
            report.unparsed,
            "Markdown document was searched as plain text: it has too many marks",
            "Markdown documents were searched as plain text: they have too many marks",
        ),
        (
            report.malformed,
            "sitemap, feed, HTTP archive or JSON was searched in part: it is not well-formed, or breaks off",
            "sitemaps, feeds, HTTP archives or JSON texts were searched in part: they are not well-formed, or break off",
        ),
        (
            report.miscoded,
            "part of a message or response is not in its encoding, nested too deep or cut off, and was searched as far as possible",
            "parts of messages or responses are not in their encoding, nested too deep or cut off, and were searched as far as possible",
        ),
    ] {
        if count > 0 {
            eprint_line(format_args!("uriscan: {}", counted(count, one, many)));
        }
    }
    let unread = [report.broken, report.partial, report.undecoded, report.miscoded];
    let odd = [report.expanded, report.bases, report.lost];
    let odd = odd.into_iter().chain([long, report.unparsed, report.malformed]);
    let faults = unread.into_iter().chain(odd);
    faults.filter(|&count| count > 0).count()
}

/// The outcome of a run that failed with `error`.
fn failed(error: Error, session: &Session<'_>) -> Result<Outcome, Failure> {
    match error {
        Error::Write(error) => session.unwritten(error),
        Error::Invalid { .. } => {
            let advice = "use --on-invalid pass or drop, or --rejects FILE, to continue";
            Err(Failure::new(format!("{error}; {advice}")))
        }
        Error::Spill { .. } => {
            Err(Failure::new(format!("{error}; --temp-dir names another directory")))
        }
        error => Err(Failure::new(error.to_string())),
    }
}
