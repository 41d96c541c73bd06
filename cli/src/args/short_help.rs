//! What `-h` shows of each command: the options most used. `--help` lists the others, too, by group.

use clap::Command;
use clap::builder::Resettable;

use super::listed::{elsewhere, is_elsewhere};

/// Commands, each with the options that `-h` shows.
const SHOWN: [(&str, &str); 17] = [
    (
        "dedup",
        "files extract level preset seen update count repeated dupes on_invalid max_memory column output stats help",
    ),
    (
        "normalize",
        "files uri extract host level grammar preset base repair on_invalid column output help",
    ),
    ("key", "files uri extract level grammar preset form hash on_invalid column output help"),
    ("parse", "files uri extract template grammar repair column to output strict help"),
    ("check", "files extract grammar differ iri repair column to output color help"),
    (
        "audit",
        "files extract select ignore fail_on redact list_rules column to report output color help",
    ),
    (
        "census",
        "files extract host drop_fragment preset rules base repair column to report output strict help",
    ),
    (
        "top",
        "files extract host by limit distinct level preset on_invalid column from to report output help",
    ),
    ("explain", "uris file pairs level preset rules base repair to color output help"),
    (
        "resolve",
        "files uri base base_column reference_column from suffix_scheme repair grammar on_invalid output help",
    ),
    (
        "extract",
        "files uri from base link_column host domain matches bare_hosts with_filename line_number context jsonl count output help",
    ),
    (
        "learn",
        "files column same canonical redirect precision confidence test undecided max_memory output stats help",
    ),
    ("rules", "level rules preset rules_files no_rules to output help"),
    ("set create", "set files extract level preset hash first_seen stats help"),
    ("set add", "set files uri extract at on_invalid stats help"),
    ("set remove", "set files uri keys extract on_invalid stats help"),
    ("set has", "set files uri extract invert_match first_seen output help"),
];

/// `command`, whose `-h` and that of its commands show what is most used.
pub(super) fn shortened(command: Command) -> Command {
    let called = match command.get_name() {
        "uriscan" => "uriscan".to_owned(),
        name => format!("uriscan {name}"),
    };
    with_each(command, |command| of_command(&called, shortened(command)))
}

/// `command` with what `change` makes of those below it.
fn with_each(command: Command, change: impl Fn(Command) -> Command) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, &change))
}

/// `command`, which is one of those of the command `above`.
fn of_command(above: &str, command: Command) -> Command {
    let call = format!("{above} {}", command.get_name());
    let shown = SHOWN.iter().find(|(name, _)| call.strip_prefix("uriscan ") == Some(*name));
    let is_whole = shown.is_none();
    let name = call.strip_prefix("uriscan ").unwrap_or(&call);
    let taken: Vec<String> = command.get_arguments().map(|arg| arg.get_id().to_string()).collect();
    let more_options = elsewhere(name, &taken);
    let command = command.mut_args(|arg| {
        let arg = if is_elsewhere(name, arg.get_id().as_str()) { arg.hide(true) } else { arg };
        let is_shown = shown.is_none_or(|(_, ids)| ids.split(' ').any(|id| arg.get_id() == id));
        // One that is hidden may be known to `--help` only already.
        let hides = arg.is_hide_short_help_set() && is_whole;
        arg.hide_short_help(!is_shown || hides)
    });
    let has_examples = command.get_after_long_help().is_some();
    let more = if is_whole { "details" } else { "all options" };
    let examples = if has_examples { " and examples" } else { "" };
    let command = command.after_help(format!(
        "See `{call} --help` for {more}{examples}, `uriscan help` for topics."
    ));
    let ending = match command.get_after_long_help() {
        Some(text) => text.to_string(),
        None => format!("See `{above} --help` for examples, `uriscan help` for topics."),
    };
    let ending = more_options.into_iter().chain([ending]).collect::<Vec<_>>().join("\n\n");
    command.after_long_help(ending)
}

/// `command` and its commands without the headings of options.
pub(super) fn ungrouped(command: Command) -> Command {
    with_each(command.mut_args(|arg| arg.help_heading(Resettable::Reset)), ungrouped)
}
