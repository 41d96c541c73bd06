//! Learning from rows of sites that change, that hide pages, and of people who want pages of others lost.

use std::io::Cursor;

use uriscan::rules::{RuleSet, RulesFile};
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{MemoryLimit, Settings, Sinks};
use uriscan_learn::{LearnOptions, learn, test};

/// The file that is learned from `lines`.
fn file(lines: &str) -> String {
    let mut out = Vec::new();
    let source = Source::new("rows", Cursor::new(lines.as_bytes().to_vec()));
    let options = LearnOptions::default();
    learn(vec![source], &options, &Settings::default(), &mut Sinks::new(&mut out)).unwrap();
    String::from_utf8(out).unwrap()
}

/// The rules in it, without comments.
fn rules(lines: &str) -> String {
    let file = file(lines);
    let lines = file.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// Lines of `count` pages, as `of_page` makes them.
fn pages(count: usize, of_page: impl Fn(usize) -> String) -> String {
    (0..count).map(of_page).collect()
}

#[test]
fn a_page_that_changes_does_not_make_one_page_of_those_that_it_was() {
    let digests = pages(75, |i| {
        format!(
            "http://v.example/p{i}?v=1\ta{i}\nhttp://v.example/p{i}?v=2\tb{i}\nhttp://v.example/p{i}\ta{i}\nhttp://v.example/p{i}\tb{i}\n"
        )
    });
    assert_eq!(rules(&digests), "");
    let redirects = pages(75, |i| {
        let base = format!("http://v.example/p{i}");
        format!(
            "{base}?v=1\ta{i}\n{base}?v=2\tb{i}\n{base}\t\t\t{base}?v=1\n{base}\t\t\t{base}?v=2\n"
        )
    });
    assert_eq!(rules(&redirects), "");
    let random = pages(100, |i| {
        format!(
            "http://r.example/random\td{i}\nhttp://r.example/p{i}\td{i}\nhttp://r.example/p{i}?ref=x\td{i}\n"
        )
    });
    assert!(rules(&random).contains("drop = [\"ref\"]"), "{}", file(&random));
}

#[test]
fn a_rule_that_loses_many_pages_in_one_group_is_not_proven() {
    let listing = pages(150, |i| {
        format!("http://l.example/p{i}\td{i}\nhttp://l.example/p{i}?page=1\td{i}\n")
    });
    assert!(rules(&listing).contains("drop = [\"page\"]"));
    let listed = pages(5_000, |i| format!("http://l.example/list?page={i}\tl{i}\n"));
    assert_eq!(rules(&(listing + &listed)), "");
    let tracking = pages(140, |i| {
        format!("http://t.example/p{i}\td{i}\nhttp://t.example/p{i}?t{}=1\td{i}\n", i % 5)
    });
    let shown = pages(5_000, |i| format!("http://t.example/view?id={i}\tv{i}\n"));
    assert_eq!(rules(&(tracking + &shown)), "");
}

#[test]
fn the_pages_of_one_host_do_not_hide_those_that_rules_of_another_one_lose() {
    let good = pages(3_000, |i| {
        format!("http://a.h.example/p{i}\td{i}\nhttp://a.h.example/p{i}?x=1\td{i}\n")
    });
    let bad = pages(100, |i| {
        let base = format!("http://b.h.example/q{i}");
        format!("{base}?y=1\te{i}\n{base}\te{i}\n{base}?y=1&z={i}\tf{i}\n{base}?z={i}\tf{i}\n")
    });
    let found = rules(&(good + &bad));
    assert!(found.contains("hosts = [\"b.h.example\"]\ndrop = [\"y\"]"), "{found}");
    assert!(!found.contains("\"*\"") && !found.contains("\"z\""), "{found}");
}

#[test]
fn what_a_third_page_names_does_not_outweigh_the_digests_of_pages() {
    let lines = pages(100, |i| {
        (1..3)
            .map(|k| {
                let url = format!("http://uni.example/p{i}?id={k}");
                format!("{url}\tv{i}-{k}\nhttp://uni.example/~evil/q{i}?{k}\te{i}\t{url}\n")
            })
            .collect::<String>()
    });
    assert!(!rules(&lines).contains("id"), "{}", rules(&lines));
    let redirects = lines.replace("\te", "\t\t\t").replace("\t\t\t", "\t");
    assert!(!rules(&redirects).contains("drop"), "{}", rules(&redirects));
    // What a page says of itself counts.
    let own = pages(100, |i| {
        let url = format!("http://own.example/p{i}");
        format!("{url}\ta{i}\t{url}\n{url}?s=1\tb{i}\t{url}\n{url}?s=2\tc{i}\t{url}\n")
    });
    assert!(rules(&own).contains("drop = [\"s\"]"), "{}", file(&own));
}

#[test]
fn a_parameter_that_opens_pages_behind_a_log_in_page_is_not_dropped() {
    let free = |count| {
        pages(count, |i| {
            format!("http://p.example/f{i}\td{i}\nhttp://p.example/f{i}?key=7\td{i}\n")
        })
    };
    assert!(rules(&free(100)).contains("drop = [\"key\"]"));
    let paid = pages(2_000, |i| {
        format!("http://p.example/paid{i}\tlogin\nhttp://p.example/paid{i}?key=7\tr{i}\n")
    });
    assert_eq!(rules(&(free(100) + &paid)), "");
    // A few pages that were errors once are no reason.
    let errors =
        pages(7, |i| format!("http://p.example/e{i}\toops\nhttp://p.example/e{i}?key=7\tr{i}\n"));
    assert!(rules(&(free(200) + &errors)).contains("drop = [\"key\"]"));
}

#[test]
fn hosts_are_the_same_only_if_pages_of_both_are() {
    let one = pages(78, |i| {
        format!("http://h.y.example/p{i}\ta{i}\nhttp://h.y.example/p{i}?ref=1\ta{i}\n")
    });
    let other = pages(100, |i| {
        format!("http://m.y.example/q{i}\tb{i}\nhttp://m.y.example/q{i}?ref=1\tb{i}\n")
    });
    let both =
        pages(4, |i| format!("http://h.y.example/c{i}\tc{i}\nhttp://m.y.example/c{i}\tc{i}\n"));
    let found = rules(&(one + &other + &both));
    assert!(found.contains("ref") && !found.contains("host ="), "{found}");
}

#[test]
fn pages_that_rules_join_across_sites_are_tested_together() {
    let rules_file = "[[site]]\nhosts = [\"one.example\"]\nhost = \"two.example\"\n";
    let rules_file = RulesFile::parse(rules_file, "t", &mut |_, _| Err(String::new())).unwrap();
    let mut builder = RuleSet::builder();
    builder.rules_file(&rules_file);
    let rules: RuleSet = builder.build().unwrap();
    let lines =
        pages(3, |i| format!("http://one.example/{i}\ta{i}\nhttp://two.example/{i}\tb{i}\n"));
    let source = Source::new("rows", Cursor::new(lines.into_bytes()));
    let (mut out, options) = (Vec::new(), LearnOptions::default());
    let tested =
        test(vec![source], &rules, &options, &Settings::default(), &mut Sinks::new(&mut out));
    let score = tested.unwrap().score;
    assert_eq!((score.wrong, score.lost), (3, 3));
    assert!(String::from_utf8(out).unwrap().contains("\ntwo.example\t6\t6\t0\t3\t"));
}

#[test]
fn a_test_of_a_sample_says_so() {
    let lines = pages(20_000, |i| format!("http://h.example/page/number/{i}\td{i}\n"));
    let dir = std::env::temp_dir();
    let options = LearnOptions::default().limit(MemoryLimit::new(1 << 20, dir));
    let source = Source::new("rows", Cursor::new(lines.into_bytes()));
    let rules = RuleSet::builder().build().unwrap();
    let mut out = Vec::new();
    let tested =
        test(vec![source], &rules, &options, &Settings::default(), &mut Sinks::new(&mut out));
    assert_eq!(tested.unwrap().sampled, 1);
}

#[test]
fn lines_of_indexes_that_cannot_be_read_are_invalid_and_numbers_are_statuses() {
    let lines = [
        "com,h)/ 20260101000000 {\"url\":\"http://h.example/\",\"status\":200,\"digest\":null}",
        "com,h)/ 20260101000000 {\"url\":\"http://h.example/\",\"status\":404}",
        "com,h)/ 20260101000000 {\"url\":\"http://h.example/\"",
        "com,h)/ 20260101000000 http://h.example/ text/html",
    ];
    let source = Source::new("rows", Cursor::new(lines.join("\n").into_bytes()));
    let (mut out, options) = (Vec::new(), LearnOptions::default());
    let learned =
        learn(vec![source], &options, &Settings::default(), &mut Sinks::new(&mut out)).unwrap();
    assert_eq!((learned.read.report.records, learned.read.report.invalid.total()), (4, 2));
    assert_eq!((learned.read.sites, learned.read.others), (1, 1));
}

#[test]
fn a_host_that_contradicts_stops_a_rule_for_the_hosts_of_a_domain() {
    let hosts = |domain: &str| {
        pages(270, |i| {
            let url = format!("http://h{}.{domain}/p{i}", i % 90);
            format!("{url}\t{i}\n{url}?ref=x\t{i}\n")
        })
    };
    assert!(rules(&hosts("all.example")).contains("site:all.example"));
    let other = pages(4, |i| {
        let url = format!("http://other.all.example/p{i}");
        format!("{url}\tone {i}\n{url}?ref=x\ttwo {i}\n")
    });
    assert_eq!(rules(&(hosts("all.example") + &other)), "");
    // A host with one page for everything gets no rules, so that there are none for all hosts.
    let uniform = pages(60, |i| {
        format!("http://uniform.all.example/p{i}\tx\nhttp://uniform.all.example/p{i}?a\tx\n")
    });
    let found = rules(&(hosts("all.example") + &uniform));
    assert!(found.contains("\"h0.all.example\", ") && !found.contains("uniform"), "{found}");
    assert!(!found.contains("site:"), "{found}");
    // Hosts below a public suffix are of different owners.
    assert_eq!(rules(&hosts("github.io")), "");
    assert_eq!(rules(&hosts("co.uk")), "");
}

#[test]
fn a_rule_for_a_part_of_a_host_loses_no_pages_of_that_part() {
    let right = pages(150, |i| {
        format!("http://h.example/a/p{i}?v=1&s=1\td{i}\nhttp://h.example/a/p{i}?v=1&s=2\td{i}\n")
    });
    let elsewhere = pages(150, |i| {
        format!("http://h.example/b/p{i}?v=2&s=1\te{i}\nhttp://h.example/b/p{i}?v=2&s=2\tf{i}\n")
    });
    let found = rules(&(right.clone() + &elsewhere));
    assert!(found.contains("given = [\"v=1\"]") || found.contains("paths = [\"/a/\"]"), "{found}");
    // One list there, which the parameter turns the pages of.
    let list = pages(5_000, |i| format!("http://h.example/a/list?v=1&s={i}\tl{i}\n"));
    assert_eq!(rules(&(right.clone() + &elsewhere + &list)), "");
    // Pages that are behind a log-in page without it.
    let paid = pages(2_000, |i| {
        format!("http://h.example/a/paid{i}?v=1\tlogin\nhttp://h.example/a/paid{i}?v=1&s=7\tr{i}\n")
    });
    assert_eq!(rules(&(right + &elsewhere + &paid)), "");
}

#[test]
fn the_pages_of_one_user_make_rules_below_his_segment_only() {
    let own = pages(400, |i| {
        let url = format!("http://u.example/~evil/p{i}?lang=en");
        format!("{url}&id=1\te{i}\n{url}&id=2\te{i}\n")
    });
    let others = pages(60, |i| {
        let url = format!("http://u.example/~good/p{i}?lang=en");
        format!("{url}&id=1\tg{i}\n{url}&id=2\th{i}\n")
    });
    let found = rules(&(own + &others));
    assert!(!found.contains("given") && !found.contains("[[site]]"), "{found}");
    let table = "[[param]]\nhosts = [\"u.example\"]\npaths = [\"/~evil/\"]\ndrop = [\"id\"]";
    assert_eq!(found, table);
}

#[test]
fn names_of_segments_and_values_are_no_patterns_and_no_tables() {
    let lines = pages(100, |i| {
        let of = |part: &str, s: usize, digest: &str| {
            format!("http://h.example/{part}&s={s}\t{i} {part} {digest}\n")
                .replace("#", &i.to_string())
        };
        let mut lines = String::new();
        for part in ["*/#?v=1", "x'],x=['/#?v=1", "y/#?v=*", "y/#?v=%22%5D%0A%5B%5Bsite%5D%5D"] {
            lines += &(of(part, 1, "") + &of(part, 2, ""));
        }
        lines
            + &of("z/#?w=1", 1, "one")
            + &of("z/#?w=1", 2, "two")
            + &of("y/#?v=a", 1, "one")
            + &of("y/#?v=a", 2, "two")
    });
    let found = file(&lines);
    let rules_file = RulesFile::parse(&found, "t", &mut |_, _| Err(String::new())).unwrap();
    let mut builder = RuleSet::builder();
    builder.rules_file(&rules_file);
    let rules = builder.build().unwrap();
    let form = |url: &str| {
        let mut scratch = uriscan::rules::Scratch::default();
        String::from_utf8(rules.apply(url.as_bytes(), &mut scratch).0.to_vec()).unwrap()
    };
    for kept in ["a/1?v=1&s=1", "y/1?v=a&s=1", "y/1?v=b&s=1", "z/1?w=1&s=1"] {
        let url = format!("http://h.example/{kept}");
        assert_eq!(form(&url), url, "{found}");
    }
    assert_eq!(form("http://h.example/*/1?s=1"), "http://h.example/*/1", "{found}");
}

#[test]
fn an_extension_that_tells_pages_apart_is_not_dropped() {
    let same =
        pages(100, |i| format!("http://h.example/p{i}\td{i}\nhttp://h.example/p{i}.html\td{i}\n"));
    assert!(rules(&same).contains("extension=html"));
    let other =
        pages(50, |i| format!("http://h.example/q{i}\te{i}\nhttp://h.example/q{i}.html\tf{i}\n"));
    assert!(!rules(&(same + &other)).contains("extension"));
}

#[test]
fn a_parameter_of_changing_pages_is_not_one_without_meaning() {
    let mut rows = String::new();
    for i in 0..80 {
        rows +=
            &format!("http://f.example/about/{i}\ts{i}\nhttp://f.example/about/{i}?id=5\ts{i}\n");
    }
    for i in 0..400 {
        rows += &format!(
            "http://f.example/thread?id={i}\ta{i}\nhttp://f.example/thread?id={i}\tb{i}\n"
        );
    }
    // Threads have a counter of views.
    assert!(!rules(&rows).contains("[[site]]"));
    assert!(rules(&rows).contains("paths = [\"/about/\"]\ndrop = [\"id\"]"));
    // The same without any content.
    let unknown: String = (0..400).map(|i| format!("http://f.example/find?id={i}\n")).collect();
    let known = rows.lines().take(160).map(|line| format!("{line}\n")).collect::<String>();
    assert!(!rules(&(known.clone() + &unknown)).contains("[[site]]"));
    assert!(rules(&known).contains("drop = [\"id\"]"));
}

#[test]
fn a_parameter_that_opens_pages_is_not_one_without_meaning() {
    let rows = |paid: usize| {
        let free = (0..100)
            .map(|i| format!("http://p.example/f{i}\td{i}\nhttp://p.example/f{i}?key=7\td{i}\n"));
        let paid = (0..paid).map(|i| {
            format!("http://p.example/paid{i}\tlogin\nhttp://p.example/paid{i}?key=7\tr{i}\n")
        });
        free.chain(paid).collect::<String>()
    };
    for paid in [20, 40, 80, 100] {
        assert!(!rules(&rows(paid)).contains("[["), "{paid}");
    }
    assert!(rules(&rows(0)).contains("drop = [\"key\"]"));
}

#[test]
fn names_that_are_new_on_each_page_do_not_drop_one_with_a_meaning() {
    let mut rows = String::new();
    for i in 0..300 {
        rows += &format!("http://t.example/n{i}\td{i}\nhttp://t.example/n{i}?k{i}=1\td{i}\n");
    }
    assert!(rules(&rows).contains("drop = [\"*\"]"));
    for i in 0..6 {
        rows += &format!("http://t.example/arch?id={i}\ta{i}\n");
    }
    assert!(!rules(&rows).contains("drop = [\"*\"]"));
}

#[test]
fn what_contradicts_a_rule_is_not_held_back_as_a_whole() {
    // On the pages of seasons the parameter has a meaning: they hang together, as they have one path.
    let sites: String = (0..40)
        .map(|n| {
            let view = pages(200, |i| {
                format!("http://s{n}.example/view/{i}?s=1\tv{i}\nhttp://s{n}.example/view/{i}?s=2\tv{i}\n")
            });
            let seasons = pages(20, |y| {
                let url = format!("http://s{n}.example/season?y={y}");
                format!("{url}&s=1\tw{y}1\n{url}&s=2\tw{y}2\n")
            });
            view + &seasons
        })
        .collect();
    let rules = rules(&sites);
    assert_eq!(rules.matches("paths = [\"/view/\"]\ndrop = [\"s\"]").count(), 40, "{rules}");
    assert!(!rules.contains("[[site]]"), "{rules}");
}

#[test]
fn urls_without_content_do_not_outweigh_pages_that_are_lost() {
    let mut rows =
        pages(130, |i| format!("http://q.example/p{i}\td{i}\nhttp://q.example/p{i}?q=1\td{i}\n"));
    rows += &pages(1_000, |i| format!("http://q.example/list?q={i}\tl{i}\n"));
    rows += &pages(2_500, |i| {
        (0..10).map(|page| format!("http://q.example/p{page}?q={}\n", i + 2)).collect()
    });
    assert!(!rules(&rows).contains("drop"), "{}", rules(&rows));
}

#[test]
fn servers_on_several_ports_are_not_one_host() {
    let of = |port: &str, count: usize| {
        pages(count, |i| {
            format!(
                "http://203.0.113.5{port}/p{i}\td{port}{i}\nhttp://203.0.113.5{port}/p{i}?id=1\td{port}{i}\n"
            )
        })
    };
    let other = pages(100, |i| format!("http://203.0.113.5:8002/view?id={i}\tv{i}\n"));
    let both = of(":8001", 200) + &other;
    assert_eq!(rules(&both), "");
    assert!(file(&both).contains("# 203.0.113.5 has servers on several ports, and gets no rules"));
    assert!(rules(&of(":8001", 200)).contains("drop = [\"id\"]"));
    let few = of("", 200) + &pages(5, |i| format!("http://203.0.113.5:8002/x{i}\tx{i}\n"));
    assert!(rules(&few).contains("drop = [\"id\"]"));
}

#[test]
fn a_rule_that_has_a_secret_is_not_written() {
    let lines = pages(100, |i| {
        let with = format!("http://h.example/a/p{i}?access_token=SeCrEtSeCrEt42");
        format!(
            "{with}\td{i}\n{with}&s=1\td{i}\nhttp://h.example/b/q{i}\te{i}\nhttp://h.example/b/q{i}?s=1\tf{i}\n"
        )
    });
    assert!(!file(&lines).contains("SeCrEt"), "{}", file(&lines));
    assert!(rules(&lines).contains("paths = [\"/a/\"]"), "{}", file(&lines));
}

#[test]
fn a_digest_that_is_not_known_says_nothing() {
    let lines = pages(100, |i| {
        format!(
            "http://h.example/p{i}\t-\nhttp://h.example/p{i}?s=1\t-\nhttp://h.example/x{i}\tx{i}\n"
        )
    });
    assert_eq!(rules(&lines), "");
}

#[test]
fn names_that_differ_in_case_are_not_one_where_some_pages_differ() {
    let of = |differing: usize| {
        pages(200, |i| {
            let other = if i % 10 < differing { "x" } else { "" };
            format!(
                "http://h.example/v.aspx?id={i}\td{i}\nhttp://h.example/v.aspx?ID={i}\td{i}{other}\n"
            )
        })
    };
    assert!(rules(&of(0)).contains("rules = [\"param-case\"]"), "{}", file(&of(0)));
    assert_eq!(rules(&of(1)), "");
    // Both names in one URL are two parameters: nothing joins what differs in one of them.
    let both = pages(200, |i| {
        format!("http://h.example/w?a={i}&A=1\td{i}1\nhttp://h.example/w?a={i}&A=2\td{i}2\n")
    });
    let form = rules(&(of(0) + &both));
    assert!(!form.contains("drop"), "{form}");
}

#[test]
fn a_digest_is_the_same_in_any_spelling_of_its_algorithm() {
    let hex = |i: usize| format!("{i:040x}");
    let spelled = pages(100, |i| {
        let (digest, upper) = (hex(i + 0xabcdef), hex(i + 0xabcdef).to_uppercase());
        format!(
            "http://h.example/p{i}\tsha256:{digest}\nhttp://h.example/p{i}?s=1\tSHA-256:{upper}\n"
        )
    });
    assert!(rules(&spelled).contains("drop = [\"s\"]"), "{}", file(&spelled));
    // Other algorithms, and letters that mean something, are others.
    let others = pages(100, |i| {
        format!(
            "http://h.example/p{i}\tsha1:{i}aB\nhttp://h.example/p{i}?s=1\tsha1:{i}Ab\nhttp://h.example/q{i}\tmd5:{i}\nhttp://h.example/q{i}?t=1\tsha1:{i}\n"
        )
    });
    assert_eq!(rules(&others), "");
}

#[test]
fn redirects_in_a_circle_or_to_what_was_not_fetched_prove_nothing() {
    let circle = |i: usize| {
        let url = format!("http://h.example/p{i}");
        format!("{url}?x=1\t\t\t{url}\n{url}\t\t\t{url}?x=1\n")
    };
    let unknown = |i: usize| format!("http://h.example/p{i}?x=1\t\t\thttp://h.example/p{i}\n");
    let known = |i: usize| format!("{}http://h.example/p{i}\t{i}\n", unknown(i));
    let others = pages(100, |i| format!("http://h.example/other/{i}\to{i}\n"));
    assert_eq!(rules(&(pages(100, circle) + &others)), "");
    assert_eq!(rules(&pages(100, circle)), "");
    assert_eq!(rules(&(pages(100, unknown) + &others)), "");
    assert!(rules(&(pages(100, known) + &others)).contains("drop = [\"x\"]"));
    // A log of redirects has no digests.
    assert!(rules(&pages(100, unknown)).contains("drop = [\"x\"]"));
}

#[test]
fn a_host_becomes_the_one_that_it_redirects_to() {
    for (from, to) in [
        ("old.example.com", "a-long-name.example.com"),
        ("example.com", "www.example.com"),
        ("www.example.com", "example.com"),
    ] {
        let of_page =
            |i: usize| format!("http://{from}/p{i}\t\t\thttp://{to}/p{i}\nhttp://{to}/p{i}\t{i}\n");
        let more = pages(50, |i| format!("http://{from}/q{i}\t\t\thttp://{to}/\n"));
        let expected = format!("[[site]]\nhosts = [\"{from}\"]\nhost = \"{to}\"");
        let found = rules(&(pages(100, of_page) + &more));
        assert!(found.contains(&expected), "{found}");
    }
}

#[test]
fn a_redirect_to_a_log_in_page_that_was_not_fetched_speaks_against_a_rule() {
    let open = pages(100, |i| {
        format!("http://h.example/pub/{i}\ta{i}\nhttp://h.example/pub/{i}?tok={i}\ta{i}\n")
    });
    let closed = pages(100, |i| {
        let url = format!("http://h.example/m/{i}");
        format!("{url}\t\t\thttp://h.example/login?next=/m/{i}\n{url}?tok={i}\tm{i}\n")
    });
    assert!(rules(&open).contains("drop = [\"tok\"]"));
    let expected = "[[param]]\nhosts = [\"h.example\"]\npaths = [\"/pub/\"]\ndrop = [\"tok\"]";
    assert_eq!(rules(&(open + &closed)), expected);
}

#[test]
fn many_pages_that_change_speak_against_a_rule_that_would_join_them() {
    let still = pages(150, |i| {
        format!("http://h.example/about/{i}\ta{i}\nhttp://h.example/about/{i}?id=5\ta{i}\n")
    });
    let changing = |count: usize| {
        pages(count, |i| {
            let row = |id: usize, at: usize| {
                format!("http://h.example/thread/{i}?id={id}\tt{i}-{id}-{at}\n")
            };
            [row(1, 1), row(1, 2), row(2, 1), row(2, 2)].concat()
        })
    };
    let wide = "[[site]]\nhosts = [\"h.example\"]\ndrop = [\"id\"]";
    assert_eq!(rules(&still), wide);
    // A few counters of views do not matter.
    assert_eq!(rules(&(still.clone() + &changing(10))), wide);
    let below = "[[param]]\nhosts = [\"h.example\"]\npaths = [\"/about/\"]\ndrop = [\"id\"]";
    assert_eq!(rules(&(still + &changing(100))), below);
}

#[test]
fn what_stands_for_no_url_and_urls_of_apps_prove_nothing() {
    for absent in
        ["-", "NULL", "None", "nan", "\\N", "android-app://h/x", "javascript:void(0)", "http://"]
    {
        let lists = pages(150, |i| {
            let page = |page: usize| {
                format!("http://h.example/cat/{i}/?page={page}\td{i}-{page}\t{absent}\t{absent}\n")
            };
            page(1) + &page(2) + &page(3)
        });
        assert_eq!(rules(&lists), "", "{absent}");
        let shop = pages(100, |i| {
            let url = format!("http://h.example/p{i}");
            format!("{url}\td{i}\t{absent}\n{url}?ref=1\td{i}\t{absent}\n")
        });
        assert!(rules(&shop).contains("drop = [\"ref\"]"), "{absent}: {}", file(&shop));
    }
}

#[test]
fn redirects_to_another_site_prove_nothing() {
    let open = pages(100, |i| format!("http://h.example/pub/{i}\tp{i}\n"));
    let closed = pages(150, |i| {
        let row = |page: usize| {
            format!(
                "http://h.example/m/{i}?page={page}\t\t\thttp://sso.other.example/login?next=/m/{i}\n"
            )
        };
        row(1) + &row(2) + &row(3)
    });
    assert_eq!(rules(&(open + &closed)), "");
    assert_eq!(rules(&closed), "");
}
