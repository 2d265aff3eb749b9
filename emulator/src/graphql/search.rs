//! Documented, simple part of the search syntax of `query:` arguments: words, `"phrases"`, `field:value`, a trailing
//! `*`, a leading `-` or `NOT`. All terms must match. `OR` is treated as a word.

use super::money;
use crate::product::Product;

/// Object that can be searched.
pub(super) trait Searchable {
    /// Returns the texts of a field, or `None` for an unknown field, which matches everything.
    fn field(&self, name: &str) -> Option<Vec<String>>;
    /// Returns the texts that are searched for words without a field.
    fn words(&self) -> Vec<String>;
}

/// A parsed search query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Search(Vec<Term>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    field: Option<String>,
    value: String,
    is_prefix: bool,
    is_negated: bool,
}

impl Search {
    pub(super) fn parse(query: &str) -> Self {
        let mut terms = Vec::new();
        let mut is_negated = false;
        for word in split(query) {
            if word == "AND" {
                continue;
            }
            if word == "NOT" {
                is_negated = true;
                continue;
            }
            let (bare, minus) = word
                .strip_prefix('-')
                .map_or((word.as_str(), false), |bare| (bare, true));
            let (field, value) = match bare.split_once(':') {
                Some((field, value)) if !field.is_empty() && !field.starts_with('"') => (Some(field), value),
                _ => (None, bare),
            };
            let (value, is_prefix) = value.strip_suffix('*').map_or((value, false), |value| (value, true));
            terms.push(Term {
                field: field.map(str::to_lowercase),
                value: value.trim_matches(['"', '\'']).to_lowercase(),
                is_prefix,
                is_negated: std::mem::take(&mut is_negated) || minus,
            });
        }
        Self(terms)
    }

    pub(super) fn matches(&self, searched: &impl Searchable) -> bool {
        self.0.iter().all(|term| term.matches(searched) != term.is_negated)
    }
}

impl Term {
    fn matches(&self, searched: &impl Searchable) -> bool {
        match &self.field {
            Some(field) => searched.field(field).is_none_or(|texts| {
                texts.iter().any(|text| {
                    let text = text.to_lowercase();
                    text == self.value || self.is_prefix && text.starts_with(&self.value)
                })
            }),
            None => searched
                .words()
                .iter()
                .any(|text| text.to_lowercase().contains(&self.value)),
        }
    }
}

/// Splits a query into words. White space within quotes does not separate words.
fn split(query: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for character in query.chars() {
        match (character, quote) {
            ('"' | '\'', None) => quote = Some(character),
            (character, Some(open)) if character == open => quote = None,
            (character, None) if character.is_whitespace() => {
                words.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(word) = words.last_mut() {
            word.push(character);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

impl Searchable for Product {
    fn field(&self, name: &str) -> Option<Vec<String>> {
        let optional = |text: &Option<String>| vec![text.clone().unwrap_or_default()];
        Some(match name {
            "id" => vec![self.id.to_string()],
            "title" => vec![self.title.clone()],
            "handle" => vec![self.handle.clone()],
            "vendor" => optional(&self.vendor),
            "product_type" => optional(&self.product_type),
            "tag" => self.tags().into_iter().map(str::to_owned).collect(),
            "available_for_sale" => vec![self.available().to_string()],
            "sku" => self.variants.iter().filter_map(|variant| variant.sku.clone()).collect(),
            "variants.price" => self
                .variants
                .iter()
                .filter_map(|variant| money::decimal(&variant.price))
                .collect(),
            _ => return None,
        })
    }

    fn words(&self) -> Vec<String> {
        let mut words = vec![self.title.clone(), self.vendor.clone().unwrap_or_default()];
        words.push(self.product_type.clone().unwrap_or_default());
        words.extend(self.tags().into_iter().map(str::to_owned));
        words
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn finds(query: &str) -> bool {
        let product: Product = serde_json::from_value(serde_json::json!({
            "id": 7, "title": "Green Tea", "handle": "green-tea", "vendor": "Willow Leaf", "tags": ["new", "loose leaf"],
            "variants": [{ "id": 8, "price": "5.00", "available": true }],
        }))
        .unwrap();
        Search::parse(query).matches(&product)
    }

    #[test]
    fn every_term_must_match() {
        for query in [
            "",
            "green",
            "GREEN tea",
            "title:\"green tea\"",
            "tag:'loose leaf'",
            "title:gre*",
            "-black",
            "NOT title:tea",
            "available_for_sale:true",
            "unknown:thing",
            "id:7 AND tag:new",
        ] {
            assert!(finds(query), "{query}");
        }
        for query in [
            "black",
            "green coffee",
            "title:green",
            "tag:loose",
            "-tag:new",
            "vendor:other",
            "__missing__",
        ] {
            assert!(!finds(query), "{query}");
        }
    }

    proptest! {
        #[test]
        fn no_query_breaks_it(query in ".*") {
            finds(&query);
        }
    }
}
