//! Prepares reviews from review apps for a release: a file for each brand with a review app, and totals.
//!
//! An app's rating or review of a product replaces the data from the product's own page.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use data_index::{BrandReviews, BrandTotals, Manifest, ProductReviews};
use data_lake::{BrandRow, LakeSnapshot, ShownRatings, TableName};
use data_model::{Rating, StoreHost, WidgetRating, WidgetReview};
use data_release::write_reviews;

use crate::error::ReleaseBuildError;

/// Maximum number of reviews of one product in a release. The newest are used, and the lake has all.
const REVIEWS_MAX: usize = 500;

/// Returns the reviews of each store's app. If the reviews and the brand's catalogue are the same as for the previous
/// release, its data is reused.
pub(crate) async fn reviews(
    snapshot: &LakeSnapshot,
    previous: Option<&Manifest>,
    files: &Path,
    brands: &[BrandRow],
) -> Result<BTreeMap<StoreHost, BrandReviews>, ReleaseBuildError> {
    let told = |table: &TableName| snapshot.versions().get(table.as_str());
    if TableName::WIDGETS.iter().any(|table| told(table).is_none()) {
        return Ok(BTreeMap::new());
    }
    let is_as_before = |manifest: &&Manifest| {
        let as_before = |table: &TableName| told(table) == manifest.lake.get(table.as_str());
        TableName::WIDGETS.iter().all(as_before)
    };
    let before = previous.filter(is_as_before).map(|manifest| &manifest.brands);
    let mut held = BTreeMap::new();
    let mut wanted: BTreeSet<StoreHost> = BTreeSet::new();
    let known: BTreeMap<&StoreHost, _> = before
        .into_iter()
        .flatten()
        .map(|entry| (&entry.facts.brand.store, &entry.facts))
        .collect();
    for row in brands {
        let store = &row.brand.store;
        match known.get(store) {
            Some(facts) if facts.refreshed_at == row.refreshed_at => {
                held.extend(facts.reviews.clone().map(|reviews| (store.clone(), reviews)));
            }
            _ => drop(wanted.insert(store.clone())),
        }
    }
    // The lake's files follow the buckets, so that each file is read once and memory use stays small.
    let mut buckets: BTreeMap<u32, BTreeSet<StoreHost>> = BTreeMap::new();
    for store in wanted {
        buckets.entry(snapshot.bucket_of(&store)).or_default().insert(store);
    }
    for stores in buckets.values() {
        held.extend(of_stores(snapshot, previous, files, stores).await?);
    }
    Ok(held)
}

async fn of_stores(
    snapshot: &LakeSnapshot,
    previous: Option<&Manifest>,
    files: &Path,
    stores: &BTreeSet<StoreHost>,
) -> Result<BTreeMap<StoreHost, BrandReviews>, ReleaseBuildError> {
    let failed = ReleaseBuildError::Reviews;
    let mut ratings = snapshot.widget_ratings(stores).await.map_err(failed)?;
    let mut reviews = snapshot.widget_reviews(stores).await.map_err(failed)?;
    let told: BTreeSet<StoreHost> = ratings.keys().chain(reviews.keys()).cloned().collect();
    if told.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut shown = match snapshot.shown_reviews(&told).await {
        Ok(shown) => shown,
        // Rows of the products are lost, so that the brands stay as in the previous release.
        Err(error) if error.lost_file().is_some() => {
            let entries = previous.into_iter().flat_map(|manifest| &manifest.brands);
            let facts = entries.map(|entry| &entry.facts);
            let kept = facts.filter(|facts| told.contains(&facts.brand.store));
            let kept = kept.filter_map(|facts| Some((facts.brand.store.clone(), facts.reviews.clone()?)));
            return Ok(kept.collect());
        }
        Err(error) => return Err(failed(error)),
    };
    let mut held = BTreeMap::new();
    for store in told {
        let pages = shown.remove(&store).unwrap_or_default();
        let ratings = ratings.remove(&store).unwrap_or_default();
        let reviews = reviews.remove(&store).unwrap_or_default();
        let products = products(ratings, reviews, &pages);
        let totals = totals(&products, &pages);
        let dir = files.to_owned();
        let written = tokio::task::spawn_blocking(move || write_reviews(&dir, &products)).await;
        let written = written.map_err(|_| ReleaseBuildError::BrokeOff)?;
        if let Some(file) = written.map_err(ReleaseBuildError::ReviewsFile)? {
            let pages = BrandTotals::default();
            held.insert(store, BrandReviews { file, totals, pages });
        }
    }
    Ok(held)
}

/// Only listed products are included.
fn products(
    ratings: Vec<WidgetRating>,
    reviews: Vec<WidgetReview>,
    listed: &BTreeMap<u64, ShownRatings>,
) -> Vec<ProductReviews> {
    let mut products: BTreeMap<u64, ProductReviews> = BTreeMap::new();
    let none = |product, source| ProductReviews {
        product,
        source,
        rating: None,
        reviews: Vec::new(),
    };
    for one in ratings.into_iter().filter(|one| listed.contains_key(&one.product)) {
        let product = products
            .entry(one.product)
            .or_insert_with(|| none(one.product, one.widget));
        product.rating = Some(Rating {
            average: one.average as f32,
            count: one.count,
        });
    }
    for one in reviews.into_iter().filter(|one| listed.contains_key(&one.product)) {
        let product = products
            .entry(one.product)
            .or_insert_with(|| none(one.product, one.widget));
        if product.reviews.len() < REVIEWS_MAX {
            product.reviews.push(one.review);
        }
    }
    products.into_values().collect()
}

fn totals(products: &[ProductReviews], pages: &BTreeMap<u64, ShownRatings>) -> BrandTotals {
    let (mut stars, mut totals) = (0.0, BrandTotals::default());
    let mut add = |rating: Option<Rating>, reviews: u64| {
        totals.review_count += reviews;
        if let Some(rating) = rating.filter(|rating| rating.average.is_finite()) {
            totals.rating_count += u64::from(rating.count);
            stars += f64::from(rating.average) * f64::from(rating.count);
        }
    };
    let of_app: BTreeSet<u64> = products.iter().map(|product| product.product).collect();
    for product in products {
        add(product.rating, product.reviews.len() as u64);
    }
    for (_, shown) in pages.iter().filter(|(product, _)| !of_app.contains(product)) {
        add(shown.rating, shown.reviews);
    }
    let mean = (totals.rating_count > 0).then(|| (stars / totals.rating_count as f64) as f32);
    totals.rating_bits = mean.map(f32::to_bits);
    totals
}
