use std::cmp::Reverse;
use std::sync::Arc;

use data_embedding::Embedder;
use data_index::taxonomy::{self, Category};
use data_index::{BrandEntry, Release, RowAddress};
use data_model::{CategoryId, ProductIdent};
use data_text::{Analysis, analyse};

use crate::browse::BrowseIndex;
use crate::lexical::{self, AllowedRows, LexicalQuery, SpokenBrands, Synonyms, TextIndex};
use crate::names::Names;
use crate::safe_search;
use crate::semantic::Semantic;

/// Release with everything that searches need, built once. Every search uses one context.
#[derive(Debug)]
pub struct SearchContext {
    /// Release that is searched.
    pub release: Arc<Release>,
    pub(crate) text: TextIndex,
    /// Embedder for queries, or the reason for having none.
    pub semantic: Semantic,
    /// Faceted lists of products.
    pub browse: BrowseIndex,
    pub(crate) names: Names,
    pub(crate) spoken_brands: SpokenBrands,
    /// Rows that safe search allows. `None` if it hides no rows.
    safe_rows: Option<AllowedRows>,
    /// Brand indexes. The brand with the most products is first.
    brands_by_size: Vec<usize>,
    /// Category that only requests with this category show.
    hidden: Option<CategoryId>,
}

impl SearchContext {
    /// Builds the context of a release. If `adult` is false, adult products are shown only to requests that include
    /// them.
    pub fn of(release: Arc<Release>, embedder: Option<&Arc<dyn Embedder>>, synonyms: Synonyms, adult: bool) -> Self {
        let semantic = Semantic::of(&release, embedder);
        let text = TextIndex::open(&release, synonyms);
        let hidden = (!adult).then(taxonomy::mature).flatten().map(|category| category.id);
        let browse = BrowseIndex::of(&release, hidden);
        let safe_rows = hidden.and_then(|hidden| safe_search::of(&release, hidden));
        let mut brands_by_size: Vec<usize> = (0..release.brands().len()).collect();
        brands_by_size.sort_by_key(|at| {
            let entry = release.brands().get(*at);
            entry.map(|entry| (Reverse(entry.product_count), &entry.facts.brand.slug))
        });
        let names = Names::of(&release, &brands_by_size, |category| is_shown(category, hidden));
        let spoken_brands = SpokenBrands::of(&release, &text, &brands_by_size);
        Self {
            release,
            text,
            semantic,
            browse,
            names,
            spoken_brands,
            safe_rows,
            brands_by_size,
            hidden,
        }
    }

    /// Returns `None` if safe search hides no rows.
    pub(crate) const fn safe_rows(&self) -> Option<&AllowedRows> {
        self.safe_rows.as_ref()
    }

    /// Returns true if the category is shown by default.
    pub fn is_shown(&self, category: &Category) -> bool {
        is_shown(category, self.hidden)
    }

    /// Returns indexes in [`Release::brands`]. The brand with the most products is first. Ties are ordered by slug.
    pub fn brands_by_size(&self) -> &[usize] {
        &self.brands_by_size
    }

    /// Returns true for an ambiguous brand name. Each of its words occurs in more titles and names than the brand has
    /// products.
    pub fn is_plain(&self, entry: &BrandEntry) -> bool {
        self.text.is_plain(entry)
    }

    /// Checks the context. Searches for the first product of each part by id and by title, and counts all products.
    ///
    /// # Errors
    /// The product or title that was not found, or a count of live products that is too high.
    pub fn probe(&self) -> Result<(), String> {
        for (at, part) in (0..).zip(self.release.parts()) {
            let Some(row) = (0..part.rows()).find(|row| !part.unlisted().contains(*row)) else {
                continue;
            };
            let (address, cards) = (RowAddress { part: at, row }, part.cards());
            if self.release.find(&ProductIdent::Id(cards.id(row))) != Some(address) {
                return Err(format!("product {}", cards.id(row)));
            }
            let found = lexical::search(&self.release, &self.text, &LexicalQuery::best(cards.title(row)));
            // A title may have no searchable words, such as `***` or a word that is too long.
            let words = analyse(Analysis::Stemmed, cards.title(row));
            if !words.is_empty() && found.hits.is_empty() {
                return Err(format!("title {:?}", cards.title(row)));
            }
        }
        let live = self.browse.live();
        if live as u64 > self.release.counts().products {
            return Err(format!("{live} live products"));
        }
        Ok(())
    }
}

fn is_shown(category: &Category, hidden: Option<CategoryId>) -> bool {
    !taxonomy::lineage(category.id).any(|above| Some(above.id) == hidden)
}
