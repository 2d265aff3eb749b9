//! Market as an app in a chat (MCP Apps, SEP-1865): one self-contained page that hosts embed.
//!
//! Tools name the page for every client. A list that depended on the client could not be cached, and clients without
//! app support ignore `_meta`.

use serde_json::{Value, json};

use super::toolset::Resource;

/// URI of the page.
const URI: &str = "ui://haat/shop";

/// Tools whose results the page displays.
const DRAWN: [&str; 10] = [
    "search_products",
    "get_product",
    "get_price",
    "recommend",
    "browse",
    "create_cart",
    "update_cart",
    "get_cart",
    "apply_discount",
    "checkout_links",
];

/// Returns a tool's `_meta`, which names the page that displays its results. Returns `None` if there is no such page.
pub(super) fn of_tool(name: &str) -> Option<Value> {
    DRAWN.contains(&name).then(|| json!({ "ui": { "resourceUri": URI } }))
}

/// Returns the page as a resource, with carts if `with_carts` is set.
pub(super) fn resource(with_carts: bool) -> Resource {
    let text = include_str!("../../app/shop.html")
        .replace("/* style */", include_str!("../../app/shop.css"))
        .replace("/* script */", include_str!("../../app/shop.js"))
        .replace("/* carts */", &with_carts.to_string());
    // The page loads nothing from other servers, not even images.
    let nowhere: [&str; 0] = [];
    let csp = json!({
        "connectDomains": nowhere, "resourceDomains": nowhere, "frameDomains": nowhere, "baseUriDomains": nowhere,
    });
    Resource {
        uri: URI,
        name: "shop",
        title: "Shop",
        description: "Shows products, current store prices and the cart inside a chat.",
        mime_type: "text/html;profile=mcp-app",
        text,
        meta: json!({ "ui": { "csp": csp, "prefersBorder": true } }),
    }
}
