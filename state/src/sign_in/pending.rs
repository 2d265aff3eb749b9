use std::time::Duration;

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use crate::database::{State, Value};
use crate::error::StateError;
use crate::sessions::{PendingHash, PendingToken};

/// Sign-ins under way that are kept at most: whoever begins sign-ins without end fills no disk.
const PENDING_MAX: i64 = 20_000;

/// A sign-in that was sent to the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingSignIn {
    /// The page of this site that its owner wanted to see.
    pub return_to: String,
}

impl State {
    /// Notes that a sign-in is under way, for `lifetime`. The token is for the browser's cookie: all that the provider must
    /// give back is derived from it, so the database holds nothing that could be used in its place.
    ///
    /// `None` where too many are under way.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn begin_sign_in(
        &self,
        pending: &PendingSignIn,
        lifetime: Duration,
        now: Timestamp,
    ) -> Result<Option<PendingToken>, StateError> {
        let token = PendingToken::generate()?;
        let mut writing = self.begin().await?;
        let over = vec![Value::integer(now.micros())];
        writing
            .execute("DELETE FROM pending_sign_ins WHERE ends_at <= $1", over)
            .await?;
        let lifetime_ms = i64::try_from(lifetime.as_millis()).unwrap_or(i64::from(u32::MAX));
        let sql = "INSERT INTO pending_sign_ins (hash, return_to, ends_at) \
                   SELECT $1, $2, $3 WHERE (SELECT COUNT(*) FROM pending_sign_ins) < $4";
        let values = vec![
            Value::Bytes(token.hash().as_bytes().to_vec()),
            Value::text(&pending.return_to),
            Value::integer(now.plus_millis(lifetime_ms).micros()),
            Value::integer(PENDING_MAX),
        ];
        let noted = writing.execute(sql, values).await? > 0;
        writing.commit().await?;
        Ok(noted.then_some(token))
    }

    /// Takes a sign-in that came back: `None` where it is unknown, came back before, or comes too late.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn take_sign_in(&self, hash: &PendingHash, now: Timestamp) -> Result<Option<PendingSignIn>, StateError> {
        let mut writing = self.begin().await?;
        let sql = "DELETE FROM pending_sign_ins WHERE hash = $1 RETURNING return_to, ends_at";
        let values = vec![Value::Bytes(hash.as_bytes().to_vec())];
        let taken: Option<(String, i64)> = writing.row(sql, values).await?;
        writing.commit().await?;
        let in_time = taken.filter(|(_, ends_at)| *ends_at > now.micros());
        Ok(in_time.map(|(return_to, _)| PendingSignIn { return_to }))
    }
}
