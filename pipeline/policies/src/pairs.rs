//! Assigns the regions in a sentence to its facts.

use data_model::{ShippingFactKind, ShippingRegion};

use crate::context::Scope;
use crate::item::Sense;
use crate::lexicon::Concept;
use crate::places::{PlaceMention, some};
use crate::sentence::Sentence;
use crate::words::Words;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FactMention {
    pub(crate) at: usize,
    pub(crate) kind: ShippingFactKind,
}

impl Sentence<'_> {
    /// Returns the region of a fact at a position. The outer `None` means an unknown region.
    pub(crate) fn scope_of(&self, at: usize) -> Option<Option<ShippingRegion>> {
        let kind = ShippingFactKind::Cod;
        self.scope_of_fact(FactMention { at, kind })
    }

    pub(crate) fn scope_of_fact(&self, fact: FactMention) -> Option<Option<ShippingRegion>> {
        self.scopes(&[fact]).first().copied().flatten()
    }

    /// Returns the region of each fact, in text order.
    pub(crate) fn scopes(&self, told: &[FactMention]) -> Vec<Option<Option<ShippingRegion>>> {
        if self.places.is_unclear {
            return vec![None; told.len()];
        }
        let paired = self.paired(told);
        let around = |kind: ShippingFactKind| match self.asked.scope {
            // Dispatch does not depend on the destination.
            _ if kind == ShippingFactKind::Dispatch && !self.asked.is_headed => Some(None),
            Scope::Everywhere => Some(None),
            // In `We ship abroad. COD is not available.`, the region of the second sentence is unclear.
            _ if kind == ShippingFactKind::Cod && !self.asked.is_headed => None,
            Scope::Region(region) => Some(some(region)),
            Scope::Unsure => None,
        };
        let with = paired.into_iter().zip(told);
        with.map(|(pair, fact)| match pair {
            Pair::Of(region) => Some(some(region)),
            Pair::Alone => around(fact.kind),
            Pair::Unsure => None,
        })
        .collect()
    }

    fn paired(&self, told: &[FactMention]) -> Vec<Pair> {
        if self.places.kinds() == [ShippingRegion::Domestic] {
            return vec![Pair::Of(ShippingRegion::Domestic); told.len()];
        }
        let mut pairs: Vec<Option<Pair>> = vec![None; told.len()];
        let mut left = self.places.named.clone();
        // A region belongs to dispatch only if it precedes dispatch or is in its clause.
        for (pair, FactMention { at, kind }) in pairs.iter_mut().zip(told) {
            let clause = self.items[*at].clause;
            let mut near = left
                .iter()
                .filter(|place| place.at < *at || self.items[place.at].clause == clause);
            if *kind == ShippingFactKind::Dispatch && near.next().is_none() {
                *pair = Some(Pair::Alone);
            }
        }
        self.pair_brackets(told, &mut left, &mut pairs);
        let sequence = self.sequence(told, &left, &pairs);
        self.pair_sequence(told, &sequence, &mut pairs);
        pairs.into_iter().map(|pair| pair.unwrap_or(Pair::Alone)).collect()
    }

    /// Pairs regions and facts with brackets: `5 days (metro)`, `metro (5 days)`, `(North East: 7 days)`.
    fn pair_brackets(&self, told: &[FactMention], left: &mut Vec<PlaceMention>, pairs: &mut [Option<Pair>]) {
        let is = |at: usize, sign: char| self.items[at].sense == Sense::Sign(sign);
        let mut at = 0;
        while let Some(open) = (at..self.items.len()).find(|at| is(*at, '(')) {
            let close = (open + 1..self.items.len()).find(|at| is(*at, ')'));
            let close = close.unwrap_or(self.items.len());
            at = close;
            let within = |one: usize| open < one && one < close;
            let mut kinds: Vec<ShippingRegion> = left
                .iter()
                .filter(|place| within(place.at))
                .map(|place| place.region)
                .collect();
            kinds.dedup();
            let inside: Vec<usize> = (0..told.len()).filter(|index| within(told[*index].at)).collect();
            let before = (0..told.len()).rfind(|index| told[*index].at + 1 == open);
            let (pair, index) = match (&kinds[..], &inside[..], before) {
                ([region], [index], _) => (Pair::Of(*region), *index),
                ([region], [], Some(index)) => (Pair::Of(*region), index),
                ([], [index], _) => {
                    let Some(PlaceMention { region, .. }) = left.iter().find(|place| place.at + 1 == open).copied()
                    else {
                        continue;
                    };
                    left.retain(|place| place.at + 1 != open);
                    (Pair::Of(region), *index)
                }
                _ => continue,
            };
            pairs[index] = Some(pair);
            left.retain(|place| !within(place.at));
        }
    }

    /// Returns the remaining regions and facts in text order.
    fn sequence(&self, told: &[FactMention], left: &[PlaceMention], pairs: &[Option<Pair>]) -> Vec<Step> {
        let mut marks: Vec<(usize, Step)> = left
            .iter()
            .map(|place| (place.at, Step::Place(place.at, Some(place.region))))
            .collect();
        let open = (0..told.len()).filter(|index| pairs[*index].is_none());
        marks.extend(open.map(|index| (told[index].at, Step::Told(index))));
        marks.sort_by_key(|(at, _)| *at);
        let mut sequence: Vec<Step> = Vec::new();
        for (_, step) in marks {
            if let (Some(Step::Place(held_at, held)), Step::Place(at, Some(new))) = (sequence.last().copied(), step) {
                let is_near =
                    self.items[held_at].clause + 1 >= self.items[at].clause && self.is_joined(held_at + 1, at);
                let is_both = self.items[held_at..at]
                    .iter()
                    .any(|item| item.means(Concept::Break) || item.sense == Sense::Sign('&'));
                let joined = match held {
                    Some(held) if held == new => Some(held),
                    // `The mainland and the islands` covers both.
                    Some(held) if is_both && (held == ShippingRegion::Domestic || new == ShippingRegion::Domestic) => {
                        Some(ShippingRegion::Domestic)
                            .filter(|_| held != ShippingRegion::Abroad && new != ShippingRegion::Abroad)
                    }
                    // In `within Mumbai, India` and `North East India`, the narrower region counts.
                    Some(ShippingRegion::Domestic) if new != ShippingRegion::Abroad && is_near => Some(new),
                    Some(held) if new == ShippingRegion::Domestic && held != ShippingRegion::Abroad && is_near => {
                        Some(held)
                    }
                    _ => None,
                };
                sequence.pop();
                sequence.push(Step::Place(at, joined));
            } else {
                sequence.push(step);
            }
        }
        sequence
    }

    /// Returns true if two regions are not separated: `across India bar the islands`.
    fn is_joined(&self, from: usize, to: usize) -> bool {
        const JOINS: Words = Words("the, of, in, to, our, other, der, la");
        let mut between = self.items[from..to].iter();
        between.all(|item| !matches!(&item.sense, Sense::Word(word) if !JOINS.has(word.as_str())))
    }

    fn pair_sequence(&self, told: &[FactMention], sequence: &[Step], pairs: &mut [Option<Pair>]) {
        let of = |region: Option<ShippingRegion>| Some(region.map_or(Pair::Unsure, Pair::Of));
        let clause = |at: usize| self.items[at].clause;
        // A region belongs to a fact in the same clause. One punctuation mark may separate a region from the fact after
        // it.
        let is_with = |place: usize, index: usize| clause(place) == clause(told[index].at);
        let is_before = |place: usize, index: usize| {
            let between = self.items.get(place + 1).map(|item| &item.sense);
            is_with(place, index) || matches!(between, Some(Sense::Sign(':' | '-' | '=')))
        };
        let all = |pairs: &mut [Option<Pair>], pair: Pair| {
            for step in sequence {
                if let Step::Told(index) = step {
                    pairs[*index] = Some(pair);
                }
            }
        };
        match *sequence {
            [] => {}
            [Step::Told(_)] => {}
            [Step::Place(_, region), Step::Told(index)] | [Step::Told(index), Step::Place(_, region)] => {
                pairs[index] = of(region);
            }
            [
                Step::Place(one, region),
                Step::Told(index),
                Step::Place(other, other_region),
            ] => {
                pairs[index] = match (is_with(one, index), is_with(other, index)) {
                    (_, false) => of(region),
                    (false, true) => of(other_region),
                    (true, true) => Some(Pair::Unsure),
                };
            }
            [Step::Told(first), Step::Told(second), Step::Place(place, region)] => {
                // In `4 to 6 days, and up to 10 days in remote areas`, the region belongs to the second fact.
                let is_last = is_with(place, second) && !is_with(place, first);
                pairs[second] = if is_last { of(region) } else { Some(Pair::Unsure) };
                pairs[first] = if is_last { None } else { Some(Pair::Unsure) };
            }
            _ if sequence.iter().all(|step| matches!(step, Step::Told(_))) => {}
            _ if is_turn(sequence) => {
                let leads = matches!(sequence[0], Step::Place(..));
                for pair in sequence.chunks(2) {
                    match *pair {
                        [Step::Place(_, region), Step::Told(index)] if leads => pairs[index] = of(region),
                        [Step::Told(index), Step::Place(_, region)] => pairs[index] = of(region),
                        _ => {}
                    }
                }
            }
            [Step::Told(_), ref rest @ ..] if is_turn(rest) && matches!(rest[0], Step::Place(..)) => {
                let is_forward = rest.chunks(2).all(|pair| match *pair {
                    [Step::Place(place, _), Step::Told(index)] => is_before(place, index),
                    _ => false,
                });
                all(pairs, Pair::Unsure);
                if is_forward {
                    pairs[first_told(sequence)] = None;
                    for pair in rest.chunks(2) {
                        if let [Step::Place(_, region), Step::Told(index)] = *pair {
                            pairs[index] = of(region);
                        }
                    }
                }
            }
            [Step::Place(_, region), ref rest @ ..] if rest.iter().all(|step| matches!(step, Step::Told(_))) => {
                // In `In metros shipping is 50, free above 999`, one region applies to several facts.
                let mut kinds: Vec<ShippingFactKind> = told.iter().map(|fact| fact.kind).collect();
                kinds.sort_unstable();
                let is_one_each = kinds.windows(2).all(|pair| pair[0] != pair[1]);
                all(pairs, region.filter(|_| is_one_each).map_or(Pair::Unsure, Pair::Of));
            }
            _ => all(pairs, Pair::Unsure),
        }
    }
}

fn first_told(sequence: &[Step]) -> usize {
    let told = sequence.iter().find_map(|step| match step {
        Step::Told(index) => Some(*index),
        Step::Place(..) => None,
    });
    told.unwrap_or_default()
}

/// Returns true if regions and facts alternate in equal numbers.
fn is_turn(sequence: &[Step]) -> bool {
    let is_place = |step: &Step| matches!(step, Step::Place(..));
    let takes_turns = sequence.windows(2).all(|pair| is_place(&pair[0]) != is_place(&pair[1]));
    !sequence.is_empty() && sequence.len().is_multiple_of(2) && takes_turns
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pair {
    Of(ShippingRegion),
    /// The fact has no region.
    Alone,
    Unsure,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Place(usize, Option<ShippingRegion>),
    Told(usize),
}
