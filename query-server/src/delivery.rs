//! Delivery to a pincode for lists: the delivery facts on a card, and the set of brands that deliver by a date.
//!
//! Input: a release, the destination, and the day of the request. Output: the facts of a card, and the brands that a
//! search may return. [`Estimate`] determines the known facts of a brand's delivery. Brands with unknown delivery are
//! left out.

use std::sync::Arc;

use data_index::{Release, RowAddress};
use data_model::{CurrencyCode, ShippingPolicy, TimeZone, Timestamp};
use search::DeliveryTo;

use crate::holidays::Holidays;
use crate::served::ReleaseView;
use crate::shipping::cost::{Prices, cost, threshold};
use crate::shipping::{Basis, Days, Estimate, Order, cod_available};

/// Pincode, latest delivery date and local time of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Destination {
    to: DeliveryTo,
    today: i64,
    now: Timestamp,
    market: TimeZone,
    local: Timestamp,
    holidays: Arc<Holidays>,
}

/// Validity of an answer about delivery: a quarter of an hour. Promised days depend on the time of day of the order.
const QUARTER_MICROS: i64 = 900_000_000;

/// Delivery facts of a card; `None` if unknown. If the store does not deliver there, the other facts are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CardDelivery {
    pub(crate) days: Days,
    pub(crate) serviceable: Option<bool>,
    pub(crate) cod: Option<bool>,
    pub(crate) free_shipping: Option<bool>,
}

impl Destination {
    pub(crate) fn new(to: DeliveryTo, now: Timestamp, market: TimeZone, holidays: Arc<Holidays>) -> Self {
        Self {
            to,
            today: market.day(now),
            now,
            market,
            local: now.plus_millis(market.ahead_ms(now)),
            holidays,
        }
    }

    /// Returns the delivery time in the form in which entity tags contain it.
    pub(crate) const fn stamp(&self) -> [u8; 8] {
        stamp(self.local)
    }

    /// Returns the key of a list with this delivery for the cache. With a date filter, the key includes the day of the
    /// request.
    pub(crate) fn list_key(&self) -> String {
        let DeliveryTo { pincode, by } = self.to;
        let today = by.map(|_| self.today);
        format!("{pincode} {by:?} {today:?}")
    }

    /// Returns for each brand in [`Release::brands`] if it is known to deliver by the date; `None` without a date.
    /// Delivery does not depend on the product, so each brand is estimated once.
    pub(crate) fn brands_in_time(&self, served: &ReleaseView) -> Option<Vec<bool>> {
        let by = self.to.by?;
        let release = &served.release;
        let days = served.reach.of((self.to.pincode, self.stamp()), || {
            let brands = 0..release.brands().len();
            brands.map(|brand| self.most_days(release, brand)).collect()
        });
        let days_left = by.since_epoch() - self.today;
        let is_in_time = |days: &Option<u16>| days.is_some_and(|days| i64::from(days) <= days_left);
        Some(days.iter().map(is_in_time).collect())
    }

    /// Returns the maximum number of days until delivery; `None` if it is unknown or the brand does not deliver there.
    fn most_days(&self, release: &Release, brand: usize) -> Option<u16> {
        let estimate = self.estimate(release, brand)?;
        let days = estimate.days.filter(|_| estimate.serviceable != Some(false));
        days?.max
    }

    fn estimate<'a>(&self, release: &'a Release, brand: usize) -> Option<Estimate<'a>> {
        let known = &release.brands().get(brand)?.facts;
        let order = Order {
            now: self.now,
            market: self.market,
            country: known.brand.country.as_deref(),
            holidays: &self.holidays,
        };
        Some(Estimate::at(
            release.delivery(brand),
            known.shipping.as_ref(),
            self.to.pincode,
            order,
        ))
    }

    pub(crate) fn of_product(&self, release: &Release, at: RowAddress) -> CardDelivery {
        let Some(part) = release.part(at.part) else {
            return CardDelivery::default();
        };
        let brand = part.brand_index(at.row);
        let Some(estimate) = self.estimate(release, brand) else {
            return CardDelivery::default();
        };
        if estimate.serviceable == Some(false) {
            return CardDelivery {
                serviceable: Some(false),
                ..CardDelivery::default()
            };
        }
        let policy = release.brand_of(at).facts.shipping.as_ref();
        let cards = part.cards();
        let prices = Prices {
            min_minor: cards.price_min_minor(at.row),
            max_minor: cards.price_max_minor(at.row),
        };
        let is_own = cards.currency(at.row) == release.brand_of(at).facts.brand.currency;
        let own_prices = is_own.then_some(prices);
        // The store's text may state a fee in one sentence and a free-shipping threshold in another. Only observed
        // carts prove that an order is not free.
        let asked = cost(policy, &estimate, own_prices).filter(|amount| amount.source.basis != Basis::Policy);
        let free_from = threshold(policy, &estimate);
        let told = policy.filter(|_| free_from.is_some());
        let told = told.and_then(|policy| free_shipping(policy, cards.currency(at.row), prices));
        CardDelivery {
            days: estimate.days.unwrap_or_default(),
            serviceable: estimate.serviceable,
            cod: policy.and_then(|policy| {
                let is_of_it = cards.currency(at.row) == policy.currency;
                cod_available(policy, is_of_it.then_some(prices))
            }),
            free_shipping: asked.map(|amount| amount.minor == 0).or(told),
        }
    }
}

/// Returns the day and the quarter of an hour of a local time. Answers about delivery have it in their entity tags.
pub(crate) const fn stamp(local: Timestamp) -> [u8; 8] {
    local.micros().div_euclid(QUARTER_MICROS).to_le_bytes()
}

/// True if an order of only this product ships free. Returns `None` without a price, with another currency, or if the
/// threshold lies between the prices of the variants.
fn free_shipping(policy: &ShippingPolicy, currency: CurrencyCode, prices: Prices) -> Option<bool> {
    let Prices { min_minor, max_minor } = prices;
    let threshold = policy.free_shipping_threshold_minor?;
    if threshold <= 0 {
        return Some(true);
    }
    if min_minor <= 0 || currency != policy.currency {
        return None;
    }
    if min_minor >= threshold {
        return Some(true);
    }
    (max_minor < threshold).then_some(false)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn shipping_is_free_where_every_variant_reaches_the_threshold() {
        let inr = "INR".parse().unwrap();
        let policy = |threshold: Option<i64>| -> ShippingPolicy {
            let terms = json!({ "currency": "INR", "free_shipping_threshold_minor": threshold, "cod_available": null, "tiers": [] });
            serde_json::from_value(terms).unwrap()
        };
        let prices = |min_minor, max_minor| Prices { min_minor, max_minor };
        let told = |threshold, (min, max)| free_shipping(&policy(threshold), inr, prices(min, max));
        assert_eq!(told(Some(49_900), (49_900, 49_900)), Some(true));
        assert_eq!(told(Some(49_900), (10_000, 49_899)), Some(false));
        // Only some variants reach the threshold.
        assert_eq!(told(Some(49_900), (10_000, 60_000)), None);
        // The answer is unknown without a price, without terms, and with different currencies.
        assert_eq!(told(Some(49_900), (0, 0)), None);
        assert_eq!(told(None, (49_900, 49_900)), None);
        let dollars = "USD".parse().unwrap();
        assert_eq!(free_shipping(&policy(Some(100)), dollars, prices(900, 900)), None);
        assert_eq!(free_shipping(&policy(Some(0)), dollars, prices(0, 0)), Some(true));
    }
}
