//! What an event log tells its writers when answers are lost, and its readers when entries are damaged.

use std::sync::Arc;

use data_storage::faulty::{FaultKind, FaultPlan, FaultyStore};
use data_storage::{EventLog, ObjectPath, Storage, StorageError, put_over};
use url::Url;

/// A storage that fails as `plan` says, and the same without faults.
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
    // Whole entries stay, and so does the newest, which tells what holds now.
    assert!(!log.remove_damaged(3).await.unwrap());
    put_over(&storage, &ObjectPath::from(format!("log/{:020}.json", 3)), "{")
        .await
        .unwrap();
    assert!(!log.remove_damaged(3).await.unwrap());
    assert!(log.remove_damaged(1).await.unwrap() && log.remove_damaged(2).await.unwrap());
    assert!(!log.remove_damaged(1).await.unwrap());
    assert_eq!(log.append(&"four".into()).await.unwrap(), 4);
}
