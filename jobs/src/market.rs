use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use data_embedding::Embedder;
use data_index::BuildOptions;
use data_lake::{Lake, LakeConfig};
use data_model::Clock;
use data_release::{CheckOptions, GcOptions, PlanOptions, ReleaseStore};
use data_storage::Storage;
use pipeline_probe::ProbeConfig;
use pipeline_quality::{AcceptedBrands, Gate, QualityConfig, QualityError, QualityReport};
use pipeline_refresh::RefreshConfig;
use pipeline_release::{ReleaseOptions, TidyOptions};
use pipeline_reviews::Widgets;
use pipeline_shipping::TermsModel;
use pipeline_task::StoreDeps;
use state::State;
use storefront::{StoreRights, Storefront};
use tokio_util::sync::CancellationToken;

use crate::cadence::CadenceConfig;
use crate::end::JobFailure;

/// The parts of the market that jobs work on.
#[derive(Debug)]
pub struct Market {
    /// The storage of the market.
    pub storage: Storage,
    /// The lake's configuration; it is opened for each run, since others write to it too.
    pub lake: LakeConfig,
    /// The client of every store.
    pub storefront: Storefront,
    /// The client of review apps.
    pub widgets: Widgets,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Settings of questions about delivery.
    pub delivery: ProbeConfig,
    /// Settings of a crawl.
    pub refresh: RefreshConfig,
    /// The queue for brands that are due; `None`: refresh-catalogue crawls them itself.
    pub queue: Option<State>,
    /// The rights to ask stores, where workers of the queue ask stores too.
    pub rights: Option<Arc<dyn StoreRights>>,
    /// The intervals at which brands are asked.
    pub cadence: CadenceConfig,
    /// The language model that reads what rules leave open of shipping terms.
    pub terms_model: Option<Arc<TermsModel>>,
    /// The embedder of products.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// A release with less than this share of the products of the one before is not published.
    pub collapse_share: f64,
    /// When data holds a release back.
    pub quality: QualityConfig,
    /// The folder that releases are fetched to.
    pub cache_dir: PathBuf,
    /// The folder that releases are built in.
    pub build_dir: PathBuf,
    /// Releases kept.
    pub releases_kept: usize,
    /// The age before which files that no kept release needs are left alone.
    pub gc_min_age: Duration,
    /// The time travel that the lake keeps.
    pub lake_retention: Duration,
    /// The greatest age of a brand's last check.
    pub check_age_max: Duration,
}

impl Market {
    pub(crate) async fn lake(&self) -> Result<Lake, JobFailure> {
        let at = self.storage.child("lake");
        let opened = Lake::open(at, self.lake.clone(), Arc::clone(&self.clock)).await;
        opened.map_err(|error| JobFailure::of(&error))
    }

    /// The things that a task over stores works with, until `cancel` ends it.
    pub(crate) async fn store_deps(&self, cancel: CancellationToken) -> Result<StoreDeps, JobFailure> {
        let (lake, clock) = (self.lake().await?, Arc::clone(&self.clock));
        Ok(StoreDeps {
            rights: self.rights.clone(),
            cancel,
            ..StoreDeps::new(self.storage.clone(), lake, self.storefront.clone(), clock)
        })
    }

    /// [`Market::check_age_max`] in milliseconds.
    pub(crate) fn check_age_ms_max(&self) -> i64 {
        i64::try_from(self.check_age_max.as_millis()).unwrap_or(i64::MAX)
    }

    /// Looks at the data that the lake holds now, and keeps the report.
    pub(crate) async fn look_at_quality(&self, lake: &Lake) -> Result<QualityReport, QualityError> {
        let (age_ms_max, at) = (self.check_age_ms_max(), self.clock.now());
        Box::pin(pipeline_quality::after_run(
            &self.storage,
            lake,
            &self.quality,
            age_ms_max,
            at,
        ))
        .await
    }

    pub(crate) fn releases(&self) -> ReleaseStore {
        ReleaseStore::new(self.storage.child("releases"), Arc::clone(&self.clock))
    }

    /// The share of the upkeep that a build does on the side.
    pub(crate) fn tidy_options(&self) -> TidyOptions {
        let gc = GcOptions {
            keep_last: self.releases_kept,
            min_age: self.gc_min_age,
            ..GcOptions::default()
        };
        TidyOptions::new(self.lake_retention, gc)
    }

    pub(crate) fn release_options(&self) -> ReleaseOptions {
        ReleaseOptions {
            full: false,
            dry_run: false,
            checks: CheckOptions {
                share_kept_min: self.collapse_share,
                ..CheckOptions::default()
            },
            quality: Some(Gate {
                storage: self.storage.clone(),
                config: self.quality.clone(),
                check_age_ms_max: self.check_age_ms_max(),
                accepted: AcceptedBrands::Nobody,
            }),
            plan: PlanOptions::default(),
            build: BuildOptions {
                embedder: self.embedder.clone(),
                ..BuildOptions::default()
            },
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            work_dir: self.build_dir.clone(),
            cache_dir: self.cache_dir.clone(),
        }
    }
}
