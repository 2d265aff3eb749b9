//! Recorded stores: product pages that real stores served, kept as the bytes they were.

mod edit;
mod load;

use std::ops::Range;
use std::sync::Arc;

pub(crate) use load::load;

use crate::generated::dice::{Dice, fold, fold_bytes};
use crate::generated::{Drift, Step};

/// One recorded store.
#[derive(Debug)]
pub(crate) struct RecordedStore {
    /// Folder name in kebab-case, or the slug that `meta.json` gives.
    pub(crate) slug: String,
    pub(crate) name: String,
    /// `None` where the recording does not say.
    pub(crate) currency: Option<String>,
    /// `None` where the recording does not say.
    pub(crate) myshopify_domain: Option<String>,
    /// The platform's own `meta.json`, where recorded.
    pub(crate) meta: Option<serde_json::Map<String, serde_json::Value>>,
    pub(crate) records: Vec<Record>,
}

/// One product as it was recorded.
#[derive(Debug)]
pub(crate) struct Record {
    file: Arc<[u8]>,
    range: Range<usize>,
    pub(crate) handle: String,
    pub(crate) product_type: String,
    fingerprint: u64,
}

impl Record {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.file.get(self.range.clone()).unwrap_or_default()
    }
}

/// The catalogue of a recorded store, which drifts with the epochs.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) store: RecordedStore,
    drift: Drift,
    seed: u64,
}

impl Recorded {
    pub(crate) fn new(store: RecordedStore, drift: Drift) -> Self {
        let seed = fold_bytes(store.slug.as_bytes());
        Self { store, drift, seed }
    }

    fn phases(&self, nth: usize) -> Dice {
        Dice::of(&[self.seed, nth as u64])
    }

    /// The places of the records that are listed at an epoch: all at epoch 0; later ones come and go.
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

    /// Appends a record as it is at an epoch.
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
        let edit = edit::Edit {
            price_pct: if price.count == 0 {
                100
            } else {
                Dice::of(&[self.seed, nth as u64, price.count]).between(80, 120)
            },
            flip_stock: stock.count % 2 == 1,
            updated_epoch: since,
        };
        edit::push_edited(record.bytes(), &edit, out);
    }

    /// A number that differs whenever the record does.
    pub(crate) fn fingerprint(&self, nth: usize, epoch: u64) -> u64 {
        let (price, stock, touch) = self.steps(nth, epoch);
        let record = self.store.records.get(nth).map_or(0, |record| record.fingerprint);
        fold(&[record, price.count, stock.count, touch.count])
    }
}
