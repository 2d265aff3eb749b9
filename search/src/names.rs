use data_index::suggest::{RankedNames, Work};
use data_index::taxonomy::Category;
use data_index::{CategoryNode, Release};
use data_text::plain_words;

/// Names of a release's brands and categories, prepared once for prefix search.
#[derive(Debug)]
pub(crate) struct Names {
    /// Indexes of brands in the release. The one with the most products is first.
    brands: Vec<usize>,
    brand_names: RankedNames,
    /// The category with the most products is first.
    categories: Vec<&'static Category>,
    category_names: RankedNames,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct NamePrefix<'a> {
    pub(crate) text: &'a str,
    /// True if titles lack one of the words, so that it may be mistyped.
    pub(crate) may_be_mistyped: bool,
}

/// Returns the maximum number of edits for correcting a text of this length.
pub(crate) fn edits_max(text: &str) -> u8 {
    if text.chars().any(char::is_numeric) {
        return 0;
    }
    match text.chars().count() {
        0..4 => 0,
        4..8 => 1,
        _ => 2,
    }
}

impl Names {
    /// `by_size` has the brand indexes by number of products, largest first. Only categories for which `shown` is true
    /// are included.
    pub(crate) fn of(release: &Release, by_size: &[usize], shown: impl Fn(&Category) -> bool) -> Self {
        let held = |at: &&usize| release.brands().get(**at).is_some_and(|entry| entry.product_count > 0);
        let brands: Vec<usize> = by_size.iter().filter(held).copied().collect();
        let brand_names = brands.iter().filter_map(|at| release.brands().get(*at));
        let brand_names = folded(brand_names.map(|entry| entry.facts.brand.name.as_str()));
        let mut nodes = Vec::new();
        release.category_tree().iter().for_each(|node| gather(node, &mut nodes));
        nodes.retain(|node| shown(node.category));
        nodes.sort_unstable_by_key(|node| (std::cmp::Reverse(node.product_count), node.category.path));
        let categories: Vec<&'static Category> = nodes.into_iter().map(|node| node.category).collect();
        let category_names = folded(categories.iter().map(|category| category.name));
        Self {
            brands,
            brand_names: RankedNames::of(brand_names.iter().map(String::as_str)),
            categories,
            category_names: RankedNames::of(category_names.iter().map(String::as_str)),
        }
    }

    /// Returns the indexes of brands with a word that starts with the prefix.
    pub(crate) fn brands(&self, begun: NamePrefix<'_>, limit: usize, work: &mut Work) -> Vec<usize> {
        let ranks = ranks(&self.brand_names, begun, limit, work);
        ranks
            .into_iter()
            .filter_map(|rank| self.brands.get(rank).copied())
            .collect()
    }

    /// Returns the categories with a word that starts with the prefix.
    pub(crate) fn categories(&self, begun: NamePrefix<'_>, limit: usize, work: &mut Work) -> Vec<&'static Category> {
        let ranks = ranks(&self.category_names, begun, limit, work);
        ranks
            .into_iter()
            .filter_map(|rank| self.categories.get(rank).copied())
            .collect()
    }
}

fn ranks(names: &RankedNames, begun: NamePrefix<'_>, limit: usize, work: &mut Work) -> Vec<usize> {
    let found = names.beginning_with(begun.text, limit, work);
    if found.is_empty() && begun.may_be_mistyped {
        names.near(begun.text, edits_max(begun.text), limit, work)
    } else {
        found
    }
}

fn folded<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    names.map(|name| plain_words(name).join(" ")).collect()
}

fn gather<'a>(node: &'a CategoryNode, nodes: &mut Vec<&'a CategoryNode>) {
    nodes.push(node);
    node.children.iter().for_each(|child| gather(child, nodes));
}
