use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use data_index::Release;
use data_index::taxonomy::{self, Category};
use data_model::{CategoryId, CurrencyCode, Kinds};
use rustc_hash::FxHashMap;

use super::FacetWindow;
use super::bits::Bits;
use super::brands;
use super::counter::{Counter, IdCount};
use super::coverage::FacetCoverage;
use super::facets::{FacetCounts, FacetValue};
use super::named::BRAND;
use super::narrow::{FacetSelection, FilteredRows};
use super::rows::Rows;
use super::scope::Scope;
use super::spread::Spread;
use super::values::{TAG, Values};

/// Maximum number of counted facets, in addition to those that are filtered by.
pub(super) const FACETS_MAX: usize = 12;

/// Counts of a scope before any filter. They determine the displayed facets and price limits, so that these do not
/// change with the filters.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) rows: u64,
    /// Number of rows of each value with any row. `None` if values are counted only after a filter.
    values: Option<Vec<IdCount>>,
    /// Displayed facets, in display order.
    facets: Vec<usize>,
    /// Price distribution by currency.
    spreads: Vec<(CurrencyCode, Spread)>,
}

/// Precomputed base counts of large scopes.
#[derive(Debug)]
pub(super) struct Bases {
    whole: Base,
    categories: FxHashMap<CategoryId, Base>,
    brands: FxHashMap<usize, Base>,
}

/// Smaller scopes are counted quickly on demand.
const LARGE_FROM: u64 = 4_096;
/// A large scope also has at least one in this many of all products, so that few scopes are kept for any release size.
const LARGE_ONE_IN: u64 = 64;

impl Bases {
    pub(super) fn of(release: &Release, rows: &Rows, values: &Values) -> Self {
        let large_from = LARGE_FROM.max(rows.live() as u64 / LARGE_ONE_IN);
        let all = BaseOptions {
            whole: None,
            currency: None,
            values: true,
        };
        let base = |scope: Scope<'_>| Base::of(release, rows, values, &scope.bits(release, rows), &all);
        let categories = taxonomy::all().iter().map(|category| category.id);
        let categories = categories.filter(|id| release.category_count(*id) >= large_from);
        let category = |id| Scope {
            category: Some(id),
            ..Scope::default()
        };
        let brands = release.brands().iter().enumerate();
        let brands = brands.filter(|(_, brand)| brand.product_count >= large_from);
        let brand = |at| Scope {
            brand: Some(at),
            ..Scope::default()
        };
        Self {
            whole: base(Scope::default()),
            categories: categories.map(|id| (id, base(category(id)))).collect(),
            brands: brands.map(|(at, _)| (at, base(brand(at)))).collect(),
        }
    }

    pub(super) const fn whole(&self) -> &Base {
        &self.whole
    }

    pub(super) fn of_scope(&self, scope: &Scope<'_>) -> Option<&Base> {
        match scope {
            scope if scope.matches.is_some() || scope.kinds != Kinds::GOODS => None,
            Scope {
                category: None,
                brand: None,
                ..
            } => Some(&self.whole),
            Scope {
                category: Some(category),
                brand: None,
                ..
            } => self.categories.get(category),
            Scope {
                category: None,
                brand: Some(brand),
                ..
            } => self.brands.get(brand),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(super) struct BaseOptions<'a> {
    /// Counts of all goods. A scope with most of the goods is counted by subtracting the other rows.
    pub(super) whole: Option<&'a Base>,
    /// Currency of the counted prices. `None` for all currencies.
    pub(super) currency: Option<CurrencyCode>,
    /// True if the rows of each value are counted.
    pub(super) values: bool,
}

impl Base {
    pub(super) fn of(release: &Release, rows: &Rows, values: &Values, scope: &Bits, wanted: &BaseOptions<'_>) -> Self {
        let listed = rows.listed(release, scope);
        let mut covered = FacetCoverage::none(values);
        let counted = wanted.values.then(|| {
            Counter::with(values.len(), |counter| {
                match wanted.whole.and_then(|whole| whole.but(scope, rows.goods())) {
                    Some(most) => {
                        counter.set_all(most.counts);
                        counter.subtract(values, &rows.listed(release, &most.lacked));
                        covered.add(&listed);
                    }
                    None => counter.add(values, &listed, Some(&mut covered)),
                }
                counter.taken()
            })
        });
        if counted.is_none() {
            covered.add(&listed);
        }
        let spread = |currency| Some((currency, Spread::of(release, rows, scope, currency)?));
        let spreads = match wanted.currency {
            Some(currency) => spread(currency).into_iter().collect(),
            None => rows.currencies().filter_map(spread).collect(),
        };
        Self {
            rows: scope.len(),
            facets: shown(values, &covered.counts),
            values: counted,
            spreads,
        }
    }

    /// If `of` is most of this scope, returns this scope's counts and the rows that `of` lacks. `all` has the rows of
    /// this scope.
    fn but(&self, of: &Bits, all: &[u64]) -> Option<Most<'_>> {
        let counts = self.values.as_ref()?;
        (of.len() * 2 > self.rows && of.words.len() == all.len()).then(|| Most {
            counts,
            lacked: of.lacking(all),
        })
    }

    /// Returns `None` if prices are in several currencies.
    pub(super) fn only_currency(&self) -> Option<CurrencyCode> {
        match self.spreads.as_slice() {
            [(currency, _)] => Some(*currency),
            _ => None,
        }
    }

    pub(super) fn spread(&self, currency: CurrencyCode) -> Option<&Spread> {
        let mut spreads = self.spreads.iter();
        spreads.find(|(known, _)| *known == currency).map(|(_, spread)| spread)
    }
}

/// Scope of which a set of rows is the larger share.
struct Most<'a> {
    counts: &'a [IdCount],
    /// Rows of the scope that the set lacks.
    lacked: Bits,
}

/// Returns the counts of the values with ids in a range.
fn between<'a>(counted: &'a [IdCount], ids: &Range<u32>) -> &'a [IdCount] {
    let start = counted.partition_point(|counted| counted.id < ids.start);
    let end = counted.partition_point(|counted| counted.id < ids.end);
    counted.get(start..end).unwrap_or_default()
}

/// Returns the facets to display: categories, then the facets that most products have, then tags. Facets whose names
/// are not meant for people are left out.
fn shown(values: &Values, covered: &[u32]) -> Vec<usize> {
    let rank = |name: &str| match name {
        "category" => 0,
        TAG => 2,
        _ => 1,
    };
    let named = values.names().iter().zip(covered).enumerate();
    // An attribute that stores call `brand` is not the market's brand facet.
    let held = named.filter(|(_, ((name, _), covered))| **covered > 0 && **name != *BRAND);
    let mut facets: Vec<_> = held
        .map(|(facet, ((name, _), covered))| (rank(name), Reverse(*covered), facet))
        .collect();
    facets.sort_unstable();
    let tags = usize::from(facets.last().is_some_and(|(rank, ..)| *rank == 2));
    let (others, last) = facets.split_at(facets.len() - tags);
    let is_read = |facet: &usize| !values.is_unread(values.name(*facet).1.start);
    let others = others.iter().map(|(_, _, facet)| *facet).filter(is_read);
    let others = others.take(FACETS_MAX - tags);
    others.chain(last.iter().map(|(_, _, facet)| *facet)).collect()
}

#[derive(Debug)]
pub(super) struct FacetCounter<'a, 'b> {
    pub(super) release: &'a Release,
    pub(super) rows: &'b Rows,
    pub(super) values: &'a Values,
    pub(super) base: &'b Base,
    /// Counts of all goods, if available.
    pub(super) whole: Option<&'b Base>,
    pub(super) scope: Scope<'b>,
    pub(super) window: &'b FacetWindow,
    /// Category that only requests with this category show.
    pub(super) hidden: Option<CategoryId>,
}

impl<'a> FacetCounter<'a, '_> {
    pub(super) fn facets(&self, narrowed: &FilteredRows) -> Vec<FacetCounts<'a>> {
        Counter::with(self.values.len(), |counter| {
            let counted: Cow<'_, [IdCount]> = match &self.base.values {
                Some(values) if !narrowed.filtered => values.into(),
                _ => {
                    self.count(counter, narrowed);
                    counter.taken().into()
                }
            };
            let shown = self.base.facets.iter().copied();
            // A facet with a filter is displayed even if it is not among the most common.
            let of_columns = || narrowed.only.iter().filter(|only| !only.chosen.is_brand());
            let further = of_columns().filter_map(|only| self.values.facet(&only.chosen.name));
            let further = further.filter(|facet| !self.base.facets.contains(facet));
            let facets = shown.chain(further).filter_map(|facet| {
                let (name, ids) = self.values.name(facet);
                let mut chosen = narrowed.only.iter().map(|only| &only.chosen);
                let chosen = chosen.find(|chosen| chosen.name == name);
                let of_facet = self.candidates(facet, between(&counted, &ids));
                let values_total = of_facet.len();
                let values = self.top(facet, of_facet, chosen, counter);
                (!values.is_empty()).then(|| FacetCounts {
                    name: name.into(),
                    values,
                    values_total,
                })
            });
            let mut facets: Vec<_> = facets.collect();
            let is_chosen = narrowed.only.iter().any(|only| only.chosen.is_brand());
            if self.scope.brand.is_none() || is_chosen {
                let brands = brands::counts(self.release, self.rows, narrowed, self.window);
                let at = facets.iter().take_while(|facet| facet.name == "category").count();
                if !brands.values.is_empty() {
                    facets.insert(at, brands);
                }
            }
            // Of a facet that no product has, only the requested values are known.
            let unknown = of_columns().map(|only| &only.chosen);
            let unknown = unknown.filter(|chosen| self.values.facet(&chosen.name).is_none());
            facets.extend(unknown.map(|chosen| {
                FacetCounts {
                    name: chosen.name.clone().into(),
                    values: chosen
                        .values
                        .iter()
                        .map(|value| FacetValue::unknown(&chosen.name, value))
                        .collect(),
                    values_total: 0,
                }
            }));
            facets
        })
    }

    /// Counts the rows that pass every filter. If they are most of a scope or of all products, the missing rows are
    /// subtracted instead. For each facet that is filtered by, also counts the rows that only the facet's own filter
    /// excludes.
    fn count(&self, counter: &mut Counter, narrowed: &FilteredRows) {
        let listed = |of: &Bits| self.rows.listed(self.release, of);
        let of_scope = self.base.but(&narrowed.all, &narrowed.scope.words);
        match of_scope.or_else(|| self.whole?.but(&narrowed.all, self.rows.goods())) {
            Some(most) => {
                counter.set_all(most.counts);
                counter.subtract(self.values, &listed(&most.lacked));
            }
            None => counter.add(self.values, &listed(&narrowed.all), None),
        }
        for only in narrowed.only.iter().filter(|only| !only.chosen.is_brand()) {
            counter.add_facet(self.values, &only.chosen.name, &listed(&only.rows));
        }
    }

    /// Returns the counted values of a facet that can be displayed. These are the direct children of a selected
    /// category.
    fn candidates(&self, facet: usize, of_facet: &[IdCount]) -> Vec<IdCount> {
        let (name, _) = self.values.name(facet);
        if name != "category" {
            let begun = self.values.beginning_with(self.release, facet, self.window.beginning());
            let begun = between(of_facet, &begun);
            if name != TAG {
                return begun.to_vec();
            }
            let read = begun.iter().filter(|counted| !self.values.is_unread(counted.id));
            return read.copied().collect();
        }
        let children = self.values.children(self.scope.category);
        let is_hidden = |id| {
            self.hidden
                .is_some_and(|hidden| self.category(id).is_some_and(|held| held.id == hidden))
        };
        let begins = |id| {
            let category = self.category(id);
            category.is_none_or(|held| self.window.begins(&held.slug) || self.window.begins_folded(held.name))
        };
        let shown = |id: u32| children.binary_search(&id).is_ok() && !is_hidden(id) && begins(id);
        of_facet.iter().copied().filter(|counted| shown(counted.id)).collect()
    }

    fn category(&self, id: u32) -> Option<&'static Category> {
        let key = self.values.key(self.release, id)?;
        taxonomy::by_slug_or_id(key.value)
    }

    /// Returns the values of most products, and those that are filtered by.
    fn top(
        &self,
        facet: usize,
        mut counted: Vec<IdCount>,
        chosen: Option<&FacetSelection>,
        counter: &Counter,
    ) -> Vec<FacetValue<'a>> {
        let (name, _) = self.values.name(facet);
        let order = |counted: &IdCount| (Reverse(counted.count), counted.id);
        let values_max = self.window.values_max();
        if counted.len() > values_max {
            counted.select_nth_unstable_by_key(values_max, order);
            counted.truncate(values_max);
        }
        let mut unknown = Vec::new();
        for value in chosen.iter().flat_map(|chosen| &chosen.values) {
            match self.values.id(self.release, facet, value) {
                Some(id) if counted.iter().any(|known| known.id == id) => {}
                Some(id) => counted.push(IdCount {
                    id,
                    count: counter.get(id),
                }),
                None => unknown.push(FacetValue::unknown(name, value)),
            }
        }
        counted.sort_unstable_by_key(order);
        let known = counted.into_iter().filter_map(|IdCount { id, count }| {
            let key = self.values.key(self.release, id)?;
            Some(FacetValue::of(key, count))
        });
        let mut values: Vec<_> = known.collect();
        if name == "category" {
            // Values are numbered by category id, but ties are ordered by slug.
            values.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.value.cmp(&other.value)));
        }
        values.extend(unknown);
        values
    }
}
