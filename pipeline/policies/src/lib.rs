//! Reads what a store's text says of shipping: from which order value it is free, what it costs, whether there is cash on
//! delivery, how long dispatch and delivery take, until when and on which days orders are handled.
//!
//! In: the HTML or plain text of a policy, and the store's currency. Out: facts, each with the sentence that it was
//! read from, and for every kind without one the reason. English as it is written in India, Hindi in Latin letters,
//! German, French and Spanish.
//!
//! A language model may propose facts where prose says more than the grammar reads ([`proposals`]); [`checked`] keeps those that
//! the sentence that they name bears out.
//!
//! It is a small grammar over amounts, durations, regions and payments, with a vocabulary: no sentence is known as a whole.
//! It never does I/O, never reads a clock, and never guesses: what is contradicted, left blank or hedged is not a fact.

mod bounds;
mod checked;
mod claims;
mod cod;
mod context;
mod exceptions;
mod fees;
mod free;
mod handling;
mod html;
mod item;
mod lexicon;
mod numbers;
mod objects;
mod pairs;
mod passing;
mod places;
mod policy;
mod prices;
mod proposal;
mod quantity;
mod sections;
mod sentence;
mod settle;
mod spans;
mod template;
mod text;
mod token;
mod weekday;
mod words;

pub use checked::{ProposalCounts, ProposalOutcome, checked};
pub use policy::policy;
pub use proposal::{Proposal, ProposalError, proposals, sentences};

use data_model::{CurrencyCode, ShippingFact, UnknownTerm};

use crate::sentence::Sentence;

/// The facts that a text states of shipping.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// The facts.
    pub facts: Vec<ShippingFact>,
    /// Terms that it leaves open, each kind at most once.
    pub unknown: Vec<UnknownTerm>,
}

/// Reads a policy. Amounts that bear no mark of a currency, or one that several have (`Rs`, `$`), are in the store's own;
/// those of another are not read. At most the first 512 KiB and 2,000 sentences are looked at.
#[must_use]
pub fn read(policy: &str, currency: CurrencyCode) -> Reading {
    let mut pass = Pass::default();
    walk(policy, currency, |step| {
        pass.take(step, |found| step.sentence.read(found))
    });
    pass.found.settle()
}

/// A sentence in its place.
struct Step<'s> {
    sentence: &'s Sentence<'s>,
    /// Its line begins a paragraph.
    begins: bool,
    /// The sentence before it does not hold.
    withdraws: bool,
    /// It may state something itself.
    is_read: bool,
}

/// One pass over the sentences of a text, so far.
#[derive(Default)]
struct Pass {
    found: settle::SentenceFacts,
    /// The number of facts that stand before the last sentence.
    last: usize,
}

impl Pass {
    /// Goes on by a sentence, whose facts `read` adds; gives whether there are more now.
    fn take(&mut self, step: &Step<'_>, read: impl FnOnce(&mut settle::SentenceFacts)) -> bool {
        let before = self.found.len();
        if step.begins {
            self.last = before;
        }
        if step.withdraws {
            self.found.truncate(self.last);
        }
        if step.is_read {
            read(&mut self.found);
            self.last = before.min(self.found.len());
        }
        self.found.len() > before
    }
}

/// Goes through the sentences of a policy; `each` answers whether facts were read from one.
fn walk(policy: &str, currency: CurrencyCode, mut each: impl FnMut(&Step<'_>) -> bool) {
    let mut sections = sections::Sections::default();
    let lines = text::lines(policy);
    for (at, line) in lines.iter().enumerate() {
        let about_shipping = line.parts.len() > 1 && sentence::is_about_shipping(&line.parts, currency);
        // `Sunday offer | Free shipping`
        let is_passing = line.parts.len() > 1 && line.parts.iter().any(|part| bare(part, currency).ends_offer());
        let is_row = is_in_row(&lines, at, currency);
        sections.begin(line);
        for (nth, part) in line.parts.iter().enumerate() {
            let mut context = sections.context();
            (context.line, context.is_title) = (about_shipping, line.level.is_some());
            context.is_marked = is_row || line.parts.len() > 1 || part.ends_with(['.', '!']);
            let sentence = Sentence::new(part, currency, context);
            let told = each(&Step {
                begins: line.begins && nth == 0,
                withdraws: sentence.withdraws() || sentence.bounds_offer() || sentence.ends_offer(),
                is_read: !sentence.withdraws() && !is_passing,
                sentence: &sentence,
            });
            sections.end(&sentence, line, told);
        }
    }
}

/// A sentence by itself.
fn bare(part: &str, currency: CurrencyCode) -> Sentence<'_> {
    Sentence::new(part, currency, context::Context::default())
}

/// True where a line stands in a row of marks: `Free shipping`, `Cash on delivery`, `Easy returns`.
fn is_in_row(lines: &[text::Line], at: usize, currency: CurrencyCode) -> bool {
    let is_mark = |line: &text::Line| match &line.parts[..] {
        [part] => line.level.is_none() && bare(part, currency).is_mark(),
        _ => false,
    };
    let near = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
    lines.get(at).is_some_and(is_mark) && near.filter_map(|near| lines.get(near)).any(is_mark)
}
