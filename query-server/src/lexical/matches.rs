use data_index::Release;

use super::index::TextIndex;
use super::query::Query;
use super::strict::{self, Passing};
use super::{ReadError, Wanted, Work, exact, relaxed};

/// Rows of one part: a bit for each, in words of 64. What a common word matches is most of a part, and is put in one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowSet(Vec<u64>);

impl RowSet {
    /// No row of a part with so many.
    pub(crate) fn none(rows: u32) -> Self {
        Self(vec![0; (rows as usize).div_ceil(64)])
    }

    /// No row, for each part of a release.
    pub(crate) fn none_of(release: &Release) -> Vec<Self> {
        release.parts().iter().map(|part| Self::none(part.rows())).collect()
    }

    /// Adds a row; one that the part has not is left out.
    #[inline]
    pub(crate) fn insert(&mut self, row: u32) {
        if let Some(word) = self.0.get_mut(row as usize / 64) {
            *word |= 1 << (row % 64);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// The words, that of rows 0 to 63 first.
    pub(crate) fn words(&self) -> &[u64] {
        &self.0
    }
}

/// The rows of each part that a search is about, passing its filter: those that hold every word, as the query was
/// finally understood, and those whose code it is; where there are none, those that lack one word, else those that
/// hold any. Without a query, every row that passes.
pub(crate) fn match_set(release: &Release, index: &TextIndex, wanted: &Wanted<'_>) -> Result<Vec<RowSet>, ReadError> {
    let mut work = Work::new();
    let query = Query::of(release, index, wanted);
    let mut sets = RowSet::none_of(release);
    if query.terms.is_empty() {
        if wanted.text.trim().is_empty() {
            for (part, set) in (0..).zip(&mut sets) {
                let passing = Passing::of(release, index, wanted.filter, part);
                let rows = release.part(part).map_or(0, data_index::Part::rows);
                (0..rows)
                    .filter(|row| passing.has(*row))
                    .for_each(|row| set.insert(row));
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
    if sets.iter().all(RowSet::is_empty) && open.len() > 1 {
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
