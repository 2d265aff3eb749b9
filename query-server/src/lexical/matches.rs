use data_index::Release;
use roaring::RoaringBitmap;

use super::index::TextIndex;
use super::query::Query;
use super::strict::{self, Passing};
use super::{ReadError, Wanted, Work, exact, relaxed};

/// The rows of each part that a search is about, passing its filter: those that hold every word, as the query was
/// finally understood, and those whose code it is; where there are none, those that lack one word, else those that
/// hold any. Without a query, every row that passes.
pub(crate) fn match_set(
    release: &Release,
    index: &TextIndex,
    wanted: &Wanted<'_>,
) -> Result<Vec<RoaringBitmap>, ReadError> {
    let mut work = Work::new();
    let query = Query::of(release, index, wanted);
    let mut sets = vec![RoaringBitmap::new(); release.parts().len()];
    if query.terms.is_empty() {
        if wanted.text.trim().is_empty() {
            for (part, set) in (0..).zip(&mut sets) {
                *set = every_row(release, wanted, part);
            }
        }
        return Ok(sets);
    }
    exact::each(index, wanted.text, |part, row| {
        let passing = Passing::of(release, index, wanted.filter, part);
        if passing.has(row)
            && let Some(set) = sets.get_mut(part as usize)
        {
            set.insert(row);
        }
    })?;
    let open = query.open(release, index);
    if open.known.iter().all(|known| *known) {
        for (part, set) in (0..).zip(&mut sets) {
            let passing = Passing::of(release, index, wanted.filter, part);
            if let Some(mut groups) = strict::cursors(&open, part) {
                strict::walk(&mut groups, &mut work, |row, _| {
                    if passing.has(row) {
                        set.insert(row);
                    }
                });
            }
        }
    }
    if sets.iter().all(RoaringBitmap::is_empty) && open.len() > 1 {
        let mut lacking_one = sets.clone();
        relaxed::sums(release, &open, &mut work, |part, row, _, held| {
            let passing = Passing::of(release, index, wanted.filter, part);
            let set = if held + 1 == open.len() {
                &mut lacking_one
            } else {
                &mut sets
            };
            if passing.has(row)
                && let Some(set) = set.get_mut(part as usize)
            {
                set.insert(row);
            }
        });
        if lacking_one.iter().any(|set| !set.is_empty()) {
            return Ok(lacking_one);
        }
    }
    Ok(sets)
}

fn every_row(release: &Release, wanted: &Wanted<'_>, part: u32) -> RoaringBitmap {
    let Some(held) = release.part(part) else {
        return RoaringBitmap::new();
    };
    if let Some(filter) = wanted.filter {
        return filter
            .part(part)
            .map(data_index::PartFilter::bitmap)
            .unwrap_or_default();
    }
    let mut rows = RoaringBitmap::new();
    rows.insert_range(0..held.rows());
    rows - held.dead()
}
