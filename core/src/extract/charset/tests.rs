//! Declarations of character sets, and the links of documents that have them.

use encoding_rs::{BIG5, EUC_JP, GB18030, GBK, KOI8_R, SHIFT_JIS, WINDOWS_1251};

use super::*;
use crate::extract::{Extractor, ExtractorOptions, Format, PageParts};
use crate::simd::Kernels;

/// Every link of `text`, as written, and the bytes from which it was read.
fn found(format: Format, text: &[u8], parts: PageParts) -> Vec<(String, Vec<u8>)> {
    let options = ExtractorOptions::default().base(b"http://h/".to_vec()).page_parts(parts);
    let (buf, mut links) = (PaddedBuf::from_content(text), Links::new());
    Extractor::new(options).extract(Kernels::detect(), format, buf.padded(), &mut links);
    let of = |uri: &[u8]| String::from_utf8(uri.to_vec()).unwrap();
    links.iter(text).map(|(link, uri)| (of(uri), link.span.of(text).to_vec())).collect()
}

fn links(format: Format, text: &[u8]) -> Vec<String> {
    found(format, text, PageParts::default()).into_iter().map(|(uri, _)| uri).collect()
}

/// `text` in `charset`, which has all of it.
fn coded(charset: Charset, text: &str) -> Vec<u8> {
    let (bytes, _, has_others) = charset.encode(text);
    assert!(!has_others, "{} {text}", charset.name());
    bytes.into_owned()
}

/// Character sets, and words that they have.
const WORDS: [(Charset, &str); 9] = [
    (SHIFT_JIS, "\u{8868}"),
    (EUC_JP, "\u{65E5}\u{672C}"),
    (ISO_2022_JP, "\u{65E5}\u{672C}"),
    (GBK, "\u{4E2D}\u{6587}"),
    (GB18030, "\u{1F600}\u{E9}\u{4E2D}"),
    (BIG5, "\u{529F}\u{8A31}"),
    (WINDOWS_1251, "\u{043F}\u{0443}\u{0442}\u{044C}"),
    (KOI8_R, "\u{043F}\u{0443}\u{0442}\u{044C}"),
    (WINDOWS_1252, "caf\u{E9}\u{20AC}"),
];

fn in_percent(text: &str) -> String {
    String::from_utf8_lossy(&crate::extract::reference::encoded(text.as_bytes())).into_owned()
}

#[test]
fn paths_are_those_of_browsers_in_every_character_set() {
    assert_eq!(
        links(Format::Html, b"<meta charset=shift_jis><a href=\"/\x95\x5C.html\">"),
        ["http://h/%E8%A1%A8.html"]
    );
    for (charset, word) in WORDS {
        let (name, path) = (charset.name(), in_percent(word));
        let head = [
            format!("<meta charset={name}>"),
            format!("<META CHARSET=' {name} '>"),
            format!("<meta content='text/html; charset={name}' http-equiv=Content-Type>"),
            format!("<?xml version='1.0' encoding='{name}'?><html>"),
            format!("<!-- <meta charset=utf-8> --><title>{word}</title><meta charset='{name}'>"),
            format!("{}<meta charset={name}>", "<!-- x -->".repeat(300)),
            format!("<meta charset=unknown><meta charset={name}>"),
        ];
        for head in head {
            // One that shifts is looked for where it is declared early.
            if charset == ISO_2022_JP && (head.len() > PAGE_HEAD || !head.contains(word)) {
                continue;
            }
            let page = coded(
                charset,
                &format!("{head}<p>{word}<a href='/a'><a href='/{word}.html'>{word}<img src=b>"),
            );
            let expected =
                ["http://h/a".into(), format!("http://h/{path}.html"), "http://h/b".into()];
            assert_eq!(links(Format::Html, &page), expected, "{name} {head}");
        }
    }
}

#[test]
fn queries_are_in_the_character_set_of_the_page() {
    for (charset, page, expected) in [
        (WINDOWS_1251, "/\u{43F}?q=\u{43F}#\u{43F}", "http://h/%D0%BF?q=%EF#%D0%BF"),
        (WINDOWS_1251, "https://x/?\u{43F}", "https://x/?%EF"),
        (WINDOWS_1251, "ws://x/?\u{43F}", "ws://x/?%D0%BF"),
        (WINDOWS_1251, "?q=&#x43F;", "http://h/?q=%EF"),
        (SHIFT_JIS, "?q=a&#x8868;", "http://h/?q=a%95%5C"),
        (WINDOWS_1251, "?q=&#x4E2D;&eacute;", "http://h/?q=%26%2320013%3B%26%23233%3B"),
        (SHIFT_JIS, "?a=\u{8868}&amp;b", "http://h/?a=%95%5C&b"),
        (GBK, "?a=\u{4E2D}", "http://h/?a=%D6%D0"),
        (GB18030, "?a=\u{1F600}", "http://h/?a=%949%FC6"),
        (WINDOWS_1252, "?a=\u{20AC}#?\u{E9}", "http://h/?a=%80#?%C3%A9"),
        (BIG5, "x#a?\u{529F}", "http://h/x#a?%E5%8A%9F"),
    ] {
        let page =
            format!("<meta charset={}><title>\u{B7}</title><a href='{page}'>", charset.name());
        let page = charset.encode(&page).0;
        assert_eq!(links(Format::Html, &page), [expected], "{}", charset.name());
    }
    // Also where all bytes are ASCII.
    let page = b"<meta charset=windows-1251><a href=a><a href='?q=&#x43F;'>";
    assert_eq!(links(Format::Html, page), ["http://h/a", "http://h/?q=%EF"]);
    // What was decoded from UTF-16 is sent as UTF-8.
    let wide: Vec<u8> =
        "\u{FEFF}<a href='?\u{43F}'>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(links(Format::Html, &wide), ["http://h/?%D0%BF"]);
}

#[test]
fn a_page_in_utf_8_or_without_a_declaration_keeps_its_bytes() {
    for head in [
        &b""[..],
        b"<meta charset=utf-8>",
        b"<meta charset=utf-16>",
        b"<meta charset=nothing>",
        b"<meta name=charset content=shift_jis>",
        b"<meta content='text/html; charset=shift_jis'>",
        b"<!-- <meta charset=shift_jis> -->",
        b"<metal charset=shift_jis>",
        b"\xEF\xBB\xBF<meta charset=shift_jis>",
    ] {
        let page = [head, b"><a href='/\xE8\xA1\xA8?\xE8\xA1\xA8'><a href='/\x95.html'>"].concat();
        let expected = ["http://h/%E8%A1%A8?%E8%A1%A8", "http://h/%95.html"];
        assert_eq!(links(Format::Html, &page), expected, "{}", head.escape_ascii());
    }
}

#[test]
fn other_documents_declare_their_character_sets_too() {
    let word = "\u{8868}";
    for charset in [SHIFT_JIS, GBK, EUC_JP] {
        let name = charset.name();
        let feed = format!(
            "<?xml version=\"1.0\" encoding=\"{name}\"?><rss><channel><title>{word}</title><link>http://x/{word}</link></channel></rss>"
        );
        let sheet = format!("@charset \"{name}\";\na{{background:url(/{word}.png)}}");
        for (format, text, expected) in [
            (Format::Xml, feed, "http://x/%E8%A1%A8"),
            (Format::Css, sheet, "http://h/%E8%A1%A8.png"),
        ] {
            assert_eq!(links(format, &coded(charset, &text)), [expected], "{name} {format}");
            let marked = format!("\u{FEFF}{text}");
            assert_eq!(links(format, marked.as_bytes()), [expected], "UTF-8 {format}");
            let wide: Vec<u8> =
                format!("\u{FEFF}{text}").encode_utf16().flat_map(u16::to_be_bytes).collect();
            assert_eq!(links(format, &wide), [expected], "UTF-16 {format}");
        }
    }
}

#[test]
fn parts_of_pages_are_decoded_as_well() {
    let page = coded(
        SHIFT_JIS,
        "<meta charset=sjis><style>a{b:url(\"/\u{8868}\")}</style><a href=x><meta property=og:image content=/\u{8868}>",
    );
    let parts = PageParts::default().css(true).meta(true);
    let expected = ["http://h/%E8%A1%A8", "http://h/x", "http://h/%E8%A1%A8"];
    let found: Vec<_> = found(Format::Html, &page, parts).into_iter().map(|(uri, _)| uri).collect();
    assert_eq!(found, expected);
}

#[test]
fn positions_are_those_of_the_undecoded_document() {
    for (charset, word) in WORDS {
        let page = coded(
            charset,
            &format!(
                "<meta charset={}><p>{word}<a href='/{word}'>{}<a srcset='1 1x, {word} 2x'><img src=b>",
                charset.name(),
                word.repeat(3000)
            ),
        );
        let found = found(Format::Html, &page, PageParts::default());
        let texts: Vec<_> =
            found.into_iter().map(|(_, span)| charset.decode(&span).0.into_owned()).collect();
        let set = format!("1 1x, {word} 2x");
        // A span in ISO-2022-JP begins before, or after, the escape.
        if charset != ISO_2022_JP {
            assert_eq!(
                texts,
                [format!("/{word}"), set.clone(), set, "b".into()],
                "{}",
                charset.name()
            );
        } else {
            assert_eq!(texts.len(), 4);
        }
    }
}

#[test]
fn queries_in_iso_2022_jp_are_encoded_as_in_browsers() {
    for (query, expected) in [
        ("\u{65E5}", "%1B$BF|%1B(B"),
        // The bytes 0x25 0x27, a `%` and a quote, and 0x21 0x22, 0x23, 0x3C and 0x3E.
        ("\u{30A7}", "%1B$B%%27%1B(B"),
        ("\u{3001}x'\u{3001}", "%1B$B!%22%1B(Bx'%1B$B!%22%1B(B"),
        ("\u{3001}\t ", "%1B$B!%22%1B(B\t "),
        ("\u{FF23}", "%1B$B%23C%1B(B"),
        ("\u{30FC}", "%1B$B!%3C%1B(B"),
        ("\u{FF3E}", "%1B$B!0%1B(B"),
        // What it lacks.
        ("\u{1F600}", "%26%23128512%3B"),
    ] {
        let typed = format!("http://h/?{query}");
        let found = with_query(typed.as_bytes(), ISO_2022_JP, Some(b"http"));
        assert_eq!(String::from_utf8_lossy(&found), format!("http://h/?{expected}"), "{query}");
    }
}

#[test]
fn the_base_of_a_page_is_decoded_too() {
    let page = coded(SHIFT_JIS, "<meta charset=sjis><base href='/\u{8868}/'><a href=x>");
    assert_eq!(links(Format::Html, &page), ["http://h/%E8%A1%A8/x"]);
}

#[test]
fn names_are_found_in_fields() {
    for (value, expected) in [
        (&b"text/html; charset=Shift_JIS"[..], Some(SHIFT_JIS)),
        (b"text/html;charset=\"gbk\"; x", Some(GBK)),
        (b"text/html; Charset = 'big5'", Some(BIG5)),
        (b"text/html; charset; charset=gbk", Some(GBK)),
        (b"text/html; charset=x-sjis;q", Some(SHIFT_JIS)),
        (b"text/html; charset=", None),
        (b"text/html; charset=\"gbk", None),
        (b"text/html; charset=zzz", None),
        (b"text/html", None),
        (b"", None),
    ] {
        assert_eq!(of_content_type(value), expected, "{}", value.escape_ascii());
    }
}

/// The obvious reading: one byte after the other.
fn positions_byte_by_byte(source: &[u8], charset: Charset) -> Vec<(u32, u32)> {
    let mut decoder = charset.new_decoder_without_bom_handling();
    let (mut room, mut written, mut all) = ([0; 64], 0, vec![(0, 0)]);
    for (at, byte) in source.iter().enumerate() {
        let (_, _, len, _) = decoder.decode_to_utf8(&[*byte], &mut room, false);
        if len > 0 {
            written += len;
            all.push((written as u32, at as u32 + 1));
        }
    }
    all
}

#[test]
fn positions_in_large_steps_are_those_byte_by_byte() {
    let noise: Vec<u8> = (0..9000u32).map(|i| (i.wrapping_mul(i) >> 3) as u8).collect();
    for (charset, word) in WORDS {
        let text = charset.encode(&format!("{word} abc ").repeat(2000)).0.into_owned();
        for source in [&text, &noise] {
            let expected = positions_byte_by_byte(source, charset);
            for step in [1, 7, 1000, 100_000] {
                let some: Vec<_> = expected.iter().step_by(step).copied().collect();
                let asked = some.iter().rev().map(|&(decoded, _)| decoded).collect();
                let positions = Positions::new(source, charset, asked);
                for (decoded, original) in some {
                    assert_eq!(positions.of(decoded), original, "{} {decoded}", charset.name());
                }
            }
        }
    }
}
