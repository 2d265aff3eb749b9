//! Combines the facts of all sentences of a text. Contradictory facts are unknown.

use data_model::{PaymentKind, ShippingFact, ShippingFactKind, ShippingRegion, UnknownReason, UnknownTerm};

use crate::Reading;

/// Maximum number of facts of one text.
const FACTS_MAX: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct SentenceFacts {
    facts: Vec<ShippingFact>,
    /// Facts of banner phrases such as `Free shipping!`. They apply only without a more specific fact.
    marks: Vec<ShippingFact>,
    unknown: Vec<UnknownTerm>,
    /// First sentence that mentions the dispatch. Without one, days of delivery count from the order.
    dispatch: Option<String>,
}

impl SentenceFacts {
    pub(crate) fn add(&mut self, fact: ShippingFact) {
        if self.facts.len() < FACTS_MAX {
            self.facts.push(fact);
        }
    }

    pub(crate) fn mark(&mut self, fact: ShippingFact) {
        if self.marks.len() < FACTS_MAX {
            self.marks.push(fact);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.facts.len()
    }

    /// Discards the facts after the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.facts.truncate(len);
        self.marks.clear();
    }

    pub(crate) fn note_template(&mut self, kind: ShippingFactKind, sentence: &str) {
        self.note(kind, UnknownReason::Template, Some(sentence));
    }

    pub(crate) fn note_elsewhere(&mut self, kind: ShippingFactKind, sentence: &str) {
        self.note(kind, UnknownReason::ToldElsewhere, Some(sentence));
    }

    pub(crate) fn note_foreign(&mut self, sentence: &str) {
        for kind in [ShippingFactKind::FreeShipping, ShippingFactKind::Fee] {
            self.note(kind, UnknownReason::OtherCurrency, Some(sentence));
        }
    }

    pub(crate) fn mention_dispatch(&mut self, sentence: &str) {
        self.dispatch.get_or_insert_with(|| sentence.to_owned());
    }

    fn note(&mut self, kind: ShippingFactKind, reason: UnknownReason, sentence: Option<&str>) {
        if !self.unknown.iter().any(|unknown| unknown.kind == kind) {
            let sentence = sentence.map(str::to_owned);
            self.unknown.push(UnknownTerm { kind, reason, sentence });
        }
    }

    /// Adds facts that follow from stated ones, and facts of banner phrases that no statement replaces.
    fn imply(&mut self) {
        use ShippingFactKind::{Cod, CodAdvance, CodFee, Fee, FreeShipping};
        // Cash on delivery with a fee is available.
        if !self.facts.iter().any(|fact| fact.kind == Cod) {
            let is_of_cod = |fact: &&ShippingFact| {
                matches!(fact.kind, CodFee | CodAdvance) || fact.payment == Some(PaymentKind::Cod)
            };
            let priced = self.facts.iter().find(is_of_cod);
            let implied = priced.map(|priced| ShippingFact {
                region: priced.region,
                is_available: Some(true),
                ..ShippingFact::new(Cod, priced.sentence.clone())
            });
            self.facts.extend(implied);
        }
        for mark in std::mem::take(&mut self.marks) {
            let tells = |fact: &ShippingFact| match mark.kind {
                Cod => fact.kind == Cod,
                _ => matches!(fact.kind, Fee | FreeShipping) && fact.is_general(),
            };
            if !self.facts.iter().any(tells) {
                self.facts.push(mark);
            }
        }
    }

    /// Returns the facts that are valid for the whole text.
    pub(crate) fn settle(mut self) -> Reading {
        self.facts = widened(std::mem::take(&mut self.facts));
        self.imply();
        self.facts.dedup_by(|one, other| says_the_same(one, other));
        // `7 working days` is more precise than `7 days`.
        let exact = self.facts.clone();
        self.facts.retain(|fact| {
            let working = ShippingFact {
                in_working_days: Some(true),
                ..fact.clone()
            };
            fact.in_working_days != Some(false) || !exact.iter().any(|other| says_the_same(&working, other))
        });
        let mut kept: Vec<ShippingFact> = Vec::new();
        let mut contrary: Vec<ShippingFact> = Vec::new();
        for fact in &self.facts {
            if kept.iter().any(|one| says_the_same(one, fact)) {
                continue;
            }
            if self.facts.iter().any(|other| contradicts(fact, other)) {
                contrary.push(fact.clone());
            } else {
                kept.push(fact.clone());
            }
        }
        for fact in &contrary {
            if !kept.iter().any(|kept| kept.kind == fact.kind) {
                self.unknown.retain(|unknown| unknown.kind != fact.kind);
                self.note(fact.kind, UnknownReason::Contradiction, Some(&fact.sentence));
            }
        }
        kept = merged_cod(kept);
        kept.sort_by_key(|fact| fact.kind);
        self.unknown
            .retain(|unknown| !kept.iter().any(|fact| fact.kind == unknown.kind));
        for kind in &ShippingFactKind::ALL {
            if !kept.iter().any(|fact| fact.kind == *kind) {
                let mention = self.dispatch.take_if(|_| *kind == ShippingFactKind::Dispatch);
                self.note(*kind, UnknownReason::NotStated, mention.as_deref());
            }
        }
        self.unknown.sort_by_key(|unknown| unknown.kind);
        Reading {
            facts: kept,
            unknown: self.unknown,
        }
    }
}

pub(crate) fn says_the_same(one: &ShippingFact, other: &ShippingFact) -> bool {
    let plain = |fact: &ShippingFact| ShippingFact {
        sentence: String::new(),
        source_url: None,
        ..fact.clone()
    };
    plain(one) == plain(other)
}

/// Combines facts that a sentence lists separately for groups of one region: `Tier-2 4-6 days, tier-3 6-8 days`.
fn widened(facts: Vec<ShippingFact>) -> Vec<ShippingFact> {
    let mut out: Vec<ShippingFact> = Vec::new();
    for fact in facts {
        let is_grouped = matches!(
            fact.region,
            Some(ShippingRegion::Rest | ShippingRegion::Remote | ShippingRegion::Metro)
        );
        let same = out.iter_mut().find(|held| {
            let of_one = (held.kind, held.region, held.payment) == (fact.kind, fact.region, fact.payment);
            is_grouped && fact.kind == ShippingFactKind::Delivery && of_one && held.sentence == fact.sentence
        });
        match same {
            Some(held) => {
                held.days_min = held.days_min.zip(fact.days_min).map(|(one, other)| one.min(other));
                held.days_max = held.days_max.zip(fact.days_max).map(|(one, other)| one.max(other));
            }
            None => out.push(fact),
        }
    }
    out
}

pub(crate) fn contradicts(one: &ShippingFact, other: &ShippingFact) -> bool {
    use ShippingFactKind::{Cod, CodAdvance, CodFee, CutOff, Delivery, Dispatch, Fee, FreeShipping, WorkingDays};
    let of_one = one.region == other.region && one.payment == other.payment;
    match (one.kind, other.kind) {
        (Dispatch, Dispatch) | (Delivery, Delivery) => {
            of_one && (one.days_min, one.days_max) != (other.days_min, other.days_max)
        }
        (FreeShipping, FreeShipping) => of_one && one.min_order_minor != other.min_order_minor,
        (Fee, Fee) | (CodFee, CodFee) => {
            let amounts = |fact: &ShippingFact| (fact.amount_minor, fact.amount_max_minor);
            of_one && amounts(one) != amounts(other) && weights_meet(one, other) && overlaps(one, other)
        }
        (Fee, FreeShipping) | (FreeShipping, Fee) => {
            let is_all = |fact: &ShippingFact| fact.kind == FreeShipping && fact.min_order_minor == Some(0);
            of_one && (is_all(one) || is_all(other)) && one.max_grams.is_none()
        }
        (Cod, Cod) => {
            let denies = |fact: &ShippingFact| fact.is_available == Some(false);
            one.region == other.region && denies(one) != denies(other)
        }
        (CodAdvance, CodAdvance) => (one.percent, one.amount_minor) != (other.percent, other.amount_minor),
        (CutOff, CutOff) => one.minute_of_day != other.minute_of_day,
        (WorkingDays, WorkingDays) => one.weekdays != other.weekdays,
        _ => false,
    }
}

fn weights_meet(one: &ShippingFact, other: &ShippingFact) -> bool {
    one.max_grams == other.max_grams
}

/// Returns true if another fee also claims the order values of a fee. A fee with bounds is an exception to a fee without
/// bounds, so it holds beside it. The fee without bounds is contradicted, because its other orders are not stated.
fn overlaps(one: &ShippingFact, other: &ShippingFact) -> bool {
    let is_bounded = |fact: &ShippingFact| fact.min_order_minor.or(fact.max_order_minor).is_some();
    if is_bounded(one) && !is_bounded(other) {
        return false;
    }
    let (low, high) = (
        |fact: &ShippingFact| fact.min_order_minor.unwrap_or(0),
        |fact: &ShippingFact| fact.max_order_minor.unwrap_or(i64::MAX),
    );
    low(one) < high(other) && low(other) < high(one)
}

/// Combines `above 299` and `not above 2000` into one range.
fn merged_cod(facts: Vec<ShippingFact>) -> Vec<ShippingFact> {
    let mut out: Vec<ShippingFact> = Vec::new();
    for fact in facts {
        let held = out.iter_mut().find(|held| {
            (held.kind, held.region) == (ShippingFactKind::Cod, fact.region) && fact.kind == ShippingFactKind::Cod
        });
        let Some(held) = held else {
            out.push(fact);
            continue;
        };
        held.min_order_minor = held.min_order_minor.max(fact.min_order_minor);
        held.max_order_minor = match (held.max_order_minor, fact.max_order_minor) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        if !held.sentence.contains(&fact.sentence) {
            held.sentence = format!("{} {}", held.sentence, fact.sentence);
        }
    }
    out
}
