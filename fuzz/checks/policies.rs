//! Parses any bytes as a store's answer about its policies, or as a page about shipping.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeMap;

use data_model::{Timestamp, read_store_json};
use pipeline_policies::{policy, read};

/// Answer of the form `{"shop": {"shippingPolicy": {"body": …, "url": …}}}`.
type Answer = BTreeMap<String, BTreeMap<String, BTreeMap<String, Option<String>>>>;

pub(crate) fn check(bytes: &[u8]) {
    let answer = read_store_json::<Answer>(bytes).ok();
    let body = answer.and_then(|answer| answer.get("shop")?.get("shippingPolicy")?.get("body")?.clone());
    let text = body.unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned());
    for currency in ["INR", "KWD", "JPY"] {
        let currency = currency.parse().unwrap();
        let reading = read(&text, currency);
        for fact in &reading.facts {
            assert!(
                !fact.sentence.is_empty() && fact.sentence.len() <= text.len() * 3,
                "{fact:?}"
            );
            assert!(
                fact.days_min.zip(fact.days_max).is_none_or(|(min, max)| min <= max),
                "{fact:?}"
            );
            assert!(fact.amount_minor.is_none_or(|amount| amount >= 0), "{fact:?}");
            let orders = fact.min_order_minor.zip(fact.max_order_minor);
            assert!(orders.is_none_or(|(min, max)| min <= max), "{fact:?}");
        }
        for (nth, unknown) in reading.unknown.iter().enumerate() {
            let is_told = reading.facts.iter().any(|fact| fact.kind == unknown.kind);
            let is_again = reading.unknown[..nth].iter().any(|before| before.kind == unknown.kind);
            assert!(!is_told && !is_again, "{unknown:?}");
        }
        let terms = policy(reading, currency, None, Timestamp::from_micros(0));
        assert!(
            terms.tiers.iter().all(|tier| tier.amount_minor >= 0),
            "{:?}",
            terms.tiers
        );
    }
}
