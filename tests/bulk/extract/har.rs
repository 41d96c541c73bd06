//! Tests HTTP archives of browsers, case by case.

use uriscan::extract::{Extractor, ExtractorOptions, Format, Links};
use uriscan::{Kernels, PaddedBuf};

/// The links of `text` as `context uri`.
fn links(options: ExtractorOptions, text: &[u8]) -> (Vec<String>, Links) {
    let extractor = Extractor::new(options);
    let buf = PaddedBuf::from_content(text);
    let mut links = Links::new();
    extractor.extract(Kernels::detect(), Format::Har, buf.padded(), &mut links);
    let shown = links
        .iter(text)
        .map(|(link, uri)| format!("{} {}", link.context.name(), String::from_utf8_lossy(uri)));
    (shown.collect(), links)
}

const ARCHIVE: &str = r##"{
  "log": { "version": "1.2", "creator": {"name": "x", "url": "http://no/"}, "pages": [{"title": "http://no/"}],
  "entries": [
   {"request": {"method": "GET", "url": "http://h/d/a?b=\u0026c", "headers": [{"name": "Referer", "value": "http://no/"}],
                "postData": {"text": "http://no/"}},
    "response": {"status": 200, "redirectURL": "",
      "headers": [{"name": "LINK", "value": "<x>; rel=next, </y>"}, {"value": "../l", "name": "Location"}, {"name": "Link"}],
      "content": {"size": 1, "mimeType": "text/html; charset=utf-8", "text": "<a href=\"p?q&amp;r\">http:\/\/no/</a>\n<img src=i>"}},
    "cache": {}, "timings": {"url": "http://no/"}},
   {"response": {"content": {"encoding": "base64", "text": "c2VlIGh0dHA6Ly9oL2I2NA==", "mimeType": "text/plain"},
      "redirectURL": "/moved"}, "request": {"url": "http://i/e"}},
   {"request": {"url": "https://h/i.png"}, "response": {"content": {"mimeType": "image/png", "text": "http://no/"}}},
   {"request": {"url": "http://h/s.css"}, "response": {"content": {"mimeType": "text/css", "text": "p{background:url(b.png)}"}}}
  ] } }
"##;

#[test]
fn requests_and_responses_have_links() {
    assert_eq!(Format::of_head(ARCHIVE.as_bytes()), Format::Har);
    let (found, counted) = links(ExtractorOptions::default(), ARCHIVE.as_bytes());
    let expected = [
        "target http://h/d/a?b=&c",
        "link http://h/d/x",
        "link http://h/y",
        "location http://h/l",
        "href http://h/d/p?q&r",
        "src http://h/d/i",
        "text http://h/b64",
        "location http://i/moved",
        "target http://i/e",
        "target https://h/i.png",
        "target http://h/s.css",
        "url http://h/b.png",
    ];
    assert_eq!(found, expected);
    assert_eq!((counted.omitted().miscoded, counted.relative()), (0, 0));
    let spans: Vec<_> = counted.iter(ARCHIVE.as_bytes()).map(|(link, _)| link.span).collect();
    assert!(spans.windows(2).all(|pair| pair[0].start <= pair[1].start));
    assert_eq!(spans[3].of(ARCHIVE.as_bytes()), b"../l");
    assert_eq!(spans[11].of(ARCHIVE.as_bytes()), b"b.png");
    let css = ExtractorOptions::default().media_types(vec!["text/css".to_owned()]);
    assert_eq!(links(css, ARCHIVE.as_bytes()).0, expected[10..]);
}

#[test]
fn archives_are_recognized_by_their_first_members() {
    assert_eq!(Format::of_source("a.har.gz", b"{"), Format::Har);
    for text in [
        "{\"log\":{\"version\":\"1.2\"",
        "\n{ \"log\" : {\n\"entries\" :[",
        "{\"log\":{\"pages\":[]",
    ] {
        assert_eq!(Format::of_head(text.as_bytes()), Format::Har, "{text}");
    }
    for text in
        ["{\"log\":\"x\"}\n", "{\"log\":{\"level\":1}}\n", "{\"a\":{\"log\":{\"version\":1}}}\n"]
    {
        assert_eq!(Format::of_head(text.as_bytes()), Format::Json, "{text}");
    }
}

#[test]
fn archives_that_are_broken_are_read_as_far_as_possible() {
    for cut in 0..ARCHIVE.len() {
        let text = &ARCHIVE.as_bytes()[..cut];
        let (found, counted) = links(ExtractorOptions::default(), text);
        let is_part = !text.trim_ascii().is_empty() && cut < ARCHIVE.trim_end().len();
        assert_eq!(counted.omitted().malformed, u64::from(is_part), "{cut}");
        assert!(
            found.len() <= 12 && !found.iter().any(|uri| uri.contains("//no/")),
            "{cut} {found:?}"
        );
    }
    for text in ["}}}}{{{{\"", "{\"log\":{\"entries\":[{{{{{{{{{{\"url\":\"http://no/\"", "]]]]"] {
        assert!(links(ExtractorOptions::default(), text.as_bytes()).0.is_empty(), "{text}");
    }
    let bad = r#"{"log":{"entries":[{"request":{"url":"a:b"},"response":{"content":{"mimeType":"text/plain","encoding":"base64","text":"aHR0cDovL2gv?"}}}]}}"#;
    let (found, counted) = links(ExtractorOptions::default(), bad.as_bytes());
    assert_eq!(
        (&found[..], counted.omitted().miscoded),
        (&["target a:b", "text http://h/"].map(str::to_owned)[..], 1)
    );
}
