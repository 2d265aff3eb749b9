use data_model::TimeZone;
use serde::{Deserialize, Serialize};

use crate::cadence::CadenceConfig;
use crate::decide::Policy;
use crate::name::JobName;
use crate::schedule::{Schedule, ScheduleError};

/// Settings of jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobsConfig {
    /// Address of the listener for probes and metrics of `haat jobs run`; empty: none.
    pub ops_listen: String,
    /// Most jobs that one process runs at the same time.
    pub at_once_max: usize,
    /// Time for jobs to stop when the process is told to.
    pub stop_s: u64,
    /// The intervals at which brands are asked.
    pub cadence: CadenceConfig,
    /// Asks the stores of brands that are due.
    pub refresh_catalogue: JobConfig,
    /// When stores are asked for their shipping terms; each is asked once a week.
    pub refresh_shipping: JobConfig,
    /// When what stores' review apps publish is read; each store is asked once in `reviews.after_s`.
    pub refresh_reviews: JobConfig,
    /// Makes a release of what the lake holds now.
    pub build_release: JobConfig,
    /// Merges small files of the lake.
    pub compact: JobConfig,
    /// Removes files of the lake that nothing needs.
    pub vacuum: JobConfig,
    /// Removes old releases, and what builds left.
    pub collect_garbage: JobConfig,
    /// Looks whether the catalogue is fresh and whole.
    pub check_quality: JobConfig,
    /// Asks stores what delivery costs.
    pub probe_delivery: JobConfig,
}

/// Settings of one job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobConfig {
    /// True where its schedule counts.
    pub enabled: bool,
    /// When: a cron expression by the clocks of the market's time zone.
    pub cron: String,
    /// The time limit of a run.
    pub time_limit_s: u64,
    /// The number of times that a failed run is tried again.
    pub retries: u32,
    /// The pause before the first of these; it doubles with each, up to an hour.
    pub retry_pause_s: u64,
}

/// A configuration that cannot hold.
#[derive(Debug, thiserror::Error)]
pub enum JobsConfigError {
    /// A schedule cannot be read.
    #[error("jobs.{key}.cron: {source}")]
    Cron {
        /// The job's key.
        key: String,
        /// The fault of the schedule.
        #[source]
        source: ScheduleError,
    },
    /// A number that must be above 0 is not.
    #[error("{key} must be above 0")]
    Zero {
        /// The key.
        key: String,
    },
    /// The bounds of how often brands are asked are not in order.
    #[error(
        "jobs.cadence: interval_min_s ≤ interval_start_s ≤ interval_max_s must hold, and interval_min_s be above 0"
    )]
    Cadence,
}

impl JobConfig {
    fn new(cron: &str, time_limit_s: u64, retries: u32) -> Self {
        Self {
            enabled: true,
            cron: cron.to_owned(),
            time_limit_s,
            retries,
            retry_pause_s: 60,
        }
    }
}

impl Default for JobsConfig {
    fn default() -> Self {
        Self {
            ops_listen: "127.0.0.1:9091".to_owned(),
            at_once_max: 2,
            stop_s: 60,
            cadence: CadenceConfig::default(),
            refresh_catalogue: JobConfig::new("*/15 * * * *", 6 * 3600, 2),
            refresh_shipping: JobConfig::new("50 2 * * *", 4 * 3600, 2),
            refresh_reviews: JobConfig::new("10 */4 * * *", 3 * 3600, 1),
            build_release: JobConfig::new("7-59/15 * * * *", 2 * 3600, 2),
            compact: JobConfig::new("20 1 * * *", 3600, 2),
            vacuum: JobConfig::new("40 3 * * *", 2 * 3600, 2),
            collect_garbage: JobConfig::new("20 4 * * *", 3600, 2),
            check_quality: JobConfig::new("0 */6 * * *", 1800, 1),
            probe_delivery: JobConfig::new("30 4 * * *", 6 * 3600, 1),
        }
    }
}

impl JobsConfig {
    /// The settings of this job.
    #[must_use]
    pub const fn of(&self, name: JobName) -> &JobConfig {
        match name {
            JobName::RefreshCatalogue => &self.refresh_catalogue,
            JobName::RefreshShipping => &self.refresh_shipping,
            JobName::RefreshReviews => &self.refresh_reviews,
            JobName::BuildRelease => &self.build_release,
            JobName::Compact => &self.compact,
            JobName::Vacuum => &self.vacuum,
            JobName::CollectGarbage => &self.collect_garbage,
            JobName::CheckQuality => &self.check_quality,
            JobName::ProbeDelivery => &self.probe_delivery,
        }
    }

    /// When this job is due by the clocks of `zone`, and what is done when it fails.
    ///
    /// # Errors
    /// [`JobsConfigError::Cron`].
    pub fn policy(&self, name: JobName, zone: TimeZone) -> Result<Policy, JobsConfigError> {
        let given = self.of(name);
        let schedule =
            Schedule::parse(&given.cron, zone).map_err(|source| JobsConfigError::Cron { key: key(name), source })?;
        Ok(Policy {
            schedule,
            enabled: given.enabled,
            retries: given.retries,
            retry_pause_ms: i64::try_from(given.retry_pause_s.saturating_mul(1000)).unwrap_or(i64::MAX),
        })
    }

    /// Refuses what cannot hold.
    ///
    /// # Errors
    /// [`JobsConfigError`], which names the key.
    pub fn check(&self) -> Result<(), JobsConfigError> {
        let above_zero = |key: String, value: u64| {
            if value == 0 {
                Err(JobsConfigError::Zero { key })
            } else {
                Ok(())
            }
        };
        above_zero("jobs.at_once_max".to_owned(), self.at_once_max as u64)?;
        for name in JobName::ALL {
            self.policy(name, TimeZone::UTC)?;
            above_zero(format!("jobs.{}.time_limit_s", key(name)), self.of(name).time_limit_s)?;
        }
        self.cadence.is_in_order().then_some(()).ok_or(JobsConfigError::Cadence)
    }
}

/// A job's name as a key of the configuration.
fn key(name: JobName) -> String {
    name.as_str().replace('-', "_")
}
