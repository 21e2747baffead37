//! Clues in the configuration of CI systems, in scripts and in hooks: platforms, runners, and calls of Terraform or OpenTofu.
//!
//! The files are searched for words and not interpreted. Comments do not count.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::access::{LinkError, confine, open_confined};
use crate::provider::{Engine, Platform};

use super::clues::Clues;

/// Files with these names, relative to the root of the repository, are searched.
const FILES: [&str; 19] = [
    ".circleci/config.yml",
    ".drone.yml",
    ".gitlab-ci.yml",
    ".mise.toml",
    ".pre-commit-config.yaml",
    ".tool-versions",
    ".travis.yml",
    "GNUmakefile",
    "Jenkinsfile",
    "Makefile",
    "Taskfile.yaml",
    "Taskfile.yml",
    "atlantis.yaml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "buildspec.yml",
    "cloudbuild.yaml",
    "justfile",
    "mise.toml",
];

/// Files in these directories are searched if their names end in one of [`EXTENSIONS`].
const DIRECTORIES: [&str; 11] = [
    ".buildkite",
    ".ci",
    ".github/workflows",
    ".gitlab",
    ".gitlab/ci",
    "bin",
    "ci",
    "hack",
    "script",
    "scripts",
    "tools",
];

const EXTENSIONS: [&str; 5] = ["bash", "mk", "sh", "yaml", "yml"];

/// The maximum number of files that are read in one directory. Repositories have dozens of workflows.
const MAX_FILES: usize = 1_000;

/// The maximum number of bytes that are read from one file. Real files have a few kilobytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// A file that mentions one of these words runs Terraform or OpenTofu, or a program that calls one of them.
const ENGINE_WORDS: [&str; 6] = [
    "terraform",
    "terragrunt",
    "tofu",
    "tflock",
    "tfupdate",
    "atlantis",
];

/// If a file contains one of these words, providers are locked for every platform that the file names.
const LOCKING_WORDS: [&str; 3] = ["providers lock", "tflock", "tfupdate"];

const SYSTEMS: [&str; 6] = [
    "darwin", "freebsd", "linux", "openbsd", "solaris", "windows",
];

/// The subcommands that show that a script runs Terraform or OpenTofu.
const ENGINE_COMMANDS: [&str; 6] = ["apply", "init", "plan", "providers", "test", "validate"];

/// Collects the clues in the repository with the root `top`, an absolute path without symlinks.
pub(super) fn read(top: &Path, clues: &mut Clues) {
    let mut files: Vec<PathBuf> = FILES.iter().map(|name| top.join(name)).collect();
    for name in DIRECTORIES {
        files.extend(files_in(&top.join(name), clues));
    }
    for file in files {
        match text_of(&file) {
            Ok(text) => search(&text, &file, clues),
            Err(error) if is_missing(&error) => {}
            Err(error) => clues.add_unread(&file, &error),
        }
    }
}

/// Returns the sorted paths of the files to search in a directory.
fn files_in(directory: &Path, clues: &mut Clues) -> Vec<PathBuf> {
    let entries = confine(directory).and_then(|real| Ok(fs::read_dir(real)?));
    let entries = match entries {
        Ok(entries) => entries,
        Err(error) => {
            if !is_missing(&error) {
                clues.add_unread(directory, &error);
            }
            return Vec::new();
        }
    };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let is_searched = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
    };
    let mut paths: Vec<PathBuf> = paths.filter(is_searched).take(MAX_FILES).collect();
    paths.sort();
    paths
}

fn is_missing(error: &LinkError) -> bool {
    let missing = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    matches!(error, LinkError::Read(error) if missing.contains(&error.kind()))
}

/// Reads the start of a file. Symlinks must not leave the repository.
fn text_of(file: &Path) -> Result<String, LinkError> {
    let (file, _) = open_confined(&confine(file)?)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn search(text: &str, file: &Path, clues: &mut Clues) {
    let lower = text.to_lowercase();
    let mentions = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if !mentions(&ENGINE_WORDS) && !mentions(&["platform"]) {
        return;
    }
    let (runs_engine, locks) = (mentions(&ENGINE_WORDS), mentions(&LOCKING_WORDS));
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with(['#', '/']) {
            continue;
        }
        let place = format!("{}:{}", clues.place(file), index + 1);
        if locks || line.to_lowercase().contains("platform") {
            for platform in words(line).filter_map(named_platform) {
                clues.add_platform(platform, &place);
            }
        }
        if runs_engine {
            for platform in words(line)
                .filter_map(runner_platform)
                .chain(image_platform(line))
            {
                clues.add_platform(platform, &place);
            }
        }
        for engine in [Engine::Terraform, Engine::Tofu] {
            if is_called(engine, line) {
                clues.add_engine(engine, &place);
            }
        }
    }
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|char: char| !(char.is_ascii_alphanumeric() || "-_.".contains(char)));
    words.filter(|word| !word.is_empty())
}

/// Parses a platform as `providers lock` writes it, such as `linux_amd64`.
fn named_platform(word: &str) -> Option<Platform> {
    let (system, architecture) = word.split_once('_')?;
    let is_known =
        SYSTEMS.contains(&system) && ["386", "amd64", "arm", "arm64"].contains(&architecture);
    is_known.then(|| Platform::parse(word).ok()).flatten()
}

/// Returns the platform of a hosted runner, such as `ubuntu-24.04-arm`, `macos-15` or GitLab's `saas-linux-small-amd64`.
fn runner_platform(word: &str) -> Option<Platform> {
    let label = word.strip_prefix("saas-").unwrap_or(word);
    let (system, version) = label.split_once('-')?;
    let is_hosted = label != word
        || version.starts_with("latest")
        || version.starts_with(|char: char| char.is_ascii_digit());
    let is_arm = version.contains("arm");
    let is_intel_mac = ["11", "12", "13"].contains(&version)
        || version.ends_with("-large")
        || version.ends_with("-intel");
    let platform = match system {
        "ubuntu" | "linux" if is_arm => "linux_arm64",
        "ubuntu" | "linux" => "linux_amd64",
        "macos" if is_intel_mac => "darwin_amd64",
        "macos" => "darwin_arm64",
        "windows" if is_arm => "windows_arm64",
        "windows" => "windows_amd64",
        _ => return None,
    };
    is_hosted.then(|| Platform::parse(platform).ok()).flatten()
}

/// Returns `linux_amd64` if a line names the container image of a job, unless the image is for Windows or ARM. The runners of
/// such jobs often have no label that names a platform.
fn image_platform(line: &str) -> Option<Platform> {
    let line = line.trim_start().trim_start_matches("- ");
    let image = line.strip_prefix("image:")?;
    if image.contains("windows") || image.contains("arm64") {
        return None;
    }
    Platform::parse("linux_amd64").ok()
}

/// Returns whether a line installs or calls this engine.
fn is_called(engine: Engine, line: &str) -> bool {
    let names: &[&str] = match engine {
        Engine::Terraform => &["terraform"],
        Engine::Tofu => &["tofu", "opentofu"],
    };
    let mut installed = words(line).filter_map(|word| word.strip_prefix("setup-"));
    if installed.any(|name| names.contains(&name)) {
        return true;
    }
    let words = line.split_whitespace();
    let words = words.map(|word| word.trim_matches(|char: char| "\"'`$(){}[]=,;".contains(char)));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.iter().enumerate().any(|(index, word)| {
        // For example, `terraform 1.11.4` in .tool-versions or `opentofu = "1.10"` in mise.toml.
        let is_version =
            |next: &&str| index == 0 && next.starts_with(|char: char| char.is_ascii_digit());
        let is_command = |next: &&str| ENGINE_COMMANDS.contains(next);
        let mut after = words[index + 1..].iter();
        let next = after.find(|word| !word.starts_with('-'));
        names.contains(word) && next.is_some_and(|next| is_version(next) || is_command(next))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_line_name_platforms() {
        for (line, expected) in [
            ("      - --args=-platform=darwin_arm64", "darwin_arm64"),
            (
                "run: terraform providers lock -platform=linux_amd64 -platform=windows_amd64",
                "linux_amd64 windows_amd64",
            ),
            ("runs-on: ubuntu-24.04", "linux_amd64"),
            (
                "os: [ubuntu-latest, macos-latest, windows-2025]",
                "linux_amd64 darwin_arm64 windows_amd64",
            ),
            ("runs-on: ubuntu-24.04-arm", "linux_arm64"),
            ("runs-on: macos-13", "darwin_amd64"),
            ("runs-on: macos-14-large", "darwin_amd64"),
            ("runs-on: macos-14-xlarge", "darwin_arm64"),
            ("runs-on: windows-11-arm", "windows_arm64"),
            ("tags: [saas-linux-small-arm64]", "linux_arm64"),
            ("vmImage: 'ubuntu-22.04'", "linux_amd64"),
            ("image: hashicorp/terraform:1.11", "linux_amd64"),
            ("  - image: ghcr.io/opentofu/opentofu:1.10", "linux_amd64"),
            ("runs-on: self-hosted", ""),
            (
                "curl -O https://releases.test/terraform_1.11.4_linux_arm64.zip",
                "",
            ),
            ("name: linux-runner", ""),
        ] {
            let named = words(line).filter_map(named_platform);
            let runners = words(line).filter_map(runner_platform);
            let all = named.chain(runners).chain(image_platform(line));
            let all: Vec<String> = all.map(|platform| platform.to_string()).collect();
            assert_eq!(all.join(" "), expected, "{line}");
        }
    }

    #[test]
    fn a_line_calls_an_engine() {
        for (line, expected) in [
            ("- uses: hashicorp/setup-terraform@v3", "terraform"),
            ("- uses: opentofu/setup-opentofu@v1", "tofu"),
            ("\ttofu init -lockfile=readonly", "tofu"),
            ("terraform -chdir=stacks/a plan", "terraform"),
            ("terraform -no-color plan", "terraform"),
            ("cd stacks && terraform init", "terraform"),
            ("tofu init && terraform init", "terraform tofu"),
            ("terraform 1.11.4", "terraform"),
            ("opentofu = \"1.10\"", "tofu"),
            ("run: \"terraform init\"", "terraform"),
            ("plan=$(tofu plan)", ""),
            ("name: terraform", ""),
            ("paths: [terraform/init.sh]", ""),
            ("run: ./tofu.sh", ""),
        ] {
            let engines = [Engine::Terraform, Engine::Tofu].into_iter();
            let called = engines.filter(|engine| is_called(*engine, line));
            let called: Vec<&str> = called.map(Engine::program).collect();
            assert_eq!(called.join(" "), expected, "{line}");
        }
    }
}
