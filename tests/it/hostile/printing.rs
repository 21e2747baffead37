//! Values from files, the environment and the command line are never printed, nor is text derived from them.

use tflock_test_support::{FakeRegistry, Outcome, TestContext, git, multiline, table};

use super::canary::{SECRET, assert_silent, repository};
use crate::TFLOCK;

/// The expressions from which the secret comes, and whether only OpenTofu supports each of them.
const ORIGINS: [(&str, bool); 8] = [
    ("file(\"secret\")", false),
    ("base64decode(filebase64(\"secret\"))", false),
    ("templatefile(\"secret\", {})", false),
    ("templatestring(\"$${file(\\\"secret\\\")}\", {})", true),
    ("var.environment", false),
    ("var.typed", false),
    ("var.file", false),
    ("terraform.workspace", true),
];

/// The attributes of calls whose errors could reveal the secret. `S` stands for the secret.
const FAILURES: [&str; 44] = [
    "source = S",
    "source = \".\" == S ? \"\" : \"./${S}\"",
    "source = \"../${S}/x\"",
    "source = \"./..//${S}\"",
    "source = \"/${S}\"",
    "source = \"SERVER/${S}/m.zip\"",
    "source = \"SERVER/${S}\"",
    "source = \"SERVER/m.zip//${S}\"",
    "source = \"SERVER/m.zip?checksum=${S}\"",
    "source = \"SERVER/m.zip?archive=${S}\"",
    "source = \"SERVER/m.zip?checksum=md5:${md5(S)}&x=${S}\"",
    "source = \"http://${S}.localhost:1/m.zip\"",
    "source = \"http://h.test/${S}.zip\"",
    "source = \"https://[${S}]/m.zip\"",
    "source = \"git::http://127.0.0.1:1/${S}.git\"",
    "source = \"git::https://127.0.0.1:1/${S}.git?ref=${S}\"",
    "source = \"git::https://127.0.0.1:1/r.git?depth=${S}\"",
    "source = \"git::file:///nowhere/${S}.git\"",
    "source = \"git::${S}://h/r\"",
    "source = \"${S}::https://h/r\"",
    "source = \"${S}://h/r\"",
    "source = \"s3::https://h/${S}\"",
    "source = \"registry.terraform.io/${S}/a/b\"",
    "source = \"${S}/a/b\"",
    "source = \"a/b/c//../${S}\"",
    "source = \"a/b/c\"\n  version = S",
    "source = \"a/b/c\"\n  version = \"~> ${S}\"",
    "source = { a = 1 }[S]",
    "source = { for x in [1, 2] : S => x }",
    "source = { for x in [1, 2] : \"${S}${x - x}\" => x }[\"x\"]",
    "source = [1][S]",
    "source = [1][length(S) + 100]",
    "source = \"${1 + S}\"",
    "source = S ? \"a\" : \"b\"",
    "source = tonumber(S)",
    "source = jsondecode(S)",
    "source = yamldecode(\"[${S}\")",
    "source = regex(\"[${S}\", S)",
    "source = parseint(S, 10)",
    "source = format(\"%${S}\", S)",
    "source = lookup({}, S)",
    "source = templatestring(\"$${${S}}\", {})",
    "source = uuidv5(S, S)",
    "source = try(jsondecode(S), { a = 1 }[S])",
];

/// How the secret reaches a call: the name and the declarations.
const WAYS: [(&str, &str); 3] = [
    ("directly", "module \"m\" {\n  CALL\n}\n"),
    (
        "through a local",
        "locals {\n  s = { a = [\"x\", \"${S}\"] }\n}\nmodule \"m\" {\n  CALL\n}\n",
    ),
    (
        "through an argument",
        "module \"c\" {\n  source = \"../child\"\n  s = S\n}\n",
    ),
];

const VARIABLES: &str = "
variable \"environment\" {
  const = true
}
variable \"typed\" {
  const = true
}
variable \"file\" {
  const = true
}
";

/// Creates a tree with one directory for each of [`FAILURES`], for one of [`WAYS`] and one of [`ORIGINS`].
fn tree(way: usize, origin: &str) -> (FakeRegistry, TestContext) {
    let registry = FakeRegistry::start();
    let context = TestContext::new(TFLOCK, &registry);
    repository(&context);
    let server = registry.url("");
    for (index, failure) in FAILURES.iter().enumerate() {
        let (inner, name) = match way {
            0 => (origin, format!("d{index:02}")),
            1 => ("local.s.a[1]", format!("d{index:02}")),
            _ => ("var.s", format!("d{index:02}/root")),
        };
        let call = in_expression(failure, inner).replace("SERVER", &server);
        let text = WAYS[way].1.replace("${S}", &format!("${{{origin}}}"));
        let text = text.replace("s = S", &format!("s = {origin}"));
        let variables = format!("file = \"{SECRET}\"\n");
        context
            .write(
                &format!("{name}/main.tf"),
                VARIABLES.to_owned() + &text.replace("CALL", &call),
            )
            .write(&format!("{name}/secret"), SECRET)
            .write(&format!("{name}/x.tfvars"), variables);
        if way == 2 {
            let variable = "variable \"s\" {\n  const = true\n}";
            let child = format!("{variable}\nmodule \"m\" {{\n  {call}\n}}\n");
            context.write(&format!("d{index:02}/child/main.tf"), child);
        }
    }
    (registry, context)
}

/// Returns the attributes of a call with `expression` in place of `S`.
fn in_expression(failure: &str, expression: &str) -> String {
    let mut text = String::new();
    let mut before = ' ';
    let mut letters = failure.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_word = |letter: &char| letter.is_alphanumeric() || *letter == '_';
        if letter == 'S' && !is_word(&before) && !letters.peek().is_some_and(is_word) {
            text.push_str(expression);
        } else {
            text.push(letter);
        }
        before = letter;
    }
    text
}

fn run(context: &TestContext, engine: &str, arguments: &str) -> Outcome {
    let options = format!("-r --engine {engine} --var typed={SECRET} --var-file x.tfvars");
    context
        .command(&format!("{arguments} {options}"))
        .env("TF_VAR_environment", SECRET)
        .env("TF_WORKSPACE", SECRET)
        .env("TFLOCK_LOG", "trace")
        .env("TF_REGISTRY_DISCOVERY_RETRY", "1")
        .env("TF_PROVIDER_DOWNLOAD_RETRY", "1")
        .run()
}

#[test]
fn no_part_of_a_value_is_printed_or_stored() {
    for (way, (name, _)) in WAYS.iter().enumerate() {
        for (origin, tofu_only) in ORIGINS {
            let (_registry, context) = tree(way, origin);
            let engine = if tofu_only { "tofu" } else { "terraform" };
            let what = format!("{name}, {origin}");
            let outcome = run(&context, engine, "lock -v");
            assert_silent(&outcome, &context, &what);
            // Child modules count as directories too.
            let directories = FAILURES.len() * if way == 2 { 2 } else { 1 };
            let failed = format!("{directories} failed");
            assert!(outcome.stdout.contains(&failed), "{what}\n{outcome}");
        }
    }
}

#[test]
fn no_command_and_no_format_prints_a_value() {
    let commands = [
        "lock --format json",
        "lock --format github",
        "lock --check",
        "lock --missing-module warn --diff --check",
        "verify --format sarif",
        "verify",
        "list",
        "list --format json",
    ];
    for engine in ["terraform", "tofu"] {
        let (_registry, context) = tree(1, "file(\"secret\")");
        for command in commands {
            let outcome = run(&context, engine, command);
            assert_silent(&outcome, &context, &format!("{engine} {command}"));
        }
    }
}

#[test]
fn attribute_and_origin_are_named_instead() {
    for [origin, failure, expected] in table(
        r#"
        file("secret")                 | source = "SERVER/${S}/m.zip"         | cannot get module `m`: its `source` depends on `file()` and is not shown
        var.environment                | source = "./${S}"                    | cannot read the directory of module `m`: its `source` depends on `var.environment` and is not shown
        "${var.typed}${file("secret")}" | source = S                          | the module source is invalid: its `source` depends on `file()` and `var.typed` and is not shown
        var.file                       | source = "a/b/c"\n  version = S      | the version constraint is invalid: its `version` depends on `var.file` and is not shown
        file("secret")                 | source = jsondecode(S)               | it depends on `file()`, whose value is not shown
        file("missing")                | source = S                           | `file` cannot read `missing`: No such file or directory (os error 2)
        "#,
    ) {
        let failure = &multiline(failure);
        let registry = FakeRegistry::start();
        let context = TestContext::new(TFLOCK, &registry);
        let call = in_expression(failure, origin).replace("SERVER", &registry.url(""));
        let module = format!("module \"m\" {{\n  {call}\n}}\n");
        context.write("d/main.tf", VARIABLES.to_owned() + &module);
        context.write("d/secret", SECRET);
        context.write("d/x.tfvars", format!("file = \"{SECRET}\"\n"));
        let outcome = run(&context, "terraform", "lock");
        outcome.assert_stderr(expected);
        assert_silent(&outcome, &context, expected);
    }
}

#[test]
fn paths_outside_the_repository_show_no_values() {
    let registry = FakeRegistry::start();
    let context = TestContext::new(TFLOCK, &registry);
    let module = "module \"m\" {\n  source = \"../../../${var.typed}\"\n}\n";
    context.write("d/main.tf", VARIABLES.to_owned() + module);
    context.write("d/x.tfvars", format!("file = \"{SECRET}\"\n"));
    git(&context.work(), "init -q -b main");
    git(&context.work(), "add -A");
    let outcome = run(&context, "terraform", "lock --untrusted").expect_code(1);
    outcome.assert_stderr(
        "module `m` is outside the repository: its `source` depends on `var.typed` and is not shown",
    );
    assert_silent(&outcome, &context, "--untrusted");
}

#[test]
fn errors_for_installed_modules_show_no_values() {
    let record = format!(
        "{{\"Modules\":[{{\"Key\":\"m\",\"Source\":\"git::https://127.0.0.1:1/{SECRET}\",\"Dir\":\"m\"}},\
         {{\"Key\":\"n\",\"Source\":\"registry.terraform.io/{SECRET}/b/c\",\"Version\":\"1.0.0\",\"Dir\":\"m\"}}]}}"
    );
    let text = "module \"m\" {\n  source = \"git::https://127.0.0.1:1/${file(\"secret\")}/other\"\n}\n\
                module \"n\" {\n  source = \"${file(\"secret\")}/b/c\"\n  version = \"~> 2.0\"\n}\n";
    let registry = FakeRegistry::start();
    let context = TestContext::new(TFLOCK, &registry);
    context.write("d/main.tf", format!("{VARIABLES}{text}"));
    context.write("d/secret", SECRET);
    context.write("d/x.tfvars", "");
    context.write("d/m/main.tf", "");
    context.write("d/.terraform/modules/modules.json", record);
    let outcome = run(&context, "terraform", "lock").expect_code(1);
    assert_silent(&outcome, &context, "modules.json");
}

#[test]
fn broken_values_are_not_quoted() {
    let call = |constraint: &str| {
        format!(
            "variable \"v\" {{\n  const = true\n  type = {constraint}\n}}\nmodule \"m\" {{\n  source = \"./${{var.v}}\"\n}}\n"
        )
    };
    for value in [
        SECRET.to_owned(),
        format!("[{SECRET}"),
        format!("{SECRET}()"),
        format!("\"{SECRET}"),
    ] {
        for constraint in ["list(string)", "number", "any", "string"] {
            let context = TestContext::offline(TFLOCK);
            context.write("d/main.tf", call(constraint));
            let outcome = context.command("lock d").env("TF_VAR_v", &value).run();
            assert_silent(&outcome.expect_code(1), &context, &value);
            context.write("d/x.tfvars", format!("v = {value}\n"));
            let outcome = context.run("lock d --var-file x.tfvars");
            assert_silent(&outcome.expect_code(1), &context, &value);
        }
    }
    let context = TestContext::offline(TFLOCK);
    let outcome = context.tflock(["lock", "--var", SECRET]).run();
    assert_silent(&outcome.expect_code(2), &context, "--var");
}
