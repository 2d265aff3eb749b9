//! Requests that are made once, whatever comes between: by caller, route and the key that the caller gave.

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use sha2::{Digest, Sha256};

use crate::database::{State, Value};
use crate::error::StateError;
use crate::lease::Lease;

/// The identity of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentSlot {
    caller: String,
    route: String,
    key_hash: [u8; 32],
}

/// The row of a request that was made before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentRow {
    /// The request, sealed by whoever made it.
    pub request: Vec<u8>,
    /// The answer's status and the answer, sealed; `None` where there is none yet.
    pub answer: Option<(u16, Vec<u8>)>,
    /// The end of the time for which somebody works on it, or worked.
    pub lease_until: Timestamp,
}

/// The answer to the beginning of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestStart {
    /// It is new, and the lease's holder works on it.
    New,
    /// It was begun before.
    Before(IdempotentRow),
}

impl IdempotentSlot {
    /// The slot of the key that `caller` gave with a request to `route`. The key itself is not kept.
    #[must_use]
    pub fn new(caller: &str, route: &str, key: &str) -> Self {
        Self {
            caller: caller.to_owned(),
            route: route.to_owned(),
            key_hash: Sha256::digest(key).into(),
        }
    }

    /// The slot as text: what its envelopes are bound to.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{} {} {}", self.caller, self.route, hex::encode(self.key_hash))
    }

    fn values(&self) -> Vec<Value> {
        vec![
            Value::text(&self.caller),
            Value::text(&self.route),
            Value::Bytes(self.key_hash.to_vec()),
        ]
    }
}

impl State {
    /// Begins a request, or finds that it was begun before. One that is over is forgotten first.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn begin_idempotent(
        &self,
        slot: &IdempotentSlot,
        request: Vec<u8>,
        lease: &Lease,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<RequestStart, StateError> {
        let mut writing = self.begin().await?;
        let with = |more: Vec<Value>| slot.values().into_iter().chain(more).collect();
        let sql = "DELETE FROM idempotent_requests WHERE caller = $1 AND route = $2 AND key_hash = $3 \
                   AND expires_at <= $4 AND lease_until <= $4";
        writing.execute(sql, with(vec![Value::integer(now.micros())])).await?;
        let sql = "INSERT INTO idempotent_requests \
                   (caller, route, key_hash, request, status, answer, lease, lease_until, expires_at) \
                   VALUES ($1, $2, $3, $4, 0, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
        let values = with(vec![
            Value::Bytes(request),
            Value::Bytes(Vec::new()),
            Value::text(lease.token()),
            Value::integer(lease.until().micros()),
            Value::integer(expires_at.micros()),
        ]);
        if writing.execute(sql, values).await? == 1 {
            writing.commit().await?;
            return Ok(RequestStart::New);
        }
        let sql = "SELECT request, status, answer, lease_until FROM idempotent_requests \
                   WHERE caller = $1 AND route = $2 AND key_hash = $3";
        let row: Option<(Vec<u8>, i64, Vec<u8>, i64)> = writing.row(sql, slot.values()).await?;
        writing.commit().await?;
        let what = "idempotent request";
        let (request, status, answer, lease_until) = row.ok_or(StateError::Damaged { what })?;
        let status = u16::try_from(status).map_err(|_| StateError::Damaged { what })?;
        Ok(RequestStart::Before(IdempotentRow {
            request,
            answer: (status != 0).then_some((status, answer)),
            lease_until: Timestamp::from_micros(lease_until),
        }))
    }

    /// Takes over a request that has no answer and on which nobody works any more. Answers whether it could be.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn resume_idempotent(
        &self,
        slot: &IdempotentSlot,
        lease: &Lease,
        now: Timestamp,
    ) -> Result<bool, StateError> {
        let sql = "UPDATE idempotent_requests SET lease = $4, lease_until = $5 \
                   WHERE caller = $1 AND route = $2 AND key_hash = $3 AND status = 0 \
                   AND (lease_until <= $6 OR lease_until > $7)";
        let more = [
            Value::text(lease.token()),
            Value::integer(lease.until().micros()),
            Value::integer(now.micros()),
            // A lease that is longer was given by a clock that was ahead.
            Value::integer(lease.until().latest_believed(0).micros()),
        ];
        self.changed(sql, slot.values().into_iter().chain(more).collect()).await
    }

    /// Makes the right to work on a request last until `until`. Answers `false` where it was given up, or somebody else has
    /// the request.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn renew_idempotent(
        &self,
        slot: &IdempotentSlot,
        lease: &Lease,
        until: Timestamp,
    ) -> Result<bool, StateError> {
        let sql = "UPDATE idempotent_requests SET lease_until = $5 \
                   WHERE caller = $1 AND route = $2 AND key_hash = $3 AND lease = $4 AND lease_until > 0";
        let more = [Value::text(lease.token()), Value::integer(until.micros())];
        self.changed(sql, slot.values().into_iter().chain(more).collect()).await
    }

    /// Keeps the answer. Answers `false` where somebody else took the request over.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn finish_idempotent(
        &self,
        slot: &IdempotentSlot,
        lease: &Lease,
        status: u16,
        answer: Vec<u8>,
    ) -> Result<bool, StateError> {
        let sql = "UPDATE idempotent_requests SET status = $5, answer = $6, lease_until = 0 \
                   WHERE caller = $1 AND route = $2 AND key_hash = $3 AND lease = $4";
        let more = [
            Value::text(lease.token()),
            Value::integer(i64::from(status)),
            Value::Bytes(answer),
        ];
        self.changed(sql, slot.values().into_iter().chain(more).collect()).await
    }

    /// Ends the work on a request that has no answer: what was asked is kept, and whoever asks again goes on with it.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn suspend_idempotent(&self, slot: &IdempotentSlot, lease: &Lease) -> Result<(), StateError> {
        let sql = "UPDATE idempotent_requests SET lease_until = 0 \
                   WHERE caller = $1 AND route = $2 AND key_hash = $3 AND lease = $4 AND status = 0";
        let more = [Value::text(lease.token())];
        self.changed(sql, slot.values().into_iter().chain(more).collect())
            .await
            .map(|_| ())
    }

    /// Forgets a request that did nothing: the key may be used for another one.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn forget_idempotent(&self, slot: &IdempotentSlot, lease: &Lease) -> Result<(), StateError> {
        let sql = "DELETE FROM idempotent_requests \
                   WHERE caller = $1 AND route = $2 AND key_hash = $3 AND lease = $4 AND status = 0";
        let more = [Value::text(lease.token())];
        self.changed(sql, slot.values().into_iter().chain(more).collect())
            .await
            .map(|_| ())
    }
}
