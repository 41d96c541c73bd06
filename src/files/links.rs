//! Links that lead outputs elsewhere.

use std::io;
use std::path::{Path, PathBuf};

/// Links that are followed, as the system does.
pub(super) const MOST_LINKS: usize = 40;

/// The directory that `path` is in.
pub(super) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// What the links at `path` lead to, which need not exist.
///
/// # Errors
/// When another user has put a link into a directory that all can write to, such as `/tmp`: whoever names a file there means
/// that file. Linux can be told to refuse it, but does not look at paths that are followed link by link.
pub fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = path.read_link() else { break };
        if is_planted(&path)? {
            let what = format!(
                "{} is a link that another user has put into a directory that all can write to",
                path.display()
            );
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        path = directory_of(&path).join(target);
    }
    Ok(path)
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
