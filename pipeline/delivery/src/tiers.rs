//! Rates by what an order is worth, of what one pincode was answered for several carts.

use data_model::{DeliveryProbe, DeliveryRate, Pincode};

use crate::carts::{Cart, Carts, cart_of};
use crate::evidence::{Evidence, MAX, MIN, rates_of};

/// The way in which rates follow from carts, as the answers for one pincode show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tiers {
    /// All carts are answered alike.
    Alike,
    /// They differ by what the order is worth: runs of carts that are answered alike, by worth.
    ByValue(Vec<DeliveryRate>),
    /// They differ by something else as well, such as weight: no rate is stated.
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
        let mut runs: Vec<Run> = Vec::new();
        for probe in &probes {
            let rates = rates_of(probe);
            match runs.last_mut() {
                Some(run) if run.rates == rates => run.to_minor = probe.goods_minor,
                _ => runs.push(Run {
                    from_minor: probe.goods_minor,
                    to_minor: probe.goods_minor,
                    rates,
                }),
            }
        }
        let same_as_lighter = heavy.is_none_or(|heavy| {
            let rates = rates_of(heavy);
            let margin = heavy.goods_minor / 10;
            // Near a threshold either side will do.
            runs.iter().any(|run| {
                run.rates == rates
                    && run.from_minor <= heavy.goods_minor + margin
                    && heavy.goods_minor - margin <= run.to_minor
            })
        });
        let weights = || probes.iter().map(|probe| cart_of(probe).grams);
        let grows = weights().max().unwrap_or(0) > weights().min().unwrap_or(0).max(1) * 2;
        // Heavier carts are dearer carts: without one that is heavy and cheap neither can be distinguished from the
        // other.
        let is_told = same_as_lighter && (runs.len() == 1 || heavy.is_some() || !grows);
        // Each rate of a store by value has one run; more is something else.
        let is_plain = runs
            .iter()
            .enumerate()
            .all(|(nth, run)| runs[..nth].iter().all(|earlier| earlier.rates != run.rates));
        Some(match (is_told && is_plain, runs.len()) {
            (false, _) => Self::Unclear,
            (true, 1) => Self::Alike,
            (true, _) => Self::ByValue(bounded(runs)),
        })
    }
}

/// Carts that were answered alike, by worth.
struct Run {
    from_minor: i64,
    to_minor: i64,
    rates: Vec<DeliveryRate>,
}

impl Run {
    fn least_minor(&self) -> Option<i64> {
        self.rates.iter().map(|rate| rate.amount_minor).min()
    }
}

/// The rates of each run with the orders that they were seen for. The cheapest rate that was asked for the dearest
/// carts holds for dearer ones too: no store asks more again of whoever buys more.
fn bounded(runs: Vec<Run>) -> Vec<DeliveryRate> {
    let lowest = runs.iter().filter_map(Run::least_minor).min();
    let last = runs.len().saturating_sub(1);
    let of_run = |(nth, run): (usize, Run)| {
        let is_open = nth == last && run.least_minor() == lowest;
        let rate = move |rate| DeliveryRate {
            min_order_minor: Some(run.from_minor),
            max_order_minor: (!is_open).then_some(run.to_minor),
            ..rate
        };
        run.rates.into_iter().map(rate)
    };
    runs.into_iter().enumerate().flat_map(of_run).collect()
}
