//! Options as text: `name=value`, one a line.

use std::path::Path;

use uriscan::rules::RulesFile;
use uriscan_arrow::{Columns, OptionKind, OptionValue};

use crate::error::Failure;

/// The names and values of `text`, in order. White space around them, and blank lines, do not count.
pub(crate) fn pairs(text: &[u8]) -> Result<Vec<(&str, &str)>, Failure> {
    let text = core::str::from_utf8(text)
        .map_err(|_| Failure::Option("options are not UTF-8".to_owned()))?;
    let lines = text.split('\n').map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| match line.split_once('=') {
            Some((name, value)) => Ok((name.trim_end(), value.trim_start())),
            None => Err(Failure::Option(format!("{line:?} is not an option: write name=value"))),
        })
        .collect()
}

/// A flag.
pub(crate) fn flag(name: &str, value: &str) -> Result<bool, Failure> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Failure::Option(format!("{name}={value:?}: there are true, false"))),
    }
}

/// The settings that `text` gives, by the table of options that all bindings have. An option that takes a list is given once for
/// each of its values.
pub(crate) fn columns(text: &[u8]) -> Result<Columns, Failure> {
    let mut options: Vec<(&str, OptionValue)> = Vec::new();
    for (name, value) in pairs(text)? {
        let kind = Columns::OPTIONS.iter().find(|option| option.name == name).map(|o| o.kind);
        let given = options.iter_mut().find(|(given, _)| *given == name);
        match (kind, given) {
            (Some(OptionKind::List), Some((_, OptionValue::List(values)))) => {
                values.push(value.to_owned());
            }
            (Some(OptionKind::List), _) => options.push((name, vec![value.to_owned()].into())),
            (Some(OptionKind::Flag), _) => options.push((name, flag(name, value)?.into())),
            // A name that does not exist is refused with the others.
            _ => options.push((name, value.into())),
        }
    }
    Columns::from_options(options, rules_file).map_err(|error| Failure::Option(error.to_string()))
}

/// The rules file of that name.
fn rules_file(name: &str) -> Result<RulesFile, String> {
    RulesFile::read(Path::new(name))
        .map(|(rules_file, _)| rules_file)
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        columns(text.as_bytes()).map(drop).unwrap_err().to_string()
    }

    #[test]
    fn every_option_of_the_table_is_taken_by_its_name() {
        for option in Columns::OPTIONS {
            let value = match option.kind {
                OptionKind::Flag => "true",
                _ => match option.name {
                    "rules" => "crawl",
                    "base" => "http://h/",
                    "suffix_scheme" => "https",
                    "no_rule" => continue, // needs a preset that has it
                    _ => option.values()[0],
                },
            };
            let text = format!("{}={value}", option.name);
            if let Err(failure) = columns(text.as_bytes()) {
                let text = failure.to_string();
                assert!(option.name == "rules", "{text}");
            }
        }
    }

    #[test]
    fn lists_are_given_value_by_value() {
        let columns = columns(b" rule = www \n\nrule=https\r\n").ok().unwrap();
        let rules = columns.equivalence.rules.unwrap().to_toml();
        assert!(rules.contains("www") && rules.contains("https"), "{rules}");
    }

    #[test]
    fn what_is_refused_is_named() {
        assert!(refusal("level").contains("name=value"));
        assert!(refusal("level=host").contains("string, syntax, scheme"));
        assert!(refusal("levels=host").contains("there is no option levels"));
        assert!(refusal("iri=yes").contains("there are true, false"));
        assert!(refusal("level=scheme\nlevel=scheme").contains("twice"));
        assert!(columns(b"\xFF=\xFF").is_err());
    }
}
