//! Profiles in the files of the AWS tools: `~/.aws/credentials` and `~/.aws/config`.
//!
//! Only what is in the files themselves is read: keys, a session token, the region and the endpoint, which may be one for S3 in a
//! section of services. Profiles that have to log in or to assume a role need those tools, and are errors that say so.

use std::fmt;

use super::options::Options;

/// What the environment has instead of the keys of a profile.
const INSTEAD_OF_KEYS: [&str; 3] =
    ["AWS_ACCESS_KEY_ID", "AWS_SKIP_SIGNATURE", "AWS_WEB_IDENTITY_TOKEN_FILE"];

/// Endpoints of the environment that may be ignored.
const ENDPOINTS: [&str; 2] = ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"];

/// Where the credentials of a container are, which are used if a profile has none.
const OF_CONTAINERS: [&str; 2] =
    ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"];

/// Settings of profiles that need the tools of AWS, and what they are called.
const NEED_TOOLS: [(&str, &str); 6] = [
    ("role_arn", "assumes a role"),
    ("sso_session", "uses single sign-on"),
    ("sso_start_url", "uses single sign-on"),
    ("login_session", "needs a login"),
    ("web_identity_token_file", "uses a web identity"),
    ("credential_process", "runs a program for its credentials"),
];

/// Why a profile cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileError {
    profile: String,
    what: String,
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProfileError { profile, what } = self;
        write!(f, "the AWS profile {profile} {what}")
    }
}

impl std::error::Error for ProfileError {}

/// The settings of a profile; what the file of credentials says precedes what that of settings says.
struct Profile<'t> {
    name: &'t str,
    sections: [Vec<(&'t str, &'t str)>; 2],
    exists: bool,
}

impl<'t> Profile<'t> {
    fn find(name: &'t str, credentials: &'t str, config: &'t str) -> Profile<'t> {
        let of_credentials = section(credentials, |header| header == name, None);
        let is_it = |header: &str| match header.split_once([' ', '\t']) {
            Some(("profile", own)) => own.trim().trim_matches('"') == name,
            Some(_) => false,
            None => name == DEFAULT && header == DEFAULT,
        };
        let of_config = section(config, is_it, None);
        let exists = of_credentials.is_some() || of_config.is_some();
        let sections = [of_credentials, of_config].map(Option::unwrap_or_default);
        Profile { name, sections, exists }
    }

    fn value(&self, name: &str) -> Option<&'t str> {
        self.sections.iter().find_map(|section| last(section, name))
    }

    /// The endpoint for S3: that of the services that the profile names, or that of the profile.
    fn endpoint(&self, config: &'t str) -> Result<Option<&'t str>, ProfileError> {
        let own = self.value("endpoint_url");
        let Some(services) = self.value("services") else { return Ok(own) };
        let is_it = |header: &str| {
            let named = header.split_once([' ', '\t']).filter(|(kind, _)| *kind == "services");
            named.is_some_and(|(_, name)| name.trim().trim_matches('"') == services)
        };
        match section(config, is_it, Some("s3")) {
            None => {
                let what = format!("names services, {services}, that are not in ~/.aws/config");
                Err(self.error(what))
            }
            Some(found) => Ok(last(&found, "endpoint_url").or(own)),
        }
    }

    fn error(&self, what: impl Into<String>) -> ProfileError {
        ProfileError { profile: self.name.to_owned(), what: what.into() }
    }
}

const DEFAULT: &str = "default";

/// The value of a setting, if it has one; the last one counts.
fn last<'t>(section: &[(&'t str, &'t str)], name: &str) -> Option<&'t str> {
    let found = section.iter().rev().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| *value).filter(|value| !value.is_empty())
}

/// The settings in the sections of `text` whose header is wanted; of `service`, those below it, which are indented. `None` if there is
/// no such section.
fn section<'t>(
    text: &'t str,
    is_wanted: impl Fn(&str) -> bool,
    service: Option<&str>,
) -> Option<Vec<(&'t str, &'t str)>> {
    let (mut found, mut is_in, mut above) = (None, false, "");
    for line in text.lines() {
        if line.trim_start().starts_with(['#', ';']) {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            is_in = is_wanted(header.split(']').next().unwrap_or_default().trim());
            above = "";
            if is_in {
                found.get_or_insert_with(Vec::new);
            }
        } else if let (true, Some((name, value))) = (is_in, line.split_once('=')) {
            // What is indented belongs to the setting before it, such as the endpoints of single services.
            let is_below = line.starts_with([' ', '\t']);
            if !is_below {
                above = name.trim();
            }
            if is_below == service.is_some() && service.is_none_or(|service| service == above) {
                found.get_or_insert_with(Vec::new).push((name.trim(), value.trim()));
            }
        }
    }
    found
}

impl Options {
    /// Adds what the files of the AWS tools say in the profile that `AWS_PROFILE` names, or `default`: keys, a session token,
    /// the region and the endpoint, as far as they are not set yet. The arguments are the texts of `~/.aws/credentials` and
    /// of `~/.aws/config`; one that does not exist is empty. The endpoint is that of `s3` in the section of services that the
    /// profile names, or that of the profile. If `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS` or the profile says that endpoints are
    /// ignored, there is none, and `AWS_ENDPOINT_URL` and `AWS_ENDPOINT_URL_S3` are removed.
    ///
    /// ```
    /// use uriscan_remote::Options;
    /// let config = "[profile crawl]\nregion = eu-west-1\nsso_session = work\n";
    /// let error = Options::default().set("AWS_PROFILE", "crawl").aws_files("", config).unwrap_err();
    /// assert!(error.to_string().starts_with("the AWS profile crawl uses single sign-on"));
    /// ```
    ///
    /// # Errors
    /// When there is no such profile, its services are missing, or its credentials are not in the files and nothing else is set
    /// that has some.
    pub fn aws_files(self, credentials: &str, config: &str) -> Result<Options, ProfileError> {
        let named = self.value("AWS_PROFILE").map(str::to_owned);
        let profile = Profile::find(named.as_deref().unwrap_or(DEFAULT), credentials, config);
        if named.is_some() && !profile.exists {
            return Err(profile.error("is neither in ~/.aws/credentials nor in ~/.aws/config"));
        }
        let mut options = self;
        let is_set = |options: &Options, names: &[&str]| {
            names.iter().any(|name| options.value(name).is_some())
        };
        if let Some(region) = profile.value("region")
            && !is_set(&options, &["AWS_REGION", "AWS_DEFAULT_REGION"])
        {
            options = options.set("AWS_REGION", region);
        }
        let is_true = |value: &str| value.eq_ignore_ascii_case("true");
        let ignores = options
            .value("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")
            .or(profile.value("ignore_configured_endpoint_urls"));
        if ignores.is_some_and(is_true) {
            let is_kept = |name: &str| !ENDPOINTS.iter().any(|it| name.eq_ignore_ascii_case(it));
            options.values.retain(|(name, _)| is_kept(name));
        } else if !is_set(&options, &["AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AWS_ENDPOINT_URL_S3"])
            && let Some(endpoint) = profile.endpoint(config)?
        {
            options = options.set("AWS_ENDPOINT_URL", endpoint);
        }
        if is_set(&options, &INSTEAD_OF_KEYS) {
            return Ok(options);
        }
        let is_optional = named.is_none() && is_set(&options, &OF_CONTAINERS);
        let keys = profile.value("aws_access_key_id").zip(profile.value("aws_secret_access_key"));
        for (setting, what) in NEED_TOOLS {
            // A program is only run where there are no keys.
            let is_used = setting != "credential_process" || keys.is_none();
            if profile.value(setting).is_some() && is_used && !is_optional {
                let how = format!(
                    "{what}, which needs the AWS tools; `eval \"$(aws configure export-credentials --profile {} --format \
                     env)\"` exports its credentials",
                    profile.name
                );
                return Err(profile.error(how));
            }
        }
        if let Some((id, secret)) = keys {
            options = options.set("AWS_ACCESS_KEY_ID", id).set("AWS_SECRET_ACCESS_KEY", secret);
            if let Some(token) = profile.value("aws_session_token") {
                options = options.set("AWS_SESSION_TOKEN", token);
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "\
# comment
[default]
aws_access_key_id=A
aws_secret_access_key = S/=+
[work]
AWS_ACCESS_KEY_ID = B
aws_secret_access_key = T
aws_session_token = token
[half]
aws_access_key_id = C
";

    const CONFIG: &str = "\
[default]
region = eu-west-1
s3 =
    endpoint_url = http://ignored
    aws_access_key_id = ignored
; comment
[profile work]
region = eu-west-2
endpoint_url = http://store
aws_access_key_id = shadowed
[work]
region = ignored
[profile role]
role_arn = arn:aws:iam::1:role/r
source_profile = default
[profile sso]
sso_session = work
[profile process]
credential_process = /bin/program
[profile \"region only\"]
region = eu-west-3
";

    /// The values that are added to those of the environment.
    fn added(environment: &[(&str, &str)]) -> Result<Vec<(String, String)>, String> {
        let given = environment.iter();
        let given =
            given.fold(Options::default(), |options, (name, value)| options.set(*name, *value));
        let found = given.aws_files(CREDENTIALS, CONFIG).map_err(|error| error.to_string())?;
        Ok(found.values[environment.len()..].to_vec())
    }

    fn pairs(values: &[(&str, &str)]) -> Vec<(String, String)> {
        values.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn a_profile_is_named_or_the_default_one() {
        let default = pairs(&[
            ("AWS_REGION", "eu-west-1"),
            ("AWS_ACCESS_KEY_ID", "A"),
            ("AWS_SECRET_ACCESS_KEY", "S/=+"),
        ]);
        assert_eq!(added(&[]), Ok(default.clone()));
        assert_eq!(added(&[("AWS_PROFILE", "")]), Ok(default));
        let work = pairs(&[
            ("AWS_REGION", "eu-west-2"),
            ("AWS_ENDPOINT_URL", "http://store"),
            ("AWS_ACCESS_KEY_ID", "B"),
            ("AWS_SECRET_ACCESS_KEY", "T"),
            ("AWS_SESSION_TOKEN", "token"),
        ]);
        assert_eq!(added(&[("AWS_PROFILE", "work")]), Ok(work));
        let region = pairs(&[("AWS_REGION", "eu-west-3")]);
        assert_eq!(added(&[("AWS_PROFILE", "region only")]), Ok(region));
        assert_eq!(added(&[("AWS_PROFILE", "half")]), Ok(Vec::new()));
        let none = Options::default().aws_files("", "").unwrap();
        assert!(none.values.is_empty());
    }

    #[test]
    fn the_environment_precedes_the_files() {
        let own = [("AWS_ACCESS_KEY_ID", "X"), ("AWS_SECRET_ACCESS_KEY", "Y")];
        assert_eq!(added(&own), Ok(pairs(&[("AWS_REGION", "eu-west-1")])));
        for name in ["AWS_SKIP_SIGNATURE", "AWS_WEB_IDENTITY_TOKEN_FILE"] {
            let found =
                added(&[("AWS_DEFAULT_REGION", "x"), (name, "true"), ("AWS_PROFILE", "role")]);
            assert_eq!(found, Ok(Vec::new()), "{name}");
        }
        let given = [("AWS_ENDPOINT_URL", "http://own"), ("AWS_PROFILE", "work")];
        let found = added(&given).unwrap();
        assert!(!found.iter().any(|(name, _)| name == "AWS_ENDPOINT_URL"), "{found:?}");
        assert!(found.iter().any(|(name, value)| name == "AWS_ACCESS_KEY_ID" && value == "B"));
    }

    #[test]
    fn services_have_endpoints_of_their_own() {
        let config = "\
[profile both]
endpoint_url = http://profile
services = stores
[services stores]
ec2 =
  endpoint_url = http://machines
s3 =
  addressing_style = path
  # comment
  endpoint_url = http://objects
[profile other]
endpoint_url = http://profile
services = others
[services \"others\"]
ec2 =
  endpoint_url = http://machines
endpoint_url = http://no-service
[profile none]
services = missing
[profile ignoring]
endpoint_url = http://profile
ignore_configured_endpoint_urls = true
";
        let endpoint = |values: &[(&str, &str)]| {
            let start = Options::default();
            let given = values.iter().fold(start, |given, (name, value)| given.set(*name, *value));
            let found = given.aws_files("", config).map_err(|error| error.to_string())?;
            let of = |name| found.value(name).map(str::to_owned);
            Ok::<_, String>(of("AWS_ENDPOINT_URL_S3").or(of("AWS_ENDPOINT_URL")))
        };
        let is = |text: &str| Ok(Some(text.to_owned()));
        assert_eq!(endpoint(&[("AWS_PROFILE", "both")]), is("http://objects"));
        assert_eq!(endpoint(&[("AWS_PROFILE", "other")]), is("http://profile"));
        let message = endpoint(&[("AWS_PROFILE", "none")]).unwrap_err();
        assert_eq!(
            message,
            "the AWS profile none names services, missing, that are not in ~/.aws/config"
        );
        // The environment precedes all of them, unless they are ignored.
        for name in ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"] {
            for profile in ["both", "none"] {
                let own = (name, "http://own");
                assert_eq!(endpoint(&[own, ("AWS_PROFILE", profile)]), is("http://own"));
                let ignored = ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "TRUE");
                assert_eq!(endpoint(&[own, ("AWS_PROFILE", profile), ignored]), Ok(None));
            }
            let given = [(name, "http://own"), ("AWS_PROFILE", "ignoring")];
            assert_eq!(endpoint(&given), Ok(None));
            let not = ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "false");
            assert_eq!(endpoint(&[given[0], given[1], not]), is("http://own"));
        }
    }

    #[test]
    fn profiles_that_need_the_tools_are_errors_that_say_what_to_do() {
        for (name, what) in [
            ("role", "assumes a role"),
            ("sso", "uses single sign-on"),
            ("process", "runs a program for its credentials"),
        ] {
            let message = added(&[("AWS_PROFILE", name)]).unwrap_err();
            let expected = format!(
                "the AWS profile {name} {what}, which needs the AWS tools; `eval \"$(aws configure export-credentials \
                 --profile {name} --format env)\"` exports its credentials"
            );
            assert_eq!(message, expected);
        }
        let missing = added(&[("AWS_PROFILE", "none")]).unwrap_err();
        assert_eq!(
            missing,
            "the AWS profile none is neither in ~/.aws/credentials nor in ~/.aws/config"
        );
        // A container has credentials, unless the profile was asked for.
        let sso = "[default]\nsso_start_url = https://x\n";
        let container = ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://x");
        let given = Options::default().set(container.0, container.1);
        assert!(given.clone().aws_files("", sso).is_ok());
        assert!(given.set("AWS_PROFILE", "default").aws_files("", sso).is_err());
        assert!(Options::default().aws_files("", sso).is_err());
    }
}
