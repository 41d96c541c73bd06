//! `uriscan resolve`, and `--base` of the commands that compare.

use crate::run::{Place, run};

const BASE: &str = "http://a/b/c/d;p?q#f";

#[test]
fn one_target_out_per_reference_in() {
    let ran = run(["resolve", "--base", BASE], "../g\n\n#s\n  g \r\nhttp://h/./x\nhttp:g\n");
    let expected = "http://a/b/g\n\nhttp://a/b/c/d;p?q#s\nhttp://a/b/c/g\nhttp://h/x\nhttp:g\n";
    assert_eq!(ran.quiet(), expected);
    let lenient = ["resolve", "--base", BASE, "--lenient-scheme"];
    assert_eq!(run(lenient, "http:g\n").quiet(), "http://a/b/c/g\n");
}

#[test]
fn same_document_references_can_be_left_out_and_are_counted() {
    let args = ["resolve", "--base", BASE, "--same-document", "drop", "--stats=json"];
    let ran = run(args, "#s\nd;p?q\nd;p\n//a/b/c/d;p?q\n");
    assert_eq!((ran.code, ran.text()), (0, "http://a/b/c/d;p\n"));
    let stats: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(stats["same_document"], 3);
    assert_eq!((&stats["written"], &stats["dropped"]), (&1.into(), &3.into()));
}

#[test]
fn a_base_per_row() {
    let text = "http://a/b\tc\nhttp://a/b\t../d\nhttp://x\ty?q\tmore\nhttp://a/b\t\n\thref\nlonely\n\nnope/\tx\nhttp://a/b\tx y\r\n";
    let ran = run(["resolve", "--base-column", "1"], text);
    assert_eq!(
        ran.quiet(),
        "http://a/c\nhttp://a/d\nhttp://x/y?q\nhttp://a/b\n\thref\nlonely\n\nnope/\tx\nhttp://a/b\tx y\n"
    );
    let swapped = ["resolve", "--base-column", "2"];
    assert_eq!(run(swapped, "c\thttp://a/b\n").quiet(), "http://a/c\n");
    let third = ["resolve", "--base-column", "1", "--reference-column", "3"];
    assert_eq!(run(third, "http://a/b\tx\tc\n").quiet(), "http://a/c\n");
}

#[test]
fn faults_of_a_row_are_placed_in_it() {
    for (row, message) in [
        ("http://a/b\tx y", "-:1: space at column 13 (byte 12)"),
        ("http://a b\tx", "-:1: space at column 9 (byte 8)"),
        ("//a/b\tx", "-:1: relative at column 1 (byte 0)"),
        ("http://a/b", "-:1: field at column 11 (byte 10)"),
        (" http://a/b \t x\u{7f}", "-:1: control at column 16 (byte 15)"),
    ] {
        let args = ["resolve", "--base-column", "1", "--on-invalid", "error"];
        let refused = run(args, row).refused();
        assert!(refused.contains(message), "{refused}");
    }
    let args = ["resolve", "--base-column", "b", "--from", "jsonl", "--on-invalid", "error"];
    for (row, message) in [
        (r#"{"b":"http://a","reference":"x y"}"#, "space at column 31 "),
        (r#"{"b":"http://a","reference":"\u0041 y"}"#, "space at column 1 "),
        (r#"{"b":"http://a"}"#, "field at column 1 "),
        (r#"{"b":"http://a","reference":"x""#, "field at column 31 "),
    ] {
        let refused = run(args, row).refused();
        assert!(refused.contains(message), "{refused}");
    }
}

#[test]
fn rows_of_json() {
    let args =
        ["resolve", "--base-column", "page", "--reference-column", "href", "--from", "jsonl"];
    let text = "{\"page\":\"http:\\/\\/a\\/b\",\"n\":1,\"href\":\"c\"}\n{\"href\":\"..\",\"page\":\"http://a/b/c/\"}\n\nno json\n";
    assert_eq!(run(args, text).quiet(), "http://a/c\nhttp://a/b/\n\nno json\n");
}

#[test]
fn suffix_references_when_asked_for() {
    let args = ["resolve", "--suffix-scheme", "https", "--on-invalid", "drop"];
    let text = "www.w3.org/Addressing/\nexample.org:8080\nhttp://h/./x\n../up\n";
    let expected = "https://www.w3.org/Addressing/\nhttps://example.org:8080\nhttp://h/x\n";
    assert_eq!(run(args, text).quiet(), expected);
}

#[test]
fn references_are_resolved_before_they_are_compared() {
    let list = "../x\nhttp://A/b/x\nhttp://a:80/b/./x\n?\nx y\nx y\n";
    let base = ["--base", "http://a/b/c/d"];
    let with = |command: &'static str, more: &[&'static str]| {
        run([&[command][..], &base, more].concat(), list)
    };
    assert_eq!(with("dedup", &[]).quiet(), "../x\n?\nx y\n");
    assert_eq!(
        with("normalize", &[]).quiet(),
        "http://a/b/x\nhttp://a/b/x\nhttp://a/b/x\nhttp://a/b/c/d?\nx y\nx y\n"
    );
    let normalized = with("dedup", &["--emit", "normalized"]).quiet();
    assert_eq!(normalized, "http://a/b/x\nhttp://a/b/c/d?\nx y\n");
    // Keys of targets never meet those of URIs that were read without a base.
    let keys = with("key", &[]).quiet();
    let absolute = run(["key", "--base", "http://a/b/c/d"], "http://a/b/x\n").quiet();
    assert!(keys.starts_with(&absolute.repeat(3)));
    assert_ne!(absolute, run(["key"], "http://a/b/x\n").quiet());
    let census = with("census", &["--to", "json"]).quiet();
    let census: serde_json::Value = serde_json::from_str(&census).unwrap();
    let distinct: Vec<_> = (0..3).map(|i| census["levels"][i]["distinct"].clone()).collect();
    assert_eq!(distinct, [5, 4, 3]);
    assert_eq!(census["invalid"], serde_json::json!({"space": 2}));
    let suffix = ["dedup", "--suffix-scheme", "https"];
    let text = "example.org\nhttps://EXAMPLE.org/\n";
    assert_eq!(run(suffix, text).quiet(), "example.org\n");
    // A host in raw UTF-8 is what it is without a base.
    let raw = "http://b\u{fc}cher.example/a/../b\nhttp://xn--bcher-kva.example/b\n";
    assert_eq!(run([&["dedup"][..], &base].concat(), raw).quiet().lines().count(), 1);
    // The target comes first, its normal form after: `%2e%2e` is a segment like any other for 5.2.4.
    let text = "/x/%2e%2e/../y\n";
    assert_eq!(run([&["normalize"][..], &base].concat(), text).quiet(), "http://a/x/y\n");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let refused = run(["resolve", "--base", "//a/b"], "").refused();
    assert!(
        refused.contains("--base //a/b: the base is not a URI: relative at byte 0"),
        "{refused}"
    );
    let refused = run(["dedup", "--base", "http://a b/"], "").refused();
    assert!(refused.contains("space at byte 8"), "{refused}");
    let refused = run(["resolve", "--suffix-scheme", "no scheme"], "").refused();
    assert!(refused.contains("--suffix-scheme no scheme: a scheme is"), "{refused}");
    let refused = run(["resolve", "--base-column", "page"], "").refused();
    assert!(refused.contains("use --from jsonl for names"), "{refused}");
    for args in [
        &["resolve"][..],
        &["resolve", "--base", "http://h", "--suffix-scheme", "http"],
        &["resolve", "--base", "http://h", "--base-column", "1"],
        &["resolve", "--base", "http://h", "--from", "jsonl"],
        &["dedup", "--lenient-scheme"],
        &["dedup", "--base", "http://h", "--suffix-scheme", "http"],
    ] {
        assert_eq!(run(args, "").code, 2, "{args:?}");
    }
}

#[test]
fn filters_apply_to_targets_and_are_counted_by_cause() {
    let text = "/a\n\n//i/b\nhttp://h/c?x&y\n/d/e/f\nno uri\n#s\n";
    let args = ["resolve", "--base", "http://h/", "--host", "h", "--max-params", "1"];
    let more = ["--max-segments", "2", "--stats=json"];
    let ran = run([&args[..], &more].concat(), text);
    assert_eq!((ran.code, ran.text()), (0, "http://h/a\n\nhttp://h/#s\n"));
    let stats: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((&stats["records"], &stats["written"]), (&2.into(), &2.into()));
    assert_eq!((&stats["filtered"], &stats["invalid"]), (&4.into(), &0.into()));
    let by_cause = &stats["filtered_by_cause"];
    assert_eq!((&by_cause["max-params"], &by_cause["max-segments"]), (&1.into(), &1.into()));

    // The other ways to have a base, a file of values, and repairs.
    let place = Place::new(&[("hosts", "h\n")]);
    for (args, text, expected) in [
        (&["--base-column", "1"][..], "http://h/\tx\nhttp://i/\tx\n", "http://h/x\n"),
        (
            &["--base-column", "b", "--from", "jsonl"],
            "{\"b\":\"http://h/\",\"reference\":\"//i/x\"}\n{\"b\":\"http://h/\",\"reference\":\"x\"}\n",
            "http://h/x\n",
        ),
        (&["--suffix-scheme", "https"], "h.de/x\nhttp://h/\n", "http://h/\n"),
        (&["--base", "http://h/", "--repair"], "a b\n//i/c d\n", "http://h/a%20b\n"),
        (&["--base", "http://h/", "--grammar", "rfc2396"], "a\n//i/c\n", "http://h/a\n"),
    ] {
        let ran = place.run(&[&["resolve", "--host-file", "hosts"], args].concat(), text);
        assert_eq!(ran.quiet(), expected, "{args:?}");
    }
    let base = ["resolve", "--base", "http://h/"];
    let ran = run([&base[..], &["--not-match", "b$"]].concat(), "a\nb\n");
    assert_eq!(ran.quiet(), "http://h/a\n");
    let ran = run([&base[..], &["--scheme", "ftp"]].concat(), "a\nftp://i/\n");
    assert_eq!(ran.quiet(), "ftp://i/\n");
    let refused = run([&base[..], &["--scheme", "any"]].concat(), "").refused();
    assert!(refused.contains("--scheme any"), "{refused}");
}

#[test]
fn iris_are_resolved_to_the_host_that_normalization_gives_them() {
    let list = "//bücher.de/x\n/ü\nhttp://bücher.de/\n";
    let targets = "http://xn--bcher-kva.de/x\nhttp://h/%C3%BC\nhttp://xn--bcher-kva.de/\n";
    for command in ["resolve", "normalize"] {
        assert_eq!(run([command, "--iri", "--base", "http://h/"], list).quiet(), targets);
        let iri_base = run([command, "--iri", "--base", "http://bücher.de/"], "/x\n//ü.de\n");
        let written = iri_base.quiet();
        assert!(written.starts_with("http://xn--bcher-kva.de/x\nhttp://xn--tda.de"), "{written}");
        let suffix = run([command, "--iri", "--suffix-scheme", "https"], "bücher.de/ü\n");
        assert_eq!(suffix.quiet(), "https://xn--bcher-kva.de/%C3%BC\n");
    }
    let rows = "http://bücher.de/\t//ü.de/\n";
    let ran = run(["resolve", "--iri", "--base-column", "1"], rows);
    assert_eq!(ran.quiet(), "http://xn--tda.de/\n");
    // A scheme that does not use the DNS.
    let other = run(["resolve", "--iri", "--base", "foo://h/"], "//ü.de/\n");
    assert_eq!(other.quiet(), "foo://%C3%BC.de/\n");
    let same = "//bücher.de/x\nhttp://xn--bcher-kva.de/x\n";
    let base = ["--iri", "--base", "http://h/"];
    assert_eq!(run([&["dedup"][..], &base].concat(), same).quiet(), "//bücher.de/x\n");
}
