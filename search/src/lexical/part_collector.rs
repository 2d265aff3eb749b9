use data_index::{Part, RowAddress};

use super::candidate_buffer::{CandidateBuffer, Offer};
use super::cursor::{RowScore, WordScore};
use super::narrowing::EligibleRows;
use super::score::{QUALITY_BONUS, TITLE_BONUS};
use super::tier;
use super::top::TopHits;
use super::whole::Whole;

/// If at least this many products have every word before any filter, relaxed matches are searched only if the filter
/// leaves none.
pub(super) const FITTING_MIN: usize = 20;

/// Number of products matched before the filter, at most [`FITTING_MIN`].
pub(super) struct MatchCount<'a> {
    /// Rows of the counted products. `None` if the filter excludes nothing.
    pub(super) scope: Option<EligibleRows<'a>>,
    pub(super) count: usize,
}

impl MatchCount<'_> {
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

/// Bonus by the lowest title level of the words. It is in a table because a branch on the level would be unpredictable.
const BONUSES: [f32; 8] = {
    let mut bonuses = [TITLE_BONUS; 8];
    bonuses[0] = 0.0;
    bonuses
};

/// Collects the rows of a part with every word.
pub(super) struct PartCollector<'a> {
    at: u32,
    part: &'a Part,
    whole: &'a Whole<'a>,
    buffer: CandidateBuffer<'a>,
}

impl<'a> PartCollector<'a> {
    pub(super) fn of(part: &'a Part, at: u32, eligible: EligibleRows<'a>, whole: &'a Whole<'a>) -> Self {
        Self {
            at,
            part,
            whole,
            buffer: CandidateBuffer::of(part, at, eligible),
        }
    }

    pub(super) fn rows(&self) -> u32 {
        self.part.rows()
    }

    /// Returns true if no row with at most this score can become a hit.
    pub(super) fn is_beaten(&self, bound: WordScore, top: &TopHits<'_>) -> bool {
        !self.whole.may_name(bound.title_level) && top.beats(tier::ALL, bound.score + TITLE_BONUS + QUALITY_BONUS)
    }

    /// Each row must have every word. It becomes a hit if it passes the filter and is good enough.
    pub(super) fn take(&mut self, found: &[RowScore], top: &mut TopHits<'_>) {
        // Rows that the query names are handled separately, because they are rare.
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
        self.buffer.offer(found, offer, top);
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
                // All products with the query as title fit equally, so that their other words are ignored.
                tier::TITLE => 0.0,
                _ => found.score + BONUSES[usize::from(found.title_level) % BONUSES.len()],
            };
            Offer { row, tier, score }
        };
        self.buffer.offer(found, offer, top);
    }

    pub(super) fn finish(mut self, top: &mut TopHits<'_>) {
        self.buffer.finish(top);
    }
}
