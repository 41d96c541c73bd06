//! An option has one meaning: wherever it is taken, its help begins with the same sentence.

use std::collections::BTreeMap;

use clap::Command;

/// Options whose first sentence differs, and the reason.
const EXCEPTIONS: [(&str, &str); 7] = [
    ("by", "top counts by a part, dedup keeps by shape: both choose what a record is taken for"),
    (
        "context",
        "key prints the context of derive_key, the word of BLAKE3; elsewhere it is where a link was found",
    ),
    ("count", "dedup -c is that of uniq, extract -c that of grep"),
    ("first-seen", "set create records the times that set has writes"),
    ("from", "resolve and learn read rows, and name the formats that they take"),
    ("null", "explain writes text for people, so only its input ends in NUL"),
    ("output", "set merge, diff, intersect and split make a directory, and require it"),
];

/// Adds the first sentences of the options of `command`, and of the commands below it, to `found`.
fn collect(
    command: &Command,
    called: &str,
    found: &mut BTreeMap<String, BTreeMap<String, Vec<String>>>,
) {
    for arg in command.get_arguments() {
        let Some(long) = arg.get_long() else { continue };
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let sentence = help.split(" [default").next().unwrap_or_default();
        let commands = found.entry(long.to_owned()).or_default();
        commands.entry(sentence.to_owned()).or_default().push(called.to_owned());
    }
    for command in command.get_subcommands() {
        collect(command, format!("{called} {}", command.get_name()).trim(), found);
    }
}

#[test]
fn an_option_of_several_commands_has_one_meaning() {
    let mut found = BTreeMap::new();
    collect(&super::complete(), "", &mut found);
    assert!(found.len() > 100, "{}", found.len());
    let differ: BTreeMap<_, _> = found.into_iter().filter(|(_, texts)| texts.len() > 1).collect();
    let is_known = |option: &str| EXCEPTIONS.iter().any(|(name, _)| *name == option);
    let unknown: Vec<_> = differ.iter().filter(|(option, _)| !is_known(option)).collect();
    assert!(unknown.is_empty(), "options with several meanings: {unknown:#?}");
    for (name, _) in EXCEPTIONS {
        assert!(differ.contains_key(name), "--{name} has one meaning: remove the exception");
    }
}
