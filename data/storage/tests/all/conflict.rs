//! A conditional put can be refused because another request is working on the object. Such a refusal does not prove
//! that the object exists.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::sync::Arc;

use data_storage::{EventLog, ObjectPath, ObjectStore, Storage, StorageError, get_bytes, put_new, put_over};
use kit::faulty::{FaultKind, FaultPlan, FaultyStore};
use object_store::{PutMode, PutOptions};

fn faulty() -> (FaultyStore, Storage) {
    let faulty = FaultyStore::new(Arc::clone(Storage::memory().store()));
    let storage = Storage::with_store(Arc::new(faulty.clone()), "memory:///".parse().unwrap());
    (faulty, storage)
}

fn arm(faulty: &FaultyStore, kind: FaultKind) {
    faulty.arm(FaultPlan {
        nth: 1,
        kind,
        dead_after: false,
    });
}

#[tokio::test(start_paused = true)]
async fn a_put_that_meets_a_conflict_is_sent_again() {
    let (faulty, storage) = faulty();
    let path = ObjectPath::from("one");
    arm(&faulty, FaultKind::Conflict);
    assert!(put_new(&storage, &path, "mine").await.unwrap());
    assert_eq!(faulty.conflicts(), 1);
    assert_eq!(get_bytes(&storage, &path).await.unwrap().as_deref(), Some(&b"mine"[..]));
    // Delta's commits, for example, call the store directly.
    let create = PutOptions {
        mode: PutMode::Create,
        ..PutOptions::default()
    };
    arm(&faulty, FaultKind::Conflict);
    let other = ObjectPath::from("other");
    let log = storage.child("log");
    log.store()
        .put_opts(&other, "mine".into(), create.clone())
        .await
        .unwrap();
    assert_eq!(faulty.conflicts(), 1);
    let second = log.store().put_opts(&other, "yours".into(), create).await.unwrap_err();
    assert!(
        matches!(second, object_store::Error::AlreadyExists { .. }),
        "{second:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_put_that_meets_a_conflict_loses_to_an_object_that_is_there() {
    let (faulty, storage) = faulty();
    let path = ObjectPath::from("one");
    put_over(&storage, &path, "theirs").await.unwrap();
    arm(&faulty, FaultKind::Conflict);
    assert!(!put_new(&storage, &path, "mine").await.unwrap());
    assert_eq!(faulty.conflicts(), 1);
    assert_eq!(
        get_bytes(&storage, &path).await.unwrap().as_deref(),
        Some(&b"theirs"[..])
    );
}

#[tokio::test(start_paused = true)]
async fn conflicts_without_end_are_a_failure_and_no_loss_to_another_writer() {
    let (faulty, storage) = faulty();
    let path = ObjectPath::from("one");
    arm(&faulty, FaultKind::Conflicts);
    let refused = put_new(&storage, &path, "mine").await.unwrap_err();
    assert!(matches!(refused, StorageError::Write { .. }), "{refused:?}");
    assert!((2..100).contains(&faulty.conflicts()), "{}", faulty.conflicts());
    faulty.disarm();
    assert_eq!(get_bytes(&storage, &path).await.unwrap(), None);
    assert!(put_new(&storage, &path, "mine").await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn an_event_that_meets_conflicts_gets_the_next_number() {
    let (faulty, storage) = faulty();
    let log: EventLog<u32> = EventLog::new(&storage, "log");
    for event in 1..=5 {
        arm(&faulty, FaultKind::Conflict);
        assert_eq!(log.append(&event).await.unwrap(), u64::from(event));
        assert_eq!(faulty.conflicts(), 1);
    }
}
