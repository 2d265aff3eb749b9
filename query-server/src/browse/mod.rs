//! Faceted lists: which products of a category, a brand or a search pass the filters, in which order, and how many
//! have each value of each facet.
//!
//! In: a release and what is asked. Out: one page of rows, facet counts and prices. All live rows of all parts are
//! numbered in one sequence and sets of them are bits, so that filters meet word by word. Every product that fails
//! no filter is listed; one that fails exactly one filter still counts for that filter's own facet ("disjunctive"
//! counts). What large categories and brands count without a filter is kept with the release; under filters only
//! the smaller side is counted: what is left, or what fell out.

mod bits;
mod count;
mod counter;
mod covered;
mod narrow;
mod packed;
mod packing;
mod page;
mod price;
mod rows;
mod scope;
mod search;
mod spread;
mod values;

use data_index::{Release, RowAddress, RowFilter};
use data_model::CurrencyCode;

pub(crate) use self::count::FacetCounts;
use self::count::{Base, Bases, Wanted};
use self::narrow::Narrowed;
pub(crate) use self::price::Prices;
use self::rows::Rows;
pub(crate) use self::scope::Scope;
pub(crate) use self::search::of_search;
use self::values::Values;
use crate::lexical::Order;

/// What a release's lists need besides its columns, made once.
#[derive(Debug)]
pub(crate) struct BrowseIndex {
    rows: Rows,
    values: Values,
    bases: Bases,
}

/// One page that is asked for.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) filter: &'a RowFilter,
    pub(crate) order: Order,
    /// How many products stand before the page.
    pub(crate) start: usize,
    pub(crate) limit: usize,
}

/// Counts of one set of products.
#[derive(Debug)]
pub(crate) struct Counts<'a> {
    pub(crate) facets: Vec<FacetCounts<'a>>,
    pub(crate) prices: Prices,
}

/// One page, and counts of the whole list.
#[derive(Debug)]
pub(crate) struct Browsed<'a> {
    pub(crate) rows: Vec<RowAddress>,
    /// Whether products follow behind the page.
    pub(crate) more: bool,
    pub(crate) counts: Counts<'a>,
}

impl BrowseIndex {
    pub(crate) fn of(release: &Release) -> Self {
        let rows = Rows::of(release);
        let values = Values::of(release);
        let bases = Bases::of(release, &rows, &values);
        Self { rows, values, bases }
    }

    /// One page of the products of `scope` that pass the filter, with the counts of all of them. Only the filter's
    /// price, stock, sale and facets are read: brand and category are the scope's. Prices are those in `currency`.
    pub(crate) fn browse<'a>(
        &'a self,
        release: &'a Release,
        scope: &Scope<'_>,
        asked: &Asked<'_>,
        currency: CurrencyCode,
    ) -> Browsed<'a> {
        let narrowed = self.narrowed(release, scope, asked.filter);
        let (rows, more) = page::page(release, &self.rows, &narrowed.all, asked, currency);
        let counts = self.counted(release, scope, &narrowed, currency);
        Browsed { rows, more, counts }
    }

    /// How many products the release serves.
    pub(crate) fn live(&self) -> usize {
        self.rows.live()
    }

    /// All live products in an order, by price those in `currency` alone.
    pub(crate) fn ordered(&self, order: Order, currency: CurrencyCode) -> impl ExactSizeIterator<Item = RowAddress> {
        self.rows
            .order(order, currency)
            .iter()
            .map(|row| self.rows.address(*row))
    }

    /// The counts alone.
    pub(crate) fn counts<'a>(
        &'a self,
        release: &'a Release,
        scope: &Scope<'_>,
        filter: &RowFilter,
        currency: CurrencyCode,
    ) -> Counts<'a> {
        let narrowed = self.narrowed(release, scope, filter);
        self.counted(release, scope, &narrowed, currency)
    }

    fn narrowed(&self, release: &Release, scope: &Scope<'_>, filter: &RowFilter) -> Narrowed {
        let bits = scope.bits(release, &self.rows);
        Narrowed::of(release, &self.rows, bits, filter)
    }

    fn counted<'a>(
        &'a self,
        release: &'a Release,
        scope: &Scope<'_>,
        narrowed: &Narrowed,
        currency: CurrencyCode,
    ) -> Counts<'a> {
        let made;
        let base = match self.bases.of_scope(scope) {
            Some(base) => base,
            None => {
                let wanted = Wanted {
                    whole: Some(self.bases.whole()),
                    currency: Some(currency),
                    values: !narrowed.filtered,
                };
                made = Base::of(release, &self.rows, &self.values, &narrowed.scope, &wanted);
                &made
            }
        };
        let counting = count::Counting {
            release,
            rows: &self.rows,
            values: &self.values,
            base,
            whole: self.bases.whole(),
            category: scope.category,
        };
        Counts {
            facets: counting.facets(narrowed),
            prices: price::prices(release, &self.rows, base, narrowed, currency),
        }
    }
}
