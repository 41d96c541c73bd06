//! Entries of access logs: what `extract` says about their requests, which ones are read, and what `top` counts of them.

use serde_json::{Value, json};

use crate::run::{Place, run};

const LOG: &str = r#"192.0.2.1 - - [28/Feb/2026:23:59:59 +0000] "GET /a?id=1 HTTP/1.1" 200 5 "http://s.example/q" "-"
192.0.2.2 - - [01/Mar/2026:00:30:00 +0100] "GET /b HTTP/1.1" 404 5 "http://blog.example/post" "bot (+http://bot.example/)"
192.0.2.3 - - [01/Mar/2026:10:00:02 +0000] "POST /a HTTP/1.1" 503 5 "-" "-"
192.0.2.4 - - [01/Mar/2026:10:00:03 +0000] "GET /gone HTTP/1.1" 404 5 "-" "curl/8"
192.0.2.5 - - [99/Xxx/99999:10:00:03 +0000] "\x16\x03" 400 5 "-" "-"
"#;

#[test]
fn links_of_entries_have_their_status_method_and_time() {
    let ran = run(["extract", "--jsonl", "--log-field", "target,referer"], LOG);
    assert!(ran.stderr.starts_with("uriscan: 1 entry of a log has no target"), "{}", ran.stderr);
    let rows: Vec<Value> =
        ran.text().lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(
        rows[2],
        json!({
            "file": "-", "line": 2, "byte": 145, "context": "target", "status": 404, "method": "GET",
            "time": "2026-02-28T23:30:00Z", "uri": "/b",
        })
    );
    assert_eq!(
        rows[3],
        json!({
            "file": "-", "line": 2, "byte": 165, "context": "referer", "status": 404, "method": "GET",
            "time": "2026-02-28T23:30:00Z", "target": "/b", "uri": "http://blog.example/post",
        })
    );
    assert_eq!(rows.len(), 6);
    let lines = run(["extract", "--context", "--log-field", "referer"], LOG).quiet();
    assert_eq!(
        lines,
        "referer;status=200;method=GET;time=2026-02-28T23:59:59Z;target=/a?id=1:http://s.example/q\n\
         referer;status=404;method=GET;time=2026-02-28T23:30:00Z;target=/b:http://blog.example/post\n"
    );
    // Links elsewhere have none of it.
    let log = format!("{LOG}see http://h/\n");
    let lines = run(["extract", "--context", "--host", "h"], &log);
    assert_eq!(lines.text(), "text:http://h/\n");
}

#[test]
fn which_404s_have_a_referrer_is_one_command() {
    let args = ["extract", "--status", "404", "--log-field", "referer", "--context"];
    assert_eq!(
        run(args, LOG).quiet(),
        "referer;status=404;method=GET;time=2026-02-28T23:30:00Z;target=/b:http://blog.example/post\n"
    );
}

#[test]
fn entries_are_selected_by_status_method_and_time() {
    let found = |args: &[&str]| {
        run([&["extract", "--log-field", "target"], args].concat(), LOG).text().replace('\n', " ")
    };
    assert_eq!(found(&["--status", "404"]), "/b /gone ");
    assert_eq!(found(&["--status", "200,5xx"]), "/a?id=1 /a ");
    assert_eq!(found(&["--status", "404-599", "--method", "post,HEAD"]), "/a ");
    assert_eq!(found(&["--since", "2026-03-01"]), "/a /gone ");
    assert_eq!(found(&["--since", "2026-03-01T11:00:03+01:00"]), "/gone ");
    assert_eq!(found(&["--until", "2026-03-01T00:00:00Z", "--since", "0"]), "/a?id=1 /b ");
    let ran = run(["extract", "--log-field", "target", "--since", "2027-01-01"], LOG);
    assert_eq!(ran.text(), "");
    assert!(ran.stderr.contains("1 entry of a log was skipped: its status"), "{}", ran.stderr);
    let log = format!("{LOG}other\n# remark\n");
    let ran = run(["extract", "--status", "404"], &log);
    assert_eq!(ran.text(), "/b\nhttp://blog.example/post\nhttp://bot.example/\n/gone\n");
    assert!(ran.stderr.starts_with("uriscan: 1 line is not an entry"), "{}", ran.stderr);
    let stats = run(["extract", "--status", "404", "--stats=json"], LOG).stderr;
    let stats: Value = serde_json::from_str(&stats).unwrap();
    assert_eq!((&stats["filtered"], &stats["filtered_by_cause"]["status"]), (&json!(3), &json!(3)));
    let dedup = ["dedup", "--extract", "--status", "404", "--log-field", "referer"];
    assert_eq!(run(dedup, LOG).quiet(), "http://blog.example/post\n");
}

#[test]
fn wrong_filters_of_entries_are_refused() {
    for (args, what) in [
        (&["--status", "4"][..], "write statuses of three digits"),
        (&["--status", "503-500"], "write statuses of three digits"),
        (&["--status", ""], "write statuses of three digits"),
        (&["--method", "GET /"], "methods are words"),
        (&["--since", "10000-01-01"], "write a time from 1970"),
        (&["--since", "yesterday"], "write a time from 1970"),
        (&["--until", "2026-03-01T12:00:00"], "write a time from 1970"),
        (&["--since", "2026-03-02", "--until", "2026-03-02"], "nothing is before"),
    ] {
        let ran = run([&["extract"], args].concat(), LOG);
        assert_eq!((ran.code, ran.text()), (2, ""), "{args:?}");
        assert!(ran.stderr.contains(what), "{args:?} {}", ran.stderr);
    }
    for option in ["--status=404", "--method=GET", "--since=0", "--until=1"] {
        let message = run(["dedup", option], LOG).refused();
        assert!(message.contains("requires --extract"), "{option} {message}");
    }
}

#[test]
fn top_counts_entries_by_day_hour_status_and_method() {
    let rows = |by: &str, args: &[&str]| {
        let args = [&["top", "--extract", "--to", "tsv", "--by", by], args].concat();
        let ran = run(&args, LOG);
        // One entry has no target, and so no path.
        let lacks_one = by == "path" && args.contains(&"target") || args.contains(&"2xx-5xx");
        let found = if lacks_one { ran.text().to_owned() } else { ran.quiet() };
        let row = |line: &str| line.split('\t').take(2).collect::<Vec<_>>().join(" ");
        found.lines().skip(1).map(row).collect::<Vec<_>>()
    };
    assert_eq!(rows("day", &[]), ["2026-02-28 2", "2026-03-01 2", "\\N 1"]);
    assert_eq!(rows("hour", &[]), ["10 2", "23 2", "\\N 1"]);
    assert_eq!(rows("status", &[]), ["404 2", "200 1", "400 1", "503 1"]);
    assert_eq!(rows("method", &["--log-field", "target"]), ["GET 3", "\\N 1", "POST 1"]);
    assert_eq!(rows("day", &["--status", "404"]), ["2026-02-28 1", "2026-03-01 1"]);
    assert_eq!(
        rows("day", &["--base", "http://h", "--match", "/a"]),
        ["2026-02-28 1", "2026-03-01 1"]
    );
    assert_eq!(rows("path", &["--status", "404"]), ["/b 1", "/gone 1"]);
    assert_eq!(rows("path", &["--log-field", "target"]), ["/a 2", "/b 1", "/gone 1"]);
    assert_eq!(rows("url", &["--status", "2xx-5xx"]), ["/a 1", "/a?id=1 1", "/b 1", "/gone 1"]);
    assert_eq!(rows("url", &["--status", "503", "--base", "https://h"]), ["https://h/a 1"]);
    assert_eq!(rows("host", &["--status", "404", "--log-field", "referer"]), ["blog.example 1"]);
    let text = run(["top", "--extract", "--by", "day", "-n1"], LOG).quiet();
    assert_eq!(
        text,
        "     count     share  day\n         2   40.00 %  2026-02-28\n\n  \
         5 requests, 2 different values; 1 more row with -n 0\n"
    );
}

#[test]
fn parts_of_entries_are_counted_in_several_files_whatever_the_cuts() {
    let place = Place::new(&[]);
    let fields = "#Fields: date time cs-method cs-uri-stem sc-status\n";
    let w3c = format!("{fields}{}", "2026-03-01 10:00:00 GET /a 404\n".repeat(500));
    std::fs::write(place.path("iis.log"), w3c).unwrap();
    std::fs::write(place.path("a.log"), LOG.repeat(300)).unwrap();
    let line =
        r#"{"ts":1772359200.5,"request":{"method":"GET","host":"h","uri":"/a"},"status":404}"#;
    std::fs::write(place.path("caddy.json"), format!("{line}\n").repeat(200)).unwrap();
    let mut seen = Vec::new();
    for chunk in ["1K", "64K"] {
        for threads in ["1", "4"] {
            let args = ["top", "--extract", "--by", "day", "--to", "tsv", "--chunk-size", chunk];
            let rest = ["-j", threads, "iis.log", "a.log", "caddy.json"];
            seen.push(place.run(&[&args[..], &rest].concat(), "").quiet());
        }
    }
    assert!(seen.iter().all(|it| *it == seen[0]));
    let expected =
        "2026-03-01\t1300\t0.590909\t0\n2026-02-28\t600\t0.272727\t0\n\\N\t300\t0.136364\t0\n";
    assert_eq!(seen[0].split_once('\n').unwrap().1, expected);
}

#[test]
fn parts_of_entries_need_a_log() {
    for (args, what) in [
        (&["--by", "day"][..], "requires --extract"),
        (&["--by", "hour", "--extract", "--distinct"], "omit --distinct"),
        (&["--by", "status", "--extract", "--from", "html"], "omit --from"),
        (&["--by", "method", "--extract", "--log-field", "referer"], "omit --log-field"),
        (&["--by", "day", "--extract", "--report", "x.html"], "omit one of them"),
    ] {
        let message = run([&["top"], args].concat(), LOG).refused();
        assert!(message.contains(what), "{args:?} {message}");
    }
}

#[test]
fn fields_of_an_entry_may_be_in_any_order() {
    let w3c =
        "#Fields: cs(User-Agent) cs(Referer) cs-uri-stem\nhttp://a/ http://b/ /x\nhttp://c/ - /y\n";
    let json = "{\"status\":200,\"request\":{\"host\":\"h\",\"uri\":\"/\",\"headers\":{\"User-Agent\":[\"http://a/\"],\"Referer\":[\"http://b/\"]}}}\n";
    for log in [w3c, json] {
        let found = |more: &[&str]| {
            run([&["extract", "--base", "http://s/"][..], more].concat(), log).quiet()
        };
        let (all, numbered) = (found(&[]), found(&["-n"]));
        let links = numbered.lines().map(|line| line.split_once(':').unwrap().1);
        assert_eq!(links.collect::<Vec<_>>(), all.lines().collect::<Vec<_>>());
        for (line, text) in found(&["--jsonl"]).lines().zip(numbered.lines()) {
            let found: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(text.starts_with(&format!("{}:", found["line"])), "{line} {text}");
        }
        let args = ["check", "--extract", "--base", "http://s/", "--to", "jsonl"];
        assert_eq!(run(args, log).quiet().lines().count(), all.lines().count());
    }
}
