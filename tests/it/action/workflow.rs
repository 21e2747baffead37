//! Reads workflow files and runs their scripts as a runner does: it fills in expressions, provides files for outputs,
//! and starts `bash -e`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use saphyr_parser::{Event, Parser};
use tempfile::TempDir;

use crate::TFLOCK;

/// A node of a YAML document. All scalars are treated as text.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Text(String),
    List(Vec<Self>),
    Map(BTreeMap<String, Self>),
}

impl Node {
    /// Reads a file of this repository.
    pub(super) fn read(path: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let text = fs::read_to_string(path).unwrap();
        let events = Parser::new_from_str(&text).map(|event| event.unwrap().0);
        let mut events =
            events.filter(|event| !matches!(event, Event::StreamStart | Event::DocumentStart(_)));
        let first = events.next().unwrap();
        Self::from(first, &mut events)
    }

    fn from<'a>(event: Event<'a>, events: &mut impl Iterator<Item = Event<'a>>) -> Self {
        match event {
            Event::Scalar(text, ..) => Self::Text(text.into_owned()),
            Event::SequenceStart(..) => {
                let mut list = Vec::new();
                loop {
                    match events.next().unwrap() {
                        Event::SequenceEnd => return Self::List(list),
                        event => list.push(Self::from(event, events)),
                    }
                }
            }
            Event::MappingStart(..) => {
                let mut map = BTreeMap::new();
                loop {
                    match events.next().unwrap() {
                        Event::MappingEnd => return Self::Map(map),
                        key => {
                            let key = Self::from(key, events).text().to_owned();
                            let value = events.next().unwrap();
                            map.insert(key, Self::from(value, events));
                        }
                    }
                }
            }
            other => panic!("{other:?} is not expected in a workflow"),
        }
    }

    /// Returns the node at this path of keys, separated by `/`.
    #[track_caller]
    pub(super) fn at(&self, keys: &str) -> &Self {
        keys.split('/').fold(self, |node, key| {
            node.get(key)
                .unwrap_or_else(|| panic!("`{keys}` is missing"))
        })
    }

    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(map) => map.get(key),
            _ => None,
        }
    }

    pub(super) fn map(&self) -> &BTreeMap<String, Self> {
        match self {
            Self::Map(map) => map,
            other => panic!("{other:?} is not a mapping"),
        }
    }

    pub(super) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            other => panic!("{other:?} is not text"),
        }
    }

    pub(super) fn list(&self) -> &[Self] {
        match self {
            Self::List(list) => list,
            other => panic!("{other:?} is not a list"),
        }
    }
}

/// Returns the step with this name, or the step whose script starts with it.
#[track_caller]
pub(super) fn step<'a>(steps: &'a Node, name: &str) -> &'a Node {
    let is_it = |step: &&Node| {
        let says = |key: &str| {
            step.get(key)
                .is_some_and(|text| text.text().starts_with(name))
        };
        says("name") || says("run")
    };
    steps
        .list()
        .iter()
        .find(is_it)
        .unwrap_or_else(|| panic!("there is no step `{name}`"))
}

/// A simulated runner: its directories, and the values of `${{ ... }}` expressions.
pub(super) struct Runner {
    root: TempDir,
    contexts: BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
}

/// The result of a step.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    /// Standard output followed by standard error.
    pub(super) output: String,
}

impl Ended {
    #[track_caller]
    pub(super) fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.output);
        self
    }
}

impl Runner {
    /// Creates a Linux runner with an empty workspace. [`Runner::install_tflock`] adds `tflock` to its path.
    pub(super) fn new() -> Self {
        let root = TempDir::with_prefix("tflock-runner").unwrap();
        for directory in ["temp", "workspace", "home"] {
            fs::create_dir(root.path().join(directory)).unwrap();
        }
        let runner = Self {
            root,
            contexts: BTreeMap::new(),
            variables: BTreeMap::new(),
        };
        runner.with("RUNNER_OS", "Linux").with("RUNNER_ARCH", "X64")
    }

    /// Sets an environment variable for all steps.
    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Sets the value of an expression such as `inputs.command`.
    pub(super) fn means(mut self, expression: &str, value: &str) -> Self {
        self.contexts
            .insert(expression.to_owned(), value.to_owned());
        self
    }

    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    pub(super) fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).unwrap_or_default()
    }

    /// Adds the binary under test to the path of all steps.
    pub(super) fn install_tflock(&self) {
        let directory = self.path("temp/tflock-bin");
        fs::create_dir_all(&directory).unwrap();
        std::os::unix::fs::symlink(TFLOCK, directory.join("tflock")).unwrap();
    }

    /// Runs the script of a step in `directory`, as described for `shell: bash` at <https://docs.github.com/actions>.
    pub(super) fn run(&self, step: &Node, directory: &str) -> Ended {
        let script = step.at("run").text();
        assert!(
            !script.contains("${{"),
            "an expression in a script allows code injection: {script}"
        );
        let file = self.path("temp/script.sh");
        fs::write(&file, script).unwrap();
        let installed = self.path("temp/tflock-bin");
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new("bash");
        command
            .args(["--noprofile", "--norc", "-e", "-o", "pipefail"])
            .arg(file)
            .current_dir(self.path(directory))
            .env_clear()
            .env("PATH", format!("{}:{path}", installed.display()))
            .env("HOME", self.path("home"))
            .env("CI", "true")
            .env("RUNNER_TEMP", self.path("temp"))
            .env("GITHUB_WORKSPACE", self.path("workspace"))
            .envs(&self.variables);
        for name in ["PATH", "OUTPUT", "ENV", "STEP_SUMMARY"] {
            command.env(
                format!("GITHUB_{name}"),
                self.path(&format!("temp/GITHUB_{name}")),
            );
        }
        let none = BTreeMap::new();
        let variables = step.get("env").map_or(&none, Node::map);
        command.envs(
            variables
                .iter()
                .map(|(name, value)| (name, self.fill(value.text()))),
        );
        let output = command.output().unwrap();
        Ended {
            code: output.status.code(),
            output: [output.stdout, output.stderr]
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .concat(),
        }
    }

    /// Returns the value of an expression, or `value` itself if it is not an expression.
    fn fill(&self, value: &str) -> String {
        let inner = value
            .strip_prefix("${{ ")
            .and_then(|rest| rest.strip_suffix(" }}"));
        match inner {
            Some(expression) => self
                .contexts
                .get(expression)
                .cloned()
                .unwrap_or_else(|| panic!("the test does not set `{expression}`")),
            None => value.to_owned(),
        }
    }

    /// Returns the outputs that the steps have set so far.
    pub(super) fn outputs(&self) -> BTreeMap<String, String> {
        let text = self.read("temp/GITHUB_OUTPUT");
        let mut lines = text.lines();
        let mut outputs = BTreeMap::new();
        while let Some(line) = lines.next() {
            if let Some((name, delimiter)) = line.split_once("<<") {
                let value: Vec<&str> = lines
                    .by_ref()
                    .take_while(|line| *line != delimiter)
                    .collect();
                outputs.insert(name.to_owned(), value.join("\n"));
            } else {
                let (name, value) = line.split_once('=').unwrap();
                outputs.insert(name.to_owned(), value.to_owned());
            }
        }
        outputs
    }
}

/// Returns whether `programs` are installed. Every GitHub runner has them.
pub(super) fn can_run(programs: &[&str]) -> bool {
    let has = |program: &&str| Command::new(program).arg("--version").output().is_ok();
    programs.iter().all(has)
}
