use super::json::{ObjectWriter, object};
use crate::browse::{Counts, Prices};

/// Writes facet counts and prices as members of an object.
pub(crate) fn members(object: &mut ObjectWriter<'_>, counts: &Counts<'_>) {
    object.array("facets", &counts.facets, |out, facet| {
        super::json::object(out, |object| {
            object.text("name", &facet.name);
            object.array("values", &facet.values, |out, value| {
                super::json::object(out, |object| {
                    object.text("value", &value.value);
                    object.text("label", &value.label);
                    object.integer("count", value.count);
                });
            });
        });
    });
    prices(object.name("price"), &counts.prices);
}

fn prices(out: &mut Vec<u8>, prices: &Prices) {
    object(out, |object| {
        object.integer_or_null("min_minor", prices.ends.map(|(min, _)| min));
        object.integer_or_null("max_minor", prices.ends.map(|(_, max)| max));
        object.text("currency", prices.currency.as_str());
        object.array("histogram", &prices.bins, |out, bin| {
            super::json::object(out, |object| {
                object.integer("from_minor", bin.from_minor);
                object.integer("to_minor", bin.to_minor);
                object.integer("count", bin.count);
            });
        });
    });
}
