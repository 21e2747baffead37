//! What an audit finds in a lock file, each kind with a stable code.

use crate::provider::{Platform, ProviderAddr};
use crate::span::Place;

/// A kind of finding. Codes are never given to another kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// There is no lock file, and providers are required.
    NoLockFile,
    /// Git ignores the lock file, so nobody else gets it.
    LockFileIgnored,
    /// A required provider has no entry.
    ProviderNotLocked,
    /// The constraints do not allow the locked version.
    VersionOutsideConstraints,
    /// Other constraints are recorded than the configuration has.
    ConstraintsDiffer,
    /// An entry that the configuration does not require.
    EntryNotRequired,
    /// An asked platform without its `h1`.
    PlatformWithoutH1,
    /// Hashes that the registry lists are not recorded.
    HashSetIncomplete,
    /// Not one recorded hash is genuine.
    ForeignHashes,
    /// Recorded hashes that no list and no package has, beside genuine ones.
    StrayHashes,
    /// The registry no longer has the locked version.
    VersionGone,
    /// The locked version has no package for an asked platform.
    PlatformNotPublished,
    /// The package is signed by nobody who may.
    SignerRefused,
    /// The file is not in the form in which the tools write it.
    NotCanonical,
}

impl Rule {
    /// All kinds, in the order of their codes.
    pub const ALL: [Self; 14] = [
        Self::NoLockFile,
        Self::LockFileIgnored,
        Self::ProviderNotLocked,
        Self::VersionOutsideConstraints,
        Self::ConstraintsDiffer,
        Self::EntryNotRequired,
        Self::PlatformWithoutH1,
        Self::HashSetIncomplete,
        Self::ForeignHashes,
        Self::StrayHashes,
        Self::VersionGone,
        Self::PlatformNotPublished,
        Self::SignerRefused,
        Self::NotCanonical,
    ];

    /// The code: for programs, lists of exceptions, and searches.
    pub fn code(self) -> &'static str {
        self.words().0
    }

    /// The name: for people.
    pub fn name(self) -> &'static str {
        self.words().1
    }

    /// What is wrong wherever this is found, in a sentence.
    pub fn summary(self) -> &'static str {
        self.words().2
    }

    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::NoLockFile => (
                "TFL001",
                "no-lock-file",
                "The configuration requires providers, and nothing says which versions.",
            ),
            Self::LockFileIgnored => (
                "TFL002",
                "lock-file-ignored",
                "Git ignores the lock file, so everybody else gets other versions.",
            ),
            Self::ProviderNotLocked => (
                "TFL003",
                "provider-not-locked",
                "A required provider has no entry: each `init` may take another version.",
            ),
            Self::VersionOutsideConstraints => (
                "TFL004",
                "version-outside-constraints",
                "The constraints do not allow the locked version: `init` fails.",
            ),
            Self::ConstraintsDiffer => (
                "TFL005",
                "constraints-differ",
                "The lock file records other constraints than the configuration has: `init` rewrites it.",
            ),
            Self::EntryNotRequired => (
                "TFL006",
                "entry-not-required",
                "The configuration does not require an entry; only the state may still need it.",
            ),
            Self::PlatformWithoutH1 => (
                "TFL007",
                "platform-without-h1",
                "A platform has no `h1` hash: `init` on it downloads the package in spite of a warm plugin cache, and \
                 changes the lock file.",
            ),
            Self::HashSetIncomplete => (
                "TFL008",
                "hash-set-incomplete",
                "Hashes that the registry lists are not recorded: `init` on other platforms changes or refuses the file.",
            ),
            Self::ForeignHashes => (
                "TFL009",
                "foreign-hashes",
                "No recorded hash belongs to the version: it was tampered with, or published anew.",
            ),
            Self::StrayHashes => (
                "TFL010",
                "stray-hashes",
                "Hashes are recorded that no signed list and no package has: other packages than the published ones would \
                 be accepted.",
            ),
            Self::VersionGone => (
                "TFL011",
                "version-gone",
                "The registry no longer has the locked version: `init` fails.",
            ),
            Self::PlatformNotPublished => (
                "TFL012",
                "platform-not-published",
                "The locked version has no package for an asked platform: `init` fails there.",
            ),
            Self::SignerRefused => (
                "TFL013",
                "signer-refused",
                "The package is signed by nobody who may sign it.",
            ),
            Self::NotCanonical => (
                "TFL014",
                "not-canonical",
                "The file is not in the form in which the tools write it: the next change rewrites all of it.",
            ),
        }
    }
}

/// Something an audit found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind it is.
    pub rule: Rule,
    /// The provider it is about, if it is about one.
    pub address: Option<ProviderAddr>,
    /// Where.
    pub place: Place,
    /// What is wrong, without the directory.
    pub message: String,
    /// What mends it.
    pub fix: Fix,
}

/// What mends a finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fix {
    /// `tflock lock` with these options.
    Lock(Vec<String>),
    /// Something that only a person can decide or do.
    ByHand(String),
}

impl Fix {
    /// `tflock lock` for these platforms, with `options` before them.
    pub(super) fn lock<const N: usize>(options: [String; N], platforms: &[Platform]) -> Self {
        let mut all = Vec::from(options);
        if !platforms.is_empty() {
            let platforms: Vec<String> = platforms.iter().map(ToString::to_string).collect();
            all.extend(["--platform".to_owned(), platforms.join(",")]);
        }
        Self::Lock(all)
    }

    /// What is to be typed or done for these directories.
    pub fn text<'a>(&self, directories: impl IntoIterator<Item = &'a str>) -> String {
        match self {
            Self::Lock(options) => {
                let words = ["tflock".to_owned(), "lock".to_owned()].into_iter();
                let words = words.chain(options.iter().cloned());
                let directories = directories.into_iter().map(quoted);
                words.chain(directories).collect::<Vec<_>>().join(" ")
            }
            Self::ByHand(text) => text.clone(),
        }
    }
}

/// A path as a shell takes it, and not for an option.
fn quoted(word: &str) -> String {
    if word.starts_with('-') {
        return quoted(&format!("./{word}"));
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/:\\@+=,".contains(&byte);
    if word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_and_names_are_told_apart_and_codes_count_up() {
        let names: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
        assert_eq!(names.len(), Rule::ALL.len());
        for (index, rule) in Rule::ALL.into_iter().enumerate() {
            assert_eq!(rule.code(), format!("TFL{:03}", index + 1));
            assert!(rule.summary().ends_with('.'), "{rule:?}");
        }
    }

    #[test]
    fn a_fix_can_be_pasted_into_a_shell() {
        let platforms = ["linux_amd64", "darwin_arm64"].map(|text| Platform::parse(text).unwrap());
        let rows = [
            (
                Fix::lock([], &platforms),
                "a/b",
                "tflock lock --platform linux_amd64,darwin_arm64 a/b",
            ),
            (
                Fix::lock(["--prune".to_owned()], &[]),
                "it's here",
                r"tflock lock --prune 'it'\''s here'",
            ),
            (Fix::ByHand("see to it".to_owned()), "a", "see to it"),
        ];
        for (fix, directory, expected) in rows {
            assert_eq!(fix.text([directory]), expected);
        }
    }
}
