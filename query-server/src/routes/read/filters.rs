use api::{QueryReader, Rule};
use data_model::Kinds;
use search::FacetWindow;

use super::{delivery, facets};
use crate::operations::{Filters, Fold, PriceBounds};

/// Maximum length of the `kind` parameter, in characters.
const KIND_CHARS_MAX: usize = 200;

/// Reads `price_min`, `price_max`, `currency`, `in_stock`, `on_sale`, `facets`, `kind`, `pincode` and `deliver_by`.
pub(in crate::routes) fn filters(reader: &mut QueryReader<'_>) -> Filters {
    let minors = || -PriceBounds::MINOR_MAX..=PriceBounds::MINOR_MAX;
    let min_minor = reader.optional("price_min").minor(minors());
    let max_minor = reader.optional("price_max").minor(minors());
    let price = PriceBounds::new(min_minor, max_minor);
    if price.is_none() {
        // Each bound is already valid by itself.
        let rule = Rule::Value("price_min must not be above price_max");
        reader.refuse("price_min", &rule, min_minor.map(Into::into));
    }
    let currency = reader.optional("currency").parsed(|text| {
        text.to_ascii_uppercase()
            .parse()
            .map_err(|_| Rule::Value("not an ISO 4217 currency with minor units"))
    });
    Filters {
        price: price.unwrap_or_default(),
        currency,
        in_stock: reader.optional("in_stock").boolean().unwrap_or(false),
        on_sale: reader.optional("on_sale").boolean().unwrap_or(false),
        facets: facets::read(reader),
        kinds: kinds(reader),
        delivery: delivery::read(reader),
    }
}

/// Reads the repeatable `kind` parameter, whose values may contain several names separated by commas.
pub(in crate::routes) fn kinds(reader: &mut QueryReader<'_>) -> Kinds {
    let mut kinds: Option<Kinds> = None;
    for word in reader.words("kind", KIND_CHARS_MAX) {
        match Kinds::NAMED.iter().find(|(name, _)| *name == word) {
            Some((_, named)) => kinds = Some(kinds.map_or(*named, |kinds| kinds.and(*named))),
            None => reader.refuse(
                "kind",
                &Rule::Enum(Kinds::NAMED.map(|(name, _)| name).to_vec()),
                Some(word.into()),
            ),
        }
    }
    kinds.unwrap_or_default()
}

pub(in crate::routes) fn fold(reader: &mut QueryReader<'_>) -> Fold {
    reader
        .optional("fold")
        .choice(&Fold::ALL, Fold::as_str)
        .unwrap_or_default()
}

pub(in crate::routes) fn facet_window(reader: &mut QueryReader<'_>) -> FacetWindow {
    let values_max = reader.optional("facet_values_max").integer(1..=FacetWindow::VALUES_MAX);
    let beginning = reader.optional("facet_query").text(FacetWindow::BEGINNING_CHARS_MAX);
    FacetWindow::new(
        values_max.unwrap_or(FacetWindow::VALUES_USUAL),
        beginning.as_deref().unwrap_or_default(),
    )
    .unwrap_or_default()
}
