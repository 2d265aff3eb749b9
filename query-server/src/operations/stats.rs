use std::sync::Arc;

use api::{Asset, EntityTag};

use super::{Answer, OperationError};
use crate::reads::GroupBy;
use crate::render::{TIER, json, stats};
use crate::schema::{StatsByAnswer, StatsByProvenance};
use crate::served::ReleaseView;
use crate::server::QueryServer;

const GROUPS_MAX: usize = 1_000;

impl QueryServer {
    /// Returns totals of the catalogue, computed once per release and record of checks.
    ///
    /// # Errors
    /// `NotReady`.
    pub fn stats(&self) -> Result<Answer, OperationError> {
        self.at_once(|served| {
            let checked = served.checked.load();
            Ok(Answer::constant(checked.stats.get_or_init(|| {
                let totals = stats::stats(&served.release, &served.current, served.id_text(), &checked.checks);
                let tag = EntityTag::of(&[served.stamp(), checked.stamp(), b"stats"]);
                Arc::new(Asset::graph(tag, json(1024, &totals)))
            })))
        })
    }

    /// Returns statistics of the catalogue by group. The SQL engine computes them once per release.
    ///
    /// # Errors
    /// `NotReady`, `Internal`.
    pub async fn stats_by(&self, by: GroupBy) -> Result<Answer, OperationError> {
        let served = self.served()?;
        let made = served.groups(by).get_or_try_init(|| self.grouped(&served, by)).await?;
        Ok(Answer::constant(made))
    }

    async fn grouped(&self, served: &ReleaseView, by: GroupBy) -> Result<Arc<Asset>, OperationError> {
        let Some(reads) = &self.0.config.reads else {
            tracing::error!("this program has no engine for grouped statistics");
            return Err(OperationError::Internal);
        };
        let read = reads.stats_by(Arc::clone(&served.release), by).await;
        let mut data = read.map_err(|error| {
            tracing::error!(
                error = error.as_ref() as &dyn std::error::Error,
                "grouped statistics cannot be computed"
            );
            OperationError::Internal
        })?;
        data.retain(|group| by != GroupBy::Category || served.shows(group.value.as_deref()));
        let more = data.len() > GROUPS_MAX;
        data.truncate(GROUPS_MAX);
        let answer = StatsByAnswer {
            data,
            provenance: StatsByProvenance {
                release: served.id_text().into(),
                by: by.as_str().into(),
                more,
                ignored: None,
            },
            tier: TIER,
        };
        let tag = EntityTag::of(&[served.stamp(), b"stats", by.as_str().as_bytes()]);
        Ok(Arc::new(Asset::graph(tag, json(1 << 16, &answer))))
    }
}
