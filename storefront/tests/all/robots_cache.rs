//! Tests of the cache of robots.txt, also while the file cannot be read. Time is paused.

use std::sync::Arc;
use std::time::Duration;

use storefront::{Accept, StoreError, StorefrontConfig, TransportError};
use tokio::time::advance;

use crate::support::{Reply, ScriptedTransport, ok, redirect, status, store, unpaced};

fn robots(file: &'static str) -> Arc<ScriptedTransport> {
    ScriptedTransport::new(move |url, _| {
        if url.path() == "/robots.txt" {
            ok(file)
        } else {
            ok("{}")
        }
    })
}

#[tokio::test(start_paused = true)]
async fn robots_txt_is_asked_first_believed_for_a_day_and_obeyed() {
    let script = robots("User-agent: *\nDisallow: /search\n");
    let store = store(unpaced(), &script);
    store.meta().await.unwrap();
    let error = store.get("/search?q=secret", Accept::Html).await.unwrap_err();
    assert_eq!(error.to_string(), "robots.txt of brand.example:443 disallows /search");
    assert!(!error.is_transient());
    advance(Duration::from_secs(86_399)).await;
    store.meta().await.unwrap();
    advance(Duration::from_secs(2)).await;
    store.meta().await.unwrap();
    let paths: Vec<String> = script
        .urls()
        .iter()
        .map(|url| url.replace("https://brand.example", ""))
        .collect();
    assert_eq!(
        paths,
        ["/robots.txt", "/meta.json", "/meta.json", "/robots.txt", "/meta.json"]
    );
}

#[tokio::test(start_paused = true)]
async fn our_own_product_token_is_the_one_that_counts() {
    let script = robots("User-agent: haat\nDisallow: /\n\nUser-agent: *\nAllow: /\n");
    assert!(matches!(
        store(unpaced(), &script).meta().await,
        Err(StoreError::RobotsDisallowed { .. })
    ));
    let other = StorefrontConfig {
        user_agent: "otherbot/2 (+mailto:x@y.example)".to_owned(),
        ..unpaced()
    };
    store(other, &script).meta().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_crawl_delay_is_kept_and_a_store_that_asks_for_a_longer_one_than_the_cap_is_left_alone() {
    for (file, gap) in [
        ("User-agent: *\nCrawl-delay: 5\n", 5_000),
        ("User-agent: *\nCrawl-delay: 60\n", 60_000),
    ] {
        let script = robots(file);
        let store = store(unpaced(), &script);
        for _ in 0..3 {
            store.meta().await.unwrap();
        }
        let times = script.page_times();
        assert_eq!(
            times.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>(),
            vec![gap; 2]
        );
    }
    for (pause, file) in [
        ("61", "User-agent: *\nCrawl-delay: 61\n"),
        ("3600", "User-agent: *\nCrawl-delay: 3600\n"),
        ("86400", "User-agent: *\nCrawl-delay: 86400\n"),
    ] {
        let script = robots(file);
        let error = store(unpaced(), &script).meta().await.unwrap_err();
        assert!(matches!(error, StoreError::RobotsDisallowed { .. }), "{error}");
        assert!(
            error
                .to_string()
                .ends_with(&format!("more than one request in {pause} s")),
            "{error}"
        );
        assert_eq!(script.urls().len(), 1, "nothing but robots.txt is asked for");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_robots_txt_everything_is_allowed() {
    for code in [400, 401, 403, 404, 410, 451] {
        let script = ScriptedTransport::new(move |url, _| {
            if url.path() == "/robots.txt" {
                status(code)
            } else {
                ok("{}")
            }
        });
        store(unpaced(), &script).meta().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn while_robots_txt_fails_nothing_is_fetched_until_it_is_asked_again() {
    let script = ScriptedTransport::new(|url, _| {
        if url.path() != "/robots.txt" {
            return ok("{}");
        }
        status(500)
    });
    let config = StorefrontConfig {
        retries_max: 1,
        breaker_failures: 100,
        ..unpaced()
    };
    let store = store(config, &script);
    for _ in 0..3 {
        let error = store.meta().await.unwrap_err();
        assert!(matches!(error, StoreError::RobotsUnavailable { .. }), "{error}");
        assert!(error.is_transient());
    }
    assert_eq!(script.urls().len(), 2, "asked twice, then left alone");
    advance(Duration::from_secs(300)).await;
    store.meta().await.unwrap_err();
    assert_eq!(script.urls().len(), 4);
    assert_eq!(script.page_times(), Vec::<u64>::new());
}

#[tokio::test(start_paused = true)]
async fn an_old_robots_txt_stands_while_the_new_one_fails() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let script = ScriptedTransport::new(move |url, _| match url.path() {
        "/robots.txt" if asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0 => status(503),
        "/robots.txt" => ok("User-agent: *\nDisallow: /search\n"),
        _ => ok("{}"),
    });
    let store = store(
        StorefrontConfig {
            retries_max: 0,
            ..unpaced()
        },
        &script,
    );
    store.meta().await.unwrap();
    advance(Duration::from_secs(90_000)).await;
    store.meta().await.unwrap();
    assert!(matches!(
        store.get("/search", Accept::Any).await,
        Err(StoreError::RobotsDisallowed { .. })
    ));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_cannot_be_reached_says_so_and_nothing_is_fetched() {
    let script = ScriptedTransport::new(|url, _| {
        if url.path() == "/robots.txt" {
            Reply::Fail(TransportError::Connect("refused".into()))
        } else {
            ok("{}")
        }
    });
    let store = store(
        StorefrontConfig {
            retries_max: 0,
            ..unpaced()
        },
        &script,
    );
    assert!(matches!(store.meta().await, Err(StoreError::Connect { .. })));
    assert_eq!(script.page_times(), Vec::<u64>::new());
}

#[tokio::test(start_paused = true)]
async fn redirects_of_robots_txt_are_followed_five_times() {
    let file = |hops: usize| {
        ScriptedTransport::new(move |url, _| match url.path() {
            "/robots.txt" => redirect(301, "/r/1"),
            path => match path.strip_prefix("/r/").map(|hop| hop.parse::<usize>().unwrap()) {
                Some(hop) if hop < hops => redirect(302, &format!("/r/{}", hop + 1)),
                Some(_) => ok("User-agent: *\nDisallow: /\n"),
                None => ok("{}"),
            },
        })
    };
    assert!(matches!(
        store(unpaced(), &file(5)).meta().await,
        Err(StoreError::RobotsDisallowed { .. })
    ));
    store(unpaced(), &file(6))
        .meta()
        .await
        .expect("beyond five it counts as missing");
}

#[tokio::test(start_paused = true)]
async fn a_redirected_host_has_its_own_robots_txt_and_pace() {
    let script = ScriptedTransport::new(|url, _| match (url.host_str().unwrap(), url.path()) {
        ("brand.example", "/robots.txt") => ok(""),
        ("brand.example", _) => redirect(302, "https://shop.brand.example/products.json?limit=250&page=1"),
        (_, "/robots.txt") => ok("User-agent: *\nDisallow: /products.json\n"),
        _ => ok("{}"),
    });
    let error = store(StorefrontConfig::default(), &script)
        .products_page(1, 250, None)
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::RobotsDisallowed { host, .. } if host == "shop.brand.example:443"));
    assert_eq!(
        *script.log.lock().unwrap().last().unwrap(),
        (1000, "https://shop.brand.example/robots.txt".to_owned()),
        "at its own pace"
    );
}

#[tokio::test]
async fn a_robots_txt_elsewhere_is_read_from_public_addresses_only() {
    for location in [
        "http://169.254.169.254/robots.txt",
        "https://10.0.0.1/robots.txt",
        "http://brand.example/robots.txt",
    ] {
        let script = ScriptedTransport::new(move |url, _| {
            if url.path() == "/robots.txt" {
                redirect(302, location)
            } else {
                ok("{}")
            }
        });
        let error = store(unpaced(), &script).meta().await.unwrap_err();
        assert!(
            matches!(error, StoreError::AddressRefused { .. } | StoreError::Redirect { .. }),
            "{error:?}"
        );
        assert_eq!(script.urls().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_throttled_robots_txt_is_asked_for_again_not_taken_for_missing() {
    let script = ScriptedTransport::new(|url, _| {
        if url.path() == "/robots.txt" {
            status(429)
        } else {
            ok("{}")
        }
    });
    let store = store(unpaced(), &script);
    assert!(matches!(store.meta().await, Err(StoreError::Throttled { .. })));
    assert!(matches!(store.meta().await, Err(StoreError::Throttled { .. })));
    assert_eq!(script.page_times(), Vec::<u64>::new());
    assert_eq!(script.urls().len(), 8);
}
