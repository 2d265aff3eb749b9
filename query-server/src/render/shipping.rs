use data_index::{BrandEntry, RowAddress};
use data_model::{Pincode, ShippingPolicy, Timestamp};

use super::envelope;
use super::json::{ObjectWriter, object};
use crate::served::Served;

/// Writes the members of shipping terms.
pub(crate) fn policy(object: &mut ObjectWriter<'_>, policy: &ShippingPolicy) {
    object.text("currency", policy.currency.as_str());
    terms(object, Some(policy));
}

/// Threshold, cash on delivery and rates; null and empty where nothing is known.
fn terms(object: &mut ObjectWriter<'_>, policy: Option<&ShippingPolicy>) {
    let threshold = policy.and_then(|policy| policy.free_shipping_threshold_minor);
    object.integer_or_null("free_shipping_threshold_minor", threshold);
    match policy.and_then(|policy| policy.cod_available) {
        Some(available) => object.flag("cod_available", available),
        None => object.null("cod_available"),
    }
    let tiers = policy.map_or(&[][..], |policy| &policy.tiers);
    object.array("tiers", tiers, |out, tier| {
        super::json::object(out, |object| {
            object.text("name", &tier.name);
            object.integer("amount_minor", tier.amount_minor);
            object.integer_or_null("min_order_minor", tier.min_order_minor);
            object.integer_or_null("max_order_minor", tier.max_order_minor);
            object.integer_or_null("days_min", tier.days_min);
            object.integer_or_null("days_max", tier.days_max);
        });
    });
}

/// How many days delivery takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Days {
    min: u16,
    max: u16,
}

/// The days that the terms promise whatever the rate: only when every rate states them, for which rate a buyer takes is
/// not known.
fn promised(policy: &ShippingPolicy) -> Option<Days> {
    let days = policy.tiers.iter().map(|tier| {
        Some(Days {
            min: tier.days_min?,
            max: tier.days_max?,
        })
    });
    days.reduce(|all, one| {
        let (all, one) = (all?, one?);
        Some(Days {
            min: all.min.min(one.min),
            max: all.max.max(one.max),
        })
    })?
}

/// `2026-11-21`: the day that a moment in the market's own time falls on.
pub(crate) fn date(local: Timestamp) -> String {
    local.to_string().chars().take(10).collect()
}

/// Writes the shipping of a product to a pincode; `local` is now, in the market's own time.
pub(crate) fn answer(served: &Served, at: RowAddress, pincode: Pincode, local: Timestamp) -> Vec<u8> {
    let entry: &BrandEntry = served.release.brand_of(at);
    let known = entry.facts.shipping.as_ref();
    let days = known.and_then(promised);
    let day = |days: u16| date(local.plus_millis(i64::from(days) * 86_400_000));
    let write = |out: &mut Vec<u8>| {
        object(out, |object| {
            if let Some(part) = served.release.part(at.part) {
                object.id("product_id", part.cards().id(at.row));
            }
            object.text("brand_slug", entry.facts.brand.slug.as_str());
            object.id("pincode", pincode);
            let currency = known.map_or(entry.facts.brand.currency, |policy| policy.currency);
            object.text("currency", currency.as_str());
            terms(object, known);
            object.object("delivery", |object| {
                // Whether a store delivers to a pincode is not told by its terms.
                object.null("serviceable");
                object.integer_or_null("days_min", days.map(|days| days.min));
                object.integer_or_null("days_max", days.map(|days| days.max));
                object.text_or_null("earliest_date", days.map(|days| day(days.min)).as_deref());
                object.text_or_null("latest_date", days.map(|days| day(days.max)).as_deref());
                object.null("zone");
                object.null("sampled_at");
                object.text("basis", if days.is_some() { "policy" } else { "unknown" });
            });
        });
    };
    envelope(1024, served.id_text(), write, |provenance| {
        provenance.id("refreshed_at", entry.facts.refreshed_at);
    })
}
