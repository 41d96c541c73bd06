//! Tests which URIs each rule makes equivalent, and which it does not, at level `scheme`.

use uriscan::normalize::{Normalizer, Options};
use uriscan::rules::{Preset, RuleSet, RulesFile, Scratch};

fn rule_set(rules: &[&str]) -> RuleSet {
    let mut builder = RuleSet::builder();
    rules.iter().for_each(|rule| builder.rule(rule).unwrap());
    builder.build().unwrap()
}

fn rules_file(text: &str) -> RuleSet {
    let mut builder = RuleSet::builder();
    builder.rules_file(&RulesFile::parse(text, "test", &mut |_, _| Err(String::new())).unwrap());
    builder.build().unwrap()
}

fn preset(name: &str) -> RuleSet {
    let mut builder = RuleSet::builder();
    builder.preset(&Preset::from_name(name).unwrap()).unwrap();
    builder.build().unwrap()
}

/// The form of `uri`, by both paths.
#[track_caller]
fn form(rules: &RuleSet, uri: &str) -> String {
    let mut normalizer = Normalizer::new(Options::default());
    let canonical = normalizer.normalize(uri.as_bytes()).unwrap().to_vec();
    let mut scratch = Scratch::default();
    let (form, fired) = rules.apply(&canonical, &mut scratch);
    let mut text = canonical.clone();
    let steps = rules.steps(&canonical);
    for step in &steps {
        assert_eq!(text[step.range.clone()], step.from, "{uri}: {step:?}");
        text.splice(step.range.clone(), step.to.iter().copied());
        assert!(fired.has(step.rule), "{uri}: {}", step.rule);
    }
    assert!(fired.iter().all(|rule| steps.iter().any(|step| step.rule == rule)), "{uri}");
    let form = String::from_utf8(form.to_vec()).unwrap();
    assert_eq!(form, String::from_utf8(text).unwrap(), "{uri}");
    form
}

#[track_caller]
fn check(rules: &RuleSet, must_match: &[(&str, &str)], must_differ: &[(&str, &str)]) {
    for (a, b) in must_match {
        assert_eq!(form(rules, a), form(rules, b), "{a} and {b} are one");
    }
    for (a, b) in must_differ {
        assert_ne!(form(rules, a), form(rules, b), "{a} and {b} are two");
    }
}

#[test]
fn fragment() {
    check(
        &rule_set(&["fragment"]),
        &[
            ("http://h/#a", "http://h/"),
            ("http://h/?q#a?b", "http://h/?q"),
            ("urn:x:y#z", "urn:x:y"),
            ("http://h/#", "http://h/#b"),
        ],
        &[
            ("http://h/?#a", "http://h/"),
            ("http://h/%23a", "http://h/"),
            ("http://h/?a", "http://h/#a"),
        ],
    );
}

#[test]
fn anchor() {
    check(
        &rule_set(&["anchor"]),
        &[
            ("http://h/#a", "http://h/"),
            ("http://h/#", "http://h/"),
            ("http://h/#t/1", "http://h/#top"),
            ("http://h/#:~:text=/a", "http://h/"),
            ("urn:x:y#z", "urn:x:y"),
        ],
        &[
            ("http://a.example/#/t/1", "http://a.example/#/u/2"),
            ("http://a.example/#/t/1", "http://a.example/"),
            ("http://a.example/#!t", "http://a.example/#!u"),
            ("http://a.example/#!", "http://a.example/"),
            ("http://a.example/#!/t", "http://a.example/#/t"),
            ("http://a.example/#%2Ft", "http://a.example/#%2Fu"),
            ("http://a.example/#%21t", "http://a.example/#!t"),
            ("file:///a#/t", "file:///a#/u"),
            // A character reference of HTML, whose rest is not an anchor.
            ("http://h/?a=1&#38;id=2", "http://h/?a=1&#38;id=3"),
            ("http://h/?a=1&#x26;id=2", "http://h/?a=1&#x26;id=3"),
            ("http://h/?a=1&amp;#038;id=2", "http://h/?a=1&amp;#038;id=3"),
            ("http://h/a&#39;b", "http://h/a&#39;c"),
            ("http://h/?q=&#1087;", "http://h/?q=&#1088;"),
        ],
    );
    // The rule for all fragments wins.
    let both = rule_set(&["anchor", "fragment"]);
    check(&both, &[("http://h/#/t/1", "http://h/"), ("http://h/#a", "http://h/")], &[]);
}

#[test]
fn parameters_of_routes_are_dropped_like_those_of_queries() {
    for preset in ["crawl", "log"].map(preset) {
        check(
            &preset,
            &[
                ("http://h/#/t/1?utm_source=x", "http://h/#/t/1"),
                ("http://h/#!/t/1?id=1&utm_source=x", "http://h/#!/t/1?id=1"),
                ("http://h/?a=1#/t?fbclid=x&b=2", "http://h/?a=1#/t?b=2"),
                ("http://h/?utm_source=y#/t?utm_source=x", "http://h/#/t"),
                ("http://h/#/t?", "http://h/#/t"),
                ("http://h/#/t?a=1&", "http://h/#/t?a=1"),
            ],
            &[
                ("http://h/#/t?id=1", "http://h/#/t?id=2"),
                ("http://h/#/t?id=1", "http://h/?id=1#/t"),
                ("http://h/#/utm_source=x", "http://h/#/"),
            ],
        );
    }
    let only_patterns = rule_set(&["drop-param=a"]);
    check(
        &only_patterns,
        &[("http://h/#/t?a=1", "http://h/#/t"), ("http://h/?a#/t?a=1&b", "http://h/#/t?b")],
        &[("http://h/#t?a=1", "http://h/#t"), ("http://h/#a=1", "http://h/#")],
    );
    let sorted = rule_set(&["sort-query", "keep-param=b"]);
    check(&sorted, &[("http://h/#/t?c=1&b=2&a", "http://h/#/t?b=2")], &[]);
}

#[test]
fn param_case() {
    check(
        &rule_set(&["param-case"]),
        &[
            ("http://h/?ID=1", "http://h/?id=1"),
            ("http://h/?Id=A&PAGE=B&x", "http://h/?id=A&page=B&x"),
            ("http://h/?A=%c3%9C&%C3%9cB", "http://h/?a=%C3%9C&%C3%9Cb"),
            ("http://h/#/t?ID=1", "http://h/#/t?id=1"),
            ("http://h/?A=1=2&&B", "http://h/?a=1=2&&b"),
        ],
        &[
            ("http://h/?id=A", "http://h/?id=a"),
            ("http://h/?A", "http://h/A"),
            ("http://h/?ID=1&b", "http://h/?b&id=1"),
            ("http://h/A?x", "http://h/a?x"),
            ("http://h/#ID=1", "http://h/#id=1"),
            ("mailto:a@h?Subject=x", "mailto:a@h?subject=x"),
        ],
    );
    // Patterns, conditions and session ids look at the names in lower case.
    let more = rule_set(&["param-case", "drop-param=id", "drop-param=UP", "sort-query"]);
    check(
        &more,
        &[
            ("http://h/?ID=1&b", "http://h/?b"),
            ("http://h/?Z=1&a=2", "http://h/?a=2&z=1"),
            ("http://h/?SID=1&A", "http://h/?a&sid=1"),
        ],
        &[("http://h/?UP=1", "http://h/"), ("http://h/?a=ID", "http://h/?a=id")],
    );
    let session = rule_set(&["param-case", "session-id"]);
    let id = "0123456789abcdef0123456789abcdef";
    let [upper, lower] = ["SID", "sid"].map(|name| format!("http://h/viewtopic.php?{name}={id}"));
    check(&session, &[(&upper, &lower), (&upper, "http://h/viewtopic.php")], &[]);
}

#[test]
fn empty_param() {
    check(
        &rule_set(&["empty-param"]),
        &[
            ("http://h/?a=1&", "http://h/?a=1"),
            ("http://h/?&a=1", "http://h/?a=1"),
            ("http://h/?a=1&&b=2", "http://h/?a=1&b=2"),
            ("http://h/?&&&", "http://h/?"),
            ("http://h/?a&#f", "http://h/?a#f"),
        ],
        &[
            ("http://h/?", "http://h/"),
            ("http://h/?&", "http://h/"),
            ("http://h/?a=", "http://h/"),
            ("http://h/?a=&b", "http://h/?b"),
            ("http://h/?=", "http://h/?"),
            ("http://h/?a;", "http://h/?a"),
            ("http://h/a&", "http://h/a"),
        ],
    );
    for preset in ["crawl", "log"].map(preset) {
        check(
            &preset,
            &[("http://h/?a=1&", "http://h/?a=1"), ("http://h/?&", "http://h/")],
            &[("http://h/?a=", "http://h/")],
        );
    }
}

#[test]
fn path_case() {
    check(
        &rule_set(&["path-case"]),
        &[
            ("http://h/A/b%C3%A4", "http://h/a/B%c3%a4"),
            ("http://h/A%2Fb", "http://h/a%2fB"),
            ("http://h/A#x", "http://h/a#x"),
        ],
        &[
            ("http://h/?A", "http://h/?a"),
            ("http://h/#A", "http://h/#a"),
            ("http://A@h/", "http://a@h/"),
            ("http://h/%C3%84", "http://h/%C3%A4"),
            ("ftp://h/A", "ftp://h/a"),
        ],
    );
}

#[test]
fn path_prefix() {
    check(
        &rule_set(&["path-prefix=/en/,/de"]),
        &[
            ("http://h/en/a", "http://h/a"),
            ("http://h/en/a", "http://h/de/a"),
            ("http://h/en", "http://h/"),
            ("http://h/en/", "http://h/"),
            ("http://h/en?q", "http://h/?q"),
        ],
        &[
            ("http://h/enx", "http://h/x"),
            ("http://h/a/en/", "http://h/a/"),
            ("http://h/EN/a", "http://h/a"),
            ("http://h/fr/a", "http://h/a"),
            ("ftp://h/en/a", "ftp://h/a"),
        ],
    );
    check(&rule_set(&["path-prefix=/EN", "path-case"]), &[("http://h/eN/a", "http://h/a")], &[]);
}

#[test]
fn extension() {
    check(
        &rule_set(&["extension=html,php"]),
        &[
            ("http://h/a.html", "http://h/a"),
            ("http://h/a/b.php?q", "http://h/a/b?q"),
            ("http://h/a.php.html", "http://h/a"),
        ],
        &[
            ("http://h/a.htm", "http://h/a"),
            ("http://h/a.HTML", "http://h/a"),
            ("http://h/a.html/b", "http://h/a/b"),
            ("http://h/.html", "http://h/"),
            ("http://h/a;v=1.html", "http://h/a;v=1"),
            ("ftp://h/a.html", "ftp://h/a"),
        ],
    );
    check(&rule_set(&["extension"]), &[("http://h/a.aspx", "http://h/a.html")], &[]);
    check(
        &rule_set(&["extension=html", "trailing-slash", "index-page=index", "path-prefix=/en"]),
        &[
            ("http://h/a.html/", "http://h/a"),
            ("http://h/a/index.html", "http://h/a"),
            ("http://h/en.html", "http://h/"),
        ],
        &[],
    );
    check(&rule_set(&["extension=HTML", "path-case"]), &[("http://h/A.Html", "http://h/a")], &[]);
}

#[test]
fn path_decode() {
    check(
        &rule_set(&["path-decode"]),
        &[
            ("http://h/a%2Cb", "http://h/a,b"),
            ("http://h/%3A%28%29", "http://h/:()"),
            ("http://h/a%3bb", "http://h/a;b"),
        ],
        &[
            ("http://h/a%2Fb", "http://h/a/b"),
            ("http://h/a%252Cb", "http://h/a,b"),
            ("http://h/?a%2Cb", "http://h/?a,b"),
            ("http://h/%3F", "http://h/?"),
        ],
    );
    check(&rule_set(&["path-decode=,"]), &[], &[("http://h/%3A", "http://h/:")]);
}

#[test]
fn userinfo() {
    check(
        &rule_set(&["userinfo"]),
        &[
            ("http://u:p@h/", "http://h/"),
            ("https://@h/", "https://h/"),
            ("http://u@[::1]:8/", "http://[::1]:8/"),
        ],
        &[
            ("ftp://u@h/", "ftp://h/"),
            ("http://h/u@x", "http://h/x"),
            ("http://u@h/", "http://u/"),
            ("mailto:u@h", "mailto:h"),
        ],
    );
}

#[test]
fn https() {
    check(
        &rule_set(&["https"]),
        &[
            ("http://h/", "https://h/"),
            ("http://h:80/", "https://h:443/"),
            ("HTTP://h", "https://h"),
            ("http://h:8080/a", "https://h:8080/a"),
            ("http://u@h/?q#f", "https://u@h/?q#f"),
        ],
        &[
            ("http://h:443/", "https://h/"),
            ("http://h/", "https://h:80/"),
            ("http://h:8080/", "https://h/"),
            ("ws://h/", "wss://h/"),
            ("ftp://h/", "https://h/"),
            ("http:h", "https:h"),
        ],
    );
}

#[test]
fn host_dot() {
    check(
        &rule_set(&["host-dot"]),
        &[("http://h./", "http://h/"), ("http://u@a.example.:81/x", "http://u@a.example:81/x")],
        &[
            ("http://h../", "http://h/"),
            ("http://1.2.3.4./", "http://1.2.3.4/"),
            ("http://./", "http:///"),
            ("http://h/a.", "http://h/a"),
            ("ftp://h./", "ftp://h/"),
        ],
    );
}

#[test]
fn www() {
    check(
        &rule_set(&["www"]),
        &[
            ("http://www.example.com/", "http://example.com/"),
            ("http://WWW.www.example.com/", "http://example.com/"),
            ("https://www.example.co.uk:8/x", "https://example.co.uk:8/x"),
        ],
        &[
            ("http://www.com/", "http://com/"),
            ("http://www.co.uk/", "http://co.uk/"),
            ("http://www.1.2.3.4/", "http://1.2.3.4/"),
            ("http://www2.example.com/", "http://example.com/"),
            ("http://m.example.com/", "http://example.com/"),
            ("http://example.com/www.", "http://example.com/"),
            ("ftp://www.example.com/", "ftp://example.com/"),
            ("http://www.example.com/", "https://example.com/"),
        ],
    );
}

#[test]
fn session_id() {
    check(
        &rule_set(&["session-id"]),
        &[
            ("http://h/a;jsessionid=0123456789ABCDEF.n1?q", "http://h/a?q"),
            ("http://h/a;v=1;JSESSIONID=0123456789ABCDEF/b", "http://h/a;v=1/b"),
            ("http://h/a?PHPSESSID=3d2b0e1c9f8a7b6c5d4e3f2a1b0c9d8e&b=1", "http://h/a?b=1"),
            (
                "http://h/bb/viewtopic.php?t=1&sid=3d2b0e1c9f8a7b6c5d4e3f2a1b0c9d8e",
                "http://h/bb/viewtopic.php?t=1",
            ),
            ("http://h/a?oscsid=3d2b0e1c9f8a7b6c5d4e3f2a1b", "http://h/a"),
            ("http://h/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "http://h/a.aspx"),
            ("http://h/a?b=1&CFID=12&CFTOKEN=34567890", "http://h/a?b=1"),
            ("http://h/a?cftoken=34567890&b=1&cfid=12&cfid=13", "http://h/a?b=1"),
            // The path rules come first.
            (
                "http://h/viewtopic.php;jsessionid=0123456789ABCDEF?sid=3d2b0e1c9f8a7b6c5d4e3f2a1b0c9d8e",
                "http://h/viewtopic.php",
            ),
        ],
        &[
            ("http://h/a?sid=12345", "http://h/a"),
            ("http://h/a?sid=summer2020", "http://h/a"),
            // Names that not only session systems use: the sessions of a conference, a song, a
            // seller.
            ("http://h/agenda?session_id=123e4567-e89b-12d3-a456-426614174000", "http://h/agenda"),
            ("http://h/agenda?session_id=5f3a9c2e1b7d4a6f8c0e9b2d", "http://h/agenda"),
            ("http://h/a?sessionid=3d2b0e1c9f8a7b6c5d4e3f2a1b0c9d8e", "http://h/a"),
            ("http://h/a?session-id=a1b2c3d4e5f6a7b8", "http://h/a"),
            ("http://h/a?sessid=2024keynote01day2x", "http://h/a"),
            ("http://h/a?sid=3d2b0e1c9f8a7b6c5d4e3f2a1b0c9d8e", "http://h/a"),
            ("http://h/song.php?sid=3d2b0e1c9f8a7b6c5d4e3f2a1b0c9d8e", "http://h/song.php"),
            ("http://h/viewtopic.php?sid=12", "http://h/viewtopic.php"),
            ("http://h/a?zenid=123e4567-e89b-12d3-a456-426614174000", "http://h/a"),
            ("http://h/a?cfid=12", "http://h/a"),
            ("http://h/a?cfid=12", "http://h/a?cfid=13"),
            ("http://h/a?cftoken=34567890", "http://h/a"),
            ("http://h/a?cfid=12&cftoken=3", "http://h/a"),
            ("http://h/(S(0123456789abcdef0123))/a", "http://h/a"),
            ("http://h/a;v=1", "http://h/a"),
            ("http://h/a?id=3d2b0e1c9f8a7b6c5d4e3f2a1b0c9d8e", "http://h/a"),
            ("http://h/(S(x))/a", "http://h/a"),
            ("http://h/(Scene)/a", "http://h/a"),
            ("http://h/a?PHPSESSID=&b=1", "http://h/a?b=1"),
            // The bytes between `&` are one parameter, whatever `;` they hold.
            ("http://h/a?b=1;PHPSESSID=3d2b0e1c9f8a7b6c5d4e3f2a1b0c9d8e", "http://h/a?b=1"),
            ("http://h/.;jsessionid=0123456789ABCDEF", "http://h/"),
        ],
    );
}

#[test]
fn duplicate_slash() {
    check(
        &rule_set(&["duplicate-slash"]),
        &[
            ("http://h//a", "http://h/a"),
            ("http://h/a///b//", "http://h/a/b/"),
            ("http://h//", "http://h/"),
        ],
        &[
            ("http://h/a%2F/b", "http://h/a/b"),
            ("http://h/?a//b", "http://h/?a/b"),
            ("ftp://h//a", "ftp://h/a"),
            ("http://h/a/", "http://h/a"),
        ],
    );
}

#[test]
fn index_page() {
    check(
        &rule_set(&["index-page"]),
        &[
            ("http://h/index.html", "http://h"),
            ("http://h/a/index.php?q", "http://h/a/?q"),
            ("http://h/Default.aspx#f", "http://h/Default.aspx#f"),
        ],
        &[
            ("http://h/a/index.html", "http://h/a"),
            ("http://h/INDEX.HTML", "http://h/"),
            ("http://h/myindex.html", "http://h/"),
            ("http://h/index.html/x", "http://h/x"),
            ("http://h/?index.html", "http://h/"),
            ("http://h/index.md", "http://h/"),
        ],
    );
    check(
        &rule_set(&["index-page=home,start.html"]),
        &[("http://h/home", "http://h/"), ("http://h/a/start.html", "http://h/a/")],
        &[("http://h/index.html", "http://h/")],
    );
}

#[test]
fn trailing_slash() {
    check(
        &rule_set(&["trailing-slash"]),
        &[
            ("http://h/a/", "http://h/a"),
            ("http://h/a/?q", "http://h/a?q"),
            ("http://h", "http://h/"),
        ],
        &[
            ("http://h/a//", "http://h/a"),
            ("http://h//", "http://h/"),
            ("http://h/?a/", "http://h/?a"),
            ("http://h/#a/", "http://h/#a"),
            ("ftp://h/a/", "ftp://h/a"),
        ],
    );
}

#[test]
fn drop_param() {
    check(
        &rule_set(&["drop-param=utm_*", "drop-param=ref", "drop-param=*_tag"]),
        &[
            ("http://h/?utm_source=x&a=1&utm_medium=y", "http://h/?a=1"),
            ("http://h/?a=1&ref", "http://h/?a=1"),
            ("http://h/?ref=", "http://h/"),
            ("http://h/?a=1&b_tag=2#f", "http://h/?a=1#f"),
            ("http://h/?utm%5Fsource=x", "http://h/"),
        ],
        &[
            ("http://h/?ref=x&", "http://h/"),
            ("http://h/?Ref=x", "http://h/"),
            ("http://h/?xref=x", "http://h/"),
            ("http://h/?a=ref", "http://h/"),
            ("http://h/?a=1;ref=2", "http://h/?a=1"),
            ("http://h/?a=1&a=1", "http://h/?a=1"),
            ("http://h/?b=1&a=1", "http://h/?a=1&b=1"),
            ("http://h/?%72%65f%3D=x", "http://h/"),
            ("ftp://h/?ref=x", "ftp://h/"),
            ("http://h/?", "http://h/"),
        ],
    );
}

#[test]
fn keep_param() {
    check(
        &rule_set(&["keep-param=id", "keep-param=p*", "drop-param=pw"]),
        &[
            ("http://h/?x=1&id=2&y&page=3&pw=4", "http://h/?id=2&page=3"),
            ("http://h/?x=1", "http://h/"),
            ("http://h/?x=1&", "http://h/?"),
        ],
        &[
            // An empty text is not a parameter.
            ("http://h/?", "http://h/"),
            ("http://h/?id&&p", "http://h/?id&p"),
            ("http://h/?id=2", "http://h/?id=3"),
            ("http://h/?id", "http://h/"),
            ("http://h/?id&p", "http://h/?p&id"),
        ],
    );
}

#[test]
fn allow_param() {
    check(
        &rule_set(&["drop-param=*id", "allow-param=id", "session-id", "allow-param=zenid"]),
        &[("http://h/?id=1&gclid=2", "http://h/?id=1")],
        &[
            ("http://h/?id=1", "http://h/"),
            ("http://h/?zenid=3d2b0e1c9f8a7b6c5d4e3f2a1b0c9d8e", "http://h/"),
        ],
    );
}

/// Pages that a site may distinguish by parts that the preset `crawl` preserves.
#[test]
fn crawl_merges_no_distinct_pages() {
    let crawl = preset("crawl");
    let same = [
        ("http://h/a?id=1#top", "http://h/a?id=1"),
        ("http://h/a?", "http://h/a"),
        ("http://h/a?utm_source=x&utm_id=2&id=1&utm_marketing_tactic=y", "http://h/a?id=1"),
        ("http://h/a?mtm_kwd=x&bsft_uid=2&mc_eid=3&piwik_campaign=4", "http://h/a"),
        ("http://h/a?cfid=1&cftoken=12345678", "http://h/a"),
    ];
    let different = [
        ("http://h/map?utm_zone=33U", "http://h/map?utm_zone=32U"),
        ("http://h/map?utm_x=500000&utm_y=1", "http://h/map?utm_x=400000&utm_y=1"),
        ("http://h/map?utm_easting=1", "http://h/map"),
        ("http://h/a?utm_sourc=1", "http://h/a"),
        ("http://h/a?pk_content=12", "http://h/a?pk_content=13"),
        ("http://h/a?pk_campaign=12", "http://h/a?pk_campaign=13"),
        ("http://h/a?pk_source=12", "http://h/a?pk_source=13"),
        ("http://h/a?pk_medium=12", "http://h/a?pk_medium=13"),
        ("http://h/a?pk_keyword=12", "http://h/a?pk_keyword=13"),
        ("http://h/a?pk_kwd=12", "http://h/a?pk_kwd=13"),
        ("http://h/a?pk_cid=12", "http://h/a?pk_cid=13"),
        ("http://h/a?mtm_fabric=wool", "http://h/a?mtm_fabric=linen"),
        ("http://h/a?bsft_page=1", "http://h/a?bsft_page=2"),
        ("http://h/art?at_medium=oil", "http://h/art?at_medium=ink"),
        ("http://h/art?at_campaign=1", "http://h/art?at_campaign=2"),
        ("http://h/art?at_custom_frame=1", "http://h/art?at_custom_frame=2"),
        ("http://h/art?at_custom1=1", "http://h/art?at_custom1=2"),
        ("http://h/course?trk_module=1", "http://h/course?trk_module=2"),
        ("http://h/song?trk_sid=1", "http://h/song?trk_sid=2"),
        ("http://h/song?trk_msg=1", "http://h/song?trk_msg=2"),
        ("http://h/song?trk_contact=1", "http://h/song?trk_contact=2"),
        ("http://h/shop?mc_cid=1", "http://h/shop?mc_cid=2"),
        ("http://h/school?s_cid=1", "http://h/school?s_cid=2"),
        ("http://h/a?dm_i=1", "http://h/a?dm_i=2"),
        ("http://h/lists?ml_subscriber=1", "http://h/lists?ml_subscriber=2"),
        ("http://h/lists?ml_subscriber_hash=1", "http://h/lists?ml_subscriber_hash=2"),
        ("http://h/agenda?session_id=123e4567-e89b-12d3-a456-426614174000", "http://h/agenda"),
        ("http://h/a?cfid=1", "http://h/a?cfid=2"),
        ("http://h/a?UTM_SOURCE=1", "http://h/a"),
    ];
    check(&crawl, &same, &different);
    // Every name of the rules file matches exactly, and no longer name does.
    for pattern in crawl.patterns() {
        let name = &pattern.text;
        assert_eq!(form(&crawl, &format!("http://h/?{name}=1")), "http://h/", "{name}");
        let longer = format!("http://h/?{name}_x=1");
        assert_eq!(form(&crawl, &longer), longer);
    }
}

#[test]
fn sort_query() {
    check(
        &rule_set(&["sort-query"]),
        &[
            ("http://h/?b=1&a=2", "http://h/?a=2&b=1"),
            ("http://h/?b&a=2&b=0", "http://h/?a=2&b&b=0"),
        ],
        &[
            ("http://h/?a=1&a=2", "http://h/?a=2&a=1"),
            ("http://h/?a=1&b=2", "http://h/?a=2&b=1"),
            ("http://h/?a&b", "http://h/?a=&b"),
            ("http://h/?b;a", "http://h/?a;b"),
            ("http://h/?a=1&a=1", "http://h/?a=1"),
            ("http://h/?A&b", "http://h/?a&b"),
            ("mailto:a@h?b=1&a=2", "mailto:a@h?a=2&b=1"),
        ],
    );
}

#[test]
fn empty_query() {
    check(
        &rule_set(&["empty-query"]),
        &[("http://h/?", "http://h/"), ("http://h/a?#f", "http://h/a#f")],
        &[
            ("http://h/?&", "http://h/"),
            ("http://h/?=", "http://h/"),
            ("http://h/#?", "http://h/#"),
            ("ftp://h/?", "ftp://h/"),
        ],
    );
}

#[test]
fn rules_work_together() {
    let log = preset("log");
    for uri in [
        "http://example.com",
        "HTTPS://u@www.Example.com.:443//index.html/?utm_source=x&gclid=1#f",
        "http://www.example.com/index.php/index.html?",
        "http://example.com/(S(lit3py55t21z5v55vlm25s55))/;jsessionid=0123456789ABCDEF?fbclid=2",
    ] {
        assert_eq!(form(&log, uri), "https://example.com/", "{uri}");
    }
    assert_eq!(form(&log, "http://h/b/?z=1&y=2&utm_term"), "https://h/b?y=2&z=1");
    let crawl = preset("crawl");
    assert_eq!(form(&crawl, "http://www.h/a/?b=1&a=2&mc_eid=x#f"), "http://www.h/a/?b=1&a=2");
    assert_eq!(form(&crawl, "http://h/?ref=1&id=2"), "http://h/?ref=1&id=2", "not too far");
    assert!(preset("rfc").is_empty());
}

#[test]
fn packs_name_hosts_and_later_rules_override() {
    let rules = rules_file(
        "[[param]]\ndrop = ['ref', 'src*']\n\
         [[param]]\nhosts = ['shop.example', 'site:example.com', '*.test']\nexcept = ['api.example.com']\nallow = ['ref']\ndrop = ['tag']\n\
         [[param]]\nhosts = ['www.example.com']\nkeep = ['id']\n\
         [[param]]\nhosts = ['www.example.com']\nallow = ['tag']\n",
    );
    for (uri, expected) in [
        ("http://other/?ref=1&src_x=2&tag=3", "http://other/?tag=3"),
        ("http://shop.example/?ref=1&src_x=2&tag=3", "http://shop.example/?ref=1"),
        ("http://a.shop.example/?ref=1&tag=3", "http://a.shop.example/?tag=3"),
        ("http://a.b.example.com/?ref=1&tag=3", "http://a.b.example.com/?ref=1"),
        ("http://api.example.com/?ref=1&tag=3", "http://api.example.com/?tag=3"),
        ("http://x.test/?ref=1&tag=3", "http://x.test/?ref=1"),
        ("http://www.example.com/?ref=1&tag=2&id=3&x", "http://www.example.com/?tag=2&id=3"),
        (
            "http://u@www.example.com.:8/?ref=1&tag=2&id=3&x",
            "http://u@www.example.com.:8/?tag=2&id=3",
        ),
    ] {
        assert_eq!(form(&rules, uri), expected, "{uri}");
    }
}

#[test]
fn hosts_of_rules_files_are_compared_after_the_rules_for_hosts() {
    let text = "[[param]]\nhosts = ['www.example.com']\ndrop = ['x']\n";
    let mut builder = RuleSet::builder();
    builder.rules_file(&RulesFile::parse(text, "test", &mut |_, _| Err(String::new())).unwrap());
    builder.rule("www").unwrap();
    let rules = builder.build().unwrap();
    for host in ["www.example.com", "example.com", "www.www.example.com"] {
        assert_eq!(form(&rules, &format!("http://{host}/?x=1")), "http://example.com/");
    }
}

#[test]
fn steps_have_the_changes_and_the_reasons() {
    let mut builder = RuleSet::builder();
    builder.preset(&Preset::from_name("crawl").unwrap()).unwrap();
    let rules = builder.build().unwrap();
    let steps = rules.steps(b"http://h/a?id=1&gclid=2#f");
    let steps_made: Vec<_> = steps
        .iter()
        .map(|step| (step.rule.name(), step.range.clone(), String::from_utf8_lossy(&step.from)))
        .collect();
    assert_eq!(
        steps_made,
        [("anchor", 23..25, "#f".into()), ("drop-param", 15..23, "&gclid=2".into())]
    );
    let pattern = &rules.patterns()[steps[1].pattern.unwrap()];
    assert_eq!(&*pattern.text, "gclid");
    assert!(pattern.why.as_deref().unwrap().starts_with("Google Ads"));
    assert!(pattern.place.to_string().starts_with("tracking:"), "{}", pattern.place);
}

#[test]
fn in_bulk_every_record_has_the_same_result_as_alone() {
    use std::sync::Arc;

    use uriscan::Kernels;
    use uriscan_bulk::io::Source;
    use uriscan_bulk::pipeline::{Equivalence, OnInvalid, Settings, Sinks, normalize};

    let sets = [
        preset("crawl"),
        preset("log"),
        rule_set(&["fragment"]),
        rules_file("[[param]]\nhosts = ['h.example', 'site:example.com', 't.co']\ndrop = ['q*']\n"),
    ];
    let mut lines =
        vec!["no uri?q".to_owned(), "urn:x#f".to_owned(), "HTTP://t.co?q=1&r".to_owned()];
    for pad in 0..140 {
        let x = "x".repeat(pad);
        for tail in [
            "",
            "?q=1&utm_source=2&a",
            "#f",
            ";jsessionid=0123456789ABCDEF",
            "?",
            "/(S(lit3py55t21z5v55vlm25s55))/",
        ] {
            lines.push(format!("http://h.example/{x}{tail}"));
            lines.push(format!("HTTPS://u@{x}.Example.com:8080/%7e{tail}"));
        }
    }
    let text = lines.join("\n");
    for rules in sets {
        let rules = Arc::new(rules);
        let mut expected = String::new();
        for line in &lines {
            let alone = if line.contains(' ') { line.clone() } else { form(&rules, line) };
            expected += &(alone + "\n");
        }
        for kernels in Kernels::available() {
            let equivalence = Equivalence::default().rules(Arc::clone(&rules));
            let source = Source::new("list", std::io::Cursor::new(text.clone()));
            let settings = Settings::default().kernels(kernels).chunk_bytes(4096);
            let mut out = Vec::new();
            normalize(
                vec![source],
                &equivalence,
                OnInvalid::Pass,
                &settings,
                &mut Sinks::new(&mut out),
            )
            .unwrap();
            assert!(String::from_utf8(out).unwrap() == expected, "{:?}", kernels.backend());
        }
    }
}
