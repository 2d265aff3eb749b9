//! Tests of a caller's own data.

use data_model::Clock;
use serde_json::Value;
use state::Plan;

use crate::site::{Site, borrowed};
use crate::support::{INDIA, until};

#[tokio::test]
async fn me_tells_a_key_what_it_is_and_what_it_was_used_for_until_this_request() {
    let site = Site::open().await;
    let (key, names) = site.key("App", Plan::Free, None).await;
    site.get_with("/v1/quota", &key).await;
    site.get_with("/v1/quota", &key).await;
    let first = site.get_with("/v1/me", &key).await;
    insta::assert_snapshot!(first.told(&borrowed(&names)), @r#"
    200 {
      "as_of": "2026-11-23T18:00:00Z",
      "data": {
        "account": null,
        "key": {
          "created_at": "2026-11-23T18:00:00Z",
          "ends_at": null,
          "hint": "HINT",
          "id": "KEY",
          "name": "App",
          "plan": "free"
        },
        "kind": "key",
        "limits": {
          "burst": 60,
          "daily_limit": 50000,
          "note": "20 requests per second on average, 60 at once, 50000 on one of the market's days.",
          "plan": "free",
          "rate_limit_rps": 20,
          "remaining_today": 49997,
          "resets_at": "2026-11-23T18:30:00Z",
          "unlimited": false
        },
        "usage_today": {
          "by_route": [
            {
              "requests": 1,
              "route": "/v1/me"
            },
            {
              "requests": 2,
              "route": "/v1/quota"
            }
          ],
          "day": "2026-11-23",
          "requests": 3
        }
      },
      "provenance": {
        "engine": "access"
      },
      "tier": "live"
    }
    "#);
    // Requests that are written during a read are not counted twice.
    for asked in 2..60_u64 {
        let answer = site.get_with("/v1/me", &key).await;
        let me: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(me["data"]["usage_today"]["requests"], asked + 2, "{me}");
        site.clock.advance_ms(50);
    }
    let id: state::KeyId = names[0].0.parse().unwrap();
    let today = state::Day::of(site.clock.now(), INDIA);
    until("written", async || {
        let usage = site.state.usage_of_key(&id, today, today).await.unwrap();
        usage.iter().map(|row| row.requests).sum::<u64>() == 61
    })
    .await;
    let me: Value = serde_json::from_str(&site.get_with("/v1/me", &key).await.body).unwrap();
    assert_eq!(me["data"]["usage_today"]["requests"], 62);
}

#[tokio::test]
async fn me_tells_a_session_its_account_and_what_all_its_keys_were_used_for() {
    let site = Site::open().await;
    let (account, session) = site.sign_in().await;
    let (one, names) = site.key("One", Plan::Free, Some(&account)).await;
    let (two, _) = site.key("Two", Plan::Free, Some(&account)).await;
    let (other, _) = site.key("Other", Plan::Free, None).await;
    for key in [&one, &two, &two, &other] {
        site.get_with("/v1/quota", key).await;
    }
    let mut known = borrowed(&names);
    known.push((&account, "ACCOUNT"));
    insta::assert_snapshot!(site.get_in("/v1/me", &session).await.told(&known), @r#"
    200 {
      "as_of": "2026-11-23T18:00:00Z",
      "data": {
        "account": {
          "email": "meera@example.com",
          "id": "ACCOUNT"
        },
        "key": null,
        "kind": "session",
        "limits": {
          "burst": 60,
          "daily_limit": 50000,
          "note": "20 requests per second on average, 60 at once, 50000 on one of the market's days.",
          "plan": "free",
          "rate_limit_rps": 20,
          "remaining_today": 49999,
          "resets_at": "2026-11-23T18:30:00Z",
          "unlimited": false
        },
        "usage_today": {
          "by_route": [
            {
              "requests": 3,
              "route": "/v1/quota"
            }
          ],
          "day": "2026-11-23",
          "requests": 3
        }
      },
      "provenance": {
        "engine": "access"
      },
      "tier": "live"
    }
    "#);
}

#[tokio::test]
async fn me_tells_a_key_of_an_account_the_account_too() {
    let site = Site::open().await;
    let (account, _session) = site.sign_in().await;
    let (one, names) = site.key("One", Plan::Free, Some(&account)).await;
    site.get_with("/v1/quota", &one).await;
    let mut known = borrowed(&names);
    known.push((&account, "ACCOUNT"));
    insta::assert_snapshot!(site.get_with("/v1/me", &one).await.told(&known), @r#"
    200 {
      "as_of": "2026-11-23T18:00:00Z",
      "data": {
        "account": {
          "email": "meera@example.com",
          "id": "ACCOUNT"
        },
        "key": {
          "created_at": "2026-11-23T18:00:00Z",
          "ends_at": null,
          "hint": "HINT",
          "id": "KEY",
          "name": "One",
          "plan": "free"
        },
        "kind": "key",
        "limits": {
          "burst": 60,
          "daily_limit": 50000,
          "note": "20 requests per second on average, 60 at once, 50000 on one of the market's days.",
          "plan": "free",
          "rate_limit_rps": 20,
          "remaining_today": 49998,
          "resets_at": "2026-11-23T18:30:00Z",
          "unlimited": false
        },
        "usage_today": {
          "by_route": [
            {
              "requests": 1,
              "route": "/v1/me"
            },
            {
              "requests": 1,
              "route": "/v1/quota"
            }
          ],
          "day": "2026-11-23",
          "requests": 2
        }
      },
      "provenance": {
        "engine": "access"
      },
      "tier": "live"
    }
    "#);
}

#[tokio::test]
async fn me_is_for_those_who_are_known() {
    let site = Site::open().await;
    let answer = site.get("/v1/me").await;
    assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"haat\"");
    insta::assert_snapshot!(answer.told(&[]), @r#"
    401 {
      "code": "missing_credentials",
      "detail": "This operation needs a key in X-Service-Key, or a session.",
      "request_id": "one-request",
      "status": 401,
      "title": "A key or a session is needed",
      "type": "urn:haat:problem:missing_credentials"
    }
    "#);
    let wrong = site.get_with("/v1/me", "haat_live_nonsense").await;
    insta::assert_snapshot!(wrong.told(&[]), @r#"
    401 {
      "code": "invalid_key",
      "detail": "The key is not valid",
      "request_id": "one-request",
      "status": 401,
      "title": "The key is not valid",
      "type": "urn:haat:problem:invalid_key"
    }
    "#);
}

#[tokio::test]
async fn without_the_state_me_says_so_and_the_rest_goes_on() {
    let site = Site::open().await;
    let (key, _) = site.key("App", Plan::Free, None).await;
    let (_, session) = site.sign_in().await;
    site.state.close().await;
    let answer = site.get_with("/v1/me", &key).await;
    assert_eq!(answer.header("retry-after"), "1");
    insta::assert_snapshot!(answer.told(&[]), @r#"
    503 {
      "code": "not_ready",
      "detail": "Not ready",
      "request_id": "one-request",
      "status": 503,
      "title": "Not ready",
      "type": "urn:haat:problem:not_ready"
    }
    "#);
    assert_eq!(site.get_in("/v1/me", &session).await.status, 503);
    for path in ["/v1/plans", "/v1/quota"] {
        assert_eq!(site.get(path).await.status, 200);
        assert_eq!(site.get_with(path, &key).await.status, 200);
        assert_eq!(site.get_in(path, &session).await.status, 200);
    }
}
