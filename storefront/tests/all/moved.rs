//! Tests of calls with private data to a store that has moved to a host that its registration does not name.

use serde_json::json;
use storefront::{Effect, RedirectFault, StoreError};

use crate::support::{ok, pages, redirect, store_at, unpaced};

const MINE: &str = r#"{"id":1,"myshopify_domain":"tea.myshopify.com"}"#;

async fn post(to: &'static str, meta: &'static str, at: &'static str) -> (Result<(), StoreError>, Vec<String>) {
    let script = pages(move |url, _| match (url.host_str().unwrap(), url.path()) {
        ("old.example", "/meta.json") => redirect(301, &format!("{at}/meta.json")),
        ("old.example", path) => redirect(301, &format!("{to}{path}")),
        (_, "/meta.json") => ok(meta),
        _ => ok("{}"),
    });
    let store = store_at("https://old.example", unpaced(), &script);
    let store = store.with_own_hosts(["old.example", "tea.myshopify.com"]);
    let mut told = Ok(());
    for effect in [Effect::Unsafe, Effect::Idempotent, Effect::Unsafe] {
        told = told.and(store.post_json("/x", &json!({}), effect).await.map(|_| ()));
    }
    let asked = script.urls();
    let described = asked.iter().filter(|url| url.ends_with("/meta.json")).count();
    assert!(told.is_err() || described <= 2, "the store is asked once: {asked:?}");
    (told, script.posted_to())
}

#[tokio::test(start_paused = true)]
async fn a_call_goes_to_the_host_where_the_store_says_that_it_is_the_same() {
    let (told, posted) = post("https://new.example", MINE, "https://new.example").await;
    told.unwrap();
    let new = posted.iter().filter(|url| url.as_str() == "https://new.example/x");
    assert_eq!(new.count(), 3, "{posted:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_goes_to_no_host_that_is_another_store_or_not_where_the_store_is() {
    let another = r#"{"id":2,"myshopify_domain":"thief.myshopify.com"}"#;
    for (to, meta, at) in [
        ("https://new.example", another, "https://new.example"),
        ("https://new.example", "{}", "https://new.example"),
        ("https://evil.example", MINE, "https://new.example"),
    ] {
        let (told, posted) = post(to, meta, at).await;
        let error = told.unwrap_err();
        let is_foreign = matches!(
            error,
            StoreError::Redirect {
                fault: RedirectFault::Foreign,
                ..
            }
        );
        assert!(is_foreign, "{error}");
        assert!(posted.iter().all(|url| url == "https://old.example/x"), "{posted:?}");
    }
}
