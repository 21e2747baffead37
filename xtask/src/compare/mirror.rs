//! A network mirror that has every provider, so that the lock file shows which addresses a configuration requires.

use std::sync::{Arc, RwLock};

use serde_json::{Map, Value, json};
use tflock_test_support::{DEFAULT_PLATFORMS, Document, FakeRegistry, RawEntry, RawZip};

/// The lists of versions that mirrors offer. The path of a mirror begins with the index of its list.
#[derive(Default)]
pub(super) struct VersionLists(Arc<RwLock<Vec<Vec<String>>>>);

impl VersionLists {
    /// Makes `registry` serve one mirror for each list.
    pub(super) fn serve(registry: &FakeRegistry) -> Self {
        let lists = Self::default();
        let served = Arc::clone(&lists.0);
        registry.serve_others(move |path| {
            let parts: Vec<_> = path.strip_prefix("/mirror/")?.split('/').collect();
            let [list, host, namespace, type_name, file] = parts[..] else {
                return None;
            };
            let lists = served.read().expect("not poisoned");
            let versions = lists.get(list.parse::<usize>().ok()?)?;
            document(versions, [host, namespace, type_name], file)
        });
        lists
    }

    /// Adds a list and returns the path of its mirror.
    pub(super) fn add(&self, versions: &[String]) -> String {
        let mut lists = self.0.write().expect("not poisoned");
        lists.push(versions.to_vec());
        format!("/mirror/{}/", lists.len() - 1)
    }
}

/// Returns a document of the mirror protocol.
fn document(versions: &[String], address: [&str; 3], file: &str) -> Option<Document> {
    if file == "index.json" {
        let versions = versions.iter().map(|version| (version.clone(), json!({})));
        let versions: Map<String, Value> = versions.collect();
        return Some(Document::json(&json!({ "versions": versions })));
    }
    if let Some(version) = file.strip_suffix(".json") {
        let archive = |platform: &str| {
            let url = json!({"url": format!("{version}_{platform}.zip")});
            (platform.to_owned(), url)
        };
        let archives: Map<String, Value> = DEFAULT_PLATFORMS.map(archive).into_iter().collect();
        return Some(Document::json(&json!({ "archives": archives })));
    }
    let package = file.strip_suffix(".zip")?;
    let name = format!("terraform-provider-{}", address[2]);
    let content = format!("{} {package}\n", address.join("/"));
    let zip = RawZip::of([RawEntry::stored(name, content).mode(0o100_755)]);
    Some(Document::octets(zip.to_bytes()))
}
