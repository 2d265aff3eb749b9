//! Vectors of the names of categories, and of texts that are compared with them.

use data_embedding::{QUANTUM, Query, Vector, shipped};
use google_taxonomy::ProductCategory;

/// Number of nearest names that vote for a category.
const NAMES: usize = 20;
/// Factor of a cosine in the exponent of a vote. A name whose cosine is .1 lower has a third of the weight.
const SHARPNESS: f32 = 10.0;
/// Weights of the names above a category's own name.
const OF_PARENT: f32 = 0.5;
const OF_HIGHER: f32 = 0.2;

/// Text with its weight in a vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeighedText<'t> {
    weight: f32,
    text: &'t str,
}

impl<'t> WeighedText<'t> {
    pub(super) const fn new(weight: f32, text: &'t str) -> Self {
        Self { weight, text }
    }
}

/// Phrase that names a category.
#[derive(Clone, Copy, Debug)]
pub(super) struct CategoryName<'n> {
    pub(super) name: &'n str,
    pub(super) category: ProductCategory,
}

/// Vote of a name for its category.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vote {
    pub(super) weight: f32,
    pub(super) category: ProductCategory,
}

/// Names of categories with their vectors.
#[derive(Debug, Default)]
pub(super) struct Names {
    categories: Vec<ProductCategory>,
    /// Vectors in the stored form, one after another.
    rows: Vec<u8>,
}

impl Names {
    /// Creates the vectors of these phrases and of all names of `categories`.
    pub(super) fn of<'n>(
        phrases: impl Iterator<Item = CategoryName<'n>>,
        categories: impl Iterator<Item = ProductCategory>,
    ) -> Self {
        let mut names = Self::default();
        for CategoryName { name, category } in phrases {
            names.add(category, vector_of(&[WeighedText::new(1.0, name)]));
        }
        for category in categories {
            let mut levels: Vec<&str> = category.name().split(" > ").collect();
            let (name, parent) = (levels.pop().unwrap_or_default(), levels.pop().unwrap_or_default());
            let higher = levels.join(" ");
            let texts = [
                WeighedText::new(1.0, name),
                WeighedText::new(OF_PARENT, parent),
                WeighedText::new(OF_HIGHER, &higher),
            ];
            names.add(category, vector_of(&texts));
        }
        names
    }

    fn add(&mut self, category: ProductCategory, vector: Option<Vector>) {
        if let Some(vector) = vector {
            Query::store(Some(&vector), vector.dimensions(), &mut self.rows);
            self.categories.push(category);
        }
    }

    /// Returns the votes of the names nearest to a vector. Their sum is 1.
    pub(super) fn votes(&self, vector: &Vector) -> Vec<Vote> {
        let mut products = vec![0; self.categories.len()];
        Query::new(vector).dots(&self.rows, &mut products);
        let mut nearest: Vec<usize> = (0..products.len()).collect();
        // Equal products are ordered by their place, so that the result does not depend on the selection.
        let order = |at: &usize| (std::cmp::Reverse(products[*at]), *at);
        if nearest.len() > NAMES {
            nearest.select_nth_unstable_by_key(NAMES, order);
            nearest.truncate(NAMES);
        }
        nearest.sort_unstable_by_key(order);
        let most = nearest.first().map_or(0, |at| products[*at]);
        let weight = |at: &usize| (SHARPNESS * (products[*at] - most) as f32 * QUANTUM).exp();
        let all: f32 = nearest.iter().map(weight).sum();
        let vote = |at: &usize| Vote {
            weight: weight(at) / all,
            category: self.categories[*at],
        };
        nearest.iter().map(vote).collect()
    }
}

/// Returns the direction of the weighted sum of the texts' vectors; `None` if no text has a known word.
pub(super) fn vector_of(texts: &[WeighedText<'_>]) -> Option<Vector> {
    let embedder = shipped()?;
    let mut sum = vec![0.0; embedder.dimensions()];
    for WeighedText { weight, text } in texts {
        // The table in the program always answers.
        if let Ok(Some(vector)) = embedder.embed_query(text) {
            let components = vector.components().iter();
            sum.iter_mut()
                .zip(components)
                .for_each(|(sum, component)| *sum += weight * f32::from(*component));
        }
    }
    Vector::new(&sum)
}
