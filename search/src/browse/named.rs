//! Brand slugs as values of the brand facet.

use data_index::{BrandEntry, Release};
use data_model::BrandSlug;

/// Name of the brand facet. A store's attribute of the same name is something else.
pub(crate) const BRAND: &str = "brand";

/// Returns the brands with these slugs as indexes in [`Release::brands`].
pub(crate) fn named<'a>(release: &'a Release, values: &'a [String]) -> impl Iterator<Item = usize> + 'a {
    let entries = values.iter().filter_map(|value| entry(release, value));
    entries.filter_map(|entry| release.brand_index(&entry.facts.brand.store))
}

/// Slugs are compared in lowercase and trimmed.
pub(super) fn folded(value: &str) -> String {
    let slug = value.trim().to_lowercase();
    slug.parse::<BrandSlug>().map_or(slug, |slug| slug.as_str().to_owned())
}

pub(super) fn entry<'a>(release: &'a Release, value: &str) -> Option<&'a BrandEntry> {
    release.brand_by_slug(&folded(value).parse().ok()?)
}
