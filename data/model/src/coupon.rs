use serde::{Deserialize, Serialize};

use crate::{CurrencyCode, ProductId, Timestamp, VariantId};

/// Origin of a discount code that is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CouponSource {
    /// The code applied to a cart of this store before. No current source mentions it.
    WorkedBefore,
    /// The store's front page states the code.
    Announcement,
    /// A policy of the store states the code.
    Policy,
    /// The product's description states the code.
    Product,
    /// The code is common to many stores.
    Common,
    /// The code is generated from the brand's name, as many codes are.
    BrandPattern,
}

impl CouponSource {
    /// Names of all origins, as API responses spell them.
    pub const NAMES: [&'static str; 6] = [
        "worked_before",
        "announcement",
        "policy",
        "product",
        "common",
        "brand_pattern",
    ];
}

/// A store's verdict on a discount code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CouponVerdict {
    /// The code applies to the cart.
    Applicable(CouponEffect),
    /// The code exists but does not apply to this cart.
    NotApplicable,
    /// The store has no such code.
    UnknownCode,
}

/// Effect of a discount code on a cart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CouponEffect {
    /// Kind of discount.
    pub kind: CouponKind,
    /// Amount that the code takes off, in minor units.
    pub discount_minor: i64,
    /// Price of the items before the discount, in minor units.
    pub subtotal_minor: i64,
    /// Price of the cart with the discount, in minor units.
    pub total_minor: i64,
    /// Currency of the amounts.
    pub currency: CurrencyCode,
}

impl CouponEffect {
    /// Returns the discount as a percentage of the price, rounded to a whole percent, or `None` for other kinds of
    /// discount.
    #[must_use]
    pub fn percent(&self) -> Option<u8> {
        let is_share = self.kind == CouponKind::Percentage && self.subtotal_minor > 0;
        let (discount, subtotal) = (i128::from(self.discount_minor), i128::from(self.subtotal_minor));
        let percent = is_share.then(|| (discount * 200 + subtotal) / (subtotal * 2))?;
        u8::try_from(percent).ok().filter(|percent| (1..=100).contains(percent))
    }
}

crate::named! {
    /// Kind of discount that a code gives, as inferred from the store's amounts.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum CouponKind {
        /// A percentage of the price.
        Percentage = "percentage",
        /// A fixed amount.
        Fixed = "fixed",
        /// Cheaper or free delivery.
        Shipping = "shipping",
        /// The store's answer and amounts do not show the kind.
        Unknown = "unknown",
    }
}

/// A publicly known discount code, with the store's latest verdict for a cart of one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestedCode {
    /// The code in uppercase, because the platform ignores case in codes.
    pub code: String,
    /// Origin of the code.
    pub source: CouponSource,
    /// Product in the test cart.
    pub product: ProductId,
    /// Variant of the product in the test cart.
    pub variant: VariantId,
    /// Verdict of the store.
    pub verdict: CouponVerdict,
    /// Time just before the query to the store.
    pub tested_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_and_kinds_are_spelt_as_they_are_written() {
        let sources = [
            CouponSource::WorkedBefore,
            CouponSource::Announcement,
            CouponSource::Policy,
            CouponSource::Product,
            CouponSource::Common,
            CouponSource::BrandPattern,
        ];
        let written = sources.map(|source| serde_json::to_value(source).unwrap());
        assert_eq!(written, CouponSource::NAMES);
        for kind in CouponKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }

    #[test]
    fn a_percentage_alone_has_a_share_of_the_price_whichever_way_the_store_rounds() {
        let effect = |kind, discount_minor, subtotal_minor| CouponEffect {
            kind,
            discount_minor,
            subtotal_minor,
            total_minor: subtotal_minor - discount_minor,
            currency: "INR".parse().unwrap(),
        };
        assert_eq!(effect(CouponKind::Percentage, 4_990, 49_900).percent(), Some(10));
        assert_eq!(effect(CouponKind::Percentage, 4_993, 49_929).percent(), Some(10));
        assert_eq!(effect(CouponKind::Percentage, 1, 49_900).percent(), None);
        assert_eq!(effect(CouponKind::Percentage, i64::MAX, 1).percent(), None);
        assert_eq!(effect(CouponKind::Percentage, 0, 0).percent(), None);
        assert_eq!(effect(CouponKind::Fixed, 4_990, 49_900).percent(), None);
    }
}
