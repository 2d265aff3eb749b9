//! The profile: what is offered, in which version, and where.

use api::{EntityTag, if_none_match};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};

use crate::message::Capability;
use crate::{BASE_PATH, UcpConfig, VERSION};

/// Agents may keep it for so long: at least a minute, says the protocol.
const CACHE: HeaderValue = HeaderValue::from_static("public, max-age=300");
const SITE: &str = "https://ucp.dev";

/// A capability: its page and schema in the specification.
fn capability(capability: Capability) -> (String, Value) {
    let (page, schema) = match capability {
        Capability::Search => ("catalog/search", "catalog_search"),
        Capability::Lookup => ("catalog/lookup", "catalog_lookup"),
        Capability::Cart => ("cart", "cart"),
        Capability::Checkout => ("checkout", "checkout"),
    };
    let told = json!([{
        "version": VERSION,
        "spec": format!("{SITE}/{VERSION}/specification/{page}"),
        "schema": format!("{SITE}/{VERSION}/schemas/shopping/{schema}.json"),
    }]);
    (capability.name().to_owned(), told)
}

/// The profile of a market. No payment handler: what is paid is paid by a person at a seller.
pub(crate) fn profile(config: &UcpConfig) -> Value {
    let of_carts = [Capability::Cart, Capability::Checkout];
    let offered = [Capability::Search, Capability::Lookup]
        .into_iter()
        .chain(of_carts.into_iter().filter(|_| config.has_carts));
    let capabilities: Map<String, Value> = offered.map(capability).collect();
    json!({
        "ucp": {
            "version": VERSION,
            "services": { "dev.ucp.shopping": [{
                "version": VERSION,
                "spec": format!("{SITE}/{VERSION}/specification/overview"),
                "transport": "rest",
                "schema": format!("{SITE}/{VERSION}/services/shopping/rest.openapi.json"),
                "endpoint": format!("{}{BASE_PATH}", config.public_url),
            }] },
            "capabilities": capabilities,
            "payment_handlers": {},
        },
    })
}

/// Answers with a text that follows from the configuration alone.
pub(crate) fn constant(headers: &HeaderMap, media_type: &'static str, text: String) -> Response {
    let tag = EntityTag::of(&[text.as_bytes()]);
    let known = if_none_match(headers, &tag);
    let told = [
        (header::ETAG, tag.header().clone()),
        (header::CACHE_CONTROL, CACHE),
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
    ];
    if known {
        (StatusCode::NOT_MODIFIED, told, Body::empty()).into_response()
    } else {
        (told, text).into_response()
    }
}
