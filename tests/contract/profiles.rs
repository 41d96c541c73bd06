//! Tests profiles: tables of the form of a URL in each system; `whatwg` against the crate.

use std::path::PathBuf;

use proptest::prelude::*;
use uriscan::Kernels;
use uriscan::profile::{Profile, Profiler};
use uriscan::uri::UriErrorKind;

/// The form of `url`, the same on every backend; `None` if it is rejected.
fn form(profile: Profile, url: &[u8]) -> Option<String> {
    let mut forms = Kernels::available().map(|kernels| {
        let mut profiler = Profiler::with_kernels(profile, kernels);
        let form = profiler.form(url).map(<[u8]>::to_vec);
        // Used buffers do not matter.
        assert_eq!(form, profiler.form(url).map(<[u8]>::to_vec));
        form.map(|form| String::from_utf8(form).unwrap())
    });
    let first = forms.next().unwrap();
    forms.for_each(|form| assert_eq!(form, first, "{}", String::from_utf8_lossy(url)));
    assert!(
        first
            .as_ref()
            .err()
            .is_none_or(|error| profile == Profile::Surt || error.kind == UriErrorKind::Profile)
    );
    first.ok()
}

fn hold(profile: Profile, table: &[(&str, &str)]) {
    for (url, expected) in table {
        let expected = (!expected.is_empty()).then_some(*expected);
        assert_eq!(form(profile, url.as_bytes()).as_deref(), expected, "{profile}: {url}");
    }
}

/// The results by the WHATWG URL Standard; an empty form means rejection.
#[test]
fn whatwg() {
    hold(
        Profile::Whatwg,
        &[
            ("http://h.example/a", "http://h.example/a"),
            ("HTTP://Example.COM:80", "http://example.com/"),
            ("https://h:443?", "https://h/?"),
            ("http://h:080/", "http://h/"),
            ("http://h:8080/", "http://h:8080/"),
            ("http://h:65535/", "http://h:65535/"),
            ("http://h:0000000000008080/", "http://h:8080/"),
            ("http://h:00", "http://h:0/"),
            ("https://%48%2eExample/%2e/a%2eb/.%2E", "https://h.example/"),
            ("MAILTO:A@B?c'", "mailto:A@B?c'"),
            ("http://h:65536/", ""),
            ("http://h:/", "http://h/"),
            ("ftp://h:21/", "ftp://h/"),
            ("wss://h:443/", "wss://h/"),
            ("foo://h:80", "foo://h:80"),
            // Triplets stay, except those of dots that form a dot segment.
            ("http://h/%7ea%c3", "http://h/%7ea%c3"),
            ("http://h/a/../%7e", "http://h/%7e"),
            ("http://h/A:/.%2e", "http://h/"),
            ("http://h/A|/../b", "http://h/b"),
            ("http:/\\u@h\\A\t|\\..\\^?/B|/..", "http://u@h/%5E?/B|/.."),
            ("foo://h/A|/../b", "foo://h/b"),
            ("foo://h/A|\\../b", "foo://h/A|\\../b"),
            ("foo:/A|/..//b", "foo:/.//b"),
            ("foo:/A|/../b", "foo:/b"),
            ("foo:/.//A:/../..?q", "foo:/?q"),
            ("foo:a b/A:/../c", "foo:a b/A:/../c"),
            ("foo:? /A:/", "foo:?%20/A:/"),
            ("foo:# /A:/", "foo:#%20/A:/"),
            ("http://h/a/%2E%2e/b", "http://h/b"),
            ("http://h/a?%2e", "http://h/a?%2e"),
            ("http://h/a/..#x", "http://h/#x"),
            ("http://h/?'", "http://h/?%27"),
            ("http://h/'", "http://h/'"),
            ("http://h/a b", "http://h/a%20b"),
            ("http:h", "http://h/"),
            ("http:///h", "http://h/"),
            ("http://u:@h/", "http://u@h/"),
            ("http://u;=@h/", "http://u%3B%3D@h/"),
            // Hosts.
            ("http://1.2.3.4/", "http://1.2.3.4/"),
            ("http://1.2.3.4./", "http://1.2.3.4/"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://1.2.3.256/", ""),
            ("http://3com/", "http://3com/"),
            ("http://h./", "http://h./"),
            ("http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/"),
            ("http://xn--/", ""),
            ("http://a--b/", "http://a--b/"),
            ("http://ex%41mple/", "http://example/"),
            ("http://a_b!c/", "http://a_b!c/"),
            ("http://[2001:DB8:0::1]/", "http://[2001:db8::1]/"),
            ("file://localhost/x", "file:///x"),
            ("mailto:A@B", "mailto:A@B"),
            ("foo:a  ?b", "foo:a %20?b"),
            ("foo:a  #b", "foo:a %20#b"),
            ("foo:a  ", "foo:a"),
            ("foo:a^", "foo:a^"),
            ("foo:/a^b?^", "foo:/a%5Eb?^"),
            ("http://h/a^b#^", "http://h/a%5Eb#^"),
            ("urn:x:a/../b", "urn:x:a/../b"),
            ("/relative", ""),
            ("no url", ""),
        ],
    );
    assert_eq!(form(Profile::Whatwg, b"http://h/\xFF"), None);
    assert_eq!(Profiler::new(Profile::Whatwg).form(b"http://h/\xFF").unwrap_err().at, 9);
}

/// The results of `canonicalize_url` of w3lib 2.5.0, on Python 3.11.
#[test]
fn w3lib() {
    hold(
        Profile::W3lib,
        &[
            (
                "http://www.example.com/do?c=3&b=5&b=2&a=50",
                "http://www.example.com/do?a=50&b=2&b=5&c=3",
            ),
            ("HTTP://Example.COM:80", "http://example.com:80/"),
            ("http://h:080?a", "http://h:80/?a="),
            ("http://h:0/", "http://h:0/"),
            ("http://h:/", "http://h/"),
            ("http://h:65536/", ""),
            ("http://h:x/", ""),
            ("http://u%3a:p%40@H/", "http://u%3A:p%40@h/"),
            ("http://@h/", "http://@h/"),
            ("http://h/r\u{e9}sum\u{e9}", "http://h/r%C3%A9sum%C3%A9"),
            ("http://h/%7ea%2f%3b%3f%25%5b|%20", "http://h/~a%2F%3B%3F%25[|%20"),
            ("http://h/a%2e%2e/%2e%2e/b", "http://h/b"),
            ("http://h/a;x%2f|/b;y%2f|", "http://h/a;x%2F|/b;y%2f%7C"),
            ("foo://h/b;y%7e", "foo://h/b;y~"),
            ("http://h/b;", "http://h/b"),
            ("http://h/?a=b+c&a=b%20c&&=&a", "http://h/?=&a=&a=b+c&a=b+c"),
            ("http://h/?b=%e9&a='%2B", "http://h/?a=%27%2B&b=%E9"),
            ("http://h/?&", "http://h/"),
            ("http://h/%zz?%", "http://h/%zz?%25="),
            ("http://h/#f", "http://h/"),
            ("http:\\\\h\\a?\\", "http://h/a?%5C="),
            ("http://h/a\tb", "http://h/ab"),
            ("http://b\u{fc}cher.example", "http://xn--bcher-kva.example/"),
            ("http://b%C3%BCcher.example/", "http://b%c3%bccher.example/"),
            ("http://[::0:1]/", "http://[::1]/"),
            ("http://[fe80::1%ETH0]:80/", "http://[fe80::1%eth0]:80/"),
            ("http://[v1.x]/", "http://v1.x/"),
            ("http://[V1.x]/", ""),
            ("http://[1.2.3.4]/", ""),
            ("http://[::1/", ""),
            ("http://[::1]x/", ""),
            ("file:/a", "file:///a"),
            ("foo:/a", "foo:/a"),
            ("foo://h", "foo://h/"),
            ("foo:////a", "foo:////a"),
            ("http:a", "http:a"),
            ("http:", "http:///"),
            ("mailto:a/../b", "mailto:a/../b"),
            ("a b;c?d", "a%20b;c?d="),
            ("//h", "//h/"),
            ("?b&a", "/?a=&b="),
        ],
    );
    assert_eq!(form(Profile::W3lib, b"http://h/\xE9").as_deref(), Some("http://h/%E9"));
}

/// The results by the documentation of `BasicURLNormalizer`, in cases of its own table and others.
#[test]
fn crawler_commons() {
    hold(
        Profile::CrawlerCommons,
        &[
            ("http://h/%66%c0%2f%7e", "http://h/f%C0%2F~"),
            ("http://h/a b{c}|\"[\u{e9}", "http://h/a%20b%7Bc%7D%7C%22%5B%C3%A9"),
            ("http://h/p%zz%", "http://h/p%25zz%25"),
            // A backslash stays, and a URL that `java.net.URI` does not parse keeps dot and empty
            // segments.
            ("http://h/a\\b", "http://h/a\\b"),
            ("http://h/%61\\b//c/../d", "http://h/a\\b//c/../d"),
            ("http://h/a//b?x\\", "http://h/a//b?x\\"),
            ("http://A\\B/", "http://a\\b/"),
            ("http://a\\b/c//d", "http://a\\b/c//d"),
            ("http://a%5Cb", "http://a\\b/"),
            ("http://A\"B:80/x//y", "http://a\"b/x//y"),
            ("http://a%22b/", "http://a\"b/"),
            ("http://a<b>{c}|^`/", "http://a<b>{c}|^`/"),
            ("http://a b/", ""),
            // Cases in which Java's result would merge: decoded delimiters in a host, ambiguous
            // hosts.
            ("http://a%3Ab/", ""),
            ("http://a%40b/", ""),
            ("http://a%3Fb/", ""),
            ("http://a%23b/", ""),
            ("http://a%00b/", ""),
            ("http://h\\@x/", ""),
            ("http://a@b@h/", ""),
            ("HTTP://H.Example.:80", "http://h.example/"),
            ("https://h:443/", "https://h/"),
            ("ftp://h:21/", "ftp://h/"),
            ("http://h:081/", "http://h:81/"),
            ("http://h:/", "http://h/"),
            ("http://u:p@h/", "http://h/"),
            ("http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/"),
            ("http://b\u{fc}cher.example/", "http://xn--bcher-kva.example/"),
            ("http://a%2eb/", "http://a.b/"),
            ("http://a%2fb/", ""),
            ("http://a..b/", ""),
            ("http://a%FEb/", ""),
            ("http://a%2Xb/", ""),
            ("http://[::1]:80/x", "http://[::1]/x"),
            ("http://[::1/x", ""),
            ("http://h/a/./b//c/../d", "http://h/a/b/d"),
            ("http://h/../a/..", "http://h/"),
            ("http://h/a/.", "http://h/a/"),
            ("http://h/%2e%2e/a", "http://h/a"),
            ("http://h/a?x=//b/../c", "http://h/a?x=//b/../c"),
            ("http://h?", "http://h/"),
            ("http://h?b&a=2&c=&a=1&=x&&a=#f", "http://h/?a=2&a=1&a&b&c"),
            ("http://h/?q=tl;dr+x", "http://h/?q=tl;dr+x"),
            ("h.example/a", "http://h.example/a"),
            ("h.example:8080", "http://h.example:8080/"),
            ("http:", "http:/"),
            ("http:////a", "http:/a"),
            // Segments stay next to a backslash, and would be read as a host.
            ("http:////\\", ""),
            ("http:////a\\b", ""),
            ("file:////\\%41", ""),
            ("file:////\\a", "file:////\\a"),
            ("file:///a/b", "file:///a/b"),
            ("file:///a//b", "file:/a/b"),
            ("file:/a", "file:/a"),
            // Host and userinfo of `file` stay if nothing else changes; otherwise the userinfo is
            // dropped.
            ("file://HOST/x", "file://HOST/x"),
            ("file://host/x", "file://host/x"),
            ("file://h%4fst./x", "file://h%4fst./x"),
            ("file://u@HOST/x", "file://u@HOST/x"),
            ("file://u:p@host:080/x", "file://u:p@host:080/x"),
            ("file://u@Host/a/../x", "file://Host/x"),
            ("file://u@Host:080/%7ex", "file://Host:80/~x"),
            ("file://HOST/a//b?b&a#f", "file://HOST/a/b?a&b"),
            ("FILE://HOST/x", "file://HOST/x"),
            ("file://HOST", "file://HOST/"),
            ("file://u@/x", "file://u@/x"),
            ("file://u@/x//y", "file:/x/y"),
            ("file://\u{fc}\"/x", "file://%C3%BC%22/x"),
            ("file:///a b", "file:///a%20b"),
            ("file:////x", "file:/x"),
            ("file:///C:\\x//y", "file:///C:\\x//y"),
            ("file://a@b@c/x", ""),
            ("file://[::1]/x", ""),
            ("file://h:x/x", ""),
            ("file:x", ""),
            ("gopher://h/", ""),
            ("mailto:a@b", ""),
        ],
    );
}

#[test]
fn surt() {
    hold(
        Profile::Surt,
        &[
            ("http://www.Example.com:80/A/?b&a", "com,example)/a?a&b"),
            ("https://u@example.com/%41", "com,example)/a"),
            ("mailto:A@B", "mailto:a@b"),
            ("http://h/a%20b", "h)/a%20b"),
            ("http://h/a b", "h)/a%20b"),
            ("http://a b/", "a%20b)/"),
            ("http://b%C3%BCcher.example/\u{e4}", "example,xn--bcher-kva)/%c3%a4"),
            ("http://h:99999/ ", ""),
            ("no url", ""),
            ("h/a", ""),
            // Not those of the scheme that they would be before a colon.
            ("a.com", ""),
            ("localhost", ""),
            ("a.com?b", ""),
            ("a.com:", "a.com:"),
        ],
    );
}

#[test]
fn names_round_trip() {
    for profile in Profile::ALL {
        assert_eq!(Profile::from_name(profile.name()), Some(profile));
    }
    assert_eq!(Profile::from_name("WHATWG"), None);
}

/// The result of the crate, with the bytes encoded that only the standard encodes: `^` in a path of
/// segments, a last space before `?` or `#` in another. (`file` URLs are tested against the
/// standard itself: `tests/contract/url_standard.rs`.)
fn href(url: &str) -> Option<String> {
    use url::Position::{AfterPath, BeforePath};
    let url = url::Url::parse(url).ok()?;
    if url.cannot_be_a_base() {
        let href = String::from(url);
        let end = href.find(['?', '#']).unwrap_or(href.len());
        return Some(match href[..end].strip_suffix(' ') {
            Some(front) if end < href.len() => format!("{front}%20{}", &href[end..]),
            _ => href,
        });
    }
    let path = url.path().replace('^', "%5E");
    Some(format!("{}{path}{}", &url[..BeforePath], &url[AfterPath..]))
}

/// Whether the crate may keep a segment that `..` removes: one that looks like a drive, which the
/// standard keeps in `file` URLs only.
fn has_drive(url: &str) -> bool {
    url.as_bytes()
        .windows(3)
        .any(|at| matches!(at, [b'/' | b'\\', letter, b':' | b'|'] if letter.is_ascii_alphabetic()))
}

fn is_file(url: &str) -> bool {
    let url = url.trim_start_matches(|c| c <= ' ').replace(['\t', '\n', '\r'], "");
    url.get(..5).is_some_and(|head| head.eq_ignore_ascii_case("file:"))
}

/// URLs on which the crate's own parser might go wrong.
fn url() -> impl Strategy<Value = String> {
    let host = prop_oneof![
        1 => "[a-b0-1%2-4]{0,9}(\\.[a-z])?",
        1 => "(%31|1)(\\.(%32|2)){3}",
        1 => "[a-b]{50,70}",
        6 => "[a-cA0-1.-]{0,8}(\\.[a-z]{2,3})?\\.?",
        1 => "(0|1|255|256|0x1|01|1\\.2\\.3|127\\.0\\.0)(\\.(0|1|255|256|0xF|9))?\\.?",
        1 => "(xn--a|xn--|XN--bcher-kva|a--b|-a-|_|~|!|%41|%2e|\u{fc})(\\.a)?",
        1 => "\\[(::1|2001:DB8::1|v1\\.a)\\]",
    ];
    let segment =
        "[a-cA.'\\\\| %:@^]{0,3}|\\.\\.?|%2[eE]|\\.%2[eE]|%2[eE]%2[eE]|%[4c][1f]|[a-c]{60,70}";
    let path = prop::collection::vec(segment, 0..6).prop_map(|segments| {
        segments.into_iter().map(|segment| "/".to_owned() + &segment).collect::<String>()
    });
    let scheme = "(http|HTTP|https|https|http|Https|ws|wss|ftp|file|foo|mailto|blob)";
    let slashes = "(:|://|://|://|://|://|:/|:///)";
    let port = "(:([0-9]{0,3}|80|443|21|6553[0-9]|0080|0{0,9}[0-9]{1,6}))?";
    (
        scheme,
        slashes,
        "([a:;']{0,2}@)?",
        host,
        port,
        path,
        "(\\?[a'&%.{ /]{0,4})?",
        "(#[a`' .%]{0,3})?",
    )
        .prop_map(|(scheme, slashes, user, host, port, path, query, fragment)| {
            format!("{scheme}{slashes}{user}{host}{port}{path}{query}{fragment}")
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn whatwg_agrees_with_the_crate(url in url()) {
        let found = form(Profile::Whatwg, url.as_bytes());
        if !is_file(&url) && !has_drive(&url) {
            prop_assert_eq!(found, href(&url), "{}", url);
        }
    }

    #[test]
    fn crawler_commons_is_idempotent(url in url()) {
        if let Some(once) = form(Profile::CrawlerCommons, url.as_bytes()) {
            let again = form(Profile::CrawlerCommons, once.as_bytes());
            prop_assert_eq!(again.as_deref(), Some(&once[..]), "{}", url);
        }
    }

    #[test]
    fn any_bytes_have_a_form_or_none(bytes in prop::collection::vec(any::<u8>(), 1..40), head in "(https?://|[a-z]:)?") {
        let bytes = [head.as_bytes(), &bytes].concat();
        for profile in Profile::ALL {
            form(profile, &bytes);
        }
    }
}

/// The tests of the standard that the crate includes, if they are there, and the lists.
#[test]
fn whatwg_agrees_with_the_crate_on_real_urls() {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let crates = home
        .into_iter()
        .flat_map(|home| std::fs::read_dir(home.join("registry/src")))
        .flatten()
        .flatten();
    let mut tests = 0;
    for registry in crates {
        let Ok(entries) = std::fs::read_dir(registry.path()) else { continue };
        for entry in entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("url-2"))
        {
            let Ok(text) = std::fs::read(entry.path().join("tests/urltestdata.json")) else {
                continue;
            };
            let rows: serde_json::Value = serde_json::from_slice(&text).unwrap();
            for input in rows.as_array().unwrap().iter().filter_map(|row| row["input"].as_str()) {
                if !input.is_empty() && !is_file(input) {
                    assert_eq!(form(Profile::Whatwg, input.as_bytes()), href(input), "{input:?}");
                    tests += 1;
                }
            }
        }
    }
    let lists = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    for list in ["urls-citizenlab.txt.gz", "urls-userbait.txt.gz", "urls-node-files.txt.gz"] {
        let path = lists.join(list);
        if !path.exists() {
            continue;
        }
        let mut out = Vec::new();
        let equivalence = uriscan_bulk::pipeline::Equivalence::default().profile(Profile::Whatwg);
        let settings = uriscan_bulk::pipeline::Settings::default();
        let string = uriscan::normalize::Options::new(uriscan::normalize::Level::String);
        let as_they_are = uriscan_bulk::pipeline::Equivalence::from(string);
        let pass = uriscan_bulk::pipeline::OnInvalid::Pass;
        let mut run = |source, equivalence: &_| {
            out.clear();
            let mut sinks = uriscan_bulk::pipeline::Sinks::new(&mut out);
            uriscan_bulk::pipeline::normalize(
                vec![source],
                equivalence,
                pass,
                &settings,
                &mut sinks,
            )
            .unwrap();
            String::from_utf8(out.clone()).unwrap()
        };
        let forms = run(uriscan_bulk::io::Source::file(&path), &equivalence);
        let records = run(uriscan_bulk::io::Source::file(&path), &as_they_are);
        assert!(records.lines().count() > 10_000);
        for (record, found) in records.lines().zip(forms.lines()).filter(|pair| !is_file(pair.0)) {
            assert_eq!(href(record).as_deref().unwrap_or(record), found);
        }
    }
    // Without either, the properties above must suffice.
    assert!(tests == 0 || tests > 450, "{tests}");
}
