use std::cmp::Reverse;
use std::sync::Arc;

use data_embedding::Embedder;
use data_index::taxonomy::{self, Category};
use data_index::{BrandEntry, Release, RowAddress};
use data_model::{CategoryId, ProductIdent};
use data_text::{Analysis, analyse};

use crate::browse::BrowseIndex;
use crate::decent;
use crate::lexical::{self, Allowed, Order, SpokenBrands, Synonyms, TextIndex, Wanted};
use crate::semantic::Semantic;
use crate::suggest::Names;

/// A release with all that searches of it need, made once. Every search answers from one of these and from nothing else.
#[derive(Debug)]
pub struct SearchContext {
    /// The release itself.
    pub release: Arc<Release>,
    pub(crate) text: TextIndex,
    /// What embeds queries, or why nothing does.
    pub semantic: Semantic,
    /// Lists of products with their facets.
    pub browse: BrowseIndex,
    pub(crate) names: Names,
    pub(crate) spoken_brands: SpokenBrands,
    /// Where something is shown to those alone who ask for it: everything else.
    decent: Option<Allowed>,
    /// Positions of the brands, those with most products first.
    brands_by_size: Vec<usize>,
    /// A category that is shown to those alone who ask for it.
    hidden: Option<CategoryId>,
}

impl SearchContext {
    /// Of a release, where what is for adults alone is shown to everybody or, unless `adult`, to those alone who ask for it.
    #[must_use]
    pub fn of(release: Arc<Release>, embedder: Option<&Arc<dyn Embedder>>, synonyms: Synonyms, adult: bool) -> Self {
        let semantic = Semantic::of(&release, embedder);
        let text = TextIndex::open(&release, synonyms);
        let hidden = (!adult).then(taxonomy::mature).flatten().map(|category| category.id);
        let browse = BrowseIndex::of(&release, hidden);
        let decent = hidden.and_then(|hidden| decent::of(&release, hidden));
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
            decent,
            brands_by_size,
            hidden,
        }
    }

    /// Where something is shown to those alone who ask for it: everything else.
    pub(crate) const fn decent(&self) -> Option<&Allowed> {
        self.decent.as_ref()
    }

    /// Whether a category is shown to everybody.
    #[must_use]
    pub fn is_shown(&self, category: &Category) -> bool {
        is_shown(category, self.hidden)
    }

    /// Positions of the brands in [`Release::brands`], those with most products first; ties in order of their slugs.
    #[must_use]
    pub fn brands_by_size(&self) -> &[usize] {
        &self.brands_by_size
    }

    /// Whether each word of a brand's name stands in more titles and names than the brand has products: then it says other
    /// things as well.
    #[must_use]
    pub fn is_plain(&self, entry: &BrandEntry) -> bool {
        self.text.is_plain(entry)
    }

    /// Looks for the first product of each part by its id and by its title, and counts all; tells what is not found.
    ///
    /// # Errors
    /// What was looked for in vain.
    pub fn probe(&self) -> Result<(), String> {
        for (at, part) in (0..).zip(self.release.parts()) {
            let Some(row) = (0..part.rows()).find(|row| !part.dead().contains(*row)) else {
                continue;
            };
            let (address, cards) = (RowAddress { part: at, row }, part.cards());
            if self.release.find(&ProductIdent::Id(cards.id(row))) != Some(address) {
                return Err(format!("product {}", cards.id(row)));
            }
            let wanted = Wanted {
                text: cards.title(row),
                as_typed: true,
                filter: None,
                scope: None,
                allowed: None,
                narrowed: false,
                order: Order::Relevance,
                currency: None,
                limit: 1,
                enough: 1,
                with_matches: false,
            };
            let found = lexical::search(&self.release, &self.text, &wanted);
            // A title may be made of nothing that is searched: `***`, or letters that are too many for a word.
            let words = analyse(Analysis::Stemmed, cards.title(row));
            if !words.is_empty() && found.hits.is_empty() {
                return Err(format!("title {:?}", cards.title(row)));
            }
        }
        let live = self.browse.live();
        if live as u64 != self.release.counts().products {
            return Err(format!("{live} live products"));
        }
        Ok(())
    }
}

fn is_shown(category: &Category, hidden: Option<CategoryId>) -> bool {
    !taxonomy::lineage(category.id).any(|above| Some(above.id) == hidden)
}
