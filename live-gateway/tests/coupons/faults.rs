use std::time::{Duration, Instant};

use emulator::{DiscountRule, DiscountValue, Fault};
use live_gateway::coupons::CouponsConfig;

use crate::support::{Options, Street, coupons, reasons};

fn short(budget_ms: u64) -> Options {
    Options {
        coupons: CouponsConfig {
            budget_ms,
            testing_ms: budget_ms,
            ..CouponsConfig::default()
        },
        ..Options::default()
    }
}

/// A store's failure is reported, is no error of the request, and never makes a code applicable.
#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_store_does_the_answer_says_what_was_not_tested_and_why() {
    let status = |status| Fault::Status {
        status,
        retry_after_s: None,
    };
    let faults = [
        (Fault::Slow { delay_ms: 60_000 }, vec!["budget", "store_timeout"]),
        (Fault::Reset, vec!["store_unavailable"]),
        (status(500), vec!["store_unavailable"]),
        (status(429), vec!["throttled"]),
        (status(430), vec!["throttled"]),
        (Fault::QueryThrottled, vec!["throttled"]),
        (Fault::Challenge, vec!["store_unavailable"]),
        (Fault::PasswordPage, vec!["store_unavailable"]),
        (Fault::BrokenJson, vec!["store_unreadable"]),
        (Fault::HtmlForJson, vec!["store_unreadable", "store_unavailable"]),
        (Fault::GzipBomb { decoded_bytes: 1 << 30 }, vec!["store_unreadable"]),
    ];
    let stores = u32::try_from(faults.len()).unwrap();
    let street = Street::ruled(
        stores,
        |_| {
            Some(vec![DiscountRule::code(
                "SAVE10",
                DiscountValue::Percentage { percent: 10 },
            )])
        },
        short(6_000),
    )
    .await;
    for (at, (fault, _)) in faults.iter().enumerate() {
        street.stores.set_fault(&street.slug(at), fault.clone()).unwrap();
    }
    for (at, (fault, expected)) in faults.iter().enumerate() {
        if street.shop(at).samples.is_empty() {
            continue;
        }
        let begun = Instant::now();
        let body = street.find(at, 20).await;
        let took = begun.elapsed();
        assert!(took < Duration::from_millis(6_000 + 20_000), "{fault:?}: {took:?}");
        assert_eq!(body["data"]["verified"], false, "{fault:?}: {body}");
        assert_eq!(
            (coupons(&body), body["data"]["tested"].as_u64()),
            (vec![], Some(0)),
            "{fault:?}"
        );
        assert_eq!(
            body["data"]["untested"].as_array().unwrap().len(),
            20,
            "{fault:?}: {body}"
        );
        let told = reasons(&body);
        assert!(
            told.len() == 1 && expected.contains(&told[0].as_str()),
            "{fault:?}: {told:?}, expected {expected:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_had_enough_is_left_alone_and_what_is_known_is_told_all_the_same() {
    let street = Street::open(1, Options::default()).await;
    let first = street.find(0, 10).await;
    let throttled = Fault::Status {
        status: 429,
        retry_after_s: None,
    };
    street.stores.set_fault(&street.slug(0), throttled).unwrap();
    let more = street.find(0, 60).await;
    assert_eq!(reasons(&more), ["throttled"], "{more}");
    let known: Vec<_> = coupons(&first);
    assert!(known.iter().all(|one| coupons(&more).contains(one)), "{more}");
    assert_eq!(more["data"]["tested"], 10, "{more}");
    let requests = street.stores.requests(&street.slug(0)).unwrap().count();
    for _ in 0..20 {
        let again = street.find(0, 60).await;
        assert_eq!(reasons(&again), ["throttled"]);
    }
    assert_eq!(street.stores.requests(&street.slug(0)).unwrap().count(), requests);
}

#[tokio::test(flavor = "multi_thread")]
async fn testing_goes_on_behind_an_answer_whose_time_is_over() {
    let options = Options {
        rate_per_s: Some(4.0),
        coupons: CouponsConfig {
            budget_ms: 700,
            codes_per_call: 5,
            ..CouponsConfig::default()
        },
        ..Options::default()
    };
    let street = Street::open(1, options).await;
    let begun = Instant::now();
    let body = street.find(0, 40).await;
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(reasons(&body), ["budget"], "{body}");
    let tested = |body: &serde_json::Value| body["data"]["tested"].as_u64().unwrap();
    let (mut rounds, mut last) = (0, body);
    while last["data"]["verified"] != true {
        let next = street.find(0, 40).await;
        assert!(tested(&next) >= tested(&last), "{next}");
        (rounds, last) = (rounds + 1, next);
        assert!(rounds < 30, "{last}");
    }
    assert!(rounds > 0);
    // All concurrent requests shared one test job, which creates one trial cart and at most one more cart for delivery.
    assert!(street.stores.carts(&street.slug(0)).unwrap() <= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_testing_makes_more_calls_than_it_may() {
    let options = Options {
        coupons: CouponsConfig {
            calls_max: 3,
            codes_per_call: 4,
            ..CouponsConfig::default()
        },
        ..Options::default()
    };
    let street = Street::open(1, options).await;
    let body = street.find(0, 100).await;
    assert_eq!(
        (street.calls(0), reasons(&body)),
        (3, vec!["budget".to_owned()]),
        "{body}"
    );
    // The next request tests the codes that the first one left untested.
    let next = street.find(0, 100).await;
    assert!(
        next["data"]["tested"].as_u64() > body["data"]["tested"].as_u64(),
        "{next}"
    );
}
