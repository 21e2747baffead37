//! The release workflow packs the files that the action and the guides expect in an archive.

use std::fs;
use std::process::Command;

use super::workflow::{Node, Runner, can_run, step};
use crate::TFLOCK;

const TARGET: &str = "x86_64-unknown-linux-musl";

/// Creates a checkout with a built binary. Returns `None` if a required program is missing.
fn built() -> Option<Runner> {
    if !can_run(&["bash", "tar", "sha256sum"]) {
        return None;
    }
    let runner = Runner::new()
        .with("TARGET", TARGET)
        .with("GITHUB_REF_NAME", concat!("v", env!("CARGO_PKG_VERSION")));
    let directory = runner.path(&format!("workspace/target/{TARGET}/release"));
    fs::create_dir_all(&directory).unwrap();
    // A script stands in for the binary under test, because compressing the large binary would take most of the time.
    fs::write(
        directory.join("tflock"),
        format!("#!/bin/sh\nexec {TFLOCK} \"$@\"\n"),
    )
    .unwrap();
    let status = Command::new("chmod")
        .arg("+x")
        .arg(directory.join("tflock"))
        .status();
    assert!(status.unwrap().success());
    for name in ["Cargo.toml", "README.md", "LICENSE"] {
        let from = format!("{}/{name}", env!("CARGO_MANIFEST_DIR"));
        fs::copy(from, runner.path("workspace").join(name)).unwrap();
    }
    Some(runner)
}

#[test]
fn an_archive_holds_the_program_its_pages_and_its_completions() {
    let Some(runner) = built() else {
        return;
    };
    let workflow = Node::read(".github/workflows/release.yml");
    let build = workflow.at("jobs/build/steps");
    runner.run(step(build, "Pack"), "workspace").expect_code(0);
    let archive = runner.path(&format!("workspace/tflock-{TARGET}.tar.gz"));
    let listed = Command::new("tar")
        .arg("-tzf")
        .arg(&archive)
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let mut expected = vec![
        "./tflock".to_owned(),
        "./README.md".into(),
        "./LICENSE".into(),
        "./man/tflock.1".into(),
    ];
    for shell in ["bash", "zsh", "fish", "powershell"] {
        expected.push(format!("./completions/tflock.{shell}"));
    }
    for command in ["lock", "verify", "list", "mirror", "config", "cache"] {
        expected.push(format!("./man/tflock-{command}.1"));
    }
    for name in &expected {
        assert!(listed.lines().any(|line| line == name), "{name}\n{listed}");
    }
    let files = listed.lines().filter(|line| !line.ends_with('/'));
    assert_eq!(files.count(), expected.len(), "{listed}");
    for name in ["completions/tflock.zsh", "man/tflock-mirror.1"] {
        assert!(
            !runner.read(&format!("workspace/pack/{name}")).is_empty(),
            "{name}"
        );
    }

    // The release step also writes the checksum list that the action reads.
    fs::create_dir(runner.path("archives")).unwrap();
    let name = format!("tflock-{TARGET}.tar.gz");
    fs::copy(&archive, runner.path("archives").join(&name)).unwrap();
    runner
        .run(
            step(workflow.at("jobs/release/steps"), "sha256sum"),
            "archives",
        )
        .expect_code(0);
    let sums = runner.read("archives/SHA256SUMS");
    let sum = tflock_test_support::sha256_hex(&fs::read(&archive).unwrap());
    assert_eq!(sums, format!("{sum}  {name}\n"));
}

#[test]
fn a_tag_that_names_another_version_is_refused() {
    let Some(runner) = built() else {
        return;
    };
    let workflow = Node::read(".github/workflows/release.yml");
    let check = step(workflow.at("jobs/build/steps"), "The tag names");
    runner.run(check, "workspace").expect_code(0);
    let ended = runner
        .with("GITHUB_REF_NAME", "v99.0.0")
        .run(check, "workspace")
        .expect_code(1);
    let message = format!("::error::Cargo.toml has {}", env!("CARGO_PKG_VERSION"));
    assert!(ended.output.contains(&message), "{}", ended.output);
}
