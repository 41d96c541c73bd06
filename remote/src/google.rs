//! Where Google Cloud Storage is: at Google, elsewhere, or an emulator, which knows no credentials.

use std::str::FromStr;

use object_store::gcp::GoogleConfigKey;

use super::options::{Options, is_true};

use GoogleConfigKey::{
    ApplicationCredentials, BaseUrl, BearerToken, ServiceAccount, ServiceAccountKey, SkipSignature,
};

/// What a bucket is built of.
pub(super) struct Settings {
    pub(super) values: Vec<(GoogleConfigKey, String)>,
    /// Whether requests have no credentials.
    pub(super) is_anonymous: bool,
}

/// The settings for all buckets. The tools of Google have `STORAGE_EMULATOR_HOST`, others `GOOGLE_BASE_URL`, which does not
/// say that there are no credentials.
pub(super) fn settings(options: &Options) -> Settings {
    let given = options.of("GOOGLE_").filter(|(_, value)| !value.is_empty());
    let known = |(name, value): (String, &str)| {
        Some((GoogleConfigKey::from_str(&name).ok()?, value.to_owned()))
    };
    let mut values: Vec<(GoogleConfigKey, String)> = given.filter_map(known).collect();
    let skips = |(key, value): &(GoogleConfigKey, String)| *key == SkipSignature && is_true(value);
    let mut is_anonymous = values.iter().any(skips);
    let has_url = values.iter().any(|(key, _)| *key == BaseUrl);
    if let Some(host) = options.value("STORAGE_EMULATOR_HOST").filter(|_| !has_url) {
        let scheme = if host.contains("://") { "" } else { "http://" };
        values.push((BaseUrl, format!("{scheme}{host}")));
        is_anonymous = true;
    }
    if is_anonymous {
        let secrets = [ApplicationCredentials, BearerToken, ServiceAccount, ServiceAccountKey];
        values.retain(|(key, _)| !secrets.contains(key));
    }
    for (_, url) in values.iter_mut().filter(|(key, _)| *key == BaseUrl) {
        url.truncate(url.trim_end_matches('/').len());
    }
    Settings { values, is_anonymous }
}

/// The URL of the store, unless it is at Google.
pub(super) fn url(options: &Options) -> Option<String> {
    let is_url = |(key, _): &(GoogleConfigKey, String)| *key == BaseUrl;
    settings(options).values.into_iter().find(is_url).map(|(_, url)| url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(values: &[(&str, &str)]) -> (Vec<(GoogleConfigKey, String)>, bool) {
        let options = values.iter();
        let options =
            options.fold(Options::default(), |options, (name, value)| options.set(*name, *value));
        let Settings { values, is_anonymous } = settings(&options);
        (values, is_anonymous)
    }

    #[test]
    fn an_emulator_gets_no_credentials() {
        let secret = ("GOOGLE_APPLICATION_CREDENTIALS", "/secret.json");
        let url = |url: &str| (BaseUrl, url.to_owned());
        for host in ["http://h:1", "h:1", "http://h:1/"] {
            let of_host = found(&[("STORAGE_EMULATOR_HOST", host), secret]);
            assert_eq!(of_host, (vec![url("http://h:1")], true), "{host}");
        }
        let other =
            found(&[("STORAGE_EMULATOR_HOST", "h"), ("GOOGLE_BASE_URL", "https://o"), secret]);
        let secret_value = (ApplicationCredentials, "/secret.json".to_owned());
        assert_eq!(other, (vec![url("https://o"), secret_value.clone()], false));
        assert_eq!(found(&[secret]), (vec![secret_value], false));
        let public = found(&[secret, ("GOOGLE_SKIP_SIGNATURE", "TRUE")]);
        assert_eq!(public, (vec![(SkipSignature, "TRUE".to_owned())], true));
        assert_eq!(found(&[("STORAGE_EMULATOR_HOST", "")]), (Vec::new(), false));
    }
}
