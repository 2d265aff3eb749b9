use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use super::{CartLock, CartRow, Row, read};
use crate::database::{State, Value, values};
use crate::error::StateError;
use crate::lease::Lease;

impl State {
    /// Locks a cart for changes. Only one of several servers gets the lock. [`State::save_cart`] or the end of the
    /// lease releases the lock.
    #[boxed]
    pub async fn lock_cart(
        &self,
        id: &str,
        caller: &str,
        lease: &Lease,
        now: Timestamp,
    ) -> Result<CartLock, StateError> {
        let sql = "UPDATE carts SET lease = $3, lease_until = $4 \
                   WHERE id = $1 AND caller = $2 AND expires_at > $5 \
                   AND (lease_until <= $5 OR lease_until > $6) \
                   RETURNING sealed, created_at, expires_at";
        // A longer lease was given by a server whose clock was ahead, so it is ignored.
        let longest = lease.until().latest_believed(0);
        let values = values![id, caller, lease.token(), lease.until(), now, longest];
        let mut writing = self.begin().await?;
        let row: Option<Row> = writing.row(sql, values).await?;
        writing.commit().await?;
        match row {
            Some(row) => Ok(CartLock::Held(read(row))),
            None => self.busy(id, caller, now).await,
        }
    }

    async fn busy(&self, id: &str, caller: &str, now: Timestamp) -> Result<CartLock, StateError> {
        let sql = "SELECT lease_until FROM carts WHERE id = $1 AND caller = $2 AND expires_at > $3";
        let values = values![id, caller, now];
        let rows: Vec<(i64,)> = self.rows(sql, values).await?;
        Ok(match rows.first() {
            Some((until,)) => CartLock::Busy {
                until: Timestamp::from_micros(*until),
            },
            None => CartLock::Absent,
        })
    }

    /// Extends the lease on a cart to `until`. Returns `false` if the caller no longer has the lock.
    #[boxed]
    pub async fn renew_cart(&self, id: &str, lease: &Lease, until: Timestamp) -> Result<bool, StateError> {
        let sql = "UPDATE carts SET lease_until = $3 WHERE id = $1 AND lease = $2 AND lease_until > 0";
        let values = values![id, lease.token(), until];
        self.changed(sql, values).await
    }

    /// Saves a cart under the lease of its lock. With `release`, the lock ends. Returns `false` and changes nothing if
    /// another server took the cart after the lease ended.
    #[boxed]
    pub async fn save_cart(&self, id: &str, cart: &CartRow, lease: &Lease, release: bool) -> Result<bool, StateError> {
        let sql = if release {
            "UPDATE carts SET sealed = $3, expires_at = $4, lease_until = 0 WHERE id = $1 AND lease = $2"
        } else {
            "UPDATE carts SET sealed = $3, expires_at = $4 WHERE id = $1 AND lease = $2"
        };
        let values = values![id, lease.token(), cart.sealed.clone(), cart.expires_at];
        self.changed(sql, values).await
    }

    /// Unlocks a cart without changing it.
    #[boxed]
    pub async fn unlock_cart(&self, id: &str, lease: &Lease) -> Result<(), StateError> {
        let sql = "UPDATE carts SET lease_until = 0 WHERE id = $1 AND lease = $2";
        let values = values![id, lease.token()];
        self.changed(sql, values).await.map(|_| ())
    }

    pub(crate) async fn changed(&self, sql: &'static str, values: Vec<Value>) -> Result<bool, StateError> {
        let mut writing = self.begin().await?;
        let rows = writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(rows == 1)
    }
}
