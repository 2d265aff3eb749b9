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
    pub(crate) days_min: Option<u16>,
    pub(crate) days_max: Option<u16>,
    pub(crate) zone: Option<&'a str>,
    pub(crate) sampled_at: Option<Timestamp>,
    pub(crate) basis: Basis,
}

impl<'a> Estimate<'a> {
    pub(crate) fn of(
        matrix: Option<&'a DeliveryMatrix>,
        policy: Option<&ShippingPolicy>,
        pincode: Pincode,
    ) -> Self {
        let sampled = matrix.and_then(|matrix| Self::sampled(matrix.get(pincode)?).or_else(|| Self::of_zone(matrix, pincode)));
        sampled.unwrap_or_else(|| Self::promised(policy))
    }
}
