use std::collections::BTreeMap;

use data_checks::Check;
use data_index::BrandEntry;
use data_index::taxonomy::{self, Category};
use data_model::CategoryId;

use super::json::{ObjectWriter, array, object};
use super::{Written, envelope, shipping};
use crate::checks::CheckedAnswers;
use crate::served::Served;

/// Categories that a brand in a list names; one brand by itself names all.
const CATEGORIES_MAX: usize = 20;

fn members(object: &mut ObjectWriter<'_>, entry: &BrandEntry, check: Option<&Check>, categories_max: usize) {
    let brand = &entry.facts.brand;
    object.text("slug", brand.slug.as_str());
    object.text("name", &brand.name);
    object.text("domain", &brand.domain);
    object.text_or_null("logo", brand.logo.as_deref());
    object.text("currency", brand.currency.as_str());
    object.text_or_null("country", brand.country.as_deref());
    object.integer("product_count", entry.product_count);
    object.integer("in_stock_count", entry.in_stock_count);
    object.integer("on_sale_count", entry.on_sale_count);
    let known = categories(entry).into_iter();
    object.array("categories", known.take(categories_max), |out, (category, products)| {
        super::json::object(out, |object| {
            object.integer("id", category.id.0);
            object.text("slug", &category.slug);
            object.text("name", category.name);
            object.integer("product_count", products);
        });
    });
    object.integer_or_null("price_min_minor", entry.price_min_minor);
    object.integer_or_null("price_max_minor", entry.price_max_minor);
    object.number_or_null("rating", entry.rating);
    object.integer("rating_count", entry.rating_count);
    object.id("refreshed_at", entry.facts.refreshed_at);
    object.moment_or_null("checked_at", check.map(|check| check.checked_at));
    object.text_or_null("check_outcome", check.map(|check| check.outcome.as_str()));
}

/// The categories that a brand's products are filed under, each with those below it too; most products first.
fn categories(entry: &BrandEntry) -> Vec<(&'static Category, u64)> {
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
    let mut known: Vec<_> = known.collect();
    known.sort_by_key(|(category, count)| (std::cmp::Reverse(*count), category.id));
    known
}

/// Writes a page of brands.
pub(crate) fn page(
    served: &Served,
    checked: &CheckedAnswers,
    brands: &[&BrandEntry],
    next_cursor: Option<&str>,
) -> Written {
    envelope(
        brands.len() * 1024 + 128,
        served.id_text(),
        |out| {
            array(out, brands, |out, entry| {
                object(out, |object| {
                    members(object, entry, checked.of_brand(entry), CATEGORIES_MAX);
                });
            })
        },
        |provenance| provenance.object("page", |page| page.text_or_null("next_cursor", next_cursor)),
    )
}

/// Writes one brand with what only its own answer tells.
pub(crate) fn detail(served: &Served, checked: &CheckedAnswers, entry: &BrandEntry) -> Written {
    let write = |out: &mut Vec<u8>| {
        object(out, |object| {
            members(object, entry, checked.of_brand(entry), usize::MAX);
            object.text("url", &entry.facts.brand.base_url);
            object.text_or_null("description", entry.facts.brand.description.as_deref());
            match &entry.facts.shipping {
                Some(policy) => object.object("shipping", |object| shipping::policy(object, policy)),
                None => object.null("shipping"),
            }
        });
    };
    envelope(4096, served.id_text(), write, |_| {})
}
