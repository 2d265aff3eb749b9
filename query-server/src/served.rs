use std::sync::{Arc, OnceLock};

use api::Asset;
use arc_swap::ArcSwap;
use data_checks::Checks;
use data_embedding::Embedder;
use data_index::taxonomy;
use data_index::{BrandEntry, OpenError, Release, RowAddress};
use data_model::{ProductId, ProductIdent};
use data_release::Current;
use rustc_hash::FxHashMap;
use search::{SearchContext, Synonyms};
use tokio::sync::OnceCell;

use crate::checks::CheckedAnswers;
use crate::error::OperationError;
use crate::hosts::{self, host_key};
use crate::reach::Reach;
use crate::reads::GroupBy;

/// A release with everything that follows from it alone. A request takes one of these and answers from nothing else,
/// so that no answer mixes two releases.
#[derive(Debug)]
pub(crate) struct ReleaseView {
    /// Shared with whatever else answers from it.
    pub(crate) release: Arc<Release>,
    pub(crate) current: Current,
    /// The same release with all that searches of it need.
    pub(crate) search: SearchContext,
    /// `r0123…`, as provenance and logs spell it.
    id: String,
    /// Goes into entity tags besides the request.
    stamp: String,
    /// Positions of the brands by the hosts that they are known by.
    brand_of_host: FxHashMap<String, usize>,
    /// An answer that is the same for everyone, from the first time that somebody asks for it.
    pub(crate) categories: OnceLock<Arc<Asset>>,
    /// Figures by group, from the first time that somebody asks for them.
    groups: [OnceCell<Arc<Asset>>; GroupBy::ALL.len()],
    /// The answers that also follow from the stores' last checks.
    pub(crate) checked: ArcSwap<CheckedAnswers>,
    /// The delivery times of brands to the pincodes that were asked for last.
    pub(crate) reach: Reach,
}

/// Reasons why a fetched release cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// Its files cannot be opened.
    #[error("the release cannot be opened")]
    Open(#[source] Box<OpenError>),
    /// A product that it holds is not found in it.
    #[error("a probe found nothing: {probe}")]
    Probe {
        /// The text that was looked for.
        probe: String,
    },
}

/// Changes when answers to the same request over the same release change.
const ANSWERS_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "/9");

impl ReleaseView {
    /// Prepares a release and asks it for what it must know; `settings` differs where answers over the same release do.
    /// Blocks.
    pub(crate) fn prepare(
        release: Release,
        current: Current,
        embedder: Option<&Arc<dyn Embedder>>,
        synonyms: Synonyms,
        settings: &str,
        adult: bool,
    ) -> Result<Self, PrepareError> {
        let release = Arc::new(release);
        let search = SearchContext::of(Arc::clone(&release), embedder, synonyms, adult);
        let id = release.id().to_string();
        let brand_of_host = hosts::of(&release, search.brands_by_size());
        let stamp = format!(
            "{ANSWERS_VERSION} {id} {} {} {settings}",
            current.published_at.micros(),
            search.semantic.name()
        );
        let checked = CheckedAnswers::of(&release, Arc::default());
        let served = Self {
            release,
            current,
            search,
            id,
            stamp,
            brand_of_host,
            categories: OnceLock::new(),
            groups: Default::default(),
            checked: ArcSwap::from_pointee(checked),
            reach: Reach::default(),
        };
        served.search.probe().map_err(|probe| PrepareError::Probe { probe })?;
        Ok(served)
    }

    /// From now on tells these checks; nothing is made anew if it does already.
    pub(crate) fn tell(&self, checks: &Arc<Checks>) {
        if Arc::ptr_eq(&self.checked.load().recorded, checks) {
            return;
        }
        let answers = CheckedAnswers::of(&self.release, Arc::clone(checks));
        self.checked.store(Arc::new(answers));
    }

    /// The place of figures by group.
    pub(crate) const fn groups(&self, by: GroupBy) -> &OnceCell<Arc<Asset>> {
        &self.groups[by as usize]
    }

    /// True where the category of this slug is shown to those who do not ask for it.
    pub(crate) fn shows(&self, slug: Option<&str>) -> bool {
        let category = slug.and_then(taxonomy::by_slug_or_id);
        category.is_none_or(|category| self.search.is_shown(category))
    }

    /// The release's id as text.
    pub(crate) fn id_text(&self) -> &str {
        &self.id
    }

    /// Goes into entity tags besides the request.
    pub(crate) fn stamp(&self) -> &[u8] {
        self.stamp.as_bytes()
    }

    /// The brands, those with most products first; ties in order of their slugs.
    pub(crate) fn brands_by_size(&self) -> impl Iterator<Item = &BrandEntry> {
        let positions = self.search.brands_by_size().iter();
        positions.filter_map(|at| self.release.brands().get(*at))
    }

    /// The row of the product that an ident stands for.
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
}
