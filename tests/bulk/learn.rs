//! Learning on sites whose rules are known: every rule is found, and no other.

#[allow(dead_code, reason = "the generator's program uses what is not looked at here")]
#[path = "../../examples/gen-sites/sites.rs"]
mod sites;

use std::io::Cursor;

use sites::{EDITS, Kind, Row, Site};
use uriscan::rules::{RuleSet, RulesFile, Scratch};
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{MemoryLimit, Settings, Sinks};
use uriscan_learn::{Findings, LearnOptions, Learned, Learner, learn, test};

fn rows(sites: &[Site], pages: u32) -> Vec<Row> {
    let mut rows = Vec::new();
    sites.iter().for_each(|site| site.rows(pages, |row| rows.push(row)));
    rows
}

fn source(rows: &[Row]) -> Source {
    let lines: Vec<String> =
        rows.iter().map(|(url, digest)| format!("{url}\t{digest}\n")).collect();
    Source::new("rows", Cursor::new(lines.concat().into_bytes()))
}

fn learned(rows: &[Row], options: &LearnOptions) -> (Learned, String) {
    let mut out = Vec::new();
    let learned =
        learn(vec![source(rows)], options, &Settings::default(), &mut Sinks::new(&mut out));
    (learned.unwrap(), String::from_utf8(out).unwrap())
}

fn rules_of(text: &str) -> RuleSet {
    let rules_file = RulesFile::parse(text, "learned", &mut |_, _| Err(String::new())).unwrap();
    let mut builder = RuleSet::builder();
    builder.rules_file(&rules_file);
    builder.build().unwrap()
}

/// What was not found, and what was found and is not so.
fn mistakes(sites: &[Site], rules: &RuleSet) -> [Vec<String>; 2] {
    let mut mistakes = [Vec::new(), Vec::new()];
    let form = |url: &str| rules.apply(url.as_bytes(), &mut Scratch::default()).0.to_vec();
    for site in sites {
        for (i, edit) in EDITS.iter().enumerate() {
            let (one, other) = site.probe(i);
            let is_rule = site.rules[i] && site.kind == Kind::Honest;
            let is_found = form(&one) == form(&other);
            if is_rule != is_found {
                mistakes[usize::from(is_found)].push(format!("{} {edit:?}", site.host));
            }
        }
    }
    mistakes
}

fn check(seed: u64, count: u64, pages: u32) {
    let sites: Vec<Site> = (0..count).map(|number| Site::new(seed, number, true, 0)).collect();
    let (learned, text) = learned(&rows(&sites, pages), &LearnOptions::default());
    let [missed, wrong] = mistakes(&sites, &rules_of(&text));
    assert!(missed.is_empty() && wrong.is_empty(), "missed {missed:?}\nwrong {wrong:?}\n{text}");
    assert!(learned.held_back.wrong * 100 <= learned.held_back.right, "{:?}", learned.held_back);
    assert!(learned.held_back.recall().unwrap() > 0.95, "{:?}", learned.held_back);
}

#[test]
fn every_rule_of_a_site_of_200_pages_is_found_and_no_other() {
    check(1, 12, 200);
}

mod full {
    #[test]
    fn every_rule_of_a_thousand_sites_is_found_and_no_other() {
        super::check(2, 1000, 200);
    }
}

#[test]
fn the_same_rows_in_any_order_and_under_any_limit_give_the_same_file() {
    let sites: Vec<Site> = (0..4).map(|number| Site::new(5, number, true, 2)).collect();
    let mut rows = rows(&sites, 120);
    let (_, text) = learned(&rows, &LearnOptions::default());
    let dir = tempfile::tempdir().unwrap();
    for (turn, bytes) in [(1, 1 << 30), (2, 16 << 20), (3, 4 << 20)] {
        // A bijection that is far from the identity.
        let count = rows.len();
        rows = (0..count).map(|i| rows[(i * 7919 + turn) % count].clone()).collect();
        let options = LearnOptions::default().limit(MemoryLimit::new(bytes, dir.path()));
        assert_eq!(learned(&rows, &options).1, text, "{turn}");
    }
}

#[test]
fn what_was_learned_can_be_tested_on_other_pages() {
    let site = Site::new(9, 1, false, 0);
    let all = rows(std::slice::from_ref(&site), 700);
    let is_first = |(url, _): &Row| {
        url.to_lowercase().contains("shop1") || url.to_lowercase().contains("shop2")
    };
    let (first, second): (Vec<Row>, Vec<Row>) = all.into_iter().partition(is_first);
    let (_, text) = learned(&first, &LearnOptions::default());
    let mut out = Vec::new();
    let (settings, mut sinks) = (Settings::default(), Sinks::new(&mut out));
    let tested = test(
        vec![source(&second)],
        &rules_of(&text),
        &LearnOptions::default(),
        &settings,
        &mut sinks,
    )
    .unwrap();
    assert!(tested.score.lost == 0 && tested.score.recall().unwrap() > 0.9, "{:?}", tested.score);
    let table = String::from_utf8(out).unwrap();
    let starts: Vec<&str> = table.lines().map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!(starts, ["site", "s1.example", "*"]);
}

#[test]
fn a_site_that_exceeds_the_limit_is_sampled_by_pages() {
    let site = Site::new(3, 3, false, 0);
    let mut rows = rows(std::slice::from_ref(&site), 1500);
    let dir = tempfile::tempdir().unwrap();
    let options = LearnOptions::default().limit(MemoryLimit::new(8 << 20, dir.path()));
    let (learned_first, text) = learned(&rows, &options);
    let [missed, wrong] = mistakes(&[site], &rules_of(&text));
    assert!(missed.is_empty() && wrong.is_empty(), "missed {missed:?}\nwrong {wrong:?}\n{text}");
    assert!(
        text.contains(", a sample of those that exceed the memory limit\n")
            && learned_first.read.report.spilled > 0
    );
    rows.reverse();
    assert_eq!(learned(&rows, &options).1, text);
    // One script has one path, of which there is no part.
    let script = |i: usize| (format!("http://h.example/index.php?page={i}"), i.to_string());
    let (learned, text) = learned(&(0..20_000).map(script).collect::<Vec<_>>(), &options);
    assert!(
        text.ends_with("\n# h.example: 1 URL, a sample of those that exceed the memory limit\n"),
        "{text}"
    );
    assert_eq!((learned.rules, learned.read.sites), (0, 1));
}

#[test]
fn hosts_of_a_shared_suffix_are_sites_of_their_own() {
    let page =
        |host: &str, i: usize, query: &str| (format!("http://{host}/p{i}{query}"), format!("{i}"));
    let hosts = ["a.github.io", "b.github.io", "192.0.2.1", "localhost"];
    let rows: Vec<Row> = (0..100)
        .flat_map(|i| {
            hosts.into_iter().flat_map(move |host| [page(host, i, ""), page(host, i, "?s=1")])
        })
        .collect();
    let (learned, text) = learned(&rows, &LearnOptions::default());
    assert_eq!((learned.read.sites, learned.rules), (4, 4), "{text}");
    assert!(!text.contains("host ="), "{text}");
}

#[test]
fn names_that_are_new_on_each_page_take_little_and_prove_nothing() {
    let page = |i: usize| {
        [
            (format!("http://h.example/p{i}"), i.to_string()),
            (format!("http://h.example/p{i}?x{i}=1&y{i}"), i.to_string()),
        ]
    };
    let (learned, text) =
        learned(&(0..5000).flat_map(page).collect::<Vec<_>>(), &LearnOptions::default());
    // All together they mean nothing, which is what the data say.
    assert_eq!((learned.rules, text.contains("drop = [\"*\"]")), (1, true), "{text}");
}

#[test]
fn pages_with_the_same_last_segment_in_two_cases_prove_the_case_of_paths_and_no_index_page() {
    let page = |i: usize| {
        [
            (format!("http://h.example/d{i}/Index?x={i}"), i.to_string()),
            (format!("http://h.example/d{i}/index?x={i}"), i.to_string()),
            (format!("http://h.example/d{i}/?x={i}"), format!("list {i}")),
        ]
    };
    let (_, text) = learned(&(0..100).flat_map(page).collect::<Vec<_>>(), &LearnOptions::default());
    assert!(text.contains("\nrules = [\"path-case\"]\n"), "{text}");
    assert!(!text.contains("index-page="), "{text}");
}

/// The rules of `lines`, without comments.
fn rules_in(lines: &str) -> String {
    let rows: Vec<Row> = lines
        .lines()
        .map(|line| line.split_once('\t').unwrap())
        .map(|(url, digest)| (url.to_owned(), digest.to_owned()))
        .collect();
    let text = learned(&rows, &LearnOptions::default()).1;
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn an_extension_is_dropped_if_pages_are_the_same_without_it() {
    let lines = (0..100).map(|i| {
        let url = format!("http://h.example/d{i}/page{i}");
        format!("{url}\t{i}\n{url}.html\t{i}\n{url}.php\t{i}\n{url}.pdf\tpdf {i}\n")
    });
    let found = rules_in(&lines.collect::<String>());
    let table =
        |name: &str| format!("[[site]]\nhosts = [\"h.example\"]\nrules = [\"extension={name}\"]");
    assert_eq!(found, table("html") + "\n" + &table("php"));
}

#[test]
fn a_parameter_is_dropped_beside_the_value_that_makes_it_meaningless_and_nowhere_else() {
    let lines = (0..100).map(|i| {
        let of = |view: &str, color: u32, digest: &str| {
            format!("http://h.example/p{i}?color={color}&view={view}\t{i} {digest}\n")
        };
        of("print", 1, "") + &of("print", 2, "") + &of("web", 1, "red") + &of("web", 2, "blue")
    });
    let found = rules_in(&lines.collect::<String>());
    let table = "[[param]]\nhosts = [\"h.example\"]\ngiven = [\"view=print\"]\ndrop = [\"color\"]";
    assert_eq!(found, table);
}

#[test]
fn programs_below_different_segments_of_a_host_have_rules_of_their_own() {
    let lines = (0..100).map(|i| {
        let of = |path: &str, digest: &str| format!("http://h.example/{path}\t{i} {digest}\n");
        of(&format!("forum/t{i}?s=1"), "")
            + &of(&format!("forum/t{i}?s=2"), "")
            + &of(&format!("shop/p{i}?s=1"), "one")
            + &of(&format!("shop/p{i}?s=2"), "two")
    });
    let found = rules_in(&lines.collect::<String>());
    let table = "[[param]]\nhosts = [\"h.example\"]\npaths = [\"/forum/\"]\ndrop = [\"s\"]";
    assert_eq!(found, table);
}

/// Pages of so many hosts of a domain, each with and without a parameter.
fn of_hosts(domain: &str, hosts: usize, pages: usize) -> String {
    let page = |host: usize, i: usize| {
        let url = format!("http://h{host}.{domain}/p{i}");
        format!("{url}\t{host} {i}\n{url}?ref=x\t{host} {i}\n")
    };
    (0..hosts).flat_map(|host| (0..pages).map(move |i| page(host, i))).collect()
}

#[test]
fn hosts_that_prove_too_little_alone_prove_a_rule_together() {
    let found = rules_in(&of_hosts("some.example", 10, 12));
    assert!(
        found.starts_with("[[site]]\nhosts = [\"h0.some.example\", \"h1.some.example\", "),
        "{found}"
    );
    assert!(found.ends_with("\"h9.some.example\"]\ndrop = [\"ref\"]"), "{found}");
    // Many hosts prove it for those that are not seen here, too.
    let found = rules_in(&of_hosts("many.example", 90, 3));
    assert_eq!(found, "[[site]]\nhosts = [\"site:many.example\"]\ndrop = [\"ref\"]");
    // One of them is not enough.
    assert_eq!(rules_in(&of_hosts("one.example", 1, 12)), "");
}

#[test]
fn a_host_with_many_rules_is_learned_in_time_that_grows_with_their_number() {
    let lines = |rules: usize| -> String {
        let page = |i: usize| {
            let url = format!("http://h.example/p{i}");
            format!("{url}\t{i}\n{url}?x{}=1\t{i}\n", i % rules)
        };
        (0..90 * rules).map(page).collect()
    };
    let found = rules_in(&lines(20));
    assert_eq!(found.matches("drop = ").count(), 20, "{found}");
}

#[test]
fn sites_that_are_learned_apart_make_the_same_file() {
    let sites: Vec<Site> = (0..12).map(|number| Site::new(7, number, true, 0)).collect();
    let all = rows(&sites, 60);
    let options = LearnOptions::default().date(Some("2026-11-27".to_owned()));
    let (whole, text) = learned(&all, &options);
    for count in [1, 3, 12] {
        let mut learners: Vec<Learner> = (0..count).map(|_| Learner::new(&options)).collect();
        // Rows of a site are handed to one of them, from the last to the first.
        for (number, site) in sites.iter().enumerate().rev() {
            let mut own = rows(std::slice::from_ref(site), 60);
            own.reverse();
            for (url, digest) in own {
                let learner = &mut learners[number % count];
                learner.add(url.as_bytes(), digest.as_bytes(), b" ", b"").unwrap();
            }
        }
        learners[0].add(b" ", b"x", b"", b"").unwrap();
        let mut together = Findings::default();
        for learner in learners {
            let bytes = learner.finish().unwrap().to_bytes();
            together.add(Findings::from_bytes(&bytes).unwrap());
        }
        let mut out = Vec::new();
        let joined = together.to_file(&["rows"], &options, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), text, "{count}");
        assert_eq!((joined.rules, joined.held_back), (whole.rules, whole.held_back));
        assert_eq!(joined.read.report.records, whole.read.report.records);
    }
    assert!(Findings::from_bytes(b"{}").is_none());
}

#[test]
fn what_pages_are_made_of_proves_nothing_about_pages() {
    let mut rows: Vec<Row> = Vec::new();
    for i in 0..200 {
        // Two hosts with one theme, and a server of files that ignores the query.
        for url in [
            format!("http://shop.x.example/theme/a{i}.css"),
            format!("http://blog.x.example/theme/a{i}.css"),
            format!("http://shop.x.example/theme/a{i}.css?v=2"),
            format!("http://shop.x.example/en/theme/a{i}.css"),
            format!("http://shop.x.example/theme/A{i}.css"),
        ] {
            rows.push((url, format!("css{i}")));
        }
        rows.push((format!("http://shop.x.example/item/{i}"), format!("item{i}")));
        rows.push((format!("http://blog.x.example/post/{i}"), format!("post{i}")));
    }
    let (found, text) = learned(&rows, &LearnOptions::default());
    assert_eq!(found.rules, 0, "{text}");
    // They contradict what pages say.
    for i in 0..200 {
        rows.push((format!("http://shop.x.example/item/{i}?v=2"), format!("item{i}")));
        rows.push((format!("http://shop.x.example/theme/b{i}.css"), format!("b{i}")));
        rows.push((format!("http://shop.x.example/theme/b{i}.css?v=2"), format!("b{i}-2")));
    }
    let (_, text) = learned(&rows, &LearnOptions::default());
    assert!(!text.contains("hosts = [\"shop.x.example\"]\ndrop"), "{text}");
    assert!(text.contains("paths = [\"/item/\"]\ndrop = [\"v\"]"), "{text}");
}

#[test]
fn the_case_of_names_is_a_rule_where_it_means_nothing() {
    let mut rows: Vec<Row> = Vec::new();
    for page in 0..150 {
        let row = |host: &str, query: String, digest: String| {
            (format!("http://{host}.example/item.aspx{query}"), digest)
        };
        rows.push(row("a", format!("?id={page}&sort=x"), format!("a{page}")));
        rows.push(row("a", format!("?ID={page}&Sort=x"), format!("a{page}")));
        // Here another parameter has the same letters.
        rows.push(row("b", format!("?id={page}"), format!("b{page}")));
        rows.push(row("b", format!("?ID={page}"), format!("b-{page}")));
    }
    let (_, text) = learned(&rows, &LearnOptions::default());
    assert!(text.contains("hosts = [\"a.example\"]\nrules = [\"param-case\"]\n"), "{text}");
    assert!(!text.contains("hosts = [\"b.example\"]"), "{text}");
    let rules = rules_of(&text);
    let mut scratch = Scratch::default();
    let form = rules.apply(b"http://a.example/?ID=1&Sort=x", &mut scratch).0;
    assert_eq!(form, b"http://a.example/?id=1&sort=x");
}

#[test]
fn examples_are_urls_of_the_input_whatever_rules_were_found_before() {
    let page = |i: usize| {
        let urls = [
            format!("http://a.example/Shop/P{i}.html"),
            format!("http://a.example/Shop/P{i}"),
            format!("http://a.example/shop/p{i}.html"),
            format!("http://a.example/Shop/P{i}.html?sid={i}"),
            format!("http://www.a.example/Shop/P{i}.html"),
        ];
        let lines = urls.iter().map(|url| format!("{url}\td{i}\n"));
        lines.collect::<String>()
    };
    let lines: String = (0..150).map(page).collect();
    let source = Source::new("rows", Cursor::new(lines.clone().into_bytes()));
    let (mut out, settings) = (Vec::new(), Settings::default());
    learn(vec![source], &LearnOptions::default(), &settings, &mut Sinks::new(&mut out)).unwrap();
    let text = String::from_utf8(out).unwrap();
    let shown: Vec<&str> =
        text.lines().filter_map(|line| Some(&line[line.find("http://")?..])).collect();
    assert!(shown.len() >= 8, "{text}");
    for url in shown {
        // What may be a secret is masked.
        let start = url.strip_suffix("***").unwrap_or(url);
        assert!(lines.contains(&format!("\n{start}")) || lines.starts_with(start), "{url}");
    }
}
