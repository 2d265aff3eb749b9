//! Reads shipping terms from a store's text: the free shipping threshold, fees, cash on delivery, durations of dispatch
//! and delivery, and the time and days of order processing.
//!
//! Input: the HTML or plain text of a policy, and the store's currency. Output: facts with their source sentences, and
//! the reason for every kind of fact that was not found. Supports English as written in India, Hindi in Latin letters,
//! German, French and Spanish.
//!
//! A language model may propose facts if prose contains more than the grammar can read ([`proposals`]). [`checked`]
//! keeps the proposals that their sentences confirm.
//!
//! The reader is a small grammar over amounts, durations, regions and payments, with a vocabulary. The grammar does not
//! match whole sentences. This crate does no I/O, reads no clock and does not guess: contradictory, blank or uncertain
//! statements are not facts.

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

/// Shipping facts that a text states.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// Facts, each with its sentence.
    pub facts: Vec<ShippingFact>,
    /// Terms that the text leaves open, each kind at most once.
    pub unknown: Vec<UnknownTerm>,
}

/// Reads at most the first 512 KiB and 2,000 sentences of a policy. Amounts without a currency mark, or with an
/// ambiguous one (`Rs`, `$`), are in the store's currency. Amounts in another currency are ignored.
#[must_use]
pub fn read(policy: &str, currency: CurrencyCode) -> Reading {
    let mut pass = Pass::default();
    walk(policy, currency, |step| {
        pass.take(step, |found| step.sentence.read(found))
    });
    pass.found.settle()
}

struct Step<'s> {
    sentence: &'s Sentence<'s>,
    begins: bool,
    /// True if the sentence withdraws the one before it.
    withdraws: bool,
    is_read: bool,
}

#[derive(Default)]
struct Pass {
    found: settle::SentenceFacts,
    /// Number of facts found before the last sentence.
    last: usize,
}

impl Pass {
    /// Processes a sentence. `read` adds its facts. Returns true if new facts were found.
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

/// Iterates over the sentences of a policy. `each` returns true if facts were read from one.
fn walk(policy: &str, currency: CurrencyCode, mut each: impl FnMut(&Step<'_>) -> bool) {
    let mut sections = sections::Sections::default();
    let lines = text::lines(policy);
    for (at, line) in lines.iter().enumerate() {
        let about_shipping = line.parts.len() > 1 && sentence::is_about_shipping(&line.parts, currency);
        // `Sunday offer | Free shipping` is an offer limited in time.
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

fn bare(part: &str, currency: CurrencyCode) -> Sentence<'_> {
    Sentence::new(part, currency, context::Context::default())
}

/// Returns true if a line is in a row of banner phrases: `Free shipping`, `Cash on delivery`, `Easy returns`.
fn is_in_row(lines: &[text::Line], at: usize, currency: CurrencyCode) -> bool {
    let is_mark = |line: &text::Line| match &line.parts[..] {
        [part] => line.level.is_none() && bare(part, currency).is_mark(),
        _ => false,
    };
    let near = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
    lines.get(at).is_some_and(is_mark) && near.filter_map(|near| lines.get(near)).any(is_mark)
}
