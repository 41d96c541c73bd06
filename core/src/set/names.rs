//! The names of the files of a set. A file whose name is not of exactly one of these forms is never
//! opened or removed.

/// The file that describes the set.
pub(super) const MANIFEST: &str = "set";

/// Its content while a set is being created.
pub(super) const BEGUN: &str = "uriscan set 2\nbegun\n";

/// The file that writers lock.
pub(super) const LOCK: &str = "lock";

/// Suffixes of the names of files of keys and of times.
pub(super) const KEYS: &str = ".keys";
pub(super) const TIMES: &str = ".times";

/// Prefixes of the names of files that are being written.
pub(super) const NEW: &str = "new-";
pub(super) const NEW_MANIFEST: &str = "set-";

/// Their suffix.
const PARTIAL: &str = ".partial";

/// Number of random letters and digits in between.
const RANDOM: usize = 6;

/// Whether `name` is a temporary one that begins with `prefix`, as [`AtomicFile`](uriscan_files::AtomicFile) gives them.
pub(super) fn is_temporary(name: &str, prefix: &str) -> bool {
    let random = name.strip_prefix(prefix).and_then(|name| name.strip_suffix(PARTIAL));
    random.is_some_and(|it| it.len() == RANDOM && it.bytes().all(|it| it.is_ascii_alphanumeric()))
}

/// The name of the file whose content has this digest.
pub(super) fn of_digest(digest: u128, suffix: &str) -> String {
    format!("{digest:032x}{suffix}")
}

/// Whether `name` has the form of those by [`of_digest`].
pub(super) fn is_of_digest(name: &str, suffix: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    name.strip_suffix(suffix).is_some_and(|it| it.len() == 32 && it.bytes().all(is_digit))
}

/// Whether `name` is that of a file of a run.
pub(super) fn is_of_run(name: &str) -> bool {
    [KEYS, TIMES].iter().any(|suffix| is_of_digest(name, suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_exactly_these_forms_are_ours() {
        let name = of_digest(0xab, ".keys");
        assert_eq!(name, "000000000000000000000000000000ab.keys");
        assert!(is_of_digest(&name, ".keys") && is_of_run(&name) && !is_of_digest(&name, ".times"));
        for other in [
            "",
            ".keys",
            "000000000000000000000000000000aB.keys",
            "00000000000000000000000000000ab.keys",
            "0000000000000000000000000000000ab.keys",
            "../00000000000000000000000000ab.keys",
            "/0000000000000000000000000000ab.keys",
            "000000000000000000000000000000ab.keys.keys",
            "000000000000000000000000000000ab",
            "00000000000000ab.keys",
            "+00000000000000000000000000000ab.keys",
        ] {
            assert!(!is_of_run(other), "{other}");
        }
        for other in
            ["new-.partial", "new-ab12.partial", "new-abcdefg.partial", "new-abc/ef.partial"]
        {
            assert!(!is_temporary(other, NEW), "{other}");
        }
        let directory = tempfile::tempdir().unwrap();
        let mut made = uriscan_files::AtomicFile::new_in(directory.path(), NEW).unwrap();
        made.name().unwrap();
        let name = made.temporary_path().unwrap().file_name().unwrap().to_str().unwrap();
        assert!(is_temporary(name, NEW));
    }
}
