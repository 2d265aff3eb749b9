//! Buffer of candidate rows of a part. Most candidates are not good enough, and a branch per row would be
//! unpredictable. Candidates are therefore compared in batches without a branch per row, first by their score alone and
//! then with their quality added. The filter is applied last.

use data_index::columns::Cards;
use data_index::{Part, RowAddress};

use super::narrowing::EligibleRows;
use super::score::QUALITY_BONUS;
use super::top::TopHits;

pub(super) const SIFTED: usize = 128;

/// Candidate row with its score, which excludes the quality.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offer {
    pub(super) row: u32,
    pub(super) tier: u8,
    pub(super) score: f32,
}

impl Offer {
    /// Placeholder without a row, which is never taken.
    pub(super) const NONE: Self = Self {
        row: u32::MAX,
        tier: 0,
        score: 0.0,
    };
}

pub(super) struct CandidateBuffer<'a> {
    part: u32,
    rows: u32,
    cards: &'a Cards,
    eligible: EligibleRows<'a>,
    /// At most [`SIFTED`] rows between calls, so that as many more fit.
    held: [Offer; 2 * SIFTED],
    count: usize,
}

impl<'a> CandidateBuffer<'a> {
    pub(super) fn of(part: &'a Part, at: u32, eligible: EligibleRows<'a>) -> Self {
        Self {
            part: at,
            rows: part.rows(),
            cards: part.cards(),
            eligible,
            held: [Offer::NONE; 2 * SIFTED],
            count: 0,
        }
    }

    /// Each row must be added only once. [`CandidateBuffer::finish`] must follow the last call.
    pub(super) fn offer<T: Copy>(&mut self, rows: &[T], mut offer: impl FnMut(T) -> Offer, top: &mut TopHits<'_>) {
        for rows in rows.chunks(SIFTED) {
            let mut count = self.count;
            for row in rows {
                let offer = offer(*row);
                let is_good = !top.beats(offer.tier, offer.score + QUALITY_BONUS) & (offer.row < self.rows);
                if let Some(held) = self.held.get_mut(count) {
                    *held = offer;
                }
                count += usize::from(is_good);
            }
            self.count = count;
            if count > SIFTED {
                self.finish(top);
            }
        }
    }

    /// Passes the buffered rows that are good enough to the hits.
    pub(super) fn finish(&mut self, top: &mut TopHits<'_>) {
        let count = std::mem::take(&mut self.count).min(self.held.len());
        let mut kept = 0;
        for at in 0..count {
            let mut offer = self.held[at];
            offer.score += QUALITY_BONUS * self.cards.quality(offer.row);
            self.held[kept] = offer;
            kept += usize::from(!top.beats(offer.tier, offer.score));
        }
        if top.is_full() {
            self.look(kept);
        }
        for Offer { row, tier, score } in self.held.iter().take(kept).copied() {
            if !top.beats(tier, score) && self.eligible.has(row) {
                top.push(tier, score, RowAddress { part: self.part, row });
            }
        }
    }

    /// Reads the ids of rows before they are compared, so that the processor fetches them in parallel.
    fn look(&self, count: usize) {
        let ids = self.held.iter().take(count);
        let look = |offer: &Offer| self.cards.id(offer.row).as_bytes()[0];
        std::hint::black_box(ids.fold(0, |sum, offer| sum ^ look(offer)));
    }
}
