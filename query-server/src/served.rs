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

/// Release with all derived data. A request uses only one such view, so that no response mixes two releases.
#[derive(Debug)]
pub(crate) struct ReleaseView {
    /// Release, shared with other crates of the program.
    pub(crate) release: Arc<Release>,
    pub(crate) current: Current,
    /// Release with the data that searches need.
    pub(crate) search: SearchContext,
    /// Release id such as `r0123…`, as shown in provenance and logs.
    id: String,
    /// Stamp of the release and the answer settings, which is part of entity tags.
    stamp: String,
    brand_of_host: FxHashMap<String, usize>,
    /// Answer with the category tree, built at the first request.
    pub(crate) categories: OnceLock<Arc<Asset>>,
    /// Statistics by group, computed at the first request.
    groups: [OnceCell<Arc<Asset>>; GroupBy::ALL.len()],
    /// Answers that also depend on the last checks of stores.
    pub(crate) checked: ArcSwap<CheckedAnswers>,
    /// Delivery days of brands to recently requested pincodes.
    pub(crate) reach: Reach,
}

/// Error that makes a downloaded release unusable.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The files of the release cannot be opened.
    #[error("the release cannot be opened")]
    Open(#[source] Box<OpenError>),
    /// A test search does not find a product of the release.
    #[error("a test search found nothing: {probe}")]
    Probe {
        /// Text of the test search.
        probe: String,
    },
}

/// Version of the response format. Each change of a response to the same request over the same release must change the
/// version.
const ANSWERS_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "/9");

impl ReleaseView {
    /// Prepares a release and tests it with a search. `settings` must differ between servers whose answers differ. The
    /// function blocks its thread.
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

    /// Uses these checks from now on. If they are already in use, the cached answers stay.
    pub(crate) fn tell(&self, checks: &Arc<Checks>) {
        if Arc::ptr_eq(&self.checked.load().recorded, checks) {
            return;
        }
        let answers = CheckedAnswers::of(&self.release, Arc::clone(checks));
        self.checked.store(Arc::new(answers));
    }

    /// Returns the cache of the statistics by group.
    pub(crate) const fn groups(&self, by: GroupBy) -> &OnceCell<Arc<Asset>> {
        &self.groups[by as usize]
    }

    /// True if the category with this slug is shown without an explicit request.
    pub(crate) fn shows(&self, slug: Option<&str>) -> bool {
        let category = slug.and_then(taxonomy::by_slug_or_id);
        category.is_none_or(|category| self.search.is_shown(category))
    }

    pub(crate) fn id_text(&self) -> &str {
        &self.id
    }

    /// Returns the stamp of the release in entity tags.
    pub(crate) fn stamp(&self) -> &[u8] {
        self.stamp.as_bytes()
    }

    /// Returns the brands, those with the most products first. Brands with equal numbers are in slug order.
    pub(crate) fn brands_by_size(&self) -> impl Iterator<Item = &BrandEntry> {
        let positions = self.search.brands_by_size().iter();
        positions.filter_map(|at| self.release.brands().get(*at))
    }

    pub(crate) fn find(&self, ident: &ProductIdent) -> Result<RowAddress, OperationError> {
        self.release.find(ident).ok_or(OperationError::ProductNotFound)
    }

    pub(crate) fn product_id(&self, at: RowAddress) -> Option<ProductId> {
        self.release.part(at.part).map(|part| part.cards().id(at.row))
    }

    /// Returns the position of the brand whose store has this host now or had it at the crawl.
    pub(crate) fn brand_position(&self, domain: &str) -> Option<usize> {
        self.brand_of_host.get(host_key(domain).as_ref()).copied()
    }

    /// Returns the brand whose store has this host now or had it at the crawl.
    pub(crate) fn brand_by_domain(&self, domain: &str) -> Option<&BrandEntry> {
        self.release.brands().get(self.brand_position(domain)?)
    }
}
