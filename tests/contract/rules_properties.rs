//! Tests properties of all rules, on URIs composed of parts that rules affect.

use proptest::prelude::*;
use uriscan::normalize::Level;
use uriscan::rules::{Rule, RuleSet, RulesFile, Scratch};
use uriscan_core::normalize::normalize_exact;

const RULES_FILE: &str = "[[param]]\ndrop = ['utm_*', 'ref', 'a']\n\
    [[param]]\nhosts = ['site:example.com', '*.h']\nexcept = ['b.example.com']\nkeep = ['b', 'si?']\nallow = ['r*']\n\
    [[param]]\nhosts = ['www.example.com', 'localhost']\nallow = ['a', '*b*']\ndrop = ['b']\n\
    [[param]]\nexcept = ['site:example.co.uk']\ndrop = ['*c*']\n\
    [[param]]\npaths = ['/a', '/viewtopic.php']\nallow = ['utm_*']\ndrop = ['ba']\n\
    [[param]]\nhosts = ['h', 'site:example.com']\ngiven = ['a', 'b=1', 'c']\npaths = ['/B', '/a', '/b']\ndrop = ['*']\n";

/// A rules file without rules for all hosts.
const HOSTS: &str = "[[param]]\nhosts = ['www.example.com', '*.h', 'site:example.co.uk']\ndrop = ['a', 'utm_*']\n\
    [[param]]\nhosts = ['localhost', 'h', '1.2.3.4']\ndrop = ['b*', 'ref']\nallow = ['ba']\n\
    [[param]]\nhosts = ['h']\ngiven = ['ref', 'utm_x=1']\ndrop = ['?']\n";

/// Sites that match hosts together, that become one, and that turn rules on and off.
const SITES: &str = "[[site]]\nhosts = ['a.h', 'site:example.com']\nexcept = ['b.example.com']\nhost = 'www.example.com'\n\
    rules = ['path-case', 'path-prefix=/a,/B', 'extension=c', 'anchor', 'userinfo']\nwithout = ['https', 'fragment', 'index-page']\n\
    [[site]]\nhosts = ['h', '*.h', 'www.h']\nrules = ['www', 'trailing-slash', 'empty-param', 'path-decode=;(']\nwithout = ['drop-param', 'host-dot']\n\
    [[site]]\nhosts = ['*a.h', 'example.co.uk']\nhost = 'h'\nrules = ['host-dot', 'session-id', 'index-page=a']\ndrop = ['b']\n\
    [[site]]\nhosts = ['www.example.com', 'localhost']\nwithout = ['www', 'session-id', 'sort-query']\nrules = ['empty-query']\n";

/// Rules as typed.
pub(super) const RULES: [&str; 25] = [
    "fragment",
    "anchor",
    "userinfo",
    "https",
    "host-dot",
    "www",
    "path-decode",
    "path-decode=,(",
    "session-id",
    "duplicate-slash",
    "path-case",
    "path-prefix=/a,/index,/index.html/",
    "index-page",
    "index-page=a,b;c",
    "extension",
    "extension=HTML,c",
    "trailing-slash",
    "param-case",
    "keep-param=a*",
    "drop-param=b*",
    "drop-param=?",
    "allow-param=ba",
    "empty-param",
    "sort-query",
    "empty-query",
];

/// These, and `rules_file` for [`RULES_FILE`], `hosts` for [`HOSTS`], `sites` for [`SITES`].
const TYPED: [&str; 28] = {
    let mut typed = ["sites"; 28];
    let (rules, files) = typed.split_at_mut(RULES.len());
    rules.copy_from_slice(&RULES);
    (files[1], files[2]) = ("rules file", "hosts");
    typed
};

/// All except the last: of two rules files the later one overrides the other.
const ONE_FILE: &[&str] = TYPED.split_at(TYPED.len() - 1).0;

/// Those that are only patterns for parameters.
const PATTERNS: [&str; 6] =
    ["keep-param=a*", "drop-param=b*", "drop-param=?", "allow-param=ba", "rules file", "hosts"];

fn rule_set(typed: &[&str]) -> RuleSet {
    let mut builder = RuleSet::builder();
    for rule in typed {
        match *rule {
            "rules file" | "hosts" | "sites" => {
                let text = match *rule {
                    "rules file" => RULES_FILE,
                    "hosts" => HOSTS,
                    _ => SITES,
                };
                builder.rules_file(
                    &RulesFile::parse(text, "test", &mut |_, _| Err(String::new())).unwrap(),
                );
            }
            rule => builder.rule(rule).unwrap(),
        }
    }
    builder.build().unwrap()
}

pub(super) fn uri() -> impl Strategy<Value = String> {
    let pieces = |all: &'static [&'static str], most| {
        prop::collection::vec(prop::sample::select(all), 0..most).prop_map(|pieces| pieces.concat())
    };
    let scheme = prop::sample::select(vec![
        "http://", "https://", "HTTP://", "http://", "ftp://", "http:", "urn:", "foo://",
    ]);
    let user = prop::sample::select(vec!["", "", "", "@", "u@", "u:p@"]);
    let host = pieces(
        &[
            "www.",
            "WWW.",
            "example.com",
            "b.",
            "h",
            "a",
            "co.uk",
            "1.2.3.4",
            ".",
            "localhost",
            "example.co.uk",
            "%C3%A9",
            "%77ww.",
            "xn--bcher-kva",
        ],
        4,
    );
    let port =
        prop::sample::select(vec!["", "", "", ":", ":80", ":443", ":0080", ":8080", ":0443"]);
    let path = pieces(
        &[
            "/",
            "/",
            "/",
            "//",
            "a",
            "b;c",
            "index.html",
            ".html",
            "a.c",
            ";jsessionid=01234567.html",
            "/viewtopic.php",
            "/index.html",
            "default.asp",
            ";jsessionid=01234567",
            ";v=1",
            ".",
            "..",
            "%2e",
            "/(S(abcdefghij0123456789abcd))",
            "(S(abcdefghij0123456789abcd))/",
            "%2F",
            "(",
            "%28",
            "%2C",
            "/A",
            "B",
            "%C3%A4",
        ],
        7,
    );
    let query = pieces(
        &[
            "&",
            "&",
            "&",
            "=",
            "a",
            "b",
            "ref",
            "utm_x",
            "=1",
            "zenid=a1b2c3d4e5f6a7b8",
            "sid=a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6",
            "cfid=1",
            "CFTOKEN=12345678",
            "&cfid=2&cftoken=12345678",
            "PHPSESSID=a1b2c3d4e5f6a7b8c9d0e1f2",
            ";",
            "ba",
            "?",
            "/",
            "%61",
            "c",
            "%26",
        ],
        9,
    );
    let fragment = prop::sample::select(vec![
        "",
        "",
        "#",
        "#f",
        "#a?b/c",
        "#/",
        "#!/a?",
        "#/a?b&&ref=1&utm_x",
        "#/viewtopic.php?sid=a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6",
        "#%2Fa?a",
        "#/b?&",
    ]);
    (scheme, user, host, port, path, prop::option::of(query), fragment).prop_map(
        |(scheme, user, host, port, path, query, fragment)| {
            let slash =
                if path.is_empty() || path.starts_with('/') || scheme == "urn:" { "" } else { "/" };
            let query = query.map_or(String::new(), |query| format!("?{query}"));
            format!("{scheme}{user}{host}{port}{slash}{path}{query}{fragment}")
        },
    )
}

fn some_rules() -> impl Strategy<Value = Vec<&'static str>> {
    prop_oneof![
        prop::sample::subsequence(TYPED.to_vec(), 1..TYPED.len()),
        prop::sample::subsequence(TYPED.to_vec(), 1..3),
        prop::sample::subsequence(PATTERNS.to_vec(), 1..4),
        Just(vec!["hosts"]),
        Just(vec!["sites"]),
    ]
}

fn canonical(uri: &[u8], level: Level) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    normalize_exact(uri, level, false, &mut out).ok().map(|()| out)
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn both_paths_agree_and_the_result_is_canonical_and_stable(
        uri in uri(),
        typed in some_rules(),
        level in prop::sample::select(Level::ALL.to_vec()),
    ) {
        let rules = rule_set(&typed);
        let Some(form) = canonical(uri.as_bytes(), level) else { return Ok(()) };
        let mut scratch = Scratch::default();
        let (result, fired) = rules.apply(&form, &mut scratch);
        let mut text = form.clone();
        let steps = rules.steps(&form);
        for step in &steps {
            prop_assert_eq!(&text[step.range.clone()], &step.from[..]);
            text.splice(step.range.clone(), step.to.iter().copied());
        }
        prop_assert_eq!(shown(result), shown(&text), "{} {:?}", shown(&form), typed);
        for rule in Rule::ALL {
            prop_assert_eq!(fired.has(rule), steps.iter().any(|step| step.rule == rule), "{}", rule);
        }
        prop_assert_eq!(fired.is_empty(), result == form);
        prop_assert_eq!(canonical(result, level).map(|form| shown(&form)), Some(shown(result)), "{} {:?}", uri, typed);
        let mut scratch = Scratch::default();
        let (again, fired) = rules.apply(&text, &mut scratch);
        prop_assert_eq!(shown(again), shown(&text), "twice: {} {:?}", uri, typed);
        prop_assert!(fired.is_empty());
    }

    /// The ladder nests under rules too: applying the rules at a lower level, and then the higher
    /// level and the rules again, gives the same as the higher level and the rules at once. (Not from
    /// level `string`: an encoded name is a different name there.)
    #[test]
    fn equal_at_a_level_is_equal_at_every_higher_level(uri in uri(), typed in some_rules()) {
        let rules = rule_set(&typed);
        let apply = |form: &[u8]| rules.apply(form, &mut Scratch::default()).0.to_vec();
        let Some(form) = canonical(uri.as_bytes(), Level::Syntax) else { return Ok(()) };
        let higher = |form: &[u8]| canonical(form, Level::Scheme).map(|form| shown(&apply(&form)));
        prop_assert_eq!(higher(&apply(&form)), higher(uri.as_bytes()), "{} {:?}", uri, typed);
    }

    #[test]
    fn any_bytes_are_accepted(bytes in prop::collection::vec(any::<u8>(), 0..80), typed in some_rules()) {
        let rules = rule_set(&typed);
        rules.apply(&bytes, &mut Scratch::default());
        let web = [b"http://", &bytes[..]].concat();
        rules.apply(&web, &mut Scratch::default());
        rules.steps(&bytes);
        rules.steps(&web);
    }

    #[test]
    fn rules_may_be_given_in_any_order(uri in uri(), typed in Just(ONE_FILE.to_vec()).prop_shuffle()) {
        let Some(form) = canonical(uri.as_bytes(), Level::Scheme) else { return Ok(()) };
        let result = |typed: &[&str]| shown(rule_set(typed).apply(&form, &mut Scratch::default()).0);
        prop_assert_eq!(result(&typed), result(ONE_FILE));
    }
}
