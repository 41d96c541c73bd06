//! Endless crawl-like URIs, whose equivalence classes are known by construction.
//!
//! Nothing here normalizes: a class is an id, its canonical URI a pure function of (seed, id)
//! (`canonical`), its other spellings fixed edits of that (`spelling`). The emitted spellings are
//! kept as 64 bits per id, so the counts of distinct lines at every level are exact and cost eight
//! bytes per class. [`Stream`] decides which line comes next.

mod canonical;
mod draw;
mod flaw;
pub(crate) mod hostile;
mod site;
mod spelling;
mod stream;
mod token;
mod uri;
mod vocabulary;

pub(crate) use stream::{Counts, Shares, Stream};

/// The canonical URI of `id` under `seed`, without line end.
pub(crate) fn canonical_uri(seed: u64, id: u32) -> Vec<u8> {
    let mut uri = uri::Uri::new();
    canonical::write(&mut uri, seed, id);
    uri.text
}

/// The number of runs of letters and digits of `uri`, apart from triplets, that have the shape of a
/// token.
///
/// It is 1 in every canonical URI, which makes the URIs of different ids different.
pub(crate) fn tokens_in(uri: &[u8]) -> usize {
    let mut tokens = 0;
    let mut run_start = 0;
    let mut at = 0;
    while at <= uri.len() {
        match uri.get(at) {
            Some(byte) if byte.is_ascii_alphanumeric() => at += 1,
            other => {
                tokens += usize::from(token::is_token(&uri[run_start..at]));
                at += if other == Some(&b'%') { 3 } else { 1 };
                run_start = at;
            }
        }
    }
    tokens
}

/// Internationalized labels as pairs of A-label and UTF-8 in triplets.
pub(crate) const IDN: &[(&str, &str)] = &vocabulary::IDN;
