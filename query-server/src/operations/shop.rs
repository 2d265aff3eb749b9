use std::cmp::Reverse;

use data_index::{BrandEntry, RowAddress};
use data_model::{StatedCode, StoreHost, StoredProduct, StoredShop};

use super::OperationError;
use super::resolve::product;
use super::stored_brand::{BrandKey, entry_of, stored};
use crate::served::ReleaseView;
use crate::server::QueryServer;

/// Maximum number of sample products of a brand.
const SAMPLES_MAX: usize = 4;
/// Number of products around the target price from which the samples are chosen.
const NEAR: usize = 40;
/// Percentage of the brand's products that are cheaper than the samples. The samples exceed most minimum order values,
/// but are no outliers.
const DEARER_THAN_PERCENT: usize = 80;

impl QueryServer {
    /// Returns the facts for tests of discount codes at a brand's store: the brand, the codes that the store states,
    /// and products to test them on. Returns `None` if the current release lacks the brand.
    ///
    /// If the stated codes cannot be read, none are returned and a warning is logged. Codes can be tested without them.
    ///
    /// # Errors
    /// `NotReady`.
    pub async fn shop(&self, key: &BrandKey) -> Result<Option<StoredShop>, OperationError> {
        let served = self.served()?;
        let Some(entry) = entry_of(&served, key) else {
            return Ok(None);
        };
        Ok(Some(StoredShop {
            release: served.release.id(),
            brand: stored(entry),
            codes: self.stated_codes(&entry.facts.brand.store).await,
            samples: samples(&served, entry),
        }))
    }

    async fn stated_codes(&self, store: &StoreHost) -> Vec<StatedCode> {
        let Some(storage) = &self.0.config.checks else {
            return Vec::new();
        };
        match data_codes::load(storage, store).await {
            Ok(stated) => stated.all(),
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, brand.store = %store, "the discount codes that the store states cannot be read");
                Vec::new()
            }
        }
    }
}

/// Returns products in stock in the brand's currency, near the price level of [`DEARER_THAN_PERCENT`]. Products without
/// a round price come first: a tenth of 499 differs from an amount of 50, but a tenth of 500 does not.
fn samples(served: &ReleaseView, entry: &BrandEntry) -> Vec<StoredProduct> {
    let brand = &entry.facts.brand;
    let mut sold: Vec<(i64, RowAddress)> = Vec::new();
    for (at, part) in (0..).zip(served.release.parts()) {
        let held = part.entry().stores.iter();
        let held = held.filter(|held| held.live && held.rows > 0 && held.store == brand.store);
        let cards = part.cards();
        for row in held.flat_map(|held| held.first_row..held.first_row + held.rows) {
            if cards.in_stock(row) && cards.currency(row) == brand.currency && !part.unlisted().contains(row) {
                sold.push((cards.price_min_minor(row), RowAddress { part: at, row }));
            }
        }
    }
    sold.retain(|(price_minor, _)| *price_minor > 0);
    sold.sort_unstable_by_key(|(price_minor, at)| (*price_minor, at.part, at.row));
    let middle = sold.len().saturating_sub(1) * DEARER_THAN_PERCENT / 100;
    let five_units = 5 * 10_i64.pow(brand.currency.exponent());
    let from = middle.saturating_sub(NEAR / 2);
    let near = sold.iter().enumerate().skip(from).take(NEAR);
    let mut near: Vec<(bool, usize, Reverse<usize>, RowAddress)> = near
        .map(|(at, (price_minor, address))| {
            let is_round = price_minor % five_units == 0;
            (is_round, at.abs_diff(middle), Reverse(at), *address)
        })
        .collect();
    near.sort_unstable_by_key(|(is_round, distance, at, _)| (*is_round, *distance, *at));
    let sellable = near.into_iter().filter_map(|(.., at)| product(served, at, 0));
    let sellable = sellable.filter(|product| product.variants.iter().any(|variant| variant.available));
    sellable.take(SAMPLES_MAX).collect()
}
