//! Faceted lists: the products of a category, a brand or a search that pass the filters, in a given order, with counts
//! of each facet value.
//!
//! Input: a release and a request. Output: one page of rows, facet counts and prices.
//!
//! All live rows of all parts are numbered in one sequence. Sets of rows are bitmaps, so that filters combine 64 rows
//! at a time. A list contains the products that pass every filter. A product that fails exactly one filter still counts
//! for the facet of that filter ("disjunctive" counts). The unfiltered counts of large categories and brands are
//! precomputed. Under filters, only the smaller side is counted, which is the remaining or the excluded rows.

mod bits;
mod brands;
mod count;
mod counter;
mod coverage;
mod facets;
mod machine;
mod named;
mod narrow;
mod packed;
mod packing;
mod page;
mod price;
mod rows;
mod scope;
mod spread;
mod values;
mod window;

use data_index::{Release, RowAddress, RowFilter};
use data_model::{CategoryId, CurrencyCode, Kinds};

use self::count::{Base, BaseOptions, Bases};
pub use self::facets::{FacetCounts, FacetValue};
pub(crate) use self::named::{BRAND, named as brands_named};
use self::narrow::FilteredRows;
use self::page::Pages;
pub use self::price::{Bin, Prices};
use self::rows::Rows;
pub use self::scope::Scope;
use self::values::Values;
pub use self::window::FacetWindow;
use crate::lexical::Order;
use crate::siblings::{Family, Member, Siblings};

/// Data for lists, derived from a release once.
#[derive(Debug)]
pub struct BrowseIndex {
    rows: Rows,
    values: Values,
    bases: Bases,
    siblings: Siblings,
    /// Category that only requests with this category show.
    hidden: Option<CategoryId>,
}

/// Request for one page of a list.
#[derive(Debug)]
pub struct PageRequest<'a> {
    /// Filter that products must pass.
    pub filter: &'a RowFilter,
    /// Sort order of the list.
    pub order: Order,
    /// Number of products before the page.
    pub start: usize,
    /// Maximum number of products on the page.
    pub limit: usize,
    /// True if only the first of each family of siblings is listed.
    pub folded: bool,
}

/// Options for the counts of a list.
#[derive(Debug, Clone, Copy)]
pub struct CountOptions<'a> {
    /// Currency of the counted prices.
    pub currency: CurrencyCode,
    /// Displayed facet values.
    pub window: &'a FacetWindow,
}

/// Counts of one set of products.
#[derive(Debug)]
pub struct Counts<'a> {
    /// Number of products of each value, by facet.
    pub facets: Vec<FacetCounts<'a>>,
    /// Distribution of the prices.
    pub prices: Prices,
}

/// One page of a list, with counts of the whole list.
#[derive(Debug)]
pub struct BrowseResult<'a> {
    /// Rows of the page.
    pub rows: Vec<RowAddress>,
    /// True if products follow after the page.
    pub more: bool,
    /// True if the price filter excluded products only because of their currency.
    pub left_out: bool,
    /// Counts of the whole list.
    pub counts: Counts<'a>,
}

impl BrowseIndex {
    /// Builds the index. Only requests with the `hidden` category show its products.
    pub(crate) fn of(release: &Release, hidden: Option<CategoryId>) -> Self {
        let rows = Rows::of(release);
        let values = Values::of(release);
        let bases = Bases::of(release, &rows, &values);
        let siblings = Siblings::of(release.brands().len());
        Self {
            rows,
            values,
            bases,
            siblings,
            hidden,
        }
    }

    /// Returns one page of the products of `scope` that pass the filter, with counts of all of them. Only price, stock,
    /// sale, brands and facets of the filter are used. Brand, category and kinds are those of the scope.
    pub fn browse<'a>(
        &'a self,
        release: &'a Release,
        scope: &Scope<'_>,
        asked: &PageRequest<'_>,
        counted: CountOptions<'_>,
    ) -> BrowseResult<'a> {
        let narrowed = self.narrowed(release, scope, asked.filter);
        let pages = Pages {
            release,
            rows: &self.rows,
            siblings: asked.folded.then_some(&self.siblings),
        };
        let (rows, more) = pages.page(&narrowed.all, asked, counted.currency);
        let counts = self.counted(release, scope, &narrowed, counted);
        BrowseResult {
            rows,
            more,
            left_out: narrowed.left_out,
            counts,
        }
    }

    /// Returns `None` if prices of a scope are in several currencies.
    pub(crate) fn only_currency(&self, release: &Release, scope: &Scope<'_>) -> Option<CurrencyCode> {
        match self.bases.of_scope(scope) {
            Some(base) => base.only_currency(),
            None => scope.only_currency(release, &self.rows),
        }
    }

    /// Returns the only currency of a scope's prices, limited to `brands` if there are any. `None` if prices are in
    /// several currencies.
    pub fn only_currency_of(&self, release: &Release, scope: &Scope<'_>, brands: &[usize]) -> Option<CurrencyCode> {
        if brands.is_empty() || scope.brand.is_some() {
            return self.only_currency(release, scope);
        }
        let of_brand = |brand: &usize| Scope {
            brand: Some(*brand),
            ..*scope
        };
        let scopes = brands.iter().map(of_brand);
        let held: Vec<_> = scopes.flat_map(|scope| scope.currencies(release, &self.rows)).collect();
        scope::only(&held)
    }

    pub(crate) fn has_other_than(&self, currency: CurrencyCode) -> bool {
        self.rows.currencies().any(|one| one != currency)
    }

    /// Returns the family of siblings that a product belongs to.
    pub fn family(&self, release: &Release, at: RowAddress) -> Option<Family> {
        let row = self.rows.number(at)?;
        self.rows.family(release, &self.siblings, row)
    }

    /// Returns the siblings of a family, ordered by colour.
    pub fn siblings(&self, family: Family) -> impl Iterator<Item = (RowAddress, Member)> {
        let members = self.siblings.members(family).iter();
        members.map(|member| (self.rows.address(member.row), *member))
    }

    /// Finds the siblings of all remaining brands, so that no request has to wait for it.
    pub fn find_siblings(&self, release: &Release) {
        for brand in 0..release.brands().len() {
            if let Some(rows) = self.rows.brand(brand).first() {
                let _ = self.rows.family(release, &self.siblings, rows.start);
            }
        }
    }

    /// Number of products that the release serves.
    pub(crate) fn live(&self) -> usize {
        self.rows.live()
    }

    /// Returns all live products. A sort by price starts with prices in `currency`.
    pub(crate) fn ordered(&self, order: Order, currency: CurrencyCode) -> impl Iterator<Item = RowAddress> {
        let runs = self.rows.order(order, currency).into_iter();
        runs.flatten().map(|row| self.rows.address(*row))
    }

    pub(crate) fn counts<'a>(
        &'a self,
        release: &'a Release,
        scope: &Scope<'_>,
        filter: &RowFilter,
        counted: CountOptions<'_>,
    ) -> Counts<'a> {
        let narrowed = self.narrowed(release, scope, filter);
        self.counted(release, scope, &narrowed, counted)
    }

    fn narrowed(&self, release: &Release, scope: &Scope<'_>, filter: &RowFilter) -> FilteredRows {
        let bits = scope.bits(release, &self.rows);
        FilteredRows::of(release, &self.rows, bits, filter)
    }

    fn counted<'a>(
        &'a self,
        release: &'a Release,
        scope: &Scope<'_>,
        narrowed: &FilteredRows,
        CountOptions { currency, window }: CountOptions<'_>,
    ) -> Counts<'a> {
        let whole = (scope.kinds == Kinds::GOODS).then(|| self.bases.whole());
        let made;
        let base = match self.bases.of_scope(scope) {
            Some(base) => base,
            None => {
                let wanted = BaseOptions {
                    whole,
                    currency: Some(currency),
                    values: !narrowed.filtered,
                };
                made = Base::of(release, &self.rows, &self.values, &narrowed.scope, &wanted);
                &made
            }
        };
        let counting = count::FacetCounter {
            release,
            rows: &self.rows,
            values: &self.values,
            base,
            whole,
            scope: *scope,
            window,
            hidden: self.hidden,
        };
        Counts {
            facets: counting.facets(narrowed),
            prices: price::prices(release, &self.rows, base, narrowed, currency),
        }
    }
}
