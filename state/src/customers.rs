//! Customer accounts at stores that callers signed in to, and access tokens for stores' Storefront APIs.

use async_recursion::async_recursion as boxed;
use data_model::{StoreHost, Timestamp};

use crate::database::{State, values};
use crate::error::StateError;

/// A stored customer sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerRow {
    /// The customer and the access token, sealed by the calling code.
    pub sealed: Vec<u8>,
    /// Expiry time of the token.
    pub expires_at: Timestamp,
}

impl State {
    /// Stores the customer as whom a caller is signed in at a store. An earlier customer is replaced.
    #[boxed]
    pub async fn put_customer(
        &self,
        caller: &str,
        store: &StoreHost,
        customer: &CustomerRow,
    ) -> Result<(), StateError> {
        let sql = "INSERT INTO customers (caller, store, sealed, expires_at) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (caller, store) DO UPDATE SET sealed = excluded.sealed, expires_at = excluded.expires_at";
        let values = values![caller, store.as_str(), customer.sealed.clone(), customer.expires_at];
        self.changed(sql, values).await.map(|_| ())
    }

    /// Returns the customers as whom a caller is signed in at stores, without expired tokens.
    #[boxed]
    pub async fn customers(&self, caller: &str, now: Timestamp) -> Result<Vec<(StoreHost, CustomerRow)>, StateError> {
        let sql =
            "SELECT store, sealed, expires_at FROM customers WHERE caller = $1 AND expires_at > $2 ORDER BY store";
        let values = values![caller, now];
        let rows: Vec<(String, Vec<u8>, i64)> = self.rows(sql, values).await?;
        let read = |(store, sealed, expires_at): (String, Vec<u8>, i64)| {
            let what = "store of a customer";
            let store = store.parse().map_err(|_| StateError::Damaged { what })?;
            let expires_at = Timestamp::from_micros(expires_at);
            Ok((store, CustomerRow { sealed, expires_at }))
        };
        rows.into_iter().map(read).collect()
    }

    /// Deletes the customer as whom a caller is signed in at a store.
    #[boxed]
    pub async fn forget_customer(&self, caller: &str, store: &StoreHost) -> Result<bool, StateError> {
        let sql = "DELETE FROM customers WHERE caller = $1 AND store = $2";
        self.changed(sql, values![caller, store.as_str()]).await
    }

    /// Stores the sealed token for a store's Storefront API. An earlier token is replaced.
    #[boxed]
    pub async fn put_storefront_token(
        &self,
        store: &StoreHost,
        sealed: Vec<u8>,
        now: Timestamp,
    ) -> Result<(), StateError> {
        let sql = "INSERT INTO storefront_tokens (store, sealed, set_at) VALUES ($1, $2, $3) \
                   ON CONFLICT (store) DO UPDATE SET sealed = excluded.sealed, set_at = excluded.set_at";
        let values = values![store.as_str(), sealed, now];
        self.changed(sql, values).await.map(|_| ())
    }

    /// Returns the sealed token for a store's Storefront API, if one is stored.
    #[boxed]
    pub async fn storefront_token(&self, store: &StoreHost) -> Result<Option<Vec<u8>>, StateError> {
        let sql = "SELECT sealed FROM storefront_tokens WHERE store = $1";
        let rows: Vec<(Vec<u8>,)> = self.rows(sql, values![store.as_str()]).await?;
        Ok(rows.into_iter().next().map(|(sealed,)| sealed))
    }
}
