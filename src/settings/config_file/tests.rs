//! Tests of what a config file can contain, and of how mistakes are reported.

use super::read::parse;
use super::*;
use crate::locking::{Mismatch, Missing};
use crate::options::Create;
use crate::provider::Engine;
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
    let options = file.options;
    let platforms = options.platforms.unwrap();
    let names: Vec<String> = platforms.value.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["linux_amd64", "darwin_arm64"]);
    assert_eq!(
        options.ignore_paths.unwrap().value[0].as_str(),
        "^examples/"
    );
    assert_eq!(options.create.unwrap().value, Create::Never);
    assert_eq!(options.engine.unwrap().value, Some(Engine::Tofu));
    assert_eq!(options.missing_platform.unwrap().value, Missing::Warn);
    assert_eq!(options.missing_module.unwrap().value, Missing::Warn);
    assert_eq!(options.mismatch.unwrap().value, Mismatch::Error);
    let prune = options.prune.unwrap();
    assert_eq!(
        (prune.value, prune.origin.to_string().as_str()),
        (true, ".tflock.toml:8:1")
    );
    assert_eq!(options.jobs.unwrap().value.0, 16);
    assert_eq!(file.signers.unwrap().value.pins().len(), 2);
}

/// The columns: the text of a file, the start of the message, the position and width of the marked text, and part of the hint.
const MISTAKES: [&str; 20] = [
    r"platform = [] | `platform` is not a valid key in `.tflock.toml` | 1:1 ^^^^^^^^ | did you mean `platforms`?",
    r"\nignore_paths = [] | `ignore_paths` is not a valid key in `.tflock.toml` | 2:1 ^^^^^^^^^^^^ | did you mean `ignore-paths`?",
    r"upgrade = true | `upgrade` is not a valid key in `.tflock.toml` | 1:1 ^^^^^^^ | set `--upgrade` on the command line: config files cannot set it",
    r"[tool] | `tool` is not a valid key in `.tflock.toml` | 1:2 ^^^^ | the valid keys are `create`, `engine`, ",
    r#"prune = "yes" | cannot use `prune`: expected true or false, found a string | 1:9 ^^^^^ | "#,
    r#"platforms = "linux_amd64" | cannot use `platforms`: expected a list of strings, such as `["..."]`, found a string | 1:13 ^^^^^^^^^^^^^ | "#,
    r#"platforms = [1] | cannot use `platforms`: expected a list of strings, such as `["..."]`, found a number | 1:14 ^ | "#,
    r"platforms = [] | cannot use `platforms = []`: it must contain at least one platform | 1:13 ^^ | omit the key to use the platform of this machine",
    r#"platforms = ["linux-amd64"] | cannot use `platforms = "linux-amd64"` | 1:14 ^^^^^^^^^^^^^ | did you mean `linux_amd64`?"#,
    r#"create = "allways" | cannot use `create = "allways"`: the valid values are `auto`, `always` and `never` | 1:10 ^^^^^^^^^ | did you mean `always`?"#,
    r"engine = 'opentofu' | cannot use `engine = 'opentofu'`: the valid values are `auto`, `terraform` and `tofu` | 1:10 ^^^^^^^^^^ | ",
    r"jobs = 0 | cannot use `jobs = 0`: it must be from 1 to 256 | 1:8 ^ | ",
    r"jobs = 1.5 | cannot use `jobs`: expected a whole number, found a fractional number | 1:8 ^^^ | ",
    r#"ignore-paths = ["("] | cannot use `ignore-paths = "("` | 1:17 ^^^ | "#,
    r#"mismatch = "add" | cannot use `mismatch = "add"`: config files can make trust settings stricter, but not looser | 1:12 ^^^^^ | to accept a changed package in one run, use `--mismatch add` on the command line"#,
    r#"mismatch = "replace" | cannot use `mismatch = "replace"`: config files can make trust settings stricter, but not looser | 1:12 ^^^^^^^^^ | to accept a changed package in one run, use `--mismatch replace` on the command line"#,
    r#"[signers]\n"a/b/c/d" = [] | invalid entry in `[signers]` | 2:1 ^^^^^^^^^ | write a pattern such as"#,
    r#"[signers]\n"a/b" = ["12"] | invalid entry in `[signers]` | 2:1 ^^^^^ | gpg --show-keys"#,
    r"prune = true\nprune = false | the config file is not valid TOML: duplicate key | 2:1 ^^^^^ | ",
    r"jobs =  | the config file is not valid TOML | 1:8 ^ | ",
];

#[test]
fn mistakes_are_reported_with_their_line() {
    for row in MISTAKES {
        let row: Vec<&str> = row.split(" | ").collect();
        let [text, message, marked, hint] = row[..] else {
            panic!("{row:?}")
        };
        let error = read(&text.replace("\\n", "\n")).unwrap_err();
        let shown = format!("{error:?}");
        let place = error.place().unwrap();
        let caret = "^".repeat(place.width);
        let place = format!("{}:{} {caret}", place.line, place.column);
        let chain = match std::error::Error::source(&error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        };
        assert!(chain.starts_with(message), "{text}\n{shown}");
        assert_eq!(place, marked, "{text}\n{shown}");
        let found = error.hint().unwrap_or_default();
        assert!(found.contains(hint), "{text}\n{shown}");
        assert_eq!(found.is_empty(), hint.is_empty(), "{text}\n{shown}");
    }
}

#[test]
fn the_first_mistake_in_the_text_is_reported() {
    let error = read("prunes = true\ncreate = 1\n").unwrap_err();
    assert_eq!(error.place().unwrap().line, 1);
}

#[test]
fn files_of_any_editor_are_read() {
    assert!(
        read("\u{feff}prune = true\r\n")
            .unwrap()
            .options
            .prune
            .is_some()
    );
    assert!(read("").unwrap().options.prune.is_none());
    let error = parse(Path::new("x"), b"prune = true\n# \xff").unwrap_err();
    assert_eq!(error.place().unwrap().to_string(), "x:2:3");
}
