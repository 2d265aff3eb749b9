//! Splits a sentence at commas, punctuation marks and words into claims. Each claim is an independent statement.

use crate::context::Context;
use crate::item::{Item, Sense, names_cod, refers_back};
use crate::lexicon::Concept;
use crate::numbers::is_count;
use crate::places::Places;
use crate::sentence::{Sentence, is_longer};
use crate::words::Words;

/// Role of the words between two separators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// The words are a statement about shipping that is complete without other text.
    Claim,
    /// The words only name cash on delivery, as in a banner.
    Mark,
    /// The words are about another topic: returns, a discount, support.
    Other,
    /// Nothing depends on the words: `made with love`.
    Inert,
    /// The words are a condition, region or amount that belongs to a neighbouring segment.
    Part,
}

#[derive(Debug, Clone, Copy)]
struct Segment {
    from: usize,
    to: usize,
    weight: Weight,
    /// True if the segment depends on its neighbour: `if …`, `in case of …`, `not on …`.
    is_bound: bool,
}

impl Segment {
    fn is_told(&self) -> bool {
        matches!(self.weight, Weight::Claim | Weight::Mark)
    }
}

const WAYS: [Concept; 4] = [Concept::Ship, Concept::ShipVerb, Concept::Deliver, Concept::Dispatch];
/// Maximum number of items in a bare name of another topic in a banner: `easy 7-day returns`.
const NAME_MAX: usize = 4;
/// Words that start a segment which depends on its neighbour.
const BINDS: Words = Words(
    "if, when, while, in, on, for, with, to, by, via, at, as, which, that, who, during, upon, per, of, only, \
     just, excl, plus, provided, bei, auf, mit, fur, zu, nur, sur, pour, avec, en, con, para, por, solo, sirf, \
     agar, also, depending",
);
/// Words that start a condition.
pub(crate) const IF: Words = Words("if, when, whenever, wenn, falls, si, quand, cuando, agar");
/// Words that start a reward for the preceding condition.
pub(crate) const GAINS: Words = Words("get, gets, enjoy, avail, receive, unlock, earn");

impl<'a> Sentence<'a> {
    /// Returns the claims, each as its own sentence together with the lead that applies to all of them.
    pub(crate) fn claims(&self) -> Vec<Self> {
        let segments = self.segments();
        let groups = self.grouped(&segments);
        let is_shared = |pair: &[Segment]| pair[1].weight == Weight::Other && self.is_shared(&pair[0], &pair[1]);
        if groups.len() < 2 && !segments.windows(2).any(is_shared) {
            return vec![self.clone()];
        }
        let lead = self.lead(&segments);
        let is_claim = |group: &&Vec<Segment>| group.iter().any(Segment::is_told);
        groups
            .iter()
            .filter(is_claim)
            .map(|group| self.claim(group, &lead))
            .collect()
    }

    /// Returns the segments between separators. Text within brackets is not split.
    fn segments(&self) -> Vec<Segment> {
        let (mut out, mut from, mut depth) = (Vec::new(), 0, 0_usize);
        for (at, item) in self.items.iter().enumerate() {
            match item.sense {
                Sense::Sign('(' | '[') => depth += 1,
                Sense::Sign(')' | ']') => depth = depth.saturating_sub(1),
                _ if depth == 0 && self.is_joint(at) => {
                    out.extend(self.segment(from, at));
                    from = at + 1;
                }
                _ => {}
            }
        }
        out.extend(self.segment(from, self.items.len()));
        out
    }

    fn is_joint(&self, at: usize) -> bool {
        match &self.items[at].sense {
            // `40 + 50` and `40 + 18% tax` are sums, so that the plus does not separate claims.
            Sense::Sign('+') => {
                !matches!(
                    self.items[at + 1..],
                    [
                        Item {
                            sense: Sense::Money(_),
                            ..
                        },
                        ..
                    ]
                ) && !matches!(&self.items[at + 1..], [Item { sense: Sense::Percent(_), .. }, tax, ..] if tax.means(Concept::Charge))
            }
            Sense::Sign(sign) => matches!(sign, ',' | '&' | '/' | '-'),
            Sense::Means(concepts, _) => concepts.contains(&Concept::Break),
            _ => false,
        }
    }

    fn segment(&self, from: usize, to: usize) -> Option<Segment> {
        let items = self.items.get(from..to).filter(|items| !items.is_empty())?;
        let binds = [
            Concept::Hedge,
            Concept::Not,
            Concept::Except,
            Concept::Within,
            Concept::Following,
        ];
        let is_bound = items[0].means_any(&binds)
            || BINDS.has(items[0].word())
            || items
                .iter()
                .any(|item| item.word() == "only" || item.means(Concept::Except));
        let weight = self.weight(items);
        // `No-questions-asked returns` is a name and not a denial.
        let is_name = weight == Weight::Other && items[0].word() == "no";
        let is_bound = is_bound && !is_name && !is_longer(items);
        Some(Segment {
            from,
            to,
            weight,
            is_bound,
        })
    }

    fn weight(&self, items: &[Item]) -> Weight {
        let has = |concepts: &[Concept]| items.iter().any(|item| item.means_any(concepts));
        let is = |test: fn(&Sense) -> bool| items.iter().any(|item| test(&item.sense));
        let has_way = has(&WAYS);
        if is_longer(items) {
            return Weight::Inert;
        }
        // A condition such as `if you choose cash on delivery` is not a claim.
        if IF.has(items[0].word()) {
            return Weight::Part;
        }
        let is_free = has(&[Concept::Free]) && has_way || items.iter().any(Item::names_free_shipping);
        let is_cut = has(&[Concept::SameDay]) && is(|sense| matches!(sense, Sense::Clock(_)));
        let is_timed = is_cut || has_way && is(|sense| matches!(sense, Sense::Days(_) | Sense::Weekdays(_)));
        let has_price = is(|sense| matches!(sense, Sense::Money(_))) || has(&[Concept::Not]);
        let is_priced = has(&[Concept::Fee]) && (has_way || has(&[Concept::Cod, Concept::Order])) && has_price
            || has(&[Concept::Ship]) && is(|sense| matches!(sense, Sense::Money(_)));
        let is_limit =
            has(&[Concept::UpTo, Concept::Below, Concept::Above]) && is(|sense| matches!(sense, Sense::Money(_)));
        let is_cod = has(&[Concept::Cod]) && (is_limit || has(&[Concept::Offered, Concept::Not, Concept::Ended]));
        if is_free || is_timed || is_priced || is_cod {
            return Weight::Claim;
        }
        if names_cod(items) {
            return Weight::Mark;
        }
        // `Secure online payments` is about payments, but `on prepaid orders` is not.
        let is_payment = has(&[Concept::Prepaid]) && !has(&[Concept::Order]) && !BINDS.has(items[0].word());
        if is_payment || has(&[Concept::Promo, Concept::Stray, Concept::Support, Concept::Charge]) {
            return Weight::Other;
        }
        // `Trusted by 10,000 customers` contains a count.
        let counts = |at: usize, number: i64| {
            number >= 100_000 && matches!(items.get(at + 1).map(|item| &item.sense), Some(Sense::Word(_)))
        };
        let is_inert = |(at, item): (usize, &Item)| match item.sense {
            Sense::Bare(number, _) => counts(at, number),
            // `Pick any three and we ship free` is a condition, so a counting word is relevant.
            Sense::Word(ref word) if is_count(word) => false,
            _ => item.word() == "by" || matches!(item.sense, Sense::Word(_) | Sense::Sign(_) | Sense::Percent(_)),
        };
        if items.iter().enumerate().all(is_inert) {
            return Weight::Inert;
        }
        Weight::Part
    }

    fn grouped(&self, segments: &[Segment]) -> Vec<Vec<Segment>> {
        let mut groups: Vec<Vec<Segment>> = Vec::new();
        for segment in segments {
            // A condition belongs to the claim before it, regardless of irrelevant text between them.
            let is_claim = |group: &Vec<Segment>| group.iter().any(Segment::is_told);
            if segment.weight == Weight::Part
                && let Some(between) = groups.pop_if(|group| !is_claim(group))
            {
                match groups.last_mut() {
                    Some(claim) => claim.extend(between),
                    None => groups.push(between),
                }
            }
            match groups.last_mut() {
                Some(group) if !self.is_parted(group, segment) => group.push(*segment),
                _ => groups.push(vec![*segment]),
            }
        }
        groups
    }

    /// Returns true if a new claim begins with this segment.
    fn is_parted(&self, group: &[Segment], next: &Segment) -> bool {
        let is_core = |segment: &Segment| segment.is_told() || segment.weight == Weight::Other;
        let Some(at) = group.iter().rposition(is_core) else {
            // `Made with love & COD available` splits here, but `Sofas – delivery in 10 days` is about sofas.
            let is_inert = group
                .iter()
                .all(|segment| segment.weight == Weight::Inert && !segment.is_bound);
            let is_label = next.from > 0 && self.items[next.from - 1].sense == Sense::Sign('-');
            return next.is_told() && is_inert && !is_label;
        };
        let (core, tail) = (&group[at], &group[at + 1..]);
        let first = &self.items[next.from];
        // `A fee applies to such orders` refers to the claim before it.
        let refers = |item: &Item| {
            matches!(
                item.word(),
                "such" | "these" | "those" | "diese" | "diesen" | "ces" | "estos"
            )
        };
        let compares = |pair: &[Item]| pair[0].means_any(&[Concept::Above, Concept::Below]) && refers_back(&pair[1]);
        let items = &self.items[next.from..next.to];
        let is_else = |item: &Item| item.word() == "bigger" || item.word() == "smaller" || item.word() == "larger";
        if items.iter().any(is_else) || items.iter().any(refers) || items.windows(2).any(compares) {
            return false;
        }
        match (core.weight, next.weight) {
            (_, Weight::Part) | (Weight::Other, Weight::Other | Weight::Inert) => false,
            (_, Weight::Claim) if first.means_any(&[Concept::Hedge, Concept::Except]) => false,
            // `Free shipping, COD` is split, but not `on UPI, COD`.
            (Weight::Claim, Weight::Mark) => {
                let has_money = self.items[core.from..core.to]
                    .iter()
                    .any(|item| matches!(item.sense, Sense::Money(_)));
                tail.is_empty() && (has_money || core.to - core.from < NAME_MAX) && !self.names_cod(core)
            }
            (Weight::Claim | Weight::Mark, Weight::Claim) => {
                // A region between two claims may belong to either claim.
                !tail.iter().any(|segment| self.names_place(segment)) && !self.shares_exception(core, next)
            }
            (Weight::Claim | Weight::Mark, _) => !next.is_bound && !self.is_shared(core, next),
            (_, Weight::Claim) => {
                let is_name = core.to - core.from <= NAME_MAX && !core.is_bound;
                // In `Subscribe and get free shipping`, the first words are a condition.
                let is_bare = next.to - next.from < NAME_MAX;
                let is_name_alone = self.items[core.from].means_any(&[Concept::Stray, Concept::Promo]);
                let is_asked = is_name_alone && (is_bare || GAINS.has(first.word()));
                is_name && at == 0 && tail.is_empty() && !is_asked
            }
            _ => false,
        }
    }

    fn names_cod(&self, segment: &Segment) -> bool {
        self.items[segment.from..segment.to]
            .iter()
            .any(|item| item.means(Concept::Cod))
    }

    fn names_place(&self, segment: &Segment) -> bool {
        let mut named = self.places.named.iter();
        named.any(|place| (segment.from..segment.to).contains(&place.at))
    }

    /// Returns true if the exception may apply to both segments: `Free shipping and COD available except in the North
    /// East`.
    fn shares_exception(&self, one: &Segment, other: &Segment) -> bool {
        let has = |segment: &Segment, concept| {
            self.items[segment.from..segment.to]
                .iter()
                .any(|item| item.means(concept))
        };
        let is_bare = one.to - one.from <= NAME_MAX && has(one, Concept::Free) && !self.names_place(one);
        is_bare && has(other, Concept::Except)
    }

    /// Returns true if the same bound applies to both segments: `Free shipping and returns on orders above 999`.
    fn is_shared(&self, one: &Segment, other: &Segment) -> bool {
        let ends = self.items[one.to - 1].means(Concept::Ship);
        let names = self.items[other.from].means_any(&[Concept::Stray, Concept::Promo, Concept::Charge]);
        ends && names && other.to > other.from + 1
    }

    /// Returns the lead before the first claim, which applies to every claim: `Within India, …`.
    fn lead(&self, segments: &[Segment]) -> Vec<Item> {
        let is_lead =
            |segment: &&Segment| segment.weight == Weight::Part || segment.weight == Weight::Inert && segment.is_bound;
        let last = segments.iter().take_while(is_lead).last();
        let ends = last.map_or(0, |segment| segment.to);
        let is_comma = self.items.get(ends).is_some_and(|item| item.sense == Sense::Sign(','));
        if is_comma {
            return self.items[..=ends].to_vec();
        }
        // In `International shipping: flat 1500, delivered in 7 days`, the region applies to both claims.
        let is_told = |item: &Item| matches!(item.sense, Sense::Money(_) | Sense::Days(_)) || item.means(Concept::Free);
        let told = self.items.iter().position(is_told).unwrap_or(0);
        let before = self.places.named.iter().take_while(|place| place.at < told);
        before.map(|place| self.items[place.at].clone()).collect()
    }

    /// Builds a claim and adds the items of `lead`, unless the claim itself names a region or payment method.
    fn claim(&self, group: &[Segment], lead: &[Item]) -> Self {
        let mut items: Vec<Item> = Vec::new();
        let (from, to) = (
            group.first().map_or(0, |one| one.from),
            group.last().map_or(0, |one| one.to),
        );
        let places = Places::of(&self.items[from..to], self.text, self.currency);
        let is_own = !places.named.is_empty() || self.items[from..to].iter().any(|item| item.means(Concept::Cod));
        if from > 0 && !is_own {
            items.extend_from_slice(lead);
        }
        let mut before: Option<&Segment> = None;
        for segment in group {
            let is_shared =
                before.is_some_and(|before| segment.weight == Weight::Other && self.is_shared(before, segment));
            match before {
                Some(before) if !is_shared => items.extend_from_slice(&self.items[before.to..segment.from]),
                _ => {}
            }
            items.extend_from_slice(&self.items[segment.from + usize::from(is_shared)..segment.to]);
            before = Some(segment);
        }
        let places = Places::of(&items, self.text, self.currency);
        let asked = Context {
            is_marked: true,
            ..self.asked
        };
        Self {
            items,
            places,
            asked,
            ..*self
        }
    }
}
