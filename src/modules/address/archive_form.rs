//! Determines the format and checksum of an archive from the path and query of its address.

use url::{Url, form_urlencoded};

use super::archive_kind::{ArchiveKind, NamedFormat};
use super::invalid;
use crate::modules::{ChecksumSource, ModuleError};

/// The format and checksum of an archive.
pub(super) struct ArchiveForm {
    /// The format of the archive. `None` if the address does not refer to an archive.
    pub(super) kind: Option<ArchiveKind>,
    pub(super) checksum: Option<ChecksumSource>,
    /// The query parameters to send to the server.
    pub(super) query: UrlQuery,
}

impl ArchiveForm {
    /// Parses an address, and removes from its query the parameters that are meant for go-getter.
    pub(super) fn parse(url: &Url) -> Result<Self, ModuleError> {
        let mut query = UrlQuery::parse(url);
        let named = query.take("archive").filter(|name| !name.is_empty());
        drop(query.take("filename"));
        let checksum = query.take("checksum").filter(|text| !text.is_empty());
        let format = match named {
            Some(name) => NamedFormat::of_name(&name),
            None => NamedFormat::of_path(url.path().trim_end_matches('/')),
        };
        let checksum = checksum.as_deref().map(ChecksumSource::parse).transpose()?;
        let refused = |problem| Err(invalid(url.as_str(), problem));
        let kind = match format {
            NamedFormat::Archive(kind) => Some(kind),
            NamedFormat::SingleFile => {
                return refused("a compressed file that is not an archive cannot contain a module");
            }
            NamedFormat::Other if checksum.is_some() => {
                return refused("only an archive can have a checksum");
            }
            NamedFormat::Other => None,
        };
        Ok(Self {
            kind,
            checksum,
            query,
        })
    }
}

/// The parameters of a query, unchanged and in order, because the query may contain a signature that covers it.
pub(super) struct UrlQuery(Vec<String>);

impl UrlQuery {
    pub(super) fn parse(url: &Url) -> Self {
        let written = url.query().unwrap_or_default().split('&');
        Self(written.map(str::to_owned).collect())
    }

    /// Removes all occurrences of a parameter, and returns the value of the first.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let mut value = None;
        self.0.retain(|written| {
            let Some((key, found)) = form_urlencoded::parse(written.as_bytes()).next() else {
                return false;
            };
            if key == name {
                value.get_or_insert_with(|| found.into_owned());
            }
            key != name
        });
        value
    }

    /// Appends the remaining parameters to a URL without a query.
    pub(super) fn append_to(&self, url: &mut String) {
        if let Some(query) = self.render() {
            url.push('?');
            url.push_str(&query);
        }
    }

    /// Returns the query string. `None` if no parameters remain.
    pub(super) fn render(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.join("&"))
    }
}
