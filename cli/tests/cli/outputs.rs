//! No output destroys an input or another output.

use std::fs;

use crate::run::{Place, finish};

const LIST: &str = "http://h/a\nhttp://h/%61\nno uri\nhttp://h/b\n";

/// A directory with a list, and a table of aliases.
fn place() -> Place {
    Place::new(&[
        ("i.txt", LIST),
        ("other.txt", "http://h/c\n"),
        ("a.tsv", "http://x/\thttp://y/\n"),
    ])
}

/// Runs what must be refused, after which the list is what it was.
#[track_caller]
fn refused(place: &Place, args: &[&str], why: &str) {
    let before = place.names();
    let message = place.run(args, "").refused();
    assert!(message.contains(why), "{args:?}: {message}");
    assert_eq!((place.read("i.txt").as_str(), place.names()), (LIST, before), "{args:?}");
}

#[test]
fn a_side_file_is_never_an_input() {
    let place = place();
    for option in ["--dupes", "--clusters", "--rejects"] {
        refused(&place, &["dedup", option, "i.txt", "i.txt"], "i.txt: is the input");
        refused(&place, &["dedup", option, "./i.txt", "other.txt", "i.txt"], "is the input i.txt");
        refused(&place, &["dedup", option, "i.txt", "-o", "out", "i.txt"], "name another file");
    }
    for command in [&["normalize"][..], &["key"], &["resolve", "--base", "http://h/"]] {
        refused(&place, &[command, &["--rejects", "i.txt", "i.txt"]].concat(), "is the input");
    }
}

#[cfg(unix)]
#[test]
fn links_and_descriptors_do_not_hide_an_input() {
    use std::os::unix::fs::symlink;
    let place = place();
    symlink("i.txt", place.path("soft")).unwrap();
    fs::hard_link(place.path("i.txt"), place.path("hard")).unwrap();
    fs::create_dir(place.path("d")).unwrap();
    let absolute = place.path("i.txt").to_str().unwrap().to_owned();
    for name in ["soft", "hard", "d/../i.txt", &absolute] {
        refused(&place, &["dedup", "--dupes", name, "i.txt"], "is the input i.txt");
        refused(&place, &["dedup", "--dupes", "i.txt", name], "i.txt: is the input");
    }
    for input in [&[][..], &["-"], &["/dev/stdin"], &["/proc/self/fd/0"]] {
        if cfg!(not(target_os = "linux")) && input == ["/proc/self/fd/0"] {
            continue;
        }
        let mut command = place.command(&[&["dedup", "--clusters", "hard"], input].concat());
        command.stdin(fs::File::open(place.path("i.txt")).unwrap());
        let output = command.output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(2) && message.contains("hard: is the input"),
            "{message}"
        );
        assert_eq!(place.read("i.txt"), LIST);
    }
}

#[test]
fn reports_do_not_replace_what_they_are_about() {
    let place = place();
    for command in [&["check"][..], &["census"], &["parse"], &["audit"], &["key"], &["dedup", "-c"]]
    {
        refused(&place, &[command, &["i.txt", "-o", "i.txt"]].concat(), "cannot take results");
    }
    refused(&place, &["explain", "-f", "i.txt", "-o", "i.txt"], "is the input");
    refused(&place, &["extract", "i.txt", "-o", "i.txt"], "is the input");
    refused(&place, &["dedup", "--extract", "i.txt", "-o", "i.txt"], "is the input");
    // Records may.
    place.run(&["normalize", "i.txt", "-o", "i.txt"], "").quiet();
    assert_eq!(place.read("i.txt"), LIST.replace("%61", "a"));
}

#[test]
fn files_that_are_found_or_listed_are_inputs_too() {
    let place = place();
    fs::create_dir(place.path("docs")).unwrap();
    fs::write(place.path("docs/page.txt"), LIST).unwrap();
    fs::write(place.path("files"), "other.txt\ni.txt\n").unwrap();
    refused(&place, &["extract", "docs", "-o", "docs/page.txt"], "docs/page.txt: is the input");
    refused(&place, &["dedup", "--extract", "--dupes", "docs/page.txt", "docs"], "is the input");
    refused(&place, &["extract", "--files-from", "files", "-o", "i.txt"], "i.txt: is the input");
    refused(&place, &["extract", "--files-from", "files", "-o", "files"], "files: is the input");
    assert_eq!(fs::read_to_string(place.path("docs/page.txt")).unwrap(), LIST);
    place.run(&["extract", "docs", "-o", "docs/links.txt"], "").quiet();
    assert_eq!(fs::read_to_string(place.path("docs/links.txt")).unwrap().lines().count(), 3);
}

#[test]
fn evidence_and_sets_are_no_outputs() {
    let place = place();
    let with_aliases = ["dedup", "--level", "protocol", "--aliases", "a.tsv", "i.txt"];
    for option in ["-o", "--dupes"] {
        let args: &[&str] =
            if option == "-o" { &["-o", "a.tsv"] } else { &["-c", option, "a.tsv"] };
        let why = if option == "-o" { "a.tsv: is the input" } else { "--aliases" };
        refused(&place, &[&with_aliases[..], args].concat(), why);
    }
    fs::write(place.path("mine.toml"), "[[param]]\ndrop = [\"ref\"]\n").unwrap();
    refused(
        &place,
        &["dedup", "--rules", "mine.toml", "i.txt", "-o", "mine.toml"],
        "mine.toml: is",
    );
    refused(
        &place,
        &["rules", "--rules", "mine.toml", "-o", "mine.toml"],
        "mine.toml: is the input",
    );
    place.run(&["set", "create", "s.set", "other.txt"], "").quiet();
    let inside = "must not be written to s.set";
    refused(&place, &["dedup", "--seen", "s.set", "i.txt", "-o", "s.set/set"], inside);
    refused(&place, &["dedup", "--seen", "s.set", "i.txt", "--dupes", "s.set/new"], inside);
    refused(&place, &["set", "has", "s.set", "i.txt", "-o", "s.set"], inside);
    refused(&place, &["set", "export", "s.set", "-o", "s.set/set"], inside);
    place.run(&["set", "verify", "s.set"], "").quiet();
}

#[test]
fn rules_that_are_included_are_no_outputs() {
    let place = place();
    fs::write(place.path("mine.toml"), "include = ['inc.toml', 'tracking']\n").unwrap();
    fs::write(place.path("inc.toml"), "include = ['deep.toml']\n").unwrap();
    fs::write(place.path("deep.toml"), "[[param]]\ndrop = ['ref']\n").unwrap();
    fs::hard_link(place.path("deep.toml"), place.path("hard")).unwrap();
    for name in ["mine.toml", "inc.toml", "deep.toml", "./deep.toml", "hard"] {
        for args in [
            &["dedup", "--rules", "mine.toml", "i.txt", "-o", name][..],
            &["dedup", "--rules", "mine.toml", "i.txt", "--dupes", name],
            &["dedup", "--rules", "mine.toml", "i.txt", "--rejects", name],
            &["dedup", "--rules", "mine.toml", "i.txt", "--report", name],
            &["rules", "--rules", "mine.toml", "-o", name],
            &["census", "--rules", "mine.toml", "i.txt", "-o", name],
            &["explain", "--rules", "mine.toml", "-o", name, "a:1", "a:2"],
            &["set", "create", "new.set", "--rules", "mine.toml", "i.txt", "--rejects", name],
        ] {
            refused(&place, args, "is the input");
        }
    }
    assert!(place.read("deep.toml").contains("ref"));
}

#[test]
fn a_run_that_reads_nothing_replaces_no_list() {
    let place = place();
    for option in ["--dupes", "--clusters", "--rejects"] {
        refused(&place, &["dedup", option, "i.txt"], "no input was read");
        // What an earlier run has written is replaced, also by nothing.
        place.run(&["dedup", option, "side", "i.txt"], "").quiet();
        assert_ne!(place.read("side"), "");
        place.run(&["dedup", option, "side"], "").quiet();
        assert_eq!(place.read("side"), "", "{option}");
    }
}

#[cfg(unix)]
#[test]
fn two_outputs_are_two_files() {
    use std::os::unix::fs::symlink;
    let place = place();
    symlink("new", place.path("link")).unwrap();
    fs::create_dir(place.path("d")).unwrap();
    fs::write(place.path("old"), "old").unwrap();
    fs::hard_link(place.path("old"), place.path("hard")).unwrap();
    for [one, other] in
        [["new", "new"], ["new", "./new"], ["link", "new"], ["d/../new", "link"], ["old", "hard"]]
    {
        let both = "cannot take both";
        refused(&place, &["dedup", "i.txt", "-o", one, "--dupes", other], both);
        refused(&place, &["dedup", "i.txt", "--clusters", one, "--dupes", other], both);
        refused(&place, &["dedup", "i.txt", "--rejects", one, "-o", other], both);
    }
    assert_eq!(place.read("old"), "old");
    let mut command = place.command(&["dedup", "i.txt", "--dupes", "old"]);
    command.stdout(fs::OpenOptions::new().append(true).open(place.path("hard")).unwrap());
    let ran = finish(command, "");
    assert!(ran.code == 2 && ran.stderr.contains("both results and duplicates"), "{}", ran.stderr);
    refused(&place, &["dedup", "i.txt", "--dupes", "/dev/stdout"], "both results and duplicates");
    // What takes anything takes several outputs.
    place.run(&["dedup", "i.txt", "-o", "/dev/null", "--dupes", "/dev/null"], "").quiet();
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_yet_stays_a_link() {
    let place = place();
    std::os::unix::fs::symlink("new", place.path("link")).unwrap();
    place.run(&["dedup", "other.txt", "-o", "link"], "").quiet();
    assert!(fs::symlink_metadata(place.path("link")).unwrap().is_symlink());
    assert_eq!(place.read("new"), "http://h/c\n");
}

#[test]
fn side_files_and_results_are_replaced_together_or_not_at_all() {
    let place = place();
    let args = ["dedup", "i.txt", "--dupes", "dupes", "--rejects", "bad", "-o", "out"];
    for name in ["dupes", "bad", "out"] {
        fs::write(place.path(name), "old").unwrap();
    }
    let failing = [&args[..6], &["no/where", "-o", "out"]].concat();
    place.run(&failing, "").refused();
    assert_eq!(["dupes", "bad", "out"].map(|name| place.read(name)), ["old"; 3]);
    place.run(&args, "").quiet();
    let expected = ["http://h/%61\thttp://h/a\tsyntax\n", "no uri\n", "http://h/a\nhttp://h/b\n"];
    assert_eq!(["dupes", "bad", "out"].map(|name| place.read(name)), expected);
}

#[test]
fn no_file_is_written_under_the_name_of_a_directory() {
    let place = place();
    for command in ["dedup", "normalize", "key", "extract", "top"] {
        for name in ["new/", "./new/", "new/.", "new//"] {
            refused(&place, &[command, "i.txt", "-o", name], "is the name of a directory");
            assert!(!place.path("new").exists(), "{command} {name}");
        }
    }
    refused(&place, &["dedup", "i.txt", "--rejects", "new/"], "is the name of a directory");
}

#[test]
fn nothing_is_written_under_the_name_of_a_compressed_file() {
    let place = place();
    fs::write(place.path("old.gz"), "old").unwrap();
    let why = "compress";
    for name in
        ["new.gz", "old.gz", "a.csv.zst", "a.jsonl.bz2", "b.XZ", "c.lz4", "d.tgz", "e.zip", "f.Z"]
    {
        for option in ["-o", "--dupes", "--clusters", "--rejects", "--report"] {
            refused(&place, &["dedup", "i.txt", option, name], why);
        }
    }
    for command in [
        &["normalize", "i.txt"][..],
        &["key", "i.txt"],
        &["parse", "i.txt"],
        &["check", "i.txt"],
        &["audit", "i.txt"],
        &["audit", "--redact", "i.txt"],
        &["census", "i.txt"],
        &["top", "i.txt"],
        &["explain", "http://h/"],
        &["resolve", "--base", "http://h/", "i.txt"],
        &["extract", "i.txt"],
        &["rules", "--rule", "www"],
        &["dedup", "--partition-by", "n", "--column", "u", "t.csv"],
    ] {
        refused(&place, &[command, &["-o", "new.gz"]].concat(), "compressed");
    }
    place.run(&["set", "create", "s.set", "i.txt"], "").quiet();
    refused(&place, &["set", "export", "s.set", "-o", "keys.gz"], why);
    refused(&place, &["set", "has", "s.set", "i.txt", "-o", "found.gz"], why);
    assert_eq!(place.read("old.gz"), "old");
}

#[cfg(unix)]
#[test]
fn a_link_to_a_compressed_file_is_not_written_to() {
    use std::os::unix::fs::symlink;
    let place = place();
    symlink("all.gz", place.path("all")).unwrap();
    symlink("all", place.path("more.gz")).unwrap();
    refused(&place, &["dedup", "i.txt", "-o", "all"], "compressed");
    refused(&place, &["dedup", "i.txt", "-o", "more.gz"], "compressed");
    // A pipe may lead to a program that compresses.
    symlink("/dev/null", place.path("null.gz")).unwrap();
    place.run(&["dedup", "other.txt", "-o", "null.gz"], "").quiet();
}

#[test]
fn text_is_not_written_to_the_name_of_a_table() {
    let place = Place::new(&[("in", "http://h/\n"), ("t.csv", "url\nhttp://h/\n")]);
    let before = place.names();
    for args in [
        &["dedup", "in", "-o", "x.parquet"][..],
        &["normalize", "in", "-o", "x.PQ"],
        &["parse", "in", "-o", "x.arrow"],
        &["top", "--by", "host", "in", "-o", "x.feather"],
        &["census", "--column", "url", "t.csv", "-o", "x.parquet"],
        &["extract", "in", "--to", "jsonl", "-o", "x.arrows"],
        &["dedup", "in", "-o", "out", "--rejects", "x.parquet"],
        &["check", "in", "-o", "out", "--report", "x.ipc"],
        &["dedup", "in", "-o", "out", "--stats-file", "x.parquet"],
    ] {
        let message = place.run(args, "").refused();
        let what = "is the name of a table in Parquet or Arrow, and the output is text";
        let name = args.iter().find(|arg| arg.starts_with("x.")).unwrap();
        assert!(message.contains(&format!("{name}: {what}")), "{message}");
        assert_eq!(place.names(), before, "{args:?}");
    }
    // These are tables.
    place.run(&["dedup", "--column", "url", "t.csv", "-o", "x.parquet"], "").quiet();
    place.run(&["dedup", "in", "--dupes", "y.parquet", "--clusters", "z.arrow"], "").quiet();
}

#[test]
fn nothing_is_written_to_the_name_of_a_spreadsheet_or_a_database() {
    let place = Place::new(&[("in", "http://h/\n"), ("t.csv", "url\nhttp://h/\n")]);
    let before = place.names();
    for args in [
        &["dedup", "in", "-o", "x.xlsx"][..],
        &["dedup", "--column", "url", "t.csv", "-o", "x.ODS"],
        &["parse", "in", "--to", "tsv", "-o", "x.xls"],
        &["top", "--by", "host", "in", "-o", "x.avro"],
        &["dedup", "in", "-o", "out", "--dupes", "x.sqlite"],
        &["check", "in", "-o", "out", "--report", "x.pdf"],
        &["dedup", "in", "-o", "out", "--stats-file", "x.orc"],
    ] {
        let message = place.run(args, "").refused();
        let name = args.iter().find(|arg| arg.starts_with("x.")).unwrap();
        let what = "is the name of a file in a format that is not written";
        assert!(message.contains(&format!("{name}: {what}")), "{message}");
        assert_eq!(place.names(), before, "{args:?}");
    }
}

#[test]
fn no_list_is_written_to_the_name_of_a_file_of_json() {
    let place = Place::new(&[("in", "http://h/\n"), ("t.jsonl", "{\"url\":\"http://u:p@h/\"}\n")]);
    place.run(&["set", "create", "s.set", "in"], "").quiet();
    let before = place.names();
    for args in [
        &["dedup", "in", "-o", "x.jsonl"][..],
        &["dedup", "-c", "in", "-o", "x.json"],
        &["normalize", "in", "-o", "x.NDJSON"],
        &["key", "in", "-o", "x.json"],
        &["resolve", "--base", "http://h/", "in", "-o", "x.jsonl"],
        &["set", "has", "s.set", "in", "-o", "x.jsonl"],
        &["dedup", "--extract", "t.jsonl", "-o", "x.jsonl"],
    ] {
        let message = place.run(args, "").refused();
        let name = args.iter().find(|arg| arg.starts_with("x.")).unwrap();
        let what = "is the name of a file of JSON, and the output is a list";
        assert!(message.contains(&format!("{name}: {what}")), "{message}");
        assert_eq!(place.names(), before, "{args:?}");
    }
    // These are JSON.
    place.run(&["dedup", "--column", "url", "t.jsonl", "-o", "a.jsonl"], "").quiet();
    place.run(&["audit", "--redact", "t.jsonl", "-o", "b.jsonl"], "").quiet();
    place.run(&["parse", "in", "-o", "c.json"], "").quiet();
    place.run(&["census", "in", "-o", "d.json"], "").quiet();
}

#[test]
fn the_name_of_the_output_says_the_format_of_an_answer() {
    let place = Place::new(&[("i.txt", "http://u:p@h/\n")]);
    let commands: [(&[&str], &[&str]); 6] = [
        (&["parse", "i.txt"], &["jsonl", "tsv"]),
        (&["check", "i.txt"], &["text", "jsonl"]),
        (&["audit", "--fail-on", "never", "i.txt"], &["text", "jsonl", "sarif"]),
        (&["top", "--by", "host", "i.txt"], &["text", "tsv", "jsonl"]),
        (&["census", "i.txt"], &["table", "json"]),
        (&["explain", "-f", "i.txt"], &["text", "jsonl"]),
    ];
    for (command, formats) in commands {
        let written = |options: &[&str]| {
            place.run(&[command, &["-q"], options].concat(), "").quiet();
            place.read(options[1])
        };
        for (end, names) in [
            ("tsv", &["tsv"][..]),
            ("csv", &["csv"]),
            ("JSON", &["json", "jsonl"]),
            ("ndjson", &["jsonl", "json"]),
            ("sarif", &["sarif"]),
            ("sarif.json", &["sarif"]),
            ("txt", &formats[..1]),
        ] {
            let file = &*format!("out.{end}");
            match names.iter().find(|name| formats.contains(name)) {
                Some(name) => {
                    assert_eq!(written(&["-o", file]), written(&["-o", "plain", "--to", name]));
                }
                None => {
                    let message = place.run(&[command, &["-o", file]].concat(), "").refused();
                    let known = formats.join(", ");
                    let why = format!("the formats are {known}; --to writes one of them under");
                    let is_said =
                        message.contains(&*format!("-o {file}: ")) && message.contains(&why);
                    assert!(is_said, "{command:?}: {message}");
                    assert_eq!(
                        written(&["-o", file, "--to", formats[0]]),
                        written(&["-o", "plain"])
                    );
                }
            }
        }
    }
}

#[test]
fn what_is_no_sarif_has_no_name_of_it() {
    let place = Place::new(&[("t.csv", "id,url\n1,http://u:p@h/\n")]);
    for options in [&["--list-rules"][..], &["--column", "url", "t.csv"]] {
        let message = place.run(&[&["audit", "-o", "x.sarif"], options].concat(), "").refused();
        assert!(message.contains("-o x.sarif: no SARIF is written with"), "{message}");
    }
    assert_eq!(place.names(), ["t.csv"]);
    // Secrets are masked in a file of any format, also in place.
    let place = Place::new(&[("x.sarif", "{\"uri\":\"http://u:p@h/\"}\n")]);
    place.run(&["audit", "--redact", "-q", "x.sarif", "-o", "x.sarif"], "").quiet();
    assert_eq!(place.read("x.sarif"), "{\"uri\":\"http://u:***@h/\"}\n");
}
