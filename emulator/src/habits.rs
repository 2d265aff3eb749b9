//! Shipping habits of stores in a varied Indian market: delivery rates, cash on delivery, and the rules that the
//! shipping policy states. Everything that a policy states is true of the cart, but the cart has rules that the policy
//! does not state.

use serde::Serialize;

use crate::generated::dice::Dice;
use crate::zones::{ZoneKind, ZoneQuote, ZoneRules};

/// The true shipping rules of one store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShippingHabits {
    /// Rates by destination and weight.
    pub rules: ZoneRules,
    /// The store's fee, in percent of the fee in the rules.
    pub fee_percent: u64,
    /// Order value from which standard shipping is free.
    pub free_from_minor: Option<u64>,
    /// Number of days added to the delivery days of the rules.
    pub days_more: u16,
    /// True if the titles of the rates state the delivery days.
    pub has_days_at_rates: bool,
    /// Rules for cash on delivery.
    pub cash: CashHabits,
    /// The subjects that the store's policy covers; `None` if it has no policy.
    pub says: Option<PolicySays>,
    /// Number that selects the wording of the policy.
    wording: u64,
}

/// Rules for cash on delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CashHabits {
    /// True if the store offers cash on delivery.
    pub is_offered: bool,
    /// Maximum order value for cash on delivery.
    pub max_order_minor: Option<u64>,
    /// Fee for cash on delivery.
    pub fee_minor: Option<u64>,
}

/// The subjects that a policy covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PolicySays {
    /// True if the policy states the fee and the order value from which shipping is free.
    pub has_fee: bool,
    /// True if the policy mentions cash on delivery.
    pub has_cash: bool,
    /// True if the policy states the delivery days.
    pub has_days: bool,
}

/// Kinds of rules with their share of stores in percent.
const KINDS: &[(u64, ZoneKind)] = &[
    (38, ZoneKind::Flat),
    (26, ZoneKind::ByState),
    (8, ZoneKind::ByWeight),
    (8, ZoneKind::ExcludedDistricts),
    (8, ZoneKind::Islands),
    (9, ZoneKind::ExpressInMetros),
    (3, ZoneKind::Hidden),
];
const FEE_PERCENT: &[u64] = &[80, 100, 100, 120, 160, 200];
const FREE_FROM: &[u64] = &[49_900, 59_900, 79_900, 99_900, 99_900, 149_900, 199_900];
const CASH_MAX: &[u64] = &[200_000, 300_000, 500_000, 1_000_000];
const CASH_FEE: &[u64] = &[2_900, 4_900, 5_000, 9_900];

/// Pincodes of large cities, whose fee is the one that a policy states.
const MAIN_CITIES: [u32; 4] = [110_001, 400_001, 560_001, 600_001];

impl ShippingHabits {
    pub(crate) fn draw(seed: u64, index: u32) -> Self {
        let mut dice = Dice::of(&[seed, 0x4841_4249, u64::from(index)]);
        let mut roll = dice.below(100);
        let kind = KINDS.iter().find(|(share, _)| {
            let is_it = roll < *share;
            roll = roll.saturating_sub(*share);
            is_it
        });
        let kind = kind.map_or(ZoneKind::Flat, |(_, kind)| *kind);
        let has_free = !matches!(kind, ZoneKind::ByWeight | ZoneKind::Hidden) && dice.chance(650);
        let is_offered = dice.chance(750);
        Self {
            rules: ZoneRules {
                kind,
                seed: dice.next(),
            },
            fee_percent: dice.pick(FEE_PERCENT),
            free_from_minor: has_free.then(|| dice.pick(FREE_FROM)),
            days_more: u16::try_from(dice.below(4)).unwrap_or(0),
            has_days_at_rates: dice.chance(700),
            cash: CashHabits {
                is_offered,
                max_order_minor: (is_offered && dice.chance(350)).then(|| dice.pick(CASH_MAX)),
                fee_minor: (is_offered && dice.chance(400)).then(|| dice.pick(CASH_FEE)),
            },
            says: dice.chance(800).then(|| PolicySays {
                has_fee: dice.chance(850),
                has_cash: dice.chance(750),
                has_days: dice.chance(850),
            }),
            wording: dice.next(),
        }
    }

    /// Returns the store's rates for goods of this value and weight, cheapest first.
    #[must_use]
    pub fn quotes(&self, pincode: u32, goods_minor: u64, grams: u64) -> Vec<ZoneQuote> {
        let mut quotes = self.rules.quotes(pincode, goods_minor, grams);
        let is_free = self.free_from_minor.is_some_and(|least| goods_minor >= least);
        for (nth, quote) in quotes.iter_mut().enumerate() {
            quote.amount_minor = self.fee(quote.amount_minor);
            if nth == 0 {
                quote.days_min += self.days_more;
                quote.days_max += self.days_more;
                quote.amount_minor = if is_free { 0 } else { quote.amount_minor };
            }
        }
        quotes
    }

    /// Returns true if the store delivers to a pincode, even if it quotes no rate.
    #[must_use]
    pub fn delivers(&self, pincode: u32) -> bool {
        self.rules.delivers(pincode)
    }

    /// Returns true if an order of this value may be paid by cash on delivery.
    #[must_use]
    pub fn takes_cash(&self, goods_minor: u64) -> bool {
        self.cash.is_offered && self.cash.max_order_minor.is_none_or(|most| goods_minor <= most)
    }

    /// Scales a fee to the store, in minor units rounded down to whole rupees.
    const fn fee(&self, amount_minor: u64) -> u64 {
        amount_minor * self.fee_percent / 10_000 * 100
    }

    /// Returns the shipping policy as HTML, or `None` if the store has none.
    pub(crate) fn policy(&self) -> Option<String> {
        let says = self.says?;
        let mut dice = Dice::of(&[self.wording]);
        let mut told = Vec::new();
        if says.has_fee {
            told.push(self.fee_in_words(&mut dice));
        }
        if says.has_days {
            told.push(self.days_in_words(&mut dice));
        }
        if says.has_cash {
            told.push(self.cash_in_words(&mut dice));
        }
        if told.is_empty() {
            told.push("We pack every order with care, and write to you when it is on its way.".to_owned());
        }
        let paragraphs = told.iter().map(|text| format!("<p>{text}</p>"));
        Some(paragraphs.collect())
    }

    fn fee_in_words(&self, dice: &mut Dice) -> String {
        let fee = MAIN_CITIES
            .iter()
            .find_map(|pincode| self.quotes(*pincode, 1, 1).first().copied());
        let fee = fee.map_or(0, |quote| quote.amount_minor / 100);
        let is_flat = matches!(self.rules.kind, ZoneKind::Flat | ZoneKind::ExcludedDistricts);
        match (self.free_from_minor.map(|free| free / 100), is_flat) {
            (Some(free), true) => match dice.below(6) {
                0 => format!(
                    "Free shipping on all orders above Rs. {free}. Rs. {fee} is charged on orders below Rs. {free}."
                ),
                1 => format!("We offer free shipping across India on orders of ₹{free} and above."),
                2 => format!("Orders under INR {free} carry a nominal shipping fee of Rs.{fee}/-."),
                3 => format!(
                    "Enjoy FREE delivery on orders over Rs. {free}/-. For orders below that we charge Rs. {fee}."
                ),
                4 => format!("Shipping is free for orders worth Rs {free} or more; else Rs {fee} is charged."),
                _ => format!(
                    "A standard shipping rate of Rs.{fee} is charged on all orders that total less than Rs. {free}/-. Above that, shipping is on us!"
                ),
            },
            (Some(free), false) => match dice.below(3) {
                0 => format!(
                    "Free shipping on all orders above Rs. {free}. Below that, charges depend on your pin code and are shown at checkout."
                ),
                1 => format!("We ship free of charge anywhere we deliver for orders of ₹{free} and above."),
                _ => format!(
                    "Shipping charges are calculated at checkout by your location. Orders of Rs. {free} and above ship free."
                ),
            },
            (None, true) => match dice.below(4) {
                0 => format!("A flat shipping fee of Rs. {fee} applies to all orders within India."),
                1 => format!("It's INR {fee} for all over India."),
                2 => format!("Delivery charges of ₹{fee} are applicable on every order."),
                _ => "Shipping charges are mentioned at the time of checkout.".to_owned(),
            },
            (None, false) => match dice.below(3) {
                0 => "Shipping charges are calculated at checkout based on the weight of your order and your location."
                    .to_owned(),
                1 => "Free shipping on orders above [X amount].".to_owned(),
                _ => "Shipping charges, if any, are shown at the time of checkout.".to_owned(),
            },
        }
    }

    fn days_in_words(&self, dice: &mut Dice) -> String {
        let (low, high) = match self.rules.kind {
            ZoneKind::ByState => (2, 9),
            ZoneKind::ByWeight => (4, 7),
            ZoneKind::ExpressInMetros => (2, 6),
            ZoneKind::Flat | ZoneKind::ByValue => (3, 5),
            ZoneKind::Islands | ZoneKind::ExcludedDistricts | ZoneKind::Hidden => (3, 6),
        };
        let (low, high) = (low + self.days_more, high + self.days_more);
        let sent = dice.pick(&["within 24 hours", "in 1-2 business days", "the same day"]);
        match dice.below(4) {
            0 => format!("Orders are dispatched {sent}. Delivery takes {low}–{high} working days."),
            1 => format!("Orders typically take {low}-{high} business days to reach you."),
            2 => format!("Please allow {low} to {high} business days for delivery after dispatch."),
            _ => format!("Orders are processed {sent}. You will receive your order within {high} business days."),
        }
    }

    fn cash_in_words(&self, dice: &mut Dice) -> String {
        let CashHabits {
            is_offered,
            max_order_minor,
            fee_minor,
        } = self.cash;
        if !is_offered {
            return dice
                .pick(&[
                    "We do not offer Cash on Delivery at the moment.",
                    "COD is not available due to the customized nature of our products.",
                    "All orders are prepaid; cash on delivery is not available.",
                ])
                .to_owned();
        }
        let fee = fee_minor.map_or(String::new(), |fee| match dice.below(2) {
            0 => format!(" A COD fee of Rs. {} is charged on Cash on Delivery orders.", fee / 100),
            _ => format!(" COD orders include a handling fee of Rs. {}.", fee / 100),
        });
        let offered = match max_order_minor.map(|most| most / 100) {
            Some(most) if dice.chance(500) => format!("COD is available on orders up to Rs. {most}."),
            Some(most) => format!("COD is not available on orders above Rs. {most}."),
            None => dice
                .pick(&[
                    "Cash on Delivery (COD) is available across India.",
                    "We accept cash on delivery for all orders.",
                    "COD option is available for all orders.",
                ])
                .to_owned(),
        };
        offered + &fee
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_market_has_stores_of_every_kind_and_policies_of_many_words() {
        let drawn: Vec<ShippingHabits> = (0..300).map(|index| ShippingHabits::draw(7, index)).collect();
        for (_, kind) in KINDS {
            assert!(drawn.iter().any(|habits| habits.rules.kind == *kind), "{kind:?}");
        }
        let policies: std::collections::BTreeSet<String> = drawn.iter().filter_map(ShippingHabits::policy).collect();
        assert!(policies.len() > 150, "{}", policies.len());
        assert!(drawn.iter().any(|habits| habits.policy().is_none()));
    }

    #[test]
    fn a_free_order_is_free_and_an_order_below_is_not() {
        let free = (0..50).map(|index| ShippingHabits::draw(7, index));
        for habits in free.filter(|habits| habits.free_from_minor.is_some()) {
            let least = habits.free_from_minor.unwrap();
            let asked = |goods| {
                habits
                    .quotes(560_001, goods, 100)
                    .first()
                    .map(|quote| quote.amount_minor)
            };
            assert_eq!(asked(least), asked(least).map(|_| 0));
            assert!(asked(least - 1).is_none_or(|amount| amount > 0), "{habits:?}");
        }
    }
}
