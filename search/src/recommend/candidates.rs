use data_index::{PriceRange, RowAddress, RowFilter, taxonomy};
use data_model::CategoryId;

use super::Intent;
use crate::context::SearchContext;
use crate::lexical::{self, Order, Wanted};

/// Candidates that are gathered, and how many where an intent turns most of the nearest away. However few are wanted, so
/// many are looked at: a short answer is the beginning of a longer one.
const USUAL: usize = 300;
const WIDE: usize = 768;
/// Most that words find, where there are no vectors.
const BY_WORDS: usize = 96;
/// What has less than this to do with a product is not recommended for it, unless it is the same brand's; so much where
/// both are filed under the same category, or one under the other's, and more the less is known of what they share.
const COSINE_MIN: f32 = 0.35;
const NEAR_KIND_COSINE_MIN: f32 = 0.45;
const UNKNOWN_KIND_COSINE_MIN: f32 = 0.5;
const OTHER_KIND_COSINE_MIN: f32 = 0.55;
/// And it must have at least this share of what the nearest has to do with it.
const SHARE_OF_BEST_MIN: f32 = 0.6;
/// A complement need not be like the product, but it must have something to do with it; more, where its category is of
/// another branch altogether, or where the product's own is not known.
const COMPLEMENT_COSINE_MIN: f32 = 0.2;
const FAR_COMPLEMENT_COSINE_MIN: f32 = 0.4;

/// A product that may go with a product.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) at: RowAddress,
    /// Which of the intent's conditions it was found under: those of an earlier one stand first.
    pub(super) stage: usize,
    /// How near it is; later, what it is worth.
    pub(super) score: f32,
}

/// Products that may go with a product.
#[derive(Debug)]
pub(super) struct Candidates {
    pub(super) near: Vec<Candidate>,
    pub(super) engine: &'static str,
}

/// Gathers candidates under the intent's conditions; the product itself is none of them.
pub(super) fn gather(served: &SearchContext, at: RowAddress, intent: Intent) -> Candidates {
    let mut all = Candidates {
        near: Vec::new(),
        engine: "semantic",
    };
    for (stage, filter) in filters(served, at, intent).into_iter().flatten().enumerate() {
        let mut found = find(served, at, &filter, USUAL);
        // What the intent turns away is often what is nearest.
        let goes_on = found.near.len() >= USUAL && found.near.last().is_some_and(|(_, cosine)| *cosine >= COSINE_MIN);
        if goes_on && matches!(intent, Intent::CrossBrand | Intent::Complement) {
            found = find(served, at, &filter, WIDE);
        }
        all.engine = found.engine;
        let best = found
            .near
            .iter()
            .find(|(row, _)| *row != at)
            .map_or(0.0, |(_, cosine)| *cosine);
        let is_measured =
            found.engine == "semantic" && matches!(intent, Intent::Related | Intent::CrossBrand | Intent::Cheaper);
        for (row, cosine) in found.near {
            let is_near = || cosine >= floor(served, at, row).max(best * SHARE_OF_BEST_MIN);
            let is_new = || !all.near.iter().any(|known| known.at == row);
            if fits(served, at, intent, row) && (!is_measured || is_near()) && is_new() {
                all.near.push(Candidate {
                    at: row,
                    stage,
                    score: cosine,
                });
            }
        }
    }
    all
}

/// How near a product must be to be recommended for another.
fn floor(served: &SearchContext, at: RowAddress, other: RowAddress) -> f32 {
    let category = |row: RowAddress| {
        served
            .release
            .part(row.part)
            .and_then(|part| part.cards().category(row.row))
    };
    let (Some(own), Some(others)) = (category(at), category(other)) else {
        return UNKNOWN_KIND_COSINE_MIN;
    };
    let is_below = |one: CategoryId, above: CategoryId| taxonomy::lineage(one).any(|held| held.id == above);
    let parent = |id: CategoryId| taxonomy::lineage(id).nth(1).map(|above| above.id);
    if is_below(own, others) || is_below(others, own) {
        COSINE_MIN
    } else if parent(own).is_some() && parent(own) == parent(others) {
        NEAR_KIND_COSINE_MIN
    } else {
        OTHER_KIND_COSINE_MIN
    }
}

/// What a search found, with how near each is.
struct Near {
    near: Vec<(RowAddress, f32)>,
    engine: &'static str,
}

/// The filters to look under, one after the other.
fn filters(served: &SearchContext, at: RowAddress, intent: Intent) -> [Option<RowFilter>; 3] {
    let all = RowFilter::default();
    let Some(part) = served.release.part(at.part) else {
        return [None, None, None];
    };
    let cards = part.cards();
    match intent {
        Intent::Related | Intent::CrossBrand => [Some(all), None, None],
        Intent::SameBrand => {
            let store = served.release.brand_of(at).facts.brand.store.clone();
            let stores = Some(vec![store]);
            [Some(RowFilter { stores, ..all }), None, None]
        }
        Intent::Cheaper => {
            let price = Some(PriceRange {
                currency: cards.currency(at.row),
                // A price of 0 is none.
                min_minor: Some(1),
                max_minor: Some(cards.price_min_minor(at.row) - 1),
            });
            let same_kind = cards.category(at.row).map(|category| RowFilter {
                category: Some(category),
                price,
                ..RowFilter::default()
            });
            // What is cheaper and something else is no cheaper one.
            [Some(same_kind.unwrap_or(RowFilter { price, ..all })), None, None]
        }
        Intent::Complement => {
            // First near by in the taxonomy (shirts and trousers are both clothing), then in the whole branch, then
            // anywhere (coffee, and what it is made with).
            let lineage: Vec<CategoryId> = cards
                .category(at.row)
                .map(|category| taxonomy::lineage(category).skip(1).map(|above| above.id).collect())
                .unwrap_or_default();
            let below = |category: &CategoryId| RowFilter {
                category: Some(*category),
                ..RowFilter::default()
            };
            let (first, last) = (lineage.first(), lineage.last().filter(|_| lineage.len() > 1));
            [first.map(below), last.map(below), Some(all)]
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
    let wanted = Wanted {
        text: title,
        as_typed: true,
        filter: filter.as_ref(),
        scope: None,
        allowed: None,
        narrowed: false,
        order: Order::Relevance,
        currency: None,
        limit: wanted.min(BY_WORDS),
        enough: wanted.min(BY_WORDS),
        with_matches: false,
    };
    let hits = lexical::search(&served.release, &served.text, &wanted).hits;
    // Only the order of words' scores means something beside prices: it is spread over the range of a cosine.
    let step = 1.0 / lexical::as_float(hits.len().max(1) as u64);
    let near = (0_u16..)
        .zip(&hits)
        .map(|(place, hit)| (hit.at, 1.0 - step * f32::from(place)));
    Near {
        near: near.collect(),
        engine: "lexical",
    }
}

/// Whether a candidate is one that the intent allows.
fn fits(served: &SearchContext, at: RowAddress, intent: Intent, other: RowAddress) -> bool {
    // What is shown to those alone who ask for it is no answer to anything else.
    let is_shown = |row: RowAddress| served.decent().is_none_or(|decent| decent.has(row.part, row.row));
    if at == other || (is_shown(at) && !is_shown(other)) {
        return false;
    }
    let release = &served.release;
    let (Some(part), Some(other_part)) = (release.part(at.part), release.part(other.part)) else {
        return false;
    };
    match intent {
        Intent::Related | Intent::Cheaper | Intent::SameBrand => true,
        Intent::CrossBrand => part.brand_index(at.row) != other_part.brand_index(other.row),
        Intent::Complement => {
            let own = part.cards().category(at.row);
            let others = other_part.cards().category(other.row);
            let below = |one: CategoryId, above: CategoryId| taxonomy::lineage(one).any(|held| held.id == above);
            let branch = |category: CategoryId| taxonomy::lineage(category).last().map(|above| above.id);
            let near = release.vector(at).zip(release.vector(other));
            let (Some(own), Some(others)) = (own, others) else {
                return false;
            };
            let least = if branch(own) == branch(others) {
                COMPLEMENT_COSINE_MIN
            } else {
                FAR_COMPLEMENT_COSINE_MIN
            };
            !below(own, others) && !below(others, own) && near.is_none_or(|(one, other)| one.cosine(&other) >= least)
        }
    }
}
