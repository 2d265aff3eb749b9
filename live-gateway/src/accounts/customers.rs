use std::collections::HashMap;

use data_model::{StoreHost, Timestamp};
use serde::{Deserialize, Serialize};
use state::{CustomerRow, Purpose};

use super::Accounts;
use crate::cart_failure::CartFailure;
use crate::hidden::SecretText;

const CUSTOMER: Purpose = Purpose::new("customer");

/// Customer of a store as whom a caller is signed in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Customer {
    pub(crate) email: SecretText,
    pub(crate) token: SecretText,
}

/// Sign-in of a caller as a customer of a store, with the time at which the sign-in ends.
#[derive(Debug, Clone)]
pub(crate) struct SignedIn {
    pub(crate) customer: Customer,
    pub(crate) expires_at: Timestamp,
}

fn place(caller: &str, store: &StoreHost) -> String {
    format!("{caller} {}", store.as_str())
}

impl Accounts {
    /// Returns the customers as whom a caller is signed in, by store.
    pub(crate) async fn customers(&self, caller: &str) -> Result<HashMap<StoreHost, SignedIn>, CartFailure> {
        let rows = self.context.state.customers(caller, self.context.clock.now()).await?;
        let open = |(store, row): (StoreHost, CustomerRow)| {
            let plain = self.context.keys.open(CUSTOMER, &place(caller, &store), &row.sealed)?;
            let signed_in = SignedIn {
                customer: serde_json::from_slice(&plain)?,
                expires_at: row.expires_at,
            };
            Ok((store, signed_in))
        };
        rows.into_iter().map(open).collect()
    }

    /// Saves a caller's sign-in as a customer of a store.
    pub(super) async fn keep_customer(
        &self,
        caller: &str,
        store: &StoreHost,
        customer: &Customer,
        expires_at: Timestamp,
    ) -> Result<(), CartFailure> {
        let plain = serde_json::to_vec(customer)?;
        let sealed = self.context.keys.seal(CUSTOMER, &place(caller, store), &plain)?;
        let row = CustomerRow { sealed, expires_at };
        Ok(self.context.state.put_customer(caller, store, &row).await?)
    }
}
