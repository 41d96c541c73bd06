//! Columns in the names of directories, as Hive and Spark lay out partitions: `dt=2026-11-20/host=a%2Fb/`.

use std::path::{Component, Path};

use uriscan_core::normalize::percent::decoded;

/// What Hive and Spark call the partition of rows without a value.
pub(super) const DEFAULT_PARTITION: &str = "__HIVE_DEFAULT_PARTITION__";

/// The columns that the directories of a file name, each with its value; `None` for null.
///
/// ```
/// use uriscan_table::dataset::Partition;
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
            // Spelled otherwise, it is text.
            let is_null = value == DEFAULT_PARTITION.as_bytes();
            let (key, value) = (text(key)?, text(value)?);
            if columns.iter().any(|(known, _)| *known == key) {
                return Err(wrong(name, "names a column for the second time"));
            }
            columns.push((key, (!is_null).then_some(value)));
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

/// Appends `name=value` as the name of a directory, which it cannot leave: everything but ASCII letters, digits, `-`, `_`
/// `.` and `~` is percent-encoded. Null and empty are [`DEFAULT_PARTITION`], as in Spark.
pub(in super::super) fn push_directory(name: &str, value: Option<&str>, out: &mut String) {
    push_encoded(name, out);
    out.push('=');
    match value.filter(|value| !value.is_empty()) {
        // A value that is spelled so would be read as null.
        Some(DEFAULT_PARTITION) => out.push_str("%5F_HIVE_DEFAULT_PARTITION__"),
        Some(value) => push_encoded(value, out),
        None => out.push_str(DEFAULT_PARTITION),
    }
}

fn push_encoded(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' | '~' => out.push(character),
            // Two spellings of a character can be one name on some systems.
            _ => {
                let mut bytes = [0; 4];
                for byte in character.encode_utf8(&mut bytes).bytes() {
                    out.push_str(&format!("%{byte:02X}"));
                }
            }
        }
    }
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

    #[test]
    fn values_are_read_back_and_stay_in_their_directory() {
        for value in
            ["..", "/", "../../etc", "a\0b", "é", "%2F", "=", " ", DEFAULT_PARTITION, "\\", "c:"]
        {
            let mut name = String::new();
            push_directory("k/..", Some(value), &mut name);
            assert!(!name.contains(['/', '\\', '\0', ':']), "{name}");
            assert_eq!(columns(&format!("{name}/x")).unwrap()[0].1.as_deref(), Some(value));
        }
        for value in [None, Some("")] {
            let mut name = String::new();
            push_directory("k", value, &mut name);
            assert_eq!(columns(&format!("{name}/x")), Ok(vec![("k".to_owned(), None)]));
        }
    }
}
