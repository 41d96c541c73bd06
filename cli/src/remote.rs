//! Objects of object stores, and files of web servers, as inputs and outputs.
//!
//! An argument that begins with the scheme of one is taken as its URL, unless a file has that name. A program that is built
//! without the feature `full` has `absent/remote.rs` in place of this module.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use uriscan_bulk::io::Stored;
use uriscan_files as files;
use uriscan_remote::{Client, Listed, Location, Options, Service};
pub(crate) use uriscan_remote::{Group, GroupObject, Upload};
use uriscan_table::{
    TableFormat,
    dataset::{Found, Selection},
};

use crate::exit::Failure;

/// Characters that make a name a pattern.
const SPECIAL: [char; 3] = ['*', '?', '['];

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
    pub(crate) fn path(&self) -> &Path {
        Path::new(self.0.path())
    }

    /// The address of the object: whatever leads to the same one has the same address.
    pub(crate) fn address(&self) -> String {
        static OPTIONS: OnceLock<Options> = OnceLock::new();
        // What is wrong with the files is reported when something of S3 is opened.
        let all = || with_aws_files(options(), self).unwrap_or_else(|_| options());
        self.0.address(OPTIONS.get_or_init(all))
    }

    pub(crate) fn is_web(&self) -> bool {
        self.0.service() == Service::Web
    }

    /// The URL of a page, against which its references are resolved.
    pub(crate) fn base(&self) -> Option<Vec<u8>> {
        let is_page = self.0.service() == Service::Web;
        is_page.then(|| self.to_string().trim_end_matches("?...").as_bytes().to_vec())
    }

    /// The prefix that it is with a slash at the end.
    pub(crate) fn folder(&self) -> Url {
        Url(self.0.with_key(match self.0.key().trim_end_matches('/') {
            "" => String::new(),
            name => format!("{name}/"),
        }))
    }

    /// Whether it represents all objects whose names begin so: it names a bucket, or ends with a slash.
    pub(crate) fn is_folder(&self) -> bool {
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

/// A client, and what it found and opened: that stays the same content until the end of the run.
struct Opened {
    client: Client,
    /// By their URLs.
    listed: HashMap<String, Listed>,
    objects: HashMap<String, Arc<dyn Stored>>,
}

/// One for S3, which has files of credentials, and one for all else, which has nothing to do with these.
static OPENED: [OnceLock<Mutex<Opened>>; 2] = [OnceLock::new(), OnceLock::new()];

fn opened(url: &Url) -> Result<MutexGuard<'static, Opened>, Failure> {
    let is_s3 = url.0.service() == Service::S3;
    let slot = &OPENED[usize::from(is_s3)];
    if slot.get().is_none() {
        look_at_certificates()?;
        let options = if is_s3 { with_aws_files(options(), url)? } else { options() };
        let client = Client::new(options).map_err(|error| Failure::at("object stores", error))?;
        let (listed, objects) = (HashMap::new(), HashMap::new());
        // Another thread may have been faster.
        let _ = slot.set(Mutex::new(Opened { client, listed, objects }));
    }
    match slot.get() {
        Some(opened) => Ok(locked(opened)),
        None => Err(Failure::new("object stores cannot be set up")),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of the file of all authorities at most.
const MOST_CERTIFICATES: u64 = 64 << 20;

/// An error if the file of the authorities that TLS trusts has no end: it is read whole.
fn look_at_certificates() -> Result<(), Failure> {
    let Some(path) = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from) else { return Ok(()) };
    let Ok(metadata) = path.metadata() else { return Ok(()) };
    match metadata.is_file() && metadata.len() <= MOST_CERTIFICATES {
        true => Ok(()),
        false => Err(Failure::at("SSL_CERT_FILE", "is not a regular file of at most 64 MiB")),
    }
}

/// `options` with what the files of the AWS tools say.
fn with_aws_files(options: Options, url: &Url) -> Result<Options, Failure> {
    let text = |variable: &str, name: &str| {
        let home = std::env::home_dir();
        let named = std::env::var_os(variable).filter(|named| !named.is_empty()).map(PathBuf::from);
        let path = match (named, home) {
            (Some(path), Some(home)) => match path.strip_prefix("~") {
                Ok(below) => home.join(below),
                Err(_) => path,
            },
            (Some(path), None) => path,
            (None, Some(home)) => home.join(".aws").join(name),
            (None, None) => return Ok(String::new()),
        };
        match files::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            read => read.map_err(|error| Failure::at(path.display(), error)),
        }
    };
    let credentials = text("AWS_SHARED_CREDENTIALS_FILE", "credentials")?;
    let config = text("AWS_CONFIG_FILE", "config")?;
    options.aws_files(&credentials, &config).map_err(|error| Failure::at(url, error))
}

/// What the tools of the stores read from the environment.
fn options() -> Options {
    const BEGINNINGS: [&str; 5] =
        ["AWS_", "GOOGLE_", "AZURE_", "AZURITE_BLOB_STORAGE_URL", "STORAGE_EMULATOR_HOST"];
    const PROXIES: [&str; 4] = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"];
    let known = |name: &str| {
        BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
            || PROXIES.iter().any(|proxy| proxy.eq_ignore_ascii_case(name))
    };
    let texts = std::env::vars_os()
        // A value that is not UTF-8 is refused when it is needed, and not as if it were not there.
        .filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
        });
    texts
        .filter(|(name, _)| known(name))
        .fold(Options::default(), |options, (name, value)| options.set(name, value))
}

impl Opened {
    fn object(&mut self, url: &Url) -> io::Result<Arc<dyn Stored>> {
        // By the whole URL, since the query may decide about the content.
        let name = format!("{url} {}", url.0.key());
        if let Some(object) = self.objects.get(&name) {
            return Ok(object.clone());
        }
        let object = match self.listed.get(&url.to_string()) {
            Some(listed) => self.client.listed_object(listed)?,
            None => self.client.object(&url.0)?,
        };
        let object: Arc<dyn Stored> = Arc::new(object);
        self.objects.insert(name, object.clone());
        Ok(object)
    }

    /// The URL of an object that was listed, which is not asked for again before it is read.
    fn note(&mut self, listed: Listed) -> Url {
        let url = Url(listed.location.clone());
        self.listed.insert(url.to_string(), listed);
        url
    }
}

pub(crate) fn open(url: &Url) -> Result<Arc<dyn Stored>, Failure> {
    opened(url)?.object(url).map_err(|error| match url.0.service() {
        Service::Web => Failure::at(url, format_args!("{error}; -e URL is for the URL itself")),
        // Tables that a pattern selects were found before.
        _ if error.kind() == io::ErrorKind::NotFound && url.0.key().contains(SPECIAL) => {
            Failure::at(url, format_args!("{error}; patterns select tables, not lists"))
        }
        _ => Failure::at(url, error),
    })
}

/// The objects that `url` represents, if it is a bucket or ends with a slash: those below it, in the order of their
/// names.
pub(crate) fn listed(url: &Url) -> Result<Vec<Url>, Failure> {
    if !url.is_folder() {
        return Ok(vec![url.clone()]);
    }
    let mut opened = opened(url)?;
    let found = opened.client.list(&url.0).map_err(|error| Failure::at(url, error))?;
    if found.is_empty() {
        return Err(Failure::at(url, "there is no object below this prefix"));
    }
    Ok(found.into_iter().map(|listed| opened.note(listed)).collect())
}

/// The tables that an argument represents.
pub(crate) struct FoundBelow<T> {
    /// Each with its path below the argument.
    pub(crate) tables: Vec<(T, PathBuf)>,
    /// Names that were left out.
    pub(crate) skipped: u64,
}

/// The tables that `url` represents: those below a prefix, or those that a pattern selects, each with its path below it, and
/// how many objects were left out. `None` if it names one object. With `takes_any_name`, objects need not have the name of a
/// table.
pub(crate) fn found(url: &Url, takes_any_name: bool) -> Result<Option<FoundBelow<Url>>, Failure> {
    let fault = |error: io::Error| Failure::at(url, error);
    if url.0.service() == Service::Web {
        return Ok(None);
    }
    let (mut opened, key) = (opened(url)?, url.0.key());
    let missing = match url.is_folder() {
        true => None,
        // An object with exactly this name is read, and the pattern not expanded.
        false => match opened.object(url) {
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(error),
            Err(error) => return Err(fault(error)),
        },
    };
    let pattern = Selection::of_pattern(key, takes_any_name);
    let Url(folder) = url.folder();
    let (selection, beginning) = match pattern {
        Some(pattern) if missing.is_some() || opened.client.is_empty(&folder).map_err(fault)? => {
            let special = key.find(SPECIAL).unwrap_or(key.len());
            (pattern, url.0.with_key(&key[..special]))
        }
        _ => (Selection::of_directory(key, takes_any_name), folder),
    };
    let mut listed = opened.client.list_names(&beginning).map_err(fault)?;
    if let Some(error) = missing.filter(|_| listed.is_empty() && !key.contains(SPECIAL)) {
        return Err(fault(error));
    }
    retain_content(&mut listed);
    let root = selection.root().to_str().unwrap_or_default().trim_end_matches('/');
    let root = if root.is_empty() { String::new() } else { format!("{root}/") };
    let names = listed
        .iter()
        .filter_map(|listed| Some((listed.location.key().strip_prefix(&root)?, listed.bytes)));
    let found = selection.of_listing(names);
    let Found { files, skipped, .. } = found.map_err(|error| Failure::at(url, error))?;
    let mut listed: HashMap<String, Listed> =
        listed.into_iter().map(|it| (it.location.key().to_owned(), it)).collect();
    let mut tables = Vec::with_capacity(files.len());
    for file in files {
        let name = file.below.to_str().map(|below| format!("{root}{below}"));
        if let Some(listed) = name.and_then(|name| listed.remove(&name)) {
            tables.push((opened.note(listed), file.below));
        }
    }
    Ok(Some(FoundBelow { tables, skipped }))
}

/// Removes what represents a directory from `listed`, which is in order: an object without a byte that has others below it,
/// or that is not a table by its name.
fn retain_content(listed: &mut Vec<Listed>) {
    let below = |listed: &[Listed], name: &str| {
        let folder = format!("{name}/");
        let at = listed.partition_point(|it| it.location.key() < folder.as_str());
        listed.get(at).is_some_and(|it| it.location.key().starts_with(&folder))
    };
    let is_content: Vec<bool> = listed
        .iter()
        .map(|it| {
            let name = it.location.key();
            let is_table = TableFormat::of_path(Path::new(name)).is_some();
            it.bytes > 0 || is_table && !below(listed, name)
        })
        .collect();
    let mut is_content = is_content.into_iter();
    listed.retain(|_| is_content.next().unwrap_or(true));
}

pub(crate) fn create(url: &Url) -> io::Result<Upload> {
    let client =
        opened(url).map_err(|failure| io::Error::other(failure.to_string()))?.client.clone();
    client.create(&url.0)
}

/// Begins to write objects below `url`, a prefix; temporary files are made in `directory`.
pub(crate) fn create_group(url: &Url, directory: &Path) -> Result<Group, Failure> {
    let fault = |error: io::Error| Failure::at(url, error);
    let client = opened(url)?.client.clone();
    let name = url.0.key().trim_end_matches('/');
    // That it can be written to is known before anything is read.
    client.create(&url.0.with_key(format!("{}part", url.0.key()))).map_err(fault)?;
    if !client.is_empty(&url.0).map_err(fault)? {
        let what = "is not empty; name a new prefix, or remove the objects below it";
        return Err(Failure::at(url, what));
    }
    if !name.is_empty() {
        let file = url.0.with_key(name);
        match client.object(&file) {
            Ok(_) => return Err(Failure::at(file, "is an object; a prefix takes the results")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(fault(error)),
        }
    }
    Ok(Group::new(&client, &url.0, directory))
}
