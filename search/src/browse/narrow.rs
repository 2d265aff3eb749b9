use data_index::columns::fold_name;
use data_index::{FacetClause, PriceRange, Release, RowFilter, taxonomy};
use data_model::CurrencyCode;
use data_text::fold_value;

use super::bits::{Bits, ones};
use super::named::{self, BRAND};
use super::rows::Rows;

#[derive(Debug)]
pub(super) struct FilteredRows {
    /// Rows of the scope before any filter.
    pub(super) scope: Bits,
    /// Rows that pass every filter.
    pub(super) all: Bits,
    /// For each facet that is filtered by, the rows that pass every other filter.
    pub(super) only: Vec<OfFacet>,
    /// Rows that pass every filter except the price range.
    pub(super) only_price: Option<Bits>,
    pub(super) filtered: bool,
    /// True if the price filter excluded products only because of their currency.
    pub(super) left_out: bool,
}

#[derive(Debug)]
pub(super) struct OfFacet {
    pub(super) chosen: FacetSelection,
    pub(super) rows: Bits,
}

/// Values of one facet that are filtered by.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FacetSelection {
    /// Folded name.
    pub(super) name: String,
    /// Folded values, sorted and distinct. An existing category is its id in decimal.
    pub(super) values: Vec<String>,
}

impl FacetSelection {
    pub(super) fn is_brand(&self) -> bool {
        self.name == BRAND
    }
}

impl FilteredRows {
    fn whole(scope: Bits) -> Self {
        Self {
            all: scope.clone(),
            scope,
            only: Vec::new(),
            only_price: None,
            filtered: false,
            left_out: false,
        }
    }

    pub(super) fn of(release: &Release, rows: &Rows, scope: Bits, filter: &RowFilter) -> Self {
        let is_hard = filter.in_stock || filter.on_sale || filter.brands.is_some();
        let filtered = is_hard || filter.price.is_some() || !filter.facets.is_empty();
        if !filtered {
            return Self::whole(scope);
        }
        let mut hard = hard(release, rows, &scope, filter);
        let passing = chosen(release, rows, &scope, &filter.facets);
        let mut left_out = false;
        if let Some(price) = filter.price {
            left_out = has_others(rows, &hard, &passing, price.currency);
            match rows.in_currency(price.currency) {
                Some(words) => hard.and(scope.part_of(words)),
                None => hard.words.fill(0),
            }
        }
        // Marks the rows that fail at least one of the facet and price filters, and those that fail more than one.
        let (mut one, mut more) = (vec![0_u64; scope.words.len()], vec![0_u64; scope.words.len()]);
        let mut fail = |passes: &[u64]| {
            let marks = one.iter_mut().zip(&mut more).zip(hard.words.iter().zip(passes));
            marks.for_each(|((one, more), (hard, passes))| {
                let fails = hard & !passes;
                *more |= *one & fails;
                *one |= fails;
            });
        };
        passing.iter().for_each(|passes| fail(&passes.rows.words));
        let ranged = filter
            .price
            .filter(|price| price.min_minor.is_some() || price.max_minor.is_some());
        let in_range = ranged.map(|range| in_range(release, rows, &hard, range));
        if let Some(passes) = &in_range {
            fail(&passes.words);
        }
        let only = |passes: Bits| {
            let words = passes.words.iter().zip(&hard.words).zip(&more);
            let words = words.map(|((passes, hard), more)| hard & !passes & !more);
            Bits {
                first: passes.first,
                words: words.collect(),
            }
        };
        Self {
            all: Bits {
                first: scope.first,
                words: hard.words.iter().zip(&one).map(|(hard, one)| hard & !one).collect(),
            },
            filtered,
            left_out,
            only_price: in_range.map(only),
            only: passing
                .into_iter()
                .map(|OfFacet { chosen, rows }| OfFacet {
                    chosen,
                    rows: only(rows),
                })
                .collect(),
            scope,
        }
    }
}

/// Applies the filters that belong to no facet, which are stock, sale, and the set of brands.
fn hard(release: &Release, rows: &Rows, scope: &Bits, filter: &RowFilter) -> Bits {
    let mut hard = scope.clone();
    if let Some(brands) = &filter.brands {
        let wanted = brands.iter().enumerate().filter(|(_, wanted)| **wanted);
        let mut passes = Bits::empty(scope.window());
        passes.insert_all(wanted.flat_map(|(at, _)| rows.brand(at)));
        hard.and(&passes.words);
    }
    for segment in rows.segments(release, &scope.window()) {
        let (cards, words) = (
            segment.part.cards(),
            hard.words.get_mut(segment.words).unwrap_or_default(),
        );
        if filter.in_stock {
            cards.and_in_stock(segment.first, words);
        }
        if filter.on_sale {
            cards.and_on_sale(segment.first, words);
        }
    }
    hard
}

/// Returns true if any row of `hard` that passes every facet filter has a price in another currency.
fn has_others(rows: &Rows, hard: &Bits, passing: &[OfFacet], currency: CurrencyCode) -> bool {
    let passes = |at: usize| {
        let words = passing
            .iter()
            .map(|passes| passes.rows.words.get(at).copied().unwrap_or(0));
        words.fold(u64::MAX, |passed, word| passed & word)
    };
    rows.in_others(currency).any(|others| {
        let words = hard.words.iter().zip(hard.part_of(others)).enumerate();
        let mut held = words
            .map(|(at, (hard, others))| (at, hard & others))
            .filter(|(_, held)| *held != 0);
        held.any(|(at, held)| held & passes(at) != 0)
    })
}

/// Returns the rows that pass all clauses of each facet.
fn chosen(release: &Release, rows: &Rows, scope: &Bits, clauses: &[FacetClause]) -> Vec<OfFacet> {
    let mut groups: Vec<OfFacet> = Vec::new();
    for clause in clauses {
        let name = fold_name(&clause.name);
        let mut values: Vec<String> = clause.values.iter().map(|value| folded(&name, value)).collect();
        values.sort_unstable();
        values.dedup();
        let mut passes = Bits::empty(scope.window());
        if name == BRAND {
            passes.insert_all(named::named(release, &values).flat_map(|at| rows.brand(at)));
        }
        let segments = rows.segments(release, &scope.window()).filter(|_| name != BRAND);
        for segment in segments {
            let (facets, words) = (
                segment.part.facets(),
                passes.words.get_mut(segment.words).unwrap_or_default(),
            );
            for code in values.iter().filter_map(|value| facets.code(&name, value)) {
                facets.or_rows(code, segment.first, words);
            }
        }
        match groups.iter_mut().find(|group| group.chosen.name == name) {
            Some(OfFacet { chosen, rows }) => {
                rows.and(&passes.words);
                chosen.values.extend(values);
                chosen.values.sort_unstable();
                chosen.values.dedup();
            }
            None => groups.push(OfFacet {
                chosen: FacetSelection { name, values },
                rows: passes,
            }),
        }
    }
    groups
}

fn folded(name: &str, value: &str) -> String {
    if name == BRAND {
        return named::folded(value);
    }
    let value = fold_value(value);
    let category = (name == "category").then(|| taxonomy::by_slug_or_id(&value)).flatten();
    category.map_or(value, |category| category.id.to_string())
}

/// All rows of `hard` must be in the currency of the range.
fn in_range(release: &Release, rows: &Rows, hard: &Bits, range: PriceRange) -> Bits {
    let range = range.min_minor.unwrap_or(i64::MIN)..=range.max_minor.unwrap_or(i64::MAX);
    let mut passes = Bits::empty(hard.window());
    for segment in rows.segments(release, &hard.window()) {
        let prices = segment.part.cards().prices_min();
        let words = hard.words.get(segment.words.clone()).unwrap_or_default();
        let marks = passes.words.get_mut(segment.words).unwrap_or_default();
        for ((at, word), mark) in (segment.first..).zip(words).zip(marks) {
            for bit in ones(*word) {
                let price = prices.get(at * 64 + bit as usize);
                *mark |= u64::from(price.is_some_and(|price| range.contains(price))) << bit;
            }
        }
    }
    passes
}
