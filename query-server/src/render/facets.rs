use data_model::CurrencyCode;

use super::json::ObjectWriter;
use crate::browse::{Counts, FacetCounts, Prices};

/// The highest count of a search: a search tells no total.
pub(crate) const SEARCH_COUNT_MAX: u32 = 1_000;

/// Writes facet counts and prices as members of an object.
pub(crate) fn members(object: &mut ObjectWriter<'_>, counts: &Counts<'_>) {
    facets(object, &counts.facets, u32::MAX);
    object.object("price", |object| {
        ends(object, &counts.prices);
        object.text("currency", counts.prices.currency.as_str());
        histogram(object, &counts.prices, u32::MAX);
    });
}

/// Writes facet counts, up to `count_max`, as a member of an object.
pub(crate) fn facets(object: &mut ObjectWriter<'_>, facets: &[FacetCounts<'_>], count_max: u32) {
    object.array("facets", facets, |out, facet| {
        super::json::object(out, |object| {
            object.text("name", &facet.name);
            object.array("values", &facet.values, |out, value| {
                super::json::object(out, |object| {
                    object.text("value", &value.value);
                    object.text("label", &value.label);
                    count(object, value.count, count_max);
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

/// Writes how the prices of a search lie, after [`basis`].
pub(crate) fn spread(object: &mut ObjectWriter<'_>, prices: &Prices) {
    ends(object, prices);
    histogram(object, prices, SEARCH_COUNT_MAX);
}

fn count(object: &mut ObjectWriter<'_>, count: u32, count_max: u32) {
    object.integer("count", count.min(count_max));
    if count > count_max {
        object.flag("value_capped", true);
    }
}

fn ends(object: &mut ObjectWriter<'_>, prices: &Prices) {
    object.integer_or_null("min_minor", prices.ends.map(|(min, _)| min));
    object.integer_or_null("max_minor", prices.ends.map(|(_, max)| max));
}

fn histogram(object: &mut ObjectWriter<'_>, prices: &Prices, count_max: u32) {
    object.array("histogram", &prices.bins, |out, bin| {
        super::json::object(out, |object| {
            object.integer("from_minor", bin.from_minor);
            object.integer("to_minor", bin.to_minor);
            count(object, bin.count, count_max);
        });
    });
}
