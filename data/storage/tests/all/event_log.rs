//! Tests an event log's results for writers when responses are lost, and for readers when entries are damaged.

use std::collections::BTreeSet;
use std::sync::Arc;

use data_storage::{
    EventLog, FaultyObject, ObjectPath, ObjectStore as _, ObjectStoreExt as _, Storage, StorageError, get_bytes,
    put_over,
};
use futures::TryStreamExt as _;
use kit::faulty::{FaultKind, FaultPlan, FaultyStore};
use url::Url;

/// Returns a storage that fails according to `plan`, and the same storage without faults.
fn faulty(inner: &Storage) -> (FaultyStore, EventLog<String>, EventLog<String>) {
    let store = FaultyStore::new(Arc::clone(inner.store()));
    let storage = Storage::with_store(Arc::new(store.clone()), inner.url().clone());
    (store, EventLog::new(&storage, "log"), EventLog::new(inner, "log"))
}

fn plan(kind: FaultKind, dead_after: bool) -> FaultPlan {
    FaultPlan {
        nth: 1,
        kind,
        dead_after,
    }
}

#[tokio::test]
async fn an_append_whose_put_failed_or_whose_answer_was_lost_happens_once() {
    for kind in [FaultKind::BeforeEffect, FaultKind::AfterEffect] {
        let (store, log, seen) = faulty(&Storage::memory());
        store.arm(plan(kind, false));
        assert!(log.append_at(1, &"ours".into()).await.unwrap(), "{kind:?}");
        assert_eq!(seen.read_from(0).await.unwrap(), [(1, "ours".into())], "{kind:?}");
        store.arm(plan(kind, false));
        assert_eq!(log.append(&"next".into()).await.unwrap(), 2, "{kind:?}");
        assert_eq!(seen.read_from(0).await.unwrap().len(), 2, "{kind:?}");
    }
}

#[tokio::test]
async fn an_event_of_another_that_says_the_same_is_not_taken_for_ours() {
    let (store, log, seen) = faulty(&Storage::memory());
    assert!(seen.append_at(1, &"same".into()).await.unwrap());
    store.arm(plan(FaultKind::BeforeEffect, false));
    assert!(!log.append_at(1, &"same".into()).await.unwrap());
}

#[tokio::test]
async fn where_nothing_can_be_read_back_an_append_is_unknown_and_not_denied() {
    for kind in [FaultKind::BeforeEffect, FaultKind::AfterEffect] {
        let (store, log, seen) = faulty(&Storage::memory());
        store.arm(plan(kind, true));
        let error = log.append_at(1, &"ours".into()).await.unwrap_err();
        assert!(matches!(error, StorageError::AppendUnknown { .. }), "{kind:?} {error}");
        assert_eq!(
            seen.read_from(0).await.unwrap().is_empty(),
            kind == FaultKind::BeforeEffect
        );
    }
}

#[tokio::test]
async fn a_full_local_disk_is_known_to_have_taken_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let local = Storage::from_path(dir.path()).unwrap();
    let store = FaultyStore::new(Arc::clone(local.store()));
    let url = Url::from_directory_path(dir.path()).unwrap();
    let log: EventLog<String> = EventLog::new(&Storage::with_store(Arc::new(store.clone()), url), "log");
    store.arm(plan(FaultKind::Full, false));
    let error = log.append_at(1, &"ours".into()).await.unwrap_err();
    assert!(matches!(error, StorageError::Write { .. }), "{error}");
}

#[tokio::test]
async fn a_damaged_entry_is_named_and_the_others_are_read() {
    let storage = Storage::memory();
    let log: EventLog<String> = EventLog::new(&storage, "log");
    for event in ["one", "two", "three"] {
        log.append(&event.into()).await.unwrap();
    }
    for (seq, bytes) in [(2, "{\"ev"), (1, "")] {
        let path = ObjectPath::from(format!("log/{seq:020}.json"));
        put_over(&storage, &path, bytes).await.unwrap();
        let entries = log.read_each_from(0).await.unwrap();
        assert_eq!(entries.len(), 3);
        let is_damaged = |at: usize| entries[at].1.as_ref().is_err_and(StorageError::is_damage);
        assert!(is_damaged(seq - 1) && !is_damaged(2));
        assert!(log.read_from(0).await.unwrap_err().is_damage());
    }
    // Valid entries stay. The newest entry also stays, because it contains the current state.
    assert!(!log.remove_damaged(3).await.unwrap());
    put_over(&storage, &ObjectPath::from(format!("log/{:020}.json", 3)), "{")
        .await
        .unwrap();
    assert!(!log.remove_damaged(3).await.unwrap());
    assert!(log.remove_damaged(1).await.unwrap() && log.remove_damaged(2).await.unwrap());
    assert!(!log.remove_damaged(1).await.unwrap());
    assert_eq!(log.append(&"four".into()).await.unwrap(), 4);
}

/// Returns possible damages of an object: missing, only a part of its bytes, or one altered bit.
fn harms(bytes: &[u8]) -> Vec<Option<Vec<u8>>> {
    let altered = (0..bytes.len()).map(|at| {
        let mut altered = bytes.to_vec();
        altered[at] ^= 1;
        Some(altered)
    });
    let cut = (0..bytes.len()).step_by(7).map(|end| Some(bytes[..end].to_vec()));
    let others = ["{}", "[]", "null", "{\"event\":{\"other\":1}}"].map(|json| Some(json.as_bytes().to_vec()));
    let zeroed = Some(vec![0; bytes.len()]);
    altered.chain(cut).chain(others).chain([zeroed, None]).collect()
}

#[tokio::test]
async fn whatever_becomes_of_one_object_of_a_log_with_copies_no_event_is_lost_and_mending_writes_its_bytes_again() {
    let storage = Storage::memory();
    let log = || EventLog::<String>::new(&storage, "log").with_copies();
    let events: Vec<(u64, String)> = (1..).zip(["one", "two", "three"].map(str::to_owned)).collect();
    for (_, event) in &events {
        log().append(event).await.unwrap();
    }
    let mut kept = BTreeSet::new();
    for seq in 1..=3 {
        for kind in ["json", "copy"] {
            let path = ObjectPath::from(format!("log/{seq:020}.{kind}"));
            let whole = get_bytes(&storage, &path).await.unwrap().unwrap();
            for harm in harms(&whole) {
                match &harm {
                    Some(left) => put_over(&storage, &path, left.clone()).await.unwrap(),
                    None => storage.store().delete(&path).await.unwrap(),
                }
                let said = format!("{path} {:?}", harm.as_deref().map(String::from_utf8_lossy));
                assert_eq!(log().read_from(1).await.unwrap(), events, "{said}");
                assert_eq!(log().latest().await.unwrap(), events.last().cloned(), "{said}");
                let faults = log().faults().await.unwrap();
                // A missing copy looks the same as a copy that was never stored, so that it is not a fault.
                if kind == "json" || harm.is_some() {
                    assert_eq!((faults.len(), &*faults[0].path), (1, path.as_ref()), "{said}");
                    log().mend(&faults[0]).await.unwrap();
                    assert_eq!(get_bytes(&storage, &path).await.unwrap().unwrap(), whole, "{said}");
                    assert_eq!(log().faults().await.unwrap(), [], "{said}");
                    kept.extend(harm);
                } else {
                    assert_eq!(faults, [], "{said}");
                    put_over(&storage, &path, whole.clone()).await.unwrap();
                }
            }
        }
    }
    let listed = storage.store().list(Some(&ObjectPath::from("log/damaged")));
    let aside: Vec<_> = listed.map_ok(|meta| meta.location).try_collect().await.unwrap();
    for path in aside {
        kept.remove(&*get_bytes(&storage, &path).await.unwrap().unwrap());
    }
    assert!(kept.is_empty(), "what was damaged is kept: {kept:?}");
}

#[tokio::test]
async fn an_event_that_is_lost_with_its_copy_is_named_as_lost_and_can_be_replaced_and_no_other() {
    let storage = Storage::memory();
    let log: EventLog<String> = EventLog::new(&storage, "log").with_copies();
    for event in ["one", "two", "three"] {
        log.append(&event.into()).await.unwrap();
    }
    for kind in ["json", "copy"] {
        let path = ObjectPath::from(format!("log/{:020}.{kind}", 2));
        storage.store().delete(&path).await.unwrap();
    }
    let all = log.read_all_from(1).await.unwrap();
    assert_eq!(all, [(1, Some("one".into())), (2, None), (3, Some("three".into()))]);
    let faults = log.faults().await.unwrap();
    assert_eq!((faults[0].seq, faults[0].object), (2, FaultyObject::Both));
    assert!(!log.replace_lost(1, &"other".into()).await.unwrap());
    assert!(log.replace_lost(2, &"zwei".into()).await.unwrap());
    assert_eq!(log.read(2).await.unwrap().as_deref(), Some("zwei"));
    assert_eq!(log.faults().await.unwrap(), []);
}
