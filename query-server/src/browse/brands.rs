//! The facet of brands: its values are no column's but the release's own brands, by their slugs.

use std::cmp::Reverse;

use data_index::{BrandEntry, Release};
use data_model::BrandSlug;

use super::FacetWindow;
use super::count::{FacetCounts, FacetValue};
use super::narrow::{Chosen, Narrowed};
use super::rows::Rows;

/// Its name, whatever stores call so.
pub(crate) const BRAND: &str = "brand";

/// The brands that values name, by their positions in [`Release::brands`].
pub(crate) fn named<'a>(release: &'a Release, values: &'a [String]) -> impl Iterator<Item = usize> + 'a {
    let entries = values.iter().filter_map(|value| entry(release, value));
    entries.filter_map(|entry| release.brand_index(&entry.facts.brand.store))
}

/// A slug as it is compared: in small letters, without space around it.
pub(super) fn folded(value: &str) -> String {
    let slug = value.trim().to_lowercase();
    slug.parse::<BrandSlug>().map_or(slug, |slug| slug.as_str().to_owned())
}

fn entry<'a>(release: &'a Release, value: &str) -> Option<&'a BrandEntry> {
    release.brand_by_slug(&folded(value).parse().ok()?)
}

/// How many products of what is left each brand has: most first, then by slug. The facet's own filter does not narrow it.
pub(super) fn counts<'a>(
    (release, rows): (&'a Release, &Rows),
    narrowed: &Narrowed,
    window: &FacetWindow,
) -> FacetCounts<'a> {
    let chosen = narrowed.only.iter().find(|(chosen, _)| chosen.name == BRAND);
    let count = |at: usize| -> u32 {
        let ranges = rows.brand(at).iter();
        let only = |range| chosen.map_or(0, |(_, only)| only.count_in(range));
        ranges.map(|range| narrowed.all.count_in(range) + only(range)).sum()
    };
    let brands = release.brands().iter().enumerate();
    let mut counted: Vec<(Reverse<u32>, &BrandEntry)> = brands
        .map(|(at, entry)| (Reverse(count(at)), entry))
        .filter(|(Reverse(count), entry)| *count > 0 && is_asked(window, entry))
        .collect();
    let values_total = counted.len();
    let order = |(count, entry): &(Reverse<u32>, &'a BrandEntry)| (*count, &entry.facts.brand.slug);
    if counted.len() > window.values_max() {
        counted.select_nth_unstable_by(window.values_max(), |one, other| order(one).cmp(&order(other)));
        counted.truncate(window.values_max());
    }
    let mut unknown = Vec::new();
    for value in chosen.iter().flat_map(|(chosen, _)| &chosen.values) {
        match entry(release, value) {
            Some(found) if counted.iter().any(|(_, known)| std::ptr::eq(*known, found)) => {}
            Some(found) => {
                let at = release.brand_index(&found.facts.brand.store);
                counted.push((Reverse(at.map_or(0, count)), found));
            }
            None => unknown.push(FacetValue::unknown(BRAND, value)),
        }
    }
    counted.sort_unstable_by(|one, other| order(one).cmp(&order(other)));
    let known = counted.into_iter().map(|(Reverse(count), entry)| FacetValue {
        value: entry.facts.brand.slug.as_str().into(),
        label: entry.facts.brand.name.as_str().into(),
        count,
    });
    FacetCounts {
        name: BRAND.into(),
        values: known.chain(unknown).collect(),
        values_total,
    }
}

/// Whether its slug or its name begins with what is looked for.
fn is_asked(window: &FacetWindow, entry: &BrandEntry) -> bool {
    let brand = &entry.facts.brand;
    window.begins(brand.slug.as_str()) || window.begins_folded(&brand.name)
}

impl Chosen {
    /// Whether it is the facet of brands.
    pub(super) fn is_brand(&self) -> bool {
        self.name == BRAND
    }
}
