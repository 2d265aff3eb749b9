//! Rates by what an order is worth, of what one pincode was answered for several carts.

use data_model::{DeliveryProbe, DeliveryRate, Pincode};

use crate::carts::{Cart, Carts};
use crate::evidence::{Evidence, MAX, MIN, cart_of, rates_of};

/// What the answers for one pincode tell of how rates follow from carts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tiers {
    /// All carts are answered alike.
    Alike,
    /// They differ by what the order is worth: runs of carts that are answered alike, by worth.
    ByValue(Vec<DeliveryRate>),
    /// They differ by something else as well, such as weight: no rate is told.
    Unclear,
}

/// The probes of a pincode for carts of the ladder and between, by worth; those heavier than their neighbours are apart.
pub(crate) fn ladder<'a>(evidence: &Evidence<'a>, carts: &Carts, pincode: Pincode) -> Vec<&'a DeliveryProbe> {
    let is_heavy = |cart: &Cart| carts.heavy.is_some_and(|heavy| heavy.is_like(cart));
    let of_pincode = evidence.probes.range((pincode, MIN)..=(pincode, MAX));
    let mut probes: Vec<&DeliveryProbe> = of_pincode
        .filter(|((_, cart), _)| !is_heavy(cart))
        .map(|(_, probe)| *probe)
        .collect();
    probes.sort_by_key(|probe| (probe.goods_minor, probe.grams));
    probes
}

impl Tiers {
    /// `None` where the pincode was asked for with one cart only.
    pub(crate) fn of(evidence: &Evidence<'_>, carts: &Carts, pincode: Pincode) -> Option<Self> {
        let probes = ladder(evidence, carts, pincode);
        let heavy = carts.heavy.and_then(|heavy| evidence.like(pincode, &heavy));
        if probes.len() < 2 || (carts.heavy.is_some() && heavy.is_none()) {
            return None;
        }
        let mut runs: Vec<(i64, i64, Vec<DeliveryRate>)> = Vec::new();
        for probe in &probes {
            let rates = rates_of(probe);
            match runs.last_mut() {
                Some((_, to, held)) if *held == rates => *to = probe.goods_minor,
                _ => runs.push((probe.goods_minor, probe.goods_minor, rates)),
            }
        }
        let same_as_lighter = heavy.is_none_or(|heavy| {
            let of_worth = runs.iter().find(|(from, to, _)| {
                let margin = heavy.goods_minor / 10;
                *from <= heavy.goods_minor + margin && heavy.goods_minor - margin <= *to
            });
            // Near a threshold either side will do.
            let rates = rates_of(heavy);
            of_worth.is_some()
                && runs.iter().any(|(from, to, held)| {
                    let margin = heavy.goods_minor / 10;
                    *held == rates && *from <= heavy.goods_minor + margin && heavy.goods_minor - margin <= *to
                })
        });
        let weights = || probes.iter().map(|probe| cart_of(probe).grams);
        let grows = weights().max().unwrap_or(0) > weights().min().unwrap_or(0).max(1) * 2;
        // Heavier carts are dearer carts: without one that is heavy and cheap neither can be told from the other.
        let is_told = same_as_lighter && (runs.len() == 1 || heavy.is_some() || !grows);
        // Each rate of a store by value has one run; more is something else.
        let is_plain = runs
            .iter()
            .enumerate()
            .all(|(nth, run)| runs[..nth].iter().all(|earlier| earlier.2 != run.2));
        Some(match (is_told && is_plain, runs.len()) {
            (false, _) => Self::Unclear,
            (true, 1) => Self::Alike,
            (true, _) => Self::ByValue(runs.into_iter().flat_map(bounded).collect()),
        })
    }
}

fn bounded((from, to, rates): (i64, i64, Vec<DeliveryRate>)) -> Vec<DeliveryRate> {
    let bounded = |rate| DeliveryRate {
        min_order_minor: Some(from),
        max_order_minor: Some(to),
        ..rate
    };
    rates.into_iter().map(bounded).collect()
}
