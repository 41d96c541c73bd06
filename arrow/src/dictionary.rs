//! Kernels on dictionaries: they run over the values, and the keys say which row has which.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::ArrowDictionaryKeyType;
use arrow_array::{
    AnyDictionaryArray, Array, ArrayRef, BooleanArray, DictionaryArray, PrimitiveArray,
    UInt64Array, downcast_integer_array,
};
use arrow_buffer::ArrowNativeType;

use super::{Error, ErrorKind, each_value, wrong_type};

/// Runs `kernel` over `array`; for a dictionary, over its values. Values that become the same are one value of the result, as
/// everything that groups or counts a dictionary takes its values for distinct.
pub(super) fn text_to_text(
    array: &dyn Array,
    kernel: impl Fn(&dyn Array) -> Result<ArrayRef, Error>,
) -> Result<ArrayRef, Error> {
    let Some(dictionary) = array.as_any_dictionary_opt() else { return kernel(array) };
    let made = match kernel(dictionary.values()) {
        // A row says which value is invalid; a value that no row has is not.
        Err(error) if error.kind() == ErrorKind::Invalid => {
            kernel(&spelled_out(array)?)?;
            kernel(&used(dictionary)?)?
        }
        made => made?,
    };
    distinct(dictionary, made)
}

/// Runs `kernel` over `array`; for a dictionary, over its values, unpacked.
pub(super) fn text_to_other(
    array: &dyn Array,
    kernel: impl Fn(&dyn Array) -> Result<ArrayRef, Error>,
) -> Result<ArrayRef, Error> {
    let Some(dictionary) = array.as_any_dictionary_opt() else { return kernel(array) };
    match kernel(dictionary.values()) {
        Err(error) if error.kind() == ErrorKind::Invalid => kernel(&spelled_out(array)?),
        made => Ok(arrow_select::take::take(&made?, dictionary.keys(), None)?),
    }
}

/// Unpacks a dictionary; any other array is returned as it is.
pub fn spelled_out(array: &dyn Array) -> Result<ArrayRef, Error> {
    Ok(match array.as_any_dictionary_opt() {
        Some(dictionary) => arrow_select::take::take(dictionary.values(), dictionary.keys(), None)?,
        None => array.slice(0, array.len()),
    })
}

/// The values of `dictionary`, null where no row has them.
fn used(dictionary: &dyn AnyDictionaryArray) -> Result<ArrayRef, Error> {
    let mut unused = vec![true; dictionary.values().len()];
    let keys = dictionary.keys();
    let numbers = dictionary.normalized_keys().into_iter().enumerate();
    numbers.filter(|(row, _)| keys.is_valid(*row)).for_each(|(_, number)| unused[number] = false);
    Ok(arrow_select::nullif::nullif(dictionary.values(), &BooleanArray::from(unused))?)
}

/// The rows of `dictionary` with `made` in place of its values, each of them once; null where they are.
fn distinct(dictionary: &dyn AnyDictionaryArray, made: ArrayRef) -> Result<ArrayRef, Error> {
    let (mut firsts, mut numbers) = (Vec::new(), HashMap::with_capacity(made.len()));
    let mut number = |(row, value)| {
        *numbers.entry(value).or_insert_with(|| {
            firsts.push(row as u64);
            firsts.len() - 1
        })
    };
    let new: Vec<Option<usize>> =
        each_value(&made).enumerate().map(|(row, value)| Some(number((row, value?)))).collect();
    if firsts.len() == made.len() {
        return Ok(dictionary.with_values(made));
    }
    let values = arrow_select::take::take(&made, &UInt64Array::from(firsts), None)?;
    let keys = dictionary.keys();
    downcast_integer_array!(
        keys => renumbered(keys, &new, values),
        other => Err(wrong_type(other)),
    )
}

fn renumbered<K: ArrowDictionaryKeyType>(
    keys: &PrimitiveArray<K>,
    new: &[Option<usize>],
    values: ArrayRef,
) -> Result<ArrayRef, Error> {
    // A number is at most the one that it replaces, so the type has room for it.
    let new = |key: K::Native| new.get(key.as_usize()).copied().flatten();
    let keys: PrimitiveArray<K> = keys.unary_opt(|key| new(key).and_then(K::Native::from_usize));
    Ok(Arc::new(DictionaryArray::try_new(keys, values)?))
}

#[cfg(test)]
mod tests {
    use arrow_array::types::{Int8Type, UInt16Type};
    use arrow_array::{DictionaryArray, Int8Array, StringArray, StringViewArray, UInt16Array};

    use super::*;
    use crate::{Columns, OnInvalid};
    use uriscan_core::resolve::{BaseUri, Options};

    fn texts(array: &dyn Array) -> Vec<Option<String>> {
        let array = spelled_out(array).unwrap();
        let text = |value: &[u8]| String::from_utf8(value.to_vec()).unwrap();
        each_value(&array).map(|value| value.map(text)).collect()
    }

    /// Rows as without a dictionary, and each value once.
    fn same(dictionary: &dyn Array, kernel: impl Fn(&dyn Array) -> ArrayRef) {
        let (made, plain) = (kernel(dictionary), kernel(&spelled_out(dictionary).unwrap()));
        assert_eq!(made.data_type(), dictionary.data_type());
        assert_eq!(texts(&made), texts(&plain));
        let values: Vec<_> =
            texts(made.as_any_dictionary().values()).into_iter().flatten().collect();
        let distinct: std::collections::HashSet<_> = values.iter().collect();
        assert_eq!(distinct.len(), values.len(), "{values:?}");
    }

    #[test]
    fn values_that_become_the_same_are_one_value() {
        let values = ["HTTP://h", "http://h/", "http://i/", "no URI", "HTTP://h", "http://i"];
        let keys = [Some(0), Some(1), None, Some(5), Some(3), Some(2), Some(4), Some(0)];
        let small = DictionaryArray::<Int8Type>::new(
            keys.into_iter().collect::<Int8Array>(),
            Arc::new(StringArray::from(values.to_vec())),
        );
        let views = DictionaryArray::<UInt16Type>::new(
            keys.map(|key| key.map(|key| key as u16)).into_iter().collect::<UInt16Array>(),
            Arc::new(values.map(Some).into_iter().collect::<StringViewArray>()),
        );
        let nulls = DictionaryArray::<Int8Type>::new(
            Int8Array::from(vec![0, 1, 2, 0]),
            Arc::new(StringArray::from(vec![Some("http://h"), None, Some("HTTP://h")])),
        );
        let base = BaseUri::new(b"http://h/x").unwrap();
        for array in [&small as &dyn Array, &views, &nulls, &small.slice(3, 4), &small.slice(0, 0)]
        {
            for on_invalid in [OnInvalid::Pass, OnInvalid::Null] {
                let columns = Columns::default().on_invalid(on_invalid);
                same(array, |array| columns.normalize(array).unwrap());
                same(array, |array| columns.surt(array, uriscan_core::surt::Form::ALL[0]).unwrap());
                same(array, |array| columns.resolve(array, &base, Options::default()).unwrap());
            }
        }
    }

    #[test]
    fn a_value_that_no_row_has_is_not_invalid_and_an_error_names_the_row() {
        let values = Arc::new(StringArray::from(vec!["a b", "http://h", "no URI", "HTTP://h/"]));
        let columns = Columns::default().on_invalid(OnInvalid::Fail);
        let of =
            |keys: Vec<i8>| DictionaryArray::<Int8Type>::new(Int8Array::from(keys), values.clone());
        let (good, bad) = (of(vec![1, 3, 1]), of(vec![1, 3, 2, 0]));
        let form = Some("http://h/".to_owned());
        assert_eq!(texts(&columns.normalize(&good).unwrap()), [form.clone(), form.clone(), form]);
        assert_eq!(columns.key(&good).unwrap().len(), 3);
        for error in [columns.normalize(&bad).unwrap_err(), columns.key(&bad).unwrap_err()] {
            assert_eq!(error.row(), Some(2), "{error}");
        }
    }
}
