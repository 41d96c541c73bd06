//! Hints by example.

use uriscan_bulk::io::Fields;

use super::*;

#[test]
fn what_looks_like_something_is_named() {
    for (head, name, expected) in [
        (&b"id,url\n1,http://h/\n2,\"http://h/,\"\n"[..], "-", Some("CSV")),
        (b"id\turl\n1\thttp://h/\n", "-", Some("TSV")),
        (b"a b c\nd e\n", "x.csv", Some("CSV")),
        (b"<!doctype html>\n<p>\n", "-", Some("HTML")),
        (b"{\"a\":1}\n", "-", Some("JSON")),
        (
            b"h - - [10/Oct/2000:13:55:36 -0700] \"GET /i HTTP/1.0\" 200 1\n",
            "-",
            Some("an access log"),
        ),
        (b"\x7fELF\0\0\n", "-", Some("binary data")),
        (b"WARC/1.0\r\n", "-", Some("a web archive")),
        (b"http://h/\n\0\nhttp://h/a b\n", "-", None),
        (b"a,b\nc\n", "-", None),
        (b"a,b\n", "-", None),
        (b"no uri\nno uri\n", "-", None),
        (b"", "-", None),
    ] {
        assert_eq!(look(head, name).map(|found| found.0), expected, "{}", head.escape_ascii());
    }
}

fn hint(head: &str, name: &str, is_odd: bool, typed: &str) -> Option<String> {
    let call = Call::of(typed.split(' ').map(str::to_owned).collect());
    advice(head.as_bytes(), name, is_odd, (&call, &call))
}

#[test]
fn a_hint_is_the_command_that_was_typed_with_options_that_it_has() {
    const LOG: &str = "h - - [10/Oct/2000:13:55:36 -0700] \"GET /i HTTP/1.0\" 200 1\n";
    for (head, name, typed, expected) in [
        (LOG, "nginx.log", "top nginx.log", "uriscan top --extract nginx.log"),
        (LOG, "x", "top --by domain x", "uriscan top --extract --by domain x"),
        (LOG, "x", "set add s.set x", "uriscan set add --extract s.set x"),
        (LOG, "-", "dedup", "uriscan dedup --extract"),
        (LOG, "ab", "resolve --base http://h/ ab", "uriscan extract --base http://h/ ab"),
        (
            LOG,
            "ab",
            "resolve --same-document drop --base=http://h/ -q --iri ab -o out",
            "uriscan extract --base=http://h/ -q --unicode ab -o out",
        ),
        (LOG, "ab", "resolve --suffix-scheme https ab", "uriscan extract ab"),
        (
            "id,url\n1,http://h/\n",
            "x.csv",
            "resolve --base http://b/ x.csv",
            "uriscan extract --link-column url --base http://b/ x.csv",
        ),
        ("<html>\n", "x.html", "check x.html", "uriscan check --extract --base URL x.html"),
        ("<html>\n", "x", "dedup --base=http://h/ x", "uriscan dedup --extract --base=http://h/ x"),
        ("1,http://h/\n2,http://i/\n", "x", "dedup x", "uriscan dedup --extract --from csv x"),
        ("id,url\n1,http://h/\n", "x.csv", "dedup x.csv", "uriscan dedup --column url x.csv"),
        ("id,url\n1,http://h/\n", "-", "key -q", "uriscan key --column url --from csv -q"),
        (
            "id\turl\n1\thttp://h/\n",
            "x.tsv.gz",
            "parse x.tsv.gz",
            "uriscan parse --column url x.tsv.gz",
        ),
        ("id,url\n1,http://h/\n", "x.csv", "census x.csv", "uriscan census --column url x.csv"),
        (
            "id,url\n1,http://h/\n",
            "x.csv",
            "audit x.csv",
            "uriscan audit --extract --link-column url x.csv",
        ),
        (
            "id,url\n1,http://h/\n",
            "x.csv",
            "check --differ x.csv",
            "uriscan check --extract --link-column url --differ x.csv",
        ),
        (
            "id,url\n1,http://h/\n",
            "x.csv",
            "dedup --base http://u:hun'ter2@h/ x.csv",
            "uriscan dedup --column url --base 'http://u:***@h/' x.csv",
        ),
        ("id,path\n1,/a\n", "x.csv", "dedup x.csv", "uriscan dedup --column NAME x.csv"),
        (
            "id,url\n1,http://h/\n",
            "x",
            "resolve --base http://h/ x",
            "uriscan extract --link-column url --from csv --base http://h/ x",
        ),
        (
            "id,url\n1,http://h/\n",
            "x.csv",
            "explain -f x.csv",
            "uriscan extract --link-column url x.csv",
        ),
        (
            "id,url\n1,http://h/\n",
            "x.csv",
            "explain --file=x.csv",
            "uriscan extract --link-column url x.csv",
        ),
    ] {
        let hint = hint(head, name, true, typed).unwrap();
        assert!(hint.ends_with(&format!("Try `{expected}`")), "{typed}: {hint}");
    }
    let many = format!("top {}", "file ".repeat(1000));
    assert!(hint(LOG, "file", true, &many).unwrap().ends_with(" file ...`"));
}

#[test]
fn a_table_that_is_read_as_lines_is_reported_with_its_columns() {
    let list = |head, name| hint(head, name, false, &format!("dedup {name}"));
    for (head, name, expected) in [
        (
            "url,name\nhttp://h/,a\n",
            "x.csv",
            "x.csv looks like CSV with the columns url, name, and was read as lines. Try `uriscan dedup --column url x.csv`",
        ),
        (
            "\"the url\",\"a,b\"\nhttp://h/,a\n",
            "x",
            "x looks like CSV with the columns the url, a,b, and was read as lines. Try `uriscan dedup --column 'the url' --from csv x`",
        ),
        (
            "url\nhttp://h/\n",
            "x.csv",
            "x.csv looks like CSV with the column url, and was read as lines. Try `uriscan dedup --column url x.csv`",
        ),
    ] {
        assert_eq!(list(head, name).as_deref(), Some(expected));
    }
    for (head, name) in [
        ("http://h/a,b\nhttp://h/c,d\n", "x"),
        ("http://h/a,b\nhttp://h/c,d\n", "x.csv"),
        ("a,b\nc,d\n", "x"),
        ("/a,b\nhttp://h/c,d\n", "x"),
        ("mailto:a,b\nhttp://h/c,d\n", "x.csv"),
        ("url\nhttp://h/\n", "x"),
        ("", "x.csv"),
    ] {
        assert_eq!(list(head, name), None, "{head}");
    }
}

#[test]
fn names_are_quoted_for_a_shell() {
    for (name, expected) in [
        ("-", "-"),
        ("a/b-1.csv", "a/b-1.csv"),
        ("été.csv", "été.csv"),
        ("a b.csv", "'a b.csv'"),
        ("a'b.csv", r"'a'\''b.csv'"),
        ("$(x)", "'$(x)'"),
        ("`x`;y", "'`x`;y'"),
        ("~a", "'~a'"),
        ("-a b", "./'-a b'"),
        ("-o", "./-o"),
        ("a\nb", "NAME"),
        ("a\u{202e}b", "NAME"),
        ("a\u{fffd}", "NAME"),
        ("", "''"),
    ] {
        assert_eq!(typed(name), expected);
    }
}

#[test]
fn urls_are_no_paths() {
    for url in ["http://h/", "HTTPS://h", "s3://bucket/key", "git+ssh://h"] {
        assert!(is_url(Path::new(url)), "{url}");
    }
    for path in ["a/b", "/a://b", "http:/h", "://h", "C:\\a", "a b://c", ""] {
        assert!(!is_url(Path::new(path)), "{path}");
    }
}

/// Of `counts`, the records, those that are relative, and those that have no valid scheme.
fn hint_of(inputs: &[(&str, &str)], counts: [u64; 3], typed: &str) -> Option<String> {
    let end = if typed.contains(" -0") { 0 } else { b'\n' };
    let beginnings = inputs.iter().map(|(name, head)| Beginning {
        name: (*name).to_owned(),
        head: head.as_bytes().to_vec(),
        end,
    });
    let mut report = Report::default();
    let [records, relative, others] = counts;
    report.records = records;
    report.invalid.add_many(UriErrorKind::Relative, relative);
    report.invalid.add_many(UriErrorKind::Scheme, others);
    let call = Call::of(typed.split(' ').map(str::to_owned).collect());
    of_inputs(&beginnings.collect::<Vec<_>>(), inputs.len() == 1, &report, &call)
}

#[test]
fn of_several_inputs_the_one_that_is_not_a_list_is_named() {
    const CSV: (&str, &str) = ("t.csv", "id,url\n1,http://h/\n");
    const LIST: (&str, &str) = ("l.txt", "http://h/\nhttp://i/\n");
    const PAGE: (&str, &str) = ("p.html", "<!doctype html>\n<p>\n");
    for (inputs, typed, expected) in [
        (
            &[LIST, CSV][..],
            "dedup --stats l.txt t.csv",
            Some(
                "most of t.csv is not a list of URIs; it looks like CSV with the columns id, url. Try `uriscan dedup --column url --stats t.csv`",
            ),
        ),
        (
            &[CSV, LIST],
            "dedup t.csv l.txt",
            Some(
                "most of t.csv is not a list of URIs; it looks like CSV with the columns id, url. Try `uriscan dedup --column url t.csv`",
            ),
        ),
        (
            &[LIST, PAGE],
            "dedup l.txt p.html",
            Some(
                "most of p.html is not a list of URIs; it looks like HTML. Try `uriscan dedup --extract --base URL l.txt p.html`",
            ),
        ),
        (&[LIST, LIST], "dedup l.txt l.txt", None),
    ] {
        assert_eq!(hint_of(inputs, [6, 1, 2], typed).as_deref(), expected, "{typed}");
    }
}

#[test]
fn a_list_without_schemes_is_reported_how_they_are_added() {
    const LIST: (&str, &str) = ("x", "example.com/a\nwww.example.org\nhttp://h/\n");
    let hint = |typed| hint_of(&[LIST], [3, 2, 0], typed);
    assert_eq!(
        hint("set add s.set x").as_deref(),
        Some(
            "2 of 3 records have no scheme, such as example.com/a. Try `uriscan set add --suffix-scheme https s.set x`"
        )
    );
    // No such hint: commands without the option, lists that mostly have schemes, calls with an option that excludes it,
    // and paths.
    assert_eq!(hint("check x"), None);
    assert_eq!(hint_of(&[LIST], [4, 2, 0], "dedup x"), None);
    for typed in ["dedup --base http://h/ x", "dedup --profile surt x"] {
        let hint = hint(typed).unwrap();
        assert!(hint.starts_with("2 of 3 records are not URIs"), "{typed}: {hint}");
    }
    assert_eq!(
        hint_of(&[("x", "/a\n../b/c\n")], [2, 2, 0], "dedup x").as_deref(),
        Some(
            "2 of 2 records are not URIs, the first at x:1:1 (relative); --base URL completes them"
        )
    );
    // A filter by host leaves nothing of such a list.
    let mut report = Report::default();
    report.filtered.add(Cause::Domain);
    let input = [Beginning { name: "x".to_owned(), head: LIST.1.into(), end: b'\n' }];
    let of = |typed: &str, report: &Report| {
        let call = Call::of(typed.split(' ').map(str::to_owned).collect());
        of_inputs(&input, true, report, &call)
    };
    let hint = of("dedup --domain h x", &report).unwrap();
    assert_eq!(
        hint,
        "no record was selected, and most have no scheme, such as example.com/a. Try `uriscan dedup --suffix-scheme https --domain h x`"
    );
    report.records = 1;
    assert_eq!(of("dedup --domain h x", &report), None);
    let mut report = Report::default();
    report.filtered.add(Cause::Match);
    assert_eq!(of("dedup --match h x", &report), None);
}

/// What is said of the input `x` of as many invalid records as it has lines, for `typed`.
fn hint_of_bad(head: &str, typed: &str) -> Option<String> {
    let end = if typed.contains(" -0") { '\0' } else { '\n' };
    let count = head.split(end).filter(|line| !line.trim().is_empty()).count();
    let mut report = Report::default();
    report.records = count as u64;
    report.invalid.add_many(UriErrorKind::Space, count as u64);
    let head = head.as_bytes().to_vec();
    let input = Beginning { name: "x".to_owned(), head, end: end as u8 };
    let call = Call::of(typed.split(' ').map(str::to_owned).collect());
    of_inputs(&[input], true, &report, &call)
}

#[test]
fn what_reads_invalid_records_is_found_by_trying_it() {
    for (head, typed, expected) in [
        ("      2 http://h/a\n     10 http://h/b\n", "dedup x", "uriscan dedup --extract x"),
        ("http://h/a 200\nhttp://h/b 404\n", "top x", "uriscan top --extract x"),
        ("2024-01-02 http://h/a 0.25\n", "key x", "uriscan key --extract x"),
        ("\"http://h/a\"\n'http://h/b'\n", "dedup x", "uriscan dedup --repair=quotes x"),
        ("http://h/a b.pdf\nhttp://h/c d.pdf\n", "dedup x", "uriscan dedup --repair x"),
        ("http://h/é\nhttp://h/ü\n", "normalize x", "uriscan normalize --iri x"),
        ("http://h/é a\n", "normalize x", "uriscan normalize --iri --repair x"),
        ("hxxp://h[.]com/a\n", "dedup x", "uriscan dedup --extract --refang x"),
        ("# Links\n\n* [a](http://h/a) and\n", "dedup x", "uriscan dedup --extract x"),
        (
            "User-agent: *\nDisallow: /a b\nSitemap: http://h/s\n",
            "key x",
            "uriscan key --extract x",
        ),
        ("see http://h/a\n", "resolve --base http://b/ x", "uriscan extract --base http://b/ x"),
    ] {
        let hint = hint_of_bad(head, typed).unwrap();
        assert!(hint.contains(&format!("Try `{expected}`, which ")), "{typed}: {hint}");
    }
    for (head, typed, expected) in [
        ("http://h/a\0http://h/b\0", "dedup x", "records end in NUL. Try `uriscan dedup -0 x`"),
        ("http://h/a\nhttp://h/b\n", "dedup -0 x", "end in line feeds. Try `uriscan dedup x`"),
        (
            "{\"at\":\"2026\",\"from\":\"http://a/\",\"request\":{\"url\":\"http://h/a\"}}\n{}\n",
            "dedup x",
            "looks like JSON lines with the members at, from, request. Try `uriscan dedup --column request.url x`",
        ),
        (
            "[\n  \"http://h/a\",\n  \"http://h/b\"\n]\n",
            "dedup x",
            "it looks like JSON. Try `uriscan dedup --extract x`",
        ),
        ("http://h/a\rhttp://h/b\r", "dedup x", r"Try `tr '\r' '\n' < x | uriscan dedup`"),
    ] {
        let hint = hint_of_bad(head, typed).unwrap();
        assert!(hint.ends_with(expected), "{typed}: {hint}");
    }
}

#[test]
fn most_records_are_never_invalid_in_silence() {
    for (head, expected) in [
        ("a b\nc d\n", "2 of 2 records are not URIs, the first at x:1:2 (space)"),
        ("\n  a b\n", "1 of 1 record is not a URI, the first at x:2:4 (space)"),
        ("é b\n", "1 of 1 record is not a URI"),
        (
            "[10.30 16:49:06] chrome.exe - proxy.h:5070 open through proxy h:5070 HTTPS\n",
            "1 of 1 record is not a URI",
        ),
    ] {
        for command in ["dedup", "normalize", "key", "top", "set add s.set"] {
            let hint = hint_of_bad(head, &format!("{command} x")).unwrap();
            assert!(hint.starts_with(expected), "{hint}");
            assert!(hint.ends_with("; see `uriscan check x`"), "{hint}");
        }
        for command in ["check", "audit", "parse", "explain", "census"] {
            assert_eq!(hint_of_bad(head, &format!("{command} x")), None);
        }
    }
    // No input can be read again, and one of several is the one.
    let counts = [2, 0, 2];
    let hint = hint_of(&[], counts, "dedup");
    assert_eq!(hint.as_deref(), Some("2 of 2 records are not URIs; see `uriscan check`"));
    let inputs = [("l", "http://h/\nhttp://i/\n"), ("m", "a b\nc d\n")];
    assert_eq!(
        hint_of(&inputs, [4, 0, 2], "dedup l m").as_deref(),
        Some(
            "most records at the beginning of m are not URIs (2 of 4 in all); see `uriscan check m`"
        )
    );
}

#[test]
fn links_are_not_shown_that_end_in_a_character_that_is_not_ascii() {
    let hint = |head: &[u8], typed: &str| {
        let mut report = Report::default();
        report.records = 1;
        report.invalid.add_many(UriErrorKind::NonAscii, 1);
        let input = Beginning { name: "x".to_owned(), head: head.to_vec(), end: b'\n' };
        let call = Call::of(typed.split(' ').map(str::to_owned).collect());
        of_inputs(&[input], true, &report, &call).unwrap()
    };
    for (head, typed, expected) in [
        (
            &b"http://h/caf\xE9\n"[..],
            "dedup x",
            "Try `iconv -f ISO-8859-1 -t UTF-8 x | uriscan dedup --iri`",
        ),
        (
            b"http://h/\x93\xFA\n",
            "top x",
            "Try `iconv -f ISO-8859-1 -t UTF-8 x | uriscan top --iri`",
        ),
        (b"see http://h/caf\xE9\n", "dedup x", "; see `uriscan check x`"),
        ("see http://h/日\n".as_bytes(), "dedup x", "; see `uriscan check x`"),
        ("http://h/日 http://h/a x\n".as_bytes(), "dedup x", "finds links such as http://h/a"),
    ] {
        let hint = hint(head, typed);
        assert!(hint.ends_with(expected), "{hint}");
    }
}

#[test]
fn examples_show_no_secrets() {
    let password = "x".repeat(90);
    for head in [
        format!("http://u:{password}@h/a b\n"),
        format!("see http://u:{password}@h/a b c\n"),
        format!("\"http://u:{password}@h/a\"\n"),
        format!("hxxp://u:{password}@h[.]com/\n"),
    ] {
        let hint = hint_of_bad(&head, "dedup x").unwrap();
        assert!(!hint.contains("xxx") && hint.contains(":***@"), "{hint}");
    }
    let list = "example.com/a;jsessionid=secret123\n";
    let hint = hint_of(&[("x", list)], [1, 1, 0], "dedup x").unwrap();
    assert!(hint.contains("such as ") && !hint.contains("secret123"), "{hint}");
}

#[test]
fn links_are_read_from_json_and_rows_from_its_lines() {
    let lines = "{\"url\":\"http://h/\",\"x\":1}\n";
    for (typed, how) in [
        (
            "normalize --redact -",
            "uriscan normalize --extract --link-column url --from json --redact -",
        ),
        ("audit -", "uriscan audit --extract --link-column url --from json -"),
    ] {
        let hint = hint(lines, "-", true, typed).unwrap();
        assert!(hint.ends_with(&format!("Try `{how}`")), "{hint}");
    }
}

#[test]
fn a_table_separated_by_semicolons_is_reported_with_the_delimiter() {
    let csv = "url;t\nhttp://h/;1\nhttp://i/;2\n";
    for name in ["x", "x.csv"] {
        for is_odd in [false, true] {
            let hint = hint(csv, name, is_odd, &format!("dedup {name}")).unwrap();
            let from = if name == "x" { " --from csv" } else { "" };
            let how = format!("Try `uriscan dedup --column url --delimiter ';'{from} {name}`");
            assert!(hint.contains("CSV with the columns url, t separated by ;"), "{hint}");
            assert!(hint.ends_with(&how), "{hint}");
        }
    }
    for (typed, how) in [
        ("census x", "uriscan census --column url --delimiter ';' --from csv x"),
        ("dedup --iri x", "uriscan dedup --extract --link-column url --from csv --iri x"),
        ("extract x", "uriscan extract --link-column url --from csv x"),
    ] {
        let hint = hint(csv, "x", true, typed).unwrap();
        assert!(hint.ends_with(&format!("Try `{how}`")), "{hint}");
    }
    assert_eq!(super::tests::hint("http://h/a;b\nhttp://h/c;d\n", "x", false, "dedup x"), None);
}

#[test]
fn rows_without_a_base_or_a_reference_are_counted_and_the_first_is_explained() {
    let hint = |head: &str, fields: &Fields, [records, missing, others]: [u64; 3]| {
        let mut report = Report::default();
        report.records = records;
        report.invalid.add_many(UriErrorKind::Field, missing);
        report.invalid.add_many(UriErrorKind::Space, others);
        let head = head.as_bytes().to_vec();
        of_rows(&[Beginning { name: "-".to_owned(), head, end: b'\n' }], fields, &report)
    };
    let jsonl = Fields::Jsonl { base: "page".to_owned(), reference: "a.link".to_owned() };
    let tsv = Fields::Tsv { base: 1, reference: 2 };
    for (head, fields, expected) in [
        (
            "\n{\"page\":\"http://x/\",\"href\":\"a\"}\n",
            &jsonl,
            "1 of 1 row has no base or no reference, the first at -:2: no text in member a.link; its members are href, page",
        ),
        (
            "{\"a\":{\"link\":\"x\"}}\n",
            &jsonl,
            "1 of 1 row has no base or no reference, the first at -:1: no text in member page; its members are a",
        ),
        (
            "http://h/\ta\n",
            &jsonl,
            "1 of 1 row has no base or no reference, the first at -:1: it is not a JSON object; --from tsv reads columns separated by tabs",
        ),
        (
            "http://h/ a\n",
            &tsv,
            "1 of 1 row has no base or no reference, the first at -:1: it has 1 column separated by tabs, and column 2 is wanted; --from jsonl reads members",
        ),
    ] {
        assert_eq!(hint(head, fields, [1, 1, 0]).as_deref(), Some(expected));
    }
    assert_eq!(hint("http://h/\ta\nb\n", &tsv, [2, 1, 0]), None);
    let other = hint("http://h/\ta b\n", &tsv, [1, 0, 1]).unwrap();
    assert!(other.starts_with("1 of 1 row has no target"), "{other}");
}

#[test]
fn a_table_of_hosts_and_their_ranks_is_searched_for_hosts() {
    let ranks = "1,google.com\n2,www.facebook.com\n3,x.co.uk\n";
    for (head, name, typed, how) in [
        (ranks, "top.csv", "dedup top.csv", "uriscan dedup --extract --bare-hosts top.csv"),
        (ranks, "top.csv", "extract top.csv", "uriscan extract --bare-hosts top.csv"),
        (
            &ranks.replace(',', "\t"),
            "-",
            "census",
            "uriscan census --extract --from tsv --bare-hosts",
        ),
        ("1,http://h/\n2,google.com\n", "x.csv", "dedup x.csv", "uriscan dedup --extract x.csv"),
        ("1,a b\n2,c d\n", "x.csv", "dedup x.csv", "uriscan dedup --extract x.csv"),
    ] {
        let hint = hint(head, name, true, typed).unwrap();
        assert!(hint.ends_with(&format!("Try `{how}`")), "{hint}");
    }
}

#[test]
fn a_hint_counts_the_values_that_are_not_uris_and_names_what_completes_them() {
    let hint = |kind, typed: &str| {
        let mut report = Report::default();
        report.records = 3;
        report.invalid.add_many(kind, 2);
        of_column("url", &report, &Call::of(typed.split(' ').map(str::to_owned).collect()))
    };
    for (kind, typed, expected) in [
        (
            UriErrorKind::Space,
            "dedup --column url x",
            "2 of 3 values of column url are not URIs (space: 2)",
        ),
        (
            UriErrorKind::Relative,
            "dedup --column url x",
            "2 of 3 values of column url are not URIs (relative: 2). For hosts without a scheme, try `uriscan dedup \
             --suffix-scheme https --column url x`; for paths, --base URL",
        ),
        (
            UriErrorKind::Relative,
            "dedup --base http://h/ --column url x",
            "2 of 3 values of column url are not URIs (relative: 2)",
        ),
    ] {
        assert_eq!(hint(kind, typed).as_deref(), Some(expected));
    }
    for typed in [
        "check --column url x",
        "dedup --on-invalid drop --column url x",
        "key --as surt --column url x",
    ] {
        assert_eq!(hint(UriErrorKind::Space, typed), None, "{typed}");
    }
}

#[test]
fn a_header_that_has_a_url_or_a_host_in_the_place_of_a_name_may_be_a_row() {
    for (text, (number, separator), may_be_row) in [
        ("1,google.com\n2,x.com\n", (2, b','), true),
        ("1;http://h/\n2;http://i/\n", (2, b';'), true),
        ("1|http://h/\n2|http://i/\n", (2, b'|'), true),
        ("1|http://h/\n2|http://i/\n", (1, b'|'), false),
        ("\u{FEFF}http://h/ a\t1\nx.com\t2\n", (1, b'\t'), true),
        ("id,url\n1,http://h/\n", (2, b','), false),
        ("1.0,url.v2\n1,a b\n", (2, b','), false),
        ("1.5,a\n2.5,b\n", (1, b','), false),
        ("file.name (old),a\nx.y,b\n", (1, b','), false),
        ("google.com\n", (1, b','), false),
        ("a,b.com\nc,d.com\n", (7, b','), false),
        ("a.b\nc.d\n", (0, b','), false),
        ("", (1, b','), false),
    ] {
        let beginning = Beginning::of_stdin(text.as_bytes(), b'\n').unwrap();
        let hint = of_header(&beginning, number, separator);
        assert_eq!(hint.is_some(), may_be_row, "{text:?} {hint:?}");
        assert!(hint.is_none_or(|hint| hint.ends_with("; --no-header reads it as a row")));
    }
}
