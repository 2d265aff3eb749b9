//! Profile with the offered capabilities, their versions and their URLs.

use api::{EntityTag, if_none_match};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};

use crate::message::Capability;
use crate::{BASE_PATH, UcpConfig, Version};

/// Time for which agents may cache the profile. The protocol requires at least a minute.
const CACHE: HeaderValue = HeaderValue::from_static("public, max-age=300");
const SITE: &str = "https://ucp.dev";

/// Returns a capability with the URLs of its page and schema in the specification.
fn capability(capability: Capability, version: Version) -> (String, Value) {
    let (page, schema) = match capability {
        Capability::Search => ("catalog/search", "catalog_search"),
        Capability::Lookup => ("catalog/lookup", "catalog_lookup"),
        Capability::Cart => ("cart", "cart"),
        Capability::Checkout => ("checkout", "checkout"),
        Capability::Discount => ("discount", "discount"),
    };
    let folder = match version {
        Version::V2026_04_08 => "",
        Version::V2026_08_25 => "shopping/",
    };
    // The pages of extensions are beside the folder for shopping.
    let folder_of_page = if capability == Capability::Discount { "" } else { folder };
    let mut told = json!([{
        "version": version,
        "spec": format!("{SITE}/{version}/specification/{folder_of_page}{page}"),
        "schema": format!("{SITE}/{version}/schemas/shopping/{schema}.json"),
    }]);
    if capability == Capability::Discount {
        told[0]["extends"] = json!([Capability::Cart.name(), Capability::Checkout.name()]);
    }
    (capability.name().to_owned(), told)
}

/// Returns the URLs of the operations over REST and MCP.
fn services(config: &UcpConfig, version: Version) -> Vec<Value> {
    let base = &config.public_url;
    let service = |transport: &str, schema: &str, endpoint: String| {
        json!({
            "version": version,
            "spec": format!("{SITE}/{version}/specification/overview"),
            "transport": transport,
            "schema": format!("{SITE}/{version}/services/shopping/{schema}"),
            "endpoint": endpoint,
        })
    };
    let mcp = || service("mcp", "mcp.openrpc.json", format!("{base}{}", version.mcp_path()));
    match version {
        Version::V2026_04_08 => vec![
            service("rest", "rest.openapi.json", format!("{base}{BASE_PATH}")),
            mcp(),
        ],
        Version::V2026_08_25 => vec![mcp()],
    }
}

/// Returns the profile of a market in one version. The profile has no payment handler, because a person pays at the
/// seller.
pub(crate) fn profile(config: &UcpConfig, version: Version) -> Value {
    let of_carts = [Capability::Cart, Capability::Checkout, Capability::Discount];
    let offered = [Capability::Search, Capability::Lookup]
        .into_iter()
        .chain(of_carts.into_iter().filter(|_| config.has_carts));
    let capabilities: Map<String, Value> = offered.map(|one| capability(one, version)).collect();
    let mut ucp = json!({
        "version": version,
        "services": { "dev.ucp.shopping": services(config, version) },
        "capabilities": capabilities,
        "payment_handlers": {},
    });
    if version == Version::V2026_04_08 {
        let later = Version::V2026_08_25;
        let profile = format!("{}/.well-known/ucp/{later}", config.public_url);
        ucp["supported_versions"] = json!({ later.as_str(): profile });
    }
    json!({ "ucp": ucp })
}

/// Responds with a text that depends only on the configuration.
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
