use data_index::{Release, RowAddress};

use super::top::TopHits;
use super::{Wanted, tier};

/// Below this share of a part's rows, gathering the passing rows first beats asking every row.
const GATHER_BELOW_ONE_IN: u64 = 16;

/// The most presentable products that pass the filter, or the first ones in another order.
pub(super) fn all(release: &Release, wanted: &Wanted<'_>) -> Vec<RowAddress> {
    let mut top = TopHits::new(release, wanted.order, wanted.limit);
    for (at, part) in (0..).zip(release.parts()) {
        let mut push = |row| top.push(tier::ALL, part.cards().quality(row), RowAddress { part: at, row });
        match wanted.filter.map(|filter| filter.part(at)) {
            Some(Some(filter)) if filter.rows_max() < u64::from(part.rows()) / GATHER_BELOW_ONE_IN => {
                filter.bitmap().iter().for_each(push);
            }
            Some(Some(filter)) => (0..part.rows()).filter(|row| filter.matches(*row)).for_each(push),
            Some(None) => {}
            None if part.dead().is_empty() => (0..part.rows()).for_each(push),
            None => (0..part.rows()).filter(|row| !part.dead().contains(*row)).for_each(&mut push),
        }
    }
    top.into_sorted().iter().map(super::Hit::address).collect()
}
