//! Tests sort-friendly forms: tables, simple reference implementations, reversibility, and the
//! effect of sorting.

use proptest::prelude::*;
use uriscan::normalize::{Level, Options};
use uriscan::surt::{Form, Scratch, write, write_invalid};
use uriscan::uri::{HostKind, host_kind, parse, split};
use uriscan_core::normalize::normalize_exact;

fn form(uri: &str, form: Form) -> String {
    let mut out = b"before ".to_vec();
    write(uri.as_bytes(), form, &mut Scratch::default(), &mut out);
    String::from_utf8(out.split_off(7)).unwrap()
}

/// URI, `ssurt`, `surt:cdxj`, `surt:ia`.
const TABLE: &[[&str; 4]] = &[
    ["http://h/", "h,//http:/", "h)/", "h)/"],
    [
        "http://www.example.com/A?b&A#F",
        "com,example,www,//http:/A?b&A#F",
        "com,example,www)/a?b&a",
        "com,example)/a?a&b",
    ],
    ["https://u:P@a.b.c:8443/x", "c,b,a,//8443:https@u:P:/x", "c,b,a:8443)/x", "c,b,a:8443)/x"],
    ["http://@h/", "h,//http@:/", "h)/", "h)/"],
    ["http://u@h", "h,//http@u:", "h)", "h)/"],
    ["http://h?q", "h,//http:?q", "h)?q", "h)/?q"],
    ["http://h#f?", "h,//http:#f?", "h)", "h)/"],
    ["http://h/a:b@c//d", "h,//http:/a:b@c//d", "h)/a:b@c//d", "h)/a:b@c/d"],
    ["http://1.2.3.4:81/x", "1.2.3.4//81:http:/x", "4,3,2,1:81)/x", "4,3,2,1:81)/x"],
    ["http://1.2.3.400/", "400,3,2,1,//http:/", "400,3,2,1)/", "400,3,2,1)/"],
    [
        "http://[2001:db8::1]:81/",
        "[2001:db8::1]//81:http:/",
        "[2001:db8::1]:81)/",
        "2001:db8::1:81)/",
    ],
    [
        "http://[::ffff:1.2.3.4]/",
        "[::ffff:1.2.3.4]//http:/",
        "[::ffff:1.2.3.4])/",
        "4,3,2,::ffff:1)/",
    ],
    ["http://[v1.a:b]/", "[v1.a:b]//http:/", "[v1.a:b])/", "a:b,v1)/"],
    ["http://h./", ",h,//http:/", ",h)/", "h)/"],
    ["http://.a..b/", "b,,a,,//http:/", "b,,a,)/", "b,a)/"],
    ["ftp://h:21/x", "h,//21:ftp:/x", "h:21)/x", "h:21)/x"],
    ["foo://:/x", "//:foo:/x", "foo:/x", "foo:/x"],
    ["foo://u@:80/x", "//80:foo@u:/x", "foo:/x", "foo:/x"],
    ["file:///etc/Passwd", "//file:/etc/Passwd", "file:/etc/passwd", "file:/etc/passwd"],
    ["foo:////a/", "//foo://a/", "foo://a/", "foo://a"],
    [
        "mailto:Joe@Example.com",
        "mailto:Joe@Example.com",
        "mailto:joe@example.com",
        "mailto:joe@example.com",
    ],
    ["urn:isbn:0-395?=A#B", "urn:isbn:0-395?=A#B", "urn:isbn:0-395?=a", "urn:isbn:0-395?=a"],
    ["data:,A%20B", "data:,A%20B", "data:,a%20b", "data:,a%20b"],
    ["foo:/a//b/", "foo:/a//b/", "foo:/a//b/", "foo:/a//b"],
    ["tel:+1-2", "tel:+1-2", "tel:+1-2", "tel:+1-2"],
    ["foo:", "foo:", "foo:", "foo:"],
];

#[test]
fn forms_of_all_shapes() {
    for [uri, ssurt, cdxj, ia] in TABLE {
        assert_eq!(form(uri, Form::Ssurt), *ssurt, "{uri}");
        assert_eq!(form(uri, Form::Cdxj), *cdxj, "{uri}");
        assert_eq!(form(uri, Form::Ia), *ia, "{uri}");
    }
}

/// The form of a record that is not a URI, if it has one.
fn form_of_invalid(record: &str, form: Form) -> Option<String> {
    let mut out = Vec::new();
    let (record, mut scratch) = (record.as_bytes(), Scratch::default());
    let has_form = write_invalid(record, form, Options::default(), &mut scratch, &mut out);
    assert!(has_form || out.is_empty());
    has_form.then(|| String::from_utf8_lossy(&out).into_owned())
}

#[test]
fn records_that_are_no_uris_have_keys() {
    // What the Python package surt 0.3.1 answers.
    for (record, expected) in [
        ("http://h/a b", "h)/a%20b"),
        ("HTTP://www.H.example:80/A|b/", "example,h)/a|b"),
        ("http://h/100%", "h)/100%25"),
        ("http://h/%zz?b=[]&a", "h)/%25zz?a&b=[]"),
        ("http://h/a#b#c", "h)/a"),
        ("http://h/caf\u{E9}?q={x}", "h)/caf%c3%a9?q={x}"),
        ("https://h:443/\\x", "h)/\\x"),
        ("http://127.1/a b", "1,0,0,127)/a%20b"),
        ("http://[::1]/a b", "::1)/a%20b"),
        ("http://u:p@h/a b", "h)/a%20b"),
        ("http://h:/a b", "h)/a%20b"),
        (" http://h/a b ", "h)/a%20b"),
        ("http://a b/", "a%20b)/"),
        ("http://a|b/c d", "a|b)/c%20d"),
        ("http://ex%zzample/", "ex%25zzample)/"),
        ("mailto:a b", "mailto:a%20b"),
        ("warcinfo:a b", "warcinfo:a%20b"),
        ("foo://h h/a", "h%20h)/a"),
    ] {
        assert!(parse(record.as_bytes()).is_err(), "{record}");
        assert_eq!(form_of_invalid(record, Form::Ia).as_deref(), Some(expected), "{record}");
        for form in [Form::Ssurt, Form::Cdxj] {
            assert_eq!(form_of_invalid(record, form), None);
        }
    }
    for record in ["no uri", "//h/a b", "/a b", "", "1http://h/a b", "http ://h/"] {
        assert_eq!(form_of_invalid(record, Form::Ia), None, "no scheme: {record}");
    }
    for record in
        ["http://[::1/", "http://h:99999/a b", "http://h:x/", "http://h:+1/ ", "http://h:80:80/"]
    {
        assert_eq!(form_of_invalid(record, Form::Ia), None, "no host or no port: {record}");
    }
}

#[test]
fn what_is_wrong_elsewhere_does_not_change_the_host() {
    for host in [
        "b%C3%BCcher.example",
        "B\u{FC}cher.example:80",
        "www.b%C3%BCcher.example",
        "%31.2.3.4",
        "H.EXAMPLE",
        "fa\u{DF}.de",
        "xn--99999.example",
        "[2001:DB8:0::1]",
        "010.8.0.1",
    ] {
        let mut canonical = Vec::new();
        normalize_exact(format!("http://{host}/").as_bytes(), Level::Scheme, false, &mut canonical)
            .unwrap();
        let whole = form(str::from_utf8(&canonical).unwrap(), Form::Ia);
        for (before, after, tail) in [
            ("", "/\u{E4}", "%c3%a4"),
            ("", "/a b", "a%20b"),
            ("", "/100%", "100%25"),
            ("u s@", "/", ""),
            ("", "/?q=[ ]", "?q=[%20]"),
        ] {
            let record = format!("http://{before}{host}{after}");
            let found = form_of_invalid(&record, Form::Ia);
            assert_eq!(found, Some(format!("{whole}{tail}")), "{record}");
        }
    }
}

/// The text after `http://`, and its `surt:ia`.
const IA: &[[&str; 2]] = &[
    // Hosts.
    ["www2.h/", "h)/"],
    ["www.www.h/", "h,www)/"],
    ["wwwa.h/", "h,wwwa)/"],
    ["www/", "www)/"],
    ["www.h:80/", "h)/"],
    ["h:080/", "h)/"],
    ["h:0/", "h)/"],
    ["h:443/", "h:443)/"],
    ["%77ww%2Eh/", "h)/"],
    ["a%2525b/", "a%25b)/"],
    ["a,b.c/", "c,a,b)/"],
    ["1.2/", "2,0,0,1)/"],
    ["1.256/", "0,1,0,1)/"],
    ["010.8.0.1/", "1,0,8,8)/"],
    ["1.2.3.08/", "08,3,2,1)/"],
    ["1.2.3.256/", "256,3,2,1)/"],
    ["1.16777216/", "16777216,1)/"],
    ["1.2.3.4.5/", "5,4,3,2,1)/"],
    ["2130706433/", "1,0,0,127)/"],
    ["4294967296/", "0,0,0,0)/"],
    ["08/", "8,0,0,0)/"],
    ["0x7f.1/", "1,0x7f)/"],
    ["www.1.2.3.4/", "4,3,2,1)/"],
    // Paths.
    ["h/a/", "h)/a"],
    ["h/a//b/./c/../d", "h)/a/b/d"],
    ["h//", "h)/"],
    ["h/a/..", "h)/"],
    ["h/../b", "h)/../b"],
    ["h/a/../../b", "h)/../b"],
    ["h/../../b", "h)/../../b"],
    ["h/x../..", "h)/"],
    ["h/%41%2f%2F", "h)/a"],
    ["h/a%2541", "h)/aa"],
    ["h/%25%34%31", "h)/a"],
    ["h/%25%32%35", "h)/%25"],
    ["h/%25zz", "h)/%25zz"],
    ["h/a%20%5B%7C%22%3F", "h)/a%20[|\"?"],
    ["h/%23%00%7F%C3%A9%0A", "h)/%23%00%7f%c3%a9%0a"],
    [
        "h/a;jsessionid=0123456789abcdef0123456789abcdef",
        "h)/a;jsessionid=0123456789abcdef0123456789abcdef",
    ],
    ["h/x/(S(0123456789abcdefghij0123))/y/a.aspx", "h)/x/y/a.aspx"],
    ["h/(A(0123456789abcdefghij0123)F(0123456789abcdefghij0123))/a.aspx", "h)/a.aspx"],
    ["h/(0123456789abcdefghij0123)/a.aspx/", "h)/a.aspx"],
    ["h/(0123456789abcdefghij0123)/a.html", "h)/(0123456789abcdefghij0123)/a.html"],
    ["h/(0123456789abcdefghij0123)/.aspx", "h)/(0123456789abcdefghij0123)/.aspx"],
    ["h/(0123456789abcdefghij0123)/a%3F.aspx", "h)/(0123456789abcdefghij0123)/a?.aspx"],
    [
        "h/(0123456789abcdefghij0123)/(0123456789abcdefghij0123)/a.aspx",
        "h)/(0123456789abcdefghij0123)/a.aspx",
    ],
    ["h/(1(0123456789abcdefghij0123))/a.aspx", "h)/(1(0123456789abcdefghij0123))/a.aspx"],
    ["h/x(0123456789abcdefghij0123)/a.aspx", "h)/x(0123456789abcdefghij0123)/a.aspx"],
    // Queries.
    ["h/a?", "h)/a"],
    ["h/a?&", "h)/a?&"],
    ["h/a?b&a=2&a=1&a", "h)/a?a&a=1&a=2&b"],
    ["h/a?a-b=1&a=1", "h)/a?a=1&a-b=1"],
    ["h/a?B=1&a", "h)/a?a&b=1"],
    ["h/a?b=%26&c", "h)/a?&b=&c"],
    ["h/a?x=//y/../z", "h)/a?x=//y/../z"],
    ["h/a?sid=0123456789abcdef0123456789abcdef", "h)/a"],
    ["h/a?sid=0123456789abcdef0123456789abcdef&", "h)/a"],
    ["h/a?sid=0123456789abcdef0123456789abcde", "h)/a?sid=0123456789abcdef0123456789abcde"],
    ["h/a?sid=0123456789abcdef0123456789abcdef0", "h)/a?sid=0123456789abcdef0123456789abcdef0"],
    ["h/a?x=1&PHPSESSID=0123456789ABCDEF0123456789abcdef", "h)/a?&x=1"],
    ["h/a?jsessionid=0123456789abcdef0123456789abcdef&x", "h)/a?x"],
    ["h/a?xsid=0123456789abcdef0123456789abcdef", "h)/a?x"],
    ["h/a?sid=%30123456789abcdef0123456789abcdef", "h)/a"],
    [
        "h/a?sid=0123456789abcdef0123456789abcdef&sid=0123456789abcdef0123456789abcdef",
        "h)/a?&sid=0123456789abcdef0123456789abcdef",
    ],
    [
        "h/a?jsessionid=0123456789abcdef0123456789abcdef&sid=0123456789abcdef0123456789abcdef",
        "h)/a",
    ],
    ["h/a?ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX&y", "h)/a?y"],
    [
        "h/a?ASPSESSIONID1BCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX",
        "h)/a?aspsessionid1bcdefgh=abcdefghijklmnopqrstuvwx",
    ],
    ["h/a?x&cfid=1&cftoken=2&y", "h)/a?x&y"],
    ["h/a?cftoken=2&cfid=1", "h)/a?cfid=1&cftoken=2"],
    ["h/a?cfid=&cftoken=2", "h)/a?cfid=&cftoken=2"],
    ["h/a?cfid=1&cftoken=", "h)/a?cfid=1&cftoken="],
    ["h/a?cfid=1&cftoken=2&cfid=3&cftoken=4", "h)/a?&cfid=1&cftoken=2"],
];

#[test]
fn parts_that_the_wayback_machine_drops() {
    for [uri, expected] in IA {
        assert_eq!(form(&format!("http://{uri}"), Form::Ia), *expected, "{uri}");
    }
}

/// The URI from which `ssurt` was computed, if no label of its host holds a comma.
fn undone(ssurt: &str) -> String {
    // Without an authority the text begins with a scheme, which a `:` ends.
    let Some((host, rest)) = ssurt.split_once("//") else { return ssurt.to_owned() };
    if host.contains(':') && !host.starts_with('[') {
        return ssurt.to_owned();
    }
    let host = match host.strip_suffix(',') {
        Some(labels) => labels.rsplit(',').collect::<Vec<_>>().join("."),
        None => host.to_owned(),
    };
    let head_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (head, tail) = rest.split_at(head_end);
    let head = head.strip_suffix(':').unwrap();
    // A scheme begins with a letter, which distinguishes it from a port, empty or not.
    let (port, head) = match head.split_once(':') {
        Some((port, head)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (Some(port), head),
        _ => (None, head),
    };
    let (scheme, userinfo) = match head.split_once('@') {
        Some((scheme, userinfo)) => (scheme, format!("{userinfo}@")),
        None => (head, String::new()),
    };
    let port = port.map_or(String::new(), |port| format!(":{port}"));
    format!("{scheme}://{userinfo}{host}{port}{tail}")
}

/// `surt:cdxj`, literally by its definition.
fn cdxj_by_the_letter(uri: &str) -> String {
    let parts = split(uri.as_bytes());
    let text = |part: &[u8]| String::from_utf8(part.to_vec()).unwrap();
    let mut authority = text(parts.authority.unwrap_or_default());
    if let Some(at) = authority.rfind('@') {
        authority.replace_range(..=at, "");
    }
    let port_at = authority.rfind(':').filter(|&at| !authority[at..].contains(']'));
    let port = port_at.map_or(String::new(), |at| authority.split_off(at));
    let mut surt = if authority.is_empty() {
        text(parts.scheme.unwrap()) + ":"
    } else if authority.starts_with('[') {
        authority + &port + ")"
    } else {
        authority.split('.').rev().collect::<Vec<_>>().join(",") + &port + ")"
    };
    surt += &text(parts.path);
    if let Some(query) = parts.query {
        surt = surt + "?" + &text(query);
    }
    surt.to_lowercase()
}

/// One pass over the triplets of `text`.
fn decoded_once(text: &[u8]) -> Vec<u8> {
    let (mut out, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let digits = text.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        let is_triplet =
            text[at] == b'%' && digits.is_some_and(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        if is_triplet {
            out.push(u8::from_str_radix(digits.unwrap(), 16).unwrap());
            at += 3;
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    out
}

/// Decodes until nothing changes, then lower-cases, as characters of one byte each.
fn decoded(text: &[u8]) -> String {
    let mut text = text.to_vec();
    while decoded_once(&text) != text {
        text = decoded_once(&text);
    }
    text.to_ascii_lowercase().into_iter().map(char::from).collect()
}

fn encoded(text: &str) -> String {
    let is_plain = |char: char| ('!'..'\x7F').contains(&char) && char != '#' && char != '%';
    text.chars()
        .map(|char| if is_plain(char) { char.to_string() } else { format!("%{:02x}", char as u32) })
        .collect()
}

fn are(text: &str, len: usize, is_one: fn(char) -> bool) -> bool {
    text.chars().count() == len && text.chars().all(is_one)
}

fn alphanumeric(char: char) -> bool {
    char.is_ascii_alphanumeric()
}

/// `query` without the first match of `is_id` from the right, whatever precedes it.
fn without_last(query: &str, is_id: impl Fn(&str) -> bool) -> String {
    let places: Vec<usize> = query.char_indices().map(|(at, _)| at).collect();
    for &from in places.iter().rev() {
        let ends = places.iter().copied().filter(|&at| at > from && query[at..].starts_with('&'));
        for end in ends.chain([query.len()]) {
            if is_id(&query[from..end]) {
                return query[..from].to_owned() + query[end..].strip_prefix('&').unwrap_or("");
            }
        }
    }
    query.to_owned()
}

fn without_sessions(query: &str) -> String {
    let mut query = query.to_owned();
    for name in ["jsessionid=", "phpsessid=", "sid="] {
        query = without_last(&query, |id| {
            id.strip_prefix(name).is_some_and(|value| are(value, 32, alphanumeric))
        });
    }
    query = without_last(&query, |id| {
        let rest = id.strip_prefix("aspsessionid").and_then(|rest| rest.split_once('='));
        rest.is_some_and(|(a, b)| {
            are(a, 8, |c| c.is_ascii_lowercase()) && are(b, 24, |c| c.is_ascii_lowercase())
        })
    });
    without_last(&query, |id| {
        let rest = id.strip_prefix("cfid=").and_then(|rest| rest.split_once("&cftoken="));
        rest.is_some_and(|(a, b)| {
            !a.is_empty() && !b.is_empty() && !a.contains('&') && !b.contains('&')
        })
    })
}

fn without_session_segment(path: &str, is_session: impl Fn(&str) -> bool) -> String {
    let segments: Vec<&str> = path.split('/').collect();
    for at in (1..segments.len()).rev() {
        let after = segments[at + 1..].join("/");
        let page = after.match_indices(".aspx").find(|(page, _)| *page > 0);
        let is_page = page.is_some_and(|(page, _)| !after[..page].contains('?'));
        if is_session(segments[at]) && is_page {
            return segments[..at].join("/") + "/" + &after;
        }
    }
    path.to_owned()
}

fn is_bare(segment: &str) -> bool {
    let inside = segment.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    inside.is_some_and(|inside| are(inside, 24, alphanumeric))
}

fn is_lettered(segment: &str) -> bool {
    let inside = segment.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    inside.is_some_and(|inside| {
        let groups: Vec<&str> = inside.split_inclusive(')').collect();
        let is_group = |group: &&str| {
            group.starts_with(|c: char| c.is_ascii_lowercase()) && is_bare(&group[1..])
        };
        !groups.is_empty() && groups.iter().all(is_group)
    })
}

/// `surt:ia`, step by step on strings.
fn ia_step_by_step(uri: &str) -> String {
    let parts = split(uri.as_bytes());
    let scheme = String::from_utf8(parts.scheme.unwrap().to_vec()).unwrap();
    let authority = String::from_utf8(parts.authority.unwrap_or_default().to_vec()).unwrap();
    let after_userinfo = authority.rsplit('@').next().unwrap();
    let port_at = after_userinfo.rfind(':').filter(|&at| !after_userinfo[at..].contains(']'));
    let (host, port) = after_userinfo.split_at(port_at.unwrap_or(after_userinfo.len()));
    let labels = decoded(host.as_bytes());
    let labels: Vec<&str> = labels.split('.').filter(|label| !label.is_empty()).collect();
    let mut labels: Vec<String> = labels.into_iter().map(str::to_owned).collect();
    let numbers: Option<Vec<u64>> = labels
        .iter()
        .map(|label| match label.strip_prefix('0') {
            _ if !label.bytes().all(|byte| byte.is_ascii_digit()) => None,
            Some("") => Some(0),
            Some(octal) if labels.len() > 1 => u64::from_str_radix(octal, 8).ok(),
            _ => label.parse().ok(),
        })
        .collect();
    if let Some(numbers) = numbers.filter(|numbers| (1..=4).contains(&numbers.len())) {
        let (last, front) = numbers.split_last().unwrap();
        let room = 1u64 << (8 * (4 - front.len()));
        if front.iter().all(|&octet| octet < 256) && (*last < room || front.is_empty()) {
            let address =
                front.iter().enumerate().map(|(i, octet)| octet << (24 - 8 * i)).sum::<u64>()
                    + last;
            labels = (address as u32).to_be_bytes().iter().map(u8::to_string).collect();
        }
    } else if labels.len() > 1
        && labels[0]
            .strip_prefix("www")
            .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    {
        labels.remove(0);
    }
    labels.reverse();
    let host = labels.join(",");
    let default = match scheme.to_lowercase().as_str() {
        "http" => 80,
        "https" => 443,
        _ => 0,
    };
    let number: u64 = port.strip_prefix(':').unwrap_or("0").parse().unwrap_or(0);
    let port = if number == 0 || number == default { "" } else { port };
    let has_host = !host.is_empty();
    let host = if parts.authority.unwrap_or_default().contains(&b'[') {
        host.replace(['[', ']'], "")
    } else {
        host
    };
    let head = if has_host { encoded(&host) + port + ")" } else { scheme.to_lowercase() + ":" };

    let mut path = decoded(parts.path);
    if has_host && path.starts_with('/') {
        let mut segments: Vec<&str> = Vec::new();
        for segment in path.split('/').filter(|segment| !["", "."].contains(segment)) {
            if segment == ".." && segments.last().is_some_and(|last| *last != "..") {
                segments.pop();
            } else {
                segments.push(segment);
            }
        }
        let is_open = path.ends_with('/') || path.ends_with("/.");
        path = "/".to_owned()
            + &segments.join("/")
            + if is_open && !segments.is_empty() { "/" } else { "" };
    }
    path = without_session_segment(&path, is_lettered);
    path = without_session_segment(&path, is_bare);
    if path.len() > 1 {
        path = path.strip_suffix('/').unwrap_or(&path).to_owned();
    }
    if has_host && path.is_empty() {
        path = "/".to_owned();
    }
    let query = without_sessions(&decoded(parts.query.unwrap_or_default()));
    let mut params: Vec<&str> = query.split('&').collect();
    params.sort_by_key(|param| {
        param.split_once('=').map_or((*param, None), |(name, value)| (name, Some(value)))
    });
    let mark = if query.is_empty() { "" } else { "?" };
    head + &encoded(&path) + mark + &encoded(&params.join("&"))
}

/// URIs of various shapes.
fn uri() -> impl Strategy<Value = String> {
    let host = prop_oneof![
        4 => "(www[0-9]{0,2}\\.)?[a-cA%.~-]{0,6}(\\.[a-z]{2,3})?",
        1 => "[0-9]{1,4}(\\.[0-9]{1,4}){0,4}",
        1 => "\\[(::1|2001:db8::[0-9a-f]{1,4}|::ffff:1\\.2\\.3\\.4|v1\\.[a:]{1,3})\\]",
        1 => "(%41|%2E|%2e|%25|%77|%C3%BC|[a.]){1,6}",
    ];
    let authority = ("([a:]{0,3}@)?", host, "(:[0-9]{0,4})?")
        .prop_map(|(userinfo, host, port)| format!("//{userinfo}{host}{port}"));
    let segment = "[a-cA.:@,]{0,4}|%2[fF5eE]|\\(([aS]\\()?[0-9a-z]{24}\\)?\\)|x\\.aspx|%3F|%41";
    let path = prop::collection::vec(segment, 0..6).prop_map(|segments| {
        segments.into_iter().map(|segment| "/".to_owned() + &segment).collect()
    });
    let param = "[a-c=A]{0,4}|[jp]?(sid|sessionid|phpsessid|jsessionid)=[0-9a-c]{31,33}|cf(id|token)=[0-9]?|%26|%253D|\
                 aspsessionid[a-z]{8}=[a-z]{24}";
    let query =
        prop::collection::vec(param, 0..5).prop_map(|params| "?".to_owned() + &params.join("&"));
    let optional =
        |text: BoxedStrategy<String>| prop::option::of(text).prop_map(Option::unwrap_or_default);
    (
        "(http|https|ftp|foo|file|mailto)",
        optional(authority.boxed()),
        path.boxed(),
        optional(query.boxed()),
        "(#[aA?]{0,2})?",
    )
        .prop_map(
            |(scheme, authority, path, query, fragment): (
                String,
                String,
                String,
                String,
                String,
            )| { format!("{scheme}:{authority}{path}{query}{fragment}") },
        )
        .prop_filter("no URI", |uri| parse(uri.as_bytes()).is_ok())
}

fn canonical(uri: &str) -> String {
    let mut out = Vec::new();
    normalize_exact(uri.as_bytes(), Level::Scheme, false, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn ssurt_is_reversible(uri in uri()) {
        let parts = parse(uri.as_bytes()).unwrap();
        // A comma in a host looks like one between labels.
        prop_assume!(!parts.host(uri.as_bytes()).unwrap_or_default().contains(&b','));
        for uri in [canonical(&uri), uri] {
            prop_assert_eq!(undone(&form(&uri, Form::Ssurt)), uri);
        }
    }

    #[test]
    fn cdxj_follows_its_definition(uri in uri()) {
        for uri in [canonical(&uri), uri] {
            prop_assert_eq!(form(&uri, Form::Cdxj), cdxj_by_the_letter(&uri));
        }
    }

    #[test]
    fn ia_agrees_with_the_steps(uri in uri()) {
        for uri in [canonical(&uri), uri] {
            prop_assert_eq!(form(&uri, Form::Ia), ia_step_by_step(&uri));
        }
    }

    #[test]
    fn ia_is_a_line_and_the_scratch_does_not_matter(uris in prop::collection::vec(uri(), 1..4)) {
        let mut scratch = Scratch::default();
        for uri in &uris {
            let mut out = Vec::new();
            write(uri.as_bytes(), Form::Ia, &mut scratch, &mut out);
            let fresh = form(uri, Form::Ia);
            prop_assert_eq!(&out, fresh.as_bytes());
            prop_assert!(out.iter().all(|byte| (0x21..0x7F).contains(byte) && *byte != b'#'), "{}", fresh);
            prop_assert!(!out.iter().any(u8::is_ascii_uppercase), "{}", fresh);
        }
    }

    #[test]
    fn forms_of_any_bytes_are_some_bytes(bytes in prop::collection::vec(any::<u8>(), 0..60), head in "(http://)?") {
        let bytes = [head.as_bytes(), &bytes].concat();
        for form in Form::ALL {
            write(&bytes, form, &mut Scratch::default(), &mut Vec::new());
        }
    }

    /// In sorted `ssurt` forms, all URIs of a domain and its subdomains are contiguous.
    #[test]
    fn sorting_brings_domains_together(uris in prop::collection::vec("(http|ftp)://[ab!-]{0,2}\\.?[ab-]{0,1}\\.?(a|b)\\.(c|d)(:[0-9])?/[a-c.)]{0,3}", 1..30)) {
        let mut rows: Vec<(String, String)> = uris
            .iter()
            .filter(|uri| parse(uri.as_bytes()).is_ok())
            .map(|uri| (form(uri, Form::Ssurt), uri.clone()))
            .collect();
        rows.sort();
        for domain in ["a.c", "b.c", "a.d", "b.d", "c", "a.a.c"] {
            let is_below = |uri: &str| {
                let parts = parse(uri.as_bytes()).unwrap();
                let host = std::str::from_utf8(parts.host(uri.as_bytes()).unwrap()).unwrap();
                host == domain || host.ends_with(&format!(".{domain}"))
            };
            let pieces = rows.chunk_by(|a, b| is_below(&a.1) == is_below(&b.1));
            let count = pieces.filter(|piece| is_below(&piece[0].1)).count();
            prop_assert!(count <= 1, "{} {:?}", domain, rows);
        }
    }
}

#[test]
fn addresses_are_distinguished_from_names() {
    for (host, kind) in [("1.2.3.4", HostKind::Ipv4), ("1.2.3.256", HostKind::RegName)] {
        assert_eq!(host_kind(host.as_bytes()), Some(kind));
        let reversed = form(&format!("http://{host}/"), Form::Ssurt).contains(",//");
        assert_eq!(reversed, kind == HostKind::RegName);
    }
}

/// URIs that would take quadratic time in a careless implementation.
#[test]
fn hostile_uris_take_linear_time() {
    let long = 1 << 20;
    for (head, middle) in [
        ("http://h/%", "25"),
        ("http://h/", "../"),
        ("http://h/", "a/../"),
        ("http://h/", "(0123456789abcdefghij0123)/"),
        ("http://h/%3F", "(0123456789abcdefghij0123)/"),
        ("http://h/?x=", "cfid="),
        ("http://h/?", "cfid=&cftoken="),
        ("http://h/?", "sid=0123456789abcdef0123456789abcdef&"),
        ("http://h/?", "b&a&"),
        ("http://", "a."),
    ] {
        let uri = head.to_owned() + &middle.repeat(long / middle.len()) + "/.aspx";
        for which in Form::ALL {
            assert!(form(&uri, which).len() < 2 * uri.len());
        }
    }
}
