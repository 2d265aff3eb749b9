use std::borrow::Cow;

use data_index::columns::FacetKey;
use data_index::taxonomy::{self, Category};

/// Facet with the number of products of each value, largest first, then by value.
#[derive(Debug)]
pub struct FacetCounts<'a> {
    /// Name of the facet.
    pub name: Cow<'a, str>,
    /// Displayed values.
    pub values: Vec<FacetValue<'a>>,
    /// Number of values with at least one product, including those that are not displayed.
    pub values_total: usize,
}

/// Facet value with its number of products.
#[derive(Debug)]
pub struct FacetValue<'a> {
    /// Value as spelled in filters.
    pub value: Cow<'a, str>,
    /// Label for display.
    pub label: Cow<'a, str>,
    /// Number of products with the value.
    pub count: u32,
}

impl<'a> FacetValue<'a> {
    pub(super) fn of(key: FacetKey<'a>, count: u32) -> Self {
        match category(key.name, key.value) {
            Some(category) => Self {
                value: category.slug.as_str().into(),
                label: category.name.into(),
                count,
            },
            None => Self {
                value: key.value.into(),
                label: key.display.into(),
                count,
            },
        }
    }

    /// Returns a requested value that no product has.
    pub(super) fn unknown(name: &str, value: &str) -> Self {
        let (value, label): (Cow<'a, str>, Cow<'a, str>) = match category(name, value) {
            Some(category) => (category.slug.as_str().into(), category.name.into()),
            None => (value.to_owned().into(), value.to_owned().into()),
        };
        Self { value, label, count: 0 }
    }
}

fn category(name: &str, value: &str) -> Option<&'static Category> {
    (name == "category").then(|| taxonomy::by_slug_or_id(value)).flatten()
}
