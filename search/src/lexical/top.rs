use std::cmp::Ordering;

use data_index::columns::Cards;
use data_index::{Part, Release, RowAddress};
use data_model::CurrencyCode;

use super::hits::ScoredRow;
use super::tier;

/// Order of products.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Best fit to the query first. Without a query, the most presentable come first.
    #[default]
    Relevance,
    /// Lowest price first. Products without a price are last.
    PriceAscending,
    /// Highest price first.
    PriceDescending,
    /// Best rated first. Of equal ratings, the product with more ratings comes first. Products without a rating are
    /// last.
    Rating,
    /// Newest first. Products without a known date are last.
    Newest,
}

/// Hit. The greater one is better. Ties go to the smaller product id, so that the order does not depend on the division
/// of the release into parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit {
    pub(super) tier: u8,
    key: SortKey,
    pub(super) score: f32,
    id: u128,
    at: RowAddress,
}

impl Order {
    /// All sort orders.
    pub const ALL: [Self; 5] = [
        Self::Relevance,
        Self::PriceAscending,
        Self::PriceDescending,
        Self::Rating,
        Self::Newest,
    ];

    /// Returns the name in requests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Relevance => "relevance",
            Self::PriceAscending => "price_asc",
            Self::PriceDescending => "price_desc",
            Self::Rating => "rating",
            Self::Newest => "newest",
        }
    }
}

/// Order, with the currency whose prices come first.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sort {
    pub(crate) order: Order,
    pub(crate) currency: Option<CurrencyCode>,
}

/// Compared values, most significant first. The greater key comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SortKey(i64, i64);

impl Sort {
    /// Returns the same key for all rows when sorting by relevance.
    pub(crate) fn key_at(self, release: &Release, at: RowAddress) -> SortKey {
        let part = release.part(at.part);
        part.map_or(SortKey(i64::MIN, 0), |part| self.key(part, at.row))
    }

    /// Prices of different currencies are never compared. Prices in the given currency come first, then other prices
    /// grouped by currency. A price of 0 counts as no price.
    pub(crate) fn key(self, part: &Part, row: u32) -> SortKey {
        let cards = part.cards();
        let of_currency = || -place(cards.currency(row), self.currency);
        match self.order {
            Order::Relevance => SortKey(0, 0),
            Order::PriceAscending => match cards.price_min_minor(row) {
                ..=0 => SortKey(of_currency(), i64::MIN),
                price => SortKey(of_currency(), -price),
            },
            Order::PriceDescending => SortKey(of_currency(), cards.price_min_minor(row)),
            Order::Rating => part.rating(row).map_or(SortKey(-1, 0), |rating| {
                // This is exact enough, because ratings have one or two decimals.
                SortKey(
                    (f64::from(rating.average) * 10_000.0).round() as i64,
                    i64::from(rating.count),
                )
            }),
            Order::Newest => SortKey(cards.newest_at(row).map_or(i64::MIN, data_model::Timestamp::micros), 0),
        }
    }
}

impl Hit {
    pub(super) fn scored(&self) -> ScoredRow {
        ScoredRow {
            at: self.at,
            tier: self.tier,
            score: self.score,
        }
    }

    pub(super) const fn address(&self) -> RowAddress {
        self.at
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

/// Best hits so far, at most `limit`. A product of [`TopHits::push_code`] is not added again in another tier.
pub(crate) struct TopHits<'a> {
    release: &'a Release,
    sort: Sort,
    limit: usize,
    /// Best hits and those added since, up to twice the limit. Trimming them occasionally is cheaper than keeping them
    /// sorted.
    hits: Vec<Hit>,
    /// Worst of the `limit` best hits, once there are that many.
    worst: Option<Hit>,
    /// Tier and score of the worst hit when sorting by relevance. Before it exists, the value is below all others.
    least: (u8, f32),
    /// Products with the query as their code. Later passes would add them again.
    codes: Vec<RowAddress>,
}

impl<'a> TopHits<'a> {
    pub(super) fn new(release: &'a Release, sort: Sort, limit: usize) -> Self {
        Self {
            release,
            sort,
            limit,
            hits: Vec::new(),
            worst: None,
            least: (0, f32::NEG_INFINITY),
            codes: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.hits.len().min(self.limit)
    }

    /// Returns true if there are `limit` hits, so that further hits must be better.
    pub(super) const fn is_full(&self) -> bool {
        self.worst.is_some()
    }

    /// Returns true if hits with this tier and score are no longer accepted.
    #[inline]
    pub(super) const fn beats(&self, tier: u8, score: f32) -> bool {
        let (least_tier, least_score) = self.least;
        // This is branch-free because it runs for every row.
        (tier < least_tier) | ((tier == least_tier) & (score < least_score))
    }

    /// Adds a product with the query as its code.
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
        // An order by price, rating or date ignores the fit of a matching product.
        let tier = match self.sort.order {
            Order::Relevance => tier,
            _ => tier.min(tier::ALL),
        };
        let Some(part) = self.release.part(at.part) else { return };
        let cards = part.cards();
        let key = self.sort.key(part, at.row);
        if let Some(worst) = &self.worst {
            // Most hits are rejected here, many before their id is read.
            let rank = (tier, key)
                .cmp(&(worst.tier, worst.key))
                .then(score.total_cmp(&worst.score));
            let order = rank.then_with(|| worst.id.cmp(&id(cards, at.row)));
            if order == Ordering::Less {
                return;
            }
        }
        let id = id(cards, at.row);
        let hit = Hit {
            tier,
            key,
            score,
            id,
            at,
        };
        self.hits.push(hit);
        if self.hits.len() == self.limit && self.worst.is_none() {
            self.worst = self.hits.iter().min().copied();
            self.lift();
        } else if self.hits.len() >= self.limit.saturating_mul(2) {
            self.part();
        }
    }

    /// Drops all but the best `limit` hits.
    fn part(&mut self) {
        let last = self.limit.saturating_sub(1);
        if last < self.hits.len() {
            let (_, worst, _) = self.hits.select_nth_unstable_by(last, |one, other| other.cmp(one));
            self.worst = Some(*worst);
        }
        self.hits.truncate(self.limit);
        self.lift();
    }

    fn lift(&mut self) {
        if self.sort.order == Order::Relevance
            && let Some(worst) = self.worst
        {
            self.least = (worst.tier, worst.score);
        }
    }

    /// Returns the hits, best first.
    pub(super) fn into_sorted(mut self) -> Vec<Hit> {
        self.part();
        self.hits.sort_unstable_by(|one, other| other.cmp(one));
        self.hits
    }
}

fn id(cards: &Cards, row: u32) -> u128 {
    u128::from_be_bytes(*cards.id(row).as_bytes())
}

/// Returns the sort position of a currency. The wanted one is first, and the others are ordered by code.
fn place(currency: CurrencyCode, wanted: Option<CurrencyCode>) -> i64 {
    if Some(currency) == wanted {
        return -1;
    }
    let letters = currency.as_str().bytes();
    letters.fold(0, |code, letter| code << 8 | i64::from(letter))
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::lexical::tests::release;

    /// The titles of these rows are ignored.
    static RELEASE: LazyLock<Release> = LazyLock::new(|| {
        let dir = tempfile::tempdir().unwrap();
        release((0..300).map(|number| format!("Mug {number}")), dir.path())
    });

    proptest! {
        #[test]
        fn the_best_are_kept_whatever_came_when(
            offered in prop::collection::vec((1_u8..4, 0_u8..6), 0..300), limit in 1_usize..40,
        ) {
            let mut top = TopHits::new(&RELEASE, Sort::default(), limit);
            let mut all = TopHits::new(&RELEASE, Sort::default(), offered.len() + 1);
            for (row, (tier, score)) in (0..).zip(&offered) {
                let (score, at) = (f32::from(*score), RowAddress { part: 0, row });
                let is_beaten = top.beats(*tier, score);
                top.push(*tier, score, at);
                all.push(*tier, score, at);
                prop_assert!(!is_beaten || top.hits.iter().all(|hit| hit.at != at), "what is beaten is not taken");
            }
            let all = all.into_sorted();
            prop_assert!(all.is_sorted_by(|one, other| one > other));
            prop_assert_eq!(top.len(), offered.len().min(limit));
            let kept: Vec<_> = top.into_sorted().iter().map(Hit::address).collect();
            prop_assert_eq!(kept, all.iter().take(limit).map(Hit::address).collect::<Vec<_>>());
        }
    }
}
