//! Ajax cart, which themes call from the store's own pages. The Ajax cart and the GraphQL cart are the same cart, which
//! the session's cookie names. Amounts are in hundredths of the currency's unit, for every currency.

mod change;
mod rates;
mod session;
mod view;

use http::Method;
use serde_json::{Value, json};

use crate::ask::Ask;
use crate::cart_service::CartService;
use crate::fault::Lie;
use crate::json::platform_bytes;
use crate::reply::Reply;
use crate::shop::Shop;
use session::Session;

/// True if a path accepts POST requests.
pub(crate) fn takes(path: &str) -> bool {
    let name = path.strip_prefix("/cart/").and_then(|rest| rest.rsplit_once('.'));
    match name {
        Some((name, "js" | "json")) => {
            matches!(name, "add" | "change" | "update" | "clear" | "prepare_shipping_rates")
        }
        _ => false,
    }
}

/// Returns the response to a call of the Ajax cart, or `None` for another path.
pub(crate) fn answer(shop: &Shop, ask: &Ask, method: &Method, lie: &Lie) -> Option<Reply> {
    if !ask.path.starts_with("/cart") && !ask.path.starts_with("/discount/") {
        return None;
    }
    let service = CartService::new(shop, lie);
    let session = Session::of(ask);
    if let Some(code) = ask.path.strip_prefix("/discount/") {
        return Some(session::discount(ask, code));
    }
    if ask.path == "/cart" {
        return Some(view::page(shop, &service, &session));
    }
    if let Some(wanted) = ask.path.strip_prefix("/cart/").filter(|rest| rest.contains(':')) {
        return Some(session::permalink(shop, &service, wanted, ask));
    }
    let (name, suffix) = ask.path.strip_prefix("/cart")?.rsplit_once('.')?;
    let is_post = method == Method::POST;
    let reply = match name {
        "" if !is_post => view::cart_js(&service, &session),
        "/add" if is_post => change::add(&service, &session, ask),
        "/change" if is_post => change::change(&service, &session, ask),
        "/update" if is_post => change::update(&service, &session, ask),
        "/clear" => change::clear(&service, &session),
        "/shipping_rates" if !is_post => rates::now(&service, &session, ask),
        "/prepare_shipping_rates" if is_post => rates::prepare(&service, &session, ask),
        "/async_shipping_rates" if !is_post => rates::poll(&service, &session, ask),
        _ => return None,
    };
    matches!(suffix, "js" | "json").then_some(reply)
}

/// Builds a JSON response with the platform's escapes.
fn written(status: u16, value: &Value) -> Reply {
    let bytes = platform_bytes(value.to_string().as_bytes());
    Reply::posted(status, String::from_utf8(bytes).unwrap_or_default())
}

/// Builds a cart error that contains the description twice, like newer versions of the platform.
fn cart_error(status: u16, description: &str) -> Reply {
    let message = if status == 404 { "Cart Error" } else { description };
    written(
        status,
        &json!({ "status": status, "message": message, "description": description }),
    )
}

/// Builds the error of a call that lacks a parameter. The error's `status` field is a text instead of a number.
fn bad_request(description: &str) -> Reply {
    let error = json!({
        "status": "bad_request", "message": "Parameter Missing or Invalid", "description": description,
    });
    written(400, &error)
}
