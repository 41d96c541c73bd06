//! `audit` and `--redact` as commands; what the rules find is tested with the library.

use std::fs;

use serde_json::{Value, json};

use crate::run::run;

const LIST: &str = "http://h/\n\n  http://u:s3cret@0x7f.1/?a=b\nhttp://h/a b\n//h/%2e%2e\n";

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_finding_is_a_line() {
    let ran = run(["audit", "--severity", "note"], LIST);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let heads: Vec<&str> =
        ran.text().lines().map(|line| line.split(" (").next().unwrap()).collect();
    assert_eq!(
        heads,
        [
            "-:3:12-17: error: password",
            "-:3:19-24: error: host-whatwg",
            "-:3:19-24: warning: rare-ipv4",
            "-:3:19-24: warning: address-loopback",
            "-:3:10: note: user-name",
            "-:3:19-24: note: host-rfc2396",
            "-:4:11: note: invalid",
            "-:5:5-10: warning: encoded-dot",
            "-:5:5-10: note: above-root",
        ]
    );
    let whole = "-:3:19-24: warning: rare-ipv4 (7.4): IPv4 address in a rare form: 127.0.0.1: ";
    assert!(ran.text().contains(whole), "{}", ran.text());
    assert!(!ran.text().contains("s3cret"));
}

#[test]
fn findings_are_objects_without_secrets() {
    let ran = run(["audit", "--to", "jsonl"], LIST);
    assert!(!ran.text().contains("s3cret"));
    let found = objects(ran.text());
    assert_eq!(found.len(), 5);
    let rare = found.iter().find(|object| object["rule"] == "rare-ipv4").unwrap();
    assert_eq!(
        *rare,
        json!({
            "source": "-", "line": 3, "start": 16, "end": 22, "rule": "rare-ipv4", "severity": "warning",
            "section": "7.4", "message": "IPv4 address in a rare form: 127.0.0.1",
            "consequence": "inet_aton and browsers read it as an address; the grammar and most filters read it as a name",
            "count": 1, "address": "127.0.0.1", "text": "0x7f.1",
        })
    );
    let password = found.iter().find(|object| object["rule"] == "password").unwrap();
    assert_eq!(password["text"], Value::Null);
}

#[test]
fn findings_show_no_user_name_that_redaction_masks() {
    let list =
        "https://SECRET@h/\nhttps://h/?u=http://SECRET@i/\nhttps://SECRET@0x7f.1/\nhttp://u:p@h/\n";
    for more in [&[][..], &["--to", "jsonl"], &["--to", "sarif"]] {
        let ran = run([&["audit"], more].concat(), list);
        assert!(!ran.text().contains("SECRET"), "{}", ran.text());
    }
    let ran = run(["audit", "--to", "jsonl", "--select", "user-name"], list);
    let texts: Vec<Value> = objects(ran.text()).iter().map(|it| it["text"].clone()).collect();
    assert_eq!(texts.last(), Some(&json!("u")), "a user name beside a password is not a key");
}

#[test]
fn sarif_is_one_log() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a list.txt");
    fs::write(&path, LIST).unwrap();
    let ran = run(["audit", "--to", "sarif", "--severity", "note", path.to_str().unwrap()], "");
    let log: Value = serde_json::from_str(ran.text()).unwrap();
    assert_eq!((ran.code, &log["version"]), (1, &json!("2.1.0")));
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 9);
    for result in results {
        let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(["note", "warning", "error"].contains(&result["level"].as_str().unwrap()));
        let place = &result["locations"][0]["physicalLocation"];
        assert!(place["artifactLocation"]["uri"].as_str().unwrap().ends_with("/a%20list.txt"));
        let at = |name: &str| place["region"][name].as_u64().unwrap() as usize;
        // Both ways of naming a region name the same bytes.
        let line = LIST.lines().nth(at("startLine") - 1).unwrap();
        let bytes = &LIST[at("byteOffset")..][..at("byteLength")];
        assert_eq!(bytes, &line[at("startColumn") - 1..at("endColumn") - 1]);
    }
    // Without findings it is a log all the same.
    let ran = run(["audit", "--to", "sarif"], "http://h/\n").quiet();
    let log: Value = serde_json::from_str(&ran).unwrap();
    assert_eq!(log["runs"][0]["results"], json!([]));
}

#[test]
fn rules_are_selected_and_ignored() {
    let rules = |args: &[&str]| -> Vec<String> {
        let ran = run([&["audit", "--to", "jsonl"], args].concat(), LIST);
        let objects = objects(ran.text());
        objects.iter().map(|object| object["rule"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(rules(&["--select", "7.4"]), ["rare-ipv4", "address-loopback"]);
    assert_eq!(
        rules(&["--select", "7.4,password", "--ignore", "rare-ipv4"]),
        ["password", "address-loopback"]
    );
    for args in [&["--ignore", "all"][..], &["--select", "password", "--ignore", "7.5"]] {
        let refused = run([&["audit"], args].concat(), LIST);
        assert!(refused.code == 2 && refused.stderr.contains("no rule"), "{}", refused.stderr);
    }
    let message = run(["audit", "--select", "7.9"], LIST);
    assert!(message.code == 2 && message.stderr.contains("--list-rules"), "{}", message.stderr);
    let list = run(["audit", "--list-rules"], "").quiet();
    assert!(
        list.lines().count() > 30 && list.contains("rare-ipv4           warning  7.4  "),
        "{list}"
    );
}

#[test]
fn notes_are_reported_where_they_are_asked_for() {
    let severities = |args: &[&str]| {
        let ran = run([&["audit", "--to", "jsonl"], args].concat(), LIST);
        let mut found: Vec<String> = objects(ran.text())
            .iter()
            .map(|it| it["severity"].as_str().unwrap().to_owned())
            .collect();
        found.sort();
        found.dedup();
        (found.join(" "), ran.code)
    };
    let case = |args: &[&str], found: &str, code| {
        assert_eq!(severities(args), (found.to_owned(), code), "{args:?}");
    };
    case(&[], "error warning", 1);
    case(&["--severity", "note"], "error note warning", 1);
    case(&["--severity", "error"], "error", 1);
    case(&["--fail-on", "note"], "error note warning", 1);
    case(&["--fail-on", "note", "--severity", "warning"], "error warning", 1);
    case(&["--fail-on", "never"], "error warning", 0);
    case(&["--select", "user-name"], "note", 0);
    case(&["--select", "all"], "error note warning", 1);
    case(&["--select", "all", "--severity", "warning"], "error warning", 1);
    case(&["--ignore", "password"], "error warning", 1);
    let refused = run(["audit", "--severity", "all"], LIST);
    assert!(
        refused.code == 2 && refused.stderr.contains("note, warning or error"),
        "{}",
        refused.stderr
    );
}

#[test]
fn the_exit_code_follows_the_severity() {
    for (list, fail_on, code) in [
        ("http://h/a%2Fb\n", "note", 1),
        ("http://h/a%2Fb\n", "warning", 0),
        ("http://h/a%5Cb\n", "warning", 1),
        ("http://h/a%5Cb\n", "error", 0),
        ("http://h/%00\n", "error", 1),
        ("http://h/%00\n", "never", 0),
        ("http://h/\n", "note", 0),
    ] {
        assert_eq!(run(["audit", "--fail-on", fail_on], list).code, code, "{list} {fail_on}");
    }
    assert_eq!(run(["audit"], "http://h/a%2Fb\n").code, 0);
    let ran = run(["audit", "--stats=json", "--fail-on", "never"], LIST);
    let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(
        (&stats["records"], &stats["invalid"], &stats["findings"]),
        (&json!(4), &json!(1), &json!(5))
    );
    assert_eq!(
        (&stats["findings_by_rule"]["password"], &stats["written"]),
        (&json!(1), &Value::Null)
    );
}

const SECRETS: &str =
    "http://u:p@h/\n\nhttp://h/?sid=1\nHTTP://h/?sid=1\nhttp://h/?sid=2\nb ad?pwd=1\n";

#[test]
fn redaction_masks_what_is_written_and_compares_what_was_read() {
    let masked = run(["audit", "--redact"], SECRETS).quiet();
    assert_eq!(
        masked,
        "http://u:***@h/\n\nhttp://h/?sid=***\nHTTP://h/?sid=***\nhttp://h/?sid=***\nb ad?pwd=***\n"
    );
    let firsts = run(["dedup", "--redact"], SECRETS).quiet();
    assert_eq!(firsts, "http://u:***@h/\nhttp://h/?sid=***\nhttp://h/?sid=***\nb ad?pwd=***\n");
    let forms = run(["dedup", "--redact", "--emit", "normalized"], SECRETS).quiet();
    assert_eq!(forms, firsts);
    let forms = run(["normalize", "--redact"], SECRETS).quiet();
    assert_eq!(forms, masked.replace("HTTP", "http"));
    let directory = tempfile::tempdir().unwrap();
    let bad = directory.path().join("bad");
    for command in ["dedup", "normalize"] {
        let ran = run([command, "--redact", "--rejects", bad.to_str().unwrap()], SECRETS).quiet();
        assert!(!ran.contains("ad?"));
        assert_eq!(fs::read_to_string(&bad).unwrap(), "b ad?pwd=***\n", "{command}");
    }
}

#[test]
fn a_finding_that_is_not_printed_fails_the_run_all_the_same() {
    let list = "http://127.0.0.1/\n";
    for (args, code, printed) in [
        (&["--severity", "error"][..], 1, false),
        (&["--severity", "error", "--fail-on", "warning"], 1, false),
        (&["--severity", "warning", "--fail-on", "note"], 1, true),
        (&["--severity", "error", "--fail-on", "error"], 0, false),
        (&["--severity", "error", "--fail-on", "never"], 0, false),
        (&["--severity", "error", "--ignore", "7.4"], 0, false),
    ] {
        for to in ["text", "jsonl", "sarif"] {
            let ran = run([&["audit", "--to", to], args].concat(), list);
            assert_eq!(ran.code, code, "{args:?}");
            let result = if to == "sarif" { "\"ruleId\"" } else { "address-loopback" };
            assert_eq!(ran.text().matches(result).count() > 0, printed, "{args:?} {to}");
        }
    }
    let ran = run(["audit", "--severity", "warning", "--fail-on", "note"], "http://h/a%2Fb\n");
    assert_eq!((ran.code, ran.text()), (1, ""));
    // What is counted is what is printed.
    let ran = run(["audit", "--severity", "error", "--stats=json"], list);
    let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((ran.code, &stats["findings"]), (1, &json!(0)));
}

#[test]
fn what_redaction_masks_is_a_finding_that_shows_none_of_it() {
    for (record, severity) in [
        ("https://h/?q=ghp_S3CRET70123456789abcd", "error"),
        ("http://h/?u=http%3A%2F%2Fu%3AS3CRET7%40h", "error"),
        ("jdbc:mysql://u:S3CRET7@h", "error"),
        ("http:/u:S3CRET7@h", "error"),
        ("http://h/?token%25%33%44S3CRET7", "warning"),
        ("http://h/?d=%7B%22token%22%3A+%22S3CRET7%22%7D", "warning"),
        ("http://h/?code=S3CRET7&state=b", "warning"),
        ("http://h/?u=//S3CRET7@i/", "note"),
    ] {
        let redacted = run(["audit", "--redact"], record).quiet();
        assert!(redacted.contains("***") && !redacted.contains("S3CRET7"), "{redacted}");
        let ran = run(["audit", "--to", "jsonl", "--select", "secret"], record);
        assert_eq!(ran.code, i32::from(severity != "note"), "{record}");
        let found = objects(ran.text());
        assert_eq!((found.len(), &found[0]["severity"]), (1, &json!(severity)), "{record}");
        assert!(!ran.text().contains("S3CRET7"), "{}", ran.text());
    }
}

#[test]
fn details_show_nothing_that_redaction_masks() {
    for record in [
        "http://h/?http://u:hunter2@h/token=x",
        "http://h/?token%3Dhunter2%26token=x",
        "http://h/?ghp_0123456789hunter2_token=x",
        "http://h/?{\"token\":\"hunter2x_token=1",
        "#mailto:/../%26{\"token\":\"hunter2token=0",
        "http://hunter2\\@h",
        "http://token%3Dhunter2\\a:@",
        "http://u:hunter2@uhunter2\\h@xn--",
    ] {
        for to in ["text", "jsonl", "sarif"] {
            let ran = run(["audit", "--to", to, "--severity", "note"], record);
            assert!(ran.code == 1 && !ran.text().contains("hunter2"), "{}", ran.text());
        }
    }
}

#[test]
fn redaction_reports_binary_data_in_which_it_finds_no_secrets() {
    // UTF-16 is read, but not with control characters in it.
    let text = "\u{1}http://u:SECRET@h/\r\n";
    let wide: String = text.chars().flat_map(|c| [c, '\0']).collect();
    let place = crate::run::Place::new(&[("list", &wide)]);
    for (args, input, name) in [(&["list"][..], "", "list"), (&[], &*wide, "-")] {
        let ran = place.run(&[&["audit", "--redact"], args].concat(), input);
        let hint = format!(
            "uriscan: {name} looks like binary data, such as UTF-16; secrets in it may not be masked\n"
        );
        assert_eq!((ran.code, &*ran.stderr), (0, &*hint));
        assert_eq!(place.run(&[&["audit", "--redact", "-q"], args].concat(), input).stderr, "");
    }
    assert_eq!(run(["audit", "--redact"], "GET http://u:p@h/ 1\n a, b\n").stderr, "");
    // More of a line than the secret is masked.
    let line = "1.2.3.4 - - [17/May/2015:10:05:03 +0000] \"GET /x?token=S HTTP/1.1\" 404 1\n";
    let ran = run(["audit", "--redact"], line);
    assert!(ran.text().ends_with("\"GET /x?token=***\n"), "{}", ran.text());
    let hint = "uriscan: - looks like an access log; a secret goes on up to the next parameter, so the rest of a line may be \
                masked with it\n";
    assert_eq!((ran.code, &*ran.stderr), (0, hint));
}

#[test]
fn references_without_a_base_are_checked_as_they_are() {
    let log = "10.0.0.1 - - [17/May/2015:10:05:03 +0000] \"GET /reset?token=Zk39fjLq88 HTTP/1.1\" 200 1 \"http://u:Zk39@h/\" \"-\"\n\
               10.0.0.1 - - [17/May/2015:10:05:03 +0000] \"GET //x?file=../../etc/passwd HTTP/1.1\" 200 1 \"-\" \"-\"\n";
    let page = "<a href='/reset?token=Zk39fjLq88'>a</a> <a href=''>b</a> <a href='x?a&amp;sid=a1'>c</a> <a href='//h/%00'>d</a>";
    let found = |from: &str, args: &[&str], text: &str| {
        let ran =
            run([&["audit", "--extract", "--to", "jsonl", "--from", from], args].concat(), text);
        let rules = objects(ran.text());
        let rules: Vec<_> =
            rules.iter().map(|it| it["rule"].as_str().unwrap().to_owned()).collect();
        (rules.join(" "), ran.stderr.contains("without a base"))
    };
    let all = [
        "secret-parameter password traversal-query",
        "secret-parameter secret-parameter encoded-nul",
    ];
    for (from, text, all) in [("clf", log, all[0]), ("html", page, all[1])] {
        assert_eq!(found(from, &[], text), (all.to_owned(), false));
        assert_eq!(found(from, &["--base", "https://h/"], text), (all.to_owned(), false));
    }
    let table = "id,url\n1,http://h/?token=Zk39\n2,/a?token=Zk39\n3,b?token=Zk39\n";
    let rules = "secret-parameter secret-parameter secret-parameter";
    assert_eq!(found("csv", &["--link-column", "url"], table), (rules.to_owned(), false));
    let page = "<script type='application/ld+json'>{\"url\":\"/p?token=Zk39\"}</script>";
    let also = found("html", &["--also", "json-ld"], page);
    assert_eq!(also, ("secret-parameter".to_owned(), false));
    // As browsers read them.
    let page = "<a href='/\\127.0.0.1/'>a</a> <a href='a\\..\\x'>b</a>";
    assert_eq!(found("html", &[], page), ("address-loopback".to_owned(), false));
    // The links that are written are those that `extract` writes.
    let ran = run(["audit", "--extract", "--redact", "--from", "clf"], log);
    assert_eq!(ran.text(), "http://u:***@h/\n");
    assert!(ran.stderr.contains("2 relative references without a base"), "{}", ran.stderr);
}

#[test]
fn hidden_files_are_read_on_request_and_named_otherwise() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    for folder in [".github", ".git"] {
        fs::create_dir(at(folder)).unwrap();
    }
    for name in [".env", ".github/w.yml", ".git/config"] {
        fs::write(at(name), "https://u:pw8djsX@h/\n").unwrap();
    }
    let folder = directory.path().to_str().unwrap();
    let ran = run(["audit", "--extract", folder], "");
    assert_eq!((ran.text(), ran.code), ("", 0));
    let message = "uriscan: 2 hidden files and folders were skipped; --hidden reads them\n";
    assert_eq!(ran.stderr, message);
    assert_eq!(run(["audit", "--extract", "-q", folder], "").stderr, "");
    let ran = run(["audit", "--extract", "--hidden", folder], "");
    assert_eq!((ran.text().lines().count(), ran.code), (3, 1));
    for command in ["check", "parse"] {
        let records = |args: &[&str]| {
            let args = [&[command, "--extract", "--stats=json", "-o", "/dev/null"], args].concat();
            let ran = run([&args[..], &[folder]].concat(), "");
            serde_json::from_str::<Value>(&ran.stderr).unwrap()["records"].as_u64()
        };
        assert_eq!((records(&[]), records(&["--hidden"])), (Some(0), Some(3)), "{command}");
    }
}

#[test]
fn placeholders_are_masked_and_not_reported() {
    let list = "http://h/?token=***\nhttp://u:${PASSWORD}@h/\nhttp://h/?token=***;a1b2\n";
    let ran = run(["audit", "--fail-on", "none"], list);
    let message = "-:3:17-24: warning: secret (7.5): secret within a component";
    assert!(ran.text().starts_with(message) && ran.text().lines().count() == 1, "{}", ran.text());
    assert_eq!(ran.code, 0);
    let ran = run(["audit", "--redact"], list).quiet();
    assert_eq!(ran, "http://h/?token=***\nhttp://u:***@h/\nhttp://h/?token=***\n");
}
