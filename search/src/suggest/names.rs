use data_index::suggest::{Ranked, Work};
use data_index::taxonomy::Category;
use data_index::{CategoryNode, Release};
use data_text::plain_words;

use super::edits_max;

/// The names of a release's brands and categories, prepared once.
#[derive(Debug)]
pub(crate) struct Names {
    /// Positions among the release's brands, those with most products first.
    brands: Vec<usize>,
    brand_names: Ranked,
    /// Those with most products first.
    categories: Vec<&'static Category>,
    category_names: Ranked,
}

/// What was typed of a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begun<'a> {
    pub(super) text: &'a str,
    /// Whether titles lack a word of it: what they hold is what was meant.
    pub(super) may_be_mistyped: bool,
}

impl Names {
    /// `by_size` are the positions of the brands, those with most products first; of categories those are named that are
    /// `shown`.
    pub(crate) fn of(release: &Release, by_size: &[usize], shown: impl Fn(&Category) -> bool) -> Self {
        let held = |at: &&usize| release.brands().get(**at).is_some_and(|entry| entry.product_count > 0);
        let brands: Vec<usize> = by_size.iter().filter(held).copied().collect();
        let brand_names = brands.iter().filter_map(|at| release.brands().get(*at));
        let brand_names = folded(brand_names.map(|entry| entry.facts.brand.name.as_str()));
        let mut nodes = Vec::new();
        release.category_tree().iter().for_each(|node| gather(node, &mut nodes));
        nodes.retain(|(_, category)| shown(category));
        nodes.sort_unstable_by_key(|(count, category)| (std::cmp::Reverse(*count), category.path));
        let categories: Vec<&'static Category> = nodes.into_iter().map(|(_, category)| category).collect();
        let category_names = folded(categories.iter().map(|category| category.name));
        Self {
            brands,
            brand_names: Ranked::of(brand_names.iter().map(String::as_str)),
            categories,
            category_names: Ranked::of(category_names.iter().map(String::as_str)),
        }
    }

    /// Positions of the brands of which a word begins so.
    pub(super) fn brands(&self, begun: Begun<'_>, limit: usize, work: &mut Work) -> Vec<usize> {
        let ranks = ranks(&self.brand_names, begun, limit, work);
        ranks
            .into_iter()
            .filter_map(|rank| self.brands.get(rank).copied())
            .collect()
    }

    /// The categories of which a word begins so.
    pub(super) fn categories(&self, begun: Begun<'_>, limit: usize, work: &mut Work) -> Vec<&'static Category> {
        let ranks = ranks(&self.category_names, begun, limit, work);
        ranks
            .into_iter()
            .filter_map(|rank| self.categories.get(rank).copied())
            .collect()
    }
}

fn ranks(names: &Ranked, begun: Begun<'_>, limit: usize, work: &mut Work) -> Vec<usize> {
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

fn gather(node: &CategoryNode, nodes: &mut Vec<(u64, &'static Category)>) {
    nodes.push((node.product_count, node.category));
    node.children.iter().for_each(|child| gather(child, nodes));
}
