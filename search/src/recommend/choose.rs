use data_index::RowAddress;
use data_text::fold_value;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Intent;
use super::candidates::Candidate;
use super::kind::CategoryRelation;
use crate::context::SearchContext;

/// Score deduction for a price that is higher or lower by a factor of e, in units of the cosine.
const PRICE_DISTANCE_COST: f32 = 0.03;
/// Bonus for the same leaf category, and deductions for a sibling or unknown category, and for other categories of the
/// department.
const SAME_CATEGORY_BONUS: f32 = 0.03;
const NEAR_KIND_COST: f32 = 0.1;
const OTHER_KIND_COST: f32 = 0.2;
/// Score deduction for sold-out products, greater than any difference in similarity.
const SOLD_OUT_COST: f32 = 2.0;
/// One brand among similar products, and one category among complements, has at most one place in this many.
const SHARE_OF_BRAND: usize = 2;
const SHARE_OF_CATEGORY: usize = 3;
/// A product of another brand may come first if its score is lower by at most this much.
const OTHER_BRAND_COST_MAX: f32 = 0.2;

/// Sorts the candidates by score. Ties are ordered by id.
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

/// Chooses at most `limit` of the ranked candidates, without duplicates of brand and title. No brand or category
/// exceeds its share, unless the intent allows it or there are no alternatives. The result for a smaller limit is the
/// start of that for a larger one.
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
            // A product in another category must not be preferred just for its brand.
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

/// Representative of the products with the same brand and title.
#[derive(Debug)]
struct Distinct {
    at: RowAddress,
    brand: usize,
    category: u32,
    score: f32,
    relation: CategoryRelation,
}

/// Returns the brand and the folded title.
fn named(served: &SearchContext, at: RowAddress) -> Option<(usize, String)> {
    let part = served.release.part(at.part)?;
    Some((part.brand_index(at.row), fold_value(part.cards().title(at.row))))
}
