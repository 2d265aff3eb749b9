//! Pauses a committer in the middle of a commit and resumes it after another committer has taken over. The changes of
//! the other committer must be neither lost nor duplicated.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on says so at once"
)]

use std::collections::BTreeMap;

use crate::support::*;
use data_lake::LakeError;
use data_model::BrandRefresh;
use data_storage::Storage;

type Content = BTreeMap<String, Vec<String>>;

/// The refreshes are of the paused committer. The other committer has newer content of the brand `alpha`.
fn older() -> Vec<BrandRefresh> {
    let alpha = (1..=7).map(|id| product("alpha", id, 9_900)).collect();
    vec![refresh("alpha", 2, alpha), second().remove(2)]
}

/// The refreshes are of the committer that takes over.
fn newer() -> Vec<BrandRefresh> {
    let alpha = (2..=6).map(|id| product("alpha", id, 3_300)).collect();
    let beta = (1..=4).map(|id| product("beta", id, 450)).collect();
    vec![refresh("alpha", 3, alpha), refresh("beta", 3, beta)]
}

async fn content_after(begun: &Storage, commits: Vec<(u64, Vec<BrandRefresh>)>) -> Content {
    let lake = open(&copied(begun).await, &midnight()).await;
    for (fence, refreshes) in commits {
        let number = u32::try_from(fence).unwrap();
        lake.under(fence).commit(refreshes, run(number)).await.unwrap();
    }
    content(&lake).await
}

/// Pauses a commit at this write and resumes it after another committer. Returns `true` if both commits landed, `false`
/// if the paused one was refused, and `None` if the commit has fewer writes.
async fn paused_at(begun: &Storage, nth: u64, side: Side, both: &Content, alone: &Content) -> Option<bool> {
    let (storage, clock) = (copied(begun).await, midnight());
    let (watched, mut stops) = WatchedStore::over(&storage);
    let paused = open(&watched, &clock).await.under(2);
    let mut committing = tokio::spawn(async move { paused.commit(older(), run(2)).await });
    let mut passed = 0;
    let pause = loop {
        tokio::select! {
            Some(stop) = stops.recv() => {
                passed += u64::from(stop.side == side);
                if stop.side == side && passed == nth {
                    break stop;
                }
            }
            ended = &mut committing => {
                ended.unwrap().unwrap();
                return None;
            }
        }
    };
    let next = open(&storage, &clock).await.under(3);
    next.commit(newer(), run(3)).await.unwrap();
    let before = content(&next).await;
    drop(pause);
    tokio::spawn(async move { while stops.recv().await.is_some() {} });
    let woken = committing.await.unwrap();
    let after = content(&open(&storage, &clock).await).await;
    assert_eq!(after, before, "it changed something when it woke, {nth} {side:?}");
    match woken {
        Ok(_) => assert_eq!(after, *both, "{nth} {side:?}"),
        Err(LakeError::Fenced { fence: 2, newest: 3 }) => assert_eq!(after, *alone, "{nth} {side:?}"),
        Err(error) => panic!("{nth} {side:?}: {error:?}"),
    }
    Some(after == *both)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_committer_that_is_paused_at_any_write_and_wakes_after_another_took_over_undoes_and_doubles_nothing() {
    let begun = Storage::memory();
    let lake = open(&begun, &midnight()).await;
    lake.commit(first(), run(1)).await.unwrap();
    let both = content_after(&begun, vec![(2, older()), (3, newer())]).await;
    let alone = content_after(&begun, vec![(3, newer())]).await;
    assert_ne!(both, alone);
    let (mut finished, mut fenced) = (0, 0);
    // Between the end of a write and the next write there are only reads, so that this case is sampled less often.
    for (side, step) in [(Side::Before, 1), (Side::After, 4)] {
        for nth in (1..).step_by(step) {
            match paused_at(&begun, nth, side, &both, &alone).await {
                Some(true) => finished += 1,
                Some(false) => fenced += 1,
                None => break,
            }
        }
    }
    // Before the record is written, the commit is refused. After that, the other committer finishes it.
    assert!(fenced > 5 && finished > 10, "{fenced} fenced, {finished} finished");
}

#[tokio::test]
async fn a_right_that_is_older_than_one_that_the_lake_knows_is_refused_and_commits_without_a_right_go_on() {
    let (storage, clock) = (Storage::memory(), midnight());
    let lake = open(&storage, &clock).await;
    lake.under(7).commit(first(), run(1)).await.unwrap();
    lake.commit(second(), run(2)).await.unwrap();
    lake.compact(false).await.unwrap();
    // A second handle simulates another process.
    let next = open(&storage, &clock).await;
    let before = objects(&storage).await;
    let refused = next.under(6).commit(newer(), run(3)).await.unwrap_err();
    assert!(
        matches!(refused, LakeError::Fenced { fence: 6, newest: 7 }),
        "{refused:?}"
    );
    assert_eq!(objects(&storage).await, before);
    next.under(7).commit(newer(), run(3)).await.unwrap();
    next.under(8).commit(older(), run(4)).await.unwrap();
    assert!(next.under(7).commit(first(), run(5)).await.is_err());
}
