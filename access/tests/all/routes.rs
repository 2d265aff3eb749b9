//! Tests of the operations for plans and quota.

use std::collections::BTreeSet;
use std::sync::Arc;

use access::schema::KeyWay;
use access::{Access, AccessParts, LimitsConfig, Plans, open_router};
use api::{EdgeConfig, Guard, NoCredentials};
use kit::SetClock;
use serde_json::Value;
use state::Plan;

use crate::site::{Site, answer};
use crate::support::EVENING;

#[expect(clippy::too_many_lines, reason = "one whole answer")]
#[tokio::test]
async fn anybody_is_told_the_access_policy() {
    let site = Site::open().await;
    let answer = site.get("/v1/plans").await;
    assert_eq!(answer.header("cache-control"), "no-store");
    insta::assert_snapshot!(answer.told(&[("[\n        \"mail\",\n        \"operator\"\n      ]", "WAYS")]), @r#"
    200 {
      "as_of": "2026-11-23T18:00:00Z",
      "data": {
        "get_a_key": {
          "description": "Keys are free: sign in at this path with a link that is sent by e-mail, or with a link from the operator, and create a key. It is shown only once.",
          "headers": [
            "X-Service-Key: <key>",
            "Authorization: Bearer <key>"
          ],
          "path": "/dashboard/",
          "ways": WAYS
        },
        "keyed_operations": [
          "account_action",
          "add_cart_discount",
          "add_cart_lines",
          "choose_cart_delivery",
          "create_cart",
          "create_checkout",
          "create_watch",
          "delete_watch",
          "end_cart",
          "find_coupons",
          "get_cart",
          "get_me",
          "get_watch",
          "list_changes",
          "list_watch_events",
          "list_watches",
          "optimize_cart",
          "remove_cart_discount",
          "remove_cart_line",
          "replace_cart_lines",
          "rotate_watch_secret",
          "set_cart_address",
          "test_watch",
          "update_cart_line",
          "update_watch"
        ],
        "plans": [
          {
            "burst": 20,
            "daily_limit": null,
            "description": "For everyone without a key. Each client address is counted separately (for IPv6, each /64 network).",
            "name": "anonymous",
            "needs_key": false,
            "rate_limit_rps": 5,
            "unlimited": false
          },
          {
            "burst": 60,
            "daily_limit": 50000,
            "description": "For holders of a key, and for people who are signed in. Each key and each account is counted separately.",
            "name": "free",
            "needs_key": true,
            "rate_limit_rps": 20,
            "unlimited": false
          },
          {
            "burst": 2147483647,
            "daily_limit": null,
            "description": "For keys to which the operator has granted higher limits.",
            "name": "granted",
            "needs_key": true,
            "rate_limit_rps": 2147483647,
            "unlimited": true
          }
        ]
      },
      "provenance": {
        "engine": "access"
      },
      "tier": "live"
    }
    "#);
}

#[tokio::test]
async fn quota_tells_an_anonymous_caller_the_limit_of_each_address() {
    let site = Site::open().await;
    let answer = site.get("/v1/quota").await;
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("ratelimit-policy"), "\"burst\";q=20;w=4");
    assert_eq!(answer.header("ratelimit"), "\"burst\";r=19;t=1");
    insta::assert_snapshot!(answer.told(&[]), @r#"
    200 {
      "as_of": "2026-11-23T18:00:00Z",
      "data": {
        "burst": 20,
        "daily_limit": null,
        "note": "5 requests per second on average, 20 at once, shared by all clients at your address. /v1/plans describes the limits of keys, and how to get one.",
        "plan": "anonymous",
        "rate_limit_rps": 5,
        "remaining_today": null,
        "resets_at": null,
        "unlimited": false
      },
      "provenance": {
        "engine": "access"
      },
      "tier": "live"
    }
    "#);
}

#[tokio::test]
async fn quota_tells_a_key_its_own_limit_and_what_is_left_today() {
    let site = Site::open().await;
    let (key, _) = site.key("App", Plan::Free, None).await;
    site.get_with("/v1/plans", &key).await;
    let answer = site.get_with("/v1/quota", &key).await;
    assert_eq!(answer.header("ratelimit"), "\"burst\";r=58;t=1, \"day\";r=49998;t=1800");
    insta::assert_snapshot!(answer.told(&[]), @r#"
    200 {
      "as_of": "2026-11-23T18:00:00Z",
      "data": {
        "burst": 60,
        "daily_limit": 50000,
        "note": "20 requests per second on average, 60 at once, 50000 on one of the market's days.",
        "plan": "free",
        "rate_limit_rps": 20,
        "remaining_today": 49998,
        "resets_at": "2026-11-23T18:30:00Z",
        "unlimited": false
      },
      "provenance": {
        "engine": "access"
      },
      "tier": "live"
    }
    "#);
}

#[tokio::test]
async fn quota_tells_a_granted_key_that_nothing_is_limited() {
    let site = Site::open().await;
    let (key, _) = site.key("Partner", Plan::Granted, None).await;
    let answer = site.get_with("/v1/quota", &key).await;
    assert_eq!(answer.header("ratelimit"), "");
    insta::assert_snapshot!(answer.told(&[]), @r#"
    200 {
      "as_of": "2026-11-23T18:00:00Z",
      "data": {
        "burst": 2147483647,
        "daily_limit": null,
        "note": "There is no limit; 2147483647 stands for an unlimited number.",
        "plan": "granted",
        "rate_limit_rps": 2147483647,
        "remaining_today": null,
        "resets_at": null,
        "unlimited": true
      },
      "provenance": {
        "engine": "access"
      },
      "tier": "live"
    }
    "#);
}

#[tokio::test]
async fn what_changed_is_told_as_markdown_and_described() {
    let site = Site::open().await;
    let told = site.get("/v1/changelog").await;
    assert_eq!(
        (told.status, told.header("content-type")),
        (200, "text/markdown; charset=utf-8")
    );
    assert!(told.body.starts_with("# Changelog\n"), "{}", told.body);
    let known = answer(&site.router, "/v1/changelog", &[("if-none-match", told.header("etag"))]).await;
    assert_eq!((known.status, known.body.as_str()), (304, ""));
    let document: Value = serde_json::from_str(&site.get("/openapi.json").await.body).unwrap();
    let described = &document["paths"]["/v1/changelog"]["get"]["responses"]["200"]["content"];
    assert!(described["text/markdown"].is_object(), "{described}");
}

#[tokio::test]
async fn a_server_that_takes_no_keys_and_limits_nobody_says_so() {
    let access = Access::new(AccessParts {
        plans: Plans::of(&LimitsConfig::default()).unwrap(),
        keyed: BTreeSet::new(),
        limits: None,
        known: None,
        sign_in: vec![],
        clock: SetClock::at(EVENING),
    });
    let guard = Guard {
        identify: Arc::new(NoCredentials),
        ..Guard::default()
    };
    let router = open_router(access).edge(EdgeConfig {
        guard: Arc::new(guard),
        ..EdgeConfig::default()
    });
    let quota: Value = serde_json::from_str(&answer(&router, "/v1/quota", &[]).await.body).unwrap();
    assert_eq!(quota["data"]["unlimited"], true);
    assert_eq!(answer(&router, "/v1/me", &[]).await.status, 401);
    let told = key_how_to(&answer(&router, "/v1/plans", &[]).await.body);
    insta::assert_snapshot!(told, @r#"null [] "This server accepts no keys.""#);
}

fn key_how_to(plans: &str) -> String {
    let plans: Value = serde_json::from_str(plans).unwrap();
    let told = &plans["data"]["get_a_key"];
    format!("{} {} {}", told["path"], told["ways"], told["description"])
}

#[tokio::test]
async fn a_plan_tells_the_ways_to_a_key_that_work_on_this_server_and_no_other() {
    let told = async |sign_in: &[KeyWay]| {
        let site = Site::with_sign_in(sign_in.to_vec()).await;
        key_how_to(&site.get("/v1/plans").await.body)
    };
    insta::assert_snapshot!(told(&[]).await, @r#"null ["operator"] "Ask the operator for a key.""#);
    insta::assert_snapshot!(
        told(&[KeyWay::Operator]).await,
        @r#""/dashboard/" ["operator"] "Keys are free: sign in at this path with a link from the operator, and create a key. It is shown only once.""#
    );
    insta::assert_snapshot!(
        told(&[KeyWay::Provider, KeyWay::Operator]).await,
        @r#""/dashboard/" ["provider","operator"] "Keys are free: sign in at this path with the identity provider that the page names, or with a link from the operator, and create a key. It is shown only once.""#
    );
}

#[test]
fn every_operation_describes_what_it_can_answer() {
    let document = access::openapi();
    let described: Vec<String> = document
        .paths
        .paths
        .iter()
        .map(|(path, item)| {
            let get = item.get.as_ref().unwrap();
            let statuses: Vec<&str> = get.responses.responses.keys().map(String::as_str).collect();
            format!("{path} {} {}", get.operation_id.as_ref().unwrap(), statuses.join(" "))
        })
        .collect();
    insta::assert_snapshot!(described.join("\n"), @r#"
    /v1/changelog get_changelog 200 304 401 405 408 413 414 422 429 431 500 503
    /v1/me get_me 200 401 405 408 413 414 415 422 429 431 500 503
    /v1/plans get_plans 200 401 405 408 413 414 415 422 429 431 500 503
    /v1/quota get_quota 200 401 405 408 413 414 415 422 429 431 500 503
    "#);
}

#[tokio::test]
async fn who_has_reached_the_daily_limit_is_told_so_by_quota_plans_and_me() {
    let site = Site::open().await;
    let (key, _) = site.key("App", Plan::Free, None).await;
    // The new day has just begun.
    site.clock.advance_ms(3_600_000);
    let ask = async |path: &str| site.get_with(path, &key).await;
    for number in 0..50_000 {
        if number % 50 == 0 {
            // Fifty requests become available in two and a half seconds.
            site.clock.advance_ms(2_500);
        }
        assert_eq!(ask("/v1/none").await.status, 404, "{number}");
    }
    site.clock.advance_ms(60_000);
    let refused = ask("/v1/none").await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "daily_limit"));
    for path in ["/v1/quota", "/v1/plans", "/v1/me"] {
        let told = ask(path).await;
        assert_eq!(told.status, 200, "{path}");
        assert!(
            told.header("ratelimit").contains("\"day\";r=0"),
            "{}",
            told.header("ratelimit")
        );
    }
    // The operations for quota, plans and own data are limited by the usual rate only.
    let mut told = 3;
    while ask("/v1/me").await.status == 200 {
        told += 1;
    }
    assert_eq!(told, 60);
    let refused = ask("/v1/me").await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "rate_limit"));
    site.clock.advance_ms(50);
    assert_eq!(ask("/v1/me").await.status, 200);
}

#[tokio::test]
async fn who_comes_too_fast_is_told_so_by_quota_plans_and_me_as_often_again() {
    let site = Site::open().await;
    let (key, _) = site.key("App", Plan::Free, None).await;
    let (paths, mut nth) = (["/v1/quota", "/v1/plans", "/v1/me"], 0);
    while site.get_with("/v1/none", &key).await.status == 404 {
        nth += 1;
    }
    assert_eq!(nth, 60);
    let mut told = 0;
    let refused = loop {
        let answer = site.get_with(paths[told % 3], &key).await;
        assert!(
            answer.header("ratelimit").contains("r=0"),
            "{}",
            answer.header("ratelimit")
        );
        if answer.status != 200 {
            break answer;
        }
        told += 1;
    };
    assert_eq!((refused.status, refused.code().as_str()), (429, "rate_limit"));
    assert!((60..=61).contains(&told), "{told}");
    // Requests that were admitted above the rate still count as debt.
    site.clock.advance_ms(1_000);
    assert_eq!(site.get_with("/v1/none", &key).await.status, 429);
}

#[tokio::test]
async fn a_key_that_is_not_taken_is_a_request_of_its_network() {
    let site = Site::open().await;
    for nth in 0..20 {
        let wrong = site.get_with("/v1/none", "haat_live_nonsense").await;
        assert_eq!((wrong.status, wrong.code().as_str()), (401, "invalid_key"), "{nth}");
        let left = format!("r={}", 19 - nth);
        assert!(
            wrong.header("ratelimit").contains(&left),
            "{}",
            wrong.header("ratelimit")
        );
        assert!(wrong.header("ratelimit-policy").contains("q=20"));
    }
    let refused = site.get_with("/v1/none", "haat_live_nonsense").await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "rate_limit"));
}
