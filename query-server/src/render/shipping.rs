use data_index::{BrandEntry, Release, RowAddress};
use data_model::{
    CurrencyCode, DeliveryRate, Pincode, ShippingFact, ShippingFactKind, ShippingPolicy, ShippingTerms, TimeZone,
    Timestamp,
};

use super::TIER;
use super::product::provenance;
use crate::holidays::Holidays;
use crate::schema::{
    BrandShipping, CashOnDelivery, Delivery, DeliveryRateSummary, FreeShipping, Shipping, ShippingAnswer,
    ShippingEvidence, ShippingSource, ShippingSources, ShippingSummary, ShippingTierSummary, ShippingUnknown,
};
use crate::served::ReleaseView;
use crate::shipping::cost::{Amount, Prices, cost, threshold};
use crate::shipping::{Estimate, Order, Source, cod_available};

pub(super) fn summary(policy: &ShippingPolicy) -> ShippingSummary<'_> {
    ShippingSummary {
        currency: policy.currency.as_str().into(),
        free_shipping_threshold_minor: policy.free_shipping_threshold_minor,
        cod_available: policy.cod_available,
        tiers: policy.tiers.iter().map(tier).collect(),
    }
}

fn tier(rate: &DeliveryRate) -> ShippingTierSummary<'_> {
    ShippingTierSummary {
        name: rate.name.as_str().into(),
        amount_minor: rate.amount_minor,
        min_order_minor: rate.min_order_minor,
        max_order_minor: rate.max_order_minor,
        days_min: rate.days_min,
        days_max: rate.days_max,
    }
}

fn asked(rate: &DeliveryRate) -> DeliveryRateSummary<'_> {
    DeliveryRateSummary {
        name: rate.name.as_str().into(),
        amount_minor: rate.amount_minor,
        min_order_minor: rate.min_order_minor,
        max_order_minor: rate.max_order_minor,
        days_min: rate.days_min,
        days_max: rate.days_max,
    }
}

/// Returns the rate of an order of this value, or `None` unless exactly one rate applies.
fn rate_of(policy: &ShippingPolicy, value_minor: i64) -> Option<&DeliveryRate> {
    let holds = |tier: &&DeliveryRate| {
        tier.min_order_minor.is_none_or(|min| min <= value_minor)
            && tier.max_order_minor.is_none_or(|max| value_minor <= max)
    };
    let mut holding = policy.tiers.iter().filter(holds);
    holding.next().filter(|_| holding.next().is_none())
}

fn free_shipping(terms: &ShippingTerms) -> Vec<FreeShipping<'_>> {
    let free = terms.of(ShippingFactKind::FreeShipping).map(|fact| FreeShipping {
        threshold_minor: fact.min_order_minor,
        region: fact.region.map(|region| region.as_str().into()),
        payment: fact.payment.map(|payment| payment.as_str().into()),
    });
    free.collect()
}

fn evidence(terms: &ShippingTerms) -> Vec<ShippingEvidence<'_>> {
    let evidence = terms.facts.iter().map(|fact| ShippingEvidence {
        fact: fact.kind.as_str().into(),
        sentence: fact.sentence.as_str().into(),
        source_url: (fact.source_url.as_deref())
            .or(terms.source_url.as_deref())
            .map(Into::into),
        basis: fact.basis.as_str().into(),
    });
    evidence.collect()
}

fn unknown(terms: &ShippingTerms) -> Vec<ShippingUnknown<'_>> {
    let unknown = terms.unknown.iter().map(|unknown| ShippingUnknown {
        fact: unknown.kind.as_str().into(),
        reason: unknown.reason.as_str().into(),
    });
    unknown.collect()
}

/// Returns the terms of cash on delivery in a text. The value matters if the text states limits.
fn cod(terms: Option<&ShippingTerms>, value_minor: Option<i64>, available: Option<bool>) -> CashOnDelivery {
    let first = |kind: ShippingFactKind| {
        let mut facts = terms.into_iter().flat_map(move |terms| terms.of(kind));
        facts.find(|fact| fact.region.is_none())
    };
    let said = first(ShippingFactKind::Cod);
    let holds = |fact: &ShippingFact, value: i64| {
        fact.min_order_minor.is_none_or(|min| min <= value) && fact.max_order_minor.is_none_or(|max| value <= max)
    };
    let fee = first(ShippingFactKind::CodFee);
    let fee = fee.filter(|fact| value_minor.is_some_and(|value| holds(fact, value)) && fact.amount_max_minor.is_none());
    let advance = first(ShippingFactKind::CodAdvance);
    CashOnDelivery {
        available,
        fee_minor: fee.and_then(|fact| fact.amount_minor),
        min_order_minor: said.and_then(|fact| fact.min_order_minor),
        max_order_minor: said.and_then(|fact| fact.max_order_minor),
        advance_percent: advance.and_then(|fact| fact.percent),
        advance_minor: advance.and_then(|fact| fact.amount_minor),
    }
}

fn source(source: Source) -> ShippingSource<'static> {
    ShippingSource {
        basis: source.basis.as_str().into(),
        confidence: source.confidence.as_str().into(),
        at: source.at,
    }
}

/// Formats the date of a local time as `2026-11-21`.
pub(crate) fn date(local: Timestamp) -> String {
    local.to_string().chars().take(10).collect()
}

fn estimated<'a>(delivery: &Estimate<'a>, cost_minor: Option<i64>, order: &Order<'_>) -> Delivery<'a> {
    let local = order.now.plus_millis(order.market.ahead_ms(order.now));
    let day = |days: u16| date(local.plus_millis(i64::from(days) * 86_400_000)).into();
    let days = delivery.days.unwrap_or_default();
    Delivery {
        serviceable: delivery.serviceable,
        days_min: days.min,
        days_max: days.max,
        cost_minor,
        earliest_date: days.min.map(day),
        latest_date: days.max.map(day),
        time_zone: order.market.name().into(),
        store_time_zone: order.time_zone().name().into(),
        zone: delivery.zone.map(Into::into),
        sampled_at: delivery.sampled_at,
        basis: delivery.basis.as_str().into(),
        confidence: delivery.confidence.map(|confidence| confidence.as_str().into()),
        rates: delivery.rates.iter().map(asked).collect(),
    }
}

/// Time of an order, with the market's time zone and holidays.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrderedIn<'a> {
    pub(crate) now: Timestamp,
    pub(crate) market: TimeZone,
    pub(crate) holidays: &'a Holidays,
}

impl<'a> OrderedIn<'a> {
    fn of(self, entry: &'a BrandEntry) -> Order<'a> {
        Order {
            now: self.now,
            market: self.market,
            country: entry.facts.brand.country.as_deref(),
            holidays: self.holidays,
        }
    }
}

fn currency(entry: &BrandEntry) -> CurrencyCode {
    let known = entry.facts.shipping.as_ref();
    known.map_or(entry.facts.brand.currency, |policy| policy.currency)
}

/// Returns the shipping of any product of a brand to a pincode, for an order placed now; `None` if the release lacks
/// the brand.
pub(crate) fn of_brand<'a>(
    release: &'a Release,
    brand: usize,
    pincode: Pincode,
    ordered: OrderedIn<'_>,
) -> Option<BrandShipping<'a>> {
    let entry = release.brands().get(brand)?;
    let known = entry.facts.shipping.as_ref();
    let order = ordered.of(entry);
    let delivery = Estimate::at(release.delivery(brand), known, pincode, order);
    Some(BrandShipping {
        brand_slug: entry.facts.brand.slug.as_str().into(),
        currency: currency(entry).as_str().into(),
        free_shipping_threshold_minor: threshold(known, &delivery).map(|amount| amount.minor),
        delivery: estimated(&delivery, None, &order),
    })
}

/// Returns the shipping of a product to a pincode, for an order placed now; `None` if the release lacks the row.
pub(crate) fn answer<'a>(
    served: &'a ReleaseView,
    at: RowAddress,
    pincode: Pincode,
    ordered: OrderedIn<'_>,
) -> Option<ShippingAnswer<'a>> {
    let entry: &BrandEntry = served.release.brand_of(at);
    let known = entry.facts.shipping.as_ref();
    let brand = served.release.brand_index(&entry.facts.brand.store);
    let said = known.and_then(|policy| policy.terms.as_deref());
    let order = ordered.of(entry);
    let matrix = brand.and_then(|brand| served.release.delivery(brand));
    let delivery = Estimate::at(matrix, known, pincode, order);
    let cards = served.release.part(at.part)?.cards();
    let is_own = known.map(|policy| policy.currency) == Some(entry.facts.brand.currency);
    let all = Prices {
        min_minor: cards.price_min_minor(at.row),
        max_minor: cards.price_max_minor(at.row),
    };
    let prices = is_own.then_some(all);
    // Variants with different prices may have different rates.
    let value = prices.and_then(|prices| (prices.min_minor == prices.max_minor).then_some(prices.min_minor));
    let by_cod = known.and_then(|policy| cod_available(policy, prices));
    let own = (cards.currency(at.row) == entry.facts.brand.currency).then_some(all);
    let (cost, free_from) = (cost(known, &delivery, own), threshold(known, &delivery));
    let rate = known.zip(value).and_then(|(policy, value)| rate_of(policy, value));
    let of_amount = |amount: Amount| source(amount.source);
    Some(ShippingAnswer {
        data: Shipping {
            product_id: cards.id(at.row),
            brand_slug: entry.facts.brand.slug.as_str().into(),
            pincode: pincode.to_string().into(),
            currency: currency(entry).as_str().into(),
            free_shipping_threshold_minor: free_from.map(|amount| amount.minor),
            cod_available: by_cod,
            tiers: known.map_or_else(Vec::new, |policy| policy.tiers.iter().map(tier).collect()),
            tier: rate.map(tier),
            free_shipping: said.map_or_else(Vec::new, free_shipping),
            cod: cod(said, value, by_cod),
            source_url: said.and_then(|terms| terms.source_url.as_deref()).map(Into::into),
            observed_at: said.map(|terms| terms.observed_at),
            evidence: said.map_or_else(Vec::new, evidence),
            unknown: said.map_or_else(Vec::new, unknown),
            delivery: estimated(&delivery, cost.map(|amount| amount.minor), &order),
            sources: ShippingSources {
                serviceable: (delivery.asked).filter(|_| delivery.serviceable.is_some()).map(source),
                days: delivery.days_from.map(source),
                cost: cost.map(of_amount),
                free_shipping_threshold: free_from.map(of_amount),
                cod: by_cod.map(|_| source(Source::text(known, &[ShippingFactKind::Cod]))),
            },
        },
        provenance: provenance(served, at),
        tier: TIER,
    })
}
