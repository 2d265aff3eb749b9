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

/// Parts of the market that jobs work on.
#[derive(Debug)]
pub struct Market {
    /// Object storage of the market.
    pub storage: Storage,
    /// Configuration of the lake. Each run opens the lake, because other processes write to it too.
    pub lake: LakeConfig,
    /// HTTP client for all stores.
    pub storefront: Storefront,
    /// Client for review apps.
    pub widgets: Widgets,
    /// Source of the current time.
    pub clock: Arc<dyn Clock>,
    /// Settings of delivery probes.
    pub delivery: ProbeConfig,
    /// Settings of a crawl.
    pub refresh: RefreshConfig,
    /// State with the queue for due brands. Without it, the job `refresh-catalogue` crawls them itself.
    pub queue: Option<State>,
    /// Rights to query stores, for when workers of the queue query stores too.
    pub rights: Option<Arc<dyn StoreRights>>,
    /// Limits of the interval between crawls of a brand.
    pub cadence: CadenceConfig,
    /// Language model for shipping terms that the rules do not find.
    pub terms_model: Option<Arc<TermsModel>>,
    /// Embedder of products.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Minimum share of the previous release's products. A release with fewer products is not published.
    pub collapse_share: f64,
    /// Data quality rules that hold a release back.
    pub quality: QualityConfig,
    /// Folder to which releases are fetched.
    pub cache_dir: PathBuf,
    /// Folder in which releases are built.
    pub build_dir: PathBuf,
    /// Number of releases that are kept.
    pub releases_kept: usize,
    /// Minimum age of files without a kept release before they are deleted.
    pub gc_min_age: Duration,
    /// Period of time travel that the lake keeps.
    pub lake_retention: Duration,
    /// Maximum age of a brand's last check.
    pub check_age_max: Duration,
}

impl Market {
    pub(crate) async fn lake(&self) -> Result<Lake, JobFailure> {
        let at = self.storage.child("lake");
        let opened = Lake::open(at, self.lake, Arc::clone(&self.clock)).await;
        opened.map_err(|error| JobFailure::of(&error))
    }

    /// Creates the dependencies of a task over stores, which runs until `cancel` is cancelled.
    pub(crate) async fn store_deps(&self, cancel: CancellationToken) -> Result<StoreDeps, JobFailure> {
        let (lake, clock) = (self.lake().await?, Arc::clone(&self.clock));
        Ok(StoreDeps {
            rights: self.rights.clone(),
            cancel,
            ..StoreDeps::new(self.storage.clone(), lake, self.storefront.clone(), clock)
        })
    }

    /// Returns [`Market::check_age_max`] in milliseconds.
    pub(crate) fn check_age_ms_max(&self) -> i64 {
        i64::try_from(self.check_age_max.as_millis()).unwrap_or(i64::MAX)
    }

    /// Checks the quality of the lake's current data and saves the report.
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

    /// Returns the limits of the upkeep that a build does in addition.
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
