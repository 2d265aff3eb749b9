use data_model::{CurrencyCode, StoreHost};
use serde::{Deserialize, Serialize};

const NAME_CHARS_MAX: usize = 200;
const TEXT_CHARS_MAX: usize = 5_000;

/// What a store says of itself in `/meta.json`; what it did not say, or said wrongly, is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreFacts {
    /// The platform's own host of the store, which never changes.
    #[serde(default)]
    pub permanent_host: Option<StoreHost>,
    /// The store's name.
    #[serde(default)]
    pub name: Option<String>,
    /// The currency of the prices in its catalogue.
    #[serde(default)]
    pub currency: Option<CurrencyCode>,
    /// ISO 3166-1 alpha-2.
    #[serde(default)]
    pub country: Option<String>,
    /// What it says of itself.
    #[serde(default)]
    pub description: Option<String>,
    /// How many products it says it has published.
    #[serde(default)]
    pub published_products: Option<u64>,
}

impl StoreFacts {
    /// Reads the body of `/meta.json`; `None` when it is none.
    #[must_use]
    pub fn read(meta: &[u8]) -> Option<Self> {
        let meta = pipeline_parse::parse_meta(meta).ok()?;
        // Stores may say anything at any length; a name is a line, a description a few paragraphs.
        let line = |text: String| {
            let words = text.split(|char: char| char.is_whitespace() || char.is_control());
            words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
        };
        let name = meta
            .name
            .map(line)
            .map(|name| cut(&name, NAME_CHARS_MAX))
            .filter(|name| !name.is_empty());
        let text = |text: Option<String>| {
            text.map(|text| cut(text.trim(), TEXT_CHARS_MAX))
                .filter(|text| !text.is_empty())
        };
        Some(Self {
            permanent_host: meta.myshopify_domain.and_then(|host| host.parse().ok()),
            name,
            currency: meta.currency.and_then(|code| code.parse().ok()),
            country: text(meta.country)
                .filter(|country| country.len() == 2 && country.bytes().all(|byte| byte.is_ascii_alphabetic()))
                .map(|country| country.to_ascii_uppercase()),
            description: text(meta.description),
            published_products: meta.published_products_count,
        })
    }

    /// Whether the brand would look the same with `other`; how many products a store counts does not show.
    #[must_use]
    pub fn same_brand(&self, other: &Self) -> bool {
        let shown = |facts: &Self| Self {
            published_products: None,
            ..facts.clone()
        };
        shown(self) == shown(other)
    }
}

/// The beginning of a text without characters that are not to be seen.
fn cut(text: &str, chars_max: usize) -> String {
    text.chars()
        .filter(|char| !char.is_control() || *char == '\n')
        .take(chars_max)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_store_says_of_itself_is_cut_to_size_and_nonsense_is_nothing() {
        let meta = serde_json::json!({"name": format!("  Tea\n\u{7}  {}", "x".repeat(900)), "currency": "Rupees",
            "country": "in", "myshopify_domain": "http://evil/", "description": "\u{0}"});
        let facts = StoreFacts::read(meta.to_string().as_bytes()).unwrap();
        assert_eq!(
            facts.name.as_deref().map(|name| (name.len(), &name[..6])),
            Some((200, "Tea xx"))
        );
        assert_eq!(
            (facts.currency, facts.country.as_deref(), facts.permanent_host),
            (None, Some("IN"), None)
        );
        assert_eq!(facts.description, None);
    }
}
