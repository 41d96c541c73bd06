//! SQL functions on URIs for DataFusion, on the kernels of `uriscan::arrow`.
//!
//! | function | gives |
//! | --- | --- |
//! | `uri_normalize(text [, rung])` | the canonical form (RFC 3986 section 6); what is no URI stands for itself |
//! | `uri_key(text [, rung [, hash]])` | the public key: the first 16 bytes of the hash of `uri_normalize(text, rung)`, as `FixedSizeBinary(16)` |
//! | `uri_part(text, name)` | `scheme`, `authority`, `userinfo`, `host`, `port`, `path`, `query`, `fragment`, `host_kind`, `domain`, `suffix` or `params`; null where it is undefined |
//! | `uri_resolve(reference, base)` | the target of a reference (section 5); null where there is none |
//! | `uri_valid(text)` | whether it is a URI of RFC 3986 |
//!
//! The rung is `string`, `syntax` or `scheme` (the default); the hash is `blake3` (the default) or `sha256`. Both are constants.
//! Null gives null. Keys are the same in every engine and on every machine; `uriscan key` and the Python wheel give the same.
//!
//! ```
//! use datafusion::prelude::SessionContext;
//! let context = SessionContext::new();
//! for function in uriscan_datafusion::functions() {
//!     context.register_udf(function);
//! }
//! ```

mod bridge;
mod function;

pub use function::functions;
