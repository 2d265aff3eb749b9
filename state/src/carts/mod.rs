//! Carts: each a sealed document under its id, which belongs to one caller and is changed by one server at a time.

mod lock;

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde::Serialize;

use crate::database::{State, Value};
use crate::error::StateError;
use crate::lease::Lease;

/// The row of a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CartRow {
    /// The cart, sealed by whoever keeps it here.
    pub sealed: Vec<u8>,
    /// The moment at which it was made.
    pub created_at: Timestamp,
    /// The moment at which it is over.
    pub expires_at: Timestamp,
}

/// A cart that its caller may go on with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenCart {
    /// Names it.
    #[serde(rename = "cart_id")]
    pub id: String,
    /// The moment at which it was made.
    pub created_at: Timestamp,
    /// The moment at which it is over.
    pub expires_at: Timestamp,
}

/// The answer to a request for the right to change a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CartLock {
    /// The right, and the cart as it is.
    Held(CartRow),
    /// Somebody else has it; it may be asked for again.
    Busy {
        /// The end of the lease, unless its holder renews it.
        until: Timestamp,
    },
    /// The caller has no such cart.
    Absent,
}

type Row = (Vec<u8>, i64, i64);

fn read((sealed, created_at, expires_at): Row) -> CartRow {
    CartRow {
        sealed,
        created_at: Timestamp::from_micros(created_at),
        expires_at: Timestamp::from_micros(expires_at),
    }
}

impl State {
    /// Keeps a new cart, which `lease` may change. Answers whether it is new: `false` where there is one of this id.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn create_cart(&self, id: &str, caller: &str, cart: &CartRow, lease: &Lease) -> Result<bool, StateError> {
        let sql = "INSERT INTO carts (id, caller, created_at, expires_at, lease, lease_until, sealed) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
        let values = vec![
            Value::text(id),
            Value::text(caller),
            Value::integer(cart.created_at.micros()),
            Value::integer(cart.expires_at.micros()),
            Value::text(lease.token()),
            Value::integer(lease.until().micros()),
            Value::Bytes(cart.sealed.clone()),
        ];
        let mut writing = self.begin().await?;
        let inserted = writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(inserted == 1)
    }

    /// The caller's cart of this id; `None` where there is none, it is another caller's, or it is over.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn cart(&self, id: &str, caller: &str, now: Timestamp) -> Result<Option<CartRow>, StateError> {
        let sql = "SELECT sealed, created_at, expires_at FROM carts WHERE id = $1 AND caller = $2 AND expires_at > $3";
        let values = vec![Value::text(id), Value::text(caller), Value::integer(now.micros())];
        let rows: Vec<Row> = self.rows(sql, values).await?;
        Ok(rows.into_iter().next().map(read))
    }

    /// The caller's carts that are not over, those that were begun last first, at most so many.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn carts_of(&self, caller: &str, limit: u32, now: Timestamp) -> Result<Vec<OpenCart>, StateError> {
        let sql = "SELECT id, created_at, expires_at FROM carts WHERE caller = $1 AND expires_at > $2 \
                   ORDER BY created_at DESC, id LIMIT $3";
        let values = vec![
            Value::text(caller),
            Value::integer(now.micros()),
            Value::integer(i64::from(limit)),
        ];
        let rows: Vec<(String, i64, i64)> = self.rows(sql, values).await?;
        let open = |(id, created_at, expires_at)| OpenCart {
            id,
            created_at: Timestamp::from_micros(created_at),
            expires_at: Timestamp::from_micros(expires_at),
        };
        Ok(rows.into_iter().map(open).collect())
    }

    /// Forgets carts, idempotent requests and tokens of customers that are over, and answers how many.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn purge_carts(&self, now: Timestamp) -> Result<u64, StateError> {
        let mut writing = self.begin().await?;
        let now = || vec![Value::integer(now.micros())];
        let carts = "DELETE FROM carts WHERE expires_at <= $1 AND lease_until <= $1";
        let carts = writing.execute(carts, now()).await?;
        let requests = "DELETE FROM idempotent_requests WHERE expires_at <= $1 AND lease_until <= $1";
        let requests = writing.execute(requests, now()).await?;
        let customers = "DELETE FROM customers WHERE expires_at <= $1";
        let customers = writing.execute(customers, now()).await?;
        writing.commit().await?;
        Ok(carts + requests + customers)
    }
}
