//! The answers in order: by pincode and cart, the latest of each, and by area.

use std::collections::{BTreeMap, BTreeSet};

use data_model::{DeliveryProbe, DeliveryRate, Pincode};
use data_pincodes::{AreaId, Directory, PlaceKind};

use crate::carts::{Cart, Carts};

/// Areas of one state and one kind: what is most likely delivered to alike.
pub(crate) type Group = (Option<Box<str>>, PlaceKind);

/// What a store answered for a pincode with the base cart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Answer {
    /// These rates.
    Rates(Vec<DeliveryRate>),
    /// None, whichever cart it was asked with.
    Refused,
    /// None, and only one cart was asked with.
    Silent,
}

#[derive(Debug)]
pub(crate) struct Evidence<'a> {
    pub(crate) directory: &'a Directory,
    /// The latest answer for each pincode and cart.
    pub(crate) probes: BTreeMap<(Pincode, Cart), &'a DeliveryProbe>,
    pub(crate) answers: BTreeMap<Pincode, Answer>,
    /// The pincodes of each area that were asked for with the base cart.
    pub(crate) by_area: BTreeMap<AreaId, Vec<Pincode>>,
}

/// The cart of a probe.
pub(crate) fn cart_of(probe: &DeliveryProbe) -> Cart {
    Cart {
        variant: probe.variant,
        quantity: probe.quantity,
        goods_minor: probe.goods_minor,
        grams: probe.grams.unwrap_or(0),
    }
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
        let answer = |probes: &Vec<&DeliveryProbe>| {
            let base = probes.iter().find(|probe| cart_of(probe) == carts.base)?;
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
            by_area,
        }
    }

    /// Whether the store quotes a rate for any pincode: else its answers say nothing.
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

    /// Whether pincodes of one area are answered differently: the store has rules by pincode.
    pub(crate) fn differs_within_areas(&self) -> bool {
        self.by_area.keys().any(|area| self.of_area(*area).is_none())
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
