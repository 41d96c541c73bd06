//! What a record is: line ends, white space, byte order marks, NUL.

use crate::run::run;

#[test]
fn crlf_and_white_space_are_no_part_of_a_record() {
    let input = "http://h/a\r\n \thttp://h/a \n\r\n\n  \nhttp://h/b";
    assert_eq!(run(["dedup"], input).quiet(), "http://h/a\nhttp://h/b\n");
    let lines = run(["normalize"], input).quiet();
    assert_eq!(lines, "http://h/a\nhttp://h/a\n\n\n\nhttp://h/b\n", "blank lines keep their place");
}

#[test]
fn a_last_line_without_an_end_counts() {
    assert_eq!(run(["dedup"], "a:1\na:2").quiet(), "a:1\na:2\n");
    assert_eq!(run(["dedup"], "a:1").quiet(), "a:1\n");
    assert_eq!(run(["dedup"], "").quiet(), "");
    assert_eq!(run(["normalize"], "\n\n").quiet(), "\n\n");
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_start_only() {
    let input = "\u{FEFF}http://h/\nhttp://h/\n\u{FEFF}http://h/\n";
    assert_eq!(run(["dedup"], input).quiet(), "http://h/\n\u{FEFF}http://h/\n");
}

#[test]
fn nul_ends_records_on_request() {
    let input = "HTTP://h/\0http://h\0http://h/x\n\0b:\0";
    assert_eq!(run(["dedup", "-0"], input).quiet(), "HTTP://h/\0http://h/x\0b:\0");
    assert_eq!(
        run(["normalize", "--null"], input).quiet(),
        "http://h/\0http://h/\0http://h/x\0b:\0"
    );
    let keys = run(["key", "-0"], input).quiet();
    assert_eq!(keys.split_terminator('\0').map(str::len).collect::<Vec<_>>(), [32; 4]);
}

#[test]
fn a_lone_cr_inside_a_record_is_a_control_character() {
    let ran = run(["dedup", "--on-invalid", "error"], "http://h/\nhttp://h/a\rb\n");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("-:2: control at column 11"), "{}", ran.stderr);
}
