//! Hints about text that is not in UTF-8, or whose records have another end than was said.

use uriscan::uri::parse;

use super::beginning::{Beginning, is_most};
use super::call::{Call, typed};

/// The hint about `input`, which is mostly invalid, if it is a list in another encoding or with other ends of records.
/// The call `alone` has no other inputs.
pub(super) fn advice(input: &Beginning, alone: &Call) -> Option<String> {
    let name = &input.name;
    let piped_with = |command: &str, before: &str, options: &[String]| {
        let file = if name == "-" { String::new() } else { format!(" {before}{}", typed(name)) };
        format!("{command}{file} | {}", alone.without(&[name]).with(options))
    };
    let piped = |command: &str, before: &str| piped_with(command, before, &[]);
    let (what, how) = if input.end != 0 && input.head.contains(&0) && is_list(&input.head, 0) {
        ("its records end in NUL", alone.with(&["-0".to_owned()]))
    } else if input.end == 0 && !input.head.contains(&0) && is_list(&input.head, b'\n') {
        ("its records end in line feeds", alone.without(&["-0", "--null"]).with(&[]))
    } else if is_list(&input.head, b'\r') && input.head.contains(&b'\r') {
        ("its lines end in CR", piped(r"tr '\r' '\n'", "< "))
    } else if input.is_mostly(is_of_bytes) {
        let iri = alone.takes("iri").then(|| "--iri".to_owned());
        let how = piped_with("iconv -f ISO-8859-1 -t UTF-8", "", iri.as_slice());
        ("it is not UTF-8, and may be ISO-8859-1", how)
    } else {
        return None;
    };
    Some(format!("most of {name} is not a list of URIs; {what}. Try `{how}`"))
}

/// Whether `record` is a URI but for bytes that are not UTF-8.
fn is_of_bytes(record: &[u8]) -> bool {
    let letters = || record.iter().map(|&byte| if byte.is_ascii() { byte } else { b'a' });
    let is_uri = || parse(&letters().collect::<Vec<_>>()).is_ok_and(|parts| parts.is_uri());
    core::str::from_utf8(record).is_err() && is_uri()
}

/// Whether most records of `head`, which end in `end`, are URIs. The last one may be cut.
fn is_list(head: &[u8], end: u8) -> bool {
    let cut = head.iter().rposition(|&byte| byte == end).unwrap_or(head.len());
    let records = head[..cut].split(|&byte| byte == end).map(<[u8]>::trim_ascii);
    let is_uri = |record: &[u8]| parse(record).is_ok_and(|parts| parts.is_uri());
    is_most(records.filter(|record| !record.is_empty()), is_uri)
}
