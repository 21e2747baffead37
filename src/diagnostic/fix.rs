//! The repair that a finding suggests.

use crate::provider::Platform;

/// The repair that a finding suggests.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fix {
    /// Run `tflock lock` with these options.
    Lock(Vec<String>),
    /// Follow instructions for a repair that the user must decide on or carry out.
    ByHand(String),
}

impl Fix {
    /// Creates a repair with `tflock lock`, `options` and, if there are any `platforms`, `--platform`.
    pub fn lock<const N: usize>(options: [String; N], platforms: &[Platform]) -> Self {
        let mut arguments = Vec::from(options);
        if !platforms.is_empty() {
            let names: Vec<String> = platforms.iter().map(ToString::to_string).collect();
            arguments.extend(["--platform".to_owned(), names.join(",")]);
        }
        Self::Lock(arguments)
    }

    /// Returns the shell command that repairs these directories, or the instructions for the user.
    pub fn text<'a>(&self, directories: impl IntoIterator<Item = &'a str>) -> String {
        match self {
            Self::Lock(options) => ["tflock", "lock"]
                .map(str::to_owned)
                .into_iter()
                .chain(options.iter().cloned())
                .chain(directories.into_iter().map(quote_argument))
                .collect::<Vec<_>>()
                .join(" "),
            Self::ByHand(text) => text.clone(),
        }
    }
}

/// Quotes a path for a shell and ensures that it cannot be mistaken for an option.
fn quote_argument(path: &str) -> String {
    if path.starts_with('-') {
        return quote_argument(&format!("./{path}"));
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/:\\@+=,".contains(&byte);
    if path.bytes().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_is_a_valid_shell_command() {
        let platforms = ["linux_amd64", "darwin_arm64"].map(|text| Platform::parse(text).unwrap());
        let lock = Fix::lock([], &platforms);
        let prune = Fix::lock(["--prune".to_owned()], &[]);
        let by_hand = Fix::ByHand("replace the file".to_owned());
        let locked = "tflock lock --platform linux_amd64,darwin_arm64 a/b";
        assert_eq!(lock.text(["a/b"]), locked);
        assert_eq!(
            prune.text(["it's here"]),
            r"tflock lock --prune 'it'\''s here'"
        );
        assert_eq!(by_hand.text(["a"]), "replace the file");
    }
}
