//! Objects of object stores, and files of web servers, as inputs and outputs.
//!
//! An argument that begins with the scheme of one is taken as its URL, unless a file has that name. A program that is built
//! without the feature `object-store` has no such [`Url`]s: there the argument is the name of a file, and if that does not
//! exist, the message says what is missing.

#[cfg(not(feature = "object-store"))]
use std::path::Path;

/// What a program without object stores says of their URLs.
#[cfg(not(feature = "object-store"))]
pub(crate) const WITHOUT_STORES: &str = "this program is built without object stores; install it with \
     `cargo install --path cli --features object-store`, or copy the object to a file";

/// Whether `path` is the URL of an object of a store.
#[cfg(not(feature = "object-store"))]
pub(crate) fn is_object(path: &Path) -> bool {
    const SCHEMES: [&str; 5] = ["s3://", "gs://", "az://", "abfs://", "abfss://"];
    let text = path.to_string_lossy();
    let begins =
        |scheme: &&str| text.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme));
    SCHEMES.iter().any(begins)
}

#[cfg(feature = "object-store")]
pub(crate) use present::{Cancel, Upload, Url, create, listed, open};

#[cfg(not(feature = "object-store"))]
pub(crate) use absent::{Cancel, Upload, Url, create, listed, open};

#[cfg(feature = "object-store")]
mod present {
    use std::collections::HashMap;
    use std::fmt;
    use std::io::{self, Write};
    use std::path::Path;
    use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

    use uriscan::io::Stored;
    pub(crate) use uriscan::remote::Cancel;
    use uriscan::remote::{self, Client, Location, Options, Service};

    use crate::exit::Failure;

    /// The URL of an object, or of a file of a web server.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) struct Url(Location);

    impl Url {
        /// The URL that `path` is, unless a file has that name.
        pub(crate) fn of_path(path: &Path) -> Option<Url> {
            let text = path.to_str().filter(|text| Location::is_one(text))?;
            let url = Location::parse(text).ok().map(Url)?;
            (!path.exists()).then_some(url)
        }

        /// The name of the object as a path, whose extension may be that of a format.
        #[cfg(feature = "parquet")]
        pub(crate) fn path(&self) -> &Path {
            Path::new(self.0.path())
        }

        /// The URL of a page, against which its references are resolved.
        pub(crate) fn base(&self) -> Option<Vec<u8>> {
            let is_page = self.0.service() == Service::Web;
            is_page.then(|| self.to_string().trim_end_matches("?...").as_bytes().to_vec())
        }

        /// Whether it stands for all objects whose names begin so.
        fn is_folder(&self) -> bool {
            let is_name = self.0.service() == Service::Web
                || !self.0.key().is_empty() && !self.0.key().ends_with('/');
            !is_name
        }
    }

    impl fmt::Display for Url {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt(f)
        }
    }

    /// The client, and what was opened with it: it stays the same content until the end of the run.
    struct Opened {
        client: Client,
        objects: HashMap<String, Arc<dyn Stored>>,
    }

    static OPENED: OnceLock<Mutex<Opened>> = OnceLock::new();

    fn opened() -> Result<MutexGuard<'static, Opened>, Failure> {
        if OPENED.get().is_none() {
            let client = Client::new(options());
            let client = client.map_err(|error| Failure::at("object stores", error))?;
            // Another thread may have been faster.
            let _ = OPENED.set(Mutex::new(Opened { client, objects: HashMap::new() }));
        }
        match OPENED.get() {
            Some(opened) => Ok(opened.lock().unwrap_or_else(PoisonError::into_inner)),
            None => Err(Failure::new("object stores cannot be set up")),
        }
    }

    /// What the tools of the stores read from the environment.
    fn options() -> Options {
        const BEGINNINGS: [&str; 3] = ["AWS_", "GOOGLE_", "AZURE_"];
        const PROXIES: [&str; 4] = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"];
        let known = |name: &str| {
            BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
                || PROXIES.iter().any(|proxy| proxy.eq_ignore_ascii_case(name))
        };
        let texts = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        texts
            .filter(|(name, _)| known(name))
            .fold(Options::default(), |options, (name, value)| options.set(name, value))
    }

    /// What `url` names, to be read.
    ///
    /// # Errors
    /// When it does not exist or may not be read.
    pub(crate) fn open(url: &Url) -> Result<Arc<dyn Stored>, Failure> {
        let mut opened = opened()?;
        // By the whole URL, since the query may decide about the content.
        let name = format!("{url} {}", url.0.key());
        if let Some(object) = opened.objects.get(&name) {
            return Ok(object.clone());
        }
        let client = opened.client.clone();
        let object = client.object(&url.0).map_err(|error| match url.0.service() {
            Service::Web => Failure::at(url, format_args!("{error}; -e URL is for the URL itself")),
            _ => Failure::at(url, error),
        })?;
        let object: Arc<dyn Stored> = Arc::new(object);
        opened.objects.insert(name, object.clone());
        Ok(object)
    }

    /// The objects that `url` stands for, if it is a bucket or ends with a slash: those below it, in the order of their
    /// names.
    ///
    /// # Errors
    /// When they cannot be listed, or there is none.
    pub(crate) fn listed(url: &Url) -> Result<Vec<Url>, Failure> {
        if !url.is_folder() {
            return Ok(vec![url.clone()]);
        }
        let client = opened()?.client.clone();
        let found = client.list(&url.0).map_err(|error| Failure::at(url, error))?;
        if found.is_empty() {
            return Err(Failure::at(url, "there is no object below this prefix"));
        }
        Ok(found.into_iter().map(|listed| Url(listed.location)).collect())
    }

    /// Begins to write what `url` names.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn create(url: &Url) -> io::Result<Upload> {
        let client =
            opened().map_err(|failure| io::Error::other(failure.to_string()))?.client.clone();
        let upload = client.create(&url.0)?;
        let cancel = upload.cancel();
        Ok(Upload { upload: Arc::new(Mutex::new(Some(upload))), cancel })
    }

    /// An object that is being written. Unless it is completed, it never appears.
    #[derive(Clone)]
    pub(crate) struct Upload {
        upload: Arc<Mutex<Option<remote::Upload>>>,
        cancel: Cancel,
    }

    impl Upload {
        /// What aborts it when a signal ends the program.
        pub(crate) fn cancel(&self) -> Cancel {
            self.cancel.clone()
        }

        fn with<T>(
            &self,
            call: impl FnOnce(&mut remote::Upload) -> io::Result<T>,
        ) -> io::Result<T> {
            let mut upload = self.upload.lock().unwrap_or_else(PoisonError::into_inner);
            upload.as_mut().map_or_else(|| Err(io::ErrorKind::NotConnected.into()), call)
        }

        /// Waits until the store has what was written.
        pub(crate) fn finish(&self) -> io::Result<()> {
            self.with(remote::Upload::finish)
        }

        /// Makes the object of it.
        pub(crate) fn complete(self) -> io::Result<()> {
            let upload = self.upload.lock().unwrap_or_else(PoisonError::into_inner).take();
            upload.map_or(Ok(()), remote::Upload::complete)
        }
    }

    impl Write for Upload {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.with(|upload| upload.write(bytes))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}

#[cfg(not(feature = "object-store"))]
mod absent {
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

        #[cfg(feature = "parquet")]
        pub(crate) fn path(&self) -> &Path {
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
}
