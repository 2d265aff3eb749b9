use data_index::{Part, RowAddress};

use super::candidate_buffer::{CandidateBuffer, Offer};
use super::cursor::{RowScore, WordScore};
use super::narrowing::EligibleRows;
use super::score::{QUALITY_BONUS, TITLE_BONUS};
use super::tier;
use super::top::TopHits;
use super::whole::Whole;

/// The number of products with every word, before any filter, from which others are looked for only where the filter
/// leaves none.
pub(super) const FITTING_MIN: usize = 20;

/// The number of products that were met before the filter, up to [`FITTING_MIN`].
pub(super) struct MatchCount<'a> {
    /// The rows among which they are counted; `None` where the filter leaves nothing out.
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

/// The bonus for the least title level of the words: looked up, since a branch on it could not be foretold.
const BONUSES: [f32; 8] = {
    let mut bonuses = [TITLE_BONUS; 8];
    bonuses[0] = 0.0;
    bonuses
};

/// The rows of a part that have every word, on their way to the best hits.
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

    /// The number of the part's rows.
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
                // They all fit alike: their other words decide nothing.
                tier::TITLE => 0.0,
                _ => found.score + BONUSES[usize::from(found.title_level) % BONUSES.len()],
            };
            Offer { row, tier, score }
        };
        self.buffer.offer(found, offer, top);
    }

    /// Ends the part.
    pub(super) fn finish(mut self, top: &mut TopHits<'_>) {
        self.buffer.finish(top);
    }
}
