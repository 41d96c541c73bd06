//! The filters of records and links: values of options, files of them, and limits.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use uriscan::extract::{Filter, Limit, List, Property};
use uriscan_bulk::io::decompressed;
use uriscan_files::File;

use crate::args::Filters;
use crate::exit::Failure;

/// The longest line of a file of values, in bytes.
const LONGEST_LINE: u64 = 64 << 10;

/// Bytes of a file of values when it is decompressed: tens of millions of names, which take some six times as much memory.
const MOST_BYTES: u64 = 512 << 20;

type Empty = fn() -> List;

/// The files of `typed`, the empty list of what their lines are, and whether these are required, and not excluded.
fn files(typed: &Filters) -> [(&[PathBuf], Empty, bool); 6] {
    [
        (&typed.host_file, List::hosts, true),
        (&typed.domain_file, List::domains, true),
        (&typed.match_file, List::patterns, true),
        (&typed.not_host_file, List::hosts, false),
        (&typed.not_domain_file, List::domains, false),
        (&typed.not_match_file, List::patterns, false),
    ]
}

/// The files that the filters of `typed` are read from.
pub(crate) fn paths(typed: &Filters) -> impl Iterator<Item = &PathBuf> {
    files(typed).into_iter().flat_map(|(paths, ..)| paths)
}

/// The records of a list to keep.
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
pub(crate) fn of_links(typed: &Filters) -> Result<Filter, Failure> {
    let only = [&typed.host, &typed.domain, &typed.matches].into_iter().flatten().cloned();
    let not = [&typed.not_scheme, &typed.not_host, &typed.not_domain, &typed.not_match];
    let not = not.into_iter().flatten().cloned();
    let mut filter = not.fold(only.fold(Filter::default(), Filter::only), Filter::not);
    for (paths, empty, is_required) in files(typed) {
        for path in paths {
            let list = read(path, empty(), MOST_BYTES)?;
            // Nothing would be required, and everything kept.
            if list.is_empty() && is_required {
                let what = "has no value; nothing would be kept";
                return Err(Failure::at(path.display(), what));
            }
            filter = if is_required { filter.only_list(list) } else { filter.not_list(list) };
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

/// The values of the file at `path`, added to `list`; the file has up to `most` bytes.
fn read(path: &Path, mut list: List, most: u64) -> Result<List, Failure> {
    if path.as_os_str() == "-" {
        return Err(Failure::at("-", "standard input is for records; name a file of values"));
    }
    let failed = |error: io::Error| Failure::at(path.display(), error);
    let file = File::open(path).and_then(|file| decompressed(Box::new(file))).map_err(failed)?;
    let mut reader = BufReader::with_capacity(1 << 18, file.take(most));
    let (mut line, mut number, mut bytes) = (Vec::new(), 0, 0);
    loop {
        let (taken, lines) = list.add_plain_lines(reader.fill_buf().map_err(failed)?);
        reader.consume(taken);
        line.clear();
        let read =
            reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(failed)?;
        (number, bytes) = (number + lines + 1, bytes + (taken + read) as u64);
        let wrong = |what: &str| Failure::at(format_args!("{}:{number}", path.display()), what);
        if bytes == most {
            let what = format!("has more than {} MiB", most >> 20);
            return Err(Failure::at(path.display(), what));
        }
        if read == 0 {
            return Ok(list);
        }
        if read as u64 == LONGEST_LINE {
            return Err(wrong("a line of more than 64 KiB"));
        }
        let text = str::from_utf8(&line).map_err(|_| wrong("not UTF-8"))?;
        let text = text.strip_prefix('\u{FEFF}').filter(|_| number == 1).unwrap_or(text);
        list.add_line(text).map_err(|what| wrong(&what))?;
    }
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
            let found = |most| read(&path, List::hosts(), most);
            assert!(found(8 << 20).is_ok_and(|list| list.is_empty()));
            let refused = found(2 << 20).unwrap_err().to_string();
            assert!(refused.contains("has more than 2 MiB"), "{refused}");
        }
    }
}
