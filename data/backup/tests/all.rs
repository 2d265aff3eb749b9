//! Tests of backups through the public API: in memory, on disk, and on storages that fail midway.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use data_backup::{
    BackupError, BackupReport, ExtraFile, LakeCut, Manifest, RESTORING, RestoreOptions, RestoredHome, STATE_DUMP,
    TakeOptions,
};
use data_model::Clock as _;
use data_storage::{ObjectPath, ObjectStoreExt as _, Storage, get_bytes, put_over};
use futures::TryStreamExt as _;
use kit::SetClock;
use kit::faulty::{FaultKind, FaultPlan, FaultyStore};

const WHOLE: TakeOptions = TakeOptions {
    with_landing: true,
    dry_run: false,
};

fn lake() -> Option<LakeCut> {
    Some(LakeCut {
        tick: 2,
        versions: [("products".to_owned(), 1)].into(),
    })
}

async fn put(storage: &Storage, path: &str, content: impl Into<Vec<u8>>) {
    put_over(storage, &ObjectPath::from(path), content.into())
        .await
        .unwrap();
}

/// Fills a home with objects of every kind, including a commit batch and a log entry that are newer than the cut.
async fn fill(home: &Storage) {
    for (path, content) in [
        ("registry/00000000000000000001.json", "a brand"),
        ("checks/00000000000000000001.json", "checked"),
        ("crawl-state/a.example.json", "validators"),
        ("landing/r/s/products-00001.json.zst", "page"),
        ("landing/r/s/done.json", "{}"),
        ("lake/products/part-1.parquet", "rows"),
        ("lake/products/_delta_log/00000000000000000001.json", "entry"),
        ("lake/products/_delta_log/00000000000000000002.json", "newer"),
        ("lake/products/_delta_log/_last_checkpoint", "{}"),
        ("lake/_ticks/00000000000000000002.done.json", "ended"),
        ("lake/_ticks/00000000000000000003.json", "begun"),
        ("releases/files/abc", "index"),
        ("releases/log/00000000000000000001.json", "published"),
        ("cache/files/abc", "a copy"),
        ("state/state.sqlite3", "never as it is"),
    ] {
        put(home, path, content).await;
    }
    // The object is too large to be loaded into memory, so that it is copied in parts.
    put(home, "releases/files/large", vec![7; 9 << 20]).await;
}

const HOUR_MS: i64 = 60 * 60 * 1000;

/// Backup ids sort by time, so that the clock is one second later at each call.
fn later() -> Arc<SetClock> {
    static MADE: AtomicI64 = AtomicI64::new(0);
    let clock = SetClock::noon();
    clock.advance_ms(MADE.fetch_add(1_000, Ordering::SeqCst));
    clock
}

async fn take(home: &Storage, backups: &Storage, given: Vec<ExtraFile>) -> Result<BackupReport, BackupError> {
    let clock = later();
    let taking = data_backup::begin(home, backups, WHOLE, clock.as_ref(), &()).await?;
    taking.finish(lake(), given).await
}

fn options(dump: &Path) -> RestoreOptions<'_> {
    RestoreOptions {
        dry_run: false,
        accept_loss: false,
        state_dump: dump,
        progress: &(),
    }
}

async fn restore(backups: &Storage, home: &Storage, folder: &Path) -> Result<RestoredHome, BackupError> {
    let dump = folder.join("dump");
    let options = options(&dump);
    let end = async |_| Ok::<_, std::convert::Infallible>(());
    Ok(data_backup::restore(backups, home, None, options, end).await?.unwrap())
}

async fn contents(storage: &Storage) -> BTreeMap<String, Vec<u8>> {
    let listed: Vec<_> = storage.store().list(None).try_collect().await.unwrap();
    let mut found = BTreeMap::new();
    for meta in listed {
        let content = get_bytes(storage, &meta.location).await.unwrap().unwrap();
        found.insert(meta.location.to_string(), content.to_vec());
    }
    found
}

fn paths(manifest: &Manifest) -> Vec<&str> {
    manifest.entries.iter().map(|entry| entry.path.as_str()).collect()
}

fn storages() -> (tempfile::TempDir, Storage, Storage) {
    let folder = tempfile::tempdir().unwrap();
    let home = Storage::from_path(&folder.path().join("home")).unwrap();
    let backups = Storage::from_path(&folder.path().join("backups")).unwrap();
    (folder, home, backups)
}

#[tokio::test]
async fn a_restored_home_is_what_was_backed_up_as_of_the_lakes_cut() {
    let (folder, home, backups) = storages();
    fill(&home).await;
    let taken = take(&home, &backups, Vec::new()).await.unwrap();
    insta::assert_debug_snapshot!(paths(&taken.manifest), @r#"
    [
        "checks/00000000000000000001.json",
        "crawl-state/a.example.json",
        "lake/_ticks/00000000000000000002.done.json",
        "lake/products/_delta_log/00000000000000000001.json",
        "lake/products/part-1.parquet",
        "landing/r/s/done.json",
        "landing/r/s/products-00001.json.zst",
        "registry/00000000000000000001.json",
        "releases/files/abc",
        "releases/files/large",
        "releases/log/00000000000000000001.json",
    ]
    "#);
    let restored = Storage::from_path(&folder.path().join("restored")).unwrap();
    let report = restore(&backups, &restored, folder.path()).await.unwrap();
    assert_eq!((report.written, report.lost.len()), (taken.copied, 0));
    let mut before = contents(&home).await;
    before.retain(|path, _| paths(&taken.manifest).contains(&path.as_str()));
    assert_eq!(contents(&restored).await, before);
}

#[tokio::test]
async fn a_second_backup_copies_what_is_new_alone() {
    let (_folder, home, backups) = storages();
    fill(&home).await;
    take(&home, &backups, Vec::new()).await.unwrap();
    put(&home, "checks/00000000000000000001.json", "checked again").await;
    put(&home, "registry/00000000000000000002.json", "a brand").await;
    let second = take(&home, &backups, Vec::new()).await.unwrap();
    // The second brand has the bytes of the first one, which are already stored.
    assert_eq!((second.copied, second.copied_bytes), (1, 13));
    assert_eq!(data_backup::list(&backups).await.unwrap().len(), 2);
}

#[tokio::test]
async fn an_object_that_somebody_damaged_is_named_and_the_next_backup_heals_what_it_can_see() {
    let (folder, home, backups) = storages();
    fill(&home).await;
    let taken = take(&home, &backups, Vec::new()).await.unwrap();
    let entry = taken
        .manifest
        .entries
        .iter()
        .find(|entry| entry.path.starts_with("registry"))
        .unwrap();
    let object = format!("objects/{}/{}", &entry.sha256[..2], entry.sha256);
    put(&backups, &object, "A brand").await;
    let verified = data_backup::verify(&backups, None, &()).await.unwrap();
    assert_eq!(verified.damaged, [entry.path.as_str()]);
    let restored = Storage::from_path(&folder.path().join("restored")).unwrap();
    let refused = restore(&backups, &restored, folder.path()).await;
    assert!(
        matches!(&refused, Err(BackupError::Damaged { lost, .. }) if lost == &verified.damaged),
        "{refused:?}"
    );
    assert!(contents(&restored).await.is_empty());
    // A damaged object of the same size counts as intact until it is set aside.
    take(&home, &backups, Vec::new()).await.unwrap();
    let verified = data_backup::verify(&backups, None, &()).await.unwrap();
    assert_eq!(verified.damaged, [entry.path.as_str()]);
    let moved = data_backup::set_aside(&backups, &verified, later().as_ref()).await;
    assert_eq!(moved.unwrap(), 1);
    assert_eq!(
        contents(&backups).await[&format!("damaged/{}", entry.sha256)],
        b"A brand"
    );
    take(&home, &backups, Vec::new()).await.unwrap();
    let verified = data_backup::verify(&backups, None, &()).await.unwrap();
    assert_eq!(verified.damaged, [] as [&str; 0]);
    // A damaged object of another size is detected without being read, and copied again.
    put(&backups, &object, "short").await;
    take(&home, &backups, Vec::new()).await.unwrap();
    assert!(
        data_backup::verify(&backups, None, &())
            .await
            .unwrap()
            .damaged
            .is_empty()
    );
    // A home accepts only the backup with which its restore began.
    let begun = format!(r#"{{"backup":"{}"}}"#, taken.manifest.id);
    put(&restored, "restoring.json", begun).await;
    let refused = restore(&backups, &restored, folder.path()).await;
    assert!(
        matches!(refused, Err(BackupError::AnotherRestoring { .. })),
        "{refused:?}"
    );
    let dump = folder.path().join("dump");
    let options = options(&dump);
    let end = async |_| Ok::<_, std::convert::Infallible>(());
    let first = Some(&taken.manifest.id);
    let ended = data_backup::restore(&backups, &restored, first, options, end)
        .await
        .unwrap();
    assert_eq!(ended.unwrap().lost, [] as [&str; 0]);
    assert!(data_backup::is_restoring(&restored).await.unwrap().is_none());
}

#[tokio::test]
async fn no_flipped_bit_of_a_backups_list_is_unseen() {
    let (_folder, home, backups) = storages();
    fill(&home).await;
    let taken = take(&home, &backups, Vec::new()).await.unwrap();
    let all = contents(&backups).await;
    let (path, list) = all.iter().find(|(path, _)| path.starts_with("backups/")).unwrap();
    let (mut unseen, memory) = (Vec::new(), Storage::memory());
    for bit in 0..list.len() * 8 {
        let mut flipped = list.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        put(&memory, path, flipped).await;
        if let Ok(manifest) = data_backup::load(&memory, Some(&taken.manifest.id)).await
            && paths(&manifest) != paths(&taken.manifest)
        {
            unseen.push(bit);
        }
    }
    assert_eq!(unseen, [] as [usize; 0]);
}

#[tokio::test]
async fn a_home_with_something_in_it_is_not_restored_over() {
    let (folder, home, backups) = storages();
    fill(&home).await;
    take(&home, &backups, Vec::new()).await.unwrap();
    let before = contents(&home).await;
    let refused = restore(&backups, &home, folder.path()).await;
    assert!(matches!(refused, Err(BackupError::NotEmpty { .. })), "{refused:?}");
    assert_eq!(contents(&home).await, before);
}

#[tokio::test]
async fn backups_do_not_lie_within_their_home() {
    let (_folder, home, _) = storages();
    let within = home.child("backups");
    let refused = take(&home, &within, Vec::new()).await;
    assert!(matches!(refused, Err(BackupError::Nested { .. })), "{refused:?}");
}

#[tokio::test]
async fn pruning_keeps_what_the_newest_backups_need() {
    let (folder, home, backups) = storages();
    let clock = later();
    put(&home, "registry/1.json", "one").await;
    put(&home, "checks/1.json", "old").await;
    for content in ["new", "newest"] {
        take(&home, &backups, Vec::new()).await.unwrap();
        put(&home, "checks/1.json", content).await;
        clock.advance_ms(1_000);
    }
    let would = data_backup::prune(&backups, 1, true, clock.as_ref()).await.unwrap();
    assert_eq!(data_backup::list(&backups).await.unwrap().len(), 2);
    let pruned = data_backup::prune(&backups, 1, false, clock.as_ref()).await.unwrap();
    assert_eq!(pruned, would);
    assert_eq!((pruned.removed.len(), pruned.kept.len(), pruned.objects), (1, 1, 1));
    let restored = Storage::from_path(&folder.path().join("restored")).unwrap();
    restore(&backups, &restored, folder.path()).await.unwrap();
}

#[tokio::test]
async fn a_backup_and_a_clean_up_exclude_each_other_until_one_was_silent_for_hours() {
    let (_folder, home, backups) = storages();
    fill(&home).await;
    let clock = later();
    let taking = data_backup::begin(&home, &backups, WHOLE, clock.as_ref(), &())
        .await
        .unwrap();
    let refused = data_backup::prune(&backups, 1, false, clock.as_ref()).await;
    assert!(matches!(refused, Err(BackupError::Busy { .. })), "{refused:?}");
    taking.finish(lake(), Vec::new()).await.unwrap();
    data_backup::prune(&backups, 1, false, clock.as_ref()).await.unwrap();
    // A dead program leaves its marker behind.
    drop(
        data_backup::begin(&home, &backups, WHOLE, clock.as_ref(), &())
            .await
            .unwrap(),
    );
    assert!(data_backup::prune(&backups, 1, false, clock.as_ref()).await.is_err());
    clock.advance_ms(3 * HOUR_MS);
    data_backup::prune(&backups, 1, false, clock.as_ref()).await.unwrap();
}

/// The clock advances by twenty minutes for each object.
#[derive(Debug)]
struct Slow(Arc<SetClock>);

impl data_backup::CopyProgress for Slow {
    fn total(&self, _objects: u64, _bytes: u64) {}
    fn done(&self, _bytes: u64) {
        self.0.advance_ms(HOUR_MS / 3);
    }
}

#[tokio::test]
async fn a_slow_backup_says_that_it_is_at_work_and_one_that_stood_still_gives_up() {
    let (_folder, home, backups) = storages();
    fill(&home).await;
    for nth in 0..24 {
        put(&home, &format!("crawl-state/{nth}.example.json"), "validators").await;
    }
    let clock = later();
    let slow = Slow(Arc::clone(&clock));
    let begun = clock.now();
    let taking = data_backup::begin(&home, &backups, WHOLE, clock.as_ref(), &slow)
        .await
        .unwrap();
    let hours = clock.now().millis_since(begun) / HOUR_MS;
    assert!(hours > 3, "{hours}");
    let refused = data_backup::prune(&backups, 1, false, clock.as_ref()).await;
    assert!(matches!(refused, Err(BackupError::Busy { .. })), "{refused:?}");
    // A suspended machine has such a gap.
    clock.advance_ms(3 * HOUR_MS);
    let lapsed = taking.finish(lake(), Vec::new()).await;
    assert!(matches!(lapsed, Err(BackupError::Lapsed { .. })), "{lapsed:?}");
    assert_eq!(data_backup::list(&backups).await.unwrap(), []);
}

#[tokio::test]
async fn a_backup_that_fails_is_not_waited_for() {
    let (_folder, home, _) = storages();
    fill(&home).await;
    let clock = later();
    for nth in 2..8 {
        let inner = Storage::memory();
        let faulty = Arc::new(FaultyStore::new(Arc::clone(inner.store())));
        let failing = Storage::with_store(Arc::clone(&faulty) as _, inner.url().clone());
        faulty.arm(FaultPlan {
            nth,
            kind: FaultKind::BeforeEffect,
            dead_after: false,
        });
        let failed = take(&home, &failing, Vec::new()).await;
        assert!(failed.is_err(), "{nth}: {failed:?}");
        data_backup::prune(&inner, 1, false, clock.as_ref()).await.unwrap();
    }
}

#[tokio::test]
async fn what_is_removed_or_comes_while_a_backup_is_at_work_leaves_it_whole() {
    let (folder, home, backups) = storages();
    fill(&home).await;
    let clock = later();
    let taking = data_backup::begin(&home, &backups, WHOLE, clock.as_ref(), &())
        .await
        .unwrap();
    // Meanwhile a crawl ends, a release is published, and pages of an old run are removed.
    put(&home, "crawl-state/b.example.json", "newer than the lake").await;
    put(&home, "releases/files/def", "next index").await;
    put(&home, "releases/log/00000000000000000002.json", "published").await;
    put(&home, "landing/q/s/done.json", "{}").await;
    for gone in ["landing/r/s/products-00001.json.zst", "landing/r/s/done.json"] {
        home.store().delete(&ObjectPath::from(gone)).await.unwrap();
    }
    let taken = taking.finish(lake(), Vec::new()).await.unwrap();
    let held = paths(&taken.manifest);
    for newer in [
        "crawl-state/b.example.json",
        "releases/log/00000000000000000002.json",
        "landing/q/s/done.json",
    ] {
        assert!(!held.contains(&newer), "{held:?}");
    }
    assert!(held.contains(&"releases/log/00000000000000000001.json"));
    let restored = Storage::from_path(&folder.path().join("restored")).unwrap();
    restore(&backups, &restored, folder.path()).await.unwrap();
}

#[tokio::test]
async fn a_given_file_comes_back_where_the_caller_wants_it() {
    let (folder, home, backups) = storages();
    fill(&home).await;
    let file = folder.path().join("state");
    std::fs::write(&file, "rows of the state").unwrap();
    let given = ExtraFile {
        path: STATE_DUMP.to_owned(),
        file,
    };
    take(&home, &backups, vec![given]).await.unwrap();
    let restored = Storage::from_path(&folder.path().join("restored")).unwrap();
    let report = restore(&backups, &restored, folder.path()).await.unwrap();
    assert!(report.has_state);
    assert_eq!(std::fs::read(folder.path().join("dump")).unwrap(), b"rows of the state");
    assert_eq!(get_bytes(&restored, &ObjectPath::from(STATE_DUMP)).await.unwrap(), None);
}

#[tokio::test]
async fn a_restore_that_dies_at_any_write_goes_on_and_the_home_says_so_meanwhile() {
    let (folder, home, backups) = storages();
    fill(&home).await;
    let taken = take(&home, &backups, Vec::new()).await.unwrap();
    let whole = Storage::memory();
    restore(&backups, &whole, folder.path()).await.unwrap();
    for nth in 1..=taken.manifest.entries.len() as u64 {
        let inner = Storage::memory();
        let faulty = Arc::new(FaultyStore::new(Arc::clone(inner.store())));
        let dying = Storage::with_store(Arc::clone(&faulty) as _, inner.url().clone());
        faulty.arm(FaultPlan {
            nth,
            kind: FaultKind::AfterEffect,
            dead_after: true,
        });
        assert!(restore(&backups, &dying, folder.path()).await.is_err());
        let is_begun = data_backup::is_restoring(&inner).await.unwrap().is_some();
        assert!(is_begun || contents(&inner).await.is_empty());
        restore(&backups, &inner, folder.path()).await.unwrap();
        assert_eq!(contents(&inner).await, contents(&whole).await, "{nth}");
    }
    assert!(!contents(&whole).await.contains_key(RESTORING));
}

#[tokio::test]
async fn a_backup_that_dies_at_any_write_is_none_and_the_next_one_is_whole() {
    let (folder, home, _) = storages();
    fill(&home).await;
    for nth in 1..20 {
        let inner = Storage::memory();
        let faulty = Arc::new(FaultyStore::new(Arc::clone(inner.store())));
        let dying = Storage::with_store(Arc::clone(&faulty) as _, inner.url().clone());
        faulty.arm(FaultPlan {
            nth,
            kind: FaultKind::BeforeEffect,
            dead_after: true,
        });
        let died = take(&home, &dying, Vec::new()).await;
        if died.is_ok() {
            assert!(nth > 10, "it wrote more than that");
            break;
        }
        let listed = data_backup::list(&inner).await.unwrap();
        if !listed.is_empty() {
            // A listed backup is complete, even if its marker was not removed.
            assert!(data_backup::verify(&inner, None, &()).await.unwrap().damaged.is_empty());
        }
        take(&home, &inner, Vec::new()).await.unwrap();
        let restored = Storage::memory();
        restore(&inner, &restored, folder.path()).await.unwrap();
    }
}
