use data_index::{Current, Release};

use super::json::object;

/// Writes the totals of a release.
pub(crate) fn stats(out: &mut Vec<u8>, release: &Release, current: &Current) {
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
        object.object("release", |object| {
            object.id("id", release.id());
            object.id("published_at", current.published_at);
        });
        let refreshed = || release.brands().iter().map(|brand| brand.facts.refreshed_at);
        object.object("refreshed_at", |object| {
            object.moment_or_null("oldest", refreshed().min());
            object.moment_or_null("newest", refreshed().max());
        });
    });
}
