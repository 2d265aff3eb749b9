use std::collections::{BTreeMap, BTreeSet};

use data_model::{DeliveryProbe, DeliveryRate, Pincode};
use data_pincodes::{AreaId, Directory, PlaceKind};

use crate::carts::{Cart, Carts};
use crate::evidence::{Answer, CHECKS, Evidence, Group, rates_of};
use crate::tiers::ladder;

/// Maximum total number of answers requested from a store.
pub const PROBES_MAX: usize = 145;

/// Maximum number of questions for a store that has not quoted any rate.
const SILENT_MAX: usize = 12;

/// Maximum number of zones in which one pincode is queried with every cart of the ladder.
const LADDERS_MAX: usize = 3;

/// Number of areas of a state and kind that are queried if all of them are refused.
const NEIGHBOURS: usize = 3;

/// Number of pincodes above which a group of areas is queried twice.
const LARGE_GROUP: usize = 350;

/// A question to a store: the delivery of a cart to a pincode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// Destination of the cart.
    pub pincode: Pincode,
    /// Cart with its goods.
    pub cart: Cart,
}

/// Returns the next questions after the answers so far. The list is empty if all questions were asked. The caller may
/// stop at any time and continue on another day, because the same answers lead to the same questions.
///
/// The first questions are for one pincode of every state and kind of region, and two in metros and large states. The
/// next questions are for other carts at pincodes of the first zones, and for a second cart at pincodes without
/// delivery. The last questions are for further areas, one area at a time, if similar areas got different answers or
/// were refused. The total set of questions does not depend on the batch size.
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

/// Returns the areas of each group with their pincodes, largest first.
fn groups(directory: &Directory) -> BTreeMap<Group, Vec<(AreaId, Vec<Pincode>)>> {
    let mut areas: BTreeMap<AreaId, Vec<Pincode>> = BTreeMap::new();
    for (pincode, area) in directory.pincodes() {
        areas.entry(area).or_default().push(pincode);
    }
    let mut groups: BTreeMap<Group, Vec<(AreaId, Vec<Pincode>)>> = BTreeMap::new();
    for (area, pincodes) in areas {
        // Areas of an unknown state cannot be grouped.
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

/// Returns the first pincodes to query: one of every group, largest groups first, then the second ones.
fn places(directory: &Directory) -> Vec<Pincode> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for ((_, kind), areas) in groups(directory) {
        let size: usize = areas.iter().map(|(_, pincodes)| pincodes.len()).sum();
        let Some((_, largest)) = areas.first() else { continue };
        first.push((std::cmp::Reverse(size), largest[largest.len() / 2]));
        if kind == PlaceKind::Metro {
            // A second pincode in the same area is useful, because most orders go there, and because it reveals rules
            // by pincode.
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

/// Returns questions with a second cart for pincodes that were not served with the first one.
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

/// Returns questions with every cart at a pincode of each of the first zones, then with carts between those that got
/// different answers.
fn of_carts(evidence: &Evidence<'_>, carts: &Carts) -> Vec<Question> {
    let mut zones: BTreeMap<&Answer, Vec<Pincode>> = BTreeMap::new();
    // The selection of the first pincodes does not depend on later answers.
    for pincode in places(evidence.directory) {
        if let Some(answer @ Answer::Rates(_)) = evidence.answers.get(&pincode) {
            zones.entry(answer).or_default().push(pincode);
        }
    }
    let mut zones: Vec<Vec<Pincode>> = zones.into_values().collect();
    zones.sort_by_key(|pincodes| (std::cmp::Reverse(pincodes.len()), pincodes[0]));
    // Two pincodes of a single zone are used.
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

/// Returns one more pincode in an area that was not queried. A single pincode is returned, because the choice depends
/// on all answers so far. If one area of a state is refused, a second and a third area of the state are queried first,
/// to find out if the whole state is refused. Areas of groups with different answers follow in rotation. If the store
/// excludes single districts, the largest areas are queried last.
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
                // The rotation counts all areas, so that earlier questions give no group priority.
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

/// Returns pincodes to query again, with the new cart, after a cart became unavailable: one pincode of each of the
/// first zones and, if needed, more of the largest zone.
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
