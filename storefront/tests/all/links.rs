//! Tests of checks of checkout links that somebody is about to open.

use std::time::Duration;

use storefront::{RedirectFault, StoreError, StorefrontConfig};
use tokio::time::Instant;

use crate::support::{Reply, ok, pages, redirect, status, store_at, throttled, unpaced};

async fn look(base: &str, reply: impl Fn() -> Reply + Send + Sync + 'static) -> Result<(), StoreError> {
    let script = pages(move |_, _| reply());
    let store = store_at(base, unpaced(), &script);
    let link = format!("{base}/cart/c/1?key=2").parse().unwrap();
    let looked = store.look(&link).await;
    assert_eq!(script.urls(), [link.to_string()]);
    looked
}

#[tokio::test(start_paused = true)]
async fn the_permanent_host_of_a_store_leads_to_the_domain_that_the_store_chose() {
    let home = || redirect(301, "https://tea.example/cart/c/1?key=2");
    look("https://tea.myshopify.com", home).await.unwrap();
    let foreign = look("https://shop.example", home).await.unwrap_err();
    let is_foreign = matches!(
        foreign,
        StoreError::Redirect {
            fault: RedirectFault::Foreign,
            ..
        }
    );
    assert!(is_foreign, "{foreign}");
    let wall = look("https://tea.myshopify.com", || redirect(302, "/password")).await;
    assert!(matches!(wall, Err(StoreError::PasswordPage)), "{wall:?}");
}

#[tokio::test(start_paused = true)]
async fn whatever_a_link_answers_the_stores_other_pages_are_asked_as_before() {
    for reply in [
        (|| throttled(Some("60"))) as fn() -> Reply,
        || throttled(None),
        || status(430),
        || Reply::Answer(503, vec![("retry-after", "60".to_owned())], ""),
        || Reply::Answer(429, vec![("cf-mitigated", "challenge".to_owned())], ""),
        || status(500),
        || Reply::Torn(404),
    ] {
        let is_link = |url: &url::Url| url.path().starts_with("/cart/c/");
        let script = pages(move |url, _| if is_link(url) { reply() } else { ok("{}") });
        let config = StorefrontConfig {
            breaker_failures: 2,
            ..unpaced()
        };
        let store = store_at("https://tea.example", config, &script);
        store.robots().await.unwrap();
        let asked = Instant::now();
        for nth in 0..5 {
            let link = format!("https://tea.example/cart/c/{nth}?key=2").parse().unwrap();
            store.look(&link).await.unwrap_err();
        }
        store.meta().await.unwrap();
        assert_eq!(asked.elapsed(), Duration::ZERO);
    }
}
