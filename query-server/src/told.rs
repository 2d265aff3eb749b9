use std::borrow::Cow;

use data_understanding::Superlative;

use crate::schema::{Understood, UnderstoodFilter};

/// A stretch of a query that was read, and what was made of it: as `provenance.understood` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) text: String,
    /// One of the words that the interface description lists.
    pub(crate) meaning: &'static str,
    /// What it leaves of the products; by default nothing is left out.
    pub(crate) filter: ToldFilter,
    /// What it puts first.
    pub(crate) order: Option<Superlative>,
}

impl Told {
    /// Whether it stands for kinds of thing.
    pub(crate) fn is_of_kinds(&self) -> bool {
        matches!(self.meaning, "gift" | "occasion" | "need")
    }

    /// The same as answers tell it.
    pub(crate) fn understood(&self) -> Understood<'_> {
        Understood {
            text: self.text.as_str().into(),
            meaning: self.meaning.into(),
            filter: (!self.filter.is_empty()).then(|| self.filter.understood()),
            order: self.order.map(|order| order.as_str().into()),
        }
    }
}

/// A filter, member by member.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ToldFilter {
    pub(crate) price_min: Option<i64>,
    pub(crate) price_max: Option<i64>,
    pub(crate) currency: Option<String>,
    pub(crate) on_sale: bool,
    pub(crate) in_stock: bool,
    pub(crate) excluded: Vec<String>,
    pub(crate) required: Vec<String>,
    pub(crate) sizes: Vec<String>,
    /// Slugs.
    pub(crate) categories: Vec<&'static str>,
}

impl ToldFilter {
    /// Whether it leaves nothing out.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn understood(&self) -> UnderstoodFilter<'_> {
        UnderstoodFilter {
            price_min: self.price_min,
            price_max: self.price_max,
            currency: self.currency.as_deref().map(Into::into),
            on_sale: self.on_sale.then_some(true),
            in_stock: self.in_stock.then_some(true),
            excluded: borrowed(&self.excluded),
            required: borrowed(&self.required),
            sizes: borrowed(&self.sizes),
            categories: self.categories.iter().copied().map(Into::into).collect(),
        }
    }
}

fn borrowed(texts: &[String]) -> Vec<Cow<'_, str>> {
    texts.iter().map(Into::into).collect()
}
