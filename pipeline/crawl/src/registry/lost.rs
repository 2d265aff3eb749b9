//! Handles registry events that are lost together with their copies. The remaining events still apply, and the lake
//! shows which brands existed.

use std::collections::BTreeSet;

use async_recursion::async_recursion as boxed;
use data_model::{Brand, BrandSlug, StoreHost, Timestamp};
use data_storage::{FaultyObject, Storage};
use serde::Serialize;

use super::change::{PREFIX, TRIES_MAX, log};
use super::{RegisteredBrand, Registry, RegistryError, RegistryEvent};

/// Findings of [`Registry::repair`], and the changes that were made or, in a dry run, would be made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RegistryRepair {
    /// Events restored from their copies, and copies restored from their events. No data is lost.
    pub mended: Vec<String>,
    /// Events that are lost together with their copies. Each lost event is replaced by an event that changes nothing.
    pub lost: Vec<String>,
    /// Brands in the lake that no event mentions. They are registered again.
    pub registered: Vec<BrandSlug>,
    /// Brands in the lake that no event mentions and whose slug now belongs to another store. They are not registered
    /// again.
    pub clashing: Vec<BrandSlug>,
    /// Brands that a lost event may have changed. A registered brand that is missing in the lake was not crawled yet,
    /// or its removal event is lost.
    pub unsure: Vec<BrandSlug>,
}

impl RegisteredBrand {
    /// Creates a registration from the lake's brand, with the store's data as of `seen_at`. The operator's settings are
    /// unknown. Returns `None` if the lake has no address.
    #[must_use]
    pub fn of_lake(brand: &Brand, seen_at: Timestamp) -> Option<Self> {
        Some(Self {
            store: brand.store.clone(),
            host: None,
            shop_id: None,
            slug: brand.slug.clone(),
            name: brand.name.clone(),
            name_pinned: false,
            domain: brand.domain.clone(),
            base_url: brand.base_url.parse().ok()?,
            currency: None,
            country: None,
            added_at: seen_at,
        })
    }
}

impl Registry {
    /// Returns the paths of events that are lost together with their copies.
    pub fn lost(&self) -> impl Iterator<Item = String> {
        self.lost.iter().map(|seq| format!("{PREFIX}/{seq:020}.json"))
    }

    /// Returns true if the store is registered, or if a lost event may have registered it. Its data must then not be
    /// deleted.
    #[must_use]
    pub fn may_have(&self, store: &StoreHost) -> bool {
        !self.lost.is_empty() || self.live.contains_key(store)
    }

    pub(super) fn lose(&mut self, seq: u64) {
        self.lost.push(seq);
        self.last_seq = self.last_seq.max(seq);
    }

    /// Returns the events and copies of events that are damaged or missing while their counterpart is intact.
    ///
    /// # Errors
    /// [`RegistryError::Read`].
    #[boxed]
    pub async fn damaged(storage: &Storage) -> Result<Vec<String>, RegistryError> {
        let faults = log(storage).faults().await.map_err(RegistryError::Read)?.into_iter();
        let whole = faults.filter(|fault| fault.object != FaultyObject::Both);
        Ok(whole.map(|fault| fault.path).collect())
    }

    /// Restores damaged events from their copies, and copies from their events. Registers brands again that only the
    /// lake (`known`) contains. With `dry_run`, only reports the repair.
    #[boxed]
    pub async fn repair(
        storage: &Storage,
        known: &[RegisteredBrand],
        now: Timestamp,
        dry_run: bool,
    ) -> Result<RegistryRepair, RegistryError> {
        let (log, mut repair) = (log(storage), RegistryRepair::default());
        for fault in log.faults().await.map_err(RegistryError::Read)? {
            if fault.object == FaultyObject::Both {
                continue;
            }
            if !dry_run {
                log.mend(&fault).await.map_err(RegistryError::Write)?;
            }
            repair.mended.push(fault.path);
        }
        let mut registry = Self::load(storage).await?;
        repair.lost = registry.lost().collect();
        if !repair.lost.is_empty() {
            let in_lake: BTreeSet<&StoreHost> = known.iter().map(|brand| &brand.store).collect();
            let unsure = registry.brands().into_iter();
            let unsure = unsure.filter(|brand| !in_lake.contains(&brand.store));
            // A lost event may have registered a brand of the lake again, so that an unregistered one is uncertain too.
            let left = known.iter().filter(|brand| registry.tells_of(&brand.store));
            let left = left.filter(|brand| registry.brand_of(&brand.store).is_none());
            repair.unsure = unsure.chain(left).map(|brand| brand.slug.clone()).collect();
        }
        for seq in registry.lost.clone().into_iter().filter(|_| !dry_run) {
            let nothing = RegistryEvent::Add {
                at: now,
                brands: Vec::new(),
            };
            log.replace_lost(seq, &nothing).await.map_err(RegistryError::Write)?;
        }
        for _ in 0..TRIES_MAX {
            let untold: Vec<_> = known.iter().filter(|brand| !registry.tells_of(&brand.store)).collect();
            let (clashing, brands): (Vec<_>, Vec<_>) = untold
                .into_iter()
                .cloned()
                .partition(|brand| registry.slugs.contains_key(&brand.slug));
            let slugs = |brands: &[RegisteredBrand]| brands.iter().map(|brand| brand.slug.clone()).collect();
            (repair.clashing, repair.registered) = (slugs(&clashing), slugs(&brands));
            let event = RegistryEvent::Add { at: now, brands };
            if dry_run || repair.registered.is_empty() || registry.write(storage, event).await? {
                return Ok(repair);
            }
        }
        Err(RegistryError::Contended)
    }

    /// Returns true if any event mentions this store, even if it is not registered.
    fn tells_of(&self, store: &StoreHost) -> bool {
        self.slug_of(store).is_some()
    }
}

#[cfg(test)]
mod tests {
    use data_storage::{ObjectPath, ObjectStoreExt as _, get_bytes, put_over};

    use super::super::NewBrand;
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn new(name: &str) -> NewBrand {
        let host = format!("{name}.myshopify.com").parse().unwrap();
        NewBrand {
            store: Some(host),
            ..NewBrand::at(format!("https://{name}.example").parse().unwrap()).named(name)
        }
    }

    /// Events 1 to 5 add four brands and remove the second.
    async fn registered() -> (Storage, Registry) {
        let storage = Storage::memory();
        let mut registry = Registry::default();
        for (second, name) in (1..).zip(["one", "two", "three", "four"]) {
            registry.add(&storage, &[new(name)], at(second)).await.unwrap();
        }
        registry.remove(&storage, &"two".parse().unwrap(), at(5)).await.unwrap();
        (storage, registry)
    }

    fn object(seq: u64, kind: &str) -> ObjectPath {
        ObjectPath::from(format!("registry/{seq:020}.{kind}"))
    }

    async fn harm(storage: &Storage, path: &ObjectPath, left: Option<&[u8]>) {
        match left {
            Some(left) => put_over(storage, path, left.to_vec()).await.unwrap(),
            None => storage.store().delete(path).await.unwrap(),
        }
    }

    #[tokio::test]
    async fn no_object_of_the_log_alone_changes_what_is_registered_and_a_repair_writes_it_again() {
        let (storage, registry) = registered().await;
        for (seq, kind) in (1..=5).flat_map(|seq| [(seq, "json"), (seq, "copy")]) {
            let path = object(seq, kind);
            let whole = get_bytes(&storage, &path).await.unwrap().unwrap();
            let zeroed = vec![0; whole.len()];
            let cut = (0..whole.len()).step_by(29).map(|end| whole.get(..end));
            let others: [Option<&[u8]>; 4] = [Some(b"{}"), Some(b"{\"event\":{}}"), Some(&zeroed), None];
            for left in cut.chain(others) {
                let said = format!("{path} {:?}", left.map(String::from_utf8_lossy));
                harm(&storage, &path, left).await;
                assert_eq!(Registry::load(&storage).await.unwrap(), registry, "{said}");
                let planned = Registry::repair(&storage, &[], at(9), true).await.unwrap();
                assert_eq!(Registry::repair(&storage, &[], at(9), false).await.unwrap(), planned);
                // If the event and its copy are both missing, nothing shows that a copy existed.
                if kind == "json" || left.is_some() {
                    assert_eq!(planned.mended, [path.to_string()], "{said}");
                    assert_eq!(get_bytes(&storage, &path).await.unwrap().unwrap(), whole, "{said}");
                }
                put_over(&storage, &path, whole.clone()).await.unwrap();
            }
        }
        assert_eq!(Registry::load(&storage).await.unwrap(), registry);
    }

    fn slugs(registry: &Registry) -> Vec<&str> {
        registry.brands().iter().map(|brand| brand.slug.as_str()).collect()
    }

    #[tokio::test]
    async fn an_event_that_is_lost_with_its_copy_costs_its_own_brand_alone_until_the_lake_tells_of_it() {
        for (seq, name) in [(1, "one"), (3, "three"), (4, "four")] {
            for left in [Some(b"{\"event\":{\"ev".as_slice()), Some(b""), None] {
                let (storage, registry) = registered().await;
                let known: Vec<_> = registry.brands().into_iter().cloned().collect();
                harm(&storage, &object(seq, "json"), left).await;
                harm(&storage, &object(seq, "copy"), None).await;
                let mut found = Registry::load(&storage).await.unwrap();
                assert!(!slugs(&found).contains(&name) && found.len() == 2, "{seq} {left:?}");
                assert_eq!(found.lost().collect::<Vec<_>>(), [object(seq, "json").to_string()]);
                assert!(found.may_have(&format!("{name}.myshopify.com").parse().unwrap()));
                // The slug of a lost brand must not be given to another one.
                let refused = found.add(&storage, &[new("five")], at(8)).await.unwrap_err();
                assert!(matches!(refused, RegistryError::Lost { .. }), "{refused}");
                let planned = Registry::repair(&storage, &known, at(9), true).await.unwrap();
                assert_eq!(
                    Registry::load(&storage).await.unwrap(),
                    found,
                    "a dry run changes nothing"
                );
                assert_eq!(Registry::repair(&storage, &known, at(9), false).await.unwrap(), planned);
                assert_eq!((planned.lost.len(), planned.unsure.len()), (1, 0));
                assert_eq!(planned.registered, [name.parse().unwrap()]);
                let mut mended = Registry::load(&storage).await.unwrap();
                assert_eq!((slugs(&mended), mended.lost().count()), (slugs(&registry), 0));
                mended.add(&storage, &[new("five")], at(10)).await.unwrap();
                if let Some(left) = left {
                    let aside = ObjectPath::from(format!("registry/damaged/{seq:020}.json"));
                    assert_eq!(get_bytes(&storage, &aside).await.unwrap().unwrap(), left);
                }
            }
        }
    }

    #[tokio::test]
    async fn what_a_lost_event_did_to_brands_that_the_lake_lacks_is_said_to_be_unknown() {
        let (storage, registry) = registered().await;
        let one = registry.brand(&"one".parse().unwrap()).unwrap().clone();
        // This event removed the second brand, which was never crawled.
        for kind in ["json", "copy"] {
            harm(&storage, &object(5, kind), Some(b"{")).await;
        }
        let repaired = Registry::repair(&storage, &[one], at(9), false).await.unwrap();
        let unsure: Vec<_> = repaired.unsure.iter().map(BrandSlug::as_str).collect();
        assert_eq!(unsure, ["four", "three", "two"]);
        assert_eq!(repaired.registered, []);
        assert_eq!(Registry::load(&storage).await.unwrap().lost().count(), 0);
    }

    #[tokio::test]
    async fn a_brand_of_the_lake_whose_slug_is_another_stores_by_now_is_named_and_left() {
        let (storage, registry) = registered().await;
        let one = registry.brand(&"one".parse().unwrap()).unwrap();
        let other = RegisteredBrand {
            store: "other.myshopify.com".parse().unwrap(),
            ..one.clone()
        };
        let repaired = Registry::repair(&storage, &[other], at(9), false).await.unwrap();
        assert_eq!((repaired.clashing.len(), repaired.registered.len()), (1, 0));
        assert_eq!(Registry::load(&storage).await.unwrap(), registry);
    }
}
