//! A content, and requests for its parts.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt};

use super::engine::Engine;
use super::error::{changed, invalid, of_store, wrong_length};
use super::listed::Listed;
use super::location::{Location, Service};
use super::mark::Mark;
use super::web::{Known, Page, Retry};

pub(super) struct Content {
    pub(super) engine: Arc<Engine>,
    /// Its name in messages.
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) bytes: Option<u64>,
    pub(super) has_ranges: bool,
}

pub(super) enum Place {
    Stored { store: Arc<dyn ObjectStore>, path: Path, service: Service, mark: Mark },
    Web { page: Page, known: Known },
}

impl Content {
    /// Asks for the length of what `location` names, and for what identifies its content.
    pub(super) fn look(engine: Arc<Engine>, location: &Location) -> io::Result<Content> {
        let name = location.to_string();
        let service = location.service();
        if service == Service::Web {
            let page = Page::new(engine.web()?.clone(), location)?;
            let known = engine.runtime.block_on(page.look())?;
            let (bytes, has_ranges) = (known.bytes, known.has_ranges);
            let place = Place::Web { page, known };
            return Ok(Content { engine, name, place, bytes, has_ranges });
        }
        let store = engine.store(location)?;
        let path = path(location)?;
        let found = engine.runtime.block_on(store.head(&path));
        let found = found.map_err(|error| of_store(&error, service))?;
        let place = Place::Stored { store, path, service, mark: Mark::found(&found) };
        Ok(Content { engine, name, place, bytes: Some(found.size), has_ranges: true })
    }

    /// What was `listed`, without a request if reading it will show whether it is still what was listed.
    pub(super) fn of_listing(engine: &Arc<Engine>, listed: &Listed) -> io::Result<Content> {
        let Listed { location, bytes, etag, modified } = listed;
        let service = location.service();
        let mark = match (service, etag) {
            // Nothing of it is read that could show a change; or its headers need not have the time, which is all that is listed.
            _ if *bytes == 0 || (service, etag) == (Service::S3, &None) => {
                let content = Content::look(engine.clone(), location)?;
                return if content.bytes == Some(*bytes) { Ok(content) } else { Err(changed()) };
            }
            // Stores of this kind list what their headers say.
            (Service::S3, Some(etag)) => Mark::of_etag(format!("\"{}\"", etag.trim_matches('"'))),
            _ => Mark::listed(etag.clone(), *modified),
        };
        let (store, path) = (engine.store(location)?, path(location)?);
        let place = Place::Stored { store, path, service, mark };
        let (engine, name) = (engine.clone(), location.to_string());
        Ok(Content { engine, name, place, bytes: Some(*bytes), has_ranges: true })
    }

    /// The bytes of `range`, all of them.
    pub(super) async fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut buffer = Vec::with_capacity(usize::try_from(range.end - range.start).unwrap_or(0));
        if range.is_empty() {
            return Ok(buffer);
        }
        let _permit = self.engine.requests.acquire().await.map_err(io::Error::other)?;
        let mut retry = Retry::new();
        match &self.place {
            Place::Web { page, known } => loop {
                match page.read(&range, known, &mut buffer).await {
                    Ok(()) => return Ok(buffer),
                    Err(fault) => retry.after(fault).await?,
                }
            },
            Place::Stored { store, path, service, mark } => {
                let options = GetOptions::default()
                    .with_range(Some(GetRange::Bounded(range.clone())))
                    .with_if_match(mark.required());
                let of = |error| of_store(&error, *service);
                let found = store.get_opts(path, options).await.map_err(of)?;
                if Some(found.meta.size) != self.bytes || !mark.is_of(&found.meta) {
                    return Err(changed());
                }
                let expected = range.end - range.start;
                let mut stream = found.into_stream();
                while let Some(bytes) = stream.next().await {
                    let bytes = bytes.map_err(of)?;
                    let found = (buffer.len() + bytes.len()) as u64;
                    if found > expected {
                        return Err(wrong_length(found, expected));
                    }
                    buffer.extend_from_slice(&bytes);
                }
                match buffer.len() as u64 {
                    found if found < expected => Err(wrong_length(found, expected)),
                    _ => Ok(buffer),
                }
            }
        }
    }
}

/// The name of an object in its bucket.
pub(super) fn path(location: &Location) -> io::Result<Path> {
    let key = location.key();
    let is_name = !key.is_empty() && !key.ends_with('/');
    // Slashes at its ends would be dropped, which makes it the name of another object.
    let path = Path::parse(key).ok().filter(|path| is_name && path.as_ref() == key);
    path.ok_or_else(|| {
        invalid(match is_name {
            true => "is not a name that an object may have here: it has empty parts, `.`, `..` or control characters",
            false => "is not an object: its name is missing",
        })
    })
}
