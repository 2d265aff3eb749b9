//! Organises the answers: the latest for each pincode and cart, and by area.

use std::collections::{BTreeMap, BTreeSet};

use data_model::{DeliveryProbe, DeliveryRate, Pincode};
use data_pincodes::{AreaId, Directory, PlaceKind};

use crate::carts::{Cart, Carts, cart_of};

/// A state and a kind of region. Areas of the same group most likely have the same delivery.
pub(crate) type Group = (Option<Box<str>>, PlaceKind);

/// Number of pincodes needed to show that a former cart gets the same answers as the new one.
pub(crate) const CHECKS: usize = 3;

/// Kinds of regions in which a store excludes single districts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Exclusions {
    /// True for hills, islands and remote areas.
    pub(crate) far: bool,
    /// True for all other kinds of regions.
    pub(crate) near: bool,
}

impl Exclusions {
    pub(crate) const fn covers(self, kind: PlaceKind) -> bool {
        if is_far(kind) { self.far } else { self.near }
    }
}

/// Smallest and largest possible cart, for range queries.
pub(crate) const MIN: Cart = Cart {
    variant: data_model::VariantId(0),
    quantity: 0,
    goods_minor: i64::MIN,
    grams: i64::MIN,
};
pub(crate) const MAX: Cart = Cart {
    variant: data_model::VariantId(u64::MAX),
    quantity: u32::MAX,
    goods_minor: i64::MAX,
    grams: i64::MAX,
};

pub(crate) const fn is_far(kind: PlaceKind) -> bool {
    matches!(kind, PlaceKind::Hill | PlaceKind::Remote | PlaceKind::Island)
}

/// Answer of a store for a pincode with the base cart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Answer {
    /// The store quotes these rates.
    Rates(Vec<DeliveryRate>),
    /// The store quotes no rate with any of several carts.
    Refused,
    /// The store quotes no rate, and only one cart was tried.
    Silent,
}

impl Answer {
    /// A rate is an offer to deliver. Silence is inconclusive.
    pub(crate) const fn serviceable(&self) -> Option<bool> {
        match self {
            Self::Rates(_) => Some(true),
            Self::Refused => Some(false),
            Self::Silent => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Evidence<'a> {
    pub(crate) directory: &'a Directory,
    /// Latest answer for each pincode and cart.
    pub(crate) probes: BTreeMap<(Pincode, Cart), &'a DeliveryProbe>,
    pub(crate) answers: BTreeMap<Pincode, Answer>,
    sold: BTreeSet<Cart>,
    /// Former cart whose answers count for the base cart.
    stands_in: Option<Cart>,
    asked: BTreeMap<Pincode, &'a DeliveryProbe>,
    /// Pincodes of each area that were queried with the base cart.
    pub(crate) by_area: BTreeMap<AreaId, Vec<Pincode>>,
}

/// Returns the rates of an answer, cheapest first.
pub(crate) fn rates_of(probe: &DeliveryProbe) -> Vec<DeliveryRate> {
    let mut rates = probe.options.clone();
    rates.sort_by(|one, other| (one.amount_minor, &one.name).cmp(&(other.amount_minor, &other.name)));
    rates
}

impl<'a> Evidence<'a> {
    pub(crate) fn of(directory: &'a Directory, carts: &Carts, probes: &'a [DeliveryProbe]) -> Self {
        let mut latest: BTreeMap<(Pincode, Cart), &DeliveryProbe> = BTreeMap::new();
        for probe in probes.iter().filter(|probe| probe.currency == carts.currency) {
            let held = latest.entry((probe.pincode, cart_of(probe))).or_insert(probe);
            if held.asked_at < probe.asked_at {
                *held = probe;
            }
        }
        let mut of_pincode: BTreeMap<Pincode, Vec<&DeliveryProbe>> = BTreeMap::new();
        for ((pincode, _), probe) in &latest {
            of_pincode.entry(*pincode).or_default().push(probe);
        }
        let with =
            |probes: &[&'a DeliveryProbe], cart: Cart| probes.iter().find(|probe| cart_of(probe) == cart).copied();
        let checks = of_pincode.values().filter_map(|probes| {
            let (base, former) = (with(probes, carts.base)?, with(probes, carts.stand_in?)?);
            Some(rates_of(base) == rates_of(former))
        });
        let checks: Vec<bool> = checks.collect();
        let is_shown = checks.len() >= CHECKS && checks.iter().all(|is_same| *is_same);
        let stands_in = carts.stand_in.filter(|_| is_shown);
        let sold = latest
            .keys()
            .map(|(_, cart)| *cart)
            .filter(|cart| carts.has(cart))
            .collect();
        let base_of = |probes: &[&'a DeliveryProbe]| {
            let former = stands_in.and_then(|cart| with(probes, cart));
            with(probes, carts.base).or(former)
        };
        let asked = of_pincode
            .iter()
            .filter_map(|(pincode, probes)| Some((*pincode, base_of(probes)?)));
        let asked: BTreeMap<Pincode, &DeliveryProbe> = asked.collect();
        let answer = |probes: &Vec<&'a DeliveryProbe>| {
            let base = base_of(probes)?;
            Some(if !base.options.is_empty() {
                Answer::Rates(rates_of(base))
            } else if probes.len() > 1 && probes.iter().all(|probe| probe.options.is_empty()) {
                Answer::Refused
            } else {
                Answer::Silent
            })
        };
        let answers = of_pincode.iter();
        let answers: BTreeMap<Pincode, Answer> = answers
            .filter_map(|(pincode, probes)| Some((*pincode, answer(probes)?)))
            .collect();
        let mut by_area: BTreeMap<AreaId, Vec<Pincode>> = BTreeMap::new();
        for pincode in answers.keys() {
            if let Some(area) = directory.area(*pincode) {
                by_area.entry(area).or_default().push(*pincode);
            }
        }
        Self {
            directory,
            probes: latest,
            answers,
            sold,
            stands_in,
            asked,
            by_area,
        }
    }

    pub(crate) fn exact(&self, pincode: Pincode, cart: &Cart) -> Option<&'a DeliveryProbe> {
        self.probes.get(&(pincode, *cart)).copied()
    }

    /// Returns the probe of a pincode with this cart, or with a similar cart that is no longer available.
    pub(crate) fn like(&self, pincode: Pincode, cart: &Cart) -> Option<&'a DeliveryProbe> {
        let former = || {
            let mut held = self.probes.range((pincode, MIN)..=(pincode, MAX));
            held.find(|((_, held), _)| !self.sold.contains(held) && held.is_like(cart))
        };
        self.exact(pincode, cart).or_else(|| former().map(|(_, probe)| *probe))
    }

    /// Returns the number of answers that count towards the maximum number of questions: those for available carts and
    /// for the stand-in cart.
    pub(crate) fn counted(&self) -> usize {
        let counts = |cart: &Cart| self.sold.contains(cart) || self.stands_in == Some(*cart);
        self.probes.keys().filter(|(_, cart)| counts(cart)).count()
    }

    /// Returns the probe of a pincode's answer, which used the base cart or its stand-in.
    pub(crate) fn asked(&self, pincode: Pincode) -> Option<&'a DeliveryProbe> {
        self.asked.get(&pincode).copied()
    }

    /// A store that quotes no rate for any pincode gives inconclusive answers.
    pub(crate) fn speaks(&self) -> bool {
        self.answers.values().any(|answer| matches!(answer, Answer::Rates(_)))
    }

    /// Returns the common answer of an area, or `None` if the area was not queried or its pincodes got different
    /// answers.
    pub(crate) fn of_area(&self, area: AreaId) -> Option<&Answer> {
        let mut answers = self
            .by_area
            .get(&area)?
            .iter()
            .filter_map(|pincode| self.answers.get(pincode));
        let first = answers.next()?;
        answers.all(|answer| answer == first).then_some(first)
    }

    /// A store with different answers for pincodes of one area has rules by pincode.
    pub(crate) fn differs_within_areas(&self) -> bool {
        self.by_area.keys().any(|area| self.of_area(*area).is_none())
    }

    /// Returns the kinds of regions in which the store excludes single districts. Areas of these kinds stay unknown
    /// until they are queried. A store that excludes ordinary districts is assumed to exclude districts in hills and on
    /// islands too, but not the other way round. The refusal of a whole state does not count.
    pub(crate) fn leaves_out(&self) -> Exclusions {
        let mut groups: BTreeMap<Group, Vec<Option<&Answer>>> = BTreeMap::new();
        for area in self.by_area.keys() {
            if let Some(group) = self.group_of(*area) {
                groups.entry(group).or_default().push(self.of_area(*area));
            }
        }
        let mut found = Exclusions::default();
        for ((_, kind), answers) in &groups {
            let is_refused = |answer: &&Option<&Answer>| **answer == Some(&Answer::Refused);
            let refused = answers.iter().filter(is_refused).count();
            let is_whole = refused == answers.len();
            if refused > 0 && !is_whole {
                found.far = true;
                found.near |= !is_far(*kind);
            }
        }
        found
    }

    pub(crate) fn group_of(&self, area: AreaId) -> Option<Group> {
        let area = self.directory.get(area)?;
        Some((area.state.clone(), area.kind))
    }

    /// Returns the answers of the areas in each group. `None` stands for an area whose pincodes disagree.
    pub(crate) fn by_group(&self) -> BTreeMap<Group, BTreeSet<Option<&Answer>>> {
        let mut groups: BTreeMap<Group, BTreeSet<Option<&Answer>>> = BTreeMap::new();
        for area in self.by_area.keys() {
            if let Some(group) = self.group_of(*area) {
                groups.entry(group).or_default().insert(self.of_area(*area));
            }
        }
        groups
    }
}
