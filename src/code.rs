//! The table of the codes of all findings, errors and warnings, with their meanings.
//!
//! Reports identify a diagnostic by its code, SARIF adds the summary and the help, and `docs/reference/findings.md` repeats the
//! table. A code never changes its meaning, and a removed code is never reused.

/// How serious a diagnostic is. More serious ones sort first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something could not be done, or `verify` reported a finding.
    Error,
    /// The user should know about it, but the run continues.
    Warning,
    /// Something that the run did, such as changing a lock file.
    Notice,
}

impl Severity {
    /// Returns the lower-case word that every report uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
        }
    }
}

/// The row of a code in the table.
struct Description {
    id: &'static str,
    name: &'static str,
    severities: &'static [Severity],
    summary: &'static str,
    help: &'static str,
}

macro_rules! codes {
    ($($code:ident: $id:literal, $name:literal, [$($severity:ident)+], $summary:literal, $help:literal;)+) => {
        /// The kind of a diagnostic, sorted by id. The kinds that only `verify` reports begin with `Audit`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $summary] $code,)+
        }

        impl Code {
            pub const ALL: &'static [Self] = &[$(Self::$code),+];

            const fn description(self) -> &'static Description {
                match self {
                    $(Self::$code => &Description {
                        id: $id,
                        name: $name,
                        severities: &[$(Severity::$severity),+],
                        summary: $summary,
                        help: $help,
                    },)+
                }
            }
        }
    };
}

codes! {
    AuditNoLockFile: "TFL001", "no-lock-file", [Error],
        "The configuration requires providers, but there is no lock file.",
        "Run `tflock lock`, and commit the lock file.";
    AuditLockFileIgnored: "TFL002", "lock-file-ignored", [Error],
        "Git ignores the lock file.",
        "Remove the pattern from `.gitignore`, and commit the lock file.";
    AuditProviderNotLocked: "TFL003", "provider-not-locked", [Error],
        "A required provider has no entry in the lock file: each `init` may choose a different version.",
        "Run `tflock lock`.";
    AuditVersionOutsideConstraints: "TFL004", "version-outside-constraints", [Error],
        "The constraints do not allow the locked version: `init` fails.",
        "Run `tflock lock`, or revert the constraint.";
    AuditConstraintsDiffer: "TFL005", "constraints-differ", [Error],
        "The recorded constraints differ from those of the configuration: `init` rewrites them.",
        "Run `tflock lock`.";
    AuditEntryNotRequired: "TFL006", "entry-not-required", [Error],
        "The lock file has an entry that the configuration does not require; only the state may still need it.",
        "Run `tflock lock --prune` once no state needs the provider.";
    AuditPlatformWithoutH1: "TFL007", "platform-without-h1", [Error],
        "A requested platform has no `h1` hash: `init` on that platform downloads the package even if it is in the plugin cache.",
        "Run `tflock lock --platform` with that platform.";
    AuditHashSetIncomplete: "TFL008", "hash-set-incomplete", [Error],
        "The lock file lacks hashes that the registry lists: `init` on other platforms changes or rejects the lock file.",
        "Run `tflock lock`.";
    AuditForeignHashes: "TFL009", "foreign-hashes", [Error],
        "None of the recorded hashes belong to the version: the lock file was tampered with, or the version was published again.",
        "Find out which of the two happened before you run `tflock lock --mismatch replace`.";
    AuditStrayHashes: "TFL010", "stray-hashes", [Error],
        "Some recorded hashes do not belong to any published package: `init` would accept an unpublished one.",
        "Delete the lines that the finding quotes.";
    AuditVersionGone: "TFL011", "version-gone", [Error],
        "The registry no longer lists the locked version: `init` fails.",
        "Move to a different version with `tflock lock --upgrade=ADDR`.";
    AuditPlatformNotPublished: "TFL012", "platform-not-published", [Error],
        "The version has no package for a requested platform: `init` fails there.",
        "Choose a different version, drop the platform, or use `--missing-platform warn`.";
    AuditSignerRefused: "TFL013", "signer-refused", [Error],
        "`[signers]` does not allow the key that signed the package.",
        "Find out who signed the package before you change `[signers]`.";
    AuditNotCanonical: "TFL014", "not-canonical", [Error],
        "The lock file is not formatted as Terraform and OpenTofu write it: the next change rewrites the whole file.",
        "Run `tflock lock`.";
    AuditModuleBlocks: "TFL015", "module-blocks", [Error],
        "The lock file has `module` blocks, which neither Terraform nor OpenTofu supports yet: the next change removes them.",
        "Delete the blocks, unless the program that wrote them needs them.";
    AuditCacheServerConstraints: "TFL016", "cache-server-constraints", [Error],
        "Terragrunt's provider cache server recorded constraints that differ from those of the configuration: `init` keeps them.",
        "Run `tflock lock`.";

    AgeUnknown: "age-unknown", "age-unknown", [Warning],
        "The signing date of a version is unknown, so `--min-age` could not be applied.",
        "Check the message for what tflock did instead.";
    Cache: "cache", "cache", [Error Warning],
        "The disk cache cannot be used.",
        "Fix the problem that the message names; the run continues without the cache.";
    CliConfig: "cli-config", "cli-config", [Warning],
        "The file given with `mirror --cli-config` was not written by tflock, so it was left unchanged.",
        "Add the block that the message quotes to the file.";
    CliConfiguration: "cli-configuration", "cli-configuration", [Error Warning],
        "The CLI configuration is invalid or contains a likely mistake.",
        "Correct the file that the message names.";
    Configuration: "configuration", "configuration", [Error Warning],
        "Terraform or OpenTofu would reject the configuration.",
        "Correct the line that the message names.";
    ExpiredSignature: "expired-signature", "expired-signature", [Warning],
        "A key or a signature has expired or is not yet valid, but the engine accepts it.",
        "Tell the authors of the provider.";
    Failure: "failure", "failure", [Error Warning],
        "Any other failure.",
        "Read the message.";
    ForeignHashes: "foreign-hashes", "foreign-hashes", [Error Warning],
        "None of the recorded hashes belong to the version.",
        "See TFL009.";
    Index: "index", "index", [Error Warning],
        "The hash index cannot be used, or contains a false record.",
        "Fix the problem that the message names. Unless a record is false, the run continues without the index.";
    InvalidConstraint: "invalid-constraint", "invalid-constraint", [Error Warning],
        "A version constraint is invalid or can never be met.",
        "Correct the constraint.";
    InvalidVersions: "invalid-versions", "invalid-versions", [Warning],
        "A registry lists invalid versions, which tflock skipped.",
        "Tell the owners of the registry.";
    LockFileAccess: "lock-file-access", "lock-file-access", [Error],
        "A lock file cannot be read or written.",
        "Check permissions and symlinks.";
    LockFileConflict: "lock-file-conflict", "lock-file-conflict", [Error],
        "A lock file contains the conflict markers of an unfinished merge.",
        "Resolve the conflict in favor of either side, and run `tflock lock`.";
    LockFileDrift: "lock-file-drift", "lock-file-drift", [Error Notice],
        "The lock file changed or, with `--check`, would change.",
        "Run `tflock lock` with the same options, and commit the lock file.";
    LockFileInvalid: "lock-file-invalid", "lock-file-invalid", [Error],
        "A lock file is not in the format that Terraform and OpenTofu read.",
        "Correct it, or delete it and run `tflock lock`.";
    Mirror: "mirror", "mirror", [Error Warning],
        "The mirror cannot be read or written, or contains a damaged package.",
        "Fix the problem that the message names, and run the command again.";
    ModuleLocks: "module-locks", "module-locks", [Warning],
        "A lock file lost its `module` blocks, which neither Terraform nor OpenTofu supports yet.",
        "Restore them if the program that wrote them needs them.";
    ModuleUnavailable: "module-unavailable", "module-unavailable", [Error Warning],
        "A called module cannot be fetched.",
        "Correct the source or version of the module, or get access to it.";
    NoConfiguration: "no-configuration", "no-configuration", [Warning],
        "A directory named on the command line has neither configuration nor a lock file, so it gets no lock file.",
        "Name the directories with the configuration, or add `-r`.";
    NoDownload: "no-download", "no-download", [Error],
        "A package would have to be downloaded, but `--no-download` forbids it.",
        "Add the package to the index, or run once without `--no-download`.";
    NoLockFile: "no-lock-file", "no-lock-file", [Warning],
        "`tflock mirror` found no lock files, so the mirror needs no packages.",
        "Check the paths, or add `--lock`.";
    NoMatchingVersion: "no-matching-version", "no-matching-version", [Error],
        "No released version of a provider meets all constraints.",
        "Loosen the constraints.";
    NotLocked: "not-locked", "not-locked", [Error],
        "A verified package matches none of the hashes in the lock file.",
        "Add the package's hashes with `tflock mirror --lock`, or see TFL009.";
    NotPruned: "not-pruned", "not-pruned", [Warning],
        "Entries were kept because not all requirements are known.",
        "Make all modules available, and run tflock again.";
    NotRequired: "not-required", "not-required", [Warning],
        "The lock file has an entry that the configuration does not require.",
        "See TFL006.";
    Offline: "offline", "offline", [Error],
        "A request would be necessary, but `--offline` forbids it.",
        "Run once without `--offline`.";
    Package: "package", "package", [Error Warning],
        "A package cannot be downloaded or verified for the mirror.",
        "Check the causes that the message lists.";
    PlatformMissing: "platform-missing", "platform-missing", [Error Warning],
        "A version has no package for a requested platform.",
        "See TFL012.";
    PlatformsNotNamed: "platforms-not-named", "platforms-not-named", [Error],
        "A version change would drop the hashes of platforms that were not requested.",
        "Request every platform with `--platform`.";
    Registry: "registry", "registry", [Error Warning],
        "A registry, mirror or server cannot be reached, or responded with an error.",
        "Check your access to the server, or try again.";
    RegistryWarning: "registry-warning", "registry-warning", [Warning],
        "A registry has a message for the users of a provider.",
        "Read the message.";
    SignerRefused: "signer-refused", "signer-refused", [Error],
        "`[signers]` does not allow the key that signed a package.",
        "See TFL013.";
    StrayHashes: "stray-hashes", "stray-hashes", [Warning],
        "Some recorded hashes are not in any signed checksum list, although others are.",
        "See TFL010.";
    Syntax: "syntax", "syntax", [Error Warning],
        "A file is not valid HCL.",
        "Correct the line that the message names.";
    TemporaryFile: "temporary-file", "temporary-file", [Error],
        "A package could not be stored in a temporary file while it was hashed.",
        "Free up space in the directory for temporary files.";
    TerragruntUnit: "terragrunt-unit", "terragrunt-unit", [Error Warning],
        "The configuration of a Terragrunt unit is invalid.",
        "Correct the line that the message names.";
    TooYoung: "too-young", "too-young", [Error Warning],
        "The newest versions are more recent than `--min-age` allows.",
        "Wait, or request the version with `--upgrade=ADDR@VERSION`.";
    Twins: "twins", "twins", [Warning],
        "Entries for OpenTofu's registry were added alongside those that Terraform wrote.",
        "Remove the old entries with `--prune`.";
    UnknownUnit: "unknown-unit", "unknown-unit", [Error Warning],
        "The requirements of a Terragrunt unit depend on unknown values, so its lock file determines them.",
        "Provide the value that the message names, or accept that tflock only completes the entries of the lock file.";
    UnreadableFile: "unreadable-file", "unreadable-file", [Error Warning],
        "A file or directory cannot be read.",
        "Check the permissions and the size of the file.";
    UntrustedPackage: "untrusted-package", "untrusted-package", [Error],
        "A package, its checksum list or its signature failed verification. None of its hashes were recorded.",
        "Find out what alters it on the way from the registry to this machine.";
    UpgradeTarget: "upgrade-target", "upgrade-target", [Error],
        "The version in `--upgrade=ADDR@VERSION` is unavailable or not allowed.",
        "Choose a different version, or change the constraints.";
    VersionGone: "version-gone", "version-gone", [Error],
        "The locked version is no longer available.",
        "See TFL011.";
}

impl Code {
    /// Returns the stable id: `TFL` and a number for findings of `verify`, otherwise a name in kebab case.
    pub const fn id(self) -> &'static str {
        self.description().id
    }

    /// Returns the readable name, which is the same as the id, except for findings of `verify`.
    pub const fn name(self) -> &'static str {
        self.description().name
    }

    pub const fn severities(self) -> &'static [Severity] {
        self.description().severities
    }

    pub const fn summary(self) -> &'static str {
        self.description().summary
    }

    /// Returns a sentence that says what the user can do.
    pub const fn help(self) -> &'static str {
        self.description().help
    }

    /// Returns whether this is a finding of `verify`, which has a numbered id.
    pub fn is_finding(self) -> bool {
        self.id() != self.name()
    }

    /// Returns the id, followed by the name if it differs.
    pub fn title(self) -> String {
        if self.is_finding() {
            format!("{} {}", self.id(), self.name())
        } else {
            self.id().to_owned()
        }
    }
}

impl serde::Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn ids_are_sorted_findings_are_numbered_and_sentences_end() {
        assert!(Code::ALL.is_sorted_by(|a, b| a.id() < b.id()));
        for (number, code) in Code::ALL.iter().enumerate() {
            let is_numbered = code.id() == format!("TFL{:03}", number + 1);
            assert_eq!(code.is_finding(), is_numbered, "{code:?}");
            assert!(
                code.summary().ends_with('.') && code.help().ends_with('.'),
                "{code:?}"
            );
        }
        assert_eq!(Code::Syntax.title(), "syntax");
        assert_eq!(
            Code::AuditPlatformWithoutH1.title(),
            "TFL007 platform-without-h1"
        );
    }

    /// Appends the code of every source file except this one, without tests.
    fn append_sources(directory: &Path, all: &mut String) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                append_sources(&path, all);
            } else if path.extension().is_some_and(|ending| ending == "rs")
                && !path.ends_with("code.rs")
            {
                let text = std::fs::read_to_string(&path).unwrap();
                all.push_str(text.split("#[cfg(test)]").next().unwrap());
            }
        }
    }

    #[test]
    fn every_code_is_used() {
        let mut sources = String::new();
        append_sources(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
            &mut sources,
        );
        for code in Code::ALL {
            let name = format!("Code::{code:?}");
            let mut uses = sources
                .match_indices(&name)
                .map(|(at, _)| &sources[at + name.len()..]);
            assert!(
                uses.any(|rest| !rest.starts_with(char::is_alphanumeric)),
                "{name} is unused"
            );
        }
    }
}
