//! Tests the fast path of the audit against the reference path.

use proptest::prelude::*;

use super::super::cases::ROWS;
use super::super::tests::findings;
use super::super::{Finding, Rule, RuleSet, audit_with, each_secret, redact_into};
use super::*;
use crate::chunk::PaddedBuf;
use crate::index::Index;
use crate::simd::{Kernels, Task};

/// The result of the screen for `text` in a chunk with `before` bytes before it and `rest` after it.
fn screened(kernels: Kernels, text: &[u8], rest: &[u8], before: usize) -> Option<Hint> {
    struct Ask<'a>(&'a mut Index, &'a PaddedBuf, Span);
    impl Task for Ask<'_> {
        type Output = Option<Hint>;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> Option<Hint> {
            let text = self.1.padded();
            self.0.build_with(isa, text, b'\n');
            let mut marks = Marks::default();
            marks.find(isa, text);
            let record = Record::new(text, self.0, self.2);
            super::screen(isa, record, &mut marks)
        }
    }
    // Of columns, a record may follow another one at once.
    let filler = if before.is_multiple_of(2) { b'/' } else { b'x' };
    let buf = PaddedBuf::from_content(&[&vec![filler; before], text, rest].concat());
    let span = Span { start: before as u32, end: (before + text.len()) as u32 };
    kernels.run(Ask(&mut Index::new(), &buf, span))
}

/// Compares the screen with the reference path on every backend.
fn check_screen(text: &[u8], rest: &[u8], before: usize) {
    if text.is_empty() {
        return;
    }
    let found = findings(text);
    for kernels in Kernels::available() {
        let Some(hint) = screened(kernels, text, rest, before) else {
            assert!(found.is_empty(), "{} is not quiet: {found:?}", text.escape_ascii());
            continue;
        };
        if !hint.looks.has(Looks::SECRETS.or(Looks::NAMES)) {
            each_secret(text, |_| panic!("{} has a secret", text.escape_ascii()));
        }
        let mut with_hint = Vec::new();
        audit_with(hint, text, RuleSet::all(), &mut with_hint);
        assert_eq!(with_hint, found, "{} by {hint:?}", text.escape_ascii());
    }
}

#[test]
fn the_screen_misses_nothing() {
    for (_, hits, misses) in ROWS {
        let texts = hits.iter().map(|hit| &hit.0).chain(*misses);
        for text in texts {
            for before in [0, 1, 30, 50, 63, 64, 100] {
                for rest in ["", "con/../=%00", "\n"] {
                    check_screen(text.as_bytes(), rest.as_bytes(), before);
                }
            }
            // The positions at which a block ends.
            for fill in [20, 40, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 110, 120] {
                let long = text.replacen("//h/", &format!("//h/{}/", "x".repeat(fill)), 1);
                check_screen(long.as_bytes(), b"", 0);
            }
        }
    }
}

#[test]
fn what_follows_names_only_is_reported_as_the_search_for_secrets_has_it() {
    for text in [
        "?token=a",
        "?token=a&b=c&pin=d",
        "?b=c&token=a/b:c,d=e",
        "?token=a#pin=b",
        "#token=a&pin=b",
        "?a=http://x/y&token=b",
        "?token=&pin=a",
        "?token=a?pin=b",
        "?token=a&x?pin=b#sid=c?pwd=d",
        "?a=b=token=c",
        "?u=x:token=b",
        "?u={token=b}",
        "?u={token:b}&pin=c",
        "?token=a;b",
        "?token=a;pin=b",
        // The name of the second is part of the first value.
        "?sid=a;x?my-token=b",
        ";token=a?pin=b",
        "&token=a/token=b?pin=c",
        "?token=***",
        "?a=***&token=b",
        "?token***=b",
        "?token=a&pin%3Db",
        "?token=a&b=%26pin=c",
        "?token=a&t%6Fken=b",
        "?code=a&state=b",
        "?state=a&user:code=b",
        "?state=a&auth/code=b",
        "?state=a&user_code=b",
        "?state=a?x-token=b&pass,code=c",
        "#state=a&user(code=b",
        "//sk-aaaa-bbbb-cccc-dddd@h?token=a",
        "?token=a&b=c@d",
        "?tok\nen=a&pin=b",
        "?token=a&code=b&state=c",
        "?token=ghp_0123456789abcdef",
        "?token=a&b=ghp_0123456789abcdef",
        "?token=a&u=//b:c@d",
        "?a@b&token=c",
        "?token='a'&b=c",
        "?token[0]=a&user[pin][new]=b",
        "?token2=a&max_tokens=5",
    ] {
        for head in [
            "http://h/",
            "http://u:p@h/",
            "http://h:/",
            "http:///",
            "http://0x7f.1/",
            "",
            "mailto:a",
        ] {
            for before in [1, 2] {
                check_screen(format!("{head}{text}").as_bytes(), b"token=a", before);
            }
        }
    }
}

#[test]
fn a_triplet_is_looked_at_where_it_hides_something() {
    for segment in [
        "%2e",
        "%2E%2e",
        ".%2e",
        "%2e.",
        "..%3B",
        "%2e.;a",
        "c%6Fn",
        "%63on",
        "co%6E",
        "%43%4f%4e",
        "com%31",
        "%63om1",
        "lpt%31.x",
        "aux%2Etxt",
        "nul%3A",
        "con%20",
        "coni%6E$",
        "x%2F..%2Fy",
        "a%2e%2e",
        "%25%32%65",
        "%3Bcon",
        "%20con",
        "%C3%A4..",
        "a%41con",
        "ab%63om1",
        "gh%70_0123456789abcdef",
        "%67hp_0123456789abcdef",
        "a%20ghp_0123456789abcdef",
        "ghp_%30123456789abcdef",
        "ghp%5f0123456789abcdef",
        "github%5Fpat_0123456789abcdef",
        "t%6Fken=a;tok%65n=b",
    ] {
        for head in [
            "http://h/",
            "http://h/a/",
            "http://h/?a=",
            "http://h/?",
            "http://h/#",
            "",
            "/",
            "mailto:",
            "//h/a;",
        ] {
            for tail in ["", "/", "/../x", "?b", "&c", ";d"] {
                check_screen(format!("{head}{segment}{tail}").as_bytes(), b"%2e/con", 1);
            }
        }
    }
}

#[test]
fn screening_a_record_takes_linear_time() {
    use std::time::Instant;
    let units = [
        "@", "a@", "/..", "/.", "/con", "%61", "%2e", "/%61", "git", "-git", "%20git", ";", "&a;",
        "=", "x%5D=", "key=", "a=key=", "..", "%25", "'", ":", "//",
    ];
    for head in ["http://h/", "http://h/?", "a", "x y", "mailto:"] {
        for unit in units {
            let time = |bytes: usize| {
                let text = head.to_owned() + &unit.repeat(bytes / unit.len());
                let start = Instant::now();
                screened(Kernels::detect(), text.as_bytes(), b"", 0);
                start.elapsed()
            };
            // As in `masking_a_text_takes_linear_time`.
            let is_linear = || {
                let (short, long) = (time(2 << 10), time(64 << 10));
                long < short * 150 || long.as_millis() < 100
            };
            assert!((0..3).any(|_| is_linear()), "{head} {unit}");
        }
    }
}

#[test]
fn ordinary_records_are_quiet() {
    for text in [
        "http://example.com/",
        "https://www.example.co.uk/a/b.html?c=d&e=f",
        "HTTP://Example.COM/a%20b?x=%C3%A4%2F",
        "http://h/?q=a.b.c&id=7&utm_source=x#top",
        "http://h/.well-known/x",
        "https://r3-x.example/a_b~c/;v=1",
        "mailto:joe@example.com",
        "urn:isbn:0451450523",
        "file:///etc/passwd",
        "ftp://ftp.example/pub/comics/conan/news/",
        "https://h:443/",
        "http://h:/a",
        "http://h:0080?q",
        "foo://h:8080/",
        "http://h/?mode=1&action=2#region=x",
        "http://h/?%70age=1&t%61b=2&%76",
        "http://h/a;mode=1",
        "http://h/%61bout/con%74act/company",
        "http://h/?token=&sid",
        "http://h/?version=1&a%5Bb%5D=2",
        "/a/b?c=d#e",
        "?q",
        "//h:8080/",
    ] {
        assert_eq!(findings(text.as_bytes()), []);
        for kernels in Kernels::available() {
            assert!(screened(kernels, text.as_bytes(), b"\n", 3).is_none(), "{text}");
        }
    }
}

#[test]
fn a_secret_is_found_whatever_precedes_the_userinfo() {
    for text in [
        "http%3A%2F%2Fu:pw@h",
        "=http%3A%2F%2Fu:pw@h",
        "x=http%3a//u:pw@h",
        "http%3A\\\\u:pw@h",
        "%2F%2Fu:pw@h/",
        "see http%3A//u:pw@h",
        // After an empty authority, and an empty port.
        "///sk-aaaa-bbbb-cccc-dddd@h",
        "file:///npm_config-registry-url@h",
        "http://host:/sk-aaaa-bbbb-cccc-dddd@h",
        "//host:/AKIAaaaaaaaaaaaaaaaaaaaa@h",
    ] {
        check_screen(text.as_bytes(), b"", 0);
        let is_secret = |finding: &Finding| finding.rule == Rule::Secret;
        assert!(findings(text.as_bytes()).iter().any(is_secret), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 600 } else { 4000 }))]

    #[test]
    fn the_screen_misses_nothing_in_random_records(
        scheme in "(|https?://|HTTP://|ftp://|file://|mailto:|foo://|//||data:|http:)",
        head in "(|u@|u:p@|a.com@)(h|example.com|localhost|1\\.2\\.3\\.4|0x7f\\.1|a_b|xn--a\\.b|%41h|a\\.)?(:|:8|:80|:70000)?",
        path in "(/(a|b\\.c|con|\\.\\.|\\.|\\.\\.\\.|nul\\.x|com1|%2e|%2f|%5C|%00|%C3%A4|%20|;sid=1|;b=c|a&s%69d=1|;tok%2Cen=2|co%6E|com%31|aux%20|contact|con%74act|\\.git|longer-name)){0,6}/?",
        query in "(\\?([a-z_]{0,8}(id|key|token|pwd|pw|sid|p%61ss|tok%2Cen|to%2Cken|s%69d|%70w)?=?(\\.\\.|/|%2F|%2e|a|%0A|%25|41|%20){0,3}[&;]?){0,4})?",
        fragment in "(#([a-z]{0,3}(token)?=?[a-z]?))?",
        before in 0usize..70,
        rest in "(|[a-z/.=%]{0,8})",
    ) {
        let text = format!("{scheme}{head}{path}{query}{fragment}");
        check_screen(text.as_bytes(), rest.as_bytes(), before);
    }

    #[test]
    fn what_is_ruled_out_has_nothing_to_mask(parts in proptest::collection::vec(
        proptest::sample::select(vec![
            "http://", "h/", "/", "//", "?", "&", "%26", ";", "%3B", "#", "%23", "=", "%3D", "token", "t%6Fken", "pw", "%70w",
            "code=", "&state=", "@", "%40", ":", "%3A", "\"", "%22", "'", "{", "}", "[", "%5D", "ghp_0123456789abcdef",
            "%67hp_0123456789abcdef", "eyJ0123456789abcdef", "http", "%2F", "u:p", "page2=", "ids[]=", "token_1=", "pin[0]=", "12", "_", "%2D", "%C3", "%25", "%2526", "x", "-", ".", "\\", "%5C", "%4", "***",
        ]), 0..14), before in 0usize..70)
    {
        let text = parts.concat();
        check_screen(text.as_bytes(), b"", before);
        check_screen(format!("http://h/?{text}").as_bytes(), b"=x", before);
    }

    #[test]
    fn a_record_is_masked_only_with_a_finding(
        text in "(http://h/|http:|//|)([?#/:@&=;,\\\\\"' +%a-c]|http:|http%3A%2F%2F|//u:p@|u:p@|token|page1=|pin2=|%3D|%2540|code=|state=|\"pin\":|ghp_0123456789abcdef|%25%33%44){0,14}",
        before in 0usize..70,
    ) {
        let mut redacted = Vec::new();
        if redact_into(text.as_bytes(), &mut redacted) > 0 {
            let is_secret = |rule| matches!(rule, Rule::Password | Rule::UserName | Rule::SecretParameter | Rule::Secret);
            prop_assert!(findings(text.as_bytes()).iter().any(|finding| is_secret(finding.rule)), "{text}");
        }
        check_screen(text.as_bytes(), b"", before);
    }
}
