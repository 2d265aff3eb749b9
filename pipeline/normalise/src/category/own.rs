//! Maps the categories that a store itself states for its products, which are paths of names of Shopify's product
//! taxonomy.
//!
//! Names of that taxonomy are similar to Google's. The deepest name that maps gives the category, either an exact name
//! nearby, or the rules' category of the name if it is below the category so far. A path that begins with no department
//! of the taxonomy ("Uncategorized", another language) gives no category.

use std::sync::LazyLock;

use google_taxonomy::ProductCategory;
use rustc_hash::{FxHashMap, FxHashSet};

use super::assortment::LEVELS_MIN;
use super::names::categories;
use super::table::Table;
use super::{Reading, contains, is_below, type_head};

/// Minimum percentage of a store's products under one path, so that the path is suspected as a default.
const DEFAULT_SHARE_MIN: usize = 80;
/// Minimum number of other categories by the texts of these products, so that the path is a default.
const DEFAULT_OTHERS_MIN: usize = 3;

/// Names are spelled as by [`fold`], and shallow categories come first.
static BY_NAME: LazyLock<FxHashMap<String, Vec<ProductCategory>>> = LazyLock::new(|| {
    let mut by_name: FxHashMap<String, Vec<ProductCategory>> = FxHashMap::default();
    for category in categories() {
        let name = category.name().rsplit(" > ").next().unwrap_or_default();
        by_name.entry(fold(name)).or_default().push(category);
    }
    for categories in by_name.values_mut() {
        categories.sort_by_key(|category| (category.name().matches(" > ").count(), category.id()));
    }
    by_name
});

/// Returns one spelling for singular and plural, and for capital and small letters.
fn fold(name: &str) -> String {
    name.trim().trim_end_matches('s').to_lowercase()
}

/// Returns `None` if the path gives no more than a department.
pub(super) fn mapped(table: &Table, path: &str) -> Option<ProductCategory> {
    let mut names = path.split(" > ");
    let department = ProductCategory::from_name(names.next()?.trim()).ok()?;
    let category = names.fold(department, |at, name| {
        let exact = named(at, name);
        let said = || {
            let said = type_head(table, name).head()?.category();
            said.filter(|said| is_below(said.name(), at.name()))
        };
        exact.or_else(said).unwrap_or(at)
    });
    (category.name().split(" > ").count() >= LEVELS_MIN).then_some(category)
}

/// Returns the category with this name below a category, else next to it.
fn named(at: ProductCategory, name: &str) -> Option<ProductCategory> {
    let found = BY_NAME.get(&fold(name))?;
    let parent = |category: &ProductCategory| category.name().rsplit_once(" > ").map(|(parent, _)| parent);
    let below = found.iter().find(|category| is_below(category.name(), at.name()));
    let beside = || found.iter().find(|category| parent(category) == parent(&at));
    below.or_else(beside).copied()
}

#[derive(Debug)]
pub(crate) struct StatedProduct<'a> {
    pub(crate) reading: &'a mut Reading,
    /// Names from the department on.
    pub(crate) path: &'a str,
}

/// Gives the products of one store the categories that the store states.
pub(crate) fn believe(table: &Table, stated: Vec<StatedProduct<'_>>) {
    let mut paths: FxHashMap<&str, Option<ProductCategory>> = FxHashMap::default();
    for StatedProduct { path, .. } in &stated {
        paths.entry(*path).or_insert_with(|| mapped(table, path));
    }
    paths.retain(|path, category| category.is_some_and(|category| !is_default(&stated, path, category)));
    for StatedProduct { reading, path } in stated {
        if let Some(category) = paths.get(path).copied().flatten() {
            reading.believe(category);
        }
    }
}

/// Returns true if nearly all of a store's products have one path, although their texts mostly name other things of
/// many kinds.
fn is_default(stated: &[StatedProduct<'_>], path: &str, category: ProductCategory) -> bool {
    let of_path: Vec<&Reading> = stated
        .iter()
        .filter(|product| product.path == path)
        .map(|product| &*product.reading)
        .collect();
    if of_path.len() * 100 < stated.len() * DEFAULT_SHARE_MIN {
        return false;
    }
    let named = of_path.iter().filter(|reading| !reading.weak);
    let mut named: Vec<&str> = named.filter_map(|reading| Some(reading.category?.name())).collect();
    let all = named.len();
    named.retain(|name| !contains(name, category.name()) && !contains(category.name(), name));
    let kinds: FxHashSet<&str> = named.iter().copied().collect();
    named.len() * 2 > all && kinds.len() >= DEFAULT_OTHERS_MIN
}

impl Reading {
    /// Applies a category that the store states, or a category below it from the texts.
    fn believe(&mut self, stated: ProductCategory) {
        let own = [self.category, self.other].into_iter().flatten();
        let narrower = own.into_iter().find(|own| is_below(own.name(), stated.name()));
        *self = Self {
            stated: true,
            product_type: self.product_type,
            witnesses: self.witnesses,
            no_goods: self.no_goods,
            ..Self::sure(narrower.unwrap_or(stated))
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::TABLE;
    use super::*;

    #[test]
    fn paths_of_shopifys_taxonomy_map_to_googles_by_their_names() {
        let cases = [
            (
                "Apparel & Accessories > Clothing > Clothing Tops > T-Shirts",
                "Shirts & Tops",
            ),
            (
                "Apparel & Accessories > Clothing > Outerwear > Coats & Jackets > Parkas",
                "Coats & Jackets",
            ),
            ("Apparel & Accessories > Clothing > Lingerie > Bras", "Bras"),
            (
                "Apparel & Accessories > Clothing > Baby & Toddler Clothing > Baby & Toddler Tops > T-Shirts",
                "Baby & Toddler Tops",
            ),
            (
                "Apparel & Accessories > Clothing > Baby & Toddler Clothing > Baby & Toddler Bottoms > Skirts",
                "Baby & Toddler Bottoms",
            ),
            (
                "Animals & Pet Supplies > Pet Supplies > Cat Supplies > Cat Litter > Cat Litter Boxes",
                "Cat Litter Boxes",
            ),
            (
                "Animals & Pet Supplies > Pet Supplies > Cat Supplies > Cat Food > Non-Prescription Cat Food",
                "Non-prescription Cat Food",
            ),
            (
                "Animals & Pet Supplies > Pet Supplies > Fish & Aquatic Supplies > Aquarium & Pond Tubings > Airlines",
                "Aquarium & Pond Tubing",
            ),
            (
                "Animals & Pet Supplies > Pet Supplies > Bird Supplies > Bird Toys > Mirrors",
                "Bird Toys",
            ),
            (
                "Sporting Goods > Fitness & General Exercise Equipment > Yoga & Pilates > Yoga & Pilates Mats",
                "Yoga & Pilates Mats",
            ),
            ("Furniture > Futons > Futon Frames", "Futon Frames"),
            ("Furniture > Outdoor Furniture > Outdoor Beds > Futons", "Outdoor Beds"),
            (
                "Furniture > Cabinets & Storage > Kitchen Cabinets > Double Doors",
                "Kitchen Cabinets",
            ),
            ("Apparel & Accessories", "none"),
            ("Uncategorized", "none"),
            ("Bekleidung & Accessoires > Bekleidung > Oberteile", "none"),
        ];
        for (path, expected) in cases {
            let category = mapped(&TABLE, path).map_or("none", |category| category.name());
            assert_eq!(category.rsplit(" > ").next(), Some(expected), "{path}: {category}");
        }
    }
}
