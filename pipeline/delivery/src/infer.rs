use std::collections::BTreeMap;

use data_model::{Confidence, DeliveryProbe, DeliveryRate, DeliverySample, DeliveryZone, KnownDelivery, Pincode};
use data_pincodes::{AreaId, Directory};

use crate::carts::Carts;
use crate::evidence::{Answer, Evidence, Group};
use crate::tiers::Tiers;

/// Maximum number of zones of a store. More zones mean rules by pincode.
const ZONES_MAX: usize = 100;

/// Returns the delivery of a store according to these answers. If the store quotes no rate for any pincode, nothing is
/// known.
#[must_use]
pub fn infer(directory: &Directory, carts: &Carts, probes: &[DeliveryProbe]) -> KnownDelivery {
    let evidence = Evidence::of(directory, carts, probes);
    let mut known = KnownDelivery {
        probes: probes.to_vec(),
        ..KnownDelivery::default()
    };
    if !evidence.speaks() {
        return known;
    }
    let names = named(&evidence);
    for (pincode, answer) in &evidence.answers {
        let (days_min, days_max) = days_of(answer);
        if let (Some(zone), Some(probe)) = (names.get(answer), evidence.asked(*pincode)) {
            known.samples.push(DeliverySample {
                pincode: *pincode,
                serviceable: answer.serviceable(),
                zone: Some(zone.clone()),
                days_min,
                days_max,
                sampled_at: probe.asked_at,
            });
        }
    }
    known.zones = zones(&evidence, carts, &names);
    known
}

/// Answers with more pincodes get lower numbers.
fn named<'e>(evidence: &'e Evidence<'_>) -> BTreeMap<&'e Answer, String> {
    let mut counts: BTreeMap<&Answer, usize> = BTreeMap::new();
    let told = evidence.answers.values().filter(|answer| **answer != Answer::Silent);
    told.for_each(|answer| *counts.entry(answer).or_default() += 1);
    let mut ranked: Vec<(&Answer, usize)> = counts.into_iter().collect();
    ranked.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(other.0)));
    let ranked = ranked.into_iter().take(ZONES_MAX).enumerate();
    ranked
        .map(|(nth, (answer, _))| (answer, format!("z{}", nth + 1)))
        .collect()
}

fn days_of(answer: &Answer) -> (Option<u16>, Option<u16>) {
    let Answer::Rates(rates) = answer else {
        return (None, None);
    };
    rates
        .first()
        .map_or((None, None), |rate| (rate.days_min, rate.days_max))
}

fn of_areas<'e>(evidence: &'e Evidence<'_>) -> BTreeMap<AreaId, (&'e Answer, Confidence)> {
    let by_pincode = evidence.differs_within_areas();
    let (groups, leaves_out) = (evidence.by_group(), evidence.leaves_out());
    let mut found = BTreeMap::new();
    for at in 0..evidence.directory.areas().len() {
        let Ok(at) = u16::try_from(at) else { continue };
        let area = AreaId(at);
        let asked = evidence.by_area.get(&area).map_or(0, Vec::len);
        if asked > 0 {
            if let Some(answer) = evidence.of_area(area) {
                let is_sure = asked >= 2 && !by_pincode;
                let confidence = if is_sure { Confidence::High } else { Confidence::Low };
                found.insert(area, (answer, confidence));
            }
            continue;
        }
        let told = |(state, kind): &Group| state.is_some() && !leaves_out.covers(*kind);
        let Some(group) = evidence.group_of(area).filter(told) else {
            continue;
        };
        let Some(answers) = groups.get(&group) else { continue };
        // A refusal in other areas does not mean a refusal in this one.
        if let (1, Some(Some(answer @ Answer::Rates(_)))) = (answers.len(), answers.first()) {
            found.insert(area, (*answer, Confidence::Low));
        }
    }
    found
}

fn zones(evidence: &Evidence<'_>, carts: &Carts, names: &BTreeMap<&Answer, String>) -> Vec<DeliveryZone> {
    let mut areas: BTreeMap<(&Answer, Confidence), Vec<AreaId>> = BTreeMap::new();
    for (area, (answer, confidence)) in of_areas(evidence) {
        if names.contains_key(answer) {
            areas.entry((answer, confidence)).or_default().push(area);
        }
    }
    let all_tiers = tiers(evidence, carts);
    let zone = |((answer, confidence), areas): ((&Answer, Confidence), Vec<AreaId>)| {
        let asked = evidence.answers.iter().filter(|(_, one)| *one == answer);
        let asked: Vec<Pincode> = asked.map(|(pincode, _)| *pincode).collect();
        let times = asked.iter().filter_map(|pincode| evidence.asked(*pincode));
        let (days_min, days_max) = days_of(answer);
        Some(DeliveryZone {
            zone: names.get(answer)?.clone(),
            confidence,
            areas: areas
                .iter()
                .filter_map(|area| evidence.directory.get(*area))
                .map(|area| area.name.to_string())
                .collect(),
            serviceable: answer.serviceable(),
            days_min,
            days_max,
            currency: carts.currency,
            rates: rates(answer, &asked, &all_tiers, carts),
            probes: u32::try_from(asked.len()).unwrap_or(u32::MAX),
            sampled_at: times.map(|probe| probe.asked_at).min()?,
        })
    };
    areas.into_iter().filter_map(zone).collect()
}

fn tiers(evidence: &Evidence<'_>, carts: &Carts) -> BTreeMap<Pincode, Tiers> {
    let served = evidence
        .answers
        .iter()
        .filter(|(_, answer)| matches!(answer, Answer::Rates(_)));
    served
        .filter_map(|(pincode, _)| Some((*pincode, Tiers::of(evidence, carts, *pincode)?)))
        .collect()
}

/// Returns the rates of a zone. They apply to all orders if the store quoted the same rates for every cart, and by
/// order value if the quotes differ by order value. If only the base cart was queried, they apply only to its value.
/// The list is empty if the rates depend on something else.
fn rates(answer: &Answer, asked: &[Pincode], tiers: &BTreeMap<Pincode, Tiers>, carts: &Carts) -> Vec<DeliveryRate> {
    let Answer::Rates(base) = answer else { return Vec::new() };
    let mut of_zone = asked.iter().filter_map(|pincode| tiers.get(pincode));
    if tiers.values().any(|tiers| *tiers == Tiers::Unclear) {
        return Vec::new();
    }
    if let Some(first) = of_zone.next() {
        return match first {
            _ if of_zone.any(|other| other != first) => Vec::new(),
            Tiers::Alike => base.clone(),
            Tiers::ByValue(rates) => rates.clone(),
            Tiers::Unclear => Vec::new(),
        };
    }
    if tiers.len() >= 2 && tiers.values().all(|tiers| *tiers == Tiers::Alike) {
        return base.clone();
    }
    let of_base = |rate: &DeliveryRate| DeliveryRate {
        min_order_minor: Some(carts.base.goods_minor),
        max_order_minor: Some(carts.base.goods_minor),
        ..rate.clone()
    };
    base.iter().map(of_base).collect()
}
