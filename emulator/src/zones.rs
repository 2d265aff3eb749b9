//! Delivery rules by pincode, of the kinds that stores in India have. A store's quotes depend only on its rules, so the
//! true quote for every pincode is known, and predictions from a few quotes can be checked.

use data_pincodes::{Area, PlaceKind, directory};
use serde::{Deserialize, Serialize};

use crate::generated::dice::{fold, fold_bytes};

/// A kind of delivery rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZoneKind {
    /// One rate for all destinations.
    Flat,
    /// Three zones, each a group of states.
    ByState,
    /// Free delivery from an order value.
    ByValue,
    /// Higher rates for heavier orders.
    ByWeight,
    /// No delivery to some districts.
    ExcludedDistricts,
    /// Slower and more expensive delivery to islands, or none.
    Islands,
    /// A second, faster rate in metros.
    ExpressInMetros,
    /// No rates before the checkout, because an app hides them. The store delivers everywhere.
    Hidden,
}

impl ZoneKind {
    /// All kinds of rules.
    pub const ALL: [Self; 8] = [
        Self::Flat,
        Self::ByState,
        Self::ByValue,
        Self::ByWeight,
        Self::ExcludedDistricts,
        Self::Islands,
        Self::ExpressInMetros,
        Self::Hidden,
    ];
}

/// The delivery rules of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneRules {
    /// The kind of these rules.
    pub kind: ZoneKind,
    /// Seed that selects the states and the excluded districts.
    pub seed: u64,
}

/// A delivery option that the rules allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneQuote {
    /// Title of the delivery option.
    pub title: &'static str,
    /// Price in minor units of the store's currency.
    pub amount_minor: u64,
    /// Minimum number of days that the delivery takes.
    pub days_min: u16,
    /// Maximum number of days that the delivery takes.
    pub days_max: u16,
}

const fn standard(amount_minor: u64, days_min: u16, days_max: u16) -> ZoneQuote {
    ZoneQuote {
        title: "Standard",
        amount_minor,
        days_min,
        days_max,
    }
}

impl ZoneRules {
    /// Returns the rates for goods of this value and weight, the cheapest first. The list is empty if the store does
    /// not deliver there or hides its rates.
    #[must_use]
    pub fn quotes(self, pincode: u32, goods_minor: u64, grams: u64) -> Vec<ZoneQuote> {
        let directory = directory();
        let area = data_model::Pincode::from_number(pincode).and_then(|pincode| directory.area(pincode));
        let Some(area) = area.and_then(|area| directory.get(area)) else {
            return Vec::new();
        };
        match self.kind {
            ZoneKind::Flat => vec![standard(4_900, 3, 5)],
            ZoneKind::ByState => {
                let zones = [standard(4_000, 2, 4), standard(7_000, 4, 6), standard(11_000, 6, 9)];
                vec![zones[usize::from(self.draw(area.state.as_deref(), 3))]]
            }
            ZoneKind::ByValue => vec![standard(if goods_minor >= 99_900 { 0 } else { 7_900 }, 3, 5)],
            ZoneKind::ByWeight => {
                let amounts = [(500, 4_000), (2_000, 9_000), (u64::MAX, 18_000)];
                let amount = amounts.iter().find(|(most, _)| grams <= *most);
                amount.map_or(Vec::new(), |(_, amount)| vec![standard(*amount, 4, 7)])
            }
            ZoneKind::ExcludedDistricts if self.excludes(area) => Vec::new(),
            ZoneKind::ExcludedDistricts => vec![standard(5_000, 3, 6)],
            ZoneKind::Islands if area.kind == PlaceKind::Island => {
                let served = !self.seed.is_multiple_of(2);
                served.then(|| standard(25_000, 10, 15)).into_iter().collect()
            }
            ZoneKind::Islands => vec![standard(6_000, 3, 6)],
            ZoneKind::ExpressInMetros if area.kind == PlaceKind::Metro => vec![
                standard(4_900, 2, 3),
                ZoneQuote {
                    title: "Express",
                    amount_minor: 14_900,
                    days_min: 1,
                    days_max: 1,
                },
            ],
            ZoneKind::ExpressInMetros => vec![standard(4_900, 4, 6)],
            ZoneKind::Hidden => Vec::new(),
        }
    }

    /// Returns true if the store delivers to a pincode, even if it quotes no rate.
    #[must_use]
    pub fn delivers(self, pincode: u32) -> bool {
        self.kind == ZoneKind::Hidden || !self.quotes(pincode, 100_000, 100).is_empty()
    }

    /// True for excluded districts: one in forty, and one in five in the mountains and the north-east.
    fn excludes(self, area: &Area) -> bool {
        let is_far = matches!(area.kind, PlaceKind::Hill | PlaceKind::Remote);
        self.draw(Some(&area.name), if is_far { 5 } else { 40 }) == 0
    }

    fn draw(self, name: Option<&str>, of: u8) -> u8 {
        let drawn = fold(&[self.seed, fold_bytes(name.unwrap_or_default().as_bytes())]) % u64::from(of.max(1));
        u8::try_from(drawn).unwrap_or(0)
    }
}
