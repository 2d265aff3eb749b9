//! Nearest-neighbour search over the products' vectors.

mod top;

use data_embedding::{BLOCK_ROWS, QUANTUM, Query, SignCodeQuery, Vector, prefetch};
use roaring::RoaringBitmap;

use self::top::{Near, Nearest};
use crate::filter::Filter;
use crate::release::{Part, Release, RowAddress};

/// Maximum number of eligible products for which every similarity is computed exactly.
const EACH_MAX: u64 = 8_192;
/// Number of exact similarities per wanted result, and their minimum number. Estimates are inexact, so that a near
/// product may not rank first by estimate.
const MEASURED_PER_WANTED: usize = 10;
const MEASURED_MIN: usize = 400;
/// Number of candidates per exact computation above which the less likely candidates are dropped.
const HELD_PER_MEASURED: usize = 16;
/// Sample of blocks to find a threshold for estimates: one block in this many, and the minimum number of blocks.
const SAMPLED_ONE_IN: usize = 64;
const SAMPLED_MIN: usize = 64;

enum EligibleRows {
    Live,
    Rows(RoaringBitmap),
}

impl Release {
    /// Returns at most `wanted` products whose vectors are nearest to `vector`, nearest first, with the cosine of their
    /// angle. Ties are ordered by product id. The result is empty if the release has no vectors or vectors of another
    /// dimension.
    ///
    /// The filter applies during the search, so that up to `wanted` products that pass are found. For few eligible
    /// products, all cosines are computed exactly. For many, only the products with the best sign code estimates get an
    /// exact cosine, so that a few of the nearest products may be missed.
    #[must_use]
    pub fn nearest(&self, vector: &Vector, wanted: usize, filter: Option<&Filter>) -> Vec<(RowAddress, f32)> {
        let Some(query) = self.query(vector).filter(|_| wanted > 0) else {
            return Vec::new();
        };
        let passing = passing(self, filter);
        let kept: u64 = self
            .parts()
            .iter()
            .zip(&passing)
            .map(|(part, passing)| passing.len(part))
            .sum();
        let mut search = Search {
            parts: self.parts(),
            passing: &passing,
            nearest: Nearest::new(self.parts(), wanted),
        };
        if kept <= EACH_MAX {
            search.each(&query);
        } else {
            search.likely(&query, &SignCodeQuery::new(vector), wanted, kept);
        }
        let found = search.nearest.into_sorted().into_iter();
        found.map(|near| (near.at, QUANTUM * near.product as f32)).collect()
    }

    /// Returns the cosine of the angle between `vector` and a product's vector, as [`Release::nearest`] computes it.
    #[must_use]
    pub fn similarity(&self, vector: &Vector, at: RowAddress) -> Option<f32> {
        self.similarities(vector, std::iter::once(at)).next().flatten()
    }

    /// Returns the cosine similarity of `vector` to each of several products, in their order.
    pub fn similarities(
        &self,
        vector: &Vector,
        rows: impl Iterator<Item = RowAddress>,
    ) -> impl Iterator<Item = Option<f32>> {
        let query = self.query(vector);
        let rows: Vec<RowAddress> = rows.collect();
        (0..rows.len()).map(move |place| {
            ahead(self.parts(), rows.get(place + FETCHED_AHEAD).copied());
            let stored = stored(self.parts(), *rows.get(place)?)?;
            let product = query.as_ref()?.dot(stored);
            Some(QUANTUM * product as f32)
        })
    }

    /// Returns the vector of a product, or `None` if the release has none for the product.
    #[must_use]
    pub fn vector(&self, at: RowAddress) -> Option<Vector> {
        self.part(at.part)?.vectors()?.vector(at.row)
    }

    /// Returns `None` if the query vector does not have the dimensions of the release.
    fn query(&self, vector: &Vector) -> Option<Query> {
        let dimensions = self.manifest().embedding.as_ref()?.dimensions as usize;
        (vector.dimensions() == dimensions).then(|| Query::new(vector))
    }
}

/// The vectors to compare are not adjacent in memory, so that prefetching pays.
const FETCHED_AHEAD: usize = 8;

fn stored(parts: &[Part], at: RowAddress) -> Option<&[u8]> {
    parts.get(at.part as usize)?.vectors()?.stored(at.row)
}

fn ahead(parts: &[Part], at: Option<RowAddress>) {
    if let Some(stored) = at.and_then(|at| stored(parts, at)) {
        prefetch(stored);
    }
}

fn passing(release: &Release, filter: Option<&Filter>) -> Vec<EligibleRows> {
    let of_part = |at: u32| match filter {
        None => EligibleRows::Live,
        Some(filter) => EligibleRows::Rows(filter.part(at).map(|part| part.bitmap()).unwrap_or_default()),
    };
    (0..).zip(release.parts()).map(|(at, _)| of_part(at)).collect()
}

impl EligibleRows {
    fn len(&self, part: &Part) -> u64 {
        match self {
            Self::Live => u64::from(part.live_rows()),
            Self::Rows(rows) => rows.len(),
        }
    }

    fn holds(&self, part: &Part, row: u32) -> bool {
        match self {
            Self::Live => row < part.rows() && !part.unlisted().contains(row),
            Self::Rows(rows) => rows.contains(row),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    estimate: u16,
    at: RowAddress,
}

struct Search<'a> {
    parts: &'a [Part],
    passing: &'a [EligibleRows],
    nearest: Nearest<'a>,
}

impl Search<'_> {
    fn each(&mut self, query: &Query) {
        for (at, (part, passing)) in (0..).zip(self.parts.iter().zip(self.passing)) {
            match passing {
                EligibleRows::Live => {
                    let live = (0..part.rows()).filter(|row| passing.holds(part, *row));
                    live.for_each(|row| self.measure(query, RowAddress { part: at, row }));
                }
                EligibleRows::Rows(rows) => rows
                    .iter()
                    .for_each(|row| self.measure(query, RowAddress { part: at, row })),
            }
        }
    }

    fn measure(&mut self, query: &Query, at: RowAddress) {
        let Some(stored) = stored(self.parts, at) else { return };
        let product = query.dot(stored);
        if product >= self.nearest.least() {
            self.nearest.push(Near { product, at });
        }
    }

    fn likely(&mut self, query: &Query, sign_query: &SignCodeQuery, wanted: usize, kept: u64) {
        let measured = MEASURED_MIN.max(wanted.saturating_mul(MEASURED_PER_WANTED));
        let least = self.good_estimate(sign_query, measured, kept);
        let mut candidates = self.candidates(sign_query, measured, least);
        if candidates.len() < wanted && least > 0 {
            candidates = self.candidates(sign_query, measured, 0);
        }
        likeliest(&mut candidates, measured);
        for (place, candidate) in candidates.iter().enumerate() {
            ahead(
                self.parts,
                candidates.get(place + FETCHED_AHEAD).map(|candidate| candidate.at),
            );
            self.measure(query, candidate.at);
        }
    }

    /// Passes each eligible product with an estimate of at least `least` to `tell`, which returns the new value of
    /// `least`. Only one block in `step` is read.
    fn estimates(
        &self,
        sign_query: &SignCodeQuery,
        step: usize,
        mut least: u16,
        mut tell: impl FnMut(Candidate) -> u16,
    ) {
        let mut estimates = [0; BLOCK_ROWS];
        for (at, (part, passing)) in (0..).zip(self.parts.iter().zip(self.passing)) {
            let Some(vectors) = part.vectors().filter(|_| passing.len(part) > 0) else {
                continue;
            };
            for (block, first) in vectors.blocks().zip((0_u32..).step_by(BLOCK_ROWS)).step_by(step) {
                let mut reaching = sign_query.estimate(block, least, &mut estimates);
                while reaching != 0 {
                    let (bit, estimate) = (reaching.trailing_zeros(), estimates[reaching.trailing_zeros() as usize]);
                    reaching &= reaching - 1;
                    let row = first + bit;
                    if passing.holds(part, row) {
                        let at = RowAddress { part: at, row };
                        least = tell(Candidate { estimate, at });
                    }
                }
            }
        }
    }

    /// Returns an estimate that about twice as many products reach as will be computed exactly. A sample of blocks
    /// determines it.
    fn good_estimate(&self, sign_query: &SignCodeQuery, measured: usize, kept: u64) -> u16 {
        let parts = self.parts.iter().filter_map(Part::vectors);
        let blocks: usize = parts.map(|vectors| vectors.blocks().len()).sum();
        let step = (blocks / SAMPLED_MIN).clamp(1, SAMPLED_ONE_IN);
        let mut sampled = Vec::with_capacity(blocks / step * BLOCK_ROWS);
        self.estimates(sign_query, step, 0, |candidate| {
            sampled.push(candidate.estimate);
            0
        });
        let share = 2.0 * measured as f64 / kept as f64;
        let rank = (share * sampled.len() as f64) as usize;
        if rank >= sampled.len() {
            return 0;
        }
        let (_, good, _) = sampled.select_nth_unstable_by(rank, |one, other| other.cmp(one));
        *good
    }

    /// Returns the products with estimates of at least `least`, or only the best of them if there are too many.
    fn candidates(&self, sign_query: &SignCodeQuery, measured: usize, mut least: u16) -> Vec<Candidate> {
        let mut held = Vec::with_capacity(3 * measured);
        self.estimates(sign_query, 1, least, |candidate| {
            held.push(candidate);
            if held.len() >= HELD_PER_MEASURED * measured {
                likeliest(&mut held, measured);
                least = held.iter().map(|held| held.estimate).min().unwrap_or(least);
            }
            least
        });
        held
    }
}

/// Keeps the `count` candidates with the greatest estimates, in their order. Among equal estimates, the first
/// candidates stay.
fn likeliest(candidates: &mut Vec<Candidate>, count: usize) {
    let Some(last) = count.checked_sub(1).filter(|_| count < candidates.len()) else {
        return;
    };
    let mut estimates: Vec<u16> = candidates.iter().map(|candidate| candidate.estimate).collect();
    let (likelier, least, _) = estimates.select_nth_unstable_by(last, |one, other| other.cmp(one));
    let mut as_likely = count - likelier.iter().filter(|estimate| *estimate > least).count();
    candidates.retain(|candidate| {
        candidate.estimate > *least
            || candidate.estimate == *least && {
                let kept = as_likely > 0;
                as_likely = as_likely.saturating_sub(1);
                kept
            }
    });
}
