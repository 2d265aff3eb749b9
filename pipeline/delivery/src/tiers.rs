//! Derives rates by order value from one pincode's answers for several carts.

use data_model::{DeliveryProbe, DeliveryRate, Pincode};

use crate::carts::{Cart, Carts, cart_of};
use crate::evidence::{Evidence, MAX, MIN, rates_of};

/// Dependence of rates on carts, as the answers for one pincode show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tiers {
    /// All carts get the same rates.
    Alike,
    /// Rates depend on the order value. The ranges of values with the same rates are in ascending order.
    ByValue(Vec<DeliveryRate>),
    /// Rates also depend on weight or something else, so that no rate is stated.
    Unclear,
}

/// Returns a pincode's probes with the carts of the ladder and between them, by value. Heavy carts are left out.
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
    /// Returns `None` if the pincode was queried with only one cart.
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
            // Near a threshold, the rates of either side are accepted.
            runs.iter().any(|run| {
                run.rates == rates
                    && run.from_minor <= heavy.goods_minor + margin
                    && heavy.goods_minor - margin <= run.to_minor
            })
        });
        let weights = || probes.iter().map(|probe| cart_of(probe).grams);
        let grows = weights().max().unwrap_or(0) > weights().min().unwrap_or(0).max(1) * 2;
        // Heavier carts also cost more. Without a heavy and cheap cart, weight and value cannot be distinguished.
        let is_told = same_as_lighter && (runs.len() == 1 || heavy.is_some() || !grows);
        // With rules by value, each rate appears in one range only.
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

/// Returns the rates of each range with its order values. The last range is open-ended if it has the lowest rate,
/// because stores do not raise the rate again for larger orders.
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
