//! Hints by example.

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

fn told(head: &str, name: &str, is_odd: bool, typed: &str) -> Option<String> {
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
            "uriscan extract --base=http://h/ -q --iri ab -o out",
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
        (
            "id,url\n1,http://h/\n",
            "x.csv",
            "census x.csv",
            "uriscan census --extract --link-column url x.csv",
        ),
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
    ] {
        let told = told(head, name, true, typed).unwrap();
        assert!(told.ends_with(&format!("Try `{expected}`")), "{typed}: {told}");
    }
    let many = format!("top {}", "file ".repeat(1000));
    assert!(told(LOG, "file", true, &many).unwrap().ends_with(" file ...`"));
}

#[test]
fn a_table_that_is_read_as_lines_is_told_with_its_columns() {
    let list = |head, name| told(head, name, false, &format!("dedup {name}"));
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

fn told_of(inputs: &[(&str, &str)], counts: [u64; 3], typed: &str) -> Option<String> {
    let beginnings = inputs
        .iter()
        .map(|(name, head)| Beginning { name: (*name).to_owned(), head: head.as_bytes().to_vec() });
    let mut report = Report::default();
    let [records, relative, others] = counts;
    report.records = records;
    report.invalid.add_many(ErrorKind::Relative, relative);
    report.invalid.add_many(ErrorKind::Scheme, others);
    let call = Call::of(typed.split(' ').map(str::to_owned).collect());
    of_beginnings(&beginnings.collect::<Vec<_>>(), inputs.len() == 1, &report, &call)
}

#[test]
fn of_several_inputs_the_one_that_is_no_list_is_named() {
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
        assert_eq!(told_of(inputs, [6, 1, 2], typed).as_deref(), expected, "{typed}");
    }
}

#[test]
fn a_list_without_schemes_is_told_how_they_are_added() {
    const LIST: (&str, &str) = ("x", "example.com/a\nwww.example.org\nhttp://h/\n");
    let told = |typed| told_of(&[LIST], [3, 2, 0], typed);
    assert_eq!(
        told("set add s.set x").as_deref(),
        Some(
            "2 of 3 records have no scheme, such as example.com/a. Try `uriscan set add --suffix-scheme https s.set x`"
        )
    );
    // No hint: commands without the option, calls with one that excludes it, paths, and lists that mostly have schemes.
    for typed in ["check x", "dedup --base http://h/ x", "dedup --profile surt x"] {
        assert_eq!(told(typed), None, "{typed}");
    }
    assert_eq!(told_of(&[("x", "/a\n../b/c\n")], [2, 2, 0], "dedup x"), None);
    assert_eq!(told_of(&[LIST], [4, 2, 0], "dedup x"), None);
}
