use std::collections::BTreeMap;

use data_checks::{Check, Checks};
use data_index::BrandEntry;
use data_index::taxonomy;
use data_model::CategoryId;

use super::{TIER, pages, provenance, shipping};
use crate::schema::{Brand, BrandAnswer, BrandCategory, BrandDetail, BrandsAnswer, CheckOutcome};
use crate::served::ReleaseView;

/// Maximum number of categories of a brand in a list of brands.
const CATEGORIES_MAX: usize = 20;

fn brand<'a>(entry: &'a BrandEntry, check: Option<&Check>, categories_max: usize) -> Brand<'a> {
    let brand = &entry.facts.brand;
    let categories = categories(entry).into_iter().take(categories_max);
    Brand {
        slug: brand.slug.as_str().into(),
        name: brand.name.as_str().into(),
        domain: brand.domain.as_str().into(),
        logo: brand.logo.as_deref().map(Into::into),
        currency: brand.currency.as_str().into(),
        country: brand.country.as_deref().map(Into::into),
        product_count: entry.product_count,
        in_stock_count: entry.in_stock_count,
        on_sale_count: entry.on_sale_count,
        categories: categories.collect(),
        price_min_minor: entry.price_min_minor,
        price_max_minor: entry.price_max_minor,
        rating: entry.rating,
        rating_count: entry.rating_count,
        refreshed_at: entry.facts.refreshed_at,
        checked_at: check.map(|check| check.checked_at),
        check_outcome: check.map(|check| outcome(check.outcome)),
        catalogue_complete: check.map(|check| !check.is_incomplete),
    }
}

const fn outcome(outcome: data_checks::CheckOutcome) -> CheckOutcome {
    match outcome {
        data_checks::CheckOutcome::Changed => CheckOutcome::Changed,
        data_checks::CheckOutcome::Unchanged => CheckOutcome::Unchanged,
        data_checks::CheckOutcome::HeldBack => CheckOutcome::HeldBack,
        data_checks::CheckOutcome::Failed => CheckOutcome::Failed,
    }
}

/// Returns the categories in which the brand has products, the largest first. A category's count includes its
/// subcategories.
fn categories(entry: &BrandEntry) -> Vec<BrandCategory<'static>> {
    let mut counts: BTreeMap<CategoryId, u64> = entry.categories.iter().map(|held| (held.category, 0)).collect();
    for held in &entry.categories {
        for category in taxonomy::lineage(held.category) {
            if let Some(count) = counts.get_mut(&category.id) {
                *count += held.products;
            }
        }
    }
    let known = counts
        .into_iter()
        .filter_map(|(id, count)| Some((taxonomy::by_id(id)?, count)));
    let known = known.map(|(category, product_count)| BrandCategory {
        id: category.id.0,
        slug: category.slug.as_str().into(),
        name: category.name.into(),
        product_count,
    });
    let mut known: Vec<_> = known.collect();
    known.sort_by_key(|category| (std::cmp::Reverse(category.product_count), category.id));
    known
}

pub(crate) fn page<'a>(
    served: &'a ReleaseView,
    checks: &Checks,
    brands: &[&'a BrandEntry],
    next_cursor: Option<String>,
) -> BrandsAnswer<'a> {
    let brands = brands.iter();
    BrandsAnswer {
        data: brands
            .map(|entry| brand(entry, checks.of(&entry.facts.brand.store), CATEGORIES_MAX))
            .collect(),
        provenance: pages(served.id_text(), next_cursor),
        tier: TIER,
    }
}

pub(crate) fn detail<'a>(served: &'a ReleaseView, checks: &Checks, entry: &'a BrandEntry) -> BrandAnswer<'a> {
    let Brand {
        slug,
        name,
        domain,
        logo,
        currency,
        country,
        product_count,
        in_stock_count,
        on_sale_count,
        categories,
        price_min_minor,
        price_max_minor,
        rating,
        rating_count,
        refreshed_at,
        checked_at,
        check_outcome,
        catalogue_complete,
    } = brand(entry, checks.of(&entry.facts.brand.store), usize::MAX);
    BrandAnswer {
        data: BrandDetail {
            slug,
            name,
            domain,
            logo,
            currency,
            country,
            product_count,
            in_stock_count,
            on_sale_count,
            categories,
            price_min_minor,
            price_max_minor,
            rating,
            rating_count,
            refreshed_at,
            checked_at,
            check_outcome,
            catalogue_complete,
            url: entry.facts.brand.base_url.as_str().into(),
            description: entry.facts.brand.description.as_deref().map(Into::into),
            shipping: entry.facts.shipping.as_ref().map(shipping::summary),
        },
        provenance: provenance(served.id_text()),
        tier: TIER,
    }
}
