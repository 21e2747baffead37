//! Platforms: `OS_ARCH`, with the names that Go uses.

use std::env::consts;
use std::fmt;

use super::error::PlatformError;

/// A platform for which providers are built. Requests to registries contain its two words unchanged, in their original case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Platform {
    /// `linux`, `darwin`, `windows`, ...
    pub os: String,
    /// `amd64`, `arm64`, `386`, ...
    pub arch: String,
}

impl Platform {
    /// Parses two words that are separated by an underscore. As in Terraform and OpenTofu, a word may be empty, but must not contain
    /// white space.
    pub fn parse(text: &str) -> Result<Self, PlatformError> {
        match text.split_once('_') {
            Some((os, arch)) if !arch.contains('_') && !text.contains(char::is_whitespace) => {
                Ok(Self {
                    os: os.to_owned(),
                    arch: arch.to_owned(),
                })
            }
            _ => Err(PlatformError(text.to_owned())),
        }
    }

    /// Returns the platform for which tflock was built.
    pub fn current() -> Self {
        Self {
            os: go_os(consts::OS).to_owned(),
            arch: go_arch(consts::ARCH).to_owned(),
        }
    }
}

/// Translates Rust's name for an operating system to Go's.
fn go_os(os: &str) -> &str {
    match os {
        "macos" => "darwin",
        other => other,
    }
}

/// Translates Rust's name for an architecture to Go's.
fn go_arch(arch: &str) -> &str {
    match arch {
        "x86" => "386",
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "loongarch64" => "loong64",
        "powerpc64" if cfg!(target_endian = "little") => "ppc64le",
        "powerpc64" => "ppc64",
        other => other,
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.os, self.arch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Explain;

    #[test]
    fn platforms_are_two_words() {
        for (text, os, arch) in [
            ("linux_amd64", "linux", "amd64"),
            ("Linux_AMD64", "Linux", "AMD64"), // requests contain it unchanged
            ("linux_", "linux", ""),
            ("_", "", ""),
            ("é_x", "é", "x"),
        ] {
            let platform = Platform::parse(text).unwrap();
            assert_eq!((platform.os.as_str(), platform.arch.as_str()), (os, arch));
            assert_eq!(platform.to_string(), text);
        }
        let invalid =
            "|linux|a_b_c|linux_amd 64| linux_amd64|linux_amd64\t|linux_amd64,darwin_arm64";
        for text in invalid.split('|') {
            assert_eq!(Platform::parse(text), Err(PlatformError(text.into())));
        }
    }

    #[test]
    fn a_dash_or_slash_is_probably_an_underscore() {
        for (text, hint) in [
            ("linux-amd64", Some("write `linux_amd64`")),
            ("linux/amd64", Some("write `linux_amd64`")),
            ("linux", None),
            ("linux-amd-64", None),
            ("a_b_c", None),
        ] {
            assert_eq!(PlatformError(text.into()).hint().as_deref(), hint);
        }
    }

    #[test]
    fn rust_and_go_name_platforms_differently() {
        assert_eq!(
            [go_os("macos"), go_os("linux"), go_os("windows")],
            ["darwin", "linux", "windows"]
        );
        let rust = "x86 x86_64 aarch64 loongarch64 arm s390x riscv64";
        let go: Vec<&str> = rust.split(' ').map(go_arch).collect();
        assert_eq!(go.join(" "), "386 amd64 arm64 loong64 arm s390x riscv64");
        assert!(go_arch("powerpc64").starts_with("ppc64"));
        let current = Platform::current();
        assert_eq!(Platform::parse(&current.to_string()), Ok(current));
    }
}
