//! The market as an app inside a chat (MCP Apps, SEP-1865): one page that hosts embed, with all that it needs in it.
//!
//! Tools name it whatever a client says of itself: a list that depended on that could not be kept by caches, and clients
//! that know no apps read past `_meta`.

use serde_json::{Value, json};

use super::toolset::Resource;

/// The page's name.
const URI: &str = "ui://haat/shop";

/// Tools whose results the page draws.
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

/// A tool's `_meta`, which names the page that draws its results; `None` where none does.
pub(super) fn of_tool(name: &str) -> Option<Value> {
    DRAWN.contains(&name).then(|| json!({ "ui": { "resourceUri": URI } }))
}

/// The page, with what a market offers.
pub(super) fn resource(with_carts: bool) -> Resource {
    let text = include_str!("../../app/shop.html")
        .replace("/* style */", include_str!("../../app/shop.css"))
        .replace("/* script */", include_str!("../../app/shop.js"))
        .replace("/* carts */", &with_carts.to_string());
    // Nothing is loaded from anywhere: no pictures either.
    let nowhere: [&str; 0] = [];
    let csp = json!({
        "connectDomains": nowhere, "resourceDomains": nowhere, "frameDomains": nowhere, "baseUriDomains": nowhere,
    });
    Resource {
        uri: URI,
        name: "shop",
        title: "Shop",
        description: "Draws products, prices asked of stores now, and the cart inside a chat.",
        mime_type: "text/html;profile=mcp-app",
        text,
        meta: json!({ "ui": { "csp": csp, "prefersBorder": true } }),
    }
}
