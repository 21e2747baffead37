//! The certificate authorities of the system, found as Go finds them, since that is whom Terraform and OpenTofu trust.
//!
//! On Unix but for Apple's systems: the certificates of the first file that can be read, and those of all files in some
//! directories. `SSL_CERT_FILE` names another file, `SSL_CERT_DIR` other directories (`a:b`), each in place of its own kind
//! only: with `SSL_CERT_FILE` alone the usual directories count still. An empty variable is none. What cannot be read is
//! passed over. Elsewhere the system's own verifier is asked, and the variables have no meaning.

use std::path::PathBuf;

/// What the environment says of the system's authorities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemRoots {
    /// `SSL_CERT_FILE`.
    pub file: Option<PathBuf>,
    /// `SSL_CERT_DIR`.
    pub directories: Option<Vec<PathBuf>>,
}

#[cfg(all(unix, not(target_vendor = "apple")))]
impl SystemRoots {
    /// Whether the environment says anything. Where it does, nobody else's list stands in for what cannot be read.
    pub(super) fn is_named(&self) -> bool {
        self.file.is_some() || self.directories.is_some()
    }
}

#[cfg(all(unix, not(target_vendor = "apple")))]
pub(super) use unix::certificates;

#[cfg(all(unix, not(target_vendor = "apple")))]
mod unix {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use rustls::RootCertStore;
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;

    use super::SystemRoots;

    /// Where distributions keep the certificates of all authorities in one file.
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

    /// And where in a file each.
    const DIRECTORIES: [&str; 3] = [
        "/etc/ssl/certs",
        "/etc/pki/tls/certs",
        "/usr/local/share/certs",
    ];

    /// A file of certificates is no larger; others in the same directory may be anything.
    const MAX_BYTES: u64 = 4 << 20;

    /// The certificates, DER, each once.
    pub(in crate::registry) fn certificates(named: &SystemRoots) -> BTreeSet<Vec<u8>> {
        let usual = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let files = match &named.file {
            Some(file) => vec![file.clone()],
            None => usual(&FILES),
        };
        let directories = match &named.directories {
            Some(directories) => directories.clone(),
            None => usual(&DIRECTORIES),
        };
        let mut found = files.iter().find_map(|file| read(file)).unwrap_or_default();
        for directory in directories {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            for entry in entries {
                found.extend(read(&entry.path()).unwrap_or_default());
            }
        }
        found.retain(|certificate| is_usable(certificate));
        found
    }

    /// The certificates in a file, if it can be read.
    fn read(path: &Path) -> Option<BTreeSet<Vec<u8>>> {
        let metadata = fs::metadata(path).ok()?;
        if !metadata.is_file() || metadata.len() > MAX_BYTES {
            return None;
        }
        let text = fs::read(path).ok()?;
        let certificates = CertificateDer::pem_slice_iter(&text).filter_map(Result::ok);
        Some(certificates.map(|der| der.to_vec()).collect())
    }

    /// One certificate that nobody can use must not spoil all others.
    fn is_usable(der: &[u8]) -> bool {
        let certificate = CertificateDer::from(der.to_vec());
        RootCertStore::empty().add(certificate).is_ok()
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use tflock_test_support::TestAuthority;

        /// How many certificates there are with a file, with a directory, with both and with neither.
        #[test]
        fn each_variable_replaces_its_own_kind() {
            let authorities = [TestAuthority::create(), TestAuthority::create()];
            let directory = tempfile::tempdir().unwrap();
            let file = authorities[0].certificate_file().to_path_buf();
            fs::copy(
                authorities[1].certificate_file(),
                directory.path().join("a.0"),
            )
            .unwrap();
            fs::write(directory.path().join("notes"), "no certificate").unwrap();
            fs::write(directory.path().join("bad.pem"), BAD).unwrap();
            let missing = PathBuf::from("/missing");
            let count = |file: Option<&PathBuf>, directories: &[PathBuf]| {
                let named = SystemRoots {
                    file: file.cloned(),
                    directories: Some(directories.to_vec()),
                };
                certificates(&named).len()
            };
            let directory = directory.path().to_path_buf();
            assert_eq!(count(Some(&file), &[]), 1);
            assert_eq!(count(Some(&missing), std::slice::from_ref(&directory)), 1);
            assert_eq!(count(Some(&file), &[missing.clone(), directory.clone()]), 2);
            assert_eq!(count(Some(&missing), std::slice::from_ref(&missing)), 0);
            let system = certificates(&SystemRoots::default());
            let usual = |path: &&&str| Path::new(path).is_dir();
            if DIRECTORIES.iter().any(|path| usual(&path)) {
                let beside = certificates(&SystemRoots {
                    file: Some(file),
                    directories: None,
                });
                assert!(
                    beside.len() > system.len() / 2,
                    "the usual directories count beside a named file"
                );
            }
        }

        /// PEM around what is no certificate.
        const BAD: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    }
}
