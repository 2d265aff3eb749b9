use data_index::{PriceRange, RowAddress, RowFilter};
use data_model::CategoryId;

use super::Intent;
use super::kind::{CategoryRelation, Kinds};
use super::pairs;
use crate::context::SearchContext;
use crate::lexical::{self, LexicalQuery, Narrowing};

/// Usual number of candidates. It does not depend on the limit, so that a short result is the start of a longer one.
/// The second number applies if an intent rejects most of the nearest products.
const USUAL: usize = 300;
const WIDE: usize = 768;
/// Maximum number of products found by words if there are no vectors.
const BY_WORDS: usize = 96;
/// Minimum similarity of a recommended product, except for the same brand. The first value applies within a category.
/// The others are higher, because less is known about the common properties of the products.
const COSINE_MIN: f32 = 0.35;
const NEAR_KIND_COSINE_MIN: f32 = 0.5;
const UNKNOWN_KIND_COSINE_MIN: f32 = 0.5;
/// Minimum similarity of a cheaper product with another noun, because a broad category has many kinds of products.
const OTHER_NOUN_COSINE_MIN: f32 = 0.55;
const OTHER_KIND_COSINE_MIN: f32 = 0.6;
/// Minimum similarity, as a share of that of the nearest product.
const SHARE_OF_BEST_MIN: f32 = 0.6;
/// A complement need not be similar to the product, but must be related.
const COMPLEMENT_COSINE_MIN: f32 = 0.2;
/// Products cheaper than one in this many of the product's price are components or accessories.
const CHEAPER_PARTS_MAX: i64 = 10;

/// Product that may be recommended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) at: RowAddress,
    /// Index of the intent's condition that found the candidate. Candidates of earlier conditions come first.
    pub(super) stage: usize,
    /// Similarity at first, and the final score after ranking.
    pub(super) score: f32,
    pub(super) relation: CategoryRelation,
}

#[derive(Debug)]
pub(super) struct Candidates {
    pub(super) near: Vec<Candidate>,
    pub(super) engine: &'static str,
}

/// Gathers candidates of these kinds under the intent's conditions, without the product itself.
pub(super) fn gather(served: &SearchContext, at: RowAddress, intent: Intent, of: data_model::Kinds) -> Candidates {
    let mut all = Candidates {
        near: Vec::new(),
        engine: "semantic",
    };
    let mut kinds = Kinds::of(served);
    for (stage, filter) in filters(served, at, intent, of).iter().enumerate() {
        let mut found = find(served, at, filter, USUAL);
        // The products that the intent excludes are often the nearest.
        let goes_on = found.near.len() >= USUAL && found.near.last().is_some_and(|(_, cosine)| *cosine >= COSINE_MIN);
        if goes_on && intent == Intent::CrossBrand {
            found = find(served, at, filter, WIDE);
        }
        all.engine = found.engine;
        let is_semantic = found.engine == "semantic";
        let nearest = found.near.iter().find(|(row, _)| *row != at);
        let best = nearest.map_or(0.0, |(_, cosine)| *cosine);
        for (row, cosine) in found.near {
            let relation = kinds.relation(at, row);
            let least = floor(intent, relation, best);
            let is_near = least.is_some_and(|least| !is_semantic || cosine >= least);
            let candidate = Candidate {
                at: row,
                stage,
                score: cosine,
                relation,
            };
            let is_new = || !all.near.iter().any(|known| known.at == row);
            if is_near && is_new() && fits(&mut kinds, at, intent, &candidate) {
                all.near.push(candidate);
            }
        }
    }
    all
}

/// Returns the minimum similarity of a recommended product, given that of the nearest product. `None` if the intent
/// excludes the category relation.
fn floor(intent: Intent, relation: CategoryRelation, best: f32) -> Option<f32> {
    let least = match (intent, relation) {
        (Intent::SameBrand, _) => return Some(f32::MIN),
        (Intent::Complement, _) => return Some(COMPLEMENT_COSINE_MIN),
        (_, CategoryRelation::Foreign) | (Intent::Cheaper, CategoryRelation::Near | CategoryRelation::Department) => {
            return None;
        }
        (_, CategoryRelation::Same) => COSINE_MIN,
        (_, CategoryRelation::Near) => NEAR_KIND_COSINE_MIN,
        (_, CategoryRelation::Unknown) => UNKNOWN_KIND_COSINE_MIN,
        (_, CategoryRelation::Department) => OTHER_KIND_COSINE_MIN,
    };
    Some(least.max(best * SHARE_OF_BEST_MIN))
}

struct Near {
    near: Vec<(RowAddress, f32)>,
    engine: &'static str,
}

/// The filters are tried in order.
fn filters(served: &SearchContext, at: RowAddress, intent: Intent, kinds: data_model::Kinds) -> Vec<RowFilter> {
    let all = RowFilter {
        kinds,
        ..RowFilter::default()
    };
    let Some(part) = served.release.part(at.part) else {
        return Vec::new();
    };
    let cards = part.cards();
    match intent {
        Intent::Related | Intent::CrossBrand => vec![all],
        Intent::SameBrand => {
            let store = served.release.brand_of(at).facts.brand.store.clone();
            let stores = Some(vec![store]);
            vec![RowFilter { stores, ..all }]
        }
        Intent::Cheaper => {
            let own_minor = cards.price_min_minor(at.row);
            let price = Some(PriceRange {
                currency: cards.currency(at.row),
                // A price of 0 counts as no price.
                min_minor: Some((own_minor / CHEAPER_PARTS_MAX).max(1)),
                max_minor: Some(own_minor - 1),
            });
            let category = cards.category(at.row);
            vec![RowFilter { category, price, ..all }]
        }
        Intent::Complement => {
            let beside = cards.category(at.row).map_or(&[][..], pairs::beside);
            let below = |category: &CategoryId| RowFilter {
                category: Some(*category),
                ..all.clone()
            };
            beside.iter().map(below).collect()
        }
    }
}

fn find(served: &SearchContext, at: RowAddress, filter: &RowFilter, wanted: usize) -> Near {
    let filter = (*filter != RowFilter::default()).then(|| served.release.filter(filter));
    if let Some(vector) = served.release.vector(at) {
        return Near {
            near: served.release.nearest(&vector, wanted, filter.as_ref()),
            engine: "semantic",
        };
    }
    let title = served
        .release
        .part(at.part)
        .map_or("", |part| part.cards().title(at.row));
    let wanted = LexicalQuery {
        narrowing: Narrowing {
            filter: filter.as_ref(),
            ..Narrowing::default()
        },
        limit: wanted.min(BY_WORDS),
        enough: wanted.min(BY_WORDS),
        ..LexicalQuery::best(title)
    };
    let hits = lexical::search(&served.release, &served.text, &wanted).hits;
    // Lexical scores are only meaningful as an order, so that the ranks are spread over the range of a cosine.
    let step = 1.0 / lexical::as_float(hits.len().max(1) as u64);
    let near = (0_u16..)
        .zip(&hits)
        .map(|(place, hit)| (hit.at, 1.0 - step * f32::from(place)));
    Near {
        near: near.collect(),
        engine: "lexical",
    }
}

fn fits(kinds: &mut Kinds<'_>, at: RowAddress, intent: Intent, candidate: &Candidate) -> bool {
    let (served, other) = (kinds.served, candidate.at);
    // A product that is hidden by default is not recommended for one that is shown by default.
    let is_shown = |row: RowAddress| served.safe_rows().is_none_or(|safe| safe.has(row.part, row.row));
    if at == other || (is_shown(at) && !is_shown(other)) {
        return false;
    }
    let brand = |row: RowAddress| served.release.part(row.part).map(|part| part.brand_index(row.row));
    let is_allowed = match intent {
        Intent::Related | Intent::SameBrand | Intent::Complement => true,
        Intent::CrossBrand => brand(at) != brand(other),
        Intent::Cheaper => {
            let is_of_kind = candidate.relation == CategoryRelation::Same && candidate.score >= OTHER_NOUN_COSINE_MIN;
            is_of_kind || kinds.share_a_noun(at, other)
        }
    };
    is_allowed && !kinds.is_for_others(at, other)
}
