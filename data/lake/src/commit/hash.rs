use data_model::{BrandRefresh, Quarantined, Rating, StoreHost};

use crate::LakeError;
use crate::rows::catalogue::{CatalogueRows, ProductRatings, StoreRows};
use crate::rows::content::Content;
use crate::rows::place::RowPlace;

/// A refresh whose products are rows of the lake's tables, in order and each there once, with the hash of its content.
#[derive(Debug)]
pub struct HashedRefresh {
    pub(crate) refresh: BrandRefresh<StoreRows>,
    pub(crate) hash: String,
}

impl HashedRefresh {
    /// Makes rows of the products, sorted by their id, of several with one id the first, and hashes what is there.
    ///
    /// # Errors
    /// The rows do not fit columns: more than 2 GiB of one text column.
    pub fn new(refresh: BrandRefresh) -> Result<Self, LakeError> {
        let (refresh, products) = refresh.with_products(());
        let places = (0..products.len()).map(|row| RowPlace { batch: 0, row }).collect();
        let products = CatalogueRows::new(vec![products.into_iter().collect()], places);
        Self::of_rows(refresh.with_products(products).0)
    }

    /// The same of products that are in columns already.
    ///
    /// # Errors
    /// As [`HashedRefresh::new`].
    pub fn of_rows(refresh: BrandRefresh<CatalogueRows>) -> Result<Self, LakeError> {
        let hash = content_hash(&refresh);
        let (refresh, products) = refresh.with_products(());
        let (refresh, ()) = refresh.with_products(products.finish()?);
        Ok(Self { refresh, hash })
    }

    /// The store of the catalogue.
    #[must_use]
    pub fn store(&self) -> &StoreHost {
        &self.refresh.brand.store
    }

    /// SHA-256, in hex, over everything that the lake holds of a brand: what the store says of itself, its products,
    /// its shipping terms and which records could not be understood.
    ///
    /// Left out is what moves without a change: `updated_at`, the run, the time of the crawl, and the wording of
    /// quarantined records. Two refreshes with the same hash are the same content.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

/// The hash that [`HashedRefresh::hash`] will be of these rows.
#[must_use]
pub fn content_hash(refresh: &BrandRefresh<CatalogueRows>) -> String {
    let BrandRefresh {
        brand,
        run: _,
        read_since: _,
        observed_at: _,
        products,
        shipping,
        quarantined,
    } = refresh;
    let mut hash = Content::default();
    hash.brand(brand);
    hash.length(products.len());
    products.digests().for_each(|digest| hash.bytes(digest));
    products
        .categories()
        .for_each(|category| hash.maybe(category, |hash, category| hash.number(category.0)));
    hash.length(products.rated().len());
    for (id, ProductRatings { rating, reviews }) in products.rated() {
        hash.id(*id);
        hash.maybe(*rating, |hash, Rating { average, count }| {
            hash.number(average.to_bits());
            hash.number(count);
        });
        hash.list(reviews, Content::review);
    }
    hash.maybe(shipping.as_ref(), Content::shipping);
    hash.list(quarantined, |hash, record| {
        let Quarantined {
            store: _,
            subject,
            reason,
            excerpt: _,
        } = record;
        hash.text(subject);
        hash.text(reason);
    });
    for (product, told) in products.told_barcodes() {
        for (variant, barcode) in told {
            hash.id(*product);
            hash.id(*variant);
            hash.barcode(Some(barcode));
        }
    }
    hex::encode(hash.digest())
}
