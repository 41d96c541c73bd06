//! What a few bytes of input can make: the output of a chunk, the form of a host. Memory is bounded whatever that is.

use std::fs::{self, File};
use std::io::Write;

use crate::memory::peak_and_code;
use crate::run::Place;

/// The peak of memory of the program in MiB; its results are in `out`.
fn peak(place: &Place, args: &[&str]) -> u64 {
    let mut command = place.command(args);
    let file = |name| File::create(place.path(name)).unwrap();
    command.stdout(file("out")).stderr(file("err"));
    let (peak, code) = peak_and_code(command);
    assert!(matches!(code, Some(0..=2)), "{args:?}: {code:?} {}", place.read("err"));
    peak >> 20
}

/// Bytes in MiB that a streaming command takes, whatever its input.
const STREAMING: u64 = 140;

/// Lines of two bytes become lines of hundreds or thousands.
#[test]
fn a_streaming_command_does_not_hold_the_output_of_its_chunks() {
    outputs_of_chunks(4);
}

/// Tries one command of `step`.
fn outputs_of_chunks(step: usize) {
    const LINES: usize = 200_000;
    let base = format!("http://h/{}/", "b".repeat(700));
    let distinct: String = (0..LINES).map(|i| format!("{i:x}\n")).collect();
    let [invalid, number] = ["\"\n", "http://1\n"].map(|line| line.repeat(LINES));
    let place = Place::new(&[
        ("x", &"x\n".repeat(LINES)),
        ("b", &invalid),
        ("n", &number),
        ("d", &distinct),
    ]);
    for (args, lines) in [
        (&["resolve", "--base", &base, "x"][..], LINES),
        (&["normalize", "--base", &base, "x"], LINES),
        (&["key", "--base", &base, "x"], LINES),
        (&["key", "--as", "surt", "--base", &base, "x"], LINES),
        (&["key", "x"], LINES),
        (&["parse", "--to", "jsonl", "x"], LINES),
        (&["parse", "--to", "tsv", "b"], LINES + 1),
        (&["parse", "--grammar", "rfc2396", "x"], LINES),
        (&["check", "--to", "jsonl", "x"], LINES),
        (&["check", "b"], 3 * LINES),
        (&["audit", "--to", "jsonl", "n"], 2 * LINES),
        (&["explain", "--to", "jsonl", "--file", "x"], LINES),
        (&["dedup", "--base", &base, "--emit", "normalized", "d"], LINES),
    ]
    .into_iter()
    .step_by(step)
    {
        let peak = peak(&place, &[args, &["-j8"]].concat());
        let out = fs::read(place.path("out")).unwrap();
        println!("{peak:5} MiB for {:5} MiB: {args:.60?}", out.len() >> 20);
        assert_eq!(line_count(&out), lines, "{args:.60?}");
        assert!(peak < STREAMING, "{args:.60?}: {peak} MiB");
    }
}

fn line_count(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte == b'\n').count()
}

/// A record of a WARC archive with this body.
fn record(uri: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{fields}\r\n");
    let len = head.len() + body.len();
    let record = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {uri}\r\nContent-Type: application/http\r\nContent-Length: {len}\r\n\r\n{head}"
    );
    [record.as_bytes(), body, b"\r\n\r\n"].concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// A page of `links` references against a base of so many bytes.
fn page_with_base(base: usize, links: usize) -> String {
    format!("<html><base href=http://b/{}/>{}", "b".repeat(base), "<a href=x>\n".repeat(links))
}

/// A page makes what is in proportion to its length, whatever its base.
#[test]
fn a_page_is_not_an_amplifier_and_removes_no_links_of_others() {
    let (long, short) = (page_with_base(36_000, 3_600), page_with_base(2_000, 3_600));
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let wide = [&b"\xFF\xFE"[..], &utf16(&short)].concat();
    let feed = format!(
        "<rss xml:base='http://b/{0}/'><channel xml:base='http://b/{1}/'>{2}</channel></rss>",
        "b".repeat(40_000),
        "c".repeat(2_000),
        "<link>x</link>".repeat(3_600)
    );
    for (name, page) in [("base", long.as_bytes()), ("made", short.as_bytes()), ("utf-16", &wide)] {
        let page = record("http://h/odd", "", page);
        let other = record("http://h/usual", "", b"<a href=a><a href=b>");
        let text = [page.repeat(16), other.repeat(4)].concat();
        let place = Place::new(&[]);
        fs::write(place.path("in.warc"), &text).unwrap();
        fs::write(place.path("in.warc.gz"), gzip(&text)).unwrap();
        for args in [
            &["extract", "in.warc", "-j16"][..],
            &["extract", "in.warc.gz", "-j16", "--jsonl"],
            &["dedup", "--extract", "in.warc.gz", "-j16"],
            &["dedup", "--extract", "in.warc", "-j2", "--max-memory", "128M", "--temp-dir", "."],
        ] {
            let peak = peak(&place, args);
            println!("{peak:5} MiB {name} {args:?}");
            assert!(peak < 200, "{name} {args:?}: {peak} MiB");
            let out = place.read("out");
            let of_others = |uri: &str| out.lines().filter(|line| line.contains(uri)).count();
            let count = if args[0] == "dedup" { 1 } else { 4 };
            assert_eq!([of_others("http://h/a"), of_others("http://h/b")], [count; 2], "{args:?}");
            let message = place.read("err");
            assert!(message.contains("record at byte 0 (http://h/odd): "), "{message}");
            assert!(!message.contains("64 MiB"), "{message}");
        }
    }
    for (name, text) in [("a.html", &*long), ("b.html", &*short), ("c.xml", &*feed)] {
        let place = Place::new(&[(name, text)]);
        let peak = peak(&place, &["extract", name]);
        println!("{peak:5} MiB {name} {}", place.read("err"));
        assert!(peak < 100, "{name}: {peak} MiB");
        assert!(place.read("err").contains(&format!("{name}: ")), "{}", place.read("err"));
        assert!(place.read("out").len() < 8 * text.len() + (1 << 20) + 4096 + 3_600, "{name}");
    }
}

/// Bodies that expand are searched alone, their links leave in parts, and what they expand to is limited.
#[test]
fn a_few_bytes_do_not_end_a_run() {
    few_bytes(5);
}

/// Tries one way of `step`.
fn few_bytes(step: usize) {
    let page = b"<a href=x>".repeat(1 << 20);
    let coded = record("http://h/", "Content-Encoding: gzip\r\n", &gzip(&page));
    let place = Place::new(&[]);
    fs::write(place.path("one.warc.gz"), gzip(&coded)).unwrap();
    fs::write(place.path("many.warc.gz"), gzip(&coded.repeat(8))).unwrap();
    for i in 0..8 {
        fs::write(place.path(&format!("file{i}.warc.gz")), gzip(&coded)).unwrap();
    }
    let files: Vec<String> = (0..8).map(|i| format!("file{i}.warc.gz")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let raised = ["--max-expansion", "2000"];
    let limit = ["--max-memory", "128M", "--temp-dir", "."];
    for (args, most) in [
        (&["extract", "one.warc.gz"][..], 250),
        (&["extract", "many.warc.gz", "-j16"], 250),
        (&["extract", "many.warc.gz", "-j16", "--jsonl"], 250),
        (&[&["extract", "-j16"], &files[..]].concat(), 250),
        (&[&["dedup", "--extract", "-j16"], &files[..]].concat(), 400),
        (&[&["dedup", "--extract", "many.warc.gz", "-j16"], &limit[..]].concat(), 400),
        (&["check", "--extract", "many.warc.gz", "-j16", "--to", "jsonl"], 600),
        (&[&["extract", "one.warc.gz"], &raised[..]].concat(), 400),
        (&[&["extract", "many.warc.gz", "-j16"], &raised[..]].concat(), 400),
        (&[&["dedup", "--extract", "many.warc.gz", "-j16"], &raised[..]].concat(), 600),
    ]
    .into_iter()
    .step_by(step)
    {
        let peak = peak(&place, args);
        println!("{peak:5} MiB {args:?}");
        assert!(peak < most, "{args:?}: {peak} MiB");
        let (is_raised, message) = (args.contains(&"2000"), place.read("err"));
        assert_eq!(message.contains("--max-expansion"), !is_raised, "{message}");
        if args.contains(&"extract") && is_raised {
            let count = if args.contains(&"one.warc.gz") { 1 } else { 8 };
            assert_eq!(fs::metadata(place.path("out")).unwrap().len(), 11 * count * (1 << 20));
        }
    }
}

/// A name of the DNS has 255 bytes, so that no longer one is mapped, whatever its characters become.
#[test]
fn a_long_host_takes_memory_in_proportion_to_its_length() {
    long_hosts(5);
}

/// Tries one pair of `step` of a character and a command.
fn long_hosts(step: usize) {
    const BYTES: usize = 2 << 20;
    // Eighteen characters, five that expand, one that disappears, one of an A-label, and their triplets.
    for (number, unit) in [
        "\u{FDFA}",
        "\u{3300}",
        "\u{1F1FF}.",
        "\u{AD}",
        "\u{FC}.",
        "%EF%B7%BA",
        "%CC%81",
        "xn--a-0ga.",
    ]
    .into_iter()
    .enumerate()
    {
        let host = unit.repeat(BYTES / unit.len());
        let place = Place::new(&[("in", &format!("http://{host}/\n"))]);
        for args in [
            &["normalize"][..],
            &["normalize", "--iri"],
            &["normalize", "--profile", "whatwg"],
            &["normalize", "--profile", "w3lib"],
            &["normalize", "--profile", "crawler-commons"],
            &["key", "--as", "surt:ia"],
            &["audit"],
            &["check", "--iri"],
            &["resolve", "--base", "http://h/"],
            &["dedup", "--iri", "--max-memory", "64M", "--temp-dir", "."],
        ]
        .into_iter()
        .skip(number % step)
        .step_by(step)
        {
            let peak = peak(&place, &[args, &["-j1", "in"]].concat());
            println!("{peak:5} MiB {unit:?} {args:?}");
            assert!(peak < 60 + 30 * (BYTES >> 20) as u64, "{unit:?} {args:?}: {peak} MiB");
        }
    }
}

/// Lines of JSON of which each has a member of its own, of the form `mNAME`.
#[cfg(feature = "full")]
fn wide_lines(lines: usize) -> String {
    (0..lines).map(|i| format!("{{\"u\":\"x y\",\"m{i}\":1}}\n")).collect()
}

/// A hint about another column reads a sample of the table, whatever its columns.
#[cfg(feature = "full")]
#[test]
fn a_hint_costs_no_more_than_a_sample() {
    for lines in [5_000, 40_000] {
        let place = Place::new(&[("in.jsonl", &wide_lines(lines))]);
        let peak = peak(&place, &["dedup", "--column", "u", "-j2", "in.jsonl"]);
        println!("{peak:5} MiB for a hint about {lines} lines");
        assert!(peak < 200, "{lines}: {peak} MiB");
        assert!(
            place.read("out") == place.read("in.jsonl").lines().next().unwrap().to_owned() + "\n"
        );
    }
    let place = Place::new(&[("in.jsonl", "{\"u\":\"x y\",\"v\":\"http://h/\"}\n")]);
    let hint = place.run(&["dedup", "--column", "u", "in.jsonl"], "").stderr;
    assert!(hint.contains("Try --column v"), "{hint}");
}

/// What has no value takes memory in a column, too.
#[cfg(feature = "full")]
#[test]
fn a_wide_table_takes_bounded_memory_or_is_refused() {
    let commas = |count: usize| ",".repeat(count - 1);
    let names: Vec<String> = (0..8_000).map(|i| format!("c{i}")).collect();
    let narrow = names.join(",") + "\n" + &(commas(8_000) + "\n").repeat(1_000);
    let wide = "u".to_owned() + &commas(1_000_001) + "\nhttp://h/" + &commas(1_000_001) + "\n";
    let nested: String = (0..20_000).map(|i| format!("{{\"o\":[{{\"m{i}\":1}}]}}\n")).collect();
    let place = Place::new(&[
        ("lines.jsonl", &wide_lines(4_000)),
        ("narrow.csv", &narrow),
        ("wide.csv", &wide),
        ("wide.tsv", &wide.replace(',', "\t")),
        ("many.jsonl", &wide_lines(20_000)),
        ("nested.jsonl", &nested),
    ]);
    for (name, column, to) in
        [("narrow.csv", "c1", "csv"), ("narrow.csv", "c1", "jsonl"), ("lines.jsonl", "u", "csv")]
    {
        let args = ["normalize", "--column", column, name, "--to", to, "-j2", "-o", "result", "-q"];
        let peak = peak(&place, &args);
        println!("{peak:5} MiB {name} {to}");
        assert!(peak < 500, "{name} {to}: {peak} MiB");
    }
    for (name, to) in [
        ("wide.csv", "csv"),
        ("wide.tsv", "jsonl"),
        ("many.jsonl", "csv"),
        ("nested.jsonl", "parquet"),
    ] {
        let args = ["normalize", "--column", "u", name, "--to", to, "-o", "result2"];
        let (peak, message) = (peak(&place, &args), place.read("err"));
        println!("{peak:5} MiB {message}");
        assert!(!place.path("result2").exists());
        assert!(peak < 120, "{name}: {peak} MiB");
        assert!(message.contains("16384"), "{message}");
    }
}

/// Every command, character and way.
mod full {
    #[test]
    fn a_streaming_command_does_not_hold_the_output_of_its_chunks() {
        super::outputs_of_chunks(1);
    }

    #[test]
    fn a_few_bytes_do_not_end_a_run() {
        super::few_bytes(1);
    }

    #[test]
    fn a_long_host_takes_memory_in_proportion_to_its_length() {
        super::long_hosts(1);
    }
}

/// What a long record takes is given back before the next one, wherever in a batch that is: each small file is a chunk.
#[test]
fn one_long_record_after_the_other_takes_the_memory_of_a_few() {
    const LONG: usize = 4 << 20;
    let host = format!("HTTP://{}/\n", "x".repeat(LONG));
    let spaced = format!("http://h/ {}\n", "x".repeat(LONG));
    let place = Place::new(&[("tiny", "http://h/\n"), ("host", &host), ("spaced", &spaced)]);
    for (args, long) in [
        (&["top", "--by", "host", "--max-memory", "512M"][..], "host"),
        (&["top", "--by", "path", "--rejects", "r"], "spaced"),
        (&["key", "--rejects", "r"], "spaced"),
        (&["normalize", "--rejects", "r"], "spaced"),
    ] {
        let mut files = Vec::new();
        for tiny in 0..32 {
            files.extend(["tiny"].repeat(tiny));
            files.push(long);
        }
        let peak = peak(&place, &[args, &["-j2", "-q"], &files].concat());
        println!("{peak:5} MiB: {args:?}");
        assert!(peak < 220, "{args:?}: {peak} MiB");
    }
}

/// A chunk whose output has no room is worked on in parts, which are written from one buffer.
#[test]
fn parts_of_many_chunks_take_the_memory_of_one() {
    let lines = "http://u:p@h/%2e%2e/%00?token=1&token=%00\n".repeat(60_000);
    let place = Place::new(&[("x", &lines)]);
    let peak = peak(&place, &["audit", "--to", "sarif", "--severity", "note", "-j2", "x"]);
    println!("{peak:5} MiB");
    assert!(peak < STREAMING, "{peak} MiB");
}
