//! The filters of records and links: values of options, and files of them.

use std::io::{self, BufRead, BufReader, Read};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use uriscan::extract::{Filter, Property};
use uriscan::internals::files::File;
use uriscan::io::compress::decompressed;

use crate::args::Find;
use crate::exit::Failure;

/// The longest line of a file of values, in bytes.
const LONGEST_LINE: u64 = 64 << 10;

/// Bytes of a file of values when it is decompressed.
const MOST_BYTES: u64 = 2 << 30;

/// What the lines of a file are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    Hosts,
    Domains,
    Patterns,
}

/// The files of `find`, what their lines are, and whether these are required, and not excluded.
fn files(find: &Find) -> [(&[PathBuf], Values, bool); 6] {
    [
        (&find.host_file, Values::Hosts, true),
        (&find.domain_file, Values::Domains, true),
        (&find.match_file, Values::Patterns, true),
        (&find.not_host_file, Values::Hosts, false),
        (&find.not_domain_file, Values::Domains, false),
        (&find.not_match_file, Values::Patterns, false),
    ]
}

/// The files that the filters of `find` are read from.
pub(crate) fn paths(find: &Find) -> impl Iterator<Item = &PathBuf> {
    files(find).into_iter().flat_map(|(paths, ..)| paths)
}

/// The records of a list to keep.
///
/// # Errors
/// When a file cannot be read, or a value is one that no URI has.
pub(crate) fn of_lists(find: &Find) -> Result<Filter, Failure> {
    let mut filter = of_links(find)?;
    for name in find.scheme.iter().flat_map(|list| list.split(',')) {
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
pub(crate) fn of_links(find: &Find) -> Result<Filter, Failure> {
    let only = [&find.host, &find.domain, &find.matches].into_iter().flatten().cloned();
    let not = [&find.not_scheme, &find.not_host, &find.not_domain, &find.not_match];
    let not = not.into_iter().flatten().cloned();
    let mut filter = not.fold(only.fold(Filter::default(), Filter::only), Filter::not);
    for (paths, values, is_required) in files(find) {
        for path in paths {
            let add = if is_required { Filter::only } else { Filter::not };
            let (with, count) = read(path, values, filter, add)?;
            // Nothing would be required, and everything kept.
            if count == 0 && is_required {
                let what = "has no value; nothing would be kept";
                return Err(Failure::at(path.display(), what));
            }
            filter = with;
        }
    }
    filter.compiled().map_err(|what| Failure::at("--match and --match-file", what))
}

/// `filter` with the values of the file at `path`, and their number.
fn read(
    path: &Path,
    values: Values,
    mut filter: Filter,
    add: fn(Filter, Property) -> Filter,
) -> Result<(Filter, u64), Failure> {
    if path.as_os_str() == "-" {
        return Err(Failure::at("-", "standard input is for records; name a file of values"));
    }
    let failed = |error: io::Error| Failure::at(path.display(), error);
    let file = File::open(path).and_then(|file| decompressed(Box::new(file))).map_err(failed)?;
    let mut reader = BufReader::with_capacity(1 << 18, file.take(MOST_BYTES));
    let (mut line, mut number, mut bytes, mut count) = (Vec::new(), 0, 0, 0);
    loop {
        line.clear();
        let read =
            reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(failed)?;
        (number, bytes) = (number + 1, bytes + read as u64);
        let wrong = |what: &str| Failure::at(format_args!("{}:{number}", path.display()), what);
        if bytes == MOST_BYTES {
            return Err(Failure::at(path.display(), "has more than 2 GiB"));
        }
        if read == 0 {
            return Ok((filter, count));
        }
        if read as u64 == LONGEST_LINE {
            return Err(wrong("a line of more than 64 KiB"));
        }
        let text = str::from_utf8(&line).map_err(|_| wrong("not UTF-8"))?;
        let text = text.strip_prefix('\u{FEFF}').filter(|_| number == 1).unwrap_or(text);
        // Most lines are a name and nothing else.
        let property = match values {
            Values::Domains if text.starts_with(|c: char| c.is_ascii_alphanumeric()) => {
                Property::domain(text.trim_end()).ok()
            }
            _ => None,
        };
        if let Some(property) = property {
            filter = add(filter, property);
            count += 1;
            continue;
        }
        for property in of_line(text, values) {
            filter = add(filter, property.map_err(|what| wrong(&what))?);
            count += 1;
        }
    }
}

/// The values of a line: none of a comment, and several of a line of a hosts file.
fn of_line(line: &str, values: Values) -> Vec<Result<Property, String>> {
    let line = line.trim();
    if values == Values::Patterns {
        return match line {
            "" => Vec::new(),
            pattern if pattern.starts_with('#') => Vec::new(),
            pattern if pattern.starts_with('|') || pattern.ends_with('|') => {
                let what =
                    "an empty alternative matches every URI; lists of ad blockers are no patterns";
                vec![Err(what.to_owned())]
            }
            pattern => vec![Property::pattern(pattern)],
        };
    }
    if line.starts_with(['!', '#']) || line.starts_with('[') && line.contains("Adblock") {
        // `##.name` and `#@#.name`, but not `## a comment`.
        let selects =
            |rest: &str| rest.starts_with(|c: char| c.is_alphabetic() || ".#[*".contains(c));
        let rule = line
            .strip_prefix("##")
            .or(line.strip_prefix("#@#"))
            .filter(|rest| !rest.starts_with('#'));
        return match rule.is_some_and(selects) {
            true => vec![Err("a rule on the elements of pages, which no URI has".to_owned())],
            false => Vec::new(),
        };
    }
    if let Some(rule) = line.split(" #").next().unwrap_or_default().trim_end().strip_prefix("||") {
        return vec![match rule.strip_suffix('^') {
            Some(name) if values == Values::Domains => Property::domain(name),
            Some(_) => {
                Err("||name^ is a domain and all below it: give the file as one of domains"
                    .to_owned())
            }
            None => Err("of the rules of ad blockers only ||name^ is known".to_owned()),
        }];
    }
    if line.starts_with("@@")
        || line.split_whitespace().any(|word| word.find("##").is_some_and(|at| at > 0))
    {
        return vec![Err("of the rules of ad blockers only ||name^ is known".to_owned())];
    }
    let mut fields = line.split('#').next().unwrap_or_default().split_whitespace();
    let property = match values {
        Values::Hosts => Property::host,
        Values::Domains | Values::Patterns => Property::domain,
    };
    let (Some(first), second) = (fields.next(), fields.next()) else { return Vec::new() };
    match second {
        None => vec![property(first)],
        Some(second) if is_address(first) => {
            let names = std::iter::once(second).chain(fields);
            names.filter(|name| !is_own(name)).map(property).collect()
        }
        Some(_) => vec![Err(
            "several words; one value a line, or `0.0.0.0 name` as in hosts files".to_owned(),
        )],
    }
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
