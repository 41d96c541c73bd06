//! Tests links whose slashes and other bytes are escaped as in scripts, and the parts of pages that are read on request.

use proptest::prelude::*;
use uriscan::extract::{ExtractorOptions, Finder, Format, Links, Options, PageParts};
use uriscan::{Kernels, PaddedBuf};

use super::formats::links;

/// The URIs of `text`, on every backend, and the texts at their positions.
fn found(text: &str) -> (Vec<String>, Vec<String>) {
    let buf = PaddedBuf::from_content(text.as_bytes());
    let find = |kernels| {
        let mut links = Links::new();
        Finder::new(Options::default()).find_all(kernels, buf.padded(), &mut links);
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let found = links.iter(text.as_bytes());
        found.map(|(link, uri)| (shown(uri), shown(link.span.of(text.as_bytes())))).unzip()
    };
    let expected = find(Kernels::detect());
    Kernels::available().for_each(|kernels| assert_eq!(find(kernels), expected));
    expected
}

#[test]
fn escapes_of_scripts_in_links_are_decoded() {
    for (text, expected) in [
        (r#"var u="https:\/\/h.example\/a";"#, r"https:\/\/h.example\/a"),
        (r#"var u='https:\/\/h.example\/a';"#, r"https:\/\/h.example\/a"),
        (r#"u="https:\u002F\u002Fh.example\u002Fa""#, r"https:\u002F\u002Fh.example\u002Fa"),
        (r#"u="https:\x2F\x2fh.example\x2fa""#, r"https:\x2F\x2fh.example\x2fa"),
        (r#"u=\"https:\\\/\\\/h.example\\\/a\""#, r"https:\\\/\\\/h.example\\\/a"),
        (
            r"u=\u0022https:\u002f\u002fh.example\u002fa\u0022;",
            r"https:\u002f\u002fh.example\u002fa",
        ),
        (r#"https:\/\/h.example\/a"#, r"https:\/\/h.example\/a"),
        (r"\nhttps:\/\/h.example\/a\n", r"https:\/\/h.example\/a"),
        (r"(https:\/\/h.example\/a).", r"https:\/\/h.example\/a"),
        (r"<https:\/\/h.example\/a>", r"https:\/\/h.example\/a"),
        (r"https://h.example\/a", r"https://h.example\/a"),
    ] {
        let (uris, places) = found(text);
        assert_eq!(uris, ["https://h.example/a"], "{text}");
        assert_eq!(places, [expected], "{text}");
    }
    for (text, expected) in [
        (r#"http://h/s?q\x3da\x26hl\x3db""#, &["http://h/s?q=a&hl=b"][..]),
        (r#""http://h/?a\u0026b\u003dc\u0026quot""#, &["http://h/?a&b=c&quot"]),
        (r"http:\/\/a\/,http:\/\/b\/c;http://d\/", &["http://a/", "http://b/c", "http://d/"]),
        (r#"{\"u\":\"http:\/\/a\",\"v\":\"http:\/\/b\/(c)\"}"#, &["http://a", "http://b/(c)"]),
        (r"ftp:\/\/h\/a git+https:\/\/h\/b", &["ftp://h/a", "git+https://h/b"]),
        (
            r"http://h/a\u00e9 http://h/b\u0020x http://h/c\x22",
            &["http://h/a", "http://h/b", "http://h/c"],
        ),
    ] {
        assert_eq!(found(text).0, expected, "{text}");
    }
}

#[test]
fn patterns_and_paths_with_backslashes_are_not_links() {
    for text in [
        r"/^http:\/\/h\.example\/a/",
        r"/^https:\/\/(www\.)?h\.example/",
        r"http:\/\/\w+",
        r"http:\/\/\/a",
        r"C:\/x",
        r"a:\b http:\ http:\/ http:\\h",
    ] {
        assert_eq!(found(text).0, [""; 0], "{text}");
    }
    for text in
        [r"http://h/a\b", r"http://h/a\\", r"http://h/a\", r"http://h/a\u00", r"http://h/a\nhttp"]
    {
        assert_eq!(found(text).0, ["http://h/a"], "{text}");
    }
}

#[test]
fn strings_of_json_hold_scripts() {
    let text = br#"{"s":"<script>u=\"https:\\/\\/h.example\\/a\"</script>","t":"https:\u002f\u002Fh.example\/b"}"#;
    let (found, _) = links(ExtractorOptions::default(), Format::Json, text);
    assert_eq!(found, ["field https://h.example/a", "field https://h.example/b"]);
}

proptest! {
    #[test]
    fn links_are_the_same_with_and_without_escapes(
        text in r#"(https?://[a-z]{1,3}(/[a-z?&=.,;()]{0,8}){0,3}[ "<>\n(]|[a-z .,:(]{0,3}){0,9}"#,
    ) {
        let expected = found(&text).0;
        for slash in [r"\/", r"\u002f", r"\x2F", r"\\/"] {
            prop_assert_eq!(&found(&text.replace('/', slash)).0, &expected, "{}", slash);
        }
    }
}

#[test]
fn scripts_and_attributes_of_pages_are_read_on_request() {
    let page = br##"<html manifest=m><script>u="https:\/\/h\/a"</script><script type=application/json>{"u":"http:\u002F\u002Fh\u002Fb"}</script>
        <script src=c></script><iframe srcdoc="<a href='/d?x&amp;amp;y'>"></iframe><svg><use xlink:href="#no"/><image xlink:href=e></svg>
        <img data-src=f.jpg data-srcset="g 1x, h 2x"><a ping="i /j" href=k>x</a><img data-src="">"##;
    let read = |parts: PageParts| {
        let options = ExtractorOptions::default().base(b"http://b/".to_vec()).page_parts(parts);
        links(options, Format::Html, page).0
    };
    let usual = ["src http://b/c", "href http://b/k"];
    assert_eq!(read(PageParts::default()), usual);
    let script = ["script https://h/a", "script http://h/b", usual[0], usual[1]];
    assert_eq!(read(PageParts::default().script(true)), script);
    let attributes = [
        "attribute http://b/m",
        usual[0],
        "href http://b/d?x&y",
        "attribute http://b/e",
        "attribute http://b/f.jpg",
        "attribute http://b/g",
        "attribute http://b/h",
        "attribute http://b/i",
        "attribute http://b/j",
        usual[1],
    ];
    assert_eq!(read(PageParts::default().attributes(true)), attributes);
    assert_eq!(read(PageParts::default().attributes(true).data(true)), attributes);
}
