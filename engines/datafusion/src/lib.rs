//! SQL functions on URIs for DataFusion, on the kernels of `uriscan::arrow`.
//!
//! | function | gives |
//! | --- | --- |
//! | `uri_normalize(text [, rung])` | the canonical form (RFC 3986 section 6); what is no URI stands for itself |
//! | `uri_key(text [, rung])` | 16 bytes, the same for texts that are one at the rung (seed 0) |
//! | `uri_part(text, name)` | `scheme`, `authority`, `userinfo`, `host`, `port`, `path`, `query`, `fragment` or `host_kind`; null where it is undefined |
//! | `uri_resolve(reference, base)` | the target of a reference (section 5); null where there is none |
//! | `uri_valid(text)` | whether it is a URI of RFC 3986 |
//!
//! The rung is `string`, `syntax` or `scheme` (the default). Null gives null.
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
