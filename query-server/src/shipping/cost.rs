//! Cost of an order's delivery, and the order value from which it is free. The store's text is compared with fees that
//! its cart charged. A text that contradicts them is not used.

use data_model::{Confidence, DeliveryRate, ShippingFactKind, ShippingPolicy};

use super::{Basis, Estimate, Source};

/// Currency of stores in India.
const RUPEE: &str = "INR";

/// Lowest and highest price of a product, in the currency of the rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Prices {
    pub(crate) min_minor: i64,
    pub(crate) max_minor: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) minor: i64,
    pub(crate) source: Source,
}

fn holds(rate: &DeliveryRate, value_minor: i64) -> bool {
    rate.min_order_minor.is_none_or(|min| min <= value_minor)
        && rate.max_order_minor.is_none_or(|max| value_minor <= max)
}

/// Returns the amount of the cheapest rate that applies to an order of this value.
fn cheapest(rates: &[DeliveryRate], value_minor: i64) -> Option<i64> {
    let holding = rates.iter().filter(|rate| holds(rate, value_minor));
    holding.map(|rate| rate.amount_minor).min()
}

/// Result of comparing the threshold in a store's text with observed carts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// A cart below the threshold was charged a fee, and a cart above it was not.
    Confirmed,
    /// A cart above the threshold was charged a fee, or a cart below it was not.
    Contradicted,
    /// No observed cart confirms or contradicts the text.
    Open,
}

fn verdict(rates: &[DeliveryRate], threshold_minor: i64) -> Verdict {
    let is_paid = !rates.is_empty() && rates.iter().all(|rate| rate.amount_minor > 0);
    if threshold_minor <= 0 && is_paid {
        return Verdict::Contradicted;
    }
    // The order values of observed carts are unknown if the rates have no bounds.
    let ends = rates
        .iter()
        .flat_map(|rate| [rate.min_order_minor, rate.max_order_minor]);
    let mut seen = ends
        .flatten()
        .filter_map(|value| Some((value, cheapest(rates, value)?)))
        .peekable();
    if seen.peek().is_none() {
        return Verdict::Open;
    }
    let is_as_told = |(value, amount): (i64, i64)| (value >= threshold_minor) == (amount == 0);
    match seen.all(is_as_told) {
        true if rates.iter().any(|rate| rate.amount_minor == 0) => Verdict::Confirmed,
        true => Verdict::Open,
        false => Verdict::Contradicted,
    }
}

/// Returns the order value from which shipping is free according to the store's text; `None` if observed carts
/// contradict the text.
pub(crate) fn threshold(policy: Option<&ShippingPolicy>, estimate: &Estimate<'_>) -> Option<Amount> {
    let told = Source::text(policy, &[ShippingFactKind::FreeShipping]);
    let minor = policy?.free_shipping_threshold_minor?;
    let source = match verdict(estimate.rates, minor) {
        Verdict::Confirmed if told.basis == Basis::Policy => Source {
            confidence: Confidence::High,
            ..told
        },
        Verdict::Confirmed | Verdict::Open => told,
        Verdict::Contradicted => return None,
    };
    Some(Amount { minor, source })
}

/// Returns the delivery cost of an order of only this product; `None` if there is no delivery, or if the cost is
/// unknown or depends on the variant.
pub(crate) fn cost(policy: Option<&ShippingPolicy>, estimate: &Estimate<'_>, prices: Option<Prices>) -> Option<Amount> {
    let Prices { min_minor, max_minor } = prices.filter(|prices| prices.min_minor > 0)?;
    if estimate.serviceable == Some(false) {
        return None;
    }
    let free_from = threshold(policy, estimate);
    let of = |value_minor| of_value(policy, estimate, free_from, value_minor);
    of(min_minor).filter(|amount| Some(amount) == of(max_minor).as_ref())
}

fn of_value(
    policy: Option<&ShippingPolicy>,
    estimate: &Estimate<'_>,
    free_from: Option<Amount>,
    value_minor: i64,
) -> Option<Amount> {
    let is_free = free_from.map(|free_from| value_minor >= free_from.minor);
    let Some(asked) = estimate.asked.filter(|_| !estimate.rates.is_empty()) else {
        return of_text(policy, is_free, value_minor);
    };
    if let Some(minor) = cheapest(estimate.rates, value_minor) {
        // Rates without bounds may come from orders of another value. A fee below the threshold says nothing about
        // orders above it, and vice versa.
        let is_bounded = estimate.rates.iter().any(|rate| rate.min_order_minor.is_some());
        let is_doubtful = !is_bounded && is_free == Some(minor > 0);
        return (!is_doubtful).then_some(Amount { minor, source: asked });
    }
    // Between the values of two carts with different fees, the store's text decides.
    let Some(confirmed) = free_from.filter(|free_from| free_from.source.confidence == Confidence::High) else {
        return of_text(policy, is_free, value_minor);
    };
    let ends = |rate: &DeliveryRate| [rate.min_order_minor, rate.max_order_minor];
    let neighbours = estimate.rates.iter().flat_map(ends).flatten();
    let like = neighbours.filter(|end| (*end >= confirmed.minor) == (value_minor >= confirmed.minor));
    let nearest = like.min_by_key(|end| (end - value_minor).abs())?;
    let minor = cheapest(estimate.rates, nearest)?;
    Some(Amount { minor, source: asked })
}

/// Returns the cost of an order of this value according to the text of a store in India. Other stores' texts describe
/// another country.
fn of_text(policy: Option<&ShippingPolicy>, is_free: Option<bool>, value_minor: i64) -> Option<Amount> {
    let source = Source::text(policy, &[ShippingFactKind::FreeShipping, ShippingFactKind::Fee]);
    let policy = policy.filter(|policy| policy.currency.as_str() == RUPEE)?;
    if is_free == Some(true) {
        return Some(Amount { minor: 0, source });
    }
    let mut holding = policy.tiers.iter().filter(|tier| holds(tier, value_minor));
    let only = holding.next().filter(|_| holding.next().is_none())?;
    let minor = only.amount_minor;
    Some(Amount { minor, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(amount_minor: i64, min: Option<i64>, max: Option<i64>) -> DeliveryRate {
        DeliveryRate {
            name: "Standard".to_owned(),
            amount_minor,
            min_order_minor: min,
            max_order_minor: max,
            days_min: None,
            days_max: None,
        }
    }

    #[test]
    fn carts_confirm_a_threshold_contradict_it_or_leave_it_open() {
        let by_value = [rate(4_900, Some(20_000), Some(95_000)), rate(0, Some(105_000), None)];
        assert_eq!(verdict(&by_value, 99_900), Verdict::Confirmed);
        // Carts of 95,000 and more are charged a fee, although the text states free shipping for such carts.
        assert_eq!(verdict(&by_value, 49_900), Verdict::Contradicted);
        assert_eq!(verdict(&by_value, 149_900), Verdict::Contradicted);
        assert_eq!(verdict(&[rate(4_900, None, None)], 49_900), Verdict::Open);
        assert_eq!(verdict(&[rate(4_900, None, None)], 0), Verdict::Contradicted);
        assert_eq!(verdict(&[], 49_900), Verdict::Open);
    }

    #[test]
    fn the_cheapest_rate_that_holds_for_an_order_counts() {
        let rates = [
            rate(4_900, Some(20_000), Some(95_000)),
            rate(14_900, Some(20_000), Some(95_000)),
            rate(0, Some(105_000), None),
        ];
        assert_eq!(cheapest(&rates, 30_000), Some(4_900));
        assert_eq!(cheapest(&rates, 900_000), Some(0));
        assert_eq!(cheapest(&rates, 100_000), None);
    }
}
