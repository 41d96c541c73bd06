//! Links that lead outputs elsewhere.

use std::io;
use std::path::{Path, PathBuf};

/// Links that are followed, as the system does.
pub const MOST_LINKS: usize = 40;

/// The directory that `path` is in.
pub fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// What `path` leads to, which need not exist: the path without links.
///
/// # Errors
/// When another user has put a link into a directory that all can write to, such as `/tmp`, at the end of the path or on the
/// way: whoever names a file there means that file. Linux can be told to refuse it, but does not look at paths that are
/// followed link by link. Also when there are too many links.
pub fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut left = MOST_LINKS;
    walked(path, &mut left)
}

/// [`followed`], over so many links.
fn walked(path: &Path, left: &mut usize) -> io::Result<PathBuf> {
    let mut done = PathBuf::new();
    for component in path.components() {
        done.push(component);
        let Ok(target) = done.read_link() else { continue };
        *left = left.checked_sub(1).ok_or_else(|| io::Error::other("too many links"))?;
        if is_planted(&done)? {
            let what = format!(
                "{} is a link that another user has put into a directory that all can write to",
                done.display()
            );
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        let target = directory_of(&done).join(target);
        // Some links of /proc lead where no path does.
        if leads_to(&done, &target) {
            done = walked(&target, left)?;
        }
    }
    Ok(done)
}

/// Whether the link at `path` leads to what is at `target`, which may be nothing.
#[cfg(unix)]
fn leads_to(path: &Path, target: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (path.metadata(), target.metadata()) {
        (Ok(led), Ok(named)) => (led.dev(), led.ino()) == (named.dev(), named.ino()),
        (led, named) => led.is_err() && named.is_err(),
    }
}

#[cfg(not(unix))]
fn leads_to(_: &Path, _: &Path) -> bool {
    true
}

/// Whether the link at `path` is in a directory that is sticky and that all can write to, and belongs neither to this user nor
/// to whom the directory belongs.
#[cfg(unix)]
fn is_planted(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    const STICKY_FOR_ALL: u32 = 0o1002;
    let directory = directory_of(path).metadata()?;
    let link = path.symlink_metadata()?;
    let is_shared = directory.mode() & STICKY_FOR_ALL == STICKY_FOR_ALL;
    let own = rustix::process::geteuid().as_raw();
    Ok(is_shared && link.uid() != own && link.uid() != directory.uid())
}

#[cfg(not(unix))]
fn is_planted(_: &Path) -> io::Result<bool> {
    Ok(false)
}
