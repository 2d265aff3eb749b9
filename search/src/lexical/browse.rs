use std::cmp::Reverse;

use data_index::{Filter, Release, RowAddress};

use super::hits::LexicalHits;
use super::lexical_query::LexicalQuery;

/// If fewer than one in this many of all rows pass, gathering and sorting them is faster than scanning the order of all
/// rows.
const GATHER_BELOW_ONE_IN: u64 = 16;

/// Returns the first products of `ordered` that pass the filter. `ordered` has all live products in the wanted order,
/// so that a request without words needs no search.
pub(crate) fn listed(
    release: &Release,
    ordered: impl Iterator<Item = RowAddress>,
    wanted: &LexicalQuery<'_>,
) -> LexicalHits {
    let rows_max = release.counts().products;
    let ordered = ordered.filter(|row| wanted.narrowing.allows(*row));
    let is_listed = |at: &RowAddress| {
        let part = release.part(at.part);
        part.is_some_and(|part| !part.unlisted().contains(at.row))
    };
    let rows = match wanted.narrowing.passing() {
        None => ordered.filter(is_listed).take(wanted.limit).collect(),
        Some(filter) if filter.is_empty() => Vec::new(),
        Some(filter) if passing_max(filter) < rows_max / GATHER_BELOW_ONE_IN => gather(release, filter, wanted),
        Some(filter) => ordered.filter(|row| filter.matches(*row)).take(wanted.limit).collect(),
    };
    LexicalHits::plain(rows)
}

fn passing_max(filter: &Filter) -> u64 {
    filter.parts().iter().map(data_index::PartFilter::rows_max).sum()
}

/// Returns the first rows that pass, in the order of all lists.
fn gather(release: &Release, filter: &Filter, wanted: &LexicalQuery<'_>) -> Vec<RowAddress> {
    let mut passed = Vec::new();
    for (at, part) in (0..).zip(release.parts()) {
        let Some(passing) = filter.part(at) else { continue };
        let cards = part.cards();
        let is_allowed = |row: &u32| wanted.narrowing.allows(RowAddress { part: at, row: *row });
        for row in passing.bitmap().iter().filter(is_allowed) {
            // Quality is not negative, so that its bits compare like its value.
            let presentable = Reverse((cards.in_stock(row), cards.quality(row).to_bits()));
            let key = (
                Reverse(wanted.sort.key(part, row)),
                presentable,
                *cards.id(row).as_bytes(),
            );
            passed.push((key, RowAddress { part: at, row }));
        }
    }
    if wanted.limit < passed.len() {
        passed.select_nth_unstable(wanted.limit);
        passed.truncate(wanted.limit);
    }
    passed.sort_unstable();
    passed.into_iter().map(|(_, at)| at).collect()
}
