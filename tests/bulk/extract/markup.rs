//! Tests XML of any kind, and HTML in values.

use uriscan::extract::{ExtractorOptions, Format};

use super::formats::links;

/// The links of `text` as `context uri`, if it is recognized as XML by its content.
fn found(text: &str) -> Vec<String> {
    assert_eq!(Format::of_head(text.as_bytes()), Format::Markup, "{text}");
    links(ExtractorOptions::default(), Format::Markup, text.as_bytes()).0
}

#[test]
fn references_in_texts_and_attributes_of_xml_are_decoded() {
    let text =
        r#"<t u="http://h.example/?a=1&amp;b=2">&lt;ref&gt;http://h.example/a&lt;/ref&gt;</t>"#;
    assert_eq!(found(text), ["attribute http://h.example/?a=1&b=2", "element http://h.example/a"]);
    for (text, expected) in [
        ("<r><u>http://h/?a&#38;b&#x26;c&amp;d</u></r>", "element http://h/?a&b&c&d"),
        ("<r><u>&quot;http://h/a&quot; x</u></r>", "element http://h/a"),
        ("<r><u><![CDATA[http://h/?a&b]]></u></r>", "element http://h/?a&b"),
        ("<r><u>http://h/<![CDATA[?a&b]]>&amp;c</u></r>", "element http://h/?a&b&c"),
        ("<r a='see http://h/?a&amp;b, x'/>", "attribute http://h/?a&b"),
        ("<r a='&lt;http://h/a&gt;'/>", "attribute http://h/a"),
        ("<r><!-- http://h/?a&amp;b --></r>", "element http://h/?a&b"),
        ("<?xml version='1.0'?><r>http&#58;//h/a</r>", "element http://h/a"),
        ("<r>mailto:a@h.example</r>", "element mailto:a@h.example"),
    ] {
        assert_eq!(found(text), [expected], "{text}");
    }
}

#[test]
fn what_begins_like_a_tag_leaves_no_attributes_to_the_next_one() {
    // Its name is that of no element. An end tag after it has no attributes.
    let start = "<r><x:// src=http://h/a href='http://h/b' u=\"http://h/c\">";
    let of_text = ["element http://h/a", "element http://h/b", "element http://h/c"];
    for end in [
        "</r>",
        "</a></r>",
        "<!-- - --></r>",
        "<![CDATA[-]]></r>",
        "<?x ?></r>",
        "<b/></r>",
        "</r",
        "",
    ] {
        let found =
            links(ExtractorOptions::default(), Format::Markup, (start.to_owned() + end).as_bytes());
        assert_eq!(found.0, of_text, "{end}");
    }
    let text = "<r><x:// src=http://h/a></a><b u='http://h/b'/><x:// src=http://h/c></b></r>";
    let found = links(ExtractorOptions::default(), Format::Markup, text.as_bytes()).0;
    assert_eq!(found, ["element http://h/a", "attribute http://h/b", "element http://h/c"]);
}

#[test]
fn documents_of_every_vocabulary_are_xml() {
    for (text, expected) in [
        (
            r#"<mediawiki xmlns="http://no/"><page><text xml:space="preserve">[http://h/?a&amp;b x] &lt;ref&gt;{{cite|url=http://h/c}}&lt;/ref&gt;&lt;br/&gt;</text></page></mediawiki>"#,
            &["element http://h/?a&b", "element http://h/c"][..],
        ),
        (
            r#"<?xml version="1.0"?><posts><row Body="&lt;p&gt;&lt;a href=&quot;http://h/q?a&amp;amp;b&quot;&gt;x&lt;/a&gt; http://h/t&lt;/p&gt;" /></posts>"#,
            &["href http://h/q?a&b", "attribute http://h/t"],
        ),
        (
            "<kml xmlns='http://no/'><description><![CDATA[<img src='http://h/i?a&amp;b'> http://h/x]]></description></kml>",
            &["src http://h/i?a&b", "element http://h/x"],
        ),
        (
            "<gpx xmlns='http://no/'><link href='http://h/g?a&amp;b'/></gpx>",
            &["href http://h/g?a&b"],
        ),
        (
            "<!DOCTYPE plist PUBLIC '-//x//' 'http://no/'><plist><string>http://h/p?a&amp;b</string></plist>",
            &["element http://h/p?a&b"],
        ),
        (
            "<article xmlns:xlink='http://no/'><link xlink:href='http://h/d'/><ulink url='http://h/u'/></article>",
            &["href http://h/d", "attribute http://h/u"],
        ),
        (
            "<svg xmlns='http://no/'><a xlink:href='#x'/><image href='http://h/s'/></svg>",
            &["href http://h/s"],
        ),
        ("<x:r xmlns:x='http://no/'><x:u>http://h/n</x:u></x:r>", &["element http://h/n"]),
    ] {
        assert_eq!(found(text), expected, "{text}");
    }
}

#[test]
fn references_of_xml_have_a_base() {
    let base = ExtractorOptions::default().base(b"http://b/d/".to_vec());
    let text =
        b"<r><x href='a'/><y src='../c'/><z href='see http://h/'/><c>&lt;a href='e'&gt;</c></r>";
    let (found, _) = links(base, Format::Markup, text);
    assert_eq!(
        found,
        ["href http://b/d/a", "src http://b/c", "href http://h/", "href http://b/d/e"]
    );
    let (_, counted) = links(ExtractorOptions::default(), Format::Markup, text);
    assert_eq!(counted.relative(), 3);
}

#[test]
fn text_that_only_looks_like_xml_loses_nothing() {
    for text in [
        "<http://h/a> <mailto:a@h.example>",
        "<r><<http://h/a>",
        "<r a=b http://h/a>",
        "<r http://h/a",
        "<r a='http://h/a",
        "<r a=1 a='http://h/a'/>",
        "<r><!-- http://h/a",
        "<r><![CDATA[http://h/a",
        "<r></r http://h/a>",
        "a < b && c > d http://h/a",
        "<r><?x http://h/a?></r>",
        "<!DOCTYPE r [<!ENTITY x 'http://h/a'>]><r/>",
    ] {
        let (found, _) = links(ExtractorOptions::default(), Format::Markup, text.as_bytes());
        assert!(found.iter().any(|link| link.ends_with(" http://h/a")), "{text} {found:?}");
    }
    for text in [
        "<alice> see http://h/a\n<bob> no\n",
        "<13>Oct 11 x: http://h/a",
        "<http://h/a>\n<http://h/b>\n",
        "<joe@h.example> wrote: http://h/a",
        "<t>a</u>",
        "<t>a</t> and more",
        "<details>\n<summary>x</summary>\n</details>",
        "<",
        "<t",
    ] {
        assert_eq!(Format::of_head(text.as_bytes()), Format::Text, "{text}");
    }
    let readme = b"<my-element>x</my-element>\n\n# Title\n";
    assert_eq!(Format::of_source("README.md", b"<x-y>x</x-y>"), Format::Markdown);
    assert_eq!(Format::of_head(readme), Format::Text);
    assert_eq!(Format::of_source("a.kml", b""), Format::Markup);
    assert_eq!(Format::of_head(b"<?xml version='1.0'?><html>"), Format::Html);
    assert_eq!(Format::of_head(b"<?xml version='1.0'?><table><a>"), Format::Markup);
}

#[test]
fn links_of_xml_have_the_positions_of_what_was_typed() {
    let text = "<r><u>&lt;x&gt; http://h/a\n&quot;http://h/?b&amp;c&quot; &lt;b&gt;http://h/d&lt;/b&gt;</u></r>";
    let (_, found) = links(ExtractorOptions::default(), Format::Markup, text.as_bytes());
    let spans = found.iter(text.as_bytes()).map(|(link, _)| link.span.of(text.as_bytes()));
    let spans: Vec<&str> = spans.map(|span| std::str::from_utf8(span).unwrap()).collect();
    assert_eq!(spans, ["http://h/a", "http://h/?b&amp;c", "http://h/d"]);
}

#[test]
fn html_in_values_is_read_as_html() {
    let base = || ExtractorOptions::default().base(b"http://b/".to_vec());
    for (format, text) in [
        (
            Format::Json,
            r#"{"b":"<p>see <a href=\"/x?a&amp;b\">x</a> http://h/t?c&amp;d&quot;</p>"}"#,
        ),
        (
            Format::Json,
            r#"["\u003cp\u003esee \u003ca href='/x?a&amp;b'\u003e \u003cb\u003ehttp://h/t?c&amp;d"]"#,
        ),
        (Format::Csv, "1,\"<p>see <a href=\"\"/x?a&amp;b\"\">x</a> http://h/t?c&amp;d\"\n"),
        (Format::Csv, "1,<a href='/x?a&amp;b'>x</a> http://h/t?c&amp;d\n"),
        (Format::Tsv, "1\t<IMG SRC=/x?a&amp;b> http://h/t?c&amp;d\n"),
    ] {
        let (found, _) = links(base(), format, text.as_bytes());
        let uris: Vec<&str> = found.iter().map(|link| link.split_once(' ').unwrap().1).collect();
        assert_eq!(uris, ["http://b/x?a&b", "http://h/t?c&d"], "{text}");
    }
    // What is not HTML is as it was.
    let (found, _) = links(
        base(),
        Format::Json,
        br#"["a < b http://h/?a&amp;b", "<ref>http://h/c&amp;d</ref>"]"#,
    );
    assert_eq!(found, ["field http://h/?a&amp;b", "field http://h/c&amp;d"]);
}
