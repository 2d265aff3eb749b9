use data_index::{BrandEntry, RowAddress};
use data_model::{
    Confidence, DeliveryRate, Pincode, ShippingFact, ShippingFactKind, ShippingPolicy, ShippingTerms, TimeZone,
    Timestamp,
};

use super::json::{ObjectWriter, object};
use super::{Written, envelope};
use crate::holidays::Holidays;
use crate::served::Served;
use crate::shipping::cost::{Amount, Prices, cost, threshold};
use crate::shipping::{Estimate, Order, Source, cod_available};

/// Writes the members of shipping terms.
pub(crate) fn policy(object: &mut ObjectWriter<'_>, policy: &ShippingPolicy) {
    object.text("currency", policy.currency.as_str());
    let threshold = policy.free_shipping_threshold_minor;
    terms(object, Some(policy), threshold, policy.cod_available);
}

/// Threshold, cash on delivery and rates; null and empty where nothing is known.
fn terms(
    object: &mut ObjectWriter<'_>,
    policy: Option<&ShippingPolicy>,
    threshold_minor: Option<i64>,
    cod: Option<bool>,
) {
    object.integer_or_null("free_shipping_threshold_minor", threshold_minor);
    match cod {
        Some(available) => object.flag("cod_available", available),
        None => object.null("cod_available"),
    }
    let tiers = policy.map_or(&[][..], |policy| &policy.tiers);
    object.array("tiers", tiers, |out, tier| {
        super::json::object(out, |object| rate(object, tier))
    });
}

fn rate(object: &mut ObjectWriter<'_>, tier: &DeliveryRate) {
    object.text("name", &tier.name);
    object.integer("amount_minor", tier.amount_minor);
    object.integer_or_null("min_order_minor", tier.min_order_minor);
    object.integer_or_null("max_order_minor", tier.max_order_minor);
    object.integer_or_null("days_min", tier.days_min);
    object.integer_or_null("days_max", tier.days_max);
}

/// The rate of an order of this value; `None` where none holds, or more than one.
fn rate_of(policy: &ShippingPolicy, value_minor: i64) -> Option<&DeliveryRate> {
    let holds = |tier: &&DeliveryRate| {
        tier.min_order_minor.is_none_or(|min| min <= value_minor)
            && tier.max_order_minor.is_none_or(|max| value_minor <= max)
    };
    let mut holding = policy.tiers.iter().filter(holds);
    holding.next().filter(|_| holding.next().is_none())
}

/// Writes what a text says beyond the terms: for an order of this value where that matters.
fn told(
    object: &mut ObjectWriter<'_>,
    terms: Option<&ShippingTerms>,
    (value_minor, by_cod): (Option<i64>, Option<bool>),
) {
    let facts = |kind| terms.into_iter().flat_map(move |terms| terms.of(kind));
    object.array("free_shipping", facts(ShippingFactKind::FreeShipping), |out, fact| {
        super::json::object(out, |object| {
            object.integer_or_null("threshold_minor", fact.min_order_minor);
            object.text_or_null("region", fact.region.map(|region| region.as_str()));
            object.text_or_null("payment", fact.payment.map(|payment| payment.as_str()));
        });
    });
    object.object("cod", |object| cod(object, terms, (value_minor, by_cod)));
    object.text_or_null("source_url", terms.and_then(|terms| terms.source_url.as_deref()));
    object.moment_or_null("observed_at", terms.map(|terms| terms.observed_at));
    object.array(
        "evidence",
        terms.into_iter().flat_map(|terms| &terms.facts),
        |out, fact| {
            super::json::object(out, |object| {
                object.text("fact", fact.kind.as_str());
                object.text("sentence", &fact.sentence);
                let source_url = fact.source_url.as_deref();
                let source_url = source_url.or(terms.and_then(|terms| terms.source_url.as_deref()));
                object.text_or_null("source_url", source_url);
                object.text("basis", fact.basis.as_str());
            });
        },
    );
    object.array(
        "unknown",
        terms.into_iter().flat_map(|terms| &terms.unknown),
        |out, unknown| {
            super::json::object(out, |object| {
                object.text("fact", unknown.kind.as_str());
                object.text("reason", unknown.reason.as_str());
            });
        },
    );
}

fn cod(
    object: &mut ObjectWriter<'_>,
    terms: Option<&ShippingTerms>,
    (value_minor, available): (Option<i64>, Option<bool>),
) {
    let first = |kind: ShippingFactKind| {
        let mut facts = terms.into_iter().flat_map(move |terms| terms.of(kind));
        facts.find(|fact| fact.region.is_none())
    };
    let said = first(ShippingFactKind::Cod);
    let holds = |fact: &ShippingFact, value: i64| {
        fact.min_order_minor.is_none_or(|min| min <= value) && fact.max_order_minor.is_none_or(|max| value <= max)
    };
    match available {
        Some(available) => object.flag("available", available),
        None => object.null("available"),
    }
    let fee = first(ShippingFactKind::CodFee);
    let fee = fee.filter(|fact| value_minor.is_some_and(|value| holds(fact, value)) && fact.amount_max_minor.is_none());
    object.integer_or_null("fee_minor", fee.and_then(|fact| fact.amount_minor));
    object.integer_or_null("min_order_minor", said.and_then(|fact| fact.min_order_minor));
    object.integer_or_null("max_order_minor", said.and_then(|fact| fact.max_order_minor));
    let advance = first(ShippingFactKind::CodAdvance);
    object.integer_or_null("advance_percent", advance.and_then(|fact| fact.percent));
    object.integer_or_null("advance_minor", advance.and_then(|fact| fact.amount_minor));
}

/// Where each fact comes from; null for one that is not known.
struct Sources {
    serviceable: Option<Source>,
    days: Option<Source>,
    cost: Option<Source>,
    threshold: Option<Source>,
    cod: Option<Source>,
}

impl Sources {
    fn write(&self, object: &mut ObjectWriter<'_>) {
        let named = [
            ("serviceable", self.serviceable),
            ("days", self.days),
            ("cost", self.cost),
            ("free_shipping_threshold", self.threshold),
            ("cod", self.cod),
        ];
        for (name, source) in named {
            match source {
                None => object.null(name),
                Some(source) => object.object(name, |object| {
                    object.text("basis", source.basis.as_str());
                    object.text("confidence", source.confidence.as_str());
                    object.moment_or_null("at", source.at);
                }),
            }
        }
    }
}

/// `2026-11-21`: the day that a moment in the market's own time falls on.
pub(crate) fn date(local: Timestamp) -> String {
    local.to_string().chars().take(10).collect()
}

/// Writes delivery to the pincode.
fn estimated(object: &mut ObjectWriter<'_>, delivery: &Estimate<'_>, cost_minor: Option<i64>, order: &Order<'_>) {
    let local = order.now.plus_millis(order.market.ahead_ms(order.now));
    let day = |days: Option<u16>| days.map(|days| date(local.plus_millis(i64::from(days) * 86_400_000)));
    let days = delivery.days.unwrap_or_default();
    object.flag_or_null("serviceable", delivery.serviceable);
    object.integer_or_null("days_min", days.min);
    object.integer_or_null("days_max", days.max);
    object.integer_or_null("cost_minor", cost_minor);
    object.text_or_null("earliest_date", day(days.min).as_deref());
    object.text_or_null("latest_date", day(days.max).as_deref());
    object.text("time_zone", order.market.name());
    object.text("store_time_zone", order.time_zone().name());
    object.text_or_null("zone", delivery.zone);
    object.moment_or_null("sampled_at", delivery.sampled_at);
    object.text("basis", delivery.basis.as_str());
    object.text_or_null("confidence", delivery.confidence.map(Confidence::as_str));
    object.array("rates", delivery.rates, |out, one| {
        super::json::object(out, |object| rate(object, one));
    });
}

/// Writes the shipping of a product to a pincode, for an order of now.
pub(crate) fn answer(
    served: &Served,
    at: RowAddress,
    pincode: Pincode,
    (now, market, holidays): (Timestamp, TimeZone, &Holidays),
) -> Written {
    let entry: &BrandEntry = served.release.brand_of(at);
    let known = entry.facts.shipping.as_ref();
    let matrix = served
        .release
        .brand_index(&entry.facts.brand.store)
        .and_then(|brand| served.release.delivery(brand));
    let said = known.and_then(|policy| policy.terms.as_deref());
    let order = Order {
        now,
        market,
        country: entry.facts.brand.country.as_deref(),
        holidays,
    };
    let delivery = Estimate::at(matrix, known, pincode, order);
    let prices = served.release.part(at.part).and_then(|part| {
        let (cards, currency) = (part.cards(), known.map(|policy| policy.currency));
        let prices = (cards.price_min_minor(at.row), cards.price_max_minor(at.row));
        (currency == Some(entry.facts.brand.currency)).then_some(prices)
    });
    // Variants of several prices may be of several rates.
    let value = prices.and_then(|(min, max)| (min == max).then_some(min));
    let by_cod = known.and_then(|policy| cod_available(policy, prices));
    let cards = served.release.part(at.part).map(data_index::Part::cards);
    let own = cards.filter(|cards| cards.currency(at.row) == entry.facts.brand.currency);
    let own = own.map(|cards| Prices {
        min_minor: cards.price_min_minor(at.row),
        max_minor: cards.price_max_minor(at.row),
    });
    let (cost, free_from) = (cost(known, &delivery, own), threshold(known, &delivery));
    let source = |amount: Amount| amount.source;
    let sources = Sources {
        serviceable: delivery.asked.filter(|_| delivery.serviceable.is_some()),
        days: delivery.days_from,
        cost: cost.map(source),
        threshold: free_from.map(source),
        cod: by_cod.map(|_| Source::text(known, &[ShippingFactKind::Cod])),
    };
    let write = |out: &mut Vec<u8>| {
        object(out, |object| {
            if let Some(part) = served.release.part(at.part) {
                object.id("product_id", part.cards().id(at.row));
            }
            object.text("brand_slug", entry.facts.brand.slug.as_str());
            object.id("pincode", pincode);
            let currency = known.map_or(entry.facts.brand.currency, |policy| policy.currency);
            object.text("currency", currency.as_str());
            terms(object, known, free_from.map(|amount| amount.minor), by_cod);
            match known.zip(value).and_then(|(policy, value)| rate_of(policy, value)) {
                Some(tier) => object.object("tier", |object| rate(object, tier)),
                None => object.null("tier"),
            }
            told(object, said, (value, by_cod));
            object.object("delivery", |object| {
                estimated(object, &delivery, cost.map(|amount| amount.minor), &order);
            });
            object.object("sources", |object| sources.write(object));
        });
    };
    envelope(1024, served.id_text(), write, |provenance| {
        provenance.id("refreshed_at", entry.facts.refreshed_at);
    })
}
