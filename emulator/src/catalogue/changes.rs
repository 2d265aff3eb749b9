//! Changes made on demand to the products of a store.
//!
//! A change is stored by product id and applied to the product's record, from which all views are generated, so they
//! change together. The source is never modified: without its changes, a store matches its seed or recording again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

use super::overlay::Overlay;

#[derive(Debug, Default)]
pub(crate) struct Changes {
    inner: RwLock<Inner>,
    /// Number of changed products. Requests to unchanged stores, which are many, read it without the lock.
    products: AtomicUsize,
    removed: AtomicUsize,
}

#[derive(Debug, Default)]
struct Inner {
    by_product: HashMap<u64, Overlay>,
    /// Number of changes so far, which numbers the next change.
    count: u64,
}

impl Changes {
    pub(crate) fn is_any(&self) -> bool {
        self.products.load(Ordering::Acquire) > 0
    }

    pub(crate) fn removes_any(&self) -> bool {
        self.removed.load(Ordering::Acquire) > 0
    }

    fn read<T>(&self, product: u64, read: impl FnOnce(&Overlay) -> T) -> Option<T> {
        if !self.is_any() {
            return None;
        }
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.by_product.get(&product).map(read)
    }

    pub(crate) fn is_removed(&self, product: u64) -> bool {
        self.read(product, |overlay| overlay.removed).unwrap_or(false)
    }

    pub(crate) fn latest_of(&self, product: u64) -> Option<u64> {
        self.read(product, |overlay| overlay.number)
    }

    pub(crate) fn stock(&self, product: u64, variant: u64) -> Option<i64> {
        self.read(product, |overlay| overlay.stock.get(&variant).copied())?
    }

    /// Applies a product's changes to its record, which starts at `start` in `out`.
    pub(crate) fn apply(&self, product: u64, epoch: u64, start: usize, out: &mut Vec<u8>) {
        let edited = self.read(product, |overlay| overlay.edited(&out[start..], epoch));
        if let Some(Some(edited)) = edited {
            out.truncate(start);
            out.extend_from_slice(&edited);
        }
    }

    /// Sets the prices of a product's variants.
    pub(crate) fn reprice(&self, product: u64, prices: HashMap<u64, String>) {
        self.overlay(product, |overlay| overlay.prices.extend(prices));
    }

    /// Sets the stock of a product's variants, in units.
    pub(crate) fn set_stock(&self, product: u64, pieces: HashMap<u64, i64>) {
        self.overlay(product, |overlay| overlay.stock.extend(pieces));
    }

    pub(crate) fn remove(&self, product: u64) {
        self.overlay(product, |overlay| overlay.removed = true);
    }

    pub(crate) fn restore(&self, product: u64) {
        self.write(|by_product, _| {
            by_product.remove(&product);
        });
    }

    pub(crate) fn restore_all(&self) {
        self.write(|by_product, _| by_product.clear());
    }

    fn write(&self, write: impl FnOnce(&mut HashMap<u64, Overlay>, u64)) {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        inner.count += 1;
        let number = inner.count;
        write(&mut inner.by_product, number);
        let removed = inner.by_product.values().filter(|overlay| overlay.removed).count();
        self.products.store(inner.by_product.len(), Ordering::Release);
        self.removed.store(removed, Ordering::Release);
    }

    fn overlay(&self, product: u64, change: impl FnOnce(&mut Overlay)) {
        self.write(|by_product, number| {
            let overlay = by_product.entry(product).or_default();
            overlay.number = number;
            change(overlay);
        });
    }
}
