//! The form of an archive, from the path and the query of its address.

use url::{Url, form_urlencoded};

use super::ArchiveKind;
use crate::modules::{Checksum, ModuleError};

/// The form of an archive and its checksum.
pub(super) struct ArchiveForm {
    /// `None` if the address is not that of an archive.
    pub(super) kind: Option<ArchiveKind>,
    pub(super) checksum: Option<Checksum>,
    /// The parameters for the server.
    pub(super) query: UrlQuery,
}

impl ArchiveForm {
    /// Parses an address, and removes the parameters for the getter from its query.
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

/// Unknown names mean that the address is not an archive, as do `false` and `0`.
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

/// The parameters of a query, unchanged and in order, because the query may contain a signature of itself.
pub(super) struct UrlQuery(Vec<String>);

impl UrlQuery {
    pub(super) fn parse(url: &Url) -> Self {
        let written = url.query().unwrap_or_default().split('&');
        Self(written.map(str::to_owned).collect())
    }

    /// Removes a parameter, and returns its first value.
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

    /// `None` if no parameter remains.
    pub(super) fn render(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.join("&"))
    }
}
