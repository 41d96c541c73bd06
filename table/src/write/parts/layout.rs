//! How results are cut into files, and where these go.

use std::io::{self, Write};

/// How results are cut into files, which are called `part-00000.parquet` and so on.
///
/// ```
/// use uriscan_table::Layout;
/// let layout = Layout::default().rows(1_000_000).partition_by(["domain".to_owned()]);
/// assert_eq!(layout.most_partitions, 10_000);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Layout {
    /// The rows of a file; the last one of a directory may have fewer. `None` for any number.
    pub rows: Option<u64>,
    /// The bytes after which a file ends: it has no more than a row group beyond. `None` for any number.
    pub bytes: Option<u64>,
    /// Columns that become directories `name=value` and are not written to the files; `domain` is the registrable domain of the
    /// URI's canonical form, if there is no column of that name.
    pub partition_by: Vec<String>,
    /// The most directories that these may become; more are an error.
    pub most_partitions: usize,
}

impl Default for Layout {
    fn default() -> Layout {
        Layout { rows: None, bytes: None, partition_by: Vec::new(), most_partitions: 10_000 }
    }
}

setters! { Layout into { rows: Option<u64>, bytes: Option<u64> } }

impl Layout {
    /// Sets the columns that become directories.
    pub fn partition_by(mut self, columns: impl IntoIterator<Item = String>) -> Layout {
        self.partition_by = columns.into_iter().collect();
        self
    }

    /// Sets the most directories that there may be.
    pub fn most_partitions(mut self, most: usize) -> Layout {
        self.most_partitions = most;
        self
    }
}

/// Where the files of results are made.
///
/// There may be as many unfinished files at a time as there are partitions; whoever makes them decides how many are open.
pub trait Folder: Send {
    /// Makes a file. In `path`, slashes separate names of directories, which are to be made if they do not exist.
    ///
    /// # Errors
    /// If it cannot be made.
    fn create(&mut self, path: &str) -> io::Result<Box<dyn PartFile>>;
}

/// A file of results that is being written.
pub trait PartFile: Write + Send {
    /// Completes it; dropped without that, it is not whole.
    ///
    /// # Errors
    /// If the rest cannot be written.
    fn finish(&mut self) -> io::Result<()>;
}
