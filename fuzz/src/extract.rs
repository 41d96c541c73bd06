//! Documents of any format: the same links on every backend and however they are cut. In text,
//! links and gaps make up the text; in pages, attributes agree with an independent tokenizer.

use std::io::Cursor;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};
use uriscan::Kernels;
use uriscan::PaddedBuf;
use uriscan::extract::{Context, Extractor, ExtractorOptions, Format, Links, Options, Schemes};
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{ExtractOptions, LinkFormat, LinkShape, Settings, Sinks, extract};

use crate::{BACKENDS, Choice};

/// The first bytes choose the format, what to find, the backend and how the text is cut; the rest is the text.
pub fn check(data: &[u8]) {
    let [format, flags, way, text @ ..] = data else { return };
    let mut way = Choice(usize::from(*way));
    let format = Format::ALL[usize::from(*format) % Format::ALL.len()];
    let is = |bit: u8| flags >> bit & 1 != 0;
    let find = Options::default()
        .schemes(if is(0) { Schemes::Any } else { Schemes::Known })
        .unicode(is(1))
        .unwrap(is(2))
        .refang(is(3))
        .bare_hosts(is(4))
        .email(is(5));
    let options = ExtractorOptions::default()
        .find(find)
        .base(is(6).then(|| b"http://base/a/b?c".to_vec()))
        .fields(if is(7) { vec!["a.b".to_owned(), "2".to_owned()] } else { Vec::new() });
    let kernels = BACKENDS[way.backend()];
    match way.below(3) {
        0 => however_cut(&options, format, text, kernels, way.below(17)),
        1 if format == Format::Html => as_another_tokenizer(text, kernels),
        _ => on_a_backend(&options, format, text, kernels),
    }
}

fn found(kernels: Kernels, options: &ExtractorOptions, format: Format, text: &[u8]) -> Links {
    let buf = PaddedBuf::from_content(text);
    let mut links = Links::new();
    Extractor::new(options.clone()).extract(kernels, format, buf.padded(), &mut links);
    links
}

fn on_a_backend(options: &ExtractorOptions, format: Format, text: &[u8], kernels: Kernels) {
    let all = |links: &Links| -> Vec<(uriscan::Span, Context, Vec<u8>)> {
        links.iter(text).map(|(link, uri)| (link.span, link.context, uri.to_vec())).collect()
    };
    let first = all(&found(BACKENDS[0], options, format, text));
    assert_eq!(all(&found(kernels, options, format, text)), first, "{kernels:?}");
    let (mut end, mut joined) = (0, Vec::new());
    for (span, _, uri) in &first {
        assert!(span.start <= span.end && span.end as usize <= text.len());
        if format == Format::Text {
            assert!(!uri.is_empty() && span.start >= end, "links that overlap");
            joined.extend_from_slice(&text[end as usize..span.start as usize]);
            joined.extend_from_slice(span.of(text));
            end = span.end;
        }
    }
    joined.extend_from_slice(&text[end as usize..]);
    assert_eq!(joined, text);
}

fn however_cut(
    options: &ExtractorOptions,
    format: Format,
    text: &[u8],
    kernels: Kernels,
    cut: usize,
) {
    let rows = |chunk_bytes: usize, threads: usize| {
        let settings =
            Settings::default().chunk_bytes(chunk_bytes).threads(threads).kernels(kernels);
        let options = ExtractOptions::default().extractor(options.clone()).format(format);
        let shape = LinkFormat::default().shape(LinkShape::Jsonl);
        let mut out = Vec::new();
        let source = Source::new("a", Cursor::new(text.to_vec()));
        let report = extract(vec![source], &options, shape, &settings, &mut Sinks::new(&mut out));
        (report.map(|report| (report.written, report.invalid.total())).ok(), out)
    };
    // Another thread is waited for, so most runs have none.
    let threads = if cut % 8 == 7 { 2 } else { 1 };
    assert_eq!(rows(1 + 4 * cut, threads), rows(1 << 20, 1));
}

/// The absolute references of `href` and `src`.
fn as_another_tokenizer(text: &[u8], kernels: Kernels) {
    // A page in UTF-16, or with the escapes of ISO-2022-JP, is decoded first, which that tokenizer leaves to its caller.
    let is_wide =
        matches!(text, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [b'<', 0, ..] | [0, b'<', ..]);
    if is_wide || text.contains(&0x1B) {
        return;
    }
    let mut expected = Vec::new();
    let mut emitter = DefaultEmitter::<()>::default();
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(text, emitter) {
        let Ok(Token::StartTag(StartTag { name, attributes, .. })) = token else { continue };
        let wanted = [&b"href"[..], b"src"];
        let is_wanted = |name: &[u8]| wanted.contains(&name);
        let values = attributes.into_iter().filter(|(attribute, _)| is_wanted(&attribute.0));
        // Bytes that no URI may hold are written differently on purpose.
        let is_plain = |value: &[u8]| {
            value.starts_with(b"x:")
                && value.iter().all(|b| b.is_ascii_alphanumeric() || b":/?=".contains(b))
        };
        if name.0 != b"base" {
            expected.extend(values.map(|(_, value)| value.0.to_vec()).filter(|v| is_plain(v)));
        }
    }
    let links = found(kernels, &ExtractorOptions::default(), Format::Html, text);
    let is_wanted = |context| matches!(context, Context::Href | Context::Src);
    let all = links.iter(text).filter(|(link, _)| is_wanted(link.context));
    let is_plain = |uri: &&[u8]| {
        uri.starts_with(b"x:")
            && uri.iter().all(|b| b.is_ascii_alphanumeric() || b":/?=".contains(b))
    };
    let mut found: Vec<Vec<u8>> =
        all.map(|(_, uri)| uri).filter(is_plain).map(<[u8]>::to_vec).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}
