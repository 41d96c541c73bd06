//! Which names belong to a dataset.
//!
//! A pattern is matched part by part, between slashes. What has matched so far is a set of positions in the pattern, so the
//! time that a name takes grows with its length times that of the pattern, whatever `**` could match in how many ways.

use std::path::{Component, Path, PathBuf};

use glob::Pattern;

use super::super::TableFormat;

/// Bytes that make a name a pattern.
const SPECIAL: [char; 3] = ['*', '?', '['];

/// The files of a dataset: all tables below a directory, or what a pattern selects.
///
/// In a pattern `*`, `?` and `[abc]` represent characters of a name, and `**` any number of directories. A directory that
/// it selects represents all tables below it. Names that begin with `.` or `_` are left out, unless that part of the pattern
/// begins with the same character; `_name=value` is the name of a partition and stays.
///
/// ```
/// use uriscan_table::dataset::Selection;
///
/// let selection = Selection::of_pattern("crawl/dt=*/", false).unwrap();
/// assert_eq!(selection.root().to_str(), Some("crawl"));
/// let listing = ["dt=1/a.parquet", "dt=1/_SUCCESS", "dt=2/x/b.csv", "c.csv"].map(|name| (name, 10));
/// let found = selection.of_listing(listing).unwrap();
/// let names: Vec<_> = found.files.iter().map(|file| file.below.to_str().unwrap()).collect();
/// assert_eq!(names, ["dt=1/a.parquet", "dt=2/x/b.csv"]);
/// assert_eq!(found.skipped, 1);
/// ```
#[derive(Clone, Debug)]
pub struct Selection {
    root: PathBuf,
    steps: Vec<Step>,
    /// Whether files need no name that is one of a table.
    takes_any_name: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Directories,
    /// One name. Names that begin with the character are not hidden.
    Name(Pattern, Option<char>),
}

/// How much of a pattern the parts of a path have matched: positions in its steps, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Matched(Vec<usize>);

/// What a name is to a [`Selection`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Matching {
    /// It belongs to it; below it, this much has matched.
    Yes(Matched),
    /// It would, if it did not begin with `.` or `_`.
    Hidden,
    No,
}

impl Selection {
    /// All tables below `directory`; with `takes_any_name`, files of any name.
    pub fn of_directory(directory: impl Into<PathBuf>, takes_any_name: bool) -> Selection {
        Selection { root: directory.into(), steps: Vec::new(), takes_any_name }
    }

    /// What `pattern` selects; `None` if it has no special characters and so is the name of a file. With `takes_any_name`, files
    /// need not have the name of a table.
    pub fn of_pattern(pattern: &str, takes_any_name: bool) -> Option<Selection> {
        let (mut root, mut steps) = (PathBuf::new(), Vec::new());
        for part in Path::new(pattern).components() {
            let name = part.as_os_str().to_str()?;
            let is_special = matches!(part, Component::Normal(_)) && name.contains(SPECIAL);
            if steps.is_empty() && !is_special {
                root.push(part);
            } else if name == "**" {
                steps.push(Step::Directories);
            } else {
                // What is not a valid pattern, such as `[`, matches itself.
                let pattern =
                    Pattern::new(name).or_else(|_| Pattern::new(&Pattern::escape(name))).ok()?;
                steps.push(Step::Name(pattern, name.chars().next().filter(|&it| is_hiding(it))));
            }
        }
        (!steps.is_empty()).then_some(Selection { root, steps, takes_any_name })
    }

    /// What `path` selects: the tables below a directory, or what a pattern does that is not the name of a file; `None` for anything
    /// else, which is a file.
    pub fn of_path(path: &Path, takes_any_name: bool) -> Option<Selection> {
        if path.is_dir() {
            return Some(Selection::of_directory(path, takes_any_name));
        }
        let is_file = path.symlink_metadata().is_ok();
        Selection::of_pattern(path.to_str().filter(|_| !is_file)?, takes_any_name)
    }

    /// The directory that has all of the dataset: that which was named, or the part of a pattern without special characters.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What has matched at the root.
    pub(super) fn start(&self) -> Matched {
        self.with_passed(vec![0])
    }

    /// What is matched by `name` in a directory of which so much has `matched`.
    pub(super) fn step(&self, matched: &Matched, name: &str) -> Matching {
        let first = name.chars().next().unwrap_or_default();
        let is_hidden = is_hiding(first) && (first == '.' || !name.contains('='));
        let (mut next, mut would) = (Vec::new(), false);
        for &at in &matched.0 {
            match self.steps.get(at) {
                // All of the pattern has matched, or `**` does once more.
                None | Some(Step::Directories) if is_hidden => would = true,
                None | Some(Step::Directories) => next.push(at),
                Some(Step::Name(pattern, unhidden)) if pattern.matches(name) => {
                    if is_hidden && *unhidden != Some(first) {
                        would = true;
                    } else {
                        next.push(at + 1);
                    }
                }
                Some(Step::Name(..)) => {}
            }
        }
        match (next.is_empty(), would) {
            (false, _) => Matching::Yes(self.with_passed(next)),
            (true, true) => Matching::Hidden,
            (true, false) => Matching::No,
        }
    }

    /// Whether a file belongs to the dataset by its path; `**` at the end matches files.
    pub(super) fn is_whole(&self, matched: &Matched) -> bool {
        matched.0.last() == Some(&self.steps.len())
    }

    /// What has matched below a directory called `name` that is a link, if it is followed: a part of the pattern selects it,
    /// not `**` and not a directory above it.
    pub(super) fn follow(&self, matched: &Matched, name: &str) -> Option<Matched> {
        let selects = |at: usize| match self.steps.get(at) {
            Some(Step::Name(pattern, _)) if pattern.matches(name) => Some(at + 1),
            _ => None,
        };
        let named: Vec<usize> = matched.0.iter().filter_map(|&at| selects(at)).collect();
        (!named.is_empty()).then(|| self.with_passed(named))
    }

    /// Whether a file may be a table, by its name.
    pub(super) fn takes(&self, name: &Path) -> bool {
        self.takes_any_name || TableFormat::of_path(name).is_some()
    }

    /// `positions`, and those after each `**` there, which may match nothing.
    fn with_passed(&self, mut positions: Vec<usize>) -> Matched {
        let mut i = 0;
        while let Some(&at) = positions.get(i) {
            if matches!(self.steps.get(at), Some(Step::Directories)) {
                positions.push(at + 1);
            }
            i += 1;
        }
        positions.sort_unstable();
        positions.dedup();
        Matched(positions)
    }
}

fn is_hiding(first: char) -> bool {
    matches!(first, '.' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(pattern: &str, path: &str) -> bool {
        let selection = Selection::of_pattern(pattern, false).unwrap();
        !selection.of_listing([(path, 0)]).unwrap().files.is_empty()
    }

    #[test]
    fn patterns_select_by_parts() {
        for (pattern, path) in [
            ("*.csv", "a.csv"),
            ("**/*.csv", "a.csv"),
            ("**/*.csv", "a/b/c.csv"),
            ("**", "a/b/c.csv"),
            ("a?/**/x/*.csv", "ab/x/c.csv"),
            ("a?/**/x/*.csv", "ab/x/y/x/c.csv"),
            ("dt=202[56]*", "dt=2025-01/b/c.csv"),
            ("**/_tmp*/*", "a/_tmp1/c.csv"),
            ("*", "_day=1/c.csv"),
            ("x[/*", "x[/c.csv"),
        ] {
            assert!(selected(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("*.csv", "a/b.csv"),
            ("*.csv", "b.parquet"),
            ("*", "README.md"),
            ("**/*.csv", ".hidden/c.csv"),
            ("**/*.csv", "a/_c.csv"),
            ("*/_tmp/*", "a/_tmp/_c.csv"),
            ("a?/**/x/*.csv", "ab/y/c.csv"),
        ] {
            assert!(!selected(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn the_root_is_the_part_without_special_characters() {
        let root = |pattern: &str| Selection::of_pattern(pattern, false).map(|it| it.root);
        assert_eq!(root("/a/b/*/c"), Some(PathBuf::from("/a/b")));
        assert_eq!(root("../x?/y"), Some(PathBuf::from("..")));
        assert_eq!(root("*"), Some(PathBuf::new()));
        assert_eq!(root("a/b.csv"), None);
    }

    #[test]
    fn time_does_not_explode() {
        let pattern = "**/*a*/".repeat(30) + "b.csv";
        let path = "aaaa/".repeat(2_000) + "c.csv";
        assert!(!selected(&pattern, &path));
        assert!(selected(&pattern, &path.replace("c.csv", "b.csv")));
    }
}
