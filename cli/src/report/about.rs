//! How a run was made: the command line, the inputs, and what its figures depend on.

use uriscan::audit::redact_into;
use uriscan::rfc2396::Grammar;
use uriscan::rules::PUBLIC_SUFFIX_VERSION;
use uriscan::set::Timestamp;

use super::findings::cut;
use super::html::{Cell, Escaped, Section, Table};
use crate::exit::{shown_argument, shown_name};
use crate::hint::in_quotes;
use crate::inputs::Input;
use crate::plan::Plan;
use crate::remote;
use crate::summary::{Summary, grouped, plural};

const SOURCES: usize = 50;

/// Arguments of the command line, and characters of each, that are shown.
const ARGUMENTS: usize = 60;
const CHARACTERS: usize = 200;

/// The command line, the inputs and the time, in short.
pub(super) fn run(summary: &Summary<'_>, time: Timestamp) -> String {
    let plan = summary.plan;
    let count = plan.inputs.len() as u64;
    let inputs = match plan.inputs.as_slice() {
        [one] => cut(&name(one)),
        _ => format!("{} inputs", grouped(count)),
    };
    let bytes = summary.report.bytes;
    let seconds = summary.elapsed.as_secs_f64();
    let size = match summary.counts_all_bytes() {
        true => format!("{} bytes, ", grouped(bytes)),
        false => String::new(),
    };
    let text = format!("{inputs}: {size}read in {seconds:.2} s, at {time}");
    format!(
        "<p class=\"command\"><code>{}</code></p>\n<p class=\"soft\">{}</p>\n",
        Escaped(&command_line(
            std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned())
        )),
        Escaped(&text),
    )
}

/// The command line as a shell reads it, with secrets masked.
fn command_line(args: impl ExactSizeIterator<Item = String>) -> String {
    let count = args.len();
    let mut words = vec!["uriscan".to_owned()];
    words.extend(args.take(ARGUMENTS).map(|arg| in_quotes(&masked(&arg))));
    if count > ARGUMENTS {
        words.push(format!("… {} more", grouped((count - ARGUMENTS) as u64)));
    }
    words.join(" ")
}

/// An argument with its secrets masked.
fn masked(arg: &str) -> String {
    let mut text = Vec::new();
    redact_into(shown_argument(arg).as_bytes(), &mut text);
    let text = String::from_utf8_lossy(&text).into_owned();
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The name of an input, with secrets masked.
fn name(input: &Input) -> String {
    match input {
        Input::Stdin => "standard input".to_owned(),
        Input::Typed(_) => "-e".to_owned(),
        Input::Remote(url) => shown_name(&url.to_string()),
        Input::File(path) => shown_name(&path.display().to_string()),
    }
}

/// The inputs with their sizes, if there are several.
pub(super) fn sources(plan: &Plan) -> Option<Section> {
    let count = plan.inputs.len();
    if count < 2 {
        return None;
    }
    let row = |input: &Input| {
        let bytes = match input {
            Input::Stdin => None,
            Input::Typed(list) => Some(list.len() as u64),
            Input::Remote(url) => remote::open(url).ok().and_then(|stored| stored.bytes()),
            Input::File(path) => {
                let data = path.metadata().ok().filter(std::fs::Metadata::is_file);
                data.map(|data| data.len())
            }
        };
        let bytes = bytes.map_or(String::new(), grouped);
        vec![Cell::Uri(cut(&name(input))), Cell::Number(bytes)]
    };
    let caption = match count > SOURCES {
        true => format!("The first {SOURCES} of {} inputs", grouped(count as u64)),
        false => "Inputs, in the order in which they were read".to_owned(),
    };
    let rows = plan.inputs.iter().take(SOURCES).map(row).collect();
    let table = Table { caption, heads: vec!["input", "bytes as stored"], rows };
    Some(Section::new("inputs", "Inputs", table.html()))
}

const RULES: usize = 2_000;

/// What the figures depend on.
pub(super) fn terms(plan: &Plan) -> Section {
    let equivalence = &plan.job.equivalence;
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
    if !rules.is_empty() {
        let mut rules = rules.join(", ");
        if let Some((end, _)) = rules.char_indices().nth(RULES) {
            rules.truncate(end);
            rules.push('…');
        }
        terms.push(("rules beyond the RFC", rules));
    }
    terms.push(("grammar", Grammar::Rfc3986.to_string()));
    if plan.job.survey.merges {
        let meaning = "Two records are equivalent if their canonical forms have the same bytes; they are compared by \
                       128-bit keys. The keys of two runs mean the same if their rule sets do.";
        terms.push(("keys", meaning.to_owned()));
        terms.push(("rule set", equivalence.identity().to_string()));
    }
    if let Some(set) = &plan.set {
        terms.push(("seen-set", cut(&shown_name(&set.path.display().to_string()))));
    }
    terms.push(("public suffix list", PUBLIC_SUFFIX_VERSION.to_owned()));
    terms.push(("program", format!("uriscan {}", env!("CARGO_PKG_VERSION"))));
    let threads = plan.settings.threads as u64;
    let backend = plan.settings.kernels.backend().name();
    terms.push(("machine", format!("backend {backend}, {threads} thread{}", plural(threads))));
    let item = |(name, value): &(&str, String)| {
        format!("<dt>{}</dt><dd>{}</dd>\n", Escaped(name), Escaped(value))
    };
    let content =
        format!("<dl class=\"terms\">{}</dl>\n", terms.iter().map(item).collect::<String>());
    Section::new("about", "How to read this", content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(args: &[&str]) -> String {
        command_line(args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>().into_iter())
    }

    #[test]
    fn the_command_line_has_no_secrets_and_can_be_typed() {
        for (args, expected) in [
            (&["dedup", "a b.txt"][..], "uriscan dedup 'a b.txt'"),
            (
                &["dedup", "--base=http://u:secret@h/x", "l"],
                // In quotes, since a shell takes stars for patterns.
                "uriscan dedup '--base=http://u:***@h/x' l",
            ),
            (&["top", "it's"], "uriscan top 'it'\\''s'"),
            (&["dedup", ""], "uriscan dedup ''"),
        ] {
            assert_eq!(line(args), expected);
        }
        for arg in [
            "http://u:SECRET@h/x",
            "https://h/list?token=SECRET",
            "s3://b/x?X-Amz-Signature=SECRET",
            "--base=http://SECRET@h/",
        ] {
            assert!(!line(&["dedup", "-e", arg]).contains("SECRET"), "{}", line(&[arg]));
        }
    }

    #[test]
    fn a_long_command_line_is_cut() {
        let long = "x".repeat(10_000);
        let args = vec![&*long; 500];
        let line = line(&args);
        assert!(line.chars().count() < (ARGUMENTS + 2) * (CHARACTERS + 4), "{}", line.len());
        assert!(line.ends_with(" more"));
    }
}
