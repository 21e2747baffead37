//! `tflock init`: what it finds, and what it never does.

use tflock_test_support::{Outcome, TestContext, assert_contains, table};

use crate::TFLOCK;

/// Creates a repository with these files.
fn repository(tree: &str) -> TestContext {
    let context = TestContext::offline(TFLOCK);
    context.write(".git/HEAD", "ref: refs/heads/main\n");
    context.write_tree(tree);
    context
}

/// Returns the lines of the config file that contain values, without indentation.
fn values(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    let values = lines.filter(|line| !line.starts_with(['#', ']']) && !line.ends_with('['));
    let values = values.filter(|line| !line.is_empty());
    values
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

/// The clues about this machine's platform depend on the machine.
fn without_this_machine(values: Vec<String>) -> Vec<String> {
    let others = values
        .into_iter()
        .filter(|line| !line.ends_with("# this machine"));
    others
        .map(|line| line.replace(", and 1 more place", ""))
        .collect()
}

fn print(context: &TestContext) -> Outcome {
    context.run("init --print").expect_success()
}

const PLATFORMS: &str = "
    -- .github/workflows/plan.yml --
    jobs:
      plan:
        runs-on: ${{ matrix.os }}
        strategy: { matrix: { os: [freebsd-latest, windows-2025] } }
        steps: [{ run: terraform init }]
    -- .github/workflows/docs.yml --
    jobs: { docs: { runs-on: macos-13 } }
    -- .gitlab/ci/modules.yaml --
    script: terraform providers lock -platform=darwin_arm64
    -- .pre-commit-config.yaml --
    args:
      - --args=-platform=freebsd_amd64
      # - --args=-platform=openbsd_amd64
    -- scripts/lock.sh --
    for platform in linux_arm64; do
    -- scripts/download.sh --
    curl -O https://releases.test/terraform_1.11.4_solaris_amd64.zip
    -- notes/lock.sh --
    terraform providers lock -platform=windows_386
";

#[test]
fn platforms_come_from_the_automation_of_the_repository() {
    let context = repository(PLATFORMS);
    let found = without_this_machine(values(&print(&context).stdout));
    let expected = [
        r#""darwin_arm64", # .gitlab/ci/modules.yaml:1"#,
        r#""freebsd_amd64", # .pre-commit-config.yaml:2"#,
        r#""linux_arm64", # scripts/lock.sh:1"#,
        r#""windows_amd64", # .github/workflows/plan.yml:4"#,
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_engine_is_written_if_every_clue_names_opentofu() {
    for [file, text, expected] in table(
        "
        stacks/a/main.tofu                 | locals {}                  | engine = \"tofu\"
        stacks/a/.terraform.lock.hcl       | # by \"tofu init\".         | engine = \"tofu\"
        .opentofu-version                  | 1.10.0                     | engine = \"tofu\"
        .tool-versions                     | opentofu 1.10.0            | engine = \"tofu\"
        .github/workflows/a.yml            | uses: opentofu/setup-opentofu@v1 | engine = \"tofu\"
        .github/workflows/a.yml            | uses: hashicorp/setup-terraform@v3 |
        .terraform-version                 | 1.11.4                     |
        Makefile                           | tofu init && terraform init | tofu: Makefile:1
    ",
    ) {
        let context = repository("");
        context.write(file, format!("{text}\n"));
        let text = print(&context).stdout;
        let is_found =
            text.contains(expected) && text.contains("tofu\"") == expected.ends_with('"');
        assert!(is_found, "{file}\n{text}");
    }
    let context = repository("");
    context
        .write(".opentofu-version", "1.10.0\n")
        .write("a/.terraform-version", "1.11.4\n");
    context.write("a/main.tf", "");
    let text = print(&context).stdout;
    assert_contains(
        &text,
        "#   terraform: a/.terraform-version\n#   tofu: .opentofu-version\n",
    );
    assert!(!text.contains("engine ="), "{text}");
}

#[test]
fn directories_without_lock_files_of_their_own_are_ignored() {
    let tree = "
        -- examples/basic/main.tf --
        locals {}
        -- modules/vpc/examples/full/main.tf --
        locals {}
        -- vendor/stack/main.tf --
        locals {}
        -- vendor/locked/.terraform.lock.hcl --
        -- testdata/README.md --
        -- stacks/a/main.tf --
        locals {}
        -- stacks/a/.terraform/modules/examples/main.tf --
        locals {}
    ";
    let context = repository(tree);
    let found = without_this_machine(values(&print(&context).stdout));
    let locked =
        "# Not ignored, because of a lock file: directories named vendor (vendor/locked)\n";
    assert_contains(&print(&context).stdout, locked);
    assert_eq!(found, [r"'(^|/)examples(/|$)', # examples/basic"]);
    context.run("init").expect_success();
    let list = context.run("list -r --offline").expect_success();
    list.assert_stdout("examples/basic             ignored");
    list.assert_stdout("modules/vpc/examples/full  ignored");
    list.assert_stdout("1 root, 2 without providers, 2 ignored");
}

#[test]
fn lock_files_reveal_the_number_of_platforms() {
    let context = repository("");
    let hashes = ["A", "B", "C", "D", "E"].map(|letter| format!("\"h1:{}=\"", letter.repeat(43)));
    let text = format!(
        "provider \"registry.terraform.io/acme/anvil\" {{\n  version = \"1.0.0\"\n  hashes = [{}]\n}}\n",
        hashes.join(", ")
    );
    context.write_lock_file("a", text);
    context.write_lock_file("b", "provider {");
    let outcome = print(&context);
    outcome.assert_stdout("# Incomplete: a/.terraform.lock.hcl has `h1` hashes for 5 platforms");
    outcome.assert_stderr("not read: b/.terraform.lock.hcl: it is not a valid lock file\n");
}

#[test]
fn the_file_is_created_once_and_accepted() {
    let context = repository(PLATFORMS);
    context.write("stacks/a/main.tf", "locals {}\n");
    let printed = print(&context).stdout;
    assert!(!context.path(".tflock.toml").exists());
    let mut command = context
        .command("init")
        .current_dir(context.path("stacks/a"));
    command.run().expect_success().assert_stdout(&printed);
    assert_eq!(context.read(".tflock.toml"), printed);
    let config = context.run("config stacks/a").expect_success();
    config.assert_stdout("stacks/a: governed by .tflock.toml");
    config.assert_stdout("darwin_arm64, freebsd_amd64, ");
    context.write(".tflock.toml", "jobs = 2\n");
    let outcome = context.run("init").expect_code(2);
    outcome.assert_stderr(
        "error: cannot create `.tflock.toml`: it already exists\n\nhint: edit the file",
    );
    assert_eq!(context.read(".tflock.toml"), "jobs = 2\n");
    context
        .run("init stacks")
        .expect_success()
        .assert_stdout("created stacks/.tflock.toml");
    for [directory, expected] in table(
        "
        nowhere          | cannot access `nowhere`
        stacks/a/main.tf | cannot access `stacks/a/main.tf`
    ",
    ) {
        let outcome = context.run(&format!("init {directory}")).expect_code(2);
        outcome.assert_stderr(expected);
    }
    command = context.command("init -q stacks/a");
    assert_eq!(command.run().expect_success().stdout, "");
    assert_eq!(context.list("stacks/a"), [".tflock.toml", "main.tf"]);
}

/// Outside a repository, the file belongs to the working directory.
#[test]
fn a_directory_without_a_repository_gets_the_file_itself() {
    let context = TestContext::offline(TFLOCK);
    context.write("a/main.tf", "");
    let command = context.command("init").current_dir(context.path("a"));
    command
        .run()
        .expect_success()
        .assert_stdout("created .tflock.toml");
    assert!(context.path("a/.tflock.toml").exists());
}

#[test]
fn only_one_of_several_runs_creates_the_file() {
    let context = repository(PLATFORMS);
    let codes = std::thread::scope(|scope| {
        let run = || context.run("init").code;
        let runs: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
        runs.into_iter()
            .map(|run| run.join().unwrap())
            .collect::<Vec<_>>()
    });
    let created = codes.iter().filter(|code| **code == Some(0)).count();
    let refused = codes.iter().filter(|code| **code == Some(2)).count();
    assert_eq!((created, refused), (1, 7));
    let names = context.list(".");
    let temporary = names
        .iter()
        .filter(|name| name.starts_with(".tflock.toml-"));
    assert_eq!(temporary.count(), 0, "{names:?}");
    context.run("config").expect_success();
}

/// A stranger's repository cannot make the command read or write outside it, block, or write an invalid file.
#[cfg(unix)]
#[test]
fn a_hostile_repository_is_searched_safely() {
    let context = repository("");
    let outside = context.work().with_file_name("home");
    std::fs::create_dir(outside.join("ci")).unwrap();
    std::fs::write(outside.join("ci/a.yml"), "-platform=solaris_amd64\n").unwrap();
    context.link("../home/ci/a.yml", "Makefile");
    context.link("../home/ci", "ci");
    context.link("/dev/zero", ".gitlab-ci.yml");
    let pipe = std::process::Command::new("mkfifo")
        .arg(context.path("justfile"))
        .status();
    assert!(pipe.unwrap().success());
    let large = " ".repeat(1024 * 1024) + "\n-platform=openbsd_amd64\n";
    context.write("scripts/large.sh", large);
    context.write("scripts/binary.sh", b"\xff\xfe -platform=freebsd_arm64\n\0");
    context.write("examples/a\nb = 1 \u{202e}\"'/main.tf", "locals {}\n");
    let outcome = print(&context);
    for unread in [
        "not read: Makefile: a symlink points outside the repository\n",
        "not read: ci: a symlink points outside the repository\n",
        "not read: .gitlab-ci.yml: a symlink points outside the repository\n",
        "not read: justfile: it is not a regular file\n",
    ] {
        outcome.assert_stderr(unread);
    }
    let found = without_this_machine(values(&outcome.stdout));
    let expected = [
        r#""freebsd_arm64", # scripts/binary.sh:1"#,
        r#"'(^|/)examples(/|$)', # examples/a\nb = 1 \u{202e}"'"#,
    ];
    assert_eq!(found, expected);

    context.link("../home/created.toml", ".tflock.toml");
    context.run("init").expect_code(2);
    assert!(!outside.join("created.toml").exists());
    std::fs::remove_file(context.path(".tflock.toml")).unwrap();
    context.link("../home", "leaving");
    context
        .run("init leaving")
        .expect_code(2)
        .assert_stderr("a symlink points outside");
    assert!(!outside.join(".tflock.toml").exists());
    context.run("init").expect_success();
    context.run("config").expect_success();
}
