//! Tests sitemaps, feeds, robots.txt, style sheets, and the header fields of archived responses.

use uriscan::extract::{Extractor, ExtractorOptions, Format, Links};
use uriscan::{Kernels, PaddedBuf};

/// The links of `text` as `context uri`.
fn links(format: Format, text: &[u8], base: Option<&str>) -> (Vec<String>, Links) {
    let base = base.map(|base| base.as_bytes().to_vec());
    let extractor = Extractor::new(ExtractorOptions::default().base(base));
    let buf = PaddedBuf::from_content(text);
    let mut links = Links::new();
    extractor.extract(Kernels::detect(), format, buf.padded(), &mut links);
    let shown = links
        .iter(text)
        .map(|(link, uri)| format!("{} {}", link.context.name(), String::from_utf8_lossy(uri)));
    (shown.collect(), links)
}

const SITEMAP: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- generated --><?xml-stylesheet href="no.xsl"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://no/" xmlns:xhtml="http://no/">
 <url><loc> http://h/a?b&amp;c=&#100; </loc><lastmod>2020-01-01</lastmod><priority>0.5</priority>
  <xhtml:link rel="alternate" hreflang="de" href="http://h/de/"/>
  <image:image><image:loc><![CDATA[http://h/i.png?a&b]]></image:loc></image:image></url>
 <url><loc>http://h/caf&#xE9;/<!-- no -->x</loc></url><url><loc/><loc> </loc></url>
 <s:url><s:loc>/rel</s:loc></s:url>
</urlset>"#;

#[test]
fn sitemaps_have_locations() {
    assert_eq!(Format::of_head(SITEMAP.as_bytes()), Format::Xml);
    let (found, counted) = links(Format::Xml, SITEMAP.as_bytes(), None);
    let expected = [
        "loc http://h/a?b&c=d",
        "link http://h/de/",
        "image http://h/i.png?a&b",
        "loc http://h/caf%C3%A9/x",
    ];
    assert_eq!(found, expected);
    assert_eq!((counted.relative(), counted.omitted().malformed), (1, 0));
    let (found, _) = links(Format::Xml, SITEMAP.as_bytes(), Some("http://h/d/"));
    assert_eq!(found.last().unwrap(), "loc http://h/rel");
    let index = "<sitemapindex><sitemap><loc>http://h/1.xml.gz</loc></sitemap></sitemapindex>";
    assert_eq!(Format::of_head(index.as_bytes()), Format::Xml);
    assert_eq!(links(Format::Xml, index.as_bytes(), None).0, ["sitemap http://h/1.xml.gz"]);
}

#[test]
fn feeds_have_links_in_elements_attributes_and_pages() {
    let rss = r#"<rss version="2.0" xmlns:atom="http://no/"><channel><title>http://no/</title><link>http://h/</link>
        <atom:link href="http://h/feed" rel="self"/><image><url>http://h/i.png</url></image>
        <item><link>http://h/1</link><guid>http://h/g1</guid><guid isPermaLink="false">http://no/</guid><guid>7</guid>
        <comments>http://h/1#c</comments><enclosure url="http://h/1.mp3" length="1"/><media:content url="http://h/m"/>
        <description>see &lt;a href="http://h/d?a&amp;amp;b"&gt;x&lt;/a&gt; http://no/</description>
        <content:encoded><![CDATA[<img src='http://h/e.png'>]]></content:encoded></item></channel></rss>"#;
    let expected = [
        "link http://h/",
        "link http://h/feed",
        "image http://h/i.png",
        "link http://h/1",
        "guid http://h/g1",
        "comments http://h/1#c",
        "enclosure http://h/1.mp3",
        "media http://h/m",
        "href http://h/d?a&b",
        "src http://h/e.png",
    ];
    assert_eq!(Format::of_head(rss.as_bytes()), Format::Xml);
    assert_eq!(links(Format::Xml, rss.as_bytes(), None).0, expected);
    let atom = r#"<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://h/f/"><link href="a"/><icon>i.ico</icon>
        <id>http://no/</id><entry xml:base="e/"><link href="b"/><author><uri>../me</uri></author></entry><link href="c"/>
        <entry><content type="xhtml"><div><a href="d">x</a></div></content><content src="s" type="x"/></entry></feed>"#;
    let expected = [
        "link http://h/f/a",
        "image http://h/f/i.ico",
        "link http://h/f/e/b",
        "author http://h/f/me",
        "link http://h/f/c",
        "href http://h/f/d",
        "src http://h/f/s",
    ];
    assert_eq!(Format::of_head(atom.as_bytes()), Format::Xml);
    assert_eq!(links(Format::Xml, atom.as_bytes(), None).0, expected);
    let opml = r#"<opml><body><outline xmlUrl="http://h/x" htmlUrl="http://h/y"><outline url="z"/></outline></body></opml>"#;
    let (found, counted) = links(Format::Xml, opml.as_bytes(), None);
    assert_eq!(found, ["outline http://h/x", "outline http://h/y"]);
    assert_eq!(counted.relative(), 1);
}

#[test]
fn positions_are_those_of_the_document() {
    let (_, found) = links(Format::Xml, SITEMAP.as_bytes(), Some("http://h/"));
    let spans: Vec<&str> = found
        .iter(SITEMAP.as_bytes())
        .map(|(link, _)| std::str::from_utf8(link.span.of(SITEMAP.as_bytes())).unwrap().trim())
        .collect();
    assert_eq!(spans[0], "http://h/a?b&amp;c=&#100;");
    assert!(spans[1].starts_with("<xhtml:link") && spans[1].ends_with("/>"), "{}", spans[1]);
    assert_eq!(spans[4], "/rel");
}

#[test]
fn documents_that_are_not_well_formed_are_searched_to_the_fault() {
    for (text, expected, malformed) in [
        ("<urlset><loc>http://h/a</loc><loc>http://h/b", 1, 1),
        ("<urlset><loc>http://h/a</loc>", 1, 1),
        ("<urlset><url><loc>http://h/a</loc></url></url>\n", 1, 1),
        ("<?xml version='1.0'?><x:urlset><loc>http://h/a</loc></urlset>", 1, 1),
        ("<x:urlset><loc>http://h/a</loc></x:urlset >\n<!-- end -->", 1, 0),
        ("<urlset/>", 0, 0),
        ("<urlset><loc>http://h/a</loc><!-- open", 1, 1),
        ("<urlset><loc>http://h/a</loc></url></urlset></x><loc>http://h/b</loc>", 2, 0),
        ("<urlset><loc>http://h/?a&b&c;&</loc></urlset>", 1, 0),
        ("<urlset><loc>http://h/\u{E9}</loc></urlset>", 1, 0),
        ("<urlset><x a=b a=c href='http://h/' href=http://i/><loc>http://h/</loc></urlset>", 3, 0),
    ] {
        let (found, counted) = links(Format::Xml, text.as_bytes(), None);
        assert_eq!(
            (found.len(), counted.omitted().malformed),
            (expected, malformed),
            "{text} {found:?}"
        );
    }
    let (found, _) = links(Format::Xml, b"<rss><link>http://h/\xFF</link><link>http://h/a", None);
    assert_eq!(found, ["link http://h/%FF"]);
}

#[test]
fn robots_name_sitemaps() {
    let text = "User-agent: *\nDisallow: http://no/\r\nsitemap : http://h/s.xml # all\nSITEMAP:/t.xml\n# Sitemap: x\nSitemap:\n";
    assert_eq!(Format::of_source("a/robots.txt", text.as_bytes()), Format::Robots);
    assert_eq!(Format::of_source("a/robots.txt.bak", text.as_bytes()), Format::Text);
    let (found, _) = links(Format::Robots, text.as_bytes(), Some("http://h/robots.txt"));
    assert_eq!(found, ["sitemap http://h/s.xml", "sitemap http://h/t.xml"]);
    assert_eq!(links(Format::Robots, text.as_bytes(), None).1.relative(), 1);
}

#[test]
fn style_sheets_have_urls_and_imports() {
    let text = b"@import 'a.css';p{background:url( \"b.png\" ) url(#id);src:url(http://f/x.woff)}";
    assert_eq!(Format::of_source("a.CSS", text), Format::Css);
    let (found, _) = links(Format::Css, text, Some("http://h/d/s.css"));
    assert_eq!(found, ["import http://h/d/a.css", "url http://h/d/b.png", "url http://f/x.woff"]);
}

#[test]
fn links_of_sitemaps_have_details() {
    let text = r#"<urlset><url><lastmod> 2020-01-01T10:00:00+00:00 </lastmod><loc>http://h/1</loc><priority>0.5</priority></url>
        <url><loc>http://h/2</loc><image:image><image:loc>http://h/i</image:loc></image:image><lastmod>2021</lastmod></url>
        <url><priority>a b</priority><loc>http://h/3</loc><lastmod>&quot;</lastmod></url><url><loc>http://h/4</loc></url></urlset>"#;
    let (found, all) = links(Format::Xml, text.as_bytes(), None);
    assert_eq!(found.len(), 5);
    let shown: Vec<String> = all
        .iter(text.as_bytes())
        .map(|(link, _)| {
            let detail = all.detail(link).unwrap();
            [detail.element, detail.lastmod, detail.priority]
                .map(|text| String::from_utf8_lossy(text).into_owned())
                .join(" ")
        })
        .collect();
    let expected = ["loc 2020-01-01T10:00:00+00:00 0.5", "loc 2021 ", "loc  ", "loc  ", "loc  "];
    assert_eq!(shown, expected);
    let feed = b"<feed><icon>http://h/i</icon><link href='http://h/'/></feed>";
    let (_, all) = links(Format::Xml, feed, None);
    let elements: Vec<&[u8]> =
        all.iter(feed).map(|(link, _)| all.detail(link).unwrap().element).collect();
    assert_eq!(elements, [&b"icon"[..], b"link"]);
    let (_, all) = links(Format::Css, b"p{background:url(http://h/)}", None);
    assert!(all.iter(b"").all(|(link, _)| all.detail(link).is_none()));
}

/// A record of a response.
fn response(header: &str, body: &str) -> Vec<u8> {
    let block = format!("HTTP/1.1 301 Moved\r\n{header}\r\n\r\n{body}");
    let fields =
        "WARC-Type: response\r\nWARC-Target-URI: http://h/a/b\r\nContent-Type: application/http";
    let length = block.len();
    format!("WARC/1.0\r\n{fields}\r\nContent-Length: {length}\r\n\r\n{block}\r\n\r\n").into_bytes()
}

#[test]
fn archived_responses_have_links_in_header_fields() {
    let header = "location: ../c\r\nLink: <d>; rel=\"next, <no>\", </e>;rel=x,<http://i/>\r\nLink: <f>\r\nX-Location: no\r\nLocation:";
    let (found, _) = links(Format::Warc, &response(header, "<a href=no>"), None);
    let expected = [
        "location http://h/c",
        "link http://h/a/d",
        "link http://h/e",
        "link http://i/",
        "link http://h/a/f",
    ];
    assert_eq!(found, expected);
    for link in ["<", "<a", "x <a>", "<a>;\"", ",<a>"] {
        links(Format::Warc, &response(&format!("Link: {link}"), ""), None);
    }
}

#[test]
fn archived_feeds_and_style_sheets_are_read_as_such() {
    for (media, body, expected) in [
        ("application/rss+xml", "<rss><link>/x?a&amp;b</link></rss>", "link http://h/x?a&b"),
        ("text/xml; charset=utf-8", "<urlset><loc>/x</loc></urlset>", "loc http://h/x"),
        ("application/xml", "<a>http://h/x</a>", "element http://h/x"),
        ("text/css", "p{a:url(x)}", "url http://h/a/x"),
    ] {
        let (found, _) =
            links(Format::Warc, &response(&format!("Content-Type: {media}"), body), None);
        assert_eq!(found, [expected], "{media}");
    }
}

#[test]
fn bodies_of_archives_are_searched_as_files_of_their_kind() {
    for (media, body, expected) in [
        (
            "application/json",
            r#"{"u":"https:\/\/h\/a?x\u0026y","url":"/r","n":[{"url":"http:\/\/h\/b"}]}"#,
            &["field https://h/a?x&y", "field http://h/r", "field http://h/b"][..],
        ),
        ("application/ld+json; charset=utf-8", r#"{"@id":"http:\/\/h\/a"}"#, &["field http://h/a"]),
        ("application/vnd.api+json", "[\n \"http:\\/\\/h\\/a\"\n]", &["field http://h/a"]),
        ("text/json", r#"{"html":"<a href='/x?a&amp;b'>"}"#, &["href http://h/x?a&b"]),
        (
            "application/x-ndjson",
            "{\"u\":\"http:\\/\\/h\\/a\"}\n{\"u\":\"http://h/b\"}\n",
            &["field http://h/a", "field http://h/b"],
        ),
        ("application/javascript", r#"var u = "https:\/\/h\/a";"#, &["text https://h/a"]),
        ("application/x-javascript", "f('http://h/a')", &["text http://h/a"]),
        ("text/javascript", r#"f('http:\x2f\x2fh\x2fa')"#, &["text http://h/a"]),
        (
            "image/svg+xml",
            "<svg xmlns='http://no/'><image href='i?a&amp;b'/><a xlink:href='http://h/s'/></svg>",
            &["href http://h/a/i?a&b", "href http://h/s"],
        ),
        (
            "application/vnd.google-earth.kml+xml",
            "<kml><href>http://h/?a&amp;b</href></kml>",
            &["element http://h/?a&b"],
        ),
        ("text/xml", "<?xml version='1.0'?><r>http://h/?a&amp;b</r>", &["element http://h/?a&b"]),
        ("application/xml", "not XML http://h/a", &["text http://h/a"]),
        // The metadata of an archive (WAT).
        (
            "application/json",
            r#"{"Envelope":{"Payload":{"Links":[{"path":"A@/href","url":"/r"}],"X":"http://no/"}}}"#,
            &["field http://h/r"],
        ),
    ] {
        let (found, _) =
            links(Format::Warc, &response(&format!("Content-Type: {media}"), body), None);
        assert_eq!(found, expected, "{media}");
    }
}

#[test]
fn refresh_and_content_location_of_responses_are_links() {
    let header = "Refresh: 5; url=../r\r\nContent-Location: c.en.html\r\nContent-Type: image/png\r\nREFRESH: 0;URL='http://i/'\r\nRefresh: 5\r\nContent-Location:";
    let (found, _) = links(Format::Warc, &response(header, ""), None);
    assert_eq!(
        found,
        ["refresh http://h/r", "content-location http://h/a/c.en.html", "refresh http://i/"]
    );
}
