use data_index::{Part, RowAddress};

use super::cursor::{RowScore, WordScore};
use super::passing::Passing;
use super::score::{QUALITY_BONUS, TITLE_BONUS};
use super::sieve::{Offer, Sieve};
use super::tier;
use super::top::TopHits;
use super::whole::Whole;

/// Where so many products hold every word before any filter, others are looked for only where the filter leaves none.
pub(super) const FITTING_MIN: usize = 20;

/// How many products were met before the filter, up to [`FITTING_MIN`].
pub(super) struct Met<'a> {
    /// Where they are counted; nowhere if the filter leaves nothing out.
    pub(super) scope: Option<Passing<'a>>,
    pub(super) count: usize,
}

impl Met<'_> {
    pub(super) fn meet(&mut self, found: &[RowScore]) {
        let Some(scope) = &self.scope else { return };
        for RowScore { row, .. } in found {
            if self.count >= FITTING_MIN {
                return;
            }
            self.count += usize::from(scope.has(*row));
        }
    }
}

/// What is added to a score by the least title level of the words: looked up, for a branch on it could not be foretold.
const BONUSES: [f32; 8] = {
    let mut bonuses = [TITLE_BONUS; 8];
    bonuses[0] = 0.0;
    bonuses
};

/// The rows of a part that have every word, and what decides which of them are taken.
pub(super) struct Taking<'a> {
    at: u32,
    part: &'a Part,
    whole: &'a Whole<'a>,
    sieve: Sieve<'a>,
}

impl<'a> Taking<'a> {
    pub(super) fn of(part: &'a Part, at: u32, passing: Passing<'a>, whole: &'a Whole<'a>) -> Self {
        Self {
            at,
            part,
            whole,
            sieve: Sieve::of(part, at, passing),
        }
    }

    /// How many rows the part has.
    pub(super) fn rows(&self) -> u32 {
        self.part.rows()
    }

    /// True where no row that has at most this of the words is taken any more.
    pub(super) fn is_beaten(&self, bound: WordScore, top: &TopHits<'_>) -> bool {
        !self.whole.may_name(bound.title_level) && top.beats(tier::ALL, bound.score + TITLE_BONUS + QUALITY_BONUS)
    }

    /// Takes rows that have every word, each if it passes and is not worse than all that was found.
    pub(super) fn take(&mut self, found: &[RowScore], top: &mut TopHits<'_>) {
        // Rows that the query names are looked at by themselves: mostly there are none.
        let mut named = Vec::new();
        let (whole, part) = (self.whole, self.part);
        let offer = |RowScore { row, found }| {
            if whole.seems_to_name(part, row, found.title_level) {
                named.push(RowScore { row, found });
                return Offer::NONE;
            }
            let score = found.score + BONUSES[usize::from(found.title_level) % BONUSES.len()];
            Offer {
                row,
                tier: tier::ALL,
                score,
            }
        };
        self.sieve.offer(found, offer, top);
        if !named.is_empty() {
            self.take_named(&named, top);
        }
    }

    #[cold]
    fn take_named(&mut self, found: &[RowScore], top: &mut TopHits<'_>) {
        let (whole, part) = (self.whole, self.at);
        let offer = |RowScore { row, found }| {
            let tier = whole.tier(RowAddress { part, row }, found.title_level);
            let score = match tier {
                // They all fit alike: what else they hold decides nothing.
                tier::TITLE => 0.0,
                _ => found.score + BONUSES[usize::from(found.title_level) % BONUSES.len()],
            };
            Offer { row, tier, score }
        };
        self.sieve.offer(found, offer, top);
    }

    /// Ends the part.
    pub(super) fn finish(mut self, top: &mut TopHits<'_>) {
        self.sieve.finish(top);
    }
}
