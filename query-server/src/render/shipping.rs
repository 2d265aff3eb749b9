use data_index::{BrandEntry, RowAddress};
use data_model::{Pincode, ShippingPolicy, Timestamp};

use super::json::{ObjectWriter, object};
use super::{Written, envelope};
use crate::served::Served;
use crate::shipping::Estimate;

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

/// `2026-11-21`: the day that a moment in the market's own time falls on.
pub(crate) fn date(local: Timestamp) -> String {
    local.to_string().chars().take(10).collect()
}

/// Writes the shipping of a product to a pincode; `local` is now, in the market's own time.
pub(crate) fn answer(served: &Served, at: RowAddress, pincode: Pincode, local: Timestamp) -> Written {
    let entry: &BrandEntry = served.release.brand_of(at);
    let known = entry.facts.shipping.as_ref();
    let matrix = served
        .release
        .brand_index(&entry.facts.brand.store)
        .and_then(|brand| served.release.delivery(brand));
    let delivery = Estimate::of(matrix, known, pincode);
    let (least, most) = (
        delivery.days.and_then(|days| days.min),
        delivery.days.and_then(|days| days.max),
    );
    let day = |days: Option<u16>| days.map(|days| date(local.plus_millis(i64::from(days) * 86_400_000)));
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
                match delivery.serviceable {
                    Some(serviceable) => object.flag("serviceable", serviceable),
                    None => object.null("serviceable"),
                }
                object.integer_or_null("days_min", least);
                object.integer_or_null("days_max", most);
                object.text_or_null("earliest_date", day(least).as_deref());
                object.text_or_null("latest_date", day(most).as_deref());
                object.text_or_null("zone", delivery.zone);
                object.moment_or_null("sampled_at", delivery.sampled_at);
                object.text("basis", delivery.basis.as_str());
            });
        });
    };
    envelope(1024, served.id_text(), write, |provenance| {
        provenance.id("refreshed_at", entry.facts.refreshed_at);
    })
}
