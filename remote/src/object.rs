//! An object to be read.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use super::error::invalid;
use super::fetch::Content;
use super::stream::stream;
use uriscan_files::Stored;

/// Bytes of a request at most, if several parts are requested at the same time.
const PART: u64 = 4 << 20;

/// An object, or a file of a web server, that is read; see [`super::Client::object`].
#[derive(Clone)]
pub struct Object(Arc<Content>);

impl Object {
    pub(super) fn new(content: Content) -> Object {
        Object(Arc::new(content))
    }
}

impl Stored for Object {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn bytes(&self) -> Option<u64> {
        self.0.bytes
    }

    fn has_ranges(&self) -> bool {
        self.0.has_ranges
    }

    fn stream(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(stream(&self.0))
    }

    fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        if !self.0.has_ranges || self.0.bytes < Some(range.end) || range.start > range.end {
            let what = "the range is not within the object, or the server does not send ranges";
            return Err(invalid(what));
        }
        let runtime = &self.0.engine.runtime;
        let mut tasks = Vec::new();
        for start in range.clone().step_by(PART as usize) {
            let (content, part) = (Arc::clone(&self.0), start..range.end.min(start + PART));
            tasks.push(runtime.spawn(async move { content.read(part).await }));
        }
        let mut all = Vec::with_capacity(usize::try_from(range.end - range.start).unwrap_or(0));
        // All of them are waited for: none goes on after an error.
        let parts: Vec<_> = tasks.into_iter().map(|task| runtime.block_on(task)).collect();
        for part in parts {
            all.append(&mut part.map_err(io::Error::other)??);
        }
        Ok(all)
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("name", &self.0.name).finish_non_exhaustive()
    }
}
