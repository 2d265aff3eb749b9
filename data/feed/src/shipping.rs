//! Derives the shipping cost of one item from a store's terms, if they state it.

use data_model::{Brand, Money, ShippingFact, ShippingFactKind, ShippingPolicy};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'a> {
    policy: &'a ShippingPolicy,
    country: &'a str,
}

impl<'a> Terms<'a> {
    /// Returns `None` if there are no terms or the country in which they apply is unknown.
    pub(crate) fn of(brand: &'a Brand, policy: Option<&'a ShippingPolicy>) -> Option<Self> {
        let country = brand.country.as_deref()?;
        let is_country = country.len() == 2 && country.bytes().all(|byte| byte.is_ascii_uppercase());
        let policy = policy.filter(|_| is_country)?;
        Some(Self { policy, country })
    }

    /// Returns the order value above which shipping is free for every order in the country.
    fn threshold_minor(self) -> Option<i64> {
        let Some(terms) = &self.policy.terms else {
            return self.policy.free_shipping_threshold_minor;
        };
        let facts = terms.of(ShippingFactKind::FreeShipping);
        let mut general = facts.filter(|fact| {
            fact.basis.is_rules() && fact.is_general() && is_weightless(fact) && fact.max_order_minor.is_none()
        });
        let one = general.next()?;
        // Contradictory statements are ignored.
        general.next().is_none().then_some(one.min_order_minor)?
    }

    /// Returns the threshold, such as `IN:999.00 INR`, or `None` if it is not stated or shipping is always free.
    pub(crate) fn free_shipping_threshold(self, price: Money) -> Option<String> {
        let minor = self.threshold_minor().filter(|minor| *minor > 0)?;
        Some(format!("{}:{}", self.country, self.amount(minor, price)?))
    }

    /// Returns the cost of shipping one item at this price, such as `IN:::49.00 INR`, or `None` if the cost depends on
    /// unknown facts.
    pub(crate) fn shipping(self, price: Money) -> Option<String> {
        let is_free = self.threshold_minor().is_some_and(|minor| price.minor() >= minor);
        let minor = if is_free { 0 } else { self.fee_minor(price.minor())? };
        Some(format!("{}:::{}", self.country, self.amount(minor, price)?))
    }

    /// Returns the fee if it is the same for every order of this value.
    fn fee_minor(self, order_minor: i64) -> Option<i64> {
        let terms = self.policy.terms.as_ref()?;
        let mut told = None;
        // Only facts from rules are used, because a feed cannot state how certain a fee is.
        for fact in terms.of(ShippingFactKind::Fee).filter(|fact| fact.basis.is_rules()) {
            let begins = fact.min_order_minor.is_none_or(|min| order_minor >= min);
            let ends = fact.max_order_minor.is_none_or(|max| order_minor <= max);
            if !(begins && ends) {
                continue;
            }
            // A fee range, or a fee for certain places, payments or weights, does not determine the cost of this order.
            let is_one = fact.is_general() && is_weightless(fact) && fact.amount_max_minor.is_none();
            let minor = fact.amount_minor.filter(|_| is_one)?;
            if told.is_some_and(|told| told != minor) {
                return None;
            }
            told = Some(minor);
        }
        told
    }

    fn amount(self, minor: i64, price: Money) -> Option<Money> {
        let currency = self.policy.currency;
        let is_same = currency == price.currency();
        Money::from_minor(minor, currency).ok().filter(|_| is_same)
    }
}

fn is_weightless(fact: &ShippingFact) -> bool {
    fact.min_grams.is_none() && fact.max_grams.is_none()
}
