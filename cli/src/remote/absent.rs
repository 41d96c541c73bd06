//! A program that is built without object stores: there are no URLs of objects.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use uriscan::io::Stored;

use crate::exit::Failure;

/// There is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Url {}

impl Url {
    pub(crate) fn of_path(_: &Path) -> Option<Url> {
        None
    }

    pub(crate) fn is_web(&self) -> bool {
        match *self {}
    }

    pub(crate) fn base(&self) -> Option<Vec<u8>> {
        match *self {}
    }
}

impl fmt::Display for Url {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

pub(crate) fn open(url: &Url) -> Result<Arc<dyn Stored>, Failure> {
    match *url {}
}

pub(crate) fn listed(url: &Url) -> Result<Vec<Url>, Failure> {
    match *url {}
}

pub(crate) fn create(url: &Url) -> io::Result<Upload> {
    match *url {}
}

/// There is none.
#[derive(Clone, Debug)]
pub(crate) enum Upload {}

/// There is none.
#[derive(Clone, Debug)]
pub(crate) enum Cancel {}

impl Cancel {
    #[cfg(unix)]
    pub(crate) fn cancel(&self) {
        match *self {}
    }
}

impl Upload {
    pub(crate) fn cancel(&self) -> Cancel {
        match *self {}
    }

    pub(crate) fn finish(&self) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn complete(self) -> io::Result<()> {
        match self {}
    }
}

impl Write for Upload {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match *self {}
    }
}
