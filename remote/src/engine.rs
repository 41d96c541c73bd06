//! What all objects of a client share: the threads that requests run on, and the stores.

use std::collections::HashMap;
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder};
use object_store::list::PaginatedListStore;
use object_store::{
    BackoffConfig, ClientOptions, ObjectStore, RetryConfig, StaticCredentialProvider,
};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

use super::azure;
use super::error::{cause_of, invalid};
use super::google;
use super::location::{Location, Service};
use super::options::{CONNECT_TIMEOUT, Options, READ_TIMEOUT, RETRIES, RETRY_TIME};
use super::tls::{Connector, Limits, client};
use super::valid;

/// How long the first pause before a request is repeated lasts; each next one lasts twice as long.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// How long such a pause lasts at most.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Requests for parts of contents that are under way at the same time.
const MOST_REQUESTS: usize = 16;

/// A bucket: its objects, and their names by any beginning.
pub(super) trait Store: ObjectStore + PaginatedListStore {}

impl<S: ObjectStore + PaginatedListStore> Store for S {}

/// Parts of objects that are on their way to stores at the same time, of all uploads.
const MOST_PARTS: usize = 8;

pub(super) struct Engine {
    pub(super) runtime: Runtime,
    pub(super) options: Options,
    /// Those for parts of contents that may be under way at the same time.
    pub(super) requests: Semaphore,
    /// Those with parts of uploads.
    pub(super) parts: Arc<Semaphore>,
    stores: Mutex<HashMap<(Service, String), Arc<dyn Store>>>,
    web: OnceLock<reqwest::Client>,
}

impl Engine {
    pub(super) fn new(options: Options) -> io::Result<Engine> {
        let mut builder = Builder::new_multi_thread();
        let builder = builder.worker_threads(2).thread_name("requests").enable_io().enable_time();
        let (stores, web) = (Mutex::default(), OnceLock::new());
        let requests = Semaphore::new(MOST_REQUESTS);
        let parts = Arc::new(Semaphore::new(MOST_PARTS));
        Ok(Engine { runtime: builder.build()?, options, requests, parts, stores, web })
    }

    pub(super) fn web(&self) -> io::Result<&reqwest::Client> {
        if let Some(web) = self.web.get() {
            return Ok(web);
        }
        let limits = Limits {
            connect: CONNECT_TIMEOUT,
            read: READ_TIMEOUT,
            allows_http: true,
            follows_redirects: true,
        };
        let made = client(&self.options, limits)?;
        Ok(self.web.get_or_init(|| made))
    }

    pub(super) fn store(&self, location: &Location) -> io::Result<Arc<dyn Store>> {
        let name = (location.service(), location.bucket().to_owned());
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = stores.get(&name) {
            return Ok(store.clone());
        }
        let store = self.connect(location)?;
        stores.insert(name, store.clone());
        Ok(store)
    }

    fn connect(&self, location: &Location) -> io::Result<Arc<dyn Store>> {
        let limits = ClientOptions::new()
            .with_connect_timeout(CONNECT_TIMEOUT)
            .with_read_timeout(READ_TIMEOUT);
        let (connector, bucket) = (Connector(self.options.clone()), location.bucket());
        let refused = |error: object_store::Error| invalid(cause_of(&error));
        if location.service() != Service::Web {
            valid::check_bucket(bucket)?;
        }
        let retry = self.retry(location.service());
        match location.service() {
            Service::S3 => {
                let given = self.options.of("AWS_").filter(|(_, value)| !value.is_empty());
                let known = |(name, value): (String, _)| {
                    Some((name.parse::<AmazonS3ConfigKey>().ok()?, name, value))
                };
                let settings: Vec<_> = given.filter_map(known).collect();
                valid::check(settings.iter().map(|(_, name, value)| (&**name, *value)))?;
                self.find_credentials(Service::S3)?;
                let mut builder = AmazonS3Builder::new().with_client_options(limits);
                for (key, _, value) in settings {
                    builder = builder.with_config(key, value);
                }
                let builder = builder.with_bucket_name(bucket).with_retry(retry);
                Ok(Arc::new(builder.with_http_connector(connector).build().map_err(refused)?))
            }
            Service::Google => {
                let settings = google::settings(&self.options);
                valid::check(settings.values.iter().map(|(key, value)| (key.as_ref(), &**value)))?;
                if !settings.is_anonymous {
                    self.find_credentials(Service::Google)?;
                }
                let limits = limits.with_allow_http(true);
                let mut builder = GoogleCloudStorageBuilder::new().with_client_options(limits);
                for (key, value) in settings.values {
                    builder = builder.with_config(key, value);
                }
                if settings.is_anonymous {
                    // Writing sends credentials all the same, and would ask the machine for some.
                    let none = GcpCredential { bearer: "anonymous".to_owned() };
                    builder = builder.with_skip_signature(true);
                    builder =
                        builder.with_credentials(Arc::new(StaticCredentialProvider::new(none)));
                }
                let builder = builder.with_bucket_name(bucket).with_retry(retry);
                Ok(Arc::new(builder.with_http_connector(connector).build().map_err(refused)?))
            }
            Service::Azure => {
                let settings = azure::settings(&self.options, location)?;
                valid::check(settings.iter().map(|(key, value)| (key.as_ref(), &**value)))?;
                if !azure::has_credentials(&settings) {
                    self.find_credentials(Service::Azure)?;
                }
                let mut builder = MicrosoftAzureBuilder::new().with_client_options(limits);
                for (key, value) in settings {
                    builder = builder.with_config(key, value);
                }
                builder = match bucket.contains('@') {
                    true => builder.with_url(location.with_key("").url()),
                    false => builder.with_container_name(bucket),
                };
                let builder = builder.with_retry(retry);
                Ok(Arc::new(builder.with_http_connector(connector).build().map_err(refused)?))
            }
            Service::Web => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "files of web servers can only be read; write to s3://, gs:// or az://",
            )),
        }
    }

    /// How requests are repeated; the number of attempts, if it is set, counts the first one, too.
    pub(super) fn retry(&self, service: Service) -> RetryConfig {
        let attempts = self.options.value("AWS_MAX_ATTEMPTS").filter(|_| service == Service::S3);
        let attempts = attempts.and_then(|text| text.parse::<usize>().ok());
        RetryConfig {
            backoff: BackoffConfig {
                init_backoff: FIRST_PAUSE,
                max_backoff: LONGEST_PAUSE,
                base: 2.,
            },
            max_retries: attempts.map_or(RETRIES, |attempts| attempts.saturating_sub(1)),
            retry_timeout: RETRY_TIME,
        }
    }

    /// Without credentials, stores ask the machine that they run on. An error if there is none to ask, which would only be
    /// known after all retries.
    fn find_credentials(&self, service: Service) -> io::Result<()> {
        let (names, machine, advice): (&[&str], _, _) = match service {
            Service::S3 => (
                &[
                    "AWS_ACCESS_KEY_ID",
                    "AWS_SKIP_SIGNATURE",
                    "AWS_WEB_IDENTITY_TOKEN_FILE",
                    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                ],
                "169.254.169.254:80",
                "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for public buckets",
            ),
            Service::Azure => (
                &[],
                "169.254.169.254:80",
                "set AZURE_STORAGE_ACCOUNT_KEY, AZURE_STORAGE_SAS_TOKEN or AZURE_STORAGE_CONNECTION_STRING, or \
                 AZURE_SKIP_SIGNATURE=true for public containers",
            ),
            _ => (
                &[
                    "GOOGLE_SERVICE_ACCOUNT",
                    "GOOGLE_SERVICE_ACCOUNT_PATH",
                    "GOOGLE_SERVICE_ACCOUNT_KEY",
                    "GOOGLE_APPLICATION_CREDENTIALS",
                    "GOOGLE_BEARER_TOKEN",
                ],
                "metadata.google.internal:80",
                "set GOOGLE_APPLICATION_CREDENTIALS, or GOOGLE_SKIP_SIGNATURE=true for public buckets",
            ),
        };
        if names.iter().any(|name| self.options.value(name).is_some()) {
            return Ok(());
        }
        let endpoint =
            self.options.value("AWS_METADATA_ENDPOINT").filter(|_| service == Service::S3);
        let host = endpoint.and_then(|url| url.strip_prefix("http://")?.split('/').next());
        let addresses = match host {
            Some(host) if host.contains(':') => host.to_socket_addrs(),
            Some(host) => (host, 80).to_socket_addrs(),
            None => machine.to_socket_addrs(),
        };
        let mut addresses = addresses.into_iter().flatten();
        let time = Duration::from_secs(1);
        if addresses.any(|address| TcpStream::connect_timeout(&address, time).is_ok()) {
            return Ok(());
        }
        let what = format!("no credentials; {advice}");
        Err(io::Error::new(io::ErrorKind::PermissionDenied, what))
    }
}
