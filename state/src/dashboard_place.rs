//! The address of the dashboard, for links that another process makes.

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use crate::database::{State, Value};
use crate::error::StateError;

impl State {
    /// Notes that a server has the dashboard at `public_url` from `now` on. Of several servers the last one's is kept.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn note_dashboard(&self, public_url: &str, now: Timestamp) -> Result<(), StateError> {
        let sql = "INSERT INTO dashboard_place (only_row, public_url, since) VALUES (1, $1, $2) \
                   ON CONFLICT (only_row) DO UPDATE SET public_url = excluded.public_url, since = excluded.since";
        let mut writing = self.begin().await?;
        let values = vec![Value::text(public_url), Value::integer(now.micros())];
        writing.execute(sql, values).await?;
        writing.commit().await
    }

    /// Notes that no server has the dashboard at `public_url` any more. Where another one was noted since, that holds.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn forget_dashboard(&self, public_url: &str) -> Result<(), StateError> {
        let mut writing = self.begin().await?;
        let sql = "DELETE FROM dashboard_place WHERE public_url = $1";
        writing.execute(sql, vec![Value::text(public_url)]).await?;
        writing.commit().await
    }

    /// The address at which a server has the dashboard; `None` where none is known to serve. After a kill it may be one where a
    /// server had it.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn dashboard_url(&self) -> Result<Option<String>, StateError> {
        let rows: Vec<(String,)> = self.rows("SELECT public_url FROM dashboard_place", vec![]).await?;
        Ok(rows.into_iter().next().map(|(url,)| url))
    }
}
