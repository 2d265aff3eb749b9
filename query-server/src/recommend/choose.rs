use data_index::RowAddress;
use data_index::columns::fold_value;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Intent;
use crate::served::Served;

/// What a price that is e times higher or lower costs, in units of the cosine.
const PRICE_DISTANCE_COST: f32 = 0.03;
/// What the same leaf category is worth.
const SAME_CATEGORY_BONUS: f32 = 0.03;
/// What being sold out costs: more than any cosine makes up for.
const SOLD_OUT_COST: f32 = 2.0;
/// Of one brand, and of one category among complements, at most one in this many.
const SHARE_OF_BRAND: usize = 2;
const SHARE_OF_CATEGORY: usize = 3;

/// Puts candidates in order; those that are alike in order of their ids.
pub(super) fn rank(served: &Served, at: RowAddress, near: &mut [(RowAddress, f32)]) {
    for (row, score) in near.iter_mut() {
        *score += adjustment(served, at, *row);
    }
    let id = |row: &RowAddress| served.release.part(row.part).map(|part| part.cards().id(row.row));
    near.sort_by(|(one, first), (other, second)| second.total_cmp(first).then_with(|| id(one).cmp(&id(other))));
}

fn adjustment(served: &Served, at: RowAddress, other: RowAddress) -> f32 {
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

/// Takes the first of the ranked, at most `limit`: no two of the same title and brand, and no brand or category alone
/// unless the intent wants it so or there is nothing else.
pub(super) fn choose(
    served: &Served,
    at: RowAddress,
    intent: Intent,
    ranked: &[(RowAddress, f32)],
    limit: usize,
) -> Vec<RowAddress> {
    let mut seen: FxHashSet<(usize, String)> = FxHashSet::default();
    seen.extend(named(served, at));
    let mut of_brand: FxHashMap<usize, usize> = FxHashMap::default();
    let mut of_category: FxHashMap<u32, usize> = FxHashMap::default();
    let brand_max = match intent {
        Intent::SameBrand => limit,
        _ => limit.div_ceil(SHARE_OF_BRAND),
    };
    let category_max = match intent {
        Intent::Complement => limit.div_ceil(SHARE_OF_CATEGORY),
        _ => limit,
    };
    let (mut chosen, mut spare) = (Vec::with_capacity(limit), Vec::new());
    for (place, (row, _)) in ranked.iter().enumerate() {
        if chosen.len() >= limit {
            break;
        }
        let Some((brand, title)) = named(served, *row) else {
            continue;
        };
        let category = served
            .release
            .part(row.part)
            .and_then(|part| part.cards().category(row.row));
        if !seen.insert((brand, title)) {
            continue;
        }
        let brands = of_brand.entry(brand).or_default();
        let categories = of_category
            .entry(category.map_or(0, |category| category.0))
            .or_default();
        if *brands < brand_max && *categories < category_max {
            *brands += 1;
            *categories += 1;
            chosen.push((place, *row));
        } else {
            spare.push((place, *row));
        }
    }
    let missing = limit.saturating_sub(chosen.len());
    chosen.extend(spare.into_iter().take(missing));
    // What was taken for want of others stands where it ranks.
    chosen.sort_unstable_by_key(|(place, _)| *place);
    chosen.into_iter().map(|(_, row)| row).collect()
}

/// How many candidates would be left if of those of one title and brand one were taken.
pub(super) fn distinct(served: &Served, at: RowAddress, near: &[(RowAddress, f32)]) -> usize {
    let own = named(served, at);
    let names: FxHashSet<_> = near.iter().filter_map(|(row, _)| named(served, *row)).collect();
    names.len() - usize::from(own.is_some_and(|own| names.contains(&own)))
}

/// The brand of a product and its title, folded.
fn named(served: &Served, at: RowAddress) -> Option<(usize, String)> {
    let part = served.release.part(at.part)?;
    Some((part.brand_index(at.row), fold_value(part.cards().title(at.row))))
}
