use std::sync::Arc;
use std::time::Duration;

use state::{CartLock, CartRow, Lease, Purpose};
use tokio::time::Instant;

use super::Carts;
use crate::cart_failure::CartFailure;
use crate::leases::{self, HeldLease, Leased};
use crate::rules::carts::ids::CartId;
use crate::rules::carts::record::CartRecord;

const CART: Purpose = Purpose::new("cart");
/// Shortest and longest wait between two attempts to lock a cart. The wait grows with each attempt.
const TRY_AGAIN: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(160));

/// Locked cart, with the lease to change it.
#[derive(Debug)]
pub(super) struct LockedCart {
    pub(super) id: CartId,
    pub(super) row: CartRow,
    pub(super) record: CartRecord,
    pub(super) lease: HeldLease,
}

pub(super) enum LockAttempt {
    Locked(Box<LockedCart>),
    /// Another request is changing the cart. The duration is the rest of that request's lease, which may be renewed.
    Busy(Duration),
}

impl Carts {
    fn held_lease(&self, id: &CartId, lease: Lease, since: Instant) -> HeldLease {
        let clock = Arc::clone(&self.context.clock);
        HeldLease::new(
            Leased::Cart(id.clone()),
            lease,
            self.context.state.clone(),
            clock,
            since,
        )
    }

    fn seal(&self, id: &CartId, record: &CartRecord) -> Result<Vec<u8>, CartFailure> {
        Ok(self
            .context
            .keys
            .seal(CART, id.as_str(), &serde_json::to_vec(record)?)?)
    }

    fn open(&self, id: &CartId, row: &CartRow) -> Result<CartRecord, CartFailure> {
        let plain = self.context.keys.open(CART, id.as_str(), &row.sealed)?;
        Ok(serde_json::from_slice(&plain)?)
    }

    /// Stores a new cart and locks it.
    pub(super) async fn put(&self, id: CartId, caller: &str, record: CartRecord) -> Result<LockedCart, CartFailure> {
        let now = self.context.clock.now();
        let row = CartRow {
            sealed: self.seal(&id, &record)?,
            created_at: now,
            expires_at: now.plus_millis(self.context.config.keep_ms()),
        };
        let (lease, since) = (leases::lease(now)?, Instant::now());
        if !self
            .context
            .state
            .create_cart(id.as_str(), caller, &row, &lease)
            .await?
        {
            return Err(CartFailure::TakenOver);
        }
        let lease = self.held_lease(&id, lease, since);
        Ok(LockedCart { id, row, record, lease })
    }

    /// Reads a cart without locking it.
    pub(crate) async fn look(&self, id: &CartId, caller: &str) -> Result<(CartRow, CartRecord), CartFailure> {
        let row = self
            .context
            .state
            .cart(id.as_str(), caller, self.context.clock.now())
            .await?;
        let row = row.ok_or(CartFailure::NoCart)?;
        let record = self.open(id, &row)?;
        if record.ended.is_some() {
            return Err(CartFailure::NoCart);
        }
        Ok((row, record))
    }

    /// Locks a cart. If another request is changing it, this waits until `deadline` for that request.
    pub(super) async fn hold(&self, id: &CartId, caller: &str, deadline: Instant) -> Result<LockedCart, CartFailure> {
        let mut wait = TRY_AGAIN.0;
        loop {
            match self.try_hold(id, caller).await? {
                LockAttempt::Locked(held) => return Ok(*held),
                LockAttempt::Busy(left) if Instant::now() + wait >= deadline => return Err(CartFailure::Busy(left)),
                LockAttempt::Busy(_) => tokio::time::sleep(wait).await,
            }
            wait = (wait * 2).min(TRY_AGAIN.1);
        }
    }

    /// Locks a cart unless another request is changing it.
    pub(super) async fn try_hold(&self, id: &CartId, caller: &str) -> Result<LockAttempt, CartFailure> {
        let (now, since) = (self.context.clock.now(), Instant::now());
        let lease = leases::lease(now)?;
        match self.context.state.lock_cart(id.as_str(), caller, &lease, now).await? {
            CartLock::Absent => Err(CartFailure::NoCart),
            CartLock::Busy { until } => Ok(LockAttempt::Busy(leases::wait(until, now))),
            CartLock::Held(row) => match self.open(id, &row) {
                Ok(record) => Ok(LockAttempt::Locked(Box::new(LockedCart {
                    lease: self.held_lease(id, lease, since),
                    id: id.clone(),
                    row,
                    record,
                }))),
                Err(failure) => {
                    self.context.state.unlock_cart(id.as_str(), &lease).await?;
                    Err(failure)
                }
            },
        }
    }

    /// Saves a changed cart, and unlocks it if `release` is true.
    pub(super) async fn keep(&self, held: &mut LockedCart, release: bool) -> Result<(), CartFailure> {
        held.row.sealed = self.seal(&held.id, &held.record)?;
        held.row.expires_at = self.context.clock.now().plus_millis(self.context.config.keep_ms());
        let saved = self
            .context
            .state
            .save_cart(held.id.as_str(), &held.row, held.lease.lease(), release);
        if saved.await? {
            Ok(())
        } else {
            Err(CartFailure::TakenOver)
        }
    }

    /// Unlocks a cart that was not changed.
    pub(super) async fn let_go(&self, held: &LockedCart) -> Result<(), CartFailure> {
        Ok(self
            .context
            .state
            .unlock_cart(held.id.as_str(), held.lease.lease())
            .await?)
    }
}
