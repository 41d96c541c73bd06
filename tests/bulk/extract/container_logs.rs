//! Tests that entries which container runtimes split over several lines are read as one.

use std::sync::Arc;

use uriscan::extract::{Context, ExtractorOptions, Format};
use uriscan::repair::Repairs;
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{
    self, CheckFormat, ExtractOptions, LinkFormat, LinkShape, Settings, Sinks,
};

use super::formats::links;

/// What the program writes for `log`, whose format is detected.
fn extracted(
    log: &str,
    extractor: ExtractorOptions,
    format: LinkFormat,
    settings: &Settings,
) -> String {
    let source = Source::new("log", std::io::Cursor::new(log.as_bytes().to_vec()));
    let options = ExtractOptions::default().extractor(extractor);
    let mut out = Vec::new();
    pipeline::extract(vec![source], &options, format, settings, &mut Sinks::new(&mut out)).unwrap();
    String::from_utf8(out).unwrap()
}

fn found(log: &str) -> String {
    extracted(log, ExtractorOptions::default(), LinkFormat::default(), &Settings::default())
}

fn cri(stream: &str, mark: &str, text: &str) -> String {
    format!("2024-01-01T00:00:00.123456789Z {stream} {mark} {text}\n")
}

fn docker(stream: &str, text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{{\"log\":\"{text}\",\"stream\":\"{stream}\",\"time\":\"2024-01-01T00:00:00.1Z\"}}\n")
}

/// An entry of an access log, of which `path` is the path.
fn entry(path: &str) -> String {
    format!(
        "1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET {path} HTTP/1.1\" 200 1 \"http://r/\" \"-\""
    )
}

#[test]
fn links_over_the_border_of_two_lines_are_whole() {
    let long = "x".repeat(16 << 10);
    for (log, expected) in [
        // Kubernetes.
        (cri("stdout", "P", "see http://h/pa") + &cri("stdout", "F", "th/x, http://h/2"), "http://h/path/x http://h/2"),
        // In three parts, one of which is empty, with further tags and line ends of Windows.
        (
            cri("stderr", "P:a", "http:/") + &cri("stderr", "P", "") + &cri("stderr", "F", "/h/1\r"),
            "http://h/1",
        ),
        // The two streams alternate; an entry is at the place of its first line.
        (
            cri("stdout", "P", "http://h/a") + &cri("stderr", "P", "http://e/a") + &cri("stdout", "F", "b") + &cri("stderr", "F", "b"),
            "http://h/ab http://e/ab",
        ),
        // The end is missing, or has no text.
        (cri("stdout", "P", "http://h/1") + &cri("stdout", "P", "2"), "http://h/12"),
        (cri("stdout", "P", "http://h/1") + "2024-01-01T00:00:00Z stdout F\n" + &cri("stdout", "F", "2"), "http://h/1"),
        // Docker, with what it splits and with less.
        (docker("stdout", &format!("{long} http://h/a")) + &docker("stdout", "b http://h/2\n"), "http://h/ab http://h/2"),
        (
            docker("stdout", "first\n") + &docker("stdout", "see http://h/a\\") + &docker("stderr", "http://e/\n") + &docker("stdout", "b\n"),
            "http://h/a http://e/",
        ),
        (
            docker("stdout", "first\n") + &docker("stdout", "see http://h/a") + &docker("stderr", "http://e/\n") + &docker("stdout", "b\n"),
            "http://h/ab http://e/",
        ),
        // Fluent Bit notes what Kubernetes wrote.
        (
            [("P", "http://h/a"), ("F", "b"), ("F", "http://h/2")]
                .map(|(mark, text)| format!("{{\"time\":\"t\",\"stream\":\"stdout\",\"logtag\":\"{mark}\",\"message\":\"{text}\"}}\n"))
                .concat(),
            "http://h/ab http://h/2",
        ),
        (
            [("P", "http://h/a"), ("F", "b")]
                .map(|(mark, text)| format!("{{\"date\":1.5,\"stream\":\"stdout\",\"_p\":\"{mark}\",\"log\":\"{text}\"}}\n"))
                .concat(),
            "http://h/ab",
        ),
    ] {
        let found = found(&log);
        assert_eq!(found.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{:.400}", log);
    }
}

#[test]
fn lines_that_are_not_parts_are_not_joined() {
    for log in [
        // No string ends with a line end, so none is missing.
        docker("stdout", "http://h/1") + &docker("stdout", "http://h/2"),
        // Lines of many containers.
        ["1", "2"].map(|i| format!("{{\"log\":\"http://h/{i}\",\"stream\":\"stdout\",\"time\":\"t\",\"kubernetes\":{{}}}}\n")).concat(),
        cri("stdout", "P", "http://h/1") + &cri("stderr", "F", "http://h/2"),
        cri("stdout", "F", "http://h/1") + &cri("stdout", "F", "http://h/2"),
        // What follows much later.
        cri("stdout", "P", "http://h/1") + &"-\n".repeat(1 << 19) + "-\n" + &cri("stdout", "F", "http://h/2"),
    ] {
        assert_eq!(found(&log), "http://h/1\nhttp://h/2\n", "{:.400}", log);
    }
}

#[test]
fn entries_of_access_logs_are_read_when_their_parts_are_joined() {
    let long = format!("/{}", "q".repeat(20_000));
    let json =
        "{\"request\":{\"method\":\"GET\",\"host\":\"c.example\",\"uri\":\"/a\"},\"status\":200}";
    for (line, expected) in [
        (entry("/a?b=c"), "target http://b/a?b=c referer http://r/".to_owned()),
        (entry(&long), format!("target http://b{long} referer http://r/")),
        (json.to_owned(), "target http://c.example/a".to_owned()),
        ("see http://h/a".to_owned(), "text http://h/a".to_owned()),
    ] {
        for at in [1, 14, line.len() / 2, line.len() - 2, line.len()] {
            let (first, rest) = line.split_at(at);
            let split = [
                cri("stdout", "P", first) + &cri("stdout", "F", rest),
                docker("stderr", "x\n")
                    + &docker("stdout", first)
                    + &docker("stdout", &format!("{rest}\n")),
            ];
            for log in split {
                let options = ExtractorOptions::default().base(b"http://b/".to_vec());
                let (links, _) = links(options, Format::Clf, log.as_bytes());
                let links = links.join(" ").replace("field", "text");
                assert_eq!(links, expected, "{at} {:.300}", log);
            }
        }
    }
    let log = cri("stdout", "P", "1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET /a")
        + &cri("stdout", "F", "b HTTP/1.1\" 404 1");
    let options = ExtractorOptions::default().log_fields(vec![Context::Target]);
    let format = LinkFormat::default().shape(LinkShape::Jsonl);
    assert_eq!(
        extracted(&log, options, format, &Settings::default()),
        "{\"file\":\"log\",\"line\":1,\"byte\":86,\"context\":\"target\",\"status\":404,\"method\":\"GET\",\
         \"time\":\"2000-10-10T20:55:36Z\",\"uri\":\"/ab\"}\n"
    );
}

#[test]
fn a_split_log_has_the_same_links_however_it_is_cut() {
    let mut log = String::new();
    for i in 0..3000 {
        let stream = ["stdout", "stderr"][i * 7 % 5 % 2];
        let mark = ["F", "P", "F", "P", "P"][i * 11 % 13 % 5];
        log += &cri(stream, mark, &format!("http://h/{i}{}", ["", " ", "/"][i % 3]));
    }
    let rows = |chunk: usize, threads: usize| {
        let format = LinkFormat::default().shape(LinkShape::Jsonl);
        let settings = Settings::default().chunk_bytes(chunk).threads(threads);
        extracted(&log, ExtractorOptions::default(), format, &settings)
    };
    let expected = rows(1 << 20, 1);
    assert!(expected.lines().count() > 1000);
    for (chunk, threads) in [(1, 1), (1000, 2), (16 << 10, 2), (50_000, 1)] {
        assert_eq!(rows(chunk, threads), expected, "{chunk}");
    }
}

#[test]
fn lines_are_counted_where_the_fields_of_an_entry_are_in_any_order() {
    let inner = entry("/x").replace('"', "\\\"");
    for line in [
        format!("{{\"x\":\"http://a/\",\"log\":\"{inner}\\n\"}}\n"),
        "{\"http_referer\":\"http://r/\",\"request_uri\":\"/x\",\"http_host\":\"h\",\"status\":200}\n"
            .to_owned(),
        "#Fields: cs(Referer) cs-uri-stem sc-status cs-host\nhttp://r/ /x 200 h\n".to_owned(),
        "Feb  6 12:14:14 l haproxy[1]: 1.1.1.1:3 [06/Feb/2009:12:14:14.655] in b/s 0/0/0/0/0 200 1 - - ---- \
         1/1/1/1/0 0/0 {http://r.example/} {} \"GET /i HTTP/1.1\"\n"
            .to_owned(),
    ] {
        let log = line.repeat(2);
        let options = ExtractorOptions::default().base(b"http://b/".to_vec());
        let format = LinkFormat::default().line_number(true);
        let rows = extracted(&log, options.clone(), format, &Settings::default());
        let source = Source::new("log", std::io::Cursor::new(log.clone().into_bytes()));
        let options = ExtractOptions::default().extractor(options);
        let list = pipeline::links_of(source, &options, &Settings::default(), &Arc::default());
        let mut out = Vec::new();
        let (count, mut sinks) = (rows.lines().count(), Sinks::new(&mut out));
        // It asks where they are.
        let how = (CheckFormat::default(), Repairs::default());
        let report = pipeline::check(vec![list], how.0, how.1, &Settings::default(), &mut sinks);
        assert_eq!(report.unwrap().records, count as u64);
        let lines: Vec<&str> = rows.lines().map(|row| row.split(':').next().unwrap()).collect();
        let of_second = if line.starts_with('#') { ["2", "4"] } else { ["1", "2"] };
        let expected: Vec<&str> = lines.iter().enumerate().map(|(i, _)| of_second[i / (lines.len() / 2)]).collect();
        assert_eq!(lines, expected, "{rows}");
    }
}
