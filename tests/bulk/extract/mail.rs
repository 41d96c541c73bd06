//! Tests messages and mailboxes, case by case.

use std::io::Cursor;

use uriscan::extract::{Extractor, ExtractorOptions, Format, Links};
use uriscan::{Kernels, PaddedBuf};
use uriscan_bulk::io::{ReadError, Source};
use uriscan_bulk::pipeline::{ExtractOptions, LinkFormat, Settings, Sinks, extract};

/// The links of `text` as `context uri`.
fn links(format: Format, text: &[u8]) -> (Vec<String>, Links) {
    let extractor = Extractor::new(ExtractorOptions::default());
    let buf = PaddedBuf::from_content(text);
    let mut links = Links::new();
    extractor.extract(Kernels::detect(), format, buf.padded(), &mut links);
    let shown = links
        .iter(text)
        .map(|(link, uri)| format!("{} {}", link.context.name(), String::from_utf8_lossy(uri)));
    (shown.collect(), links)
}

fn message(text: &str) -> Vec<String> {
    let lines = links(Format::Eml, text.as_bytes()).0;
    let crlf = links(Format::Eml, text.replace('\n', "\r\n").as_bytes()).0;
    assert_eq!(lines, crlf, "line ends do not matter");
    lines
}

const LETTER: &str = "\
Return-Path: <a@example.com>
Received: from http://no/
MIME-Version: 1.0
List-Unsubscribe: <mailto:u@h?subject=x>,
  <https://h/unsub?a=1&
 b=2> (http://no/)
List-Archive: http://h/archive/
Archived-At: =?us-ascii?Q?=3Chttps=3A//h/at=3E?=
Subject: http://no/
Content-Type: multipart/mixed; boundary=\"=_a\"

http://no/preamble
--=_a
Content-Type: multipart/alternative; boundary=b

--b
Content-Type: text/plain; charset=iso-8859-1; format=flowed
Content-Transfer-Encoding: quoted-printable

> see http://h/qp?a=3D1&b=
=3D2 now http://h/caf=E9
--b
Content-Type: text/html; charset=iso-8859-1
Content-Transfer-Encoding: 8bit

<a href='http://h/html?a&amp;b'>http://no/</a>
--b--
http://no/epilogue
--=_a
Content-Type: image/png
Content-Transfer-Encoding: base64

aHR0cDovL25vLwo=
--=_a
Content-Type: text/plain
Content-Transfer-Encoding: BASE64

c2VlIGh0dHA6Ly9oL2I2
NCBub3c=
--=_a
Content-Type: message/rfc822

Subject: inner
List-Help: <http://h/help>

see http://h/inner
--=_a--
";

#[test]
fn parts_are_decoded() {
    assert_eq!(Format::of_head(LETTER.as_bytes()), Format::Eml);
    let expected = [
        "header mailto:u@h?subject=x",
        "header https://h/unsub?a=1&b=2",
        "header http://h/archive/",
        "header https://h/at",
        "text http://h/qp?a=1&b=2",
        "text http://h/caf",
        "href http://h/html?a&b",
        "text http://h/b64",
        "header http://h/help",
        "text http://h/inner",
    ];
    assert_eq!(message(LETTER), expected);
    let (_, found) = links(Format::Eml, LETTER.as_bytes());
    assert_eq!((found.omitted().miscoded, found.relative()), (0, 0));
}

#[test]
fn positions_are_those_of_the_link_or_of_its_coded_part() {
    let (_, found) = links(Format::Eml, LETTER.as_bytes());
    let spans = found.iter(LETTER.as_bytes()).map(|(link, _)| link.span.of(LETTER.as_bytes()));
    let spans: Vec<&str> = spans.map(|span| std::str::from_utf8(span).unwrap()).collect();
    assert_eq!(spans[0], "mailto:u@h?subject=x");
    assert_eq!(spans[2], "http://h/archive/");
    assert!(spans[3].starts_with(" =?us-ascii"), "{}", spans[3]);
    assert!(spans[4].starts_with("> see") && spans[4].ends_with("=E9"), "{}", spans[4]);
    assert_eq!(spans[6], "http://h/html?a&amp;b");
    assert_eq!(spans[9], "http://h/inner");
}

#[test]
fn structure_that_is_broken_costs_no_link() {
    for (text, expected) in [
        ("Content-Type: multipart/mixed; boundary=x\n\nsee http://h/1", &["http://h/1"][..]),
        ("Content-Type: multipart/mixed\n\nsee http://h/1", &["http://h/1"]),
        (
            "Content-Type: multipart/mixed; boundary=x\n\n--x\n\nhttp://h/1\n--x\n\nhttp://h/2",
            &["http://h/1", "http://h/2"],
        ),
        (
            "Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: multipart/mixed; boundary=y\n\n--y\n\nhttp://h/1\n--x\n\nhttp://h/2\n--x--",
            &["http://h/1", "http://h/2"],
        ),
        (
            "Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: multipart/mixed; boundary=y\n\nhttp://h/1\n--x\n\nhttp://h/2\n--x--",
            &["http://h/1", "http://h/2"],
        ),
        (
            "Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/html\n--x\n\nhttp://h/1\n--xy\n--x--",
            &["http://h/1"],
        ),
        ("Subject: a\nhttp://h/1\n", &["http://h/1"]),
        ("Subject: a\nnot a field http://h/1\n", &["http://h/1"]),
        ("Content-Type: text\n\nhttp://h/1\n", &["http://h/1"]),
        ("Content-Type: ;;\n\nhttp://h/1\n", &["http://h/1"]),
        ("", &[]),
        ("\n", &[]),
        ("Content-Type: message/rfc822", &[]),
        (
            "Content-Type: multipart/digest; boundary=x\n\n--x\n\nSubject: a\n\nhttp://h/1\n--x\n\nList-Help: <http://h/2>\n\nhttp://h/3\n--x--",
            &["http://h/1", "http://h/2", "http://h/3"],
        ),
    ] {
        let found: Vec<String> =
            message(text).iter().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn faults_of_encodings_are_reported_and_the_bytes_searched() {
    for (encoding, body, expected) in [
        ("base64", "aHR0cDovL2gvMQo=\n-- \nsee http://h/2\n", &["http://h/1", "http://h/2"][..]),
        ("base64", "see http://h/1", &["http://h/1"]),
        ("quoted-printable", "http://h/1?a=b&c=3D", &["http://h/1?a=b&c="]),
        ("x-uuencode", "begin 644 x\nhttp://h/1", &["http://h/1"]),
    ] {
        let text = format!("Content-Transfer-Encoding: {encoding}\n\n{body}");
        let (found, counted) = links(Format::Eml, text.as_bytes());
        assert_eq!(found, expected.iter().map(|uri| format!("text {uri}")).collect::<Vec<_>>());
        assert_eq!(counted.omitted().miscoded, 1, "{encoding}");
    }
}

#[test]
fn a_message_that_breaks_off_is_reported() {
    let whole = "Content-Type: multipart/mixed; boundary=x\n\n--x\n\nhttp://h/1\n--x\nContent-Type: multipart/mixed; boundary=y\n\n--y\n\nhttp://h/2\n--y--\n--x--";
    for end in ["", "\n", "\n\nan epilogue\n--x\n"] {
        let (found, counted) = links(Format::Eml, format!("{whole}{end}").as_bytes());
        assert_eq!((found.len(), counted.omitted().miscoded), (2, 0), "{end:?}");
    }
    // From the first delimiter on.
    for len in whole.find("--x").unwrap() + 3..whole.len() {
        let (_, counted) = links(Format::Eml, &whole.as_bytes()[..len]);
        assert_eq!(counted.omitted().miscoded, 1, "{}", &whole[..len]);
    }
    // In a mailbox each message has its own end.
    let from = "From a@h Mon Sep 17 00:00:00 2001\n";
    let cut = &whole[..whole.len() - 5];
    let mailbox = format!("{from}{cut}\n{from}{whole}\n{from}{cut}\n{from}\nhttp://h/3\n");
    let (found, counted) = links(Format::Mbox, mailbox.as_bytes());
    assert_eq!((found.len(), counted.omitted().miscoded), (7, 2));
}

#[test]
fn nesting_is_bounded() {
    let mut text = String::new();
    for level in 0..40 {
        text += &format!("Content-Type: multipart/mixed; boundary=b{level}\n\n--b{level}\n");
    }
    text += "\nsee http://h/deep\n--b0--\n";
    let (found, counted) = links(Format::Eml, text.as_bytes());
    assert_eq!(
        (&found[..], counted.omitted().miscoded),
        (&["text http://h/deep".to_owned()][..], 1)
    );

    let mut text = "List-Help: <http://h/0>\n\nhttp://h/1".to_owned();
    for _ in 0..5 {
        let coded = text.replace('=', "=3D");
        text = format!(
            "Content-Type: message/rfc822\nContent-Transfer-Encoding: quoted-printable\n\n{coded}"
        );
    }
    let (found, counted) = links(Format::Eml, text.as_bytes());
    assert_eq!(found, ["text http://h/0", "text http://h/1"]);
    assert_eq!(counted.omitted().miscoded, 1);
    let nested = "Content-Type: message/rfc822\n\n".repeat(10_000) + "\nhttp://h/1";
    assert_eq!(links(Format::Eml, nested.as_bytes()).0, ["text http://h/1"]);
}

#[test]
fn saved_pages_have_their_location_as_base() {
    let text = "MIME-Version: 1.0
Content-Type: multipart/related; boundary=x
Content-Location: http://h/d/

--x
Content-Type: text/html
Content-Location: http://i/e/page.html

<a href=a>
--x
Content-Type: text/html
Content-Location: sub/page.html

<a href=b>
--x
Content-Type: text/css
Content-Location: cid:css-1@mhtml.blink

p{background:url(c.png)}
--x--
";
    let expected = ["href http://i/e/a", "href http://h/d/sub/b", "url http://h/d/c.png"];
    assert_eq!(message(text), expected);
}

const SEPARATOR: &str = "From a@b.example Mon Sep 17 00:00:00 2001\n";

fn mailbox(messages: usize) -> String {
    let one = |n| {
        format!(
            "{SEPARATOR}Subject: {n}\nContent-Transfer-Encoding: quoted-printable\n\n>From http://h/{n}=\n/x\nFrom here on\n\n"
        )
    };
    (0..messages).map(one).collect()
}

fn extracted(text: &str, settings: &Settings) -> (Vec<String>, u64, Vec<String>) {
    let mut out = Vec::new();
    let mut faults = Vec::new();
    let mut on_fault = |error: &ReadError| faults.push(error.error.to_string());
    let source = Source::new("a.mbox", Cursor::new(text.as_bytes().to_vec()));
    let mut sinks = Sinks::new(&mut out);
    sinks.unread = Some(&mut on_fault);
    let format = LinkFormat::default().byte_offset(true);
    let report =
        extract(vec![source], &ExtractOptions::default(), format, settings, &mut sinks).unwrap();
    let lines = String::from_utf8(out).unwrap().lines().map(str::to_owned).collect();
    (lines, report.invalid.total(), faults)
}

#[test]
fn mailboxes_are_read_however_they_are_cut() {
    let text = mailbox(50);
    assert_eq!(Format::of_head(text.as_bytes()), Format::Mbox);
    assert_eq!(Format::of_source("x.mbox.gz", b"Subject: x\n\n"), Format::Mbox);
    let (all, ..) = extracted(&text, &Settings::default());
    assert_eq!(all.len(), 50);
    assert!(all[49].ends_with(":http://h/49/x"), "{}", all[49]);
    for chunk_bytes in [1, 7, 64, 100, 500] {
        let settings = Settings::default().chunk_bytes(chunk_bytes);
        assert_eq!(extracted(&text, &settings).0, all, "{chunk_bytes}");
    }
}

#[test]
fn a_message_over_the_limit_costs_no_other() {
    // So that the end of the message is at all places of what is read at once.
    for filler in (60_000..60_400).step_by(17).chain([200_000]) {
        for chunk_bytes in [64, 100] {
            let long =
                format!("{SEPARATOR}Subject: long\n\n{}http://long/\n", "x\n".repeat(filler / 2));
            let text = [&mailbox(2)[..], &long, &mailbox(3)].concat();
            let settings = Settings::default().chunk_bytes(chunk_bytes).max_record(20_000);
            let (found, invalid, faults) = extracted(&text, &settings);
            assert_eq!((found.len(), invalid), (6, 0), "{filler} {chunk_bytes} {found:?}");
            assert!(found[2].ends_with(":http://long/"), "{found:?}");
            assert_eq!(faults.len(), 1);
            let at = mailbox(2).len();
            assert!(faults[0].contains(&format!("byte {at}:")), "{faults:?}");
        }
    }
}

/// A number that looks random, below `end`.
fn below(end: usize, state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % end
}

#[test]
fn whatever_a_message_holds_its_links_are_within_it_and_in_order() {
    const PIECES: [&str; 22] = [
        "--b\n",
        "--=_a--\n",
        "\n\n",
        "Content-Type: ",
        "multipart/digest; boundary=b\n",
        "message/rfc822\n",
        "=",
        "\n--",
        "Content-Transfer-Encoding: base64\n",
        "; charset=utf-7",
        "; charset=utf-16",
        "; charset=iso-2022-jp",
        "=?utf-8?b?",
        "=?utf-8?q?=",
        "?=",
        "List-Help: <",
        "+",
        "\x1b$B",
        "*0*=",
        "boundary*1*=utf-8''x",
        "\"",
        "(",
    ];
    let mut state = 7;
    let mut all = 0;
    for _ in 0..20_000 {
        let mut text = LETTER.as_bytes().to_vec();
        for _ in 0..1 + below(12, &mut state) {
            let at = below(text.len(), &mut state);
            let end = (at + below(20, &mut state)).min(text.len());
            let piece = match below(3, &mut state) {
                0 => vec![below(256, &mut state) as u8],
                _ => PIECES[below(PIECES.len(), &mut state)].as_bytes().to_vec(),
            };
            text.splice(at..if piece.len() > 5 { at } else { end }, piece);
        }
        let (_, found) = links(Format::Eml, &text);
        let spans: Vec<_> = found.iter(&text).map(|(link, _)| link.span).collect();
        assert!(spans.iter().all(|span| span.start <= span.end && span.end as usize <= text.len()));
        assert!(
            spans.windows(2).all(|pair| pair[0].start <= pair[1].start),
            "{}",
            text.escape_ascii()
        );
        all += spans.len();
    }
    assert!(all > 100_000, "{all}");
}
