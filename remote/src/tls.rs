//! The client of HTTP: which certificates it trusts, which redirects it follows, and how long it waits.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use object_store::client::{ClientConfigKey, HttpClient, HttpConnector};
use object_store::{ClientOptions, Result as StoreResult};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, NoProxy, Proxy, Url};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use super::answer::Checked;
use super::error::invalid;
use super::options::{CONNECT_TIMEOUT, Options, READ_TIMEOUT};

const MOST_REDIRECTS: usize = 5;

/// What requests are sent by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) connect: Duration,
    pub(super) read: Duration,
    pub(super) allows_http: bool,
    pub(super) follows_redirects: bool,
}

pub(super) fn client(options: &Options, limits: Limits) -> io::Result<Client> {
    let redirects =
        if limits.follows_redirects { Policy::custom(redirect) } else { Policy::none() };
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls()?)
        .user_agent(concat!("uriscan/", env!("CARGO_PKG_VERSION")))
        .https_only(!limits.allows_http)
        .redirect(redirects)
        .referer(false)
        .connect_timeout(limits.connect)
        .read_timeout(limits.read)
        .no_proxy();
    let excepted = options.value("NO_PROXY").and_then(NoProxy::from_string);
    let proxies = [
        options.value("HTTPS_PROXY").map(Proxy::https),
        options.value("HTTP_PROXY").map(Proxy::http),
        options.value("ALL_PROXY").map(Proxy::all),
    ];
    for proxy in proxies.into_iter().flatten() {
        let proxy = proxy.map_err(|_| invalid("the address of the proxy is not a URL"))?;
        builder = builder.proxy(proxy.no_proxy(excepted.clone()));
    }
    builder.build().map_err(|_| invalid("the client of HTTP cannot be set up"))
}

fn redirect(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    match may_follow(attempt.url(), attempt.previous()) {
        true => attempt.follow(),
        false => attempt.error("refused"),
    }
}

/// Whether a redirect to `url` is followed: a few times, and not from HTTPS to HTTP.
fn may_follow(url: &Url, previous: &[Url]) -> bool {
    let was_secure = previous.last().is_some_and(|from| from.scheme() == "https");
    (url.scheme() == "https" || !was_secure) && previous.len() <= MOST_REDIRECTS
}

/// TLS with the certificates that the system trusts. Where it trusts none, only plain HTTP works.
fn tls() -> io::Result<ClientConfig> {
    let builder = || {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider);
        builder.with_safe_default_protocol_versions().map_err(io::Error::other)
    };
    Ok(match builder()?.with_platform_verifier() {
        Ok(trusting) => trusting.with_no_client_auth(),
        Err(_) => builder()?.with_root_certificates(RootCertStore::empty()).with_no_client_auth(),
    })
}

#[derive(Clone, Debug)]
pub(super) struct Connector(pub(super) Options);

impl HttpConnector for Connector {
    fn connect(&self, wanted: &ClientOptions) -> StoreResult<HttpClient> {
        let value = |key| wanted.get_config_value(&key);
        let duration = |key| value(key).and_then(|text| humantime::parse_duration(&text).ok());
        let limits = Limits {
            connect: duration(ClientConfigKey::ConnectTimeout).unwrap_or(CONNECT_TIMEOUT),
            read: duration(ClientConfigKey::ReadTimeout).unwrap_or(READ_TIMEOUT),
            allows_http: value(ClientConfigKey::AllowHttp).is_some_and(|text| text == "true"),
            follows_redirects: false,
        };
        let client = client(&self.0, limits).map_err(|error| object_store::Error::Generic {
            store: "HTTP client",
            source: Box::new(error),
        })?;
        Ok(HttpClient::new(Checked(client)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_are_few_and_never_lead_out_of_tls() {
        let url = |text: &str| Url::parse(text).unwrap();
        let follows = |to: &str, previous: &[&str]| {
            let previous: Vec<Url> = previous.iter().map(|text| url(text)).collect();
            may_follow(&url(to), &previous)
        };
        for (to, previous, expected) in [
            ("http://b/", &["http://a/"][..], true),
            ("https://b/", &["http://a/"], true),
            ("https://b/", &["https://a/"], true),
            ("http://b/", &["https://a/"], false),
            ("http://a/", &["https://a/"], false),
            ("http://c/", &["http://a/", "https://b/"], false),
            ("https://c/", &["http://a/", "https://b/"], true),
        ] {
            assert_eq!(follows(to, previous), expected, "{to} after {previous:?}");
        }
        assert!(follows("http://b/", &["http://a/"; MOST_REDIRECTS]));
        assert!(!follows("http://b/", &["http://a/"; MOST_REDIRECTS + 1]));
    }
}
