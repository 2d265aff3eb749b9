use std::collections::{BTreeMap, BTreeSet};

use data_model::{DeliveryProbe, DeliveryRate, Pincode};
use data_pincodes::{AreaId, Directory, PlaceKind};

use crate::carts::{Cart, Carts};
use crate::evidence::{Answer, CHECKS, Evidence, Group, rates_of};
use crate::tiers::ladder;

/// Most answers that are asked of a store in all.
pub const PROBES_MAX: usize = 145;

/// After so many silent answers, and none that quotes, a store is left alone.
const SILENT_MAX: usize = 12;

/// Zones of which one pincode is asked for with every cart of the ladder.
const LADDERS_MAX: usize = 3;

/// So many areas of a state and kind are asked for where all of them are refused.
const NEIGHBOURS: usize = 3;

/// Groups of areas that have more pincodes than this are asked for twice.
const LARGE_GROUP: usize = 350;

/// A question to a store: delivery of a cart to a pincode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// The place.
    pub pincode: Pincode,
    /// The goods in the cart.
    pub cart: Cart,
}

/// The next questions, by what was answered so far; empty when nothing is left to ask. Whoever asks may stop after any of them
/// and go on another day: the same answers lead to the same questions.
///
/// First one pincode of every state and kind of place, two in metros and large states; then other carts at pincodes of
/// the first zones, and a second cart where none is delivered; then one after the other more areas, where alike ones were
/// answered differently or refused. However few of them are asked at a time, the same are asked in the end.
#[must_use]
pub fn next_questions(directory: &Directory, carts: &Carts, probes: &[DeliveryProbe]) -> Vec<Question> {
    let evidence = Evidence::of(directory, carts, probes);
    let room = PROBES_MAX.saturating_sub(evidence.counted());
    if !evidence.speaks() && evidence.answers.len() >= SILENT_MAX {
        return Vec::new();
    }
    let asked = |question: &Question| evidence.like(question.pincode, &question.cart).is_some();
    let base = |pincode| Question {
        pincode,
        cart: carts.base,
    };
    let stages: [&dyn Fn() -> Vec<Question>; 4] = [
        &|| {
            let open = checks(&evidence, carts).into_iter().map(base);
            open.filter(|question| evidence.exact(question.pincode, &question.cart).is_none())
                .collect()
        },
        &|| {
            let open = places(directory).into_iter();
            open.filter(|pincode| evidence.asked(*pincode).is_none())
                .map(base)
                .collect()
        },
        &|| {
            let mut questions = confirmations(&evidence, carts);
            questions.extend(of_carts(&evidence, carts));
            questions.retain(|question| !asked(question));
            questions
        },
        &|| another(&evidence).into_iter().map(base).collect(),
    ];
    for stage in stages {
        let mut questions = stage();
        if !questions.is_empty() {
            questions.truncate(room);
            return questions;
        }
    }
    Vec::new()
}

/// The areas of each group, largest first, with their pincodes.
fn groups(directory: &Directory) -> BTreeMap<Group, Vec<(AreaId, Vec<Pincode>)>> {
    let mut areas: BTreeMap<AreaId, Vec<Pincode>> = BTreeMap::new();
    for (pincode, area) in directory.pincodes() {
        areas.entry(area).or_default().push(pincode);
    }
    let mut groups: BTreeMap<Group, Vec<(AreaId, Vec<Pincode>)>> = BTreeMap::new();
    for (area, pincodes) in areas {
        // Areas of an unknown state are not alike.
        if let Some(known) = directory.get(area).filter(|known| known.state.is_some()) {
            let group = (known.state.clone(), known.kind);
            groups.entry(group).or_default().push((area, pincodes));
        }
    }
    let by_size = |areas: &mut Vec<(AreaId, Vec<Pincode>)>| {
        areas.sort_by_key(|(area, pincodes)| (std::cmp::Reverse(pincodes.len()), *area));
    };
    groups.values_mut().for_each(by_size);
    groups
}

/// The first pincodes to ask for: first one of every group, the largest groups first, then the second ones.
fn places(directory: &Directory) -> Vec<Pincode> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for ((_, kind), areas) in groups(directory) {
        let size: usize = areas.iter().map(|(_, pincodes)| pincodes.len()).sum();
        let Some((_, largest)) = areas.first() else { continue };
        first.push((std::cmp::Reverse(size), largest[largest.len() / 2]));
        if kind == PlaceKind::Metro {
            // Another of the same area: most orders go there, and whether rules are by pincode shows.
            second.extend(largest.first().map(|pincode| (std::cmp::Reverse(size), *pincode)));
        } else if size > LARGE_GROUP {
            let middle = &areas[areas.len() / 2].1;
            second.push((std::cmp::Reverse(size), middle[middle.len() / 2]));
        }
    }
    first.sort_unstable();
    second.sort_unstable();
    first.into_iter().chain(second).map(|(_, pincode)| pincode).collect()
}

/// A second cart for pincodes to which the first one is not delivered.
fn confirmations(evidence: &Evidence<'_>, carts: &Carts) -> Vec<Question> {
    let Some(other) = carts.ladder.get(1).or(carts.heavy.as_ref()) else {
        return Vec::new();
    };
    if !evidence.speaks() {
        return Vec::new();
    }
    let silent = evidence.answers.iter().filter(|(_, answer)| **answer == Answer::Silent);
    let question = |(pincode, _): (&Pincode, _)| Question {
        pincode: *pincode,
        cart: *other,
    };
    silent.map(question).collect()
}

/// Every cart, at a pincode of each of the first zones; then carts between those that were answered differently.
fn of_carts(evidence: &Evidence<'_>, carts: &Carts) -> Vec<Question> {
    let mut zones: BTreeMap<&Answer, Vec<Pincode>> = BTreeMap::new();
    // Of the first places only: these stay the same, however much is asked afterwards.
    for pincode in places(evidence.directory) {
        if let Some(answer @ Answer::Rates(_)) = evidence.answers.get(&pincode) {
            zones.entry(answer).or_default().push(pincode);
        }
    }
    let mut zones: Vec<Vec<Pincode>> = zones.into_values().collect();
    zones.sort_by_key(|pincodes| (std::cmp::Reverse(pincodes.len()), pincodes[0]));
    // Two of the only zone.
    let places: BTreeSet<Pincode> = match zones.as_slice() {
        [only] => [only.first(), only.last()].into_iter().flatten().copied().collect(),
        zones => zones.iter().take(LADDERS_MAX).map(|pincodes| pincodes[0]).collect(),
    };
    let mut questions = Vec::new();
    for pincode in &places {
        let carts = carts.ladder.iter().chain(carts.heavy.as_ref());
        questions.extend(carts.map(|cart| Question {
            pincode: *pincode,
            cart: *cart,
        }));
    }
    let is_whole = questions
        .iter()
        .all(|question| evidence.like(question.pincode, &question.cart).is_some());
    if is_whole {
        for pincode in &places {
            let probes = ladder(evidence, carts, *pincode);
            let steps = probes.windows(2).filter(|pair| rates_of(pair[0]) != rates_of(pair[1]));
            let between = steps.filter_map(|pair| carts.between(pair[0], pair[1])).take(2);
            questions.extend(between.map(|cart| Question {
                pincode: *pincode,
                cart,
            }));
        }
    }
    questions
}

/// One more pincode, of an area that was not asked for; what it is follows from all answers so far, so it is asked
/// before another is looked for. First a second and a third area where one of a state is refused, to see whether all of
/// the state is; then areas of groups that were answered differently, taking turns; then, where the store leaves single
/// districts out, the largest areas.
fn another(evidence: &Evidence<'_>) -> Option<Pincode> {
    let groups = groups(evidence.directory);
    let middle = |pincodes: &Vec<Pincode>| pincodes.get(pincodes.len() / 2).copied();
    let (mut refused, mut differing, mut largest) = (Vec::new(), Vec::new(), Vec::new());
    let (by_group, leaves_out) = (evidence.by_group(), evidence.leaves_out());
    for (nth, (group, areas)) in groups.iter().enumerate() {
        let Some(answers) = by_group.get(group) else { continue };
        let is_asked = |area: &AreaId| evidence.by_area.contains_key(area);
        let asked = areas.iter().filter(|(area, _)| is_asked(area)).count();
        let open = areas.iter().enumerate().filter(|(_, (area, _))| !is_asked(area));
        let is_one = answers.len() == 1;
        let is_served = is_one && matches!(answers.first(), Some(Some(Answer::Rates(_))));
        for (turn, (_, pincodes)) in open {
            let Some(pincode) = middle(pincodes) else { continue };
            let size = std::cmp::Reverse(pincodes.len());
            if is_one && !is_served && asked < NEIGHBOURS {
                refused.push((asked, size, nth, pincode));
            } else if !is_one && !leaves_out.covers(group.1) {
                // Turns are counted over all areas, so that no group is asked before others because it was asked already.
                differing.push((turn, nth, pincode));
            } else if leaves_out.far && (is_served || !is_one) {
                largest.push((size, pincode));
            }
        }
    }
    let refused = refused.into_iter().min().map(|(.., pincode)| pincode);
    let differing = differing.into_iter().min().map(|(.., pincode)| pincode);
    let largest = largest.into_iter().min().map(|(_, pincode)| pincode);
    refused.or(differing).or(largest)
}

/// Pincodes that a cart that cannot be bought any more was answered for, to be asked with the one that takes its place: one
/// pincode of each of its first zones, and more of the largest where there are few.
fn checks(evidence: &Evidence<'_>, carts: &Carts) -> Vec<Pincode> {
    let Some(former) = carts.stand_in else {
        return Vec::new();
    };
    let answered = |pincode: &Pincode| evidence.exact(*pincode, &former);
    let mut zones: BTreeMap<Vec<DeliveryRate>, Vec<Pincode>> = BTreeMap::new();
    for pincode in places(evidence.directory) {
        let rates = answered(&pincode).map(rates_of).filter(|rates| !rates.is_empty());
        if let Some(rates) = rates {
            zones.entry(rates).or_default().push(pincode);
        }
    }
    let mut zones: Vec<Vec<Pincode>> = zones.into_values().collect();
    zones.sort_by_key(|pincodes| (std::cmp::Reverse(pincodes.len()), pincodes[0]));
    let firsts = zones.iter().map(|pincodes| pincodes[0]);
    let others = zones.first().into_iter().flatten().skip(1).copied();
    firsts.chain(others).take(CHECKS).collect()
}
