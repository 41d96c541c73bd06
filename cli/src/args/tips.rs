//! Tips for options and values that a command does not take, where the most similar one would mislead.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};
use clap::{Command, Error};

/// `error` about the command line `args` with a tip that names the command for columns, in place of options and values that
/// are only spelled alike.
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
    let Some(tip) = tip(&words, &option, &value, all) else { return error };
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
    match option {
        "--column" if takes("link-column") => Some(format!(
            "`uriscan {name} --extract --link-column NAME` reads a column of CSV, TSV or JSON lines"
        )),
        "--column" | "--link-column" | "--extract" if words == ["resolve"] => Some(
            "`uriscan extract --link-column NAME --base URI` reads a column of CSV, TSV or JSON lines; --base-column names that of bases"
                .to_owned(),
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_that_a_command_does_not_take_is_answered_with_what_reads_it() {
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
        // Others keep the tips that they have.
        let args = ["uriscan", "resolve", "--bsae", "x"].map(str::to_owned);
        let all = super::super::definition();
        let error = all.clone().try_get_matches_from(&args).unwrap_err();
        assert!(with_tip(error, &args, &all).to_string().contains("'--base'"));
    }
}
