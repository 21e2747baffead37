//! Ctrl-C and SIGTERM end the run at once. Every lock file is either the old or the new one, and no temporary file
//! remains.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use tflock_test_support::{FakeRegistry, Misbehave, ProviderSpec, TestContext};

use crate::TFLOCK;

#[test]
fn an_interrupted_run_reports_it_and_leaves_nothing_behind() {
    let mut registry = FakeRegistry::start();
    registry.publish(ProviderSpec::new("acme/anvil").versions(["1.0.0"]));
    registry.publish(ProviderSpec::new("acme/stuck").versions(["1.0.0"]));
    registry.misbehave(Misbehave::on("**acme/stuck/**.zip").hang());
    let context = TestContext::new(TFLOCK, &registry);
    context.require("done", &[("acme/anvil", "1.0.0")]);
    context.require("stuck", &[("acme/anvil", "1.0.0"), ("acme/stuck", "1.0.0")]);
    for signal in ["-INT", "-TERM"] {
        let run = context.command("lock -r --platform linux_amd64 .");
        let mut child = run.spawn();
        wait_for(|| context.lock_file("done").is_some());
        let sent = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        assert_eq!(context.list("done"), [".terraform.lock.hcl", "main.tf"]);
        assert_eq!(context.list("stuck"), ["main.tf"]);
        std::fs::remove_file(context.path("done/.terraform.lock.hcl")).unwrap();
    }
}

#[test]
fn an_interrupted_fetch_of_modules_ends_with_its_processes() {
    let context = TestContext::offline(TFLOCK);
    let pid = context.path("pid");
    let script = format!("#!/bin/sh\necho $$ > '{}'\nexec sleep 600\n", pid.display());
    context.write("bin/git", script);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(context.path("bin/git"), executable).unwrap();
    let call = "module \"x\" {\n  source = \"git::https://user:hunter2@git.example/x?ref=v1\"\n}\n";
    context.write("root/main.tf", call);
    let path = format!("{}:/usr/bin:/bin", context.path("bin").display());
    let run = context.command("lock --platform linux_amd64 root");
    let mut child = run.env("PATH", path).spawn();
    let started = || std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n'));
    wait_for(started);
    let signal = |signal: &str, process: &str| {
        let status = Command::new("kill").args([signal, process]).output();
        status.unwrap().status.success()
    };
    assert!(signal("-INT", &child.id().to_string()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let git = std::fs::read_to_string(&pid).unwrap();
    wait_for(|| !signal("-0", git.trim()));
    assert_eq!(context.list("root"), ["main.tf"]);
}

/// Waits until `holds` returns true, with a time limit.
fn wait_for(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "it never happened"
        );
        thread::sleep(Duration::from_millis(5));
    }
}
