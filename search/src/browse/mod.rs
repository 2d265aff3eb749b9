//! Faceted lists: which products of a category, a brand or a search pass the filters, in which order, and how many
//! have each value of each facet.
//!
//! In: a release and a request. Out: one page of rows, facet counts and prices. All live rows of all parts are numbered
//! in one sequence and sets of them are bits, so that filters meet word by word. Every product that fails no filter is
//! listed; one that fails exactly one filter still counts for that filter's own facet ("disjunctive" counts). The
//! counts of large categories and brands without a filter are kept with the release; under filters only the smaller
//! side is counted: the rows that are left, or those that fell out.

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

/// The data beside a release's columns that its lists need, made once.
#[derive(Debug)]
pub struct BrowseIndex {
    rows: Rows,
    values: Values,
    bases: Bases,
    siblings: Siblings,
    /// A category that is shown to those alone who ask for it.
    hidden: Option<CategoryId>,
}

/// One page that is asked for.
#[derive(Debug)]
pub struct PageRequest<'a> {
    /// The filter that products must pass.
    pub filter: &'a RowFilter,
    /// The order of the list.
    pub order: Order,
    /// The number of products before the page.
    pub start: usize,
    /// Most products of the page.
    pub limit: usize,
    /// True where only the first of siblings is listed.
    pub folded: bool,
}

/// The parts of a list's counts that a caller needs.
#[derive(Debug, Clone, Copy)]
pub struct CountOptions<'a> {
    /// The currency of the prices that are counted.
    pub currency: CurrencyCode,
    /// The values of facets that are shown.
    pub window: &'a FacetWindow,
}

/// Counts of one set of products.
#[derive(Debug)]
pub struct Counts<'a> {
    /// The number of products of each value, by facet.
    pub facets: Vec<FacetCounts<'a>>,
    /// The distribution of the prices.
    pub prices: Prices,
}

/// One page, and counts of the whole list.
#[derive(Debug)]
pub struct BrowseResult<'a> {
    /// The page.
    pub rows: Vec<RowAddress>,
    /// True where products follow behind the page.
    pub more: bool,
    /// True where the price filter left out products for their currency alone.
    pub left_out: bool,
    /// Counts of the whole list.
    pub counts: Counts<'a>,
}

impl BrowseIndex {
    /// `hidden` is a category that is shown to those alone who ask for it.
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

    /// One page of the products of `scope` that pass the filter, with the counts of all of them. Only the filter's
    /// price, stock, sale, set of brands and facets are read: brand, category and kinds are the scope's.
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

    /// The currency of all prices of a scope, where they have one alone.
    pub(crate) fn only_currency(&self, release: &Release, scope: &Scope<'_>) -> Option<CurrencyCode> {
        match self.bases.of_scope(scope) {
            Some(base) => base.only_currency(),
            None => scope.only_currency(release, &self.rows),
        }
    }

    /// The same of these brands' part of a scope, where any is named.
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

    /// True where any price is in another currency than this.
    pub(crate) fn has_other_than(&self, currency: CurrencyCode) -> bool {
        self.rows.currencies().any(|one| one != currency)
    }

    /// The family of siblings that a product is of.
    pub fn family(&self, release: &Release, at: RowAddress) -> Option<Family> {
        let row = self.rows.number(at)?;
        self.rows.family(release, &self.siblings, row)
    }

    /// The siblings of a family, by colour.
    pub fn siblings(&self, family: Family) -> impl Iterator<Item = (RowAddress, Member)> {
        let members = self.siblings.members(family).iter();
        members.map(|member| (self.rows.address(member.row), *member))
    }

    /// Finds the siblings of every brand whose siblings nobody asked for yet, so that nobody waits for them.
    pub fn find_siblings(&self, release: &Release) {
        for brand in 0..release.brands().len() {
            if let Some(rows) = self.rows.brand(brand).first() {
                let _ = self.rows.family(release, &self.siblings, rows.start);
            }
        }
    }

    /// The number of products that the release serves.
    pub(crate) fn live(&self) -> usize {
        self.rows.live()
    }

    /// All live products in an order, by price those in `currency` first.
    pub(crate) fn ordered(&self, order: Order, currency: CurrencyCode) -> impl Iterator<Item = RowAddress> {
        let runs = self.rows.order(order, currency).into_iter();
        runs.flatten().map(|row| self.rows.address(*row))
    }

    /// The counts alone.
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
