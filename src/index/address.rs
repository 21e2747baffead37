//! Addresses of hash indexes, as `--index` names them.

use std::fmt;
use std::path::PathBuf;

use url::Url;

use crate::buckets::Cloud;
use crate::redacted_url::RedactedUrl;
use crate::registry::is_loopback;

/// The address of a hash index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexAddress {
    /// `file://`: a directory on this machine or on a network file system.
    Directory(PathBuf),
    /// `https://`, or `http://` on loopback: a static web server, which tflock only reads.
    Web(Url),
    /// `s3://`, `gs://` or `az://`: a bucket or container, and the path below which the records are.
    Bucket {
        cloud: Cloud,
        bucket: String,
        prefix: String,
    },
}

/// The reason why a text is not the address of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressFault {
    #[error("it is not a URL")]
    Url,
    #[error("the scheme must be s3, gs, az, https or file")]
    Scheme,
    #[error("plain http is allowed only on this machine")]
    PlainHttp,
    #[error("it contains a query, a fragment, a user name or a password")]
    Extra,
    #[error("it does not name a bucket")]
    Bucket,
    #[error("it is not the absolute path of a directory on this machine")]
    Path,
}

impl IndexAddress {
    pub fn parse(text: &str) -> Result<Self, AddressFault> {
        let mut url = Url::parse(text).map_err(|_invalid| AddressFault::Url)?;
        let has_user = !url.username().is_empty() || url.password().is_some();
        if has_user || url.query().is_some() || url.fragment().is_some() {
            return Err(AddressFault::Extra);
        }
        let cloud = Cloud::ALL
            .into_iter()
            .find(|cloud| cloud.scheme() == url.scheme());
        match (cloud, url.scheme()) {
            (Some(cloud), _) => Ok(Self::Bucket {
                cloud,
                bucket: url.host_str().ok_or(AddressFault::Bucket)?.to_owned(),
                prefix: url.path().trim_matches('/').to_owned(),
            }),
            (None, "http") if !is_loopback(&url) => Err(AddressFault::PlainHttp),
            (None, "http" | "https") => {
                if !url.path().ends_with('/') {
                    url.set_path(&format!("{}/", url.path()));
                }
                Ok(Self::Web(url))
            }
            (None, "file") => {
                let path = url.to_file_path();
                path.map(Self::Directory).map_err(|()| AddressFault::Path)
            }
            _ => Err(AddressFault::Scheme),
        }
    }

    /// Returns the key of an object in the bucket, from its path in the index.
    pub(super) fn object(&self, path: &str) -> String {
        let prefix = match self {
            Self::Bucket { prefix, .. } => prefix.as_str(),
            Self::Directory(_) | Self::Web(_) => "",
        };
        format!("{prefix}/{path}")
    }
}

/// Displays the address as a URL.
impl fmt::Display for IndexAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => write!(f, "file://{}", path.display()),
            Self::Web(url) => RedactedUrl::from(url).fmt(f),
            Self::Bucket {
                cloud,
                bucket,
                prefix,
            } => {
                let slash = if prefix.is_empty() { "" } else { "/" };
                write!(f, "{}://{bucket}{slash}{prefix}", cloud.scheme())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_every_kind() {
        for (text, expected) in [
            ("s3://bucket", "s3://bucket"),
            ("s3://bucket/a/b/", "s3://bucket/a/b"),
            ("gs://bucket/a", "gs://bucket/a"),
            ("az://container/a", "az://container/a"),
            ("https://index.example.com", "https://index.example.com/"),
            (
                "https://index.example.com/a",
                "https://index.example.com/a/",
            ),
            ("http://127.0.0.1:8000/a", "http://127.0.0.1:8000/a/"),
            ("http://localhost/", "http://localhost/"),
            ("file:///srv/index", "file:///srv/index"),
            ("file:///srv/my%20index", "file:///srv/my index"),
        ] {
            let address = IndexAddress::parse(text).unwrap();
            assert_eq!(address.to_string(), expected, "{text}");
        }
    }

    #[test]
    fn other_addresses_are_errors() {
        for (text, fault) in [
            ("", AddressFault::Url),
            ("index", AddressFault::Url),
            ("/srv/index", AddressFault::Url),
            ("ftp://host/a", AddressFault::Scheme),
            ("http://index.example.com/", AddressFault::PlainHttp),
            ("http://10.0.0.1/", AddressFault::PlainHttp),
            ("https://user@host/", AddressFault::Extra),
            ("https://user:secret@host/", AddressFault::Extra),
            ("https://host/?sig=secret", AddressFault::Extra),
            ("s3://bucket/#a", AddressFault::Extra),
            ("s3:///a", AddressFault::Bucket),
            ("file://host/srv", AddressFault::Path),
        ] {
            assert_eq!(IndexAddress::parse(text), Err(fault), "{text}");
        }
    }
}
