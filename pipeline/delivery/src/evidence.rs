//! The answers in order: by pincode and cart, the latest of each, and by area.

use std::collections::{BTreeMap, BTreeSet};

use data_model::{DeliveryProbe, DeliveryRate, Pincode};
use data_pincodes::{AreaId, Directory, PlaceKind};

use crate::carts::{Cart, Carts, cart_of};

/// Areas of one state and one kind: what is most likely delivered to alike.
pub(crate) type Group = (Option<Box<str>>, PlaceKind);

/// So many pincodes show whether a former cart is answered as the new one.
pub(crate) const CHECKS: usize = 3;

/// The places in which a store leaves single districts out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Exclusions {
    /// In hills, on islands and in border states.
    pub(crate) far: bool,
    /// Everywhere else.
    pub(crate) near: bool,
}

impl Exclusions {
    pub(crate) const fn covers(self, kind: PlaceKind) -> bool {
        if is_far(kind) { self.far } else { self.near }
    }
}

/// The least and the greatest of carts.
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

/// A store's answer for a pincode with the base cart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Answer {
    /// These rates.
    Rates(Vec<DeliveryRate>),
    /// None, whichever cart it was asked with.
    Refused,
    /// None, and only one cart was asked with.
    Silent,
}

impl Answer {
    /// True where the store delivers there: a rate is an offer to. Silence says nothing.
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
    /// The latest answer for each pincode and cart.
    pub(crate) probes: BTreeMap<(Pincode, Cart), &'a DeliveryProbe>,
    pub(crate) answers: BTreeMap<Pincode, Answer>,
    /// The carts of probes that can be bought.
    sold: BTreeSet<Cart>,
    /// The former cart whose answers hold for the base cart.
    stands_in: Option<Cart>,
    /// The probe that each of these answers is.
    asked: BTreeMap<Pincode, &'a DeliveryProbe>,
    /// The pincodes of each area that were asked for with the base cart.
    pub(crate) by_area: BTreeMap<AreaId, Vec<Pincode>>,
}

/// The rates of an answer, cheapest first.
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

    /// The probe of a pincode with this very cart.
    pub(crate) fn exact(&self, pincode: Pincode, cart: &Cart) -> Option<&'a DeliveryProbe> {
        self.probes.get(&(pincode, *cart)).copied()
    }

    /// The probe of a pincode with this cart, or with one like it that cannot be bought any more.
    pub(crate) fn like(&self, pincode: Pincode, cart: &Cart) -> Option<&'a DeliveryProbe> {
        let former = || {
            let mut held = self.probes.range((pincode, MIN)..=(pincode, MAX));
            held.find(|((_, held), _)| !self.sold.contains(held) && held.is_like(cart))
        };
        self.exact(pincode, cart).or_else(|| former().map(|(_, probe)| *probe))
    }

    /// The number of answers that count towards what may be asked: those with carts that can be bought, or that stand in for
    /// one.
    pub(crate) fn counted(&self) -> usize {
        let counts = |cart: &Cart| self.sold.contains(cart) || self.stands_in == Some(*cart);
        self.probes.keys().filter(|(_, cart)| counts(cart)).count()
    }

    /// The probe that a pincode's answer is: with the base cart, or with what stands in for it.
    pub(crate) fn asked(&self, pincode: Pincode) -> Option<&'a DeliveryProbe> {
        self.asked.get(&pincode).copied()
    }

    /// True where the store quotes a rate for any pincode: else its answers say nothing.
    pub(crate) fn speaks(&self) -> bool {
        self.answers.values().any(|answer| matches!(answer, Answer::Rates(_)))
    }

    /// The one answer of an area; `None` where it was not asked for, or its pincodes were answered differently.
    pub(crate) fn of_area(&self, area: AreaId) -> Option<&Answer> {
        let mut answers = self
            .by_area
            .get(&area)?
            .iter()
            .filter_map(|pincode| self.answers.get(pincode));
        let first = answers.next()?;
        answers.all(|answer| answer == first).then_some(first)
    }

    /// True where pincodes of one area are answered differently: the store has rules by pincode.
    pub(crate) fn differs_within_areas(&self) -> bool {
        self.by_area.keys().any(|area| self.of_area(*area).is_none())
    }

    /// Places of which the store leaves single districts out: areas of such that were not asked for are not known. Whoever does
    /// so on the plain does so in hills and on islands too, but not the other way about. A state or a territory that is refused
    /// as a whole says nothing of others.
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

    /// The answers of the areas of each group. An area whose pincodes disagree stands as `None`.
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
