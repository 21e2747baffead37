//! What the end of an address says of the thing it names: the form of an archive, its checksum, the rest of the query.

use url::{Url, form_urlencoded};

use super::{ArchiveKind, unsupported};
use crate::modules::checksum::Checksum;
use crate::modules::error::ModuleError;

/// What address and query say about an archive.
pub(super) struct Form {
    pub(super) kind: Option<ArchiveKind>,
    pub(super) checksum: Option<Checksum>,
    /// What is left of the query.
    pub(super) query: Query,
}

impl Form {
    /// Takes out of the query what is for the getter.
    pub(super) fn of(url: &Url) -> Result<Self, ModuleError> {
        let mut query = Query::of(url);
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

/// Names that nobody knows mean no archive, as do `false` and `0`.
fn kind_of_name(name: &str) -> Result<Option<ArchiveKind>, ModuleError> {
    match name {
        "zip" => Ok(Some(ArchiveKind::Zip)),
        "tar.gz" | "tgz" => Ok(Some(ArchiveKind::TarGz)),
        "tar.xz" | "txz" => Err(unsupported("tar.xz archives")),
        "tar.bz2" | "tbz2" => Err(unsupported("tar.bz2 archives")),
        "gz" | "xz" | "bz2" => Err(unsupported("compressed files that are no archives")),
        _ => Ok(None),
    }
}

/// The parameters of a query, in order and as written: a signature may be among them.
pub(super) struct Query(Vec<String>);

impl Query {
    pub(super) fn of(url: &Url) -> Self {
        let written = url.query().unwrap_or_default().split('&');
        Self(written.map(str::to_owned).collect())
    }

    /// Takes a parameter out; the first value counts.
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

    /// What is left, if anything is.
    pub(super) fn render(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.join("&"))
    }
}
