use data_model::CurrencyCode;
use search::{FacetCounts, Prices};

use crate::schema::{Facet, FacetValue, PriceBasis, PriceBin, PriceSummary};

/// Maximum count in a search answer, because searches report no exact totals.
pub(crate) const SEARCH_COUNT_MAX: u32 = 1_000;

/// Builds facets with counts of at most `count_max`.
pub(crate) fn facets(facets: Vec<FacetCounts<'_>>, count_max: u32) -> Vec<Facet<'_>> {
    let facets = facets.into_iter().map(|facet| {
        let values = facet.values.into_iter().map(|value| FacetValue {
            value: value.value,
            label: value.label,
            count: value.count.min(count_max),
            value_capped: (value.count > count_max).then_some(true),
        });
        Facet {
            name: facet.name,
            values: values.collect(),
            values_total: u32::try_from(facet.values_total).unwrap_or(u32::MAX),
        }
    });
    facets.collect()
}

/// Builds the price summary of a complete list.
pub(crate) fn summary(prices: &Prices) -> PriceSummary<'static> {
    PriceSummary {
        min_minor: prices.ends.map(|(min, _)| min),
        max_minor: prices.ends.map(|(_, max)| max),
        currency: prices.currency.as_str().into(),
        histogram: histogram(prices, u32::MAX),
    }
}

/// Builds the note on the currency of price filters and sorts.
pub(crate) fn basis(currency: CurrencyCode, left_out: bool) -> PriceBasis<'static> {
    PriceBasis {
        currency: currency.as_str().into(),
        left_out,
        min_minor: None,
        max_minor: None,
        histogram: None,
    }
}

/// Adds the distribution of prices to the note on the currency.
pub(crate) fn spread(prices: &Prices, basis: PriceBasis<'static>) -> PriceBasis<'static> {
    PriceBasis {
        min_minor: Some(prices.ends.map(|(min, _)| min)),
        max_minor: Some(prices.ends.map(|(_, max)| max)),
        histogram: Some(histogram(prices, SEARCH_COUNT_MAX)),
        ..basis
    }
}

fn histogram(prices: &Prices, count_max: u32) -> Vec<PriceBin> {
    let bins = prices.bins.iter().map(|bin| PriceBin {
        from_minor: bin.from_minor,
        to_minor: bin.to_minor,
        count: bin.count.min(count_max),
        value_capped: (bin.count > count_max).then_some(true),
    });
    bins.collect()
}
