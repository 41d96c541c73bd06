//! `--report`: a page about a run, complete in itself: no scripts, no network, nothing beside it.
//!
//! [`write`] surveys the input in further passes ([`survey`]) and writes what it finds ([`sections`]) as HTML ([`html`]) with
//! charts ([`chart`]). Memory stays within the limit of the run.

mod chart;
mod html;
mod merges;
mod sections;
mod survey;

use std::io::Write;
use std::time::{Duration, SystemTime};

use uriscan::grammar::Grammar;
use uriscan::io::Source;
use uriscan::pipeline::{Census, Error, FindingCounts, Report, Settings, Top};
use uriscan::rules::PUBLIC_SUFFIX_VERSION;
use uriscan::set::Timestamp;

use crate::exit::Failure;
use crate::inputs::Input;
use crate::job::{Surveyed, Writes};
use crate::plan::Plan;
use crate::remote;
use crate::summary::{grouped, plural, share};
use html::Escaped;
use sections::Section;
use survey::{Passes, Survey, masked_top, survey};

/// Sources that are listed.
const SOURCES: usize = 50;

/// What a run found that its report shows.
pub(crate) struct Results<'r> {
    pub(crate) report: &'r Report,
    pub(crate) findings: Option<&'r FindingCounts>,
    pub(crate) census: Option<&'r Census>,
    pub(crate) elapsed: Duration,
}

/// Surveys the input of `plan`, which `open` opens anew, and writes the report to `out`.
///
/// # Errors
/// When the input cannot be read again or the report cannot be written.
pub(crate) fn write(
    plan: &Plan,
    results: &Results<'_>,
    open: &mut dyn FnMut() -> Result<Vec<Source>, Error>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let surveyed = plan.job.surveyed();
    let (limit, settings) = (plan.report_limit.clone(), plan.settings.redact(false));
    let settings = match plan.table.is_some() {
        // As columns are read.
        true => settings.record_end(b'\0'),
        false => settings,
    };
    let passes = Passes {
        equivalence: &surveyed.equivalence,
        on_invalid: surveyed.on_invalid,
        limit,
        settings,
        merges: surveyed.merges,
        skips: plan.documents.is_some(),
        census: results.census,
    };
    let survey = survey(&passes, results.report, open)?;
    let top = plan.job.top().map(|options| masked_top(&passes, options, open)).transpose()?;
    let page = page(plan, results, &surveyed, (&survey, top.as_ref()), settings);
    out.write_all(page.as_bytes()).map_err(Error::Write)
}

fn page(
    plan: &Plan,
    results: &Results<'_>,
    surveyed: &Surveyed,
    (survey, top): (&Survey, Option<&Top>),
    settings: Settings,
) -> String {
    let command = plan.job.name();
    let is_records = plan.job.writes() != Writes::Links;
    let noun = if is_records { "records" } else { "links" };
    let records = if is_records { results.report.records } else { survey.top.report.records };
    let counted_noun = if records == 1 { &noun[..noun.len() - 1] } else { noun };
    let title = format!("uriscan {command}: {} {counted_noun}", grouped(records));
    // Commands differ in what they take for a URI; links are counted by the survey only.
    let invalid = if is_records { results.report.invalid } else { survey.top.report.invalid };
    let own = top.and_then(|top| {
        let table = sections::counts(top.tables.first()?, top.counted)?;
        let of =
            if plan.job.top().is_some_and(|top| top.distinct) { "distinct URIs" } else { "URIs" };
        let content = format!("<p>Of {} {of}.</p>\n{}", grouped(top.counted), table.html());
        Some(Section { id: "top", heading: "The most frequent values".to_owned(), content })
    });
    let all: Vec<Section> = [
        sections::ladder(&survey.ladder),
        survey.merges.as_ref().and_then(sections::merges),
        survey.largest.as_ref().and_then(|largest| sections::largest(largest, records)),
        results.findings.map(sections::findings),
        own,
        sections::parts(&survey.top),
        sections::lengths(&survey.top.lengths),
        sections::faults(&survey.top, &invalid),
        Some(sources(plan)),
        Some(about(plan, surveyed, settings)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let links: String = all
        .iter()
        .map(|Section { id, heading, .. }| {
            format!("<li><a href=\"#{id}\">{}</a></li>", Escaped(heading))
        })
        .collect();
    let mut body = format!(
        "<a class=\"skip\" href=\"#content\">Skip to the content</a>\n<header>\n<h1>{}</h1>\n\
         <p class=\"soft\">{}</p>\n",
        Escaped(&title),
        Escaped(&format!(
            "Written by uriscan {} at {}",
            env!("CARGO_PKG_VERSION"),
            Timestamp::of(SystemTime::now())
        )),
    );
    body += &facts(results, survey, (records, noun), invalid.total());
    body += &format!(
        "<nav aria-label=\"Sections\"><ul>{links}</ul></nav>\n</header>\n<main id=\"content\">\n"
    );
    body += &all.iter().map(Section::html).collect::<String>();
    body += "</main>\n<footer>Passwords and secret parameters are masked. This page loads nothing and runs nothing.</footer>\n";
    html::page(&title, &body)
}

/// The main figures.
fn facts(
    results: &Results<'_>,
    survey: &Survey,
    (records, noun): (u64, &str),
    invalid: u64,
) -> String {
    let Report { written, duplicates, withheld, bytes, seen, .. } = *results.report;
    let mut all = vec![(noun, grouped(records), String::new())];
    if survey.largest.is_some() || !survey.ladder.is_empty() {
        let distinct = match results.census {
            Some(_) => survey.ladder.last().map_or(0, |step| step.distinct),
            None => written + withheld,
        };
        let duplicates = if results.census.is_some() { records - distinct } else { duplicates };
        let note =
            if withheld > 0 { format!("{} written", grouped(written)) } else { String::new() };
        // What an earlier run has seen is distinct, but not new.
        all.push((if seen > 0 { "new" } else { "distinct" }, grouped(distinct), note));
        if seen > 0 {
            all.push(("already seen", grouped(seen), "distinct, in the set".to_owned()));
        }
        all.push(("duplicates", grouped(duplicates), share(duplicates, records)));
    }
    if let Some(findings) = results.findings {
        all.push(("findings", grouped(findings.total()), String::new()));
    }
    all.push(("invalid", grouped(invalid), share(invalid, records)));
    let seconds = results.elapsed.as_secs_f64();
    let rate = if seconds > 0.0 { bytes as f64 / seconds / 1e6 } else { 0.0 };
    all.push(("time", format!("{seconds:.2} s"), format!("{rate:.0} MB/s, without this report")));
    let item = |(name, value, note): &(&str, String, String)| {
        let note = match note.is_empty() {
            true => String::new(),
            false => format!("<small>{}</small>", Escaped(note)),
        };
        format!("<div><dt>{}</dt><dd>{}{note}</dd></div>", Escaped(name), Escaped(value))
    };
    format!("<dl class=\"facts\">{}</dl>\n", all.iter().map(item).collect::<String>())
}

/// The inputs with their sizes.
fn sources(plan: &Plan) -> Section {
    let row = |input: &Input| {
        let (name, bytes) = match input {
            Input::Stdin => ("standard input".to_owned(), None),
            Input::Typed(list) => ("-e".to_owned(), Some(list.len() as u64)),
            Input::Remote(url) => {
                (url.to_string(), remote::open(url).ok().and_then(|stored| stored.bytes()))
            }
            Input::File(path) => {
                let data = path.metadata().ok().filter(std::fs::Metadata::is_file);
                (path.display().to_string(), data.map(|data| data.len()))
            }
        };
        let bytes = bytes.map_or(String::new(), grouped);
        vec![html::Cell::Uri(name), html::Cell::Number(bytes)]
    };
    let count = plan.inputs.len();
    let caption = match count > SOURCES {
        true => format!("The first {SOURCES} of {} inputs", grouped(count as u64)),
        false => "Inputs, in the order in which they were read".to_owned(),
    };
    let rows = plan.inputs.iter().take(SOURCES).map(row).collect();
    let table = html::Table { caption, heads: vec!["source", "bytes"], rows };
    Section { id: "sources", heading: "Sources".to_owned(), content: table.html() }
}

/// What the figures depend on.
fn about(plan: &Plan, surveyed: &Surveyed, settings: Settings) -> Section {
    let Surveyed { equivalence, merges, .. } = surveyed;
    let mut terms = Vec::new();
    if let Some(profile) = equivalence.profile {
        terms.push(("profile", format!("{profile} {}", profile.version())));
    } else {
        let level = match equivalence.aliases.is_some() {
            true => "protocol",
            false => equivalence.normalize.level.name(),
        };
        let fragment = if equivalence.normalize.drop_fragment { ", fragments ignored" } else { "" };
        terms.push(("level", format!("{level}{fragment}")));
    }
    let rules = equivalence.rules.as_deref().map_or(Vec::new(), crate::rules::names);
    let rules = if rules.is_empty() { "none".to_owned() } else { rules.join(", ") };
    terms.push(("rules beyond the RFC", rules));
    terms.push(("grammar", Grammar::Rfc3986.to_string()));
    if *merges {
        let meaning = "Two records are equivalent if their canonical forms have the same bytes; they are compared by \
                       128-bit keys. The keys of two runs mean the same if their rule sets do.";
        terms.push(("keys", meaning.to_owned()));
        terms.push(("rule set", equivalence.identity().to_string()));
    }
    if let Some(set) = &plan.set {
        terms.push(("seen-set", set.path.display().to_string()));
    }
    terms.push(("public suffix list", PUBLIC_SUFFIX_VERSION.to_owned()));
    terms.push(("program", format!("uriscan {}", env!("CARGO_PKG_VERSION"))));
    let threads = settings.threads;
    terms.push((
        "machine",
        format!(
            "backend {}, {threads} thread{}",
            settings.kernels.backend().name(),
            plural(threads as u64)
        ),
    ));
    let item = |(name, value): &(&str, String)| {
        format!("<dt>{}</dt><dd>{}</dd>\n", Escaped(name), Escaped(value))
    };
    let content =
        format!("<dl class=\"terms\">{}</dl>\n", terms.iter().map(item).collect::<String>());
    Section { id: "about", heading: "How to read this".to_owned(), content }
}

/// The failure of a report because of `error`.
pub(crate) fn failure(error: &Error) -> Failure {
    Failure::at("--report", error)
}
