//! Responses without data, and faulty responses made from correct ones.

use serde_json::{Value, json};

use super::cost::TOKENLESS_MAX;
use crate::reply::Reply;

/// Returns status 200 with only errors.
pub(super) fn errors(listed: Vec<Value>) -> Reply {
    Reply::json_of(200, &json!({ "errors": listed }))
}

fn coded(status: u16, message: &str, code: &str) -> Reply {
    Reply::json_of(
        status,
        &json!({ "errors": [{ "message": message, "extensions": { "code": code } }] }),
    )
}

/// Returns the error for a body that is no query.
pub(super) fn malformed(why: &str) -> Reply {
    coded(400, why, "BAD_REQUEST")
}

/// Returns the error for a token that is not the store's.
pub(super) fn unauthorized() -> Reply {
    coded(401, "", "UNAUTHORIZED")
}

/// Returns the error for a query above the cost limit of clients without a token.
pub(super) fn too_complex(cost: u64) -> Value {
    json!({
        "message": "Complexity exceeded",
        "extensions": { "code": "MAX_COMPLEXITY_EXCEEDED", "cost": cost, "maxCost": TOKENLESS_MAX },
    })
}

/// Returns the response of a store with a password. The platform's message is not recorded, but the absence of data is.
pub(crate) fn locked() -> Reply {
    coded(200, "Online Store channel is locked.", "ONLINE_STORE_LOCKED")
}

/// Returns the response of a platform that accepts no more queries for now.
pub(crate) fn throttled() -> Reply {
    coded(200, "Throttled", "THROTTLED")
}

fn internal_error() -> Value {
    json!({
        "message": "Internal error. Looks like something went wrong on our end.",
        "extensions": { "code": "INTERNAL_SERVER_ERROR" },
    })
}

/// Returns the response for an internal error, which has status 200.
pub(crate) fn broken() -> Reply {
    errors(vec![internal_error()])
}

/// Returns the answer to a change of a cart that only states this user error; `None` for other requests.
pub(crate) fn cart_error(body: &[u8], code: Option<&str>) -> Option<Reply> {
    let request: Value = serde_json::from_slice(body).ok()?;
    let (_, fields) = request["query"].as_str()?.split_once("mutation")?.1.split_once('{')?;
    let field: String = fields
        .trim_start()
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    let error = |code| json!({ "code": code, "field": null, "message": "An error occurred." });
    let errors: Vec<Value> = code.map(error).into_iter().collect();
    let payload = json!({ "cart": null, "userErrors": errors, "warnings": [] });
    field
        .starts_with("cart")
        .then(|| Reply::json_of(200, &json!({ "data": { (field): payload } })))
}

/// Replaces the first field of a correct response by an error.
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
