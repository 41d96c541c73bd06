//! Archives, documents, and compressed data with something after their end.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::run::{Place, finish, run};

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut to = GzEncoder::new(Vec::new(), Compression::fast());
    to.write_all(text).unwrap();
    to.finish().unwrap()
}

/// A tar archive of one small file.
fn tar() -> Vec<u8> {
    let mut tar = vec![0; 2048];
    tar[..8].copy_from_slice(b"urls.txt");
    tar[100..107].copy_from_slice(b"0000644");
    tar[124..135].copy_from_slice(b"00000000012");
    tar[257..265].copy_from_slice(b"ustar\x0000");
    tar[148..156].fill(b' ');
    let sum: u32 = tar[..512].iter().copied().map(u32::from).sum();
    tar[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    tar[512..522].copy_from_slice(b"http://h/\n");
    tar
}

fn zip(first: &str, content: &str) -> Vec<u8> {
    let mut head = b"PK\x03\x04\x14\0\0\0\0\0".to_vec();
    head.resize(26, 0);
    head.extend([first.len() as u8, 0, 0, 0]);
    [&head[..], first.as_bytes(), content.as_bytes()].concat()
}

fn files() -> Vec<(&'static str, Vec<u8>, &'static str, &'static str)> {
    vec![
        ("a.zip", zip("a", "http://h/\n"), "a zip archive", "unzip -p FILE"),
        ("a.docx", zip("[Content_Types].xml", "<?xml"), "an Office document", "save it as HTML"),
        ("a.epub", zip("mimetype", "application/epub+zip"), "an EPUB book", "unzip -p FILE"),
        ("a.7z", b"7z\xBC\xAF\x27\x1C\0\x04http://h/\n".to_vec(), "a 7z archive", "7z x -so"),
        ("a.pdf", b"%PDF-1.7\nhttp://h/\n".to_vec(), "a PDF document", "pdftotext FILE -"),
        ("a.tar", tar(), "a tar archive", "tar -xOf FILE"),
        ("a.tar.gz", gzip(&tar()), "a tar archive", "tar -xOf FILE"),
        ("a.zip.gz", gzip(&zip("a", "http://h/\n")), "a zip archive", "unzip -p FILE"),
    ]
}

#[test]
fn archives_and_documents_are_refused_by_every_command() {
    let commands: [&[&str]; 10] = [
        &["dedup"],
        &["dedup", "--extract"],
        &["normalize"],
        &["key"],
        &["parse"],
        &["check"],
        &["census"],
        &["audit"],
        &["extract"],
        &["resolve", "--base", "http://h/"],
    ];
    let place = Place::new(&[]);
    for (name, bytes, what, advice) in files() {
        fs::write(place.path(name), &bytes).unwrap();
        for command in commands {
            let message = |ran: crate::run::Ran, name: &str| {
                assert_eq!((ran.code, ran.text()), (2, ""), "{command:?} {name}: {}", ran.stderr);
                let start = format!("uriscan: {name}: is {what}");
                assert!(ran.stderr.starts_with(&start), "{command:?}: {}", ran.stderr);
                assert!(ran.stderr.contains(advice), "{}", ran.stderr);
                assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
            };
            message(finish(place.command(&[command, &[name]].concat()), ""), name);
            // Several files are opened ahead of their turn.
            if command[0] == "extract" {
                let ran = finish(place.command(&[command, &[name, name]].concat()), "");
                assert_eq!((ran.code, ran.text(), ran.stderr.lines().count()), (2, "", 2));
            }
            message(run(command, &bytes), "-");
        }
    }
}

#[test]
fn other_files_are_searched_and_walked_ones_passed_over() {
    let place = Place::new(&[("z.txt", "see http://h/z\n")]);
    for (name, bytes, ..) in files() {
        fs::write(place.path(name), &bytes).unwrap();
    }
    let ran = place.run(&["extract", "a.zip", "z.txt", "a.tar.gz"], "");
    assert_eq!((ran.code, ran.text()), (2, "http://h/z\n"), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 2, "{}", ran.stderr);
    // Below a directory they are passed over and counted like other binary files.
    let ran = place.run(&["extract", "--stats", "."], "");
    assert_eq!((ran.code, ran.text()), (0, "http://h/z\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("{}  files skipped", files().len())), "{}", ran.stderr);
}

#[test]
fn tables_are_not_read_from_archives() {
    let place = Place::new(&[]);
    for (name, bytes, what, _) in files() {
        fs::write(place.path(name), &bytes).unwrap();
        for format in ["csv", "tsv", "jsonl", "arrow-stream"] {
            let args = ["dedup", "--column", "1", "--from", format, "--to", "csv", name];
            let message = place.run(&args, "").refused();
            assert!(message.starts_with(&format!("uriscan: {name}: is {what}")), "{message}");
        }
    }
}

#[test]
fn a_file_refused_late_costs_nothing_before_it() {
    let place = Place::new(&[("a", "a:1\n"), ("out", "old")]);
    fs::write(place.path("a.tar.gz"), gzip(&tar())).unwrap();
    let ran = place.run(&["normalize", "a", "a.tar.gz"], "");
    assert_eq!((ran.code, ran.text()), (2, "a:1\n"), "{}", ran.stderr);
    place.run(&["normalize", "a", "a.tar.gz", "-o", "out"], "").refused();
    assert_eq!(place.read("out"), "old");
}

#[test]
fn gzip_may_be_padded_and_garbage_is_an_error_after_the_lines_before_it() {
    let packed = gzip(b"http://h/1\nhttp://h/2\n");
    let padded = [&packed[..], &[0; 1000]].concat();
    assert_eq!(run(["normalize"], &padded).quiet(), "http://h/1\nhttp://h/2\n");
    let garbage = [&packed[..], b"http://h/no\n"].concat();
    for command in [&["normalize"][..], &["dedup"], &["extract"]] {
        let ran = run(command, &garbage);
        assert_eq!((ran.code, ran.text()), (2, "http://h/1\nhttp://h/2\n"), "{}", ran.stderr);
        let what = format!(
            "uriscan: -: gzip data is followed by something else at byte {}, byte 22 of the decompressed data\n",
            packed.len()
        );
        assert_eq!(ran.stderr, what);
    }
}

/// `text` in UTF-16 with a byte order mark, as programs of Windows write it.
fn in_utf16(text: &str, is_little: bool) -> Vec<u8> {
    let bytes = if is_little { u16::to_le_bytes } else { u16::to_be_bytes };
    "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(bytes).collect()
}

#[test]
fn text_in_utf_16_is_read_by_every_command() {
    let list = "http://h/a\r\nHTTP://h/a\r\nhttp://h/\u{E9}\r\n";
    let table = "id,url\r\n1,http://h/\r\n";
    let lines = "{\"url\":\"http://h/\"}\n";
    let page = "<!doctype html>\n<a href=\"http://h/x\">";
    let place = Place::new(&[]);
    for (name, text) in [("u.txt", list), ("t.csv", table), ("t.jsonl", lines), ("p.html", page)] {
        std::fs::write(place.path(name), text).unwrap();
        std::fs::write(place.path(&format!("le-{name}")), in_utf16(text, true)).unwrap();
        std::fs::write(place.path(&format!("be-{name}")), in_utf16(text, false)).unwrap();
        let packed = gzip(&in_utf16(text, true));
        std::fs::write(place.path(&format!("gz-{name}")), packed).unwrap();
    }
    for call in [
        "dedup u.txt",
        "dedup --iri u.txt",
        "dedup --host h u.txt",
        "normalize u.txt",
        "check -q u.txt",
        "parse u.txt",
        "audit --redact u.txt",
        "top u.txt",
        "key u.txt",
        "resolve --base http://h/ u.txt",
        "extract u.txt",
        "extract --from csv t.csv",
        "extract --link-column url t.csv",
        "extract t.jsonl",
        "extract p.html",
        "dedup --extract p.html",
        "dedup --column url t.csv",
        "dedup --column url t.jsonl",
    ] {
        let args = |before: &str| -> Vec<String> {
            let is_file = |word: &str| ["u.txt", "t.csv", "t.jsonl", "p.html"].contains(&word);
            let each = call.split(' ');
            each.map(|word| if is_file(word) { format!("{before}{word}") } else { word.into() })
                .collect()
        };
        let run = |before: &str| {
            let args = args(before);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            place.run(&args, "")
        };
        let expected = run("");
        assert!(!expected.stdout.is_empty(), "{call}: {}", expected.stderr);
        for before in ["le-", "be-", "gz-"] {
            let ran = run(before);
            let text = ran.text().replace(before, "");
            // Rows of tables keep their byte order mark, that of UTF-8 here.
            let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
            assert_eq!((ran.code, text), (expected.code, expected.text()), "{before}{call}");
        }
    }
    assert_eq!(
        place.run(&["extract", "-b", "le-u.txt"], "").quiet().lines().next(),
        Some("3:http://h/a")
    );
    // Files of a directory are text, too.
    std::fs::create_dir(place.path("d")).unwrap();
    std::fs::write(place.path("d/a.txt"), in_utf16("http://h/a\r\n", true)).unwrap();
    std::fs::write(place.path("d/b.txt"), "http://h/b\n").unwrap();
    std::fs::write(place.path("d/c.bin"), "http://h/c\0").unwrap();
    assert_eq!(place.run(&["extract", "d"], "").text(), "http://h/a\nhttp://h/b\n");
}

#[test]
fn what_is_compressed_several_times_is_decompressed() {
    let place = Place::new(&[]);
    let list = b"see http://h/a\n";
    let mut packed = list.to_vec();
    for level in 1..=5 {
        packed = gzip(&packed);
        std::fs::write(place.path("x"), &packed).unwrap();
        let ran = place.run(&["extract", "x"], "");
        match level {
            5 => {
                assert_eq!((ran.code, ran.text()), (2, ""));
                let what = "is compressed more than 4 times";
                assert!(ran.stderr.contains(what), "{}", ran.stderr);
            }
            _ => assert_eq!(ran.quiet(), "http://h/a\n", "{level}"),
        }
    }
    // What is truncated inside gives what there is.
    let inner = gzip(&b"http://h/a b\n".repeat(4000));
    std::fs::write(place.path("x"), gzip(&inner[..inner.len() - 9])).unwrap();
    let ran = place.run(&["extract", "x"], "");
    assert_eq!((ran.code, ran.text().starts_with("http://h/a\n")), (2, true));
    assert!(ran.stderr.contains("gzip data is truncated at byte"), "{}", ran.stderr);
}

#[test]
fn options_that_select_records_of_archives_count_sources_that_are_not_archives() {
    let files = [("t.txt", "see http://h/a\n"), ("p.html", "<a href='http://h/b'>"), ("empty", "")];
    let place = Place::new(&files);
    let how = "searched whole: --warc-field, --warc-type and --mime select records of archives\n";
    for options in [["--warc-type", "response"], ["--warc-field", "target"], ["--mime", "text/css"]]
    {
        let of = |args: &[&str]| {
            let ran = place.run(&[args, &options].concat(), "");
            (ran.stdout, ran.stderr)
        };
        let one = format!("uriscan: 1 source is not an archive and was {how}");
        assert_eq!(of(&["extract", "t.txt", "empty"]), ("http://h/a\n".into(), one));
        let two = format!("uriscan: 2 sources are not archives and were {how}");
        assert_eq!(of(&["dedup", "--extract", "t.txt", "p.html"]).1, two);
    }
}
