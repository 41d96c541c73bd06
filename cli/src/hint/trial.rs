//! What reads records that are not URIs, found by trying it on them.

use uriscan::extract::{Extractor, ExtractorOptions, Format, Links, Options};
use uriscan::repair::{Repair, Repairs, repair};
use uriscan::uri::parse;
use uriscan::{Kernels, PaddedBuf};

use super::beginning::is_most;
use super::call::{Call, sample};

/// The end of the hint about the invalid records `bad`: the command that reads most of them, or the links in them, and
/// the first result.
pub(super) fn better(bad: &[&[u8]], call: &Call) -> Option<String> {
    // A set has settings of its own, to which no repair can be added.
    let is_fixed = are_counted(bad) || call.has("--seen");
    let repaired = if is_fixed { None } else { repaired(bad, call) };
    if let Some((options, first)) = repaired {
        let how = call.with(&[options.to_owned()]);
        return Some(format!(". Try `{how}`, which reads it as {}", sample(&first)));
    }
    let plain = links(bad, Options::default());
    let refanged = links(bad, Options::default().refang(true));
    let refang = (refanged != plain).then_some("--refang");
    let links = if refang.is_some() { refanged } else { plain };
    let first = links.first()?;
    let call = if call.takes("extract") { call.clone() } else { call.as_extract() };
    let extract = (call.words != ["extract"]).then_some("--extract");
    let options = extract.into_iter().chain(refang).map(str::to_owned);
    let how = call.with(&options.collect::<Vec<_>>());
    Some(format!(". Try `{how}`, which finds links such as {}", sample(first)))
}

/// Repairs that make URIs of most of `bad`, and the first one, where the command has them.
fn repaired(bad: &[&[u8]], call: &Call) -> Option<(&'static str, Vec<u8>)> {
    if ["--repair", "--iri"].iter().any(|option| call.has(option)) || !call.takes("repair") {
        return None;
    }
    let (none, usual) = (Repairs::default(), Repairs::usual());
    let all = [
        ("--repair=quotes", none.with(Repair::Quotes)),
        ("--iri", none.with(Repair::Iri)),
        ("--repair", usual),
        ("--iri --repair", usual.with(Repair::Iri)),
    ];
    all.into_iter().find_map(|(option, repairs)| {
        let is_read = |record: &[u8]| mended(record, repairs).is_some();
        let is_usual = is_most(bad.iter().copied(), is_read);
        let first = bad.iter().find_map(|record| mended(record, repairs)).filter(|_| is_usual)?;
        Some((option, first))
    })
}

/// `record` with `repairs`, if that is a URI with an authority, which `Name: text` is not, a tab is not lost, and it is not of
/// several URIs.
fn mended(record: &[u8], repairs: Repairs) -> Option<Vec<u8>> {
    let mut words = record.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let is_uri = |word: &[u8]| word.windows(3).any(|bytes| bytes == b"://");
    if record.contains(&b'\t') || words.any(is_uri) && words.any(is_uri) {
        return None;
    }
    let mut out = Vec::new();
    repair(record, repairs, &mut out).ok()?;
    let parts = parse(&out).ok()?;
    // A quote inside is that of a row with several fields.
    let is_row = record.contains(&b'"') && out.windows(3).any(|bytes| bytes == b"%22");
    (parts.is_uri() && parts.authority(&out).is_some() && !is_row).then_some(out)
}

/// Whether the records are a URI and numbers each, such as counts or the status of answers, separated by spaces.
fn are_counted(bad: &[&[u8]]) -> bool {
    let is_number = |word: &[u8]| {
        let is_part = |byte: &u8| byte.is_ascii_digit() || b".,:-+/TZ%".contains(byte);
        word.iter().all(is_part) && word.iter().any(u8::is_ascii_digit)
    };
    let is_uri = |word: &[u8]| parse(word).is_ok_and(|parts| parts.is_uri());
    let is_counted = |record: &[u8]| {
        let words = record.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let (numbers, others): (Vec<_>, Vec<_>) = words.partition(|word| is_number(word));
        !numbers.is_empty() && others.len() == 1 && is_uri(others[0])
    };
    is_most(bad.iter().copied(), is_counted)
}

/// The valid links in the records `bad`, as `uriscan extract` finds them in text by the definition `find`.
pub(super) fn links(bad: &[&[u8]], find: Options) -> Vec<Vec<u8>> {
    let options = ExtractorOptions::default().find(find);
    let text = PaddedBuf::from_content(&bad.join(&b'\n'));
    let mut links = Links::new();
    Extractor::new(options).extract(Kernels::detect(), Format::Text, text.padded(), &mut links);
    let content = text.padded().content();
    // Not the part of a link before what is not ASCII.
    let is_whole = |end: u32| content.get(end as usize).is_none_or(u8::is_ascii);
    let found = links.iter(content).filter(|(link, _)| is_whole(link.span.end));
    let uris = found.map(|(_, uri)| uri).filter(|uri| parse(uri).is_ok_and(|parts| parts.is_uri()));
    uris.map(<[u8]>::to_vec).collect()
}
