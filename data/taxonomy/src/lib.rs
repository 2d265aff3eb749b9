//! The Google product taxonomy as categories with slugs and parents. Slugs depend on the taxonomy alone and not on a
//! catalogue, so that they stay the same across releases.

use std::sync::LazyLock;

use data_model::CategoryId;
use google_taxonomy::ProductCategory;
use rustc_hash::FxHashMap;

/// Upper bound for category ids. The highest published id is 543,703. The crate with the taxonomy supports only lookups
/// of single ids.
const ID_MAX: u32 = 600_000;

/// The top-level category `Mature`.
const MATURE: CategoryId = CategoryId(772);

/// One category of the taxonomy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// Id of the category in the taxonomy.
    pub id: CategoryId,
    /// The category's name in kebab-case, unique in the taxonomy.
    pub slug: String,
    /// The category's own name, such as `Coffee`.
    pub name: &'static str,
    /// Full path of the category, such as `Food, Beverages & Tobacco > Beverages > Coffee`.
    pub path: &'static str,
    /// Parent category. `None` for a top-level category.
    pub parent: Option<CategoryId>,
}

#[derive(Debug)]
struct Taxonomy {
    /// Sorted by path, so that a category precedes its subcategories.
    categories: Vec<Category>,
    by_id: FxHashMap<u32, usize>,
    by_slug: FxHashMap<String, usize>,
    /// Categories by lowercase full path.
    by_path: FxHashMap<String, usize>,
}

static TAXONOMY: LazyLock<Taxonomy> = LazyLock::new(Taxonomy::load);

impl Taxonomy {
    fn load() -> Self {
        let mut known: Vec<ProductCategory> = (1..ID_MAX).filter_map(|id| ProductCategory::from_id(id).ok()).collect();
        known.sort_unstable_by_key(ProductCategory::name);
        let mut taxonomy = Self {
            categories: Vec::with_capacity(known.len()),
            by_id: FxHashMap::default(),
            by_slug: FxHashMap::default(),
            by_path: FxHashMap::default(),
        };
        for category in known {
            let path = category.name();
            let (above, name) = path
                .rsplit_once(" > ")
                .map_or((None, path), |(above, name)| (Some(above), name));
            let parent = above.and_then(|above| ProductCategory::from_name(above).ok());
            let mut slug = kebab(name);
            if taxonomy.by_slug.contains_key(&slug) {
                slug = kebab(path);
            }
            let at = taxonomy.categories.len();
            taxonomy.by_id.insert(category.id(), at);
            taxonomy.by_slug.insert(slug.clone(), at);
            taxonomy.by_path.insert(path.to_lowercase(), at);
            taxonomy.categories.push(Category {
                id: CategoryId(category.id()),
                slug,
                name,
                path,
                parent: parent.map(|parent| CategoryId(parent.id())),
            });
        }
        taxonomy
    }
}

fn kebab(name: &str) -> String {
    data_model::slugify(name).map_or_else(|| "category".to_owned(), |slug| slug.to_string())
}

/// Returns every category, sorted by path. Parents precede their children.
#[must_use]
pub fn all() -> &'static [Category] {
    &TAXONOMY.categories
}

/// Returns the category with this id.
#[must_use]
pub fn by_id(id: CategoryId) -> Option<&'static Category> {
    TAXONOMY.by_id.get(&id.0).and_then(|at| TAXONOMY.categories.get(*at))
}

/// Finds a category by its slug, its decimal id or its full path, ignoring case.
#[must_use]
pub fn by_slug_or_id(text: &str) -> Option<&'static Category> {
    let lower = text.to_lowercase();
    let by_path = || TAXONOMY.by_path.get(&lower);
    let at = TAXONOMY.by_slug.get(&lower).or_else(by_path).copied();
    let digits = || text.bytes().all(|byte| byte.is_ascii_digit());
    at.and_then(|at| TAXONOMY.categories.get(at))
        .or_else(|| by_id(CategoryId(text.parse().ok().filter(|_| digits())?)))
}

/// Returns the top category of products for adults only.
#[must_use]
pub fn mature() -> Option<&'static Category> {
    by_id(MATURE)
}

/// Returns the category and its ancestors, up to the top level. Empty if the taxonomy does not have the id.
pub fn lineage(id: CategoryId) -> impl Iterator<Item = &'static Category> {
    std::iter::successors(by_id(id), |category| category.parent.and_then(by_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_category_is_found_by_its_slug_and_its_id() {
        assert!(all().len() > 5_000);
        for category in all() {
            assert_eq!(by_slug_or_id(&category.slug), Some(category));
            assert_eq!(by_slug_or_id(&category.id.to_string()), Some(category));
            assert_eq!(
                category.parent.is_some(),
                category.path.contains(" > "),
                "{}",
                category.path
            );
        }
    }

    #[test]
    fn lineage_goes_up_to_the_top() {
        let coffee = by_slug_or_id("coffee").unwrap();
        let names: Vec<_> = lineage(coffee.id).map(|category| category.slug.as_str()).collect();
        assert_eq!(names, ["coffee", "beverages", "food-beverages-tobacco"]);
        assert_eq!(lineage(CategoryId(999_999)).count(), 0);
        assert_eq!(by_slug_or_id(&coffee.path.to_uppercase()), Some(coffee));
        assert_eq!(by_slug_or_id("no-such-thing"), None);
        assert_eq!(mature().map(|category| category.path), Some("Mature"));
    }
}
