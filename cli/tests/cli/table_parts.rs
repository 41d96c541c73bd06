//! Results as directories of tables.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::run::{Place, finish};

/// The files below `directory`, hidden ones included, with their content.
fn files(place: &Place, directory: &str) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, at: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => walk(root, &path, files),
                false => {
                    let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                    files.insert(name, fs::read(&path).unwrap());
                }
            }
        }
    }
    let (root, mut files) = (place.path(directory), BTreeMap::new());
    walk(&root, &root, &mut files);
    files
}

fn names(place: &Place, directory: &str) -> Vec<String> {
    files(place, directory).into_keys().collect()
}

fn list() -> Place {
    let mut text = "id,url,lang\n".to_owned();
    for i in 0..100 {
        let lang = ["de", "", "a/b"][i % 3];
        text.push_str(&format!("{i},http://www.h{}.co.uk/{i},{lang}\n", i % 4));
    }
    Place::new(&[("in.csv", &text)])
}

#[test]
fn a_directory_has_files_of_so_many_rows() {
    let place = list();
    let run =
        |more: &[&str]| place.run(&[&["dedup", "--column", "url", "in.csv"], more].concat(), "");
    assert_eq!(run(&["-o", "out/"]).quiet(), "");
    assert_eq!(
        files(&place, "out"),
        [("part-00000.csv".to_owned(), fs::read(place.path("in.csv")).unwrap())].into()
    );
    assert_eq!(run(&["-o", "cut", "--rows-per-file", "40", "--to", "parquet"]).quiet(), "");
    assert_eq!(
        names(&place, "cut"),
        ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet"]
    );
    assert_eq!(run(&["-o", "all.parquet", "--rows-per-file", "90"]).quiet(), "");
    assert_eq!(names(&place, "all.parquet"), ["part-00000.parquet", "part-00001.parquet"]);
    // What was written is a dataset.
    let again = place.run(&["dedup", "--column", "url", "cut", "--to", "csv"], "").quiet();
    assert_eq!(again, place.read("in.csv"));
    assert_eq!(run(&["-o", "big", "--bytes-per-file", "1K", "--to", "jsonl"]).quiet(), "");
    let sizes: Vec<usize> = files(&place, "big").values().map(Vec::len).collect();
    assert!(sizes.len() > 2 && sizes[0] >= 1_000 && sizes[0] < 1_500, "{sizes:?}");
    assert_eq!(place.names(), ["all.parquet", "big", "cut", "in.csv", "out"]);
}

#[test]
fn partitions_are_read_back() {
    let place = list();
    for (command, format) in
        [("dedup", "parquet"), ("normalize", "csv"), ("parse", "jsonl"), ("key", "arrow")]
    {
        let args = [
            command,
            "--column",
            "url",
            "in.csv",
            "-o",
            "out",
            "--to",
            format,
            "--partition-by",
            "lang,domain",
        ];
        assert_eq!(place.run(&args, "").quiet(), "", "{command}");
        let names = names(&place, "out");
        assert_eq!(names.len(), 12, "{names:?}");
        assert_eq!(
            names[0],
            format!("lang=__HIVE_DEFAULT_PARTITION__/domain=h0.co.uk/part-00000.{format}")
        );
        assert_eq!(names[4], format!("lang=a%2Fb/domain=h0.co.uk/part-00000.{format}"));
        let again = ["dedup", "--column", "url", "out", "--to", "jsonl", "--stats=json"];
        let ran = place.run(&again, "");
        let stats: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
        assert_eq!((stats["files"].as_u64(), stats["written"].as_u64()), (Some(12), Some(100)));
        let text = ran.text();
        assert!(
            text.lines().any(|line| line.contains("\"id\":\"2\"")
                && line.contains("\"lang\":\"a/b\"")
                && line.contains("\"domain\":\"h2.co.uk\"")),
            "{text}"
        );
        assert!(
            text.lines()
                .any(|line| line.contains("\"id\":\"1\"") && line.contains("\"lang\":null"))
        );
        fs::remove_dir_all(place.path("out")).unwrap();
    }
}

#[test]
fn lines_of_json_are_partitioned_by_their_domain() {
    let place = Place::new(&[(
        "in.jsonl",
        "{\"url\":\"http://a.com\", \"n\":1.0}\n{\"url\":\"HTTP://WWW.A.COM\"}\n{\"url\":\"x\"}\n",
    )]);
    let run = |by: &str| {
        place.run(&["dedup", "--column", "url", "in.jsonl", "-o", "out", "--partition-by", by], "")
    };
    assert_eq!(run("domain").quiet(), "");
    let files = files(&place, "out");
    assert_eq!(
        files["domain=a.com/part-00000.jsonl"],
        b"{\"url\":\"http://a.com\", \"n\":1.0}\n{\"url\":\"HTTP://WWW.A.COM\"}\n"
    );
    assert_eq!(files["domain=__HIVE_DEFAULT_PARTITION__/part-00000.jsonl"], b"{\"url\":\"x\"}\n");
    fs::remove_dir_all(place.path("out")).unwrap();
    assert!(run("n").refused().contains("have no columns to partition by"));
    assert_eq!(place.names(), ["in.jsonl"]);
}

#[test]
fn only_a_new_or_empty_directory_takes_results() {
    let place = list();
    let run = |out: &str, more: &[&str]| {
        place.run(&[&["dedup", "--column", "url", "in.csv", "-o", out], more].concat(), "")
    };
    fs::create_dir(place.path("empty")).unwrap();
    assert_eq!(run("empty", &["--partition-by", "lang"]).quiet(), "");
    assert_eq!(names(&place, "empty").len(), 3);
    let message = run("empty", &[]).refused();
    assert_eq!(
        message,
        "uriscan: empty: is not empty; name a new directory, or remove what is in it"
    );
    let message = run("in.csv", &["--rows-per-file", "5"]).refused();
    assert!(message.contains("in.csv: is"), "{message}");
    assert!(run("no/where/", &[]).refused().contains("there is no directory no"));
    let message = run("-", &["--rows-per-file", "5"]).refused();
    assert!(message.contains("several files need a directory"), "{message}");
    assert_eq!(place.names(), ["empty", "in.csv"]);
}

#[cfg(unix)]
#[test]
fn an_empty_directory_is_replaced_through_its_links() {
    let place = list();
    fs::create_dir(place.path("empty")).unwrap();
    std::os::unix::fs::symlink("empty", place.path("link")).unwrap();
    std::os::unix::fs::symlink("new", place.path("nowhere")).unwrap();
    let by = ["dedup", "--column", "url", "in.csv", "--partition-by", "lang", "-o"];
    for (link, target) in [("link", "empty"), ("nowhere", "new")] {
        place.run(&[&by[..], &[link]].concat(), "").quiet();
        assert!(place.path(link).symlink_metadata().unwrap().is_symlink());
        assert_eq!(names(&place, target).len(), 3, "{target}");
    }
    assert_eq!(place.names(), ["empty", "in.csv", "link", "new", "nowhere"]);
}

#[test]
fn what_cannot_be_replaced_at_once_takes_no_results() {
    let place = list();
    fs::create_dir(place.path("here")).unwrap();
    for out in [".", "../here", "./"] {
        let args = ["dedup", "--column", "url", "../in.csv", "--partition-by", "lang", "-o", out];
        let mut command = place.command(&args);
        command.current_dir(place.path("here"));
        let message = finish(command, "").refused();
        assert!(message.contains("is the working directory and cannot be replaced"), "{message}");
    }
    // Neither is anything written into it that belongs elsewhere.
    let args = ["dedup", "--column", "url", "in.csv", "-o", "here/", "--dupes", "here/dupes"];
    let message = place.run(&args, "").refused();
    assert!(message.contains("here/dupes: is in here/, which takes the results only"), "{message}");
    assert_eq!(place.names(), ["here", "in.csv"]);
    assert_eq!(fs::read_dir(place.path("here")).unwrap().count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_mount_point_takes_no_results() {
    let place = list();
    fs::create_dir(place.path("mounted")).unwrap();
    let script = "mount -t tmpfs none mounted || exit 77; \
        exec \"$0\" dedup --column url in.csv --partition-by lang -o mounted";
    let mut command = std::process::Command::new("unshare");
    command.args(["-m", "sh", "-c", script, env!("CARGO_BIN_EXE_uriscan")]);
    match command.current_dir(place.path("")).output() {
        Ok(output) if output.status.code() == Some(2) => {
            let message = String::from_utf8(output.stderr).unwrap();
            assert!(message.contains("is a mount point and cannot be replaced"), "{message}");
        }
        output => eprintln!("skipped: nothing can be mounted here: {output:?}"),
    }
}

#[test]
fn a_run_that_fails_leaves_nothing() {
    let place = list();
    fs::create_dir(place.path("there")).unwrap();
    for out in ["new", "there"] {
        for (more, what) in [
            (
                &["--partition-by", "id", "--max-partitions", "99"][..],
                "id: more than 99 partitions; --max-partitions allows more",
            ),
            (&["--partition-by", "lang", "bad.csv"], "bad.csv:3"),
            (&["--partition-by", "country"], "there is no column country"),
        ] {
            fs::write(place.path("bad.csv"), "id,url,lang\n1,http://x,de\n2,http://y\n").unwrap();
            let args = [&["dedup", "--column", "url", "in.csv", "-o", out], more].concat();
            let message = place.run(&args, "").refused();
            assert!(message.contains(what), "{message}");
            assert_eq!(place.names(), ["bad.csv", "in.csv", "there"]);
            assert!(files(&place, "there").is_empty());
            assert_eq!(fs::read_dir(place.path("there")).unwrap().count(), 0);
        }
    }
}

#[test]
fn side_files_and_sets_work_with_directories() {
    let place = Place::new(&[("in.csv", "url\nhttp://a\nno uri\nHTTP://A/\n")]);
    let args = [
        "dedup",
        "--column",
        "url",
        "in.csv",
        "-o",
        "out/",
        "--rejects",
        "bad.csv",
        "--seen",
        "set",
        "--update",
    ];
    assert_eq!(place.run(&args, "").quiet(), "");
    assert_eq!(files(&place, "out")["part-00000.csv"], b"url\nhttp://a\n");
    assert_eq!(place.read("bad.csv"), "url\nno uri\n");
    fs::remove_dir_all(place.path("out")).unwrap();
    assert_eq!(place.run(&args, "").quiet(), "");
    assert_eq!(files(&place, "out")["part-00000.csv"], b"url\n");
}
