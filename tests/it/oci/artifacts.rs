//! Artifacts that are not what OpenTofu defines, and responses that do not match their digests.

use serde_json::{Value, json};
use tflock_test_support::{Misbehave, ResponseBody, check_rows};

use super::{ANVIL, OciSite};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// Changes the artifact of acme/anvil 1.1.0, and names a part of the error.
type BrokenArtifact = (&'static str, fn(&OciSite), &'static str);

fn change_index(site: &OciSite, change: impl FnOnce(&mut Value)) {
    site.registry.change_index(ANVIL, "1.1.0", change);
}

/// The number of linux_amd64 in the index: platforms are sorted.
const LINUX: usize = 1;

fn change_target(site: &OciSite, change: impl FnOnce(&mut Value)) {
    site.registry.change_target(ANVIL, "1.1.0", LINUX, change);
}

/// Serves a blob under the digest of the package.
fn replace_package(site: &OciSite, body: ResponseBody) {
    let digest = format!("sha256:{}", site.facts("1.1.0", "linux_amd64").shasum());
    site.registry.put_blob_as(ANVIL, &digest, body);
}

const BROKEN: &[BrokenArtifact] = &[
    ("unchanged", |_| {}, "locked"),
    (
        "other entries",
        |site| {
            change_index(site, |index| {
                let entries = index["manifests"].as_array_mut().unwrap();
                entries.insert(0, json!({"mediaType": MANIFEST, "digest": "x", "size": 1, "artifactType": "application/x"}));
                entries.push(json!({"mediaType": INDEX, "digest": "y", "size": 1}));
                index["annotations"] = json!({"a": "b"});
            });
        },
        "locked",
    ),
    (
        "no artifact type",
        |site| {
            change_index(site, |index| index["artifactType"] = Value::Null);
        },
        "its artifact type is missing, not `application/vnd.opentofu.provider`",
    ),
    (
        "a module",
        |site| {
            change_index(site, |index| {
                index["artifactType"] = "application/vnd.opentofu.modulepkg".into();
            });
        },
        "its artifact type is `application/vnd.opentofu.modulepkg`, not",
    ),
    (
        "no media type in the manifest",
        |site| {
            let mut index = site.registry.tagged(ANVIL, "1.1.0");
            index["mediaType"] = Value::Null;
            let text = index.to_string();
            site.registry
                .put_manifest_bytes(ANVIL, "1.1.0", INDEX, text.as_bytes());
        },
        "its media type is missing, not",
    ),
    (
        "the tag of a manifest",
        |site| {
            let digest = site.registry.tagged(ANVIL, "1.1.0")["manifests"][LINUX]["digest"].clone();
            assert!(digest.is_string());
            let manifest =
                site.registry
                    .manifest(ANVIL, "application/vnd.opentofu.provider-target", &[]);
            site.registry.put_manifest(ANVIL, "1.1.0", &manifest);
        },
        "its media type is `application/vnd.oci.image.manifest.v1+json`, not",
    ),
    (
        "an image of Docker",
        |site| {
            let list = "application/vnd.docker.distribution.manifest.list.v2+json";
            site.registry
                .put_manifest_bytes(ANVIL, "1.1.0", list, b"{}");
        },
        "its media type is `application/vnd.docker.distribution.manifest.list.v2+json`, not",
    ),
    (
        "no JSON",
        |site| {
            site.registry
                .put_manifest_bytes(ANVIL, "1.1.0", INDEX, b"{");
        },
        "the manifest does not follow the specification: EOF",
    ),
    (
        "the wrong type in JSON",
        |site| change_index(site, |index| index["manifests"] = json!({})),
        "the manifest does not follow the specification: invalid type: map",
    ),
    (
        "an index of container images",
        |site| {
            change_index(site, |index| {
                for entry in index["manifests"].as_array_mut().unwrap() {
                    entry.as_object_mut().unwrap().remove("artifactType");
                }
            });
        },
        "it has no manifests of provider packages",
    ),
    (
        "an index that contains itself",
        |site| {
            let own = site.registry.tagged(ANVIL, "1.1.0");
            let descriptor = site.registry.put_manifest(ANVIL, "", &own);
            change_index(site, |index| {
                let target = &mut index["manifests"][LINUX];
                target["mediaType"] = INDEX.into();
                target["digest"] = descriptor["digest"].clone();
                target["size"] = descriptor["size"].clone();
            });
        },
        "its media type is `application/vnd.oci.image.index.v1+json`, not",
    ),
    (
        "an index in the place of a manifest",
        |site| {
            let own = site.registry.tagged(ANVIL, "1.1.0");
            let descriptor = site.registry.put_manifest(ANVIL, "", &own);
            change_index(site, |index| {
                let target = &mut index["manifests"][LINUX];
                target["digest"] = descriptor["digest"].clone();
                target["size"] = descriptor["size"].clone();
            });
        },
        "its media type is `application/vnd.oci.image.index.v1+json`, not",
    ),
    (
        "no platform",
        |site| {
            change_index(site, |index| {
                index["manifests"][LINUX]["platform"] = Value::Null;
            });
        },
        "its index manifest has a package entry without a platform",
    ),
    (
        "a version of the operating system",
        |site| {
            change_index(site, |index| {
                index["manifests"][LINUX]["platform"]["os.version"] = "1".into();
            });
        },
        "has no package for `linux_amd64`",
    ),
    (
        "a platform twice",
        |site| {
            change_index(site, |index| {
                let again = index["manifests"][LINUX].clone();
                index["manifests"].as_array_mut().unwrap().push(again);
            });
        },
        "it has several manifests for `linux_amd64`",
    ),
    (
        "the wrong artifact type of a platform",
        |site| {
            change_target(site, |target| target["artifactType"] = "x".into());
        },
        "its artifact type is `x`, not `application/vnd.opentofu.provider-target`",
    ),
    (
        "no layers",
        |site| {
            change_target(site, |target| target["layers"] = Value::Null);
        },
        "its manifest has no layer of the media type `archive/zip`",
    ),
    (
        "other layers",
        |site| {
            change_target(site, |target| {
                let layers = target["layers"].as_array_mut().unwrap();
                layers.push(json!({"mediaType": "text/plain", "digest": "x", "size": 1}));
            });
        },
        "locked",
    ),
    (
        "two zips",
        |site| {
            change_target(site, |target| {
                let again = target["layers"][0].clone();
                target["layers"].as_array_mut().unwrap().push(again);
            });
        },
        "its manifest has several layers of the media type `archive/zip`",
    ),
    (
        "a layer for another platform",
        |site| {
            change_target(site, |target| {
                target["layers"][0]["platform"] = json!({"os": "linux", "architecture": "arm"});
            });
        },
        "its layer is for `linux_arm`",
    ),
    (
        "a layer with SHA-512",
        |site| {
            change_target(site, |target| {
                target["layers"][0]["digest"] = format!("sha512:{}", "0".repeat(128)).into();
            });
        },
        "is not a valid digest of a supported algorithm",
    ),
    (
        "no valid digest",
        |site| {
            change_target(site, |target| {
                target["layers"][0]["digest"] = "sha256:x/../y".into();
            });
        },
        "`sha256:x/../y` is not a valid digest of a supported algorithm",
    ),
    (
        "another package",
        |site| {
            let size = site.facts("1.1.0", "linux_amd64").size;
            replace_package(site, ResponseBody::Zeros(size));
        },
        "the registry sent content with the digest `sha256:",
    ),
    (
        "a package of another size",
        |site| {
            change_target(site, |target| target["layers"][0]["size"] = 5.into());
        },
        "bytes, not 5",
    ),
    (
        "a missing package",
        |site| {
            change_target(site, |target| {
                target["layers"][0]["digest"] = format!("sha256:{}", "0".repeat(64)).into();
            });
        },
        "404 Not Found",
    ),
    (
        "a missing manifest",
        |site| {
            change_index(site, |index| {
                index["manifests"][LINUX]["digest"] = format!("sha256:{}", "0".repeat(64)).into();
            });
        },
        "404 Not Found",
    ),
    (
        "the wrong size of a manifest",
        |site| {
            change_index(site, |index| index["manifests"][LINUX]["size"] = 5.into());
        },
        "bytes, not 5",
    ),
    (
        "a manifest that is described as huge",
        |site| {
            change_index(site, |index| {
                index["manifests"][LINUX]["size"] = (5 << 20).into();
            });
        },
        "the manifest is too large: it has 5242880 bytes, and the limit is 5242879 bytes",
    ),
    (
        "a huge manifest",
        |site| {
            let text = " ".repeat(5 << 20);
            site.registry
                .put_manifest_bytes(ANVIL, "1.1.0", INDEX, text.as_bytes());
        },
        "the response is larger than 5242879 bytes (limit for manifests)",
    ),
    (
        "a manifest with a different digest in the header",
        |site| {
            let rule = Misbehave::on("*/manifests/1.1.0")
                .without_header("Docker-Content-Digest")
                .header(
                    "Docker-Content-Digest",
                    &format!("sha256:{}", "0".repeat(64)),
                );
            site.registry.misbehave(rule);
        },
        "the registry sent content with the digest `sha256:",
    ),
    (
        "a manifest without a digest in the header",
        |site| {
            site.registry.misbehave(
                Misbehave::on("*/manifests/1.1.0").without_header("Docker-Content-Digest"),
            );
        },
        "locked",
    ),
    (
        "a manifest whose content has changed",
        |site| {
            site.registry
                .misbehave(Misbehave::on("*/manifests/sha256*").rewrite(|_| b"{}".to_vec()));
        },
        "the registry sent content with the digest `sha256:44136fa3",
    ),
];

#[test]
fn every_step_is_checked() {
    check_rows(BROKEN.iter().copied(), |(name, change, expected)| {
        let site = OciSite::start();
        change(&site);
        let outcome = site.lock("--platform linux_amd64").run();
        let is_locked = expected == "locked";
        assert_eq!(
            site.context.lock_file("a").is_some(),
            is_locked,
            "{name}: {outcome}"
        );
        assert!(
            is_locked || outcome.stderr.contains(expected),
            "{name}: {outcome}"
        );
    });
}

#[test]
fn lists_of_tags_end_on_the_same_server() {
    for (link, expected) in [
        (
            "<https://elsewhere.test/v2/x/tags/list>; rel=\"next\"",
            "its list of tags continues on a different server",
        ),
        (
            "</v2/mirror/acme/anvil/tags/list>; rel=\"next\"",
            "its list of tags does not end",
        ),
        ("nonsense", "locked"),
    ] {
        let site = OciSite::start();
        site.registry
            .misbehave(Misbehave::on("*/tags/list").header("Link", link));
        let outcome = site.lock("--platform linux_amd64").run();
        if expected == "locked" {
            outcome.expect_success();
        } else {
            outcome.expect_code(1).assert_stderr(expected);
        }
    }
}
