//! The hint about inputs of `learn`, whose rows say which pages are the same.

use uriscan::extract::Format;
use uriscan::uri::parse;

use super::beginning::Beginning;
use super::call::{Call, typed};
use super::{Header, fields, is_separated, look, looks_like};

/// What the command reads.
const ROWS: &str = "rows of a URL and a digest";

/// Whether the command reads rows of evidence.
pub(super) fn is_read(call: &Call) -> bool {
    call.words == ["learn"]
}

/// Whether rows of `input` are mostly none of evidence. Archives have no rows.
pub(super) fn is_other(input: &Beginning) -> bool {
    Format::of_source(&input.name, &input.head) != Format::Warc
        && input.is_mostly(|line| !is_row(line))
}

/// Whether `line` begins with a URL, or is one of an index of a web archive.
fn is_row(line: &[u8]) -> bool {
    let url = line.split(|&byte| byte == b'\t').next().unwrap_or_default();
    let words = || line.split(|byte| b" \t".contains(byte));
    let is_time = |word: &[u8]| word.len() >= 14 && word.iter().all(u8::is_ascii_digit);
    parse(url.trim_ascii()).is_ok_and(|parts| parts.is_uri())
        || words().next() == Some(b"CDX")
        || words().take(3).any(is_time)
}

/// The hint about the input with this `name`, which begins with `head`, and the call that reads it alone.
pub(super) fn advice(head: &[u8], name: &str, is_odd: bool, alone: &Call) -> Option<String> {
    let header = Header::of(head, name).filter(|header| is_odd || header.urls.is_some());
    if let Some(header) = &header
        && let Some(mut options) = header.options(name, alone)
    {
        options.splice(1..1, columns(header));
        let how = alone.with(&options);
        let kind = is_odd.then_some(ROWS);
        return Some(looks_like(name, kind, &header.shown()) + &format!(". Try `{how}`"));
    }
    let (what, from) = look(head, name).filter(|_| is_odd)?;
    let how = match what {
        // The command reports that itself.
        "an access log" => return None,
        "CSV" => format!(". Try `{}`", alone.with(&numbered(head, b',', from)?)),
        _ => String::new(),
    };
    Some(looks_like(name, Some(ROWS), what) + &how)
}

/// The place of the first row of `inputs` that has no URL, in one where most have none.
pub(super) fn of_most(inputs: &[Beginning]) -> Option<String> {
    let input = inputs.iter().find(|input| is_other(input))?;
    let first = input.records().find(|line| !is_row(line.text))?;
    let name = &input.name;
    Some(format!(
        "most rows of {name} do not begin with a URL, the first at {name}:{}",
        first.number
    ))
}

/// The options for the columns of a table with this `header` that are evidence, as their names say.
fn columns(header: &Header) -> Vec<String> {
    const SAME: [&str; 7] = ["digest", "hash", "checksum", "sha1", "sha256", "md5", "fingerprint"];
    let find = |words: &[&str], is_such: &dyn Fn(&str, &str) -> bool| {
        let mut all = header.values.iter();
        let found = all.find(|(name, value)| {
            let lower = name.to_ascii_lowercase();
            words.iter().any(|word| lower.contains(word)) && is_such(&lower, value)
        });
        found.map(|(name, _)| name).filter(|name| header.urls.as_ref() != Some(name))
    };
    let is_target = |_: &str, value: &str| value.contains("://") || value.starts_with('/');
    // Not a digest of the URL, or a number of redirects.
    let of_content = |name: &str, _: &str| !name.contains("url") && !name.contains("uri");
    let may_be_target = |name: &str, value: &str| value.is_empty() || is_target(name, value);
    let redirect = find(&["redirect"], &may_be_target).or_else(|| find(&["location"], &is_target));
    let found = [
        ("--same", find(&SAME, &of_content)),
        ("--canonical", find(&["canonical"], &may_be_target)),
        ("--redirect", redirect),
    ];
    let options: Vec<String> = found
        .into_iter()
        .filter_map(|(option, name)| name.map(|name| format!("{option} {}", typed(name))))
        .collect();
    if options.is_empty() { vec!["--same COLUMN".to_owned()] } else { options }
}

fn numbered(head: &[u8], separator: u8, from: Option<&str>) -> Option<Vec<String>> {
    let line = String::from_utf8_lossy(head.split(|&byte| byte == b'\n').next()?).into_owned();
    let all = is_separated(head, separator).then(|| fields(&line, separator))?;
    let url = all.iter().position(|field| field.contains("://"))? + 1;
    let same = if all.len() == 2 { (3 - url).to_string() } else { "COLUMN".to_owned() };
    let mut options =
        vec![format!("--column {url}"), format!("--same {same}"), "--no-header".to_owned()];
    options.extend(from.map(|from| format!("--from {from}")));
    Some(options)
}
