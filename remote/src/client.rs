//! Opens, lists and writes objects.

use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;

use object_store::ObjectStoreExt;
use object_store::list::PaginatedListOptions;
use object_store::path::Path;

use super::engine::Engine;
use super::error::{invalid, of_store};
use super::fetch::{Content, path};
use super::listed::Listed;
use super::location::{Location, Service};
use super::object::Object;
use super::options::Options;
use super::repeat::repeated;
use super::upload::Upload;

/// Names in a listing at most.
const MOST_LISTED: usize = 10_000_000;

/// Pages of a listing without a name in a row at most; a few are normal where many objects were removed.
const MOST_EMPTY: usize = 1_000;

/// Opens, lists and writes objects. Clones share their connections.
#[derive(Clone)]
pub struct Client(Arc<Engine>);

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

    pub(super) fn remove(&self, location: &Location) -> io::Result<()> {
        let (store, path) = (self.0.store(location)?, path(location)?);
        match self.0.runtime.block_on(store.delete(&path)) {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            done => done.map_err(|error| of_store(&error, location.service())),
        }
    }

    /// What is `listed`, to be read; its content is that of the listing, or reading it fails. Where a store lists no ETags as its
    /// headers have them, as Google Cloud Storage and Azure, one of the same length that replaced it within the same second
    /// is taken for it. Nothing is requested before, except for an object of no bytes and an S3 listing without ETags.
    ///
    /// # Errors
    /// When its name is none that objects may have here, or, where it is requested, there is no such object any more.
    pub fn listed_object(&self, listed: &Listed) -> io::Result<Object> {
        Content::of_listing(&self.0, listed).map(Object::new)
    }

    /// The objects below `folder`, a key that is empty or ends with `/`, in the order of their names. Those without a byte
    /// are omitted: stores have them in place of directories.
    ///
    /// # Errors
    /// When they cannot be listed, or one has a name that is not a path, such as one with `..`.
    pub fn list(&self, folder: &Location) -> io::Result<Vec<Listed>> {
        let mut found = self.list_names(folder)?;
        found.retain(|listed| listed.bytes > 0);
        Ok(found)
    }

    /// The objects whose names begin with the key of `beginning`, whatever follows, in the order of their names, each once. An
    /// object without a byte may represent a directory: a slash at the end of its name is not shown.
    ///
    /// # Errors
    /// As [`Client::list`].
    pub fn list_names(&self, beginning: &Location) -> io::Result<Vec<Listed>> {
        let mut found = self.listing(beginning, None)?;
        // What is listed twice was perhaps replaced meanwhile, so what was listed last is kept.
        found.reverse();
        found.sort_by(|a, b| a.location.key().cmp(b.location.key()));
        found.dedup_by(|a, b| a.location.key() == b.location.key());
        Ok(found)
    }

    /// Whether nothing is below `folder`, a key that is empty or ends with `/`, but an object in place of the directory.
    ///
    /// # Errors
    /// As [`Client::list`].
    pub fn is_empty(&self, folder: &Location) -> io::Result<bool> {
        let own = folder.key().trim_end_matches('/');
        let found = self.listing(folder, Some(2))?;
        Ok(found.iter().all(|listed| listed.location.key() == own))
    }

    /// The objects whose names begin so, in any order; if there are `enough`, not all of them.
    fn listing(&self, beginning: &Location, enough: Option<usize>) -> io::Result<Vec<Listed>> {
        if beginning.service() == Service::Web {
            let what = "web servers list no files; name each of them";
            return Err(io::Error::new(io::ErrorKind::Unsupported, what));
        }
        let store = self.0.store(beginning)?;
        if beginning.key().starts_with('/') || Path::parse(beginning.key()).is_err() {
            return Err(invalid("is not a name that objects may begin with"));
        }
        let prefix = Some(beginning.key()).filter(|key| !key.is_empty());
        let (mut found, mut page) = (Vec::new(), None);
        let mut pages = Pages::default();
        loop {
            let options =
                PaginatedListOptions { max_keys: enough, page_token: page, ..Default::default() };
            let list = async || store.list_paginated(prefix, options.clone()).await;
            let listed = repeated(&self.0, beginning.service(), list);
            let listed = self.0.runtime.block_on(listed)?;
            for meta in listed.result.objects {
                let location = beginning.with_key(meta.location.as_ref());
                let (etag, modified) = (meta.e_tag, meta.last_modified.timestamp());
                found.push(Listed { location, bytes: meta.size, etag, modified });
            }
            if found.len() > MOST_LISTED {
                let what = format!("has more than {MOST_LISTED} objects; name fewer");
                return Err(invalid(what));
            }
            // Some servers say of the last page that none follows it.
            page = listed.page_token.filter(|token| !token.is_empty());
            pages.check(page.as_deref(), found.len())?;
            if page.is_none() || enough.is_some_and(|enough| found.len() >= enough) {
                return Ok(found);
            }
        }
    }
}

/// The pages of a listing so far, which must come to an end.
#[derive(Default)]
struct Pages {
    /// The tokens that led to them, hashed.
    tokens: HashSet<u64>,
    hasher: RandomState,
    /// Pages in a row without a name, and the names before them.
    empty: usize,
    names: usize,
}

impl Pages {
    /// Counts a page that the one of `token` follows, after which there are so many `names`.
    fn check(&mut self, token: Option<&str>, names: usize) -> io::Result<()> {
        let Some(token) = token else { return Ok(()) };
        let what = if !self.tokens.insert(self.hasher.hash_one(token)) {
            "the listing does not end: the server sends the same page again and again"
        } else {
            self.empty = if names > self.names { 0 } else { self.empty + 1 };
            self.names = names;
            if self.empty < MOST_EMPTY {
                return Ok(());
            }
            "the listing does not end: the server sends one page without names after the other"
        };
        Err(io::Error::new(io::ErrorKind::InvalidData, what))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.0.options).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong with pages of these tokens, after which there are so many names.
    fn fault(page: impl Fn(usize) -> (String, usize)) -> Option<String> {
        let mut pages = Pages::default();
        let mut tokens = (0..10 * MOST_EMPTY).map(page);
        let error = tokens.find_map(|(token, names)| pages.check(Some(&token), names).err());
        error.map(|error| error.to_string())
    }

    #[test]
    fn a_listing_comes_to_an_end() {
        assert_eq!(fault(|page| (page.to_string(), page / 10)), None);
        let error = fault(|page| (page.to_string(), page.min(20))).unwrap();
        assert!(error.contains("one page without names after the other"), "{error}");
        for rounds in [1, 2, 100] {
            let error = fault(|page| ((page % rounds).to_string(), page)).unwrap();
            assert!(error.contains("the same page again and again"), "{error}");
        }
        assert!(Pages::default().check(None, 0).is_ok());
    }
}
