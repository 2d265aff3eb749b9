//! Tables of the lake for SQL statements, as a worker reads them.

use std::collections::VecDeque;
use std::sync::Arc;

use data_lake::{AsOf, Lake, LakeError};
use sql::{Bounds, Source, SqlError, Tables};
use tokio::sync::Mutex;

/// Maximum number of lake states to keep open.
const STATES_MAX: usize = 4;

/// Tables of the lake in the current or an earlier state.
#[derive(Debug)]
pub(super) struct LakeTables {
    lake: Lake,
    bounds: Bounds,
    /// Open states by tick, the most recently used one last.
    held: Mutex<VecDeque<(u64, Arc<Tables>)>>,
}

impl LakeTables {
    pub(super) fn of(lake: Lake, bounds: Bounds) -> Self {
        Self {
            lake,
            bounds,
            held: Mutex::default(),
        }
    }
}

#[async_trait::async_trait]
impl Source for LakeTables {
    async fn tables(&self, as_of: Option<&str>) -> Result<Arc<Tables>, SqlError> {
        let snapshot = match as_of {
            None => Box::pin(self.lake.snapshot()).await,
            Some(text) => Box::pin(self.lake.snapshot_at(&moment(text)?)).await,
        };
        let snapshot = snapshot.map_err(|error| unread(&error))?;
        let tick = snapshot.tick().unwrap_or_default();
        let mut held = self.held.lock().await;
        if let Some(at) = held.iter().position(|(of, _)| *of == tick)
            && let Some(known) = held.remove(at)
        {
            let tables = Arc::clone(&known.1);
            held.push_back(known);
            return Ok(tables);
        }
        let session = Box::pin(self.lake.session(&snapshot)).await;
        let session = session.map_err(|error| unread(&error))?;
        let made = Tables::of(&self.bounds, format!("tick {tick}"), &session, None).await;
        let tables = made.map_err(|error| {
            tracing::error!(error = &error as &dyn std::error::Error, "the lake cannot be read");
            SqlError::Internal
        })?;
        held.push_back((tick, Arc::clone(&tables)));
        if held.len() > STATES_MAX {
            held.pop_front();
        }
        Ok(tables)
    }
}

fn moment(text: &str) -> Result<AsOf, SqlError> {
    if let Ok(tick) = text.parse() {
        return Ok(AsOf::Tick(tick));
    }
    let words = || SqlError::Moment(format!("as_of {text:?} is neither a time (RFC 3339) nor a tick number"));
    text.parse().map(AsOf::Timestamp).map_err(|_| words())
}

fn unread(error: &LakeError) -> SqlError {
    match error {
        LakeError::NoTickThen { .. } | LakeError::NoSuchTick { .. } | LakeError::EndMissing { .. } => {
            SqlError::Moment(error.to_string())
        }
        _ => {
            tracing::error!(error = error as &dyn std::error::Error, "the lake cannot be read");
            SqlError::Internal
        }
    }
}
