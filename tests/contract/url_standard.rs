//! Tests the profile `whatwg` against the WHATWG URL Standard: its own tests, and its parser of
//! `file` URLs, transcribed state by state.

use proptest::prelude::*;
use uriscan::profile::{Profile, Profiler};
use url::Host;

fn form(url: &str) -> Option<String> {
    let mut profiler = Profiler::new(Profile::Whatwg);
    profiler.form(url.as_bytes()).ok().map(|form| str::from_utf8(form).unwrap().to_owned())
}

/// Inputs of the standard's tests that the profile rejects and the standard does not. Such records
/// are compared by their bytes and merge with nothing else. Their A-labels do not decode (they are
/// not Punycode, or Punycode of nothing); the standard accepts them in an ASCII name, the `url`
/// crate does not.
const LEFT: &[&str] = &[
    "http://a.b.c.xn--pokxncvks",
    "http://10.0.0.xn--pokxncvks",
    "http://a.b.c.XN--pokxncvks",
    "http://a.b.c.Xn--pokxncvks",
    "http://10.0.0.XN--pokxncvks",
    "http://10.0.0.xN--pokxncvks",
    "file://xn--/p",
    "https://xn--/",
];

#[test]
fn the_tests_of_the_standard_pass() {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/urltestdata.json");
    let Ok(text) = std::fs::read(&path) else {
        println!("skipped: {} is not there", path.display());
        return;
    };
    let rows: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let (mut tests, mut others, mut left) = (0, Vec::new(), 0);
    for row in rows.as_array().unwrap().iter().filter(|row| row["base"].is_null()) {
        // Comments are strings; empty records are skipped.
        let Some(input) = row["input"].as_str().filter(|input| !input.is_empty()) else { continue };
        tests += 1;
        if form(input).as_deref() == row["href"].as_str() {
            continue;
        }
        if LEFT.contains(&input) && form(input).is_none() {
            left += 1;
        } else {
            others.push(format!("{input:?}: {:?}, not {}", form(input), row["href"]));
        }
    }
    assert!(others.is_empty(), "{} differ:\n{}", others.len(), others.join("\n"));
    assert_eq!(left, LEFT.len(), "all that are left are still there");
    assert!(tests > 500, "{tests}");
}

/// A state of the parser (section 4.4 of the standard).
#[derive(Clone, Copy, PartialEq)]
enum State {
    File,
    FileSlash,
    FileHost,
    PathStart,
    Path,
    Query,
    Fragment,
}

fn is_drive(buffer: &str) -> bool {
    let mut chars = buffer.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && matches!(chars.next(), Some(':' | '|'))
        && chars.next().is_none()
}

fn encode(c: char, set: &str, out: &mut String) {
    if ('!'..='~').contains(&c) && !set.contains(c) {
        out.push(c);
    } else {
        let mut bytes = [0; 4];
        c.encode_utf8(&mut bytes).bytes().for_each(|byte| out.push_str(&format!("%{byte:02X}")));
    }
}

fn shorten(path: &mut Vec<String>) {
    if !(path.len() == 1 && is_drive(&path[0]) && path[0].ends_with(':')) {
        path.pop();
    }
}

/// The serialization of a `file` URL, code point by code point, as in the standard.
fn file_href(url: &str) -> Option<String> {
    let cleaned: String = url
        .trim_matches(|c| c <= ' ')
        .chars()
        .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
        .collect();
    let scheme = cleaned.get(..5).filter(|head| head.eq_ignore_ascii_case("file:"))?;
    let input: Vec<char> = cleaned[scheme.len()..].chars().collect();
    let (mut state, mut buffer, mut pointer) = (State::File, String::new(), 0usize);
    let (mut host, mut path) = (String::new(), Vec::<String>::new());
    let (mut query, mut fragment) = (None::<String>, None::<String>);
    loop {
        let c = input.get(pointer).copied();
        let is_slash = matches!(c, Some('/' | '\\'));
        let is_stop = matches!(c, None | Some('?' | '#')) || is_slash;
        match state {
            State::File if is_slash => state = State::FileSlash,
            State::FileSlash if is_slash => state = State::FileHost,
            State::File | State::FileSlash => {
                state = State::Path;
                continue;
            }
            State::FileHost if is_stop => {
                if is_drive(&buffer) {
                    state = State::Path;
                } else {
                    if !buffer.is_empty() {
                        host = Host::parse(&buffer).ok()?.to_string();
                        if host == "localhost" {
                            host.clear();
                        }
                    }
                    buffer.clear();
                    state = State::PathStart;
                }
                continue;
            }
            State::FileHost => buffer.push(c?),
            State::PathStart => {
                state = State::Path;
                if !is_slash {
                    continue;
                }
            }
            State::Path if is_stop => {
                let dots = buffer.to_ascii_lowercase().replace("%2e", ".");
                if dots == ".." {
                    shorten(&mut path);
                }
                if dots == ".." || dots == "." {
                    if !is_slash {
                        path.push(String::new());
                    }
                } else {
                    if path.is_empty() && is_drive(&buffer) {
                        buffer.replace_range(1.., ":");
                    }
                    path.push(buffer.clone());
                }
                buffer.clear();
                match c {
                    Some('?') => (state, query) = (State::Query, Some(String::new())),
                    Some('#') => (state, fragment) = (State::Fragment, Some(String::new())),
                    _ => {}
                }
            }
            State::Path => encode(c?, " \"#<>?^`{}", &mut buffer),
            State::Query => match c {
                Some('#') => (state, fragment) = (State::Fragment, Some(String::new())),
                Some(c) => encode(c, " \"#<>'", query.as_mut()?),
                None => {}
            },
            State::Fragment => {
                if let Some(c) = c {
                    encode(c, " \"<>`", fragment.as_mut()?);
                }
            }
        }
        if c.is_none() {
            break;
        }
        pointer += 1;
    }
    let path: String = path.into_iter().map(|segment| format!("/{segment}")).collect();
    let query = query.map_or_else(String::new, |query| format!("?{query}"));
    let fragment = fragment.map_or_else(String::new, |fragment| format!("#{fragment}"));
    Some(format!("file://{host}{path}{query}{fragment}"))
}

/// Two `file` URLs, and whether the standard has one serialization for both.
#[test]
fn file_urls_that_match_and_that_differ() {
    for (a, b, is_same) in [
        ("file://example.net/C:/x", "file:///C:/x", false),
        ("file://example.net/C|/x", "file:///C:/x", false),
        ("file:////etc/passwd", "file:///etc/passwd", false),
        ("file://///etc/passwd", "file:////etc/passwd", false),
        ("file://h//x", "file://h/x", false),
        ("file:///a//b", "file:///a/b", false),
        ("file:///C:/../x", "file:///x", false),
        ("file:///x/C|/", "file:///x/C:/", false),
        ("file://h/x", "file:///x", false),
        ("file:///x", "file:///X", false),
        ("file://localhost/x", "file:///x", true),
        ("file://LOCALHOST//x", "file:////x", true),
        ("file:/x", "file:///x", true),
        ("file:x", "file:///x", true),
        ("FILE:\\\\h\\x", "file://h/x", true),
        ("file:///C|/x", "file:///C:/x", true),
        ("file://C|/x", "file:///C:/x", true),
        ("file:///C:/a/../../x", "file:///C:/x", true),
        ("file:///a/%2E%2e/x", "file:///x", true),
        ("file://H/x", "file://h/x", true),
        ("file:///a^b", "file:///a%5Eb", true),
        (" fi\tle:///x\n", "file:///x", true),
    ] {
        assert!(form(a).is_some() && form(b).is_some(), "{a} {b}");
        assert_eq!(form(a) == form(b), is_same, "{a} {b}");
    }
    for refused in ["file://u@h/x", "file://h:80/x", "file://a b/x", "file://[::1/x"] {
        assert_eq!(form(refused), None, "{refused}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    #[test]
    fn file_urls_agree_with_the_states(
        scheme in "(file|file|FILE|F\tile):",
        rest in "([/\\\\]{0,4})((localhost|h\\.example|H|1\\.2|\\[::1\\]|u@h|h:80|[cC][:|]|\u{fc}|%41)[/\\\\?]?)?(\\.\\.?|%2[eE]|%2e\\.|[cC][:|]|[a-c]{0,2}|[/\\\\]|[ ^`{}|\"<>'\u{e9}%]){0,8}(\\?[a?'` ^/]{0,3})?(#[a#'` ^/?]{0,3})?[ \n]?",
    ) {
        let url = format!("{scheme}{rest}");
        let found = form(&url);
        prop_assert_eq!(&found, &file_href(&url), "{}", url);
        if let Some(found) = found {
            let again = form(&found);
            prop_assert_eq!(again.as_ref(), Some(&found), "{} twice", url);
        }
    }
}
