//! Markdown: the destinations that CommonMark gives are found, in order, and all links that are written are found.

use pulldown_cmark::{Event, Options, Parser, Tag};
use uriscan::extract::{Context, Extractor, ExtractorOptions, Format, Links};
use uriscan::{Kernels, PaddedBuf};
use uriscan_core::grammar::class::URI_BYTE;

use crate::{BACKENDS, Choice};

/// The first byte chooses the backend; the rest is a document.
pub fn check(data: &[u8]) {
    let Some((mut choice, text)) = Choice::split(data) else { return };
    let kernels = BACKENDS[choice.backend()];
    if let Ok(string) = str::from_utf8(text) {
        assert_eq!(found(text, kernels), expected(string), "{string:?}");
    }
    check_written(text, kernels);
}

/// The destinations of the links and images of `text` that are plain URLs.
fn found(text: &[u8], kernels: Kernels) -> Vec<String> {
    let buf = PaddedBuf::from_content(text);
    let mut links = Links::new();
    let extractor = Extractor::new(ExtractorOptions::default());
    extractor.extract(kernels, Format::Markdown, buf.padded(), &mut links);
    let wanted = [Context::Inline, Context::Reference, Context::Autolink, Context::Image];
    let all = links.iter(text).filter(|(link, _)| wanted.contains(&link.context));
    all.map(|(_, uri)| String::from_utf8_lossy(uri).into_owned())
        .filter(|it| is_plain(it))
        .collect()
}

/// The same by the events of the parser.
fn expected(text: &str) -> Vec<String> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
    let destination = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(dest_url.into_string())
        }
        _ => None,
    };
    let destinations = Parser::new_ext(text, options).filter_map(destination);
    destinations.map(|it| encoded(&it)).filter(|it| is_plain(it)).collect()
}

/// `url` as it is written: white space around it and line ends in it are dropped, and bytes that no URI may hold encoded.
fn encoded(url: &str) -> String {
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\x0B' | '\x0C' | '\r');
    let bytes = url.trim_matches(is_space).bytes().filter(|byte| !b"\t\n\r".contains(byte));
    bytes
        .map(|byte| match byte {
            _ if URI_BYTE.has(byte) => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

/// An absolute URL of plain bytes.
fn is_plain(url: &str) -> bool {
    url.starts_with("http://")
        && url
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b":/?=&-._~!*'();@%".contains(&byte))
}

/// The links of a document with a paragraph for each line of `text`.
fn check_written(text: &[u8], kernels: Kernels) {
    let plain = |line: &[u8]| -> String {
        line.iter()
            .filter(|byte| byte.is_ascii_alphanumeric())
            .map(|&byte| char::from(byte))
            .collect()
    };
    let (mut document, mut definitions, mut urls) = (String::new(), String::new(), Vec::new());
    for (i, line) in text.split(|&byte| byte == b'\n').take(16).enumerate() {
        let (word, url) = (plain(line), format!("http://h/{}", plain(line)));
        match line.first().map_or(0, |byte| byte % 4) {
            0 => document += &format!("x [{word}]({url}) x\n\n"),
            1 => document += &format!("> ![{word}](<{url}> \"{word}\")\n\n"),
            2 => document += &format!("- **<{url}>**\n\n"),
            _ => {
                document += &format!("{word} [{word}][l{i}]\n\n");
                definitions += &format!("[L{i}]: {url} '{word}'\n");
            }
        }
        urls.push(url);
    }
    document += &definitions;
    assert_eq!(found(document.as_bytes(), kernels), urls, "{document:?}");
}
