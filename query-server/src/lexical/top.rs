use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use data_index::columns::Cards;
use data_index::{Release, RowAddress};

/// What decides which product stands first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// How well it fits the query; without a query, how presentable it is.
    Relevance,
    PriceAscending,
    PriceDescending,
    /// The best rated first, those with more ratings before those with fewer, those without last.
    Rating,
    /// Those whose date is unknown last.
    Newest,
}

/// A hit, ordered so that the better one is the greater one. Ties go to the smaller product id: the order is the
/// same however a release is divided into parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit {
    pub(super) tier: u8,
    key: (i64, i64),
    pub(super) score: f32,
    id: u128,
    part: u32,
    row: u32,
}

impl Order {
    /// What decides in this order, the greater first; the same for all rows in order of relevance.
    pub(crate) fn key(self, release: &Release, at: RowAddress) -> (i64, i64) {
        release
            .part(at.part)
            .map_or((i64::MIN, 0), |part| order_key(self, part.cards(), at.row))
    }
}

impl Hit {
    pub(super) fn scored(&self) -> super::ScoredRow {
        super::ScoredRow {
            at: self.address(),
            tier: self.tier,
            score: self.score,
        }
    }

    pub(super) fn address(&self) -> RowAddress {
        RowAddress {
            part: self.part,
            row: self.row,
        }
    }
}

impl Ord for Hit {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |hit: &Self| (hit.tier, hit.key);
        rank(self)
            .cmp(&rank(other))
            .then(self.score.total_cmp(&other.score))
            .then(other.id.cmp(&self.id))
    }
}

impl PartialOrd for Hit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Hit {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Hit {}

/// The best hits so far, at most `limit` of them. A product that [`TopHits::push_code`] was told of is not taken again
/// in another tier.
pub(crate) struct TopHits<'a> {
    release: &'a Release,
    order: Order,
    limit: usize,
    heap: BinaryHeap<Reverse<Hit>>,
    /// The products that the query is a code of, which the next searches would find again.
    codes: Vec<RowAddress>,
}

impl<'a> TopHits<'a> {
    pub(super) fn new(release: &'a Release, order: Order, limit: usize) -> Self {
        Self {
            release,
            order,
            limit,
            heap: BinaryHeap::with_capacity(limit + 1),
            codes: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether no hit of this tier with at most this score is taken any more.
    #[inline]
    pub(super) fn beats(&self, tier: u8, score: f32) -> bool {
        self.order == Order::Relevance
            && self.heap.len() >= self.limit
            && self
                .heap
                .peek()
                .is_some_and(|Reverse(worst)| worst.tier > tier || (worst.tier == tier && worst.score > score))
    }

    /// No hit of this tier with a lower score is taken any more.
    pub(super) fn floor(&self, tier: u8) -> f32 {
        let is_full = self.order == Order::Relevance && self.heap.len() >= self.limit;
        match self.heap.peek().filter(|_| is_full) {
            Some(Reverse(worst)) if worst.tier > tier => f32::INFINITY,
            Some(Reverse(worst)) if worst.tier == tier => worst.score,
            _ => f32::NEG_INFINITY,
        }
    }

    /// Adds a product that the query is a code of.
    pub(super) fn push_code(&mut self, tier: u8, score: f32, at: RowAddress) {
        self.add(tier, score, at);
        self.codes.push(at);
    }

    pub(super) fn push(&mut self, tier: u8, score: f32, at: RowAddress) {
        if self.codes.is_empty() || !self.codes.contains(&at) {
            self.add(tier, score, at);
        }
    }

    fn add(&mut self, tier: u8, score: f32, at: RowAddress) {
        // Sorted by price, rating or date, products that fit the query stand in that order however well they fit.
        let tier = match self.order {
            Order::Relevance => tier,
            _ => tier.min(super::tier::ALL),
        };
        let Some(part) = self.release.part(at.part) else { return };
        let cards = part.cards();
        let key = order_key(self.order, cards, at.row);
        let full = self.heap.len() >= self.limit;
        if full {
            // Most products are turned away here, before their id is read.
            let Some(Reverse(worst)) = self.heap.peek() else { return };
            let better = (tier, key)
                .cmp(&(worst.tier, worst.key))
                .then(score.total_cmp(&worst.score));
            if better == Ordering::Less {
                return;
            }
        }
        let id = u128::from_be_bytes(*cards.id(at.row).as_bytes());
        let hit = Hit {
            tier,
            key,
            score,
            id,
            part: at.part,
            row: at.row,
        };
        if !full {
            self.heap.push(Reverse(hit));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && hit > worst.0
        {
            *worst = Reverse(hit);
        }
    }

    /// The hits, best first.
    pub(super) fn into_sorted(self) -> Vec<Hit> {
        let mut hits: Vec<Hit> = self.heap.into_iter().map(|Reverse(hit)| hit).collect();
        hits.sort_unstable_by(|one, other| other.cmp(one));
        hits
    }
}

/// What an order compares first; the greater stands before the smaller.
pub(crate) fn order_key(order: Order, cards: &Cards, row: u32) -> (i64, i64) {
    match order {
        Order::Relevance => (0, 0),
        Order::PriceAscending => (-cards.price_min_minor(row), 0),
        Order::PriceDescending => (cards.price_min_minor(row), 0),
        Order::Rating => cards.rating(row).map_or((-1, 0), |rating| {
            // Exact enough: ratings are stated with one or two decimals.
            (
                (f64::from(rating.average) * 10_000.0).round() as i64,
                i64::from(rating.count),
            )
        }),
        Order::Newest => (cards.newest_at(row).map_or(i64::MIN, data_model::Timestamp::micros), 0),
    }
}
