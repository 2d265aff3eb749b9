use data_index::{Filter, Release, RowAddress};

use super::top::{Hit, Order, TopHits};
use super::{Wanted, tier};

/// Below this share of all rows, gathering the passing rows and ordering them beats walking the order of all rows.
const GATHER_BELOW_ONE_IN: u64 = 16;

/// All live rows in each order, made once: what is asked for without words needs no search at all.
#[derive(Debug)]
pub(super) struct Orders(Vec<(Order, Vec<RowAddress>)>);

impl Orders {
    pub(super) fn of(release: &Release) -> Self {
        Self(
            Order::ALL
                .iter()
                .map(|order| (*order, ordered(release, *order)))
                .collect(),
        )
    }

    fn rows(&self, order: Order) -> &[RowAddress] {
        self.0
            .iter()
            .find(|(one, _)| *one == order)
            .map_or(&[], |(_, rows)| rows)
    }

    /// The first products in the wanted order that pass the filter.
    pub(super) fn first(&self, release: &Release, wanted: &Wanted<'_>) -> Vec<RowAddress> {
        let rows = self.rows(wanted.order);
        match wanted.filter {
            None => rows.iter().take(wanted.limit).copied().collect(),
            Some(filter) if passing_max(filter) < rows.len() as u64 / GATHER_BELOW_ONE_IN => {
                gather(release, filter, wanted)
            }
            Some(filter) => rows
                .iter()
                .filter(|row| filter.matches(**row))
                .take(wanted.limit)
                .copied()
                .collect(),
        }
    }
}

fn ordered(release: &Release, order: Order) -> Vec<RowAddress> {
    let mut hits = Vec::with_capacity(usize::try_from(release.counts().products).unwrap_or(0));
    for (at, part) in (0..).zip(release.parts()) {
        let live = (0..part.rows()).filter(|row| !part.dead().contains(*row));
        hits.extend(live.map(|row| {
            let cards = part.cards();
            Hit::of(
                order,
                cards,
                tier::ALL,
                cards.quality(row),
                RowAddress { part: at, row },
            )
        }));
    }
    hits.sort_unstable_by(|one, other| other.cmp(one));
    hits.iter().map(Hit::address).collect()
}

fn passing_max(filter: &Filter) -> u64 {
    filter.parts().iter().map(data_index::PartFilter::rows_max).sum()
}

fn gather(release: &Release, filter: &Filter, wanted: &Wanted<'_>) -> Vec<RowAddress> {
    let mut top = TopHits::new(release, wanted.order, wanted.limit);
    for (at, part) in (0..).zip(release.parts()) {
        let Some(passing) = filter.part(at) else { continue };
        for row in &passing.bitmap() {
            top.push(tier::ALL, part.cards().quality(row), RowAddress { part: at, row });
        }
    }
    top.into_sorted().iter().map(Hit::address).collect()
}
