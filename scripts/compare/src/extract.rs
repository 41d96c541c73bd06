//! Libraries that find links, including uriscan, on one thread and in memory.

use std::fs;
use std::io::Read;

use html5gum::Tokenizer;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use linkify::{LinkFinder, LinkKind};
use quick_xml::events::Event;
use uriscan::Kernels;
use uriscan::extract::{Context, Extractor, ExtractorOptions, Format, Links};
use uriscan::{Padded, PaddedBuf};

use crate::rounds::{Outcome, Peer, compare};

/// Maximum number of bytes of text or pages that are read.
const MOST: usize = 64 << 20;
/// Number of bytes of text that are passed to uriscan's finder per call, as in its program.
const CHUNK: usize = 128 << 10;

/// Compares the libraries for files of a kind: `text`, `html`, `xml` or `inflate`.
pub(crate) fn run(kind: &str, files: &[String], rounds: usize) -> Outcome<()> {
    match kind {
        "text" => text(files, rounds),
        "html" => html(files, rounds),
        "xml" => xml(files, rounds),
        _ => inflate(files, rounds),
    }
}

/// The bytes of the files, concatenated, up to [`MOST`].
fn load(files: &[String]) -> Outcome<Vec<Vec<u8>>> {
    let mut sum = 0;
    let mut all = Vec::new();
    for file in files {
        let mut bytes = fs::read(file).map_err(|error| format!("{file}: {error}"))?;
        bytes.truncate(MOST - sum);
        sum += bytes.len();
        all.push(bytes);
        if sum == MOST {
            break;
        }
    }
    Ok(all)
}

/// Links in running text, and a pass over the bytes that does nothing with them.
fn text(files: &[String], rounds: usize) -> Outcome<()> {
    let bytes = load(files)?.concat();
    let text = String::from_utf8_lossy(&bytes);
    let chunks = chunks(text.as_bytes());
    let all = |extractor: &Extractor, format| -> u64 {
        chunks.iter().map(|chunk| found(extractor, format, chunk.padded())).sum()
    };
    let extractor = Extractor::default();
    let peers: Vec<Peer<'_>> = vec![
        ("uriscan", Box::new(|| all(&extractor, Format::Text))),
        ("uriscan-clf", Box::new(|| all(&extractor, Format::Clf))),
        (
            "linkify",
            Box::new(|| {
                let mut finder = LinkFinder::new();
                finder.kinds(&[LinkKind::Url]);
                finder.links(&text).count() as u64
            }),
        ),
        ("memory", Box::new(|| sum(text.as_bytes()))),
    ];
    compare(text.len(), rounds, &peers)
}

/// Links of sitemaps, and the reader of XML alone, which finds what stands in `loc`.
fn xml(files: &[String], rounds: usize) -> Outcome<()> {
    // Whole files: a truncated one is not well-formed.
    let mut sitemaps = load(files)?;
    sitemaps.retain(|it| it.trim_ascii_end().ends_with(b">"));
    if sitemaps.iter().map(Vec::len).sum::<usize>() == MOST {
        sitemaps.pop();
    }
    let padded: Vec<PaddedBuf> = sitemaps.iter().map(|it| PaddedBuf::from_content(it)).collect();
    let extractor = Extractor::default();
    let peers: Vec<Peer<'_>> = vec![
        (
            "uriscan",
            Box::new(|| padded.iter().map(|it| found(&extractor, Format::Xml, it.padded())).sum()),
        ),
        ("quick-xml", Box::new(|| sitemaps.iter().map(|it| locations(it)).sum())),
    ];
    compare(sitemaps.iter().map(Vec::len).sum(), rounds, &peers)
}

/// Number of texts that stand in `loc`.
fn locations(sitemap: &[u8]) -> u64 {
    let mut reader = quick_xml::Reader::from_reader(sitemap);
    let (mut is_inside, mut count) = (false, 0);
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(start) => is_inside = start.local_name().as_ref() == "loc",
            Event::End(_) => is_inside = false,
            Event::Text(text) if is_inside => {
                count += u64::from(!text.is_empty());
                is_inside = false;
            }
            Event::Eof => return count,
            _ => {}
        }
    }
}

/// The text in chunks of whole lines, each with padding of its own.
fn chunks(content: &[u8]) -> Vec<PaddedBuf> {
    let (mut start, mut all) = (0, Vec::new());
    while start < content.len() {
        let limit = content.len().min(start + CHUNK);
        let end = content[start..limit].iter().rposition(|&byte| byte == b'\n');
        let len = end.map_or(limit - start, |at| at + 1);
        all.push(PaddedBuf::from_content(&content[start..start + len]));
        start += len;
    }
    all
}

fn found(extractor: &Extractor, format: Format, text: Padded<'_>) -> u64 {
    let mut links = Links::new();
    extractor.extract(Kernels::detect(), format, text, &mut links);
    links.len() as u64
}

/// Reads all words.
fn sum(bytes: &[u8]) -> u64 {
    let mut sums = [0u64; 16];
    for block in bytes.as_chunks::<128>().0 {
        for (sum, word) in sums.iter_mut().zip(block.as_chunks::<8>().0) {
            *sum ^= u64::from_le_bytes(*word);
        }
    }
    sums.into_iter().fold(0, |all, sum| all ^ sum) & 1
}

/// The `href` and `src` of pages.
fn html(files: &[String], rounds: usize) -> Outcome<()> {
    let pages = load(files)?;
    let padded: Vec<PaddedBuf> = pages.iter().map(|page| PaddedBuf::from_content(page)).collect();
    let base = Some(b"http://example.com/".to_vec());
    let extractor = Extractor::new(ExtractorOptions::default().base(base));
    let peers: Vec<Peer<'_>> = vec![
        (
            "uriscan",
            Box::new(|| {
                let mut links = Links::new();
                let mut count = 0;
                for page in &padded {
                    links.clear();
                    extractor.extract(Kernels::detect(), Format::Html, page.padded(), &mut links);
                    let is_counted = |context| matches!(context, Context::Href | Context::Src);
                    let all = links.iter(page.padded().content());
                    count += all.filter(|(link, _)| is_counted(link.context)).count() as u64;
                }
                count
            }),
        ),
        ("html5gum", Box::new(|| pages.iter().map(|page| by_html5gum(page)).sum())),
    ];
    compare(pages.iter().map(Vec::len).sum(), rounds, &peers)
}

/// The code that a user of that library writes to read attributes without an allocation per token.
fn by_html5gum(page: &[u8]) -> u64 {
    let (mut count, mut is_base, mut is_wanted) = (0, false, false);
    let (mut seen_href, mut seen_src) = (false, false);
    let mut emitter =
        CallbackEmitter::new(|event: CallbackEvent<'_>, _: html5gum::Span<()>| -> Option<()> {
            match event {
                CallbackEvent::OpenStartTag { name } => {
                    (is_base, seen_href, seen_src) = (name == b"base", false, false);
                }
                CallbackEvent::AttributeName { name } => {
                    let seen = match name {
                        b"href" => &mut seen_href,
                        b"src" => &mut seen_src,
                        _ => {
                            is_wanted = false;
                            return None;
                        }
                    };
                    is_wanted = !*seen && !is_base;
                    *seen = true;
                }
                CallbackEvent::AttributeValue { .. } if is_wanted => count += 1,
                _ => {}
            }
            None
        });
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(page, emitter) {
        let Ok(()) = token;
    }
    count
}

/// The decompressed size of gzip data, by the library alone.
fn inflate(files: &[String], rounds: usize) -> Outcome<()> {
    let data: Vec<Vec<u8>> = files.iter().map(fs::read).collect::<Result<_, _>>()?;
    let plain = || {
        data.iter()
            .map(|data| {
                let mut decoder = flate2::bufread::MultiGzDecoder::new(&data[..]);
                let (mut buffer, mut sum) = (vec![0; CHUNK], 0);
                loop {
                    match decoder.read(&mut buffer).expect("whole gzip data") {
                        0 => return sum,
                        count => sum += count as u64,
                    }
                }
            })
            .sum()
    };
    let bytes = if rounds > 0 { plain() as usize } else { 0 };
    compare(bytes, rounds, &[("inflate", Box::new(plain))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_find_the_links_that_are_there() {
        let page =
            b"<base href=x><a href=/a class=b><img src='c' href=d><p title=e>f<a href=g href=h>";
        assert_eq!(by_html5gum(page), 4);
        assert_eq!(
            locations(b"<urlset><url><loc>http://a/</loc></url><url><loc/></url></urlset>"),
            1
        );
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("input");
        fs::write(&path, b"<urlset><loc>http://a/</loc></urlset>\n").unwrap();
        let files = [path.to_str().unwrap().to_owned()];
        for kind in ["text", "html", "xml"] {
            run(kind, &files, 1).unwrap();
        }
        assert!(run("text", &["missing".to_owned()], 1).is_err());
    }
}
