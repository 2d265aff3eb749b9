//! The meaning of what a product says of itself: the categories whose names are nearest to it.

use data_embedding::{BLOCK_ROWS, QUANTUM, Query, SketchQuery, Vector, block_bytes, shipped, sketch, stride};
use google_taxonomy::ProductCategory;
use rustc_hash::FxHashMap;

use super::LEVELS_MIN;
use super::assortment::ancestors;

/// So many names, the nearest, have a vote.
const VOTERS: usize = 20;
/// So many whose sketches look nearest are measured.
const MEASURED: usize = 96;
/// A name that is farther than the nearest by this much has an e-th of its vote.
const WIDTH: f32 = 0.08;
/// The weights of title, product type and description, and the bytes of a description that are read.
const TITLE: f32 = 0.7;
const TYPE: f32 = 1.0;
const DESCRIPTION: f32 = 1.0;
const DESCRIPTION_BYTES: usize = 320;
/// The branch of what is for adults alone: words say it, or it is not meant.
const MATURE: &str = "Mature";

/// The vector of what a product says of itself; `None` where no word of it is known.
pub(super) fn vector(product_type: Option<&str>, title: &str, description: &str) -> Option<Vector> {
    let embedder = shipped()?;
    let mut sum = vec![0.0; embedder.dimensions()];
    let end = description.floor_char_boundary(DESCRIPTION_BYTES.min(description.len()));
    let description = description.get(..end).unwrap_or_default();
    for (text, weight) in [
        (title, TITLE),
        (product_type.unwrap_or_default(), TYPE),
        (description, DESCRIPTION),
    ] {
        let part = embedder.embed_query(text).ok().flatten();
        for (sum, component) in sum.iter_mut().zip(part.iter().flat_map(|part| part.components())) {
            *sum += weight * f32::from(*component);
        }
    }
    Vector::new(&sum)
}

/// A category, and how much speaks for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vote {
    pub(super) category: ProductCategory,
    pub(super) share: f32,
}

/// The names of categories by their meaning.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    categories: Vec<ProductCategory>,
    rows: Vec<u8>,
    sketches: Vec<u8>,
    stride: usize,
    block_bytes: usize,
}

impl Lexicon {
    pub(super) fn of<'n>(names: impl Iterator<Item = &'n Name>) -> Self {
        let mut lexicon = Self::default();
        let Some(embedder) = shipped() else { return lexicon };
        let dimensions = embedder.dimensions();
        (lexicon.stride, lexicon.block_bytes) = (stride(dimensions), block_bytes(dimensions));
        for name in names.filter(|name| !name.category.name().starts_with(MATURE)) {
            let Ok(Some(vector)) = embedder.embed_query(&name.text) else {
                continue;
            };
            let row = lexicon.categories.len();
            let block = row / BLOCK_ROWS * lexicon.block_bytes;
            lexicon.sketches.resize(block + lexicon.block_bytes, 0);
            sketch(&vector, row, lexicon.sketches.get_mut(block..).unwrap_or_default());
            Query::store(Some(&vector), dimensions, &mut lexicon.rows);
            lexicon.categories.push(name.category);
        }
        lexicon
    }

    /// The categories that the nearest names speak for.
    pub(super) fn votes(&self, vector: &Vector) -> Vec<Vote> {
        let query = Query::new(vector);
        let rows = self.likely(&SketchQuery::new(vector)).into_iter();
        let near = |row: usize| {
            let bytes = self.rows.get(row * self.stride..(row + 1) * self.stride)?;
            Some(Near {
                category: *self.categories.get(row)?,
                cosine: QUANTUM * query.dot(bytes) as f32,
            })
        };
        let mut nearest: Vec<Near> = rows.filter_map(near).collect();
        nearest.sort_unstable_by(|one, other| {
            let by_id = || one.category.id().cmp(&other.category.id());
            other.cosine.total_cmp(&one.cosine).then_with(by_id)
        });
        nearest.truncate(VOTERS);
        let most = nearest.first().map_or(0.0, |near| near.cosine);
        let vote = |near: &Near| Vote {
            category: near.category,
            share: ((near.cosine - most) / WIDTH).exp(),
        };
        shared_out(nearest.iter().map(vote).collect())
    }

    /// The rows whose sketches look nearest.
    fn likely(&self, query: &SketchQuery) -> Vec<usize> {
        let mut found: Vec<Estimate> = Vec::with_capacity(8 * MEASURED);
        let (mut least, mut estimates) = (0, [0; BLOCK_ROWS]);
        for (block, bytes) in self.sketches.chunks_exact(self.block_bytes.max(1)).enumerate() {
            let mut reaching = query.estimate(bytes, least, &mut estimates);
            while reaching != 0 {
                let at = reaching.trailing_zeros() as usize;
                reaching &= reaching - 1;
                let row = block * BLOCK_ROWS + at;
                if let Some(estimate) = estimates.get(at).filter(|_| row < self.categories.len()) {
                    found.push(Estimate {
                        estimate: *estimate,
                        row,
                    });
                }
            }
            if found.len() > 4 * MEASURED {
                least = keep_most(&mut found);
            }
        }
        keep_most(&mut found);
        found.iter().map(|found| found.row).collect()
    }
}

/// Keeps those that look nearest; gives the least estimate among them.
fn keep_most(found: &mut Vec<Estimate>) -> u16 {
    if found.len() > MEASURED {
        let order = |estimate: &Estimate| (std::cmp::Reverse(estimate.estimate), estimate.row);
        found.select_nth_unstable_by_key(MEASURED - 1, order);
        found.truncate(MEASURED);
    }
    found.iter().map(|found| found.estimate).min().unwrap_or_default()
}

#[derive(Debug)]
struct Estimate {
    estimate: u16,
    row: usize,
}

#[derive(Debug)]
struct Near {
    category: ProductCategory,
    cosine: f32,
}

/// A name of a category.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) category: ProductCategory,
}

/// Votes whose shares add up to one.
pub(super) fn shared_out(mut votes: Vec<Vote>) -> Vec<Vote> {
    let all: f32 = votes.iter().map(|vote| vote.share).sum();
    votes
        .iter_mut()
        .for_each(|vote| vote.share /= all.max(f32::MIN_POSITIVE));
    votes
}

/// The share of votes for a path and what is below it, for each path that has any.
pub(super) fn by_path(votes: &[Vote]) -> FxHashMap<&'static str, f32> {
    let mut shares = FxHashMap::default();
    for vote in votes {
        for path in ancestors(vote.category.name()) {
            *shares.entry(path).or_default() += vote.share;
        }
    }
    shares
}

/// The deepest category that has so large a share; a department is none.
pub(super) fn agreed(shares: &FxHashMap<&'static str, f32>, share_min: f32) -> Option<ProductCategory> {
    let enough = shares.iter().filter(|(_, share)| **share >= share_min);
    let levels = |path: &str| path.split(" > ").count();
    // More than half are for each of them, so that they are one line of ancestors.
    let (path, _) = enough.max_by_key(|(path, _)| levels(path))?;
    (levels(path) >= LEVELS_MIN)
        .then(|| ProductCategory::from_name(path).ok())
        .flatten()
}
