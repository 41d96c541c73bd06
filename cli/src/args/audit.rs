//! `uriscan audit`.

use clap::{Args, ValueEnum};
use uriscan::audit::RuleSet;

use super::groups::Common;

/// Find what section 7 of RFC 3986 warns of: ports, encodings, addresses, secrets, lookalikes
///
/// Each finding has a rule, a severity (note, warning, error), the bytes in question, the section, and
/// what a system that dereferences the URI would do. --list-rules explains the rules. Relative
/// references are judged too, and so is what is no URI at all, by its delimiters.
/// Exits with 1 when there are findings at or above --fail-on.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Audit {
    /// Look for these rules only: names, sections such as 7.4, or all
    #[arg(long, value_name = "RULE,...", value_delimiter = ',', value_parser = rules)]
    pub(crate) select: Vec<RuleSet>,

    /// Do not look for these rules
    #[arg(long, value_name = "RULE,...", value_delimiter = ',', value_parser = rules)]
    pub(crate) ignore: Vec<RuleSet>,

    /// Exit with 1 when there is a finding of this severity or above
    #[arg(long, value_name = "SEVERITY", value_enum, default_value_t)]
    pub(crate) fail_on: FailOn,

    /// The form of the findings
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) format: AuditFormat,

    /// Write the records instead of findings, with *** for every password and secret parameter
    ///
    /// User names without a password are masked too, and what is secret in a parameter that holds a URI; --list-rules says what
    /// is. One line out per line in. A record of more than 64 MiB is left out and counted as invalid.
    #[arg(long, conflicts_with_all = ["select", "ignore", "fail_on", "format"])]
    pub(crate) redact: bool,

    /// Print the rules, and what --redact masks, and end
    #[arg(long, conflicts_with_all = ["files", "redact"])]
    pub(crate) list_rules: bool,

    #[command(flatten)]
    pub(crate) table: super::table::TableChoice,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// The form of the findings.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum AuditFormat {
    /// One line per finding, with the columns of the line
    #[default]
    Text,
    /// One JSON object per finding
    Jsonl,
    /// A log in SARIF 2.1.0 for CI systems
    Sarif,
}

/// From which severity on findings make the run fail.
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
    Never,
}

fn rules(typed: &str) -> Result<RuleSet, String> {
    RuleSet::named(typed).ok_or_else(|| {
        "neither a rule nor a section with rules; --list-rules prints both".to_owned()
    })
}

const AFTER_HELP: &str = "\
Examples:
  uriscan audit urls.txt
  uriscan audit --select 7.4,password --fail-on error urls.txt
  uriscan audit --ignore user-name,encoded-slash urls.txt
  uriscan audit --format jsonl urls.txt | jq -r .rule | sort | uniq -c
  uriscan audit --format sarif urls.txt -o urls.sarif
  uriscan audit --redact access.txt > safe.txt     the same list without its secrets
  uriscan audit --list-rules";
