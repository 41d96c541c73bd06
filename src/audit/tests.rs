//! Each rule by what it finds and what it does not; the fast road by the exact one.

use proptest::prelude::*;

use super::quiet::is_quiet;
use super::*;
use crate::chunk::{PaddedBuf, Span};
use crate::index::{Index, Record};
use crate::simd::{Isa, Kernels, Task};

fn findings(text: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    audit(text, RuleSet::all(), &mut findings);
    findings
}

/// A rule, what it finds with the bytes in question, and what it finds nothing in.
type Row = (Rule, &'static [(&'static str, &'static str)], &'static [&'static str]);

const ROWS: &[Row] = &[
    (Rule::Invalid, &[("http://h/a b", " "), ("http://h/%zz", "%")], &["http://h/", "a", ""]),
    (
        Rule::PortOtherProtocol,
        &[
            ("http://h:25/", "25"),
            ("http://h:0022/", "0022"),
            ("https://h:21/", "21"),
            ("ftp://h:80/", "80"),
            ("gopher://h:25/_HELO", "25"),
        ],
        &[
            "http://h:80/",
            "http://h:443/",
            "ftp://h:21/",
            "http://h:8080/",
            "http://h:/",
            "http://h/",
            "foo://h:25/",
        ],
    ),
    (
        Rule::PortWellKnown,
        &[("foo://h:25/", "25"), ("http://h:8/", "8"), ("http://h:0/", "0"), ("//h:80/", "80")],
        &["foo://h:1024/", "http://h:80/", "http://h:1024/", "foo://h/", "http://h:25/"],
    ),
    (
        Rule::PortOverflow,
        &[
            ("http://h:65536/", "65536"),
            ("http://h:4294967376/", "4294967376"),
            ("//h:99999999999999999999", "99999999999999999999"),
        ],
        &["http://h:65535/", "http://h:00000080/", "http://h:8x/"],
    ),
    (
        Rule::EncodedLineBreak,
        &[
            ("http://h/a%0d%0ASet-Cookie:b", "%0d%0A"),
            ("ftp://u%0A@h/", "%0A"),
            ("http://h%0d/", "%0d"),
            ("http://h/?a=%0A", "%0A"),
            ("mailto:a@h?subject=x%0D%0ABcc:b", "%0D%0A"),
            ("mailto:a@h?body=x&cc=%0A", "%0A"),
        ],
        &[
            "http://h/a%20",
            "http://h/#%0A",
            "mailto:a@h?body=x%0D%0Ay",
            "data:,a%0Ab",
            "http://h/%250A",
            "http://h/%0",
        ],
    ),
    (
        Rule::EncodedControl,
        &[
            ("telnet://u%07@h/", "%07"),
            ("http://h/%7f", "%7f"),
            ("gopher://h/7x%09y", "%09"),
            ("http://h/?%1B", "%1B"),
        ],
        &["http://h/%20", "http://h/%80", "http://h/%00", "http://h/%0A"],
    ),
    (
        Rule::EncodedDelimiter,
        &[
            ("http://good.com%2Fevil.com/", "%2F"),
            ("http://h%40i/", "%40"),
            ("http://h%3A80/", "%3A"),
            ("http://a%20b/", "%20"),
        ],
        &["http://h/%2F", "http://u%40x@h/", "http://b%C3%BC/", "http://h%41/"],
    ),
    (
        Rule::EncodedNul,
        &[
            ("http://h/a%00.jpg", "%00"),
            ("http://h/?f=a%00", "%00"),
            ("ftp://u%00@h/", "%00"),
            ("http://h%00.evil/", "%00"),
        ],
        &["http://h/%2500", "http://h/%0", "data:,%00", "http://h/#%00"],
    ),
    (
        Rule::EncodedSlash,
        &[("http://h/a%2fb", "%2f"), ("//h/%2F", "%2F"), ("a%2Fb", "%2F")],
        &["http://h/?a%2Fb", "http://h/a/b", "mailto:a%2Fb@h", "urn:x:a%2Fb", "http://h/%252F"],
    ),
    (
        Rule::EncodedBackslash,
        &[("http://h/a%5Cb", "%5C"), ("file:///%5c%5chost", "%5c")],
        &["http://h/?a%5Cb", "http://h/", "mailto:a%5Cb@h"],
    ),
    (
        Rule::Backslash,
        &[
            ("http://good.com\\@evil.com/", "\\"),
            ("http:\\\\h\\", "\\"),
            ("\\\\h\\a", "\\"),
            ("http://h/a?b\\c", "\\"),
        ],
        &["http://h/%5C", "http://h/ /", "http://h/#\\"],
    ),
    (
        Rule::EncodedDot,
        &[
            ("http://h/a/%2e%2e/b", "%2e%2e"),
            ("http://h/.%2E", ".%2E"),
            ("http://h/%2e", "%2e"),
            ("a/%2e./b", "%2e."),
        ],
        &[
            "http://h/a/../b",
            "http://h/a%2eb",
            "http://h/%2e%2e%2e",
            "http://h/?%2e%2e",
            "http://h/%252e",
        ],
    ),
    (
        Rule::Traversal,
        &[
            ("http://h/..%2f..%2fetc/passwd", "..%2f..%2fetc"),
            ("http://h/%2e%2e%2fx", "%2e%2e%2fx"),
            ("http://h/a%2f..%5Cb", "a%2f..%5Cb"),
            ("http://h/%252e%252e/x", "%252e%252e"),
            ("http://h/%252e%252e%252fx", "%252e%252e%252fx"),
            ("http://h/a/..;x/b", "..;x"),
            ("http://h/..\\..\\b", "..\\..\\b"),
        ],
        &[
            "http://h/a/../b",
            "http://h/..a/b",
            "http://h/a..%2Fb",
            "http://h/a%2fb",
            "http://h/?..%2f",
            "http://h/%2e%2e/a",
        ],
    ),
    (
        Rule::TraversalQuery,
        &[
            ("http://h/?f=../../etc/passwd", "../../etc/passwd"),
            ("http://h/?a=b&f=..%2Fx", "..%2Fx"),
            ("http://h/?%2e%2e%2fx", "%2e%2e%2fx"),
            ("http://h/?f=/a/..", "/a/.."),
            ("http://h/?f=..%5Cx;b", "..%5Cx"),
            ("http://h/?f=%252e%252e%252f", "%252e%252e%252f"),
        ],
        &[
            "http://h/?f=a..b",
            "http://h/?f=..",
            "http://h/?a/b",
            "http://h/?f=1...5",
            "http://h/../?a",
        ],
    ),
    (
        Rule::AboveRoot,
        &[
            ("http://h/../a", ".."),
            ("http://h/a/../../b", ".."),
            ("/..", ".."),
            ("http://h/%2e%2E/", "%2e%2E"),
        ],
        &[
            "http://h/a/../b",
            "../a",
            "http://h/a/./..",
            "http://h//../",
            "http://h/.../",
            "http://h/..a",
        ],
    ),
    (
        Rule::DeviceName,
        &[
            ("http://h/aux", "aux"),
            ("http://h/a/CON.txt/b", "CON.txt"),
            ("file:///c:/nul", "nul"),
            ("http://h/com1", "com1"),
            ("http://h/lpT9:x", "lpT9:x"),
            ("http://h/%63on", "%63on"),
            ("http://h/prn%20", "prn%20"),
            ("http://h/...", "..."),
            ("http://h/CONIN$", "CONIN$"),
            ("aux/b", "aux"),
        ],
        &[
            "http://h/auxiliary",
            "http://h/com",
            "http://h/com10",
            "http://h/a.aux",
            "http://h/?aux",
            "mailto:aux",
            "http://aux.h/",
        ],
    ),
    (
        Rule::DoubleEncoding,
        &[
            ("http://h/%2541", "%2541"),
            ("http://h/%25%34%31", "%25%34%31"),
            ("http://h/?a=%252F", "%252F"),
            ("http://h/%252541", "%2525"),
        ],
        &["http://h/%25", "http://h/100%25", "http://h/%25g1", "http://h/%254", "http://h/%25%2"],
    ),
    (
        Rule::OverlongUtf8,
        &[
            ("http://h/%c0%af", "%c0%af"),
            ("http://h/%C1%81", "%C1%81"),
            ("http://h/%e0%80%af", "%e0%80%af"),
            ("http://h/?%F0%80%80%AF", "%F0%80%80%AF"),
        ],
        &[
            "http://h/%C3%A4",
            "http://h/%c0",
            "http://h/%E0%A4%85",
            "http://h/%F0%9F%98%80",
            "http://h/%c0a",
        ],
    ),
    (
        Rule::EncodedHost,
        &[("http://%65xample.com/", "%65"), ("http://127%2e0.0.1/", "%2e")],
        &["http://example.com/%65", "http://b%C3%BCcher.de/", "http://h/"],
    ),
    (
        Rule::RareIpv4,
        &[
            ("http://0x7f.1/", "0x7f.1"),
            ("http://2130706433/", "2130706433"),
            ("http://0177.0.0.1/", "0177.0.0.1"),
            ("http://u@192.168.257:8/", "192.168.257"),
            ("//%31%32%37.1", "%31%32%37.1"),
            ("http://127.0.0.1./", "127.0.0.1."),
            ("http://\u{ff11}27.1/", "\u{ff11}27.1"),
        ],
        &[
            "http://127.0.0.1/",
            "http://1.2.3.256/",
            "http://1a.b/",
            "http://[::1]/",
            "http://h/1.2",
        ],
    ),
    (
        Rule::AddressLoopback,
        &[
            ("http://127.0.0.1/", "127.0.0.1"),
            ("http://0x7f.1/", "0x7f.1"),
            ("http://[::1]:8/", "[::1]"),
            ("http://[::ffff:127.0.0.1]/", "[::ffff:127.0.0.1]"),
            ("http://[::FFFF:7f00:1]/", "[::FFFF:7f00:1]"),
            ("http://LocalHost:8080/", "LocalHost"),
            ("http://a.localhost./", "a.localhost."),
            ("http://%6cocalhost/", "%6cocalhost"),
        ],
        &[
            "http://128.0.0.1/",
            "http://mylocalhost/",
            "http://localhost.com/",
            "file://localhost/x",
            "http://h/localhost",
        ],
    ),
    (
        Rule::AddressPrivate,
        &[
            ("http://10.0.0.1/", "10.0.0.1"),
            ("http://0xa.1/", "0xa.1"),
            ("http://[fd00::1]/", "[fd00::1]"),
            ("http://[::ffff:192.168.0.1]/", "[::ffff:192.168.0.1]"),
        ],
        &["http://11.0.0.1/", "http://[2606:4700::1]/", "http://10.example/"],
    ),
    (
        Rule::AddressLinkLocal,
        &[
            ("http://169.254.169.254/latest/meta-data/", "169.254.169.254"),
            ("http://2852039166/", "2852039166"),
            ("http://[fe80::1]/", "[fe80::1]"),
            ("http://[fe80::1%25eth0]/", "[fe80::1%25eth0]"),
            ("http://[::ffff:a9fe:a9fe]/", "[::ffff:a9fe:a9fe]"),
        ],
        &["http://169.253.1.1/", "http://[fec0::1]/"],
    ),
    (
        Rule::AddressSpecial,
        &[
            ("http://0.0.0.0/", "0.0.0.0"),
            ("http://[::]/", "[::]"),
            ("http://[::ffff:8.8.8.8]/", "[::ffff:8.8.8.8]"),
            ("http://255.255.255.255", "255.255.255.255"),
        ],
        &["http://8.8.8.8/", "http://[2606:4700::1]/"],
    ),
    (
        Rule::Password,
        &[
            ("http://u:secret@h/", "secret"),
            ("ftp://:p@h/", "p"),
            ("//u:a:b@h", "a:b"),
            ("https://ghp_0123456789abcdef@h/", "ghp_0123456789abcdef"),
        ],
        &["http://u@h/", "http://u:@h/", "http://h:80/", "mailto:a:b@h", "http://h/u:p@x"],
    ),
    (
        Rule::UserName,
        &[("http://u@h/", "u"), ("ftp://joe:p@h/", "joe")],
        &["http://@h/", "http://:p@h/", "mailto:u@h", "http://h/@"],
    ),
    (
        Rule::SecretParameter,
        &[
            ("http://h/?password=x", "x"),
            ("http://h/?a=b&API_Key=12#f", "12"),
            ("http://h/#access_token=t&b", "t"),
            ("http://h/a;jsessionid=12?b", "12"),
            ("http://h/?p%61ss=1", "1"),
            ("http://h/?user[pwd]=1", "1"),
            ("?X-Amz-Signature=ab;c", "ab"),
            ("http://h/?sid=1", "1"),
        ],
        &[
            "http://h/?password=",
            "http://h/?password",
            "http://h/?id=1",
            "http://h/?q=password",
            "http://h/password=1",
            "http://h/?a=b=token",
        ],
    ),
    (
        Rule::MisleadingUserinfo,
        &[
            // The example of section 7.6.
            (
                "ftp://cnn.example.com&story=breaking_news@10.0.0.1/top_story.htm",
                "cnn.example.com&story=breaking_news",
            ),
            ("http://www.bank.com:login@evil.example/", "www.bank.com"),
            ("http://bank.com%2Flogin@evil.example/", "bank.com%2Flogin"),
            ("http://10.0.0.1:80@evil.example/", "10.0.0.1"),
        ],
        &[
            "http://joe@h/",
            "http://joe.doe@h/",
            "http://joe%40example.com@h/",
            "http://u:bank.com@h/",
            "http://bank.com/@h",
        ],
    ),
    (
        Rule::MixedScript,
        &[
            ("http://p%D0%B0ypal.com/", "p%D0%B0ypal.com"),
            ("http://p\u{430}ypal.com/", "p\u{430}ypal.com"),
            ("http://xn--pypal-4ve.com/", "xn--pypal-4ve.com"),
        ],
        &[
            "http://b%C3%BCcher.de/",
            "http://xn--wgv71a119e.jp/",
            "http://\u{65e5}\u{672c}abc.jp/",
            "http://paypal.com/",
            "http://\u{430}.com/",
        ],
    ),
    (
        Rule::Confusable,
        &[
            ("http://p\u{430}ypal.com/", "p\u{430}ypal.com"),
            ("http://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com"),
        ],
        &[
            "http://b%C3%BCcher.de/",
            "http://apple.com/",
            "http://xn--wgv71a119e.jp/",
            "http://\u{43f}\u{440}\u{438}\u{43c}\u{435}\u{440}.\u{440}\u{443}\u{441}/",
        ],
    ),
    (
        Rule::InvalidIdna,
        &[
            ("http://xn--a/", "xn--a"),
            ("http://a%FF/", "a%FF"),
            ("http://xn--zzzzzzzzzzzz999.com", "xn--zzzzzzzzzzzz999.com"),
        ],
        &["http://xn--bcher-kva.de/", "http://a--b/", "http://b%C3%BCcher.de/", "urn:xn--a"],
    ),
    (
        Rule::HostWhatwg,
        &[
            ("http://good.com\\@evil.com/", "evil.com"),
            ("http:evil.com/", ""),
            ("http:///evil.com/", ""),
            ("http:/evil.com", ""),
            ("http://0x7f.1/", "0x7f.1"),
            ("http://h\t.com/", "h\t.com"),
        ],
        &[
            "http://h/",
            "HTTP://EXAMPLE.com:80/",
            "http://b%C3%BCcher.de/",
            "http://b\u{fc}cher.de/",
            "http://[::ffff:1.2.3.4]/",
            "http://[2001:DB8::1]/",
            "http://u:p@h:8/",
            "http://a_b/",
            "http://h/a\\b",
            "http://h/a b",
            "foo:bar",
            "http://%68/",
            // What browsers refuse has no host of theirs.
            "http://ex\u{ff0e}com%2F/",
            "http://h:99999/",
        ],
    ),
    (
        Rule::HostRfc2396,
        &[
            ("http://a_b.example/", "a_b.example"),
            ("http://a.1b/", "a.1b"),
            ("http://a~b/", "a~b"),
            ("//-a.b", "-a.b"),
            ("http://a..b/", "a..b"),
        ],
        &[
            "http://h/",
            "http://a-b.c./",
            "http://1.2.3.4/",
            "http://[::1]/",
            "file:///x",
            "http://999.1.1.1/",
            "a_b:c",
        ],
    ),
];

#[test]
fn each_rule_finds_what_it_says_and_nothing_else() {
    for &(rule, hits, misses) in ROWS {
        for &(text, bytes) in hits {
            let found = findings(text.as_bytes());
            let of_rule = found.iter().find(|finding| finding.rule == rule);
            let Some(finding) = of_rule else { panic!("{rule} in {text}: {found:?}") };
            let range = finding.start as usize..finding.end as usize;
            assert_eq!(&text[range], bytes, "{rule} in {text}");
            assert!(!finding.message().is_empty());
            let mut alone = Vec::new();
            audit(text.as_bytes(), RuleSet::none().with(rule), &mut alone);
            assert!(alone.iter().all(|finding| finding.rule == rule) && alone.contains(finding));
            audit(text.as_bytes(), RuleSet::all().without(RuleSet::none().with(rule)), &mut alone);
            assert!(alone.iter().all(|finding| finding.rule != rule), "{rule} in {text}");
        }
        for text in misses {
            let found = findings(text.as_bytes());
            assert!(
                found.iter().all(|finding| finding.rule != rule),
                "{rule} in {text}: {found:?}"
            );
        }
    }
    let named: Vec<Rule> = ROWS.iter().map(|row| row.0).collect();
    assert_eq!(named, Rule::ALL, "every rule has examples");
}

#[test]
fn details_say_what_was_found_out() {
    let detail = |text: &str, rule| {
        let found = findings(text.as_bytes());
        found.into_iter().find(|finding| finding.rule == rule).unwrap().message()
    };
    let message = detail("http://h:25/", Rule::PortOtherProtocol);
    assert_eq!(message, "well-known port of another protocol: smtp");
    let message = detail("http://[::ffff:10.1.2.3]/", Rule::AddressPrivate);
    assert_eq!(message, "private address: 10.1.2.3");
    let message = detail("http://xn--80ak6aa92e.com/", Rule::Confusable);
    assert_eq!(message, "host that looks like another one: apple.com");
    let message = detail("http://good.com\\@evil.com/", Rule::HostWhatwg);
    assert_eq!(message, "browsers see another host: good.com");
    let message = detail("http://h/?old_password=x", Rule::SecretParameter);
    assert_eq!(message, "parameter that looks like a secret: old_password");
    let message = detail("http://h/%00%00%00", Rule::EncodedNul);
    assert_eq!(message, "encoded NUL (3 times)");
}

#[test]
fn a_query_weighs_less() {
    let severity = |text: &str| findings(text.as_bytes())[0].severity;
    assert_eq!(severity("http://h/%0A"), Severity::Error);
    assert_eq!(severity("http://h/?%0A"), Severity::Warning);
    assert_eq!(severity("http://h/?%25%34%31"), Severity::Note);
}

#[test]
fn hostile_records_give_few_findings() {
    for unit in
        ["%00", "%0d%0a", "/..", "/aux", "%2f..", ";sid=1", "%252e", "\\", "%c0%ae", "@", ":"]
    {
        for head in ["", "http://h/", "http://h/?", "http://", "http://h/#", "a:"] {
            let text = format!("{head}{}", unit.repeat(20_000));
            assert!(findings(text.as_bytes()).len() < 3 * Rule::ALL.len());
        }
    }
}

/// What the screen says of `text` in a chunk with `before` bytes before it and `behind` behind it.
fn screen(kernels: Kernels, text: &[u8], behind: &[u8], before: usize) -> bool {
    struct Ask<'a>(&'a mut Index, &'a PaddedBuf, Span);
    impl Task for Ask<'_> {
        type Output = bool;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> bool {
            let text = self.1.padded();
            self.0.build_with(isa, text, b'\n');
            is_quiet(isa, Record::new(text, self.0, self.2))
        }
    }
    let whole = [&vec![b'/'; before][..], text, behind].concat();
    let buf = PaddedBuf::from_content(&whole);
    let span = Span { start: before as u32, end: (before + text.len()) as u32 };
    kernels.run(Ask(&mut Index::new(), &buf, span))
}

/// Holds the screen to the exact road, on every backend.
fn check_screen(text: &[u8], behind: &[u8], before: usize) {
    if text.is_empty() {
        return;
    }
    let found = findings(text);
    for kernels in Kernels::available() {
        let quiet = screen(kernels, text, behind, before);
        assert!(!quiet || found.is_empty(), "{} is not quiet: {found:?}", text.escape_ascii());
    }
}

#[test]
fn the_screen_lets_nothing_pass() {
    for (_, hits, misses) in ROWS {
        let texts = hits.iter().map(|hit| &hit.0).chain(*misses);
        for text in texts {
            for before in [0, 1, 30, 50, 63, 64, 100] {
                for behind in ["", "con/../=%00", "\n"] {
                    check_screen(text.as_bytes(), behind.as_bytes(), before);
                }
            }
            // Where a block ends.
            for fill in [20, 40, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 110, 120] {
                let long = text.replacen("//h/", &format!("//h/{}/", "x".repeat(fill)), 1);
                check_screen(long.as_bytes(), b"", 0);
            }
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
    ] {
        assert_eq!(findings(text.as_bytes()), []);
        for kernels in Kernels::available() {
            assert!(screen(kernels, text.as_bytes(), b"\n", 3), "{text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 600 } else { 4000 }))]

    #[test]
    fn the_screen_lets_nothing_pass_that_is_made_up(
        scheme in "(https?://|HTTP://|ftp://|file://|mailto:|foo://|//||data:|http:)",
        head in "(|u@|u:p@|a.com@)(h|example.com|localhost|1\\.2\\.3\\.4|0x7f\\.1|a_b|xn--a\\.b|%41h|a\\.)?(:|:8|:80|:70000)?",
        path in "(/(a|b\\.c|con|\\.\\.|\\.|\\.\\.\\.|nul\\.x|com1|%2e|%2f|%5C|%00|%C3%A4|%20|;sid=1|;b=c|\\.git|longer-name)){0,6}/?",
        query in "(\\?([a-z_]{0,8}(id|key|token|pwd|pw|sid|p%61ss)?=?(\\.\\.|/|%2F|%2e|a|%0A|%25|41|%20){0,3}[&;]?){0,4})?",
        fragment in "(#([a-z]{0,3}(token)?=?[a-z]?))?",
        before in 0usize..70,
        behind in "(|[a-z/.=%]{0,8})",
    ) {
        let text = format!("{scheme}{head}{path}{query}{fragment}");
        check_screen(text.as_bytes(), behind.as_bytes(), before);
    }

    #[test]
    fn anything_can_be_judged_and_redacted(text in proptest::collection::vec(any::<u8>(), 0..80), head in "(|http://|a:|//)") {
        let text = [head.as_bytes(), &text].concat();
        let found = findings(&text);
        for finding in &found {
            prop_assert!(finding.start <= finding.end && finding.end as usize <= text.len());
        }
        let (mut once, mut twice) = (Vec::new(), Vec::new());
        redact_into(&text, &mut once);
        redact_into(&once, &mut twice);
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn redaction_keeps_a_reference_one(
        text in "(http://)(u:[a-z:]{0,4}@)?(h)(/[a-z;=]{0,6}(;sid=[a-z]{0,3})?)?(\\?([a-z]{0,2}(token|x)=[a-z.=]{0,4}[&;]?){0,3})?(#(pwd=[a-z]{0,3})?)?",
    ) {
        let mut out = Vec::new();
        let count = redact_into(text.as_bytes(), &mut out);
        let (before, after) = (crate::uri::parse(text.as_bytes()), crate::uri::parse(&out));
        let (before, after) = (before.unwrap(), after.unwrap());
        prop_assert_eq!(before.host(text.as_bytes()), after.host(&out));
        prop_assert_eq!(before.query(text.as_bytes()).is_some(), after.query(&out).is_some());
        // Two rules, one secret each per component, may be met more often than they are listed.
        let listed: u32 = findings(text.as_bytes()).iter().filter(|f| f.rule.is_secret()).map(|f| f.count).sum();
        prop_assert_eq!(count, listed);
    }
}
