//! Recorded stores: product pages of real stores, stored byte for byte.

mod load;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

pub(crate) use load::load;

use crate::edit::{self, Edit, Price, Stock};
use crate::generated::dice::{Dice, fold, fold_bytes};
use crate::generated::{Drift, Step, epoch_s};

/// Store whose product pages were recorded.
#[derive(Debug)]
pub(crate) struct RecordedStore {
    /// Folder name in kebab-case, or the slug in `meta.json`.
    pub(crate) slug: String,
    pub(crate) name: String,
    /// ISO 4217 code of the currency; `None` if the recording does not state it.
    pub(crate) currency: Option<String>,
    /// Permanent host; `None` if the recording does not state it.
    pub(crate) myshopify_domain: Option<String>,
    /// The platform's own `meta.json`, if it was recorded.
    pub(crate) meta: Option<serde_json::Map<String, serde_json::Value>>,
    pub(crate) records: Vec<Record>,
}

#[derive(Debug)]
pub(crate) struct Record {
    file: Arc<[u8]>,
    range: Range<usize>,
    pub(crate) id: Option<u64>,
    pub(crate) handle: String,
    pub(crate) product_type: String,
    fingerprint: u64,
}

impl Record {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.file.get(self.range.clone()).unwrap_or_default()
    }
}

/// Catalogue of a recorded store, which changes with the epochs.
#[derive(Debug)]
pub(crate) struct RecordedCatalogue {
    pub(crate) store: RecordedStore,
    drift: Drift,
    seed: u64,
    /// Index by id, built at first use.
    ids: OnceLock<Ids>,
}

#[derive(Debug, Default)]
struct Ids {
    /// Indices of the records of each product id in order. Some recordings contain a product twice.
    products: HashMap<u64, Vec<usize>>,
    /// Indices of the records that contain each variant id.
    variants: HashMap<u64, Vec<usize>>,
}

impl RecordedCatalogue {
    pub(crate) fn new(store: RecordedStore, drift: Drift) -> Self {
        let seed = fold_bytes(store.slug.as_bytes());
        Self {
            store,
            drift,
            seed,
            ids: OnceLock::new(),
        }
    }

    pub(crate) fn product_id(&self, nth: usize) -> Option<u64> {
        self.store.records.get(nth)?.id
    }

    /// Returns the place of the first listed record with this handle.
    pub(crate) fn find(&self, handle: &str, epoch: u64) -> Option<u64> {
        let records = self.store.records.iter().enumerate();
        let mut named = records
            .filter(|(_, record)| record.handle == handle)
            .map(|(nth, _)| nth);
        self.first_listed(&mut named, epoch)
    }

    pub(crate) fn find_product(&self, id: u64, epoch: u64) -> Option<u64> {
        self.first_listed(self.ids().products.get(&id)?.iter().copied(), epoch)
    }

    /// Returns the place of the product that has a variant with this id.
    pub(crate) fn find_variant(&self, id: u64, epoch: u64) -> Option<u64> {
        self.first_listed(self.ids().variants.get(&id)?.iter().copied(), epoch)
    }

    fn first_listed(&self, mut places: impl Iterator<Item = usize>, epoch: u64) -> Option<u64> {
        places.find(|nth| self.is_listed(*nth, epoch)).map(|nth| nth as u64)
    }

    fn ids(&self) -> &Ids {
        self.ids.get_or_init(|| {
            let mut ids = Ids::default();
            for (nth, record) in self.store.records.iter().enumerate() {
                if let Some(id) = record.id {
                    ids.products.entry(id).or_default().push(nth);
                }
                for variant in edit::variant_ids(record.bytes()) {
                    ids.variants.entry(variant).or_default().push(nth);
                }
            }
            ids
        })
    }

    fn phases(&self, nth: usize) -> Dice {
        Dice::of(&[self.seed, nth as u64])
    }

    /// Returns the places of the records that are listed at an epoch. Epoch 0 lists all; at later epochs records
    /// disappear and return.
    pub(crate) fn listed(&self, epoch: u64) -> Vec<usize> {
        (0..self.store.records.len())
            .filter(|nth| self.is_listed(*nth, epoch))
            .collect()
    }

    pub(crate) fn is_listed(&self, nth: usize, epoch: u64) -> bool {
        Step::at(epoch, self.drift.replaced, self.phases(nth).next())
            .count
            .is_multiple_of(2)
    }

    fn steps(&self, nth: usize, epoch: u64) -> (Step, Step, Step) {
        let mut phases = self.phases(nth);
        phases.next();
        let price = Step::at(epoch, self.drift.repriced, phases.next());
        let stock = Step::at(epoch, self.drift.restocked, phases.next());
        (price, stock, Step::at(epoch, self.drift.touched, phases.next()))
    }

    /// Appends a record with its changes at an epoch.
    pub(crate) fn push_record(&self, nth: usize, epoch: u64, out: &mut Vec<u8>) {
        let Some(record) = self.store.records.get(nth) else {
            return;
        };
        let (price, stock, touch) = self.steps(nth, epoch);
        let since = price.since.max(stock.since).max(touch.since);
        if since == 0 {
            out.extend_from_slice(record.bytes());
            return;
        }
        let edit = Edit {
            price: if price.count == 0 {
                Price::Same
            } else {
                Price::Percent(Dice::of(&[self.seed, nth as u64, price.count]).between(80, 120))
            },
            stock: if stock.count % 2 == 1 { Stock::Flip } else { Stock::Same },
            updated_s: epoch_s(since, 36_000),
        };
        edit::push_edited(record.bytes(), &edit, out);
    }

    /// Returns a number that changes whenever the record changes.
    pub(crate) fn fingerprint(&self, nth: usize, epoch: u64) -> u64 {
        let (price, stock, touch) = self.steps(nth, epoch);
        let record = self.store.records.get(nth).map_or(0, |record| record.fingerprint);
        fold(&[record, price.count, stock.count, touch.count])
    }
}
