use serde_json::{Value, json};

use super::{Change, ChangeError, make};
use crate::answer::{Ask, Reply};
use crate::shop::Shop;

/// The path on which a store takes changes, when the configuration lets it.
pub(crate) const CONTROL_PATH: &str = "/emulator/change";

/// The answer to a change that is asked for over HTTP.
///
/// Only JSON is taken, which no page that a person visits can send to another host without asking first.
pub(crate) fn control(shop: &Shop, ask: &Ask) -> Reply {
    if !ask.is_json() {
        return refused(415, "the body must be of type application/json");
    }
    let change: Change = match serde_json::from_slice(&ask.body) {
        Ok(change) => change,
        Err(error) => return refused(400, &format!("the body is no change: {error}")),
    };
    match make(shop, change) {
        Ok(changed) => Reply::json_of(200, &json!(changed)),
        Err(error @ (ChangeError::UnknownItem { .. } | ChangeError::UnknownDiscount { .. })) => {
            refused(404, &error.to_string())
        }
        Err(error) => refused(422, &error.to_string()),
    }
}

fn refused(status: u16, why: &str) -> Reply {
    let body: Value = json!({ "error": why });
    Reply::json_of(status, &body)
}
