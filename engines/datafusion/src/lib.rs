//! SQL functions on URIs for DataFusion, on the kernels of `uriscan_arrow`.
//!
//! | function | gives |
//! | --- | --- |
//! | `uri_normalize(text [, options])` | the canonical form (RFC 3986 section 6); an invalid text is kept as it is |
//! | `uri_key(text [, options])` | the public key, the first 16 bytes of the hash of `uri_normalize(text, options)`, as `FixedSizeBinary(16)` |
//! | `uri_surt(text [, options])` | the sort-friendly form; option `form`: `surt:cdxj` (the default), `surt:ia`, `ssurt` |
//! | `uri_valid(text [, options])` | whether it is a URI of RFC 3986; option `relative: true`: or a relative reference |
//! | `uri_parse(text [, options])` | a struct of `scheme`, `authority`, `userinfo`, `host`, `port`, `path`, `query`, `fragment`, `host_kind`, `domain`, `suffix` and `params`; null for what is not a reference |
//! | `uri_part(text, name [, options])` | one of these; or `query:NAME`, the first parameter with this name, and `segment:N`, a segment of the path, from 1 or from the end (`-1`); decoded with `:decoded` after them |
//! | `uri_domain(text [, options])` | the registrable domain, by the public suffix list |
//! | `uri_resolve(reference, base [, options])` | the target of a reference (section 5), null where there is none; option `lenient_scheme` |
//!
//! Options are a struct of constants, with the names that Python, the program and the extension for DuckDB use: `level`,
//! `drop_fragment`, `preset`, `rule`, `rules` (built-in rules files), `no_rule`, `iri`, `repair`, `base`, `lenient_scheme`, `suffix_scheme`,
//! `profile`, `hash` and `on_invalid`. A query is the same text for DuckDB: `uri_normalize(url, {'preset': 'crawl'})`. Texts that
//! name level and hash, as in `uri_key(url, 'scheme', 'sha256')`, are the older form of `{'level': 'scheme', 'hash': 'sha256'}`.
//!
//! Null gives null. Keys are the same in every engine and on every machine. Several parts are best taken from `uri_parse`, as
//! `uri_parse(url)['host'], uri_parse(url)['port']`: each URL is parsed once, however often DataFusion's plan has the call. One part
//! alone is cheaper by `uri_part`, which does not look for the others.
//!
//! ```
//! use datafusion::prelude::SessionContext;
//! let context = SessionContext::new();
//! for function in uriscan_datafusion::functions() {
//!     context.register_udf(function);
//! }
//! ```

mod bridge;
mod call;
mod function;
mod kind;
mod options;
mod parsed;

pub use function::functions;
