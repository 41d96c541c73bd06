//! Rules files and rules as anybody may write them: what is accepted has a canonical result that further application
//! leaves alone and that the steps of the reference path give, and what is not is an error with a place.

use uriscan::normalize::{Level, Normalizer, Options};
use uriscan::rules::{RuleSet, RulesFile, Scratch};

/// A URI that most rules change.
const URI: &[u8] = b"http://www.h.example/a/index.html;jsessionid=0?a=1&utm_source=x&b#f";

/// A rules file, rules a line each, and URIs, with a NUL after each.
pub fn check(data: &[u8]) {
    let mut parts = data.split(|&byte| byte == 0);
    let (rules_file, rules) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let Some(rules) = rule_set(rules_file, rules) else { return };
    for level in [Level::Syntax, Level::Scheme] {
        let mut normalizer = Normalizer::new(Options::default().level(level));
        for uri in parts.clone().chain([URI]) {
            if let Ok(form) = normalizer.normalize(uri).map(<[u8]>::to_vec) {
                check_form(&rules, &mut normalizer, &form);
            }
        }
    }
}

fn rule_set(rules_file: &[u8], rules: &[u8]) -> Option<RuleSet> {
    let mut builder = RuleSet::builder();
    let mut open = |name: &str, _: &str| Err(format!("cannot open {name}"));
    match RulesFile::parse(&String::from_utf8_lossy(rules_file), "rules file", &mut open) {
        Ok(rules_file) => builder.rules_file(&rules_file),
        Err(error) => assert!(error.to_string().starts_with("rules file:"), "{error}"),
    }
    for typed in String::from_utf8_lossy(rules).lines() {
        let _ = builder.rule(typed);
    }
    builder.build().ok()
}

fn check_form(rules: &RuleSet, normalizer: &mut Normalizer, form: &[u8]) {
    let (mut scratch, mut again) = (Scratch::default(), Scratch::default());
    let (once, fired) = rules.apply(form, &mut scratch);
    assert!(!fired.is_empty() || once == form);
    assert_eq!(rules.apply(once, &mut again).0, once, "{}", form.escape_ascii());
    assert_eq!(normalizer.normalize(once), Ok(once), "{}", form.escape_ascii());
    let mut text = form.to_vec();
    for step in rules.steps(form) {
        assert_eq!(text[step.range.clone()], step.from, "{}", form.escape_ascii());
        assert!(fired.has(step.rule), "{} {}", step.rule, form.escape_ascii());
        text.splice(step.range, step.to);
    }
    assert_eq!(text.escape_ascii().to_string(), once.escape_ascii().to_string());
}
