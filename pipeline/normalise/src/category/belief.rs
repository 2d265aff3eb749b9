//! What a store deals in, by the meaning of all that it sells, and which witness is believed of one product.

use std::cell::OnceCell;
use std::cmp::Reverse;

use data_embedding::Vector;
use data_model::Product;
use google_taxonomy::ProductCategory;
use rustc_hash::FxHashMap;

use super::assortment::near;
use super::meaning::{Vote, agreed, by_path, shared_out, vector};
use super::table::Table;
use super::{Reading, department};

/// So many products without a type, of a page, tell what a store deals in; of the others those that words leave open.
const UNTYPED_MAX: usize = 16;
/// So many groups of a store's products, the largest, tell what it deals in.
const GROUPS_MAX: usize = 24;
/// The weight of all that a store sells beside the meaning of one product, and of its products' own words beside their meaning.
const STORE: f32 = 0.5 * 127.0;
const TOLD: f32 = 0.5;
/// A department that nothing of a store speaks for is still so likely.
const FLOOR: f32 = 0.02;
/// What words say is believed where the store deals in its department so much.
const KNOWN_MIN: f32 = 0.4;
/// The votes of words, beside one for all names that are near; a noun of several departments has fewer.
const WORDS: f32 = 1.0;
const DOUBTFUL_WORDS: f32 = 0.25;
/// Words are contradicted where their department, or the kinds nearest to what they say, has fewer votes.
const DEPARTMENT_MIN: f32 = 0.5;
const NEAR_MIN: f32 = 0.1;
/// So many votes agree on a category that no words say.
const AGREED_MIN: f32 = 0.6;

/// The vectors of a store's products, one for each product type, and of products without a type one each.
#[derive(Debug, Default)]
pub(crate) struct Meanings {
    vectors: FxHashMap<u64, Vector>,
    untyped: usize,
}

impl Meanings {
    /// Takes in a product where it tells more than those before it.
    pub(crate) fn note(&mut self, reading: &Reading, product: &Product) {
        let product_type = product.product_type.as_deref();
        let is_wanted = reading.product_type.is_some() || !reading.sure || self.untyped < UNTYPED_MAX;
        if !is_wanted || self.vectors.contains_key(&reading.group) {
            return;
        }
        if let Some(vector) = vector(product_type, &product.title, &product.description) {
            self.untyped += usize::from(reading.product_type.is_none());
            self.vectors.insert(reading.group, vector);
        }
    }

    /// Takes in what another page of the store told.
    pub(crate) fn add(&mut self, others: Self) {
        for (group, vector) in others.vectors {
            self.vectors.entry(group).or_insert(vector);
        }
    }

    /// About how many bytes of memory they take.
    pub(crate) fn memory_bytes(&self) -> usize {
        let vectors = self.vectors.values().map(Vector::dimensions);
        vectors.map(|bytes| bytes + 2 * size_of::<Vector>()).sum()
    }
}

/// What the products of a store mean.
#[derive(Debug, Default)]
pub(super) struct Belief {
    groups: FxHashMap<u64, Group>,
    /// The share of each department in what the store sells.
    departments: FxHashMap<&'static str, f32>,
    /// What all products mean together, at the weight that it has beside each.
    store: Vec<f32>,
}

/// Products that are looked at as one.
#[derive(Debug)]
struct Group {
    products: u32,
    vector: Vector,
    votes: OnceCell<Vec<Vote>>,
}

impl Group {
    /// A type of many products tells more of its store, but not as many times more.
    fn weight(&self) -> f32 {
        (self.products as f32).sqrt()
    }

    /// The votes for it among what else the store sells: boots of a store of saddles are a horse's.
    fn votes(&self, table: &Table, store: &[f32]) -> &[Vote] {
        self.votes.get_or_init(|| {
            let own = self.vector.components().iter();
            let among: Vec<f32> = own.zip(store).map(|(own, store)| f32::from(*own) + store).collect();
            Vector::new(&among).map_or_else(Vec::new, |among| table.lexicon().votes(&among))
        })
    }
}

impl Belief {
    /// The belief in these products, whose words alone tell so large a share of a department.
    pub(super) fn of<'r>(
        table: &Table,
        readings: impl Iterator<Item = &'r Reading>,
        meanings: &Meanings,
        told: impl Fn(&'static str) -> f32,
    ) -> Self {
        let mut groups: FxHashMap<u64, Group> = FxHashMap::default();
        for (id, vector) in &meanings.vectors {
            let group = Group {
                products: 0,
                vector: vector.clone(),
                votes: OnceCell::new(),
            };
            groups.insert(*id, group);
        }
        for reading in readings {
            if let Some(group) = groups.get_mut(&reading.group) {
                group.products += 1;
            }
        }
        groups.retain(|_, group| group.products > 0);
        let mut largest: Vec<(&u64, &Group)> = groups.iter().collect();
        largest.sort_unstable_by_key(|(id, group)| (Reverse(group.products), **id));
        largest.truncate(GROUPS_MAX);
        let all: f32 = largest.iter().map(|(_, group)| group.weight()).sum();
        let store = together(largest.iter().map(|(_, group)| *group));
        let mut departments: FxHashMap<&'static str, f32> = FxHashMap::default();
        for (_, group) in &largest {
            for vote in group.votes(table, &store) {
                let share = vote.share * group.weight() / all;
                *departments.entry(department(vote.category)).or_default() += share;
            }
        }
        for name in table.departments() {
            *departments.entry(name).or_default() += FLOOR + TOLD * told(name);
        }
        let all: f32 = departments.values().sum();
        departments.values_mut().for_each(|share| *share /= all);
        Self {
            groups,
            departments,
            store,
        }
    }

    /// The category that is believed of a product, where its words say this one. Words that neither what the store deals in nor
    /// the product's own meaning bears out lose; what is said then, or where there are no words, is no deeper than its
    /// meaning tells.
    pub(super) fn believed(
        &self,
        table: &Table,
        reading: &Reading,
        words: Option<ProductCategory>,
    ) -> Option<ProductCategory> {
        // A department alone says too little.
        let words = words.filter(|words| reading.stated || words.name().contains(" > "));
        let is_known = |words: ProductCategory| self.share(words) >= KNOWN_MIN;
        let group = self.groups.get(&reading.group);
        let Some(group) = group.filter(|_| !reading.stated && !words.is_some_and(is_known)) else {
            return words;
        };
        let share = reading.doubtful.map_or(WORDS, |_| DOUBTFUL_WORDS);
        let of_words = words.map(|category| Vote { category, share });
        let votes = group.votes(table, &self.store).iter().copied().chain(of_words);
        let votes = votes.map(|vote| Vote {
            share: vote.share * self.share(vote.category),
            ..vote
        });
        let shares = by_path(&shared_out(votes.collect()));
        let share = |path: &str| shares.get(path).copied().unwrap_or_default();
        let kept = words.filter(|words| share(department(*words)) >= DEPARTMENT_MIN && share(near(*words)) >= NEAR_MIN);
        kept.or_else(|| agreed(&shares, AGREED_MIN))
    }

    /// The share of a category's department in what the store sells.
    fn share(&self, category: ProductCategory) -> f32 {
        self.departments.get(department(category)).copied().unwrap_or_default()
    }
}

/// What groups of products mean together, as long as it weighs beside one of them.
fn together<'g>(groups: impl Iterator<Item = &'g Group>) -> Vec<f32> {
    let mut sum = Vec::new();
    for group in groups {
        sum.resize(group.vector.dimensions(), 0.0);
        for (sum, component) in sum.iter_mut().zip(group.vector.components()) {
            *sum += group.weight() * f32::from(*component);
        }
    }
    let squares: f32 = sum.iter().map(|component| component * component).sum();
    let scale = STORE / squares.sqrt().max(f32::MIN_POSITIVE);
    sum.iter_mut().for_each(|component| *component *= scale);
    sum
}
