use std::cmp::Reverse;

use data_index::{Release, RowAddress};
use data_model::CurrencyCode;

use super::Asked;
use super::bits::Bits;
use super::rows::Rows;
use crate::lexical::{Order, order_key};

/// One page of `of`, and whether products follow behind it.
pub(super) fn page(
    release: &Release,
    rows: &Rows,
    of: &Bits,
    asked: &Asked<'_>,
    currency: CurrencyCode,
) -> (Vec<RowAddress>, bool) {
    let wanted = asked.start.saturating_add(asked.limit);
    let ordered = rows.order(asked.order, currency);
    // One more than is shown tells whether the list goes on.
    let first = walk(ordered, of, wanted.saturating_add(1))
        .unwrap_or_else(|| gather(release, rows, of, asked.order, wanted.saturating_add(1)));
    let shown = first.iter().skip(asked.start).take(asked.limit);
    (shown.map(|row| rows.address(*row)).collect(), first.len() > wanted)
}

/// Reads the order of all rows until enough of them are found; `None` when gathering is cheaper.
fn walk(ordered: &[u32], of: &Bits, wanted: usize) -> Option<Vec<u32>> {
    let held = usize::try_from(of.len()).unwrap_or(usize::MAX);
    if held == 0 {
        return Some(Vec::new());
    }
    // Looking at a row of the order costs about a quarter of gathering one. What is wanted may stand unevenly.
    let steps_max = held.saturating_mul(4);
    let expected = wanted.min(held).saturating_mul(ordered.len()) / held;
    if expected > steps_max {
        return None;
    }
    let mut found = Vec::with_capacity(wanted.min(held));
    for row in ordered.iter().take(steps_max) {
        if of.contains(*row) {
            found.push(*row);
            if found.len() == wanted {
                return Some(found);
            }
        }
    }
    (steps_max >= ordered.len()).then_some(found)
}

/// Takes all rows and orders the first of them.
fn gather(release: &Release, rows: &Rows, of: &Bits, order: Order, wanted: usize) -> Vec<u32> {
    if order == Order::Relevance {
        let ranks = first(of.iter().map(|row| rows.rank(row)).collect(), wanted);
        return ranks.into_iter().map(|rank| rows.ranked(rank)).collect();
    }
    let keyed = of.iter().filter_map(|row| {
        let (part, at) = rows.row(release, row)?;
        Some((Reverse(order_key(order, part.cards(), at)), rows.rank(row)))
    });
    let keyed = first(keyed.collect(), wanted);
    keyed.into_iter().map(|(_, rank)| rows.ranked(rank)).collect()
}

/// The smallest of the keys, sorted.
fn first<K: Ord>(mut keys: Vec<K>, wanted: usize) -> Vec<K> {
    if keys.len() > wanted && wanted > 0 {
        keys.select_nth_unstable(wanted);
        keys.truncate(wanted);
    }
    keys.sort_unstable();
    keys
}
