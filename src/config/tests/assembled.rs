//! Assembled root modules: directories laid over each other, generated files, and what their modules may call.

use super::*;
use crate::config::{
    AssembledModule, FileSelection, FileTree, GeneratedText, TreeFile, TreeLayer,
    local_modules_of_assembled, read_assembled,
};
use crate::span::Place;
use crate::syntax::TextOrigin;

/// The parts of an assembled module. The tree has the package at `p`, and the files of the unit over its root module.
#[derive(Clone, Copy)]
struct Parts<'a> {
    /// The directory of the package.
    package: &'a str,
    /// The path of the root module in the package.
    root: &'a str,
    is_copied: bool,
    /// Paths relative to the root module, and the text of files. `None` removes a file.
    generated: &'a [(&'a str, Option<&'a str>)],
    hidden: Option<&'a str>,
}

const COPY: Parts<'_> = Parts {
    package: "modules/m",
    root: "",
    is_copied: true,
    generated: &[],
    hidden: None,
};

const WHOLE: Parts<'_> = Parts {
    package: "modules",
    root: "m",
    ..COPY
};

impl Parts<'_> {
    /// Lays the directory `unit` over the package.
    fn assemble(self, tree: &Tree) -> AssembledModule {
        let root = Path::new("p").join(self.root);
        let mut files = FileTree::new(tree.path("unit/.assembled"));
        let selection = if self.is_copied {
            FileSelection::Visible
        } else {
            FileSelection::All
        };
        for (at, directory, selection) in [
            (Path::new("p"), self.package, selection),
            (&root, "unit", FileSelection::Visible),
        ] {
            files.add_layer(TreeLayer {
                at: at.to_path_buf(),
                directory: tree.path(directory),
                package: None,
                selection,
            });
        }
        for (path, text) in self.generated {
            let path = crate::config::clean(&root.join(path));
            match text {
                None => files.remove_file(path),
                Some(text) => {
                    let marker = ["unknown"]
                        .into_iter()
                        .filter(|marker| text.contains(marker));
                    let generated = GeneratedText {
                        name: path.clone(),
                        text: text.as_bytes().to_vec(),
                        origin: TextOrigin {
                            place: Place {
                                line: 7,
                                column: 1,
                                ..Place::file(&tree.path("unit/definition"))
                            },
                            hidden: self.hidden.map(str::to_owned),
                            markers: marker.map(str::to_owned).collect(),
                        },
                    };
                    files.add_file(path, TreeFile::Generated(Arc::new(generated)));
                }
            }
        }
        files.set_missing_hint("copy more".to_owned());
        AssembledModule {
            directory: tree.path("unit"),
            root,
            files: Arc::new(files),
        }
    }

    fn read(self, tree: &Tree, options: &ReadOptions) -> Result<RootModule, String> {
        let module = self.assemble(tree);
        read_assembled(&module, options, &ModuleCache::new(), None)
            .map_err(|errors| describe(&errors[0], tree.0.path()))
    }

    fn requires(self, files: &[(&str, &str)], engine: Engine) -> Result<String, String> {
        let tree = Tree::new(files);
        let root = self.read(&tree, &ReadOptions::new(engine))?;
        Ok(show(&root, engine))
    }
}

const M: &str = "resource \"m_x\" \"x\" {}";
const U: &str = "resource \"u_x\" \"x\" {}";
const CALL: &str = "module \"s\" {\n source = \"./sub\"\n}";
const SIBLING: &str = "module \"s\" {\n source = \"../o\"\n}";
const DYNAMIC: &str = "variable \"which\" {\n type = string\n const = true\n}\nmodule \"s\" {\n source = \"./${var.which}\"\n}";

/// The texts that rows name.
const TEXTS: [(&str, &str); 10] = [
    ("M", M),
    ("U", U),
    ("-", ""),
    ("CALL", CALL),
    ("SIBLING", SIBLING),
    ("DYNAMIC", DYNAMIC),
    ("VALUES", "which = \"sub\""),
    ("JSON", "{\"provider\": {\"u\": {}}}"),
    ("OVERRIDE", "resource \"m_x\" \"x\" {\n provider = u\n}"),
    ("TEST", "run \"r\" {\n module {\n source = \"./sub\"\n }\n}"),
];

/// Parses files such as `a.tf:M b.tf:removed`.
fn parse_files(column: &str) -> Vec<(&str, Option<&'static str>)> {
    let text = |name| TEXTS.iter().find(|(text, _)| *text == name);
    let files = column.split_whitespace().map(|file| {
        let (path, name) = file.split_once(':').unwrap();
        (path, text(name).map(|(_, text)| *text))
    });
    files.collect()
}

/// Rows: what is tested, the kind of the tree, its files on disk, its generated and removed files, the requirements.
#[test]
fn layers_and_generated_files() {
    let rows = "
        both directories count | copy | modules/m/a.tf:M unit/b.tf:U | | m u
        the upper file replaces the lower one | copy | modules/m/a.tf:M unit/a.tf:U | | u
        override files apply to both | copy | modules/m/a.tf:M unit/x_override.tf:OVERRIDE | | u
        files of a called module are merged | copy | modules/m/a.tf:CALL modules/m/sub/a.tf:M unit/sub/b.tf:U | | m u
        a called module is only in the upper directory | copy | modules/m/a.tf:CALL unit/sub/b.tf:U | | u
        a called module is only in the package | copy | modules/m/a.tf:CALL modules/m/sub/a.tf:M unit/x:- | | m
        a sibling in the package | whole | modules/m/a.tf:SIBLING modules/o/a.tf:M unit/x:- | | m
        hidden files are not copied | copy | modules/m/a.tf:M unit/.h/a.tf:U unit/.a.tf:U | | m
        a generated file is added | copy | modules/m/a.tf:M unit/x:- | main.tf:U | m u
        a generated file replaces others | copy | modules/m/main.tf:M unit/main.tf:M | main.tf:U | u
        a file is removed | copy | modules/m/a.tf:M unit/b.tf:U | a.tf:removed | u
        a generated file of a called module | copy | modules/m/a.tf:CALL unit/x:- | sub/g.tf:U | u
        a generated file of a sibling | whole | modules/m/a.tf:SIBLING modules/o/a.tf:M unit/x:- | ../o/g.tf:U | m u
        generated JSON | copy | modules/m/a.tf:M unit/x:- | g.tf.json:JSON | m u
        a variable file of the upper directory | copy | modules/m/a.tf:DYNAMIC modules/m/sub/a.tf:M unit/terraform.tfvars:VALUES | | m
        a generated variable file | copy | modules/m/a.tf:DYNAMIC modules/m/sub/a.tf:M unit/x:- | x.auto.tfvars:VALUES | m
        test files of the package | copy | modules/m/tests/t.tftest.hcl:TEST modules/m/sub/a.tf:M unit/x:- | | m
        no configuration | copy | modules/m/x:- unit/x:- | | ";
    for (row, engine) in rows
        .trim()
        .lines()
        .flat_map(|row| ENGINES.map(|it| (row, it)))
    {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, kind, files, generated, expected] = columns[..] else {
            panic!("{row}")
        };
        let files = parse_files(files);
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (*path, text.unwrap()))
            .collect();
        let parts = Parts {
            generated: &parse_files(generated),
            ..if kind == "copy" { COPY } else { WHOLE }
        };
        let found = parts.requires(&files, engine).unwrap();
        assert_eq!(
            found.replace("hashicorp/", "").replace(',', ""),
            expected,
            "{engine}: {row}"
        );
    }
}

/// Removes the path of the temporary directory from a message.
fn without_temporary_directory(message: &str) -> String {
    let directory = std::env::temp_dir();
    let Some((before, rest)) = message.split_once(&*directory.to_string_lossy()) else {
        return message.to_owned();
    };
    let (_, below) = rest.trim_start_matches('/').split_once('/').unwrap();
    format!("{before}{below}")
}

#[test]
fn errors_name_the_file_on_disk_or_the_definition_of_a_generated_file() {
    let broken = "resource \"x\" {\n";
    for (parts, files, expected) in [
        (
            COPY,
            &[("modules/m/a.tf", broken), ("unit/x", "")][..],
            "modules/m/a.tf:1:14: unclosed configuration block: its closing brace is missing",
        ),
        (
            COPY,
            &[("modules/m/a.tf", M), ("unit/a.tf", broken)],
            "unit/a.tf:1:14: unclosed configuration block: its closing brace is missing",
        ),
        (
            COPY,
            &[
                ("modules/m/a.tf", CALL),
                ("modules/m/sub/a.tf", M),
                ("unit/sub/a.tf", broken),
            ],
            "unit/sub/a.tf:1:14: unclosed configuration block: its closing brace is missing",
        ),
        (
            Parts {
                generated: &[("g.tf", Some(broken))],
                ..COPY
            },
            &[("modules/m/a.tf", M), ("unit/x", "")],
            "unit/definition:7:1: unclosed configuration block: its closing brace is missing",
        ),
        (
            Parts {
                generated: &[("g.tf", Some("resource \"x\" {}"))],
                ..COPY
            },
            &[("modules/m/a.tf", M), ("unit/x", "")],
            "unit/definition:7:1: incorrect number of labels for a `resource` block: expected 2, found 1",
        ),
        (
            COPY,
            &[
                ("modules/m/a.tf", SIBLING),
                ("modules/o/a.tf", M),
                ("unit/x", ""),
            ],
            "modules/m/a.tf:1:8: the source `../o` of module `s` is not among the files of this root module",
        ),
        (
            COPY,
            &[
                (
                    "modules/m/a.tf",
                    "module \"s\" {\n source = \"../../../o\"\n}",
                ),
                ("unit/x", ""),
            ],
            "modules/m/a.tf:1:8: the source `../../../o` of module `s` is not among the files of this root module",
        ),
        (
            WHOLE,
            &[
                ("modules/m/a.tf", "module \"s\" {\n source = \"./\"\n}"),
                ("unit/x", ""),
            ],
            "modules/m/a.tf:1:8: module `s` is recursive: `unit` calls itself, directly or through other modules",
        ),
    ] {
        let found = parts.requires(files, Engine::Terraform);
        let found = found.map_err(|error| without_temporary_directory(&error));
        assert_eq!(found, Err(expected.to_owned()), "{files:?}");
    }
}

#[test]
fn functions_read_the_files_of_the_tree() {
    let call = |source: &str| format!("module \"s\" {{\n source = {source}\n}}");
    for (parts, path, expected) in [
        (COPY, "package.txt", Ok("hashicorp/m")),
        (COPY, "unit.txt", Ok("hashicorp/m")),
        (COPY, "${path.module}/sub/../unit.txt", Ok("hashicorp/m")),
        (
            Parts {
                generated: &[("g.txt", Some("sub"))],
                ..COPY
            },
            "g.txt",
            Ok("hashicorp/m"),
        ),
        (
            Parts {
                generated: &[("unit.txt", None)],
                ..COPY
            },
            "unit.txt",
            Err("unit.txt"),
        ),
        (COPY, "../other.txt", Err("../other.txt")),
        (WHOLE, "../other.txt", Ok("hashicorp/m")),
        (COPY, ".hidden.txt", Err(".hidden.txt")),
    ] {
        let text = call(&format!("\"./${{file(\"{path}\")}}\""));
        let files = [
            ("modules/m/a.tf", &*text),
            ("modules/m/sub/a.tf", M),
            ("modules/m/package.txt", "sub"),
            ("modules/other.txt", "sub"),
            ("unit/unit.txt", "sub"),
            ("unit/.hidden.txt", "sub"),
        ];
        let expected = expected.map(str::to_owned).map_err(|path| {
            format!(
                "modules/m/a.tf:2:16: cannot evaluate the module source: `file` cannot read `{path}`: the file does not exist"
            )
        });
        let found = parts.requires(&files, Engine::Tofu);
        assert_eq!(found, expected, "{path}");
    }
    for (source, expected) in [
        ("file(\"/etc/passwd\")", "/etc/passwd"),
        ("file(path.cwd)", "path.cwd"),
        ("abspath(\"./sub\")", "abspath"),
    ] {
        let files = [("modules/m/a.tf", &*call(source)), ("unit/x", "")];
        let error = COPY.requires(&files, Engine::Tofu).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn text_with_hidden_values_is_not_quoted() {
    for (text, expected) in [
        (
            "module \"s\" {\n source = \"./secret\"\n}",
            "unit/definition:7:1: module `s` is not among the files of this root module: its `source` depends on `get_env(\"TOKEN\")` and is not shown",
        ),
        (
            "secret = 1\nsecret = 2\n",
            "unit/definition:7:1: the generated file is invalid, and is not shown because it depends on `get_env(\"TOKEN\")`",
        ),
        (
            "terraform {\n required_providers {\n s = {\n version = \"secret\"\n }\n }\n}",
            "unit/definition:7:1: the generated file is invalid, and is not shown because it depends on `get_env(\"TOKEN\")`",
        ),
    ] {
        let parts = Parts {
            generated: &[("g.tf", Some(text))],
            hidden: Some("`get_env(\"TOKEN\")`"),
            ..COPY
        };
        let found = parts.requires(&[("modules/m/a.tf", M), ("unit/x", "")], Engine::Terraform);
        assert_eq!(found, Err(expected.to_owned()), "{text:?}");
    }
}

#[test]
fn local_modules_are_the_directories_of_the_user() {
    let files = &[
        ("modules/m/a.tf", CALL),
        (
            "modules/m/sub/a.tf",
            "module \"o\" {\n source = \"../other\"\n}",
        ),
        ("unit/sub/b.tf", U),
    ];
    let tree = Tree::new(files);
    let options = ReadOptions::new(Engine::Terraform);
    let module = COPY.assemble(&tree);
    let found = local_modules_of_assembled(&module, &options, &ModuleCache::new());
    assert!(!found.complete);
    let below = tree.0.path();
    let found = found.directories.iter().map(|directory| {
        let directory = directory.strip_prefix(below).unwrap_or(directory);
        directory.to_str().unwrap().to_owned()
    });
    let expected = ["modules/m/other", "modules/m/sub", "unit/other", "unit/sub"];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

/// Two units with the same module differ only where their files differ, and share the rest.
#[test]
fn modules_are_shared_unless_they_differ() {
    let tree = Tree::new(&[
        ("modules/m/a.tf", CALL),
        ("modules/m/sub/a.tf", M),
        ("unit/x", ""),
    ]);
    let (options, cache) = (ReadOptions::new(Engine::Terraform), ModuleCache::new());
    for (generated, expected) in [
        (&[][..], "hashicorp/m"),
        (&[("g.tf", Some(U))], "hashicorp/m, hashicorp/u"),
        (&[("sub/g.tf", Some(U))], "hashicorp/m, hashicorp/u"),
        (&[("sub/a.tf", Some(U))], "hashicorp/u"),
        (&[], "hashicorp/m"),
    ] {
        let module = Parts { generated, ..COPY }.assemble(&tree);
        let root = read_assembled(&module, &options, &cache, None).unwrap();
        assert_eq!(show(&root, Engine::Terraform), expected);
    }
    // The root module consists of two directories, so only the called module is shared.
    assert_eq!(cache.modules.0.lock().unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn links_are_copied_or_followed() {
    let tree = Tree::new(&[
        ("modules/m/a.tf", "module \"l\" {\n source = \"./link\"\n}"),
        (
            "modules/far/sub/a.tf",
            "module \"s\" {\n source = \"../side\"\n}",
        ),
        ("modules/far/side/a.tf", M),
        ("modules/m/side/a.tf", U),
        ("unit/x", ""),
    ]);
    std::os::unix::fs::symlink("../far/sub", tree.path("modules/m/link")).unwrap();
    let as_is = Parts {
        is_copied: false,
        ..WHOLE
    };
    let options = ReadOptions::new(Engine::Terraform);
    for (parts, expected) in [(WHOLE, "hashicorp/u"), (as_is, "hashicorp/m")] {
        let root = parts.read(&tree, &options).unwrap();
        assert_eq!(show(&root, Engine::Terraform), expected);
    }
    std::os::unix::fs::symlink("/", tree.path("modules/m/out")).unwrap();
    fs::create_dir(tree.path(".git")).unwrap();
    fs::write(
        tree.path("modules/m/a.tf"),
        "module \"o\" {\n source = \"./out\"\n}",
    )
    .unwrap();
    let untrusted = ReadOptions {
        is_untrusted: true,
        ..options
    };
    let error = WHOLE.read(&tree, &untrusted).unwrap_err();
    assert!(error.contains("points outside the repository"), "{error}");
}
