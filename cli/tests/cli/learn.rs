//! `learn`: what it reads, what it proves, and what a hostile site cannot do.

use std::fmt::Write;

use crate::run::{Place, run};

/// So many pages, each under the URLs that `urls` makes of its number, with a digest.
pub(crate) fn crawl(pages: u32, urls: impl Fn(u32) -> Vec<(String, String)>) -> String {
    let mut text = String::new();
    for (url, digest) in (0..pages).flat_map(urls) {
        writeln!(text, "{url}\t{digest}").unwrap();
    }
    text
}

/// Pages with a parameter that means nothing, and one that means something.
pub(crate) fn shop(page: u32) -> Vec<(String, String)> {
    let url = format!("https://shop.example/p{page}?id=1");
    vec![
        (url.clone(), format!("{page}")),
        (format!("{url}&ref=a{page}"), format!("{page}")),
        (format!("https://shop.example/p{page}?id=2"), format!("{page} 2")),
    ]
}

/// The file without comments.
pub(crate) fn rules(file: &str) -> String {
    file.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.to_owned() + "\n")
        .collect()
}

pub(crate) const SHOP: &str = "[[site]]\nhosts = [\"shop.example\"]\ndrop = [\"ref\"]\n";

#[test]
fn rows_of_every_format_give_the_same_rules() {
    let list = crawl(100, shop);
    let rows: Vec<(&str, &str)> = list.lines().map(|line| line.split_once('\t').unwrap()).collect();
    let csv = |quote: &str| -> String {
        let row = |(url, digest): &(&str, &str)| {
            format!("7,{quote}{digest}{quote},{quote}{url}{quote}\n")
        };
        "n,sum,url\n".to_owned() + &rows.iter().map(row).collect::<String>()
    };
    let jsonl: String = rows
        .iter()
        .map(|(url, digest)| {
            format!(
                "{{\"page\":{{\"url\":\"{}\"}},\"sum\":\"{digest}\"}}\n",
                url.replace('/', "\\/")
            )
        })
        .collect();
    let cdx: String = rows
        .iter()
        .map(|(url, digest)| {
            format!(
                "key 20261127000000 {url} text/html 200 {} - - 1 2 f.warc\n",
                digest.replace(' ', "_")
            )
        })
        .collect();
    let cdxj: String = rows
        .iter()
        .map(|(url, digest)| format!("key 20261127000000 {{\"url\":\"{url}\",\"status\":\"200\",\"digest\":\"{digest}\"}}\n"))
        .collect();
    let place = Place::new(&[
        ("list", &list),
        ("plain.csv", &csv("")),
        ("quoted.csv", &csv("\"")),
        ("rows.tsv", &csv("").replace(',', "\t")),
        ("rows.jsonl", &jsonl),
        ("cdx", &format!(" CDX N b a m s k r M S V g\n{cdx}")),
        ("cdxj", &cdxj),
    ]);
    let learned = |args: &[&str]| rules(&place.run(&[&["learn"], args].concat(), "").quiet());
    for file in ["list", "cdx", "cdxj"] {
        assert_eq!(learned(&[file]), SHOP, "{file}");
    }
    for file in ["plain.csv", "quoted.csv", "rows.tsv"] {
        assert_eq!(learned(&[file, "--column", "url", "--same", "sum"]), SHOP, "{file}");
    }
    assert_eq!(learned(&["rows.jsonl", "--column", "page.url", "--same", "sum"]), SHOP);
    let numbered = ["--column", "3", "--same", "2", "--no-header", "--from", "csv", "plain.csv"];
    assert_eq!(learned(&numbered), SHOP);
}

#[test]
#[cfg(unix)]
fn rows_of_parquet_give_the_same_rules() {
    let csv = "url,sum\n".to_owned() + &crawl(100, shop).replace('\t', ",");
    let place = Place::new(&[("rows.csv", &csv)]);
    place.run(&["normalize", "--column", "url", "rows.csv", "-o", "rows.parquet"], "").quiet();
    let found =
        place.run(&["learn", "rows.parquet", "--column", "url", "--same", "sum"], "").quiet();
    assert_eq!(rules(&found), SHOP);
    let refused =
        place.run(&["learn", "rows.parquet", "--column", "url", "--same", "x"], "").refused();
    assert_eq!(
        refused,
        "uriscan: rows.parquet: there is no column x; there are: url, sum, uri_normalized"
    );
}

#[test]
fn the_file_merges_what_it_promises_and_nothing_else() {
    let list = crawl(100, shop);
    let place = Place::new(&[
        ("list", &list),
        ("urls", &list.split(['\t', '\n']).step_by(2).collect::<Vec<_>>().join("\n")),
    ]);
    place.run(&["learn", "list", "-o", "rules.toml"], "").quiet();
    let kept = place.run(&["dedup", "--rules", "rules.toml", "urls"], "").quiet();
    assert_eq!(kept.lines().count(), 200);
    assert!(!kept.contains("ref="));
    let table = place.run(&["learn", "--test", "rules.toml", "list"], "").quiet();
    assert_eq!(
        table,
        "site\turls\tpages\tright\twrong\tprecision\trecall\tlost\tsaved\tpossible\n\
         shop.example\t300\t200\t100\t0\t1.0000\t1.0000\t0\t100\t100\n\
         *\t300\t200\t100\t0\t1.0000\t1.0000\t0\t100\t100\n"
    );
}

#[test]
fn canonical_links_and_redirects_are_evidence_for_their_own_site_only() {
    // A hostile site says that it is the other one, and that all pages of that are the same.
    let list = crawl(150, |page| {
        vec![
            (format!("http://evil.example/p{page}"), format!("\thttp://good.example/p{page}")),
            (
                format!("http://evil.example/p{page}?a=1"),
                format!("\t\thttp://good.example/p{page}?x={page}"),
            ),
            (format!("http://good.example/p{page}?x=1"), format!("{page} 1")),
            (format!("http://good.example/p{page}?x=2"), format!("{page} 2")),
            (format!("http://two.example/q{page}?s=1"), format!("\t/q{page}")),
            (
                format!("http://www.two.example/q{page}"),
                format!("\t\thttp://two.example/q{page}#top"),
            ),
        ]
    });
    let found = run(["learn"], &list).quiet();
    assert!(
        !rules(&found).contains("good.example") && !rules(&found).contains("evil.example"),
        "{found}"
    );
    assert_eq!(
        rules(&found),
        "[[site]]\nhosts = [\"www.two.example\"]\nhost = \"two.example\"\n\
         [[site]]\nhosts = [\"two.example\"]\ndrop = [\"s\"]\n"
    );
}

#[test]
fn names_that_look_like_something_else_stay_names() {
    // A star, a bracket that is encoded, and a host that is a pattern.
    let names = ["*", "a*b", "x%5D%0A%5B%5Bsite%5D%5D", "q?r", "c,d", "=v"];
    let list = crawl(100, |page| {
        let url = format!("http://h.example/p{page}");
        let mut rows = vec![
            (url.clone(), page.to_string()),
            (format!("{url}?other=1"), format!("{page} other")),
        ];
        rows.extend(names.map(|name| (format!("{url}?{name}=1"), page.to_string())));
        rows.push((format!("http://*.example/p{page}"), page.to_string()));
        rows.push((format!("http://*.example/p{page}?s={page}"), page.to_string()));
        rows
    });
    let place = Place::new(&[("list", &list)]);
    place.run(&["learn", "list", "-o", "rules.toml"], "").quiet();
    let listed = place.run(&["rules", "--rules", "rules.toml"], "").quiet();
    assert!(!listed.contains("on *"), "{listed}");
    let urls = [
        "?*=1",
        "?a*b=2",
        "?x%5D%0A%5B%5Bsite%5D%5D=3",
        "?q?r=4",
        "?c,d=5",
        "?other=1",
        "?ab=1",
        "?axb=1",
        "?qxr=1",
    ];
    let text = urls.map(|query| format!("http://h.example/z{query}\n")).concat();
    let kept = place.run(&["dedup", "--rules", "rules.toml"], &text).quiet();
    let kept: Vec<&str> = kept.lines().map(|line| line.split_once('?').unwrap().1).collect();
    assert_eq!(kept, ["*=1", "other=1", "ab=1", "axb=1", "qxr=1"], "{}", place.read("rules.toml"));
}

#[test]
fn secrets_in_examples_are_masked() {
    let list = crawl(100, |page| {
        let url = format!("http://h.example/p{page}");
        vec![
            (url.clone(), page.to_string()),
            (format!("{url}?access_token=s3cret{page}"), page.to_string()),
        ]
    });
    let found = run(["learn"], &list).quiet();
    assert!(found.contains("access_token=***") && !found.contains("s3cret"), "{found}");
}

#[test]
fn secrets_in_names_of_what_is_not_proven_are_masked() {
    let secrets = ["ghp_16C7e42F292c6912E7710c838347Ae178B4a", "AKIAIOSFODNN7EXAMPLE"];
    let list = crawl(30, |page| {
        let of = |path: String| (format!("http://h.example/{path}"), page.to_string());
        vec![
            of(format!("p{page}")),
            of(format!("{}/p{page}", secrets[0])),
            of(format!("p{page}?{}=1", secrets[1])),
        ]
    });
    let place = Place::new(&[]);
    let found = place.run(&["learn", "--undecided", "u"], &list).quiet() + &place.read("u");
    assert!(found.contains("path-prefix=") && found.contains("drop-param="), "{found}");
    for secret in secrets {
        assert!(
            !found.lines().any(|line| line.starts_with("# ") && line.contains(secret)),
            "{found}"
        );
    }
}

#[test]
fn files_that_tested_rules_include_are_not_overwritten() {
    let place = Place::new(&[
        ("main.toml", "include = [\"inc.toml\"]\n"),
        ("inc.toml", "rules = [\"www\"]\n"),
        ("rows", "http://h.example/\t1\n"),
    ]);
    let args = ["learn", "--test", "main.toml", "rows", "-o", "inc.toml"];
    let message = place.run(&args, "").refused();
    assert!(message.contains("inc.toml"), "{message}");
    assert_eq!(place.read("inc.toml"), "rules = [\"www\"]\n");
}

#[test]
fn a_site_with_one_page_for_everything_is_named_and_gets_no_rules() {
    let list = crawl(100, |page| {
        let of = |query: &str| (format!("http://h.example/p{page}{query}"), "login".to_owned());
        vec![of(""), of("?a=1"), of("?a=2&b=1")]
    });
    let found = run(["learn"], &list).quiet();
    assert_eq!(rules(&found), "");
    assert!(
        found.contains("\n# h.example has one page for everything, and gets no rules\n"),
        "{found}"
    );
}

#[test]
fn archives_are_read_with_what_a_robots_txt_declares() {
    let record = |url: &str, block: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    let ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    let mut archive =
        record("http://h.example/robots.txt", &format!("{ok}Clean-param: ref&src /shop\n"));
    for page in 0..100 {
        archive += &record(&format!("http://h.example/p{page}"), &format!("{ok}page {page}"));
        archive += &record(&format!("http://h.example/p{page}?ref=x"), &format!("{ok}page {page}"));
        archive += &record(
            &format!("http://h.example/p{page}?s=1"),
            &format!("{ok}<link rel=canonical href=/p{page}>{page}"),
        );
        archive += &record(
            &format!("http://www.h.example/p{page}"),
            "HTTP/1.1 301 Moved\r\nLocation: http://h.example/\r\n\r\n"
                .replace("/\r", &format!("/p{page}\r"))
                .as_str(),
        );
    }
    let place = Place::new(&[("a.warc", &archive), ("cut.warc", &archive[..archive.len() - 50])]);
    let found = place.run(&["learn", "a.warc"], "").quiet();
    let table = |what: &str| format!("[[site]]\nhosts = [\"h.example\"]\ndrop = [\"{what}\"]\n");
    let www = "[[site]]\nhosts = [\"www.h.example\"]\nhost = \"h.example\"\n";
    assert_eq!(rules(&found), www.to_owned() + &table("ref") + &table("s"));
    assert!(found.contains("\n# drop-param=ref: declared in robots.txt; "), "{found}");
    assert!(
        found.contains("\n# h.example: drop-param=src: declared in robots.txt; 0 pages"),
        "{found}"
    );
    let cut = place.run(&["learn", "cut.warc"], "");
    assert_eq!((cut.code, rules(cut.text())), (2, rules(&found)));
    assert_eq!(cut.stderr, "uriscan: 1 part of an archive is not a record\n");
}

#[test]
fn digests_may_be_numbers() {
    let lines: String = (0..100)
        .map(|i| format!("{{\"url\":\"http://h.example/p{i}?ref=1\",\"n\":{i}}}\n{{\"url\":\"http://h.example/p{i}\",\"n\":{i}}}\n"))
        .collect();
    let place = Place::new(&[("rows.jsonl", &lines)]);
    place.run(&["normalize", "--column", "url", "rows.jsonl", "-o", "rows.parquet"], "").quiet();
    for file in ["rows.jsonl", "rows.parquet"] {
        let ran = place.run(&["learn", file, "--column", "url", "--same", "n"], "");
        assert!(ran.text().contains("drop = [\"ref\"]"), "{file}: {}", ran.stderr);
    }
}

#[test]
fn urls_to_fetch_are_of_the_input_where_little_is_known() {
    let few = "http://h.example/x\t1\nhttp://h.example/x/\t1\n".to_owned()
        + &(1..6).map(|i| format!("http://h.example/d{i}/\td{i}\n")).collect::<String>();
    let many: String = (0..20)
        .map(|i| format!("http://h.example/p{i}\t{i}\nhttp://h.example/p{i}/\t{i}\n"))
        .collect();
    let unseen = "http://h.example/logout/\tout\nhttp://h.example/q/\tq\n";
    let place = Place::new(&[("few", &few), ("many", &(many + unseen))]);
    place.run(&["learn", "few", "--undecided", "u", "-o", "r"], "").quiet();
    assert_eq!(place.read("u"), "");
    place.run(&["learn", "many", "--undecided", "u", "-o", "r"], "").quiet();
    let urls = place.read("u");
    assert!(urls.contains("http://h.example/q\t") && !urls.contains("logout"), "{urls}");
}

#[test]
fn rows_of_iris_are_learned_from_as_they_are_compared() {
    let rows = |name: &str, redirect: &str| -> String {
        let row = |i: usize| {
            let url = format!("http://h.example/{name}{i}");
            format!("{url}\td{i}\n{url}?ref={name}\td{i}\n{url}?old=1\t\t\t/{redirect}{i}\n")
        };
        (0..100).map(row).collect()
    };
    let place = Place::new(&[
        ("iris", &rows("größe", "größe")),
        ("uris", &rows("gr%C3%B6%C3%9Fe", "gr%C3%B6%C3%9Fe")),
        ("spaces", &rows("a b", "a b")),
        ("spaced", &rows("a%20b", "a%20b")),
    ]);
    let rules = |args: &[&str]| {
        let ran = place.run(&[&["learn"], args].concat(), "");
        ran.text().lines().skip(2).map(|line| format!("{line}\n")).collect::<String>()
    };
    let expected = rules(&["uris"]);
    assert!(
        expected.contains("drop = [\"ref\"]") && expected.contains("drop = [\"old\"]"),
        "{expected}"
    );
    assert_eq!(rules(&["iris", "--iri"]), expected);
    assert_eq!(rules(&["spaces", "--repair"]), rules(&["spaced"]));
    let ran = place.run(&["learn", "iris", "--iri", "--stats=json"], "");
    assert!(
        ran.stderr.contains("\"repaired\":300") && ran.stderr.contains("\"invalid\":0"),
        "{}",
        ran.stderr
    );
    let ran = place.run(&["learn", "iris", "--stats=json"], "");
    assert!(ran.stderr.contains("\"invalid\":300"), "{}", ran.stderr);
}

#[test]
fn invalid_rows_are_counted() {
    let list = crawl(100, shop) + "no url\t1\nhttp://h/%\t2\nftp://h/\t3\n\n";
    let place = Place::new(&[("list", &list)]);
    let ran = place.run(&["learn", "list", "--strict", "--stats=json"], "");
    assert_eq!((ran.code, rules(ran.text())), (1, SHOP.to_owned()));
    let summary: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    let counts = ["records", "invalid", "others", "blank", "sites", "rules"]
        .map(|name| summary[name].as_u64().unwrap());
    assert_eq!(counts, [303, 2, 1, 1, 1, 1]);
    assert_eq!(summary["held_back"]["wrong"], 0);
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let place = Place::new(&[("rows.csv", "url,sum\nhttp://h/,1\n"), ("bad.toml", "[[site]]")]);
    for (args, message) in [
        (
            &["rows.csv", "--column", "url"][..],
            "uriscan: --column: names the URLs; add --same, --canonical or --redirect",
        ),
        (
            &["rows.csv", "--column", "url", "--same", "x"],
            "uriscan: rows.csv: there is no column x; there are: url, sum",
        ),
        (&["-0", "rows.csv"], "uriscan: -0: rows are lines; omit it"),
        (&["--test", "bad.toml", "rows.csv"], "uriscan: bad.toml:1:1: "),
        (&["rows.csv", "--undecided", "-"], "uriscan: --undecided -: "),
        (&["rows.csv", "--undecided", "rows.csv"], "uriscan: rows.csv: "),
    ] {
        let refused = place.run(&[&["learn"], args].concat(), "").refused();
        assert!(refused.starts_with(message), "{refused}");
    }
}

#[test]
fn evidence_that_a_row_has_twice_is_reported() {
    let lines = "{\"url\":\"http://a.b/1\",\"d\":\"x\",\"d\":\"y\"}\n{\"url\":\"http://a.b/2\",\"d\":\"x\"}\n";
    let args = ["learn", "--column", "url", "--same", "d", "--from", "jsonl"];
    let ran = crate::run::run(args, lines);
    assert_eq!((ran.code, ran.text()), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("-:1: the member d occurs twice"), "{}", ran.stderr);
}

#[test]
fn rules_stay_as_they_were_where_there_is_no_evidence() {
    let place = Place::new(&[
        ("keep.toml", SHOP),
        ("bad", "no url\n"),
        ("none", "http://h/a\nhttp://h/b\n"),
        ("empty", ""),
        ("c.csv", "url,d\nhttp://h/a,\nhttp://h/b,\n"),
    ]);
    let table = &["c.csv", "--column", "url", "--same", "d"][..];
    for input in [&["bad"][..], &["none"], &["empty"], table] {
        for output in ["keep.toml", "new.toml"] {
            let ran = place.run(&[&["learn", "-o", output], input].concat(), "");
            let message = format!("{output}: is not written, as no row is evidence for a rule\n");
            assert!(ran.code == 2 && ran.stderr.ends_with(&message), "{}", ran.stderr);
        }
        assert_eq!(place.read("keep.toml"), SHOP);
        assert!(!place.path("new.toml").exists());
        assert_eq!(place.run(&[&["learn"], input].concat(), "").code, 0, "printed");
    }
    let named = place.run(&[&["learn"], table].concat(), "").stderr;
    assert!(named.contains("the columns that are named have no value in any row"), "{named}");
}

#[test]
fn access_logs_are_evidence_only_if_they_have_the_target_of_redirects() {
    let combined: String = (0..100)
        .map(|i| format!("192.0.2.1 - - [27/Nov/2026:10:00:00 +0000] \"GET /p{i} HTTP/1.1\" 301 0 \"-\" \"x\"\n"))
        .collect();
    let ran = run(["learn"], &combined);
    assert_eq!((ran.code, rules(ran.text())), (0, String::new()));
    assert!(
        ran.stderr.starts_with("uriscan: 100 lines are of an access log, which has neither digests nor the target of a redirect"),
        "{}",
        ran.stderr
    );
    let json: String = (0..100)
        .map(|i| format!("{{\"url\":\"http://www.h.example/p{i}\",\"status\":301,\"location\":\"http://h.example/p{i}\"}}\n"))
        .collect();
    let args = ["learn", "--column", "url", "--redirect", "location", "--from", "jsonl"];
    let found = run(args, &json).quiet();
    assert_eq!(rules(&found), "[[site]]\nhosts = [\"www.h.example\"]\nhost = \"h.example\"\n");
}
