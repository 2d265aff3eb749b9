//! Facet of brands. Its values are the slugs of the release's brands and not values of a column.

use std::cmp::Reverse;

use data_index::{BrandEntry, Release};

use super::FacetWindow;
use super::bits::Bits;
use super::facets::{FacetCounts, FacetValue};
use super::named::{BRAND, entry};
use super::narrow::FilteredRows;
use super::rows::{PartRows, Rows};

/// Counting one row is about this many times faster than counting one brand.
const ROWS_A_BRAND: u64 = 4;

/// Adds the rows of a set to the counts of their brands, row by row if there are few rows, else brand by brand.
fn add(release: &Release, rows: &Rows, of: &Bits, counts: &mut [u32]) {
    if of.len() / ROWS_A_BRAND < counts.len() as u64 {
        for PartRows { part, rows, .. } in rows.listed(release, of) {
            for row in rows {
                if let Some(count) = counts.get_mut(part.brand_index(row)) {
                    *count += 1;
                }
            }
        }
        return;
    }
    for (at, count) in counts.iter_mut().enumerate() {
        *count += rows.brand(at).iter().map(|range| of.count_in(range)).sum::<u32>();
    }
}

/// Returns the brands with their remaining numbers of products, largest first, then by slug. The facet's own filter is
/// ignored.
pub(super) fn counts<'a>(
    release: &'a Release,
    rows: &Rows,
    narrowed: &FilteredRows,
    window: &FacetWindow,
) -> FacetCounts<'a> {
    let chosen = narrowed.only.iter().find(|only| only.chosen.name == BRAND);
    let mut counts = vec![0_u32; release.brands().len()];
    add(release, rows, &narrowed.all, &mut counts);
    if let Some(only) = chosen {
        add(release, rows, &only.rows, &mut counts);
    }
    // Slugs are ranked once when the release is opened, because many brands have equal counts.
    let key = |at: usize, count: u32| (Reverse(count), rows.place_by_slug(at));
    let asked = release.brands().iter().zip(&counts).enumerate();
    let asked = asked.filter(|(_, (entry, count))| **count > 0 && is_asked(window, entry));
    let mut counted: Vec<(Reverse<u32>, u32)> = asked.map(|(at, (_, count))| key(at, *count)).collect();
    let values_total = counted.len();
    if counted.len() > window.values_max() {
        counted.select_nth_unstable(window.values_max());
        counted.truncate(window.values_max());
    }
    let mut unknown = Vec::new();
    for value in chosen.iter().flat_map(|only| &only.chosen.values) {
        let found = entry(release, value).and_then(|found| release.brand_index(&found.facts.brand.store));
        match found.map(|at| key(at, counts.get(at).copied().unwrap_or(0))) {
            Some(found) if counted.contains(&found) => {}
            Some(found) => counted.push(found),
            None => unknown.push(FacetValue::unknown(BRAND, value)),
        }
    }
    counted.sort_unstable();
    let known = counted.into_iter().filter_map(|(Reverse(count), place)| {
        let entry = release.brands().get(rows.brand_by_slug(place)?)?;
        Some(FacetValue {
            value: entry.facts.brand.slug.as_str().into(),
            label: entry.facts.brand.name.as_str().into(),
            count,
        })
    });
    FacetCounts {
        name: BRAND.into(),
        values: known.chain(unknown).collect(),
        values_total,
    }
}

/// Returns true if the brand's slug or name starts with the text of the window.
fn is_asked(window: &FacetWindow, entry: &BrandEntry) -> bool {
    let brand = &entry.facts.brand;
    !window.is_narrow() || window.begins(brand.slug.as_str()) || window.begins_folded(&brand.name)
}
