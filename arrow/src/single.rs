//! Single values: what the kernels make of a column of one, without the column.

use super::canonical::too_long;
use super::pieces::MAX_VALUE;
use super::{Columns, OnInvalid};
pub(crate) use uriscan_bulk::pipeline::Scratch;
use uriscan_core::chunk::{PaddedBuf, Prefix};
use uriscan_core::index::{Index, Record, trimmed};
use uriscan_core::key::{Key, PublicHasher};
use uriscan_core::simd::{Isa, Task};
use uriscan_core::uri::UriError;

/// [`Columns`] for one value at a time; owns the buffers.
///
/// ```
/// use uriscan_arrow::{Columns, Single};
/// let mut single = Single::new(Columns::default());
/// assert_eq!(single.normalize(b" HTTP://h "), Ok(Some(&b"http://h/"[..])));
/// assert_eq!(single.key(b"HTTP://h"), single.key(b"http://h/"));
/// ```
#[derive(Clone, Debug)]
pub struct Single {
    columns: Columns,
    hasher: PublicHasher,
    room: Room,
}

/// Buffers that are used for value after value.
#[derive(Clone, Debug)]
struct Room {
    text: PaddedBuf,
    index: Index,
    scratch: Scratch,
}

struct Canonical<'a>(&'a Columns, Record<'a>, &'a mut Scratch);

impl<'a> Task for Canonical<'a> {
    type Output = Result<Prefix<'a>, UriError>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        self.0.canonical(isa, self.1, self.2)
    }
}

impl Single {
    /// Values under the settings of `columns`.
    pub fn new(columns: Columns) -> Single {
        Single {
            hasher: columns.equivalence.public_hasher(columns.hash),
            columns,
            room: Room {
                text: PaddedBuf::default(),
                index: Index::new(),
                scratch: Scratch::default(),
            },
        }
    }

    /// The value of [`Columns::normalize`] for `value`; `None` for null.
    ///
    /// # Errors
    /// For an invalid value under [`OnInvalid::Fail`]; the position is counted from the first byte that is not white space.
    pub fn normalize<'a>(&'a mut self, value: &'a [u8]) -> Result<Option<&'a [u8]>, UriError> {
        self.room.form(&self.columns, trimmed(value))
    }

    /// The value of [`Columns::key`] for `value`; `None` for null.
    ///
    /// # Errors
    /// As [`Single::normalize`].
    pub fn key(&mut self, value: &[u8]) -> Result<Option<Key>, UriError> {
        let value = trimmed(value);
        let form = self.room.form(&self.columns, value)?;
        let key = |form| if value.len() > MAX_VALUE { Key(0) } else { self.hasher.key(form) };
        Ok(form.map(key))
    }
}

impl Room {
    fn form<'a>(
        &'a mut self,
        columns: &'a Columns,
        value: &'a [u8],
    ) -> Result<Option<&'a [u8]>, UriError> {
        let found = if value.len() > MAX_VALUE {
            Err(too_long(value))
        } else {
            self.text.set(value);
            let record = self.index.only_record(columns.kernels, self.text.padded());
            let found = columns.kernels.run(Canonical(columns, record, &mut self.scratch));
            found.map(|form| columns.equivalence.aliased(form.bytes()))
        };
        match (found, columns.on_invalid) {
            (Ok(form), _) => Ok(Some(form)),
            (Err(_), OnInvalid::Pass) => Ok(Some(value)),
            (Err(_), OnInvalid::Null) => Ok(None),
            (Err(error), OnInvalid::Fail) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::{Array, BinaryArray};

    use super::*;
    use crate::OptionValue;

    #[test]
    fn agrees_with_columns_of_one() {
        let no_file = |_: &str| Err(String::new());
        let long = format!("HTTP://h/{}", "%7e".repeat(500));
        for option in [
            ("level", OptionValue::from("scheme")),
            ("level", "syntax".into()),
            ("level", "string".into()),
            ("preset", "crawl".into()),
            ("profile", "whatwg".into()),
            ("profile", "w3lib".into()),
            ("base", "http://base/a/b".into()),
            ("repair", "all".into()),
            ("hash", "sha256".into()),
        ] {
            for on_invalid in ["pass", "drop", "error"] {
                let options = [option.clone(), ("on_invalid", on_invalid.into())];
                let columns = Columns::from_options(options, no_file).unwrap();
                let mut single = Single::new(columns.clone());
                for value in [
                    &b"HTTP://User@H:80/%7e/../x?utm_source=a#b"[..],
                    b"",
                    b" \t",
                    b"\n http://h \r\n",
                    b"a b",
                    b"x",
                    b"//h",
                    b"http://[::1]",
                    b"http://h/\xFF",
                    b"http://b\xC3\xBCcher.example/",
                    b"http://h/a\nb",
                    long.as_bytes(),
                ] {
                    let array = BinaryArray::from(vec![value]);
                    let shown = value.escape_ascii();
                    match columns.normalize(&array) {
                        Ok(forms) => {
                            let form = forms.as_binary::<i32>();
                            let form = form.is_valid(0).then(|| form.value(0));
                            assert_eq!(single.normalize(value), Ok(form), "{shown} {option:?}");
                            let keys = columns.key(&array).unwrap();
                            let keys = keys.as_fixed_size_binary();
                            let key = keys.is_valid(0).then(|| keys.value(0).try_into().unwrap());
                            let key = key.map(|key| Key(u128::from_be_bytes(key)));
                            assert_eq!(single.key(value), Ok(key), "{shown} {option:?}");
                        }
                        Err(error) => {
                            let error = error.uri().unwrap_or_else(|| panic!("{error}"));
                            assert_eq!(single.normalize(value), Err(error), "{shown} {option:?}");
                            assert_eq!(single.key(value), Err(error), "{shown} {option:?}");
                        }
                    }
                }
            }
        }
    }
}
