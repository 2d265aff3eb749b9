//! Tests recording observations to storage and reading them back.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use data_model::{Clock, Observation, ObservedVariant, Timestamp, VariantId};
use data_observations::{ObservationsConfig, Recorder, list, read, remove};
use data_storage::{ObjectPath, Storage, put_new};
use kit::faulty::{FaultKind, FaultPlan, FaultyStore};
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, SharedString, Unit};
use tokio_util::sync::CancellationToken;

/// 2026-11-23T00:00:00Z
const START: i64 = 1_795_392_000_000_000;

#[derive(Debug)]
struct TickingClock(AtomicI64);

impl Clock for TickingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.fetch_add(1_000_000, Ordering::SeqCst))
    }
}

#[derive(Debug, Clone, Default)]
struct Counts(Arc<Mutex<BTreeMap<String, Arc<AtomicU64>>>>);

impl Counts {
    fn all(&self) -> Vec<(String, u64)> {
        let counts = self.0.lock().unwrap();
        let counts = counts
            .iter()
            .map(|(name, count)| (name.clone(), count.load(Ordering::SeqCst)));
        counts.filter(|(_, count)| *count > 0).collect()
    }
}

impl metrics::Recorder for Counts {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let labels = key.labels().map(|label| format!(" {}", label.value()));
        let name = format!("{}{}", key.name(), labels.collect::<String>());
        let mut counts = self.0.lock().unwrap();
        Counter::from_arc(Arc::clone(counts.entry(name).or_default()))
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

fn counted(counts: &[(&str, u64)]) -> Vec<(String, u64)> {
    counts
        .iter()
        .map(|(name, count)| ((*name).to_owned(), *count))
        .collect()
}

fn observation(product: u64) -> Observation {
    Observation {
        store: "alpha.myshopify.com".parse().unwrap(),
        product,
        observed_at: Timestamp::from_micros(START + product.cast_signed()),
        currency: "INR".parse().unwrap(),
        variants: vec![ObservedVariant {
            id: VariantId(product * 10),
            price_minor: 49_900,
            compare_at_minor: Some(59_900),
            available: true,
        }],
        gone: vec![VariantId(product * 10 + 1)],
    }
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(TickingClock(AtomicI64::new(START)))
}

fn config(queue_max: usize, batch_max: usize) -> ObservationsConfig {
    ObservationsConfig {
        queue_max,
        batch_max,
        ..ObservationsConfig::default()
    }
}

/// Returns the products in each file, oldest first.
async fn written(storage: &Storage) -> Vec<Vec<u64>> {
    let mut files = Vec::new();
    for file in list(storage, 100, |_| true).await.unwrap() {
        let observations = read(storage, &file).await.unwrap().unwrap();
        files.push(observations.iter().map(|observation| observation.product).collect());
    }
    files
}

fn faulty() -> (FaultyStore, Storage) {
    let faulty = FaultyStore::new(Arc::clone(Storage::memory().store()));
    let storage = Storage::with_store(Arc::new(faulty.clone()), "memory:///".parse().unwrap());
    (faulty, storage)
}

#[tokio::test(start_paused = true)]
async fn what_is_recorded_is_written_by_batches_and_by_time_and_at_the_end() {
    let (counts, storage, cancel) = (Counts::default(), Storage::memory(), CancellationToken::new());
    let _guard = metrics::set_default_local_recorder(&counts);
    let (recorder, writer) = Recorder::start(&storage, clock(), &config(100, 3), cancel.clone());
    let writer = tokio::spawn(writer);
    (1..=4).for_each(|product| recorder.record(observation(product)));
    // With paused time, sleeping for the interval also waits until the writer is idle.
    tokio::time::sleep(std::time::Duration::from_millis(4_999)).await;
    assert_eq!(written(&storage).await, [vec![1, 2, 3]], "a full batch does not wait");
    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    assert_eq!(written(&storage).await, [vec![1, 2, 3], vec![4]]);
    (5..=8).for_each(|product| recorder.clone().record(observation(product)));
    cancel.cancel();
    writer.await.unwrap();
    let files = written(&storage).await;
    assert_eq!(files.concat(), (1..=8).collect::<Vec<_>>());
    recorder.record(observation(9));
    let recorded = [
        ("observations_batches_total", files.len() as u64),
        ("observations_lost_total stopped", 1),
        ("observations_recorded_total", 8),
    ];
    assert_eq!(counts.all(), counted(&recorded));
    let first = list(&storage, 1, |_| true).await.unwrap();
    assert!(
        first[0].path().starts_with("2026-11-23/00001795392000000000-"),
        "{first:?}"
    );
    assert_eq!(read(&storage, &first[0]).await.unwrap().unwrap()[0], observation(1));
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_and_what_no_store_can_say_are_lost_and_counted_at_once() {
    let (counts, storage) = (Counts::default(), Storage::memory());
    let _guard = metrics::set_default_local_recorder(&counts);
    let (recorder, writer) = Recorder::start(&storage, clock(), &config(2, 10), CancellationToken::new());
    // The writer is idle, so that the third observation finds a full queue. Its caller does not wait.
    (1..=3).for_each(|product| recorder.record(observation(product)));
    let mut negative = observation(4);
    negative.variants[0].price_minor = -1;
    recorder.record(negative);
    let mut endless = observation(5);
    endless.gone = (0..5_000).map(VariantId).collect();
    recorder.record(endless);
    drop(recorder);
    writer.await;
    assert_eq!(
        written(&storage).await.concat(),
        [1, 2],
        "the last recorder is gone: what is there is written"
    );
    let recorded = [
        ("observations_batches_total", 1),
        ("observations_lost_total not_sound", 2),
        ("observations_lost_total queue_full", 1),
        ("observations_recorded_total", 2),
    ];
    assert_eq!(counts.all(), counted(&recorded));
}

#[tokio::test(start_paused = true)]
async fn a_put_that_fails_is_sent_again_and_writes_once_and_a_full_disk_loses_what_is_counted() {
    for kind in [
        FaultKind::BeforeEffect,
        FaultKind::AfterEffect,
        FaultKind::Conflict,
        FaultKind::Full,
    ] {
        let (counts, (faulty, storage)) = (Counts::default(), faulty());
        let _guard = metrics::set_default_local_recorder(&counts);
        faulty.arm(FaultPlan {
            nth: 1,
            kind,
            dead_after: false,
        });
        let (recorder, writer) = Recorder::start(&storage, clock(), &config(10, 10), CancellationToken::new());
        (1..=2).for_each(|product| recorder.record(observation(product)));
        drop(recorder);
        writer.await;
        faulty.disarm();
        if kind == FaultKind::Full {
            assert_eq!(written(&storage).await.len(), 0);
            assert_eq!(counts.all(), counted(&[("observations_lost_total put_failed", 2)]));
        } else {
            assert_eq!(written(&storage).await, [[1, 2]], "{kind:?}");
            let recorded = [("observations_batches_total", 1), ("observations_recorded_total", 2)];
            assert_eq!(counts.all(), counted(&recorded), "{kind:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn files_are_listed_oldest_first_and_damaged_ones_are_named_and_left() {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::from_path(dir.path()).unwrap();
    let (recorder, writer) = Recorder::start(&storage, clock(), &config(10, 1), CancellationToken::new());
    (1..=3).for_each(|product| recorder.record(observation(product)));
    drop(recorder);
    writer.await;
    let damaged = "2026-11-22/00000000000000000001-00000000000000000000000000000000.jsonl.zst";
    for (path, bytes) in [(damaged, "nothing of ours"), ("notes.txt", "for the operator")] {
        let path = ObjectPath::from(format!("observations/{path}"));
        assert!(put_new(&storage, &path, bytes.as_bytes().to_vec()).await.unwrap());
    }
    let files = list(&storage, 100, |_| true).await.unwrap();
    assert_eq!((files.len(), files[0].path()), (4, damaged));
    let refused = read(&storage, &files[0]).await.unwrap_err();
    assert!(refused.is_damage());
    assert_eq!(
        refused.to_string(),
        format!("observations/{damaged} is not a valid file of observations: it cannot be decompressed")
    );
    let oldest = list(&storage, 2, |path| path != damaged).await.unwrap();
    assert_eq!(oldest, files[1..3]);
    remove(&storage, &oldest).await.unwrap();
    remove(&storage, &oldest).await.unwrap();
    assert_eq!(
        read(&storage, &oldest[0]).await.unwrap(),
        None,
        "it was folded in by another"
    );
    assert_eq!(
        list(&storage, 100, |_| true).await.unwrap(),
        [files[0].clone(), files[3].clone()]
    );
    remove(&storage, &files).await.unwrap();
    let left: Vec<_> = std::fs::read_dir(dir.path().join("observations")).unwrap().collect();
    assert_eq!(left.len(), 1, "days without observations leave no folder");
}
