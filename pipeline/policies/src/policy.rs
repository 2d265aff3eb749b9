//! Builds the stored shipping terms from a text's facts.

use data_model::{
    CurrencyCode, DeliveryRate, ShippingFact, ShippingFactKind, ShippingPolicy, ShippingRegion, ShippingTerms,
    Timestamp,
};

use crate::Reading;

/// Returns the shipping terms of a store from a text. The threshold applies to every order, and the rates to any order
/// in the store's country. Terms for one payment or region only are in the facts. Rates contain no days, because
/// dispatch and transit determine those.
#[must_use]
pub fn policy(
    reading: Reading,
    currency: CurrencyCode,
    source_url: Option<String>,
    observed_at: Timestamp,
) -> ShippingPolicy {
    let of = |kind: ShippingFactKind| reading.facts.iter().filter(move |fact| fact.kind == kind);
    let threshold = of(ShippingFactKind::FreeShipping).find(|fact| fact.is_general());
    let threshold = threshold.and_then(|fact| fact.min_order_minor);
    let cod =
        of(ShippingFactKind::Cod).find(|fact| fact.region.is_none_or(|region| region == ShippingRegion::Domestic));
    // A fact that depends on the order value does not apply to every order.
    let of_all = |fact: &&ShippingFact| fact.min_order_minor.is_none() && fact.max_order_minor.is_none();
    let cod_available = cod.filter(of_all).and_then(|fact| fact.is_available);
    let mut tiers: Vec<DeliveryRate> = of(ShippingFactKind::Fee)
        .filter_map(|fact| tier(fact, threshold))
        .collect();
    if let Some(from) = threshold {
        tiers.push(DeliveryRate {
            name: "Free shipping".to_owned(),
            amount_minor: 0,
            min_order_minor: Some(from).filter(|from| *from > 0),
            max_order_minor: None,
            days_min: None,
            days_max: None,
        });
    }
    ShippingPolicy {
        currency,
        free_shipping_threshold_minor: threshold,
        cod_available,
        tiers,
        terms: Some(Box::new(ShippingTerms {
            source_url,
            observed_at,
            facts: reading.facts,
            unknown: reading.unknown,
        })),
    }
}

/// Returns a rate for any order, or `None` for a price range and for a rate limited to a payment, region or weight.
fn tier(fact: &ShippingFact, threshold: Option<i64>) -> Option<DeliveryRate> {
    if !fact.is_general() || fact.amount_max_minor.is_some() || fact.max_grams.is_some() {
        return None;
    }
    Some(DeliveryRate {
        name: "Standard".to_owned(),
        amount_minor: fact.amount_minor?,
        min_order_minor: fact.min_order_minor,
        max_order_minor: fact
            .max_order_minor
            .or(threshold.filter(|from| *from > 0).map(|from| from - 1)),
        days_min: None,
        days_max: None,
    })
}
