//! Tests of POST requests: their URL, and how failures are handled depending on the call's effect at the store.

use std::time::Duration;

use data_model::{Classify, ErrorCode, Retry};
use serde_json::json;
use serde_json::value::RawValue;
use storefront::{Effect, RedirectFault, StoreError, StorefrontConfig, TransportError};
use tokio::time::{Instant, sleep};

use crate::support::{Reply, ScriptedTransport, ok, pages, redirect, status, store, store_at, throttled, unpaced};

const EVERY: [Effect; 3] = [Effect::Safe, Effect::Idempotent, Effect::Unsafe];
const TWICE: [Effect; 2] = [Effect::Safe, Effect::Idempotent];

fn broken() -> Reply {
    Reply::Fail(TransportError::Broken("reset".into()))
}

#[tokio::test(start_paused = true)]
async fn what_is_posted_arrives_as_json() {
    let script = pages(|_, _| ok(r#"{"done":true}"#));
    let store = store_at("https://brand.example/en-in", unpaced(), &script);
    let raw = RawValue::from_string(r#"{"n": 1.50}"#.to_owned()).unwrap();
    let page = store.post_json("/cart/add.js", &*raw, Effect::Safe).await.unwrap();
    assert_eq!(page.bytes, r#"{"done":true}"#);
    store
        .post_json("/cart/add.js?a=1", &json!({"items": [1]}), Effect::Unsafe)
        .await
        .unwrap();
    insta::assert_debug_snapshot!(script.posts.lock().unwrap(), @r#"
    [
        (
            "https://brand.example/en-in/cart/add.js",
            "{\"n\": 1.50}",
        ),
        (
            "https://brand.example/en-in/cart/add.js?a=1",
            "{\"items\":[1]}",
        ),
    ]
    "#);
    let headers = script.headers.lock().unwrap();
    let sent = headers.last().unwrap();
    assert_eq!(sent["content-type"], "application/json");
    assert!(sent["accept"].to_str().unwrap().starts_with("application/json"));
    assert!(sent.contains_key("user-agent"));
    assert!(!sent.contains_key("cookie"));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_written_is_not_sent() {
    let script = pages(|_, _| ok("{}"));
    let odd = std::collections::HashMap::from([((1, 2), 3)]);
    let error = store(unpaced(), &script)
        .post_json("/x", &odd, Effect::Safe)
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
    assert!(script.urls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_path_of_another_host_is_not_posted_to() {
    let script = pages(|_, _| ok("{}"));
    let store = store(unpaced(), &script);
    for path in ["//evil.example/x", "/\\evil.example/x", "https://evil.example/x", "x"] {
        let error = store.post_json(path, &json!({}), Effect::Safe).await.unwrap_err();
        assert!(matches!(error, StoreError::Url { .. }), "{path}: {error}");
    }
    assert!(script.urls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn calls_that_may_be_made_twice_are_retried_and_others_never() {
    for fail in [
        || status(502),
        broken,
        || Reply::Torn(200),
        || Reply::Hang,
        || throttled(None),
        || Reply::Fail(TransportError::ConnectTimeout),
        || Reply::Fail(TransportError::Connect("refused".into())),
    ] {
        for effect in EVERY {
            let script = pages(move |_, nth| if nth == 0 { fail() } else { ok("{}") });
            let outcome = store(unpaced(), &script).post_json("/x", &json!({}), effect).await;
            let sent = if effect == Effect::Unsafe { 1 } else { 2 };
            assert_eq!(script.posted_to().len(), sent, "{effect:?} {outcome:?}");
            assert_eq!(outcome.is_err(), effect == Effect::Unsafe, "{effect:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_unsafe_call_that_was_not_answered_has_an_unknown_outcome() {
    for (reply, source) in [
        (
            broken as fn() -> Reply,
            "the HTTP exchange with brand.example:443 failed",
        ),
        (|| Reply::Fail(TransportError::Truncated), "the body ended early"),
        (
            || Reply::Fail(TransportError::Head),
            "the HTTP exchange with brand.example:443 failed",
        ),
        (|| Reply::Torn(200), "the body ended early"),
        (|| Reply::Hang, "no complete response within 30000 ms"),
        (|| ok("{\"half\":"), "the body ended early"),
        (|| ok("<html>"), "the store's response is not JSON"),
        (
            || Reply::Answer(200, vec![("content-encoding", "zstd".to_owned())], "{}"),
            "the body cannot be decoded",
        ),
        (
            || Reply::Answer(200, vec![("content-length", "99999999999".to_owned())], "{}"),
            "the body is larger than 33554432 bytes (on the wire)",
        ),
        (|| status(500), "the store answers with status 500"),
        (|| status(501), "the store answers with status 501"),
        (|| status(502), "the store answers with status 502"),
        (|| status(503), "the store answers with status 503"),
        (|| status(504), "the store answers with status 504"),
        (|| status(520), "the store answers with status 520"),
        (|| status(524), "the store answers with status 524"),
        (|| Reply::Torn(502), "the store answers with status 502"),
        (
            || Reply::Answer(503, vec![("retry-after", "1".to_owned())], ""),
            "the store asks us to slow down for 1 s",
        ),
    ] {
        let script = pages(move |_, _| reply());
        let error = store(unpaced(), &script)
            .post_json("/x", &json!({}), Effect::Unsafe)
            .await
            .unwrap_err();
        let StoreError::OutcomeUnknown { host, source: cause } = &error else {
            panic!("{error:?}")
        };
        assert_eq!(
            (host.as_str(), cause.to_string().as_str()),
            ("brand.example:443", source)
        );
        assert_eq!(error.retry(), Retry::Never, "it must be looked up first");
        assert!(!error.is_transient());
        assert_eq!(script.posted_to().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_unsafe_call_that_was_not_sent_or_was_answered_is_no_unknown_outcome() {
    for reply in [
        (|| Reply::Fail(TransportError::Connect("refused".into()))) as fn() -> Reply,
        || Reply::Fail(TransportError::ConnectTimeout),
        || Reply::Answer(503, vec![("cf-mitigated", "challenge".to_owned())], ""),
        || throttled(None),
        || status(430),
        || status(404),
        || status(402),
        || Reply::Torn(404),
        || redirect(302, "/password"),
    ] {
        let script = pages(move |_, _| reply());
        let error = store(unpaced(), &script)
            .post_json("/x", &json!({}), Effect::Unsafe)
            .await
            .unwrap_err();
        assert!(!matches!(error, StoreError::OutcomeUnknown { .. }), "{error}");
        assert_eq!(script.posted_to().len(), 1);
    }
    let script = ScriptedTransport::new(|_, _| status(503));
    let error = store(unpaced(), &script)
        .post_json("/x", &json!({}), Effect::Unsafe)
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::RobotsUnavailable { .. }), "{error}");
    assert!(script.posted_to().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_one_attempt_left_open_no_refusal_of_the_next_one_closes() {
    for refusal in [|| throttled(None), || status(503), || status(404)] {
        let script = pages(move |_, nth| if nth == 0 { status(502) } else { refusal() });
        let error = store(unpaced(), &script)
            .post_json("/x", &json!({}), Effect::Idempotent)
            .await
            .unwrap_err();
        assert!(error.leaves_open(), "{error}");
    }
    let script = pages(|_, nth| if nth == 0 { throttled(None) } else { status(404) });
    let error = store(unpaced(), &script)
        .post_json("/x", &json!({}), Effect::Idempotent)
        .await
        .unwrap_err();
    assert!(!error.leaves_open(), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_in_flight_is_an_unknown_outcome_of_an_unsafe_call_alone() {
    for effect in EVERY {
        let script = pages(|_, _| Reply::Hang);
        let store = store(unpaced(), &script);
        store.robots().await.unwrap();
        let asked = Instant::now();
        let store = store.with_deadline(asked + Duration::from_millis(2500));
        let error = store.post_json("/x", &json!({}), effect).await.unwrap_err();
        assert_eq!(asked.elapsed(), Duration::from_millis(2500));
        if effect == Effect::Unsafe {
            assert!(matches!(error, StoreError::OutcomeUnknown { .. }), "{error}");
        } else {
            assert!(matches!(error, StoreError::Deadline { wait: None }), "{error}");
            assert_eq!(error.code(), ErrorCode::StoreTimeout);
        }
        // The deadline passes before the next attempt is sent.
        let error = store.post_json("/x", &json!({}), effect).await.unwrap_err();
        assert!(matches!(error, StoreError::Deadline { .. }), "{error}");
        assert_eq!(script.posted_to().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn robots_txt_is_obeyed_by_what_is_posted() {
    let script = ScriptedTransport::new(|url, _| match url.path() {
        "/robots.txt" => ok("User-agent: *\nDisallow: /cart\nDisallow: /policies/\n"),
        _ => ok("{}"),
    });
    let store = store(unpaced(), &script);
    for effect in EVERY {
        let error = store.post_json("/cart/add.js", &json!({}), effect).await.unwrap_err();
        assert!(
            matches!(&error, StoreError::RobotsDisallowed { disallowed, .. } if disallowed == "/cart/add.js"),
            "{error}"
        );
        store
            .post_json("/api/2026-04/graphql.json", &json!({}), effect)
            .await
            .unwrap();
    }
    assert_eq!(
        script.posted_to(),
        vec!["https://brand.example/api/2026-04/graphql.json"; 3]
    );
}

#[tokio::test(start_paused = true)]
async fn an_unsafe_call_is_not_sent_again_where_a_redirect_may_follow_what_was_done() {
    for (code, location, fault) in [
        (302, "https://new.example/x", RedirectFault::Unsafe),
        (303, "https://new.example/x", RedirectFault::Unsafe),
        (301, "https://new.example/thanks", RedirectFault::Unsafe),
        (308, "https://old.example/x", RedirectFault::Unsafe),
        (301, "https://evil.example/x", RedirectFault::Foreign),
    ] {
        let script = pages(move |url, _| match url.host_str().unwrap() {
            "old.example" => redirect(code, location),
            _ => ok("{}"),
        });
        let error = store_at("https://old.example", unpaced(), &script)
            .with_own_hosts(["new.example"])
            .post_json("/x", &json!({}), Effect::Unsafe)
            .await
            .unwrap_err();
        assert!(
            matches!(&error, StoreError::Redirect { fault: found, .. } if *found == fault),
            "{code} {location}: {error}"
        );
        assert_eq!(script.posted_to(), ["https://old.example/x"]);
    }
}

#[tokio::test(start_paused = true)]
async fn other_calls_are_posted_again_at_the_same_path_of_the_new_host() {
    for effect in TWICE {
        for (code, location, found) in [
            (
                301,
                "https://new.example/api/graphql.json",
                "https://new.example/api/graphql.json",
            ),
            (302, "https://new.example/", "https://new.example/api/graphql.json"),
            (
                303,
                "https://new.example/lost?x=1",
                "https://new.example/api/graphql.json",
            ),
            (307, "https://new.example/other?x=1", "https://new.example/other?x=1"),
            (308, "/other", "https://old.example/other"),
        ] {
            let script = pages(move |url, _| match (url.host_str().unwrap(), url.path()) {
                ("old.example", "/api/graphql.json") => redirect(code, location),
                _ => ok("{}"),
            });
            let page = store_at("https://old.example", unpaced(), &script)
                .with_own_hosts(["www.new.example"])
                .post_json("/api/graphql.json", &json!({"q": 1}), effect)
                .await
                .unwrap();
            assert_eq!(page.url.as_str(), found);
            let posts = script.posts.lock().unwrap();
            assert_eq!(posts.len(), 2);
            assert_eq!(posts[1], (found.to_owned(), r#"{"q":1}"#.to_owned()));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_redirect_to_a_page_of_the_same_host_is_not_posted_to() {
    for code in [301, 302, 303] {
        let script = pages(move |_, _| redirect(code, "/pages/thanks"));
        let error = store(unpaced(), &script)
            .post_json("/x", &json!({}), Effect::Safe)
            .await
            .unwrap_err();
        assert!(
            matches!(
                error,
                StoreError::Redirect {
                    fault: RedirectFault::Page,
                    ..
                }
            ),
            "{error}"
        );
        assert_eq!(script.posted_to().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_posted_follows_no_redirect_that_a_page_would_not() {
    for (location, is_refused) in [
        (
            "http://new.example/x",
            (|error: &StoreError| {
                matches!(
                    error,
                    StoreError::Redirect {
                        fault: RedirectFault::Downgrade,
                        ..
                    }
                )
            }) as fn(&StoreError) -> bool,
        ),
        ("https://127.0.0.1/x", |error| {
            matches!(
                error,
                StoreError::AddressRefused { .. }
                    | StoreError::Redirect {
                        fault: RedirectFault::Inward,
                        ..
                    }
            )
        }),
        ("https://10.0.0.1/x", |error| {
            matches!(error, StoreError::AddressRefused { .. })
        }),
        ("https://169.254.169.254/x", |error| {
            matches!(error, StoreError::AddressRefused { .. })
        }),
        ("https://brand.example/password", |error| {
            matches!(error, StoreError::PasswordPage)
        }),
    ] {
        for allow_loopback in [false, true] {
            let script = pages(move |_, _| redirect(307, location));
            let config = StorefrontConfig {
                allow_loopback,
                ..unpaced()
            };
            let error = store(config, &script)
                .post_json("/x", &json!({}), Effect::Safe)
                .await
                .unwrap_err();
            assert!(is_refused(&error), "{location}: {error}");
            assert_eq!(script.posted_to().len(), 1);
        }
    }
    let script = pages(|url, _| redirect(307, url.as_str()));
    let error = store(unpaced(), &script)
        .post_json("/x", &json!({}), Effect::Safe)
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Redirect {
                fault: RedirectFault::TooMany,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(script.posted_to().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn an_unsafe_call_goes_where_the_store_has_moved_to_on_the_brands_own_hosts() {
    let script = pages(|url, _| match url.host_str().unwrap() {
        "x.myshopify.com" => redirect(301, &url.as_str().replace("x.myshopify.com", "brand.example")),
        _ => ok("{}"),
    });
    let store = store_at("https://x.myshopify.com", unpaced(), &script).with_own_hosts(["brand.example"]);
    for effect in [Effect::Unsafe, Effect::Safe, Effect::Unsafe] {
        store.post_json("/x", &json!({}), effect).await.unwrap();
    }
    // The first call followed the redirect, and later calls went to its target directly.
    assert_eq!(
        script.posted_to(),
        [
            "https://x.myshopify.com/x",
            "https://brand.example/x",
            "https://brand.example/x",
            "https://brand.example/x"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_private_is_posted_to_a_host_that_is_not_the_brands_own() {
    let foreign = |error: StoreError| {
        let is_it = matches!(
            error,
            StoreError::Redirect {
                fault: RedirectFault::Foreign | RedirectFault::Unsafe,
                ..
            }
        );
        assert!(is_it, "{error}");
    };
    for code in [301, 302, 307, 308] {
        for to in ["https://evil.example", "https://brand.example.evil.example"] {
            let script = pages(move |url, _| {
                let is_home = url.host_str() == Some("brand.example");
                let at = format!("{to}{}", url.path());
                if is_home { redirect(code, &at) } else { ok("{}") }
            });
            let store = store_at("https://brand.example", unpaced(), &script).with_own_hosts(["x.myshopify.com"]);
            // A call with private data does not use a remembered redirect of pages, not even a permanent one.
            store.meta().await.unwrap();
            let signed_in = store.clone().with_token(data_model::Secret::new("token"));
            let query = storefront::GraphqlRequest::new("query Shop { shop { name } }", "Shop", json!({}));
            foreign(signed_in.graphql(&query, Effect::Safe).await.unwrap_err());
            for effect in [Effect::Idempotent, Effect::Unsafe] {
                foreign(
                    store
                        .post_json("/x", &json!({ "password": "p" }), effect)
                        .await
                        .unwrap_err(),
                );
            }
            let posted = script.posted_to();
            assert!(
                posted.iter().all(|url| url.starts_with("https://brand.example/")),
                "{posted:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_posted_keeps_the_pace_of_what_is_read() {
    let script = pages(|_, _| ok("{}"));
    let config = StorefrontConfig {
        rate_growth: 0.0,
        ..StorefrontConfig::default()
    };
    let store = store(config, &script);
    store.meta().await.unwrap();
    store.post_json("/x", &json!({}), Effect::Unsafe).await.unwrap();
    store.meta().await.unwrap();
    assert_eq!(script.page_times(), [1000, 2000, 3000]);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_opens_its_breaker_though_nobody_waits_long_for_it() {
    for (given_ms, is_open) in [(1500, true), (200, false)] {
        let script = pages(|_, _| Reply::Hang);
        let config = StorefrontConfig {
            breaker_failures: 3,
            ..unpaced()
        };
        let store = store(config, &script);
        store.robots().await.unwrap();
        for _ in 0..5 {
            let store = store
                .clone()
                .with_deadline(Instant::now() + Duration::from_millis(given_ms));
            store.meta().await.unwrap_err();
            sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(
            script.page_times().len(),
            if is_open { 3 } else { 5 },
            "given {given_ms} ms"
        );
    }
}
