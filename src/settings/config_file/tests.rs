//! What a config file may say, and how mistakes are told.

use super::read::parse;
use super::*;
use crate::span::Explain as _;
use std::path::Path;

fn read(text: &str) -> Result<ConfigFile, ConfigFileError> {
    parse(Path::new(".tflock.toml"), text.as_bytes())
}

#[test]
fn every_key_is_read_with_its_place() {
    let text = "\
platforms = [\"linux_amd64\", 'darwin_arm64', \"linux_amd64\"]
ignore-paths = [\"^examples/\"]
create = \"never\"
engine = \"tofu\"
missing-platform = \"warn\"
missing-module = \"warn\"
mismatch = \"error\"
prune = true
jobs = 0x10

[signers]
\"hashicorp/*\" = [\"C874 011F 0AB4 0511 0D02  1055 3436 5D94 72D7 468F\"]
\"*/*/*\" = []
";
    let file = read(text).unwrap();
    let platforms = file.platforms.unwrap();
    let names: Vec<String> = platforms.value.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["linux_amd64", "darwin_arm64"]);
    assert_eq!(file.ignore_paths.unwrap().value[0].as_str(), "^examples/");
    assert_eq!(file.create.unwrap().value, Create::Never);
    assert_eq!(file.engine.unwrap().value, Some(Engine::Tofu));
    assert_eq!(file.missing_platform.unwrap().value, Missing::Warn);
    assert_eq!(file.missing_module.unwrap().value, Missing::Warn);
    assert_eq!(file.mismatch.unwrap().value, Mismatch::Error);
    let prune = file.prune.unwrap();
    assert_eq!(
        (prune.value, prune.origin.to_string().as_str()),
        (true, ".tflock.toml:8:1")
    );
    assert_eq!(file.jobs.unwrap().value, 16);
    assert_eq!(file.signers.unwrap().value.pins().count(), 2);
}

/// Mistakes with the beginning of their message, the place and width of what is marked, and a part of the hint.
const MISTAKES: [(&str, &str, &str, &str); 20] = [
    (
        "platform = []",
        "`platform` is no key of `.tflock.toml`",
        "1:1 ^^^^^^^^",
        "did you mean `platforms`?",
    ),
    (
        "\nignore_paths = []",
        "`ignore_paths` is no key of `.tflock.toml`",
        "2:1 ^^^^^^^^^^^^",
        "did you mean `ignore-paths`?",
    ),
    (
        "upgrade = true",
        "`upgrade` is no key of `.tflock.toml`",
        "1:1 ^^^^^^^",
        "`--upgrade` is an option of the command line only",
    ),
    (
        "[tool]",
        "`tool` is no key of `.tflock.toml`",
        "1:2 ^^^^",
        "the keys are `create`, `engine`, `ignore-paths`, `jobs`, `mismatch`, `missing-module`, `missing-platform`, `platforms`, `prune` and `signers`",
    ),
    (
        "prune = \"yes\"",
        "cannot use `prune`: expected true or false, found a string",
        "1:9 ^^^^^",
        "",
    ),
    (
        "platforms = \"linux_amd64\"",
        "cannot use `platforms`: expected a list of strings, as `[\"...\"]`, found a string",
        "1:13 ^^^^^^^^^^^^^",
        "",
    ),
    (
        "platforms = [1]",
        "cannot use `platforms`: expected a list of strings, as `[\"...\"]`, found a number",
        "1:14 ^",
        "",
    ),
    (
        "platforms = []",
        "cannot use `platforms = []`: it names no platform",
        "1:13 ^^",
        "leave the key out to lock for this machine's platform",
    ),
    (
        "platforms = [\"linux-amd64\"]",
        "cannot use `platforms = \"linux-amd64\"`",
        "1:14 ^^^^^^^^^^^^^",
        "did you mean `linux_amd64`?",
    ),
    (
        "create = \"allways\"",
        "cannot use `create = \"allways\"`: the values are `auto`, `always` and `never`",
        "1:10 ^^^^^^^^^",
        "did you mean `always`?",
    ),
    (
        "engine = 'opentofu'",
        "cannot use `engine = 'opentofu'`: the values are `auto`, `terraform` and `tofu`",
        "1:10 ^^^^^^^^^^",
        "",
    ),
    (
        "jobs = 0",
        "cannot use `jobs = 0`: it is not from 1 to 256",
        "1:8 ^",
        "",
    ),
    (
        "jobs = 1.5",
        "cannot use `jobs`: expected a whole number, found a fraction",
        "1:8 ^^^",
        "",
    ),
    (
        "ignore-paths = [\"(\"]",
        "cannot use `ignore-paths = \"(\"`",
        "1:17 ^^^",
        "",
    ),
    (
        "mismatch = \"add\"",
        "cannot use `mismatch = \"add\"` in a config file, which may tighten trust and never loosen it",
        "1:12 ^^^^^",
        "whoever finds a package changed decides for that run: `--mismatch add` on the command line",
    ),
    (
        "mismatch = \"replace\"",
        "cannot use `mismatch = \"replace\"` in a config file, which may tighten trust and never loosen it",
        "1:12 ^^^^^^^^^",
        "whoever finds a package changed decides for that run: `--mismatch replace` on the command line",
    ),
    (
        "[signers]\n\"a/b/c/d\" = []",
        "cannot use this entry of `[signers]`",
        "2:1 ^^^^^^^^^",
        "patterns are",
    ),
    (
        "[signers]\n\"a/b\" = [\"12\"]",
        "cannot use this entry of `[signers]`",
        "2:1 ^^^^^",
        "gpg --show-keys",
    ),
    (
        "prune = true\nprune = false",
        "cannot read the config file as TOML: duplicate key",
        "2:1 ^^^^^",
        "",
    ),
    (
        "jobs = ",
        "cannot read the config file as TOML",
        "1:8 ^",
        "",
    ),
];

#[test]
fn mistakes_are_told_with_their_line() {
    for (text, message, marked, hint) in MISTAKES {
        let error = read(text).unwrap_err();
        let shown = format!("{error:?}");
        let place = error.place().unwrap();
        let place = format!(
            "{}:{} {}",
            place.line,
            place.column,
            "^".repeat(place.width)
        );
        let chain = match std::error::Error::source(&error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        };
        assert!(chain.starts_with(message), "{text}\n{shown}");
        assert_eq!(place, marked, "{text}\n{shown}");
        assert!(
            error.hint().unwrap_or_default().contains(hint),
            "{text}\n{shown}"
        );
        assert_eq!(error.hint().is_none(), hint.is_empty(), "{text}\n{shown}");
    }
}

#[test]
fn the_first_mistake_in_the_text_is_told() {
    let error = read("prunes = true\ncreate = 1\n").unwrap_err();
    assert_eq!(error.place().unwrap().line, 1);
}

#[test]
fn files_of_any_editor_are_read() {
    assert!(read("\u{feff}prune = true\r\n").unwrap().prune.is_some());
    assert!(read("").unwrap().prune.is_none());
    let error = parse(Path::new("x"), b"prune = true\n# \xff").unwrap_err();
    assert_eq!(error.place().unwrap().to_string(), "x:2:3");
}
