//! Objects of S3, Google Cloud Storage and Azure, and files of web servers.
//!
//! A [`Client`] finds what a [`Location`] names: an [`Object`] to read, as a stream with read-ahead or by ranges, or an
//! [`Upload`], whose object appears whole when it is completed, or not at all; many of them at the same time are a [`Group`].
//! All calls block; the requests run on two threads of the client's own.
//!
//! Every request of an object after the first response names the content that it expects (`If-Match`), so that a reader never
//! mixes two contents: an object that is replaced while it is read is an error. What a listing says of an object is not
//! asked for again; one that is replaced after it was listed is an error, too. Requests that fail for a reason that may
//! pass (a cut connection, a busy server) are repeated for a limited time, and go on where they stopped.
//!
//! The crate reads neither the environment nor files of credentials: [`Options`] holds what it needs, by the names that the
//! tools of each service read from the environment, and takes the texts of the files of the AWS tools. Messages hold neither these values nor the query of a URL, which may be
//! a signature. Which certificates are trusted is up to the system.

mod address;
mod answer;
mod azure;
mod client;
mod engine;
mod error;
mod fetch;
mod google;
mod group;
mod listed;
mod location;
mod mark;
mod object;
mod options;
mod profile;
mod repeat;
mod spill;
mod stream;
mod tls;
mod upload;
mod valid;
mod web;

pub use client::Client;
pub use group::{Group, GroupCancel, GroupObject};
pub use listed::Listed;
pub use location::{Location, LocationError, Service};
pub use object::Object;
pub use options::Options;
pub use profile::ProfileError;
pub use upload::{Cancel, Upload};
