use data_model::{CurrencyCode, StoreHost};
use data_text::{is_hidden, stated_line};
use serde::{Deserialize, Serialize};

const NAME_CHARS_MAX: usize = 200;
const TEXT_CHARS_MAX: usize = 5_000;

/// Self-description of a store from `/meta.json`. Missing or invalid fields are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreFacts {
    /// Permanent Shopify host of the store. The store may rename it.
    #[serde(default)]
    pub permanent_host: Option<StoreHost>,
    /// Shopify's id of the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shop_id: Option<u64>,
    /// The store's name.
    #[serde(default)]
    pub name: Option<String>,
    /// Currency in which the store keeps its prices.
    #[serde(default)]
    pub currency: Option<CurrencyCode>,
    /// Currency in which the store's pages show prices, or its front page if the catalogue pages do not state one.
    /// `/meta.json` does not contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presented: Option<CurrencyCode>,
    /// ISO 3166-1 alpha-2 country code.
    #[serde(default)]
    pub country: Option<String>,
    /// Description that the store gives of itself.
    #[serde(default)]
    pub description: Option<String>,
    /// Number of published products that the store reports.
    #[serde(default)]
    pub published_products: Option<u64>,
}

impl StoreFacts {
    /// Returns `None` if the body of `/meta.json` is not such a document.
    #[must_use]
    pub fn read(meta: &[u8]) -> Option<Self> {
        let meta = pipeline_parse::parse_meta(meta).ok()?;
        let name = meta.name.and_then(|name| line(&name));
        let text = |text: Option<String>| text.map(|text| plain(&text)).filter(|text| !text.is_empty());
        Some(Self {
            permanent_host: meta.myshopify_domain.and_then(|host| host.parse().ok()),
            shop_id: meta.id,
            name,
            currency: meta.currency.and_then(|code| code.parse().ok()),
            presented: None,
            country: text(meta.country)
                .filter(|country| country.len() == 2 && country.bytes().all(|byte| byte.is_ascii_alphabetic()))
                .map(|country| country.to_ascii_uppercase()),
            description: text(meta.description),
            published_products: meta.published_products_count,
        })
    }

    /// Fills missing facts from `before` that a store cannot lose. If the store was not `described` at all, its earlier
    /// description is also used. An earlier product count is not, because it may be out of date.
    pub(crate) fn or_as_known(self, before: &Self, described: bool) -> Self {
        let before = before.clone();
        Self {
            permanent_host: self.permanent_host.or(before.permanent_host),
            shop_id: self.shop_id.or(before.shop_id),
            name: self.name.or(before.name),
            currency: self.currency.or(before.currency),
            presented: self.presented,
            country: self.country.or(before.country),
            description: self.description.or(before.description.filter(|_| !described)),
            published_products: self.published_products,
        }
    }

    /// Returns the currency of the store's prices, if known.
    #[must_use]
    pub fn prices_in(&self) -> Option<CurrencyCode> {
        self.presented.or(self.currency)
    }

    /// Returns true if users would see no difference. They do not see the product count and the store's id.
    #[must_use]
    pub fn same_brand(&self, other: &Self) -> bool {
        let shown = |facts: &Self| Self {
            published_products: None,
            presented: None,
            shop_id: None,
            ..facts.clone()
        };
        shown(self) == shown(other)
    }
}

/// Reduces a text to one line of at most [`NAME_CHARS_MAX`] characters, because stores send text of any length.
fn line(text: &str) -> Option<String> {
    let shown: String = text
        .chars()
        .map(|char| if char.is_control() { ' ' } else { char })
        .collect();
    stated_line(Some(&shown), NAME_CHARS_MAX)
}

/// Reduces a text to a few paragraphs of at most [`TEXT_CHARS_MAX`] characters.
fn plain(text: &str) -> String {
    let shown: String = text
        .chars()
        .map(|char| {
            if matches!(char, '\t' | '\u{2028}' | '\u{2029}') {
                ' '
            } else {
                char
            }
        })
        .filter(|char| *char == '\n' || !is_hidden(*char))
        .collect();
    let cut: String = shown.trim().chars().take(TEXT_CHARS_MAX).collect();
    cut.trim_end().to_owned()
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

    #[test]
    fn what_is_not_to_be_seen_or_turns_the_rest_around_is_taken_out_of_names_and_descriptions() {
        let meta = serde_json::json!({
            "name": "Tea\u{202e}\u{0}\u{1b}[31m &\r\n\u{2028}Co\u{200b}\u{feff} क्‍ष",
            "description": "One\u{2066}\u{7}.\n\nTwo\u{9}three\u{200f}.\r\n",
        });
        let facts = StoreFacts::read(meta.to_string().as_bytes()).unwrap();
        assert_eq!(facts.name.as_deref(), Some("Tea [31m & Co क्‍ष"));
        assert_eq!(facts.description.as_deref(), Some("One.\n\nTwo three."));
        let blank = StoreFacts::read(br#"{"id": 1, "name": "\u202e \u200b", "description": "\u2066"}"#).unwrap();
        assert_eq!((blank.name, blank.description), (None, None));
    }
}
