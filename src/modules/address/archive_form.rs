//! Determines the format and checksum of an archive from the path and query of its address.

use url::{Url, form_urlencoded};

use super::ArchiveKind;
use crate::modules::{Checksum, ModuleError};

/// The format and checksum of an archive.
pub(super) struct ArchiveForm {
    /// The format of the archive. `None` if the address does not refer to an archive.
    pub(super) kind: Option<ArchiveKind>,
    pub(super) checksum: Option<Checksum>,
    /// The query parameters to send to the server.
    pub(super) query: UrlQuery,
}

impl ArchiveForm {
    /// Parses an address, and removes the parameters that are meant for the getter from its query.
    pub(super) fn parse(url: &Url) -> Result<Self, ModuleError> {
        let mut query = UrlQuery::parse(url);
        let named = query.take("archive").filter(|name| !name.is_empty());
        drop(query.take("filename"));
        let checksum = query.take("checksum").filter(|text| !text.is_empty());
        let kind = match named {
            Some(name) => kind_of_name(&name)?,
            None => kind_of_path(url.path())?,
        };
        Ok(Self {
            checksum: checksum.as_deref().map(Checksum::parse).transpose()?,
            kind,
            query,
        })
    }
}

fn kind_of_path(path: &str) -> Result<Option<ArchiveKind>, ModuleError> {
    const ENDINGS: [&str; 10] = [
        "tar.bz2", "tar.gz", "tar.xz", "tbz2", "tgz", "txz", "zip", "bz2", "gz", "xz",
    ];
    let path = path.trim_end_matches('/');
    let ending = ENDINGS.into_iter().find(|ending| {
        path.strip_suffix(ending)
            .is_some_and(|rest| rest.ends_with('.'))
    });
    ending.map_or(Ok(None), kind_of_name)
}

/// Returns the format with the given name. Other names, including `false` and `0`, mean that the address does not refer to an archive.
fn kind_of_name(name: &str) -> Result<Option<ArchiveKind>, ModuleError> {
    match name {
        "zip" => Ok(Some(ArchiveKind::Zip)),
        "tar.gz" | "tgz" => Ok(Some(ArchiveKind::TarGz)),
        "tar.xz" | "txz" => Err(ModuleError::Unsupported("tar.xz archives")),
        "tar.bz2" | "tbz2" => Err(ModuleError::Unsupported("tar.bz2 archives")),
        "gz" | "xz" | "bz2" => Err(ModuleError::Unsupported(
            "compressed files that are not archives",
        )),
        _ => Ok(None),
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

    /// Returns the query string. `None` if no parameters remain.
    pub(super) fn render(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.join("&"))
    }
}
