//! What a client needs to know.

use std::fmt;
use std::time::Duration;

/// How often, and for how long, a request is repeated that failed for a reason that may pass.
pub(super) const RETRIES: usize = 6;
pub(super) const RETRY_TIME: Duration = Duration::from_secs(120);

/// How long a connection may take, and how long it may then be silent.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
pub(super) const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Credentials and endpoints of a [`super::Client`].
///
/// ```
/// use uriscan_remote::Options;
/// let options = Options::default().set("AWS_REGION", "eu-west-1").set("AWS_SECRET_ACCESS_KEY", "secret");
/// assert!(!format!("{options:?}").contains("secret\""));
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// By the names of the environment.
    pub(super) values: Vec<(String, String)>,
}

impl Options {
    /// Adds a setting by the name that the tools of the service know from the environment: those that begin with `AWS_`,
    /// `GOOGLE_` and `AZURE_`; `AZURITE_BLOB_STORAGE_URL` and `STORAGE_EMULATOR_HOST`; and `HTTPS_PROXY`, `HTTP_PROXY` and
    /// `NO_PROXY`. Others have no effect.
    #[must_use]
    pub fn set(mut self, name: impl Into<String>, value: impl Into<String>) -> Options {
        self.values.push((name.into(), value.into()));
        self
    }

    /// The settings whose names begin with `prefix`, in lower case.
    pub(super) fn of<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (String, &'a str)> {
        let values = self.values.iter().filter(move |(name, _)| name.starts_with(prefix));
        values.map(|(name, value)| (name.to_ascii_lowercase(), value.as_str()))
    }

    /// The value of `name`, in whatever case it was given.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let found = self.values.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

pub(super) fn is_true(text: &str) -> bool {
    ["1", "true", "on", "yes", "y"].iter().any(|yes| text.eq_ignore_ascii_case(yes))
}

/// The names only: the values may be secret.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.values.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Options").field("names", &names).finish_non_exhaustive()
    }
}
