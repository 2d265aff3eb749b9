//! Carts: sealed documents by id. A cart belongs to one caller, and one server at a time changes it.

mod lock;

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde::Serialize;

use crate::database::{State, values};
use crate::error::StateError;
use crate::lease::Lease;

/// The row of a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CartRow {
    /// The cart, sealed by the calling code.
    pub sealed: Vec<u8>,
    /// Creation time.
    pub created_at: Timestamp,
    /// Expiry time.
    pub expires_at: Timestamp,
}

/// A cart that has not expired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenCart {
    /// Id of the cart.
    #[serde(rename = "cart_id")]
    pub id: String,
    /// Creation time.
    pub created_at: Timestamp,
    /// Expiry time.
    pub expires_at: Timestamp,
}

/// The result of an attempt to lock a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CartLock {
    /// The caller has the lock on the cart.
    Held(CartRow),
    /// Another server has the lock. The attempt may be repeated.
    Busy {
        /// End of the lease, unless its holder renews it.
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
    /// Stores a new cart, locked with `lease`. Returns `false` if a cart with this id exists already.
    #[boxed]
    pub async fn create_cart(&self, id: &str, caller: &str, cart: &CartRow, lease: &Lease) -> Result<bool, StateError> {
        let sql = "INSERT INTO carts (id, caller, created_at, expires_at, lease, lease_until, sealed) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
        let values = values![
            id,
            caller,
            cart.created_at,
            cart.expires_at,
            lease.token(),
            lease.until(),
            cart.sealed.clone()
        ];
        let mut writing = self.begin().await?;
        let inserted = writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(inserted == 1)
    }

    /// Returns the caller's cart with this id, or `None` if the cart does not exist, has expired, or belongs to another
    /// caller.
    #[boxed]
    pub async fn cart(&self, id: &str, caller: &str, now: Timestamp) -> Result<Option<CartRow>, StateError> {
        let sql = "SELECT sealed, created_at, expires_at FROM carts WHERE id = $1 AND caller = $2 AND expires_at > $3";
        let values = values![id, caller, now];
        let rows: Vec<Row> = self.rows(sql, values).await?;
        Ok(rows.into_iter().next().map(read))
    }

    /// Returns at most `limit` carts of the caller that have not expired, newest first.
    #[boxed]
    pub async fn carts_of(&self, caller: &str, limit: u32, now: Timestamp) -> Result<Vec<OpenCart>, StateError> {
        let sql = "SELECT id, created_at, expires_at FROM carts WHERE caller = $1 AND expires_at > $2 \
                   ORDER BY created_at DESC, id LIMIT $3";
        let values = values![caller, now, limit];
        let rows: Vec<(String, i64, i64)> = self.rows(sql, values).await?;
        let open = |(id, created_at, expires_at)| OpenCart {
            id,
            created_at: Timestamp::from_micros(created_at),
            expires_at: Timestamp::from_micros(expires_at),
        };
        Ok(rows.into_iter().map(open).collect())
    }

    /// Deletes expired carts, idempotent requests and customer tokens, and returns their number.
    #[boxed]
    pub async fn purge_carts(&self, now: Timestamp) -> Result<u64, StateError> {
        let mut writing = self.begin().await?;
        let now = || values![now];
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
