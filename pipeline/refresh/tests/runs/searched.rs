//! Tests that the lake has the counts of searched words after the next run, once their day is over.

use std::sync::Arc;

use data_searches::{CountedDays, WordCount, first_day, list, load};
use data_storage::{Storage, put_over};
use kit::faulty::{FaultKind, FaultPlan, FaultyStore};
use pipeline_refresh::{RunOptions, RunState};

use crate::support::{Rig, Shop};

fn word(words: &str, count: u64) -> WordCount {
    WordCount {
        words: words.to_owned(),
        release: "r0123456789abcdef".parse().unwrap(),
        hits: 1,
        count,
        without_hits: 0,
        relaxed: 0,
        understood: 0,
        clicks: 0,
    }
}

/// Writes the counts of a server on the first of the last `days` days, as servers do.
async fn write(rig: &Rig, days: u32, server: &str, words: &[WordCount]) {
    let path = format!("searches/{}/{server}.json", first_day(rig.now(), days));
    let json = serde_json::to_vec(words).unwrap();
    put_over(&rig.storage, &path.into(), json).await.unwrap();
}

async fn in_lake(rig: &Rig) -> CountedDays {
    let snapshot = rig.lake().await.snapshot().await.unwrap();
    snapshot.searches("").await.unwrap()
}

fn counts(days: &CountedDays) -> Vec<(&str, &str, u64)> {
    let servers = days.values().flatten();
    let words = servers.flat_map(|(server, words)| words.iter().map(move |one| (server, one)));
    words
        .map(|(server, one)| (server.as_str(), one.words.as_str(), one.count))
        .collect()
}

#[tokio::test]
async fn days_that_are_over_are_moved_into_the_lake_and_others_stay() {
    let rig = Rig::with([("tea", Shop::of(1..=2))]).await;
    rig.run().await;
    write(&rig, 3, "a", &[word("mug", 9), word("seldom", 2)]).await;
    write(&rig, 3, "b", &[word("mug", 4)]).await;
    write(&rig, 1, "a", &[word("mug", 5)]).await;
    let damaged = format!("searches/{}/damaged.json", first_day(rig.now(), 3));
    put_over(&rig.storage, &damaged.as_str().into(), "else").await.unwrap();
    let dry = RunOptions {
        dry_run: true,
        ..RunOptions::default()
    };
    rig.run_with(&dry).await.unwrap();
    assert_eq!(list(&rig.storage, |_| true).await.unwrap().len(), 4);
    assert!(in_lake(&rig).await.is_empty());
    rig.run().await;
    assert_eq!(counts(&in_lake(&rig).await), [("a", "mug", 9), ("b", "mug", 4)]);
    assert_eq!(counts(&load(&rig.storage, "").await.unwrap()), [("a", "mug", 5)]);
    assert!(rig.objects().await.contains(&damaged));

    // A server that could not write in time continued to count.
    write(&rig, 3, "a", &[word("mug", 11)]).await;
    let versions = rig.versions().await;
    rig.run().await;
    assert_ne!(rig.versions().await, versions);
    assert_eq!(counts(&in_lake(&rig).await), [("a", "mug", 11), ("b", "mug", 4)]);
    let versions = rig.versions().await;
    rig.run().await;
    assert_eq!(rig.versions().await, versions);

    rig.later(91 * 24 * 3_600_000);
    rig.run().await;
    assert_eq!(counts(&in_lake(&rig).await), []);
}

/// Runs with a kill at the `nth` write, then again. Returns true if the kill occurred.
async fn killed_at(nth: u64) -> bool {
    let faulty = FaultyStore::new(Arc::clone(Storage::memory().store()));
    let storage = Storage::with_store(Arc::new(faulty.clone()), "memory:///".parse().unwrap());
    let rig = Rig::on(storage, [("tea", Shop::of(1..=2))]).await;
    rig.run().await;
    write(&rig, 4, "a", &[word("mug", 9)]).await;
    write(&rig, 3, "a", &[word("mug", 4)]).await;
    write(&rig, 3, "b", &[word("tea", 3)]).await;
    faulty.arm(FaultPlan {
        nth,
        kind: if nth.is_multiple_of(2) {
            FaultKind::AfterEffect
        } else {
            FaultKind::BeforeEffect
        },
        dead_after: true,
    });
    let _ = rig.run_with(&RunOptions::default()).await;
    let met = faulty.mutations() >= nth;
    faulty.disarm();
    assert_eq!(rig.run().await.state, RunState::Finished);
    let expected = [("a", "mug", 9), ("a", "mug", 4), ("b", "tea", 3)];
    assert_eq!(counts(&in_lake(&rig).await), expected, "at write {nth}");
    assert_eq!(list(&rig.storage, |_| true).await.unwrap(), [], "at write {nth}");
    met
}

#[tokio::test]
async fn a_kill_at_any_write_neither_loses_nor_doubles_counts() {
    let mut nth = 1;
    while killed_at(nth).await {
        nth += 1;
    }
    assert!(nth > 10, "a run with counts to move writes more than {nth} times");
}
