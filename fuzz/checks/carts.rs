//! Parses any bytes as an answer about a cart: the GraphQL envelope and the typed parts of a cart.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, PartialEq, Deserialize)]
pub(crate) struct Answer {
    data: Option<HashMap<String, Option<Cart>>>,
    errors: Option<Vec<Value>>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cart {
    id: Option<String>,
    checkout_url: Option<String>,
    total_quantity: Option<u32>,
    cost: Option<HashMap<String, Option<Amount>>>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Amount {
    amount: String,
    currency_code: String,
}
