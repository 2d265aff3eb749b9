//! Texts of a store and the shipping terms that they state. The module does no I/O.

use data_model::{CurrencyCode, ShippingFact, ShippingFactKind, UnknownReason, UnknownTerm, read_store_json};
use pipeline_policies::{Proposal, ProposalCounts, Reading, checked, read};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Kinds of facts that a shop's banner may state.
const ADVERTISED: [ShippingFactKind; 2] = [ShippingFactKind::FreeShipping, ShippingFactKind::Cod];

/// Source of a store's text, which determines how far the text is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Place {
    /// The text is the shipping policy from the Shopify admin: the store's official statement, even if it states no
    /// terms.
    Policy,
    /// The text is a page about shipping, or an FAQ page.
    Page,
    /// The text is the front page or a product page. These contain customer reviews, so that only their thresholds and
    /// cash on delivery are used.
    Shop,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Document {
    pub(crate) place: Place,
    /// URL of the page, which is empty if unknown.
    pub(crate) url: String,
    pub(crate) text: String,
    /// Proposals of a language model. `None` if no model has read the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) proposed: Option<Vec<Proposal>>,
}

impl Document {
    pub(crate) fn read(&self, currency: CurrencyCode) -> Reading {
        let mut reading = read(&self.text, currency);
        if self.place == Place::Shop {
            reading.facts.retain(|fact| ADVERTISED.contains(&fact.kind));
            reading.unknown.clear();
        }
        reading
    }
}

/// Texts that a store returned when it was queried for its terms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreTexts {
    /// Texts in order of precedence.
    pub(crate) documents: Vec<Document>,
    /// True if every page that may state terms was read.
    pub(crate) is_everywhere: bool,
}

impl StoreTexts {
    /// Copies the model's proposals from earlier documents with the same text.
    pub(crate) fn recall(&mut self, before: &[Document]) {
        for document in &mut self.documents {
            let same = before
                .iter()
                .find(|one| one.text == document.text && one.proposed.is_some());
            document.proposed = same.and_then(|same| same.proposed.clone());
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TextTerms {
    /// The texts state these terms, at this URL.
    Terms { url: String, reading: Reading },
    /// The texts state no terms, and every relevant page was read.
    Nothing,
    /// The texts state no terms, but other pages could not be read.
    Unknown,
}

/// Terms merged from several texts of a store. The first text that states a kind of fact counts. If a front page or
/// product page contradicts the policy, the fact is unknown, because one of the two texts is out of date.
#[derive(Debug, Default)]
pub(crate) struct StatedTerms {
    /// URL of the first text that counts.
    url: Option<String>,
    reading: Reading,
    /// Outcomes of the language model's proposals.
    pub(crate) proposals: ProposalCounts,
}

impl StatedTerms {
    pub(crate) fn add(&mut self, document: &Document, reading: Reading) {
        if self.url.is_none() && (document.place == Place::Policy || !reading.facts.is_empty()) {
            self.url = Some(document.url.clone());
        }
        let mut settled = ShippingFactKind::ALL.to_vec();
        settled.retain(|kind| self.is_settled(*kind));
        for mut fact in reading.facts {
            if !settled.contains(&fact.kind) {
                fact.source_url = Some(document.url.clone()).filter(|url| self.url.as_ref() != Some(url));
                self.reading.facts.push(fact);
            } else if document.place == Place::Shop && self.contradicts(&fact) {
                self.withdraw(fact);
            }
        }
        for term in reading.unknown {
            if !self.is_settled(term.kind) {
                self.note(term);
            }
        }
    }

    /// Adds the facts that a language model proposed for a text, if the rules found no fact of that kind.
    fn add_proposed(&mut self, document: &Document, currency: CurrencyCode) {
        let proposed = document.proposed.as_deref().unwrap_or_default();
        let checked = checked(&document.text, currency, proposed, &self.reading);
        self.proposals.add(checked.counts);
        let reading = Reading {
            facts: checked.facts,
            unknown: Vec::new(),
        };
        self.add(document, reading);
    }

    /// Returns true if the rules left a kind of fact open that a language model may find.
    pub(crate) fn is_open(&self) -> bool {
        use ShippingFactKind::{Cod, Delivery, Dispatch, Fee, FreeShipping};
        let kinds = [FreeShipping, Fee, Cod, Dispatch, Delivery];
        kinds.into_iter().any(|kind| self.reading.is_open(kind))
    }

    /// Removes facts that apply to every order, because a front page or product page contradicts them.
    fn withdraw(&mut self, denial: ShippingFact) {
        let kind = denial.kind;
        self.reading
            .facts
            .retain(|fact| fact.kind != kind || !fact.is_general());
        let (reason, sentence) = (UnknownReason::Contradiction, Some(denial.sentence));
        self.note(UnknownTerm { kind, reason, sentence });
    }

    /// Returns true if no further text is needed: delivery price, delivery days and cash on delivery are known.
    pub(crate) fn is_complete(&self) -> bool {
        use ShippingFactKind::{Cod, Delivery, FreeShipping};
        [FreeShipping, Delivery, Cod]
            .into_iter()
            .all(|kind| self.is_settled(kind))
    }

    pub(crate) fn said(mut self, is_everywhere: bool) -> TextTerms {
        let Some(url) = self.url else {
            return if is_everywhere {
                TextTerms::Nothing
            } else {
                TextTerms::Unknown
            };
        };
        let Reading { facts, unknown } = &mut self.reading;
        for kind in &ShippingFactKind::ALL {
            let is_known = facts.iter().any(|fact| fact.kind == *kind);
            unknown.retain(|unknown| unknown.kind != *kind || !is_known);
            if !is_known && unknown.iter().all(|unknown| unknown.kind != *kind) {
                let (reason, sentence) = (UnknownReason::NotStated, None);
                unknown.push(UnknownTerm {
                    kind: *kind,
                    reason,
                    sentence,
                });
            }
        }
        facts.sort_by_key(|fact| fact.kind);
        unknown.sort_by_key(|unknown| unknown.kind);
        TextTerms::Terms {
            url,
            reading: self.reading,
        }
    }

    /// Returns true if a text stated this kind of fact, or contradicted itself about it.
    fn is_settled(&self, kind: ShippingFactKind) -> bool {
        let Reading { facts, unknown } = &self.reading;
        let is_contrary =
            |unknown: &UnknownTerm| unknown.kind == kind && unknown.reason == UnknownReason::Contradiction;
        facts.iter().any(|fact| fact.kind == kind) || unknown.iter().any(is_contrary)
    }

    fn contradicts(&self, fact: &ShippingFact) -> bool {
        let terms = |fact: &ShippingFact| match fact.kind {
            ShippingFactKind::FreeShipping => fact.min_order_minor,
            _ => fact.is_available.map(i64::from),
        };
        let of_all = self
            .reading
            .facts
            .iter()
            .filter(|known| known.kind == fact.kind && known.is_general());
        fact.is_general() && of_all.into_iter().any(|known| terms(known) != terms(fact))
    }

    /// A specific reason why a kind is unknown replaces `NotStated`, and a sentence replaces none.
    fn note(&mut self, term: UnknownTerm) {
        let known = self.reading.unknown.iter_mut().find(|known| known.kind == term.kind);
        let is_specific = term.reason != UnknownReason::NotStated || term.sentence.is_some();
        match known {
            Some(known)
                if known.reason == UnknownReason::NotStated && is_specific
                    || term.reason == UnknownReason::Contradiction =>
            {
                *known = term;
            }
            Some(_) => {}
            None => self.reading.unknown.push(term),
        }
    }
}

pub(crate) fn said(told: &StoreTexts, currency: CurrencyCode) -> TextTerms {
    stated(told, currency).said(told.is_everywhere)
}

/// Merges the terms of a store's texts: first those of the rules, then those of a language model.
pub(crate) fn stated(told: &StoreTexts, currency: CurrencyCode) -> StatedTerms {
    let mut terms = StatedTerms::default();
    for document in &told.documents {
        terms.add(document, document.read(currency));
    }
    for document in told.documents.iter().filter(|document| document.proposed.is_some()) {
        terms.add_proposed(document, currency);
    }
    terms
}

/// Extracts the shipping policy and its URL from a store's GraphQL answer, or returns `None` without one.
pub(crate) fn shipping_policy(answer: &[u8]) -> Option<Document> {
    let data: Value = read_store_json(answer).ok()?;
    let policy = &data["shop"]["shippingPolicy"];
    let body = policy["body"].as_str().filter(|body| !body.trim().is_empty())?;
    Some(Document {
        place: Place::Policy,
        url: policy["url"].as_str().unwrap_or_default().to_owned(),
        text: body.to_owned(),
        proposed: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: &str = "<p>Free shipping on all orders above Rs. 999.</p>";

    fn document(place: Place, url: &str, text: &str) -> Document {
        Document {
            place,
            url: url.to_owned(),
            text: text.to_owned(),
            proposed: None,
        }
    }

    fn page(url: &str, text: &str) -> Document {
        document(Place::Page, url, text)
    }

    fn said_of(documents: Vec<Document>, is_everywhere: bool) -> TextTerms {
        let told = StoreTexts {
            documents,
            is_everywhere,
        };
        said(&told, "INR".parse().unwrap())
    }

    fn terms(documents: Vec<Document>) -> Reading {
        match said_of(documents, false) {
            TextTerms::Terms { reading, .. } => reading,
            other => panic!("no terms: {other:?}"),
        }
    }

    fn sources(reading: &Reading) -> Vec<Option<&str>> {
        reading.facts.iter().map(|fact| fact.source_url.as_deref()).collect()
    }

    #[test]
    fn a_silent_policy_is_the_stores_word_and_pages_state_what_it_leaves_open() {
        let silent = document(Place::Policy, "p", "We ship.");
        let TextTerms::Terms { url, reading } = said_of(vec![silent, page("q", FREE)], false) else {
            panic!("a policy says something");
        };
        assert_eq!((url.as_str(), sources(&reading)), ("p", vec![Some("q")]));
        let pages = vec![page("one", "Hello."), page("two", FREE), page("three", FREE)];
        let TextTerms::Terms { url, reading } = said_of(pages, false) else {
            panic!("a page tells a fact");
        };
        assert_eq!((url.as_str(), sources(&reading)), ("two", vec![None]));
    }

    #[test]
    fn the_first_text_that_states_a_kind_counts_and_a_later_one_adds_others() {
        let later = "<p>Free shipping on all orders above Rs. 499.</p><p>Delivery takes 3-5 days.</p>";
        let reading = terms(vec![page("one", FREE), page("two", later)]);
        let stated: Vec<(ShippingFactKind, Option<i64>)> = reading
            .facts
            .iter()
            .map(|fact| (fact.kind, fact.min_order_minor))
            .collect();
        let expected = [
            (ShippingFactKind::FreeShipping, Some(99_900)),
            (ShippingFactKind::Delivery, None),
        ];
        assert_eq!(stated, expected);
    }

    #[test]
    fn a_shop_window_states_thresholds_alone_and_what_it_contradicts_is_not_known() {
        let window = |text: &str| document(Place::Shop, "/", text);
        let praise = "Free shipping on all orders above Rs. 999.\n\nDelivered in 2 days, love it!";
        let reading = terms(vec![window(praise)]);
        assert_eq!(reading.facts.len(), 1, "{reading:?}");
        let same = terms(vec![document(Place::Policy, "p", FREE), window(praise)]);
        assert_eq!(same.facts.len(), 1);
        let other = "Free shipping on all orders above Rs. 499.";
        let reading = terms(vec![document(Place::Policy, "p", FREE), window(other)]);
        assert_eq!(reading.facts, []);
        let reason = reading
            .unknown
            .iter()
            .find(|term| term.kind == ShippingFactKind::FreeShipping);
        assert_eq!(reason.unwrap().reason, UnknownReason::Contradiction);
        // Every kind is either stated or unknown, exactly once.
        assert_eq!(reading.unknown.len(), ShippingFactKind::ALL.len());
    }

    #[test]
    fn silence_is_an_answer_only_where_all_was_asked() {
        let page = || vec![page("one", "Hello.")];
        assert_eq!(said_of(page(), true), TextTerms::Nothing);
        assert_eq!(said_of(page(), false), TextTerms::Unknown);
        assert_eq!(said_of(Vec::new(), true), TextTerms::Nothing);
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
        assert_eq!(found, Some(document(Place::Policy, "https://s/p", "<p>x</p>")));
    }
}
