//! The reference implementation of the rules, written to be read: no masks, no blocks, one byte at
//! a time.

use std::ops::Range;

use proptest::prelude::*;
use uriscan::Kernels;
use uriscan::extract::{Finder, Options, Schemes};
use uriscan_core::grammar::scheme_facts;

fn is_uri_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte)
}

fn is_scheme_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)
}

/// The length of the non-ASCII letter, digit or mark at the start of `text`, or of the joiner before a letter.
fn letter(text: &[u8]) -> Option<usize> {
    let (c, len) = first_char(text)?;
    let is_letter = |c: char| {
        let is_mark = unicode_normalization::char::is_combining_mark(c);
        (c.is_alphanumeric() || is_mark) && !(0xFF00..=0xFFEF).contains(&(c as u32))
    };
    let is_joiner = "\u{200C}\u{200D}".contains(c);
    let joins = || first_char(&text[len..]).is_some_and(|(next, _)| is_letter(next));
    (!c.is_ascii() && (is_letter(c) || is_joiner && joins())).then_some(len)
}

fn first_char(text: &[u8]) -> Option<(char, usize)> {
    let len = (1..=text.len().min(4)).find(|&len| std::str::from_utf8(&text[..len]).is_ok())?;
    Some((std::str::from_utf8(&text[..len]).unwrap().chars().next()?, len))
}

/// The links of `text` for options without `www`, `email` and `refang`.
pub(crate) fn links(options: &Options, text: &[u8]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for colon in 0..text.len() {
        let floor = found.last().map_or(0, |link| link.end);
        if text[colon] == b':' && colon >= floor {
            found.extend(link(options, text, floor, colon));
        }
    }
    found
}

fn link(options: &Options, text: &[u8], floor: usize, colon: usize) -> Option<Range<usize>> {
    let mut run = colon;
    while run > floor && is_scheme_byte(text[run - 1]) {
        run -= 1;
    }
    while run < colon && !text[run].is_ascii_alphabetic() {
        run += 1;
    }
    let word = String::from_utf8(text[run..colon].to_vec()).unwrap().to_lowercase();
    let rest = &text[colon + 1..];
    if word.is_empty() {
        return None;
    }
    if rest.starts_with(b"//") {
        let is_listed = matches!(&options.schemes, Schemes::List(list) if list.contains(&word));
        let is_whole =
            options.schemes == Schemes::Any || scheme_facts(word.as_bytes()).is_some() || is_listed;
        let mut scheme = word.as_str();
        if !is_whole {
            for name in ["https", "http", "ftp"] {
                if word.ends_with(name) && !word.ends_with(&format!("+{name}")) {
                    scheme = name;
                    break;
                }
            }
        }
        if matches!(&options.schemes, Schemes::List(list) if !list.iter().any(|name| name == scheme))
        {
            return None;
        }
        let first = *rest.get(2)?;
        let needs_host = ["http", "https", "ws", "wss", "ftp", "ftps"].contains(&scheme);
        let begins_host = first.is_ascii_alphanumeric() || b"-_~%[$@".contains(&first);
        let userinfo = rest[2..].iter().take(256).take_while(|&&byte| is_uri_byte(byte));
        let userinfo: Vec<u8> = userinfo.copied().collect();
        let has_userinfo = first == b':'
            && userinfo.iter().position(|&byte| b"/?#@".contains(&byte)).is_some_and(|at| {
                let is_host = |&b: &u8| b.is_ascii_alphanumeric() || b"-_~%[$@".contains(&b);
                userinfo[at] == b'@' && userinfo.get(at + 1).is_some_and(is_host)
            });
        if !(begins_host
            || has_userinfo
            || (first == b'/' && !needs_host)
            || (first >= 0x80 && options.unicode))
        {
            return None;
        }
        let start = colon - scheme.len();
        return end(options, text, start, colon + 3).map(|end| start..end);
    }
    if is_opaque(options, &word, rest) {
        return end(options, text, run, colon + 1).map(|end| run..end);
    }
    if run > floor
        && text[run - 1] == b'\\'
        && "nrt".contains(char::from(text[run]))
        && word.len() > 1
    {
        // In any case: the letter of the escape is compared as it is.
        let start = run + 1;
        if is_opaque(options, &word[1..], rest) {
            return end(options, text, start, colon + 1).map(|end| start..end);
        }
    }
    None
}

fn is_opaque(options: &Options, scheme: &str, rest: &[u8]) -> bool {
    let begins = rest.first().is_some_and(|&b| is_uri_byte(b) && !b".,:;!'()[]".contains(&b));
    match &options.schemes {
        Schemes::Any => scheme.len() > 1 && scheme != "url" && begins,
        Schemes::List(list) => list.iter().any(|name| name == scheme) && begins,
        Schemes::Known => {
            let len = rest.iter().take(256).take_while(|&&byte| is_uri_byte(byte)).count();
            means(scheme, std::str::from_utf8(&rest[..len]).unwrap())
        }
    }
}

/// Whether `rest` fits the scheme and is not prose.
fn means(scheme: &str, rest: &str) -> bool {
    let first = rest.chars().next().unwrap_or(' ');
    let inside = |c: char| rest.find(c).is_some_and(|at| at > 0 && at + 1 < rest.len());
    let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let unreserved = first.is_ascii_alphanumeric() || "-._~".contains(first);
    match scheme {
        "mailto" | "cid" | "mid" | "acct" => inside('@'),
        "sip" | "sips" | "xmpp" => unreserved && (inside('@') || inside('.')),
        "news" if inside('@') => first.is_ascii_alphanumeric(),
        "news" => first.is_ascii_alphabetic() && inside('.'),
        "tel" | "sms" => digit(rest) || rest.strip_prefix('+').is_some_and(digit),
        "geo" => (digit(rest) || first == '-') && inside(','),
        "magnet" => first == '?' && rest.len() > 1,
        "doi" => rest.starts_with("10.") && inside('/'),
        "ark" => {
            let name = rest.strip_prefix('/').unwrap_or(rest);
            digit(name) && name.contains('/')
        }
        "urn" => rest.split_once(':').is_some_and(|(nid, nss)| {
            (2..=32).contains(&nid.len())
                && !nid.starts_with('-')
                && nid.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
                && !nss.is_empty()
        }),
        "tag" => rest.split_once(',').is_some_and(|(authority, date)| {
            !authority.is_empty()
                && date.len() > 4
                && date.chars().take(4).all(|c| c.is_ascii_digit())
                && date.contains(':')
        }),
        "data" => rest.split_once(',').is_some_and(|(media, data)| {
            media.chars().all(|c| c.is_ascii_alphanumeric() || "-._~!$&+/;=%'*".contains(c))
                && (media.is_empty() || media.starts_with(';') || media.contains('/'))
                && !data.is_empty()
        }),
        _ => false,
    }
}

fn end(options: &Options, text: &[u8], start: usize, from: usize) -> Option<usize> {
    let left = if start > 0 { text[start - 1] } else { b' ' };
    let is_in_angles = left == b'<' || text[..start].to_ascii_lowercase().ends_with(b"<url:");
    if is_in_angles && let Some(end) = closing_angle(options, text, from) {
        return Some(end);
    }
    let (mut round, mut square) = (0, 0);
    let splits = !options.unsplit && !text[start..from].eq_ignore_ascii_case(b"data:");
    let mut at = from;
    while at < text.len() {
        match text[at] {
            b'\'' if left == b'\'' => break,
            b'(' => round += 1,
            b')' if round == 0 => break,
            b')' => round -= 1,
            b'[' if !opens(text, from, at) => break,
            b'[' => square += 1,
            b']' if square == 0 => break,
            b']' => square -= 1,
            b',' | b';' if splits && begins_link(&text[at + 1..]) => break,
            byte if is_uri_byte(byte) => {}
            _ => match letter(&text[at..]) {
                Some(len) if options.unicode => at += len - 1,
                _ => break,
            },
        }
        at += 1;
    }
    while at > from {
        let last = text[at - 1];
        if b".,:;!?'([".contains(&last) || (b"*_~".contains(&last) && last == left) {
            at -= 1;
        } else {
            break;
        }
    }
    (at > from).then_some(at)
}

/// Whether the `[` at `at` may be part of the link: after a scheme without `//`, at the beginning of a host, or in a query or
/// fragment, but not before a `/` there.
fn opens(text: &[u8], from: usize, at: usize) -> bool {
    let link = &text[from..at];
    if !text[..from].ends_with(b"//") || link.contains(&b'?') || link.contains(&b'#') {
        return text.get(at + 1) != Some(&b'/');
    }
    link.is_empty() || link.ends_with(b"@") && !link.contains(&b'/')
}

/// Whether `text` begins with a scheme of up to 40 bytes, `://`, and the beginning of a host or path.
fn begins_link(text: &[u8]) -> bool {
    let len = text.iter().take_while(|&&byte| is_scheme_byte(byte)).count();
    text.first().is_some_and(u8::is_ascii_alphabetic)
        && len <= 40
        && text[len..].starts_with(b"://")
        && text.get(len + 3).is_some_and(|&b| b.is_ascii_alphanumeric() || b"-_~%[$@/".contains(&b))
}

/// Offset of the `>` that closes the `<` before `from`.
fn closing_angle(options: &Options, text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while at < text.len() && at < from + 4096 {
        let byte = text[at];
        if byte == b'>' {
            return (at > from).then_some(at);
        } else if b" \t\r\n".contains(&byte) && options.unwrap {
            let len = text[at..].iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
            if at + len >= text.len().min(from + 4096) {
                return None;
            }
            if text[at..at + len].iter().filter(|&&byte| byte == b'\n').count() != 1 {
                return None;
            }
            at += len;
        } else if is_uri_byte(byte) {
            at += 1;
        } else {
            at += letter(&text[at..]).filter(|_| options.unicode)?;
        }
    }
    None
}

/// Text full of the bytes that matter to the rules.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => prop::sample::select(vec![
            "http://", "https://", "://", "//", ":", "mailto:", "urn:", "tel:", "data:", "news:", "tag:",
            ",http://", ";s3://a", "geo:", "doi:10.", "ark:/", "magnet:?", "URL:", "<URL:", "git+", "ftp://", "file:///", "\\n",
            "a@b", "://:p@h", "[::1]", "example.com", ",2005:x", "text/plain,", "%41", "[/a]", "xhttp://", "s3://",
        ]).prop_map(|s| s.as_bytes().to_vec()),
        10 => prop::sample::select(b"abzAZ019 \n\t\r.,:;!?'\"()[]<>{}|\\^`*_~/#@&=+-%$\0".to_vec())
            .prop_map(|byte| vec![byte]),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
        2 => prop::sample::select(vec!["é", "路", "。", "，", "（", "Ａ", "“", "\u{A0}", "\u{301}", "\u{94D}", "\u{200D}"])
            .prop_map(|s| s.as_bytes().to_vec()),
        1 => (0..200usize).prop_map(|len| vec![b'x'; len]),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| without_escapes(&pieces.concat()))
}

/// `text` with a space after every backslash that might begin an escape of a script.
fn without_escapes(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for &byte in text {
        if out.last() == Some(&b'\\') && b"/ux".contains(&byte) {
            out.push(b' ');
        }
        out.push(byte);
    }
    out
}

fn schemes() -> impl Strategy<Value = Schemes> {
    let list = || Schemes::List(vec!["http".to_owned(), "urn".to_owned(), "s3".to_owned()]);
    prop_oneof![Just(Schemes::Known), Just(Schemes::Any), Just(list())]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_search_agrees_with_the_rules(
        text in text(), schemes in schemes(), flags in any::<[bool; 3]>(),
    ) {
        let [unicode, unwrap, unsplit] = flags;
        let options = Options::default().schemes(schemes).unicode(unicode).unwrap(unwrap).unsplit(unsplit);
        let expected = links(&options, &text);
        let finder = Finder::new(options);
        for kernels in Kernels::available() {
            prop_assert_eq!(finder.find(kernels, &text), expected.clone(), "{:?}", kernels.backend());
        }
    }

    #[test]
    fn links_and_gaps_are_the_text(
        text in text(), schemes in schemes(), flags in any::<[bool; 5]>(),
    ) {
        let [unicode, unwrap, bare_hosts, email, refang] = flags;
        let options = Options::default().schemes(schemes).unicode(unicode).unwrap(unwrap);
        let finder = Finder::new(options.bare_hosts(bare_hosts).email(email).refang(refang));
        for kernels in Kernels::available() {
            let mut at = 0;
            for place in finder.find(kernels, &text) {
                prop_assert!(at <= place.start && place.start < place.end, "{:?}", place);
                at = place.end;
            }
            prop_assert!(at <= text.len());
        }
    }
}
