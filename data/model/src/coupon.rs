use serde::{Deserialize, Serialize};

use crate::{CurrencyCode, ProductId, Timestamp, VariantId};

/// The origins of a code that is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CouponSource {
    /// It applied to a cart of this store before, and nothing else tells of it now.
    WorkedBefore,
    /// The store's front page states it.
    Announcement,
    /// A policy of the store states it.
    Policy,
    /// The product's own description states it.
    Product,
    /// Many stores have it.
    Common,
    /// It is made of the brand's name, as many are.
    BrandPattern,
}

impl CouponSource {
    /// All origins, as answers spell them.
    pub const NAMES: [&'static str; 6] = [
        "worked_before",
        "announcement",
        "policy",
        "product",
        "common",
        "brand_pattern",
    ];
}

/// A store's verdict on a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CouponVerdict {
    /// It applies.
    Applicable(CouponEffect),
    /// It does not apply to this cart.
    NotApplicable,
    /// The store has no such code.
    UnknownCode,
}

/// The effect of a code on a cart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CouponEffect {
    /// The sort of discount.
    pub kind: CouponKind,
    /// The amount that it takes off.
    pub discount_minor: i64,
    /// The price of the item before.
    pub subtotal_minor: i64,
    /// The price of the cart with it.
    pub total_minor: i64,
    /// The currency of the amounts.
    pub currency: CurrencyCode,
}

impl CouponEffect {
    /// The share of the price that a percentage takes off, rounded to a whole percent; `None` of other kinds.
    #[must_use]
    pub fn percent(&self) -> Option<u8> {
        let is_share = self.kind == CouponKind::Percentage && self.subtotal_minor > 0;
        let (discount, subtotal) = (i128::from(self.discount_minor), i128::from(self.subtotal_minor));
        let percent = is_share.then(|| (discount * 200 + subtotal) / (subtotal * 2))?;
        u8::try_from(percent).ok().filter(|percent| (1..=100).contains(percent))
    }
}

/// The sort of discount that a code gives, as far as the store's arithmetic tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CouponKind {
    /// A share of the price.
    Percentage,
    /// An amount.
    Fixed,
    /// It makes delivery cheaper.
    Shipping,
    /// The store and its arithmetic do not tell.
    Unknown,
}

impl CouponKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Percentage, Self::Fixed, Self::Shipping, Self::Unknown];

    /// The kind in one word, as answers and the state write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Percentage => "percentage",
            Self::Fixed => "fixed",
            Self::Shipping => "shipping",
            Self::Unknown => "unknown",
        }
    }
}

/// A code that anybody may come upon, and a store's last word on it on a cart of one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestedCode {
    /// In capital letters: the platform does not tell them from small ones.
    pub code: String,
    /// Its origin.
    pub source: CouponSource,
    /// The product that the cart was made of.
    pub product: ProductId,
    /// The variant of it.
    pub variant: VariantId,
    /// The store's word.
    pub verdict: CouponVerdict,
    /// The moment at which the store was about to be asked.
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
