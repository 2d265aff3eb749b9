use rustc_hash::{FxHashMap, FxHashSet};

use super::fuse::FusedRow;
use super::query::SearchQuery;
use super::retrieve::ranked;
use crate::context::SearchContext;

/// Numbers of hits to retrieve in turn, while the page is short because of the limit per brand or folded siblings.
const FURTHER: [usize; 3] = [400, 1_600, 6_400];

/// Keeps the best products up to the limit per brand, and the best one of each family of siblings. Rows from further
/// down fill the gaps. A limit only removes products, and never adds any that would not be found without it.
pub(super) fn keep(served: &SearchContext, query: &SearchQuery<'_>, rows: &mut Vec<FusedRow>) {
    // A limit of at least the page size has no effect.
    let brand_max = query.per_brand_max.filter(|max| *max < query.page());
    if brand_max.is_none() && !query.folded {
        return;
    }
    // One extra row shows if there are more.
    let wanted = query.page() + 1;
    let mut exhausted = rows.len() < wanted;
    keep_best(served, query, rows, brand_max);
    for limit in FURTHER {
        if exhausted || rows.len() >= wanted {
            break;
        }
        let further = SearchQuery {
            limit,
            with_matches: false,
            ..*query
        };
        let further = ranked(served, &further).rows;
        exhausted = further.len() < limit;
        let known: FxHashSet<_> = rows.iter().map(|row| row.at).collect();
        rows.extend(further.into_iter().filter(|row| !known.contains(&row.at)));
        keep_best(served, query, rows, brand_max);
    }
}

fn keep_best(served: &SearchContext, query: &SearchQuery<'_>, rows: &mut Vec<FusedRow>, brand_max: Option<usize>) {
    let mut families = FxHashSet::default();
    if query.folded {
        rows.retain(|row| {
            served
                .browse
                .family(&served.release, row.at)
                .is_none_or(|family| families.insert(family))
        });
    }
    let Some(max) = brand_max else { return };
    let mut kept: FxHashMap<usize, usize> = FxHashMap::default();
    rows.retain(|row| {
        let part = served.release.part(row.at.part);
        let brand = part.map_or(usize::MAX, |part| part.brand_index(row.at.row));
        let count = kept.entry(brand).or_default();
        *count += 1;
        *count <= max
    });
}
