//! Tests of the lake on an S3-compatible store.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on says so at once"
)]

#[path = "../../../storage/tests/all/support/moto.rs"]
mod moto;
#[path = "../../../storage/tests/all/support/proxy.rs"]
mod proxy;

use crate::support::*;
use data_storage::Storage;
use futures::{StreamExt as _, TryStreamExt as _};
use object_store::ObjectStoreExt as _;
use proxy::{Answer, FaultTrigger, Proxy, ProxyFault};

/// Copies every object, so that checks can run on an in-memory store without network requests.
async fn copy(from: &Storage, to: &Storage) {
    let objects: Vec<_> = from.store().list(None).try_collect().await.unwrap();
    let copied = objects.into_iter().map(|object| async move {
        let bytes = from.store().get(&object.location).await.unwrap().bytes().await.unwrap();
        to.store().put(&object.location, bytes.into()).await.unwrap();
    });
    futures::stream::iter(copied).buffer_unordered(4).collect::<()>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lake_on_s3_holds_what_a_lake_in_memory_holds() {
    let Some(moto) = moto::Moto::start() else { return };
    let (clock, memory) = (midnight(), Storage::memory());
    let [one, two] = [open(&moto.storage(), &clock).await, open(&moto.storage(), &clock).await];
    let reference = open(&memory, &clock).await;
    for lake in [&one, &reference] {
        lake.commit(first(), run(1)).await.unwrap();
        lake.commit(second(), run(2)).await.unwrap();
    }
    let [alpha, beta, gamma] = <[_; 3]>::try_from(first()).unwrap();
    let (left, right) = tokio::join!(one.commit(vec![alpha], run(3)), two.commit(vec![gamma], run(3)));
    assert_eq!(left.unwrap().ticks.len() + right.unwrap().ticks.len(), 2);
    reference.commit(first(), run(3)).await.unwrap();
    assert!(two.commit(vec![beta], run(4)).await.unwrap().ticks.is_empty());
    let (on_s3, in_memory) = (content(&two).await, content(&reference).await);
    for table in [
        "brands",
        "products",
        "variants",
        "reviews",
        "shipping_policies",
        "quarantine",
    ] {
        assert_eq!(on_s3[table], in_memory[table], "{table}");
    }
    assert_eq!(on_s3["price_history"].len(), in_memory["price_history"].len());
    two.compact(false).await.unwrap();
    assert_eq!(content(&one).await["products"], in_memory["products"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_s3_store_that_answers_wrongly_to_one_put_or_another_gets_every_row_once() {
    let Some(moto) = moto::Moto::start() else { return };
    let proxy = Proxy::start(moto.port());
    let (clock, begun) = (midnight(), Storage::memory());
    open(&begun, &clock).await.commit(first(), run(1)).await.unwrap();
    let memory = Storage::memory();
    copy(&begun, &memory).await;
    let reference = open(&memory, &clock).await;
    reference.commit(second(), run(2)).await.unwrap();
    let expected = content(&reference).await;
    let puts = [
        "/_ticks/00000000000000000002.json",
        "/_ticks/00000000000000000002.done.json",
        "/crawl_runs/_delta_log/",
        "/price_history/_delta_log/",
        "/products/_delta_log/",
        "/brands/_delta_log/",
    ];
    for (number, path_contains) in puts.into_iter().enumerate() {
        for answer in [Answer::Conflict, Answer::UnavailableAfterEffect] {
            let storage = moto::Moto::storage_at(proxy.port()).child(&format!("{number}-{answer:?}"));
            copy(&begun, &storage).await;
            let lake = open(&storage, &clock).await;
            proxy.arm(ProxyFault {
                on: FaultTrigger::ConditionalPut,
                path_contains,
                from: 1,
                times: 1,
                answer,
            });
            lake.commit(second(), run(2)).await.unwrap();
            assert_eq!(proxy.disarm(), 1, "{path_contains} {answer:?}");
            assert_eq!(lake.snapshot().await.unwrap().tick(), Some(2));
            let written = Storage::memory();
            copy(&storage, &written).await;
            let next = open(&written, &clock).await;
            assert_eq!(content(&next).await, expected, "{path_contains} {answer:?}");
        }
    }
}
