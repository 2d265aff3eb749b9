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
    /// Address of the listener for probes and metrics of `haat jobs run`; empty for none.
    pub ops_listen: String,
    /// Maximum number of jobs that one process runs concurrently.
    pub at_once_max: usize,
    /// Time in seconds for jobs to stop when the process is stopped.
    pub stop_s: u64,
    /// Limits of the interval between crawls of a brand.
    pub cadence: CadenceConfig,
    /// Settings of the job that crawls the stores of brands that are due.
    pub refresh_catalogue: JobConfig,
    /// Settings of the job that queries stores for their shipping terms, once a week each.
    pub refresh_shipping: JobConfig,
    /// Settings of the job that reads stores' review apps, once per `reviews.after_s` each.
    pub refresh_reviews: JobConfig,
    /// Settings of the job that builds a release from the lake.
    pub build_release: JobConfig,
    /// Settings of the job that merges small files of the lake.
    pub compact: JobConfig,
    /// Settings of the job that removes unneeded files of the lake.
    pub vacuum: JobConfig,
    /// Settings of the job that removes old releases and remains of builds.
    pub collect_garbage: JobConfig,
    /// Settings of the job that checks if the catalogue is fresh and complete.
    pub check_quality: JobConfig,
    /// Settings of the job that queries stores for delivery costs.
    pub probe_delivery: JobConfig,
}

/// Settings of one job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobConfig {
    /// Enables the schedule of the job.
    pub enabled: bool,
    /// Cron expression in the market's time zone.
    pub cron: String,
    /// Maximum duration of a run in seconds.
    pub time_limit_s: u64,
    /// Maximum number of retries of a failed run.
    pub retries: u32,
    /// Pause in seconds before the first retry. The pause doubles with each retry, up to an hour.
    pub retry_pause_s: u64,
}

/// Error in the configuration of jobs.
#[derive(Debug, thiserror::Error)]
pub enum JobsConfigError {
    /// A schedule is not a valid cron expression.
    #[error("jobs.{key}.cron: {source}")]
    Cron {
        /// Configuration key of the job.
        key: String,
        /// Error in the schedule.
        #[source]
        source: ScheduleError,
    },
    /// A number that must be greater than 0 is 0.
    #[error("{key} must be above 0")]
    Zero {
        /// Configuration key of the number.
        key: String,
    },
    /// The limits of the interval between crawls are not in ascending order.
    #[error(
        "jobs.cadence: interval_min_s must be above 0, and interval_min_s ≤ interval_start_s ≤ interval_max_s must hold"
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
    /// Returns the settings of a job.
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

    /// Returns the job's schedule in the time zone `zone`, and its retry rules.
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

    /// Checks the configuration.
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

fn key(name: JobName) -> String {
    name.as_str().replace('-', "_")
}
