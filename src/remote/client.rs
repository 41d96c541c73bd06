//! Opens, lists and writes objects.

use std::fmt;
use std::io;
use std::sync::Arc;

use futures_util::StreamExt;
use object_store::path::Path;

use super::engine::Engine;
use super::error::of_store;
use super::fetch::{Content, path};
use super::location::{Location, Service};
use super::object::Object;
use super::options::Options;
use super::upload::Upload;

/// Names in a listing at most.
const MOST_LISTED: usize = 10_000_000;

/// Opens, lists and writes objects. Clones share their connections.
#[derive(Clone)]
pub struct Client(Arc<Engine>);

/// An object in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// What names it.
    pub location: Location,
    /// Its length.
    pub bytes: u64,
    /// What the store says of its content, if anything: it changes with the content.
    pub etag: Option<String>,
}

impl Client {
    /// A client with these options.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub fn new(options: Options) -> io::Result<Client> {
        Ok(Client(Arc::new(Engine::new(options)?)))
    }

    /// Asks for what `location` names; its content is that of now, or reading it fails.
    ///
    /// # Errors
    /// When there is no such object, or it may not be read.
    pub fn object(&self, location: &Location) -> io::Result<Object> {
        Content::look(self.0.clone(), location).map(Object::new)
    }

    /// Begins an object at `location`, in place of what is there once it is completed.
    ///
    /// # Errors
    /// When it has no valid name, or its service cannot be written to.
    pub fn create(&self, location: &Location) -> io::Result<Upload> {
        let store = self.0.store(location)?;
        Ok(Upload::new(self.0.clone(), (store, location.service()), path(location)?))
    }

    /// The objects below `folder`, a key that is empty or ends with `/`, in the order of their names. Those without a byte
    /// are omitted: stores have them in place of directories.
    ///
    /// # Errors
    /// When they cannot be listed, or one has a name that is no path, such as one with `..`.
    pub fn list(&self, folder: &Location) -> io::Result<Vec<Listed>> {
        if folder.service() == Service::Web {
            let what = "web servers list no files; name each of them";
            return Err(io::Error::new(io::ErrorKind::Unsupported, what));
        }
        let store = self.0.store(folder)?;
        let invalid = |_| {
            io::Error::new(io::ErrorKind::InvalidInput, "is no name that objects may begin with")
        };
        let prefix = Path::parse(folder.key()).map_err(invalid)?;
        let all = async {
            let mut found = Vec::new();
            let mut listing = store.list(Some(&prefix));
            while let Some(next) = listing.next().await {
                let meta = next.map_err(|error| of_store(&error, folder.service()))?;
                if found.len() == MOST_LISTED {
                    let what = format!("has more than {MOST_LISTED} objects; name fewer");
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
                }
                if meta.size > 0 {
                    let location = folder.with_key(meta.location.as_ref());
                    found.push(Listed { location, bytes: meta.size, etag: meta.e_tag });
                }
            }
            Ok(found)
        };
        let mut found = self.0.runtime.block_on(all)?;
        found.sort_by(|a, b| a.location.key().cmp(b.location.key()));
        Ok(found)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.0.options).finish()
    }
}
