use std::borrow::Cow;

use search::{Told, ToldFilter};

use crate::schema::{UnderstoodFilter, UnderstoodPhrase};

/// The reading of a query, as answers tell it.
pub(crate) fn understood(told: &Told) -> UnderstoodPhrase<'_> {
    UnderstoodPhrase {
        text: told.text.as_str().into(),
        meaning: told.meaning.into(),
        filter: (!told.filter.is_empty()).then(|| filter(&told.filter)),
        order: told.order.map(Into::into),
    }
}

fn filter(told: &ToldFilter) -> UnderstoodFilter<'_> {
    UnderstoodFilter {
        price_min: told.price_min,
        price_max: told.price_max,
        currency: told.currency.as_deref().map(Into::into),
        on_sale: told.on_sale.then_some(true),
        in_stock: told.in_stock.then_some(true),
        excluded: borrowed(&told.excluded),
        required: borrowed(&told.required),
        sizes: borrowed(&told.sizes),
        categories: told.categories.iter().copied().map(Into::into).collect(),
    }
}

fn borrowed(texts: &[String]) -> Vec<Cow<'_, str>> {
    texts.iter().map(Into::into).collect()
}
