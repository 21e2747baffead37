//! Help, completions, manual pages, and suggestions for misspelled words.

use std::process::Command;
use std::time::Duration;

use tflock_test_support::{
    FakeRegistry, Misbehave, Outcome, ProviderSpec, TestContext, assert_contains, table,
};

use crate::TFLOCK;

const COMMANDS: [&str; 10] = [
    "init",
    "lock",
    "verify",
    "list",
    "mirror",
    "config",
    "cache",
    "index",
    "completions",
    "man",
];

/// The headings in the help of the commands.
const HEADINGS: [&str; 16] = [
    "Arguments:",
    "Cache:",
    "Commands:",
    "Examples:",
    "Hash index:",
    "How configurations are read:",
    "How to run:",
    "Options:",
    "Output options:",
    "Usage:",
    "What the configuration may do:",
    "What to check:",
    "What to keep:",
    "What to lock:",
    "Where packages come from:",
    "Which directories:",
];

fn run(arguments: &str) -> Outcome {
    let context = TestContext::offline(TFLOCK);
    context.run(arguments)
}

#[test]
fn the_help_of_every_command_has_examples() {
    for command in COMMANDS {
        let help = run(&format!("{command} --help")).expect_success().stdout;
        assert!(help.contains("Examples:"), "{command}\n{help}");
        let widest = help.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{command}: {widest:?}");
        let is_heading = |line: &&str| line.ends_with(':') && !line.starts_with(' ');
        for heading in help.lines().filter(is_heading) {
            assert!(HEADINGS.contains(&heading), "{command}: {heading}");
        }
    }
    let help = run("--help").expect_success().stdout;
    for command in COMMANDS {
        assert!(
            help.contains(&format!("\n  {command} ")),
            "{command}\n{help}"
        );
    }
}

#[test]
fn short_help_fits_on_one_screen_and_long_help_starts_with_examples() {
    let context = TestContext::offline(TFLOCK);
    let all = COMMANDS.iter().map(|command| (*command, 40));
    for (command, most) in all.chain([("", 25)]) {
        let short = context
            .command(&format!("{command} -h"))
            .env("COLUMNS", "80");
        let short = short.run().expect_success().stdout;
        let lines = short.lines().count();
        assert!(lines <= most, "{command}: {lines} lines\n{short}");
        let widest = short.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{command}: {widest:?}\n{short}");
        let long = run(&format!("{command} --help")).expect_success().stdout;
        let [usage, examples, options] =
            ["Usage: ", "\nExamples:\n", "  -q, --quiet"].map(|part| long.find(part));
        assert!(
            usage.is_some() && usage < examples && examples < options,
            "{long}"
        );
    }
}

#[test]
fn groups_of_options_are_in_the_order_of_need() {
    let help = run("lock --help").expect_success().stdout;
    let headings = help
        .lines()
        .filter(|line| line.ends_with(':') && !line.starts_with(' '));
    let expected = [
        "Examples:",
        "Arguments:",
        "Which directories:",
        "What to lock:",
        "How to run:",
        "Output options:",
        "How configurations are read:",
        "Where packages come from:",
        "What the configuration may do:",
        "Cache:",
        "Hash index:",
    ];
    assert_eq!(headings.collect::<Vec<_>>(), expected);
}

#[test]
fn completions_are_made_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(&format!("completions {shell}")).expect_success().stdout;
        for word in ["missing-platform", "changed", "completions"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let script = run("-q completions bash").expect_success().stdout;
    let Ok(output) = Command::new("bash").args(["-n", "-c", &script]).output() else {
        return;
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn manual_pages_have_the_options_of_their_command() {
    let page = run("man").expect_success().stdout;
    assert_contains(&page, ".TH tflock 1");
    assert_contains(&page, "SUBCOMMANDS");
    let page = run("man lock").expect_success().stdout;
    for part in [
        ".TH tflock-lock 1",
        "missing\\-platform",
        "\\-\\-quiet",
        "Examples:",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let outcome = run("man look").expect_code(2);
    outcome.assert_stderr("hint: use one of these commands: init, lock, ");
}

#[test]
fn misspelled_words_lead_to_suggestions() {
    for [arguments, suggestion] in table(
        "
            lokc                        | tip: a similar subcommand exists: 'lock'
            lock --platfrom linux_amd64 | tip: a similar argument exists: '--platform'
            lock --create allways       | tip: a similar value exists: 'always'
            lock --platform linux-amd64 | hint: did you mean `linux_amd64`?
            lock --platform macos/arm64 | hint: did you mean `darwin_arm64`?
            completions bsh             | tip: a similar value exists: 'bash'
        ",
    ) {
        let outcome = run(arguments).expect_code(2);
        assert!(
            outcome.stderr.contains(suggestion),
            "{arguments}\n{outcome}"
        );
    }
}

/// Creates a directory with one provider, and a registry that responds slowly.
fn slow() -> (FakeRegistry, TestContext) {
    let registry = FakeRegistry::with(ProviderSpec::new("acme/anvil"));
    registry.misbehave(Misbehave::on("*/versions").delay(Duration::from_millis(400)));
    let context = TestContext::new(TFLOCK, &registry);
    context.require("a", &[("acme/anvil", "1.0.0")]);
    (registry, context)
}

#[test]
fn a_quiet_success_prints_nothing() {
    let (_registry, context) = slow();
    for _ in ["created", "unchanged"] {
        let outcome = context.run("lock -q a").expect_success();
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""));
    }
}

/// Returns the terminal output of a run, or `None` if the program `script` is not installed.
#[cfg(target_os = "linux")]
fn on_terminal(
    context: &TestContext,
    arguments: &str,
    variables: &[(&str, &str)],
) -> Option<String> {
    Command::new("script").arg("--version").output().ok()?;
    let mut command = Command::new("script");
    command
        .args(["-qec", &format!("{TFLOCK} {arguments}"), "/dev/null"])
        .current_dir(context.work())
        .env(
            "TF_CLI_CONFIG_FILE",
            context.work().join("../home/terraform.rc"),
        )
        .env("TFLOCK_CACHE_DIR", context.cache())
        .env("NO_COLOR", "1")
        .env("TERM", "xterm")
        .env_remove("CI")
        .envs(variables.iter().copied());
    let output = command.output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.is_ascii(), "{shown}");
    Some(shown)
}

/// The first progress line, which must be erased before the run prints a permanent line.
#[cfg(target_os = "linux")]
const FIRST_PROGRESS: &str = "| reading directories, querying registries  0s";

/// Progress is shown only on a terminal, and not in continuous integration.
#[cfg(target_os = "linux")]
#[test]
fn progress_is_for_terminals_only_and_in_ascii() {
    for (arguments, variables, expected) in [
        ("lock a", &[][..], true),
        ("verify a", &[], true),
        ("list a", &[], true),
        ("mirror m a", &[], true),
        ("lock a", &[("CI", "true")], false),
        ("lock -q a", &[], false),
        ("lock a 2>/dev/null", &[], false),
    ] {
        let (_registry, context) = slow();
        let Some(shown) = on_terminal(&context, arguments, variables) else {
            return;
        };
        assert_eq!(
            shown.starts_with(FIRST_PROGRESS),
            expected,
            "{arguments}: {shown}"
        );
        if expected {
            // The progress line is erased before the first line of the result.
            let (_, rest) = shown.rsplit_once("\r\u{1b}[2K").unwrap();
            assert!(
                !rest.contains("querying registries"),
                "{arguments}: {shown}"
            );
        }
    }
    let (_registry, context) = slow();
    let outcome = context.run("lock a").expect_success();
    assert_eq!(outcome.stderr, "");
}

/// The first progress line is printed before tflock reads settings, the working set and callers, which takes seconds in
/// a large repository.
#[cfg(target_os = "linux")]
#[test]
fn progress_is_shown_before_settings_are_read() {
    let (_registry, context) = slow();
    context.write(".tflock.toml", "platfroms = []\n");
    for command in ["lock", "verify", "list", "mirror m"] {
        let Some(shown) = on_terminal(&context, command, &[]) else {
            return;
        };
        assert!(shown.starts_with(FIRST_PROGRESS), "{command}: {shown}");
        let (_, rest) = shown.rsplit_once("\r\u{1b}[2K").unwrap();
        assert!(rest.starts_with("error: "), "{command}: {shown}");
    }
}
