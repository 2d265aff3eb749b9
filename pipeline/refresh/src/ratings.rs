//! Reads ratings, reviews and barcodes from product pages. A run reads a few pages, least recently read first. The
//! results are saved in `crawl-state/{store}-reviews.json.zst`, so that a run that reads no pages still has earlier
//! ratings.

use std::collections::{BTreeMap, BTreeSet};

use data_lake::{CatalogueRows, ProductRatings};
use data_model::{Rating, Review, StatedBarcode, StoreHost, Timestamp};
use data_storage::{Storage, StorageError};
use pipeline_crawl::{load_packed, packed_at, save_packed};
use pipeline_normalise::normalise_page_facts;
use pipeline_parse::PageFacts;
use serde::{Deserialize, Serialize};

/// Maximum number of reviews per product.
const REVIEWS_MAX: usize = 20;

/// Ratings of one store from its product pages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ratings {
    /// Increased when the pages' data changes, because the same catalogue with other ratings is a new catalogue.
    pub(crate) version: u64,
    pages: BTreeMap<u64, RatedPage>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RatedPage {
    read_at: Timestamp,
    #[serde(flatten)]
    said: ProductStatements,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct ProductStatements {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rating: Option<Rating>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reviews: Vec<Review>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    barcodes: Vec<StatedBarcode>,
}

impl Ratings {
    /// Ratings that are missing or cannot be parsed are empty, because the pages will be read again.
    pub(crate) async fn load(storage: &Storage, store: &StoreHost) -> Result<Self, StorageError> {
        Ok(load_packed(storage, &packed_at(store, "reviews"))
            .await?
            .unwrap_or_default())
    }

    pub(crate) async fn save(&self, storage: &Storage, store: &StoreHost) -> Result<(), StorageError> {
        save_packed(storage, &packed_at(store, "reviews"), self).await
    }

    /// Returns the products, with handles, whose pages should be read next: first those never read, then the least
    /// recently read.
    pub(crate) fn due(&self, products: &CatalogueRows, most: u32) -> Vec<(u64, String)> {
        let mut due: Vec<(u64, &str)> = products.handles().collect();
        due.sort_by_key(|(product, _)| self.pages.get(product).map(|page| page.read_at));
        due.into_iter()
            .take(usize::try_from(most).unwrap_or(usize::MAX))
            .map(|(product, handle)| (product, handle.to_owned()))
            .collect()
    }

    /// Records the data of a page. If the page could not be read (`None`), its earlier data stays.
    pub(crate) fn note(&mut self, product: u64, read_at: Timestamp, facts: Option<PageFacts>) {
        let before = self
            .pages
            .get(&product)
            .map(|page| page.said.clone())
            .unwrap_or_default();
        let said = facts.map_or_else(|| before.clone(), said);
        if said != before {
            self.version += 1;
        }
        self.pages.insert(product, RatedPage { read_at, said });
    }

    /// Deletes the data of products that the store no longer lists.
    pub(crate) fn keep_only(&mut self, listed: impl Iterator<Item = u64>) {
        let listed: BTreeSet<u64> = listed.collect();
        self.pages.retain(|product, _| listed.contains(product));
    }

    /// Sets ratings, reviews and barcodes of products from their pages.
    pub(crate) fn apply(&self, products: &mut CatalogueRows) {
        for (product, page) in &self.pages {
            let rated = ProductRatings {
                rating: page.said.rating,
                reviews: page.said.reviews.clone(),
            };
            products.rate(*product, rated);
            if !page.said.barcodes.is_empty() {
                products.tell_barcodes(*product, page.said.barcodes.clone());
            }
        }
    }
}

fn said(mut facts: PageFacts) -> ProductStatements {
    let barcodes = std::mem::take(&mut facts.barcodes);
    let (rating, mut reviews) = normalise_page_facts(facts);
    reviews.truncate(REVIEWS_MAX);
    ProductStatements {
        rating,
        reviews,
        barcodes,
    }
}
