//! What the codes of a report mean, for readers that show rules beside results.

use crate::locking;

/// What a code means.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// The code.
    pub(super) code: &'static str,
    /// A name for people; often the code itself.
    pub(super) name: &'static str,
    /// One sentence.
    pub(super) summary: &'static str,
    /// What to do.
    pub(super) help: &'static str,
}

/// Code, sentence, and what to do.
const RULES: &[(&str, &str, &str)] = &[
    (
        "age-unknown",
        "When a version was signed cannot be known, so `--min-age` could not be followed.",
        "The message says what was done instead.",
    ),
    (
        "cli-configuration",
        "The CLI configuration cannot be read, or says something that is likely a mistake.",
        "Correct the file that the message names.",
    ),
    (
        "configuration",
        "The configuration cannot be read as Terraform or OpenTofu would read it.",
        "Correct the line that the message names.",
    ),
    (
        "expired-signature",
        "The key that signed a checksum list, or its signature, has expired.",
        "The tool accepts it. Tell the provider's authors.",
    ),
    (
        "foreign-hashes",
        "No hash that the lock file records for a version belongs to a package of it.",
        "Find out whether the packages were published anew or the file was tampered with, then use `--mismatch`.",
    ),
    (
        "invalid-constraint",
        "A version constraint cannot be read, or can never be met.",
        "Correct the constraint.",
    ),
    (
        "invalid-versions",
        "A registry lists texts that are no versions.",
        "They were skipped. Tell the registry's owners.",
    ),
    (
        "lock-file-access",
        "A lock file could not be read or written.",
        "See to permissions and links.",
    ),
    (
        "lock-file-conflict",
        "A lock file has conflict markers of an unfinished merge.",
        "Take either side and run `tflock lock`.",
    ),
    (
        super::remark::DRIFT,
        "A lock file is not what `tflock lock` would write.",
        "Run `tflock lock` with the same options and without `--check`, and commit the result.",
    ),
    (
        "lock-file-invalid",
        "A lock file is not in the form that Terraform and OpenTofu read.",
        "Correct it at the place named, or delete it and run `tflock lock`.",
    ),
    (
        "module-locks",
        "A lock file has blocks for modules, which no tool supports yet.",
        "They are lost with the next change.",
    ),
    (
        "module-unavailable",
        "A module that the configuration calls cannot be had.",
        "Correct its source or version, or see to the access to it.",
    ),
    (
        "no-matching-version",
        "No released version of a provider meets all constraints on it.",
        "Loosen the constraints, or release such a version.",
    ),
    (
        "not-pruned",
        "Entries that nothing requires were kept, since not all requirements are known.",
        "Make all modules available and run again.",
    ),
    (
        "not-required",
        "A provider is locked that the configuration does not require.",
        "It stays, since the state may need it; `--prune` removes it.",
    ),
    (
        "offline",
        "A registry would have to be asked, and the network is switched off.",
        "Run once without `--offline`.",
    ),
    (
        "platform-missing",
        "A version has no package for an asked platform.",
        "Choose another version, drop the platform, or use `--missing-platform warn`.",
    ),
    (
        "platforms-not-named",
        "A version moves, and the hashes of platforms that nobody named would be lost.",
        "Name every platform with `--platform`.",
    ),
    (
        "registry",
        "A registry, mirror or server could not be asked, or answered with an error.",
        "See to the access to it, or try again.",
    ),
    (
        "registry-warning",
        "A registry wants users of a provider to know something.",
        "Read its words.",
    ),
    (
        "signer-refused",
        "A package is signed by nobody who may sign it.",
        "See who signed it before `[signers]` is changed.",
    ),
    (
        "stray-hashes",
        "A lock file records hashes that no signed checksum list holds, beside genuine ones.",
        "`tflock lock --mismatch replace` does not touch them; delete the lines, or the entry, and lock again.",
    ),
    (
        "syntax",
        "A file is no valid HCL.",
        "Correct the line that the message names.",
    ),
    (
        "temporary-file",
        "A package could not be kept while it was hashed.",
        "Make room in the directory for temporary files.",
    ),
    (
        "too-young",
        "The newest versions are younger than `--min-age` asks for.",
        "Wait, or name the version with `--upgrade=ADDR@VERSION`.",
    ),
    (
        "twins",
        "OpenTofu's own entries were added beside those that Terraform made.",
        "`--prune` removes the old ones.",
    ),
    (
        "unreadable-file",
        "A file or directory could not be read.",
        "See to permissions and size.",
    ),
    (
        "untrusted-package",
        "A package, its checksum list or its signature is not what it should be.",
        "Nothing of it was recorded. Find out who changes it on its way.",
    ),
    (
        "upgrade-target",
        "The version that `--upgrade` names is not to be had, or not allowed.",
        "Name another version, or change the constraints.",
    ),
    (
        "version-gone",
        "The locked version is no longer available.",
        "`--upgrade=ADDR` moves to one that is.",
    ),
];

/// What a code means: one of an audit, or one of the table. Of any other nothing is known but that something failed.
pub(super) fn rule(code: &str) -> Rule {
    if let Some(found) = locking::Rule::ALL.iter().find(|rule| rule.code() == code) {
        return Rule {
            code: found.code(),
            name: found.name(),
            summary: found.summary(),
            help: "The message says what mends it.",
        };
    }
    let known = RULES.iter().find(|(known, ..)| *known == code);
    let (code, summary, help) = known.copied().unwrap_or((
        "failure",
        "Something could not be done.",
        "Read the message.",
    ));
    Rule {
        code,
        name: code,
        summary,
        help,
    }
}

impl Rule {
    /// Code and name, where they differ.
    pub(super) fn title(self) -> String {
        if self.code == self.name {
            self.code.to_owned()
        } else {
            format!("{} {}", self.code, self.name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_each_has_a_sentence() {
        assert!(RULES.is_sorted_by_key(|(code, ..)| *code));
        for (code, summary, help) in RULES {
            assert!(summary.ends_with('.') && help.ends_with('.'), "{code}");
        }
        assert_eq!(rule("syntax").title(), "syntax");
        assert_eq!(rule("TFL007").title(), "TFL007 platform-without-h1");
        assert_eq!(rule("unheard-of").name, "failure");
    }
}
