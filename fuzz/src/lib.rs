//! The bodies of the fuzz targets, each with an oracle: `cargo fuzz` runs them on new inputs, and a test on those that
//! are kept.

pub mod aliases;
pub mod compressed;
pub mod dedup;
pub mod extract;
pub mod keys;
pub mod logs;
pub mod markdown;
pub mod normalize;
pub mod parse;
pub mod profiles;
pub mod redact;
pub mod resolve;
pub mod rules;
pub mod sets;
pub mod tables;
pub mod warc;

#[cfg(test)]
mod replay;

use std::sync::LazyLock;

use uriscan::Kernels;

/// The name of a target, and its body.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[
    ("aliases", aliases::check),
    ("compressed", compressed::check),
    ("dedup", dedup::check),
    ("extract", extract::check),
    ("keys", keys::check),
    ("logs", logs::check),
    ("markdown", markdown::check),
    ("normalize", normalize::check),
    ("parse", parse::check),
    ("profiles", profiles::check),
    ("redact", redact::check),
    ("resolve", resolve::check),
    ("rules", rules::check),
    ("sets", sets::check),
    ("tables", tables::check),
    ("warc", warc::check),
];

/// The backends of this CPU; the first one is the scalar one.
pub(crate) static BACKENDS: LazyLock<Vec<Kernels>> =
    LazyLock::new(|| Kernels::available().collect());

/// The directory for temporary files: in memory, if the system has one there.
pub(crate) fn directory() -> std::path::PathBuf {
    let memory = std::path::Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }
}

/// Draws choices from a byte of the input, so that one input tests one way of many: the others are a byte away.
pub(crate) struct Choice(usize);

impl Choice {
    /// The choices that the first byte of `data` represents, and the rest of `data`.
    pub(crate) fn split(data: &[u8]) -> Option<(Choice, &[u8])> {
        let (&first, rest) = data.split_first()?;
        Some((Choice(first.into()), rest))
    }

    /// A number below `end`, and so that every combination of choices has a byte if there are no more than 256.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let drawn = self.0 % end;
        self.0 /= end;
        drawn
    }

    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// The position of a backend in [`BACKENDS`].
    pub(crate) fn backend(&mut self) -> usize {
        self.below(BACKENDS.len())
    }
}
