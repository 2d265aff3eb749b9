use crate::render::json::{self, ObjectWriter};

/// A stretch of a query that was read, and what was made of it: as `provenance.understood` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) text: String,
    /// One of the words that the interface description lists.
    pub(crate) meaning: &'static str,
    /// What it leaves of the products; by default nothing is left out.
    pub(crate) filter: ToldFilter,
}

impl Told {
    /// Whether it stands for kinds of thing.
    pub(crate) fn is_of_kinds(&self) -> bool {
        matches!(self.meaning, "gift" | "occasion" | "need")
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

/// Writes what was understood.
pub(crate) fn write(out: &mut Vec<u8>, told: &Told) {
    json::object(out, |object| {
        object.text("text", &told.text);
        object.text("meaning", told.meaning);
        if told.filter.is_empty() {
            object.null("filter");
        } else {
            object.object("filter", |filter| told.filter.write(filter));
        }
    });
}

impl ToldFilter {
    /// Whether it leaves nothing out.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn write(&self, filter: &mut ObjectWriter<'_>) {
        if let Some(minor) = self.price_min {
            filter.integer("price_min", minor);
        }
        if let Some(minor) = self.price_max {
            filter.integer("price_max", minor);
        }
        if let Some(currency) = &self.currency {
            filter.text("currency", currency);
        }
        for (name, _) in [("on_sale", self.on_sale), ("in_stock", self.in_stock)]
            .into_iter()
            .filter(|(_, is_asked)| *is_asked)
        {
            filter.flag(name, true);
        }
        let lists = [
            ("excluded", &self.excluded),
            ("required", &self.required),
            ("sizes", &self.sizes),
        ];
        for (name, words) in lists.into_iter().filter(|(_, words)| !words.is_empty()) {
            filter.array(name, words, |out, word| json::string(out, word));
        }
        if !self.categories.is_empty() {
            filter.array("categories", &self.categories, |out, slug| json::string(out, slug));
        }
    }
}
