//! `uriscan extract` on what nobody writes by hand: long lines, bytes that belong to no text, archives in pieces.

use crate::run::run;

/// Bytes of a long line.
const LONG: usize = 16 << 20;

/// Ways to run the same search.
const WAYS: [&[&str]; 3] = [
    &["-j1", "--chunk-size", "64K"],
    &["-j3", "--chunk-size", "1M"],
    &["-j2", "--backend", "scalar"],
];

fn extract(args: &[&str], how: &[&str], input: &[u8]) -> crate::run::Ran {
    run([&["extract"], args, how].concat(), input)
}

#[test]
fn a_line_of_sixteen_megabytes_is_a_line() {
    let far = [&b"x ".repeat(LONG / 2)[..], b"http://h/end. http://h/2\nhttp://h/3"].concat();
    let link = [&b"http://h/"[..], &b"a".repeat(LONG), b")\n"].concat();
    for how in WAYS {
        let ran = extract(&["-nb", "--from", "text"], how, &far);
        let expected = format!(
            "1:{LONG}:http://h/end\n1:{}:http://h/2\n2:{}:http://h/3\n",
            LONG + 14,
            LONG + 25
        );
        assert!(ran.quiet() == expected, "{how:?}");
        let ran = extract(&[], how, &link);
        assert!(
            ran.code == 0 && ran.stdout[..] == [&link[..link.len() - 2], b"\n"].concat(),
            "{how:?}"
        );
    }
}

#[test]
fn a_page_in_one_line_is_a_page() {
    let unit = b"<p class=\"a\">x</p><a href=\"/a\">";
    let page = [&b"<!doctype html>"[..], &unit.repeat(LONG / unit.len()), b"<a href='"].concat();
    for how in WAYS {
        let ran = extract(&["--base", "http://h/"], how, &page);
        assert!(ran.quiet() == "http://h/a\n".repeat(LONG / unit.len()), "{how:?}");
    }
    // An attribute of that length.
    let page = [&b"<a href=\""[..], &b" ".repeat(LONG), b"x:y\"><a href=x:z>"].concat();
    assert_eq!(extract(&["--from", "html"], &[], &page).quiet(), "x:y\nx:z\n");
}

#[test]
fn lines_above_the_limit_are_searched_in_pieces_or_reported() {
    let long = [&b"http://h/1\n"[..], &b"http://h/no ".repeat(6 << 20), b"\nhttp://h/2\n"].concat();
    for how in WAYS {
        let ran = extract(&[], how, &long);
        let expected =
            ["http://h/1\n".to_owned(), "http://h/no\n".repeat(6 << 20), "http://h/2\n".to_owned()];
        assert!(ran.quiet() == expected.concat(), "{how:?}");
    }
    // What is selected is not known in the middle of a line.
    let long = [
        &b"{\"u\":\"http://h/1\"}\n{\"x\":\""[..],
        &b"http://h/no ".repeat(6 << 20),
        b"\",\"u\":\"y:z\"}\n",
    ]
    .concat();
    let ran = extract(&["--from", "json", "--link-column", "u"], &[], &long);
    assert_eq!((ran.code, ran.text()), (2, "http://h/1\n"));
    assert!(
        ran.stderr.contains("1 line or document of more than 64 MiB was skipped"),
        "{}",
        ran.stderr
    );
}

#[test]
fn bytes_that_belong_to_no_text_end_links() {
    let odd = b"\0http://h/a\0http://h/b\xFF \xC3http://h/c\xC3\x28 \xED\xA0\x80 http://\xFEh/ http://h/d\x1B[0m";
    let expected = "http://h/a\nhttp://h/b\nhttp://h/c\nhttp://h/d\n";
    for how in WAYS {
        for args in
            [&["--from", "text"][..], &["--unicode"], &["--from", "csv"], &["--from", "tsv"]]
        {
            assert_eq!(extract(args, how, odd).quiet(), expected, "{args:?} {how:?}");
        }
        let quoted = [b"{\"a\":\"", &odd[..], b"\"}"].concat();
        assert_eq!(extract(&["--from", "json"], how, &quoted).quiet(), expected, "{how:?}");
        // What a page holds is percent-encoded, as browsers do.
        let page = b"<a href=\"http://h/\xFF\0\"><a \xFFhref=x:n href='x:\xC3'>";
        let found = extract(&["--from", "html"], how, page).quiet();
        assert_eq!(found, "http://h/%FF%00\nx:%C3\n", "{how:?}");
    }
}

#[test]
fn archives_with_broken_headers_are_passed_over() {
    let body = "see http://h/good";
    let record = format!(
        "WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n",
        body.len()
    );
    let endless = [&b"WARC/1.0\r\n"[..], &b"X: http://h/no\r\n".repeat(2 << 16)].concat();
    for (bad, faults) in [
        (&endless[..], 1),
        (b"WARC/1.0\r\nContent-Length: 12\r\n", 1),
        (b"WARC/1.0\r\nContent-Length: \xFF\r\n\r\n", 1),
        (b"WARC/1.0 \0\0\0\r\n\r\n", 1),
        (b"\x1F\x8B http://h/no\n", 1),
    ] {
        let archive = [record.as_bytes(), bad, record.as_bytes()].concat();
        for how in WAYS {
            let ran = extract(&[], how, &archive);
            assert_eq!((ran.code, ran.text()), (2, "http://h/good\nhttp://h/good\n"), "{bad:.30?}");
            let reported = match faults {
                1 => "uriscan: 1 part of an archive is not a record\n".to_owned(),
                _ => format!("uriscan: {faults} parts of archives are not records\n"),
            };
            assert!(ran.stderr.contains(&reported), "{how:?} {}", ran.stderr);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn files_beside_the_input_have_a_limit() {
    let place = crate::run::Place::new(&[("in", "a:1\n"), ("set.set", "")]);
    std::fs::File::create(place.path("long")).unwrap().set_len(1 << 40).unwrap();
    for name in ["/dev/zero", "long"] {
        for args in [["extract", "--files-from", name], ["dedup", "in", "--rules"]] {
            let args =
                if args[2] == "--rules" { [&args[..], &[name]].concat() } else { args.to_vec() };
            let message = place.run(&args, "").refused();
            assert!(message.contains(&format!("{name}: is longer than")), "{message}");
        }
    }
    let message =
        place.run(&["dedup", "in", "--level", "protocol", "--aliases", "/dev/zero"], "").refused();
    assert!(message.contains("/dev/zero: is not a regular file"), "{message}");
}

#[test]
fn no_uri_of_the_input_is_dereferenced() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let uri = format!("http://{}/x", server.local_addr().unwrap());
    let page = format!("<base href={uri}><a href={uri}>x</a><img src=y>{uri}");
    let place = crate::run::Place::new(&[("list", &format!("{uri}\n")), ("page.html", &page)]);
    for arguments in [
        &["dedup", "list"][..],
        &["dedup", "--report", "report.html", "list"],
        &["dedup", "--extract", "page.html"],
        &["normalize", "list"],
        &["key", "list"],
        &["resolve", "--base", &uri, "list"],
        &["parse", "list"],
        &["check", "list"],
        &["audit", "list"],
        &["extract", "page.html", "list"],
        &["census", "list"],
        &["top", "list"],
        &["explain", &uri],
        &["set", "create", "seen", "list"],
        &["dedup", "--column", "1", "--from", "csv", "list"],
    ] {
        let ran = place.run(arguments, "");
        assert!(ran.code < 2, "{arguments:?}: {}", ran.stderr);
    }
    let asked = server.accept().map_err(|error| error.kind());
    assert_eq!(asked.err(), Some(std::io::ErrorKind::WouldBlock));
}
