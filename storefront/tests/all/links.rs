//! Tests of checks of checkout links that somebody is about to open.

use storefront::{RedirectFault, StoreError};

use crate::support::{Reply, pages, redirect, store_at, unpaced};

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
