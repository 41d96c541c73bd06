//! Rules files in files, with those that they include.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::param::Place;
use super::rules_file::{Included, RulesFile};
use super::tables::RulesFileError;
use uriscan_files::read_limited;

impl RulesFile {
    /// Bytes of the longest file that [`RulesFile::read`] reads: rules of a hundred thousand sites. Files that are included have
    /// less room.
    pub const MOST_BYTES: u64 = 64 << 20;

    /// Reads the rules file in the file at `path`; returns it with the paths of all files that were read.
    ///
    /// What it includes and is not built in are files in the same directory: a name without `/`, of a regular file. A link
    /// leads to one in the directory of the file that includes it, or in that to which a link to that file leads. No file may
    /// have more than [`RulesFile::MOST_BYTES`], and those that are included not more than 4 MiB together.
    ///
    /// ```
    /// use uriscan::rules::RulesFile;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("mine.toml");
    /// std::fs::write(&path, "include = ['../other.toml']")?;
    /// let error = RulesFile::read(&path).unwrap_err();
    /// assert!(error.message.contains("is not the name of a file beside this one"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// With the position in the file.
    pub fn read(path: &Path) -> Result<(RulesFile, Vec<PathBuf>), RulesFileError> {
        let source = path.display().to_string();
        let text = read(path).map_err(|message| {
            let place = Place { source: Arc::from(source.as_str()), line: 0, column: 0 };
            RulesFileError { place, message }
        })?;
        let mut files = vec![path.to_owned()];
        let mut open = |name: &str, _: &str| {
            let beside = beside(name, path)?;
            let text = read(&beside).map_err(|why| format!("{}: {why}", beside.display()))?;
            let source = beside.display().to_string();
            files.push(beside);
            Ok(Included::new(source, text))
        };
        let rules_file = RulesFile::parse(&text, &source, &mut open)?;
        Ok((rules_file, files))
    }
}

/// The file called `name` beside the file at `from`.
fn beside(name: &str, from: &Path) -> Result<PathBuf, String> {
    let mut parts = Path::new(name).components();
    let is_name = matches!(
        (parts.next(), parts.next()),
        (Some(Component::Normal(part)), None) if part == OsStr::new(name)
    );
    if !is_name || name.contains(['/', '\\', ':']) {
        return Err(format!(
            "{name} is not the name of a file beside this one, which has no `/`, `\\` or `:`"
        ));
    }
    let path = from.with_file_name(name);
    let fault = |error: std::io::Error| format!("{}: {error}", path.display());
    // Opening anything else may block, and reading it need not end.
    let metadata = path.metadata().map_err(fault)?;
    if !metadata.is_file() {
        return Err(format!("{}: is not a regular file", path.display()));
    }
    let directory = |path: &Path| path.canonicalize().ok()?.parent().map(Path::to_owned);
    let found = directory(&path);
    let above = from.parent().filter(|above| !above.as_os_str().is_empty());
    let above = above.unwrap_or(Path::new(".")).canonicalize().ok();
    if found.is_none() || found != above && found != directory(from) {
        return Err(format!("{}: is a link to a file elsewhere", path.display()));
    }
    Ok(path)
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = read_limited(path, RulesFile::MOST_BYTES).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| {
        format!("not TOML: byte {} is not UTF-8", error.utf8_error().valid_up_to())
    })
}
