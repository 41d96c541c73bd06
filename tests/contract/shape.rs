//! The shapes of URLs: what they are, which URLs share one, and which do not.

use std::time::{Duration, Instant};

use uriscan::normalize;
use uriscan::shape::{Shaper, shape};
use uriscan::uri::parse;

/// The shape of the canonical form of `uri`.
fn of(uri: &str) -> String {
    written(&normalize(uri).unwrap())
}

/// The shape of `reference` as it is written.
fn written(reference: &str) -> String {
    String::from_utf8(shape(reference.as_bytes()).unwrap()).unwrap()
}

#[test]
fn references_have_these_shapes() {
    for (reference, expected) in [
        (
            "https://h/user/17/photo/0b0f2d4e-6c1a-4f7e-9d58-2a1b3c4d5e6f?page=2",
            "https://h/user/{int}/photo/{uuid}?page={int}",
        ),
        ("http://h", "http://h"),
        ("http://h/", "http://h/"),
        ("http://h?", "http://h?"),
        ("http://h/?&&", "http://h/?"),
        ("http://u:secret@h:8080/1#top", "http://h:8080/{int}"),
        ("http://192.0.2.7/7", "http://192.0.2.7/{int}"),
        ("http://[2001:db8::1]:81/7", "http://[2001:db8::1]:81/{int}"),
        ("http://h/1/2/", "http://h/{int}/{int}/"),
        ("http://h//1//", "http://h//{int}//"),
        ("http://h/12.html", "http://h/{int}.html"),
        ("http://h/d41d8cd98f00b204e9800998ecf8427e.min.js", "http://h/{hex32}.min.js"),
        ("http://h/12.13", "http://h/12.13"),
        ("http://h/a.12", "http://h/a.12"),
        ("http://h/2024/01/31", "http://h/{int}/{int}/{int}"),
        ("http://h/2024-01-31/x", "http://h/{date}/x"),
        ("http://h/?t=2024-01-31T12%3A00%3A00%2B01%3A00", "http://h/?t={date}"),
        ("http://h/da39a3ee5e6b4b0d3255bfef95601890afd80709", "http://h/{hex40}"),
        ("http://h/deadbeef/deadbee1/dead1", "http://h/deadbeef/{hex}/dead1"),
        ("http://h/v1/page-2", "http://h/v1/page-2"),
        ("http://h/?b=1&a=x&&b=2", "http://h/?a={text}&b={int}"),
        ("http://h/?q&q=&q=1&q=x", "http://h/?q&q=&q={int}&q={text}"),
        ("http://h/?1699999999", "http://h/?{int}"),
        ("http://h/?=5&a=b=c", "http://h/?={int}&a={text}"),
        ("http://h/?a=1;b=2", "http://h/?a={text}"),
        ("http://h/1;v=2;w;x=a/3", "http://h/{int};v={int};w;x={text}/{int}"),
        (
            "http://h/a.jsp;jsessionid=D41D8CD98F00B204E9800998ECF8427E",
            "http://h/a.jsp;jsessionid={hex32}",
        ),
        ("http://h/?mail=joe%40h.example&t=dQw4w9WgXcQ1aB3cD4", "http://h/?mail={email}&t={token}"),
        ("http://h/%7Bint%7D/7", "http://h/%7Bint%7D/{int}"),
        ("http://h/?a=%7Bint%7D", "http://h/?a={text}"),
        ("http://h/%C3%A9t%C3%A9/%31%32", "http://h/%C3%A9t%C3%A9/{int}"),
        ("mailto:joe@h.example?subject=7", "mailto:{email}?subject={int}"),
        ("urn:isbn:0451450523", "urn:isbn:{int}"),
        ("urn:uuid:0b0f2d4e-6c1a-4f7e-9d58-2a1b3c4d5e6f", "urn:uuid:{uuid}"),
        ("javascript:alert(1)", "javascript:{text}"),
        ("file:///var/log/1", "file:///var/log/{int}"),
        ("../a/1?b=2#c", "../a/{int}?b={int}"),
        ("//h/1", "//h/{int}"),
        ("#a", ""),
        ("", ""),
    ] {
        assert_eq!(written(reference), expected, "{reference}");
    }
}

/// URLs that share a shape, as canonical forms.
const MUST_MATCH: &[(&str, &str)] = &[
    ("http://h/1", "http://h/22222222222222222222222222222222222"),
    ("HTTP://H:80/1", "http://h/%32"),
    ("http://h/a/../1", "http://h/2"),
    ("http://h/1#a", "http://u@h/2#b"),
    ("http://h/?a=1&b=2", "http://h/?b=3&a=4"),
    ("http://h/?a=1&a=2&a=3", "http://h/?a=1"),
    ("http://h/?a=1&", "http://h/?a=1"),
    ("http://h/?q=cats", "http://h/?q=dogs+and+cats"),
    ("http://h/2024-01-31", "http://h/31.12.1999"),
    ("http://h/20240131", "http://h/2024-01"),
    ("http://h/D41D8CD98F00B204E9800998ECF8427E", "http://h/d41d8cd98f00b204e9800998ecf8427e"),
    ("http://h/?t=2024-01-31T12:00Z", "http://h/?t=2024-01-31T12%3A00Z"),
    ("http://h/1.html", "http://h/2.html"),
    ("http://h/1;v=2", "http://h/3;v=4"),
];

/// URLs that do not.
const MUST_DIFFER: &[(&str, &str)] = &[
    ("http://h/1", "https://h/1"),
    ("http://h/1", "http://i/1"),
    ("http://h/1", "http://h:81/1"),
    ("http://192.0.2.1/", "http://192.0.2.2/"),
    ("http://h/1", "http://h/1/"),
    ("http://h/1", "http://h//1"),
    ("http://h/1", "http://h/1?"),
    ("http://h/1", "http://h/a"),
    ("http://h/a", "http://h/b"),
    ("http://h/a", "http://h/A"),
    ("http://h/1.html", "http://h/1.php"),
    ("http://h/1", "http://h/1.html"),
    ("http://h/?a=1", "http://h/?b=1"),
    ("http://h/?a=1", "http://h/?a=x"),
    ("http://h/?a", "http://h/?a="),
    ("http://h/?a=", "http://h/?a=1"),
    ("http://h/?a=1", "http://h/?a=1&b=1"),
    ("http://h/1", "http://h/%7Bint%7D"),
    ("http://h/1;v=2", "http://h/1;w=2"),
    (
        "http://h/d41d8cd98f00b204e9800998ecf8427e",
        "http://h/da39a3ee5e6b4b0d3255bfef95601890afd80709",
    ),
    ("http://h/ten-ways", "http://h/two-ways"),
    ("urn:isbn:1", "urn:issn:1"),
    ("mailto:a@b.example", "mailto:a"),
];

#[test]
fn urls_that_differ_in_values_share_a_shape() {
    for (a, b) in MUST_MATCH {
        assert_eq!(of(a), of(b), "{a} {b}");
    }
}

#[test]
fn urls_that_differ_in_names_and_types_do_not_share_a_shape() {
    for (a, b) in MUST_DIFFER {
        assert_ne!(of(a), of(b), "{a} {b}");
    }
}

#[test]
fn slugs_are_typed_on_request_and_in_paths_only() {
    let shape = |uri: &str| {
        let mut out = Vec::new();
        Shaper::default().slugs(true).append(
            uri.as_bytes(),
            &parse(uri.as_bytes()).unwrap(),
            &mut out,
        );
        String::from_utf8(out).unwrap()
    };
    for (uri, expected) in [
        ("http://h/ten-ways-to-count.html", "http://h/{slug}.html"),
        ("http://h/photo-12.tar.gz", "http://h/{slug}.tar.gz"),
        ("http://h/12_photo", "http://h/{slug}"),
        ("http://h/a-b%2Dc", "http://h/{slug}"),
        ("http://h/%C3%A9t%C3%A9-a-b", "http://h/{slug}"),
        ("http://h/about-us", "http://h/about-us"),
        ("http://h/a--b-c", "http://h/a--b-c"),
        ("http://h/2024-01-31", "http://h/{date}"),
        ("http://h/?a-b-c&d=e-f-g", "http://h/?a-b-c&d={text}"),
    ] {
        assert_eq!(shape(uri), expected, "{uri}");
    }
}

#[test]
fn a_literal_type_is_not_a_uri() {
    for uri in ["http://h/{int}", "http://h/?a={int}", "http://{int}/", "http://h/1}"] {
        assert!(shape(uri.as_bytes()).is_err(), "{uri}");
    }
}

#[test]
fn the_longest_urls_take_linear_time_and_memory() {
    let many = 1 << 20;
    for (begin, unit) in [
        ("http://h", "/1"),
        ("http://h", "/a"),
        ("http://h/", ".a"),
        ("http://h/1", ".a"),
        ("http://h/", ";1"),
        ("http://h/", ";a=1"),
        ("http://h/?", "a&"),
        ("http://h/?", "1=1&"),
        ("http://h/", "1-"),
        ("http://h/", "a1"),
        ("http://h/?a=", "%40a."),
        ("http://h/?", "@"),
        ("urn:", "a:"),
        ("x:", "1@"),
    ] {
        let uri = format!("{begin}{}", unit.repeat(many));
        let started = Instant::now();
        let found = shape(uri.as_bytes()).unwrap();
        assert!(found.len() <= 6 * uri.len(), "{begin}{unit}");
        assert!(started.elapsed() < Duration::from_secs(20), "{begin}{unit}");
    }
}
