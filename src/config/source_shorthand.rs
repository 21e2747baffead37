//! Expands the shorthand of remote module sources, and recognizes addresses that are not shorthand. See section 8 of docs/rules/config.md.

use super::module_source::CODE_HOSTS;

/// Returns whether Terraform and OpenTofu, with the URL parser of Go, parse an address as a URL with a scheme.
pub(super) fn has_scheme(address: &str) -> bool {
    let Some((scheme, rest)) = address.split_once(':') else {
        return false;
    };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let rest = rest.split('?').next().unwrap_or_default();
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", rest),
    };
    is_scheme
        && !address.contains(|character: char| character.is_ascii_control())
        && is_authority(authority, scheme)
        && (!path.starts_with('/') || has_valid_escapes(path))
        && has_valid_escapes(fragment)
}

/// Returns whether `text` is a valid `USER:PASSWORD@HOST:PORT`, in which each part may be missing. The host may contain colons, except in
/// `http` and `https` addresses.
fn is_authority(text: &str, scheme: &str) -> bool {
    let is_web = ["http", "https"].contains(&scheme.to_ascii_lowercase().as_str());
    let (user, host) = text.rsplit_once('@').unwrap_or(("", text));
    let (name, port) = match host.rsplit_once(']') {
        Some((name, port)) if host.starts_with('[') => {
            (name, port.strip_prefix(':').unwrap_or(port))
        }
        _ if is_web => host.split_once(':').unwrap_or((host, "")),
        _ => host.rsplit_once(':').unwrap_or((host, "")),
    };
    let allows = |text: &str, more: &str| {
        let is_allowed = |character: char| {
            character.is_ascii_alphanumeric() || "-._~!$&'()*+,;=%".contains(character)
        };
        text.chars()
            .all(|character| is_allowed(character) || more.contains(character))
    };
    let ascii: String = name.chars().filter(char::is_ascii).collect();
    allows(user, ":@")
        && has_valid_escapes(user)
        && allows(&ascii, ":[]<>\"")
        && (!host.starts_with('[') || host.contains(']'))
        && has_valid_escapes(name)
        && port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether two hexadecimal digits follow each `%`.
fn has_valid_escapes(text: &str) -> bool {
    text.split('%').skip(1).all(|rest| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

/// Expands an address without scheme. Returns the getter that it implies, which may be empty, and the full address.
pub(super) fn expand_shorthand(address: &str) -> Option<(&'static str, String)> {
    if let Some((host, rest)) = address.split_once('/')
        && CODE_HOSTS.contains(&host)
    {
        return repository(host, rest).map(|url| ("git", url));
    }
    if let Some(url) = scp_address(address) {
        return Some(("git", url));
    }
    if address.contains("googleapis.com/") {
        return google_storage(address).map(|url| ("gcs", url));
    }
    if address.contains(".amazonaws.com/") {
        return amazon_storage(address).map(|url| ("s3", url));
    }
    let is_absolute = address.starts_with('/');
    is_absolute.then(|| ("", format!("file://{address}")))
}

/// Converts `owner/repo/sub?ref=x` on a code host to a git address.
fn repository(host: &str, rest: &str) -> Option<String> {
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, format!("?{query}")),
        None => (rest, String::new()),
    };
    let mut parts = path.splitn(3, '/');
    // Terraform and OpenTofu accept an empty name.
    let (owner, name, inner) = (parts.next()?, parts.next()?, parts.next());
    let name = name.strip_suffix(".git").unwrap_or(name);
    let inner = inner.filter(|inner| !inner.is_empty());
    let directory = inner.map(|inner| format!("//{inner}")).unwrap_or_default();
    Some(format!(
        "https://{host}/{owner}/{name}.git{directory}{query}"
    ))
}

/// Converts `git@host:path` to an ssh address, and sorts its query. Returns `None` for other addresses and users.
fn scp_address(address: &str) -> Option<String> {
    let (host, path) = address.strip_prefix("git@")?.split_once(':')?;
    if host.is_empty() || host.contains(['/', '?']) || path.is_empty() {
        return None;
    }
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let path = path.strip_prefix('/').unwrap_or(path);
    let mut arguments: Vec<&str> = query.split('&').filter(|text| !text.is_empty()).collect();
    arguments.sort_by_key(|argument| argument.split('=').next());
    let query = match arguments.join("&") {
        arguments if arguments.is_empty() => String::new(),
        arguments => format!("?{arguments}"),
    };
    Some(format!("ssh://git@{host}/{path}{query}"))
}

/// Converts `www.googleapis.com/storage/VERSION/BUCKET/OBJECT`.
fn google_storage(address: &str) -> Option<String> {
    let mut parts = address.splitn(5, '/').skip(2);
    let (version, bucket, object) = (parts.next()?, parts.next()?, parts.next()?);
    Some(format!(
        "https://www.googleapis.com/storage/{version}/{bucket}/{object}"
    ))
}

/// Converts `s3-REGION.amazonaws.com/BUCKET/OBJECT`, and the forms whose host starts with the bucket.
fn amazon_storage(address: &str) -> Option<String> {
    let (host, path) = address.split_once('/')?;
    match host.split('.').collect::<Vec<_>>()[..] {
        [region, _, _] => Some(format!("https://{region}.amazonaws.com/{path}")),
        [bucket, region, _, _] => Some(format!("https://{region}.amazonaws.com/{bucket}/{path}")),
        [bucket, "s3", region, _, _] => {
            Some(format!("https://s3.{region}.amazonaws.com/{bucket}/{path}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_with_a_scheme_are_those_that_go_accepts() {
        let valid = "
            https://h.test/r | https://h.test:99999/r | https://h.test:/r | https://[::1]:80/r | https://é.test/é
            https://u:p@h.test/a b | https:///r | https:// | git:: | foo:bar | foo:%zz | C:/x | a+b.c-d://x
            https://h.test/%20?%zz | https://h.test/r#%20 | file://a::b: | ssh://a:b:22/r
        ";
        let invalid = "
            h.test/r | 1foo:bar | ht_tp://h.test/r | ::x | é:x | https://h.test:o/r | https://a:1:2/r | HTTP://a::1/r | ssh://a:22:b/r | https://h te/r | https://u w@h.test/r
            https://h.test/%zz | https://h.test/% | https://[::1/r | https://h.test/r#%z | https://u:%@h.test/r
        ";
        let split = |rows: &'static str| {
            rows.split(['|', '\n'])
                .map(str::trim)
                .filter(|row| !row.is_empty())
        };
        for address in split(valid) {
            assert!(has_scheme(address), "{address}");
        }
        for address in split(invalid) {
            assert!(!has_scheme(address), "{address}");
        }
        assert!(!has_scheme(" https://h.test/r"));
        assert!(!has_scheme("https://h.test/\tr"));
    }
}
