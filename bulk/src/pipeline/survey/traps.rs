//! Shapes of which a list has so many URIs that they may have no end.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::SurveyOptions;
use super::overview::Trap;
use crate::pipeline::Canonicalizer;
use uriscan_core::shape::{Endless, endless, may_be_endless, numbers, shape};
use uriscan_core::simd::Kernels;
use uriscan_core::threads;

/// Different URIs of a shape that are more than a site usually has.
const MANY: u64 = 1_000;

/// URIs of a sample at least, so that their number says something of the whole: it is off by an eighth or so.
const LEAST: u64 = 64;

/// Texts that a thread takes at a time.
const FEW: usize = 256;

/// The URIs of one shape.
struct Shape {
    why: Endless,
    uris: u64,
    /// How many have each number.
    numbers: HashMap<Vec<u8>, u64>,
    /// The greatest number, and the URI that has it.
    last: (Vec<u8>, Vec<u8>),
}

/// Finds the traps among `texts`, on the current rayon pool. No two texts are equivalent, and each counts for `scale` of them.
///
/// Many URIs are not enough: a list that is sorted in forty ways has a thousand of them with 25 numbers of pages, and a
/// page in each of a thousand topics has one. The numbers have to differ.
pub(super) fn traps<'t>(
    texts: impl Iterator<Item = &'t [u8]>,
    scale: f64,
    options: &SurveyOptions,
) -> Vec<Trap> {
    let texts: Vec<&[u8]> = texts.collect();
    let found = threads::map(texts.chunks(FEW), |texts| {
        let mut canonicalizer = Canonicalizer::new(&options.equivalence, Kernels::detect());
        let mut found = Vec::new();
        for text in texts.iter().filter(|text| may_be_endless(text)) {
            let Ok(form) = canonicalizer.valid_form(text) else { continue };
            let Ok(shape) = shape(form) else { continue };
            let why = endless(&shape);
            if let Some((why, numbers)) = why.and_then(|why| Some((why, numbers(form, why)?))) {
                found.push((shape, why, numbers, form.to_vec()));
            }
        }
        found
    });
    let mut shapes: BTreeMap<Vec<u8>, Shape> = BTreeMap::new();
    for (shape, why, numbers, form) in found.into_iter().flatten() {
        let new = || Shape { why, uris: 0, numbers: HashMap::new(), last: Default::default() };
        let of_shape = shapes.entry(shape).or_insert_with(new);
        of_shape.uris += 1;
        // Numbers have no leading zeros as a rule, so a longer one is greater.
        if (numbers.len(), &numbers) > (of_shape.last.0.len(), &of_shape.last.0) {
            of_shape.last = (numbers.clone(), form);
        }
        *of_shape.numbers.entry(numbers).or_default() += 1;
    }
    let is_sample = scale > 1.0;
    let mut traps: Vec<Trap> = shapes
        .into_iter()
        .filter(|(_, of_shape)| match is_sample {
            false => of_shape.numbers.len() as u64 >= MANY,
            true => of_shape.uris >= LEAST && least_numbers(&of_shape.numbers) >= MANY,
        })
        .map(|(shape, Shape { why, uris, last, .. })| {
            let uris = (uris as f64 * scale).round() as u64;
            Trap { shape, why, uris, last: last.1 }
        })
        .filter(|trap| trap.uris >= MANY)
        .collect();
    traps.sort_by(|a, b| (Reverse(a.uris), &a.shape).cmp(&(Reverse(b.uris), &b.shape)));
    traps.truncate(options.most);
    traps
}

/// How many different numbers there are at least, by those of a sample: Chao's lower bound, from how many were seen
/// once and twice.
fn least_numbers(numbers: &HashMap<Vec<u8>, u64>) -> u64 {
    let seen = |times: u64| numbers.values().filter(|&&count| count == times).count() as u64;
    let (once, twice) = (seen(1), seen(2));
    numbers.len() as u64 + once * once.saturating_sub(1) / (2 * (twice + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shapes of the traps among `urls`, and how many URIs each has.
    fn found(urls: impl IntoIterator<Item = String>, scale: f64) -> Vec<(String, u64)> {
        let urls: Vec<String> = urls.into_iter().collect();
        let texts = urls.iter().map(String::as_bytes);
        let traps = traps(texts, scale, &SurveyOptions::default());
        let text = |trap: Trap| (String::from_utf8(trap.shape).unwrap(), trap.uris);
        traps.into_iter().map(text).collect()
    }

    #[test]
    fn many_numbers_of_one_counter_or_calendar_are_a_trap() {
        for (url, shape) in [
            (|i: u64| format!("http://h/list?offset={i}"), "http://h/list?offset={int}"),
            (|i| format!("http://h/list?s=x&Page={i}"), "http://h/list?Page={int}&s={text}"),
            (
                |i| format!("http://h/calendar/{}/{}", 2000 + i / 12, i % 12),
                "http://h/calendar/{int}/{int}",
            ),
            (|i| format!("http://h/ev?month={}-05", 1900 + i % 200), ""),
            (|i| format!("http://h/user/{i}/calendar?month=2024-05"), ""),
            (|i| format!("http://h/topic/{i}?page={}", i % 25), ""),
            (|i| format!("http://h/item/{i}"), ""),
            (|i| format!("http://h/list?page=2#{i}"), ""),
        ] as [(fn(u64) -> String, &str); 8]
        {
            let expected: Vec<(String, u64)> =
                if shape.is_empty() { vec![] } else { vec![(shape.to_owned(), 1_000)] };
            assert_eq!(found((0..1_000).map(url), 1.0), expected, "{}", url(7));
            assert_eq!(found((0..999).map(url), 1.0), [], "{}", url(7));
        }
    }

    #[test]
    fn a_sample_of_few_numbers_is_not_a_trap() {
        let pages = |most: u64| {
            (0..200u64).map(move |i| format!("http://h/list?page={}&sort={i}", i * 7 % most))
        };
        let shape = "http://h/list?page={int}&sort={int}".to_owned();
        assert_eq!(found(pages(4_999), 50.0), [(shape, 10_000)]);
        assert_eq!(found(pages(25), 50.0), []);
        // Each number twice in what is a large share of the list.
        let sorts = (0..4_000).map(|i| {
            format!("http://h/list?page={}&sort={{}}", i / 2).replace("{}", ["a", "b"][i % 2])
        });
        assert_eq!(found(sorts, 1.5).len(), 1);
        // 600 numbers on many topics.
        let number = |i: u64| xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes()) % 600;
        let forum = (0..400).map(|i| format!("http://h/topic/{i}?page={}", number(i)));
        assert_eq!(found(forum, 10.0), []);
        assert_eq!(found(pages(4_999), 4.0), [], "800 URIs");
        assert_eq!(found(pages(4_999).take(63), 50.0), [], "too few say how many there are");
    }

    #[test]
    fn the_example_has_a_long_number() {
        let urls: Vec<String> = (0..1_200).map(|i| format!("http://h/?page={i}&x")).collect();
        let options = SurveyOptions::default();
        let traps = traps(urls.iter().rev().map(String::as_bytes), 1.0, &options);
        assert_eq!((traps.len(), traps[0].why), (1, Endless::Counter));
        assert_eq!(traps[0].last, b"http://h/?page=1199&x");
    }
}
