//! Random lock files for a configuration, with the operations that read them.

use super::case::{GeneratedCase, Operation, ToolEngine};
use super::constraints;
use super::random::Random;
use super::source_text::{CaseFile, Literal, Node};

/// A provider of the registry.
pub(super) struct PublishedProvider {
    /// The host. `None` if both default hosts have the provider.
    pub(super) host: Option<&'static str>,
    pub(super) name: &'static str,
    pub(super) versions: &'static [&'static str],
}

/// The providers of the registry.
pub(super) const PUBLISHED: [PublishedProvider; 6] = [
    PublishedProvider {
        host: None,
        name: "acme/anvil",
        versions: &["0.9.0", "1.0.0", "1.1.0", "1.2.0-beta1", "2.0.0"],
    },
    PublishedProvider {
        host: None,
        name: "acme/bolt",
        versions: &["1.0.0", "1.9.0", "1.10.0"],
    },
    PublishedProvider {
        host: None,
        name: "hashicorp/null",
        versions: &["3.1.1", "3.2.1"],
    },
    PublishedProvider {
        host: None,
        name: "hashicorp/tls",
        versions: &["1.0.0", "2.0.0"],
    },
    PublishedProvider {
        host: Some("registry.example:8443"),
        name: "acme/vise",
        versions: &["1.0.0", "2.0.0"],
    },
    PublishedProvider {
        host: Some("bücher.example"),
        name: "acme/quill",
        versions: &["1.0.0"],
    },
];

const PLATFORMS: [&str; 3] = ["linux_amd64", "darwin_arm64", "windows_amd64"];

/// A case under construction.
struct LockGenerator<'a> {
    random: &'a mut Random,
    engine: ToolEngine,
    operation: Operation,
    /// The probability of mistakes, in percent.
    odd: usize,
}

pub(super) fn generate(random: &mut Random, engine: ToolEngine) -> GeneratedCase {
    let operations = [
        Operation::Lock,
        Operation::Lock,
        Operation::Lock,
        Operation::Upgrade,
        Operation::Init,
    ];
    let operation = random.pick(&operations);
    let odd = random.pick(&[0, 0, 2, 10]);
    let mut generator = LockGenerator {
        random,
        engine,
        operation,
        odd,
    };
    let files = vec![generator.configuration(), generator.lock_file()];
    let mut case = GeneratedCase::new(files);
    case.operation = operation;
    case.versions = Vec::new();
    if operation == Operation::Lock {
        let mut platforms = PLATFORMS.map(str::to_owned).to_vec();
        generator.random.shuffle(&mut platforms);
        platforms.truncate(generator.random.between(1, 3));
        case.platforms = platforms;
    }
    case
}

impl LockGenerator<'_> {
    /// Returns the host of a provider: the host that publishes it or, if both default hosts do, usually that of the engine.
    fn host(&mut self, provider: &PublishedProvider) -> &'static str {
        let [terraform, tofu] = ToolEngine::ALL.map(ToolEngine::default_host);
        provider.host.unwrap_or_else(|| match self.random.below(5) {
            0 => terraform,
            1 => tofu,
            _ => self.engine.default_host(),
        })
    }

    fn configuration(&mut self) -> CaseFile {
        let mut entries = Vec::new();
        for (index, provider) in PUBLISHED.iter().enumerate() {
            if !self.random.chance(45) {
                continue;
            }
            let source = match provider.host {
                None if self.random.chance(70) => provider.name.to_owned(),
                _ => format!("{}/{}", self.host(provider), provider.name),
            };
            let mut object = vec![("source".to_owned(), Literal::Text(source))];
            if self.random.chance(60) {
                let constraint = self.fitting_constraint(provider);
                object.push(("version".to_owned(), Literal::Text(constraint)));
            }
            entries.push(Node::argument(
                &format!("p{index}"),
                Literal::Object(object),
            ));
        }
        let block = Node::block("required_providers", &[], entries);
        CaseFile::new("main.tf", vec![Node::block("terraform", &[], vec![block])])
    }

    fn fitting_constraint(&mut self, provider: &PublishedProvider) -> String {
        let version = self.random.pick(provider.versions);
        let operator = self
            .random
            .pick(&["", "= ", ">= ", "<= ", "~> ", "~> ", "!= "]);
        match self.random.below(10) {
            0 => constraints::constraint(self.random, self.odd),
            1 => format!(">= 0.1, {operator}{version}"),
            _ => format!("{operator}{version}"),
        }
    }

    fn lock_file(&mut self) -> CaseFile {
        let mut text = String::new();
        if self.random.chance(80) {
            let tool = self.random.pick(&["terraform", "terraform", "tofu"]);
            text.push_str(&format!(
                "# This file is maintained automatically by \"{tool} init\".\n# Manual edits may be lost in future updates.\n"
            ));
        }
        let mut order: Vec<usize> = (0..PUBLISHED.len()).collect();
        if self.random.chance(20) {
            self.random.shuffle(&mut order);
        }
        for index in order {
            for _ in 0..self.copies() {
                text.push_str(&self.entry(&PUBLISHED[index]));
            }
        }
        if self.random.chance(self.odd) {
            let odd = [
                "module \"x\" {}\n",
                "x = 1\n",
                "provider \"a\" \"b\" {}\n",
                "}\n",
                "other \"x\" {\n}\n",
                "provider {}\n",
            ];
            text.push_str(self.random.pick(&odd));
        }
        let mut file = CaseFile::of_lines(".terraform.lock.hcl", &text);
        file.crlf = self.random.chance(5);
        file
    }

    /// Returns how many entries for one provider the lock file has.
    fn copies(&mut self) -> usize {
        let twice = self.random.chance(self.odd / 2);
        if twice {
            2
        } else {
            self.random.pick(&[0, 1, 1])
        }
    }

    fn entry(&mut self, provider: &PublishedProvider) -> String {
        let host = self.host(provider);
        let mut address = format!("{host}/{}", provider.name);
        if self.random.chance(self.odd) {
            address = self.random.pick(&[
                provider.name.to_owned(),
                address.to_uppercase(),
                format!("{host}:443/{}", provider.name),
                "registry.terraform.io/-/null".to_owned(),
                "terraform.io/builtin/terraform".to_owned(),
                "opentofu.org/builtin/x".to_owned(),
                format!("{address}/"),
            ]);
        }
        let published = self.random.pick(provider.versions);
        let mut lines = vec![self.version(published)];
        lines.extend(self.constraints(published));
        lines.extend(self.hashes(provider, published));
        if self.random.chance(self.odd) {
            lines.push("extra = 1".to_owned());
        }
        if self.random.chance(15) {
            self.random.shuffle(&mut lines);
        }
        if self.random.chance(8) {
            lines.insert(0, "# kept?".to_owned());
        }
        let body: String = lines.iter().map(|line| format!("  {line}\n")).collect();
        let gap = self.random.pick(&["\n", "\n", "\n", "", "\n\n", "// x\n"]);
        format!("{gap}provider \"{address}\" {{\n{body}}}\n")
    }

    fn version(&mut self, published: &str) -> String {
        let odd = [
            "\"1.0\"",
            "\"v1.0.0\"",
            "\"01.0.0\"",
            "1",
            "null",
            "\"9.9.9\"",
            "\"1.0.0+a\"",
            "\"${\"1.0.0\"}\"",
            "\"\"",
            "\"0.0.0\"",
            "x",
        ];
        let value = format!("\"{published}\"");
        let value = if self.random.chance(self.odd) {
            self.random.pick(&odd)
        } else {
            &value
        };
        format!(
            "version{}= {value}",
            self.random.pick(&[" ", "     ", "  "])
        )
    }

    fn constraints(&mut self, published: &str) -> Option<String> {
        let odd = [
            "\">= 1.0\"",
            "\"\"",
            "null",
            "\">=1.0.0\"",
            "\"x\"",
            "\"< 2.0.0, >= 1.0.0\"",
            "\">= 1.0.0, >= 1.0.0\"",
            "1",
        ];
        let value = match self.random.below(5) {
            0 => return None,
            1 => "\">= 0.9.0\"".to_owned(),
            2 => format!("\">= 0.1.0, <= {published}\""),
            3 => format!("\"{published}\""),
            _ if self.random.chance(self.odd) => self.random.pick(&odd).to_owned(),
            _ => "\"~> 1.0\"".to_owned(),
        };
        Some(format!("constraints = {value}"))
    }

    fn hashes(&mut self, provider: &PublishedProvider, published: &str) -> Option<String> {
        if self.random.chance(8) {
            return None;
        }
        if self.random.chance(self.odd / 2) {
            let odd = [
                "[]",
                "null",
                "\"h1:x\"",
                "[1]",
                "[\"abc\"]",
                "[\":abc\"]",
                "[\"\"]",
                "{}",
                "[null]",
                "[\"a:\", \"é:x\"]",
                "[\"h1:x\" \"h1:y\"]",
            ];
            return Some(format!("hashes = {}", self.random.pick(&odd)));
        }
        let mut hashes = Vec::new();
        for platform in PLATFORMS {
            for scheme in ["h1", "zh"] {
                if self.random.chance(50) {
                    hashes.push(format!(
                        "\"{{{scheme}:{}:{published}:{platform}}}\"",
                        provider.name
                    ));
                }
            }
        }
        if self.random.chance(40) {
            hashes.push("\"{zh:manifest}\"".to_owned());
        }
        if self.random.chance(12) {
            hashes.push("\"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"".to_owned());
        }
        if self.random.chance(10) && !hashes.is_empty() {
            hashes.push(hashes[0].clone());
        }
        if self.operation == Operation::Lock && self.random.chance(12) {
            let odd = [
                "\"xx:y\"",
                "\"h2:z\"",
                "\"ZH:aa\"",
                "\"zh:${1}\"",
                "\"h1:a\\tb\"",
                "\"h1:$${\"",
                "\"a b:é\"",
            ];
            hashes.push(self.random.pick(&odd).to_owned());
        }
        if hashes.is_empty() {
            return None;
        }
        if self.random.chance(15) {
            self.random.shuffle(&mut hashes);
        }
        let list = match self.random.below(6) {
            0 => format!("[{}]", hashes.join(", ")),
            1 => format!("[\n    {}]", hashes.join(",\n    ")),
            _ => format!("[\n    {},\n  ]", hashes.join(",\n    ")),
        };
        Some(format!("hashes = {list}"))
    }
}
