//! Tests the rules of single sites, `[[site]]` of rule files.

use uriscan::rules::{Preset, RuleSet, RulesFile, Scratch};

fn rules(preset: &str, text: &str) -> RuleSet {
    let mut builder = RuleSet::builder();
    builder.preset(&Preset::from_name(preset).unwrap()).unwrap();
    builder.rules_file(&RulesFile::parse(text, "test", &mut |_, _| Err(String::new())).unwrap());
    builder.build().unwrap()
}

/// The form of a canonical `uri`, by both paths.
#[track_caller]
fn form(rules: &RuleSet, uri: &str) -> String {
    let mut text = uri.as_bytes().to_vec();
    for step in rules.steps(uri.as_bytes()) {
        text.splice(step.range, step.to);
    }
    let form = rules.apply(uri.as_bytes(), &mut Scratch::default()).0.to_vec();
    assert_eq!(String::from_utf8_lossy(&form), String::from_utf8_lossy(&text), "{uri}");
    String::from_utf8(form).unwrap()
}

#[track_caller]
fn check(rules: &RuleSet, forms: &[(&str, &str)]) {
    for (uri, expected) in forms {
        assert_eq!(form(rules, uri), *expected, "{uri}");
        assert_eq!(form(rules, expected), *expected, "{uri} twice");
    }
}

const SHOP: &str = "[[site]]\nhosts = ['m.shop.example', 'shop.example']\nhost = 'www.shop.example'\n\
    rules = ['path-case', 'path-prefix=/en/', 'path-decode=,', 'trailing-slash']\nwithout = ['anchor']\ndrop = ['sid']\n";

#[test]
fn a_site_has_its_own_host_rules_and_parameters() {
    check(
        &rules("crawl", SHOP),
        &[
            ("http://m.shop.example/en/A%2CB/?sid=1&id=2#x", "http://www.shop.example/a,b?id=2#x"),
            ("http://shop.example/", "http://www.shop.example/"),
            ("https://u@shop.example:8443/EN/", "https://u@www.shop.example:8443/"),
            ("http://www.shop.example/en", "http://www.shop.example/"),
            ("http://www.shop.example/?utm_source=x", "http://www.shop.example/"),
            // Others are as without the site.
            ("http://other.example/en/A/?sid=1#x", "http://other.example/en/A/?sid=1"),
            ("http://a.m.shop.example/A", "http://a.m.shop.example/A"),
            ("ftp://m.shop.example/A", "ftp://m.shop.example/A"),
        ],
    );
}

#[test]
fn the_host_of_a_site_holds_where_www_is_dropped() {
    check(
        &rules("log", SHOP),
        &[
            ("https://m.shop.example/A", "https://shop.example/a"),
            ("https://www.shop.example/A", "https://shop.example/a"),
            ("https://shop.example/A", "https://shop.example/a"),
            ("https://www.m.shop.example./A", "https://shop.example/a"),
        ],
    );
    let kept = "[[site]]\nhosts = ['www.a.example', 'a.example']\nwithout = ['www']\nrules = ['path-case']\n";
    check(
        &rules("log", kept),
        &[
            ("https://www.a.example/A", "https://www.a.example/a"),
            ("https://a.example/A", "https://a.example/a"),
            ("https://www.b.example/A", "https://b.example/A"),
        ],
    );
    let own = "[[site]]\nhosts = ['a.example']\nrules = ['www', 'path-case']\n";
    check(
        &rules("rfc", own),
        &[
            ("http://www.a.example/A", "http://a.example/a"),
            ("http://a.example/A", "http://a.example/a"),
            ("http://www.b.example/A", "http://www.b.example/A"),
        ],
    );
}

#[test]
fn rules_are_on_and_off_by_site() {
    let text = "rules = ['fragment', 'www', 'index-page=a,b']\n\
        [[param]]\ndrop = ['x', 'y']\n\
        [[site]]\nhosts = ['*.example.org']\nwithout = ['fragment', 'index-page', 'drop-param']\n\
        [[site]]\nhosts = ['b.example.org']\nrules = ['fragment', 'index-page=c', 'https']\n";
    check(
        &rules("rfc", text),
        &[
            ("http://h/a?x#f", "http://h/"),
            ("http://a.example.org/a?x#f", "http://a.example.org/a?x#f"),
            // Both apply; the later one overrides.
            ("http://b.example.org/c?x#f", "https://b.example.org/?x"),
            ("http://b.example.org/a?x#f", "https://b.example.org/a?x"),
            ("http://example.org/a", "http://example.org/"),
        ],
    );
    let order = text.replace("b.example.org", "c.example.org").replace("'*.", "'*.b.");
    check(&rules("rfc", &order), &[("http://c.example.org/c?y", "https://c.example.org/")]);
}

#[test]
fn exceptions_and_registrable_domains_hold_for_sites() {
    let text = "[[site]]\nhosts = ['site:example.co.uk', '[::1]', '127.0.0.1']\nexcept = ['api.example.co.uk']\nrules = ['path-case']\n";
    check(
        &rules("rfc", text),
        &[
            ("http://a.example.co.uk/A", "http://a.example.co.uk/a"),
            ("http://example.co.uk./A", "http://example.co.uk./a"),
            ("http://api.example.co.uk/A", "http://api.example.co.uk/A"),
            ("http://[::1]:80/A", "http://[::1]:80/a"),
            ("http://127.0.0.1/A", "http://127.0.0.1/a"),
            ("http://127.0.0.2/A", "http://127.0.0.2/A"),
        ],
    );
}

#[test]
fn parameters_of_a_site_are_those_of_its_hosts() {
    // Also where www is dropped elsewhere, and where the site drops it.
    let kept = "[[site]]\nhosts = ['www.h.example']\nwithout = ['www']\ndrop = ['sid']\n";
    check(
        &rules("log", kept),
        &[
            ("https://www.h.example/?sid=1", "https://www.h.example/"),
            ("https://h.example/?sid=1", "https://h.example/?sid=1"),
        ],
    );
    let dropped = "[[site]]\nhosts = ['www.h.example']\nrules = ['www']\ndrop = ['sid']\n";
    check(
        &rules("rfc", dropped),
        &[
            ("http://www.h.example/?sid=1", "http://h.example/"),
            ("http://h.example/?sid=1", "http://h.example/"),
            ("http://www.i.example/?sid=1", "http://www.i.example/?sid=1"),
        ],
    );
    let only = "[[site]]\nhosts = ['h.example']\nkeep = ['id']\n";
    check(&rules("rfc", only), &[("http://h.example/?id=1&b", "http://h.example/?id=1")]);
}

#[test]
fn a_site_that_keeps_www_keeps_what_others_say_of_the_host() {
    let text = "rules = ['www']\n[[site]]\nhosts = ['www.a.example']\nrules = ['path-case']\n\
        [[site]]\nhosts = ['*.a.example']\nwithout = ['www']\n";
    check(
        &rules("rfc", text),
        &[
            ("http://www.a.example/A", "http://www.a.example/a"),
            ("http://a.example/A", "http://a.example/a"),
        ],
    );
}

#[test]
fn arguments_of_all_hosts_are_as_written_where_a_site_turns_path_case_off() {
    let text = "rules = ['path-case', 'path-prefix=/EN/']\n[[site]]\nhosts = ['a.example']\nwithout = ['path-case']\n";
    check(
        &rules("rfc", text),
        &[
            ("http://a.example/EN/A", "http://a.example/A"),
            ("http://a.example/en/A", "http://a.example/en/A"),
            ("http://b.example/en/A", "http://b.example/a"),
        ],
    );
}

#[test]
fn rule_sets_that_do_something_else_have_another_identity() {
    use uriscan::normalize::Options;
    use uriscan::rules::Identity;
    let text = |keep: &str, drop: &str| {
        format!(
            "[[param]]\nhosts=['{keep}']\nkeep=['id']\n[[param]]\nhosts=['{drop}']\ndrop=['*']\nallow=['id']\n\
             [[site]]\nhosts=['a.example']\nwithout=['drop-param']\n"
        )
    };
    let [a, b] = [text("a.example", "b.example"), text("b.example", "a.example")]
        .map(|text| rules("rfc", &text));
    assert_ne!(form(&a, "http://a.example/?x"), form(&b, "http://a.example/?x"));
    let identity = |rules| Identity::new(Options::default(), Some(rules));
    assert_ne!(identity(&a), identity(&b));
}

#[test]
fn the_description_of_hosts_and_names_grows_with_the_text_and_not_with_their_product() {
    use uriscan::normalize::Options;
    use uriscan::rfc2396::Grammar;
    use uriscan::rules::Identity;
    const MANY: usize = 2000;
    let list = |name: &str| (0..MANY).map(|i| format!("'{name}{i}',")).collect::<String>();
    let described = |hosts: &str, kind: &str| {
        let text = format!("[[param]]\nhosts=['a',{hosts}]\n{kind}=[{}]\n", list("n"));
        let rules = rules("rfc", &text);
        Identity::text(Grammar::Rfc3986, Options::default(), Some(&rules))
    };
    let (hosts, drop) = (list("host"), "drop");
    let text = described(&hosts, drop);
    assert!(text.len() < 100 * MANY, "{}", text.len());
    assert_eq!(text, described(&hosts, drop));
    // Few hosts are written out.
    assert!(described("", drop).contains("drop n7 on a\n"));
    for (hosts, kind) in [
        (hosts.replacen("host7", "host8x", 1), drop.to_owned()),
        (hosts.clone(), "keep".to_owned()),
        (format!("'{}'", "b".repeat(200)), drop.to_owned()),
        (hosts.clone(), format!("except=[{}]\ndrop", list("other"))),
    ] {
        assert_ne!(text, described(&hosts, &kind));
    }
}

#[test]
fn the_lists_of_many_sites_are_limited_together() {
    let pages: Vec<String> = (0..20_000).map(|i| format!("page{i}.html")).collect();
    let sites = "[[site]]\nhosts = ['h.example']\nrules = ['www']\n";
    let build = |count: usize| {
        let text = format!("rules = ['index-page={}']\n{}", pages.join(","), sites.repeat(count));
        let mut builder = RuleSet::builder();
        builder
            .rules_file(&RulesFile::parse(&text, "test", &mut |_, _| Err(String::new())).unwrap());
        builder.build()
    };
    assert!(build(10).is_ok());
    let error = build(1000).unwrap_err().to_string();
    assert!(error.contains("test:2:1: all sites together take more than 64 MiB"), "{error}");
}

#[test]
fn sites_that_replace_each_others_hosts_are_refused() {
    let text = "[[site]]\nhosts = ['a.example']\nhost = 'b.example'\n[[site]]\nhosts = ['b.example']\nhost = 'a.example'\n";
    let mut builder = RuleSet::builder();
    builder.rules_file(&RulesFile::parse(text, "test", &mut |_, _| Err(String::new())).unwrap());
    let error = builder.build().unwrap_err().to_string();
    assert_eq!(
        error,
        "test:1:1: [[site]] with host `b.example`: this host would become `a.example` by the [[site]] at test:4:1"
    );
    // A chain is one, too: say where it ends.
    let chain = text.replace("host = 'a.example'", "host = 'c.example'");
    let mut builder = RuleSet::builder();
    builder.rules_file(&RulesFile::parse(&chain, "test", &mut |_, _| Err(String::new())).unwrap());
    assert!(builder.build().is_err());
}

#[test]
fn faults_in_sites_have_a_position_and_a_reason() {
    for (text, expected) in [
        ("[[site]]\nrules = ['www']", "test:1:1: missing field `hosts`"),
        ("[[site]]\nhosts = []\nrules = ['www']", "test:1:1: `hosts` names no host"),
        ("[[site]]\nhosts = ['h']", "test:1:1: a [[site]] needs host, rules"),
        ("[[site]]\nhosts = ['h']\nrules = ['wwww']", "test:3:10: unknown rule `wwww`"),
        (
            "[[site]]\nhosts = ['h']\nrules = ['drop-param=a']",
            "test:3:10: `drop-param` is for [[param]]",
        ),
        (
            "[[site]]\nhosts = ['h']\nrules = ['host-alias']",
            "test:3:10: `host-alias` is turned on by `host",
        ),
        (
            "[[site]]\nhosts = ['h']\nrules = ['path-prefix']",
            "test:3:10: `path-prefix` needs a list",
        ),
        ("[[site]]\nhosts = ['h']\nrules = ['path-prefix=en']", "test:3:10: `en` is not a prefix"),
        ("[[site]]\nhosts = ['h']\nwithout = ['w']", "test:3:12: unknown rule `w`"),
        (
            "[[site]]\nhosts = ['h']\nwithout = ['allow-param']",
            "test:3:12: `allow-param` cannot be",
        ),
        (
            "[[site]]\nhosts = ['h']\nrules = ['www']\nwithout = ['www']",
            "test:1:1: `www` is both on and off",
        ),
        (
            "[[site]]\nhosts = ['h']\ndrop = ['a']\nwithout = ['drop-param']",
            "test:1:1: `drop-param` is both",
        ),
        ("[[site]]\nhosts = ['h']\nhost = '*.h'", "test:3:8: `*.h`: name one host"),
        ("[[site]]\nhosts = ['h']\nhost = 'h:80'", "test:3:8: `h:80`: a host without port"),
        ("[[site]]\nhosts = ['h']\nhost = '[1'", "test:3:8: `[1` is not a host"),
        ("[[site]]\nhosts = ['h']\nhost = 'a]b'", "test:3:8: `a]b` is not a host"),
        ("[[site]]\nhosts = ['h']\nhost = '[::0:1]'", "test:3:8: `[::0:1]`: write `[::1]`"),
        ("[[site]]\nhosts = ['h']\nhost = 'a%41'", "test:3:8: `a%41`"),
        ("rules = ['path-decode=/']", "test:1:10: '/' cannot stand"),
        ("rules = ['keep-param=/']", "test:1:10: `keep-param` is for [[param]]"),
    ] {
        let error = RulesFile::parse(text, "test", &mut |_, _| Err(String::new())).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{text}: {error}");
    }
}

#[test]
fn tables_for_a_host_hold_where_a_site_keeps_or_drops_its_www() {
    const IDS: &str = "[[param]]\ndrop = ['id']\n[[param]]\nhosts = ['www.a.example', 'b.example']\nexcept = ['www.c.example']\nallow = ['id']\n";
    let kept =
        format!("rules = ['www']\n[[site]]\nhosts = ['www.a.example']\nwithout = ['www']\n{IDS}");
    check(
        &rules("rfc", &kept),
        &[
            ("http://www.a.example/?id=1", "http://www.a.example/?id=1"),
            ("http://a.example/?id=1", "http://a.example/"),
            ("http://www.b.example/?id=1", "http://b.example/?id=1"),
        ],
    );
    // A rule of all hosts, or of the site alone.
    for dropped in ["rules = ['www']\n", "[[site]]\nhosts = ['a.example']\nrules = ['www']\n"] {
        check(
            &rules("rfc", &format!("{dropped}{IDS}")),
            &[
                ("http://www.a.example/?id=1", "http://a.example/?id=1"),
                ("http://a.example/?id=1", "http://a.example/?id=1"),
            ],
        );
    }
    let except = "[[param]]\nexcept = ['www.a.example']\ndrop = ['id']\n";
    let dropped = "[[site]]\nhosts = ['a.example']\nrules = ['www']\n";
    check(
        &rules("rfc", &format!("{dropped}{except}")),
        &[("http://www.a.example/?id=1", "http://a.example/?id=1")],
    );
}

#[test]
fn tables_for_parameters_apply_below_paths_and_beside_parameters() {
    let text = "rules = ['path-prefix=/en', 'sort-query']\n\
        [[param]]\nhosts = ['h.example']\npaths = ['/forum/', '/shop/a']\ndrop = ['s']\n\
        [[param]]\ngiven = ['view=print', 'raw']\ndrop = ['color', 'view']\n\
        [[param]]\npaths = ['/forum/open']\nallow = ['s']\n";
    check(
        &rules("rfc", text),
        &[
            ("http://h.example/forum?s=1", "http://h.example/forum"),
            ("http://h.example/forum/t?s=1", "http://h.example/forum/t"),
            ("http://h.example/en/forum/t?s=1", "http://h.example/forum/t"),
            ("http://h.example/forum/open/t?s=1", "http://h.example/forum/open/t?s=1"),
            ("http://h.example/forums?s=1", "http://h.example/forums?s=1"),
            ("http://h.example/shop?s=1", "http://h.example/shop?s=1"),
            ("http://h.example/shop/a/?s=1", "http://h.example/shop/a/"),
            ("http://i.example/forum?s=1", "http://i.example/forum?s=1"),
            // The query is that before the parameter that was given is dropped.
            ("http://i.example/?view=print&color=1", "http://i.example/"),
            ("http://i.example/?raw&color=1", "http://i.example/?raw"),
            ("http://i.example/?view=web&color=1", "http://i.example/?color=1&view=web"),
            ("http://i.example/?raw=&color=1", "http://i.example/?color=1&raw="),
            // Of a route, they are those of the route.
            ("http://h.example/forum#/x?s=1", "http://h.example/forum#/x?s=1"),
            ("http://h.example/x#/forum?s=1", "http://h.example/x#/forum"),
        ],
    );
    // For parameters alone there is a path of its own.
    let alone = "[[param]]\npaths = ['/a']\ngiven = ['x=1']\ndrop = ['s']\n";
    check(
        &rules("rfc", alone),
        &[
            ("http://h/a/b?s=1&x=1", "http://h/a/b?x=1"),
            ("http://h/b?s=1&x=1", "http://h/b?s=1&x=1"),
            ("http://h?s=1&x=1", "http://h?s=1&x=1"),
        ],
    );
    for (text, expected) in [
        ("[[param]]\ngiven = ['a=1']\nallow = ['b']", "test:2:10: `given` is for `drop`"),
        ("[[param]]\ngiven = ['a&b']\ndrop = ['b']", "test:2:10: `a&b` is not a parameter"),
        ("[[param]]\npaths = ['a']\ndrop = ['b']", "test:2:10: `a` is not a prefix of a path"),
        (
            "[[site]]\nhosts = ['h']\npaths = ['/a']\ndrop = ['b']",
            "test:3:1: unknown field `paths`",
        ),
    ] {
        let error = RulesFile::parse(text, "test", &mut |_, _| Err(String::new())).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{text}: {error}");
    }
}
