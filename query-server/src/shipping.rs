//! Known delivery days of a brand's products to a pincode. The first source with an answer counts: the store's answer
//! for the pincode, the delivery zone of the pincode (derived from answers for other pincodes), the store's shipping
//! terms.

pub(crate) mod cost;

use data_index::{DeliveryMatrix, DeliveryRef, ReleasedZone};
use data_model::{
    Confidence, DeliveryRate, Pincode, ShippingFactKind, ShippingPolicy, ShippingRegion, ShippingTerms, TimeZone,
    Timestamp,
};
use data_pincodes::{PlaceKind, directory};

use self::cost::Prices;
use crate::holidays::Holidays;
use crate::promise::{OrderedAt, promise};

/// True if an order of only this product may be paid on delivery, at its lowest and its highest price. Returns `None`
/// without prices, or if a limit lies between the variants' prices.
pub(crate) fn cod_available(policy: &ShippingPolicy, prices: Option<Prices>) -> Option<bool> {
    let mut facts = policy.terms.iter().flat_map(|terms| terms.of(ShippingFactKind::Cod));
    let said = facts.find(|fact| fact.region.is_none_or(|region| region == ShippingRegion::Domestic));
    let Some(fact) = said.filter(|fact| fact.is_available == Some(true)) else {
        return policy.cod_available;
    };
    let (from, to) = (
        fact.min_order_minor.unwrap_or(0),
        fact.max_order_minor.unwrap_or(i64::MAX),
    );
    if (from, to) == (0, i64::MAX) {
        return Some(true);
    }
    let Prices { min_minor, max_minor } = prices.filter(|prices| prices.min_minor > 0)?;
    match (from <= min_minor && max_minor <= to, max_minor < from || to < min_minor) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    Pincode,
    Zone,
    Policy,
    /// Store's text as interpreted by a language model.
    Model,
    Unknown,
}

impl Basis {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Pincode => "pincode",
            Self::Zone => "zone",
            Self::Policy => "policy",
            Self::Model => "model",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) basis: Basis,
    /// Confidence of the fact. A text alone gives low confidence, and a text interpreted by a language model the least.
    pub(crate) confidence: Confidence,
    /// Time at which the store was queried or its text was read.
    pub(crate) at: Option<Timestamp>,
}

impl Source {
    /// Returns the source of facts of these kinds that the store's text states.
    pub(crate) fn text(policy: Option<&ShippingPolicy>, kinds: &[ShippingFactKind]) -> Self {
        let terms = policy.and_then(|policy| policy.terms.as_deref());
        let (basis, confidence) = if terms.is_some_and(|terms| terms.is_of_model(kinds)) {
            (Basis::Model, Confidence::Least)
        } else {
            (Basis::Policy, Confidence::Low)
        };
        Self {
            basis,
            confidence,
            at: terms.map(|terms| terms.observed_at),
        }
    }
}

/// Known facts about delivery to a pincode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Estimate<'a> {
    pub(crate) serviceable: Option<bool>,
    pub(crate) days: Option<Days>,
    pub(crate) zone: Option<&'a str>,
    pub(crate) sampled_at: Option<Timestamp>,
    pub(crate) basis: Basis,
    /// Confidence of the estimate; `None` if the store was not queried about delivery.
    pub(crate) confidence: Option<Confidence>,
    /// Source of the store's answers; `None` if the store was not queried.
    pub(crate) asked: Option<Source>,
    pub(crate) days_from: Option<Source>,
    /// Delivery rates of the store for this pincode in the store's currency, the cheapest first; empty if unknown.
    pub(crate) rates: &'a [DeliveryRate],
}

/// Number of delivery days; a bound is `None` if unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Days {
    pub(crate) min: Option<u16>,
    pub(crate) max: Option<u16>,
}

impl Days {
    /// Returns the days; `None` if neither bound is stated or the bounds contradict each other.
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

/// Returns the region of a pincode in the terms of store texts; `None` if texts disagree about it.
fn region(pincode: Pincode) -> Option<ShippingRegion> {
    let directory = directory();
    match directory.get(directory.area(pincode)?)?.kind {
        PlaceKind::Metro => Some(ShippingRegion::Metro),
        PlaceKind::Rest => Some(ShippingRegion::Rest),
        PlaceKind::Remote | PlaceKind::Island => Some(ShippingRegion::Remote),
        PlaceKind::Capital | PlaceKind::Hill => None,
    }
}

/// Country of all pincodes.
const HOME: &str = "IN";

/// Order placed now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order<'a> {
    pub(crate) now: Timestamp,
    /// Time zone of the market. Days count from today in this zone.
    pub(crate) market: TimeZone,
    /// Country of the store; `None` if unknown.
    pub(crate) country: Option<&'a str>,
    pub(crate) holidays: &'a Holidays,
}

impl Order<'_> {
    /// Returns the time zone in which the store handles orders: its country's only one, or else the market's.
    pub(crate) fn time_zone(&self) -> TimeZone {
        self.country.and_then(TimeZone::of_country).unwrap_or(self.market)
    }

    /// Returns the days that the terms promise, counted from the market's today.
    fn promised(&self, terms: &ShippingTerms, pincode: Pincode) -> Option<Days> {
        let zone = self.time_zone();
        let order = OrderedAt {
            country: self.country,
            local: self.now.plus_millis(zone.ahead_ms(self.now)),
            holidays: self.holidays,
        };
        // These pincodes are abroad for a store in another country.
        let is_abroad = self.country.is_some_and(|country| country != HOME);
        let region = if is_abroad {
            Some(ShippingRegion::Abroad)
        } else {
            region(pincode)
        };
        let promised = promise(terms, region, order)?;
        let ahead = if zone == self.market {
            0
        } else {
            zone.day(self.now) - self.market.day(self.now)
        };
        let days = |days: Option<u16>| days.and_then(|days| u16::try_from((i64::from(days) + ahead).max(0)).ok());
        Days::stated(days(promised.days_min), days(promised.days_max))
    }
}

impl<'a> Estimate<'a> {
    /// Returns the estimate of [`Self::of`]. If nothing else gives the days, they are those that the store's text
    /// promises for an order placed now.
    pub(crate) fn at(
        matrix: Option<&'a DeliveryMatrix>,
        policy: Option<&ShippingPolicy>,
        pincode: Pincode,
        order: Order<'_>,
    ) -> Self {
        let mut estimate = Self::of(matrix, policy, pincode);
        let is_open = estimate.days.is_none() && estimate.serviceable != Some(false);
        let terms = policy.filter(|_| is_open).and_then(|policy| policy.terms.as_deref());
        let promised = terms.and_then(|terms| order.promised(terms, pincode));
        if let Some(days) = promised {
            let source = Source::text(policy, &[ShippingFactKind::Dispatch, ShippingFactKind::Delivery]);
            estimate.days = Some(days);
            estimate.basis = source.basis;
            estimate.days_from = Some(source);
        }
        estimate
    }

    pub(crate) fn of(matrix: Option<&'a DeliveryMatrix>, policy: Option<&ShippingPolicy>, pincode: Pincode) -> Self {
        let known = matrix.and_then(|matrix| {
            let asked = matrix.get(pincode).map(|answered| Self::asked(matrix, answered));
            asked
                .or_else(|| matrix.zone(pincode).map(Self::of_area))
                .or_else(|| Self::of_district(matrix, pincode))
        });
        known.unwrap_or_else(|| Self::promised(policy))
    }

    /// Returns the estimate from the store's answer for this pincode.
    fn asked(matrix: &'a DeliveryMatrix, answered: DeliveryRef<'a>) -> Self {
        let days = Days::stated(answered.days_min, answered.days_max);
        let days = days.filter(|_| answered.serviceable != Some(false));
        let source = Source {
            basis: Basis::Pincode,
            confidence: Confidence::High,
            at: Some(answered.sampled_at),
        };
        Self {
            serviceable: answered.serviceable,
            days,
            zone: answered.zone,
            sampled_at: source.at,
            basis: source.basis,
            confidence: Some(source.confidence),
            asked: Some(source),
            days_from: days.map(|_| source),
            rates: answered
                .zone
                .and_then(|zone| matrix.named(zone))
                .map_or(&[], |zone| &zone.rates),
        }
    }

    /// Returns the estimate for the pincode's area, with the confidence of its zone.
    fn of_area(zone: &'a ReleasedZone) -> Self {
        let days = Days::stated(zone.days_min, zone.days_max).filter(|_| zone.serviceable != Some(false));
        let source = Source {
            basis: Basis::Zone,
            confidence: zone.confidence,
            at: Some(zone.sampled_at),
        };
        Self {
            serviceable: zone.serviceable,
            days,
            zone: Some(&zone.name),
            sampled_at: source.at,
            basis: source.basis,
            confidence: Some(source.confidence),
            asked: Some(source),
            days_from: days.map(|_| source),
            rates: &zone.rates,
        }
    }

    /// Returns an estimate from the store's answers for other pincodes of the sorting district, if all of them are in
    /// one zone and the release has no zones. Answers for other pincodes do not show that the store delivers to this
    /// one.
    fn of_district(matrix: &'a DeliveryMatrix, pincode: Pincode) -> Option<Self> {
        if matrix.has_zones() {
            return None;
        }
        let mut answered = matrix.district(pincode);
        let zone = answered.next()?.zone?;
        if answered.any(|one| one.zone != Some(zone)) {
            return None;
        }
        let days = matrix
            .district(pincode)
            // Days of places without delivery have no meaning.
            .filter(|one| one.serviceable != Some(false))
            .filter_map(|one| Days::stated(one.days_min, one.days_max))
            .reduce(Days::widest)?;
        let source = Source {
            basis: Basis::Zone,
            confidence: Confidence::Low,
            at: matrix.district(pincode).map(|one| one.sampled_at).min(),
        };
        Some(Self {
            serviceable: None,
            days: Some(days),
            zone: Some(zone),
            sampled_at: source.at,
            basis: source.basis,
            confidence: Some(source.confidence),
            asked: Some(source),
            days_from: Some(source),
            rates: &[],
        })
    }

    /// Returns the days that are true for every rate of the terms. If any rate states no days, they are unknown,
    /// because the buyer's rate is unknown.
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
            confidence: None,
            asked: None,
            days_from: days.map(|_| Source::text(policy, &[])),
            rates: &[],
        }
    }
}
