//! The filters of records and links: values of options, files of them, and limits.

use std::io::{self, BufRead, BufReader, Read};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use uriscan::extract::{Filter, Limit, Property};
use uriscan::internals::files::File;
use uriscan::io::compress::decompressed;

use crate::args::Filters;
use crate::exit::Failure;

/// The longest line of a file of values, in bytes.
const LONGEST_LINE: u64 = 64 << 10;

/// Bytes of a file of values when it is decompressed: tens of millions of names, which take some six times as much memory.
const MOST_BYTES: u64 = 512 << 20;

/// What the lines of a file are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    Hosts,
    Domains,
    Patterns,
}

/// The files of `typed`, what their lines are, and whether these are required, and not excluded.
fn files(typed: &Filters) -> [(&[PathBuf], Values, bool); 6] {
    [
        (&typed.host_file, Values::Hosts, true),
        (&typed.domain_file, Values::Domains, true),
        (&typed.match_file, Values::Patterns, true),
        (&typed.not_host_file, Values::Hosts, false),
        (&typed.not_domain_file, Values::Domains, false),
        (&typed.not_match_file, Values::Patterns, false),
    ]
}

/// The files that the filters of `typed` are read from.
pub(crate) fn paths(typed: &Filters) -> impl Iterator<Item = &PathBuf> {
    files(typed).into_iter().flat_map(|(paths, ..)| paths)
}

/// The records of a list to keep.
///
/// # Errors
/// When a file cannot be read, or a value is one that no URI has.
pub(crate) fn of_lists(typed: &Filters) -> Result<Filter, Failure> {
    let mut filter = of_links(typed)?;
    for name in typed.scheme.iter().flat_map(|list| list.split(',')) {
        let scheme = Property::scheme(name);
        let scheme = scheme.map_err(|what| Failure::at(format_args!("--scheme {name}"), what))?;
        filter = filter.only(scheme);
    }
    Ok(filter)
}

/// The links to keep, apart from their schemes.
///
/// # Errors
/// As for [`of_lists`].
pub(crate) fn of_links(typed: &Filters) -> Result<Filter, Failure> {
    let only = [&typed.host, &typed.domain, &typed.matches].into_iter().flatten().cloned();
    let not = [&typed.not_scheme, &typed.not_host, &typed.not_domain, &typed.not_match];
    let not = not.into_iter().flatten().cloned();
    let mut filter = not.fold(only.fold(Filter::default(), Filter::only), Filter::not);
    for (paths, values, is_required) in files(typed) {
        for path in paths {
            let add = if is_required { Filter::only } else { Filter::not };
            let (with, count) = read(path, values, (filter, add), MOST_BYTES)?;
            // Nothing would be required, and everything kept.
            if count == 0 && is_required {
                let what = "has no value; nothing would be kept";
                return Err(Failure::at(path.display(), what));
            }
            filter = with;
        }
    }
    let limits = [
        (Limit::Segments, typed.max_segments),
        (Limit::Repeats, typed.max_repeats),
        (Limit::Params, typed.max_params),
        (Limit::Length, typed.max_length),
    ];
    for (limit, most) in limits {
        filter = most.into_iter().fold(filter, |filter, most| filter.at_most(limit, most));
    }
    filter.compiled().map_err(|what| Failure::at("--match and --match-file", what))
}

/// A filter with the values of the file at `path` added, and their number; the file has up to `most` bytes.
fn read(
    path: &Path,
    values: Values,
    (mut filter, add): (Filter, fn(Filter, Property) -> Filter),
    most: u64,
) -> Result<(Filter, u64), Failure> {
    if path.as_os_str() == "-" {
        return Err(Failure::at("-", "standard input is for records; name a file of values"));
    }
    let failed = |error: io::Error| Failure::at(path.display(), error);
    let file = File::open(path).and_then(|file| decompressed(Box::new(file))).map_err(failed)?;
    let mut reader = BufReader::with_capacity(1 << 18, file.take(most));
    let (mut line, mut number, mut bytes, mut count) = (Vec::new(), 0, 0, 0);
    loop {
        line.clear();
        let read =
            reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(failed)?;
        (number, bytes) = (number + 1, bytes + read as u64);
        let wrong = |what: &str| Failure::at(format_args!("{}:{number}", path.display()), what);
        if bytes == most {
            let what = format!("has more than {} MiB", most >> 20);
            return Err(Failure::at(path.display(), what));
        }
        if read == 0 {
            return Ok((filter, count));
        }
        if read as u64 == LONGEST_LINE {
            return Err(wrong("a line of more than 64 KiB"));
        }
        let text = str::from_utf8(&line).map_err(|_| wrong("not UTF-8"))?;
        let text = text.strip_prefix('\u{FEFF}').filter(|_| number == 1).unwrap_or(text);
        let mut found = |property| {
            filter = add(std::mem::take(&mut filter), property);
            count += 1;
        };
        each_value(text.trim(), values, &mut found).map_err(|what| wrong(&what))?;
    }
}

/// Calls `found` with the values of a line: none of a comment, and several of a line of a hosts file.
fn each_value(line: &str, values: Values, found: &mut dyn FnMut(Property)) -> Result<(), String> {
    if values == Values::Patterns {
        if line.starts_with('|') || line.ends_with('|') {
            return Err("an empty alternative matches every URI; ad-block lists are not patterns"
                .to_owned());
        }
        if !line.is_empty() && !line.starts_with('#') {
            found(Property::pattern(line)?);
        }
        return Ok(());
    }
    if line.starts_with('!') || line.starts_with('[') && line.contains("Adblock") {
        return Ok(());
    }
    let may_be_rule = line.starts_with(['#', '|', '@']) || line.contains("##");
    if may_be_rule && let Some(name) = of_rule(line)? {
        if values == Values::Hosts {
            let what = "||name^ is a domain and all below it; use an option for domains";
            return Err(what.to_owned());
        }
        found(Property::domain(name)?);
        return Ok(());
    }
    let property = if values == Values::Hosts { Property::host } else { Property::domain };
    let mut fields = line.split('#').next().unwrap_or_default().split_whitespace();
    match (fields.next(), fields.next()) {
        (None, _) => {}
        (Some(name), None) => found(property(name)?),
        (Some(first), Some(second)) if is_address(first) => {
            for name in std::iter::once(second).chain(fields).filter(|name| !is_own(name)) {
                found(property(name)?);
            }
        }
        _ => {
            return Err(
                "several words; expected one value, or `0.0.0.0 name` as in hosts files".to_owned()
            );
        }
    }
    Ok(())
}

/// The name in a rule `||name^` of an ad blocker; `None` for a line that is not a rule.
///
/// # Errors
/// For other rules.
fn of_rule(line: &str) -> Result<Option<&str>, String> {
    const UNKNOWN: &str = "not a host: of the rules of ad blockers, only ||name^ is supported";
    // `## a comment` and `####`, but neither `##.name` nor `#@#.name` nor `host##.name`, which select parts of pages.
    let selects = |rest: &str| rest.starts_with(|c: char| c.is_alphabetic() || ".[*".contains(c));
    let mut words = line.split_whitespace();
    let is_selector = |word: &str| {
        ["##", "#@#"]
            .iter()
            .any(|sign| word.split_once(sign).is_some_and(|(_, rest)| selects(rest)))
    };
    if line.starts_with("@@") || words.any(is_selector) {
        return Err(UNKNOWN.to_owned());
    }
    let Some(rule) = line.strip_prefix("||") else { return Ok(None) };
    let rule = rule.split(" #").next().unwrap_or_default().trim_end();
    rule.strip_suffix('^').map(Some).ok_or_else(|| UNKNOWN.to_owned())
}

/// Whether `field` is an address, as hosts files write it: with a zone, and 0 for 0.0.0.0.
fn is_address(field: &str) -> bool {
    let address = field.split('%').next().unwrap_or_default();
    field == "0" || address.parse::<IpAddr>().is_ok()
}

/// Whether `name` is one that hosts files give to the machine itself and its network.
fn is_own(name: &str) -> bool {
    const OWN: [&str; 12] = [
        "localhost",
        "localhost.localdomain",
        "local",
        "broadcasthost",
        "0.0.0.0",
        "ip6-localhost",
        "ip6-loopback",
        "ip6-localnet",
        "ip6-mcastprefix",
        "ip6-allnodes",
        "ip6-allrouters",
        "ip6-allhosts",
    ];
    OWN.contains(&name)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_of_values_has_an_end_however_small_it_is_when_compressed() {
        let text = format!("{}\n", "#".repeat(60 << 10)).repeat(40);
        let gzip = |text: &str| {
            let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            to.write_all(text.as_bytes()).unwrap();
            to.finish().unwrap()
        };
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in [("plain", text.clone().into_bytes()), ("packed", gzip(&text))] {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let count = |most| {
                read(&path, Values::Hosts, (Filter::default(), Filter::only), most).map(|it| it.1)
            };
            assert_eq!(count(8 << 20).ok(), Some(0));
            let refused = count(2 << 20).unwrap_err().to_string();
            assert!(refused.contains("has more than 2 MiB"), "{refused}");
        }
    }
}
