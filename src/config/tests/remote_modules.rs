//! Section 8 of docs/rules/config.md: calls to remote modules: the manifest, fetching, and package boundaries.

use std::path::PathBuf;
use std::sync::Mutex;

use super::super::{
    FetchError, FetchedModule, ModuleCache, ModuleFetcher, ModuleRequest, MovedModule, ReadOptions,
    read_root,
};
use super::{ENGINES, Engine, Tree, check_files, parse_rows, requires, requires_with, show};
use crate::span::Explain as _;

fn manifest(key: &str, source: &str, version: &str, directory: &str) -> String {
    format!(
        r#"{{"Modules":[{{"Key":"{key}","Source":"{source}","Version":"{version}","Dir":"{directory}"}}]}}"#
    )
}

const MANIFEST: &str = ".terraform/modules/modules.json";

#[test]
fn remote_modules_are_found_by_the_manifest() {
    let child = ("got/main.tf", "resource \"got_x\" \"a\" {\n}\n");
    let registry = "module \"m\" {\n source = \"acme/dns/any\"\n version = \"~> 1.0\"\n}\n";
    let git = "module \"m\" {\n source = \"github.com/o/r//sub?ref=v1\"\n}\n";
    let normal = "git::https://github.com/o/r.git//sub?ref=v1";
    // The columns: the call, its record in the manifest (key, source, version, directory), and the requirements that each
    // engine finds.
    let rows = r"
        registry, m, registry.terraform.io/acme/dns/any, 1.2.3, got | hashicorp/got | -
        registry, m, registry.opentofu.org/acme/dns/any, 1.2.3, got | - | hashicorp/got
        registry, m, acme/dns/any, 1.2.3, got | hashicorp/got // normalized when it is read
        registry, m, acme/dns/any, 2.0.0, got | -
        registry, m, acme/dns/any, , got | -
        registry, m, acme/dns/other, 1.2.3, got | -
        registry, n, acme/dns/any, 1.2.3, got | -
        registry, m, acme/dns/any, 1.2.3, gone | -
        git, m, git::https://github.com/o/r.git//sub?ref=v1, , got | hashicorp/got
        git, m, git::https://github.com/o/r.git//sub?ref=v2, , got | -
    ";
    for (row, terraform, tofu) in parse_rows(rows) {
        let columns: Vec<&str> = row.split(", ").collect();
        let call = if columns[0] == "git" { git } else { registry };
        let record = manifest(columns[1], columns[2], columns[3], columns[4]);
        let files = vec![("main.tf", call), child, (MANIFEST, record.as_str())];
        check_files(&[(files, terraform.as_deref(), tofu.as_deref())]);
    }
    for broken in ["{", ""] {
        let files = vec![("main.tf", git), child, (MANIFEST, broken)];
        check_files(&[(files, None, None)]);
    }
    let mut options = ReadOptions::new(Engine::Terraform);
    options.data_directory = Some("data".into());
    let record = manifest("m", normal, "", "got");
    let files = [
        ("main.tf", git),
        child,
        ("data/modules/modules.json", record.as_str()),
    ];
    assert_eq!(
        requires_with(&files, &options).as_deref(),
        Ok("hashicorp/got")
    );
}

#[test]
fn versions_belong_to_registries() {
    let rows = r#"
        "./m"\n version = "1.0" | -
        "./m"\n version = null | nothing
        "./m"\n version = "" | -
        "git::https://h/r"\n version = "1.0" | -
    "#;
    for (arguments, terraform, tofu) in parse_rows(rows) {
        let text = format!("module \"m\" {{\n source = {arguments}\n}}\n");
        let files = vec![("main.tf", text.as_str()), ("m/x", "")];
        check_files(&[(files, terraform.as_deref(), tofu.as_deref())]);
    }
}

/// A fetcher that returns the same directory for every module and records the requests.
struct FixedFetcher(PathBuf, Mutex<Vec<String>>);

impl ModuleFetcher for FixedFetcher {
    fn fetch(&self, request: &ModuleRequest<'_>) -> Result<FetchedModule, FetchError> {
        let versions = request
            .versions
            .map(ToString::to_string)
            .unwrap_or_default();
        self.1
            .lock()
            .unwrap()
            .push(format!("{} {versions}", request.source).trim().to_owned());
        if request.source.to_string().contains("broken") {
            Err(FetchError {
                source: "no route to host".into(),
                hint: Some("is the cable in?".to_owned()),
            })
        } else {
            Ok(FetchedModule {
                directory: self.0.clone(),
                package: self.0.clone(),
                version: Some("3.2.0".to_owned()),
            })
        }
    }
}

#[test]
fn missing_modules_are_fetched() {
    let tree = Tree::new(&[
        (
            "root/main.tf",
            "module \"a\" {\n source = \"acme/dns/any\"\n version = \"~> 1.0\"\n}\nmodule \"b\" {\n source = \"git::https://broken/r\"\n}\n",
        ),
        (
            "got/main.tf",
            "module \"inner\" {\n source = \"./inner\"\n}\n",
        ),
        ("got/inner/main.tf", "resource \"q_x\" \"a\" {\n}\n"),
    ]);
    let fetcher = FixedFetcher(tree.path("got"), Mutex::default());
    let options = ReadOptions::new(Engine::Terraform);
    let root = read_root(
        &tree.path("root"),
        &options,
        &ModuleCache::new(),
        Some(&fetcher),
    )
    .unwrap();
    assert_eq!(show(&root, Engine::Terraform), "hashicorp/q");
    assert_eq!(
        *fetcher.1.lock().unwrap(),
        [
            "registry.terraform.io/acme/dns/any ~> 1.0",
            "git::https://broken/r"
        ]
    );
    assert_eq!(root.missing.len(), 1, "only `b` cannot be fetched");
    assert_eq!(root.missing[0].hint().as_deref(), Some("is the cable in?"));
    let without = read_root(&tree.path("root"), &options, &ModuleCache::new(), None).unwrap();
    let missing: Vec<String> = without.missing.iter().map(ToString::to_string).collect();
    assert_eq!(
        missing,
        [
            "module `a` from `registry.terraform.io/acme/dns/any` is not installed",
            "module `b` from `git::https://broken/r` is not installed",
        ]
    );
}

#[test]
fn a_module_that_was_installed_in_another_version_is_named_with_both() {
    let manifest = r#"{"Modules":[{"Key":"vpc","Source":"registry.terraform.io/acme/vpc/any","Version":"3.1.0","Dir":"old"}]}"#;
    let tree = Tree::new(&[
        (
            "root/main.tf",
            "module \"vpc\" {\n source = \"acme/vpc/any\"\n version = \"~> 3.2\"\n}\n",
        ),
        ("root/.terraform/modules/modules.json", manifest),
        ("root/old/main.tf", "resource \"old_x\" \"a\" {\n}\n"),
        ("got/main.tf", "resource \"new_x\" \"a\" {\n}\n"),
    ]);
    let fetcher = FixedFetcher(tree.path("got"), Mutex::default());
    let options = ReadOptions::new(Engine::Terraform);
    let read = |fetcher| read_root(&tree.path("root"), &options, &ModuleCache::new(), fetcher);
    let root = read(Some(&fetcher)).unwrap();
    assert_eq!(show(&root, Engine::Terraform), "hashicorp/new");
    let expected = MovedModule {
        call: "vpc".to_owned(),
        from: "3.1.0".to_owned(),
        to: "3.2.0".to_owned(),
    };
    assert_eq!(root.moved_modules, [expected]);
    assert_eq!(read(None).unwrap().moved_modules, []);
}

#[test]
fn versions_are_chosen_where_the_call_leaves_a_choice() {
    for (source, constraint, recorded, chosen) in [
        ("acme/dns/any", Some("~> 1.0"), "1.2.3", true),
        ("acme/dns/any", None, "1.2.3", true),
        ("acme/dns/any", Some("1.2.3"), "1.2.3", false),
        ("git::https://h/r.git", None, "", false),
    ] {
        let constraint = constraint.map(|text| format!(" version = \"{text}\"\n"));
        let call = format!(
            "module \"m\" {{\n source = \"{source}\"\n{}}}\n",
            constraint.unwrap_or_default()
        );
        let manifest = manifest("m", source, recorded, "got");
        let files = [
            ("main.tf", call.as_str()),
            (MANIFEST, &manifest),
            ("got/x", ""),
        ];
        let root = Tree::new(&files).read(&ReadOptions::new(Engine::Terraform));
        let found: Vec<(String, String, String)> = root
            .unwrap()
            .chosen_modules
            .into_iter()
            .map(|(key, module)| (key, module.source, module.version))
            .collect();
        let expected = ["m", "registry.terraform.io/acme/dns/any", "1.2.3"].map(str::to_owned);
        let expected = chosen.then(|| expected.into()).into_iter();
        assert_eq!(found, expected.collect::<Vec<_>>(), "{call}");
    }
}

#[test]
fn a_fetched_module_calls_nothing_outside_of_its_package() {
    let escape = "module \"up\" {\n  source = \"../../secret\"\n}\n";
    let inside = "module \"in\" {\n  source = \"./sub/../sub\"\n}\n";
    let nowhere = "module \"no\" {\n  source = \"../../../nowhere\"\n}\n";
    let missing = "module \"no\" {\n  source = \"./nowhere\"\n}\n";
    let recorded = manifest("m.up", "../../secret", "", "../secret");
    for (inner, expected) in [
        (inside, ""),
        (
            escape,
            "the source `../../secret` of module `up` points outside its caller's package",
        ),
        (
            nowhere,
            "the source `../../../nowhere` of module `no` points outside its caller's package",
        ),
        (missing, "cannot read the directory `"),
    ] {
        let tree = Tree::new(&[
            (
                "root/main.tf",
                "module \"m\" {\n  source = \"acme/dns/any\"\n}\n",
            ),
            ("secret/main.tf", "provider \"secret\" {}\n"),
            // The manifest of installed modules does not apply to fetched ones.
            ("root/.terraform/modules/modules.json", &recorded),
            ("packages/m/main.tf", inner),
            ("packages/m/sub/main.tf", "provider \"anvil\" {}\n"),
        ]);
        let fetcher = FixedFetcher(tree.path("packages/m"), Mutex::default());
        let options = ReadOptions::new(Engine::Terraform);
        let root = read_root(
            &tree.path("root"),
            &options,
            &ModuleCache::new(),
            Some(&fetcher),
        );
        let error = root.map_or_else(|errors| errors[0].to_string(), |_| String::new());
        assert!(
            error.starts_with(expected) && error.is_empty() == expected.is_empty(),
            "{error}"
        );
    }
}

#[test]
fn an_installed_module_calls_only_recorded_modules_outside_of_its_package() {
    const OUTSIDE: &str =
        "the source `../../secret` of module `up` points outside its caller's package";
    let escape = "module \"up\" {\n  source = \"../../secret\"\n}\n";
    let inside = "module \"in\" {\n  source = \"../other\"\n}\n";
    let gone = "module \"up\" {\n  source = \"./gone\"\n}\n";
    let installed = "\"Dir\":\".terraform/modules/m/sub\"";
    let recorded = |source: &str| {
        format!(
            ",{{\"Key\":\"m.up\",\"Source\":\"{source}\",\"Dir\":\".terraform/modules/secret\"}}"
        )
    };
    for (inner, directory, more, expected) in [
        (inside, installed, String::new(), "hashicorp/other"),
        (escape, installed, String::new(), OUTSIDE),
        (
            escape,
            installed,
            recorded("../../secret"),
            "hashicorp/secret",
        ),
        (escape, installed, recorded("../../public"), OUTSIDE),
        (gone, installed, recorded("./gone"), "cannot read"),
        // Terraform and OpenTofu do not install modules there, so the root of the package is unknown.
        (
            escape,
            "\"Dir\":\"vendor/m/sub\"",
            String::new(),
            "hashicorp/vendored",
        ),
    ] {
        let manifest = format!(
            "{{\"Modules\":[{{\"Key\":\"m\",\"Source\":\"git::https://h/r.git//sub\",{directory}}}{more}]}}"
        );
        let call = "module \"m\" {\n  source = \"git::https://h/r.git//sub\"\n}\n";
        let files = [
            ("main.tf", call),
            (MANIFEST, manifest.as_str()),
            (".terraform/modules/m/sub/main.tf", inner),
            (
                ".terraform/modules/m/other/main.tf",
                "provider \"other\" {}\n",
            ),
            (
                ".terraform/modules/secret/main.tf",
                "provider \"secret\" {}\n",
            ),
            ("vendor/m/sub/main.tf", inner),
            ("vendor/secret/main.tf", "provider \"vendored\" {}\n"),
        ];
        for engine in ENGINES {
            let found = requires(&files, engine).unwrap_or_else(|error| error);
            assert!(found.contains(expected), "{found}");
        }
    }
}
