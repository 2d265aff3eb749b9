/// A stretch of a query that was read, with its effect: `provenance.understood` states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhraseReading {
    /// As it stands there.
    pub text: String,
    /// One of the words that the interface description lists.
    pub meaning: &'static str,
    /// The products that it leaves; by default all.
    pub filter: PhraseFilter,
    /// The order that it asks for, as answers spell it.
    pub order: Option<&'static str>,
}

impl PhraseReading {
    /// True where it stands for kinds of thing.
    pub(crate) fn is_of_kinds(&self) -> bool {
        matches!(self.meaning, "gift" | "occasion" | "need")
    }
}

/// A filter, member by member.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PhraseFilter {
    /// In minor units.
    pub price_min: Option<i64>,
    /// In minor units.
    pub price_max: Option<i64>,
    /// The currency of the prices.
    pub currency: Option<String>,
    /// Marked down alone.
    pub on_sale: bool,
    /// In stock alone.
    pub in_stock: bool,
    /// Products with none of these.
    pub excluded: Vec<String>,
    /// Products with one of these in the title.
    pub required: Vec<String>,
    /// Products of one of these sizes.
    pub sizes: Vec<String>,
    /// Slugs.
    pub categories: Vec<&'static str>,
}

impl PhraseFilter {
    /// True where it leaves nothing out.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
