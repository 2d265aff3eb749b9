/// A stretch of a query that was read, and what was made of it: as `provenance.understood` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// As it stands there.
    pub text: String,
    /// One of the words that the interface description lists.
    pub meaning: &'static str,
    /// What it leaves of the products; by default nothing is left out.
    pub filter: ToldFilter,
    /// The order that it asks for, as answers spell it.
    pub order: Option<&'static str>,
}

impl Told {
    /// Whether it stands for kinds of thing.
    pub(crate) fn is_of_kinds(&self) -> bool {
        matches!(self.meaning, "gift" | "occasion" | "need")
    }
}

/// A filter, member by member.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToldFilter {
    /// In minor units.
    pub price_min: Option<i64>,
    /// In minor units.
    pub price_max: Option<i64>,
    /// That of the prices.
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

impl ToldFilter {
    /// Whether it leaves nothing out.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
