use data_checks::{CheckOutcome, Checks};
use data_index::{Current, DeliveryMatrix, Release};
use data_model::{KnownShipping, ShippingCoverage};

use super::json::object;

/// How many brands of a release are known in what shoppers ask of shipping.
pub(crate) fn coverage(release: &Release) -> ShippingCoverage {
    let mut coverage = ShippingCoverage::default();
    for (at, brand) in release.brands().iter().enumerate() {
        let matrix = release.delivery(at);
        coverage.count(KnownShipping {
            policy: brand.facts.shipping.as_ref(),
            has_matrix: matrix.is_some(),
            has_days: matrix.is_some_and(DeliveryMatrix::has_days),
        });
    }
    coverage
}

/// Writes the totals of a release, and what is known of the last checks of its brands.
pub(crate) fn stats(out: &mut Vec<u8>, release: &Release, current: &Current, checks: &Checks) {
    let counts = release.counts();
    object(out, |object| {
        object.integer("brands", counts.brands);
        object.integer("products", counts.products);
        object.integer("variants", counts.variants);
        object.integer("in_stock", counts.in_stock);
        object.integer("on_sale", counts.on_sale);
        object.integer("reviews", counts.reviews);
        object.integer("categories", counts.categories);
        object.array("currencies", &counts.currencies, |out, one| {
            super::json::object(out, |object| {
                object.text("currency", one.currency.as_str());
                object.integer("products", one.products);
            });
        });
        object.integer("pincodes_covered", release.pincodes_covered());
        object.object("shipping_known", |object| {
            for (fact, brands) in coverage(release).named() {
                object.integer(fact, brands);
            }
        });
        object.object("release", |object| {
            object.id("id", release.id());
            object.id("published_at", current.published_at);
        });
        let refreshed = || release.brands().iter().map(|brand| brand.facts.refreshed_at);
        object.object("refreshed_at", |object| {
            object.moment_or_null("oldest", refreshed().min());
            object.moment_or_null("newest", refreshed().max());
        });
        let brands = release.brands().iter().map(|brand| &brand.facts.brand.store);
        let known: Vec<_> = brands.filter_map(|store| checks.of(store)).collect();
        let checked = || known.iter().map(|check| check.checked_at);
        object.object("checked_at", |object| {
            object.moment_or_null("oldest", checked().min());
            object.moment_or_null("newest", checked().max());
        });
        object.object("check_outcomes", |object| {
            for outcome in CheckOutcome::ALL {
                let brands = known.iter().filter(|check| check.outcome == outcome);
                object.integer(outcome.as_str(), brands.count());
            }
            object.integer("never_checked", release.brands().len() - known.len());
        });
    });
}
