//! Rule packs, rules and aliases as anybody may write them: what is accepted has a canonical result that further
//! application leaves alone, and what is not is an error with a place.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use uriscan::io::Source;
use uriscan::key::Hasher;
use uriscan::normalize::{Normalizer, Options, Rung};
use uriscan::pipeline::{Aliases, Equivalence, Settings};
use uriscan::rules::{Pack, RuleSet, Scratch};

fuzz_target!(|data: &[u8]| {
    let mut parts = data.split(|&byte| byte == 0);
    let (pack, rule) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let aliases = parts.next().unwrap_or_default();
    let mut uris: Vec<&[u8]> = parts.collect();
    uris.push(b"http://www.h.example/a/index.html;jsessionid=0?a=1&utm_source=x&b#f");
    rules(pack, rule, &uris);
    pairs(aliases);
});

fn rules(pack: &[u8], rule: &[u8], uris: &[&[u8]]) {
    let mut builder = RuleSet::builder();
    let mut open = |name: &str, _: &str| Err(format!("cannot open {name}"));
    match Pack::parse(&String::from_utf8_lossy(pack), "pack", &mut open) {
        Ok(pack) => builder.pack(&pack),
        Err(error) => assert!(error.to_string().starts_with("pack:"), "{error}"),
    }
    for typed in String::from_utf8_lossy(rule).lines() {
        let _ = builder.rule(typed);
    }
    let Ok(rules) = builder.build() else { return };
    for rung in [Rung::Syntax, Rung::Scheme] {
        let options = Options::new(rung);
        let mut normalizer = Normalizer::new(options);
        let (mut scratch, mut again) = (Scratch::default(), Scratch::default());
        for uri in uris {
            let Ok(form) = normalizer.normalize(uri).map(<[u8]>::to_vec) else { continue };
            let (once, fired) = rules.apply(&form, &mut scratch);
            assert!(!fired.is_empty() || once == form);
            let once = once.to_vec();
            assert_eq!(rules.apply(&once, &mut again).0, once, "{}", form.escape_ascii());
            assert_eq!(normalizer.normalize(&once), Ok(&once[..]), "{}", form.escape_ascii());
        }
    }
}

/// Every target is its own target, in whatever order the pairs stand.
fn pairs(text: &[u8]) {
    let (equivalence, settings) = (Equivalence::default(), Settings::default());
    let hasher = Hasher::with_secret([7; 32]);
    let read = |text: Vec<u8>| {
        let open = || Source::new("aliases", Cursor::new(text.clone()));
        Aliases::read(&open, &equivalence, hasher.clone(), false, &settings, &mut |_, _| {})
    };
    let Ok(aliases) = read(text.to_vec()) else { return };
    let table = aliases.table();
    let mut normalizer = Normalizer::new(Options::default());
    for uri in text.split(|byte| b"\t\n\",".contains(byte)) {
        let Ok(form) = normalizer.normalize(uri) else { continue };
        let target = table.target(hasher.key(form));
        assert_eq!(table.target(target), target);
    }
}
