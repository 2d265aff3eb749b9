use super::card;
use super::json::{object, string};
use crate::served::Served;
use crate::suggest::Suggested;

/// Writes what is suggested.
pub(crate) fn suggested(out: &mut Vec<u8>, served: &Served, found: &Suggested) {
    object(out, |data| {
        data.array("queries", &found.queries, |out, text| string(out, text));
        data.array("products", &found.products, |out, at| card::card(out, served, *at));
        let brands = found.brands.iter().filter_map(|at| served.release.brands().get(*at));
        data.array("brands", brands, |out, entry| {
            let brand = &entry.facts.brand;
            named(out, brand.slug.as_str(), &brand.name);
        });
        data.array("categories", &found.categories, |out, category| {
            named(out, &category.slug, category.name);
        });
    });
}

fn named(out: &mut Vec<u8>, slug: &str, name: &str) {
    object(out, |object| {
        object.text("slug", slug);
        object.text("name", name);
    });
}
