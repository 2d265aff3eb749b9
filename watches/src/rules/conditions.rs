use data_model::CurrencyCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::reading::{Reading, WatchedProduct};

/// The things that a watch waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Terms {
    /// The subject.
    pub(crate) subject: Subject,
    /// The conditions.
    pub(crate) conditions: Conditions,
}

/// The subject of a watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Subject {
    /// A product.
    Product(WatchedProduct),
    /// The products that a search finds.
    Query(String),
}

/// The conditions of a watch: any one of them is enough.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Conditions {
    /// The price is below this, in minor units of `currency`, and it is in stock.
    #[schema(required = true)]
    pub price_below: Option<i64>,
    /// The currency of `price_below`, that of the product when the watch was made.
    #[schema(required = true, value_type = Option<String>)]
    pub currency: Option<CurrencyCode>,
    /// The markdown is at least so many percent, and it is in stock.
    #[schema(required = true, minimum = 1, maximum = 99)]
    pub discount_at_least: Option<i64>,
    /// It is in stock.
    pub back_in_stock: bool,
    /// A product that the query finds was first seen.
    pub new_match: bool,
}

/// The condition that became true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WatchReason {
    /// The price fell below the one that the watch names.
    PriceBelow,
    /// The markdown reached the one that the watch names.
    DiscountAtLeast,
    /// It is in stock again.
    BackInStock,
    /// A product that the query finds is new.
    NewMatch,
    /// The owner asked for a test.
    Test,
}

impl Conditions {
    /// The conditions that hold of a reading.
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

    /// The conditions that hold now and did not before. An older reading, and one of the same moment, tell nothing new.
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
            // Written apart: a condition is told where it holds and did not a step before.
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
