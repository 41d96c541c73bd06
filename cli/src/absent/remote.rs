//! Objects of object stores, to a program that is built without the feature `full`: it knows their URLs, to say what it lacks.

use std::convert::Infallible;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use uriscan_bulk::io::Stored;

use crate::exit::Failure;

const ABSENT: &str = "this program is built without object stores; install it with \
     `cargo install --path cli --features full`, or copy the object to a file";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url(String);

impl Url {
    /// The URL that `path` is, unless a file has that name.
    pub(crate) fn of_path(path: &Path) -> Option<Url> {
        const SCHEMES: [&str; 5] = ["s3://", "gs://", "az://", "abfs://", "abfss://"];
        let text = path.to_str()?;
        let begins = |scheme: &&str| {
            text.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme))
        };
        (SCHEMES.iter().any(begins) && !path.exists()).then(|| Url(text.to_owned()))
    }

    pub(crate) fn path(&self) -> &Path {
        Path::new(&self.0)
    }

    pub(crate) fn address(&self) -> String {
        self.0.clone()
    }

    pub(crate) fn is_web(&self) -> bool {
        false
    }

    pub(crate) fn base(&self) -> Option<Vec<u8>> {
        None
    }

    pub(crate) fn folder(&self) -> Url {
        self.clone()
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

pub(crate) fn open(url: &Url) -> Result<Arc<dyn Stored>, Failure> {
    Err(Failure::at(url, ABSENT))
}

pub(crate) fn listed(url: &Url) -> Result<Vec<Url>, Failure> {
    Ok(vec![url.clone()])
}

pub(crate) fn create(_: &Url) -> io::Result<Upload> {
    Err(io::Error::new(io::ErrorKind::Unsupported, ABSENT))
}

pub(crate) struct Upload(Infallible);

impl Upload {
    pub(crate) fn cancel(&self) -> Cancel {
        match self.0 {}
    }

    pub(crate) fn finish(&mut self) -> io::Result<()> {
        match self.0 {}
    }

    pub(crate) fn complete(self) -> io::Result<()> {
        match self.0 {}
    }
}

pub(crate) struct Cancel(Infallible);

impl Cancel {
    pub(crate) fn cancel(&self) {
        match self.0 {}
    }
}

impl Write for Upload {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}
