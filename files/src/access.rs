//! Owner, group and mode of a file that replaces another: they never grant more access than those of the old one.
//!
//! Kept are the nine bits of its mode, and its owner, group and access control list where the system allows it. Where the
//! group or the list cannot be kept, what they allowed goes. Bits that give a program or a script the rights of its owner
//! or group are never kept: its content is another one now. A directory keeps its sticky bit, which takes rights away,
//! and the one that gives its group to what is made in it.

use std::fs::{Metadata, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::{Call, File, call};

const OWNER: u32 = 0o700;

impl File {
    /// Gives the file, or the directory, the access that `old` has, as far as that gives no one more.
    /// That the system does not allow to keep the owner, the group or the list is not an error.
    pub(super) fn take_access_of(&self, old: &File) -> io::Result<()> {
        let wanted = old.metadata()?;
        let keeps_group = self.take_owner_of(&wanted, true)?;
        let list = acl::of(old)?;
        let keeps_list = match &list {
            Some(list) => keeps_group && acl::give(self, list)?,
            // The directory may have given it one.
            None => acl::remove(self)?,
        };
        let mode = mode(wanted.mode(), wanted.is_dir(), keeps_group, keeps_list);
        self.set_permissions(Permissions::from_mode(mode))
    }

    /// Gives the file the group that `old` has; whether that is allowed.
    pub(super) fn take_group_of(&self, old: &File) -> io::Result<bool> {
        self.take_owner_of(&old.metadata()?, false)
    }

    /// Gives the file the group of `wanted`, and its owner if `with_owner`; whether it has that group then.
    fn take_owner_of(&self, wanted: &Metadata, with_owner: bool) -> io::Result<bool> {
        use rustix::fs::{Gid, Uid, fchown};
        let is = self.metadata()?;
        let is_other = with_owner && is.uid() != wanted.uid();
        let uid = is_other.then(|| Uid::from_raw(wanted.uid()));
        let gid = (is.gid() != wanted.gid()).then(|| Gid::from_raw(wanted.gid()));
        let own = |uid: Option<Uid>, gid: Option<Gid>| match (uid, gid) {
            (None, None) => Ok(true),
            _ => allowed(call(Call::SetOwner, || Ok(fchown(self.as_fd(), uid, gid)?))),
        };
        // Who may not give a file away may have it belong to another of their groups.
        Ok(own(uid, gid)? || uid.is_some() && own(None, gid)?)
    }
}

fn mode(old: u32, is_directory: bool, keeps_group: bool, keeps_list: bool) -> u32 {
    let kept = match (is_directory, keeps_group) {
        (false, _) => 0o777,
        (true, false) => 0o1777,
        (true, true) => 0o3777,
    };
    let mode = old & kept;
    match (keeps_list, keeps_group) {
        (true, true) => mode,
        // Members of the old group are others now, and may have been allowed less than these.
        (true, false) => mode & !0o077 | mode & (mode >> 3) & 0o007,
        (false, _) => mode & (OWNER | 0o3000),
    }
}

/// Whether `result` is not that the system does not allow it.
fn allowed(result: io::Result<()>) -> io::Result<bool> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match result {
        // An owner that the namespace or the file system does not know is an invalid one.
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => {
            Ok(false)
        }
        result => result.map(|()| true),
    }
}

/// Access control lists of POSIX, which Linux has as extended attributes.
#[cfg(target_os = "linux")]
mod acl {
    use std::io;
    use std::os::fd::AsFd;

    use rustix::fs::{XattrFlags, fgetxattr, fremovexattr, fsetxattr};
    use rustix::io::Errno;

    use super::{Call, File, allowed, call};

    const NAME: &str = "system.posix_acl_access";

    const LONGEST: usize = 1 << 16;

    /// The list of `file`; `None` if its mode says all.
    pub(super) fn of(file: &File) -> io::Result<Option<Vec<u8>>> {
        let mut list = vec![0; LONGEST];
        let read = || match fgetxattr(file.as_fd(), NAME, &mut list[..]) {
            Ok(len) => Ok(Some(len)),
            Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(None),
            Err(error) => Err(error.into()),
        };
        let len = call(Call::Look, read)?;
        Ok(len.map(|len| {
            list.truncate(len);
            list
        }))
    }

    /// Gives `file` the `list`; whether that is allowed.
    pub(super) fn give(file: &File, list: &[u8]) -> io::Result<bool> {
        let give = || Ok(fsetxattr(file.as_fd(), NAME, list, XattrFlags::empty())?);
        allowed(call(Call::SetPermissions, give))
    }

    /// Takes the list of `file` away; whether it has none then.
    pub(super) fn remove(file: &File) -> io::Result<bool> {
        match fremovexattr(file.as_fd(), NAME) {
            Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(true),
            Err(error) => allowed(Err(error.into())),
        }
    }
}

/// Lists are not looked at elsewhere: the file has that of any new one.
#[cfg(not(target_os = "linux"))]
mod acl {
    use super::{File, io};

    pub(super) fn of(_: &File) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    pub(super) fn give(_: &File, _: &[u8]) -> io::Result<bool> {
        Ok(false)
    }

    pub(super) fn remove(_: &File) -> io::Result<bool> {
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_may_do_more_than_before() {
        for (old, keeps_group, keeps_list, new) in [
            (0o100_644, true, true, 0o644),
            (0o106_755, true, true, 0o755),
            (0o101_777, true, true, 0o777),
            (0o100_664, false, true, 0o604),
            (0o100_660, false, true, 0o600),
            // The group was denied what others were allowed.
            (0o100_604, false, true, 0o600),
            (0o100_657, false, true, 0o605),
            (0o102_775, false, false, 0o700),
            (0o100_666, true, false, 0o600),
        ] {
            let made = mode(old, false, keeps_group, keeps_list);
            assert_eq!(made, new, "{old:o} {keeps_group} {keeps_list} {made:o}");
        }
        // The bit of the group has another meaning for directories, and so has the sticky one.
        assert_eq!(mode(0o047_777, true, true, true), 0o3777);
        assert_eq!(mode(0o047_777, true, false, true), 0o1707);
    }

    /// A list: the owner may all, one more user may read and write, the group nothing, others may read.
    #[cfg(target_os = "linux")]
    fn list() -> Vec<u8> {
        const ANY: u32 = u32::MAX;
        let entries: [(u16, u16, u32); 5] =
            [(1, 7, ANY), (2, 6, 61_001), (4, 0, ANY), (16, 6, ANY), (32, 4, ANY)];
        let mut bytes = 2u32.to_le_bytes().to_vec();
        for (tag, rights, id) in entries {
            bytes.extend(tag.to_le_bytes());
            bytes.extend(rights.to_le_bytes());
            bytes.extend(id.to_le_bytes());
        }
        bytes
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_list_of_access_is_kept_and_none_is_inherited() {
        use crate::AtomicFile;
        use rustix::fs::{XattrFlags, fsetxattr};
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        std::fs::write(&path, "old").unwrap();
        let file = File::open(&path).unwrap();
        if fsetxattr(&file, "system.posix_acl_access", &list(), XattrFlags::empty()).is_err() {
            eprintln!("skipped: the file system has no access control lists");
            return;
        }
        let old = acl::of(&file).unwrap();
        assert!(old.is_some());
        AtomicFile::of_output(&path, Some(&file)).unwrap().put(&path).unwrap();
        let new = File::open(&path).unwrap();
        assert_eq!(acl::of(&new).unwrap(), old);
        // The bits of the group are those that the list allows at most.
        assert_eq!(new.metadata().unwrap().mode() & 0o7777, 0o764);
        // A directory that gives new files a list does not give it to one that replaces a file without one.
        let plain = directory.path().join("plain");
        std::fs::write(&plain, "old").unwrap();
        std::fs::set_permissions(&plain, Permissions::from_mode(0o660)).unwrap();
        let above = File::open(directory.path()).unwrap();
        fsetxattr(&above, "system.posix_acl_default", &list(), XattrFlags::empty()).unwrap();
        let file = File::open(&plain).unwrap();
        AtomicFile::of_output(&plain, Some(&file)).unwrap().put(&plain).unwrap();
        let new = File::open(&plain).unwrap();
        assert_eq!(acl::of(&new).unwrap(), None);
        assert_eq!(new.metadata().unwrap().mode() & 0o7777, 0o660);
    }
}
