//! `uriscan rules grammar`: the grammars, and how the rules of the older one translate.

use std::fmt::Write as _;

use serde_json::json;
use uriscan::rfc2396::{Grammar, Legacy};

use crate::args::{self, GrammarFormat};
use crate::exit::{Failure, Outcome};
use crate::output::{Destination, write_text};

fn about(grammar: Grammar) -> &'static str {
    match grammar {
        Grammar::Rfc3986 => "RFC 3986, January 2005: the standard (STD 66)",
        Grammar::Rfc2396 => {
            "RFC 2396, August 1998: obsolete, but java.net.URI and others follow it"
        }
        Grammar::Rfc2396And2732 => {
            "RFC 2396 with RFC 2732, December 1999: IPv6 addresses in brackets"
        }
    }
}

pub(crate) fn run(typed: &args::Grammar) -> Result<Outcome, Failure> {
    let text = if typed.compare {
        list(["obsolete", "translation"], &Legacy::TRANSLATIONS, typed.to)
    } else {
        let rows = Grammar::ALL.map(|grammar| [grammar.name(), about(grammar)]);
        list(["name", "about"], &rows, typed.to)
    };
    write_text(&text, &Destination::Stdout)
}

fn list(names: [&str; 2], rows: &[[&str; 2]], format: GrammarFormat) -> String {
    let mut text = String::new();
    match format {
        GrammarFormat::Table => {
            for [one, other] in rows {
                let _ = writeln!(text, "{one:<14} {other}");
            }
        }
        GrammarFormat::Tsv => {
            for [one, other] in core::iter::once(&names).chain(rows) {
                let _ = writeln!(text, "{one}\t{other}");
            }
        }
        GrammarFormat::Jsonl => {
            for [one, other] in rows {
                let _ = writeln!(text, "{}", json!({ names[0]: one, names[1]: other }));
            }
        }
    }
    text
}
