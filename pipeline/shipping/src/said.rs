//! What a store answered, and what that says. Pure.

use data_model::{CurrencyCode, read_store_json};
use pipeline_policies::{Reading, read};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One text of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Document {
    /// Whether it is the policy that the back office holds: then it is the store's word, whatever it says.
    pub(crate) is_policy: bool,
    /// Where it stands; empty where that is not told.
    pub(crate) url: String,
    pub(crate) text: String,
}

impl Document {
    pub(crate) const fn policy(url: String, text: String) -> Self {
        let is_policy = true;
        Self { is_policy, url, text }
    }

    pub(crate) const fn page(url: String, text: String) -> Self {
        let is_policy = false;
        Self { is_policy, url, text }
    }

    /// What it says; `None` where it tells no fact, and others may.
    pub(crate) fn says(&self, currency: CurrencyCode) -> Option<Said> {
        let reading = read(&self.text, currency);
        let url = self.url.clone();
        (self.is_policy || !reading.facts.is_empty()).then_some(Said::Terms { url, reading })
    }
}

/// What a store answered when it was asked for its terms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Told {
    /// Its texts, in the order in which they count.
    pub(crate) documents: Vec<Document>,
    /// Whether it was asked wherever terms may stand.
    pub(crate) is_everywhere: bool,
}

impl Told {
    /// What it says where none of its texts says anything.
    pub(crate) const fn silence(&self) -> Said {
        if self.is_everywhere {
            Said::Nothing
        } else {
            Said::Unknown
        }
    }
}

/// What that says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// This, at this address.
    Terms { url: String, reading: Reading },
    /// Nothing, and it was asked everywhere.
    Nothing,
    /// Nothing where it could be asked; some of it could not be.
    Unknown,
}

/// Reads what a store answered: its policy, else the first page that tells any fact.
pub(crate) fn said(told: &Told, currency: CurrencyCode) -> Said {
    let mut says = told.documents.iter().filter_map(|document| document.says(currency));
    says.next().unwrap_or_else(|| told.silence())
}

/// The address and the text of the shipping policy in a store's answer for its policies; `None` where it has none.
pub(crate) fn shipping_policy(answer: &[u8]) -> Option<(String, String)> {
    let data: Value = read_store_json(answer).ok()?;
    let policy = &data["shop"]["shippingPolicy"];
    let body = policy["body"].as_str().filter(|body| !body.trim().is_empty())?;
    let url = policy["url"].as_str().unwrap_or_default();
    Some((url.to_owned(), body.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: &str = "<p>Free shipping on all orders above Rs. 999.</p>";

    fn told(documents: Vec<Document>, is_everywhere: bool) -> Told {
        Told {
            documents,
            is_everywhere,
        }
    }

    fn inr() -> CurrencyCode {
        "INR".parse().unwrap()
    }

    #[test]
    fn a_policy_is_the_stores_word_and_of_pages_the_first_that_tells_a_fact_counts() {
        let page = |url: &str, text: &str| Document::page(url.to_owned(), text.to_owned());
        let silent = Document::policy("p".to_owned(), "We ship.".to_owned());
        let Said::Terms { url, reading } = said(&told(vec![silent, page("q", FREE)], false), inr()) else {
            panic!("a policy says something");
        };
        assert_eq!((url.as_str(), reading.facts.len()), ("p", 0));
        let pages = vec![page("one", "Hello."), page("two", FREE), page("three", FREE)];
        let Said::Terms { url, reading } = said(&told(pages, false), inr()) else {
            panic!("a page tells a fact");
        };
        assert_eq!((url.as_str(), reading.facts.len()), ("two", 1));
    }

    #[test]
    fn silence_is_an_answer_only_where_all_was_asked() {
        let page = || vec![Document::page("one".to_owned(), "Hello.".to_owned())];
        assert_eq!(said(&told(page(), true), inr()), Said::Nothing);
        assert_eq!(said(&told(page(), false), inr()), Said::Unknown);
        assert_eq!(said(&told(Vec::new(), true), inr()), Said::Nothing);
    }

    #[test]
    fn what_is_no_answer_for_policies_holds_no_policy() {
        for text in [
            "",
            "[]",
            "{\"shop\":{\"shippingPolicy\":null}}",
            "{\"shop\":{\"shippingPolicy\":{\"body\":\" \"}}}",
        ] {
            assert_eq!(shipping_policy(text.as_bytes()), None, "{text}");
        }
        let found = shipping_policy(br#"{"shop":{"shippingPolicy":{"body":"<p>x</p>","url":"https://s/p"}}}"#);
        assert_eq!(found, Some(("https://s/p".to_owned(), "<p>x</p>".to_owned())));
    }
}
