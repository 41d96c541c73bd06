//! `learn`: inputs that end early, have no evidence, or are something else than they were read as.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::learn::{SHOP, crawl, rules, shop};
use crate::run::Place;

fn gzipped(text: &[u8]) -> Vec<u8> {
    let mut to = GzEncoder::new(Vec::new(), Compression::fast());
    to.write_all(text).unwrap();
    to.finish().unwrap()
}

#[test]
fn what_precedes_a_fault_is_learned_from_and_the_fault_ends_the_run() {
    let rows = crawl(3000, shop);
    let csv = "url,sum\n".to_owned() + &rows.replace('\t', ",");
    let page = |i: u32| {
        let block = format!("HTTP/1.1 200 OK\r\n\r\npage {}", i / 2);
        let url = format!("http://h.example/p{}{}", i / 2, ["", "?ref=1"][i as usize % 2]);
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    let archive: String = (0..6000).map(page).collect();
    let place = Place::new(&[("old.toml", "old"), ("rules.toml", SHOP)]);
    let cut = |name: &str, text: &str| {
        let packed = gzipped(text.as_bytes());
        std::fs::write(place.path(name), &packed[..packed.len() * 2 / 3]).unwrap();
    };
    cut("rows.gz", &rows);
    cut("rows.csv.gz", &csv);
    cut("a.warc.gz", &archive);
    std::fs::write(place.path("none.gz"), &gzipped(rows.as_bytes())[..12]).unwrap();
    let table = ["--column", "url", "--same", "sum"];
    for (file, options, drops) in [
        ("rows.gz", &[][..], SHOP.to_owned()),
        ("rows.csv.gz", &table, SHOP.to_owned()),
        ("a.warc.gz", &[], SHOP.replace("shop", "h")),
    ] {
        let message = |ran: &str| {
            assert!(
                ran.starts_with(&format!("uriscan: {file}: gzip data is truncated at byte ")),
                "{ran}"
            );
        };
        let args = [&["learn", file][..], options].concat();
        let ran = place.run(&args, "");
        assert_eq!((ran.code, rules(ran.text())), (2, drops), "{file}");
        message(&ran.stderr);
        let said =
            format!("\n# Not all was read: {}\n", ran.stderr["uriscan: ".len()..].trim_end());
        assert!(ran.text().contains(&said), "{}", ran.text());
        // As `dedup` has it: a file is written by a run that reads all.
        let kept = place.run(&[&args[..], &["-o", "old.toml", "--undecided", "u"]].concat(), "");
        assert_eq!((kept.code, kept.text(), &*place.read("old.toml")), (2, "", "old"));
        assert!(!place.path("u").exists());
        message(&kept.stderr);
        let tested = place.run(&[&args[..], &["--test", "rules.toml"]].concat(), "");
        assert!(tested.code == 2 && tested.text().contains("\n*\t"), "{}", tested.text());
        message(&tested.stderr);
        let dedup = place.run(&["dedup", file], "");
        assert_eq!((dedup.code, &dedup.stderr), (2, &ran.stderr));
    }
    let nothing = place.run(&["learn", "none.gz"], "");
    assert_eq!((nothing.code, nothing.text()), (2, ""), "{}", nothing.stderr);
}

#[test]
fn inputs_without_evidence_are_said_to_have_none() {
    let archive = |kind: &str| {
        let record = |i: u32| {
            format!(
                "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://h/{i}\r\nContent-Length: 4\r\n\r\ntext\r\n\r\n"
            )
        };
        (0..20).map(record).collect::<String>()
    };
    let [wet, wat, requests] = ["conversion", "metadata", "request"].map(archive);
    let place = Place::new(&[("rules.toml", SHOP)]);
    let none = "uriscan: no row says which pages are the same, so that nothing can be proven: ";
    for (text, why) in [
        (&*wet, "the archives have no responses; WET has only their text, and WAT metadata"),
        (&*wat, "the archives have no responses; WET has only their text, and WAT metadata"),
        (&*requests, "the input has no rows\n"),
        ("", "the input has no rows\n"),
        ("\n\r\n \n", "the input has no rows\n"),
        ("http://h/\n", "a row is a URL, a tab and a digest of its content"),
    ] {
        for options in [&["learn"][..], &["learn", "--test", "rules.toml"]] {
            let ran = place.run(options, text);
            assert_eq!((ran.code, rules(ran.text()).contains("[[site]]")), (0, false));
            assert!(ran.stderr.starts_with(&format!("{none}{why}")), "{}", ran.stderr);
            assert_eq!(place.run(&[options, &["-q"]].concat(), text).stderr, "");
        }
    }
    let empty = place.run(&["learn", "--column", "url", "--same", "d", "--from", "csv"], "url,d\n");
    assert_eq!(empty.stderr, format!("{none}the input has no rows\n"));
}

#[test]
fn indexes_are_read_by_their_legends_and_lists_after_them_as_lists() {
    let rows = crawl(2000, shop);
    let rows: Vec<(&str, &str)> = rows.lines().map(|row| row.split_once('\t').unwrap()).collect();
    let index = |legend: &str, line: &dyn Fn(&str, &str) -> String| {
        let digest = |digest: &str| digest.replace(' ', "-");
        let lines = rows.iter().map(|(url, same)| line(url, &digest(same)) + "\n");
        legend.to_owned() + "\n" + &lines.collect::<String>()
    };
    let usual = index(" CDX N b a m s k r M S V g", &|url, digest| {
        format!("example,shop)/x 20261127000000 {url} text/html 200 {digest} - - 1 2 f.warc.gz")
    });
    let old = index(" CDX A b e a m s c k r V v D d g M n", &|url, digest| {
        format!(
            "shop.example/x 20261127000000 192.0.2.1 {url} text/html 200 old {digest} - 1 2 3 4 f - 5"
        )
    });
    let tabs = index("\tCDX\tk\tb\ta", &|url, digest| format!("{digest}\t20261127000000\t{url}"));
    let netarchive =
        index("dns:h 192.0.2.1 20261127000000 text/dns 60 f.arc 1 0", &|url, digest| {
            format!("{url} 192.0.2.1 20261127000000 text/html 741 f.arc 710193 {digest}")
        });
    // A digest that means nothing by the legend of the index before.
    let list: String = rows.iter().map(|(url, same)| format!("{url}\t{same}\n")).collect();
    let place = Place::new(&[
        ("usual", &usual),
        ("old", &old),
        ("tabs", &tabs),
        ("netarchive", &netarchive),
        ("list", &list),
        ("several", &[&*old, &usual, &tabs, &old].concat()),
        ("marked", &format!("\u{FEFF}{old}")),
        (
            "none",
            &index(" CDX N b m s k", &|_, digest| {
                format!("x 20261127000000 text/html 200 {digest}")
            }),
        ),
    ]);
    for files in [
        &["usual"][..],
        &["old"],
        &["tabs"],
        &["netarchive"],
        &["several"],
        &["marked"],
        &["old", "list"],
        &["tabs", "usual", "netarchive"],
    ] {
        let found = place.run(&[&["learn"], files].concat(), "").quiet();
        assert_eq!(rules(&found), SHOP, "{files:?}");
        assert!(found.contains(" rows, 0 of them invalid, "), "{found}");
    }
    let none = place.run(&["learn", "none", "--stats=json"], "");
    let summary = none.stderr.lines().find(|line| line.starts_with('{')).unwrap();
    let summary: serde_json::Value = serde_json::from_str(summary).unwrap();
    assert_eq!((&summary["invalid"], &summary["others"]), (&6000.into(), &1.into()), "{summary}");
}

#[test]
fn redirects_of_indexes_are_evidence() {
    let row = |i: u32| {
        format!(
            "h)/p{i} 20261127000000 http://www.h.example/p{i} text/html 301 D{i} http://h.example/p{i} - 1 2 f\n\
             h)/q{i} 20261127000000 {{\"url\":\"http://h.example/q{i}?s=1\",\"status\":\"302\",\"redirect\":\"/q{i}\"}}\n\
             h)/r{i} 20261127000000 http://h.example/r{i} text/html 302 D - - 1 2 f\n"
        )
    };
    let index: String = (0..100).map(row).collect();
    let found = crate::run::run(["learn"], &index).quiet();
    assert_eq!(
        rules(&found),
        "[[site]]\nhosts = [\"www.h.example\"]\nhost = \"h.example\"\n[[site]]\nhosts = [\"h.example\"]\ndrop = [\"s\"]\n"
    );
}

#[test]
fn hints_name_the_input_that_is_no_evidence_and_a_command_that_reads_it() {
    let rows = crawl(100, shop);
    let rows: Vec<(&str, &str)> = rows.lines().map(|row| row.split_once('\t').unwrap()).collect();
    let table = |head: &str, row: &dyn Fn(&str, &str) -> String| {
        let rows = rows.iter().map(|(url, same)| row(url, same) + "\n");
        head.to_owned() + &rows.collect::<String>()
    };
    let good = table("", &|url, same| format!("{url}\t{same}"));
    let index = table(" CDX b k a s\n", &|url, same| {
        format!("20261127000000 {} {url} 200", same.replace(' ', "-"))
    });
    let json = |url: &str, same: &str| {
        format!(
            "{{\"page\":{{\"url\":\"{url}\"}},\"n\":1,\"meta\":{{\"content_digest\":\"{same}\"}}}}"
        )
    };
    let archive = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h/\r\nContent-Length: 19\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n\r\n";
    let html =
        "<!doctype html>\n<html><body>\n<p>text</p>\n<p>more text</p>\n</body></html>\n".repeat(40);
    let place = Place::new(&[
        ("good.tsv", &good),
        ("index.cdx", &index),
        ("a.warc", archive),
        ("r.csv", &table("url,url_md5,digest\n", &|url, same| format!("{url},7,{same}"))),
        ("semi.csv", &table("id;url;sum_sha1\n", &|url, same| format!("7;{url};{same}"))),
        ("bare.csv", &table("", &|url, same| format!("{same},{url}"))),
        ("r.jsonl", &table("", &json)),
        (
            "head.tsv",
            &table("title\turl\tcontent_hash\n", &|url, same| format!("x\t{url}\t{same}")),
        ),
        ("other.csv", &table("url,title\n", &|url, same| format!("{url},{same}"))),
        (
            "all.csv",
            &table(
                "page,digest,fetch_redirect,location,redirect_count,canonical_url\n",
                &|url, same| format!("{url},{same},,Paris,0,{url}"),
            ),
        ),
        ("page.html", &html),
    ]);
    for (file, options) in [
        ("r.csv", "--column url --same digest"),
        ("semi.csv", "--column url --delimiter ';' --same sum_sha1"),
        ("bare.csv", "--column 2 --same 1 --no-header"),
        ("r.jsonl", "--column page.url --same meta.content_digest"),
        ("head.tsv", "--column url --same content_hash"),
        (
            "all.csv",
            "--column page --same digest --canonical canonical_url --redirect fetch_redirect",
        ),
        ("other.csv", "--column url --same COLUMN"),
    ] {
        for others in [&[][..], &["good.tsv"], &["good.tsv", "index.cdx", "a.warc"]] {
            let ran = place.run(&[&["learn"], others, &[file]].concat(), "");
            let how = format!("Try `uriscan learn {options} {file}`");
            let hint = ran.stderr.trim_end().lines().last().unwrap();
            let names = [format!("uriscan: {file} looks"), format!("uriscan: most of {file} is")];
            assert!(names.iter().any(|name| hint.starts_with(name)), "{hint}");
            assert!(hint.ends_with(&how), "{hint}\n{how}");
        }
        if options.contains("COLUMN") {
            continue;
        }
        let args = options.split(' ').map(|word| word.trim_matches('\''));
        let args: Vec<&str> = ["learn"].into_iter().chain(args).chain([file]).collect();
        assert_eq!(rules(&place.run(&args, "").quiet()), SHOP, "{file}");
    }
    let ran = place.run(&["learn", "good.tsv", "page.html"], "");
    assert_eq!(
        ran.stderr,
        "uriscan: most of page.html is not rows of a URL and a digest; it looks like HTML\n"
    );
    let ran = place.run(&["learn", "good.tsv", "-"], "no URL\n\nneither\n");
    assert_eq!(ran.stderr, "uriscan: most rows of - do not begin with a URL, the first at -:1\n");
    let one = place.run(&["learn", "good.tsv"], "").quiet();
    assert_eq!(rules(&one), SHOP);
}

#[test]
#[cfg(feature = "full")]
fn a_table_without_a_known_format_is_refused_with_the_option_that_names_it() {
    let csv = "url,sum\n".to_owned() + &crawl(100, shop).replace('\t', ",");
    let place = Place::new(&[("urls", &csv)]);
    let learn = ["learn", "--column", "url", "--same", "sum"];
    let what = "neither its name nor its first bytes identify its format";
    for (text, from) in [
        (&*csv, "it looks like CSV, which --from csv reads"),
        (&csv.replace(',', ";"), "it looks like CSV, which --from csv reads"),
        (&csv.replace(',', "\t"), "it looks like TSV, which --from tsv reads"),
        ("url\nhttp://h/\n", "--from csv, tsv, jsonl, fields, parquet or arrow names it"),
    ] {
        let refused = place.run(&learn, text).refused();
        assert_eq!(refused, format!("uriscan: -: {what}; {from}"));
    }
    for command in [&learn[..], &["top", "--column", "url"], &["census", "--column", "url"]] {
        let refused = place.run(&[command, &["urls"]].concat(), "").refused();
        assert_eq!(
            refused,
            format!("uriscan: urls: {what}; it looks like CSV, which --from csv reads")
        );
    }
    let read = place.run(&[&learn[..], &["--from", "csv"]].concat(), &csv).quiet();
    assert_eq!(rules(&read), SHOP);
    for text in
        ["{\"url\":\"http://h/\",\"sum\":\"1\"}\n", " [{\"url\":\"http://h/\",\"sum\":\"1\"}]"]
    {
        assert_eq!(place.run(&learn, text).code, 0);
    }
}

#[test]
fn rules_never_replace_the_rows_that_they_are_learned_from() {
    let csv = "url,sum\nhttp://h/a,1\n";
    let json = "{\"url\":\"http://h/a\",\"sum\":\"1\"}\n";
    let tsv = "http://h/a\t1\n";
    let place =
        Place::new(&[("t.csv", csv), ("t.jsonl", json), ("t.tsv", tsv), ("rules.toml", SHOP)]);
    let table = ["--column", "url", "--same", "sum"];
    for (file, text, options) in
        [("t.csv", csv, &table[..]), ("t.jsonl", json, &table), ("t.tsv", tsv, &[])]
    {
        for more in [&[][..], &["--test", "rules.toml"], &["t.csv"]] {
            let args = [&["learn", file, "-o", file][..], more, options].concat();
            let message = place.run(&args, "").refused();
            let expected = format!("uriscan: {file}: is the input and cannot take results");
            assert!(message.starts_with(&expected), "{args:?}: {message}");
            assert_eq!(place.read(file), text, "{args:?}");
        }
    }
}
