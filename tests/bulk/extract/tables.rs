//! Tests tables, indexes, paths into JSON, custom log formats, and Markdown.

use uriscan::Kernels;
use uriscan::PaddedBuf;
use uriscan::extract::{Context, Extractor, ExtractorOptions, Format, Links, LogFormat};

fn links(options: &ExtractorOptions, format: Format, text: &str) -> Vec<String> {
    let extractor = Extractor::new(options.clone());
    let buf = PaddedBuf::from_content(text.as_bytes());
    let mut links = Links::new();
    extractor.extract(Kernels::detect(), format, buf.padded(), &mut links);
    let all = links.iter(text.as_bytes());
    let shown = |(link, uri): (&uriscan::extract::Link, &[u8])| {
        assert!(link.span.end as usize <= text.len());
        format!("{} {}", link.context.name(), String::from_utf8_lossy(uri))
    };
    all.map(shown).collect()
}

fn fields(names: &[&str], base: Option<&str>) -> ExtractorOptions {
    ExtractorOptions::default()
        .fields(names.iter().map(|&name| name.to_owned()).collect())
        .base(base.map(|base| base.as_bytes().to_vec()))
}

const TABLE: &str = "id,url,\"the note\"\r\n1,http://h/a,\"see http://h/n, \"\"http://h/q\"\"\nand http://h/m\"\r\n\
                     2,/b,http://h/x|http://h/y\r\n";

#[test]
fn columns_are_selected_by_name_or_number() {
    let all = links(&fields(&[], None), Format::Csv, TABLE);
    let expected =
        ["http://h/a", "http://h/n", "http://h/q", "http://h/m", "http://h/x", "http://h/y"];
    assert_eq!(all, expected.map(|uri| format!("field {uri}")));
    let by_name = links(&fields(&["url"], Some("http://b/")), Format::Csv, TABLE);
    assert_eq!(by_name, ["field http://h/a", "field http://b/b"]);
    let by_number = links(&fields(&["2"], None), Format::Csv, TABLE);
    assert_eq!(by_number, ["field http://h/a"]);
    // A value that is a URI after encoding counts as one.
    let note = links(&fields(&["the note"], None), Format::Csv, TABLE);
    let expected = ["http://h/n", "http://h/q", "http://h/m", "http://h/x%7Chttp://h/y"];
    assert_eq!(note, expected.map(|uri| format!("field {uri}")));
    assert!(links(&fields(&["no such"], None), Format::Csv, TABLE).is_empty());
    let tabs = "u\tv\nhttp://h/a,b\t\"http://h/c\"\n";
    assert_eq!(links(&fields(&["u"], None), Format::Tsv, tabs), ["field http://h/a,b"]);
    assert_eq!(links(&fields(&["2"], None), Format::Tsv, tabs), ["field http://h/c"]);
}

#[test]
fn indexes_have_the_target_uris_of_their_lines() {
    let cdxj = "!OpenWayback-CDXJ 1.0\n\
                com,example)/a 20200101000000 {\"url\": \"http://example.com/a\", \"referrer\": \"http://r/\"}\n\
                com,example)/b 20200101000000 {\"url\": \"http://example.com/b b\"}\n";
    assert_eq!(Format::of_source("-", cdxj.as_bytes()), Format::Cdxj);
    let found = links(&fields(&[], None), Format::Cdxj, cdxj);
    assert_eq!(found, ["field http://example.com/a", "field http://example.com/b"]);
    assert_eq!(links(&fields(&["referrer"], None), Format::Cdxj, cdxj), ["field http://r/"]);
    let cdx = " CDX N b a m s k r M S V g\n\
               com,example)/a 20200101000000 http://example.com/a text/html 200 X - - 1 2 a.warc.gz\r\n";
    assert_eq!(Format::of_source("-", cdx.as_bytes()), Format::Cdxj);
    assert_eq!(links(&fields(&[], None), Format::Cdxj, cdx), ["field http://example.com/a"]);
}

#[test]
fn paths_lead_to_members_of_members() {
    let text = r#"{"request":{"url":"http://h/1","x":{"url":"http://h/no"}},"url":"http://h/no","links":[{"url":"http://h/2"},"x",{"url":"http://h/3"}]}
{"a":{"request":{"host":"x","url":["http://h/4","http://h/5"]}},"request":"http://h/no","a.b":"http://h/6"}
{"text":"{\"request\":{","links":{},"url":"http://h/no"}
"#;
    let found = links(&fields(&["request.url", "links.url", "a.b"], None), Format::Json, text);
    let expected = ["1", "2", "3", "4", "5", "6"].map(|name| format!("field http://h/{name}"));
    assert_eq!(found, expected);
    assert_eq!(links(&fields(&["a.request.url"], None), Format::Json, text).len(), 2);
    // Nested deeper than names are tracked.
    let deep = format!("{}{{\"a\":{{\"b\":\"http://h/\"}}}}\n", "{\"x\":".repeat(1000));
    assert_eq!(links(&fields(&["b"], None), Format::Json, &deep), ["field http://h/"]);
    links(&fields(&["a.b"], None), Format::Json, &deep);
}

#[test]
fn a_pattern_defines_the_format_of_a_log() {
    let with = |pattern: &str, log_fields: Vec<Context>| {
        ExtractorOptions::default()
            .log_format(LogFormat::new(pattern).unwrap())
            .log_fields(log_fields)
            .base(b"https://b/".to_vec())
    };
    let nginx = r#"$scheme $host $remote_addr [$time_local] "$request" $status "$http_referer""#;
    let log = "https h.example 1.2.3.4 [x] \"GET /a?b HTTP/1.1\" 200 \"http://r/\"\n\
               http - 1.2.3.4 [x] \"GET /c HTTP/1.1\" 200 \"-\"\n\
               https h.example 1.2.3.4 [x] \"GET http://o/d HTTP/1.1\" 200 \"-\"\n\
               error: http://e/\n";
    let expected = [
        "target https://h.example/a?b",
        "referer http://r/",
        "target https://b/c",
        "target http://o/d",
        "text http://e/",
    ];
    assert_eq!(links(&with(nginx, vec![]), Format::Clf, log), expected);
    let only = links(&with(nginx, vec![Context::Referer]), Format::Clf, log);
    assert_eq!(only, ["referer http://r/"]);
    let apache = r#"%v:%p %h %t \"%m %U%q\" %>s"#;
    let log = "v.example:80 1.1.1.1 [1/Jan/2020:00:00:00 +0000] \"GET /a?b\" 200";
    assert_eq!(links(&with(apache, vec![]), Format::Clf, log), ["target http://v.example:80/a?b"]);
}

#[test]
fn markdown_has_links_of_all_kinds() {
    let text = "# T\n\n[a](http://h/a \"t\") ![i](i.png) <http://h/auto> <joe@h.example> [r] [r][] [x][r]\n\n\
                Bare http://h/a_b_c, `http://h/no` and [http://h/text](rel?a&amp;b)\n\n\
                ```\nhttp://h/no\n```\n\n    http://h/no\n\n<a href=\"html\">x</a>\n\n[r]: http://h/ref\n";
    let found = links(&fields(&[], Some("http://b/")), Format::Markdown, text);
    let expected = [
        "inline http://h/a",
        "image http://b/i.png",
        "autolink http://h/auto",
        "autolink mailto:joe@h.example",
        "reference http://h/ref",
        "reference http://h/ref",
        "reference http://h/ref",
        "text http://h/a_b_c",
        "inline http://b/rel?a&b",
        "href http://b/html",
    ];
    assert_eq!(found, expected);
    assert_eq!(Format::of_source("x/readme.markdown.gz", b"text"), Format::Markdown);
    assert_eq!(Format::of_source("x/README.MD", b"text"), Format::Markdown);
}

#[test]
fn markdown_that_is_not_utf8_keeps_its_offsets() {
    let text = b"\xFF\xFE [a](http://h/a) \xE9 http://h/b \xC3";
    let buf = PaddedBuf::from_content(text);
    let mut links = Links::new();
    let extractor = Extractor::default();
    extractor.extract(Kernels::detect(), Format::Markdown, buf.padded(), &mut links);
    let found: Vec<(u32, &[u8])> = links.iter(text).map(|(l, uri)| (l.span.start, uri)).collect();
    assert_eq!(found, [(3, &b"http://h/a"[..]), (21, b"http://h/b")]);
}
