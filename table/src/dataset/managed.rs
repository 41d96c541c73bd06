//! Directories of tables that have a log: it says which files, and which of their rows, belong to the table, so that what is
//! read without it has rows that were deleted or replaced.

use std::fs::DirEntry;
use std::path::Path;

use uriscan_bulk::error::Error;

/// What keeps the log of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Managed {
    Delta,
    Iceberg,
    Hudi,
}

/// The directory with the metadata of Iceberg, which may be one of another kind.
const METADATA: &str = "metadata";

impl Managed {
    /// What has a log in the directory called `name`.
    fn of_name(name: &str) -> Option<Managed> {
        match name {
            "_delta_log" => Some(Managed::Delta),
            ".hoodie" => Some(Managed::Hudi),
            _ => None,
        }
    }

    /// What has a log in the directory `entry` of a table.
    pub(super) fn of_entry(entry: &DirEntry) -> Option<Managed> {
        let name = entry.file_name();
        let name = name.to_str()?;
        if name != METADATA && Managed::of_name(name).is_none() || !entry.path().is_dir() {
            return None;
        }
        Managed::of_name(name).or_else(|| has_metadata(&entry.path()).then_some(Managed::Iceberg))
    }

    /// What has a log in `directory`, that of a table.
    fn of_directory(directory: &Path) -> Option<Managed> {
        let found = ["_delta_log", ".hoodie"].into_iter().find(|it| directory.join(it).is_dir());
        found
            .and_then(Managed::of_name)
            .or_else(|| has_metadata(&directory.join(METADATA)).then_some(Managed::Iceberg))
    }

    /// What has a log below one of the directories above `root`, as the files of a table may be in a directory below its own.
    pub(super) fn above(root: &Path) -> Option<Error> {
        let root = std::path::absolute(root).ok()?;
        root.ancestors()
            .skip(1)
            .find_map(|it| Managed::of_directory(it).map(|found| found.refused(it)))
    }

    /// What has a log in which the file called `name` is, parts separated by slashes; and the directory of the table.
    pub(super) fn of_file(name: &str) -> Option<(Managed, &str)> {
        let mut start = 0;
        for part in name.split('/') {
            let rest = name[start + part.len()..].trim_start_matches('/');
            let found = match part {
                METADATA if is_metadata(rest) => Some(Managed::Iceberg),
                _ => Managed::of_name(part).filter(|_| !rest.is_empty()),
            };
            if let Some(found) = found {
                return Some((found, &name[..start]));
            }
            start += part.len() + 1;
        }
        None
    }

    pub(super) fn refused(self, directory: &Path) -> Error {
        let (name, readers) = match self {
            Managed::Delta => ("Delta Lake", "deltalake in Python or delta_scan in DuckDB"),
            Managed::Iceberg => ("Iceberg", "pyiceberg in Python or iceberg_scan in DuckDB"),
            Managed::Hudi => ("Hudi", "hudi in Python or Spark"),
        };
        let what = format!(
            "is a table of {name}, whose log says which rows of its files are deleted; read it with {readers}, and write it as a \
             Parquet file, or name its files one by one to read all of their rows"
        );
        let name = directory.display().to_string();
        let name = name.strip_suffix('/').filter(|name| !name.is_empty()).unwrap_or(&name);
        Error::read(if name.is_empty() { "." } else { name }, what)
    }
}

/// Whether Iceberg gives this name to metadata: `v1.metadata.json`, `00001-UUID.metadata.json`.
fn is_metadata(name: &str) -> bool {
    let version = name.strip_suffix(".metadata.json");
    let version = version.map(|version| version.strip_prefix('v').unwrap_or(version));
    name == "version-hint.text"
        || version.is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()))
}

fn has_metadata(directory: &Path) -> bool {
    let entries = directory.read_dir().into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|name| name.to_str().is_some_and(is_metadata))
}

#[cfg(test)]
mod tests {
    use super::super::Selection;
    use super::*;

    #[test]
    fn a_table_with_a_log_is_refused_from_above_and_from_below() {
        for (log, name) in [
            ("_delta_log/00000000000000000000.json", "Delta Lake"),
            ("metadata/v1.metadata.json", "Iceberg"),
            ("metadata/version-hint.text", "Iceberg"),
            (".hoodie/hoodie.properties", "Hudi"),
        ] {
            let root = tempfile::tempdir().unwrap();
            for file in [log, "dt=1/a.csv"] {
                let path = root.path().join("t").join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "url\n").unwrap();
            }
            let typed = root.path().to_str().unwrap();
            for selection in [
                Selection::of_path(&root.path().join("t"), false).unwrap(),
                Selection::of_path(root.path(), false).unwrap(),
                Selection::of_path(&root.path().join("t/dt=1"), false).unwrap(),
                Selection::of_pattern(&format!("{typed}/t/*/*.csv"), false).unwrap(),
                Selection::of_pattern(&format!("{typed}/t/dt=1/*"), false).unwrap(),
                Selection::of_pattern(&format!("{typed}/**/*.csv"), false).unwrap(),
            ] {
                let error = selection.files().unwrap_err().to_string();
                assert!(error.starts_with(&format!("{typed}/t: is a table of {name}")), "{error}");
            }
            let selection = Selection::of_directory("", false);
            let listed = [format!("t/{log}"), "t/dt=1/a.csv".to_owned()].map(|name| (name, 1));
            let error = selection.of_listing(listed).unwrap_err().to_string();
            assert!(error.starts_with(&format!("t: is a table of {name}")), "{error}");
        }
    }

    #[test]
    fn directories_of_these_names_are_no_logs_by_themselves() {
        let root = tempfile::tempdir().unwrap();
        let own = ["metadata/x.json.csv", "metadata/set.metadata.json"];
        for file in own.into_iter().chain(["metadata/a.csv", "_delta_log.csv"]) {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "url\n").unwrap();
        }
        assert_eq!(Selection::of_directory(root.path(), false).files().unwrap().files.len(), 3);
        for name in ["_delta_log", "metadata/a.csv", "a/metadata", "metadata.json", ".hoodie"] {
            assert_eq!(Managed::of_file(name), None, "{name}");
        }
        assert_eq!(Managed::of_file("a/b/_delta_log/0.json"), Some((Managed::Delta, "a/b/")));
    }
}
