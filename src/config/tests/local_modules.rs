//! Section 8 of docs/rules/config.md: calls to local modules.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::super::{ModuleCache, ReadOptions, local_callers, local_modules, read_roots};
use super::{ENGINES, Engine, Tree, check, check_files, requires, show};

const CALL: &str = "module \"m\" {\n source = \"./m\"\n}\n";

#[test]
fn local_modules_are_followed_with_their_own_names() {
    let root = "terraform {\n required_providers {\n  foo = { source = \"t/foo\", version = \">= 1\" }\n }\n}\nmodule \"m\" {\n source = \"./m\"\n}\n";
    check_files(&[
        (
            vec![
                ("main.tf", root),
                ("m/main.tf", "resource \"foo_x\" \"a\" {\n}\n"),
            ],
            Some("hashicorp/foo, t/foo >= 1.0.0"),
            Some("hashicorp/foo, t/foo >= 1.0.0"),
        ),
        (
            vec![
                ("main.tf", CALL),
                (
                    "m/main.tf",
                    "module \"n\" {\n source = \"../n\"\n count = 0\n}\n",
                ),
                ("n/main.tf", "resource \"n_x\" \"a\" {\n}\n"),
            ],
            Some("hashicorp/n"),
            Some("hashicorp/n"),
        ),
        (vec![("main.tf", CALL), ("m/x", "")], Some(""), Some("")),
        (vec![("main.tf", CALL)], None, None), // no such directory
        (
            vec![("main.tf", CALL), ("m/main.tf", "resource {")],
            None,
            None,
        ),
        (
            vec![
                ("main.tf", CALL),
                ("m/main.tf", "module \"r\" {\n source = \"../\"\n}\n"),
            ],
            None,
            None,
        ), // an infinite recursion
        (
            vec![("main.tf", "module \"m\" {\n source = \"./\"\n}\n")],
            None,
            None,
        ),
        (
            vec![("main.tf", &format!("{CALL}{CALL}")), ("m/x", "")],
            None,
            None,
        ), // a duplicate name
    ]);
    for source in ["m", "m/n", ".", "..", ""] {
        let text = format!("module \"m\" {{\n source = \"{source}\"\n}}\n");
        check(&[(&text, None, None)]);
    }
}

#[test]
fn paired_calls_take_linear_time() {
    let mut files: Vec<(String, String)> = (0..40)
        .map(|level| {
            let next = level + 1;
            let text = format!("module \"a\" {{\n source = \"../{next}\"\n}}\nmodule \"b\" {{\n source = \"../{next}\"\n}}\n");
            (format!("{level}/main.tf"), text)
        })
        .collect();
    files.push((
        "40/main.tf".to_owned(),
        "resource \"q_x\" \"a\" {\n}\n".to_owned(),
    ));
    files.push((
        "main.tf".to_owned(),
        "module \"m\" {\n source = \"./0\"\n}\n".to_owned(),
    ));
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    assert_eq!(
        requires(&files, Engine::Terraform).as_deref(),
        Ok("hashicorp/q")
    );
}

#[cfg(unix)]
#[test]
fn links_are_resolved_before_dots_are() {
    let tree = Tree::new(&[
        ("main.tf", CALL),
        (
            "elsewhere/m/main.tf",
            "module \"s\" {\n source = \"../sib\"\n}\n",
        ),
        ("elsewhere/sib/main.tf", "resource \"right_x\" \"a\" {\n}\n"),
        ("sib/main.tf", "resource \"wrong_x\" \"a\" {\n}\n"),
    ]);
    std::os::unix::fs::symlink("elsewhere/m", tree.path("m")).unwrap();
    let root = tree.read(&ReadOptions::new(Engine::Terraform)).unwrap();
    assert_eq!(show(&root, Engine::Terraform), "hashicorp/right");
}

#[test]
fn roots_share_modules_and_called_directories_are_not_roots() {
    let tree = Tree::new(&[
        (
            "prod/main.tf",
            "module \"m\" {\n source = \"../shared\"\n}\n",
        ),
        (
            "test/main.tf",
            "module \"m\" {\n source = \"../shared\"\n}\nresource \"t_x\" \"a\" {\n}\n",
        ),
        ("shared/main.tf", "resource \"q_x\" \"a\" {\n}\n"),
    ]);
    let roots = ["prod", "shared", "test"]
        .map(|directory| (tree.path(directory), ReadOptions::new(Engine::Terraform)));
    let cache = ModuleCache::new();
    let read: Vec<String> = read_roots(&roots, &cache, None)
        .iter()
        .map(|root| show(root.as_ref().unwrap(), Engine::Terraform))
        .collect();
    assert_eq!(
        read,
        ["hashicorp/q", "hashicorp/q", "hashicorp/q, hashicorp/t"]
    );
    let directories = cache.modules.0.lock().unwrap().len();
    assert_eq!(directories, 3, "each directory is read once");
    let callers = local_callers(&roots, &cache);
    let shared = tree.path("shared").canonicalize().unwrap();
    assert_eq!(callers.keys().collect::<Vec<_>>(), [&shared]);
    assert_eq!(callers[&shared].len(), 2);
}

#[test]
fn local_modules_of_a_root_are_those_it_reaches_and_those_that_are_not_there() {
    let call =
        |name: &str, source: &str| format!("module \"{name}\" {{\n  source = \"{source}\"\n}}\n");
    let root = call("a", "../a") + &call("gone", "../gone") + &call("far", "acme/dns/any");
    let tree = Tree::new(&[
        ("root/main.tf", &root),
        ("a/main.tf", &call("b", "../b")),
        ("b/main.tf", ""),
        ("uncalled/main.tf", ""),
    ]);
    for engine in ENGINES {
        let cache = ModuleCache::new();
        let found = local_modules(&tree.path("root"), &ReadOptions::new(engine), &cache);
        let real = tree.path("").canonicalize().unwrap();
        assert!(!found.complete, "two modules are missing");
        let found: BTreeSet<PathBuf> = found
            .directories
            .iter()
            .map(|path| {
                let inner = path
                    .strip_prefix(tree.path(""))
                    .or_else(|_| path.strip_prefix(&real));
                inner.unwrap().to_path_buf()
            })
            .collect();
        assert_eq!(found, ["a", "b", "gone"].map(PathBuf::from).into());
    }
}
