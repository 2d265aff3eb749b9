//! The URL of the dashboard, so that other processes can create links to it.

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use crate::database::{State, values};
use crate::error::StateError;

impl State {
    /// Records that a server has the dashboard at `public_url` from `now` on. The latest record of several servers is
    /// kept.
    #[boxed]
    pub async fn note_dashboard(&self, public_url: &str, now: Timestamp) -> Result<(), StateError> {
        let sql = "INSERT INTO dashboard_place (only_row, public_url, since) VALUES (1, $1, $2) \
                   ON CONFLICT (only_row) DO UPDATE SET public_url = excluded.public_url, since = excluded.since";
        let mut writing = self.begin().await?;
        let values = values![public_url, now];
        writing.execute(sql, values).await?;
        writing.commit().await
    }

    /// Removes the record of the dashboard at `public_url`. A later record of another URL stays.
    #[boxed]
    pub async fn forget_dashboard(&self, public_url: &str) -> Result<(), StateError> {
        let mut writing = self.begin().await?;
        let sql = "DELETE FROM dashboard_place WHERE public_url = $1";
        writing.execute(sql, values![public_url]).await?;
        writing.commit().await
    }

    /// Returns the URL of the dashboard, or `None` without a record. The URL of a killed server may be outdated.
    #[boxed]
    pub async fn dashboard_url(&self) -> Result<Option<String>, StateError> {
        let rows: Vec<(String,)> = self.rows("SELECT public_url FROM dashboard_place", vec![]).await?;
        Ok(rows.into_iter().next().map(|(url,)| url))
    }
}
