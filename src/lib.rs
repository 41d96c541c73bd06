//! `uriscan`: URIs in bulk, by RFC 3986: parse, normalize, key, deduplicate.
//!
//! Text goes in by the gigabyte, one URI a line; SIMD kernels classify its bytes, and most URIs
//! turn out to be canonical without being parsed byte by byte. The answers are those of RFC 3986 to the letter,
//! and the same for every CPU, number of threads and size of chunk.
//!
//! ```
//! use std::collections::HashSet;
//!
//! use uriscan::key::Hasher;
//! use uriscan::normalize::{Normalizer, Options};
//! use uriscan::uri;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Parse.
//! let text = b"HTTP://Example.COM:80/%7Ebob/./x";
//! let parts = uri::parse(text)?;
//! assert_eq!((parts.host(text), parts.path(text)), (Some(&b"Example.COM"[..]), &b"/%7Ebob/./x"[..]));
//!
//! // Normalize.
//! let mut normalizer = Normalizer::new(Options::default());
//! assert_eq!(normalizer.normalize(text)?, b"http://example.com/~bob/x");
//!
//! // Deduplicate: equivalent URIs have the same key.
//! let (hasher, mut seen, mut first) = (Hasher::random(), HashSet::new(), Vec::new());
//! for uri in ["http://h", "HTTP://H:80/", "http://h/x"] {
//!     if seen.insert(hasher.key(normalizer.normalize(uri.as_bytes())?)) {
//!         first.push(uri);
//!     }
//! }
//! assert_eq!(first, ["http://h", "http://h/x"]);
//! # Ok(())
//! # }
//! ```
//!
//! The same for files and streams, in parallel, with the feature `pipeline`:
//!
#![cfg_attr(feature = "pipeline", doc = "```")]
#![cfg_attr(not(feature = "pipeline"), doc = "```ignore")]
//! use uriscan::io::Source;
//! use uriscan::pipeline::{DedupOptions, Settings, Sinks, dedup};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let list = Source::new("list", &b"http://h\nHTTP://H:80/\nhttp://h/x\n"[..]);
//! let mut out = Vec::new();
//! let report = dedup(vec![list], &DedupOptions::default(), &Settings::default(), &mut Sinks::new(&mut out))?;
//! assert_eq!((&out[..], report.duplicates), (&b"http://h\nhttp://h/x\n"[..], 1));
//! # Ok(())
//! # }
//! ```
//!
//! # Where to begin
//!
//! | to | use |
//! | --- | --- |
//! | parse one reference, or say what is wrong with it | [`uri::parse`] |
//! | parse a text of many | [`uri::Parser`] |
//! | normalize URIs one by one | [`normalize::Normalizer`] |
//! | find what section 7 warns of | [`audit::audit`] |
//! | resolve references against a base | [`resolve::Resolver`] |
//! | map an IRI, repair what is no URI | [`repair::repair`] |
//! | hash canonical bytes | [`key::Hasher`] |
//! | keep keys on disk, from run to run | [`set::KeySet`] |
//! | say why a form is what it is, or why two URIs are one | [`explain`] |
//! | make more URIs one than the RFC does | [`rules::RuleSet`] |
//! | find URIs in running text | [`extract::Finder`] |
//! | work on columns of Arrow arrays | `arrow::Columns` (feature `arrow`) |
//! | work on tables | `table::run` (feature `parquet`) |
//! | do what the program does: files in, lines out | [`pipeline`] |
//!
//! The library never prints, never ends the process and never reads the environment. Modules are floors:
//! each uses the ones before it in this list only: [`grammar`] and [`chunk`], [`simd`], [`index`],
//! [`uri`], [`normalize`] and [`resolve`], [`audit`], [`extract`], [`key`] and [`rules`], [`dedup`], [`set`] and
//! [`explain`], [`io`], [`pipeline`], `arrow`, `table`. `ARCHITECTURE.md`, beside the sources,
//! says what each knows and why things are as they are.
//!
//! # Words
//!
//! The parts of a URI have the names that RFC 3986 gives them: scheme, authority, userinfo, host, port,
//! path, segment, query, fragment; a *URI-reference* is a *URI* or a *relative reference*. The others:
//!
//! | word | meaning |
//! | --- | --- |
//! | source | a named stream of bytes: a file, standard input |
//! | record | the bytes of one URI: a line without its end and without white space around it |
//! | chunk | some hundred KiB of one source, whole records, worked on by one thread at a time |
//! | batch | the chunks that all threads work on before the set is asked |
//! | block | 64 bytes: one bit each in a `u64` mask |
//! | padding | readable bytes behind a chunk's content, so that a block may be read at any byte of it |
//! | class | a set of bytes, such as `pchar`; also (of equivalence) all records that are one |
//! | triplet | `%` and two hexadecimal digits: `pct-encoded` |
//! | summary | what the index keeps of a block: four masks |
//! | window | the 64 bytes from any byte on, and their summary, shifted out of two blocks' |
//! | kernel, backend | the functions written for one instruction set, and its name |
//! | task | work that is compiled once per backend |
//! | base, target | the URI that references are relative to, and the URI that a reference stands for (section 5) |
//! | rung | how far up the ladder of RFC 3986 section 6.2 comparison goes: `string`, `syntax`, `scheme` |
//! | canonical form | the bytes that stand for a class at a rung |
//! | plain | of a record: `http(s)`, and nothing in it but triplets that needs a closer look than the index gives |
//! | fast road, exact road | two ways to the same answer: by masks, and component by component; the exact one is the judge |
//! | finding | a rule of the audit, and the bytes of a record that it warns of |
//! | quiet | of a record: no rule of the audit has anything to say of it |
//! | key | 128-bit hash of a canonical form |
//! | SURT | sort-friendly form: a URI with the labels of its host in reverse |
//! | row | a record's key on its way into the set, and the verdict: the first of its class or not |
//! | partition | the share of the set with the same top key bits |
//! | set | keys: in memory for a run ([`dedup::Set`]), or on disk for many ([`set::KeySet`]) |
//! | run | a file of keys in rising order; a set on disk has some |
//! | meaning | of keys: the hash, and all that decides which records are equivalent |
//! | to settle | to put a batch's rows into the set, in input order |

//!
//! # Features
//!
//! A feature adds modules; without it they are absent. No feature changes the results of what remains. These are always there:
//! [`grammar`], [`uri`], [`normalize`], [`resolve`], [`repair`], [`surt`], [`key`], [`alias`] and [`dedup`].
//!
//! | feature | adds | default |
//! | --- | --- | --- |
//! | `rules` | [`rules`] with rule packs in TOML and the public suffix list, and [`explain`] | yes |
//! | `set` | [`set`]: sets of keys on disk | yes |
//! | `audit` | [`audit`] | |
//! | `extract` | [`extract`] | |
//! | `profile` | [`profile`] | |
//! | `pipeline` | [`io`], [`pipeline`], and all of the above | |
//! | `compression` | decompression of input: gzip, zstd, bzip2, xz, lz4, and Brotli in archives; and `pipeline` | |
//! | `arrow` | `arrow`, and `pipeline` | |
//! | `parquet` | `table`, and `arrow` | |

#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// Without the upper floors, some internal items of the lower ones have no caller. The lints stay on for the full build.
#![cfg_attr(not(feature = "pipeline"), allow(dead_code, unused_imports))]

pub mod alias;
#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "audit")]
pub mod audit;
pub mod chunk;
pub mod dedup;
#[cfg(feature = "rules")]
pub mod explain;
#[cfg(feature = "extract")]
pub mod extract;
pub mod grammar;
pub mod index;
#[cfg(feature = "pipeline")]
pub mod io;
pub mod key;
pub mod normalize;
#[cfg(feature = "pipeline")]
pub mod pipeline;
#[cfg(feature = "profile")]
pub mod profile;
pub mod repair;
pub mod resolve;
#[cfg(feature = "rules")]
pub mod rules;
#[cfg(feature = "set")]
pub mod set;
mod shown;
pub mod simd;
pub mod surt;
#[cfg(feature = "parquet")]
pub mod table;
mod threads;
pub mod uri;

/// The examples of the README, to be tested with those of the documentation.
#[cfg(all(doctest, feature = "pipeline"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
