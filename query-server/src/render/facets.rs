use data_model::CurrencyCode;

use super::json::ObjectWriter;
use crate::browse::{Counts, FacetCounts, Prices};

/// Writes facet counts and prices as members of an object.
pub(crate) fn members(object: &mut ObjectWriter<'_>, counts: &Counts<'_>) {
    facets(object, &counts.facets);
    object.object("price", |object| {
        ends(object, &counts.prices);
        object.text("currency", counts.prices.currency.as_str());
        histogram(object, &counts.prices);
    });
}

/// Writes facet counts as a member of an object.
pub(crate) fn facets(object: &mut ObjectWriter<'_>, facets: &[FacetCounts<'_>]) {
    object.array("facets", facets, |out, facet| {
        super::json::object(out, |object| {
            object.text("name", &facet.name);
            object.array("values", &facet.values, |out, value| {
                super::json::object(out, |object| {
                    object.text("value", &value.value);
                    object.text("label", &value.label);
                    object.integer("count", value.count);
                });
            });
            object.integer("values_total", facet.values_total);
        });
    });
}

/// Writes what prices a list is filtered and ordered by.
pub(crate) fn basis(object: &mut ObjectWriter<'_>, currency: CurrencyCode, left_out: bool) {
    object.text("currency", currency.as_str());
    object.flag("left_out", left_out);
}

/// Writes how the prices of a list lie, after [`basis`].
pub(crate) fn spread(object: &mut ObjectWriter<'_>, prices: &Prices) {
    ends(object, prices);
    histogram(object, prices);
}

fn ends(object: &mut ObjectWriter<'_>, prices: &Prices) {
    object.integer_or_null("min_minor", prices.ends.map(|(min, _)| min));
    object.integer_or_null("max_minor", prices.ends.map(|(_, max)| max));
}

fn histogram(object: &mut ObjectWriter<'_>, prices: &Prices) {
    object.array("histogram", &prices.bins, |out, bin| {
        super::json::object(out, |object| {
            object.integer("from_minor", bin.from_minor);
            object.integer("to_minor", bin.to_minor);
            object.integer("count", bin.count);
        });
    });
}
