//! An S3-compatible store gives the same guarantees as every other store.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on says so at once"
)]

#[path = "support/moto.rs"]
mod moto;
#[path = "support/proxy.rs"]
mod proxy;

use data_storage::{EventLog, ObjectPath, get_bytes, put_new};
use kit::{conformance, publish_race};
use proxy::{Answer, FaultTrigger, Proxy, ProxyFault};

#[tokio::test(flavor = "multi_thread")]
async fn an_s3_store_conforms() {
    let Some(moto) = moto::Moto::start() else { return };
    let proxy = Proxy::start(moto.port());
    let storage = moto::Moto::storage_at(proxy.port());
    conformance(storage.clone()).await.unwrap();
    publish_race(&storage.child("races"), 8, 200).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_409_of_an_s3_store_is_no_loss_to_another_writer() {
    let Some(moto) = moto::Moto::start() else { return };
    let proxy = Proxy::start(moto.port());
    let storage = moto::Moto::storage_at(proxy.port());
    let conflicts = |path_contains, times| ProxyFault {
        on: FaultTrigger::ConditionalPut,
        path_contains,
        from: 1,
        times,
        answer: Answer::Conflict,
    };
    let path = ObjectPath::from("object");
    proxy.arm(conflicts("object", 3));
    assert!(put_new(&storage, &path, "mine").await.unwrap());
    assert_eq!(proxy.disarm(), 3);
    assert_eq!(get_bytes(&storage, &path).await.unwrap().as_deref(), Some(&b"mine"[..]));
    proxy.arm(conflicts("object", 1));
    assert!(!put_new(&storage, &path, "yours").await.unwrap());
    assert_eq!(proxy.disarm(), 1);
    let log: EventLog<u32> = EventLog::new(&storage, "events");
    for event in 1..=3 {
        proxy.arm(conflicts("events", 1));
        assert_eq!(log.append(&event).await.unwrap(), u64::from(event));
        assert_eq!(proxy.disarm(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_whose_put_is_told_as_failed_after_it_took_effect_is_appended_once() {
    let Some(moto) = moto::Moto::start() else { return };
    let proxy = Proxy::start(moto.port());
    let storage = moto::Moto::storage_at(proxy.port());
    let log: EventLog<u32> = EventLog::new(&storage, "events");
    proxy.arm(ProxyFault {
        on: FaultTrigger::ConditionalPut,
        path_contains: "events",
        from: 1,
        times: 1,
        answer: Answer::UnavailableAfterEffect,
    });
    assert_eq!(log.append(&7).await.unwrap(), 1);
    assert_eq!(proxy.disarm(), 1);
    assert_eq!(log.read_from(0).await.unwrap(), [(1, 7)]);
}
