//! `dedup`, `normalize` and `key`: what is one, and what is written.

use uriscan::key::{PublicHash, PublicHasher};

use crate::run::run;

const LADDER: &str = "http://h/%7ea\nhttp://h/~a\nHTTP://H/~a\nhttp://h:80/~a\nhttp://h/~a\n";

/// The first 16 bytes of a hash, in hexadecimal.
fn hex(hash: &[u8]) -> String {
    hash[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn blake3_of(text: &str) -> String {
    hex(blake3::hash(text.as_bytes()).as_bytes())
}

fn sha256_of(text: &str) -> String {
    use sha2::{Digest, Sha256};
    hex(&Sha256::digest(text))
}

#[test]
fn levels_merge_more_and_more() {
    let level = |level| run(["dedup", "--level", level], LADDER).quiet();
    let string = "http://h/%7ea\nhttp://h/~a\nHTTP://H/~a\nhttp://h:80/~a\n";
    assert_eq!(level("string"), string);
    assert_eq!(level("syntax"), "http://h/%7ea\nhttp://h:80/~a\n");
    assert_eq!(level("scheme"), "http://h/%7ea\n");
    assert_eq!(run(["dedup"], LADDER).quiet(), level("scheme"), "the default");
}

#[test]
fn the_first_of_a_class_is_kept_in_input_order() {
    let input = "HTTP://h\nb:x\nhttp://h/\na:x\nB:x\n";
    assert_eq!(run(["dedup"], input).quiet(), "HTTP://h\nb:x\na:x\n");
    let normalized = run(["dedup", "--emit", "normalized"], input).quiet();
    assert_eq!(normalized, "http://h/\nb:x\na:x\n");
}

#[test]
fn fragments_count_unless_ignored() {
    let input = "http://h/#a\nhttp://h/#b\nhttp://h/\nhttp://h/#\n";
    assert_eq!(run(["dedup"], input).quiet(), input);
    assert_eq!(run(["dedup", "--drop-fragment"], input).quiet(), "http://h/#a\n");
    let normalized = run(["normalize", "--drop-fragment"], input).quiet();
    assert_eq!(normalized, "http://h/\n".repeat(4));
    let keys = run(["key", "--drop-fragment"], input).quiet();
    assert!(keys.lines().all(|key| Some(key) == keys.lines().next()), "{keys}");
}

#[test]
fn keys_are_equal_when_uris_are_and_only_then() {
    let keys = run(["key"], LADDER).quiet();
    let keys: Vec<&str> = keys.lines().collect();
    assert_eq!(keys.len(), 5);
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    assert!(keys.iter().all(|key| key.len() == 32 && key.bytes().all(is_hex)), "{keys:?}");
    assert!(keys.iter().all(|key| *key == keys[0]));
    let keys = run(["key", "--level", "string"], LADDER).quiet();
    let keys: Vec<&str> = keys.lines().collect();
    assert_eq!(keys[1], keys[4]);
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[2] != keys[3]);
}

#[test]
fn keys_are_the_hashes_that_anyone_can_compute() {
    let keys = |args: &[&str]| run([&["key"], args].concat(), LADDER).quiet();
    // printf %s http://example.com/a%2Fb/~c | b3sum --length 16; and sha256sum, the first 32 digits.
    for (args, first) in [
        (&[][..], blake3_of("http://example.com/")),
        (&["--hash", "blake3"], blake3_of("http://example.com/")),
        (&["--hash", "sha256"], sha256_of("http://example.com/")),
    ] {
        let written = run([&["key"], args].concat(), "HTTP://Example.com:80\n").quiet();
        assert_eq!(written, format!("{first}\n"), "{args:?}");
        assert_eq!(keys(args), keys(args), "every run gives the same");
    }
    // Rules are mixed in by a text that the program prints.
    let rules = ["--rule", "www", "--rule", "fragment"];
    let context = run([&["key", "--context"], &rules[..]].concat(), "").quiet();
    assert!(context.starts_with("uriscan key\ngrammar "), "{context}");
    let context = context.strip_suffix('\n').unwrap();
    let key = run([&["key"], &rules[..]].concat(), "http://www.example.com/#x\n").quiet();
    let derived = blake3::derive_key(context, b"http://example.com/");
    assert_eq!(key, format!("{}\n", hex(&derived)));
    let key =
        run([&["key", "--hash", "sha256"], &rules[..]].concat(), "http://example.com/\n").quiet();
    assert_eq!(key, format!("{}\n", sha256_of(&format!("{context}\n\nhttp://example.com/"))));
    assert_eq!(run(["key", "--context"], "").quiet(), "");
    // A blank line keeps its place here too.
    let lines = run(["key"], "a:\n\nb:\n").quiet();
    assert_eq!(lines.lines().map(str::len).collect::<Vec<_>>(), [32, 0, 32]);
}

#[test]
fn keys_are_those_of_the_library() {
    let keys = run(["key"], "HTTP://h\nno uri\n").quiet();
    let hasher = PublicHasher::new(PublicHash::Blake3);
    let expected = format!("{}\n{}\n", hasher.key(b"http://h/"), hasher.key(b"no uri"));
    assert_eq!(keys, expected);
}

#[test]
fn keys_to_sort_by() {
    let input = "http://u@www.Example.com:81/A/?b=2&a=1#f\n\nno uri\nmailto:A@B.example\n";
    let key = |form: &str| run(["key", "--as", form], input).quiet();
    assert_eq!(key("surt"), "com,example,www:81)/a/?b=2&a=1\n\nno uri\nmailto:a@b.example\n");
    assert_eq!(key("surt:cdxj"), key("surt"));
    assert_eq!(key("surt:ia"), "com,example:81)/a?a=1&b=2\n\nno uri\nmailto:a@b.example\n");
    let invalid = run(["key", "--as", "surt:ia"], "http://h/a b\nhttp://h h/\n").quiet();
    assert_eq!(invalid, "h)/a%20b\nh%20h)/\n");
    let ssurt = "com,example,www,//81:http@u:/A/?b=2&a=1#f\n\nno uri\nmailto:A@b.example\n";
    assert_eq!(key("ssurt"), ssurt);
    assert_eq!(key("url"), run(["normalize"], input).quiet());
    let with_rules =
        run(["key", "--as", "surt", "--rule", "www"], "http://www.h.example/\n").quiet();
    assert_eq!(with_rules, "example,h)/\n");
    let ran = run(["key", "--as", "surt", "--hash", "sha256"], input);
    assert_eq!((ran.code, ran.text()), (2, ""));
    assert!(ran.stderr.contains("--as hex"), "{}", ran.stderr);
}

#[test]
fn an_approximate_run_writes_nothing_twice_and_says_what_it_may_have_lost() {
    let text: String = (0..60_000).map(|i| format!("http://h/{}\n", i % 20_000)).collect();
    let exact = run(["dedup"], &text).quiet();
    for rate in ["0.01", "0.000001"] {
        let ran = run(["dedup", "--approx", rate], &text);
        assert_eq!(ran.code, 0);
        let mut rest = exact.lines();
        let lines: Vec<&str> = ran.text().lines().collect();
        assert!(lines.iter().all(|line| rest.any(|it| it == *line)), "in order, none twice");
        let lost = 20_000 - lines.len();
        assert!(lost <= 300, "{lost}");
        let reported = format!("uriscan: --approx {rate}: up to about ");
        assert!(ran.stderr.starts_with(&reported), "{}", ran.stderr);
        let dropped = format!(" of {} dropped records may be new\n", 60_000 - lines.len());
        assert!(ran.stderr.ends_with(&dropped), "{}", ran.stderr);
    }
    let reported = |text: &str| run(["dedup", "--approx", "0.01"], text).stderr;
    assert_eq!(reported(""), "uriscan: --approx 0.01: no record was dropped\n");
    assert_eq!(reported("a:\n"), "uriscan: --approx 0.01: no record was dropped\n");
    // Not more than were dropped.
    let text = (0..1000).map(|i| format!("a:{i}\n")).collect::<String>() + "a:0\n";
    let reported = reported(&text);
    let numbers: Vec<u64> = reported.split(' ').filter_map(|word| word.parse().ok()).collect();
    assert!(numbers.len() == 2 && numbers[0] <= numbers[1], "{reported}");
    for wrong in ["0", "1", "x", "-1", "NaN", "0.6", "1e-10", "inf", ""] {
        let ran = run(["dedup", &format!("--approx={wrong}")], "");
        assert!(ran.code == 2 && ran.stderr.contains("from 0.000000001 to 0.5"), "{}", ran.stderr);
    }
}
