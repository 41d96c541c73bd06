//! The memory of the machine, or of its control group if that is less.

use std::path::{Path, PathBuf};

use uriscan_files::read_to_string;

/// Bytes of memory that are available to this process, if known.
pub(crate) fn of_machine() -> Option<u64> {
    let total = read_to_string("/proc/meminfo").ok().and_then(|text| total_of(&text));
    let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = limit_files(&groups).into_iter().filter_map(|path| limit_in(&path));
    limits.chain(total).min()
}

/// The total of a text such as `/proc/meminfo`.
fn total_of(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The files with the limits of the control groups in a text such as `/proc/self/cgroup`, and of all their ancestors: a
/// container may see its own group only at the root.
fn limit_files(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { continue };
        let (root, name) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|controller| controller == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let inside = Path::new(group.trim_start_matches('/'));
        files.extend(inside.ancestors().map(|group| Path::new(root).join(group).join(name)));
    }
    files
}

/// The limit in the file at `path`; `None` for none.
fn limit_in(path: &Path) -> Option<u64> {
    read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_total_is_in_kilobytes() {
        let text = "MemTotal:       24596148 kB\nMemFree:  1 kB\n";
        assert_eq!(total_of(text), Some(24_596_148 << 10));
        assert_eq!([total_of(""), total_of("MemTotal: x kB"), total_of("MemTotal: 5")], [None; 3]);
    }

    #[test]
    fn limits_stand_in_all_groups_around() {
        let paths = |groups: &str| -> Vec<String> {
            limit_files(groups).into_iter().map(|path| path.display().to_string()).collect()
        };
        assert_eq!(
            paths("0::/a/b\n"),
            [
                "/sys/fs/cgroup/a/b/memory.max",
                "/sys/fs/cgroup/a/memory.max",
                "/sys/fs/cgroup/memory.max"
            ]
        );
        assert_eq!(
            paths("5:cpu,cpuacct:/x\n4:rdma,memory:/d\nnonsense\n"),
            [
                "/sys/fs/cgroup/memory/d/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes"
            ]
        );
    }

    #[test]
    fn no_limit_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memory.max");
        for (text, limit) in [("max\n", None), ("1048576\n", Some(1 << 20))] {
            fs::write(&path, text).unwrap();
            assert_eq!(limit_in(&path), limit);
        }
        assert_eq!(limit_in(&dir.path().join("missing")), None);
    }
}
