//! Answers that carry no data, and those that a fault makes of honest ones.

use serde_json::{Value, json};

use super::cost::TOKENLESS_MAX;
use crate::reply::Reply;

/// 200 with errors and nothing else.
pub(super) fn errors(listed: Vec<Value>) -> Reply {
    Reply::json_of(200, &json!({ "errors": listed }))
}

fn coded(status: u16, message: &str, code: &str) -> Reply {
    Reply::json_of(
        status,
        &json!({ "errors": [{ "message": message, "extensions": { "code": code } }] }),
    )
}

/// The body is no query.
pub(super) fn malformed(why: &str) -> Reply {
    coded(400, why, "BAD_REQUEST")
}

/// The token is none of the store's.
pub(super) fn unauthorized() -> Reply {
    coded(401, "", "UNAUTHORIZED")
}

/// The error of a query that costs more than clients without a token may spend.
pub(super) fn too_complex(cost: u64) -> Value {
    json!({
        "message": "Complexity exceeded",
        "extensions": { "code": "MAX_COMPLEXITY_EXCEEDED", "cost": cost, "maxCost": TOKENLESS_MAX },
    })
}

/// The store has a password. The platform's words are not recorded; the absence of data is.
pub(crate) fn locked() -> Reply {
    coded(200, "Online Store channel is locked.", "ONLINE_STORE_LOCKED")
}

/// The platform takes no more queries for now.
pub(crate) fn throttled() -> Reply {
    coded(200, "Throttled", "THROTTLED")
}

fn internal_error() -> Value {
    json!({
        "message": "Internal error. Looks like something went wrong on our end.",
        "extensions": { "code": "INTERNAL_SERVER_ERROR" },
    })
}

/// Something went wrong at the platform, which answers 200.
pub(crate) fn broken() -> Reply {
    errors(vec![internal_error()])
}

/// The same answer without its first field, which went wrong.
pub(crate) fn half_broken(honest: &Reply) -> Reply {
    let Ok(mut body) = serde_json::from_slice::<Value>(&honest.body) else {
        return broken();
    };
    let first = body["data"].as_object_mut().and_then(|data| data.iter_mut().next());
    let Some((name, value)) = first else {
        return broken();
    };
    let mut error = internal_error();
    error["path"] = json!([name]);
    *value = Value::Null;
    body["errors"] = json!([error]);
    Reply {
        api_version: honest.api_version,
        ..Reply::json_of(200, &body)
    }
}
