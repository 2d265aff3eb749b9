//! Every kind of storage gives the same guarantees.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::path::Path;
use std::sync::Arc;

use data_model::Secret;
use data_storage::{
    EventLog, ObjectPath, S3Options, Storage, StorageError, StorageOptions, get_bytes, put_new, put_over,
};
use futures::TryStreamExt;
use kit::faulty::{FaultKind, FaultPlan, FaultyStore};
use kit::{conformance, publish_race};
use url::Url;

fn files(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path)
            } else {
                found.push(path.display().to_string())
            }
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_conforms() {
    conformance(Storage::memory()).await.unwrap();
    publish_race(&Storage::memory(), 8, 200).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_directory_conforms() {
    let dir = tempfile::tempdir().unwrap();
    let url = Url::from_directory_path(dir.path().join("not/yet there")).unwrap();
    let storage = Storage::open(&url, &StorageOptions::default()).unwrap();
    assert_eq!(
        storage.local_dir(),
        Some(dir.path().canonicalize().unwrap().join("not/yet there").as_path())
    );
    conformance(storage.clone()).await.unwrap();
    let staged: Vec<_> = files(&dir.path().join("not/yet there/.staging"));
    assert_eq!(staged.len(), 1, "only the lock is left: {staged:?}");
    publish_race(&storage.child("races"), 8, 200).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_on_one_directory_race_like_one() {
    let dir = tempfile::tempdir().unwrap();
    let [one, two] = [(); 2].map(|()| Storage::from_path(dir.path()).unwrap());
    for round in 0..50 {
        let path = ObjectPath::from(format!("{round}"));
        let (first, second) = tokio::join!(put_new(&one, &path, "one"), put_new(&two, &path, "two"));
        assert!(first.unwrap() != second.unwrap());
    }
}

#[tokio::test]
async fn what_a_dead_process_staged_is_never_listed_and_goes_with_the_next_write() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(".staging")).unwrap();
    std::fs::write(dir.path().join(".staging/0e1a#1"), "half of some").unwrap();
    let storage = Storage::from_path(dir.path()).unwrap();
    let listed: Vec<_> = storage.store().list(None).try_collect().await.unwrap();
    assert!(listed.is_empty(), "{listed:?}");
    assert!(
        storage
            .store()
            .list_with_delimiter(None)
            .await
            .unwrap()
            .common_prefixes
            .is_empty()
    );
    put_over(&storage, &ObjectPath::from("a"), "a").await.unwrap();
    assert!(!dir.path().join(".staging/0e1a#1").exists());
}

#[tokio::test]
async fn what_another_process_is_staging_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let [one, two] = [(); 2].map(|()| Storage::from_path(dir.path()).unwrap());
    let path = ObjectPath::from("upload");
    let mut upload = one.store().put_multipart_opts(&path, Default::default()).await.unwrap();
    upload.put_part("whole".into()).await.unwrap();
    put_over(&two, &ObjectPath::from("other"), "x").await.unwrap();
    upload.complete().await.unwrap();
    assert_eq!(
        get_bytes(&two, &path).await.unwrap().as_deref(),
        Some("whole".as_bytes())
    );
}

#[tokio::test]
async fn a_directory_that_was_removed_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::from_path(dir.path()).unwrap();
    put_over(&storage, &ObjectPath::from("a/b/c"), "1").await.unwrap();
    std::fs::remove_dir_all(dir.path().join("a")).unwrap();
    assert!(put_new(&storage, &ObjectPath::from("a/b/c"), "2").await.unwrap());
}

#[tokio::test]
async fn the_staging_directory_is_out_of_reach() {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::from_path(dir.path()).unwrap();
    assert!(put_new(&storage, &ObjectPath::from(".staging/x"), "x").await.is_err());
}

#[test]
fn urls_that_cannot_be_opened_say_why() {
    let open = |url: &str| {
        Storage::open(&url.parse().unwrap(), &StorageOptions::default())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        open("gs://bucket"),
        "a storage URL must begin with file://, s3:// or memory://, not gs://"
    );
    assert_eq!(
        open("file://host/dir"),
        "not the URL of a local directory: file://host/dir"
    );
    let secret = open("s3://key:hunter2@bucket/prefix");
    assert!(
        !secret.contains("hunter2") && secret.contains("credentials"),
        "{secret}"
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(matches!(
        Storage::from_path(file.path()),
        Err(StorageError::CreateDirectory { .. })
    ));
}

#[test]
fn secrets_are_masked() {
    let s3 = S3Options {
        secret: Some(Secret::new("hunter2")),
        ..S3Options::default()
    };
    let options = StorageOptions { s3 };
    assert!(!format!("{options:?}").contains("hunter2"));
    assert!(!serde_json::to_string(&options).unwrap().contains("hunter2"));
}

#[test]
fn a_bucket_is_opened_only_with_a_key_or_the_machines_role_and_not_by_plain_http() {
    let open = |s3: S3Options| Storage::open(&"s3://bucket/x".parse().unwrap(), &StorageOptions { s3 });
    let key = || Some("key".to_owned());
    let with_key = || S3Options {
        access_key_id: key(),
        secret: Some(Secret::new("secret")),
        ..S3Options::default()
    };
    let at = |endpoint: &str| S3Options {
        endpoint: Some(endpoint.to_owned()),
        ..with_key()
    };
    assert!(open(with_key()).is_ok());
    assert!(matches!(open(S3Options::default()), Err(StorageError::NoKey)));
    let role = S3Options {
        instance_role: true,
        ..S3Options::default()
    };
    assert!(open(role).is_ok());
    let half = S3Options {
        access_key_id: key(),
        instance_role: true,
        ..S3Options::default()
    };
    assert!(matches!(open(half), Err(StorageError::NoSecret)));
    assert!(matches!(open(at("http://s3.test")), Err(StorageError::PlainHttp)));
    assert!(matches!(open(at("s3.test:9000")), Err(StorageError::Endpoint)));
    assert!(open(at("https://s3.test")).is_ok());
    let plain = S3Options {
        allow_http: true,
        ..at("http://s3.test")
    };
    assert!(open(plain).is_ok());
}

#[test]
fn children_extend_the_url() {
    let s3 = S3Options {
        access_key_id: Some("key".to_owned()),
        secret: Some(Secret::new("secret")),
        ..S3Options::default()
    };
    let options = StorageOptions { s3 };
    let storage = Storage::open(&"s3://bucket/some/prefix".parse().unwrap(), &options).unwrap();
    assert_eq!(storage.url().as_str(), "s3://bucket/some/prefix/");
    assert_eq!(
        storage.child("lake/brands").child("x").url().as_str(),
        "s3://bucket/some/prefix/lake/brands/x/"
    );
    assert_eq!(storage.child("lake").local_dir(), None);
}

#[tokio::test]
async fn a_fault_comes_when_planned_and_death_is_for_good() {
    let faulty = FaultyStore::new(Arc::clone(Storage::memory().store()));
    let storage = Storage::with_store(Arc::new(faulty.clone()), "memory:///".parse().unwrap());
    let path = |name: &str| ObjectPath::from(name);
    for (kind, left) in [
        (FaultKind::BeforeEffect, None),
        (FaultKind::AfterEffect, Some("abcd")),
        (FaultKind::TornPut, Some("ab")),
    ] {
        faulty.arm(FaultPlan {
            nth: 2,
            kind,
            dead_after: true,
        });
        let [first, second] = ["first", "second"].map(|name| path(&format!("{kind:?}/{name}")));
        put_over(&storage, &first, "abcd").await.unwrap();
        put_over(&storage, &second, "abcd").await.unwrap_err();
        get_bytes(&storage, &first).await.unwrap_err();
        faulty.disarm();
        assert_eq!(
            get_bytes(&storage, &second).await.unwrap().as_deref(),
            left.map(str::as_bytes),
            "{kind:?}"
        );
    }
}

#[tokio::test]
async fn an_event_of_another_kind_is_an_error_and_not_a_guess() {
    let storage = Storage::memory();
    put_over(
        &storage,
        &ObjectPath::from("log/00000000000000000001.json"),
        "{\"event\": \"text\"}",
    )
    .await
    .unwrap();
    put_over(&storage, &ObjectPath::from("log/notes.txt"), "ignored")
        .await
        .unwrap();
    let log: EventLog<u32> = EventLog::new(&storage, "log");
    assert_eq!(log.latest_seq().await.unwrap(), Some(1));
    assert!(matches!(log.latest().await, Err(StorageError::DecodeEvent { .. })));
}
