//! Ctrl-C and SIGTERM stop the run at once. Each lock file is either unchanged or complete, and no temporary file
//! remains.
#![cfg(unix)]

use tflock_test_support::{
    FakeRegistry, Misbehave, ProviderSpec, TestContext, send_signal, wait_until, write_script,
};

use crate::TFLOCK;
use crate::modules::binary::call;

#[test]
fn an_interrupted_run_reports_it_and_leaves_nothing_behind() {
    let mut registry = FakeRegistry::with(ProviderSpec::new("acme/anvil").versions(["1.0.0"]));
    registry.publish(ProviderSpec::new("acme/stuck").versions(["1.0.0"]));
    registry.misbehave(Misbehave::on("**acme/stuck/**.zip").hang());
    let context = TestContext::new(TFLOCK, &registry);
    context.require("done", &[("acme/anvil", "1.0.0")]);
    context.require("stuck", &[("acme/anvil", "1.0.0"), ("acme/stuck", "1.0.0")]);
    for signal in ["INT", "TERM"] {
        let run = context.command("lock -r --platform linux_amd64 .");
        let mut child = run.spawn();
        wait_until(|| context.lock_file("done").is_some());
        assert!(send_signal(signal, &child.id().to_string()));
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        assert_eq!(context.list("done"), [".terraform.lock.hcl", "main.tf"]);
        assert_eq!(context.list("stuck"), ["main.tf"]);
        context.remove_lock_file("done");
    }
}

#[test]
fn an_interrupted_fetch_of_modules_ends_with_its_processes() {
    let context = TestContext::offline(TFLOCK);
    let pid = context.path("pid");
    context.write("bin/git", "");
    let script = format!("echo $$ > '{}'\nexec sleep 600", pid.display());
    write_script(&context.path("bin/git"), &script);
    let source = "git::https://user:hunter2@git.example/x?ref=v1";
    context.write("root/main.tf", call("x", source, ""));
    let path = format!("{}:/usr/bin:/bin", context.path("bin").display());
    let run = context.command("lock --platform linux_amd64 root");
    let mut child = run.env("PATH", path).spawn();
    let started = || std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n'));
    wait_until(started);
    assert!(send_signal("INT", &child.id().to_string()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let git = std::fs::read_to_string(&pid).unwrap();
    wait_until(|| !send_signal("0", git.trim()));
    assert_eq!(context.list("root"), ["main.tf"]);
}
