//! `uriscan audit`.

use clap::{Args, ValueEnum};
use uriscan::audit::{Rule, RuleSet, Severity};
use uriscan_bulk::pipeline::AuditFormat;

use super::extract::FromPages;
use super::format::report_names;
use super::groups::{Common, ReportFile, Typed};
use super::named::Choices;
use crate::nearest::did_you_mean;

/// Find security problems of URIs (RFC 3986, section 7): ports, encodings, addresses, secrets, lookalikes
///
/// Reads one reference per line and prints findings: rule, severity (note, warning or error), the bytes in question, the
/// section, and what a system that dereferences the URI would do. Relative references are checked, too, and so are invalid
/// records, by their delimiters. Of each record, errors come first. --severity note adds notes. --list-rules explains the rules.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Audit {
    /// Apply these rules only: names, sections such as 7.4, or all
    #[arg(long, value_name = "RULE,...", value_delimiter = ',', value_parser = rules)]
    pub(crate) select: Vec<RuleSet>,

    /// Do not apply these rules
    #[arg(long, value_name = "RULE,...", value_delimiter = ',', value_parser = rules)]
    pub(crate) ignore: Vec<RuleSet>,

    /// Report findings of this severity and above: note, warning or error
    ///
    /// By default warning, and note if --select or --fail-on note asks for notes. Others count for --fail-on all the same.
    #[arg(long, value_name = "SEVERITY", value_parser = severity)]
    pub(crate) severity: Option<Severity>,

    /// Exit with code 1 if there is a finding of this severity or above, printed or not
    #[arg(long, value_name = "SEVERITY", value_enum, default_value_t)]
    pub(crate) fail_on: FailOn,

    /// Format of the output [default: text, or by -o]
    ///
    /// With --column that of the table: parquet, arrow, arrow-stream, csv, tsv or jsonl, by default that of the input.
    #[arg(long, value_name = "FORMAT", value_parser = report_names(AUDIT_FORMATS))]
    #[arg(help_heading = "Output")]
    pub(crate) to: Option<String>,

    /// Write *** instead of passwords and secret parameters
    ///
    /// Writes the records in place of findings.
    ///
    /// User names without a password are masked, too, and secrets in a parameter that contains a URI (see --list-rules).
    /// Writes one line for each. A record of more than 64 MiB is dropped and counted as invalid.
    #[arg(long, conflicts_with_all = ["select", "ignore", "severity", "fail_on", "to"])]
    pub(crate) redact: bool,

    /// Print the rules and what --redact masks, and exit
    #[arg(long, conflicts_with_all = ["files", "redact"])]
    pub(crate) list_rules: bool,

    #[command(flatten)]
    pub(crate) from: FromPages,

    /// Keep non-ASCII characters in links; by default a link ends before them
    #[arg(long, requires = "extract", help_heading = "Links in")]
    pub(crate) unicode: bool,

    /// Write where each link was found, such as an attribute or a field
    ///
    /// After the message of its finding.
    #[arg(long, requires = "extract", help_heading = "Links in")]
    pub(crate) context: bool,

    #[command(flatten)]
    pub(crate) table: super::table::TableChoice,
    #[command(flatten)]
    pub(crate) page: ReportFile,
    #[command(flatten)]
    pub(crate) typed: Typed,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// The formats of the findings.
pub(crate) const AUDIT_FORMATS: Choices<AuditFormat> = &[
    (AuditFormat::Text, "text", "One line per finding, with columns"),
    (AuditFormat::Jsonl, "jsonl", "One JSON object per finding"),
    (AuditFormat::Sarif, "sarif", "A log in SARIF 2.1.0 for CI systems"),
];

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum FailOn {
    /// Any finding
    Note,
    /// Warnings and errors
    #[default]
    Warning,
    /// Errors only
    Error,
    /// None
    #[value(alias = "none")]
    Never,
}

fn severity(typed: &str) -> Result<Severity, String> {
    let names = Severity::ALL.iter().map(|severity| severity.name());
    let hint = || did_you_mean(typed, names);
    Severity::from_name(typed).ok_or_else(|| format!("not note, warning or error{}", hint()))
}

fn rules(typed: &str) -> Result<RuleSet, String> {
    RuleSet::named(typed).ok_or_else(|| {
        let hint = did_you_mean(typed, Rule::ALL.iter().map(|rule| rule.name()));
        format!("not a rule or a section; --list-rules prints both{hint}")
    })
}

const AFTER_HELP: &str = "\
Examples:
  $ echo 'http://user:secret@h/?token=1' | uriscan audit --redact
  http://user:***@h/?token=***

  uriscan audit urls.txt
  uriscan audit --select 7.4,password --fail-on error urls.txt
  uriscan audit --severity note --ignore user-name,encoded-slash urls.txt
  uriscan audit --to jsonl urls.txt | jq -r .rule | sort | uniq -c
  uriscan audit --to sarif urls.txt -o urls.sarif
  uriscan audit --redact access.txt > safe.txt
  uriscan audit --list-rules

With --extract, references without a base are checked as they are. Code in Markdown, and scripts and text of pages, are read with \
--from text, hidden files with --hidden.

Exit codes: 0 no finding at or above --fail-on, 1 findings, 2 error; with --column 0 or 2.";
