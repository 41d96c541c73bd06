//! Jobs over lists find the forms that records have alone, whatever they are compared by: bases, repairs, rules, levels.

use std::collections::HashSet;
use std::sync::Arc;

use proptest::prelude::*;
use uriscan::Kernels;
use uriscan::key::PublicHash;
use uriscan::normalize::{Level, Options};
use uriscan::repair::{Repair, Repairs};
use uriscan::resolve::{BaseUri, Suffix};
use uriscan::rules::{Preset, RuleSet};
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{
    By, CensusOptions, DedupOptions, Equivalence, OnInvalid, Settings, Sinks, TopOptions, census,
    dedup, keys, normalize, top,
};
use uriscan_core::context::Context;
use uriscan_core::normalize::normalize_exact;
use uriscan_core::repair::repair_in;
use uriscan_core::uri::parse;

fn equivalences() -> Vec<Equivalence> {
    let base = || Context::from(BaseUri::new(b"http://B.example/x/./y/../z?q").unwrap());
    let lenient = match base() {
        Context::Base { base, options } => {
            Context::Base { base, options: options.lenient_scheme(true) }
        }
        other => other,
    };
    let suffix = || Context::Suffix(Suffix::new("https").unwrap());
    let rules = |preset: &str| {
        let mut rules = RuleSet::builder();
        rules.preset(&Preset::from_name(preset).unwrap()).unwrap();
        Some(Arc::new(rules.build().unwrap()))
    };
    let (crawl, log) = (rules("crawl"), rules("log"));
    let iri = Repairs::default().with(Repair::Iri);
    let all = Repairs::usual().with(Repair::Iri);
    let plain = Equivalence::default;
    let of_level = |level: Level| Equivalence::from(Options::new(level));
    let mut equivalences = vec![
        plain(),
        plain().context(base()),
        plain().context(lenient),
        plain().context(suffix()),
        plain().repairs(iri),
        plain().repairs(all),
        plain().repairs(all.with(Repair::Entity)),
        plain().repairs(all).context(suffix()),
        plain().repairs(iri).context(base()),
        of_level(Level::String).repairs(all),
        of_level(Level::String).context(base()),
        of_level(Level::Syntax).context(suffix()).repairs(iri),
        Options::default().drop_fragment(true).into(),
        Equivalence::from(Options::default().drop_fragment(true)).context(base()),
    ];
    let with_crawl = |equivalence: &Equivalence| equivalence.clone().rules(crawl.clone());
    equivalences.extend(equivalences.iter().map(with_crawl).collect::<Vec<_>>());
    equivalences.extend([plain(), plain().repairs(all)].map(|of| of.rules(log.clone())));
    equivalences
}

/// The form of `record`, step by step; `None` if it has none.
fn form(record: &[u8], by: &Equivalence) -> Option<Vec<u8>> {
    let context = by.context.as_ref();
    let canonical = |text: &[u8]| {
        let (mut target, mut form) = (Vec::new(), Vec::new());
        if context.is_none_or(|context| context.append_target(text, &mut target).is_err()) {
            target = text.to_vec();
        }
        let Options { level, drop_fragment, .. } = by.normalize;
        normalize_exact(&target, level, drop_fragment, &mut form).map(|()| form)
    };
    let repaired = || {
        let mut repaired = Vec::new();
        repair_in(context, record, by.repairs, &mut repaired).ok()?;
        canonical(&repaired).ok()
    };
    let form = match by.repairs.change_valid(record) {
        true => repaired()?,
        false => canonical(record).ok().or_else(repaired)?,
    };
    let rules = by.rules.as_ref();
    Some(rules.map_or(form.clone(), |rules| rules.apply(&form, &mut Default::default()).0.to_vec()))
}

/// The lines of `text` that are not blank, as text.
fn lines(text: &[u8]) -> Vec<String> {
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| line.escape_ascii().to_string()).collect()
}

fn escaped<'a>(records: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<String> {
    records.into_iter().map(|record| record.escape_ascii().to_string()).collect()
}

/// A list and what is expected of it under an equivalence.
struct Case {
    list: Vec<u8>,
    records: Vec<Vec<u8>>,
    equivalence: Equivalence,
    forms: Vec<Option<Vec<u8>>>,
}

impl Case {
    fn new(text: &str, equivalence: Equivalence) -> Case {
        let records = text.split('\n').map(|line| line.trim_matches([' ', '\r']));
        let records: Vec<Vec<u8>> =
            records.filter(|record| !record.is_empty()).map(|record| record.into()).collect();
        let forms = records.iter().map(|record| form(record, &equivalence)).collect();
        Case { list: text.into(), records, equivalence, forms }
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source::new("list", std::io::Cursor::new(self.list.clone()))]
    }

    /// What records are compared by: their forms, or, of those that have none, their bytes.
    fn compared(&self) -> Vec<&Vec<u8>> {
        let forms = self.records.iter().zip(&self.forms);
        forms.map(|(record, form)| form.as_ref().unwrap_or(record)).collect()
    }

    /// Checks what is written for each record.
    fn check_records(&self, settings: &Settings) {
        let (equivalence, compared) = (&self.equivalence, self.compared());
        let (pass, hash) = (OnInvalid::Pass, PublicHash::Blake3);
        let (mut normalized, mut kept, mut of_keys) = (Vec::new(), Vec::new(), Vec::new());
        let sinks = &mut Sinks::new(&mut normalized);
        normalize(self.sources(), equivalence, pass, settings, sinks).unwrap();
        assert_eq!(lines(&normalized), escaped(compared.iter().copied()), "{equivalence:?}");
        let mut seen = HashSet::new();
        let firsts = self.records.iter().zip(&compared).filter(|&(_, form)| seen.insert(form));
        let options = DedupOptions::default().equivalence(equivalence.clone());
        dedup(self.sources(), &options, settings, &mut Sinks::new(&mut kept)).unwrap();
        assert_eq!(lines(&kept), escaped(firsts.map(|(record, _)| record)), "{equivalence:?}");
        let hasher = equivalence.public_hasher(hash);
        let hashed: Vec<String> =
            compared.iter().map(|form| hasher.key(form).to_string()).collect();
        let sinks = &mut Sinks::new(&mut of_keys);
        keys(self.sources(), equivalence, hash, pass, settings, sinks).unwrap();
        assert_eq!(lines(&of_keys), hashed, "{equivalence:?}");
    }

    /// Checks what is counted.
    fn check_counts(&self, settings: &Settings) {
        let Equivalence { context, normalize, rules, repairs, .. } = self.equivalence.clone();
        let mut nowhere = std::io::sink();
        let hosts = self.forms.iter().flatten().filter_map(|form| parse(form).unwrap().host(form));
        let hosts: HashSet<&[u8]> = hosts.filter(|host| !host.is_empty()).collect();
        // Hosts alone are counted in another way.
        for by in [vec![By::Host], vec![By::Host, By::WholePath]] {
            let options = TopOptions::default().by(by).equivalence(self.equivalence.clone());
            let sinks = &mut Sinks::new(&mut nowhere);
            let found = top(self.sources(), &options, settings, sinks).unwrap();
            let rows = found.tables[0].rows.iter();
            let found: HashSet<&[u8]> = rows.filter_map(|row| row.value.as_deref()).collect();
            assert_eq!(found, hosts, "{:?}", self.equivalence);
        }
        if normalize.level == Level::Scheme {
            let options = CensusOptions::default().context(context).rules(rules).repairs(repairs);
            let options = options.drop_fragment(normalize.drop_fragment);
            let sinks = &mut Sinks::new(&mut nowhere);
            let found = census(self.sources(), &options, settings, sinks).unwrap();
            let distinct = found.rules.map_or(found.levels[2].distinct, |rules| rules.distinct);
            let expected = HashSet::<_>::from_iter(self.compared()).len() as u64;
            assert_eq!(distinct, expected, "{:?}", self.equivalence);
        }
    }
}

/// Checks the jobs on the list `text`, cut into small chunks, against what each record is alone.
fn check(text: &str) {
    for equivalence in equivalences() {
        let case = Case::new(text, equivalence);
        for kernels in Kernels::available() {
            let settings = Settings::default().kernels(kernels).chunk_bytes(256);
            case.check_records(&settings);
            case.check_counts(&settings);
        }
    }
}

#[test]
fn records_that_a_base_a_repair_or_a_rule_reads_differently() {
    check(
        "http://h/\nHTTP://h\nhttp://h/a/%2e%2E/../b\nhttp://h/a/b/%2e%2e/../../c\nhttp://h/../%2e%2e\n\
         http:g\nhttp:/g\nHttp:\n//x/y\nwww.a.example/b/../c\nh\n?q\n\nhttp://h/\u{e9}\nhttp://b\u{fc}cher.example/\n\
         \"http://h/\"\nhttp://h/ a\nhttp://h\\a\nhttp://h/?a=1&amp;b=2\nhttp://h/?a=1&b=2\nhttp://h/#f\nhttp://h/%\n\
         http://www.h.example/?utm_source=x\nhttp://h/;jsessionid=0123456789ABCDEF0123456789ABCDEF\nhttps://h:443/a//b/\n\
         http://u@h/\nmailto:A@b.example\nhttp:///x\nhttp://[::1]/\nhttp://h:80/.a/..b/.\n",
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn records_have_the_forms_that_they_have_alone(
        text in "((http|https|HTTP|ftp|mailto|b)?(:|://|//|/)?[a-z.%A]{0,3}(www\\.)?(h|H|\u{fc}|b\\.example)?(:80|:443|:)?((/|/\\./|/\\.\\./|/%2[eE]|\\.|%2f|%7e|a|\u{e9}|\\\\| |&amp;|\\?utm_source=|\\?a=1&|#|\"|%|\\[){0,6}\r?\n?)){0,5}",
    ) {
        check(&text);
    }
}
