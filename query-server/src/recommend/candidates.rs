use data_index::{PriceRange, RowAddress, RowFilter, taxonomy};
use data_model::CategoryId;

use super::Intent;
use super::choose::distinct;
use crate::lexical::{self, Order, ReadError, Wanted};
use crate::served::Served;

/// Candidates for each product that is wanted: some fall to the rules of [`super::choose`].
const EACH: usize = 6;
/// Candidates at least, and at most where an intent turns most of the nearest away.
const MIN: usize = 96;
const WIDE: usize = 768;
/// What has less than this to do with a product is not recommended for it, unless it is the same brand's.
const COSINE_MIN: f32 = 0.35;
/// A complement need not be like the product, but it must have something to do with it; more, where its category is of
/// another branch altogether, or where the product's own is not known.
const COMPLEMENT_COSINE_MIN: f32 = 0.2;
const FAR_COMPLEMENT_COSINE_MIN: f32 = 0.4;

/// Products that may go with a product, with how near each is.
#[derive(Debug)]
pub(super) struct Candidates {
    pub(super) near: Vec<(RowAddress, f32)>,
    pub(super) engine: &'static str,
}

/// Gathers candidates under the intent's conditions; the product itself is none of them.
pub(super) fn gather(served: &Served, at: RowAddress, intent: Intent, limit: usize) -> Result<Candidates, ReadError> {
    let usual = (limit * EACH).max(MIN);
    let wide = |near: &[(RowAddress, f32)]| {
        matches!(intent, Intent::CrossBrand | Intent::Complement) && distinct(served, at, near) < limit
    };
    let mut found = Candidates {
        near: Vec::new(),
        engine: "semantic",
    };
    for filter in filters(served, at, intent).into_iter().flatten() {
        let mut more = found_to_fit(served, at, (intent, &filter), usual)?;
        if wide(&more.near) {
            more = found_to_fit(served, at, (intent, &filter), WIDE)?;
        }
        found.engine = more.engine;
        for one in more.near {
            if !found.near.iter().any(|(row, _)| *row == one.0) {
                found.near.push(one);
            }
        }
        if distinct(served, at, &found.near) >= limit {
            break;
        }
    }
    Ok(found)
}

/// What is found under a filter and has enough to do with the product for the intent.
fn found_to_fit(
    served: &Served,
    at: RowAddress,
    (intent, filter): (Intent, &RowFilter),
    wanted: usize,
) -> Result<Candidates, ReadError> {
    let mut found = find(served, at, filter, wanted)?;
    let least = match intent {
        Intent::Related | Intent::CrossBrand | Intent::Cheaper if found.engine == "semantic" => COSINE_MIN,
        _ => f32::MIN,
    };
    let near_enough = |(row, cosine): &(RowAddress, f32)| *cosine >= least && fits(served, at, intent, *row);
    found.near.retain(near_enough);
    Ok(found)
}

/// The filters to look under, one after the other until enough is found.
fn filters(served: &Served, at: RowAddress, intent: Intent) -> [Option<RowFilter>; 3] {
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
                min_minor: None,
                max_minor: Some(cards.price_min_minor(at.row) - 1),
            });
            let same_kind = cards.category(at.row).map(|category| RowFilter {
                category: Some(category),
                price,
                ..RowFilter::default()
            });
            match same_kind {
                Some(same_kind) => [Some(same_kind), Some(RowFilter { price, ..all }), None],
                None => [Some(RowFilter { price, ..all }), None, None],
            }
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

fn find(served: &Served, at: RowAddress, filter: &RowFilter, wanted: usize) -> Result<Candidates, ReadError> {
    let filter = (*filter != RowFilter::default()).then(|| served.release.filter(filter));
    if let Some(vector) = served.release.vector(at) {
        return Ok(Candidates {
            near: served.release.nearest(&vector, wanted, filter.as_ref()),
            engine: "semantic",
        });
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
        limit: wanted.min(MIN),
        enough: wanted.min(MIN),
        with_matches: false,
    };
    let hits = lexical::search(&served.release, &served.text, &wanted)?.hits;
    // Only the order of words' scores means something beside prices: it is spread over the range of a cosine.
    let step = 1.0 / lexical::as_float(hits.len().max(1) as u64);
    let near = (0_u16..)
        .zip(&hits)
        .map(|(place, hit)| (hit.at, 1.0 - step * f32::from(place)));
    Ok(Candidates {
        near: near.collect(),
        engine: "lexical",
    })
}

/// Whether a candidate is one that the intent allows.
fn fits(served: &Served, at: RowAddress, intent: Intent, other: RowAddress) -> bool {
    if at == other {
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
