//! Tests restoring tables to an earlier state, in a commit batch that can itself be undone.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::support::*;
use data_lake::{AsOf, Lake, LakeError, TableName, VacuumKeep};
use data_model::{Clock, Timestamp};
use data_storage::Storage;

type Content = BTreeMap<String, Vec<String>>;

fn crawled() -> BTreeSet<TableName> {
    TableName::CRAWLED.into_iter().collect()
}

async fn catalogue(lake: &Lake) -> Content {
    let mut content = content(lake).await;
    content.retain(|table, _| TableName::CRAWLED.iter().any(|crawled| crawled.as_str() == table));
    content
}

/// Commits two crawls a minute apart. Returns the time after the first crawl, and the catalogues after each crawl.
async fn crawled_twice(storage: &Storage, clock: &Arc<SetClock>) -> (Lake, Timestamp, [Content; 2]) {
    let lake = open(storage, clock).await;
    lake.commit(first(), run(1)).await.unwrap();
    let then = (clock.now(), catalogue(&lake).await);
    clock.advance_ms(60_000);
    lake.commit(second(), run(2)).await.unwrap();
    let now = catalogue(&lake).await;
    assert_ne!(then.1, now);
    (lake, then.0, [then.1, now])
}

#[tokio::test]
async fn tables_are_as_they_were_and_a_restore_is_undone_by_another_one() {
    let (storage, clock) = (Storage::memory(), midnight());
    let (lake, then, [before, after]) = crawled_twice(&storage, &clock).await;
    let history = content(&lake).await["price_history"].clone();
    let now = clock.now();
    clock.advance_ms(60_000);

    let objects_before = objects(&storage).await;
    let would = lake.restore(&crawled(), &AsOf::Timestamp(then), true).await.unwrap();
    assert_eq!((would.tick, catalogue(&lake).await), (None, after.clone()));
    assert_eq!(objects(&storage).await, objects_before, "a dry run writes no file");
    let report = lake.restore(&crawled(), &AsOf::Timestamp(then), false).await.unwrap();
    assert_eq!(
        (&report.tables, report.tick, report.restored_tick),
        (&would.tables, Some(3), Some(1))
    );
    assert_eq!(catalogue(&lake).await, before);
    assert_eq!(
        content(&lake).await["price_history"],
        history,
        "history is never taken back"
    );
    let other = open(&storage, &clock).await;
    assert_eq!(catalogue(&other).await, before);
    let kinds = sql(&other, "select tick, kind from crawl_runs order by tick").await;
    assert!(kinds.contains("| 3    | restore |"), "{kinds}");

    assert_eq!(
        other
            .restore(&crawled(), &AsOf::Timestamp(then), false)
            .await
            .unwrap()
            .tables,
        []
    );
    other.restore(&crawled(), &AsOf::Timestamp(now), false).await.unwrap();
    assert_eq!(catalogue(&other).await, after);
}

#[tokio::test]
async fn a_crawl_after_a_restore_brings_what_stores_offer_now() {
    let (storage, clock) = (Storage::memory(), midnight());
    let (lake, then, [_, after]) = crawled_twice(&storage, &clock).await;
    lake.restore(&crawled(), &AsOf::Timestamp(then), false).await.unwrap();
    let report = lake.commit(second(), run(3)).await.unwrap();
    assert_eq!(report.changed.len(), 2, "{report:?}");
    let products = |content: &Content| content["products"].len();
    assert_eq!(products(&catalogue(&lake).await), products(&after));
}

#[tokio::test]
async fn a_change_that_a_restore_took_back_and_a_crawl_found_again_is_one_change_of_the_history() {
    let (storage, clock) = (Storage::memory(), midnight());
    let (lake, then, _) = crawled_twice(&storage, &clock).await;
    let stores: BTreeSet<_> = ["alpha", "beta", "gamma"].map(host).into();
    let history = lake.snapshot().await.unwrap().price_history(&stores).await.unwrap();
    for hour in 3..5 {
        lake.restore(&crawled(), &AsOf::Timestamp(then), false).await.unwrap();
        lake.commit(second(), run(hour)).await.unwrap();
        let told = lake.snapshot().await.unwrap().price_history(&stores).await.unwrap();
        assert_eq!(told, history);
    }
}

#[tokio::test]
async fn tables_that_only_grow_and_moments_that_are_not_known_are_refused() {
    let (storage, clock) = (Storage::memory(), midnight());
    let (lake, then, _) = crawled_twice(&storage, &clock).await;
    let objects_before = objects(&storage).await;
    let history = [TableName::PriceHistory].into();
    let refused = lake.restore(&history, &AsOf::Timestamp(then), false).await;
    assert!(matches!(refused, Err(LakeError::OnlyGrows { .. })), "{refused:?}");
    let earlier = AsOf::Timestamp(Timestamp::from_micros(START).plus_millis(-1));
    let refused = lake.restore(&crawled(), &earlier, false).await;
    assert!(matches!(refused, Err(LakeError::NoTickThen { .. })), "{refused:?}");
    assert_eq!(objects(&storage).await, objects_before);
}

#[tokio::test]
async fn a_restore_of_files_that_vacuum_removed_changes_nothing() {
    let (storage, clock) = (Storage::memory(), midnight());
    let (lake, then, [_, after]) = crawled_twice(&storage, &clock).await;
    clock.advance_ms(1_000);
    let keep = VacuumKeep {
        retention: Duration::ZERO,
        versions: Vec::new(),
        dry_run: false,
    };
    assert!(!lake.vacuum(&keep).await.unwrap().files.is_empty());
    for dry_run in [true, false] {
        let refused = lake.restore(&crawled(), &AsOf::Timestamp(then), dry_run).await;
        assert!(
            matches!(
                refused,
                Err(LakeError::NotRestorable { .. } | LakeError::NoTickThen { .. })
            ),
            "{refused:?}"
        );
    }
    assert_eq!(catalogue(&lake).await, after);
    lake.commit(first(), run(3)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restore_that_dies_at_any_write_happened_wholly_or_not_at_all() {
    let (clock, whole) = (midnight(), Storage::memory());
    let (_lake, then, [before, after]) = crawled_twice(&whole, &clock).await;
    let process = {
        let clock = Arc::clone(&clock);
        move |storage| async move {
            let lake = open(&storage, &clock).await;
            let restored = lake.restore(&crawled(), &AsOf::Timestamp(then), false).await;
            restored.unwrap();
        }
    };
    let mut outcomes = [0, 0];
    for (nth, storage) in deaths(&whole, process).await.into_iter().enumerate() {
        let found = catalogue(&open(&storage, &clock).await).await;
        assert!(found == before || found == after, "{nth}");
        outcomes[usize::from(found == before)] += 1;
    }
    assert!(outcomes.iter().sum::<u32>() > 8, "{outcomes:?}");
}
