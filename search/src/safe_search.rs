//! Safe search, which hides adult products by default.

use data_index::{Part, Release, taxonomy};
use data_model::CategoryId;

use crate::lexical::{AllowedRows, RowSet};

/// Categories that sellers of adult products also sell.
const BESIDE: [&str; 2] = [
    "Health & Beauty > Health Care > Condoms",
    "Health & Beauty > Personal Care > Personal Lubricants",
];

/// Returns all rows except those of the hidden category, and of brands that sell hardly anything else, because the
/// games and gift sets of adult brands are adult products too. `None` if no rows are hidden.
pub(crate) fn of(release: &Release, hidden: CategoryId) -> Option<AllowedRows> {
    let is_held = |part: &Part| filed(part, hidden).any(|row| !part.dead().contains(row));
    if !release.parts().iter().any(is_held) {
        return None;
    }
    let brands = brands(release, hidden);
    let parts = release.parts().iter().map(|part| {
        let mut rows = RowSet::none(part.rows());
        filed(part, hidden).for_each(|row| rows.insert(row));
        if brands.contains(&true) {
            let is_of_brand = |row: &u32| brands.get(part.brand_index(*row)) == Some(&true);
            (0..part.rows()).filter(is_of_brand).for_each(|row| rows.insert(row));
        }
        rows.not()
    });
    Some(AllowedRows::of(parts.collect()))
}

/// Returns `true` for each adult brand. It sells products of the hidden category. These and products of the categories
/// in `BESIDE` are at least half of its categorised products.
fn brands(release: &Release, hidden: CategoryId) -> Vec<bool> {
    #[derive(Clone, Copy, Default)]
    struct Assortment {
        hidden: usize,
        beside: usize,
        filed: usize,
    }
    let mut sold = vec![Assortment::default(); release.brands().len()];
    let beside: Vec<CategoryId> = taxonomy::all()
        .iter()
        .filter(|category| BESIDE.contains(&category.path))
        .map(|category| category.id)
        .collect();
    for part in release.parts() {
        let mut count = |row: u32, add: fn(&mut Assortment)| {
            if let Some(sold) = sold.get_mut(part.brand_index(row)) {
                add(sold);
            }
        };
        filed(part, hidden).for_each(|row| count(row, |sold| sold.hidden += 1));
        for category in &beside {
            filed(part, *category).for_each(|row| count(row, |sold| sold.beside += 1));
        }
        let is_filed = |row: &u32| !part.unlisted().contains(*row) && part.cards().category(*row).is_some();
        (0..part.rows())
            .filter(is_filed)
            .for_each(|row| count(row, |sold| sold.filed += 1));
    }
    let is_hidden = |sold: &Assortment| sold.hidden > 0 && (sold.hidden + sold.beside) * 2 >= sold.filed;
    sold.iter().map(is_hidden).collect()
}

/// Returns the rows of a part in a category or its descendants.
fn filed(part: &Part, category: CategoryId) -> impl Iterator<Item = u32> {
    let facets = part.facets();
    let code = facets.code("category", &category.to_string());
    code.into_iter().flat_map(|code| facets.rows(code))
}
