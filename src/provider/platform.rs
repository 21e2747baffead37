//! Platforms: `OS_ARCH`, in Go's words.

use std::env::consts;
use std::fmt;

use super::error::PlatformError;

/// A platform that providers are built for. Nothing is known about it but its two words: a registry is asked for them as they
/// are, in the case they were written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Platform {
    /// `linux`, `darwin`, `windows`, ...
    pub os: String,
    /// `amd64`, `arm64`, `386`, ...
    pub arch: String,
}

impl Platform {
    /// Reads two words around one underscore. As in the engines a word may be empty, but not hold white space.
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

    /// The platform that this program was built for.
    pub fn current() -> Self {
        Self {
            os: go_os(consts::OS).to_owned(),
            arch: go_arch(consts::ARCH).to_owned(),
        }
    }
}

/// Go's word for an operating system, where it is not Rust's.
fn go_os(os: &str) -> &str {
    match os {
        "macos" => "darwin",
        other => other,
    }
}

/// Go's word for an architecture, where it is not Rust's.
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
            ("Linux_AMD64", "Linux", "AMD64"), // asked for as it is
            ("linux_", "linux", ""),
            ("_", "", ""),
            ("é_x", "é", "x"),
        ] {
            let platform = Platform::parse(text).unwrap();
            assert_eq!((platform.os.as_str(), platform.arch.as_str()), (os, arch));
            assert_eq!(platform.to_string(), text);
        }
        for text in [
            "",
            "linux",
            "a_b_c",
            "linux_amd 64",
            " linux_amd64",
            "linux_amd64\t",
            "linux_amd64,darwin_arm64",
        ] {
            assert_eq!(Platform::parse(text), Err(PlatformError(text.into())));
        }
    }

    #[test]
    fn a_dash_or_slash_is_probably_an_underscore() {
        assert_eq!(
            PlatformError("linux-amd64".into()).hint().as_deref(),
            Some("write `linux_amd64`")
        );
        assert_eq!(
            PlatformError("linux/amd64".into()).hint().as_deref(),
            Some("write `linux_amd64`")
        );
        assert_eq!(PlatformError("linux".into()).hint(), None);
        assert_eq!(PlatformError("linux-amd-64".into()).hint(), None);
        assert_eq!(PlatformError("a_b_c".into()).hint(), None);
    }

    #[test]
    fn rust_and_go_name_platforms_differently() {
        assert_eq!(
            [go_os("macos"), go_os("linux"), go_os("windows")],
            ["darwin", "linux", "windows"]
        );
        let arches = [
            "x86",
            "x86_64",
            "aarch64",
            "loongarch64",
            "arm",
            "s390x",
            "riscv64",
        ]
        .map(go_arch);
        assert_eq!(
            arches,
            [
                "386", "amd64", "arm64", "loong64", "arm", "s390x", "riscv64"
            ]
        );
        assert!(go_arch("powerpc64").starts_with("ppc64"));
        let current = Platform::current();
        assert_eq!(Platform::parse(&current.to_string()), Ok(current));
    }
}
