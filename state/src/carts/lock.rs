use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use super::{CartLock, CartRow, Row, read};
use crate::database::{State, Value};
use crate::error::StateError;
use crate::lease::Lease;

impl State {
    /// Asks for the right to change a cart. Of several servers that ask, one gets it; it ends with
    /// [`State::save_cart`], or when the lease is over.
    ///
    /// # Errors
    /// [`StateError`].
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
        let values = vec![
            Value::text(id),
            Value::text(caller),
            Value::text(lease.token()),
            Value::integer(lease.until().micros()),
            Value::integer(now.micros()),
            // A lease that is longer was given by a clock that was ahead.
            Value::integer(lease.until().latest_believed(0).micros()),
        ];
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
        let values = vec![Value::text(id), Value::text(caller), Value::integer(now.micros())];
        let rows: Vec<(i64,)> = self.rows(sql, values).await?;
        Ok(match rows.first() {
            Some((until,)) => CartLock::Busy {
                until: Timestamp::from_micros(*until),
            },
            None => CartLock::Absent,
        })
    }

    /// Makes the right to change a cart last until `until`. Answers `false` where it was given up, or somebody else has the
    /// cart: then whoever asks has it no longer.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn renew_cart(&self, id: &str, lease: &Lease, until: Timestamp) -> Result<bool, StateError> {
        let sql = "UPDATE carts SET lease_until = $3 WHERE id = $1 AND lease = $2 AND lease_until > 0";
        let values = vec![
            Value::text(id),
            Value::text(lease.token()),
            Value::integer(until.micros()),
        ];
        self.changed(sql, values).await
    }

    /// Keeps what a cart has become, under the lease that it was locked with; with `release`, the right ends. Answers
    /// `false` where the lease was over and somebody else has the cart: then nothing is changed.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn save_cart(&self, id: &str, cart: &CartRow, lease: &Lease, release: bool) -> Result<bool, StateError> {
        let sql = if release {
            "UPDATE carts SET sealed = $3, expires_at = $4, lease_until = 0 WHERE id = $1 AND lease = $2"
        } else {
            "UPDATE carts SET sealed = $3, expires_at = $4 WHERE id = $1 AND lease = $2"
        };
        let values = vec![
            Value::text(id),
            Value::text(lease.token()),
            Value::Bytes(cart.sealed.clone()),
            Value::integer(cart.expires_at.micros()),
        ];
        self.changed(sql, values).await
    }

    /// Gives up the right to change a cart, which stays as it is.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn unlock_cart(&self, id: &str, lease: &Lease) -> Result<(), StateError> {
        let sql = "UPDATE carts SET lease_until = 0 WHERE id = $1 AND lease = $2";
        let values = vec![Value::text(id), Value::text(lease.token())];
        self.changed(sql, values).await.map(|_| ())
    }

    /// Runs one statement that changes one row, and answers whether there was one.
    pub(crate) async fn changed(&self, sql: &'static str, values: Vec<Value>) -> Result<bool, StateError> {
        let mut writing = self.begin().await?;
        let rows = writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(rows == 1)
    }
}
