use std::borrow::Cow;

use search::{PhraseFilter, PhraseReading};

use crate::schema::{UnderstoodFilter, UnderstoodPhrase};

/// Converts an interpreted phrase of a query to its form in the response.
pub(crate) fn understood(phrase: &PhraseReading) -> UnderstoodPhrase<'_> {
    UnderstoodPhrase {
        text: phrase.text.as_str().into(),
        meaning: phrase.meaning.into(),
        filter: (!phrase.filter.is_empty()).then(|| filter(&phrase.filter)),
        order: phrase.order.map(Into::into),
    }
}

fn filter(filter: &PhraseFilter) -> UnderstoodFilter<'_> {
    UnderstoodFilter {
        price_min: filter.price_min,
        price_max: filter.price_max,
        currency: filter.currency.as_deref().map(Into::into),
        on_sale: filter.on_sale.then_some(true),
        in_stock: filter.in_stock.then_some(true),
        excluded: borrowed(&filter.excluded),
        required: borrowed(&filter.required),
        sizes: borrowed(&filter.sizes),
        categories: filter.categories.iter().copied().map(Into::into).collect(),
    }
}

fn borrowed(texts: &[String]) -> Vec<Cow<'_, str>> {
    texts.iter().map(Into::into).collect()
}
