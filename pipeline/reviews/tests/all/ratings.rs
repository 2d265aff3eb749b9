//! Tests that products without a stated rating do not block other products.

use std::collections::BTreeMap;

use data_model::ReviewWidget;
use emulator::{ReviewsTruth, StoreAddress, WidgetFault};

use crate::support::{Market, one};

/// Returns a handle of each product with reviews, in the order in which ratings are requested.
fn products(truth: &ReviewsTruth) -> BTreeMap<u64, String> {
    let reviews = truth.reviews.iter();
    reviews.map(|one| (one.product, one.handle.clone())).collect()
}

/// Adds a review to each of the first three products, and returns the first product.
fn review_three(market: &Market, store: &StoreAddress, truth: &ReviewsTruth) -> u64 {
    let products = products(truth);
    for handle in products.values().take(3) {
        market
            .running
            .add_review(&store.slug, handle, 1, "Broke at once.")
            .unwrap()
            .unwrap();
    }
    *products.keys().next().unwrap()
}

#[tokio::test]
async fn a_product_that_the_app_does_not_know_has_no_rating() {
    let market = Market::undated().await;
    market.run().await;
    for widget in ReviewWidget::ALL {
        for status in [404, 410] {
            let (store, truth) = market.of(widget);
            // All reviews of the product with the fewest reviews are deleted.
            let fewest = truth.ratings.iter().min_by_key(|(_, (count, _))| *count);
            let product = *fewest.unwrap().0;
            for review in truth.reviews.iter().filter(|review| review.product == product) {
                market.running.delete_review(&store.slug, &review.id).unwrap();
            }
            market
                .running
                .set_widget_fault(widget, WidgetFault::Product { product, status });
            let report = market.run().await;
            let told = one(&report, &store);
            assert_eq!((told.outcome, &told.error), ("read", &None), "{widget} {told:?}");
            market.check().await;
            market.running.set_widget_fault(widget, None);
        }
    }
    let again = market.reread(&Default::default()).await;
    assert_eq!(
        (again.totals.counts.changed, again.totals.counts.unchanged),
        (0, 8),
        "{again:?}"
    );
    market.check().await;
}

#[tokio::test]
async fn a_product_that_is_refused_for_good_is_named_and_the_others_are_rated() {
    let market = Market::undated().await;
    market.run().await;
    for widget in ReviewWidget::ALL {
        // The app does not know a product for which it shows reviews. A response with such a status is not valid
        // either.
        for status in [400, 404, 422] {
            let (store, truth) = market.of(widget);
            let product = review_three(&market, &store, &truth);
            let before = market.held(&store).await.ratings[&product];
            market
                .running
                .set_widget_fault(widget, WidgetFault::Product { product, status });
            let report = market.run().await;
            let told = one(&report, &store);
            assert_eq!((told.outcome, told.rated), ("read", 2), "{widget} {status} {told:?}");
            let named: Vec<&str> = told.refused.iter().map(|one| one.subject.as_str()).collect();
            assert_eq!(named, [format!("product {product}")], "{widget} {status}");
            let mut ratings = market.of(widget).1.ratings;
            ratings.insert(product, before);
            assert_eq!(
                market.held(&store).await.ratings,
                ratings,
                "{widget} {status}: the rating stays"
            );
            assert_eq!(market.refused(&store).await.len(), 1);

            let report = market.run().await;
            let told = one(&report, &store);
            assert_eq!((told.outcome, told.requests), ("unchanged", 1), "{widget} {told:?}");
            market.running.set_widget_fault(widget, None);
            review_three(&market, &store, &truth);
            market.run().await;
            market.check().await;
            assert_eq!(market.refused(&store).await, []);
        }
    }
}

#[tokio::test]
async fn a_product_that_fails_each_time_holds_up_no_others() {
    let market = Market::undated().await;
    market.run().await;
    for widget in ReviewWidget::ALL {
        for status in [403, 500] {
            let (store, truth) = market.of(widget);
            let product = review_three(&market, &store, &truth);
            let before = market.held(&store).await.ratings[&product];
            market
                .running
                .set_widget_fault(widget, WidgetFault::Product { product, status });
            for _ in 0..2 {
                let report = market.run().await;
                assert_eq!(one(&report, &store).outcome, "failed", "{widget} {status}");
            }
            let mut ratings = market.of(widget).1.ratings;
            ratings.insert(product, before);
            assert_eq!(
                market.held(&store).await.ratings,
                ratings,
                "{widget} {status}: the others are rated"
            );
            market.running.set_widget_fault(widget, None);
            market.run().await;
            market.check().await;
        }
    }
}
