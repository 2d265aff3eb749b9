//! Brands by the slugs that values of the facet of brands are.

use data_index::{BrandEntry, Release};
use data_model::BrandSlug;

/// The name of that facet, whatever stores call so.
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

pub(super) fn entry<'a>(release: &'a Release, value: &str) -> Option<&'a BrandEntry> {
    release.brand_by_slug(&folded(value).parse().ok()?)
}
