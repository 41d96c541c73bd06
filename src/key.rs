//! 128-bit keys of canonical bytes.
//!
//! Equal keys mean equal canonical forms. There are two kinds; the author of the URIs cannot
//! provoke collisions of either:
//!
//! - **Public keys** ([`PublicHasher`]) leave the process: in files, columns, sets on disk. They
//!   are the first 16 bytes of BLAKE3 (or SHA-256) of the canonical form, the same on every
//!   machine, and anyone can verify them. Finding two forms with the same key takes about 2^64
//!   evaluations; finding a form with the key of one of `n` given pages takes 2^128 / `n`.
//! - **Run keys** ([`Hasher`]) are held in tables in memory and in temporary files. They depend on
//!   256 secret bits that are drawn for each run and never leave it, so nobody can choose forms
//!   whose keys collide, or cluster in a table. `docs/decisions/keys.md` states the assumptions and
//!   the bounds.

pub use uriscan_core::key::{Hasher, Key, PublicHash, PublicHasher};
