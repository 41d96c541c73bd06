//! Shapes: `top --by shape`, `dedup --by shape` and `parse -g '{shape}'`.

use serde_json::Value;

use crate::run::{Place, run};

const LIST: &str = "http://h/user/1?page=2\nHTTP://h:80/user/1?page=2\nhttp://h/user/2?page=9\nhttp://h/user/me\nno uri\nno uri\nhttp://h/user/3?page=1\nhttp://h/user/{int}?page={int}\n";

#[test]
fn shapes_are_counted() {
    let counts = |args: &[&str]| {
        let all = [&["top", "--by", "shape", "--to", "tsv"], args].concat();
        let found = run(all, LIST).quiet();
        found.lines().skip(1).map(|line| line.replace('\t', " ")).collect::<Vec<_>>()
    };
    assert_eq!(
        counts(&[]),
        ["http://h/user/{int}?page={int} 4 0.800000 0", "http://h/user/me 1 0.200000 0"]
    );
    assert_eq!(counts(&["--distinct"])[0], "http://h/user/{int}?page={int} 3 0.750000 0");
    let slugs =
        run(["top", "--by", "shape:slugs", "--to", "tsv"], "http://h/a-b-c\nhttp://h/d-e-f\n");
    assert_eq!(slugs.quiet().lines().nth(1), Some("http://h/{slug}\t2\t1.000000\t0"));
}

#[test]
fn the_first_urls_of_each_shape_are_kept() {
    let kept = |args: &[&str]| run([&["dedup", "--by", "shape"], args].concat(), LIST).quiet();
    let one = "http://h/user/1?page=2\nhttp://h/user/me\nno uri\nhttp://h/user/{int}?page={int}\n";
    assert_eq!(kept(&[]), one);
    assert_eq!(kept(&["--keep-n", "1"]), one);
    let two = "http://h/user/1?page=2\nhttp://h/user/2?page=9\nhttp://h/user/me\nno uri\nhttp://h/user/{int}?page={int}\n";
    assert_eq!(kept(&["--keep-n", "2"]), two);
    assert_eq!(kept(&["--keep-n", "9", "--on-invalid", "drop"]).lines().count(), 4);
    assert_eq!(kept(&["--drop-fragment", "--preset", "crawl"]), one);
}

#[test]
fn summaries_call_samples_what_they_are() {
    let args = ["dedup", "--by", "shape", "--keep-n", "2", "-o", "/dev/null"];
    let text = run([&args[..], &["--stats"]].concat(), LIST).stderr;
    for part in
        ["by shape (not equivalence)", "not groups of equivalent URIs", "up to 2 of each shape"]
    {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("distinct") && !text.contains("duplicates"), "{text}");
    let json = run([&args[..], &["--stats=json"]].concat(), LIST).stderr;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["by"], &json["keep_n"]), (&"shape".into(), &2.into()));
    assert_eq!(
        (&json["shapes"], &json["written"], &json["omitted"]),
        (&4.into(), &5.into(), &3.into())
    );
    assert!(json.get("duplicates").is_none() && json.get("distinct").is_none());
}

#[test]
fn options_about_equivalence_are_refused() {
    let place = Place::new(&[("list", LIST)]);
    for args in [
        &["--seen", "set"][..],
        &["--seen", "set", "--update"],
        &["-c"],
        &["-d"],
        &["-u"],
        &["--keep", "last"],
        &["--dupes", "d"],
        &["--clusters", "c"],
        &["--approx", "0.01"],
        &["--profile", "surt"],
        &["--level", "protocol", "--aliases", "list"],
        &["--report", "r.html"],
    ] {
        let refused = place.run(&[&["dedup", "--by", "shape", "list"], args].concat(), "");
        let reported = refused.stderr;
        assert!(
            reported.contains("--by") && reported.contains("does not work with"),
            "{args:?} {reported}"
        );
        assert_eq!(refused.code, 2, "{args:?}");
    }
    let refused = place.run(&["dedup", "--keep-n", "2", "list"], "");
    assert_eq!(refused.code, 2);
    let refused = place.run(&["dedup", "--by", "shape", "--keep-n", "0", "list"], "");
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("a whole number from 1 to 4294967295 is expected"),
        "{}",
        refused.stderr
    );
}

#[test]
fn rows_of_text_tables_pass_as_they_are() {
    let csv = "id,url\n1,\"http://h/1\"\n2,http://h/2\n3,http://h/a\n";
    let kept = run(["dedup", "--by", "shape", "--column", "url", "--from", "csv"], csv).quiet();
    assert_eq!(kept, "id,url\n1,\"http://h/1\"\n3,http://h/a\n");
}

#[test]
fn templates_have_shapes() {
    let shapes =
        run(["parse", "-g", "{shape}|{shape:slugs}"], "http://u:p@h/a-b-c/1#f\n../7\n").quiet();
    assert_eq!(shapes, "http://h/a-b-c/{int}|http://h/{slug}/{int}\n../{int}|../{int}\n");
}

#[test]
fn shapes_whose_segments_repeat_are_named() {
    let numbers: String = (0..1_300)
        .map(|i| format!("http://h/item?id={i}&page=1\nhttp://h/topic/{}?page={}\n", i / 5, i % 5))
        .collect();
    let text = numbers.clone() + "http://h/a/b/a/b/a/b/\n";
    let ran = run(["top", "--by", "shape"], &text);
    assert_eq!(ran.code, 0);
    assert!(
        ran.stderr.starts_with(
            "uriscan: shapes whose segments repeat, as those of crawler traps do, are http://h/a/b/a/b/a/b/; --max-repeats 2"
        ),
        "{}",
        ran.stderr
    );
    run(["top", "--by", "shape", "-q"], &text).quiet();
    // Records do not say whether numbers differ, and of other parts nothing is said.
    run(["top", "--by", "shape"], &numbers).quiet();
    run(["top", "--by", "url", "--limit", "1"], &text).quiet();
}

#[test]
fn a_report_warns_of_paths_that_repeat_their_segments() {
    let deep = |run: &str| format!("http://h/{}\n", run.repeat(5));
    let place = Place::new(&[("list", &(deep("a/b/") + "http://h/a/b/a/b/\n" + &deep("c/d/")))]);
    place.run(&["dedup", "--report", "r.html", "list", "-o", "out"], "").quiet();
    let page = place.read("r.html");
    assert!(page.contains("<p>2 URIs of 10 segments and more repeat the same segments"), "{page}");
    let quiet = Place::new(&[("list", "http://h/1/2/3/4/5/6/7/8/9/10/11\n")]);
    quiet.run(&["dedup", "--report", "r.html", "list", "-o", "out"], "").quiet();
    assert!(!quiet.read("r.html").contains("again and again"));
}
