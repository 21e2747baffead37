//! The formats of archives, and how addresses name them.

/// The format of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::modules) enum ArchiveKind {
    Zip,
    Tar,
    TarGz,
    TarBz2,
    TarXz,
    TarZst,
}

/// The names of formats. The first one of each format is its main name.
const NAMES: [(&str, ArchiveKind); 11] = [
    ("zip", ArchiveKind::Zip),
    ("tar", ArchiveKind::Tar),
    ("tar.gz", ArchiveKind::TarGz),
    ("tgz", ArchiveKind::TarGz),
    ("tar.bz2", ArchiveKind::TarBz2),
    ("tar.tbz2", ArchiveKind::TarBz2),
    ("tbz2", ArchiveKind::TarBz2),
    ("tar.xz", ArchiveKind::TarXz),
    ("txz", ArchiveKind::TarXz),
    ("tar.zst", ArchiveKind::TarZst),
    ("tzst", ArchiveKind::TarZst),
];

/// The names of formats of single compressed files.
const SINGLE_FILES: [&str; 4] = ["gz", "bz2", "xz", "zst"];

/// What the name of a format or the ending of a path says about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedFormat {
    Archive(ArchiveKind),
    /// A compressed file that is not an archive, so it cannot contain a module.
    SingleFile,
    /// Not an archive.
    Other,
}

impl ArchiveKind {
    /// Returns the main name of the format.
    pub(in crate::modules) fn name(self) -> &'static str {
        let mut names = NAMES.into_iter();
        let found = names.find(|(_, kind)| *kind == self);
        found.map_or("", |(name, _)| name)
    }
}

impl NamedFormat {
    /// Interprets the value of `archive=`. Any other value, including `false` and `0`, means that the file is not an archive.
    pub(super) fn of_name(name: &str) -> Self {
        let mut names = NAMES.into_iter();
        match names.find(|(known, _)| *known == name) {
            Some((_, kind)) => Self::Archive(kind),
            None if SINGLE_FILES.contains(&name) => Self::SingleFile,
            None => Self::Other,
        }
    }

    /// Interprets the ending of a path. The longest matching name takes precedence.
    pub(super) fn of_path(path: &str) -> Self {
        let names = NAMES.into_iter().map(|(name, _)| name).chain(SINGLE_FILES);
        let endings = names.filter(|name| {
            let rest = path.strip_suffix(name);
            rest.is_some_and(|rest| rest.ends_with('.'))
        });
        endings
            .max_by_key(|name| name.len())
            .map_or(Self::Other, Self::of_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_ending_counts() {
        use ArchiveKind::{Tar, TarBz2, TarGz, TarXz, TarZst, Zip};
        for (path, expected) in [
            ("/m.zip", NamedFormat::Archive(Zip)),
            ("/m.tar", NamedFormat::Archive(Tar)),
            ("/m.tar.gz", NamedFormat::Archive(TarGz)),
            ("/m.tgz", NamedFormat::Archive(TarGz)),
            ("/m.tar.bz2", NamedFormat::Archive(TarBz2)),
            ("/m.tar.tbz2", NamedFormat::Archive(TarBz2)),
            ("/m.tbz2", NamedFormat::Archive(TarBz2)),
            ("/m.tar.xz", NamedFormat::Archive(TarXz)),
            ("/m.txz", NamedFormat::Archive(TarXz)),
            ("/m.tar.zst", NamedFormat::Archive(TarZst)),
            ("/m.tzst", NamedFormat::Archive(TarZst)),
            ("/m.tf.gz", NamedFormat::SingleFile),
            ("/m.bz2", NamedFormat::SingleFile),
            ("/mtar.xz", NamedFormat::SingleFile),
            ("/m.zst", NamedFormat::SingleFile),
            ("/mzip", NamedFormat::Other),
            ("/m.ZIP", NamedFormat::Other),
            ("/zip", NamedFormat::Other),
        ] {
            assert_eq!(NamedFormat::of_path(path), expected, "{path}");
        }
    }

    #[test]
    fn main_names_are_those_of_addresses() {
        for (name, kind) in NAMES {
            assert_eq!(
                NamedFormat::of_name(kind.name()),
                NamedFormat::of_name(name)
            );
        }
    }
}
