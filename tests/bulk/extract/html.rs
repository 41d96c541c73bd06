//! Tests pages against the tokenizer of `html5gum`, and case by case.

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};
use proptest::prelude::*;
use uriscan::Kernels;
use uriscan::PaddedBuf;
use uriscan::extract::{Extractor, ExtractorOptions, Format, Links, PageParts};

/// The links of a page as `context uri`, and the number of skipped relative references.
fn page(html: &[u8], base: Option<&str>) -> (Vec<String>, u64) {
    let base = base.map(|base| base.as_bytes().to_vec());
    let extractor = Extractor::new(ExtractorOptions::default().base(base));
    let buf = PaddedBuf::from_content(html);
    let mut answers = Kernels::available().map(|kernels| {
        let mut links = Links::new();
        extractor.extract(kernels, Format::Html, buf.padded(), &mut links);
        let shown = links
            .iter(html)
            .map(|(link, uri)| format!("{} {}", link.context.name(), String::from_utf8_lossy(uri)));
        (shown.collect::<Vec<_>>(), links.relative())
    });
    let first = answers.next().expect("the scalar backend");
    for other in answers {
        assert_eq!(other, first, "{}", String::from_utf8_lossy(html));
    }
    first
}

/// The same for attributes `href` and `src` with absolute URIs, by an independent tokenizer.
fn by_html5gum(html: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut emitter = DefaultEmitter::<()>::default();
    // The content of scripts, styles, titles and the like is text.
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(html, emitter) {
        let Ok(Token::StartTag(StartTag { name, attributes, .. })) = token else { continue };
        if name.0 == b"base" {
            continue;
        }
        // Its attributes are unordered, so they are compared as a set.
        for (attribute, value) in attributes {
            let attribute = String::from_utf8_lossy(&attribute.0).into_owned();
            if attribute == "href" || attribute == "src" {
                let value = String::from_utf8_lossy(&value.0).into_owned();
                if value.starts_with("x:") {
                    found.push(format!("{attribute} {value}"));
                }
            }
        }
    }
    found
}

fn html() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => prop::sample::select(vec![
            "<a href=\"x:1\">", "<a href='x:2'>", "<a href=x:3>", "<A HREF = x:4 >", "<img src=x:5/>", "<a href=x:6 href=x:7>",
            "<!--", "-->", "--!>", "<!-->", "<!--->", "<!-", "<!doctype html>", "<?xml ?>", "</", "</a>", "</ a>", "<script>",
            "</script>", "</script ", "<script", "<style>", "</style>", "<title>", "</title>", "<textarea>", "</textarea>",
            "<![CDATA[", "]]>", "<a\n\tb=c/href=x:8>", "<br/href=x:9>", "<a href>", "<a href=>", "<a =href=x:10>", "<a 'href=x:11'>",
            "<xmp>", "</xmp>", "<iframe src=x:12>", "</iframe>", "<noembed>", "</noembed>", "<a href=x:a&amp;b>", "<a href='x:&notit;&lt;&#65;'>",
            "<p class=\"x\">", "<b a=\"x>y\" c>", "<i a=\"'\">", "<p a=\"", "=\"", "</p a=\">", "<p\x0Cb=\">\">", "<p b=c=\">\">",
            "<p a=\"b\"href=\"x:17\">", "<p a=\"<a href='x:18'>\">", "<span a=\"\" href=\"x:19\" class=\"                                        \">",
            "<a href=\"x:13\"src='x:14'>", "<x:y href=x:15>", "<a href=x:16\"'>",
        ]).prop_map(|s| s.as_bytes().to_vec()),
        3 => prop::sample::select(b"<>\"'=/!-? \n\tabx:&;#".to_vec()).prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tags_are_those_of_another_tokenizer(html in html()) {
        let (mut found, _) = page(&html, None);
        let mut expected = by_html5gum(&html);
        // Bytes that no URI may hold are written differently on purpose.
        let is_plain = |row: &String| row.bytes().all(|b| b == b' ' || b.is_ascii_alphanumeric() || b":&;/=?#-!'".contains(&b));
        found.retain(|row| is_plain(row) && (row.starts_with("href x:") || row.starts_with("src x:")));
        expected.retain(is_plain);
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected, "{}", String::from_utf8_lossy(&html));
    }
}

#[test]
fn attributes_that_hold_references() {
    let html = br##"<!doctype html><html><head><title><a href="t:no"></title>
<link rel=stylesheet href=/a.css><meta http-equiv="Refresh" content="5; URL='next?x&amp;y'">
<meta name=x content="0;url=no"><script src=s.js>"<a href=no>"</script><style>a{b:url(no)}</style></head>
<body background="bg.png"><!-- <a href=no> --><a href=" ../up
per ">x</a><img src="i.png" srcset="one.png 1x, two.png 2x,three.png,, four.png (a,b) 3x" longdesc=d>
<form action="/do"><button formaction="/other"></button></form><div action=no data=no></div>
<blockquote cite="c.html"></blockquote><object data="o.swf"></object><video poster="p.jpg" src="v.mp4"></video>
<textarea><a href=no></textarea><a href="mailto:joe@example.com">m</a><a href="#f">f</a><a href="//other/x">n</a>
<a href="/caf&eacute; 1|2">e</a><a href="javascript:void(0)">j</a><a hREF="http://EXAMPLE.com:80/./x">abs</a><a href="unclosed"##;
    let (found, relative) = page(html, Some("http://h/a/b/c?q"));
    let expected = [
        "href http://h/a.css",
        "refresh http://h/a/b/next?x&y",
        "src http://h/a/b/s.js",
        "background http://h/a/b/bg.png",
        "href http://h/a/upper",
        "src http://h/a/b/i.png",
        "srcset http://h/a/b/one.png",
        "srcset http://h/a/b/two.png",
        "srcset http://h/a/b/three.png",
        "srcset http://h/a/b/four.png",
        "longdesc http://h/a/b/d",
        "action http://h/do",
        "formaction http://h/other",
        "cite http://h/a/b/c.html",
        "data http://h/a/b/o.swf",
        "poster http://h/a/b/p.jpg",
        "src http://h/a/b/v.mp4",
        "href mailto:joe@example.com",
        "href http://h/a/b/c?q#f",
        "href http://other/x",
        "href http://h/caf%C3%A9%201%7C2",
        "href javascript:void(0)",
        "href http://EXAMPLE.com:80/./x",
    ];
    assert_eq!(found, expected);
    assert_eq!(relative, 0);
    let (found, relative) = page(html, None);
    assert_eq!((found.len(), relative), (3, 20));
}

#[test]
fn the_base_of_a_page_takes_precedence_over_its_uri() {
    let cases: [(&str, Option<&str>, &[&str]); 17] = [
        (
            "<a href=x><base href=http://b/c/><base href=http://no/>",
            Some("http://h/"),
            &["href http://b/c/x"],
        ),
        ("<base href=d/><a href=x>", Some("http://h/a/b"), &["href http://h/a/d/x"]),
        ("<base href=d/><a href=x>", None, &[]),
        ("<base target=x><a href=x>", Some("http://h/"), &["href http://h/x"]),
        ("<base href='//['><a href=x>", Some("http://h/"), &["href http://h/x"]),
        // The HTML standard, 4.2.3: these are ignored.
        ("<base href=javascript:x><a href=p>", Some("http://h/"), &["href http://h/p"]),
        ("<base href=JavaScript://h/x><a href=p>", Some("http://h/"), &["href http://h/p"]),
        ("<base href=javascript:x><a href=p>", None, &[]),
        ("<base href='&#106;avascript:x'><a href=p>", None, &[]),
        ("<base href='data:text/html,x'><a href=p>", Some("http://h/"), &["href http://h/p"]),
        ("<base href='data:text/html,x'><a href=p>", None, &[]),
        ("<base href='http://h:99999/'><a href=p>", Some("http://h/"), &["href http://h/p"]),
        ("<base href='http://a b/'><a href=p>", Some("http://h/"), &["href http://h/p"]),
        ("<base href='http://[::1/'><a href=p>", Some("http://h/"), &["href http://h/p"]),
        // Nothing can be resolved against these, and browsers do not try another base.
        ("<base href=mailto:a@h><a href=p>", Some("http://h/"), &[]),
        (
            "<base href=about:blank><a href=p><a href=http://i/>",
            Some("http://h/"),
            &["href http://i/"],
        ),
        ("<base href=ftp://b/d/><a href=p>", Some("http://h/"), &["href ftp://b/d/p"]),
    ];
    for (html, base, expected) in cases {
        assert_eq!(page(html.as_bytes(), base).0, expected, "{html}");
    }
}

#[test]
fn references_need_not_be_valid() {
    let html = "<a href='?a[]=1'><a href='x[1].html'><a href='p?x=100%'><a href='p#a#b'><a href='a b:c'><a href='/%zz'>";
    let expected = [
        "href http://h/d/?a[]=1",
        "href http://h/d/x[1].html",
        "href http://h/d/p?x=100%",
        "href http://h/d/p#a#b",
        "href http://h/d/a%20b:c",
        "href http://h/%zz",
    ];
    assert_eq!(
        page(html.as_bytes(), Some("http://h/d/")),
        (expected.map(str::to_owned).to_vec(), 0)
    );
    // Nor must the base.
    let found = page(b"<a href=x><a href='?b[]'>", Some("http://h/d[1]/?a[]=%")).0;
    assert_eq!(found, ["href http://h/d[1]/x", "href http://h/d[1]/?b[]"]);
    let found = page(b"<base href='/e[1]/?%'><a href=x>", Some("http://h/d/")).0;
    assert_eq!(found, ["href http://h/e[1]/x"]);
}

#[test]
fn backslashes_are_slashes_where_browsers_read_them_so() {
    let html = r"<a href='\a\b?c\d#e\f'><a href='http:\\i\j'><a href='\\k/l'><img srcset='m\n 1x, x:\o 2x'>
        <a href='mailto:a\b'><a href='C:\x.html'><a href=' HTTPS:\\p'>";
    let found = page(html.as_bytes(), Some("http://h/d/")).0;
    let expected = [
        "href http://h/a/b?c%5Cd#e%5Cf",
        "href http://i/j",
        "href http://k/l",
        "srcset http://h/d/m/n",
        "srcset x:%5Co",
        "href mailto:a%5Cb",
        "href C:%5Cx.html",
        "href HTTPS://p",
    ];
    assert_eq!(found, expected);
    assert_eq!(page(br"<a href='a\b'>", Some("x://h/d/")).0, ["href x://h/d/a%5Cb"]);
    let based = br"<base href='\\b\c\'><a href=d>";
    assert_eq!(page(based, Some("http://h/")).0, ["href http://b/c/d"]);
}

#[test]
fn further_parts_of_pages_are_read_on_request() {
    let html = br#"<base href="http://h/d/"><meta property="og:image" content="i.png?a&amp;b"><meta name="og:image:width" content="9">
<meta content=/p name=twitter:player><meta itemprop="url" content=u><meta name=url content=no><meta content=no>
<style>@import "s.css"; p { a: url(b.png) }</style><p style="a:url(&quot;c.png&quot;)" data-src=/e.png data-x="no" data-y="/ no">
<a href=f data-u='http://x/?a&amp;b'>x</a><script type="application/ld+json">{"@context":"https://no/",
"url":"\/j","image":["k.png","http:\/\/x\/l"],"name":"m"}</script><script>{"url":"no"}</script><DIV STYLE='a:url(g.png)'>"#;
    let links_of = |parts: PageParts| {
        let extractor = Extractor::new(ExtractorOptions::default().page_parts(parts));
        let (buf, mut links) = (PaddedBuf::from_content(html), Links::new());
        extractor.extract(Kernels::detect(), Format::Html, buf.padded(), &mut links);
        let shown = links
            .iter(html)
            .map(|(link, uri)| format!("{} {}", link.context.name(), String::from_utf8_lossy(uri)));
        shown.collect::<Vec<_>>()
    };
    assert_eq!(links_of(PageParts::default()), ["href http://h/d/f"]);
    let all = [
        "meta http://h/d/i.png?a&b",
        "meta http://h/p",
        "meta http://h/d/u",
        "import http://h/d/s.css",
        "url http://h/d/b.png",
        "url http://h/d/c.png",
        "data-* http://h/e.png",
        "href http://h/d/f",
        "data-* http://x/?a&b",
        "json-ld http://h/j",
        "json-ld http://h/d/k.png",
        "json-ld http://x/l",
        "url http://h/d/g.png",
    ];
    let parts = PageParts::default().css(true).json_ld(true).meta(true).data(true);
    assert_eq!(links_of(parts), all);
    for (part, names) in [
        (PageParts::default().css(true), &["import", "url"][..]),
        (PageParts::default().json_ld(true), &["json-ld"]),
        (PageParts::default().meta(true), &["meta"]),
        (PageParts::default().data(true), &["data-*"]),
    ] {
        let is_of = |row: &&&str| {
            let context = row.split(' ').next().unwrap();
            context == "href" || names.contains(&context)
        };
        let expected: Vec<&str> = all.iter().filter(is_of).copied().collect();
        assert_eq!(links_of(part), expected);
    }
}

#[test]
fn hostile_pages_take_linear_time() {
    let started = std::time::Instant::now();
    for piece in [
        "<a ",
        "<!--",
        "<a href=x",
        "<script><!--<script>",
        "<",
        "</",
        "<title>",
        "<a b='",
        "&amp;",
        "<a x=y ",
    ] {
        page(piece.repeat(300_000).as_bytes(), Some("http://h/"));
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
