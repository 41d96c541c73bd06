//! The command as it was typed, and commands made of it.

use std::sync::LazyLock;

use clap::{Arg, Command};
use uriscan_bulk::io::escaped;

use crate::args;
use crate::exit::shown_name;

/// All commands with their options.
static ALL: LazyLock<Command> = LazyLock::new(args::complete);

/// The command as it was typed.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The words of its name, such as `set add`.
    pub(super) words: Vec<String>,
    /// The arguments after them.
    rest: Vec<String>,
}

impl Call {
    pub(crate) fn of_process() -> Call {
        let args = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
        Call::of(args.collect())
    }

    pub(super) fn of(mut args: Vec<String>) -> Call {
        let words = if args.first().is_some_and(|word| word == "set") { 2 } else { 1 };
        let rest = args.split_off(words.min(args.len()));
        Call { words: args, rest }
    }

    /// Whether the command has an option of this name.
    pub(crate) fn takes(&self, option: &str) -> bool {
        let command = of_words(&ALL, &self.words);
        command.is_some_and(|command| with_long(command, option).is_some())
    }

    pub(crate) fn has(&self, option: &str) -> bool {
        self.rest.iter().any(|arg| {
            arg.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    }

    pub(super) fn without(&self, others: &[&str]) -> Call {
        let is_kept = |arg: &&String| !others.contains(&arg.as_str());
        Call { rest: self.rest.iter().filter(is_kept).cloned().collect(), ..self.clone() }
    }

    /// A call of `uriscan extract` with the inputs of this one, and those options that both have.
    pub(super) fn as_extract(&self) -> Call {
        let words = vec!["extract".to_owned()];
        let (Some(from), Some(to)) = (of_words(&ALL, &self.words), of_words(&ALL, &words)) else {
            return Call { words, rest: Vec::new() };
        };
        let (mut rest, mut args) = (Vec::new(), self.rest.iter());
        while let Some(arg) = args.next() {
            let option = option_of(from, arg);
            let value = option
                .filter(|option| option.get_action().takes_values() && !has_value(arg))
                .and_then(|_| args.next());
            let is_kept = option.is_none_or(|option| {
                option.get_long().is_some_and(|long| with_long(to, long).is_some())
            });
            if option.is_some_and(|option| option.get_long() == Some("file")) {
                // Of `explain`, whose arguments are URIs.
                let typed = || arg.split_once('=').map(|(_, name)| name.to_owned());
                rest.extend(value.cloned().or_else(typed));
            } else if arg == "--iri" {
                // The links that `--iri` would accept as records.
                rest.push("--unicode".to_owned());
            } else if is_kept {
                rest.extend([Some(arg), value].into_iter().flatten().cloned());
            }
        }
        Call { words, rest }
    }

    pub(super) fn with(&self, options: &[String]) -> String {
        /// Longer calls, such as those with many files, are cut.
        const LONGEST: usize = 400;
        let mut text = format!("uriscan {}", self.words.join(" "));
        for option in options {
            text += " ";
            text += option;
        }
        for arg in &self.rest {
            if text.len() + arg.len() > LONGEST {
                return text + " ...";
            }
            text += " ";
            text += &quoted(&shown_name(arg));
        }
        text
    }
}

fn of_words<'c>(all: &'c Command, words: &[String]) -> Option<&'c Command> {
    words.iter().try_fold(all, |all, word| all.find_subcommand(word))
}

fn with_long<'c>(command: &'c Command, long: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|argument| argument.get_long() == Some(long))
}

/// The option of `command` that `arg` names, such as `--base`, `--base=x`, `-o` or `-ox`.
fn option_of<'c>(command: &'c Command, arg: &str) -> Option<&'c Arg> {
    if let Some(long) = arg.strip_prefix("--") {
        return with_long(command, long.split('=').next().unwrap_or_default());
    }
    let short = arg.strip_prefix('-')?.chars().next()?;
    command.get_arguments().find(|argument| argument.get_short() == Some(short))
}

/// Whether `arg`, an option, has its value in itself.
fn has_value(arg: &str) -> bool {
    if arg.starts_with("--") { arg.contains('=') } else { arg.len() > 2 }
}

/// The name of a file or a column as it is typed to a shell; `NAME` for one that a message cannot show as it is.
pub(crate) fn typed(name: &str) -> String {
    let text = quoted(name);
    if name.starts_with('-') && name != "-" && text != "NAME" { format!("./{text}") } else { text }
}

/// A record as an example, without its secrets, and cut if it is long.
pub(super) fn sample(record: &[u8]) -> String {
    const MOST: usize = 80;
    // Cut first, a secret would not be found.
    let shown = shown_name(&String::from_utf8_lossy(record));
    let cut: String = shown.chars().take(MOST).collect();
    let dots = if cut.len() < shown.len() { "..." } else { "" };
    quoted(&(cut + dots))
}

/// An argument as it is typed to a shell; `NAME` for one that a message cannot show as it is.
pub(super) fn quoted(arg: &str) -> String {
    let is_shown = escaped(arg).to_string() == arg && !arg.contains(char::REPLACEMENT_CHARACTER);
    if is_shown { in_quotes(arg) } else { "NAME".to_owned() }
}

/// `word` in quotes if a shell needs them. The dots are those of a word that was cut.
pub(crate) fn in_quotes(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=…".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
