use std::sync::{Arc, OnceLock};

use api::{Asset, EntityTag};
use arc_swap::ArcSwap;
use data_checks::Checks;
use data_embedding::Embedder;
use data_index::taxonomy::{self, Category};
use data_index::{BrandEntry, Current, OpenError, Release, RowAddress};
use data_model::{CategoryId, ProductId, ProductIdent};
use data_text::{Analysis, analyse};
use rustc_hash::FxHashMap;

use crate::browse::BrowseIndex;
use crate::checks::CheckedAnswers;
use crate::decent;
use crate::hosts::{self, host_key};
use crate::lexical::{Allowed, Order, SpokenBrands, Synonyms, TextIndex, Wanted, search};
use crate::operations::OperationError;
use crate::pictures::Pictures;
use crate::reach::Reach;
use crate::render::category::{self, Pictured};
use crate::render::{TIER, json, provenance};
use crate::schema::CategoriesAnswer;
use crate::semantic::Semantic;
use crate::suggest::Names;

/// A release with everything that follows from it alone. A request takes one of these and answers from nothing else,
/// so that no answer mixes two releases.
#[derive(Debug)]
pub(crate) struct Served {
    /// Shared with whatever else answers from it.
    pub(crate) release: Arc<Release>,
    pub(crate) current: Current,
    pub(crate) text: TextIndex,
    pub(crate) semantic: Semantic,
    pub(crate) browse: BrowseIndex,
    pub(crate) names: Names,
    pub(crate) spoken_brands: SpokenBrands,
    /// Where something is shown to those alone who ask for it: everything else.
    decent: Option<Allowed>,
    /// `r0123…`, as provenance and logs spell it.
    id: String,
    /// What entity tags follow from besides the request.
    stamp: String,
    /// Positions of the brands, those with most products first.
    brands_by_size: Vec<usize>,
    /// Positions of the brands by the hosts that they are known by.
    brand_of_host: FxHashMap<String, usize>,
    /// A category that is shown to those alone who ask for it.
    hidden: Option<CategoryId>,
    /// An answer that is the same for everyone, from the first time that somebody asks for it.
    categories: OnceLock<Arc<Asset>>,
    /// What follows from the stores' last checks besides.
    pub(crate) checked: ArcSwap<CheckedAnswers>,
    /// How soon brands deliver to the pincodes that were asked for last.
    pub(crate) reach: Reach,
}

/// Why a fetched release cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// Its files cannot be opened.
    #[error("the release cannot be opened")]
    Open(#[source] Box<OpenError>),
    /// A product that it holds is not found in it.
    #[error("a probe found nothing: {probe}")]
    Probe {
        /// What was looked for.
        probe: String,
    },
}

/// Changes when answers to the same request over the same release change.
const ANSWERS_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "/8");

impl Served {
    /// Prepares a release and asks it for what it must know; `settings` differs where answers over the same release do.
    /// Blocks.
    pub(crate) fn prepare(
        release: Release,
        current: Current,
        embedder: Option<&Arc<dyn Embedder>>,
        synonyms: Synonyms,
        (settings, adult): (&str, bool),
    ) -> Result<Self, PrepareError> {
        let semantic = Semantic::of(&release, embedder);
        let text = TextIndex::open(&release, synonyms);
        let hidden = (!adult).then(taxonomy::mature).flatten().map(|category| category.id);
        let browse = BrowseIndex::of(&release, hidden);
        let decent = hidden.and_then(|hidden| decent::of(&release, hidden));
        let id = release.id().to_string();
        let mut brands_by_size: Vec<usize> = (0..release.brands().len()).collect();
        brands_by_size.sort_by_key(|at| {
            let entry = release.brands().get(*at);
            entry.map(|entry| (std::cmp::Reverse(entry.product_count), &entry.facts.brand.slug))
        });
        let names = Names::of(&release, &brands_by_size, |category| is_shown(category, hidden));
        let spoken_brands = SpokenBrands::of(&release, &text, &brands_by_size);
        let brand_of_host = hosts::of(&release, &brands_by_size);
        let stamp = format!(
            "{ANSWERS_VERSION} {id} {} {} {settings}",
            current.published_at.micros(),
            semantic.name()
        );
        let checked = CheckedAnswers::of((&release, &current), &id, &stamp, Arc::default());
        let served = Self {
            release: Arc::new(release),
            current,
            text,
            semantic,
            browse,
            names,
            spoken_brands,
            decent,
            id,
            stamp,
            brands_by_size,
            brand_of_host,
            hidden,
            categories: OnceLock::new(),
            checked: ArcSwap::from_pointee(checked),
            reach: Reach::default(),
        };
        served.probe()?;
        Ok(served)
    }

    /// From now on tells these checks; nothing is made anew if it does already.
    pub(crate) fn tell(&self, checks: &Arc<Checks>) {
        if Arc::ptr_eq(&self.checked.load().recorded, checks) {
            return;
        }
        let release = (self.release.as_ref(), &self.current);
        let answers = CheckedAnswers::of(release, &self.id, &self.stamp, Arc::clone(checks));
        self.checked.store(Arc::new(answers));
    }

    /// All categories, each with its picture.
    pub(crate) fn categories(&self) -> &Arc<Asset> {
        self.categories.get_or_init(|| {
            let pictures = Pictures::of(&self.release);
            let pictured = Pictured {
                pictures: &pictures,
                release: &self.release,
            };
            let shown = |category: &Category| is_shown(category, self.hidden);
            let answer = CategoriesAnswer {
                data: category::tree(self.release.category_tree(), pictured, shown),
                provenance: provenance(&self.id),
                tier: TIER,
            };
            let tag = EntityTag::of(&[self.stamp.as_bytes(), b"categories"]);
            Arc::new(Asset::graph(tag, json(1 << 16, &answer)))
        })
    }

    /// Makes what answers need and nobody has asked for yet. A server that answers already does it beside its answers: it is
    /// found when it is asked for too.
    pub(crate) fn make_ahead(&self) {
        let _ = self.categories();
        self.browse.find_siblings(&self.release);
    }

    /// Where something is shown to those alone who ask for it: everything else.
    pub(crate) const fn decent(&self) -> Option<&Allowed> {
        self.decent.as_ref()
    }

    /// The release's id as text.
    pub(crate) fn id_text(&self) -> &str {
        &self.id
    }

    /// What entity tags follow from besides the request.
    pub(crate) fn stamp(&self) -> &[u8] {
        self.stamp.as_bytes()
    }

    /// The brands, those with most products first; ties in order of their slugs.
    pub(crate) fn brands_by_size(&self) -> impl Iterator<Item = &BrandEntry> {
        self.brands_by_size
            .iter()
            .filter_map(|at| self.release.brands().get(*at))
    }

    /// Where the product is that an ident stands for.
    pub(crate) fn find(&self, ident: &ProductIdent) -> Result<RowAddress, OperationError> {
        self.release.find(ident).ok_or(OperationError::ProductNotFound)
    }

    /// The id of the product of a row.
    pub(crate) fn product_id(&self, at: RowAddress) -> Option<ProductId> {
        self.release.part(at.part).map(|part| part.cards().id(at.row))
    }

    /// The same, as its position among the release's brands.
    pub(crate) fn brand_position(&self, domain: &str) -> Option<usize> {
        self.brand_of_host.get(host_key(domain).as_ref()).copied()
    }

    /// The brand whose store has this host, or had it when it was crawled.
    pub(crate) fn brand_by_domain(&self, domain: &str) -> Option<&BrandEntry> {
        self.release.brands().get(self.brand_position(domain)?)
    }

    /// Looks for the first product of each part by its id and by its title, and counts all.
    fn probe(&self) -> Result<(), PrepareError> {
        let failed = |probe: String| Err(PrepareError::Probe { probe });
        for (at, part) in (0..).zip(self.release.parts()) {
            let Some(row) = (0..part.rows()).find(|row| !part.unlisted().contains(*row)) else {
                continue;
            };
            let (address, cards) = (RowAddress { part: at, row }, part.cards());
            if self.release.find(&ProductIdent::Id(cards.id(row))) != Some(address) {
                return failed(format!("product {}", cards.id(row)));
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
            let found = search(&self.release, &self.text, &wanted);
            // A title may be made of nothing that is searched: `***`, or letters that are too many for a word.
            let words = analyse(Analysis::Stemmed, cards.title(row));
            if !words.is_empty() && found.hits.is_empty() {
                return failed(format!("title {:?}", cards.title(row)));
            }
        }
        let live = self.browse.live();
        if live as u64 > self.release.counts().products {
            return failed(format!("{live} live products"));
        }
        Ok(())
    }
}

fn is_shown(category: &Category, hidden: Option<CategoryId>) -> bool {
    !taxonomy::lineage(category.id).any(|above| Some(above.id) == hidden)
}
