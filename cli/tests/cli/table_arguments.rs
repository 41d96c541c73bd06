//! Tables where there is no word of them: given as text.

use crate::run::Place;

const ADVICE: &str = "commands that read tables need --column, its column of URIs";

#[test]
fn tables_are_not_taken_for_text() {
    let place = Place::new(&[
        ("t.parquet", "PAR1\u{15}\u{4}\u{15}PAR1"),
        ("t.arrow", "ARROW1\0\0x"),
        ("list.txt", "PAR1/x\nARROW1\n"),
        ("short.txt", "PAR1"),
    ]);
    for (name, format) in [("t.parquet", "Parquet"), ("t.arrow", "Arrow")] {
        let wrong = |name: &str| {
            format!("uriscan: {name}: is a table in format {format}, not text; {ADVICE}")
        };
        for command in ["dedup", "normalize", "census", "check"] {
            assert_eq!(place.run(&[command, "list.txt", name], "").refused(), wrong(name));
            assert_eq!(place.run(&[command], &place.read(name)).refused(), wrong("-"));
        }
        // Of documents the others are read.
        let ran = place.run(&["extract", name, "list.txt"], "");
        assert_eq!((ran.code, ran.stderr), (2, wrong(name) + "\n"));
    }
    assert_eq!(
        place.run(&["dedup", "-q", "list.txt", "short.txt"], "").quiet(),
        "PAR1/x\nARROW1\nPAR1\n"
    );
    for input in ["", "P", "PAR1\n", "http://h/\n"] {
        let expected =
            if input.is_empty() { String::new() } else { input.trim_end().to_owned() + "\n" };
        assert_eq!(place.run(&["dedup", "-q"], input).quiet(), expected);
    }
}
