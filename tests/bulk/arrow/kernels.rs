//! Tests every kernel against the library, row by row.

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use proptest::prelude::*;
use uriscan::Kernels;
use uriscan::explain::explain;
use uriscan::extract::{Extractor, Finder, Format};
use uriscan::key::{PublicHash, PublicHasher};
use uriscan::normalize::{Level, Normalizer, Options};
use uriscan::resolve::{self, BaseUri, Context, Resolver};
use uriscan::rules::{public_suffix, registrable_domain};
use uriscan::uri::{UriErrorKind, parse};
use uriscan_arrow::{COMPONENTS, Columns, Firsts, OnInvalid, step_names};
use uriscan_bulk::pipeline::Equivalence;

use super::arrays::{Value, all, dictionaries, read, values};

/// The white space around a record, which is not part of it.
fn trimmed(value: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| !b" \t\n\x0b\x0c\r".contains(byte);
    match (value.iter().position(is_text), value.iter().rposition(is_text)) {
        (Some(first), Some(last)) => &value[first..=last],
        _ => b"",
    }
}

/// The form of each value by the library, one at a time, under a policy.
fn forms(values: &[Value], level: Level, on_invalid: OnInvalid) -> Vec<Value> {
    let mut one = Normalizer::new(Options::new(level));
    let form = |value: &Value| {
        let value = trimmed(value.as_deref()?);
        match one.normalize(value) {
            Ok(form) => Some(form.to_vec()),
            Err(_) => (on_invalid == OnInvalid::Pass).then(|| value.to_vec()),
        }
    };
    values.iter().map(form).collect()
}

fn arrays(values: &[Value]) -> Vec<(String, ArrayRef)> {
    all(values).into_iter().chain(dictionaries(values)).collect()
}

fn check_forms_and_keys(values: &[Value], kernels: Kernels) {
    for level in [Level::String, Level::Syntax, Level::Scheme] {
        for on_invalid in [OnInvalid::Pass, OnInvalid::Null] {
            let equivalence = Equivalence::from(Options::new(level));
            let columns = Columns::new(equivalence).on_invalid(on_invalid).kernels(kernels);
            let expected = forms(values, level, on_invalid);
            let hasher = PublicHasher::new(PublicHash::Blake3);
            let keys: Vec<Value> = expected
                .iter()
                .map(|form| Some(hasher.key(form.as_deref()?).0.to_be_bytes().to_vec()))
                .collect();
            for (name, array) in arrays(values) {
                let made = columns.normalize(&array).unwrap();
                assert_eq!(read(&made), expected, "{name}");
                assert_eq!(made.data_type(), array.data_type());
                assert_eq!(read(&columns.key(&array).unwrap()), keys, "{name}");
            }
        }
    }
}

fn check_firsts(values: &[Value]) {
    let forms = forms(values, Level::Scheme, OnInvalid::Pass);
    let mut seen = std::collections::BTreeSet::new();
    let expected: Vec<Option<bool>> = forms
        .iter()
        .map(|form| Some(seen.insert(form.clone().filter(|form| !form.is_empty())?)))
        .collect();
    for (name, array) in arrays(values) {
        for step in [1, 3, values.len().max(1)] {
            let mut firsts = Firsts::new(Columns::default());
            let mut found = Vec::new();
            for start in (0..array.len()).step_by(step) {
                let part = array.slice(start, step.min(array.len() - start));
                found.extend(firsts.mark(&part).unwrap().iter());
            }
            assert_eq!(found, expected, "{name}");
            assert_eq!(firsts.classes(), seen.len());
        }
    }
}

/// The parameters of `query` as JSON.
fn params(query: &[u8]) -> Vec<u8> {
    let query = str::from_utf8(query).unwrap();
    let all = query.split('&').map(|param| match param.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (param, None),
    });
    let all: Vec<_> = if query.is_empty() { Vec::new() } else { all.collect() };
    serde_json::to_vec(&all).unwrap()
}

fn check_parts(values: &[Value], kernels: Kernels) {
    let columns = Columns::default().kernels(kernels);
    for (name, array) in arrays(values) {
        let parts = columns.parse(&array).unwrap();
        let parts = parts.as_struct();
        let texts: Vec<Vec<Value>> = parts.columns().iter().map(|part| read(part)).collect();
        let faults = columns.check(&array, false).unwrap();
        let (kinds, places) = (read(faults.as_struct().column(0)), faults.as_struct().column(1));
        let places = places.as_primitive::<UInt32Type>();
        let valid = columns.is_valid(&array, true).unwrap();
        for (row, value) in values.iter().enumerate() {
            let value = value.as_deref().map(trimmed);
            let parsed = value.map(parse);
            let of = |i: usize| -> Value {
                let (text, c) = (value?, parsed?.ok()?);
                let part = match COMPONENTS[i] {
                    "scheme" => c.scheme(text),
                    "authority" => c.authority(text),
                    "userinfo" => c.userinfo(text),
                    "host" => c.host(text),
                    "port" => c.port(text),
                    "path" => Some(c.path(text)),
                    "query" => c.query(text),
                    "fragment" => c.fragment(text),
                    "host_kind" => c.host_kind.name().map(str::as_bytes),
                    "domain" => c.host(text).and_then(registrable_domain),
                    "suffix" => c.host(text).and_then(public_suffix),
                    _ => return c.query(text).map(params),
                };
                part.map(<[u8]>::to_vec)
            };
            for i in 0..COMPONENTS.len() {
                assert_eq!(texts[i][row], of(i), "{name} {} of {value:?}", COMPONENTS[i]);
            }
            assert_eq!(parts.is_valid(row), matches!(parsed, Some(Ok(_))), "{name}");
            assert_eq!(valid.is_valid(row), value.is_some());
            assert_eq!(valid.as_boolean().value(row) && valid.is_valid(row), parts.is_valid(row));
            let fault = match parsed {
                None => None,
                Some(Ok(c)) if c.is_uri() => None,
                Some(Ok(_)) => Some((UriErrorKind::Relative, 0)),
                Some(Err(error)) => Some((error.kind, error.at)),
            };
            assert_eq!(kinds[row], fault.map(|(kind, _)| kind.name().into()));
            assert_eq!(places.is_valid(row).then(|| places.value(row)), fault.map(|(_, at)| at));
            assert_eq!(faults.is_valid(row), fault.is_some());
        }
    }
}

fn check_targets(values: &[Value], kernels: Kernels) {
    let columns = Columns::default().kernels(kernels);
    for base in ["http://a/b/c/d;p?q", "urn:x", "http://a"] {
        let base = BaseUri::new(base.as_bytes()).unwrap();
        let mut resolver = Resolver::new(base.clone(), resolve::Options::default());
        let target = |value: &Value| {
            let value = trimmed(value.as_deref()?);
            Some(resolver.resolve(value).map_or(value.to_vec(), <[u8]>::to_vec))
        };
        let expected: Vec<Value> = values.iter().map(target).collect();
        let context =
            Some(Context::Base { base: base.clone(), options: resolve::Options::default() });
        let mut one = Normalizer::new(Options::default());
        let form = |value: &Value| {
            let value = value.as_deref()?;
            Some(one.normalize(value).map_or(value.to_vec(), <[u8]>::to_vec))
        };
        let expected_forms: Vec<Value> = expected.iter().map(form).collect();
        let in_context = Columns::new(Equivalence::default().context(context)).kernels(kernels);
        for (name, array) in arrays(values) {
            let made = columns.resolve(&array, &base, resolve::Options::default()).unwrap();
            assert_eq!(read(&made), expected, "{name}");
            let made = in_context.normalize(&array).unwrap();
            assert_eq!(read(&made), expected_forms, "{name}");
        }
    }
}

/// Values as bases of values, in two orders.
fn check_targets_each(values: &[Value]) {
    let columns = Columns::default();
    let bases: Vec<Value> = values.iter().rev().cloned().collect();
    let target = |(value, base): (&Value, &Value)| {
        let (value, base) = (trimmed(value.as_deref()?), trimmed(base.as_deref()?));
        let target = BaseUri::new(base).and_then(|base| {
            Resolver::new(base, resolve::Options::default()).resolve(value).map(<[u8]>::to_vec)
        });
        Some(target.unwrap_or(value.to_vec()))
    };
    let expected: Vec<Value> = values.iter().zip(&bases).map(target).collect();
    let base_arrays = arrays(&bases);
    for (i, (name, array)) in arrays(values).into_iter().enumerate() {
        let (base_name, bases) = &base_arrays[(i * 7 + 3) % base_arrays.len()];
        let made = columns.resolve_each(&array, bases, resolve::Options::default()).unwrap();
        assert_eq!(read(&made), expected, "{name} against {base_name}");
    }
}

fn check_links(values: &[Value], kernels: Kernels) {
    let columns = Columns::default().kernels(kernels);
    let finder = Finder::default();
    for (name, array) in arrays(values) {
        let lists = columns.extract(&array, &Extractor::default(), Format::Text).unwrap();
        let lists = lists.as_list::<i32>();
        for (row, value) in values.iter().enumerate() {
            assert_eq!(lists.is_valid(row), value.is_some());
            let Some(value) = value else { continue };
            let value = trimmed(value);
            let found = finder.find(kernels, value);
            let found: Vec<Value> = found.into_iter().map(|r| Some(value[r].to_vec())).collect();
            assert_eq!(read(&lists.value(row)), found, "{name}");
        }
    }
}

fn check_changes(values: &[Value]) {
    let names = step_names();
    for (name, array) in arrays(values) {
        let bits = Columns::default().changes(&array).unwrap();
        let bits = bits.as_primitive::<UInt64Type>();
        for (row, value) in values.iter().enumerate() {
            let explanation =
                value.as_deref().map(|value| explain(trimmed(value), Options::default()));
            let Some(Ok(explanation)) = explanation else {
                assert!(bits.is_null(row), "{name}");
                continue;
            };
            for (bit, step) in names.iter().enumerate() {
                let changes = explanation.changes.iter().any(|change| change.step.name == *step);
                assert_eq!(bits.value(row) >> bit & 1 == 1, changes, "{name} {step}");
            }
        }
    }
}

fn check_all(values: &[Value], kernels: Kernels) {
    check_forms_and_keys(values, kernels);
    check_parts(values, kernels);
    check_targets(values, kernels);
    check_links(values, kernels);
}

const TEXTS: &[Option<&str>] = &[
    Some("http://example.com/"),
    None,
    Some(""),
    Some(" \t"),
    Some("HTTP://Example.COM:80/%7Ebob/./x"),
    Some("  http://example.com:/a/../b?q#f \n"),
    Some("http://h/%4"),
    Some("1"),
    Some("http:"),
    Some("//h/"),
    Some("https:/"),
    Some("../g"),
    Some("a b"),
    Some("http://h/a\nhttp://h/b"),
    Some("see http://a/ and <http://b/c>."),
    None,
    Some("http://b\u{fc}cher.example/\u{e9}"),
    Some("mailto:a@B.example"),
    Some("#f"),
    Some("."),
    Some("/./"),
    Some("http://[::1]:443"),
    Some("data:,\u{0}"),
];

#[test]
fn a_table_of_texts_agrees_row_by_row_on_every_backend() {
    for kernels in Kernels::available() {
        check_all(&values(TEXTS), kernels);
        // Every value once at the end of a buffer, without padding after it, and once before
        // another value.
        for text in TEXTS {
            check_all(&values(&[*text]), kernels);
        }
    }
    check_firsts(&values(TEXTS));
    check_targets_each(&values(TEXTS));
    check_changes(&values(TEXTS));
}

#[test]
fn bytes_that_are_not_text_pass_through_columns_of_bytes() {
    let values = vec![Some(b"http://h/\xFF".to_vec()), None, Some(b"\xFE ".to_vec())];
    check_all(&values, Kernels::detect());
}

#[test]
fn the_first_fault_ends_the_call_if_requested() {
    let mut texts = vec![Some("http://h/"); 100_000];
    texts[70_001] = Some(" http://h/a b");
    texts[90_000] = Some("x");
    let columns = Columns::default().on_invalid(OnInvalid::Fail);
    for (name, array) in all(&values(&texts)) {
        let results = [columns.normalize(&array), columns.key(&array), columns.changes(&array)];
        for result in results {
            let error = result.expect_err(&name);
            let (Some(row), Some(error)) = (error.row(), error.uri()) else { panic!("{name}") };
            assert_eq!((row, error.kind, error.at), (70_001, UriErrorKind::Space, 10), "{name}");
        }
        assert!(columns.parse(&array).is_err());
        let mut firsts = Firsts::new(columns.clone());
        assert!(firsts.mark(&array).is_err());
        assert_eq!(firsts.classes(), 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_texts_agree_row_by_row(
        texts in proptest::collection::vec(
            proptest::option::weighted(
                0.9,
                "[ \t]?([a-zA-Z]{0,5}(:|://|//|)[a-zA-Z0-9.:@\\[\\]%-]{0,70}[/a-z.?#%0-9A-F \u{e9}\n]{0,80}){0,2}",
            ),
            0..12,
        ),
    ) {
        let texts: Vec<Option<&str>> = texts.iter().map(Option::as_deref).collect();
        let values = values(&texts);
        check_all(&values, Kernels::detect());
        check_firsts(&values);
        check_targets_each(&values);
        check_changes(&values);
    }
}
