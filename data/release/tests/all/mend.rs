//! Tests of repairs of the release log after the loss or damage of any of its objects.

use data_index::Manifest;
use data_model::{Clock as _, ReleaseId};
use data_release::{Current, LogRepair, PinnedBy, Published};
use data_storage::{ObjectPath, ObjectStoreExt as _, get_bytes, put_over};
use futures::TryStreamExt as _;

use crate::bench::{Bench, stores};

/// Returns possible remains of an object after damage. `None` stands for a missing object.
fn harms(bytes: &[u8]) -> Vec<Option<Vec<u8>>> {
    let cut = (0..bytes.len())
        .step_by(17)
        .map(|end| bytes.get(..end).map(<[u8]>::to_vec));
    let others = ["{}", "null", "{\"event\":{\"event\":\"later\"}}"].map(|json| Some(json.as_bytes().to_vec()));
    cut.chain(others).chain([Some(vec![0; bytes.len()]), None]).collect()
}

async fn apply(bench: &Bench, path: &ObjectPath, harm: Option<Vec<u8>>) {
    match harm {
        Some(left) => put_over(&bench.storage, path, left).await.unwrap(),
        None => match bench.storage.store().delete(path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => panic!("{error}"),
        },
    }
}

fn object(seq: u64, kind: &str) -> ObjectPath {
    ObjectPath::from(format!("log/{seq:020}.{kind}"))
}

/// Events 1 to 4 publish two releases, roll back to the first and pin it.
async fn pinned() -> (Bench, [Manifest; 2]) {
    let bench = Bench::memory();
    let one = bench.build(None, &stores(1));
    bench.publish(&one).await.unwrap();
    let two = Manifest {
        built_at: bench.clock.now(),
        ..bench.build(Some(&one), &stores(2))
    };
    bench.publish(&two).await.unwrap();
    bench.releases().rollback(one.id).await.unwrap();
    bench.releases().pin(one.id, PinnedBy::Pin).await.unwrap();
    (bench, [one, two])
}

async fn current(bench: &Bench) -> Current {
    bench.releases().current().await.unwrap().unwrap()
}

async fn objects(bench: &Bench) -> Vec<(String, u64)> {
    let listed = bench.storage.store().list(None);
    let mut listed: Vec<_> = listed
        .map_ok(|meta| (meta.location.to_string(), meta.size))
        .try_collect()
        .await
        .unwrap();
    listed.sort();
    listed
}

#[tokio::test]
async fn no_object_of_the_log_alone_changes_which_release_is_current_or_pinned_and_mending_puts_it_back() {
    let (bench, _) = pinned().await;
    let before = current(&bench).await;
    assert!(before.pinned.is_some());
    for seq in 1..=4 {
        for kind in ["json", "copy"] {
            let path = object(seq, kind);
            let whole = get_bytes(&bench.storage, &path).await.unwrap().unwrap();
            for harm in harms(&whole) {
                let is_seen = harm.is_some() || kind == "json";
                let said = format!("{path} {:?}", harm.as_deref().map(String::from_utf8_lossy));
                apply(&bench, &path, harm).await;
                let releases = bench.releases();
                assert_eq!(current(&bench).await, before, "{said}");
                assert_eq!(releases.listing().await.unwrap().unreadable, [], "{said}");
                assert_eq!(
                    releases.unreadable().await.unwrap().len(),
                    usize::from(is_seen),
                    "{said}"
                );
                let there = objects(&bench).await;
                let planned = releases.mend(true).await.unwrap();
                assert_eq!(objects(&bench).await, there, "a dry run changes nothing: {said}");
                assert_eq!(releases.mend(false).await.unwrap(), planned, "{said}");
                if is_seen {
                    assert_eq!((planned.len(), planned[0].how), (1, LogRepair::Copy), "{said}");
                    assert_eq!(
                        get_bytes(&bench.storage, &path).await.unwrap().unwrap(),
                        whole,
                        "{said}"
                    );
                }
                put_over(&bench.storage, &path, whole.clone()).await.unwrap();
                assert_eq!(releases.mend(true).await.unwrap(), [], "{said}");
            }
        }
    }
}

async fn lose(bench: &Bench, seq: u64, left: &[u8]) {
    apply(bench, &object(seq, "copy"), None).await;
    apply(bench, &object(seq, "json"), Some(left.to_vec())).await;
}

fn released(current: Current) -> (u64, ReleaseId, bool) {
    (current.seq, current.id, current.pinned.is_some())
}

#[tokio::test]
async fn of_a_newest_event_that_is_lost_with_its_copy_the_manifests_tell_what_they_can_and_the_next_build_is_published()
{
    for (lost, left, is_known) in [
        (2, "{\"ev", true),
        (2, "", true),
        (4, "{\"ev", false),
        (4, "null", false),
    ] {
        let (bench, [one, two]) = pinned().await;
        for later in lost + 1..=4 {
            apply(&bench, &object(later, "copy"), None).await;
            apply(&bench, &object(later, "json"), None).await;
        }
        lose(&bench, lost, left.as_bytes()).await;
        let release = if is_known { two.id } else { one.id };
        assert_eq!(released(current(&bench).await), (lost, release, false), "{lost} {left}");
        let releases = bench.releases();
        let mended = releases.mend(false).await.unwrap();
        let how = if is_known {
            LogRepair::Manifest(release)
        } else {
            LogRepair::Unknown(release)
        };
        assert_eq!((mended.len(), mended[0].how), (1, how), "{lost} {left}");
        assert_eq!(released(current(&bench).await), (lost, release, false), "{lost} {left}");
        assert_eq!(releases.unreadable().await.unwrap(), [], "{lost} {left}");
        let three = bench.build(Some(&two), &stores(3));
        let published = bench.publish(&three).await.unwrap();
        assert!(matches!(published, Published::Published(now) if now.id == three.id));
    }
}

#[tokio::test]
async fn a_build_is_published_where_nothing_tells_of_any_release_before() {
    let bench = Bench::memory();
    let one = bench.build(None, &stores(1));
    bench.publish(&one).await.unwrap();
    lose(&bench, 1, b"{").await;
    apply(&bench, &ObjectPath::from(format!("manifests/{}.json", one.id)), None).await;
    assert_eq!(bench.releases().current().await.unwrap(), None);
    assert_eq!(bench.releases().mend(true).await.unwrap()[0].how, LogRepair::Nothing);
    let published = bench.publish(&one).await.unwrap();
    assert!(matches!(published, Published::Published(now) if now.seq == 2 && now.id == one.id));
}
