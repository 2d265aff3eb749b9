//! How long delivery of a brand's products to a pincode takes, as far as it is known: from what the store answered for
//! that pincode, else from what it answered for others of the same zone, else from its terms. What is not known stays so.

use data_index::{DeliveryMatrix, DeliveryRef};
use data_model::{Pincode, ShippingPolicy, Timestamp};

/// What an estimate follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    Pincode,
    Zone,
    Policy,
    Unknown,
}

impl Basis {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Pincode => "pincode",
            Self::Zone => "zone",
            Self::Policy => "policy",
            Self::Unknown => "unknown",
        }
    }
}

/// What is known of delivery to a pincode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Estimate<'a> {
    pub(crate) serviceable: Option<bool>,
    pub(crate) days: Option<Days>,
    pub(crate) zone: Option<&'a str>,
    pub(crate) sampled_at: Option<Timestamp>,
    pub(crate) basis: Basis,
}

/// How many days delivery takes; a bound that is not known is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Days {
    pub(crate) min: Option<u16>,
    pub(crate) max: Option<u16>,
}

impl Days {
    /// `None` where neither is stated, or where they contradict each other.
    fn stated(min: Option<u16>, max: Option<u16>) -> Option<Self> {
        let known = min.is_some() || max.is_some();
        let contrary = min.zip(max).is_some_and(|(min, max)| min > max);
        (known && !contrary).then_some(Self { min, max })
    }

    fn widest(self, other: Self) -> Self {
        Self {
            min: self.min.zip(other.min).map(|(one, other)| one.min(other)),
            max: self.max.zip(other.max).map(|(one, other)| one.max(other)),
        }
    }
}

impl<'a> Estimate<'a> {
    pub(crate) fn of(matrix: Option<&'a DeliveryMatrix>, policy: Option<&ShippingPolicy>, pincode: Pincode) -> Self {
        let asked = matrix.and_then(|matrix| matrix.get(pincode)).map(Self::asked);
        asked
            .or_else(|| Self::of_zone(matrix?, pincode))
            .unwrap_or_else(|| Self::promised(policy))
    }

    /// What the store answered for the pincode itself.
    fn asked(answered: DeliveryRef<'a>) -> Self {
        let days = Days::stated(answered.days_min, answered.days_max);
        Self {
            serviceable: answered.serviceable,
            days: days.filter(|_| answered.serviceable != Some(false)),
            zone: answered.zone,
            sampled_at: Some(answered.sampled_at),
            basis: Basis::Pincode,
        }
    }

    /// What the store answered for other pincodes of the sorting district, where they are all of one zone. Whether it
    /// delivers to this one does not follow.
    fn of_zone(matrix: &'a DeliveryMatrix, pincode: Pincode) -> Option<Self> {
        let mut answered = matrix.district(pincode);
        let zone = answered.next()?.zone?;
        if answered.any(|one| one.zone != Some(zone)) {
            return None;
        }
        let days = matrix
            .district(pincode)
            // Days to where it does not deliver tell nothing.
            .filter(|one| one.serviceable != Some(false))
            .filter_map(|one| Days::stated(one.days_min, one.days_max))
            .reduce(Days::widest)?;
        Some(Self {
            serviceable: None,
            days: Some(days),
            zone: Some(zone),
            sampled_at: matrix.district(pincode).map(|one| one.sampled_at).min(),
            basis: Basis::Zone,
        })
    }

    /// The days that the terms promise whatever the rate: only when every rate states them, for which rate a buyer takes
    /// is not known.
    fn promised(policy: Option<&ShippingPolicy>) -> Self {
        let days = policy.map_or(&[][..], |policy| &policy.tiers).iter().map(|tier| {
            Some(Days {
                min: Some(tier.days_min?),
                max: Some(tier.days_max?),
            })
        });
        let days = days.reduce(|all, one| Some(all?.widest(one?))).flatten();
        Self {
            serviceable: None,
            days,
            zone: None,
            sampled_at: None,
            basis: if days.is_some() { Basis::Policy } else { Basis::Unknown },
        }
    }
}
