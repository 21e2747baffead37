//! Users of Terraform and tfupdate type what they are used to, and get a hint or what they want.

use tflock_test_support::{TestContext, table};

use crate::TFLOCK;

#[test]
fn arguments_of_other_tools_are_explained() {
    let context = TestContext::offline(TFLOCK);
    context.write("main.tf", "locals {}\n");
    for [line, argument, tip] in table(
        "
        lock -platform=linux_amd64      | argument '-platform'    | long options have two dashes: '--platform'
        lock -platform linux_amd64      | argument '-platform'    | long options have two dashes: '--platform'
        lock -upgrade                   | argument '-upgrade'     | long options have two dashes: '--upgrade'
        lock -fs-mirror=/srv/providers  | argument '-fs-mirror'   | long options have two dashes: '--fs-mirror'
        lock -net-mirror=https://m.test | argument '-net-mirror'  | long options have two dashes: '--net-mirror'
        lock -ignore-path=x .           | argument '-ignore-path' | long options have two dashes: '--ignore-path'
        lock -recursive                 | argument '-recursive'   | long options have two dashes: '--recursive'
        lock -var=password=secret       | argument '-var'         | long options have two dashes: '--var'
        lock -json                      | argument '-json'        | use '--format json'
        lock --json                     | argument '--json'       | use '--format json'
        list --json                     | argument '--json'       | use '--format json'
        lock -no-color                  | argument '-no-color'    | use '--color never'
        lock --parallelism=4            | argument '--parallelism' | use '--jobs'
        lock -parallelism=4             | argument '-parallelism' | use '--jobs'
        lock --dry-run                  | argument '--dry-run'    | use '--check'
        lock -lockfile=readonly         | argument '-lockfile'    | to write nothing, use '--check'
        lock -plugin-dir=providers      | argument '-plugin-dir'  | use '--fs-mirror'
        lock -input=false .             | argument '-input'       | omit it: tflock runs neither Terraform nor OpenTofu
        lock --backend-config=key=x     | argument '--backend-config' | omit it: tflock runs neither Terraform nor OpenTofu
        -chdir=stacks/network lock      | argument '-chdir'       | pass the directory as an argument: 'tflock lock DIR'
        --chdir=stacks/network lock     | argument '--chdir'      | pass the directory as an argument: 'tflock lock DIR'
        verify --check                  | argument '--check'      | '--check' is an option of 'tflock lock'
        mirror --callers packages modules/a | argument '--callers' | '--callers' is an option of 'tflock lock'
        lock --recursiv                 | argument '--recursiv'   | a similar argument exists: '--recursive'
        lock -C stacks                  | argument '-C'           | pass the directory as an argument: 'tflock lock DIR'
        lock -n                         | argument '-n'           | use '--check'
        lock --exclude=legacy           | argument '--exclude'    | use '--ignore-path'
        lock --output json              | argument '--output'     | use '--format'
        list -o json                    | argument '-o'           | use '--format'
        lock --force                    | argument '--force'      | to ask the registries again, use '--refresh'
        lock --write                    | argument '--write'      | omit it: only '--check' prevents writing
        verify --fix                    | argument '--fix'        | to correct lock files, use 'tflock lock'
        init -r                         | argument '-r'         | '-r' is an option of 'tflock lock'
        cache info -j2                  | argument '-j'         | '-j' is an option of 'tflock lock'
        providers lock -platform=x      | subcommand 'providers'  | use 'tflock lock'
        providers mirror packages       | subcommand 'providers'  | use 'tflock mirror'
        providers                       | subcommand 'providers'  | use 'tflock list'
        upgrade                         | subcommand 'upgrade'    | use 'tflock lock --upgrade'
        status                          | subcommand 'status'     | use 'tflock lock --check --diff'
        plan                            | subcommand 'plan'       | use 'tflock lock --check --diff'
        validate                        | subcommand 'validate'   | use 'tflock verify'
    ",
    ) {
        let outcome = context.run(line).expect_code(2);
        outcome.assert_stderr(argument);
        outcome.assert_stderr(&format!("  tip: {tip}\n\nUsage: tflock"));
        assert!(!outcome.stderr.contains("secret"), "{line}");
        assert_eq!(context.lock_file("."), None, "{line}");
    }
}

#[test]
fn other_spellings_of_help_and_version_work() {
    let context = TestContext::offline(TFLOCK);
    for [ours, others] in table(
        "
        --version   | version
        --version   | -version
        --help      | -help
        lock --help | lock -help
    ",
    ) {
        let expected = context.run(ours).expect_success().stdout;
        assert_eq!(context.run(others).expect_success().stdout, expected);
    }
}

/// `-rq` and `-i^legacy` are short options; `-- -json` is the name of a file.
#[test]
fn short_options_are_still_short_options() {
    let context = TestContext::offline(TFLOCK);
    context.write("a/main.tf", "locals {}\n");
    context.write("-json/main.tf", "locals {}\n");
    for line in ["lock -rq", "lock -r -i^legacy -j2", "lock -vv -- -json"] {
        context.run(line).expect_success();
    }
}
