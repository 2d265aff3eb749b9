use data_model::CurrencyCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::reading::{Reading, WatchedProduct};

/// Subject and conditions of a watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Terms {
    pub(crate) subject: Subject,
    pub(crate) conditions: Conditions,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Subject {
    Product(WatchedProduct),
    /// Products that a query finds.
    Query(String),
}

/// Conditions of a watch. Each fulfilled condition is sufficient for an event.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Conditions {
    /// The product is in stock and its price is below this amount, in minor units of `currency`.
    #[schema(required = true)]
    pub price_below: Option<i64>,
    /// Currency of `price_below`: the product's currency when the watch was created.
    #[schema(required = true, value_type = Option<String>)]
    pub currency: Option<CurrencyCode>,
    /// The product is in stock and its markdown is at least this percentage.
    #[schema(required = true, minimum = 1, maximum = 99)]
    pub discount_at_least: Option<i64>,
    /// True if an event is sent when the product is back in stock.
    pub back_in_stock: bool,
    /// True if an event is sent when the query finds a product that was first seen after the watch was created.
    pub new_match: bool,
}

/// Condition that became true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WatchReason {
    /// The price fell below `price_below`.
    PriceBelow,
    /// The markdown reached `discount_at_least`.
    DiscountAtLeast,
    /// The product is back in stock.
    BackInStock,
    /// The query found a new product.
    NewMatch,
    /// The owner requested a test.
    Test,
}

impl Conditions {
    /// Returns for each condition if a reading satisfies it.
    fn hold(&self, reading: &Reading) -> [(bool, WatchReason); 3] {
        let price = reading.price_minor.filter(|_| reading.currency == self.currency);
        let is_below = self.price_below.zip(price).is_some_and(|(bound, price)| price < bound);
        let is_off = self
            .discount_at_least
            .is_some_and(|bound| reading.discount_pct() >= bound);
        [
            (reading.available && is_below, WatchReason::PriceBelow),
            (reading.available && is_off, WatchReason::DiscountAtLeast),
            (reading.available && self.back_in_stock, WatchReason::BackInStock),
        ]
    }

    /// Returns the conditions that are true now and were not before. A reading that is not newer makes none true.
    pub(crate) fn newly_true(&self, before: &Reading, now: &Reading) -> Vec<WatchReason> {
        if now.observed_at <= before.observed_at {
            return Vec::new();
        }
        let pairs = self.hold(before).into_iter().zip(self.hold(now));
        let new = pairs.filter(|((was, _), (is, _))| *is && !*was);
        new.map(|(_, (_, reason))| reason).collect()
    }
}

#[cfg(test)]
mod tests {
    use data_model::Timestamp;
    use proptest::prelude::*;

    use super::*;

    fn reading(second: i64, price_minor: i64, available: bool) -> Reading {
        Reading {
            observed_at: Timestamp::from_micros(second),
            price_minor: Some(price_minor),
            compare_at_minor: Some(1_000),
            currency: "INR".parse().ok(),
            available,
        }
    }

    proptest! {
        #[test]
        fn each_condition_is_told_once_each_time_that_it_becomes_true(
            steps in proptest::collection::vec((1_i64..1_000, any::<bool>()), 1..40),
            bound in 1_i64..1_000,
            percent in 1_i64..100,
        ) {
            let conditions = Conditions {
                price_below: Some(bound),
                currency: "INR".parse().ok(),
                discount_at_least: Some(percent),
                back_in_stock: true,
                new_match: false,
            };
            // This rule is independent of the code: a condition is reported if it is true and was not one step before.
            let holds = |(price, available): (i64, bool)| {
                [price < bound && available, (1_000 - price) / 10 >= percent && available, available]
            };
            let names = [WatchReason::PriceBelow, WatchReason::DiscountAtLeast, WatchReason::BackInStock];
            for (at, pair) in (0..).zip(steps.windows(2)) {
                let (before, now) = (reading(at, pair[0].0, pair[0].1), reading(at + 1, pair[1].0, pair[1].1));
                let expected: Vec<_> = names
                    .into_iter()
                    .zip(holds(pair[0]).into_iter().zip(holds(pair[1])))
                    .filter(|(_, (was, is))| *is && !*was)
                    .map(|(name, _)| name)
                    .collect();
                prop_assert_eq!(conditions.newly_true(&before, &now), expected);
                prop_assert!(conditions.newly_true(&now, &before).is_empty(), "an older reading");
                let again = Reading { observed_at: Timestamp::from_micros(at + 2), ..now.clone() };
                prop_assert!(conditions.newly_true(&now, &again).is_empty(), "nothing changed");
            }
        }
    }

    #[test]
    fn an_amount_of_another_currency_is_below_nothing() {
        let conditions = Conditions {
            price_below: Some(900),
            currency: "INR".parse().ok(),
            ..Conditions::default()
        };
        let (before, now) = (reading(1, 950, true), reading(2, 10, true));
        assert_eq!(conditions.newly_true(&before, &now), [WatchReason::PriceBelow]);
        let dollars = Reading {
            currency: "USD".parse().ok(),
            ..now
        };
        assert!(conditions.newly_true(&before, &dollars).is_empty());
    }
}
