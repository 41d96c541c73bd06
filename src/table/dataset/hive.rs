//! Columns in the names of directories, as Hive and Spark lay out partitions: `dt=2026-11-20/host=a%2Fb/`.

use std::path::{Component, Path};

/// What Hive and Spark call the partition of rows without a value.
pub(super) const DEFAULT_PARTITION: &str = "__HIVE_DEFAULT_PARTITION__";

/// The columns that the directories of a file name, each with its value; `None` for null.
///
/// ```
/// use uriscan::table::dataset::Partition;
///
/// let partition = Partition::of_path("dt=2026-11-20/lang=__HIVE_DEFAULT_PARTITION__/q=a%2Fb/x.csv".as_ref()).unwrap();
/// let values: Vec<_> = partition.columns().map(|(name, value)| (name, value.unwrap_or("null"))).collect();
/// assert_eq!(values, [("dt", "2026-11-20"), ("lang", "null"), ("q", "a/b")]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition(Vec<(String, Option<String>)>);

impl Partition {
    /// The columns in the directories of the file at `path`: names and values of `name=value`, percent-decoded. Other
    /// directories name none.
    ///
    /// # Errors
    /// If two directories name the same column, or a name or value is not UTF-8.
    pub fn of_path(path: &Path) -> Result<Partition, String> {
        let mut columns: Vec<(String, Option<String>)> = Vec::new();
        let directories = path.parent().map(Path::components).into_iter().flatten();
        for directory in directories {
            let Component::Normal(name) = directory else { continue };
            let Some((key, value)) = split(name.as_encoded_bytes()) else { continue };
            let text =
                |part| String::from_utf8(decoded(part)).map_err(|_| wrong(name, "is not UTF-8"));
            let (key, value) = (text(key)?, text(value)?);
            if columns.iter().any(|(known, _)| *known == key) {
                return Err(wrong(name, "names a column for the second time"));
            }
            columns.push((key, Some(value).filter(|value| value != DEFAULT_PARTITION)));
        }
        Ok(Partition(columns))
    }

    /// The columns and their values.
    pub fn columns(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_deref()))
    }

    /// The value of the column called `name`.
    pub(in super::super) fn value(&self, name: &str) -> Option<&str> {
        self.columns().find_map(|(known, value)| (known == name).then_some(value)).flatten()
    }
}

fn wrong(name: &std::ffi::OsStr, what: &str) -> String {
    format!("the directory {} {what}", name.to_string_lossy())
}

/// The name and the value in `name=value`.
fn split(directory: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(b'=', directory).filter(|&at| at > 0)?;
    Some((&directory[..at], &directory[at + 1..]))
}

/// `text` without percent-encodings; a `%` that begins none stands for itself.
fn decoded(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        let encoded = tail.get(..2).filter(|_| byte == b'%').and_then(hex);
        bytes.push(encoded.unwrap_or(byte));
        rest = if encoded.is_some() { &tail[2..] } else { tail };
    }
    bytes
}

fn hex(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits).ok().filter(|it| !it.starts_with('+'))?;
    u8::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(path: &str) -> Result<Vec<(String, Option<String>)>, String> {
        Partition::of_path(Path::new(path)).map(|partition| partition.0)
    }

    #[test]
    fn directories_name_columns() {
        let one = |name: &str, value: &str| vec![(name.to_owned(), Some(value.to_owned()))];
        assert_eq!(columns("a/dt=1/b/x=2.csv"), Ok(one("dt", "1")));
        assert_eq!(columns("a=b=c/x"), Ok(one("a", "b=c")));
        assert_eq!(columns("a=/x"), Ok(one("a", "")));
        assert_eq!(columns("=a/x"), Ok(Vec::new()));
        assert_eq!(columns("a%20b=%c3%A9%2g%+1%/x"), Ok(one("a b", "é%2g%+1%")));
        assert!(columns("a=1/a=2/x").unwrap_err().contains("a=2"));
        assert!(columns("a=%FF/x").unwrap_err().contains("not UTF-8"));
    }
}
