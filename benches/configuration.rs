//! The speed of reading a whole tree of configurations: finding, parsing and evaluating the files on all cores.
//!
//! `cargo bench --bench configuration` generates trees of 2,000 and 20,000 files, with four files per root module and
//! one module that all of them call. It prints how the time per file grows with the size of the tree. `cargo bench
//! --bench configuration DIRECTORY` reads the root modules below a directory. The fastest of several rounds counts,
//! because other processes can only make a round slower.

#![expect(clippy::print_stdout, reason = "the figures are the result")]
#![expect(clippy::cast_precision_loss, reason = "sizes far below 2^52")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use tflock::config::{ModuleCache, ReadOptions, is_configuration, read_roots};
use tflock::provider::Engine;
use tflock::walk::{WalkOptions, walk};

/// The sizes of the trees, in files.
const FILES: [usize; 2] = [2_000, 20_000];

/// The number of rounds for each tree.
const ROUNDS: usize = 7;

/// A typical module: comments, nested blocks, heredocs, templates, expressions.
const SAMPLE: &str = include_str!("sample.tf");

const CALLS: &str = "module \"shared\" {\n  source = \"../shared\"\n}\n";
const SHARED: &str = "terraform {\n  required_providers {\n    aws = {\n      source = \"hashicorp/aws\"\n    }\n  }\n}\n";
const VALUES: &str = "variable \"region\" {\n  type    = string\n  default = \"eu-central-1\"\n}\n\nlocals {\n  more = {\n    owner = \"platform\"\n    zone  = \"${var.region}a\"\n  }\n}\n";
const DATA: &str = "data \"aws_region\" \"current\" {\n  provider = aws\n}\n";

fn main() -> io::Result<()> {
    let named = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    if let Some(directory) = named {
        measure(Path::new(&directory));
        return Ok(());
    }
    let mut per_file = Vec::new();
    for files in FILES {
        let tree = tempfile::tempdir()?;
        make(tree.path(), files)?;
        per_file.push(measure(tree.path()));
    }
    if let [small, large] = per_file[..] {
        println!(
            "a file in the larger tree takes {:.2} times as long",
            large / small
        );
    }
    Ok(())
}

/// Writes root modules with four files each, and one module that all of them call.
fn make(tree: &Path, files: usize) -> io::Result<()> {
    for index in 0..files / 4 {
        let root = tree.join(format!("root-{index:05}"));
        fs::create_dir(&root)?;
        let texts = [
            ("main.tf", SAMPLE),
            ("data.tf", DATA),
            ("calls.tf", CALLS),
            ("values.tf", VALUES),
        ];
        for (name, text) in texts {
            fs::write(root.join(name), text)?;
        }
    }
    fs::create_dir(tree.join("shared"))?;
    fs::write(tree.join("shared/main.tf"), SHARED)
}

/// Reads a tree several times and returns the fastest round in seconds per file.
fn measure(tree: &Path) -> f64 {
    let (files, bytes) = size(tree);
    let mut best = f64::INFINITY;
    let mut failed = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        failed = read(tree);
        best = best.min(start.elapsed().as_secs_f64());
    }
    let (files, megabytes) = (files as f64, bytes as f64 / 1e6);
    println!(
        "{files} files, {megabytes:.1} MB, {failed} root modules rejected: {best:.3} s, {:.0} MB/s, {:.0} files/s",
        megabytes / best,
        files / best
    );
    best / files
}

/// Finds the root modules and reads their requirements. Returns the number of root modules that could not be read.
fn read(tree: &Path) -> usize {
    let options = WalkOptions {
        recursive: true,
        ..WalkOptions::default()
    };
    let found = walk(&[tree.to_path_buf()], &options);
    let roots: Vec<(PathBuf, ReadOptions)> = found
        .directories
        .into_iter()
        .filter(|directory| directory.has_configuration)
        .map(|directory| (directory.path, ReadOptions::new(Engine::Terraform)))
        .collect();
    let results = read_roots(&roots, &ModuleCache::new(), None);
    results.iter().filter(|result| result.is_err()).count()
}

/// Returns the number of configuration files and their total size in bytes.
fn size(tree: &Path) -> (usize, u64) {
    let walk = ignore::WalkBuilder::new(tree)
        .standard_filters(false)
        .build();
    let entries = walk.filter_map(Result::ok);
    let named = |entry: &ignore::DirEntry| is_configuration(&entry.file_name().to_string_lossy());
    let sizes = entries
        .filter(named)
        .filter_map(|entry| entry.metadata().ok())
        .map(|found| found.len());
    sizes.fold((0, 0), |(count, sum), bytes| (count + 1, sum + bytes))
}
