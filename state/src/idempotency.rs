//! Idempotent requests: a repeated request is executed once. A request is identified by caller, route and the caller's
//! idempotency key.

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use sha2::{Digest, Sha256};

use crate::database::{State, Value, values};
use crate::error::StateError;
use crate::lease::Lease;

/// The identity of an idempotent request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentSlot {
    caller: String,
    route: String,
    key_hash: [u8; 32],
}

/// The row of an earlier request with the same identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentRow {
    /// The request, sealed by the calling code.
    pub request: Vec<u8>,
    /// Status and sealed body of the response. `None` if there is no response yet.
    pub answer: Option<(u16, Vec<u8>)>,
    /// End of the lease of the server that works or worked on the request.
    pub lease_until: Timestamp,
}

/// The result of starting a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestStart {
    /// The request is new, and the caller works on it under the lease.
    New,
    /// The request was started before.
    Before(IdempotentRow),
}

impl IdempotentSlot {
    /// Creates the identity of a request of `caller` to `route` with the idempotency key `key`. Only a hash of the key
    /// is stored.
    #[must_use]
    pub fn new(caller: &str, route: &str, key: &str) -> Self {
        Self {
            caller: caller.to_owned(),
            route: route.to_owned(),
            key_hash: Sha256::digest(key).into(),
        }
    }

    /// Returns the identity as text, to which its sealed data is bound.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{} {} {}", self.caller, self.route, hex::encode(self.key_hash))
    }

    /// Returns the parameters of the identity, followed by others.
    fn values(&self, more: Vec<Value>) -> Vec<Value> {
        let slot = values![&self.caller, &self.route, &self.key_hash];
        slot.into_iter().chain(more).collect()
    }
}

impl State {
    /// Starts a request, or returns the earlier start of the same one. An expired request is deleted first.
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
        let sql = "DELETE FROM idempotent_requests WHERE caller = $1 AND route = $2 AND key_hash = $3 \
                   AND expires_at <= $4 AND lease_until <= $4";
        writing.execute(sql, slot.values(values![now])).await?;
        let sql = "INSERT INTO idempotent_requests \
                   (caller, route, key_hash, request, status, answer, lease, lease_until, expires_at) \
                   VALUES ($1, $2, $3, $4, 0, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
        let values = slot.values(values![request, Vec::new(), lease.token(), lease.until(), expires_at]);
        if writing.execute(sql, values).await? == 1 {
            writing.commit().await?;
            return Ok(RequestStart::New);
        }
        let sql = "SELECT request, status, answer, lease_until FROM idempotent_requests \
                   WHERE caller = $1 AND route = $2 AND key_hash = $3";
        let row: Option<(Vec<u8>, i64, Vec<u8>, i64)> = writing.row(sql, slot.values(vec![])).await?;
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

    /// Takes over a request without a response whose lease has ended. Returns false if that is not possible.
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
        // A longer lease was given by a server whose clock was ahead, so it is ignored.
        let longest = lease.until().latest_believed(0);
        let more = values![lease.token(), lease.until(), now, longest];
        self.changed(sql, slot.values(more)).await
    }

    /// Extends the lease on a request to `until`. Returns `false` if the lease was given up, or another server took the
    /// request.
    #[boxed]
    pub async fn renew_idempotent(
        &self,
        slot: &IdempotentSlot,
        lease: &Lease,
        until: Timestamp,
    ) -> Result<bool, StateError> {
        let sql = "UPDATE idempotent_requests SET lease_until = $5 \
                   WHERE caller = $1 AND route = $2 AND key_hash = $3 AND lease = $4 AND lease_until > 0";
        self.changed(sql, slot.values(values![lease.token(), until])).await
    }

    /// Stores the response. Returns `false` if another server took the request over.
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
        let more = values![lease.token(), u32::from(status), answer];
        self.changed(sql, slot.values(more)).await
    }

    /// Releases the lease of a request without a response. The request stays stored, so that a repetition continues its
    /// work.
    #[boxed]
    pub async fn suspend_idempotent(&self, slot: &IdempotentSlot, lease: &Lease) -> Result<(), StateError> {
        let sql = "UPDATE idempotent_requests SET lease_until = 0 \
                   WHERE caller = $1 AND route = $2 AND key_hash = $3 AND lease = $4 AND status = 0";
        let values = slot.values(values![lease.token()]);
        self.changed(sql, values).await.map(|_| ())
    }

    /// Deletes a request that had no effect. The idempotency key may then be used again.
    #[boxed]
    pub async fn forget_idempotent(&self, slot: &IdempotentSlot, lease: &Lease) -> Result<(), StateError> {
        let sql = "DELETE FROM idempotent_requests \
                   WHERE caller = $1 AND route = $2 AND key_hash = $3 AND lease = $4 AND status = 0";
        let values = slot.values(values![lease.token()]);
        self.changed(sql, values).await.map(|_| ())
    }
}
