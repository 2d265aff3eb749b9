use std::cmp::Reverse;

use data_index::{Release, RowAddress};
use data_model::CurrencyCode;
use rustc_hash::FxHashSet;

use super::bits::Bits;
use super::rows::Rows;
use super::{PageRequest, Siblings};
use crate::lexical::{Order, Sort};
use crate::siblings::Family;

#[derive(Debug)]
pub(super) struct Pages<'a> {
    pub(super) release: &'a Release,
    pub(super) rows: &'a Rows,
    /// Siblings, if only the first of each family is listed.
    pub(super) siblings: Option<&'a Siblings>,
}

/// Takes rows in order. If siblings are given, it takes only the first row of each family.
struct PageBuilder<'a> {
    pages: &'a Pages<'a>,
    families: FxHashSet<Family>,
    rows: Vec<u32>,
}

impl PageBuilder<'_> {
    fn take(&mut self, row: u32) {
        let pages = self.pages;
        let family = pages
            .siblings
            .and_then(|siblings| pages.rows.family(pages.release, siblings, row));
        if family.is_none_or(|family| self.families.insert(family)) {
            self.rows.push(row);
        }
    }
}

impl Pages<'_> {
    /// Returns one page of `of`, and true if products follow.
    pub(super) fn page(&self, of: &Bits, asked: &PageRequest<'_>, currency: CurrencyCode) -> (Vec<RowAddress>, bool) {
        let wanted = asked.start.saturating_add(asked.limit);
        let ordered = self.rows.order(asked.order, currency);
        // One extra row shows if the list continues.
        let first = self.walk(ordered, of, wanted.saturating_add(1)).unwrap_or_else(|| {
            let sort = Sort {
                order: asked.order,
                currency: Some(currency),
            };
            self.gather(of, sort, wanted.saturating_add(1))
        });
        let shown = first.iter().skip(asked.start).take(asked.limit);
        (shown.map(|row| self.rows.address(*row)).collect(), first.len() > wanted)
    }

    fn none_taken(&self) -> PageBuilder<'_> {
        PageBuilder {
            pages: self,
            families: FxHashSet::default(),
            rows: Vec::new(),
        }
    }

    /// Scans all rows in order until enough are found. Returns `None` if gathering is cheaper.
    fn walk(&self, ordered: [&[u32]; 3], of: &Bits, wanted: usize) -> Option<Vec<u32>> {
        let held = usize::try_from(of.len()).unwrap_or(usize::MAX);
        if held == 0 {
            return Some(Vec::new());
        }
        // Scanning a row costs about a quarter of gathering one. The wanted rows may be distributed unevenly.
        let steps_max = held.saturating_mul(4);
        let rows: usize = ordered.iter().map(|run| run.len()).sum();
        let expected = wanted.min(held).saturating_mul(rows) / held;
        if expected > steps_max {
            return None;
        }
        let mut taken = self.none_taken();
        taken.rows.reserve(wanted.min(held));
        let mut steps_left = steps_max;
        for run in ordered {
            for row in run.iter().take(steps_left) {
                if of.contains(*row) {
                    taken.take(*row);
                    if taken.rows.len() == wanted {
                        return Some(taken.rows);
                    }
                }
            }
            steps_left = steps_left.saturating_sub(run.len());
        }
        (steps_max >= rows).then_some(taken.rows)
    }

    /// Gathers all rows and sorts the first ones.
    fn gather(&self, of: &Bits, sort: Sort, wanted: usize) -> Vec<u32> {
        // The number of siblings between listed rows is unknown in advance.
        let first_of = if self.siblings.is_some() { usize::MAX } else { wanted };
        let ranks: Vec<u32> = if sort.order == Order::Relevance {
            first(of.iter().map(|row| self.rows.rank(row)).collect(), first_of)
        } else {
            let keyed = of.iter().filter_map(|row| {
                let (part, at) = self.rows.row(self.release, row)?;
                Some((Reverse(sort.key(part, at)), self.rows.rank(row)))
            });
            let keyed = first(keyed.collect(), first_of);
            keyed.into_iter().map(|(_, rank)| rank).collect()
        };
        let mut taken = self.none_taken();
        for rank in ranks {
            if taken.rows.len() == wanted {
                break;
            }
            taken.take(self.rows.ranked(rank));
        }
        taken.rows
    }
}

/// Returns the smallest keys, sorted.
fn first<K: Ord>(mut keys: Vec<K>, wanted: usize) -> Vec<K> {
    if keys.len() > wanted && wanted > 0 {
        keys.select_nth_unstable(wanted);
        keys.truncate(wanted);
    }
    keys.sort_unstable();
    keys
}
