//! The certificate authorities that tflock trusts, and the files from which they were read.
//!
//! Certificates are located in the same way as in Go, so that tflock trusts the same ones as Terraform and OpenTofu. On Unix
//! systems other than Apple's, they come from the first readable file in a list, and from all files in certain directories.
//! `SSL_CERT_FILE` replaces the list of files and `SSL_CERT_DIR` (`a:b`) the directories; neither affects the other. Unreadable
//! files are skipped. Other systems use their own verifier and ignore both variables.

use std::fmt;
use std::path::PathBuf;

use crate::display::shown_path;

/// The environment's settings for system certificates. If either is set, tflock never falls back to Mozilla's certificates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemRoots {
    /// The value of `SSL_CERT_FILE`.
    pub file: Option<PathBuf>,
    /// The paths in `SSL_CERT_DIR`.
    pub directories: Option<Vec<PathBuf>>,
}

/// Where the trusted certificate authorities come from, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootOrigin {
    /// Files and directories of the system.
    Files(Vec<RootFile>),
    /// The list in the binary, because this system has no certificates.
    Mozilla,
    /// The verifier of the operating system.
    SystemVerifier,
    /// The PEM text in the settings.
    Settings,
}

/// A file or directory with certificate authorities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootFile {
    pub path: PathBuf,
    /// The environment variable that names it.
    pub variable: Option<&'static str>,
    /// The number of certificates. `None` if it cannot be read.
    pub count: Option<usize>,
}

impl RootOrigin {
    /// Returns the first file or directory that an environment variable names and that is useless: it cannot be read, or it is a file
    /// without certificates. A directory without certificates is useless only if no source has any.
    pub(super) fn useless(&self) -> Option<&RootFile> {
        let has_any = self.files().iter().any(|file| file.count > Some(0));
        let mut named = self.files().iter().filter(|file| file.variable.is_some());
        named.find(|file| match file.count {
            None => true,
            Some(0) => !has_any || file.variable == Some("SSL_CERT_FILE"),
            Some(_) => false,
        })
    }

    /// Returns the file to which users can add a certificate: the one that `SSL_CERT_FILE` names.
    pub(super) fn own_file(&self) -> Option<&RootFile> {
        let mut files = self.files().iter();
        files.find(|file| file.variable == Some("SSL_CERT_FILE"))
    }

    fn files(&self) -> &[RootFile] {
        match self {
            Self::Files(files) => files,
            _ => &[],
        }
    }
}

impl fmt::Display for RootOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files(files) if files.is_empty() => f.write_str("none: no file was read"),
            Self::Files(files) => {
                let files: Vec<_> = files.iter().map(ToString::to_string).collect();
                f.write_str(&files.join(", "))
            }
            Self::Mozilla => f.write_str("Mozilla's list, because this system has no certificates"),
            Self::SystemVerifier => f.write_str("those of the operating system"),
            Self::Settings => f.write_str("those in the settings"),
        }
    }
}

impl fmt::Display for RootFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            Some(count) => write!(f, "{count} in ")?,
            None => f.write_str("none in ")?,
        }
        write!(f, "`{}`", shown_path(&self.path))?;
        match (self.variable, self.count) {
            (Some(variable), Some(_)) => write!(f, " (`{variable}`)"),
            (Some(variable), None) => write!(f, " (`{variable}`, which cannot be read)"),
            (None, _) => Ok(()),
        }
    }
}

#[cfg(all(unix, not(target_vendor = "apple")))]
pub(super) use files::{mozilla_certificates, system_certificates};

#[cfg(all(unix, not(target_vendor = "apple")))]
mod files {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use reqwest::Certificate;
    use rustls::RootCertStore;
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;

    use super::{RootFile, SystemRoots};

    /// Files in which distributions store the certificates of all trusted authorities.
    const FILES: [&str; 9] = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem",
        "/etc/pki/tls/cacert.pem",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/ssl/cert.pem",
        "/usr/local/etc/ssl/cert.pem",
        "/usr/local/share/certs/ca-root-nss.crt",
        "/etc/openssl/certs/ca-certificates.crt",
    ];

    /// Directories that contain one file per certificate.
    pub(super) const DIRECTORIES: [&str; 3] = [
        "/etc/ssl/certs",
        "/etc/pki/tls/certs",
        "/usr/local/share/certs",
    ];

    /// The maximum size of a file. Larger files are skipped, because the directories may contain files other than certificates.
    const MAX_BYTES: u64 = 4 << 20;

    /// Returns the system's certificates in DER form, without duplicates, and the files and directories that were read.
    pub(in crate::registry) fn system_certificates(
        named: &SystemRoots,
    ) -> (BTreeSet<Vec<u8>>, Vec<RootFile>) {
        let mut found = BTreeSet::new();
        let mut origin = Vec::new();
        let mut add = |path: PathBuf,
                       variable: Option<&'static str>,
                       mut certificates: Option<BTreeSet<Vec<u8>>>| {
            if let Some(certificates) = &mut certificates {
                certificates.retain(|der| found.contains(der) || is_usable(der));
            }
            let count = certificates.as_ref().map(BTreeSet::len);
            found.extend(certificates.unwrap_or_default());
            if variable.is_some() || count.is_some_and(|count| count > 0) {
                origin.push(RootFile {
                    path,
                    variable,
                    count,
                });
            }
        };
        if let Some(file) = &named.file {
            add(file.clone(), Some("SSL_CERT_FILE"), read(file));
        } else {
            let mut files = FILES.iter().map(PathBuf::from);
            if let Some((file, certificates)) =
                files.find_map(|file| Some((file.clone(), read(&file)?)))
            {
                add(file, None, Some(certificates));
            }
        }
        let variable = named.directories.is_some().then_some("SSL_CERT_DIR");
        let directories = named.directories.clone();
        let directories =
            directories.unwrap_or_else(|| DIRECTORIES.iter().map(PathBuf::from).collect());
        for directory in directories {
            let certificates = read_directory(&directory);
            add(directory, variable, certificates);
        }
        (found, origin)
    }

    /// Reads the certificates in all files of a directory. `None` if it cannot be read.
    fn read_directory(directory: &Path) -> Option<BTreeSet<Vec<u8>>> {
        let mut found = BTreeSet::new();
        for entry in fs::read_dir(directory).ok()?.flatten() {
            if !is_link_to_neighbor(&entry) {
                found.extend(read(&entry.path()).unwrap_or_default());
            }
        }
        Some(found)
    }

    /// Whether the entry is a symlink to another entry of the same directory, which is read anyway. Directories of certificates
    /// have such a link for each certificate.
    fn is_link_to_neighbor(entry: &fs::DirEntry) -> bool {
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        let target = || fs::read_link(entry.path());
        is_link
            && target().is_ok_and(|target| {
                target
                    .as_os_str()
                    .as_encoded_bytes()
                    .iter()
                    .all(|byte| *byte != b'/')
            })
    }

    /// Reads the certificates in a file. `None` if it cannot be read.
    fn read(path: &Path) -> Option<BTreeSet<Vec<u8>>> {
        let metadata = fs::metadata(path).ok()?;
        if !metadata.is_file() || metadata.len() > MAX_BYTES {
            return None;
        }
        let text = fs::read(path).ok()?;
        let certificates = CertificateDer::pem_slice_iter(&text).filter_map(Result::ok);
        Some(certificates.map(|der| der.to_vec()).collect())
    }

    /// Whether the TLS library accepts the certificate. A single invalid certificate would make it reject all the others, too.
    fn is_usable(der: &[u8]) -> bool {
        RootCertStore::empty()
            .add(CertificateDer::from(der.to_vec()))
            .is_ok()
    }

    /// Returns Mozilla's certificate authorities, for systems without certificates, such as minimal container images.
    pub(in crate::registry) fn mozilla_certificates() -> Vec<Certificate> {
        let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
        roots
            .filter_map(|root| Certificate::from_der(root).ok())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_with_their_variables() {
        let file = |path: &str, variable, count| RootFile {
            path: path.into(),
            variable,
            count,
        };
        let files = vec![
            file("/a.pem", Some("SSL_CERT_FILE"), None),
            file("/b", Some("SSL_CERT_DIR"), Some(0)),
            file("/etc/c", None, Some(2)),
        ];
        let origin = RootOrigin::Files(files.clone());
        let expected = "none in `/a.pem` (`SSL_CERT_FILE`, which cannot be read), 0 in `/b` (`SSL_CERT_DIR`), 2 in `/etc/c`";
        assert_eq!(origin.to_string(), expected);
        assert_eq!(origin.useless(), Some(&files[0]));
        assert_eq!(origin.own_file(), Some(&files[0]));
        assert_eq!(
            RootOrigin::Files(Vec::new()).to_string(),
            "none: no file was read"
        );
    }

    #[cfg(all(unix, not(target_vendor = "apple")))]
    mod system {
        use std::fs;
        use std::path::Path;

        use reqwest::Client;
        use tflock_test_support::TestAuthority;

        use super::super::files::*;
        use super::*;

        /// An invalid certificate in PEM form.
        const INVALID: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

        #[test]
        fn a_client_can_use_mozillas_authorities() {
            let builder = Client::builder().tls_certs_only(mozilla_certificates());
            let _ = rustls::crypto::ring::default_provider().install_default();
            assert!(builder.build().is_ok());
            assert!(mozilla_certificates().len() > 50);
        }

        #[test]
        fn each_variable_replaces_its_own_kind() {
            let authorities = [TestAuthority::create(), TestAuthority::create()];
            let directory = tempfile::tempdir().unwrap();
            let file = authorities[0].certificate_file().to_path_buf();
            let other = authorities[1].certificate_file();
            fs::copy(other, directory.path().join("a.0")).unwrap();
            fs::write(directory.path().join("notes"), "no certificate").unwrap();
            fs::write(directory.path().join("bad.pem"), INVALID).unwrap();
            let missing = PathBuf::from("/missing");
            let directory = directory.path().to_path_buf();
            for (file, directories, expected) in [
                (&file, vec![], 1),
                (&missing, vec![directory.clone()], 1),
                (&file, vec![missing.clone(), directory.clone()], 2),
                (&missing, vec![missing.clone()], 0),
            ] {
                let named = SystemRoots {
                    file: Some(file.clone()),
                    directories: Some(directories),
                };
                assert_eq!(system_certificates(&named).0.len(), expected, "{named:?}");
            }
            if DIRECTORIES.iter().any(|path| Path::new(path).is_dir()) {
                let beside = SystemRoots {
                    file: Some(file),
                    directories: None,
                };
                let (beside, system) = (
                    system_certificates(&beside),
                    system_certificates(&SystemRoots::default()),
                );
                assert!(
                    beside.0.len() > system.0.len() / 2,
                    "the default directories are used alongside `SSL_CERT_FILE`"
                );
            }
        }
    }
}
