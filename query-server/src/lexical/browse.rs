use data_index::{Filter, Release, RowAddress};

use super::top::{Hit, TopHits};
use super::{Found, Wanted, tier};

/// Below this share of all rows, gathering the passing rows and ordering them beats walking the order of all rows.
const GATHER_BELOW_ONE_IN: u64 = 16;

/// The first products of `ordered`, which are all live ones in the wanted order, that pass the filter: what is asked for
/// without words needs no search.
pub(crate) fn listed(
    release: &Release,
    ordered: impl ExactSizeIterator<Item = RowAddress>,
    wanted: &Wanted<'_>,
) -> Found {
    let rows_max = ordered.len() as u64;
    let ordered = ordered.filter(|row| wanted.allowed.is_none_or(|allowed| allowed.has(row.part, row.row)));
    let rows = match wanted.filter {
        None => ordered.take(wanted.limit).collect(),
        Some(filter) if filter.is_empty() => Vec::new(),
        Some(filter) if passing_max(filter) < rows_max / GATHER_BELOW_ONE_IN => gather(release, filter, wanted),
        Some(filter) => ordered.filter(|row| filter.matches(*row)).take(wanted.limit).collect(),
    };
    Found::plain(rows)
}

fn passing_max(filter: &Filter) -> u64 {
    filter.parts().iter().map(data_index::PartFilter::rows_max).sum()
}

fn gather(release: &Release, filter: &Filter, wanted: &Wanted<'_>) -> Vec<RowAddress> {
    let mut top = TopHits::new(release, wanted.order, wanted.limit);
    for (at, part) in (0..).zip(release.parts()) {
        let Some(passing) = filter.part(at) else { continue };
        let is_allowed = |row: &u32| wanted.allowed.is_none_or(|allowed| allowed.has(at, *row));
        for row in passing.bitmap().iter().filter(is_allowed) {
            top.push(tier::ALL, part.cards().quality(row), RowAddress { part: at, row });
        }
    }
    top.into_sorted().iter().map(Hit::address).collect()
}
