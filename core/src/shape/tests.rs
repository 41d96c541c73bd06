//! Shapes agree with a slow reference, which splits by Appendix B and knows types as expressions.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use proptest::prelude::*;
use regex::bytes::Regex;

use super::*;
use crate::normalize::percent::decoded;
use crate::uri::HostKind;

/// The types as the table of the module has them, and expressions for them.
struct Reference {
    kinds: Vec<(&'static str, Regex)>,
    appendix_b: Regex,
    extension: Regex,
    slugs: bool,
}

/// The reference without slugs, and with them.
static REFERENCES: LazyLock<[Reference; 2]> = LazyLock::new(|| [false, true].map(Reference::new));

/// An expression that matches whole pieces.
fn whole(pattern: &str) -> Regex {
    Regex::new(&format!(r"(?s-u)\A(?:{pattern})\z")).unwrap()
}

impl Reference {
    fn new(slugs: bool) -> Reference {
        let mut kinds = Vec::new();
        for (name, len) in [
            ("{hex32}", 32),
            ("{hex40}", 40),
            ("{hex56}", 56),
            ("{hex64}", 64),
            ("{hex96}", 96),
            ("{hex128}", 128),
        ] {
            kinds.push((name, whole(&format!("[0-9a-f]{{{len}}}|[0-9A-F]{{{len}}}"))));
        }
        let (year, month, day) =
            ("(?:19|20)[0-9]{2}", "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])");
        let minutes = "(?:[01][0-9]|2[0-4]):?[0-5][0-9]";
        let seconds = r"(?::?(?:[0-5][0-9]|60)(?:\.[0-9]+)?)";
        let zone = format!("(?:[Zz]|[-+ ]{minutes})?");
        let by = |sep: &str| format!("{year}{sep}{month}{sep}{day}|{day}{sep}{month}{sep}{year}");
        let days = ["-", "_", r"\.", "/"].map(by).join("|");
        let date = format!(
            "{year}[-_./]{month}|(?:{days}|{year}{month}{day})(?:[Tt_+ -]{minutes}{seconds}?{zone})?|{year}{month}{day}{minutes}{seconds}{zone}"
        );
        kinds.push(("{date}", whole(&date)));
        kinds.push(("{int}", whole("[0-9]+")));
        kinds.push(("{hex}", whole("[0-9a-f]{8,}|[0-9A-F]{8,}")));
        let label = "[A-Za-z0-9-]+";
        let email = format!(r"[A-Za-z0-9._%+-]+@(?:{label}\.)+[A-Za-z]{{2,}}");
        kinds.push(("{email}", whole(&email)));
        let uuid = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}";
        kinds.push(("{uuid}", whole(uuid)));
        let appendix_b =
            r"(?s-u)\A(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#.*)?\z";
        let extension = r"(?s-u)\A(.+)\.([A-Za-z0-9]{1,8})\z";
        let [appendix_b, extension] = [appendix_b, extension].map(|it| Regex::new(it).unwrap());
        Reference { kinds, appendix_b, extension, slugs }
    }

    fn kind(&self, plain: &[u8]) -> Option<String> {
        let has_digit = plain.iter().any(u8::is_ascii_digit);
        let is_longest = |name: &str| name != "{date}" || plain.len() <= 40;
        let found = self.kinds.iter().find(|(name, kind)| {
            kind.is_match(plain) && is_longest(name) && (has_digit || *name == "{email}")
        });
        if let Some((name, _)) = found {
            return Some((*name).to_owned());
        }
        is_token(plain).then(|| "{token}".to_owned())
    }

    fn segment(&self, text: &[u8]) -> Vec<u8> {
        let plain = decoded(text);
        if let Some(kind) = self.kind(&plain) {
            return kind.into_bytes();
        }
        let (mut stem, mut extensions) = (plain, Vec::new());
        for _ in 0..2 {
            let Some(found) = self.extension.captures(&stem) else { break };
            if !found[2].iter().any(u8::is_ascii_alphabetic) {
                break;
            }
            let shorter = found[1].to_vec();
            extensions = [b".", &found[2], &extensions[..]].concat();
            stem = shorter;
            if let Some(kind) = self.kind(&stem) {
                return [kind.as_bytes(), &extensions].concat();
            }
        }
        let word = r"[A-Za-z0-9\x80-\xFF]+";
        let words =
            whole(&format!("{word}(?:[-_+ ]{word}){{2,}}|[0-9]+[-_+ ]{word}|{word}[-_+ ][0-9]+"));
        match self.slugs && words.is_match(&stem) {
            true => [b"{slug}", &extensions[..]].concat(),
            false => text.to_vec(),
        }
    }

    fn param(&self, param: &[u8]) -> Vec<u8> {
        let mut halves = param.splitn(2, |&byte| byte == b'=');
        let name = halves.next().unwrap();
        let named = self.kind(&decoded(name)).map_or(name.to_vec(), String::into_bytes);
        match halves.next() {
            None => named,
            Some(value) => [&named[..], b"=", &self.value(value)].concat(),
        }
    }

    fn value(&self, value: &[u8]) -> Vec<u8> {
        if value.is_empty() || value[0] == b'{' {
            return value.to_vec();
        }
        self.kind(&decoded(value)).unwrap_or("{text}".to_owned()).into_bytes()
    }

    fn shape(&self, text: &[u8]) -> Vec<u8> {
        let found = self.appendix_b.captures(text).unwrap();
        let group = |number| found.get(number).map(|group| group.as_bytes());
        let mut out = Vec::new();
        if let Some(scheme) = group(1) {
            out.extend([scheme, b":"].concat());
        }
        if let Some(authority) = group(2) {
            let host = authority.rsplit(|&byte| byte == b'@').next().unwrap();
            out.extend([b"//", host].concat());
        }
        let path = group(3).unwrap();
        match group(1) {
            Some(scheme) if group(2).is_none() && !path.starts_with(b"/") => {
                let is_urn = scheme.eq_ignore_ascii_case(b"urn") && path.contains(&b':');
                let namespace = path.split(|&byte| byte == b':').next().unwrap();
                let start = if is_urn { namespace.len() + 1 } else { 0 };
                out.extend([&path[..start], &self.value(&path[start..])].concat());
            }
            _ => {
                let segment = |segment: &[u8]| {
                    let mut parts = segment.split(|&byte| byte == b';');
                    let first = self.segment(parts.next().unwrap());
                    let all = [first].into_iter().chain(parts.map(|param| self.param(param)));
                    all.collect::<Vec<_>>().join(&b';')
                };
                let all = path.split(|&byte| byte == b'/').map(segment);
                out.extend(all.collect::<Vec<_>>().join(&b'/'));
            }
        }
        if let Some(query) = group(4) {
            let params = query.split(|&byte| byte == b'&').filter(|param| !param.is_empty());
            let sorted: BTreeSet<Vec<u8>> = params.map(|param| self.param(param)).collect();
            out.push(b'?');
            out.extend(sorted.into_iter().collect::<Vec<_>>().join(&b'&'));
        }
        out
    }
}

/// Random text, by the definition: its alphabet, and how often its neighbors are of different kinds.
fn is_token(text: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool| text.iter().any(class);
    let has_case = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let word = "[A-Za-z0-9_-]+={0,2}";
    let base64 = "[A-Za-z0-9_+/-]+={0,2}";
    let jwt = r"eyJ[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*={0,2}";
    let jwt_of_base64 = r"eyJ[A-Za-z0-9_+/-]*\.[A-Za-z0-9_+/-]*\.[A-Za-z0-9_+/-]*={0,2}";
    let is_whole = |pattern| whole(pattern).is_match(text);
    let is_padded = text.len().is_multiple_of(4) && has_case;
    let in_alphabet = is_whole(word)
        || is_whole(jwt)
        || is_padded && (is_whole(base64) || is_whole(jwt_of_base64));
    let kind = |byte: u8| match byte {
        b'0'..=b'9' => Some(0),
        b'a'..=b'z' => Some(1),
        b'A'..=b'Z' => Some(2),
        _ => None,
    };
    let changes = text.windows(2).filter(|pair| match (kind(pair[0]), kind(pair[1])) {
        (Some(a), Some(b)) => a != b,
        _ => false,
    });
    text.len() >= 16
        && in_alphabet
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && changes.count() * 4 >= text.len()
}

/// The shape of what need not be a URI, such as a shape.
fn shape_of_any(shaper: &mut Shaper, text: &[u8]) -> Vec<u8> {
    let at = |byte: &[u8], from: usize, to: usize| {
        text[from..to].iter().position(|it| byte.contains(it)).map_or(to, |at| from + at)
    };
    let scheme = at(b":/?#", 0, text.len());
    let scheme_end = if text.get(scheme) == Some(&b':') { scheme } else { 0 };
    let start = if scheme_end == 0 { 0 } else { scheme_end + 1 };
    let query_end = at(b"#", start, text.len());
    let path_end = at(b"?", start, query_end);
    let has_authority = text[start..].starts_with(b"//");
    let authority_start = if has_authority { start + 2 } else { 0 };
    let path_start = if has_authority { at(b"/", start + 2, path_end) } else { start };
    let offsets = [
        scheme_end,
        authority_start,
        authority_start.max(start),
        path_start,
        path_start,
        path_end,
        query_end,
        text.len(),
    ];
    let [scheme_end, authority_start, host_start, host_end, path_start, path_end, query_end, len] =
        offsets.map(|offset| u32::try_from(offset).unwrap());
    let host_kind = HostKind::default();
    let parts = Components {
        scheme_end,
        authority_start,
        host_start,
        host_end,
        path_start,
        path_end,
        query_end,
        len,
        host_kind,
    };
    let mut out = Vec::new();
    shaper.append(text, &parts, &mut out);
    out
}

/// Pieces that are of a type, and some that nearly are.
const PIECES: &[&str] = &[
    "1",
    "007",
    "20240131",
    "20241331",
    "20240131120000",
    "20240131T120000Z",
    "2024-01-31",
    "2024-01",
    "2024.1",
    "31.01.2024",
    "2024-01-31T12:00:00.5+01:00",
    "2024-01-31_1200",
    "1899-01-01",
    "2024-01_31",
    "deadbeef",
    "deadbee1",
    "DEADBEE1",
    "DEADbee1",
    "d41d8cd98f00b204e9800998ecf8427e",
    "D41D8CD98F00B204E9800998ECF8427E",
    "d41d8cd98f00b204e9800998ecf8427",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "0b0f2d4e-6c1a-4f7e-9d58-2a1b3c4d5e6f",
    "0B0F2D4E-6c1a-4f7e-9d58-2a1b3c4d5e6f",
    "0b0f2d4e-6c1a-4f7e-9d582a1b3c4d5e6f",
    "a@b.example",
    "a@b",
    "a@1.2",
    "a%2Bb%40c.de",
    "dQw4w9WgXcQ1aB3cD4",
    "My_Page_2024_Final_Version",
    "iphone15promax256gb",
    "aGVsbG8gd29ybGQ5%2B%2F%3D%3D",
    "aGVsbG8gd29ybGQ5+/==",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc1",
    "ten-ways-to-go",
    "photo-12",
    "about-us",
    "%C3%A9t%C3%A9-a-b",
    "word",
    "%31%32",
    "%7Bint%7D",
    "a%2Fb",
    "12.html",
    "12.tar.gz",
    "12.a.b.c",
    "a.12",
    ".12",
    "12.",
    "12.5",
    "d41d8cd98f00b204e9800998ecf8427e.min.js",
    "..",
    ".",
    "",
    "~",
    "!$'()*,",
    "=",
    "x=1",
];

fn pieces() -> impl Strategy<Value = String> {
    let known = prop::sample::select(PIECES).prop_map(str::to_owned);
    prop_oneof![4 => known, 1 => "[0-9]{1,20}", 1 => "[0-9a-f]{6,42}", 1 => "[0-9A-Za-z_-]{14,24}", 1 => "[0-9]{2,4}[-._]?[0-9]{2}[-._]?[0-9]{2}[T]?[0-9:]{0,6}", 1 => "[a-z0-9%.]{0,6}"]
        .prop_filter("a triplet is whole", |piece| parse(piece.as_bytes()).is_ok() || !piece.contains('%'))
}

fn references() -> impl Strategy<Value = String> {
    let begin = prop::sample::select(
        &[
            "http://h",
            "https://u:p@h:81",
            "//h",
            "http://[::1]",
            "urn:isbn:",
            "URN:a",
            "mailto:",
            "x:",
            "",
            "/",
            "file://",
        ][..],
    );
    let joints = prop::sample::select(&["/", "//", ";", "?", "&", "=", "#", ":"][..]);
    (begin, prop::collection::vec((joints, pieces()), 0..8)).prop_map(|(begin, rest)| {
        let rest = rest.iter().map(|(joint, piece)| format!("{joint}{piece}"));
        format!("{begin}{}", rest.collect::<String>())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn shapes_are_those_of_the_reference_and_their_own_shapes(reference in references(), slugs: bool) {
        let text = reference.as_bytes();
        let Ok(parts) = parse(text) else { return Ok(()) };
        let (mut shaper, mut out) = (Shaper::default().slugs(slugs), Vec::new());
        shaper.append(text, &parts, &mut out);
        let expected = REFERENCES[usize::from(slugs)].shape(text);
        prop_assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&expected));
        let again = shape_of_any(&mut shaper, &out);
        prop_assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&out));
        prop_assert!(out.len() <= 6 * text.len());
    }
}

#[test]
fn every_known_piece_has_the_type_of_the_reference() {
    for slugs in [false, true] {
        let (reference, mut shaper) = (Reference::new(slugs), Shaper::default().slugs(slugs));
        for piece in PIECES {
            for text in
                [format!("http://h/{piece}"), format!("http://h/?a={piece}"), format!("x:{piece}")]
            {
                let (parts, mut out) = (parse(text.as_bytes()).unwrap(), Vec::new());
                shaper.append(text.as_bytes(), &parts, &mut out);
                let expected = reference.shape(text.as_bytes());
                assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&expected));
            }
        }
    }
}
