//! Tips for commands, options and values that do not exist, where the most similar one would mislead, or none is similar: the
//! words of other tools, and what has the effect here.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};
use clap::{Command, Error};

/// Commands that other tools have, and those to use.
const COMMANDS: [(&[&str], &str); 11] = [
    (&["uniq", "unique", "sort", "anew", "filter"], "`uriscan dedup`"),
    (&["canonicalize", "canonicalise", "clean", "normalise"], "`uriscan normalize`"),
    (&["validate", "lint", "verify"], "`uriscan check`"),
    (&["hash", "surt"], "`uriscan key`"),
    (
        &["count", "stats", "hosts"],
        "`uriscan top` counts hosts and other parts, `uriscan census` what would be merged",
    ),
    (&["report"], "--report FILE of dedup, census, top, check, audit and extract"),
    (
        &["compare", "diff"],
        "`uriscan explain A B` compares URIs, `uriscan set has -v` lists; see `uriscan help sets`",
    ),
    (&["links", "find", "grep", "urls"], "`uriscan extract`"),
    (&["split", "get"], "`uriscan parse`"),
    (&["join"], "`uriscan resolve --base URI`"),
    (&["grammar", "grammars"], "`uriscan rules grammar`"),
];

/// The same of commands below `set`.
const SET_COMMANDS: [(&[&str], &str); 5] = [
    (&["list", "info", "show", "count"], "`uriscan set stats`"),
    (&["contains", "query", "check", "get"], "`uriscan set has`"),
    (&["delete", "rm"], "`uriscan set remove`"),
    (&["union", "combine"], "`uriscan set merge`"),
    (&["dump"], "`uriscan set export`"),
];

/// Options that other tools have, those to use, and one of them that the command must take.
const OPTIONS: [(&[&str], &str, &str); 26] = [
    (
        &["--exclude", "--skip", "--disable", "--exclude-rule"],
        "--ignore leaves rules out; --not-host, --not-domain and --not-match drop URIs",
        "fail-on",
    ),
    (
        &["--include", "--rule", "--rules", "--enable"],
        "--select chooses rules, which --list-rules prints",
        "fail-on",
    ),
    (&["--level", "--min-severity"], "--severity hides findings below one", "fail-on"),
    (&["--exit-code", "--exit-zero"], "--fail-on never exits with 0", "fail-on"),
    (&["--mask"], "--redact masks secrets", "fail-on"),
    (&["--sarif"], "--to sarif", "fail-on"),
    (
        &["--exclude", "--skip", "--ignore"],
        "--not-host, --not-domain and --not-match drop URIs",
        "not-host",
    ),
    (&["--include", "--filter", "--grep"], "--host, --domain and --match choose URIs", "host"),
    (
        &["--ignore-case", "--case-insensitive"],
        "case of scheme and host never counts; --rule path-case ignores that of paths",
        "rule",
    ),
    (
        &[
            "--ignore-tracking",
            "--strip-query",
            "--strip-tracking",
            "--drop-param",
            "--drop-params",
            "--remove-params",
            "--ignore-query",
            "--no-query",
            "--ignore-params",
        ],
        "--preset crawl drops parameters for tracking, --rule drop-param=NAME any",
        "preset",
    ),
    (&["--strip-www", "--ignore-www"], "--rule www", "rule"),
    (&["--sort-query", "--sort-params"], "--rule sort-query", "rule"),
    (
        &["--get", "--field", "--fields"],
        "-g TEMPLATE prints parts, such as -g '{host}'",
        "template",
    ),
    (
        &["--unique", "--uniq"],
        "`uriscan dedup --extract` finds the links of documents, and drops those that repeat",
        "link-column",
    ),
    (
        &["--digest", "--hash", "--checksum"],
        "--same names the column with the digest of the content",
        "same",
    ),
    (&["--key"], "`uriscan key` prints keys", "keep"),
    (
        &["--limit", "--max-count", "--head"],
        "a pipe to `head -n N` ends the run after N lines",
        "output",
    ),
    (
        &["--absolute"],
        "`uriscan dedup` and `normalize` take URIs with a scheme, and report how many lack one",
        "differ",
    ),
    (
        &["--format", "--output-format", "--json", "--csv"],
        "--to names the format of the output, --from that of the input",
        "to",
    ),
    (&["--input", "--file"], "files are arguments without an option", "output"),
    (&["--in-place", "-i"], "-o FILE may name the input", "output"),
    (&["--dry-run"], "a set changes by --update only; without it nothing is stored", "update"),
    (&["--iri"], "--unicode keeps letters beyond ASCII in links", "unicode"),
    (&["--unicode"], "--iri maps letters beyond ASCII to URIs", "iri"),
    (&["--verbose", "-v"], "--stats prints a summary", "stats"),
    (
        &["--redact"],
        "`uriscan normalize --redact`, `dedup --redact` and `audit --redact` mask secrets; pipe what they write to this command",
        "stats",
    ),
];

/// The entry of `table` for `word`.
fn known(table: &[(&[&str], &'static str)], word: &str) -> Option<&'static str> {
    table.iter().find(|(words, _)| words.contains(&word)).map(|&(_, instead)| instead)
}

/// The tip for a `command` that does not exist; `first` is the first word of the command line.
fn of_command(command: &str, first: &str) -> Option<&'static str> {
    match first {
        "set" => known(&SET_COMMANDS, command),
        "rules" => Some("--rules NAME prints a rules file, --preset NAME the rules of a preset"),
        _ => known(&COMMANDS, command).or_else(|| {
            let is_file = command == "-" || command.contains(['.', '/']);
            is_file.then_some("a command comes first, such as `uriscan dedup FILE`")
        }),
    }
}

/// `error` about the command line `args` with a tip that names what has the effect, in place of commands, options and values
/// that are only spelled alike.
pub(super) fn with_tip(mut error: Error, args: &[String], all: &Command) -> Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let (option, value) = (text(ContextKind::InvalidArg), text(ContextKind::InvalidValue));
    let words: Vec<&str> = match &args[1.min(args.len())..] {
        [set, word, ..] if set == "set" => vec![set, word],
        [word, ..] => vec![word],
        [] => return error,
    };
    let command = text(ContextKind::InvalidSubcommand);
    let tip = match command.is_empty() {
        true => tip(&words, &option, &value, all),
        false => of_command(&command, words.first().unwrap_or(&"")).map(str::to_owned),
    };
    let Some(tip) = tip else {
        // An option that is misspelt is not meant as a file.
        if option.starts_with("--") && error.get(ContextKind::SuggestedArg).is_none() {
            error.remove(ContextKind::Suggested);
        }
        return error;
    };
    error.remove(ContextKind::SuggestedSubcommand);
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::SuggestedValue);
    // It shows the option that is spelled alike.
    error.remove(ContextKind::Usage);
    let tips = vec![StyledStr::from(tip)];
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    error
}

fn tip(words: &[&str], option: &str, value: &str, all: &Command) -> Option<String> {
    let command = words.iter().try_fold(all, |all, word| all.find_subcommand(word))?;
    let takes = |long| command.get_arguments().any(|of_it| of_it.get_long() == Some(long));
    let name = words.join(" ");
    let is_rows = words == ["resolve"] && option.starts_with("--from") && !value.is_empty();
    if is_rows {
        return Some(format!(
            "rows have the format tsv or jsonl; `uriscan extract --link-column NAME` reads a column of {}",
            if value == "csv" { "CSV" } else { "CSV, TSV or JSON lines" }
        ));
    }
    // An option that the command has, beside others that exclude it.
    if option.strip_prefix("--").is_some_and(takes) {
        return None;
    }
    match option {
        "--column" if takes("link-column") => Some(format!(
            "`uriscan {name} --extract --link-column NAME` reads a column of CSV, TSV or JSON lines"
        )),
        "--column" | "--link-column" | "--extract" if words == ["resolve"] => Some(
            "`uriscan extract --link-column NAME --base URI` reads a column of CSV, TSV or JSON lines; --base-column names that of bases"
                .to_owned(),
        ),
        "--by <PART>" if ["referer", "referrer"].contains(&value) => {
            Some("--log-field referer counts the hosts of referrers, or with --by url these".to_owned())
        }
        option => OPTIONS
            .iter()
            .find(|(words, _, needed)| words.contains(&option) && takes(needed))
            .map(|&(_, instead, _)| instead.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_does_not_take_is_answered_with_what_has_the_effect() {
        for (typed, expected, wrong) in [
            (
                "resolve --base http://h/ --column u",
                "`uriscan extract --link-column NAME",
                "--color",
            ),
            (
                "resolve --base http://h/ --extract",
                "`uriscan extract --link-column NAME",
                "similar",
            ),
            (
                "resolve --base-column 1 --from csv",
                "`uriscan extract --link-column NAME` reads",
                "'tsv'",
            ),
            ("resolve --base-column 1 --from parquet", "tsv or jsonl", "similar"),
        ] {
            let args: Vec<String> =
                ["uriscan"].into_iter().chain(typed.split(' ')).map(str::to_owned).collect();
            let all = super::super::definition();
            let error = all.clone().try_get_matches_from(&args).unwrap_err();
            let message = with_tip(error, &args, &all).to_string();
            assert!(message.contains(expected) && !message.contains(wrong), "{typed}: {message}");
        }
        for (typed, expected) in [
            ("unique a.txt", "`uriscan dedup`"),
            ("urls.txt", "a command comes first"),
            ("set list", "`uriscan set stats`"),
            ("rules tracking", "--rules NAME"),
            ("extract --iri x", "--unicode"),
            ("dedup --exclude x", "--not-domain"),
            ("dedup --ignore-case x", "--rule path-case"),
            ("dedup --format json x", "--to names the format"),
            ("dedup -v x", "--stats prints"),
            ("check --redact x", "`uriscan normalize --redact`"),
            ("extract --limit 3 x", "`head -n N`"),
            ("audit --exclude password x", "--ignore leaves rules out"),
            ("audit --rules password x", "--select chooses rules"),
            ("audit --exit-code 0 x", "--fail-on never"),
            ("dedup --limit x", "`head -n N`"),
            ("dedup --seen s --dry-run x", "by --update only"),
            ("top --extract --by referer x", "--log-field referer"),
        ] {
            let args: Vec<String> =
                ["uriscan"].into_iter().chain(typed.split(' ')).map(str::to_owned).collect();
            let all = super::super::definition();
            let error = all.clone().try_get_matches_from(&args).unwrap_err();
            let message = with_tip(error, &args, &all).to_string();
            let is_one = message.matches("tip:").count() == 1;
            assert!(message.contains(expected) && is_one, "{typed}: {message}");
        }
        // What is not known is not taken for a file.
        let args = ["uriscan", "dedup", "--sum", "x"].map(str::to_owned);
        let all = super::super::definition();
        let error = all.clone().try_get_matches_from(&args).unwrap_err();
        assert!(!with_tip(error, &args, &all).to_string().contains("as a value"));
        // What the command has is not advised.
        let args = ["uriscan", "audit", "--redact", "--to", "jsonl"].map(str::to_owned);
        let all = super::super::definition();
        let error = all.clone().try_get_matches_from(&args).unwrap_err();
        assert!(!with_tip(error, &args, &all).to_string().contains("tip:"));
        // Others keep the tips that they have.
        let args = ["uriscan", "resolve", "--bsae", "x"].map(str::to_owned);
        let all = super::super::definition();
        let error = all.clone().try_get_matches_from(&args).unwrap_err();
        assert!(with_tip(error, &args, &all).to_string().contains("'--base'"));
    }
}
