//! The census and the rules of the audit as tables for people.

use std::fmt::Write;

use uriscan::audit::{Rule, SECRET_NAME_ENDS, SECRET_NAMES, TOKEN_BEGINNINGS};
use uriscan::normalize::Level;
use uriscan_bulk::pipeline::{Census, LevelCensus, RulesCensus};

use crate::bar::bar;
use crate::summary::{grouped, share};

/// The census as a table, with bars for what merges if asked for; every line ends in a line feed.
pub(crate) fn of_census(census: &Census, has_bars: bool) -> String {
    let mut table = String::new();
    let Census { records, blank, levels, rules, invalid, .. } = census;
    let mut line = |cells: [&str; 5], drawn: &str| {
        let [name, distinct, merges, part, note] = cells;
        let bar = if has_bars { format!("{drawn:<22}") } else { String::new() };
        let row = format!("{name:<12}{distinct:>17}{merges:>17}{part:>10}  {bar}{note}");
        let _ = writeln!(table, "{}", row.trim_end());
    };
    line(["level", "distinct", "merges", "share", "what it adds"], "");
    let rules = rules.map(|RulesCensus { distinct, merges, .. }| {
        ("rules", distinct, merges, "--rule, --rules and --preset")
    });
    let levels = levels.iter().map(|&LevelCensus { level, distinct, merges, .. }| {
        (level.name(), distinct, merges, adds(level))
    });
    for (name, distinct, merges, note) in levels.chain(rules) {
        let cells = [name, &grouped(distinct), &grouped(merges), &share(merges, *records), note];
        line(cells, &bar(merges, *records));
    }
    line([""; 5], "");
    line(["records", &grouped(*records), "", "", ""], "");
    let note =
        if invalid.total() > 0 { "compared by their bytes, raw UTF-8 in hosts aside" } else { "" };
    let part = share(invalid.total(), *records);
    line(["invalid", &grouped(invalid.total()), "", &part, note], &bar(invalid.total(), *records));
    for (kind, count) in invalid.iter() {
        line([&format!("  {kind}"), &grouped(count), "", "", kind.message()], "");
    }
    line(["blank lines", &grouped(*blank), "", "", ""], "");
    table
}

fn adds(level: Level) -> &'static str {
    match level {
        Level::String => "same bytes, trimmed (6.2.1)",
        Level::Syntax => "case, percent-encoding, dot segments (6.2.2)",
        Level::Scheme => "ports, empty paths, IP addresses, DNS names (6.2.3)",
    }
}

/// The rules of the audit, one a line, and what each one warns of.
pub(crate) fn of_rules() -> String {
    let mut table = String::new();
    for &rule in Rule::ALL {
        let (id, severity, section) = (rule.name(), rule.severity().name(), rule.section());
        let _ = writeln!(
            table,
            "{id:<20}{severity:<9}{section:<5}{}: {}",
            rule.title(),
            rule.consequence()
        );
    }
    table.push_str(
        "\nA finding may be less severe than its rule: in a query, of a session or a page, or if a path stays in its folder.\n",
    );
    table.push_str(&of_masked());
    table
}

/// What `--redact` masks.
fn of_masked() -> String {
    format!(
        "\n\
         --redact writes *** instead of\n  \
           passwords in `scheme://user:password@`, also nested, with other slashes or backslashes,\n    \
             and user names without a password\n  \
           values of parameters, and of members of JSON (only letters of a name count, in any case; a number or\n    \
             brackets may follow)\n    \
             named {}\n    \
             with names that end in {}\n  \
           code and state if both are in a query or fragment (OAuth)\n  \
           tokens of 16 bytes or more that begin with {},\n    \
             wherever they are except in the host\n  \
           all of these percent-encoded, once or more often\n\
         Placeholders are masked, too, and not reported: ***, xxxx, [REDACTED], ${{TOKEN}}, <password>, YOUR_API_KEY, null\n\
         It does not mask\n  \
           secrets under other names that look like no known token\n  \
           passwords with a `/`, `?` or `#` that is not encoded, and those without slashes before, as in sip:user:password@host\n  \
           secrets in a segment of a path that look like no known token, as in /reset/SECRET or /token=SECRET\n  \
           secrets in other encodings, such as Base64, \\u0040 or &#64;\n",
        SECRET_NAMES.join(", "),
        SECRET_NAME_ENDS.join(", "),
        TOKEN_BEGINNINGS.join(", "),
    )
}
