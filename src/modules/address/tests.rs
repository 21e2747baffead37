//! Tests of how module addresses are parsed, and which are refused.

use super::*;

/// Parses an address and renders it as `PACKAGE // SUBDIRECTORY`, or renders the error.
fn parsed(text: &str) -> String {
    parsed_for(text, Engine::Terraform)
}

fn parsed_for(text: &str, engine: Engine) -> String {
    let address = match RemoteAddress::parse(text, engine) {
        Ok(address) => address,
        Err(error) => return format!("error: {error}"),
    };
    let package = match address.package {
        ModulePackage::Repository(RepositoryPackage {
            program,
            url,
            reference,
            ..
        }) => match reference {
            Some(reference) => format!("{program} {url} at {reference}"),
            None => format!("{program} {url}"),
        },
        ModulePackage::Archive(archive) => {
            let checksum = archive.checksum.map(|checksum| match checksum {
                ChecksumSource::Value(checksum) => format!(" {checksum}"),
                ChecksumSource::List(list) => format!(" listed in {list}"),
            });
            format!(
                "{:?} {}{}",
                archive.kind,
                archive.url,
                checksum.unwrap_or_default()
            )
        }
        ModulePackage::Objects(objects) => format!("objects {}", objects.url),
        ModulePackage::Oci(module) => module.to_string(),
        ModulePackage::Web(url) => format!("web {url}"),
        ModulePackage::Directory(path) => format!("directory {}", path.display()),
        ModulePackage::File(path, kind, _) => format!("{kind:?} {}", path.display()),
    };
    if address.subdirectory.is_empty() {
        package
    } else {
        format!("{package} // {}", address.subdirectory)
    }
}

#[test]
fn repositories() {
    for row in [
        "git::https://g.test/o/r.git                         | git https://g.test/o/r.git",
        "git::https://g.test/o/r.git//sub/dir?ref=v1&depth=1 | git https://g.test/o/r.git at v1 // sub/dir",
        "git::ssh://git@g.test:2222/o/r?ref=feature/x        | git ssh://git@g.test:2222/o/r at feature/x",
        "git::https://g.test/r?ref=&x=a%20b                  | git https://g.test/r?x=a%20b",
        "git::file:///srv/r//*/x                             | git file:///srv/r // */x",
        "git::/srv/r//x                                      | git file:///srv/r // x",
        "git::github.com/o/r//sub?ref=v1                     | git https://github.com/o/r.git at v1 // sub",
        "git::bitbucket.org/o/r                              | git https://bitbucket.org/o/r.git",
        "git::git@g.test:o/r.git?ref=main                    | git ssh://git@g.test/o/r.git at main",
        "hg::https://h.test/r//sub?rev=v1-rc%20(1)&x=1       | hg https://h.test/r?x=1 at v1-rc (1) // sub",
        "hg::ssh://hg@h.test:2222/r?rev=                     | hg ssh://hg@h.test:2222/r",
        "hg::/srv/r?rev=tip                                  | hg file:///srv/r at tip",
        "hg::github.com/o/r?rev=x                            | hg https://github.com/o/r.git at x",
    ] {
        let (text, expected) = columns(row);
        assert_eq!(parsed(text), expected, "{text}");
    }
}

#[test]
fn archives_and_directories() {
    for row in [
        "https://h.test/m.zip                 | Zip https://h.test/m.zip",
        "https://h.test/m.tar.gz//a/*?x=1     | TarGz https://h.test/m.tar.gz?x=1 // a/*",
        "https::https://h.test/m.tgz          | TarGz https://h.test/m.tgz",
        "https://h.test/m.tar.xz//*           | TarXz https://h.test/m.tar.xz // *",
        "https://h.test/m?archive=tbz2        | TarBz2 https://h.test/m",
        "https://h.test/m.zip?checksum=file:https://h.test/SUMS&x=1 | Zip https://h.test/m.zip?x=1 listed in https://h.test/SUMS",
        "https://h.test/m?archive=zip&token=t | Zip https://h.test/m?token=t",
        "https://h.test/m.zip?archive=false   | web https://h.test/m.zip",
        "https://h.test/m.zip?archive=unknown | web https://h.test/m.zip",
        "https://h.test/m//sub                | web https://h.test/m // sub",
        "s3::https://s3.amazonaws.com/b/m.zip//x?version=1 | Zip https://s3.amazonaws.com/b/m.zip?version=1 // x",
        "s3::https://s3.amazonaws.com/b/m//x  | objects https://s3.amazonaws.com/b/m // x",
        "www.googleapis.com/storage/v1/b/m    | objects https://www.googleapis.com/storage/v1/b/m",
        "https://h.test/m.zip//sub/../other   | Zip https://h.test/m.zip // other",
        "https://h.test/m.zip//sub/../?x=1    | Zip https://h.test/m.zip?x=1 // .",
        "https://h.test/a b.zip               | Zip https://h.test/a%20b.zip",
        #[cfg(unix)]
        "file:///srv/m                        | directory /srv/m",
        #[cfg(unix)]
        "file:/srv/m                          | directory /srv/m",
        #[cfg(unix)]
        "FILE:/srv/m.zip//x                   | Zip /srv/m.zip // x",
        #[cfg(unix)]
        "file::file:/srv/m                    | directory /srv/m",
        #[cfg(unix)]
        "file:///srv/m.zip//x                 | Zip /srv/m.zip // x",
        #[cfg(unix)]
        "file:///srv/m?archive=zip            | Zip /srv/m",
        #[cfg(unix)]
        "file:///srv/l/../%2e%2e/m%20n        | directory /srv/l/../%2e%2e/m%20n",
    ] {
        let (text, expected) = columns(row);
        assert_eq!(parsed(text), expected, "{text}");
    }
    #[cfg(unix)]
    assert_eq!(parsed("file:///srv/m "), "directory /srv/m ");
    assert_eq!(
        parsed("https://h.test/m.zip "),
        "web https://h.test/m.zip%20"
    );
    let digest = "a".repeat(64);
    let pinned = format!("https://h.test/m.zip?checksum=sha256:{digest}");
    let expected = format!("Zip https://h.test/m.zip sha256:{digest}");
    assert_eq!(parsed(&pinned), expected);
}

#[test]
fn invalid_addresses_are_refused() {
    for row in [
        "git::http://g.test/r                               | git may use only https, ssh and file",
        "git://g.test/r                                     | uses the protocol `git`",
        "git::ext::sh -c id                                 | is not a valid module address",
        "git::ext://sh                                      | uses the protocol `ext`",
        "git::https://g.test/r?ref=--upload-pack=x          | its `ref` is not a valid branch",
        "git::https://g.test/r?ref=a:b                      | its `ref` is not a valid branch",
        "git::https://g.test/r?ref=a..b                     | its `ref` is not a valid branch",
        "git::https://g.test/r?ref=a%0ab                    | its `ref` is not a valid branch",
        "git::ssh://-oProxyCommand=x/r                      | as an option",
        "git::ssh://%2DoProxyCommand=x/r                    | as an option",
        "git::ssh://-x@g.test/r                             | as an option",
        "git::ssh://g.test:o/r                              | check that its port is a number",
        "git::ssh://g.test/r?sshkey=Zm9v                    | `sshkey`) are not supported",
        "hg::http://h.test/r                                | protocol `http`, but hg may use only https",
        "hg:///srv/r                                        | uses the protocol `hg`",
        "hg::static-http://h.test/r                         | uses the protocol `static-http`",
        "hg::bundle:///srv/r                                | uses the protocol `bundle`",
        "hg::ssh://-oProxyCommand=x/r                       | as an option",
        "hg::https://h.test/r#default                       | a revision belongs in `?rev=`",
        "hg::https://h.test/r?rev=-1                        | its `rev` is not a valid branch",
        "hg::https://h.test/r?rev=a%0ab                     | its `rev` is not a valid branch",
        "s3://b/m.zip                                       | an address in S3 must have the form",
        "s3::https://b.s3.amazonaws.com/m.zip               | its host does not name a region",
        "gcs::https://h.test/storage/v1/b/m.zip             | an address in Google Cloud Storage must",
        "gs://b/m.zip                                       | its scheme is not supported",
        "s3::https://s3.amazonaws.com/b/m?checksum=sha256:a | the checksum has the wrong length",
        "oci://h.test/m                                     | Terraform has no modules in OCI registries",
        "https://h.test/main.tf.gz                          | that is not an archive cannot contain a module",
        "https://h.test/m?archive=bz2                       | that is not an archive cannot contain a module",
        "https://h.test/m?checksum=md5:a                    | the checksum has the wrong length",
        "https://h.test/m?checksum=00000000000000000000000000000000 | only an archive can have a checksum",
        "ssh://git@g.test/r                                 | must start with `git::`",
        "ftp://h.test/m.zip                                 | its scheme is not supported",
        "x::https://h.test/m.zip                            | its scheme is not supported",
        "https://h.test/m.zip//../x                         | `../x` in `https://h.test/m.zip` points outside the module package",
        "https://h.test/m.zip//x/../..                      | points outside the module package",
        "https://h.test/m\t.zip                             | it contains a control character",
        "file:///srv/\nm                                    | it contains a control character",
        #[cfg(unix)]
        "file:///srv/%zz                                    | not a path on this machine",
        "git::nothing                                       | it has no scheme",
        "git::file:/srv/r                                   | it has no scheme",
        "file:srv/m                                         | it has no scheme",
        // On Windows, this address refers to a network share on a different machine.
        #[cfg(unix)]
        "file://other/m                                     | not a path on this machine",
    ] {
        let (text, expected) = columns(row);
        let found = parsed(text);
        let is_expected = found.starts_with("error: ") && found.contains(expected);
        assert!(is_expected, "{text}: {found}");
    }
}

#[test]
fn oci_registries() {
    let digest = format!("sha256:{}", "0".repeat(64));
    for row in [
        "oci://h.test/a/m                 | oci://h.test/a/m?tag=latest",
        "OCI://H.test:5000/m//x?tag=1.0_x | oci://H.test:5000/m?tag=1.0_x // x",
        "oci::oci://h.test/m?tag=v1#x     | oci://h.test/m?tag=v1",
        "oci://u:p@h.test/%6d?checksum=   | oci://h.test/m?tag=latest",
        "oci://h.test/m?digest=DIGEST     | oci://h.test/m?digest=DIGEST",
        "oci://h.test/m.zip?archive=false | oci://h.test/m.zip?tag=latest",
        "oci::https://h.test/m            | error: must start with `oci://`",
        "oci://h.test                     | error: must have the form `oci://REGISTRY/NAME`",
        "oci://h.test/                    | error: must have the form",
        "oci://h.test/m/                  | error: must have the form",
        "oci://h.test/M                   | error: must have the form",
        "oci://h.test/m:v1                | error: must have the form",
        "oci://h.test/%2e%2e/m            | error: must have the form",
        "oci:///m                         | error: must have the form",
        "oci://h.test/m?                  | oci://h.test/m?tag=latest",
        "oci://h.test/m?tag=              | error: its `tag` is not a valid tag",
        "oci://h.test/m?tag=a/b           | error: its `tag` is not a valid tag",
        "oci://h.test/m?tag=a&tag=b       | error: contains a parameter twice",
        "oci://h.test/m?tag=a&digest=DIGEST | error: must not have both",
        "oci://h.test/m?digest=           | error: its `digest` is not a valid digest",
        "oci://h.test/m?digest=sha256:0   | error: its `digest` is not a valid digest",
        "oci://h.test/m?ref=v1            | error: may contain only `tag` or `digest`",
        "oci://h.test/m?archive=          | error: may contain only `tag` or `digest`",
        "oci://h.test/m?archive=zip       | error: an archive format cannot be named",
        "oci://h.test/m.tar.gz            | error: an archive format cannot be named",
        "oci://h.test/m?checksum=md5:0    | error: use `digest` instead of `checksum`",
        "oci://h.test/m//../x             | error: points outside the module package",
    ] {
        let (text, expected) = columns(row);
        let (text, expected) = (
            text.replace("DIGEST", &digest),
            expected.replace("DIGEST", &digest),
        );
        let found = parsed_for(&text, Engine::Tofu);
        match expected.strip_prefix("error: ") {
            Some(problem) => assert!(
                found.starts_with("error: ") && found.contains(problem),
                "{text}: {found}"
            ),
            None => assert_eq!(found, expected, "{text}"),
        }
    }
}

/// Splits a row of a table into its two columns.
fn columns(row: &str) -> (&str, &str) {
    let (left, right) = row.split_once('|').unwrap();
    (left.trim(), right.trim())
}
