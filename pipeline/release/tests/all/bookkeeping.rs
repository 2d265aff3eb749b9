//! Damages each bookkeeping object of a release store and checks that builds still work.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use data_storage::{ObjectPath, ObjectStoreExt, Storage, get_bytes, put_over};
use futures::TryStreamExt;
use pipeline_release::ReleaseOutcome;

use crate::damage::{Rig, counts, refresh};

/// Creates two releases, a refused build, and a crawl that is in no release yet.
async fn market() -> Rig {
    let rig = Rig::new();
    rig.commit(vec![refresh("alpha", 1, 3), refresh("beta", 1, 3)]).await;
    rig.build(false).await;
    rig.commit(vec![refresh("alpha", 2, 4)]).await;
    rig.build(false).await;
    rig.commit(vec![refresh("beta", 3, 5)]).await;
    rig.releases().record_failure(&std::fmt::Error).await;
    rig
}

async fn objects(storage: &Storage) -> Vec<ObjectPath> {
    let listed = storage.store().list(None).map_ok(|meta| meta.location);
    let mut paths: Vec<_> = listed.try_collect().await.unwrap();
    paths.retain(|path| !path.as_ref().starts_with("files/"));
    paths.sort_unstable();
    paths
}

/// `None` stands for a deleted object.
fn harms(bytes: &[u8]) -> [Option<Vec<u8>>; 6] {
    let cut = |share: usize| bytes.get(..bytes.len() * share / 3).map(<[u8]>::to_vec);
    let (zeroed, other) = (Some(vec![0; bytes.len()]), Some(b"{\"event\":{}}".to_vec()));
    [cut(0), cut(1), cut(2), zeroed, other, None]
}

#[tokio::test]
async fn whatever_becomes_of_one_object_beside_the_files_the_next_build_is_published_and_nothing_is_left_to_repair() {
    let paths = objects(&market().await.storage.child("releases")).await;
    // An event, its copy and a manifest for each of two releases, and the refusal.
    assert_eq!(paths.len(), 7, "{paths:?}");
    for (nth, path) in (0..6).flat_map(|nth| paths.iter().map(move |path| (nth, path))) {
        // Manifests are named by content and built at the same times, so that they have the same names in every rig.
        let rig = market().await;
        let storage = rig.storage.child("releases");
        let whole = get_bytes(&storage, path).await.unwrap().unwrap();
        let left = harms(&whole)[nth].clone();
        match &left {
            Some(left) => put_over(&storage, path, left.clone()).await.unwrap(),
            None => storage.store().delete(path).await.unwrap(),
        }
        let before = rig.releases().current().await.unwrap().unwrap();
        assert_eq!(before.seq, 2, "{path} {nth}");
        let report = rig.build(false).await;
        assert_eq!(report.outcome, ReleaseOutcome::Published, "{path} {nth}");
        assert_eq!(rig.served().await, counts([("alpha", 4), ("beta", 5)]), "{path} {nth}");
        let releases = rig.releases();
        let planned = releases.mend(true).await.unwrap();
        assert_eq!(releases.mend(false).await.unwrap(), planned, "{path} {nth}");
        assert_eq!(releases.mend(true).await.unwrap(), [], "{path} {nth}");
        if path.as_ref().starts_with("log/") && (left.is_some() || path.as_ref().ends_with(".json")) {
            assert_eq!(planned[0].path, path.to_string(), "{nth}");
            assert_eq!(get_bytes(&storage, path).await.unwrap().unwrap(), whole, "{path} {nth}");
        }
    }
}
