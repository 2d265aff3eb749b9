use data_index::RowAddress;
use data_text::fold_value;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Intent;
use super::candidates::Candidate;
use super::kind::CategoryRelation;
use crate::context::SearchContext;

/// The cost of a price that is e times higher or lower, in units of the cosine.
const PRICE_DISTANCE_COST: f32 = 0.03;
/// The worth of the same leaf category, and the cost of one beside it, of none, and of another of the department.
const SAME_CATEGORY_BONUS: f32 = 0.03;
const NEAR_KIND_COST: f32 = 0.1;
const OTHER_KIND_COST: f32 = 0.2;
/// The cost of being sold out: more than any cosine makes up for.
const SOLD_OUT_COST: f32 = 2.0;
/// Of one brand among products of one kind, and of one category among complements, at most one in this many.
const SHARE_OF_BRAND: usize = 2;
const SHARE_OF_CATEGORY: usize = 3;
/// Another brand's may be worth so much less than the best that is left, and stand before it.
const OTHER_BRAND_COST_MAX: f32 = 0.2;

/// Puts candidates in order; those that are alike in order of their ids.
pub(super) fn rank(served: &SearchContext, at: RowAddress, near: &mut [Candidate]) {
    for candidate in near.iter_mut() {
        candidate.score += adjustment(served, at, candidate.at);
        candidate.score -= match candidate.relation {
            CategoryRelation::Same => 0.0,
            CategoryRelation::Near | CategoryRelation::Unknown => NEAR_KIND_COST,
            CategoryRelation::Department | CategoryRelation::Foreign => OTHER_KIND_COST,
        };
    }
    let id = |row: RowAddress| served.release.part(row.part).map(|part| part.cards().id(row.row));
    near.sort_by(|one, other| {
        let by_stage = one.stage.cmp(&other.stage);
        let by_score = other.score.total_cmp(&one.score);
        by_stage.then(by_score).then_with(|| id(one.at).cmp(&id(other.at)))
    });
}

fn adjustment(served: &SearchContext, at: RowAddress, other: RowAddress) -> f32 {
    let (Some(part), Some(other_part)) = (served.release.part(at.part), served.release.part(other.part)) else {
        return -SOLD_OUT_COST;
    };
    let (cards, others) = (part.cards(), other_part.cards());
    let mut adjustment = 0.0;
    if !others.in_stock(other.row) {
        adjustment -= SOLD_OUT_COST;
    }
    if cards.category(at.row).is_some() && cards.category(at.row) == others.category(other.row) {
        adjustment += SAME_CATEGORY_BONUS;
    }
    // Prices of different currencies are never compared.
    if cards.currency(at.row) == others.currency(other.row) {
        let (price, other_price) = (cards.price_min_minor(at.row), others.price_min_minor(other.row));
        if price > 0 && other_price > 0 {
            adjustment -= PRICE_DISTANCE_COST * (other_price as f32 / price as f32).ln().abs();
        }
    }
    adjustment
}

/// Takes the first of the ranked, at most `limit`: no two of the same title and brand, and of the first so many no more
/// than their share of one brand or category, unless the intent wants it so or there is nothing else of the kind. What
/// stands at a place does not depend on how many are wanted.
pub(super) fn choose(
    served: &SearchContext,
    at: RowAddress,
    intent: Intent,
    ranked: &[Candidate],
    limit: usize,
) -> Vec<RowAddress> {
    let mut seen: FxHashSet<(usize, String)> = FxHashSet::default();
    seen.extend(named(served, at));
    let distinct = ranked.iter().filter_map(|candidate| {
        let (brand, title) = named(served, candidate.at)?;
        let part = served.release.part(candidate.at.part)?;
        let category = part.cards().category(candidate.at.row).map_or(0, |category| category.0);
        seen.insert((brand, title)).then_some(Distinct {
            at: candidate.at,
            brand,
            category,
            score: candidate.score,
            relation: candidate.relation,
        })
    });
    let mut left: Vec<Distinct> = distinct.collect();
    let mut of_brand: FxHashMap<usize, usize> = FxHashMap::default();
    let mut of_category: FxHashMap<u32, usize> = FxHashMap::default();
    let mut chosen = Vec::with_capacity(limit);
    while let Some(best) = left.first().filter(|_| chosen.len() < limit) {
        let places = chosen.len() + 1;
        let has_room = |one: &Distinct| {
            let brands = of_brand.get(&one.brand).copied().unwrap_or(0);
            let categories = of_category.get(&one.category).copied().unwrap_or(0);
            // Another brand is no reason to show another kind of product.
            let is_alike = one.relation == CategoryRelation::Same && one.score >= best.score - OTHER_BRAND_COST_MAX;
            (intent == Intent::Complement || is_alike)
                && (intent == Intent::SameBrand || brands < places.div_ceil(SHARE_OF_BRAND))
                && (intent != Intent::Complement || categories < places.div_ceil(SHARE_OF_CATEGORY))
        };
        let next = left.iter().position(has_room).unwrap_or(0);
        let Distinct {
            at: row,
            brand,
            category,
            ..
        } = left.remove(next);
        *of_brand.entry(brand).or_default() += 1;
        *of_category.entry(category).or_default() += 1;
        chosen.push(row);
    }
    chosen
}

/// One of several products of a brand and title.
#[derive(Debug)]
struct Distinct {
    at: RowAddress,
    brand: usize,
    category: u32,
    score: f32,
    relation: CategoryRelation,
}

/// The brand of a product and its title, folded.
fn named(served: &SearchContext, at: RowAddress) -> Option<(usize, String)> {
    let part = served.release.part(at.part)?;
    Some((part.brand_index(at.row), fold_value(part.cards().title(at.row))))
}
