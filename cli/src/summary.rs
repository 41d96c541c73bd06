//! The summary of a run, as text and as JSON.

use std::fmt::{Display, Write};
use std::time::Duration;

use serde_json::{Map, Value, json};
use uriscan::audit::Rule;
use uriscan::extract::Cause;
use uriscan::key::PublicHash;
use uriscan::profile::Profile;
use uriscan::uri::UriErrorKind;
use uriscan_bulk::pipeline::{Equivalence, FindingCounts, OnInvalid, Report};
use uriscan_learn::{Learned, Score};

use crate::args::StatsFormat;
use crate::bar::bar;
use crate::documents::Documents;
use crate::job::{Job, Writes};
use crate::plan::Plan;
use crate::rules;
use crate::sets::records::SetChange;

/// The summary of a run of `plan`.
pub(crate) struct Summary<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) report: Report,
    pub(crate) findings: Option<FindingCounts>,
    pub(crate) learned: Option<Learned>,
    /// How a set on disk was changed.
    pub(crate) set: Option<SetChange>,
    pub(crate) elapsed: Duration,
}

struct Rows {
    text: String,
    has_bars: bool,
}

impl Rows {
    fn add(&mut self, name: &str, count: u64, note: &str) {
        // Numbers stay aligned after a long name.
        let room = 29usize.saturating_sub(name.len().max(12));
        let _ = write!(self.text, "\n  {name:<12}{:>room$}  {note}", grouped(count));
        self.text.truncate(self.text.trim_end().len());
    }

    /// The same, if there are any.
    fn add_any(&mut self, name: &str, count: u64, note: &str) {
        if count > 0 {
            self.add(name, count, note);
        }
    }

    /// The same, with its share of the `whole`.
    fn add_share(&mut self, name: &str, count: u64, whole: u64) {
        let note = match self.has_bars {
            true => format!("{:>8}  {}", share(count, whole), bar(count, whole)),
            false => share(count, whole),
        };
        self.add(name, count, &note);
    }

    /// A row for each of the `parts` of the row before that there are.
    fn add_parts<T: Display>(&mut self, parts: impl Iterator<Item = (T, u64)>) {
        parts.for_each(|(part, count)| self.add_any(&format!("  {part}"), count, ""));
    }
}

impl Summary<'_> {
    /// The text to print, without a final line feed.
    pub(crate) fn render(&self, format: StatsFormat) -> String {
        match format {
            StatsFormat::Text => self.text(),
            StatsFormat::Json => Value::Object(self.fields()).to_string(),
        }
    }

    /// Records that are neither written, withheld nor duplicates: dropped or rejected as invalid.
    fn dropped(&self) -> u64 {
        let Report { records, written, duplicates, of_full_shapes, withheld, .. } = self.report;
        // A line that is too long to search counts as a record.
        records.saturating_sub(written + withheld + duplicates + of_full_shapes)
    }

    /// What records are compared by, for commands that compare.
    fn equivalence(&self) -> Option<&Equivalence> {
        let Job { equivalence, compares, .. } = &self.plan.job;
        compares.then_some(equivalence)
    }

    fn has_filter(&self) -> bool {
        let of_links = |documents: &Documents| {
            let extractor = &documents.options.extractor;
            !extractor.filter.is_empty() || !extractor.requests.is_empty()
        };
        let Plan { filter, job, documents, .. } = self.plan;
        filter.is_some() || job.has_filter || documents.as_ref().is_some_and(of_links)
    }

    /// Tables that were found below directories and by patterns, and names that were left out.
    fn found(&self) -> Option<(u64, u64)> {
        let found = self.plan.found.as_ref()?;
        Some((found.below.iter().flatten().count() as u64, found.skipped))
    }

    /// Whether the bytes that are counted are those of all that was read: not of what is found in documents and in columns.
    pub(crate) fn counts_all_bytes(&self) -> bool {
        let Plan { documents, table, rows, job, .. } = self.plan;
        let is_list_of_rows = rows.as_ref().is_some_and(|rows| rows.is_list);
        let is_part = documents.is_some() || table.is_some() || is_list_of_rows;
        job.writes == Writes::Links || !is_part
    }

    /// How fast the run was: by bytes if all that were read are counted, else by records.
    pub(crate) fn rate(&self) -> String {
        let Report { bytes, records, .. } = self.report;
        match self.counts_all_bytes() {
            true => format!("{:.0} MB/s", self.per_second(bytes) / 1e6),
            false => format!("{:.2} M records/s", self.per_second(records) / 1e6),
        }
    }

    fn per_second(&self, count: u64) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
    }

    fn text(&self) -> String {
        let mut rows = Rows { text: self.heading(), has_bars: self.plan.reporting.has_bars };
        self.count_sources(&mut rows);
        self.count_written(&mut rows);
        self.count_kinds(&mut rows);
        let Report { bytes, records, spilled, .. } = self.report;
        let seconds = self.elapsed.as_secs_f64();
        let rate = format!("{:.2} M records/s", self.per_second(records) / 1e6);
        if self.counts_all_bytes() {
            let speed = format!("{:.0} MB/s", self.per_second(bytes) / 1e6);
            rows.add("bytes", bytes, &format!("in {seconds:.3} s: {speed}, {rate}"));
        } else {
            rows.add("bytes of records", bytes, &format!("in {seconds:.3} s: {rate}"));
        }
        rows.add_any("spilled", spilled, "bytes written to temporary files");
        let mut text = rows.text;
        if let Some(equivalence) = self.equivalence() {
            let rules = equivalence.rules.as_deref().map_or(Vec::new(), rules::names);
            let rules = if rules.is_empty() { "no rules".to_owned() } else { rules.join(", ") };
            let _ = write!(text, "\n  rule set {}: {rules}", equivalence.identity());
        }
        if let Some(hash) = self.plan.job.hash {
            let _ = write!(text, "\n  hash {hash}");
        }
        text
    }

    /// The first line: the command, what it compared by, and the machine.
    fn heading(&self) -> String {
        let mut text = format!("uriscan {}:", self.plan.job.name);
        if let Some(equivalence) = self.equivalence() {
            let options = equivalence.normalize;
            let fragment = if options.drop_fragment { " ignoring fragments" } else { "" };
            let _ = match equivalence.profile {
                Some(profile) => write!(text, " profile {profile},"),
                None => write!(text, " level {}{fragment},", level(equivalence)),
            };
        }
        if let Some(by) = self.plan.job.by_shape {
            let _ = write!(text, " by {by} (not equivalence),");
        }
        let backend = self.plan.settings.kernels.backend().name();
        let threads = self.plan.settings.threads;
        let _ = write!(text, " backend {backend}, {threads} thread{}", plural(threads as u64));
        text
    }

    fn count_sources(&self, rows: &mut Rows) {
        let is_links = self.plan.job.writes == Writes::Links;
        rows.add(if is_links { "links" } else { "records" }, self.report.records, "");
        if let Some((files, skipped)) = self.found() {
            let note = match skipped {
                0 => String::new(),
                _ => format!("found; {} left out, hidden or not a table by name", grouped(skipped)),
            };
            rows.add("files", files, &note);
        }
        if self.has_filter() {
            let filtered = &self.report.filtered;
            rows.add("filtered", filtered.total(), "not selected");
            rows.add_parts(Cause::ALL.into_iter().map(|cause| (cause, filtered.of(cause))));
        }
        rows.add_any("binary", self.report.binary, "files skipped");
    }

    /// Rows about the records that were written, and what became of the others.
    fn count_written(&self, rows: &mut Rows) {
        let Report { records, written, duplicates, seen, withheld, .. } = self.report;
        match (self.plan.job.writes, self.plan.job.by_shape) {
            (Writes::Survivors, Some(by)) => {
                let Report { shapes, of_full_shapes, .. } = self.report;
                rows.add("shapes", shapes, "not groups of equivalent URIs");
                rows.add("written", written, &format!("up to {} of each shape", by.most));
                rows.add_share("omitted", of_full_shapes, records);
            }
            (Writes::Survivors, None) => {
                let distinct = written + withheld;
                rows.add("distinct", distinct, if withheld == 0 { "written" } else { "" });
                if withheld > 0 {
                    rows.add_share("written", written, distinct);
                }
                rows.add_share("duplicates", duplicates, records);
                if self.plan.set.is_some() {
                    let note = "distinct URIs in the set; their records are duplicates";
                    rows.add("already seen", seen, note);
                }
            }
            (Writes::Records, _) => rows.add("written", written, ""),
            (Writes::Answers | Writes::Links, _) => {}
        }
        if self.plan.job.writes != Writes::Answers {
            rows.add_any("dropped", self.dropped(), "");
        }
        if let Some(SetChange { count, is_removal, keys, .. }) = self.set {
            let (name, way) = if is_removal { ("removed", "from") } else { ("added", "to") };
            let note = format!("{way} a set that now has {} key{}", grouped(keys), plural(keys));
            rows.add(name, count, &note);
        }
    }

    fn count_kinds(&self, rows: &mut Rows) {
        let Report { same_document, differing, repaired, invalid, blank, .. } = &self.report;
        if let Some(findings) = self.findings {
            rows.add("findings", findings.total(), "");
            rows.add_parts(Rule::ALL.iter().map(|&rule| (rule, findings.of(rule))));
        }
        if let Some(learned) = &self.learned {
            rows.add_any("other", learned.read.others, "no web pages");
            rows.add("sites", learned.read.sites, "");
            rows.add(
                "rules",
                learned.rules,
                &format!("for {} sites", grouped(learned.sites_with_rules)),
            );
            let Score { pages, right, wrong, lost, saved, .. } = learned.held_back;
            rows.add("held back", pages, "pages to test the rules on");
            rows.add("  right", right, "groups that are the same page");
            rows.add("  wrong", wrong, "");
            rows.add("  lost", lost, "pages");
            rows.add("  saved", saved, "fetches");
        }
        if self.plan.job.compares_grammars {
            rows.add("differing", *differing, "parsed differently by RFC 3986 and RFC 2396");
        }
        rows.add_any("same doc.", *same_document, "references to the base itself");
        rows.add_any("repaired", *repaired, "compared and parsed as repaired");
        rows.add("invalid", invalid.total(), if invalid.total() > 0 { self.fate() } else { "" });
        rows.add_parts(invalid.iter());
        if self.plan.job.writes != Writes::Links {
            rows.add("blank lines", *blank, "");
        }
        rows.add_any("bad rows", self.report.bad_rows, "do not fit the table");
    }

    fn fate(&self) -> &'static str {
        match self.plan.job.on_invalid {
            Some(OnInvalid::Pass) => "kept",
            Some(OnInvalid::Drop) => "dropped",
            Some(OnInvalid::Divert) => "written to the rejects",
            Some(OnInvalid::Fail) | None => "",
        }
    }

    /// The fields that apply, as JSON.
    pub(crate) fn fields(&self) -> Map<String, Value> {
        let (Plan { job, settings, set, rows, table, .. }, report) = (self.plan, &self.report);
        let equivalence = self.equivalence();
        let options = equivalence.map(|equivalence| equivalence.normalize);
        let if_records = |count: u64| (job.writes != Writes::Answers).then_some(count);
        let is_survivors = job.writes == Writes::Survivors;
        let compares = is_survivors && job.by_shape.is_none();
        let summary = json!({
            "command": job.name,
            "version": env!("CARGO_PKG_VERSION"),
            "profile": equivalence.and_then(|of| of.profile).map(Profile::name),
            "level": equivalence.filter(|of| of.profile.is_none()).map(level),
            "drop_fragment": options.map(|options| options.drop_fragment),
            "rules": equivalence.map(|of| of.rules.as_deref().map_or(Vec::new(), rules::names)),
            "rule_set": equivalence.map(|of| of.identity().to_string()),
            "on_invalid": job.on_invalid.map(policy),
            "records": report.records,
            "written": if_records(report.written),
            "distinct": compares.then_some(report.written + report.withheld),
            "withheld": if_records(report.withheld),
            "duplicates": if_records(report.duplicates).filter(|_| job.by_shape.is_none()),
            "by": job.by_shape.map(|by| by.to_string()),
            "keep_n": job.by_shape.map(|by| by.most),
            "shapes": job.by_shape.map(|_| report.shapes),
            "omitted": job.by_shape.map(|_| report.of_full_shapes),
            "seen": (is_survivors && set.is_some()).then_some(report.seen),
            "dropped": if_records(self.dropped()),
            "same_document": (job.name == "resolve").then_some(report.same_document),
            "differing": job.compares_grammars.then_some(report.differing),
            "set_added": self.set.filter(|set| !set.is_removal).map(|set| set.count),
            "set_removed": self.set.filter(|set| set.is_removal).map(|set| set.count),
            "set_keys": self.set.map(|set| set.keys),
            "blank": report.blank,
            "bad_rows": (rows.is_some() || table.is_some()).then_some(report.bad_rows),
            "spilled_bytes": is_survivors.then_some(report.spilled),
            "findings": self.findings.map(|findings| findings.total()),
            "findings_by_rule": self.findings.map(|of| by_name(Rule::ALL.iter().map(|rule| (rule.name(), of.of(*rule))))),
            "repaired": report.repaired,
            "invalid": report.invalid.total(),
            "invalid_by_kind": by_name(UriErrorKind::ALL.map(|kind| (kind.name(), report.invalid.of(kind))).into_iter()),
            "bytes": report.bytes,
            "seconds": self.elapsed.as_secs_f64(),
            "bytes_per_second": self.counts_all_bytes().then(|| self.per_second(report.bytes)),
            "records_per_second": self.per_second(report.records),
            "backend": settings.kernels.backend().name(),
            "threads": settings.threads,
            "hash": job.hash.map(PublicHash::name),
        });
        let Value::Object(mut fields) = summary else { return Map::new() };
        if let Some((files, skipped)) = self.found() {
            fields.insert("files".to_owned(), json!(files));
            fields.insert("files_skipped".to_owned(), json!(skipped));
        }
        if let Some(learned) = &self.learned {
            fields.insert("others".to_owned(), json!(learned.read.others));
            fields.insert("sites".to_owned(), json!(learned.read.sites));
            fields.insert("sites_with_rules".to_owned(), json!(learned.sites_with_rules));
            fields.insert("rules".to_owned(), json!(learned.rules));
            fields.insert("held_back".to_owned(), score(&learned.held_back));
        }
        if self.has_filter() {
            let filtered = &self.report.filtered;
            let by_cause = Cause::ALL.into_iter().map(|cause| (cause.name(), filtered.of(cause)));
            fields.insert("filtered".to_owned(), json!(filtered.total()));
            fields.insert("filtered_by_cause".to_owned(), by_name(by_cause));
        }
        fields.retain(|_, value| !value.is_null());
        fields
    }
}

/// How good rules are, with `null` where there is nothing to say.
fn score(score: &Score) -> Value {
    let Score { urls, pages, right, wrong, saved, lost, possible, .. } = score;
    json!({
        "urls": urls, "pages": pages, "right": right, "wrong": wrong, "precision": score.precision(),
        "recall": score.recall(), "saved": saved, "lost": lost, "possible": possible,
    })
}

/// Counts by name, including zeros, so that the fields are always the same.
fn by_name<'n>(counts: impl Iterator<Item = (&'n str, u64)>) -> Value {
    Value::Object(counts.map(|(name, count)| (name.to_owned(), json!(count))).collect())
}

/// The name of the level, which is protocol with aliases.
fn level(equivalence: &Equivalence) -> &'static str {
    if equivalence.aliases.is_some() { "protocol" } else { equivalence.normalize.level.name() }
}

fn policy(on_invalid: OnInvalid) -> &'static str {
    match on_invalid {
        OnInvalid::Pass => "pass",
        OnInvalid::Drop => "drop",
        OnInvalid::Fail => "error",
        OnInvalid::Divert => "file",
    }
}

/// `count` with thousands separators.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `part` as a percentage of `whole`; empty if that is zero.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return String::new();
    }
    format!("{:.2} %", part as f64 * 100.0 / whole as f64)
}

/// `count`, and what follows the number 1 or all other numbers.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The ending of a noun that is counted.
pub(crate) fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};
    use crate::environment::Environment;

    #[test]
    fn numbers_are_grouped() {
        let grouped = [0, 999, 1000, 123_456, 1_234_567, u64::MAX].map(grouped);
        let expected = ["0", "999", "1,000", "123,456", "1,234,567", "18,446,744,073,709,551,615"];
        assert_eq!(grouped, expected);
    }

    #[test]
    fn nouns_agree_with_their_number() {
        let texts = [0, 1, 2].map(|count| counted(count, "URI is", "URIs are"));
        assert_eq!(texts, ["0 URIs are", "1 URI is", "2 URIs are"]);
        assert_eq!([0, 1, 2].map(plural), ["s", "", "s"]);
    }

    #[test]
    fn shares_are_percentages() {
        assert_eq!(share(1, 3), "33.33 %");
        assert_eq!(share(0, 0), "");
    }

    #[test]
    fn an_empty_run_is_reported_without_dividing_by_zero() {
        let cli = Cli::try_parse_from(["uriscan", "dedup", "-j1"]).unwrap();
        let Command::Dedup(typed) = cli.command else { panic!("another command") };
        let summary = Summary {
            plan: &typed.plan(&Environment::of_process()).unwrap(),
            report: Report::default(),
            findings: None,
            learned: None,
            set: None,
            elapsed: Duration::ZERO,
        };
        let text = summary.render(StatsFormat::Text);
        assert!(text.contains("1 thread\n") && text.lines().all(|line| line == line.trim_end()));
        let json: Value = serde_json::from_str(&summary.render(StatsFormat::Json)).unwrap();
        assert_eq!((&json["bytes_per_second"], &json["hash"]), (&json!(0.0), &Value::Null));
    }
}
