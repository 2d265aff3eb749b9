//! Detects the review app of a store from the HTML of its pages.

use data_model::ReviewWidget;
use serde::{Deserialize, Serialize};

use crate::value::is_token;

const HTML_BYTES_MAX: usize = 2 << 20;

/// A review app, and the public keys with which it identifies one shop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WidgetKey {
    /// Name of the review app.
    pub widget: ReviewWidget,
    /// Public key: the shop's domain for Judge.me, the app key for Yotpo, the API key for Stamped, the subscriber for
    /// Okendo.
    pub key: String,
    /// Permanent domain of the shop.
    pub shop: String,
}

/// Returns the app whose public key is in a page of the store. The first of [`ReviewWidget::ALL`] counts. A trace of an
/// app without its key does not count.
#[must_use]
pub fn detect(html: &str) -> Option<WidgetKey> {
    let html = &html[..html.floor_char_boundary(HTML_BYTES_MAX)];
    let shop = ["jdgm.SHOP_DOMAIN", "Shopify.shop"].into_iter();
    let shop = shop.filter_map(|name| assigned(html, name)).find(|name| is_host(name));
    let of = |widget: ReviewWidget| {
        let key = match widget {
            ReviewWidget::Judgeme => judgeme(html).then(|| shop.map(str::to_owned)).flatten(),
            ReviewWidget::Yotpo => yotpo(html),
            ReviewWidget::Stamped => stamped(html),
            ReviewWidget::Okendo => okendo(html),
        }?;
        let shop = match (widget, shop) {
            // Only Stamped needs the shop in addition to the key.
            (ReviewWidget::Stamped, None) => return None,
            (_, shop) => shop.unwrap_or_default().to_owned(),
        };
        Some(WidgetKey { widget, key, shop })
    };
    ReviewWidget::ALL.into_iter().find_map(of)
}

fn is_host(text: &str) -> bool {
    text.contains('.') && is_token(text)
}

/// Returns true if the page contains Judge.me's own settings or scripts. Badges of a theme do not count, because they
/// stay after the app is removed.
fn judgeme(html: &str) -> bool {
    ["jdgm.SHOP_DOMAIN", "jdgmSettings", "cdn.judge.me/", "judge.me/widget"]
        .iter()
        .any(|trace| html.contains(trace))
}

fn yotpo(html: &str) -> Option<String> {
    let places = ["yotpo.com/v1/loader/", "staticw2.yotpo.com/", "yotpo.com/v1/widget/"];
    let keys = places.into_iter().flat_map(|place| after(html, place));
    keys.map(token)
        .find(|key| (8..=64).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        .map(str::to_owned)
}

fn stamped(html: &str) -> Option<String> {
    if !html.contains("stamped") {
        return None;
    }
    let mut keys = after(html, "pubkey-").map(token);
    let key = keys.find(|key| key.len() >= 8)?;
    let key = format!("pubkey-{key}");
    is_token(&key).then_some(key)
}

fn okendo(html: &str) -> Option<String> {
    if !html.contains("okendo") && !html.contains("oke-") && !html.contains("oke:") {
        return None;
    }
    let places = [
        "oke:subscriber_id",
        "oke-reviews-subscriber-id",
        "subscriberId",
        "okendo.io/v1/stores/",
    ];
    let found = places.into_iter().flat_map(|place| after(html, place));
    let mut keys = found.filter_map(|rest| {
        let near = &rest[..rest.floor_char_boundary(80)];
        let start = near.find(|char: char| char.is_ascii_hexdigit())?;
        // `content="…"` itself begins with a hexadecimal digit.
        (start..near.len()).find_map(|at| near.get(at..).map(token).filter(|key| is_uuid(key)))
    });
    keys.next().map(str::to_ascii_lowercase)
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<usize> = text.split('-').map(str::len).collect();
    groups == [8, 4, 4, 4, 12] && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

fn after<'a>(html: &'a str, place: &'static str) -> impl Iterator<Item = &'a str> {
    let found = html.match_indices(place).take(32);
    found.map(move |(at, _)| &html[at + place.len()..])
}

fn token(text: &str) -> &str {
    let is_key = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    let end = text.find(|char| !is_key(char)).unwrap_or(text.len());
    &text[..end.min(128)]
}

/// Returns the quoted value that a script assigns to a name.
fn assigned<'a>(html: &'a str, name: &'static str) -> Option<&'a str> {
    after(html, name).find_map(|rest| {
        let rest = rest.trim_start().strip_prefix(['=', ':'])?.trim_start();
        let quote = rest.chars().next().filter(|char| matches!(char, '"' | '\''))?;
        rest[1..].split_once(quote).map(|(value, _)| value)
    })
}
