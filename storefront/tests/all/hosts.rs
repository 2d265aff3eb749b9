//! Tests of the state kept per host, and of the headers of every request.

use std::time::Duration;

use serde_json::json;
use storefront::{Effect, FetchOutcome, StoreError, StorefrontConfig};
use tokio::time::{Instant, advance};

use crate::support::{
    Reply, ScriptedTransport, ok, page, pages, redirect, status, store, store_at, storefront, throttled, unpaced,
};

#[tokio::test(start_paused = true)]
async fn a_host_that_moved_for_good_is_not_asked_twice_for_every_page() {
    let script = pages(|url, _| match url.host_str().unwrap() {
        "x.myshopify.com" => redirect(301, &url.as_str().replace("x.myshopify.com", "brand.example")),
        _ => ok("{}"),
    });
    let store = store_at("https://x.myshopify.com/", unpaced(), &script);
    for n in 1..=3 {
        let fetched = page(store.products_page(n, 250, None).await.unwrap());
        assert_eq!(
            fetched.url.as_str(),
            format!("https://brand.example/products.json?limit=250&page={n}")
        );
    }
    advance(Duration::from_secs(3601)).await;
    store.meta().await.unwrap();
    store.meta().await.unwrap();
    let at_old = script
        .urls()
        .iter()
        .filter(|url| url.contains("x.myshopify.com") && !url.ends_with("robots.txt"))
        .count();
    assert_eq!(at_old, 2, "once, and again after an hour");
}

#[tokio::test(start_paused = true)]
async fn a_temporary_redirect_is_asked_again_every_time() {
    let script = pages(|url, _| match url.host_str().unwrap() {
        "old.example" => redirect(302, &url.as_str().replace("old.example", "new.example")),
        _ => ok("{}"),
    });
    let store = store_at("https://old.example/", unpaced(), &script);
    for _ in 0..3 {
        store.meta().await.unwrap();
    }
    assert_eq!(script.page_times().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn memory_is_bounded_and_hosts_that_want_peace_are_forgotten_last() {
    let script = pages(|url, _| {
        if url.host_str() == Some("held.example") {
            throttled(Some("90000"))
        } else {
            ok("{}")
        }
    });
    let front = storefront(
        StorefrontConfig {
            hosts_max: 64,
            ..unpaced()
        },
        &script,
    );
    let held = front.store(&"https://held.example".parse().unwrap()).unwrap();
    held.meta().await.unwrap_err();
    for n in 0..1000 {
        front
            .store(&format!("https://brand-{n}.example").parse().unwrap())
            .unwrap()
            .meta()
            .await
            .unwrap();
        assert!(front.hosts_known() <= 64);
    }
    let asked = script.urls().len();
    assert!(matches!(held.meta().await, Err(StoreError::Throttled { .. })));
    assert_eq!(script.urls().len(), asked, "still left alone");
}

#[tokio::test(start_paused = true)]
async fn a_move_is_forgotten_when_the_new_host_fails() {
    let script = pages(|url, nth| match (url.host_str().unwrap(), nth) {
        ("old.example", 3..) => ok("{\"back\":1}"),
        ("old.example", _) => redirect(301, &url.as_str().replace("old.example", "new.example")),
        (_, 2) => status(502),
        _ => ok("{}"),
    });
    let store = store_at("https://old.example/", unpaced(), &script);
    store.meta().await.unwrap();
    assert_eq!(page(store.meta().await.unwrap()).bytes, "{\"back\":1}");
}

#[tokio::test(start_paused = true)]
async fn the_validator_is_sent_and_304_is_not_modified() {
    let script = pages(|_, _| status(304));
    let store = store(unpaced(), &script);
    assert_eq!(
        store.products_page(1, 250, Some("\"cacheable:1\"")).await.unwrap(),
        FetchOutcome::NotModified
    );
    assert_eq!(script.headers.lock().unwrap()[1]["if-none-match"], "\"cacheable:1\"");
    assert!(
        matches!(
            store.products_page(1, 250, None).await,
            Err(StoreError::Status { status: 304 })
        ),
        "unasked"
    );
}

#[tokio::test(start_paused = true)]
async fn every_request_says_who_we_are_and_a_country_pins_the_prices() {
    let script = pages(|_, _| ok("{}"));
    store(unpaced(), &script).meta().await.unwrap();
    let pinned = StorefrontConfig {
        country: Some("IN".to_owned()),
        ..unpaced()
    };
    store(pinned, &script).products_page(2, 50, None).await.unwrap();
    let headers = script.headers.lock().unwrap();
    assert!(
        headers
            .iter()
            .all(|headers| headers["user-agent"] == "haat/0.0 (+https://haat.market/bot; bots@haat.market)")
    );
    assert!(headers[1].get("cookie").is_none());
    assert_eq!(headers[3]["cookie"], "localization=IN");
    assert_eq!(
        script.urls()[3],
        "https://brand.example/products.json?limit=50&page=2&country=IN"
    );
}

#[tokio::test]
async fn a_country_can_be_chosen_per_store() {
    let script = pages(|_, _| ok("{}"));
    let config = StorefrontConfig {
        country: Some("IN".to_owned()),
        ..unpaced()
    };
    let pinned = store(config, &script);
    pinned.clone().in_country(Some("AE")).unwrap().meta().await.unwrap();
    pinned.clone().in_country(None).unwrap().meta().await.unwrap();
    assert!(matches!(pinned.in_country(Some("ae&x=1")), Err(StoreError::Url { .. })));
    assert_eq!(
        script.urls()[1..],
        [
            "https://brand.example/meta.json?country=AE",
            "https://brand.example/meta.json"
        ]
    );
    let headers = script.headers.lock().unwrap();
    assert_eq!(headers[1]["cookie"], "localization=AE");
    assert!(headers[2].get("cookie").is_none());
}

#[tokio::test(start_paused = true)]
async fn what_fails_behind_a_redirect_counts_against_the_store_that_redirects() {
    for (robots_too, code) in [(false, 500), (true, 500), (false, 429), (false, 430), (false, 0)] {
        let script = ScriptedTransport::new(move |url, _| match (url.host_str().unwrap(), url.path()) {
            ("other.example", "/robots.txt") if !robots_too => status(404),
            ("other.example", _) => redirect(302, "https://brand.example/fails"),
            (_, "/fails") if code == 0 => Reply::Hang,
            (_, "/fails") if code == 429 => throttled(Some("100")),
            (_, "/fails") => status(code),
            (_, "/robots.txt") => status(404),
            _ => ok("{}"),
        });
        let config = StorefrontConfig {
            retries_max: 0,
            breaker_failures: 3,
            ..unpaced()
        };
        let front = storefront(config, &script);
        let other = front.store(&"https://other.example".parse().unwrap()).unwrap();
        let brand = front.store(&"https://brand.example".parse().unwrap()).unwrap();
        for _ in 0..6 {
            other.meta().await.unwrap_err();
        }
        let begun = Instant::now();
        brand.meta().await.unwrap();
        assert!(
            begun.elapsed() < Duration::from_secs(1),
            "{code}: no hold, no other pace"
        );
        let asked = script.urls().len();
        let error = other.meta().await.unwrap_err();
        match code {
            _ if robots_too => assert!(matches!(error, StoreError::RobotsUnavailable { .. }), "{error:?}"),
            500 | 0 => {
                assert!(matches!(error, StoreError::BreakerOpen { .. }), "{code}: {error:?}");
                assert_eq!(script.urls().len(), asked, "the store that redirects is left alone");
            }
            _ => assert!(matches!(error, StoreError::Throttled { .. }), "{code}: {error:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_redirect_does_not_try_a_store_that_is_left_alone() {
    let script = pages(|url, nth| match url.host_str().unwrap() {
        "other.example" => redirect(302, "https://brand.example/meta.json"),
        _ if nth == 0 => status(500),
        _ => ok("{}"),
    });
    let config = StorefrontConfig {
        retries_max: 0,
        breaker_failures: 1,
        ..unpaced()
    };
    let front = storefront(config, &script);
    let other = front.store(&"https://other.example".parse().unwrap()).unwrap();
    let brand = front.store(&"https://brand.example".parse().unwrap()).unwrap();
    brand.meta().await.unwrap_err();
    assert!(matches!(other.meta().await, Err(StoreError::BreakerOpen { .. })));
    advance(Duration::from_secs(31)).await;
    assert!(
        matches!(other.meta().await, Err(StoreError::BreakerOpen { .. })),
        "nor is it the trial"
    );
    brand.meta().await.unwrap();
    other.meta().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_store_that_moved_is_asked_at_the_pace_that_its_new_host_asks_for() {
    let script = pages(|url, nth| match url.host_str().unwrap() {
        "old.example" => redirect(301, &url.as_str().replace("old.example", "new.example")),
        _ if nth == 2 => throttled(Some("50")),
        _ => ok("{}"),
    });
    let store = store_at("https://old.example/", unpaced(), &script);
    store.meta().await.unwrap();
    store.meta().await.unwrap();
    let times = script.page_times();
    assert!(times[3] - times[2] >= 50_000, "{times:?}");
}

#[tokio::test(start_paused = true)]
async fn an_unsafe_call_is_sent_to_the_host_where_its_store_lives() {
    for code in [301, 307, 308] {
        let script = pages(move |url, _| match url.host_str().unwrap() {
            "www.brand.example" => redirect(code, "https://brand.example/x"),
            _ => ok("{}"),
        });
        let page = store_at("https://www.brand.example", unpaced(), &script)
            .post_json("/x", &json!({}), Effect::Unsafe)
            .await
            .unwrap();
        assert_eq!(page.url.as_str(), "https://brand.example/x");
        assert_eq!(
            script.posted_to(),
            ["https://www.brand.example/x", "https://brand.example/x"]
        );
    }
}
