//! Profiles in the shared configuration files of AWS.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use super::error::BucketError;
use super::settings::StoreSettings;

/// The maximum size of a configuration file, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The profile that applies if the environment names none.
const DEFAULT: &str = "default";

/// The keys of a profile that select a way to get credentials that tflock does not support.
const UNSUPPORTED: [&str; 6] = [
    "credential_process",
    "sso_session",
    "sso_start_url",
    "source_profile",
    "credential_source",
    "role_arn",
];

/// The keys of a profile that tflock uses, with the environment variables that have the same meaning.
const VARIABLES: [(&str, &str); 6] = [
    ("aws_access_key_id", "AWS_ACCESS_KEY_ID"),
    ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"),
    ("aws_session_token", "AWS_SESSION_TOKEN"),
    ("web_identity_token_file", "AWS_WEB_IDENTITY_TOKEN_FILE"),
    ("role_arn", "AWS_ROLE_ARN"),
    ("role_session_name", "AWS_ROLE_SESSION_NAME"),
];

/// The environment variables with credentials, or with the path of an identity token.
const OWN_CREDENTIALS: [&str; 2] = ["AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE"];

/// The environment variables with the address of a service that gives credentials to a container.
const MACHINE_CREDENTIALS: [&str; 2] = [
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

/// The values of one profile, by their keys in lower case.
#[derive(Default)]
pub(super) struct AwsProfile {
    values: BTreeMap<String, String>,
}

impl AwsProfile {
    /// Reads the profile that the environment names, or the default one. `None` if no file has the default profile.
    pub(super) fn read(settings: &StoreSettings) -> Result<Option<Self>, BucketError> {
        let named = settings.variable("AWS_PROFILE");
        let name = named.unwrap_or(DEFAULT);
        let mut profile = Self::default();
        let mut is_known = false;
        for (variable, file, is_credentials) in [
            ("AWS_CONFIG_FILE", "config", false),
            ("AWS_SHARED_CREDENTIALS_FILE", "credentials", true),
        ] {
            let path = settings.variable(variable).map(PathBuf::from);
            let home = settings.environment.home.as_ref();
            let path = path.or_else(|| Some(home?.join(".aws").join(file)));
            let text = path.and_then(read_file).unwrap_or_default();
            is_known |= profile.read_section(&text, name, is_credentials);
        }
        match (is_known, named) {
            (true, _) => Ok(Some(profile)),
            (false, None) => Ok(None),
            (false, Some(name)) => Err(BucketError::NoProfile(name.to_owned())),
        }
    }

    /// Adds the values of a section to the profile. Returns whether the text has the section.
    fn read_section(&mut self, text: &str, name: &str, is_credentials: bool) -> bool {
        let (mut is_in_section, mut is_known) = (false, false);
        for line in text.lines() {
            if let Some(section) = line.trim_end().strip_prefix('[') {
                let section = section.split(']').next().unwrap_or_default().trim();
                let profile = section.strip_prefix("profile").map(str::trim);
                is_in_section = match profile {
                    Some(profile) if !is_credentials && !profile.is_empty() => profile == name,
                    _ => section == name && (is_credentials || name == DEFAULT),
                };
                is_known |= is_in_section;
            } else if is_in_section
                // An indented line belongs to a nested value.
                && !line.starts_with([' ', '\t', '#', ';'])
                && let Some((key, value)) = line.split_once('=')
            {
                let value = value.split(" #").next().unwrap_or_default();
                let value = value.split(" ;").next().unwrap_or_default();
                let key = key.trim().to_ascii_lowercase();
                self.values.insert(key, value.trim().to_owned());
            }
        }
        is_known
    }

    pub(super) fn region(&self) -> Option<&str> {
        self.values.get("region").map(String::as_str)
    }

    /// Returns the credentials of the profile, as environment variables. The list is empty if the profile has no credentials.
    pub(super) fn variables(&self) -> Result<Vec<(&'static str, &str)>, BucketError> {
        let has = |key: &str| self.values.contains_key(key);
        let has_keys = has("aws_access_key_id") && has("aws_secret_access_key");
        let has_role = has("role_arn") && has("web_identity_token_file");
        if !has_keys && !has_role {
            let unsupported = UNSUPPORTED.into_iter().find(|key| has(key));
            return unsupported.map_or(Ok(Vec::new()), |key| {
                Err(BucketError::UnsupportedProfile(key))
            });
        }
        let known = VARIABLES.into_iter();
        let known = known.filter_map(|(key, variable)| Some((variable, self.values.get(key)?)));
        Ok(known
            .map(|(variable, value)| (variable, value.as_str()))
            .collect())
    }
}

impl StoreSettings {
    /// Returns the `AWS_*` variables, completed with those of the profile. Credentials in the environment take precedence over the
    /// profile, unless an address names the profile (`demands_profile`).
    pub(super) fn amazon_variables(
        &self,
        demands_profile: bool,
    ) -> Result<Vec<(String, String)>, BucketError> {
        let mut variables: Vec<_> = self.named("AWS_").cloned().collect();
        let is_set = |name: &&str| self.variable(name).is_some();
        let is_unsigned = self.variable("AWS_SKIP_SIGNATURE") == Some("true");
        let has_own = OWN_CREDENTIALS.iter().any(is_set);
        if is_unsigned || has_own && !demands_profile {
            return Ok(variables);
        }
        let profile = AwsProfile::read(self)?.unwrap_or_default();
        let credentials = profile.variables()?;
        if !credentials.is_empty() {
            variables.retain(|(name, _)| VARIABLES.iter().all(|(_, known)| known != name));
            let owned = credentials.iter();
            variables.extend(owned.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        } else if !MACHINE_CREDENTIALS.iter().any(is_set)
            && self.variable("AWS_EC2_METADATA_DISABLED") == Some("true")
        {
            return Err(BucketError::NoCredentials);
        }
        if let Some(region) = profile.region()
            && !["AWS_REGION", "AWS_DEFAULT_REGION"].iter().any(is_set)
        {
            variables.push(("AWS_REGION".to_owned(), region.to_owned()));
        }
        Ok(variables)
    }
}

/// Reads a configuration file. A missing or unreadable file has no profiles.
fn read_file(path: PathBuf) -> Option<String> {
    let mut text = String::new();
    let file = File::open(path).ok()?;
    file.take(MAX_FILE_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buckets::settings::tests::settings;

    const CONFIG: &str = "
        [default]
        region = eu-west-1
        [profile keys]
        region=eu-north-1 # comment
        s3 =
          region = nested
        [profile sso]
        sso_session = work
        [profile web]
        role_arn = arn
        web_identity_token_file = /token
        [keys]
        region = not-a-profile
    ";

    const CREDENTIALS: &str = "
        # comment
        [keys]
        AWS_ACCESS_KEY_ID = id
        aws_secret_access_key = a=b
        [other]
        aws_access_key_id = other
    ";

    #[test]
    fn profiles_are_read_from_both_files() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join(".aws");
        std::fs::create_dir(&directory).unwrap();
        let unindented = |text: &str| text.replace("\n        ", "\n");
        std::fs::write(directory.join("config"), unindented(CONFIG)).unwrap();
        std::fs::write(directory.join("credentials"), unindented(CREDENTIALS)).unwrap();
        for (name, region, expected) in [
            ("", "eu-west-1", ""),
            (
                "keys",
                "eu-north-1",
                "AWS_ACCESS_KEY_ID=id AWS_SECRET_ACCESS_KEY=a=b",
            ),
            (
                "web",
                "",
                "AWS_WEB_IDENTITY_TOKEN_FILE=/token AWS_ROLE_ARN=arn",
            ),
            ("other", "", ""),
            (
                "sso",
                "",
                "the profile gets its credentials with `sso_session`, which is not supported",
            ),
            (
                "none",
                "",
                "the AWS configuration files have no profile `none`",
            ),
        ] {
            let mut settings = settings(&[("AWS_PROFILE", name)]);
            settings.environment.home = Some(home.path().to_owned());
            let (found_region, found) = match AwsProfile::read(&settings) {
                Err(error) => (String::new(), error.to_string()),
                Ok(profile) => {
                    let profile = profile.unwrap();
                    let variables = profile.variables().map(|variables| {
                        let pairs = variables
                            .iter()
                            .map(|(name, value)| format!("{name}={value}"));
                        pairs.collect::<Vec<_>>().join(" ")
                    });
                    let variables = variables.unwrap_or_else(|error| error.to_string());
                    (profile.region().unwrap_or_default().to_owned(), variables)
                }
            };
            assert_eq!(
                (found_region.as_str(), found.as_str()),
                (region, expected),
                "{name}"
            );
        }
        assert!(AwsProfile::read(&settings(&[])).unwrap().is_none());
    }
}
