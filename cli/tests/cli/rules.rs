//! Rules beyond the RFC: what is typed, what comes out, what is said of wrong files.

use std::fs;

use serde_json::Value;

use crate::run::{Place, finish, run};

const LIST: &str = "http://www.example.com/a?utm_source=x&id=1\nhttps://example.com/a?id=1#f\n\
    http://example.com/a?id=1\nno uri?utm_source=x\nno uri\n";

fn stats(args: &[&str], input: &str) -> Value {
    let ran = run([args, &["--stats=json"]].concat(), input);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    serde_json::from_str(&ran.stderr).unwrap()
}

#[test]
fn rules_merge_and_originals_are_written() {
    assert_eq!(run(["dedup"], LIST).quiet(), LIST, "off by default");
    assert_eq!(run(["dedup", "--preset", "rfc"], LIST).quiet(), LIST);
    let crawl = run(["dedup", "--preset", "crawl"], LIST).quiet();
    assert_eq!(crawl.lines().count(), 5, "{crawl}");
    let log = run(["dedup", "--preset", "log"], LIST).quiet();
    assert_eq!(log, "http://www.example.com/a?utm_source=x&id=1\nno uri?utm_source=x\nno uri\n");
    let args = ["--preset", "log", "--no-rule", "https"];
    let apart = run([&["dedup"], &args[..]].concat(), LIST).quiet();
    assert_eq!(apart.lines().count(), 4, "{apart}");
    let forms = run(["normalize", "--preset", "log"], LIST).quiet();
    assert_eq!(forms, "https://example.com/a?id=1\n".repeat(3) + "no uri?utm_source=x\nno uri\n");
    let emitted = run(["dedup", "--preset", "log", "--emit", "normalized"], LIST).quiet();
    assert_eq!(emitted, "https://example.com/a?id=1\nno uri?utm_source=x\nno uri\n");
}

#[test]
fn without_rules_the_keys_are_those_of_the_level() {
    let keys = |args: &[&str]| run([&["key"], args].concat(), LIST).quiet();
    let plain = keys(&[]);
    assert_eq!(keys(&["--preset", "rfc"]), plain);
    let hasher = uriscan::key::PublicHasher::new(uriscan::key::PublicHash::Blake3);
    assert_eq!(plain.lines().nth(2), Some(&*hasher.key(b"http://example.com/a?id=1").to_string()));
    // Keys under other rules never meet, not even of records that they leave alone.
    let under =
        [keys(&["--rule", "www"]), keys(&["--rule", "fragment"]), keys(&["--preset", "log"])];
    let mut all: Vec<&str> =
        under.iter().flat_map(|keys| keys.lines()).chain(plain.lines()).collect();
    let count = |lines: &str| lines.lines().collect::<std::collections::BTreeSet<_>>().len();
    let distinct = under.iter().map(|keys| count(keys)).sum::<usize>() + count(&plain);
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), distinct);
    assert_eq!(count(&under[2]), 3);
    assert_eq!(keys(&["--rule", "www"]), under[0], "the same in every run");
}

#[test]
fn the_hash_of_the_rule_set_is_reported() {
    let hash = |args: &[&str]| {
        let stats = stats(args, LIST);
        assert_eq!(stats["rule_set"].as_str().unwrap().len(), 32);
        (stats["rule_set"].as_str().unwrap().to_owned(), stats["rules"].clone())
    };
    let (plain, none) = hash(&["dedup"]);
    assert_eq!(none, serde_json::json!([]));
    assert_eq!(hash(&["key"]).0, plain);
    assert_eq!(hash(&["dedup", "--preset", "rfc"]).0, plain);
    assert_ne!(hash(&["dedup", "--level", "syntax"]).0, plain);
    let (www, names) = hash(&["normalize", "--rule", "www"]);
    assert_eq!(names, serde_json::json!(["www"]));
    assert_ne!(www, plain);
    assert_ne!(hash(&["dedup", "--rule", "www", "--drop-fragment"]).0, www);
    let printed = run(["rules", "--rule", "www", "--to", "json"], "").quiet();
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["rule_set"], www);
    let text = run(["dedup", "--rule", "www", "--stats"], LIST).stderr;
    assert!(text.contains(&format!("\n  rule set {www}: www\n")), "{text}");
    // Whatever decides which records are one has a part in it.
    let of = |args: &[&str]| stats(&[&["dedup"], args].concat(), "http://h/\n")["rule_set"].clone();
    let all = [
        of(&[]),
        of(&["--level", "syntax"]),
        of(&["--drop-fragment"]),
        of(&["--base", "http://b/"]),
        of(&["--base", "http://b/", "--lenient-scheme"]),
        of(&["--suffix-scheme", "http"]),
        of(&["--iri"]),
        of(&["--repair=space"]),
    ];
    for (i, one) in all.iter().enumerate() {
        assert!(!all[..i].contains(one), "{i}");
    }
    assert!(stats(&["check"], "http://h/\n")["rule_set"].is_null());
}

#[test]
fn census_counts_what_rules_add() {
    let census = run(["census", "--preset", "log", "--to", "json"], LIST).quiet();
    let census: Value = serde_json::from_str(&census).unwrap();
    assert_eq!(census["levels"][2]["distinct"], 5);
    assert_eq!(census["rules"], serde_json::json!({ "distinct": 3, "merges": 2 }));
    let table = run(["census", "--preset", "log"], LIST).quiet();
    assert!(
        table.contains("\nrules                       3                2   40.00 %  "),
        "{table}"
    );
    let plain = run(["census", "--to", "json"], LIST).quiet();
    assert!(!plain.contains("rules"), "{plain}");
}

#[test]
fn rules_files_are_read_with_what_they_include() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::create_dir(path("sub")).unwrap();
    fs::write(
        path("sub/mine.toml"),
        "include = ['other.toml', 'tracking']\n[[param]]\nhosts = ['h']\nallow = ['x']\n",
    )
    .unwrap();
    fs::write(path("sub/other.toml"), "[[param]]\ndrop = ['x']\n").unwrap();
    let mine = path("sub/mine.toml");
    let mine = mine.to_str().unwrap();
    let forms = run(["normalize", "--rules", mine], "http://h/?x&gclid=1\nhttp://i/?x&y\n").quiet();
    assert_eq!(forms, "http://h/?x\nhttp://i/?y\n");
    let forms =
        run(["normalize", "--rules", mine, "--rule", "drop-param=x"], "http://h/?x\n").quiet();
    assert_eq!(forms, "http://h/\n", "what is typed comes last");
}

#[test]
fn wrong_rules_are_refused_with_place_and_advice() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &[u8]| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let refused = |args: &[&str]| run([&["dedup"], args].concat(), "http://h/\n").refused();
    let wrong = file("wrong.toml", b"# mine\n[[param]]\ndrop = ['a', 'b=c']\n");
    assert_eq!(
        refused(&["--rules", &wrong]),
        format!("uriscan: {wrong}:3:14: `b=c`: `=` ends a name; values are not matched")
    );
    let conflict = file("conflict.toml", b"[[param]]\ndrop = ['a']\nallow = ['a']\n");
    assert!(
        refused(&["--rules", &conflict])
            .contains("conflict.toml:3:10: `a` is in allow here and in drop at line 2")
    );
    let missing = file("include.toml", b"include = ['no.toml']\n");
    assert!(refused(&["--rules", &missing]).starts_with(&format!("uriscan: {missing}:1:12: ")));
    let binary = file("binary.toml", b"a = '\xFF'");
    assert!(refused(&["--rules", &binary]).contains("not UTF-8"));
    assert!(refused(&["--rules", "no/such/file"]).starts_with("uriscan: no/such/file: "));
    assert!(refused(&["--preset", "all"]).contains(
        "the presets are rfc, crawl and log, and their versions rfc@1, crawl@1, crawl@2, log@1"
    ));
    let message = refused(&["--rule", "www2"]);
    assert!(message.contains("unknown rule `www2`; `uriscan rules` lists"), "{message}");
    assert!(message.contains("did you mean www?"), "{message}");
    assert!(refused(&["--no-rule", "htpps"]).contains("did you mean https?"));
    assert!(refused(&["--preset", "crwl"]).contains("did you mean crawl?"));
    assert!(refused(&["--rules", "crawl"]).contains("turned on by --preset crawl"));
    assert!(refused(&["--rules", "trackin"]).contains("did you mean tracking?"));
    assert!(refused(&["--rule", "drop-param"]).contains("drop-param=GLOB"));
    assert!(refused(&["--no-rule", "x"]).contains("uriscan rules"));
}

#[test]
fn what_cannot_be_removed_is_reported_with_what_can() {
    let place = Place::new(&[
        ("site.toml", "[[site]]\nhosts = ['a.h']\nhost = 'h.h'\nrules = ['www']\n"),
        ("keep.toml", "rules = ['path-prefix=/en']\n[[param]]\nkeep = ['id']\nallow = ['x']\n"),
    ]);
    let refused = |args: &[&str]| place.run(&[&["dedup"], args].concat(), "http://h/\n").refused();
    for (args, expected) in [
        (
            &["--preset", "crawl", "--no-rule", "fragment"][..],
            "--no-rule fragment: not a rule that is on; those that can be removed are anchor, session-id, empty-param, \
             empty-query; --no-rule anchor removes the one that drops fragments",
        ),
        (&["--preset", "crawl@1", "--no-rule", "anchor"], "; --no-rule fragment removes the one"),
        (
            &["--preset", "crawl", "--no-rule", "drop-param"],
            "--no-rule drop-param: a list of parameters (tracking) is not removed as a whole; --rule allow-param=NAME \
             keeps one of them, --rule 'allow-param=*' all",
        ),
        (&["--preset", "crawl", "--no-rule", "drop-param=utm_*"], "use --rule allow-param=utm_*"),
        (&["--preset", "log", "--no-rule", "index-page=a"], "write --no-rule index-page, which"),
        (
            &["--preset", "log", "--no-rule", "path-case"],
            "can be removed are anchor, userinfo, https",
        ),
        (&["--no-rule", "www"], "no rule is on; --no-rule removes one that --preset or --rules"),
        (&["--preset", "rfc", "--no-rule", "www"], "no rule is on"),
        (
            &["--rules", "site.toml", "--no-rule", "www"],
            "only a [[site]] has this rule, at site.toml:1:1",
        ),
        (&["--rules", "site.toml", "--no-rule", "host-alias"], "at site.toml:1:1; remove it there"),
        (&["--rules", "keep.toml", "--no-rule", "keep-param"], "(keep.toml)"),
        (&["--rules", "keep.toml", "--no-rule", "allow-param"], "--rule drop-param=NAME"),
    ] {
        let reported = refused(args);
        assert!(reported.contains(expected), "{args:?}: {reported}");
    }
    let kept = ["normalize", "--rules", "keep.toml", "--no-rule", "path-prefix"];
    assert_eq!(place.run(&kept, "http://h/en/?q&id=1\n").quiet(), "http://h/en/?id=1\n");
    // What the messages say holds.
    let all = ["normalize", "--preset", "crawl", "--rule", "allow-param=*"];
    assert_eq!(place.run(&all, "http://h/?utm_source=1\n").quiet(), "http://h/?utm_source=1\n");
}

#[test]
fn a_site_that_contradicts_another_is_reported_with_file_line_and_table() {
    let place = Place::new(&[(
        "mine.toml",
        "# mine\n[[site]]\nhosts = ['a.h']\nhost = 'b.h'\n\n[[site]]\nhosts = ['b.h']\nhost = 'a.h'\n",
    )]);
    let reported = place.run(&["dedup", "--rules", "mine.toml"], "http://h/\n").refused();
    assert_eq!(
        reported,
        "uriscan: mine.toml:2:1: [[site]] with host `b.h`: this host would become `a.h` by the [[site]] at mine.toml:6:1"
    );
    let removing = ["dedup", "--rules", "mine.toml", "--no-rule", "www"];
    assert_eq!(place.run(&removing, "http://h/\n").refused(), reported);
    let reported =
        place.run(&["dedup", "--rule", "drop-param=a", "--rule", "allow-param=a"], "").refused();
    assert_eq!(reported, "uriscan: --rule: `a` is in drop-param and in allow-param");
}

#[test]
fn presets_have_versions() {
    let form = |args: &[&str], text: &str| run([&["normalize"], args].concat(), text).quiet();
    for (preset, route) in [
        ("crawl", "http://h/#/t\n"),
        ("crawl@2", "http://h/#/t\n"),
        ("crawl@1", "http://h/\n"),
        ("log@1", "https://h/\n"),
        ("log@2", "https://h/#/t\n"),
        ("rfc@1", "http://h/#/t\n"),
    ] {
        assert_eq!(form(&["--preset", preset], "http://h/#/t\n"), route, "{preset}");
    }
    for preset in ["crawl@0", "crawl@3", "crawl@", "crawl@02", "@2", "crawl@2@2"] {
        let reported = run(["normalize", "--preset", preset], "").refused();
        assert!(
            reported.contains("their versions rfc@1, crawl@1, crawl@2"),
            "{preset}: {reported}"
        );
    }
}

#[test]
fn a_rule_set_can_be_kept_as_a_file() {
    let place = Place::new(&[
        ("mine.toml", "[[site]]\nhosts = ['m.h.example']\nhost = 'h.example'\nwithout = ['anchor']\ndrop = ['q\"']\n".replace("q\"", "q").as_str()),
        ("in", "http://m.h.example/?q=1&fbclid=2#a\nhttp://www.x.example/?#a\n"),
    ]);
    let options = ["--preset", "log", "--rules", "mine.toml", "--rule", "drop-param=own_*"];
    let kept = place.run(&[&["rules", "--to", "toml"], &options[..]].concat(), "").quiet();
    fs::write(place.path("kept.toml"), &kept).unwrap();
    let hash = |options: &[&str]| {
        let json = place.run(&[&["rules", "--to", "json"], options].concat(), "").quiet();
        serde_json::from_str::<Value>(&json).unwrap()["rule_set"].clone()
    };
    assert_eq!(hash(&options), hash(&["--rules", "kept.toml"]));
    let forms = place.run(&["normalize", "--rules", "kept.toml", "in"], "").quiet();
    assert_eq!(forms, "https://h.example/#a\nhttps://x.example/\n");
}

#[test]
fn sites_are_listed_with_their_place() {
    let place = Place::new(&[(
        "mine.toml",
        "[[site]]\nhosts = ['m.h.example']\nhost = 'h.example'\nrules = ['path-prefix=/en/']\nwithout = ['anchor']\nwhy = 'one shop'\n",
    )]);
    let text = place.run(&["rules", "--rules", "mine.toml"], "").quiet();
    assert!(
        text.contains("on m.h.example, h.example: host h.example; path-prefix=/en; without anchor  mine.toml:1:1  one shop"),
        "{text}"
    );
    let json = place.run(&["rules", "--rules", "mine.toml", "--to", "json"], "").quiet();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["sites"][0]["rules"], serde_json::json!(["path-prefix=/en"]));
    assert_eq!(json["sites"][0]["line"], 1);
    let reported = place.run(
        &["explain", "--rules", "mine.toml", "http://m.h.example/en/a", "http://h.example/a"],
        "",
    );
    for rule in ["host-alias", "path-prefix"] {
        assert!(reported.text().contains(rule), "{}", reported.text());
    }
}

#[test]
fn rules_are_listed_for_people_and_machines() {
    let text = run(["rules"], "").quiet();
    let json: Value = serde_json::from_str(&run(["rules", "--to", "json"], "").quiet()).unwrap();
    for (kind, count) in [("rules", 22), ("presets", 5), ("files", 1)] {
        let all = json[kind].as_array().unwrap();
        assert_eq!(all.len(), count);
        for one in all {
            assert!(
                text.contains(one["name"].as_str().unwrap()) && one["version"].is_u64(),
                "{one}"
            );
            assert!(one["meaning"].as_str().unwrap().len() > 10, "{one}");
        }
    }
    assert!(json["files"][0]["patterns"].as_array().unwrap().len() > 50);

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("p.toml");
    fs::write(&path, "[[param]]\nallow = ['gclid']\nwhy = 'we sell clicks'\n").unwrap();
    let args = ["rules", "--preset", "crawl", "--rules", path.to_str().unwrap()];
    let text = run(args, "").quiet();
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("rule set ") && first.ends_with(": level scheme"), "{first}");
    assert!(text.contains("p.toml:2:10: keep gclid overrides drop at tracking:"), "{text}");
    let json = run([&args[..], &["--to", "json"]].concat(), "").quiet();
    let json: Value = serde_json::from_str(&json).unwrap();
    let place = json["overrides"][0]["by"].as_u64().unwrap() as usize;
    let pattern = &json["patterns"][place];
    assert_eq!(
        (&pattern["pattern"], &pattern["verdict"]),
        (&Value::from("gclid"), &Value::from("keep"))
    );
    assert_eq!(
        (&pattern["why"], &pattern["line"]),
        (&Value::from("we sell clicks"), &Value::from(2))
    );
    assert_eq!(run(["rules", "--preset", "rfc"], "").quiet().lines().nth(1), Some("no rules"));
}

#[test]
fn what_is_included_is_a_regular_file_beside_the_one_that_includes_it() {
    let place = Place::new(&[
        ("in", "http://h/?x\n"),
        ("x.toml", "[[param]]\ndrop = ['x']\n"),
        ("two.toml", "include = ['x.toml']\n"),
    ]);
    fs::create_dir(place.path("d")).unwrap();
    fs::write(place.path("d/y.toml"), "[[param]]\ndrop = ['x']\n").unwrap();
    let absolute = place.path("x.toml").to_str().unwrap().to_owned();
    let dedup = |name: &str| {
        fs::write(place.path("mine.toml"), format!("include = ['{name}']\n")).unwrap();
        place.run(&["normalize", "--rules", "mine.toml", "in"], "")
    };
    assert_eq!(dedup("x.toml").quiet(), "http://h/\n");
    assert_eq!(dedup("two.toml").quiet(), "http://h/\n");
    for name in [
        "./x.toml",
        "../x.toml",
        "d/y.toml",
        "d/../x.toml",
        "d",
        ".",
        "..",
        "",
        "x.toml/",
        &absolute,
        "/dev/zero",
        "/dev/stdin",
        "/etc/passwd",
        "mine.toml",
    ] {
        let message = dedup(name).refused();
        let (source, what) =
            message.strip_prefix("uriscan: ").unwrap().split_at("mine.toml:1:12: ".len());
        assert_eq!(source, "mine.toml:1:12: ", "{message}");
        let known = ["not the name of a file beside", "not a regular file", "includes itself"];
        assert!(known.iter().any(|known| what.contains(known)), "{message}");
    }
    // Two that include each other.
    fs::write(place.path("two.toml"), "include = ['mine.toml']\n").unwrap();
    assert!(dedup("two.toml").refused().contains("includes itself"));
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_elsewhere_is_not_included() {
    use std::os::unix::fs::symlink;
    let place = Place::new(&[("in", "http://h/?x\n"), ("x.toml", "[[param]]\ndrop = ['x']\n")]);
    fs::create_dir_all(place.path("d/real")).unwrap();
    fs::write(place.path("d/real/y.toml"), "[[param]]\ndrop = ['x']\n").unwrap();
    fs::write(place.path("d/real/all.toml"), "include = ['y.toml']\n").unwrap();
    fs::write(place.path("mine.toml"), "include = ['link.toml']\n").unwrap();
    let dedup = |name: &str| place.run(&["normalize", "--rules", name, "in"], "");
    for (target, what) in [
        ("d/real/y.toml", "is a link to a file elsewhere"),
        ("/etc/passwd", "is a link to a file elsewhere"),
        ("/dev/zero", "is not a regular file"),
        ("/dev/stdin", "is not a regular file"),
        ("nowhere", "No such file"),
        ("link.toml", "symbolic link"),
    ] {
        symlink(target, place.path("link.toml")).unwrap();
        let message = dedup("mine.toml").refused();
        assert!(message.contains(what), "{target}: {message}");
        fs::remove_file(place.path("link.toml")).unwrap();
    }
    symlink("x.toml", place.path("link.toml")).unwrap();
    assert_eq!(dedup("mine.toml").quiet(), "http://h/\n");
    // A directory of links to the files of another one, as some systems mount settings.
    for name in ["all.toml", "y.toml"] {
        symlink(format!("real/{name}"), place.path("d").join(name)).unwrap();
    }
    assert_eq!(dedup("d/all.toml").quiet(), "http://h/\n");
    let fifo = std::process::Command::new("mkfifo").arg(place.path("fifo.toml")).status().unwrap();
    assert!(fifo.success());
    fs::write(place.path("mine.toml"), "include = ['fifo.toml']\n").unwrap();
    assert!(dedup("mine.toml").refused().contains("is not a regular file"));
}

#[test]
fn files_of_rules_have_a_limit() {
    let place = Place::new(&[("in", "http://h/?x\n"), ("mine.toml", "include = ['x.toml']\n")]);
    fs::File::create(place.path("x.toml")).unwrap().set_len(1 << 40).unwrap();
    for name in ["mine.toml", "x.toml"] {
        let message = place.run(&["dedup", "--rules", name, "in"], "").refused();
        assert!(message.contains("x.toml: is longer than "), "{message}");
    }
    if cfg!(target_os = "linux") {
        let message = place.run(&["dedup", "--rules", "/dev/zero", "in"], "").refused();
        assert!(message.contains("/dev/zero: is longer than"), "{message}");
    }
    // Files that multiply on each level.
    for level in 0..7 {
        let names = format!("'{}.toml',", level + 1).repeat(9);
        fs::write(place.path(&format!("{level}.toml")), format!("include = [{names}]\n")).unwrap();
    }
    fs::write(place.path("7.toml"), "").unwrap();
    let message = place.run(&["dedup", "--rules", "0.toml", "in"], "").refused();
    assert!(message.contains("more than 256 rules files are included"), "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn rules_are_read_once_also_from_a_pipe() {
    let place = Place::new(&[("in", "http://h/?x\n"), ("mine.toml", "[[param]]\ndrop = ['x']\n")]);
    let script =
        "mkfifo fifo; cat mine.toml > fifo & \"$0\" normalize --rules fifo in -o out; cat out";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_uriscan")]).current_dir(place.path(""));
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    assert_eq!(finish(command, "").quiet(), "http://h/\n");
}
