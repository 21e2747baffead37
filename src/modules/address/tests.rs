//! Addresses row by row: what is read, what is refused, and what messages show.

use super::*;

/// `PACKAGE // SUBDIRECTORY`, or the error.
fn read(text: &str) -> String {
    let address = match RemoteAddress::parse(text, Engine::Terraform) {
        Ok(address) => address,
        Err(error) => return format!("error: {error}"),
    };
    let package = match address.package {
        Package::Git(git) => match git.reference {
            Some(reference) => format!("git {} at {reference}", git.url),
            None => format!("git {}", git.url),
        },
        Package::Archive(archive) => {
            let checksum = archive.checksum.map(|checksum| format!(" {checksum}"));
            format!(
                "{:?} {}{}",
                archive.kind,
                archive.url,
                checksum.unwrap_or_default()
            )
        }
        Package::Web(url) => format!("web {url}"),
        Package::Directory(path) => format!("directory {}", path.display()),
        Package::File(path, kind, _) => format!("{kind:?} {}", path.display()),
    };
    if address.subdirectory.is_empty() {
        package
    } else {
        format!("{package} // {}", address.subdirectory)
    }
}

#[test]
fn repositories() {
    for (text, expected) in [
        ("git::https://g.test/o/r.git", "git https://g.test/o/r.git"),
        (
            "git::https://g.test/o/r.git//sub/dir?ref=v1&depth=1",
            "git https://g.test/o/r.git at v1 // sub/dir",
        ),
        (
            "git::ssh://git@g.test:2222/o/r?ref=feature/x",
            "git ssh://git@g.test:2222/o/r at feature/x",
        ),
        (
            "git::https://g.test/r?ref=&x=a%20b",
            "git https://g.test/r?x=a%20b",
        ),
        ("git::file:///srv/r//*/x", "git file:///srv/r // */x"),
        ("git::/srv/r//x", "git file:///srv/r // x"),
        (
            "git::github.com/o/r//sub?ref=v1",
            "git https://github.com/o/r.git at v1 // sub",
        ),
        (
            "git::bitbucket.org/o/r",
            "git https://bitbucket.org/o/r.git",
        ),
        (
            "git::git@g.test:o/r.git?ref=main",
            "git ssh://git@g.test/o/r.git at main",
        ),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn archives_and_directories() {
    for (text, expected) in [
        ("https://h.test/m.zip", "Zip https://h.test/m.zip"),
        (
            "https://h.test/m.tar.gz//a/*?x=1",
            "TarGz https://h.test/m.tar.gz?x=1 // a/*",
        ),
        ("https::https://h.test/m.tgz", "TarGz https://h.test/m.tgz"),
        (
            "https://h.test/m?archive=zip&token=t",
            "Zip https://h.test/m?token=t",
        ),
        (
            "https://h.test/m.zip?archive=false",
            "web https://h.test/m.zip",
        ),
        (
            "https://h.test/m.zip?archive=unknown",
            "web https://h.test/m.zip",
        ),
        ("https://h.test/m//sub", "web https://h.test/m // sub"),
        #[cfg(unix)]
        ("file:///srv/m", "directory /srv/m"),
        #[cfg(unix)]
        ("file:///srv/m.zip//x", "Zip /srv/m.zip // x"),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
    let digest = "a".repeat(64);
    let pinned = format!("https://h.test/m.zip?checksum=sha256:{digest}");
    assert_eq!(
        read(&pinned),
        format!("Zip https://h.test/m.zip sha256:{digest}")
    );
}

#[test]
fn what_is_refused() {
    for (text, expected) in [
        (
            "git::http://g.test/r",
            "git may use https, ssh and file only",
        ),
        ("git://g.test/r", "for the protocol `git`"),
        ("git::ext::sh -c id", "no address"),
        ("git::ext://sh", "for the protocol `ext`"),
        (
            "git::https://g.test/r?ref=--upload-pack=x",
            "its `ref` is no branch",
        ),
        ("git::https://g.test/r?ref=a:b", "its `ref` is no branch"),
        ("git::https://g.test/r?ref=a..b", "its `ref` is no branch"),
        ("git::https://g.test/r?ref=a%0ab", "its `ref` is no branch"),
        ("git::ssh://-oProxyCommand=x/r", "for an option"),
        ("git::ssh://%2DoProxyCommand=x/r", "for an option"),
        ("git::ssh://-x@g.test/r", "for an option"),
        ("git::ssh://g.test:o/r", "is its port a number?"),
        (
            "git::ssh://g.test/r?sshkey=Zm9v",
            "`sshkey`) are not supported",
        ),
        ("hg::https://h.test/r", "`hg`) are not supported"),
        (
            "s3::https://s3.amazonaws.com/b/m.zip",
            "`s3`) are not supported",
        ),
        (
            "gcs::https://www.googleapis.com/storage/v1/b/m.zip",
            "`gcs`) are not supported",
        ),
        ("oci://h.test/m", "`oci`) are not supported"),
        (
            "https://h.test/m.tar.xz",
            "tar.xz archives are not supported",
        ),
        (
            "https://h.test/m?archive=tbz2",
            "tar.bz2 archives are not supported",
        ),
        ("ssh://git@g.test/r", "needs `git::` in front"),
        ("ftp://h.test/m.zip", "nothing is known to fetch it with"),
        (
            "x::https://h.test/m.zip",
            "nothing is known to fetch it with",
        ),
        ("git::nothing", "it has no scheme"),
        // On Windows that is a share of another machine.
        #[cfg(unix)]
        ("file://other/m", "no path of this machine"),
    ] {
        let found = read(text);
        assert!(
            found.starts_with("error: ") && found.contains(expected),
            "{text}: {found}"
        );
    }
}
