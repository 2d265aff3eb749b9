//! Review apps: their responses to their own widgets, and their tags on stores' pages.
//!
//! Each app listens at an address of its own, like the real apps. The first store uses Judge.me, the next three use
//! Yotpo, Stamped and Okendo, the fifth uses no app, and so on in rotation.

mod answer;
mod serve;

pub use serve::WidgetFault;
pub(crate) use serve::{WidgetHost, listen, serve_widget};

use data_model::ReviewWidget;

use crate::generated::dice::{fold, uuid};
use crate::shop::Shop;

/// Returns the public key of the store's app.
pub(crate) fn key(shop: &Shop, widget: ReviewWidget) -> String {
    let shop_id = shop.catalogue.persona().shop_id();
    let letters = |salt: u64, length: usize| -> String {
        const LETTERS: &[u8] = b"abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
        let one = |at: usize| LETTERS[(fold(&[shop_id, salt, at as u64]) % LETTERS.len() as u64) as usize];
        (0..length).map(|at| char::from(one(at))).collect()
    };
    match widget {
        ReviewWidget::Judgeme => shop.address.myshopify_domain.clone(),
        ReviewWidget::Yotpo => letters(1, 40),
        ReviewWidget::Stamped => format!("pubkey-{}", letters(2, 30)),
        ReviewWidget::Okendo => uuid(shop_id, 3),
    }
}

/// Returns the HTML tag of the store's app for the head of every page, or an empty text without an app.
pub(crate) fn tag(shop: &Shop) -> String {
    let Some(widget) = shop.app() else {
        return String::new();
    };
    let (key, domain) = (key(shop, widget), &shop.address.myshopify_domain);
    match widget {
        ReviewWidget::Judgeme => format!(
            "<script>jdgm = window.jdgm || {{}};jdgm.SHOP_DOMAIN = '{domain}';jdgm.PLATFORM = 'shopify';\
             window.jdgmSettings={{\"pagination\":5}};</script>\n\
             <script async src=\"https://cdn.judge.me/widget_preloader.js\"></script>\n"
        ),
        ReviewWidget::Yotpo => {
            format!("<script src=\"https://cdn-widgetsrepository.yotpo.com/v1/loader/{key}\" async></script>\n")
        }
        ReviewWidget::Stamped => format!(
            "<script id=\"stamped-script-widget\" data-api-key=\"{key}\" data-store-url=\"{domain}\" async \
             src=\"https://cdn1.stamped.io/files/widget.min.js\"></script>\n"
        ),
        ReviewWidget::Okendo => format!(
            "<meta name=\"oke:subscriber_id\" content=\"{key}\">\n\
             <script async src=\"https://cdn-static.okendo.io/reviews-widget-plus/js/okendo-reviews.js\"></script>\n"
        ),
    }
}
