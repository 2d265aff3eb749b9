use std::collections::HashMap;

use data_model::{StoreHost, Timestamp};
use state::{CustomerRow, Purpose};

use crate::carts::{CartFailure, Carts, Customer};

const CUSTOMER: Purpose = Purpose::new("customer");

/// The customer that a caller is signed in as at a store, and the end of that.
#[derive(Debug, Clone)]
pub(crate) struct SignedIn {
    pub(crate) customer: Customer,
    pub(crate) expires_at: Timestamp,
}

fn place(caller: &str, store: &StoreHost) -> String {
    format!("{caller} {}", store.as_str())
}

impl Carts {
    /// The customers that a caller is signed in as, by store.
    pub(crate) async fn customers(&self, caller: &str) -> Result<HashMap<StoreHost, SignedIn>, CartFailure> {
        let rows = self.state().customers(caller, self.0.clock.now()).await?;
        let open = |(store, row): (StoreHost, CustomerRow)| {
            let plain = self.0.desk.keys.open(CUSTOMER, &place(caller, &store), &row.sealed)?;
            let signed_in = SignedIn {
                customer: serde_json::from_slice(&plain)?,
                expires_at: row.expires_at,
            };
            Ok((store, signed_in))
        };
        rows.into_iter().map(open).collect()
    }

    /// Keeps as whom a caller is signed in at a store.
    pub(super) async fn keep_customer(
        &self,
        caller: &str,
        store: &StoreHost,
        customer: &Customer,
        expires_at: Timestamp,
    ) -> Result<(), CartFailure> {
        let plain = serde_json::to_vec(customer)?;
        let sealed = self.0.desk.keys.seal(CUSTOMER, &place(caller, store), &plain)?;
        let row = CustomerRow { sealed, expires_at };
        Ok(self.state().put_customer(caller, store, &row).await?)
    }
}
