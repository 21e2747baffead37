//! Opens the hash indexes of a run.

use std::sync::Arc;

use crate::buckets::StoreSettings;
use crate::index::{IndexAddress, IndexReader, IndexStore, IndexWarning, IndexWriter, LostTime};
use crate::locking::{AuditSample, PackageIndex};
use crate::registry::{HttpExchange, RegistryClient};
use crate::settings::IndexSettings;

/// Opens the indexes without sending a request. An index that cannot be used only causes a warning. If the run is offline, only
/// indexes in directories are used.
pub(super) fn open(settings: &IndexSettings, client: Option<&RegistryClient>) -> PackageIndex {
    let mut unused = Vec::new();
    let is_online = client.is_some_and(|client| !client.settings().http.offline);
    let is_available =
        |address: &&IndexAddress| is_online || matches!(address, IndexAddress::Directory(_));
    let available: Vec<_> = settings.addresses.iter().filter(is_available).collect();
    let audit = settings.audit.map(AuditSample::new);
    let mut index = PackageIndex::new(audit, settings.no_download);
    let Some(client) = client.filter(|_| !available.is_empty()) else {
        return index;
    };
    let access = StoreSettings {
        exchange: HttpExchange::new(client),
        environment: settings.clouds.clone(),
    };
    let lost = Arc::new(LostTime::default());
    let mut stores = Vec::new();
    for address in available {
        match IndexStore::open(address.clone(), &access) {
            Ok(store) => stores.push(store),
            Err(source) => unused.push(IndexWarning::Read {
                address: address.clone(),
                source,
            }),
        }
    }
    let first = stores
        .iter()
        .find(|store| Some(store.address()) == settings.addresses.first());
    if let (Some(store), Some(key)) = (first, &settings.signer) {
        let writer = IndexWriter::new(store.clone(), Arc::clone(key), Arc::clone(&lost));
        index = index.with_writer(writer);
    }
    if settings.is_read && settings.keys.is_empty() && settings.signer.is_none() {
        unused.push(IndexWarning::NoKey);
    }
    if settings.is_read && !settings.keys.is_empty() {
        index = index.with_reader(IndexReader::new(stores, settings.keys.clone(), &lost));
    }
    index.with_unused(unused)
}
