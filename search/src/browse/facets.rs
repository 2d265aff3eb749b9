use std::borrow::Cow;

use data_index::columns::FacetKey;
use data_index::taxonomy::{self, Category};

/// A facet and how many products have each of its values: most first, then by value.
#[derive(Debug)]
pub struct FacetCounts<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// Those that are shown.
    pub values: Vec<FacetValue<'a>>,
    /// The number of values that have a product, shown or not.
    pub values_total: usize,
}

/// A facet value, how it is shown, and how many products have it.
#[derive(Debug)]
pub struct FacetValue<'a> {
    /// As filters name it.
    pub value: Cow<'a, str>,
    /// As it is shown.
    pub label: Cow<'a, str>,
    /// The number of products that have it.
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

    /// A value that no product has but that was asked for.
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
