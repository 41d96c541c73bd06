//! The settings of a set: no option is repeated, none contradicts it, and nothing in it is trusted.

use std::fs;

use crate::run::Place;
use crate::sets::files;

/// Options, and two spellings that are equivalent only under them.
const OPTIONS: [(&[&str], &str, &str); 9] = [
    (&["--level", "string"], "http://a/", "http://a/"),
    (&["--level", "syntax", "--drop-fragment"], "http://a/#b", "HTTP://A/#c"),
    (
        &["--rule", "www", "--rule", "index-page=a.htm,b.htm"],
        "http://www.a.example/b.htm",
        "http://a.example/a.htm",
    ),
    (&["--preset", "crawl", "--rule", "drop-param=x*"], "http://a/?utm_source=1", "http://a/?x1=2"),
    (&["--rules", "mine.toml", "--hash", "sha256"], "http://a/?q=1&id=2", "http://a/?id=2"),
    (&["--base", "http://a/b/"], "c", "../b/c"),
    (&["--suffix-scheme", "https"], "a.example/x", "https://A.example/x"),
    (&["--iri", "--repair=space"], "http://a/é b", "http://a/%C3%A9%20b"),
    (&["--profile", "whatwg"], "http:\\\\a", "http://a/"),
];

const MINE: &str = "[[param]]\nhosts = ['a', 'site:example.com']\nexcept = ['b.example.com']\nkeep = ['id']\nwhy = 'a \"b\"'\n";

fn place() -> Place {
    Place::new(&[("mine.toml", MINE)])
}

#[test]
fn no_option_is_repeated() {
    for (options, one, other) in OPTIONS {
        let place = place();
        let run = |args: &[&str], input: &str| place.run(args, input).quiet();
        let create = [&["dedup", "--seen", "s.set", "--update"], options].concat();
        let (one, other) = (format!("{one}\n"), format!("{other}\n"));
        assert_eq!(run(&create, &one), one, "{options:?}");
        fs::remove_file(place.path("mine.toml")).unwrap();
        assert_eq!(run(&["dedup", "--seen", "s.set"], &other), "", "{options:?}");
        assert_eq!(run(&["set", "has", "s.set"], &other), other, "{options:?}");
        assert_eq!(run(&["dedup", "--seen", "s.set", "--update"], &other), "", "{options:?}");
        let table = format!("url\n{other}");
        let tables =
            ["dedup", "--seen", "s.set", "--column", "url", "--from", "csv", "--to", "csv"];
        assert_eq!(run(&tables, &table), "url\n", "{options:?}");
        run(&["set", "add", "s.set"], &other);
        assert_eq!(run(&["dedup", "-c", "--seen", "s.set"], &other), "");
        // It survives as text, and where sets are made of it.
        let text = run(&["set", "export", "s.set"], "");
        run(&["set", "import", "t.set"], &text);
        assert!(files(&place.path("s.set")) == files(&place.path("t.set")), "{options:?}");
        run(&["set", "merge", "-o", "u.set", "s.set", "t.set"], "");
        run(&["set", "split", "--bits", "0", "-o", "p", "s.set"], "");
        for set in ["t.set", "u.set", "p/base/0.set"] {
            assert_eq!(run(&["dedup", "--seen", set], &other), "", "{options:?}");
        }
        let removed = run(&["set", "remove", "s.set"], &other);
        assert_eq!(removed, "removed 1 of 1 key; 0 left\n", "{options:?}");
        run(&["set", "verify", "t.set"], "");
    }
}

#[test]
fn options_that_agree_are_accepted_and_all_others_refused() {
    let others: [&[&str]; 9] = [
        &["--level", "scheme"],
        &["--rule", "https"],
        &["--preset", "crawl"],
        &["--base", "http://z/"],
        &["--suffix-scheme", "ftp"],
        &["--repair=byte"],
        &["--iri"],
        &["--profile", "surt"],
        &["--drop-fragment"],
    ];
    for (options, one, _) in OPTIONS {
        let place = place();
        let input = format!("{one}\n");
        let create = [&["dedup", "--seen", "s.set", "--update"], options].concat();
        place.run(&create, &input).quiet();
        let before = files(&place.path("s.set"));
        assert_eq!(place.run(&create, &input).quiet(), "", "{options:?}");
        let hash = options.contains(&"--hash");
        let agreed: Vec<&str> = if hash { options[..2].to_vec() } else { options.to_vec() };
        for command in [["set", "has"], ["set", "add"]] {
            let ran = place.run(&[&command[..], &["s.set"], &agreed].concat(), &input);
            assert_eq!((ran.code, &*ran.stderr), (0, ""), "{options:?}");
        }
        for other in others {
            let is_typed = |option: &str| options.iter().any(|it| it.starts_with(option));
            let kind = other[0].split('=').next().unwrap();
            // What is not typed and is so anyway agrees.
            let is_default = kind == "--level" && !is_typed("--level") && !is_typed("--profile");
            if is_default || (kind == "--drop-fragment" && is_typed(kind)) {
                continue;
            }
            for args in [
                &["dedup", "--seen", "s.set"][..],
                &["dedup", "--seen", "s.set", "--update"],
                &["set", "has", "s.set"],
                &["set", "add", "s.set"],
                &["set", "remove", "s.set"],
            ] {
                let message = place.run(&[args, other].concat(), &input).refused();
                let start = format!("uriscan: {}", other.join(" ").replace("=byte", ""));
                assert!(message.starts_with(&start), "{options:?}: {message}");
                let end = "; omit the option, or name another set";
                assert!(message.contains(": s.set has ") && message.ends_with(end), "{message}");
            }
        }
        assert!(files(&place.path("s.set")) == before, "{options:?}");
    }
    let place = place();
    place.run(&["set", "create", "s.set", "--rule", "www", "--rule", "https"], "").quiet();
    for (options, has) in [
        (&["--level", "string"][..], "--level string: s.set has level scheme;"),
        (&["--rule", "www"], "--rule www: s.set has also rule https;"),
        (
            &["--rule", "www", "--rule", "https", "--rule", "host-dot"],
            "s.set has no rule host-dot;",
        ),
        (&["--rule", "host-dot", "--rule", "www"], "s.set has rule https and no rule host-dot;"),
        (&["--base", "a:b"], "--base a:b: s.set has no base;"),
        (&["--level", "protocol", "--aliases", "x"], "--level protocol: s.set has level scheme;"),
    ] {
        let args = [&["dedup", "--seen", "s.set"], options].concat();
        let message = place.run(&args, "").refused();
        assert!(message.contains(has), "{message}");
    }
    let message = place.run(&["dedup", "--seen", "s.set", "--hash", "sha256"], "").refused();
    assert!(message.contains("--hash sha256: s.set has hash blake3;"), "{message}");
    let order = ["dedup", "--seen", "s.set", "--rule", "https", "--rule", "www"];
    place.run(&order, "").quiet();
}

#[test]
fn links_are_decoded_again() {
    let place = Place::new(&[("in", "http://a/?b&amp;c\n")]);
    let args = ["dedup", "--seen", "s.set", "--update", "--extract", "--repair=entity", "in"];
    assert_eq!(place.run(&args, "").quiet().lines().count(), 1);
    assert_eq!(place.run(&args, "").quiet(), "");
}

#[test]
fn aliases_are_given_again() {
    let place =
        Place::new(&[("alias", "http://a/\thttp://b/\n"), ("other", "http://a/\thttp://c/\n")]);
    let args = ["dedup", "--seen", "s.set", "--level", "protocol", "--aliases", "alias"];
    place.run(&[&args[..], &["--update"]].concat(), "http://a/\n").quiet();
    assert_eq!(place.run(&args, "http://b/\n").quiet(), "");
    let message = place.run(&["dedup", "--seen", "s.set"], "http://b/\n").refused();
    assert!(message.contains("s.set: was made with aliases") && message.contains("--aliases FILE"));
    let other = ["dedup", "--seen", "s.set", "--level", "protocol", "--aliases", "other"];
    let message = place.run(&other, "http://b/\n").refused();
    assert!(message.contains("s.set: its keys have another meaning: aliases: "), "{message}");
}

#[test]
fn the_rules_of_a_set_are_a_rules_file() {
    for (options, one, other) in OPTIONS {
        let place = place();
        place.run(&[&["set", "create", "s.set"], options].concat(), "").quiet();
        let rules = place.run(&["set", "rules", "s.set"], "").quiet();
        assert!(rules.starts_with("# hash "), "{rules}");
        place.run(&["set", "rules", "s.set", "-o", "rules.toml"], "").quiet();
        assert_eq!(place.read("rules.toml"), rules);
        let text = format!("{one}\n{other}\n");
        let ran = place.run(&["normalize", "-q", "--rules", "rules.toml"], &text).quiet();
        if options[0].starts_with("--rule") || options[0] == "--preset" {
            let lines: Vec<&str> = ran.lines().collect();
            assert!(lines.len() == 2 && lines[0] == lines[1], "{options:?}: {ran}");
        }
        // With the settings that the comments name, it is the same set.
        let typed: Vec<&str> = match options {
            ["--rules", ..] => vec!["--hash", "sha256", "--rules", "rules.toml"],
            ["--rule" | "--preset", ..] => vec!["--rules", "rules.toml"],
            _ => options.to_vec(),
        };
        place.run(&[&["set", "create", "t.set"], &typed[..]].concat(), "").quiet();
        place.run(&["set", "merge", "-o", "u.set", "s.set", "t.set"], "").quiet();
    }
}

/// Replaces the manifest of `s.set` by what `change` makes of it, with the checksum that it ought to have.
fn change_manifest(place: &Place, change: impl FnOnce(&str) -> String) {
    let path = place.path("s.set/set");
    let text = change(&fs::read_to_string(&path).unwrap());
    let body = &text[..text.rfind("check ").unwrap()];
    let check = xxhash_rust::xxh3::xxh3_64(body.as_bytes());
    fs::write(path, format!("{body}check {check:016x}\n")).unwrap();
}

#[test]
fn rules_that_are_not_those_of_the_keys_are_damage() {
    let place = place();
    let create = ["set", "create", "s.set", "--rules", "mine.toml", "-e", "http://a/?id=1"];
    place.run(&create, "").quiet();
    fs::write(place.path("other.toml"), "[[param]]\ndrop = ['x']\n").unwrap();
    let whole = fs::read_to_string(place.path("s.set/set")).unwrap();
    let long = format!("| # {}\n", "x".repeat(1 << 20)).repeat(5);
    for (from, to, reported) in [
        ("| keep = [\"id\"]", "| keep = [\"id\", \"x\"]", "damaged"),
        ("| keep = [\"id\"]", "| drop = [\"id\"]", "damaged"),
        ("| keep = [\"id\"]", "| include = [\"other.toml\"]", "damaged"),
        ("| keep = [\"id\"]", "| keep = [\"id\"", "damaged"),
        ("| [[param]]", "| include = [\"other.toml\"]\n| [[param]]", "damaged"),
        ("| [[param]]", "| include = [\"tracking\"]\n| [[param]]", "damaged"),
        ("| [[param]]", "| \n|[[param]]", "damaged"),
        ("| [[param]]", &format!("{long}| [[param]]"), "damaged"),
        ("level scheme", "level syntacs", "damaged"),
        ("fragment kept", "fragment lost", "damaged"),
        ("keep id on a", "keep id on b", "damaged"),
        ("rule keep-param 1", "rule keep-param 7", "another version of uriscan"),
        ("grammar rfc3986 2", "grammar rfc3986 1", "another version of uriscan"),
    ] {
        assert!(whole.contains(from), "{from}: {whole}");
        change_manifest(&place, |text| text.replacen(from, to, 1));
        let before = files(&place.path("s.set"));
        for args in [
            &["dedup", "--seen", "s.set"][..],
            &["dedup", "--seen", "s.set", "--update"],
            &["set", "has", "s.set"],
            &["set", "add", "s.set"],
            &["set", "remove", "s.set"],
            &["set", "rules", "s.set"],
        ] {
            let message = place.run(args, "").refused();
            assert!(message.contains("s.set") && message.contains(reported), "{from}: {message}");
        }
        let verify = place.run(&["set", "verify", "s.set"], "");
        assert_eq!(verify.code, i32::from(reported == "damaged"), "{to:.80}: {}", verify.stderr);
        assert!(files(&place.path("s.set")) == before);
        fs::write(place.path("s.set/set"), &whole).unwrap();
    }
    // Without their text, the rules are typed as before.
    change_manifest(&place, |text| {
        let lines = text.lines().filter(|line| !line.starts_with('|'));
        lines.map(|line| format!("{line}\n")).collect()
    });
    place
        .run(&["set", "has", "s.set", "--rules", "mine.toml", "-e", "http://a/?q&id=1"], "")
        .quiet();
    let message = place.run(&["set", "rules", "s.set"], "").refused();
    assert!(message.contains("s.set: its rules are not stored with it"), "{message}");
    let message = place.run(&["set", "has", "s.set", "-e", "http://a/"], "").refused();
    assert!(message.contains("keep"), "{message}");
}

#[test]
fn sets_of_the_same_rules_in_other_words_are_combined_in_any_order() {
    let place = Place::new(&[
        ("one.toml", "[[param]]\ndrop = ['x']\nwhy = 'one'\n"),
        ("two.toml", "[[param]]\ndrop = ['x']\n"),
    ]);
    for name in ["one", "two"] {
        let rules = format!("{name}.toml");
        let args = ["set", "create", name, "--rules", &rules, "-e", &format!("http://{name}/?x")];
        place.run(&args, "").quiet();
    }
    place.run(&["set", "merge", "-o", "a", "one", "two"], "").quiet();
    place.run(&["set", "merge", "-o", "b", "two", "one"], "").quiet();
    assert!(files(&place.path("a")) == files(&place.path("b")));
    assert_eq!(place.run(&["dedup", "--seen", "a"], "http://one/\nhttp://two/\n").quiet(), "");
}

#[test]
fn sets_that_differ_are_not_combined_and_say_in_what() {
    let place = place();
    for (name, options) in [
        ("a", &[][..]),
        ("b", &["--level", "syntax"]),
        ("c", &["--drop-fragment", "--rule", "www"]),
        ("d", &["--hash", "sha256"]),
        ("e", &["--first-seen"]),
        ("f", &["--profile", "w3lib"]),
    ] {
        place.run(&[&["set", "create", name], options].concat(), "").quiet();
    }
    for (one, other, reported) in [
        ("a", "b", "a and b cannot be combined: level: scheme in a, syntax in b"),
        ("a", "c", "a and c cannot be combined: fragment: kept in a, dropped in c; public-suffix"),
        ("c", "a", "rule www: in c only"),
        ("a", "d", "a and d cannot be combined: hash: blake3 in a, sha256 in d"),
        ("a", "e", "e records when its keys were first seen (--first-seen), and a does not"),
        ("e", "a", "e records when its keys were first seen (--first-seen), and a does not"),
        ("a", "f", "profile w3lib"),
    ] {
        for command in ["merge", "diff", "intersect"] {
            let message = place.run(&["set", command, "-o", "x", one, other], "").refused();
            assert!(message.contains(reported), "{message}");
        }
    }
    assert!(!place.path("x").exists());
}
