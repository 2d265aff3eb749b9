//! Tests of politeness over time: rate limit, refusals, retries, circuit breaker, robots.txt. Tokio's clock is paused,
//! so that an hour takes no time.

use std::time::Duration;

use crate::support::{Reply, ok, page, pages, status, store, storefront, throttled, unpaced};
use data_model::{Classify, Retry};
use storefront::{Priority, StoreError, StorefrontConfig, TransportError};
use tokio::time::{Instant, advance, sleep};

fn fail() -> Reply {
    Reply::Fail(TransportError::Connect("refused".into()))
}

#[tokio::test(start_paused = true)]
async fn the_pace_starts_at_one_a_second_and_grows_slowly() {
    let script = pages(|_, _| ok("{}"));
    let store = store(StorefrontConfig::default(), &script);
    for n in 1..=200 {
        store.products_page(n, 250, None).await.unwrap();
    }
    let times = script.page_times();
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(
        gaps.windows(2).all(|pair| pair[1] <= pair[0] + 1),
        "never slower while the store is content: {gaps:?}"
    );
    assert_eq!(gaps[0], 953, "1.05 a second after one success, robots.txt");
    assert_eq!(gaps[198], 250, "no faster than four a second");
    assert!((store.rate_per_s() - 4.0).abs() < 1e-9);
}

#[tokio::test(start_paused = true)]
async fn one_request_at_a_time_and_one_pace_for_all_callers_of_a_host() {
    let script = pages(|_, _| ok("{}"));
    let front = storefront(
        StorefrontConfig {
            rate_growth: 0.0,
            ..StorefrontConfig::default()
        },
        &script,
    );
    let clone = front.clone();
    let callers = (0..10).map(|n| {
        let store = if n % 2 == 0 { &front } else { &clone }
            .store(&"https://Brand.example/".parse().unwrap())
            .unwrap();
        async move { store.meta().await.unwrap() }
    });
    futures::future::join_all(callers).await;
    assert_eq!(script.page_times(), (1..=10).map(|n| n * 1000).collect::<Vec<_>>());
    assert_eq!(
        script.urls().iter().filter(|url| url.ends_with("/robots.txt")).count(),
        1,
        "fetched once for all"
    );
}

#[tokio::test(start_paused = true)]
async fn hosts_do_not_wait_for_each_other() {
    let script = pages(|_, _| ok("{}"));
    let front = storefront(StorefrontConfig::default(), &script);
    let callers = (0..50).map(|n| {
        let store = front
            .store(&format!("https://brand-{n}.example/").parse().unwrap())
            .unwrap();
        async move { store.meta().await.unwrap() }
    });
    futures::future::join_all(callers).await;
    assert_eq!(script.page_times(), vec![1000; 50]);
    assert_eq!(front.hosts_known(), 50);
}

#[tokio::test(start_paused = true)]
async fn a_very_fast_pace_does_not_wait_and_infinity_has_none() {
    for rate_start_per_s in [10_000.0, f64::INFINITY] {
        let script = pages(|_, _| ok("{}"));
        let store = store(
            StorefrontConfig {
                rate_start_per_s,
                ..StorefrontConfig::default()
            },
            &script,
        );
        let started = Instant::now();
        for n in 1..=1000 {
            store.products_page(n, 25, None).await.unwrap();
        }
        assert!(
            started.elapsed() <= Duration::from_millis(102),
            "{:?}",
            started.elapsed()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_challenge_of_a_callers_call_keeps_callers_waiting_and_nobody_else() {
    let challenged = || Reply::Answer(429, vec![("cf-mitigated", "challenge".to_owned())], "Just a moment...");
    let script = pages(move |_, nth| if nth == 0 { challenged() } else { ok("{}") });
    let config = StorefrontConfig {
        retries_max: 0,
        ..unpaced()
    };
    let all = store(config, &script).with_priority(Priority::Interactive);
    let caller = all.clone().with_caller("asha");
    let rate = all.rate_per_s();
    let refused = caller.meta().await.unwrap_err();
    assert!(matches!(refused, StoreError::Challenged { status: 429 }), "{refused}");
    let before = Instant::now();
    all.meta().await.unwrap();
    assert_eq!((before.elapsed(), all.rate_per_s()), (Duration::ZERO, rate));
    let waits = all.clone().with_caller("ravi").meta().await.unwrap_err();
    let StoreError::Throttled {
        retry_after: Some(wait),
    } = waits
    else {
        panic!("{waits}");
    };
    assert_eq!(script.page_times().len(), 2);
    advance(wait).await;
    caller.meta().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_waited_for_and_the_pace_is_halved() {
    for (value, wait_ms) in [("30", 30_000), ("Sat, 21 Nov 2026 00:00:20 GMT", 20_000)] {
        let script = pages(move |_, nth| if nth == 0 { throttled(Some(value)) } else { ok("{}") });
        let store = store(
            StorefrontConfig {
                rate_growth: 0.0,
                ..StorefrontConfig::default()
            },
            &script,
        );
        store.meta().await.unwrap();
        store.meta().await.unwrap();
        assert_eq!(
            script.page_times(),
            vec![1000, 1000 + wait_ms, 3000 + wait_ms],
            "then one every two seconds"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn without_retry_after_each_refusal_in_a_row_doubles_the_wait() {
    let script = pages(|_, nth| if nth < 3 { status(430) } else { ok("{}") });
    let store = store(
        StorefrontConfig {
            throttle_wait_ms: 10_000,
            ..StorefrontConfig::default()
        },
        &script,
    );
    store.meta().await.unwrap();
    let times = script.page_times();
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps, vec![10_000, 20_000, 40_000]);
}

#[tokio::test(start_paused = true)]
async fn a_retry_after_beyond_the_bound_is_reported_at_once_to_every_caller() {
    let script = pages(|_, _| throttled(Some("3600")));
    let store = store(StorefrontConfig::default(), &script);
    let error = store.meta().await.unwrap_err();
    assert!(matches!(error, StoreError::Throttled { retry_after: Some(wait) } if wait == Duration::from_secs(3600)));
    assert_eq!(error.retry(), Retry::After(Duration::from_secs(3600)));
    advance(Duration::from_secs(600)).await;
    let error = store.meta().await.unwrap_err();
    assert!(matches!(error, StoreError::Throttled { retry_after: Some(wait) } if wait == Duration::from_secs(3000)));
    assert_eq!(script.page_times().len(), 1, "the store is left alone");
    advance(Duration::from_secs(3000)).await;
    store.meta().await.unwrap_err();
    assert_eq!(script.page_times().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_refused_page_is_throttled_after_the_last_retry_and_never_gone() {
    let script = pages(|_, _| throttled(None));
    let store = store(StorefrontConfig::default(), &script);
    let error = store.products_page(1, 250, None).await.unwrap_err();
    assert!(matches!(error, StoreError::Throttled { retry_after: None }), "{error}");
    assert!(error.is_transient());
    assert_eq!(script.page_times().len(), 4);
    assert!(store.rate_per_s() < 0.1);
}

#[tokio::test(start_paused = true)]
async fn one_host_held_by_its_store_holds_every_caller() {
    let script = pages(|_, nth| if nth == 0 { throttled(Some("60")) } else { ok("{}") });
    let config = StorefrontConfig {
        concurrency: 4,
        ..unpaced()
    };
    let front = storefront(config, &script);
    let store = front.store(&"https://brand.example".parse().unwrap()).unwrap();
    let first = tokio::spawn({
        let store = store.clone();
        async move { store.meta().await }
    });
    sleep(Duration::from_secs(1)).await;
    let others = futures::future::join_all((0..3).map(|_| store.meta())).await;
    assert!(others.iter().all(Result::is_ok));
    first.await.unwrap().unwrap();
    assert_eq!(script.page_times()[0], 0);
    assert!(
        script.page_times()[1..].iter().all(|at| *at >= 60_000),
        "{:?}",
        script.page_times()
    );
}

#[tokio::test(start_paused = true)]
async fn transient_failures_are_retried_with_growing_jittered_waits() {
    for error in [
        || status(502),
        fail,
        || Reply::Fail(TransportError::Truncated),
        || Reply::Hang,
    ] {
        let script = pages(move |_, nth| if nth < 3 { error() } else { ok("{}") });
        let store = store(
            StorefrontConfig {
                request_timeout_ms: 1,
                ..unpaced()
            },
            &script,
        );
        assert_eq!(page(store.meta().await.unwrap()).bytes, "{}");
        let times = script.page_times();
        for (nth, pair) in times.windows(2).enumerate() {
            let base = 500 << nth;
            assert!((base..=2 * base + 12).contains(&(pair[1] - pair[0])), "{times:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_change_is_not_retried() {
    for code in [400, 401, 402, 403, 404, 410, 418, 422, 423] {
        let script = pages(move |_, _| status(code));
        let error = store(unpaced(), &script).meta().await.unwrap_err();
        assert!(!error.is_transient(), "{error}");
        assert_eq!(script.page_times().len(), 1, "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn retries_stay_a_fifth_of_the_requests_however_bad_the_store() {
    let script = pages(|_, nth| if nth % 2 == 0 { status(500) } else { ok("{}") });
    let store = store(unpaced(), &script);
    let calls = 500;
    let mut failed = 0;
    for _ in 0..calls {
        failed += usize::from(store.meta().await.is_err());
    }
    let retries = script.page_times().len() - calls;
    assert!(failed > 100, "most failures are passed on: {failed}");
    assert!(retries <= calls / 5 + 10, "{retries}");
    assert!(retries >= calls / 5 - 10, "{retries}");
}

#[tokio::test(start_paused = true)]
async fn the_breaker_opens_tries_once_and_closes() {
    let script = pages(|_, nth| if nth < 7 { fail() } else { ok("{}") });
    let config = StorefrontConfig {
        retries_max: 0,
        ..unpaced()
    };
    let store = store(config, &script);
    for _ in 0..5 {
        assert!(matches!(store.meta().await, Err(StoreError::Connect { .. })));
    }
    let refused = store.meta().await.unwrap_err();
    assert!(matches!(refused, StoreError::BreakerOpen { retry_after } if retry_after == Duration::from_secs(30)));
    assert_eq!(script.page_times().len(), 5, "the store is left alone");

    advance(Duration::from_secs(30)).await;
    assert!(
        matches!(store.meta().await, Err(StoreError::Connect { .. })),
        "the trial"
    );
    let refused = store.meta().await.unwrap_err();
    assert!(
        matches!(refused, StoreError::BreakerOpen { retry_after } if retry_after == Duration::from_secs(60)),
        "doubled"
    );

    advance(Duration::from_secs(60)).await;
    store.meta().await.unwrap_err();
    advance(Duration::from_secs(120)).await;
    for _ in 0..3 {
        store.meta().await.unwrap();
    }
    assert_eq!(script.page_times().len(), 10);
}

#[tokio::test(start_paused = true)]
async fn one_trial_at_a_time_and_an_abandoned_one_gives_way() {
    let script = pages(|_, nth| match nth {
        0 => fail(),
        1 => Reply::Hang,
        _ => ok("{}"),
    });
    let config = StorefrontConfig {
        retries_max: 0,
        breaker_failures: 1,
        concurrency: 8,
        ..unpaced()
    };
    let store = store(config, &script);
    store.meta().await.unwrap_err();
    advance(Duration::from_secs(30)).await;
    let trial = tokio::spawn({
        let store = store.clone();
        async move { store.meta().await }
    });
    sleep(Duration::from_secs(1)).await;
    assert!(matches!(store.meta().await, Err(StoreError::BreakerOpen { .. })));
    trial.abort();
    assert!(trial.await.unwrap_err().is_cancelled());
    store.meta().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn errors_in_answer_to_single_callers_pause_the_calls_of_callers_alone() {
    let script = pages(|_, nth| if nth < 5 { status(500) } else { ok("{}") });
    let config = StorefrontConfig {
        retries_max: 0,
        ..unpaced()
    };
    let store = store(config, &script);
    let of = |caller: &str| store.clone().with_caller(caller);
    for _ in 0..5 {
        assert!(matches!(
            of("asha").meta().await,
            Err(StoreError::Status { status: 500 })
        ));
    }
    assert!(matches!(of("ravi").meta().await, Err(StoreError::BreakerOpen { .. })));
    store.meta().await.unwrap();
    assert_eq!(script.page_times().len(), 6);
    advance(Duration::from_secs(30)).await;
    of("ravi").meta().await.unwrap();
    of("asha").meta().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn refusals_and_missing_pages_do_not_open_the_breaker() {
    let script = pages(|_, nth| {
        if nth % 2 == 0 {
            status(404)
        } else {
            throttled(Some("0"))
        }
    });
    let store = store(
        StorefrontConfig {
            breaker_failures: 1,
            retries_max: 0,
            ..unpaced()
        },
        &script,
    );
    for _ in 0..20 {
        assert!(!matches!(store.meta().await, Err(StoreError::BreakerOpen { .. })));
    }
}

#[tokio::test(start_paused = true)]
async fn an_open_breaker_ends_the_retries() {
    let script = pages(|_, _| status(500));
    let store = store(
        StorefrontConfig {
            breaker_failures: 2,
            retries_max: 9,
            ..unpaced()
        },
        &script,
    );
    assert!(matches!(store.meta().await, Err(StoreError::Status { status: 500 })));
    assert_eq!(script.page_times().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_is_cut_by_the_total_timeout() {
    let script = pages(|_, _| Reply::Hang);
    let store = store(
        StorefrontConfig {
            retries_max: 0,
            ..unpaced()
        },
        &script,
    );
    let started = Instant::now();
    let error = store.meta().await.unwrap_err();
    assert!(
        matches!(error, StoreError::Timeout { after } if after == Duration::from_secs(30)),
        "{error}"
    );
    assert_eq!(started.elapsed(), Duration::from_secs(30));
}

#[tokio::test(start_paused = true)]
async fn more_requests_in_flight_keep_the_same_pace() {
    let script = pages(|_, nth| if nth == 0 { Reply::Hang } else { ok("{}") });
    let config = StorefrontConfig {
        concurrency: 2,
        rate_growth: 0.0,
        retries_max: 0,
        ..StorefrontConfig::default()
    };
    let store = store(config, &script);
    let hanging = tokio::spawn({
        let store = store.clone();
        async move { store.meta().await }
    });
    sleep(Duration::from_millis(1500)).await;
    for _ in 0..3 {
        store.meta().await.unwrap();
    }
    assert!(matches!(hanging.await.unwrap(), Err(StoreError::Timeout { .. })));
    assert_eq!(script.page_times(), [1000, 2000, 3000, 4000]);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_asks_for_no_wait_still_halves_the_pace() {
    let script = pages(|_, nth| if nth == 0 { throttled(Some("0")) } else { ok("{}") });
    let store = store(
        StorefrontConfig {
            rate_growth: 0.0,
            ..StorefrontConfig::default()
        },
        &script,
    );
    store.meta().await.unwrap();
    assert_eq!(script.page_times(), [1000, 3000]);
}
