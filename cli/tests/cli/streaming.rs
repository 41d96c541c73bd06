//! A producer that writes a line and waits gets the answer to it before it writes the next one.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Far longer than an answer takes on a machine that is busy.
const MOST: Duration = Duration::from_secs(60);

struct Stream {
    program: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

/// Starts the program; its lines of output arrive as they are written.
fn start(arguments: &[&str]) -> Stream {
    let mut program = Command::new(env!("CARGO_BIN_EXE_uriscan"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = BufReader::new(program.stdout.take().unwrap());
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in output.lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let input = program.stdin.take();
    Stream { program, input, lines }
}

impl Stream {
    fn write(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).and_then(|()| input.flush()).unwrap();
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(MOST).expect("an answer before the next line")
    }

    fn end(mut self) -> Vec<String> {
        self.input = None;
        let rest = self.lines.iter().collect();
        assert!(self.program.wait().unwrap().success());
        rest
    }
}

#[test]
fn each_line_is_answered_before_the_next_one() {
    for (arguments, expected) in [
        (&["dedup"][..], "HTTP://h/1"),
        (&["dedup", "-j1", "--emit", "normalized"], "http://h/1"),
        (&["dedup", "--rule", "www"], "HTTP://h/1"),
        (&["dedup", "--extract", "--from", "text"], "HTTP://h/1"),
        (&["normalize"], "http://h/1"),
        (&["key"], ""),
        (&["parse", "--to", "jsonl"], ""),
        (&["resolve", "--base", "http://h/"], "HTTP://h/1"),
        (&["extract", "--from", "text"], "HTTP://h/1"),
        (&["extract"], "HTTP://h/1"),
        (&["dedup", "--extract"], "HTTP://h/1"),
        (&["extract", "-n"], "1:HTTP://h/1"),
    ] {
        let mut stream = start(arguments);
        for i in 1..=3 {
            stream.write(&format!("HTTP://h/{i}\n"));
            let answer = stream.line();
            if !expected.is_empty() {
                let expected = expected.replace('1', &i.to_string());
                assert_eq!(answer, expected, "{arguments:?}");
            }
        }
        assert_eq!(stream.end(), [""; 0], "{arguments:?}");
    }
}

#[test]
fn a_line_in_pieces_is_one_line_and_what_is_whole_does_not_wait_for_it() {
    let mut stream = start(&["dedup"]);
    stream.write("http://h/a\nhttp://h");
    assert_eq!(stream.line(), "http://h/a");
    stream.write("/b");
    assert!(stream.lines.recv_timeout(Duration::from_millis(100)).is_err());
    stream.write("\nhttp://h/c\nhttp://h/b\nlast");
    assert_eq!((stream.line(), stream.line()), ("http://h/b".into(), "http://h/c".into()));
    assert_eq!(stream.end(), ["last"]);
}

#[test]
fn a_short_line_is_not_held_back_to_find_out_what_the_input_is() {
    let mut stream = start(&["normalize", "--base", "http://h/"]);
    stream.write("a\n");
    assert_eq!(stream.line(), "http://h/a");
    assert_eq!(stream.end(), [""; 0]);
}

#[test]
fn a_named_pipe_streams_and_what_came_before_it_does_not_wait_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let (pipe, list) = (folder.path().join("pipe"), folder.path().join("list.txt"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::fs::write(&list, "http://h/0\n").unwrap();
    let stream = start(&["dedup", list.to_str().unwrap(), pipe.to_str().unwrap()]);
    assert_eq!(stream.line(), "http://h/0");
    let mut writer = std::fs::File::options().write(true).open(&pipe).unwrap();
    for i in 1..=3 {
        writer.write_all(format!("http://h/{i}\n").as_bytes()).unwrap();
        assert_eq!(stream.line(), format!("http://h/{i}"));
    }
    drop(writer);
    assert_eq!(stream.end(), [""; 0]);
}

#[test]
fn a_log_that_grows_is_read_as_a_log() {
    let mut stream = start(&["extract", "--log-field", "referer"]);
    for i in 1..=3 {
        stream.write(&format!(
            "h - - [10/Oct/2000:13:55:36 -0700] \"GET /no HTTP/1.0\" 200 1 \"http://r/{i}\" \"http://agent/\"\n"
        ));
        assert_eq!(stream.line(), format!("http://r/{i}"));
    }
    assert_eq!(stream.end(), [""; 0]);
}

#[test]
fn records_that_end_in_nul_decide_the_format_too() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_uriscan"))
        .args(["extract", "-0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = program.stdin.take().unwrap();
    // So many that it cannot be the head of a tar archive.
    input.write_all(&b"see http://h/1\0".repeat(40)).unwrap();
    let mut output = program.stdout.take().unwrap();
    let (sender, found) = channel();
    std::thread::spawn(move || {
        let mut record = [0; 11];
        let read = std::io::Read::read_exact(&mut output, &mut record);
        sender.send(read.map(|()| record))
    });
    assert_eq!(
        found.recv_timeout(MOST).expect("an answer before the end").unwrap(),
        *b"http://h/1\0"
    );
    drop(input);
    assert!(program.wait().unwrap().success());
}

/// What `uriscan extract` with `arguments` writes of `pieces`, between which the producer pauses: its output and messages.
fn extracted(arguments: &[&str], pieces: &[&str]) -> (String, String) {
    paused(&[&["extract"], arguments].concat(), pieces)
}

/// [`extracted`] for any command.
fn paused(arguments: &[&str], pieces: &[&str]) -> (String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_uriscan"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = program.stdin.take().unwrap();
    for (i, piece) in pieces.iter().enumerate() {
        if i > 0 {
            std::thread::sleep(Duration::from_millis(400));
        }
        input.write_all(piece.as_bytes()).unwrap();
    }
    drop(input);
    let ran = program.wait_with_output().unwrap();
    (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap())
}

#[test]
fn pauses_change_no_result_or_are_reported() {
    const TOLD: &str = "looked like another format then: --from names the right one";
    let cases: [(&str, &[&str], &[&str], bool); 7] = [
        (
            "a page",
            &["--base", "http://b/"],
            &["<!doctype html>\n", "<a href=x>", "<a href=y>"],
            false,
        ),
        ("JSON", &[], &["{\"u\":\"http:\\/\\/h\\/1\"}\n", "{\"u\":\"http:\\/\\/h\\/2\"}\n"], false),
        ("text", &[], &["see http://h/1\n", "see http", "://h/2 and\n"], false),
        ("a line in pieces", &[], &["<!doc", "type html>\n<a href=http://h/1>"], false),
        (
            "a table",
            &["--from", "csv", "--link-column", "u"],
            &["a,", "u\n", "http://no/,http://h/1\n"],
            false,
        ),
        (
            "a mailbox",
            &[],
            &["From a@b Thu Jan  1 00:00:00 1970\n", "Subject: x\n\nhttp://h/=\n"],
            true,
        ),
        ("a message", &[], &["Subject: x\n", "From: a@b\nDate: x\nTo: c@d\n\nhttp://h/1\n"], true),
    ];
    std::thread::scope(|scope| {
        for (what, arguments, pieces, may_be_told) in cases {
            scope.spawn(move || {
                let whole = extracted(arguments, &[&pieces.concat()]);
                let paused = extracted(arguments, pieces);
                assert_eq!(whole.1, "", "{what}");
                match may_be_told {
                    false => assert_eq!(paused, whole, "{what}"),
                    true => {
                        assert!(paused == whole || paused.1.contains(TOLD), "{what}: {paused:?}");
                    }
                }
            });
        }
    });
    let reported = extracted(&[], &["Subject: x\n", "From: a@b\nDate: x\nTo: c@d\n\nhttp://h/1\n"]);
    assert!(reported.1.contains(TOLD), "{reported:?}");
}

#[test]
fn a_format_that_is_decided_too_early_is_reported_by_every_command_that_extracts() {
    const TOLD: &str = "looked like another format then: --from names the right one";
    let pieces = ["Subject: x\n", "From: a@b\nDate: x\nTo: c@d\n\nhttp://h/1\n"];
    for command in ["dedup", "normalize", "check", "census"] {
        // It may start so late that both pieces are there.
        let mut tries = (0..5).map(|_| paused(&[command, "--extract"], &pieces).1);
        assert!(tries.any(|reported| reported.contains(TOLD)), "{command}");
        let (_, reported) = paused(&[command, "--extract"], &[&pieces.concat()]);
        assert!(!reported.contains(TOLD), "{command}: {reported}");
    }
}
