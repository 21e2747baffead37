//! Terragrunt units of a stranger: nothing is executed, nothing from outside is shown, and every bomb fails alone, by name and
//! within bounds.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tflock_test_support::{
    FakeRegistry, Outcome, ProviderSpec, RunCost, TestContext, git, git_commit_all, multiline,
    table,
};

use super::canary::{SECRET, assert_silent};
use crate::TFLOCK;

/// The file that every command and hook of a hostile unit would create.
const SIDE_EFFECT: &str = "EXECUTED";

/// Far more than a run takes, even on a busy machine with a debug build.
const MAX_TIME: Duration = Duration::from_secs(240);
const MAX_MEMORY: u64 = 512 << 20;

/// The number of harmless units in a run.
const GOOD: usize = 4;

/// A repository with harmless units and units of a stranger, and files outside of it. In texts, `{OUT}` stands for the
/// directory of these files, and `{MARK}` for the path of the side effect.
struct HostileRepository {
    _registry: FakeRegistry,
    context: TestContext,
    names: Vec<String>,
}

impl HostileRepository {
    fn new() -> Self {
        let registry =
            FakeRegistry::with(ProviderSpec::new("acme/anvil").platforms(["linux_amd64"]));
        let context = TestContext::new(TFLOCK, &registry);
        context
            .write(
                "../home/outside/secret.hcl",
                format!("locals {{\n  secret = \"{SECRET}\"\n}}\n"),
            )
            .write(
                "../home/outside/invalid",
                format!("machine h password {SECRET}\n"),
            )
            .write("../home/outside/x.tfvars", format!("{SECRET} = 1\n"))
            .write("../home/outside/below/file", "")
            .write("root.hcl", "")
            .require("module", &[("acme/anvil", "")]);
        let unit = "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\nterraform {\n  source = \"../../module\"\n}\n";
        for at in 0..GOOD {
            context.write(&format!("live/good{at}/terragrunt.hcl"), unit);
        }
        Self {
            _registry: registry,
            context,
            names: Vec::new(),
        }
    }

    /// Writes a file of the unit `name`.
    fn write(&mut self, name: &str, file: &str, text: &str) {
        let outside = self.context.path("../home/outside");
        let outside = outside.canonicalize().unwrap();
        let mark = self.context.path(SIDE_EFFECT);
        let text = text
            .replace("{OUT}", outside.to_str().unwrap())
            .replace("{MARK}", mark.to_str().unwrap());
        self.context.write(&format!("{}/{file}", path(name)), text);
        if !self.names.contains(&path(name)) {
            self.names.push(path(name));
        }
    }

    fn commit(&self) {
        git(&self.context.work(), "init --quiet --initial-branch=main");
        git_commit_all(&self.context.work());
    }

    /// Runs a command on all units. Checks that it ends within the bounds, executes and shows nothing, and writes the lock files of
    /// all harmless units and nothing else.
    fn lock(&self, options: &str) -> Outcome {
        let before = files(&self.context.work());
        let line = format!("lock -r --platform linux_amd64 --format json {options} live");
        let (outcome, cost) = self.context.command(&line).measure();
        let RunCost { wall, peak_memory } = cost;
        assert!(
            wall < MAX_TIME && peak_memory < MAX_MEMORY,
            "{wall:?}, {} MB",
            peak_memory >> 20
        );
        assert_silent(&outcome, &self.context, options);
        assert!(!outcome.to_string().contains("root:x:0"), "{outcome}");
        assert!(!self.context.path(SIDE_EFFECT).exists(), "{outcome}");
        let mut written = files(&self.context.work());
        written.retain(|file| !before.contains(file));
        written.retain(|file| !file.ends_with(".terraform.lock.hcl"));
        assert_eq!(written, BTreeSet::new(), "{outcome}");
        for at in 0..GOOD {
            let directory = format!("live/good{at}");
            let locked = self.context.lock_file(&directory);
            assert!(locked.is_some(), "{directory}\n{outcome}");
            self.context.remove_lock_file(&directory);
        }
        outcome
    }
}

/// Checks the status and a part of the diagnostics of the unit `name`. Returns how they differ.
fn check(outcome: &Outcome, name: &str, status: &str, expected: &str) -> Option<String> {
    let report = outcome.json();
    let directories = report["directories"].as_array().unwrap();
    let found = directories.iter().find(|found| found["path"] == path(name));
    let found = found.unwrap_or(&Value::Null);
    let diagnostics = found["diagnostics"].to_string();
    let is_right = found["status"] == status && diagnostics.contains(expected);
    let shown: String = found.to_string().chars().take(600).collect();
    (!is_right).then(|| format!("{name}: expected {status}, `{expected}`: {shown}"))
}

/// Returns the directory of the unit `name`.
fn path(name: &str) -> String {
    format!("live/{}", name.replace(' ', "-"))
}

/// Returns the paths of all files below a directory, except those of git.
fn files(directory: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut pending = vec![directory.to_path_buf()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            match entry.file_type().unwrap() {
                kind if kind.is_dir() && entry.file_name() != ".git" => pending.push(path),
                kind if kind.is_dir() => {}
                _ => drop(found.insert(path.display().to_string())),
            }
        }
    }
    found
}

/// Units that Terragrunt would let execute commands or write files. The columns: the name, the file, the status, and a part of the
/// diagnostics.
const EXECUTING: &str = r#"
    run_cmd in a local            | locals {\n  a = run_cmd("touch", "{MARK}")\n}\nterraform {\n  source = "../../module"\n} | created |
    run_cmd in a condition        | terraform {\n  source = true ? "../../module" : run_cmd("touch", "{MARK}")\n} | created |
    run_cmd decides the source    | terraform {\n  source = run_cmd("sh", "-c", "touch {MARK}; echo ../../module")\n} | skipped | depends on `run_cmd()`
    run_cmd decides what is read  | include "r" {\n  path = run_cmd("touch", "{MARK}")\n} | skipped | depends on `run_cmd()`
    sops                          | terraform {\n  source = sops_decrypt_file("x.yaml")\n} | skipped | depends on `sops_decrypt_file()`
    a hook before init            | terraform {\n  source = "../../module"\n  before_hook "h" {\n    commands = ["init"]\n    execute  = ["touch", "{MARK}"]\n  }\n} | created |
    hooks of the evaluation       | terraform {\n  source = "../../module"\n  after_hook "h" {\n    commands = ["terragrunt-read-config"]\n    execute  = ["touch", "{MARK}"]\n  }\n  error_hook "e" {\n    commands  = ["init"]\n    execute   = ["touch", "{MARK}"]\n    on_errors = [".*"]\n  }\n} | created |
    its own engine                | terraform_binary = "${get_terragrunt_dir()}/run.sh"\nterraform {\n  source = "../../module"\n} | created |
    a generated file elsewhere    | terraform {\n  source = "../../module"\n}\ngenerate "g" {\n  path = "{MARK}"\n  if_exists = "overwrite"\n  contents = "x"\n}\ngenerate "h" {\n  path = "../../../../../../../../../../../../EXECUTED"\n  if_exists = "overwrite"\n  contents = "x"\n} | created |
    a source that is a command    | terraform {\n  source = "git::ext::sh -c touch% {MARK}"\n} | failed |
    an option of git              | terraform {\n  source = "git::--upload-pack=touch% {MARK}"\n} | failed |
"#;

#[test]
fn nothing_is_executed_and_nothing_else_is_written() {
    let mut repository = HostileRepository::new();
    let rows = table::<4>(EXECUTING);
    for [name, file, ..] in &rows {
        repository.write(name, "terragrunt.hcl", &multiline(file));
    }
    repository.write("its own engine", "run.sh", "#!/bin/sh\ntouch {MARK}\n");
    repository.commit();
    for options in ["--engine terraform", "--engine terraform --untrusted"] {
        let outcome = repository.lock(options);
        let wrong = rows.iter().filter_map(|[name, _, status, expected]| {
            let wrong = check(&outcome, name, status, expected);
            if repository.context.lock_file(&path(name)).is_some() {
                repository.context.remove_lock_file(&path(name));
            }
            wrong
        });
        let wrong: Vec<_> = wrong.collect();
        assert!(wrong.is_empty(), "{options}\n{}", wrong.join("\n"));
    }
}

/// Expressions that would read files outside of the repository. The columns: the name, the expression of a local on which the source
/// depends, and a part of the error. Whether a file exists is not shown either.
const READING: &str = r#"
    a file of the system          | read_terragrunt_config("/etc/passwd")                       | it is outside
    a file with a default         | read_terragrunt_config("/etc/passwd", {})                   | it is outside
    a missing file with a default | read_terragrunt_config("/etc/passwd/missing.hcl", {})       | it is outside
    a missing file outside        | read_terragrunt_config("{OUT}/missing.hcl", {})             | it is outside
    a file outside                | read_terragrunt_config("{OUT}/secret.hcl").locals.secret    | it is outside
    a directory outside           | read_terragrunt_config("{OUT}")                             | it is outside
    text outside                  | file("{OUT}/secret.hcl")                                    | it is outside
    tried                         | try(file("{OUT}/secret.hcl"), "x")                          | it is outside
    a template outside            | templatefile("{OUT}/invalid", {})                           | it is outside
    whether a file exists         | fileexists("{OUT}/secret.hcl")                              | it is outside
    variables outside             | read_tfvars_file("{OUT}/x.tfvars")                          | it is outside
    a decision                    | yamldecode(file("/etc/passwd"))                             | it is outside
    a search                      | find_in_parent_folders("home/outside/secret.hcl")           | there is no `home/outside/secret.hcl`
    a search for a path           | find_in_parent_folders("../home/outside/secret.hcl")        | there is no `../home/outside/secret.hcl`
    a link                        | read_terragrunt_config("link.hcl")                          | it is outside
    text of a link                | file("link.hcl")                                            | it is outside
    git                           | file("../../.git/config")                                   | cannot be read by the configuration
    a device                      | read_terragrunt_config("/dev/zero")                         | it is outside
"#;

/// Units that lead outside without a function. The columns: the name, the file, and a part of the error.
const LEADING: &str = r#"
    a parent outside              | include "r" {\n  path = "{OUT}/secret.hcl"\n}                                                        | it is outside
    a parent that is a link       | include "r" {\n  path = "link.hcl"\n  expose = true\n}\nterraform {\n  source = include.r.locals.secret\n} | it is outside
    a variable file outside       | terraform {\n  source = "../../module"\n  extra_arguments "a" {\n    commands = ["init"]\n    required_var_files = ["{OUT}/x.tfvars"]\n  }\n} | outside
    a source that is a link       | terraform {\n  source = "./link"\n} | a symlink points outside the repository
    a copied link                 | terraform {\n  source = "../../module"\n} | its text is not shown, because it is outside the repository and was reached through a symlink
"#;

#[cfg(unix)]
#[test]
fn nothing_from_outside_is_shown() {
    let mut repository = HostileRepository::new();
    let reading = table::<3>(READING);
    for [name, expression, _] in &reading {
        let unit = format!(
            "locals {{\n  a = {expression}\n}}\nterraform {{\n  source = \"../../module/${{jsonencode(local.a)}}\"\n}}\n"
        );
        repository.write(name, "terragrunt.hcl", &unit);
        let context = &repository.context;
        context.link(
            "../../../home/outside/secret.hcl",
            &format!("{}/link.hcl", path(name)),
        );
    }
    let leading = table::<3>(LEADING);
    for [name, file, _] in &leading {
        repository.write(name, "terragrunt.hcl", &multiline(file));
    }
    // Symlinks in the place of files with fixed names.
    let linked = [
        ("a linked unit", "terragrunt.hcl", "it is outside"),
        ("linked values", "terragrunt.values.hcl", "it is outside"),
        ("a linked lock file", ".terraform.lock.hcl", "outside"),
    ];
    for (name, ..) in &linked[1..] {
        let unit = "terraform {\n  source = \"../../module\"\n}\n";
        repository.write(name, "terragrunt.hcl", unit);
    }
    repository.write(linked[0].0, "other.txt", "");
    let context = &repository.context;
    for (name, file, _) in &linked {
        context.link(
            "../../../home/outside/invalid",
            &format!("{}/{file}", path(name)),
        );
    }
    context
        .link("../../../home/outside", "live/a-source-that-is-a-link/link")
        .link(
            "../../../home/outside/secret.hcl",
            "live/a-parent-that-is-a-link/link.hcl",
        )
        .link("../../../home/outside/invalid", "live/a-copied-link/x.tf");
    repository.commit();
    for options in ["", "--untrusted"] {
        let outcome = repository.lock(options);
        let rows = reading.iter().chain(&leading);
        let rows = rows.map(|[name, _, expected]| (*name, *expected));
        let rows = rows.chain(linked.iter().map(|(name, _, expected)| (*name, *expected)));
        let wrong: Vec<_> = rows
            .filter_map(|(name, expected)| check(&outcome, name, "failed", expected))
            .collect();
        assert!(wrong.is_empty(), "{options}\n{}", wrong.join("\n"));
    }
}

/// A bomb: the name, a part of the error, and the files.
type UnitBomb = (
    &'static str,
    &'static str,
    fn() -> Vec<(&'static str, String)>,
);

const BUDGET: &str = "evaluation exceeds";

const TEN_MEGABYTES: &str = "locals {\n  a = join(\"\", [for i in range(1000) : \"0123456789\"])\n  b = [for i in range(1000) : local.a]\n}\n";

fn generate(contents: &str) -> String {
    format!(
        "generate \"g\" {{\n  path = \"g.tf\"\n  if_exists = \"overwrite\"\n  contents = {contents}\n}}\n"
    )
}

fn unit(text: impl Into<String>) -> Vec<(&'static str, String)> {
    vec![("terragrunt.hcl", text.into())]
}

fn repeated(count: usize, block: impl Fn(usize) -> String) -> String {
    (0..count).map(block).collect()
}

fn with_parent(strategy: &str, text: &str, parent: String) -> Vec<(&'static str, String)> {
    let include = format!(
        "include \"r\" {{\n  path = \"parent.hcl\"\n  merge_strategy = \"{strategy}\"\n}}\n"
    );
    vec![("terragrunt.hcl", include + text), ("parent.hcl", parent)]
}

const BOMBS: [UnitBomb; 19] = [
    (
        "parents that include each other",
        "an included file cannot include other files",
        || {
            let include = |path: &str| format!("include \"r\" {{\n  path = \"{path}\"\n}}\n");
            vec![
                ("terragrunt.hcl", include("a.hcl")),
                ("a.hcl", include("b.hcl")),
                ("b.hcl", include("a.hcl")),
            ]
        },
    ),
    (
        "files that read each other",
        "the file reads itself",
        || {
            let read =
                |path: &str| format!("locals {{\n  v = read_terragrunt_config(\"{path}\")\n}}\n");
            vec![
                ("terragrunt.hcl", read("a.hcl")),
                ("a.hcl", read("b.hcl")),
                ("b.hcl", read("a.hcl")),
            ]
        },
    ),
    ("locals in a circle", "depends on itself", || {
        unit("locals {\n  a = local.b\n  b = local.a\n}\n")
    }),
    ("locals that double", BUDGET, || {
        let doubled = repeated(40, |at| {
            format!("  l{} = [local.l{at}, local.l{at}]\n", at + 1)
        });
        unit(format!("locals {{\n  l0 = \"x\"\n{doubled}}}\n"))
    }),
    ("100 MB of generated text", BUDGET, || {
        let all = "join(\"\", [for i in range(10) : join(\"\", local.b)])";
        unit(TEN_MEGABYTES.to_owned() + &generate(all))
    }),
    ("100 MB of text from a file", BUDGET, || {
        let text = "x".repeat(100_000_000);
        vec![
            ("terragrunt.hcl", generate("file(\"text\")")),
            ("text", text),
        ]
    }),
    (
        "a unit of 100 MB",
        "the limit for configuration files",
        || unit("#".repeat(100_000_000)),
    ),
    ("a template that loops", BUDGET, || {
        let loops = "%{ for a in range(1000) }%{ for b in range(1000) }%{ for c in range(1000) }x%{ endfor }%{ endfor }%{ endfor }";
        vec![
            ("terragrunt.hcl", generate("templatefile(\"t\", {})")),
            ("t", loops.to_owned()),
        ]
    }),
    ("a file that is read in a loop", BUDGET, || {
        let read =
            "[for i in range(1000) : [for j in range(1000) : read_terragrunt_config(\"f.hcl\")]]";
        vec![
            ("terragrunt.hcl", format!("locals {{\n  v = {read}\n}}\n")),
            ("f.hcl", "locals {\n  v = range(1000)\n}\n".to_owned()),
        ]
    }),
    ("searches in a loop", BUDGET, || {
        unit(
            "locals {\n  v = [for i in range(1000) : [for j in range(1000) : 1 if find_in_parent_folders(\"${i}-${j}\", \"\") == \"x\"]]\n}\n",
        )
    }),
    ("many includes", "more than 256 `include` blocks", || {
        let include = |at| format!("include \"i{at}\" {{\n  path = \"../../root.hcl\"\n}}\n");
        unit(repeated(100_000, include))
    }),
    ("many generated files in one argument", BUDGET, || {
        unit(
            "generate = { for i in range(1000) : \"l${i}\" => { path = \"${i}.txt\", if_exists = \"skip\", contents = range(1000) } }\n",
        )
    }),
    (
        "many features",
        "neither the source nor the unit contains a configuration",
        || {
            let features = |name: &str| {
                repeated(50_000, |at| {
                    format!("feature \"{name}{at}\" {{\n  default = 1\n}}\n")
                })
            };
            with_parent("shallow", &features("a"), features("b"))
        },
    ),
    (
        "many hooks",
        "neither the source nor the unit contains a configuration",
        || {
            let hooks = |name: &str| {
                let hook = |at| {
                    format!(
                        "  after_hook \"{name}{at}\" {{\n    commands = []\n    execute = []\n  }}\n"
                    )
                };
                format!("terraform {{\n{}}}\n", repeated(30_000, hook))
            };
            with_parent("deep", &hooks("a"), hooks("b"))
        },
    ),
    ("lists that are merged", BUDGET, || {
        let inputs = "inputs = {\n  a = [for i in range(1000) : [for j in range(200) : i]]\n}\n";
        with_parent("deep", inputs, inputs.to_owned())
    }),
    ("a long glob", "a glob of more than 4096 bytes", || {
        unit(
            "terraform {\n  source = \"../../module\"\n  include_in_copy = [join(\"\", [for i in range(1000) : \"*a{b,c}\"])]\n}\n",
        )
    }),
    (
        "a long pattern",
        "the pattern is longer than 4096 bytes",
        || {
            unit(
                "locals {\n  v = mark_glob_as_read(join(\"\", [for i in range(1000) : \"*a{b,c}\"]))\n}\n",
            )
        },
    ),
    ("many globs", "too many files for the globs", || {
        let globs = "flatten([for i in range(1000) : [for j in range(15) : \"**/${i}/*b*${j}\"]])";
        unit(format!(
            "terraform {{\n  source = \"../../many\"\n  include_in_copy = {globs}\n}}\n"
        ))
    }),
    ("a variable for each value", BUDGET, || {
        unit(format!(
            "inputs = {{\n{}}}\n",
            repeated(300_000, |at| format!("  v{at} = 1\n"))
        ))
    }),
];

#[test]
fn bombs_fail_alone_within_bounds() {
    let mut repository = HostileRepository::new();
    for at in 0..300 {
        repository.context.write(&format!("many/{at}"), "");
    }
    for (name, _, files) in &BOMBS {
        for (file, text) in files() {
            repository.write(name, file, &text);
        }
    }
    repository.commit();
    let outcome = repository.lock("--untrusted");
    let wrong = BOMBS
        .iter()
        .filter_map(|(name, expected, _)| check(&outcome, name, "failed", expected));
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
