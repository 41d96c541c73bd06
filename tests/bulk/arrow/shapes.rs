//! Tests arrays of unusual shapes: without rows, all null, long, with many pieces, of other types.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int32Array, LargeStringArray, StringArray};
use uriscan::ErrorKind;
use uriscan::extract::{Extractor, Format};
use uriscan::normalize::{Normalizer, Options};
use uriscan::resolve::{self, BaseUri};
use uriscan::uri::UriErrorKind;
use uriscan_arrow::{Columns, Firsts, OnInvalid};

use super::arrays::{all, dictionaries, read};

#[test]
fn columns_without_rows_give_columns_without_rows() {
    let columns = Columns::default();
    let base = BaseUri::new(b"http://h/").unwrap();
    for (name, array) in all(&[]).into_iter().chain(dictionaries(&[])) {
        let made: Vec<ArrayRef> = vec![
            columns.normalize(&array).unwrap(),
            columns.key(&array).unwrap(),
            columns.parse(&array).unwrap(),
            columns.check(&array, true).unwrap(),
            columns.is_valid(&array, true).unwrap(),
            columns.resolve(&array, &base, resolve::Options::default()).unwrap(),
            columns.resolve_each(&array, &array, resolve::Options::default()).unwrap(),
            columns.extract(&array, &Extractor::default(), Format::Text).unwrap(),
            columns.changes(&array).unwrap(),
        ];
        assert!(made.iter().all(|array| array.is_empty()), "{name}");
        assert_eq!(Firsts::new(columns.clone()).mark(&array).unwrap().len(), 0);
    }
}

#[test]
fn columns_of_nulls_give_nulls() {
    let columns = Columns::default().on_invalid(OnInvalid::Fail);
    for (name, array) in all(&[None, None, None]) {
        for made in [
            columns.normalize(&array).unwrap(),
            columns.key(&array).unwrap(),
            columns.parse(&array).unwrap(),
            columns.is_valid(&array, false).unwrap(),
            columns.changes(&array).unwrap(),
            columns.extract(&array, &Extractor::default(), Format::Html).unwrap(),
        ] {
            assert_eq!((made.len(), made.null_count()), (3, 3), "{name}");
        }
    }
}

#[test]
fn many_pieces_on_many_threads_agree_with_single_rows() {
    let texts: Vec<Vec<u8>> = (0..60_000u32)
        .map(|i| match i % 5 {
            0 => format!("HTTP://h{}.example:80/%7e{i}", i % 100).into_bytes(),
            1 => format!("http://h.example/{}", "x".repeat(i as usize % 300)).into_bytes(),
            2 => format!("no URI {i}").into_bytes(),
            3 => Vec::new(),
            _ => format!("http://h/{i}/../?q").into_bytes(),
        })
        .collect();
    let mut one = Normalizer::new(Options::default());
    let form = |text: &Vec<u8>| Some(one.normalize(text).map_or(text.clone(), <[u8]>::to_vec));
    let expected: Vec<Option<Vec<u8>>> = texts.iter().map(form).collect();
    let values: Vec<Option<Vec<u8>>> = texts.into_iter().map(Some).collect();
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for (name, array) in all(&values) {
            let made = pool.install(|| Columns::default().normalize(&array).unwrap());
            assert_eq!(read(&made), expected, "{name}");
        }
    }
}

#[test]
fn a_long_value_has_its_own_piece_and_an_oversized_one_is_not_processed() {
    let long = format!("http://h/{}/../y", "x".repeat(1 << 20));
    let too_long = format!("http://h/{}", "x".repeat(64 << 20));
    let values = [Some("http://H/"), Some(&long[..]), Some(&too_long[..]), None, Some("http://h")];
    let array = LargeStringArray::from(values.to_vec());
    let columns = Columns::default();
    let forms = columns.normalize(&array).unwrap();
    let forms = forms.as_string::<i64>();
    assert_eq!(
        (forms.value(0), forms.value(1), forms.value(4)),
        ("http://h/", "http://h/y", "http://h/")
    );
    assert_eq!(forms.value(2), too_long);
    let keys = columns.key(&array).unwrap();
    assert_eq!(keys.as_fixed_size_binary().value(2), [0; 16]);
    assert!(columns.parse(&array).unwrap().is_null(2));
    let check = columns.check(&array, false).unwrap();
    assert_eq!(
        check.as_struct().column(0).as_string::<i32>().value(2),
        UriErrorKind::TooLong.name()
    );
    let references: ArrayRef = Arc::new(StringArray::from(vec!["a"; 5]));
    let targets = columns.resolve_each(&references, &array, resolve::Options::default()).unwrap();
    let targets = targets.as_string::<i32>();
    assert_eq!((targets.value(0), targets.value(4)), ("http://H/a", "http://h/a"));
    assert_eq!(targets.value(1), "http://h/a");
    assert_eq!((targets.value(2), targets.is_null(3)), ("a", true));
    let mut firsts = Firsts::new(columns);
    let marks = firsts.mark(&array).unwrap();
    assert_eq!(
        marks.iter().collect::<Vec<_>>(),
        [Some(true), Some(true), Some(true), None, Some(false)]
    );
    let again = firsts.mark(&array).unwrap();
    assert_eq!(
        again.iter().collect::<Vec<_>>(),
        [Some(false), Some(false), Some(true), None, Some(false)]
    );
}

#[test]
fn other_types_are_rejected() {
    let numbers = Int32Array::from(vec![1]);
    let error = Columns::default().key(&numbers).expect_err("numbers have no keys");
    assert_eq!(error.kind(), ErrorKind::ColumnType);
    let one: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    let two: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let error = Columns::default().resolve_each(&one, &two, resolve::Options::default());
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Lengths);
}
