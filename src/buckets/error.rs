//! The reasons why an object store cannot be used.

use std::error::Error;

use crate::registry::{CauseText, RequestFault};

/// A part of the message of `object_store` about a Google credentials file of an unknown type.
const UNKNOWN_CREDENTIALS: &str = "expected `service_account` or `authorized_user`";

/// The error codes that servers return if the bucket or container does not exist.
const MISSING_BUCKET: [&str; 2] = [
    "<Code>NoSuchBucket</Code>",
    "<Code>ContainerNotFound</Code>",
];

/// A failed access to an object store. Causes never contain the values of environment variables.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BucketError {
    /// The configuration in the environment is incomplete or invalid.
    #[error("the environment variables for the object store are incomplete or invalid")]
    Environment(#[source] CauseText),
    /// A file with credentials for Google Cloud Storage is of a kind that `object_store` does not know, such as `external_account`.
    #[error(
        "the type of the credentials file is not supported: it must be `service_account` or `authorized_user`"
    )]
    CredentialType,
    #[error("cannot get credentials for the object store")]
    Credentials(#[source] Box<Self>),
    #[error("there are no credentials for the object store")]
    NoCredentials,
    /// The environment names a profile that the configuration files of AWS do not have.
    #[error("the AWS configuration files have no profile `{0}`")]
    NoProfile(String),
    /// The profile gets its credentials in a way that tflock does not support. The value is the key in the profile that selects this way.
    #[error("the profile gets its credentials with `{0}`, which is not supported")]
    UnsupportedProfile(&'static str),
    /// An address names a profile that the environment does not name.
    #[error("the address names the profile `{0}`, but `AWS_PROFILE` does not")]
    ChosenProfile(String),
    #[error("an object with the name `{0}` cannot be requested")]
    Key(String),
    #[error("the endpoint in the environment is not a URL")]
    Endpoint,
    #[error("the bucket or container does not exist")]
    NoBucket,
    #[error(transparent)]
    Request(#[from] RequestFault),
    /// Any other failure of an object store, such as a response that does not follow the protocol.
    #[error("the object store reported an error")]
    Store(#[source] CauseText),
}

impl BucketError {
    pub(super) fn environment(error: &object_store::Error) -> Self {
        let cause = error.source().unwrap_or(error);
        if cause.to_string().contains(UNKNOWN_CREDENTIALS) {
            return Self::CredentialType;
        }
        Self::Environment(without_values(cause))
    }

    pub(super) fn credentials(error: &object_store::Error) -> Self {
        Self::Credentials(Box::new(Self::of(error)))
    }

    /// Finds the cause in the chain of errors. The messages of the object store itself are not shown: they contain response bodies.
    pub(super) fn of(error: &object_store::Error) -> Self {
        let mut layer: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(current) = layer {
            if let Some(fault) = current.downcast_ref::<RequestFault>() {
                return Self::Request(fault.clone());
            }
            layer = current.source();
        }
        if is_bucket_missing(error) {
            return Self::NoBucket;
        }
        let mut innermost: &dyn Error = error;
        while let Some(source) = innermost.source() {
            innermost = source;
        }
        Self::Store(without_values(innermost))
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Request(fault) => fault.hint(None),
            Self::Environment(_) => Some(
                "set the variables of the cloud, such as `AWS_REGION`, `GOOGLE_SERVICE_ACCOUNT` or `AZURE_STORAGE_ACCOUNT_NAME`"
                    .to_owned(),
            ),
            Self::CredentialType => Some(
                "use the key of a service account, or set `GOOGLE_BEARER_TOKEN` to an access token"
                    .to_owned(),
            ),
            Self::NoBucket => Some(
                "create the bucket or container, or correct its address or the endpoint in the environment"
                    .to_owned(),
            ),
            Self::Credentials(_) | Self::NoCredentials => Some(
                "set `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or `AWS_PROFILE`; for Google, `GOOGLE_APPLICATION_CREDENTIALS`"
                    .to_owned(),
            ),
            Self::NoProfile(_) => Some("correct `AWS_PROFILE`".to_owned()),
            Self::UnsupportedProfile(_) => Some(
                "set the variables that `aws configure export-credentials --format env` prints"
                    .to_owned(),
            ),
            Self::ChosenProfile(profile) => Some(format!(
                "to use it, set `AWS_PROFILE={profile}`: an address cannot choose one of your profiles"
            )),
            Self::Endpoint => Some("correct `AWS_ENDPOINT_URL` or `STORAGE_EMULATOR_HOST`".to_owned()),
            Self::Key(_) | Self::Store(_) => None,
        }
    }
}

/// Whether an object is missing because its bucket or container is missing. Some servers do not distinguish this case; the result
/// is then false.
pub(super) fn is_bucket_missing(error: &object_store::Error) -> bool {
    let object_store::Error::NotFound { source, .. } = error else {
        return false;
    };
    // The message of the source contains the response.
    let response = source.to_string();
    MISSING_BUCKET.iter().any(|code| response.contains(code))
}

/// Returns the beginning of a message, up to the first value or cause: both may contain text from a variable, a key file or a response.
fn without_values(error: &dyn Error) -> CauseText {
    let text = error.to_string();
    let end = text
        .find([':', '"', '\'', '`', '{', '<'])
        .unwrap_or(text.len());
    CauseText::text(text[..end].trim_end())
}
