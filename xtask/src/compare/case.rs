//! Cases, and their kinds.

use super::source_text::CaseFile;
use super::{constraints, locks, random::Random, roots, sources, variables};

/// The engine whose program is compared with tflock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ToolEngine {
    Terraform,
    Tofu,
}

impl ToolEngine {
    pub(super) const ALL: [Self; 2] = [Self::Terraform, Self::Tofu];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Terraform => "terraform",
            Self::Tofu => "tofu",
        }
    }

    pub(super) fn default_host(self) -> &'static str {
        match self {
            Self::Terraform => "registry.terraform.io",
            Self::Tofu => "registry.opentofu.org",
        }
    }
}

/// The part of the input that varies between the cases of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CaseKind {
    Roots,
    Locks,
    Constraints,
    Sources,
    Variables,
    Values,
}

impl CaseKind {
    pub(super) const ALL: [Self; 6] = [
        Self::Roots,
        Self::Locks,
        Self::Constraints,
        Self::Sources,
        Self::Variables,
        Self::Values,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Roots => "roots",
            Self::Locks => "locks",
            Self::Constraints => "constraints",
            Self::Sources => "sources",
            Self::Variables => "variables",
            Self::Values => "values",
        }
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Creates a case that consists of a directory. Values have no directory.
    pub(super) fn generate(self, seed: u64, number: u64, engine: ToolEngine) -> GeneratedCase {
        let random = &mut Random::of_case(seed, self.name(), number);
        match self {
            Self::Roots => roots::generate(random),
            Self::Locks => locks::generate(random, engine),
            Self::Constraints => constraints::generate(random),
            Self::Sources => sources::generate(random),
            Self::Variables => variables::generate(random),
            Self::Values => unreachable!("values are generated as expressions"),
        }
    }
}

/// What the tools are asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// `providers lock`.
    Lock,
    /// `init`, which only keeps the versions in the lock file.
    Init,
    /// `init -upgrade`.
    Upgrade,
}

/// A root module, with the options and the operation for the tools.
#[derive(Clone, Debug)]
pub(super) struct GeneratedCase {
    pub(super) files: Vec<CaseFile>,
    pub(super) operation: Operation,
    pub(super) platforms: Vec<String>,
    /// The versions of each provider that the mirror offers. If empty, the packages come from the registry.
    pub(super) versions: Vec<String>,
    /// Options that set variables, without the first dash, such as `-var=a=b` and `-var-file=x.tfvars`.
    pub(super) values: Vec<String>,
}

impl GeneratedCase {
    pub(super) fn new(files: Vec<CaseFile>) -> Self {
        let versions = ["0.9.0", "1.0.0", "1.1.0", "1.2.0-beta1", "2.0.0", "2.1.0"];
        Self {
            files,
            operation: Operation::Lock,
            platforms: vec!["linux_amd64".to_owned()],
            versions: versions.map(str::to_owned).to_vec(),
            values: Vec::new(),
        }
    }

    /// Returns the path and content of each file.
    pub(super) fn contents(&self) -> impl Iterator<Item = (&str, String)> {
        self.files
            .iter()
            .map(|file| (file.path.as_str(), file.content()))
    }

    /// Returns whether `get` must run first, because the case calls modules and has no module manifest.
    pub(super) fn calls_modules(&self) -> bool {
        let is_call = |text: String| text.contains("module");
        self.contents()
            .any(|(path, text)| !path.starts_with(".terraform") && is_call(text))
            && !self.has_manifest()
    }

    fn has_manifest(&self) -> bool {
        self.files
            .iter()
            .any(|file| file.path.ends_with("modules.json"))
    }
}
