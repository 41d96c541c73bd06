//! Which account of Azure is used, with which credentials: those of the settings, of a connection string, or of an emulator.

use std::io;
use std::str::FromStr;

use object_store::azure::AzureConfigKey;
use object_store::client::ClientConfigKey;

use super::error::invalid;
use super::location::Location;
use super::options::{Options, is_true};

use AzureConfigKey::{AccessKey, AccountName, Client, Endpoint, SasKey, UseEmulator};

/// Settings that object stores are built of, each once.
pub(super) type Settings = Vec<(AzureConfigKey, String)>;

/// Names that the tools of Azure have, and others do not.
const OF_TOOLS: [(&str, AzureConfigKey); 2] =
    [("AZURE_STORAGE_ACCOUNT", AccountName), ("AZURE_STORAGE_KEY", AccessKey)];

const CONNECTION_STRING: &str = "AZURE_STORAGE_CONNECTION_STRING";

/// Account and key of every emulator, which are not secret.
const EMULATOR: (&str, &str) = (
    "devstoreaccount1",
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
);

/// Where an emulator is unless `AZURITE_BLOB_STORAGE_URL` says something else.
const EMULATOR_URL: &str = "http://127.0.0.1:10000";

/// What a connection string replaces if it has credentials.
const CREDENTIALS: [AzureConfigKey; 9] = [
    AccessKey,
    SasKey,
    AzureConfigKey::Token,
    AzureConfigKey::ClientId,
    AzureConfigKey::ClientSecret,
    AzureConfigKey::AuthorityId,
    AzureConfigKey::FederatedTokenFile,
    AzureConfigKey::UseAzureCli,
    AzureConfigKey::CredentialType,
];

pub(super) fn settings(options: &Options, location: &Location) -> io::Result<Settings> {
    let mut settings = Settings::new();
    for (name, key) in OF_TOOLS {
        if let Some(value) = options.value(name) {
            set(&mut settings, key, value);
        }
    }
    for (name, value) in options.of("AZURE_").filter(|(_, value)| !value.is_empty()) {
        if let Ok(key) = AzureConfigKey::from_str(&name) {
            set(&mut settings, key, value);
        }
    }
    // `container@account.dfs.core.windows.net`
    let of_url = location.bucket().split_once('@');
    let of_url = of_url.map(|(_, host)| host.split('.').next().unwrap_or_default());
    if let Some(account) = of_url {
        set(&mut settings, AccountName, account);
    }
    if take(&mut settings, UseEmulator).as_deref().is_some_and(is_true) {
        let url = options.value("AZURITE_BLOB_STORAGE_URL").unwrap_or(EMULATOR_URL);
        use_emulator(&mut settings, url);
    } else if let Some(text) = options.value(CONNECTION_STRING) {
        ConnectionString::parse(text)?.apply(&mut settings, of_url)?;
    }
    Ok(settings)
}

/// The URL of the account of `location`, if it is known.
pub(super) fn url(options: &Options, location: &Location) -> Option<String> {
    let mut settings = settings(options, location).ok()?;
    let of_account = |account: String| format!("https://{account}.blob.core.windows.net");
    take(&mut settings, Endpoint).or_else(|| take(&mut settings, AccountName).map(of_account))
}

/// Whether `settings` have credentials, or say where some are.
pub(super) fn has_credentials(settings: &Settings) -> bool {
    use AzureConfigKey::{
        ClientSecret, CredentialType, FabricTokenServiceUrl, FederatedTokenFile, MsiEndpoint,
        SkipSignature, Token, UseAzureCli,
    };
    let known = [
        [AccessKey, SasKey, Token, ClientSecret, FederatedTokenFile],
        [UseAzureCli, CredentialType, SkipSignature, MsiEndpoint, FabricTokenServiceUrl],
    ];
    settings.iter().any(|(key, _)| known.as_flattened().contains(key))
}

/// A connection string, as far as it is about blobs.
#[derive(Default)]
struct ConnectionString<'t> {
    account: Option<&'t str>,
    key: Option<&'t str>,
    sas: Option<&'t str>,
    endpoint: Option<&'t str>,
    protocol: Option<&'t str>,
    suffix: Option<&'t str>,
    is_emulator: bool,
}

impl<'t> ConnectionString<'t> {
    fn parse(text: &'t str) -> io::Result<ConnectionString<'t>> {
        let mut found = ConnectionString::default();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((name, value)) = part.split_once('=') else {
                return Err(refused("has a part without `=`"));
            };
            let value = Some(value.trim()).filter(|value| !value.is_empty());
            match name.trim().to_ascii_lowercase().as_str() {
                "accountname" => found.account = value,
                "accountkey" => found.key = value,
                "sharedaccesssignature" => found.sas = value,
                "blobendpoint" => found.endpoint = value,
                "defaultendpointsprotocol" => found.protocol = value,
                "endpointsuffix" => found.suffix = value,
                "usedevelopmentstorage" => found.is_emulator = value.is_some_and(is_true),
                // Other services, a second region.
                _ => {}
            }
        }
        Ok(found)
    }

    /// Its endpoint in place of that of `settings`, and its credentials in place of all others. A URL with another account
    /// has nothing to do with it.
    fn apply(&self, settings: &mut Settings, of_url: Option<&str>) -> io::Result<()> {
        if self.is_emulator {
            use_emulator(settings, self.endpoint.unwrap_or(EMULATOR_URL));
            return Ok(());
        }
        let account = self.account.or_else(|| self.endpoint.and_then(account_of));
        let Some(account) = account else {
            return Err(refused("names neither AccountName nor BlobEndpoint"));
        };
        if of_url.is_some_and(|of_url| of_url != account) {
            return Ok(());
        }
        set(settings, AccountName, account);
        take(settings, Endpoint);
        let (protocol, suffix) =
            (self.protocol.unwrap_or("https"), self.suffix.unwrap_or("core.windows.net"));
        let endpoint = self
            .endpoint
            .map_or_else(|| format!("{protocol}://{account}.blob.{suffix}"), str::to_owned);
        set_endpoint(settings, &endpoint);
        if self.key.or(self.sas).is_some() {
            CREDENTIALS.into_iter().for_each(|key| drop(take(settings, key)));
        }
        // A key can do what a signature can.
        match (self.key, self.sas) {
            (Some(key), _) => set(settings, AccessKey, key),
            (None, Some(sas)) => set(settings, SasKey, sas),
            (None, None) => {}
        }
        Ok(())
    }
}

/// The account in a URL such as `https://account.blob.core.windows.net` or `http://127.0.0.1:10000/account`.
fn account_of(endpoint: &str) -> Option<&str> {
    let (_, rest) = endpoint.split_once("://")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let of_path = path.split('/').next().filter(|account| !account.is_empty());
    of_path.or_else(|| host.split_once('.').map(|(account, _)| account))
}

/// The emulator at `url` in place of an account; it has the account in the path.
fn use_emulator(settings: &mut Settings, url: &str) {
    let known = |key| settings.iter().find(|(known, _)| *known == key);
    let account = known(AccountName).map_or(EMULATOR.0, |(_, account)| account).to_owned();
    let has_credentials =
        [AccessKey, SasKey, AzureConfigKey::Token].into_iter().any(|key| known(key).is_some());
    let url = url.trim_end_matches('/');
    let endpoint = match url.ends_with(&format!("/{account}")) {
        true => url.to_owned(),
        false => format!("{url}/{account}"),
    };
    set(settings, AccountName, &account);
    set_endpoint(settings, &endpoint);
    if !has_credentials {
        set(settings, AccessKey, EMULATOR.1);
    }
}

/// `endpoint`, without TLS if it says so.
fn set_endpoint(settings: &mut Settings, endpoint: &str) {
    set(settings, Endpoint, endpoint);
    if endpoint.starts_with("http://") {
        set(settings, Client(ClientConfigKey::AllowHttp), "true");
    }
}

fn set(settings: &mut Settings, key: AzureConfigKey, value: &str) {
    take(settings, key);
    settings.push((key, value.to_owned()));
}

/// The value of `key`, which has none then.
fn take(settings: &mut Settings, key: AzureConfigKey) -> Option<String> {
    let at = settings.iter().position(|(known, _)| *known == key)?;
    Some(settings.swap_remove(at).1)
}

fn refused(what: &str) -> io::Error {
    invalid(format!("{CONNECTION_STRING} {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The settings of these values for a URL, in order of their names.
    fn found(values: &[(&str, &str)], url: &str) -> Result<Vec<(String, String)>, String> {
        let options = values.iter();
        let options =
            options.fold(Options::default(), |options, (name, value)| options.set(*name, *value));
        let settings = settings(&options, &Location::parse(url).unwrap());
        let settings = settings.map_err(|error| error.to_string())?;
        let name = |(key, value): (AzureConfigKey, String)| (key.as_ref().to_owned(), value);
        let mut found: Vec<_> = settings.into_iter().map(name).collect();
        found.sort();
        Ok(found)
    }

    fn pairs(values: &[(&str, &str)]) -> Result<Vec<(String, String)>, String> {
        Ok(values.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    #[test]
    fn an_account_has_several_names() {
        let expected =
            pairs(&[("azure_storage_account_key", "K"), ("azure_storage_account_name", "a")]);
        let tools = [("AZURE_STORAGE_ACCOUNT", "a"), ("AZURE_STORAGE_KEY", "K")];
        assert_eq!(found(&tools, "az://c/k"), expected);
        let own = [("AZURE_STORAGE_ACCOUNT_NAME", "a"), ("AZURE_STORAGE_ACCESS_KEY", "K")];
        assert_eq!(found(&own, "az://c/k"), expected);
        let both = [("AZURE_STORAGE_ACCOUNT_NAME", "a"), tools[1], ("AZURE_STORAGE_ACCOUNT", "b")];
        assert_eq!(found(&both, "az://c/k"), expected);
        let of_url = "abfss://c@a.dfs.core.windows.net/k";
        assert_eq!(found(&[("AZURE_STORAGE_ACCOUNT", "b"), tools[1]], of_url), expected);
    }

    #[test]
    fn an_emulator_takes_the_place_of_the_account() {
        let switch = ("AZURE_STORAGE_USE_EMULATOR", "True");
        let at = |name: &str, key: &str, url: &str| {
            pairs(&[
                ("allow_http", "true"),
                ("azure_storage_account_key", key),
                ("azure_storage_account_name", name),
                ("azure_storage_endpoint", url),
            ])
        };
        let usual = at(EMULATOR.0, EMULATOR.1, "http://127.0.0.1:10000/devstoreaccount1");
        assert_eq!(found(&[switch], "az://c/k"), usual);
        let text = (CONNECTION_STRING, "UseDevelopmentStorage=true;");
        assert_eq!(found(&[text], "az://c/k"), usual);
        for url in ["http://h:1", "http://h:1/devstoreaccount1/"] {
            let elsewhere = at(EMULATOR.0, EMULATOR.1, "http://h:1/devstoreaccount1");
            assert_eq!(found(&[switch, ("AZURITE_BLOB_STORAGE_URL", url)], "az://c/k"), elsewhere);
        }
        let own = [switch, ("AZURE_STORAGE_ACCOUNT", "a"), ("AZURE_STORAGE_KEY", "K")];
        assert_eq!(found(&own, "az://c/k"), at("a", "K", "http://127.0.0.1:10000/a"));
        assert_eq!(found(&[("AZURE_STORAGE_USE_EMULATOR", "false")], "az://c/k"), pairs(&[]));
    }

    #[test]
    fn a_connection_string_precedes_other_credentials() {
        let other = [("AZURE_STORAGE_ACCOUNT", "b"), ("AZURE_STORAGE_SAS_TOKEN", "sig=x")];
        let of = |text| [other[0], other[1], (CONNECTION_STRING, text)];
        let text = "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=K==;EndpointSuffix=core.windows.net";
        let expected = pairs(&[
            ("azure_storage_account_key", "K=="),
            ("azure_storage_account_name", "a"),
            ("azure_storage_endpoint", "https://a.blob.core.windows.net"),
        ]);
        assert_eq!(found(&of(text), "az://c/k"), expected);
        assert_eq!(found(&of(text), "abfss://c@a.dfs.core.windows.net/k"), expected);
        // The URL names another account.
        let own = pairs(&[("azure_storage_account_name", "d"), ("azure_storage_sas_key", "sig=x")]);
        assert_eq!(found(&of(text), "abfss://c@d.dfs.core.windows.net/k"), own);
        let text = "BlobEndpoint=http://127.0.0.1:7/a;SharedAccessSignature=sv=1&sig=y%3D";
        let expected = pairs(&[
            ("allow_http", "true"),
            ("azure_storage_account_name", "a"),
            ("azure_storage_endpoint", "http://127.0.0.1:7/a"),
            ("azure_storage_sas_key", "sv=1&sig=y%3D"),
        ]);
        assert_eq!(found(&of(text), "az://c/k"), expected);
        // Without credentials, those of the settings are used.
        let text = "BlobEndpoint=https://a.blob.example.net/;QueueEndpoint=https://q";
        let expected = pairs(&[
            ("azure_storage_account_name", "a"),
            ("azure_storage_endpoint", "https://a.blob.example.net/"),
            ("azure_storage_sas_key", "sig=x"),
        ]);
        assert_eq!(found(&of(text), "az://c/k"), expected);
    }

    #[test]
    fn messages_about_connection_strings_do_not_show_them() {
        for (text, what) in [
            ("secret", "AZURE_STORAGE_CONNECTION_STRING has a part without `=`"),
            (
                "AccountKey=secret",
                "AZURE_STORAGE_CONNECTION_STRING names neither AccountName nor BlobEndpoint",
            ),
        ] {
            assert_eq!(found(&[(CONNECTION_STRING, text)], "az://c/k"), Err(what.to_owned()));
        }
    }

    #[test]
    fn an_account_alone_is_not_credentials() {
        let of = |values: &[(&str, &str)]| {
            let set = |options: Options, &(name, value): &(&str, &str)| options.set(name, value);
            let options = values.iter().fold(Options::default(), set);
            settings(&options, &Location::parse("az://c/k").unwrap())
        };
        let account = ("AZURE_STORAGE_ACCOUNT", "a");
        assert!(!has_credentials(&of(&[account, ("AZURE_CLIENT_ID", "x")]).unwrap()));
        for name in ["AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN", "AZURE_SKIP_SIGNATURE"] {
            assert!(has_credentials(&of(&[account, (name, "x")]).unwrap()), "{name}");
        }
    }
}
