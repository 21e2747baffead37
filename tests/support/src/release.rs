//! A release of a provider version: its packages and the signed checksum list.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::archive::{ArchiveFacts, ArchiveWriter};
use crate::document::ResponseBody;
use crate::hash::sha256_hex;
use crate::key::TestSigner;
use crate::payload::Payload;
use crate::provider::ProviderSpec;

/// The manifest that every checksum list contains. No registry serves it.
pub const MANIFEST: &str = "{\"version\":1,\"metadata\":{\"protocol_versions\":[\"5.0\"]}}\n";

/// The maximum size of executables whose packages are kept in memory, in bytes. Other packages are kept on disk.
const IN_MEMORY: u64 = 4 << 20;

/// The facts about a published package. Its hashes are written as in a lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageFacts {
    /// The file name in the checksum list.
    pub filename: String,
    /// The `zh:` hash.
    pub zh: String,
    /// The `h1:` hash. Empty if the test provided the archive.
    pub h1: String,
    /// The size of the archive in bytes.
    pub size: u64,
}

impl PackageFacts {
    /// Returns the hexadecimal digits of the `zh:` hash.
    pub fn shasum(&self) -> &str {
        self.zh
            .strip_prefix("zh:")
            .expect("a zh hash starts with `zh:`")
    }
}

/// A release of one version.
pub(crate) struct Release {
    pub(crate) packages: BTreeMap<String, (PackageFacts, ResponseBody)>,
    pub(crate) sums: Vec<u8>,
    pub(crate) signature: Vec<u8>,
}

impl Release {
    /// Builds the packages of `version`. Large packages are stored in `directory`.
    pub(crate) fn build(spec: &ProviderSpec, version: &str, directory: &Path) -> io::Result<Self> {
        let mut packages = BTreeMap::new();
        for platform in spec.platforms_of(version) {
            packages.insert(
                platform.clone(),
                package(spec, version, platform, directory)?,
            );
        }
        let mut lines: BTreeMap<_, _> = packages
            .values()
            .map(|(facts, _)| (facts.filename.clone(), facts.shasum().to_owned()))
            .collect();
        let manifest = format!(
            "terraform-provider-{}_{version}_manifest.json",
            spec.type_name
        );
        lines.insert(manifest, sha256_hex(MANIFEST.as_bytes()));
        let lines: Vec<_> = lines
            .iter()
            .map(|(name, shasum)| format!("{shasum}  {name}\n"))
            .collect();
        let text = lines.concat();
        let sums = match &spec.change_sums {
            Some(change) => change(text),
            None => text.into_bytes(),
        };
        let signature = match spec.signing_times.get(version) {
            Some(time) => TestSigner::fixture_signature(&sums, *time),
            None => spec.key.sign(&sums),
        };
        Ok(Self {
            packages,
            sums,
            signature,
        })
    }
}

fn package(
    spec: &ProviderSpec,
    version: &str,
    platform: &str,
    directory: &Path,
) -> io::Result<(PackageFacts, ResponseBody)> {
    let filename = format!(
        "terraform-provider-{}_{version}_{platform}.zip",
        spec.type_name
    );
    let given = spec
        .archives
        .get(&(version.to_owned(), platform.to_owned()));
    let (archive, body) = if let Some(bytes) = given {
        let size = bytes.len() as u64;
        let archive = ArchiveFacts {
            sha256: sha256_hex(bytes),
            h1: String::new(),
            size,
        };
        (archive, ResponseBody::bytes(bytes.clone()))
    } else if spec.directory.is_none() && spec.payload <= IN_MEMORY {
        let (archive, bytes) = write_package(spec, version, platform, Vec::new())?;
        (archive, ResponseBody::bytes(bytes))
    } else {
        let name = format!("{}-{filename}", spec.namespace);
        let path = directory.join(name);
        let out = BufWriter::new(File::create(&path)?);
        let (archive, _) = write_package(spec, version, platform, out)?;
        let size = archive.size;
        (archive, ResponseBody::File { path, size })
    };
    let ArchiveFacts { sha256, h1, size } = archive;
    Ok((
        PackageFacts {
            filename,
            zh: format!("zh:{sha256}"),
            h1,
            size,
        },
        body,
    ))
}

/// Writes the license, the readme and the executable, or the files of the given directory.
fn write_package<W: Write>(
    spec: &ProviderSpec,
    version: &str,
    platform: &str,
    out: W,
) -> io::Result<(ArchiveFacts, W)> {
    let mut writer = ArchiveWriter::new(out);
    if let Some(directory) = &spec.directory {
        let mut paths = fs::read_dir(directory)?.collect::<Result<Vec<_>, _>>()?;
        paths.sort_by_key(fs::DirEntry::file_name);
        for entry in paths {
            let name = entry
                .file_name()
                .into_string()
                .expect("package files have UTF-8 names");
            writer.file(&name, 0o755, File::open(entry.path())?)?;
        }
        return writer.finish();
    }
    let name = spec.name();
    let suffix = if platform.starts_with("windows_") {
        ".exe"
    } else {
        ""
    };
    let executable = format!("terraform-provider-{}_v{version}{suffix}", spec.type_name);
    let seed = format!("{name} {version} {platform} {}", spec.seed);
    writer.file("LICENSE", 0o644, "Free to use in tests.\n".as_bytes())?;
    writer.file("README.md", 0o644, format!("# {name}\n").as_bytes())?;
    writer.file(&executable, 0o755, Payload::new(&seed, spec.payload))?;
    writer.finish()
}
