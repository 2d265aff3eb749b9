//! Finds coarse categories by meaning for products whose words name none.
//!
//! A product's vector is compared with the vectors of all phrases and category names. The nearest ones vote for their
//! categories. What the shop sells weighs the votes, because a vector alone often leads to another department. The
//! result is the deepest category for which enough votes agree, if the shop sells much near it. It is never a whole
//! department.

use data_embedding::Vector;
use data_model::CategoryId;
use google_taxonomy::ProductCategory;
use rustc_hash::FxHashMap;

use super::assortment::{LEVELS_MIN, ancestors, near};
use super::belief::Belief;
use super::table::Table;
use super::vectors::{Vote, WeighedText, vector_of};
use super::{Reading, Witness};

/// Minimum share of the votes that must agree.
const AGREED_MIN: f32 = 0.6;
/// Minimum share of a shop's products near a category, for a vector to give it to another one.
const SOLD_MIN: f32 = 0.15;
/// Minimum number of a shop's products whose words name a category. A few do not show what the shop sells.
const NAMED_MIN: usize = 3;
/// Maximum level of the result. A vector shows a branch of the taxonomy better than a leaf.
const LEVELS_MAX: usize = 3;
/// Weight of a product type relative to the title.
const OF_TYPE: f32 = 0.7;
/// Maximum number of products of one shop that are compared, because a comparison is slow.
const PRODUCTS_MAX: usize = 5_000;

/// Product of a shop: what its words say, and its vector if they may say nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadProduct<'p> {
    pub(crate) reading: &'p Reading,
    pub(crate) vector: Option<&'p Vector>,
}

/// Returns the vector of a product whose category may have to be found by meaning.
pub(crate) fn vector(reading: &Reading, product_type: Option<&str>, title: &str) -> Option<Vector> {
    let mut phrases = reading.witnesses.iter().flatten().map(|Witness { phrase, .. }| *phrase);
    let first = phrases.next();
    let is_confirmed = reading.category.is_some() && !reading.weak && phrases.any(|other| Some(other) != first);
    // A noun that names nothing alone is known, so the words say that the product is none of the shop's usual things.
    let is_needed = !is_confirmed && !reading.no_goods && !reading.stated && reading.open.is_none();
    let product_type = product_type.unwrap_or_default();
    let texts = [WeighedText::new(1.0, title), WeighedText::new(OF_TYPE, product_type)];
    is_needed.then(|| vector_of(&texts))?
}

/// Products of a shop by the group of kinds nearest to their categories.
#[derive(Debug, Default)]
struct KindCounts {
    all: f32,
    by_group: FxHashMap<&'static str, f32>,
}

impl KindCounts {
    fn add(&mut self, category: ProductCategory, weight: f32) {
        self.all += weight;
        *self.by_group.entry(near(category)).or_default() += weight;
    }

    fn add_votes(&mut self, votes: &[Vote], weight: f32) {
        votes
            .iter()
            .for_each(|vote| self.add(vote.category, vote.weight * weight));
    }

    /// Returns the share of the products near a category.
    fn share(&self, category: ProductCategory) -> f32 {
        self.by_group.get(near(category)).copied().unwrap_or_default() / self.all
    }
}

/// Returns the category of each product of a shop. The category comes from the product's words if the shop's other
/// products support it, otherwise from the product's vector.
pub(crate) fn settle(table: &Table, products: &[ReadProduct<'_>]) -> Vec<Option<CategoryId>> {
    let belief = Belief::of(table, products.iter().map(|product| product.reading));
    let settled = products.iter().map(|product| belief.settle(product.reading));
    let mut settled: Vec<Option<CategoryId>> = settled.collect();
    if settled.iter().flatten().count() < NAMED_MIN {
        return settled;
    }
    let mut sold = KindCounts::default();
    let mut votes: Vec<(usize, Vec<Vote>)> = Vec::new();
    for (place, (product, category)) in products.iter().zip(&settled).enumerate() {
        if let Some(category) = category.and_then(|category| ProductCategory::from_id(category.0).ok()) {
            sold.add(category, 1.0);
        } else if let Some(vector) = product.vector.filter(|_| votes.len() < PRODUCTS_MAX) {
            votes.push((place, table.names().votes(vector)));
        }
    }
    for (_, votes) in &votes {
        sold.add_votes(votes, 1.0);
    }
    for (place, votes) in votes {
        // The product itself does not show what else the shop sells.
        sold.add_votes(&votes, -1.0);
        let weighed = votes.iter().map(|vote| Vote {
            weight: vote.weight * sold.share(vote.category),
            ..*vote
        });
        let meant = agreed(weighed).filter(|category| sold.share(*category) >= SOLD_MIN);
        settled[place] = meant.map(|category| CategoryId(category.id()));
        sold.add_votes(&votes, 1.0);
    }
    settled
}

/// Returns the deepest category below the departments that has enough of the votes.
fn agreed(votes: impl Iterator<Item = Vote>) -> Option<ProductCategory> {
    let (mut all, mut by_path): (f32, FxHashMap<&'static str, f32>) = (0.0, FxHashMap::default());
    for Vote { weight, category } in votes {
        all += weight;
        for path in ancestors(category.name()).take(LEVELS_MAX).skip(LEVELS_MIN - 1) {
            *by_path.entry(path).or_default() += weight;
        }
    }
    let enough = by_path.into_iter().filter(|(_, weight)| *weight >= AGREED_MIN * all);
    let level = |path: &str| path.split(" > ").count();
    let (path, _) = enough.max_by(|(one, own), (other, others)| {
        let by_level = level(one).cmp(&level(other));
        by_level.then(own.total_cmp(others)).then(other.cmp(one))
    })?;
    ProductCategory::from_name(path).ok()
}
