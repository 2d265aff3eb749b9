//! Tests publishing and rollback on an S3-compatible store that loses responses and is unavailable for some seconds.

use std::time::Duration;

use data_index::Manifest;
use data_model::Secret;
use data_release::{Published, ReleaseError};
use data_storage::{S3Options, Storage, StorageOptions};

use crate::bench::{Bench, stores};
use crate::moto::Moto;
use crate::proxy::{Answer, FaultTrigger, Proxy, ProxyFault};

/// Returns a store behind a proxy, with two releases of which the second is current.
async fn published(retry_timeout: Duration) -> Option<(Moto, Proxy, Bench, [Manifest; 2])> {
    let moto = Moto::start()?;
    let proxy = Proxy::start(moto.port());
    let s3 = S3Options {
        endpoint: Some(format!("http://127.0.0.1:{}", proxy.port())),
        region: Some("eu-central-1".into()),
        access_key_id: Some("test".into()),
        secret: Some(Secret::new("test")),
        allow_http: true,
        instance_role: false,
    };
    let url = "s3://haat/some/prefix".parse().unwrap();
    let storage = Storage::open_retrying(&url, &StorageOptions { s3 }, retry_timeout).unwrap();
    let bench = Bench::new(storage.child("releases"));
    let first = bench.build(None, &stores(1));
    bench.publish(&first).await.unwrap();
    let second = bench.build(Some(&first), &stores(2));
    bench.publish(&second).await.unwrap();
    Some((moto, proxy, bench, [first, second]))
}

const SHORT: Duration = Duration::from_millis(500);
const LONG: Duration = Duration::from_secs(60);

/// Proxy fault that loses every response to a put of a log event, although the store executes the put.
const LOST: ProxyFault = ProxyFault {
    on: FaultTrigger::ConditionalPut,
    path_contains: "/log/",
    from: 1,
    times: u64::MAX,
    answer: Answer::Lost,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_publication_and_a_roll_back_whose_every_answer_is_lost_are_known_to_have_happened() {
    let Some((_moto, proxy, bench, [first, second])) = published(SHORT).await else {
        return;
    };
    let releases = bench.releases();
    for answer in [Answer::Lost, Answer::UnavailableAfterEffect] {
        proxy.arm(ProxyFault { answer, ..LOST });
        let back = releases.rollback(first.id).await.unwrap();
        assert!(proxy.disarm() > 0);
        let Published::Published(current) = back else {
            panic!("{answer:?} {back:?}")
        };
        assert_eq!(releases.current().await.unwrap(), Some(current));
        assert_eq!(current.id, first.id);
        proxy.arm(ProxyFault { answer, ..LOST });
        let again = bench.publish(&second).await.unwrap();
        assert!(proxy.disarm() > 0);
        assert!(
            matches!(again, Published::Published(now) if now.seq == current.seq + 1),
            "{answer:?} {again:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_store_answers_nothing_more_a_roll_back_is_unknown() {
    let Some((_moto, proxy, bench, [first, second])) = published(SHORT).await else {
        return;
    };
    let releases = bench.releases();
    for (answer, from, current) in [
        // The first request reads the newest entry, and the second one is the put.
        (Answer::Lost, 2, first.id),
        (Answer::Refused, 2, second.id),
    ] {
        releases.rollback(second.id).await.unwrap();
        proxy.arm(ProxyFault {
            on: FaultTrigger::Any,
            from,
            answer,
            ..LOST
        });
        let error = releases.rollback(first.id).await.unwrap_err();
        assert!(proxy.disarm() > 0);
        assert!(
            matches!(error, ReleaseError::Unknown { id, .. } if id == first.id),
            "{answer:?} {error}"
        );
        assert_eq!(releases.current().await.unwrap().unwrap().id, current, "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_that_lasts_longer_than_five_tries_fails_no_roll_back() {
    let Some((_moto, proxy, bench, [first, _])) = published(LONG).await else {
        return;
    };
    // Seven attempts take about four seconds.
    for answer in [Answer::Refused, Answer::Unavailable] {
        proxy.arm(ProxyFault {
            on: FaultTrigger::Any,
            path_contains: "",
            times: 7,
            answer,
            ..LOST
        });
        let back = bench.releases().rollback(first.id).await;
        assert_eq!(proxy.disarm(), 7);
        back.unwrap();
    }
    assert_eq!(bench.releases().current().await.unwrap().unwrap().id, first.id);
}
