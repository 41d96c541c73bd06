//! Help, man pages, completions, and words that are the same in every command.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::run::{Place, finish, program, run};

/// The names of all commands that read or write something, with those of `set`.
fn commands() -> Vec<Vec<String>> {
    let of = |args: &[&str]| -> Vec<String> {
        let help = run(args, "").quiet();
        let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let lines = lines.take_while(|line| !line.is_empty());
        let lines = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        lines.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
    };
    let mut all: Vec<Vec<String>> = of(&["--help"]).into_iter().map(|name| vec![name]).collect();
    for above in ["set", "rules"] {
        let below = of(&[above, "--help"]).into_iter();
        all.extend(below.map(|name| vec![above.to_owned(), name]));
    }
    assert!(all.len() > 20, "{all:?}");
    all
}

const TOPICS: [&str; 11] = [
    "ladder",
    "rules",
    "repairs",
    "sets",
    "formats",
    "tables",
    "memory",
    "tuning",
    "stats",
    "exit-codes",
    "recipes",
];

fn help(command: &[String], option: &str, columns: &str) -> String {
    let mut called = program(command);
    called.arg(option).env("COLUMNS", columns);
    finish(called, "").quiet()
}

/// The names of options in lines of a help text or a man page that begin with one.
fn options(text: &str) -> BTreeSet<String> {
    let is_spec =
        |line: &&str| ["  -", "      --", "-"].iter().any(|start| line.starts_with(start));
    let listed = text.split("\n\n").filter(|paragraph| !paragraph.starts_with("More options:"));
    let lines = listed.flat_map(str::lines).filter(is_spec).map(str::trim_start);
    let words = lines.flat_map(|line| line.split([' ', ',', '=', '[']).take(4));
    let long = words.filter(|word| word.len() > 3 && word.starts_with("--"));
    long.map(str::to_owned).collect()
}

#[test]
fn short_help_fits_a_screen() {
    for command in commands() {
        for columns in ["80", "100"] {
            let text = help(&command, "-h", columns);
            let lines = text.lines().count();
            assert!(lines <= 40, "{command:?}: {lines} lines of {columns} columns\n{text}");
            assert!(text.contains("--help` for "), "{text}");
        }
    }
    let whole = run(["-h"], "").quiet();
    assert!(whole.lines().count() <= 40, "{whole}");
}

#[test]
fn long_help_does_not_lead_to_itself() {
    for command in commands() {
        let text = help(&command, "--help", "100");
        let itself = format!("See `uriscan {} --help`", command.join(" "));
        assert!(!text.contains(&itself), "{text}");
        // Examples are there, or it says where they are.
        assert!(text.contains("Examples") || text.contains(" --help` for examples"), "{text}");
    }
}

#[test]
fn the_grammar_is_in_the_short_help() {
    for command in ["normalize", "key", "parse", "check", "resolve"] {
        assert!(run([command, "-h"], "").quiet().contains("--grammar"), "{command}");
    }
}

#[test]
fn long_help_has_groups() {
    let dedup = run(["dedup", "--help"], "").quiet();
    let headings: Vec<&str> =
        dedup.lines().filter(|line| line.ends_with(':') && !line.starts_with(' ')).collect();
    let expected = [
        "What is compared:",
        "Rules:",
        "Links in:",
        "Filters:",
        "Groups:",
        "Sets:",
        "Invalid records:",
        "Memory:",
        "Output:",
        "Tables:",
        "Options of all commands:",
    ];
    let places: Vec<Option<usize>> =
        expected.iter().map(|name| headings.iter().position(|found| found == name)).collect();
    assert!(places.iter().all(Option::is_some), "{headings:?}");
    // Options of extraction have one heading.
    let links = dedup.split("Links in:").nth(1).unwrap().split("\n\n").next().unwrap();
    assert!(links.contains("--extract"), "{links}");
}

#[test]
fn man_pages_name_the_options_of_the_help() {
    let place = Place::new(&[]);
    place.run(&["man", "pages"], "").quiet();
    for command in commands() {
        let name = format!("pages/uriscan-{}.1", command.join("-"));
        let page = place.read(&name).replace("\\-", "-").replace("\\fB", "").replace("\\fR", "");
        let found = options(&page);
        let expected = options(&help(&command, "--help", "100"));
        assert_eq!(found, expected, "{name}");
    }
    for topic in TOPICS {
        let page = place.read(&format!("pages/uriscan-{topic}.7"));
        assert!(page.contains(".SH NAME") && page.len() > 500, "{page}");
    }
    assert!(place.names().contains(&"pages".to_owned()));
}

/// The Markdown files below `folder`.
fn documents(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            texts.push(fs::read_to_string(path).unwrap());
        }
    }
    texts
}

#[test]
fn the_guide_names_options_of_the_help() {
    let mut known: BTreeSet<String> = options(&run(["--help"], "").quiet());
    commands().iter().for_each(|command| known.extend(options(&help(command, "--help", "100"))));
    for topic in ["tables", "tuning"] {
        let page = run(["help", topic], "").quiet();
        let words = page.split([' ', ',', '\n']).filter(|word| word.starts_with("--"));
        known.extend(words.map(str::to_owned));
    }
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let mut texts = documents(&docs.join("guide"));
    texts.extend([fs::read_to_string(docs.join("guide.md")).unwrap()]);
    assert!(texts.len() > 7);
    let mut unknown = BTreeSet::new();
    for text in &texts {
        for line in text.lines().filter(|line| line.contains("uriscan ") || line.contains('`')) {
            let called = line.split('`').filter(|part| part.starts_with("--"));
            let called = called.chain(Some(line).filter(|line| line.contains("$ uriscan ")));
            for word in called.flat_map(|part| part.split([' ', '=', '`', '\''])) {
                let is_name = |c: char| c.is_ascii_lowercase() || c == '-';
                if word.len() > 3 && word.starts_with("--") && word.chars().all(is_name) {
                    unknown.extend(Some(word.to_owned()).filter(|word| !known.contains(word)));
                }
            }
        }
    }
    // Of other programs, in lines with a pipe, and the short forms of negated filters in prose.
    for other in ["--length", "--derive-key", "--features", "--path", "--not-"] {
        unknown.remove(other);
    }
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn topics_are_explained() {
    let list = run(["help"], "").quiet();
    for topic in TOPICS {
        assert!(list.contains(&format!("\n  {topic}")), "{list}");
        let page = run(["help", topic], "").quiet();
        assert!(page.lines().count() >= 15, "{page}");
        // Commands that are shown exist, with their options.
        for line in page.lines().filter(|line| line.starts_with("  uriscan ")) {
            let command = line.split_whitespace().nth(1).unwrap();
            assert!(commands().iter().any(|known| known[0] == command), "{line}");
        }
    }
    assert_eq!(run(["help", "dedup"], "").quiet(), run(["dedup", "--help"], "").quiet());
    assert!(run(["help", "set", "merge"], "").quiet().contains("union of sets"));
    assert!(run(["help", "nothing"], "").refused().contains("ladder, rules"));
}

/// The options of a help text or a man page whose text is missing: after the line of each there is one, on the line itself
/// or below.
fn blanks(help: &str) -> Vec<&str> {
    let lines: Vec<&str> = help.lines().collect();
    let is_option = |line: &str| {
        let (start, indent) = (line.trim_start(), line.len() - line.trim_start().len());
        start.starts_with('-') && matches!(indent, 2 | 6) || indent == 2 && start.starts_with('[')
    };
    let is_blank = |at: &usize| {
        let (line, next) = (lines[*at].trim(), lines.get(at + 1).copied().unwrap_or_default());
        // The text is two blanks or more after the name.
        is_option(lines[*at]) && !line.contains("  ") && (next.trim().is_empty() || is_option(next))
    };
    (0..lines.len()).filter(is_blank).map(|at| lines[at]).collect()
}

#[test]
fn every_option_has_a_text_wherever_it_is_listed() {
    assert_eq!(
        blanks("  -a, --all  All\n  -b\n\n      --c\n        C\n  [F]\n"),
        ["  -b", "  [F]"]
    );
    let place = Place::new(&[]);
    place.run(&["man", "pages"], "").quiet();
    let mut all = commands();
    all.push(Vec::new());
    for command in &all {
        for option in ["-h", "--help"] {
            let text = help(command, option, "100");
            assert_eq!(blanks(&text), Vec::<&str>::new(), "{command:?} {option}");
        }
        let name: String = command.iter().map(|word| format!("-{word}")).collect();
        let page = place.read(&format!("pages/uriscan{name}.1"));
        let lines: Vec<&str> = page.lines().collect();
        for (at, _) in lines.iter().enumerate().filter(|(_, line)| **line == ".TP") {
            let text = lines.get(at + 2).copied().unwrap_or_default();
            let is_text = text.starts_with(char::is_alphanumeric) || text.starts_with('*');
            assert!(is_text, "uriscan{name}.1: {}: {text}", lines[at + 1]);
        }
    }
    // What a shell shows beside the names that it offers.
    let fish = run(["completions", "fish"], "").quiet();
    let offered = fish.lines().filter(|line| {
        line.starts_with("complete ") && (line.contains(" -l ") || line.contains(" -s "))
    });
    let without: Vec<&str> = offered.filter(|line| !line.contains(" -d '")).collect();
    assert_eq!(without, Vec::<&str>::new());
    let zsh = run(["completions", "zsh"], "").quiet();
    let offered = zsh.lines().filter(|line| line.starts_with("'") && line.contains("'--"));
    let without: Vec<&str> =
        offered.filter(|line| !line.contains('[') || line.contains("[]")).collect();
    assert_eq!(without, Vec::<&str>::new());
}

#[test]
fn values_and_defaults_are_in_the_help() {
    let text = run(["dedup", "--help"], "").quiet();
    let part = |name: &str| {
        let (_, rest) =
            text.split_once(&format!("      {name} ")).unwrap_or_else(|| panic!("{name}"));
        rest.split("\n      --").next().unwrap().to_owned()
    };
    for name in ["--level", "--keep", "--emit", "--on-bad-row"] {
        let own = part(name);
        assert!(own.contains("Possible values:") && own.contains("[default: "), "{own}");
    }
    for name in ["--on-invalid", "--color", "--progress", "--to"] {
        assert!(part(name).contains("[default: "), "{name}");
    }
    for (name, values) in [
        ("--profile", "whatwg, w3lib, crawler-commons or surt"),
        ("--on-invalid", "pass, drop or error"),
        ("--preset", "rfc (none), crawl or log"),
        ("--color", "always, never, or auto"),
    ] {
        assert!(part(name).contains(values), "{name}");
    }
}

#[test]
fn dedup_fits_a_few_screens() {
    let text = run(["dedup", "--help"], "").quiet();
    let count = options(&text).len();
    assert!(count <= 45, "{count} options");
    let words = text.split_whitespace().count();
    assert!(words <= 1550, "{words} words");
    let more = "More options: --link-column --log-format --log-field ... (`uriscan extract --help`), --base";
    assert!(text.replace('\n', " ").contains(more), "{text}");
    // What is refused is not named.
    for command in [&["explain"][..], &["set", "create"]] {
        let text = run([command, &["--help"]].concat(), "").quiet();
        assert!(
            !text.contains("--aliases <")
                && !text.contains("--aliases\n(")
                && !text.contains("--aliases (")
        );
    }
    // What is not listed is taken.
    let list = "http://h/a\nHTTP://H/a\nhttp://h/b\n";
    let args = ["dedup", "--chunk-size", "4K", "--backend", "scalar", "--not-match", "b$"];
    assert_eq!(run(args, list).quiet(), "http://h/a\n");
}

#[test]
fn completions_know_names() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(["completions", shell], "").quiet();
        assert!(script.contains("drop-fragment"), "{shell}");
        // Those that a help does not list, too.
        assert!(script.contains("not-host-file") && script.contains("chunk-size"), "{shell}");
    }
    let bash = run(["completions", "bash"], "").quiet();
    for name in
        ["drop-param", "trailing-slash", "crawl", "avx2", "rfc2396", "warc", "surt:ia", "whatwg"]
    {
        assert!(bash.contains(name), "{name}");
    }
    // Only names that exist are offered, and others are taken where they were.
    assert!(run(["dedup", "--rule", "drop-param=x*"], "http://h/?xy=1\n").quiet().contains("xy"));
}

#[test]
fn formats_are_of_what_is_read_and_written() {
    let place = Place::new(&[
        ("t", "id,url\n1,http://h\n"),
        ("p.csv", "id,page\n1,<a href='http://h/x'>\n"),
    ]);
    let reported =
        place.run(&["check", "--column", "url", "--from", "csv", "--to", "jsonl", "t"], "").quiet();
    assert!(reported.starts_with("{\"id\":") && reported.contains("uri_error"), "{reported}");
    let args = ["extract", "--column", "page", "--column-format", "html", "--to", "jsonl", "p.csv"];
    assert!(place.run(&args, "").quiet().contains("\"uri_links\":[\"http://h/x\"]"));
    for (args, advice) in [
        (&["check", "--to", "csv", "t"][..], "--column"),
        (&["dedup", "--from", "csv", "t"], "--column"),
        (&["dedup", "--extract", "--from", "parquet", "t"], "--column"),
        (&["dedup", "--column", "url", "--from", "html", "t"], "parquet"),
        (&["extract", "--to", "csv", "t"], "--column"),
    ] {
        let message = place.run(args, "").refused();
        assert!(message.contains(advice), "{args:?}: {message}");
    }
}

#[test]
fn uris_are_taken_from_the_command_line() {
    let uri = "HTTP://h:80/a/../b";
    for command in [
        &["parse", "-g", "{scheme} {path}"][..],
        &["normalize"],
        &["key"],
        &["resolve", "--base", "http://x/"],
        &["explain"],
        &["check"],
        &["audit", "--select", "all"],
        &["census"],
        &["dedup", "-c"],
        &["top", "--by", "host"],
    ] {
        let typed =
            run([command, &["-e", uri, "--uri", "http://h/b"]].concat(), "ignored\n").quiet();
        let read = match command[0] {
            "explain" => run([command, &[uri, "http://h/b"]].concat(), "").quiet(),
            _ => run(command, format!("{uri}\nhttp://h/b\n")).quiet(),
        };
        assert_eq!(typed, read, "{command:?}");
        assert!(!run([command, &["-e", "http://h", "--uri"]].concat(), "").stderr.is_empty());
    }
    let place = crate::run::Place::new(&[]);
    place.run(&["set", "create", "seen", "-e", uri], "ignored\n").quiet();
    assert_eq!(
        place.run(&["set", "has", "seen", "-e", "http://h/b", "-e", "a:"], "").quiet(),
        "http://h/b\n"
    );
    assert_eq!(place.run(&["set", "has", "seen", "-e", "a:"], "").code, 1);
    assert_eq!(run(["normalize", "-0", "-e", "http://h\n"], "").quiet(), "http://h/\0");
    assert!(run(["normalize", "-e", "http://h/\nx"], "").refused().contains("-0"));
    assert_eq!(run(["normalize", "-e", "http://h", "file"], "").code, 2);
    assert_eq!(run(["normalize", "-e", "http://h", "--host", "i"], "").quiet(), "");
}

#[test]
fn colours_are_used_when_they_are_wanted() {
    let coloured = |args: &[&str], set: &[(&str, &str)]| {
        let mut command = program(args);
        ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"].iter().for_each(|name| {
            command.env_remove(name);
        });
        command.envs(set.iter().copied());
        finish(command, "http://0x7f.1/ x\n").text().contains('\x1b')
    };
    for command in ["check", "audit", "explain"] {
        assert!(!coloured(&[command], &[]), "{command}");
        assert!(coloured(&[command, "--color", "always"], &[]), "{command}");
        assert!(coloured(&[command], &[("CLICOLOR_FORCE", "1")]), "{command}");
        assert!(!coloured(&[command, "--color", "never"], &[("CLICOLOR_FORCE", "1")]), "{command}");
        assert!(!coloured(&[command], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), "{command}");
        assert!(coloured(&[command, "--color", "always"], &[("NO_COLOR", "1")]), "{command}");
        assert!(!coloured(&[command, "--to", "jsonl", "--color", "always"], &[]), "{command}");
    }
    // Without its escapes a coloured report is the plain one.
    let plain = run(["check", "--color", "never"], "http://h/a b\n").stdout;
    let coloured = run(["check", "--color", "always"], "http://h/a b\n").stdout;
    let mut text = String::from_utf8(coloured).unwrap();
    for escape in ["\x1b[31m", "\x1b[0m"] {
        text = text.replace(escape, "");
    }
    assert_eq!(text.into_bytes(), plain);
}

#[test]
fn progress_names_the_command() {
    let list = "http://h/\n".repeat(1000);
    let ran = run(["dedup", "--progress", "always"], &list);
    assert!(
        ran.stderr.starts_with("uriscan dedup: ") && ran.stderr.contains("/s\n"),
        "{}",
        ran.stderr
    );
    for when in ["auto", "never"] {
        assert_eq!(run(["dedup", "--progress", when], &list).stderr, "");
    }
}
