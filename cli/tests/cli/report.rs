//! `--report`: the page about a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::run::{Place, run};

/// Every element that a page has.
const ELEMENTS: &[&str] = &[
    "!DOCTYPE",
    "html",
    "head",
    "meta",
    "link",
    "title",
    "style",
    "body",
    "a",
    "header",
    "h1",
    "p",
    "code",
    "mark",
    "h3",
    "dl",
    "div",
    "dt",
    "dd",
    "small",
    "nav",
    "ul",
    "li",
    "main",
    "section",
    "h2",
    "figure",
    "figcaption",
    "svg",
    "desc",
    "text",
    "rect",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "span",
    "br",
    "footer",
];

/// The names of the elements of `page`, outside its style sheet.
fn elements(page: &str) -> BTreeSet<&str> {
    let (before, rest) = page.split_once("<style>").unwrap();
    let (_, after) = rest.split_once("</style>").unwrap();
    [before, after]
        .into_iter()
        .flat_map(|text| text.split('<').skip(1))
        .map(|tag| {
            let tag = tag.strip_prefix('/').unwrap_or(tag);
            &tag[..tag.find(|c: char| !c.is_ascii_alphanumeric() && c != '!').unwrap_or(tag.len())]
        })
        .collect()
}

/// Checks what must hold for every page: elements that are known, nothing that loads or runs, tags that match.
#[track_caller]
fn check(page: &str) {
    for name in elements(page) {
        assert!(ELEMENTS.contains(&name), "<{name}");
    }
    assert!(page.starts_with("<!DOCTYPE html>\n") && page.ends_with("</html>\n"));
    let (_, style) = page.split_once("<style>").unwrap();
    let (style, body) = style.split_once("</style>").unwrap();
    assert!(!style.contains("url(") && !style.contains("@import"));
    for link in body.split(" href=\"").skip(1) {
        assert!(link.starts_with('#'), "{}", &link[..20]);
    }
    for attribute in [" src=", " style=", " onload", " onerror", " srcset"] {
        let tags = body.split('<').filter_map(|tag| tag.split('>').next());
        assert!(tags.into_iter().all(|tag| !tag.contains(attribute)), "{attribute}");
    }
    for name in [
        "section", "table", "tr", "th", "td", "div", "svg", "figure", "dl", "main", "h2", "h3",
        "li", "code", "mark", "span",
    ] {
        let (open, close) = (format!("<{name}"), format!("</{name}>"));
        let opened = body.match_indices(&open).filter(|(at, _)| {
            !body[at + open.len()..].starts_with(|c: char| c.is_ascii_alphanumeric())
        });
        assert_eq!(opened.count(), body.matches(&close).count(), "{name}");
    }
    assert_eq!(body.matches("<table").count(), body.matches("<caption>").count());
    assert_eq!(body.matches("role=\"img\"").count(), body.matches("</desc>").count());
}

fn headings(page: &str) -> Vec<&str> {
    let parts = page.split("</h2>").take(page.matches("</h2>").count());
    parts.filter_map(|part| part.rsplit_once('>').map(|(_, heading)| heading)).collect()
}

/// The figures of `page`, by their names.
fn facts(page: &str) -> BTreeMap<&str, &str> {
    let facts = page.split("<dd id=\"fact-").skip(1);
    let fact = |text: &'_ str| -> Option<(usize, usize, usize)> {
        let name = text.find('"')?;
        Some((name, name + 2, text[name + 2..].find('<')? + name + 2))
    };
    facts
        .filter_map(|text| fact(text).map(|(name, from, to)| (&text[..name], &text[from..to])))
        .collect()
}

/// Checks that the figures of `page` are those of the summary `stats`, which is JSON.
#[track_caller]
fn check_facts(page: &str, stats: &str) {
    let stats: Value = serde_json::from_str(stats).unwrap();
    let facts = facts(page);
    assert!(facts.contains_key("records") && facts.contains_key("invalid"), "{facts:?}");
    // References of documents without a base were skipped, and are not shown as invalid.
    let relative = match facts.contains_key("skipped") {
        true => stats["invalid_by_kind"]["relative"].as_u64().unwrap(),
        false => 0,
    };
    for (name, figure) in facts.iter().filter(|(name, _)| **name != "time") {
        let expected = match **name == *"skipped" {
            true => relative,
            false => stats[*name].as_u64().unwrap_or_else(|| panic!("no {name} in {stats}")),
        };
        let expected = if **name == *"invalid" { expected - relative } else { expected };
        assert_eq!(figure.replace(',', ""), expected.to_string(), "{name}");
    }
    for name in ["distinct", "duplicates", "seen", "findings"] {
        let is_shown = facts.contains_key(name);
        assert!(is_shown || stats[name].as_u64().is_none_or(|count| count == 0), "{name}");
    }
    // Kinds of invalid records add up to them.
    let kinds = stats["invalid_by_kind"].as_object().unwrap();
    let chart =
        page.split("invalid-chart-desc\">").nth(1).map(|rest| rest.split('<').next().unwrap());
    let is_shown = |kind: &str| relative == 0 || kind != "relative";
    for (kind, count) in kinds.iter().filter(|(kind, count)| **count != 0 && is_shown(kind)) {
        assert!(chart.unwrap().contains(&format!("{kind}: {count} (")), "{kind} {chart:?}");
    }
    assert_eq!(chart.is_some(), stats["invalid"].as_u64() > Some(relative));
}

/// The sentence at the top of `page`.
fn verdict(page: &str) -> &str {
    page.split("<p class=\"verdict\">").nth(1).unwrap().split("</p>").next().unwrap()
}

const LIST: &str = "http://a.example/x?p=1\nHTTP://A.example:80/x?p=1\nhttp://a.example/x?p=1\nhttp://u:secret@b.example/%7e\nno uri\n";

#[test]
fn every_command_has_the_sections_that_it_knows() {
    let place =
        Place::new(&[("list", LIST), ("page.html", "<a href='http://x.example/?token=abc'>")]);
    for (command, expected, sentence) in [
        (
            "dedup",
            &["What merged, and why", "The largest groups"][..],
            "5 records, 3 different: 2 repeat another one",
        ),
        (
            "census",
            &["The ladder", "What merged, and why", "The largest groups"],
            "5 records, 3 different at the level scheme: 2 can be dropped",
        ),
        ("audit", &["Findings"], "5 records, "),
        ("check", &[], "5 records; 1 of them is not valid."),
        ("extract", &[], "1 link."),
        ("top", &["The most frequent values"], "5 records, 2 different values of host"),
    ] {
        let input = if command == "extract" { "page.html" } else { "list" };
        let plain = place.run(&[command, input], "");
        let ran = place.run(&[command, "--report", "report.html", input], "");
        assert_eq!(
            (ran.code, &ran.stdout, &ran.stderr),
            (plain.code, &plain.stdout, &plain.stderr)
        );
        let page = place.read("report.html");
        check(&page);
        let mut all: Vec<&str> = expected.to_vec();
        all.extend(["Hosts, domains, parameters and schemes", "Depth and length"]);
        all.extend((command != "extract").then_some("Invalid records"));
        all.push("How to read this");
        assert_eq!(headings(&page), all, "{command}");
        assert!(verdict(&page).starts_with(sentence), "{}", verdict(&page));
        assert!(!page.contains("secret@") && !page.contains("token=abc"), "{command}");
    }
}

#[test]
fn the_figures_are_those_of_the_summary() {
    let place = Place::new(&[
        ("list", LIST),
        ("old", "http://a.example/x?p=1\n"),
        ("log", "1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 5\n"),
        ("t.csv", "id,url\n1,http://x.example\n2,HTTP://X.example/\n3,\n4,a b\n"),
        ("empty", ""),
    ]);
    place.run(&["set", "create", "s.set", "old"], "").quiet();
    for args in [
        &["dedup", "list"][..],
        &["dedup", "list", "list", "old"],
        &["dedup", "empty"],
        &["dedup", "--seen", "s.set", "list"],
        &["dedup", "-d", "list"],
        &["dedup", "-u", "--keep", "last", "list"],
        &["dedup", "-c", "list"],
        &["dedup", "--dupes", "dupes", "list"],
        &["dedup", "--on-invalid", "drop", "list"],
        &["dedup", "--rejects", "rejects", "list"],
        &["dedup", "--approx", "0.01", "list"],
        &["dedup", "--profile", "whatwg", "list"],
        &["dedup", "--host", "a.example", "list"],
        &["dedup", "--column", "url", "t.csv"],
        &["dedup", "-c", "--column", "url", "t.csv"],
        &["census", "--rule", "drop-param=p", "list"],
        &["census", "--column", "url", "t.csv"],
        &["check", "list"],
        &["check", "--column", "url", "t.csv"],
        &["audit", "--fail-on", "never", "list"],
        &["extract", "log"],
        &["extract", "list"],
        &["top", "list"],
        &["top", "--by", "param", "--distinct", "list"],
    ] {
        if cfg!(not(feature = "full")) && args.contains(&"-c") && args.contains(&"--column") {
            continue;
        }
        let more = ["--report", "r.html", "--stats=json", "--stats-file", "stats"];
        let ran = place.run(&[args, &more].concat(), "");
        assert!(ran.code < 2, "{args:?} {}", ran.stderr);
        let page = place.read("r.html");
        check(&page);
        check_facts(&page, &place.read("stats"));
    }
}

#[test]
fn what_merged_is_shown_with_its_differences_marked() {
    let place = Place::new(&[("list", LIST)]);
    place.run(&["dedup", "--rule", "drop-param=p", "--report", "r.html", "list"], "");
    let page = place.read("r.html");
    check(&page);
    assert!(page.contains("<p>Of all 2 duplicates.</p>"), "{page}");
    assert!(page.contains(
        ">the same bytes: 1 (50.00 %); ports, empty paths, DNS names: 1 (50.00 %)</desc>"
    ));
    for step in ["scheme-case", "host-case", "default-port"] {
        assert!(page.contains(&format!("<h3>{step}</h3>")), "{step}");
    }
    assert!(page.contains(
        "<li><code><mark>HTTP</mark>://<mark>A</mark>.example<mark>:80</mark>/x?p=1</code><br>\
         <code class=\"soft\"><mark>http</mark>://<mark>a</mark>.example/x?p=1</code></li>"
    ));
    assert!(page.contains("list:5, byte 3"));
    assert!(verdict(&page).ends_with(
        "Of these, 50 % byte for byte and 50 % in another spelling of the same URI. One record is not a URI."
    ));
    let tracked = "http://h/?utm_source=a\nhttp://h/\nhttp://h/?utm_source=b\n";
    place.run(&["dedup", "--preset", "crawl", "--report", "r.html"], tracked);
    let page = place.read("r.html");
    check(&page);
    assert!(
        verdict(&page).contains("all only with other parameters that the rules drop"),
        "{page}"
    );
    // The ladder of a census has exact counts.
    place.run(&["census", "--rule", "drop-param=p", "--report", "c.html", "list"], "");
    let chart = "records: 5 (100.00 %); string: 4 (−1); syntax: 4 (80.00 %); scheme: 3 (−1); rules: 3 (60.00 %)";
    assert!(place.read("c.html").contains(&format!(">{chart}</desc>")));
}

#[test]
fn examples_compare_with_the_record_that_is_kept() {
    let list = "HTTP://h/x\nhttps://h/x\nhttp://h/x\n";
    for (keep, words, kept) in [
        ("first", "the first record of its group", "HTTP://h/x"),
        ("last", "the last record of its group", "http://h/x"),
        ("shortest", "the kept record of its group", "HTTP://h/x"),
        ("https", "the kept record of its group", "https://h/x"),
        ("max", "the kept record of its group", "https://h/x"),
    ] {
        let place = Place::new(&[("list", list)]);
        let args = ["dedup", "--rule", "https", "--keep", keep, "--report", "r.html", "list"];
        let written = place.run(&args, "").text().to_owned();
        let page = place.read("r.html").replace("<mark>", "").replace("</mark>", "");
        assert!(page.contains(words), "{keep}");
        let examples: Vec<&str> = page.split("<br><code class=\"soft\">").skip(1).collect();
        assert!(!examples.is_empty() && written == format!("{kept}\n"), "{keep} {written}");
        for example in examples {
            assert!(example.starts_with(&format!("{kept}</code>")), "{keep}: {example:.40}");
        }
    }
}

#[test]
fn examples_say_that_they_compare_with_the_first_row_where_another_column_decides() {
    let place = Place::new(&[("t.csv", "url,n\nHTTP://h/,1\nhttp://h/,2\n")]);
    let args = ["dedup", "--column", "url", "--keep", "max:n", "--report", "r.html", "t.csv"];
    assert_eq!(place.run(&args, "").text(), "url,n\nhttp://h/,2\n");
    let page = place.read("r.html");
    assert!(page.contains("the first record of its group"), "{page}");
    assert!(page.contains("<code class=\"soft\"><mark>HTTP</mark>://h/</code>"), "{page}");
    // Among rows of the same column, --keep last compares with the last.
    place.run(&["dedup", "--column", "url", "--keep", "last", "--report", "r.html", "t.csv"], "");
    let page = place.read("r.html");
    assert!(page.contains("<code class=\"soft\"><mark>http</mark>://h/</code>"), "{page}");
}

#[test]
fn what_aliases_merge_is_named() {
    let place = Place::new(&[
        ("list", "http://old.example/a\nhttp://new.example/a\nhttp://h/\nHTTP://h\n"),
        ("moved", "http://old.example/a\thttp://new.example/a\n"),
    ]);
    let args = ["dedup", "--level", "protocol", "--aliases", "moved", "--report", "r.html", "list"];
    assert_eq!(place.run(&args, "").text(), "http://old.example/a\nhttp://h/\n");
    let page = place.read("r.html");
    check(&page);
    assert!(page.contains("<p>Of all 2 duplicates.</p>") && !page.contains("not known"), "{page}");
    assert!(page.contains("aliases: 1 (50.00 %)</desc>"), "{page}");
    assert!(page.contains("<h3>alias</h3>") && page.contains("RFC 3986 section 6.2.4"));
    assert!(verdict(&page).contains("50 % only by aliases, such as redirects"), "{page}");
}

#[test]
fn what_is_missing_has_no_section() {
    let place = Place::new(&[("list", "http://a.example/\nhttp://b.example/x\n")]);
    place.run(&["dedup", "--report", "r.html", "list"], "");
    let page = place.read("r.html");
    check(&page);
    let expected =
        ["Hosts, domains, parameters and schemes", "Depth and length", "How to read this"];
    assert_eq!(headings(&page), expected);
    assert_eq!(verdict(&page), "2 records, no two of them equivalent.");
    assert!(!page.contains("Parameters:"));
    for (policy, expected) in [
        ("pass", "3 records, 2 different: 1 repeats another one"),
        ("drop", "3 records, no two of the URIs among them equivalent. "),
    ] {
        let args = ["dedup", "--on-invalid", policy, "--report", "r.html", "-"];
        place.run(&args, "http://a.example/\nno uri\nno uri\n");
        assert!(verdict(&place.read("r.html")).starts_with(expected), "{policy}");
    }
    place.run(&["dedup", "--report", "r.html", "-"], "");
    let page = place.read("r.html");
    check(&page);
    assert_eq!((headings(&page), verdict(&page)), (vec!["How to read this"], "Nothing was read."));
}

#[test]
fn what_earlier_runs_have_seen_is_a_figure() {
    let place = Place::new(&[("list", LIST), ("old", "http://a.example/x?p=1\n")]);
    place.run(&["set", "create", "s.set", "old"], "").quiet();
    place.run(&["dedup", "--seen", "s.set", "--report", "r.html", "list"], "");
    let page = place.read("r.html");
    check(&page);
    for figure in
        ["new</dt><dd id=\"fact-distinct\">2<", "already seen</dt><dd id=\"fact-seen\">1<"]
    {
        assert!(page.contains(figure), "{figure}");
    }
    assert!(verdict(&page).starts_with(
        "5 records, 2 new: 3 repeat another one, or one that an earlier run has seen"
    ));
}

#[test]
fn findings_have_examples() {
    let place =
        Place::new(&[("list", "http://h/\nhttp://u:secret@h/\nhttp://0x7f.1/?token=abc\n")]);
    place.run(&["audit", "--fail-on", "never", "--report", "r.html", "list"], "");
    let page = place.read("r.html");
    check(&page);
    assert!(
        page.contains(
            "<li><code>http://u:***@h/</code><br><small class=\"soft\">list:2</small></li>"
        ),
        "{page}"
    );
    assert!(page.contains("<code>http://0x7f.1/?token=***</code>") && !page.contains("abc"));
}

#[test]
fn the_command_line_is_shown_with_its_secrets_masked() {
    let place = Place::new(&[("a b", "/x\n")]);
    let base = "http://u:SECRET@h/?token=SECRET";
    place.run(&["dedup", "--base", base, "--report", "r.html", "a b"], "");
    let page = place.read("r.html");
    check(&page);
    assert!(page.contains("<code>uriscan dedup --base "), "{page}");
    assert!(page.contains("--report r.html &#39;a b&#39;</code>") && !page.contains("SECRET"));
}

#[test]
fn a_page_has_a_bounded_size() {
    let place = Place::new(&[]);
    let host = |i: u64| format!("{}{i}.example", "h".repeat(200));
    let list: String = (0..300u64)
        .map(|i| {
            let query: String = (0..5).map(|j| format!("&{}{i}{j}=1", "p".repeat(300))).collect();
            let host = host(i % 100);
            format!(
                "http://{host}/%7e{i}?{query}\nHTTP://{host}/~{i}?{query}\n{} {i}\n",
                "x".repeat(5_000)
            )
        })
        .collect();
    let name = "n".repeat(200);
    std::fs::write(place.path(&name), list).unwrap();
    let args = ["dedup", "--report", "r.html"];
    let inputs: Vec<&str> = std::iter::repeat_n(&*name, 60).collect();
    assert_eq!(place.run(&[&args, &inputs[..]].concat(), "").code, 0);
    let page = place.read("r.html");
    check(&page);
    assert!(page.len() < 300_000, "{}", page.len());
}

#[test]
fn counters_and_calendars_without_end_are_named_with_their_numbers() {
    let urls: String = (0..1_500)
        .map(|i| {
            format!(
                "http://h/list?token=SECRET&page={i}\nhttp://h/kalender/{i}/1\nhttp://h/i/{i}\n"
            )
        })
        .collect();
    let place = Place::new(&[("list", &urls)]);
    for more in [&[][..], &["--max-memory", "64M"]] {
        place.run(&[&["dedup", "--report", "r.html", "list"], more].concat(), "");
        let page = place.read("r.html");
        check(&page);
        let (_, section) = page.split_once("What may have no end</h2>").unwrap();
        let (section, _) = section.split_once("</section>").unwrap();
        assert!(section.contains("http://h/kalender/{int}/{int}"), "{section}");
        assert!(section.contains("page={int}") && section.contains("page=1499"), "{section}");
        assert_eq!(section.matches("1,500").count(), 2, "{section}");
        assert!(!section.contains("SECRET") && !section.contains("/i/"), "{section}");
    }
}

#[test]
fn nothing_from_the_input_becomes_markup() {
    let hostile = [
        "http://h/<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "</title></style></svg></table><script>alert(2)</script>",
        "http://h/?'onclick='alert(3)&a=1",
        "http://h/?&lt;b&gt;&quot;=1",
        "javascript:alert(4)",
        "<!--",
        "]]>",
        "http://h/\u{202e}gpj.exe",
        "http://</script>/",
        "http://h/'>x",
    ];
    let list = hostile.map(|line| format!("{line}\n{line}\n")).concat();
    let name = "<img src=x onerror=alert(5)>&.txt";
    let place = Place::new(&[(name, &list)]);
    for command in ["dedup", "census", "audit", "check", "extract", "top"] {
        for more in [&[][..], &["--max-memory", "64M"]] {
            if !more.is_empty() && command != "dedup" {
                continue;
            }
            let args = [&[command, "--report", "r.html"], more, &[name]].concat();
            assert!(place.run(&args, "").code < 2, "{command}");
            let page = place.read("r.html");
            check(&page);
            assert!(!page.contains("alert(1)</script>") && !page.contains('\u{202e}'));
            assert!(page.contains("&lt;img src=x onerror=alert(5)&gt;&amp;.txt"), "{command}");
        }
    }
}

#[test]
fn records_that_are_not_uris_are_shown_up_to_what_is_wrong() {
    let long = format!("http://u:SECRET{}@h/ x", "S".repeat(600));
    let records = [
        ("user SECRET", "user …"),
        ("http://h/a password: SECRET", "http://h/a …"),
        ("<a>token: SECRET</a>", "&lt;…"),
        ("http://u:SEC RET@h/", "http://u:…"),
        (&long, "http://u:…"),
        ("http://h/ü/SECRET", "http://h/ü…"),
        ("http://h/%zz?SECRET", "http://h/%…"),
        ("SECRET\u{1b}x\u{0}", ""),
        ("/relative/x?token=SECRET", "/relative/x?token=***"),
        ("//u:SECRET@h/", "//u:***@h/"),
    ];
    for (record, shown) in records {
        let place = Place::new(&[("list", record)]);
        for command in ["dedup", "check", "census", "top"] {
            // To `check`, a relative reference is valid.
            if command == "check" && record.starts_with('/') {
                continue;
            }
            place.run(&[command, "--report", "r.html", "list"], "");
            let page = place.read("r.html");
            assert!(record.starts_with("SECRET") || !page.contains("SEC"), "{command} {record}");
            assert!(page.contains(&format!("<code>{shown}")), "{command} {record}");
        }
    }
}

#[test]
fn parts_are_those_of_records_with_their_secrets_masked() {
    for (record, by) in [
        ("http:/u:SECRET@h/x", "path:1"),
        ("http://h/?http%3A%2F%2Fu%3Aa&SECRET%40i", "param"),
        ("http://h/?d='token':'a&SECRET'", "param"),
        ("http://h/?u=http://u:a&SECRET@i/", "param"),
        ("http://h/?token%3DSECRET", "param"),
        ("http://h/?q=1&/password%3dSECRET&x", "param"),
        ("http://h/a%3Fcode=SECRET/b%26state=x", "path:1"),
        ("http://h/http:/u:a.SECRET@i", "extension"),
    ] {
        let place = Place::new(&[("list", &format!("{record}\n{record}\n"))]);
        for args in [
            &["top", "--by", by][..],
            &["top", "--by", by, "--distinct"],
            &["audit", "--fail-on", "never"],
            &["dedup"],
            &["census"],
        ] {
            let ran = place.run(&[args, &["list", "--report", "page"]].concat(), "");
            let page = place.read("page");
            assert_eq!((ran.code, page.contains("SECRET")), (0, false), "{args:?} {record}");
        }
    }
}

#[test]
fn standard_input_pipes_and_links_are_surveyed_too() {
    let place = Place::new(&[("list", LIST)]);
    let ran = place.run(&["dedup", "--report", "r.html"], LIST);
    assert_eq!(ran.stdout, run(["dedup"], LIST).stdout);
    place.run(&["dedup", "--report", "f.html", "list"], "");
    let (of_stdin, of_file) = (place.read("r.html"), place.read("f.html"));
    check(&of_stdin);
    assert_eq!((facts(&of_stdin).len(), verdict(&of_stdin)), (5, verdict(&of_file)));
    assert_eq!(headings(&of_stdin), headings(&of_file));
    let links =
        place.run(&["dedup", "--extract", "--report", "l.html"], "see http://x/ and http://x");
    assert_eq!(links.text(), "http://x/\n");
    assert!(verdict(&place.read("l.html")).starts_with("2 records, 1 different: 1 repeats"));
    #[cfg(target_os = "linux")]
    {
        // A pipe can be read only once.
        place.run(&["dedup", "--report", "p.html", "/dev/stdin"], LIST);
        assert_eq!(verdict(&place.read("p.html")), verdict(&of_file));
    }
}

#[test]
fn tables_are_surveyed_by_their_column() {
    let csv = "id,url\n1,http://x.example\n2,HTTP://X.example/\n3,\n4,\"a\nb\"\n";
    let place = Place::new(&[("t.csv", csv)]);
    for args in [
        &["dedup", "--column", "url", "--report", "r.html", "t.csv"][..],
        &["check", "--column", "url", "--report", "r.html", "t.csv"],
        &["top", "--column", "url", "--report", "r.html", "t.csv"],
    ] {
        let ran = place.run(args, "");
        assert!(ran.code < 2, "{}", ran.stderr);
        let page = place.read("r.html");
        check(&page);
        assert!(page.contains(">x.example</th>") && page.contains("<h3>control</h3>"), "{args:?}");
    }
}

#[test]
fn the_page_is_an_output_like_others() {
    let place =
        Place::new(&[("list", LIST), ("old.html", "<!DOCTYPE html>old"), ("notes", "mine\n")]);
    let refused = |args: &[&str]| place.run(args, "").refused();
    assert!(refused(&["dedup", "--report", "list", "list"]).contains("is the input"));
    assert!(refused(&["dedup", "--report", "x", "-o", "x", "list"]).contains("cannot take both"));
    assert!(refused(&["dedup", "--report", "-", "list"]).contains("--report -"));
    assert!(refused(&["dedup", "--report", "no/x.html", "list"]).contains("no directory"));
    refused(&["audit", "--redact", "--report", "x", "list"]);
    assert!(refused(&["dedup", "--report", "notes"]).contains("stays as it was"));
    // A run that fails leaves the old page.
    refused(&["dedup", "--on-invalid", "error", "-o", "o", "--report", "old.html", "list"]);
    assert_eq!(place.read("old.html"), "<!DOCTYPE html>old");
    assert_eq!(place.names(), ["list", "notes", "old.html"]);
    assert_eq!(place.run(&["dedup", "--report", "old.html", "list"], "").code, 0);
    check(&place.read("old.html"));
}

/// Chromium, if it is there.
fn chromium() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names.into_iter().find(|name| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    })
}

/// Shows the page at `path` at this width, and returns what the console and the network were used for.
fn browse(
    browser: &str,
    directory: &Path,
    path: &Path,
    width: u32,
    is_dark: bool,
) -> (String, String) {
    let (net, shot) = (directory.join("net.json"), directory.join("shot.png"));
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--enable-logging=stderr",
        ])
        .arg(format!("--user-data-dir={}", directory.join("profile").display()))
        .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!is_dark)))
        .arg(format!("--window-size={width},1600"))
        .arg(format!("--log-net-log={}", net.display()))
        .arg(format!("--screenshot={}", shot.display()))
        .args(["--disable-background-networking", "--disable-component-update", "--no-first-run"])
        .arg(format!("file://{}", path.display()))
        .output()
        .unwrap();
    let image = std::fs::read(&shot).unwrap();
    assert!(image.len() > 20_000, "the picture of a page is not empty");
    std::fs::remove_file(shot).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (errors, std::fs::read_to_string(net).unwrap_or_default())
}

#[test]
fn a_browser_shows_it_without_errors_or_requests() {
    let Some(browser) = chromium() else {
        println!("skipped a_browser_shows_it_without_errors_or_requests: there is no chromium");
        return;
    };
    let list = "http://h/<script>document.title='x'</script>\nhttp://a.example/\nhttp://h/'\"><img src=http://tracker.invalid/>\n";
    let place = Place::new(&[("list", list)]);
    place.run(&["dedup", "--report", "r.html", "list"], "");
    let directory = tempfile::tempdir().unwrap();
    for width in [400, 900, 1400] {
        for is_dark in [false, true] {
            let (errors, net) =
                browse(browser, directory.path(), &place.path("r.html"), width, is_dark);
            assert!(!errors.contains("CONSOLE"), "{width} {is_dark}: {errors}");
            assert!(!net.contains("tracker.invalid"), "{width} {is_dark}");
        }
    }
}

#[test]
fn rows_of_text_stay_as_they_are_with_a_report_and_their_lines_are_named() {
    let csv = "\u{FEFF}a,url\r\n\"x\ny\nz\",http://h/\r\n1,x y\r\n2,\"HTTP://h\"\r\n";
    let place = Place::new(&[("t.csv", csv)]);
    let args = ["dedup", "-q", "--column", "url", "t.csv"];
    let plain = place.run(&args, "").quiet();
    assert_eq!(plain, csv.replace("2,\"HTTP://h\"\r\n", ""));
    assert_eq!(place.run(&[&args[..], &["--report", "r.html"]].concat(), "").quiet(), plain);
    assert!(place.read("r.html").contains("t.csv:5, byte 2"));
}

#[test]
fn what_an_invalid_record_may_hide_is_not_in_the_largest_groups_either() {
    let place = Place::new(&[(
        "list",
        "x Authorization: Basic c2VjcmV0\nx Authorization: Basic c2VjcmV0\n",
    )]);
    place.run(&["dedup", "--report", "r.html", "list"], "");
    assert!(!place.read("r.html").contains("c2VjcmV0"));
}

#[test]
fn places_of_links_are_numbers_of_records_and_skipped_references_are_not_invalid() {
    let log = "1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 1 \"http://u:p@r.example/\" \"M\"\n";
    let place = Place::new(&[("a.log", &log.repeat(3))]);
    place.run(&["audit", "--extract", "--report", "r.html", "a.log"], "");
    let page = place.read("r.html");
    assert!(page.contains("a.log, record 2"), "{page}");
    place.run(&["extract", "--report", "r.html", "a.log"], "");
    let page = place.read("r.html");
    assert!(verdict(&page).contains("references without a base, which were skipped"), "{page}");
    assert!(!page.contains("invalid-chart"), "{page}");
}

#[test]
fn targets_of_a_log_are_counted_with_a_report_as_without() {
    let entry = |target: &str| {
        format!("1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET {target} HTTP/1.0\" 200 1\n")
    };
    let log = ["/a.png?x=1", "/a.png", "/b/c", "/b/c"].map(entry).concat();
    let place = Place::new(&[("a.log", &log)]);
    for by in ["path", "path:1", "extension", "param", "url", "shape"] {
        let args = ["top", "--by", by, "--extract", "--log-field", "target", "a.log"];
        let plain = place.run(&args, "");
        let reported = place.run(&[&args[..], &["--report", "r.html"]].concat(), "");
        assert_eq!(reported.stdout, plain.stdout, "{by}");
        let answer = String::from_utf8_lossy(&plain.stdout);
        assert!(answer.contains("4 URIs"), "{by}: {answer}");
        assert_eq!(facts(&place.read("r.html"))["invalid"], "0", "{by}");
        std::fs::remove_file(place.path("r.html")).unwrap();
    }
}

#[test]
fn what_merges_very_many_pairs_is_estimated_by_some() {
    let pair = |i: usize| match i % 10 {
        0..6 => format!("HTTP://h/{i}\nhttp://h/{i}\n"),
        6..9 => format!("http://h/{i}/\nhttp://h/{i}\n"),
        _ => format!("http://www.h.example/{i}/\nhttp://h.example/{i}\n"),
    };
    let pairs: String = (0..40_000).map(pair).collect();
    // What occurs often is looked into in any case.
    let often = "http://often.example\n".to_owned() + &"http://often.example/\n".repeat(40_000);
    let place = Place::new(&[("list", &(pairs + &often))]);
    place.run(&["dedup", "--preset", "log", "list", "--report", "r.html"], "");
    let page = place.read("r.html");
    check(&page);
    let (sentence, close) =
        (verdict(&page), |share: u64, expected: u64| share.abs_diff(expected) < 2);
    let words: Vec<&str> = sentence.split([' ', '.']).collect();
    let share_before = |what: &str| -> u64 {
        let at =
            words.iter().position(|word| *word == what).unwrap_or_else(|| panic!("{sentence}"));
        let percent = words[..at].iter().rposition(|word| *word == "%").unwrap();
        words[percent - 1].parse().unwrap()
    };
    assert!(sentence.contains("Of these, about "), "{sentence}");
    assert!(close(share_before("spelling"), 80), "{sentence}");
    assert!(close(share_before("rule"), 15), "{sentence}");
    assert!(close(share_before("several"), 5), "{sentence}");
    assert!(page.contains("<p>Of all 80,000 duplicates. What makes them equivalent is estimated by 20,000 pairs of those.</p>"));
    assert!(page.contains("<p class=\"count\">≈ ") && !page.contains("not looked into"), "{page}");
}

#[test]
fn what_was_read_and_not_selected_is_said() {
    let place = Place::new(&[("list", LIST)]);
    place.run(&["dedup", "--match", "zzz", "--report", "r.html", "list"], "");
    let page = place.read("r.html");
    assert_eq!(verdict(&page), "5 records were read, none of them selected.");
    assert!(page.contains("<small>not selected</small>"), "{page}");
}

#[test]
fn what_a_profile_merges_is_not_put_down_to_rules() {
    let many: String =
        (0..21_000).map(|i| format!("http://h/{i}?b&a\nhttp://h/{i}?a&b\n")).collect();
    let few = "http://h/?b&a\nhttp://h/?a&b\nhttp://h/?b&a\n";
    let place = Place::new(&[("few", few), ("many", &many)]);
    let page_of = |args: &[&str]| {
        place.run(&[args, &["--report", "r.html"]].concat(), "");
        let page = place.read("r.html");
        std::fs::remove_file(place.path("r.html")).unwrap();
        page
    };
    for profile in ["w3lib", "surt"] {
        let page = page_of(&["dedup", "--profile", profile, "few"]);
        let why = format!("50 % byte for byte and 50 % only by the profile {profile}");
        assert!(verdict(&page).contains(&why), "{}", verdict(&page));
        let page = page_of(&["dedup", "--profile", profile, "many"]);
        let why = format!("Of these, all only by the profile {profile}.");
        assert!(verdict(&page).contains(&why), "{}", verdict(&page));
        assert!(page.contains("<p>Of all 21,000 duplicates.</p>"), "{page}");
    }
}

#[test]
fn the_size_of_an_input_is_shown_where_all_of_it_is_counted() {
    let place = Place::new(&[("list", LIST)]);
    for (args, is_all) in [
        (&["dedup", "list"][..], true),
        (&["dedup", "--match", "a.example", "list"], true),
        (&["dedup", "--extract", "list"], false),
        (&["extract", "list"], true),
    ] {
        place.run(&[args, &["--report", "r.html"]].concat(), "");
        let page = place.read("r.html");
        assert_eq!(
            page.contains(&format!("list: {} bytes, read in", LIST.len())),
            is_all,
            "{args:?}"
        );
        assert_eq!(
            (page.contains(" MB/s"), page.contains(" M records/s")),
            (is_all, !is_all),
            "{args:?}"
        );
        std::fs::remove_file(place.path("r.html")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_report_that_cannot_be_whole_is_an_error() {
    let list: String = (0..300_000).map(|i| format!("http://h/{i}\n")).collect();
    let place = Place::new(&[("list", &list)]);
    let script = format!(
        "{} dedup -q list --report r.html | head -1 > first; echo ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_uriscan")
    );
    let ran = std::process::Command::new("bash")
        .args(["-c", &script])
        .current_dir(place.path("."))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "2\n");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("no report was written"));
    assert!(!place.path("r.html").exists());
}
