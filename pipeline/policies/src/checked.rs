//! Checks a language model's proposals against their sentences. The model only names the subject of a sentence. The
//! sentence must contain the amounts, currency, unit, direction of a threshold, region and payment method, and its
//! values are used.

use data_model::{CurrencyCode, FactBasis, ShippingFact, ShippingFactKind, UnknownReason};
use serde::Serialize;

use crate::item::{Days, Item, Sense, names_cod};
use crate::lexicon::Concept;
use crate::pairs::FactMention;
use crate::proposal::Proposal;
use crate::quantity::minor;
use crate::sentence::Sentence;
use crate::settle::{contradicts, says_the_same};
use crate::template::is_template;
use crate::{Pass, Reading, walk};

/// Proposals of a text that are confirmed as facts, and the outcome counts of all proposals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProposalOutcome {
    /// Confirmed facts.
    pub facts: Vec<ShippingFact>,
    /// Outcome counts of all proposals.
    pub counts: ProposalCounts,
}

/// Number of proposals by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ProposalCounts {
    /// Number of proposals accepted as facts.
    pub kept: u64,
    /// Number of proposals about a kind that the rules already read or found undecidable.
    pub known: u64,
    /// Number of proposals that contradict the facts of the rules.
    pub contradicted: u64,
    /// Number of proposals that their sentences do not confirm.
    pub unfound: u64,
}

impl ProposalCounts {
    /// Returns the counts with their names.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, u64); 4] {
        [
            ("kept", self.kept),
            ("known", self.known),
            ("contradicted", self.contradicted),
            ("unfound", self.unfound),
        ]
    }

    /// Adds the counts of another text.
    pub fn add(&mut self, other: Self) {
        self.kept += other.kept;
        self.known += other.known;
        self.contradicted += other.contradicted;
        self.unfound += other.unfound;
    }
}

/// Keeps the proposals that a policy confirms. The rules (`ruled`) must not have read a fact of the same kind in any
/// text of the store.
#[must_use]
pub fn checked(policy: &str, currency: CurrencyCode, proposals: &[Proposal], ruled: &Reading) -> ProposalOutcome {
    let (mut rules, mut kept) = (Pass::default(), Pass::default());
    let mut counts = ProposalCounts::default();
    let mut open: Vec<(&Proposal, String)> = proposals.iter().map(|one| (one, one_line(&one.sentence))).collect();
    walk(policy, currency, |step| {
        kept.take(step, |found| {
            open.retain(|(proposal, sentence)| {
                let is_here = sentence == step.sentence.text;
                let Some(fact) = is_here.then(|| step.sentence.borne_out(proposal)).flatten() else {
                    return true;
                };
                if ruled.facts.iter().any(|known| contradicts(&fact, known)) {
                    counts.contradicted += 1;
                } else if ruled.is_open(fact.kind) {
                    found.add(fact);
                } else {
                    counts.known += 1;
                }
                false
            });
        });
        rules.take(step, |found| step.sentence.read(found))
    });
    let mut facts = kept.found.settle().facts;
    for fact in &mut facts {
        fact.basis = FactBasis::Model;
    }
    counts.kept = facts.len() as u64;
    let settled = counts.kept + counts.known + counts.contradicted;
    counts.unfound = (proposals.len() as u64).saturating_sub(settled);
    ProposalOutcome { facts, counts }
}

impl Reading {
    /// Returns true if the rules read no fact of a kind because the text states none.
    #[must_use]
    pub fn is_open(&self, kind: ShippingFactKind) -> bool {
        let reason = self.unknown.iter().find(|unknown| unknown.kind == kind);
        let is_silent = reason.is_none_or(|unknown| unknown.reason == UnknownReason::NotStated);
        is_silent && self.facts.iter().all(|fact| fact.kind != kind)
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Proposal {
    /// Returns the proposal's amount in minor units if it is in this currency.
    fn minor(&self, currency: CurrencyCode) -> Option<i64> {
        let stated: CurrencyCode = self.currency.as_deref()?.parse().ok()?;
        let thousandths = self.amount.as_ref()?.as_f64()? * 1_000.0;
        let whole = thousandths.round();
        let is_exact = (thousandths - whole).abs() < 1e-6 && (1.0..1e12).contains(&whole);
        let thousandths = (is_exact && stated == currency).then_some(whole as i64)?;
        minor(thousandths, currency)
    }

    fn has_days(&self, days: Days) -> bool {
        let is_min = self.days_min == days.min || self.days_min.is_none() && days.min == days.max;
        is_min && self.days_max == days.max && self.in_working_days == Some(days.in_working_days)
    }
}

impl Sentence<'_> {
    /// Returns the fact that one claim of the sentence confirms for a proposal.
    fn borne_out(&self, proposal: &Proposal) -> Option<ShippingFact> {
        if is_template(self.text, &self.items) {
            return None;
        }
        let mut facts = self.claims().into_iter().filter_map(|claim| claim.bears(proposal));
        let fact = facts.next()?;
        facts.all(|other| says_the_same(&fact, &other)).then_some(fact)
    }

    fn bears(&self, proposal: &Proposal) -> Option<ShippingFact> {
        if self.is_doubtful() {
            return None;
        }
        let fact = match proposal.field {
            ShippingFactKind::FreeShipping => self.bears_threshold(proposal)?,
            ShippingFactKind::Fee => self.bears_fee(proposal)?,
            ShippingFactKind::Cod => self.bears_cod(proposal)?,
            ShippingFactKind::Dispatch | ShippingFactKind::Delivery => self.bears_days(proposal)?,
            _ => return None,
        };
        let region = proposal.region.and_then(crate::places::some);
        (fact.region == region && fact.payment == proposal.payment).then_some(fact)
    }

    /// Returns true if a claim is about something else, or applies only to some orders, goods or times.
    fn is_doubtful(&self) -> bool {
        let apart = [
            Concept::Special,
            Concept::Express,
            Concept::Elsewhere,
            Concept::Promo,
            Concept::Support,
            Concept::Charge,
            Concept::Advance,
            Concept::Hedge,
        ];
        let is_apart = |item: &Item| match item.sense {
            Sense::Money(amount) => amount.is_foreign,
            Sense::Percent(_) | Sense::Grams(_) => true,
            _ => item.means_any(&apart),
        };
        self.is_question
            || self.is_passing()
            || self.is_stray()
            || self.asked.is_apart && !self.is_standard()
            || self.exception().is_some()
            || self.items.iter().any(is_apart)
    }

    /// Returns the position of an amount if the sentence has no other amount and counts nothing else.
    fn only_amount(&self, minor: i64) -> Option<usize> {
        let is_counted = |item: &Item| matches!(item.sense, Sense::Money(_) | Sense::Days(_) | Sense::Clock(_));
        let mut counted = self.items.iter().enumerate().filter(|(_, item)| is_counted(item));
        let (Some((at, only)), None) = (counted.next(), counted.next()) else {
            return None;
        };
        let is_it = matches!(only.sense, Sense::Money(amount) if (amount.min, amount.max) == (minor, minor));
        (is_it && !self.is_of_goods() && !self.has(Concept::Cod) && self.names_way()).then_some(at)
    }

    fn names_way(&self) -> bool {
        let ways = [Concept::Ship, Concept::ShipVerb, Concept::Deliver, Concept::Dispatch];
        self.items.iter().any(|item| item.means_any(&ways))
    }

    fn denies(&self) -> bool {
        self.has(Concept::Not) || self.has(Concept::Ended)
    }

    /// Confirms a threshold: free shipping from an order value on.
    fn bears_threshold(&self, proposal: &Proposal) -> Option<ShippingFact> {
        let minor = proposal.minor(self.currency)?;
        let at = self.only_amount(minor)?;
        let is_only = self.items.iter().any(|item| item.word() == "only");
        let is_priced = !self.has(Concept::Free) && (self.has(Concept::Fee) || is_only);
        let [bound] = self.bounds()[..] else { return None };
        let is_least = bound.at == at && (bound.min, bound.max) == (Some(minor), None) && !self.is_limit(at);
        let mut fact = ShippingFact::new(ShippingFactKind::FreeShipping, self.text);
        fact.region = self.scope_of(at)?;
        fact.payment = self.payment_of(at);
        fact.min_order_minor = bound.min;
        (is_least && !is_priced && !self.denies()).then_some(fact)
    }

    /// Confirms a fee: an amount without a comparison.
    fn bears_fee(&self, proposal: &Proposal) -> Option<ShippingFact> {
        let minor = proposal.minor(self.currency)?;
        let at = self.only_amount(minor)?;
        let is_plain = self.bounds().is_empty() && !self.has(Concept::Free) && !self.denies();
        let is_else = self.is_of_else(at) || self.counts_else(at);
        let mut fact = ShippingFact::new(ShippingFactKind::Fee, self.text);
        fact.region = self.scope_of(at)?;
        fact.payment = self.payment_of(at);
        fact.amount_minor = Some(minor);
        (is_plain && !is_else).then_some(fact)
    }

    /// Confirms cash on delivery. A denial must be present exactly if the proposal denies it.
    fn bears_cod(&self, proposal: &Proposal) -> Option<ShippingFact> {
        let at = self.items.iter().position(|item| item.means(Concept::Cod))?;
        let is_priced =
            |item: &Item| matches!(item.sense, Sense::Money(_)) || item.means_any(&[Concept::Fee, Concept::Free]);
        // A bare `Cash on delivery` may be the heading of any text.
        let is_bound = self.items.iter().any(is_priced) || !self.bounds().is_empty() || names_cod(&self.items);
        let is_some = self.is_unsure(at) || self.is_of_some_cod() || self.denies_other(at);
        let mut fact = ShippingFact::new(ShippingFactKind::Cod, self.text);
        fact.region = self.scope_of(at)?;
        fact.is_available = Some(!self.denies());
        (!is_bound && !is_some && fact.is_available == proposal.is_available).then_some(fact)
    }

    /// Confirms days: the only duration of a claim, unless the rules read it as another kind.
    fn bears_days(&self, proposal: &Proposal) -> Option<ShippingFact> {
        let [(at, days)] = self.spans()[..] else { return None };
        let is_else = self.is_of_else_than_way(at) || self.has_extra_days() || self.has_not_come() || self.is_of_some();
        let has_money = self.items.iter().any(|item| matches!(item.sense, Sense::Money(_)));
        let is_asked = match proposal.field {
            ShippingFactKind::Dispatch => self.asked.dispatch,
            _ => self.asked.delivery,
        };
        let is_thing = self.has(Concept::Order) || self.has(Concept::Parcel) || is_asked;
        let is_about = match self.about(at, !self.places.named.is_empty()) {
            Some(kind) => kind == proposal.field,
            None => is_thing && !self.names_way(),
        };
        let region = self.scope_of_fact(FactMention {
            at,
            kind: proposal.field,
        })?;
        let is_borne = is_about && !is_else && !has_money && !self.denies() && proposal.has_days(days);
        is_borne.then(|| ShippingFact {
            region,
            days_min: days.min,
            days_max: days.max,
            in_working_days: Some(days.in_working_days),
            ..ShippingFact::new(proposal.field, self.text)
        })
    }
}
