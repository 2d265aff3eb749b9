use data_model::{BrandRefresh, Quarantined, Rating, StoreHost};

use crate::LakeError;
use crate::rows::catalogue::{CatalogueRows, ProductRatings, StoreRows};
use crate::rows::content::Content;
use crate::rows::place::RowPlace;

/// Refresh with its content hash. Its products are table rows in order, each product once.
#[derive(Debug)]
pub struct HashedRefresh {
    pub(crate) refresh: BrandRefresh<StoreRows>,
    pub(crate) hash: String,
}

impl HashedRefresh {
    /// Converts the products to rows, sorted by id, and hashes the content. The first of several products with the same
    /// id is kept.
    ///
    /// # Errors
    /// The rows do not fit into columns: one text column exceeds 2 GiB.
    pub fn new(refresh: BrandRefresh) -> Result<Self, LakeError> {
        let (refresh, products) = refresh.with_products(());
        let places = (0..products.len()).map(|row| RowPlace { batch: 0, row }).collect();
        let products = CatalogueRows::new(vec![products.into_iter().collect()], places);
        Self::of_rows(refresh.with_products(products).0)
    }

    /// Hashes products that are already in columns, as [`HashedRefresh::new`] does.
    ///
    /// # Errors
    /// The errors of [`HashedRefresh::new`].
    pub fn of_rows(refresh: BrandRefresh<CatalogueRows>) -> Result<Self, LakeError> {
        let hash = content_hash(&refresh);
        let (refresh, products) = refresh.with_products(());
        let (refresh, ()) = refresh.with_products(products.finish()?);
        Ok(Self { refresh, hash })
    }

    /// Returns the store of the catalogue.
    #[must_use]
    pub fn store(&self) -> &StoreHost {
        &self.refresh.brand.store
    }

    /// Returns the SHA-256, in hex, of everything that the lake stores about a brand: the store's description of
    /// itself, its products, its shipping terms and its quarantined records.
    ///
    /// Values that vary without a content change are excluded: `updated_at`, the run, the crawl time, and the wording
    /// of quarantined records.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

/// Returns the hash that [`HashedRefresh::hash`] would return for these rows.
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
