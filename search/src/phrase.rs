/// Interpreted phrase of a query, with its effect. The response has it in `provenance.understood`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhraseReading {
    /// The phrase as typed.
    pub text: String,
    /// Meaning, as in the API description.
    pub meaning: &'static str,
    /// Filter of the phrase. By default, it excludes nothing.
    pub filter: PhraseFilter,
    /// Order that the phrase requests, by its name in responses.
    pub order: Option<&'static str>,
}

impl PhraseReading {
    /// Returns true for a gift, an occasion or a need, which imply categories.
    pub(crate) fn is_of_kinds(&self) -> bool {
        matches!(self.meaning, "gift" | "occasion" | "need")
    }
}

/// Filter of an interpreted phrase.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PhraseFilter {
    /// Lowest price in minor units.
    pub price_min: Option<i64>,
    /// Highest price in minor units.
    pub price_max: Option<i64>,
    /// Currency of the price bounds.
    pub currency: Option<String>,
    /// True if only marked-down products pass.
    pub on_sale: bool,
    /// True if only products in stock pass.
    pub in_stock: bool,
    /// Terms that a product must not have.
    pub excluded: Vec<String>,
    /// Phrases of which the title must have at least one.
    pub required: Vec<String>,
    /// Accepted sizes.
    pub sizes: Vec<String>,
    /// Slugs of the accepted categories.
    pub categories: Vec<&'static str>,
}

impl PhraseFilter {
    /// Returns true if the filter excludes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
