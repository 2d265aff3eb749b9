use std::collections::{BTreeMap, BTreeSet};

use data_model::{DeliveryProbe, Pincode};
use data_pincodes::{AreaId, Directory, PlaceKind};

use crate::carts::{Cart, Carts};
use crate::evidence::{Answer, Evidence, Group, rates_of};
use crate::tiers::ladder;

/// Most answers that are asked of a store in all.
pub const PROBES_MAX: usize = 145;

/// After so many silent answers, and none that quotes, a store is left alone.
const SILENT_MAX: usize = 12;

/// Zones of which one pincode is asked for with every cart of the ladder.
const LADDERS_MAX: usize = 3;

/// Groups of areas that have more pincodes than this are asked for twice.
const LARGE_GROUP: usize = 350;

/// What to ask a store: delivery of a cart to a pincode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// Where to.
    pub pincode: Pincode,
    /// With what in the cart.
    pub cart: Cart,
}

/// What to ask next, by what was answered so far; empty when nothing is left to ask. Whoever asks may stop after any of them and go on
/// another day: the same answers lead to the same questions.
///
/// First one pincode of every state and kind of place, two in metros and large states; then other carts at pincodes of
/// the first zones, and a second cart where none is delivered; then more areas where alike ones were answered differently.
#[must_use]
pub fn next_questions(directory: &Directory, carts: &Carts, probes: &[DeliveryProbe]) -> Vec<Question> {
    let evidence = Evidence::of(directory, carts, probes);
    let room = PROBES_MAX.saturating_sub(evidence.probes.len());
    if !evidence.speaks() && evidence.answers.len() >= SILENT_MAX {
        return Vec::new();
    }
    let asked = |question: &Question| evidence.probes.contains_key(&(question.pincode, question.cart));
    let base = |pincode| Question {
        pincode,
        cart: carts.base,
    };
    let stages: [&dyn Fn() -> Vec<Question>; 3] = [
        &|| places(directory).into_iter().map(base).collect(),
        &|| {
            let mut questions = confirmations(&evidence, carts);
            questions.extend(of_carts(&evidence, carts));
            questions
        },
        &|| disagreeing(&evidence).into_iter().map(base).collect(),
    ];
    for stage in stages {
        let mut questions = stage();
        questions.retain(|question| !asked(question));
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
        // Where the state is not known, nothing is alike.
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
        .all(|question| evidence.probes.contains_key(&(question.pincode, question.cart)));
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

/// Pincodes of areas that were not asked for, of groups whose areas were answered differently or refused, taking turns.
fn disagreeing(evidence: &Evidence<'_>) -> Vec<Pincode> {
    let by_group = evidence.by_group();
    let mut turns: Vec<(usize, usize, Pincode)> = Vec::new();
    for (nth, (group, areas)) in groups(evidence.directory).into_iter().enumerate() {
        let Some(answers) = by_group.get(&group) else { continue };
        let is_one = answers.len() == 1 && matches!(answers.first(), Some(Some(Answer::Rates(_))));
        if is_one {
            continue;
        }
        // Turns are counted over all areas, so that no group is asked before others because it was asked already.
        for (turn, (area, pincodes)) in areas.iter().enumerate() {
            let pincode = pincodes.get(pincodes.len() / 2);
            if let Some(pincode) = pincode.filter(|_| !evidence.by_area.contains_key(area)) {
                turns.push((turn, nth, *pincode));
            }
        }
    }
    turns.sort_unstable();
    turns.into_iter().map(|(_, _, pincode)| pincode).collect()
}
