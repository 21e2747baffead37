//! Checksum lists: the files that `checksum=file:URL` refers to, in the formats that `sha256sum` prints with and without `--tag`.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use url::Url;

use crate::redacted_url::RedactedUrl;
use crate::registry::RegistryClient;

use super::module_store::{ModuleStore, key};
use super::{Checksum, ChecksumSource, ModuleError, ModuleLimit, disk};

/// The maximum size of a checksum list, in bytes. The checksum lists of providers have the same limit.
const MAX_LIST_BYTES: u64 = 2 << 20;

/// Returns the checksum that `source` gives for an archive. `path` is the path in the archive's address.
///
/// Each run requests the list again. An offline run uses the checksum that the last run found.
pub(super) async fn resolve(
    source: Option<&ChecksumSource>,
    path: &str,
    client: &RegistryClient,
    store: &ModuleStore,
) -> Result<Option<Checksum>, ModuleError> {
    let list = match source {
        None => return Ok(None),
        Some(ChecksumSource::Value(checksum)) => return Ok(Some(checksum.clone())),
        Some(ChecksumSource::List(list)) => list,
    };
    let address = RedactedUrl::from(list);
    let record = key(&["checksum", list.as_str(), path]);
    let is_remote = list.scheme() != "file";
    if is_remote && client.settings().http.offline {
        let known = store.text(&record);
        let known = known.and_then(|text| Checksum::parse(&text).ok());
        return known.map(Some).ok_or(ModuleError::Offline(address));
    }
    let text = if is_remote {
        download(list, client, &address).await?
    } else {
        read(list, &address)?
    };
    let found = find_checksum(&String::from_utf8_lossy(&text), path, list.path());
    let found = found.ok_or(ModuleError::NoChecksum(address))?;
    store.write(&record, &found.to_string());
    Ok(Some(found))
}

async fn download(
    list: &Url,
    client: &RegistryClient,
    address: &RedactedUrl,
) -> Result<Vec<u8>, ModuleError> {
    let mut download = client.download_module(list, false, None).await?;
    let mut text = Vec::new();
    while let Some(chunk) = download.chunk().await? {
        text.extend_from_slice(&chunk);
        check_size(text.len(), address)?;
    }
    Ok(text)
}

fn read(list: &Url, address: &RedactedUrl) -> Result<Vec<u8>, ModuleError> {
    let path = local_path(list)?;
    let read = || -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let file = File::open(&path)?;
        file.take(MAX_LIST_BYTES + 1).read_to_end(&mut text)?;
        Ok(text)
    };
    let text = read().map_err(disk(&path))?;
    check_size(text.len(), address)?;
    Ok(text)
}

/// Returns the path of a list on this machine.
pub(super) fn local_path(list: &Url) -> Result<PathBuf, ModuleError> {
    list.to_file_path().map_err(|()| ModuleError::Address {
        address: RedactedUrl::from(list),
        problem: "it is not a path on this machine",
    })
}

fn check_size(bytes: usize, address: &RedactedUrl) -> Result<(), ModuleError> {
    if bytes as u64 <= MAX_LIST_BYTES {
        return Ok(());
    }
    Err(ModuleError::Limit {
        address: address.clone(),
        limit: ModuleLimit::ChecksumListBytes(MAX_LIST_BYTES),
    })
}

/// Returns the first checksum in a list that applies to the archive. Its line contains the name of the archive, or no name.
fn find_checksum(list: &str, archive_path: &str, list_path: &str) -> Option<Checksum> {
    let archive = Path::new(archive_path);
    let name = archive.file_name()?.to_str()?;
    let directory = Path::new(list_path).parent().unwrap_or(Path::new("/"));
    let inner = relative(archive, directory);
    let accepted = [
        name.to_owned(),
        format!("*{name}"),
        format!("?{name}"),
        format!("./{inner}"),
        inner,
        archive_path.to_owned(),
    ];
    list.lines().find_map(|line| {
        let (named, checksum) = parse_line(line)?;
        let is_meant = named.is_none_or(|named| accepted.iter().any(|name| name == named));
        is_meant.then_some(checksum)
    })
}

/// Parses a line into the file that it names, if it names one, and its checksum.
fn parse_line(line: &str) -> Option<(Option<&str>, Checksum)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (named, checksum) = match words[..] {
        [kind, named, _, hex] => {
            let named = named.strip_prefix('(')?.strip_suffix(')')?;
            (Some(named), Checksum::with_type(kind, hex))
        }
        [hex, named] => (Some(named), Checksum::of_length(hex)),
        [hex, ..] => (None, Checksum::of_length(hex)),
        [] => return None,
    };
    let checksum = checksum.ok()?;
    (named != Some("")).then_some((named, checksum))
}

/// Returns the path that leads from `directory` to `file`, both absolute.
fn relative(file: &Path, directory: &Path) -> String {
    let (mut file, mut directory) = (
        file.components().peekable(),
        directory.components().peekable(),
    );
    while file.peek().is_some() && file.peek() == directory.peek() {
        file.next();
        directory.next();
    }
    let up = directory.map(|_| Component::ParentDir);
    let parts = up
        .chain(file)
        .map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_the_formats_of_gnu_and_bsd() {
        let (md5, sha256) = ("a".repeat(32), "b".repeat(64));
        for (line, expected) in [
            ("SHA  m.zip", Some("sha256")),
            ("SHA *m.zip", Some("sha256")),
            ("SHA  ?m.zip", Some("sha256")),
            ("SHA  files/m.zip", Some("sha256")),
            ("SHA  ./files/m.zip", Some("sha256")),
            ("SHA  /dist/files/m.zip", Some("sha256")),
            ("MD5 (m.zip) = MD", Some("md5")),
            ("sha256 (m.zip) = SHA", Some("sha256")),
            // A line with other parts names no file.
            ("SHA", Some("sha256")),
            ("SHA  the module m.zip and more", Some("sha256")),
            ("SHA  other.zip", None),
            ("SHA  a/m.zip", None),
            ("SHA256 (other.zip) = SHA", None),
            ("SHA256 (m.zip) = MD", None),
            ("SHA256 () = SHA", None),
            ("SHA256 m.zip = SHA", None),
            ("# comment", None),
            ("", None),
        ] {
            let line = line.replace("SHA  ", &format!("{sha256}  "));
            let line = line.replace("SHA *", &format!("{sha256} *"));
            let line = if line == "SHA" { sha256.clone() } else { line };
            let line = line.replace("= SHA", &format!("= {sha256}"));
            let line = line.replace("= MD", &format!("= {md5}"));
            let list = format!("\n{line}\r\n");
            let found = find_checksum(&list, "/dist/files/m.zip", "/dist/SUMS");
            let kind = found.map(|checksum| checksum.to_string());
            let kind = kind.as_deref().and_then(|text| text.split(':').next());
            assert_eq!(kind, expected, "{line}");
        }
    }

    #[test]
    fn the_first_line_that_is_meant_counts() {
        let (first, second) = ("1".repeat(64), "2".repeat(64));
        let list = format!("{second}  other.zip\nnonsense\n{first}  m.zip\n{second}  m.zip\n");
        let found = find_checksum(&list, "/m.zip", "/a/b/SUMS").unwrap();
        assert_eq!(found.to_string(), format!("sha256:{first}"));
        let list = format!("{first}  ../../m.zip");
        assert!(find_checksum(&list, "/m.zip", "/a/b/SUMS").is_some());
    }
}
