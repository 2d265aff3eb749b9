//! Delivery rates of a store by destination and cart value.

use crate::cart::Place;
use crate::generated::dice::{fold, fold_bytes};
use crate::money::exponent;
use crate::shop::Shop;
use crate::terms::{DeliveryDays, Terms, shipping_terms};
use crate::zones::ZoneQuote;

/// Prefixes of pincodes in remote areas, to which a third of stores in India do not deliver.
const REMOTE: &[&str] = &["19", "73", "74", "78", "79"];

/// Delivery option for a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) handle: String,
    pub(crate) title: &'static str,
    pub(crate) description: Option<String>,
    pub(crate) cost_minor: u64,
}

/// True if the store sells to a country.
pub(super) fn serves(shop: &Shop, country: &str) -> bool {
    match shop
        .catalogue
        .fact("ships_to_countries")
        .and_then(serde_json::Value::as_array)
    {
        Some(listed) => listed.iter().any(|code| code == country || code == "*"),
        None => home(shop) == country,
    }
}

pub(super) fn home(shop: &Shop) -> &str {
    let recorded = shop.catalogue.fact("country").and_then(serde_json::Value::as_str);
    recorded.unwrap_or(shop.catalogue.persona().coin.country)
}

/// Returns the delivery options for goods of this value, the cheapest first. The list is empty if the store does not
/// deliver there.
pub(crate) fn rates(shop: &Shop, goods_minor: u64, grams: u64, place: &Place) -> Vec<Rate> {
    let country = place.country.as_deref().unwrap_or_default();
    let pincode = place.zip.as_deref().and_then(|zip| zip.trim().parse().ok());
    let quotes = match (shop.zone_rules(), &shop.habits) {
        (Some(rules), _) => Some(pincode.map_or(Vec::new(), |pincode| rules.quotes(pincode, goods_minor, grams))),
        (None, Some(habits)) => Some(pincode.map_or(Vec::new(), |pincode| habits.quotes(pincode, goods_minor, grams))),
        (None, None) => None,
    };
    if let Some(quotes) = quotes.filter(|_| country == "IN") {
        return quotes.iter().map(|quote| of_rules(shop, quote)).collect();
    }
    let persona = shop.catalogue.persona();
    let is_far = place
        .zip
        .as_deref()
        .is_some_and(|zip| REMOTE.iter().any(|area| zip.starts_with(area)));
    let goes_far = !persona.shop_id().is_multiple_of(3);
    if !serves(shop, country) || (country == "IN" && is_far && !goes_far) {
        return Vec::new();
    }
    let Terms { free_above, fee, days } = shipping_terms(persona);
    let unit = 10_u64.pow(exponent(persona.coin.code));
    let of_rupees = |rupees: u64| match persona.coin.code {
        "INR" => rupees * unit,
        _ => persona.coin.price_minor(rupees),
    };
    let is_free = free_above.is_some_and(|least| goods_minor >= least * unit);
    let standard = if is_free { 0 } else { of_rupees(fee) };
    let mut rates = vec![
        rate(shop, "Standard", standard, days),
        rate(
            shop,
            "Express",
            of_rupees(fee + 100),
            DeliveryDays { fewest: 1, most: 2 },
        ),
    ];
    rates.sort_by_key(|rate| rate.cost_minor);
    rates
}

/// Builds a rate from a quote of the pincode rules. The rate's texts state the days, except in stores that never do.
fn of_rules(shop: &Shop, quote: &ZoneQuote) -> Rate {
    let (fewest, most) = (quote.days_min, quote.days_max);
    let stated = DeliveryDays {
        fewest: u64::from(fewest),
        most: u64::from(most),
    };
    let has_days = shop.habits.as_ref().is_none_or(|habits| habits.has_days_at_rates);
    Rate {
        description: has_days.then(|| format!("{fewest} to {most} business days")),
        ..rate(shop, quote.title, quote.amount_minor, stated)
    }
}

fn rate(shop: &Shop, title: &'static str, cost_minor: u64, days: DeliveryDays) -> Rate {
    let shop_id = shop.catalogue.persona().shop_id();
    let mark = [
        shop_id.wrapping_add(shop.renewals()),
        fold_bytes(title.as_bytes()),
        cost_minor,
    ];
    Rate {
        handle: format!("{:016x}{:016x}", fold(&mark), fold(&[fold(&mark)])),
        title,
        // Most merchants write no description.
        description: shop_id
            .is_multiple_of(2)
            .then(|| format!("{} to {} business days", days.fewest, days.most)),
        cost_minor,
    }
}
