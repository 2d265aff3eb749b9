use std::time::Duration;

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use crate::database::{State, values};
use crate::error::StateError;
use crate::sessions::{PendingHash, PendingToken};

/// Pending sign-ins are limited so that they cannot fill the disk.
const PENDING_MAX: i64 = 20_000;

/// A sign-in that was sent to the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingSignIn {
    /// The page of this site to show after the sign-in.
    pub return_to: String,
}

impl State {
    /// Stores a pending sign-in for `lifetime`. The token is for the browser's cookie. All values that the provider
    /// must return are derived from the token, so that the database contains no replacement for it.
    ///
    /// Returns `None` if too many sign-ins are pending.
    #[boxed]
    pub async fn begin_sign_in(
        &self,
        pending: &PendingSignIn,
        lifetime: Duration,
        now: Timestamp,
    ) -> Result<Option<PendingToken>, StateError> {
        let token = PendingToken::generate()?;
        let mut writing = self.begin().await?;
        let over = values![now];
        writing
            .execute("DELETE FROM pending_sign_ins WHERE ends_at <= $1", over)
            .await?;
        let lifetime_ms = i64::try_from(lifetime.as_millis()).unwrap_or(i64::from(u32::MAX));
        let sql = "INSERT INTO pending_sign_ins (hash, return_to, ends_at) \
                   SELECT $1, $2, $3 WHERE (SELECT COUNT(*) FROM pending_sign_ins) < $4";
        let values = values![
            token.hash().as_bytes(),
            &pending.return_to,
            now.plus_millis(lifetime_ms),
            PENDING_MAX
        ];
        let noted = writing.execute(sql, values).await? > 0;
        writing.commit().await?;
        Ok(noted.then_some(token))
    }

    /// Removes and returns a pending sign-in. Returns `None` if the sign-in is unknown, completed or expired.
    #[boxed]
    pub async fn take_sign_in(&self, hash: &PendingHash, now: Timestamp) -> Result<Option<PendingSignIn>, StateError> {
        let mut writing = self.begin().await?;
        let sql = "DELETE FROM pending_sign_ins WHERE hash = $1 RETURNING return_to, ends_at";
        let values = values![hash.as_bytes()];
        let taken: Option<(String, i64)> = writing.row(sql, values).await?;
        writing.commit().await?;
        let in_time = taken.filter(|(_, ends_at)| *ends_at > now.micros());
        Ok(in_time.map(|(return_to, _)| PendingSignIn { return_to }))
    }
}
