//! Routes of carts: read a request, call one operation, write.

pub(in crate::routes) mod asking;
pub(in crate::routes) mod body;
pub(in crate::routes) mod codes;
pub(in crate::routes) mod create;
pub(in crate::routes) mod delivery;
pub(in crate::routes) mod lines;
pub(in crate::routes) mod optimize;

use data_model::Timestamp;
use serde::Serialize;

use crate::carts::CartFailure;
use crate::carts::schema::{Cart, CartAnswerDocument, CartProvenance};

/// A cart in an answer, named for the description.
pub(super) type CartDocument = CartAnswerDocument<Cart>;

/// The body of an answer.
fn document<T: Serialize>((data, as_of): (T, Timestamp)) -> Result<Vec<u8>, CartFailure> {
    let document = CartAnswerDocument {
        data,
        provenance: CartProvenance { engine: "live" },
        as_of,
        tier: "live",
    };
    Ok(serde_json::to_vec(&document)?)
}
