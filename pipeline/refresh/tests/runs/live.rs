//! Live prices are in the price history after the next run, whatever that run finds.

use std::collections::BTreeSet;
use std::sync::Arc;

use data_model::{BrandSlug, Observation, ObservedVariant, Timestamp, VariantId};
use data_observations::{ObservationsConfig, Recorder, list};
use data_storage::{ObjectPath, ObjectStoreExt, get_bytes, put_over};
use kit::ShiftedClock;
use pipeline_crawl::Progress;
use pipeline_refresh::{LiveTotals, RunOptions, RunReport};
use tokio_util::sync::CancellationToken;

use crate::support::{Fault, Rig, Shop, outcomes, product};

const HOUR_MS: i64 = 3_600_000;

fn said(rig: &Rig, name: &str, product: u64, price_minor: i64) -> Observation {
    Observation {
        store: format!("{name}.localhost").parse().unwrap(),
        product,
        observed_at: rig.now(),
        currency: "INR".parse().unwrap(),
        variants: vec![ObservedVariant {
            id: VariantId(product * 10),
            price_minor,
            compare_at_minor: None,
            available: true,
        }],
        gone: Vec::new(),
    }
}

/// Writes observations as a gateway does.
async fn record(rig: &Rig, observations: Vec<Observation>) {
    let config = ObservationsConfig::default();
    let (recorder, writer) = Recorder::start(&rig.storage, rig.clock(), &config, CancellationToken::new());
    observations.into_iter().for_each(|one| recorder.record(one));
    drop(recorder);
    writer.await;
}

async fn files(rig: &Rig) -> Vec<String> {
    let files = list(&rig.storage, 100, |_| true).await.unwrap();
    files
        .iter()
        .map(|file| format!("observations/{}", file.path()))
        .collect()
}

/// The prices are newest first.
async fn went(rig: &Rig, name: &str, product: u64) -> Vec<(Timestamp, Option<i64>)> {
    let store = format!("{name}.localhost").parse().unwrap();
    let snapshot = rig.lake().await.snapshot().await.unwrap();
    let histories = snapshot.price_history(&BTreeSet::from([store])).await.unwrap();
    let points = histories
        .into_values()
        .next()
        .and_then(|mut history| history.remove(&product));
    let points = points.unwrap_or_default().into_iter();
    points.map(|point| (point.observed_at, point.price_minor)).collect()
}

async fn prices(rig: &Rig, name: &str, product: u64) -> Vec<Option<i64>> {
    went(rig, name, product)
        .await
        .into_iter()
        .map(|(_, price)| price)
        .collect()
}

#[tokio::test]
async fn a_resumed_run_says_of_a_store_what_it_read_when_it_read_it() {
    let rig = Rig::with([("mate", Shop::of(1..=2)), ("tea", Shop::of(1..=4))]).await;
    rig.run().await;
    let crawled = prices(&rig, "mate", 1).await;
    rig.later(HOUR_MS);
    rig.street.fault("tea", "page=2", Fault::Hang);
    let run = rig.killed_at("tea", &[]).await;
    let done = format!("landing/{run}/mate.localhost/done.json");
    assert!(rig.objects().await.contains(&done), "its crawl was complete");
    rig.later(600_000);
    record(&rig, vec![said(&rig, "mate", 1, 12_000)]).await;
    rig.street.change("tea", |shop| shop.faults.clear());
    let report = rig.run().await;
    let mate = report
        .stores
        .iter()
        .find(|store| store.slug.as_str() == "mate")
        .unwrap();
    assert!(mate.reused_pages > 0 && mate.requests > 0, "it was not asked again");
    assert_eq!(report.totals.reused_pages, u64::from(mate.reused_pages));
    let expected: Vec<_> = [Some(12_000)].into_iter().chain(crawled).collect();
    assert_eq!(
        prices(&rig, "mate", 1).await,
        expected,
        "what is newer than the page stands"
    );
    let checks = data_checks::load(&rig.storage).await.unwrap();
    let checked_at = checks.of(&mate.store).unwrap().checked_at;
    assert_eq!(Some(checked_at), mate.read_at);
    assert!(
        rig.now().millis_since(checked_at) >= 600_000,
        "it was read before the kill"
    );
}

fn live(report: &RunReport) -> LiveTotals {
    report.totals.live
}

#[tokio::test]
async fn what_was_seen_live_stands_before_the_crawl_that_finds_it_too() {
    let rig = Rig::with([("mate", Shop::of(1..=4)), ("tea", Shop::of(1..=4))]).await;
    let first = rig.run().await;
    assert!(live(&first).is_none());
    rig.later(HOUR_MS);
    let (seen_at, one) = (rig.now(), said(&rig, "tea", 1, 45_000));
    record(
        &rig,
        vec![Observation {
            observed_at: seen_at,
            ..one
        }],
    )
    .await;
    rig.later(HOUR_MS);
    rig.street.change("tea", |shop| {
        shop.list((1..=4).map(|id| product(id, if id < 3 { "450.00" } else { "499.00" })))
    });
    let report = rig.run().await;
    assert_eq!(outcomes(&report), ["mate unchanged", "tea changed"]);
    assert_eq!(report.commits, 2, "what was seen live is a commit of its own");
    let expected = LiveTotals {
        files: 1,
        commits: 1,
        folded: 1,
        price_changes: 1,
        ..LiveTotals::default()
    };
    assert_eq!(live(&report), expected);
    let history = went(&rig, "tea", 1).await;
    assert_eq!((history.len(), history[0]), (2, (seen_at, Some(45_000))));
    assert_eq!(prices(&rig, "tea", 2).await, [Some(45_000), Some(49_900)]);
    assert!(files(&rig).await.is_empty());
}

#[tokio::test]
async fn a_run_in_which_no_store_changed_folds_it_in_and_holds_it_against_what_it_found() {
    let rig = Rig::with([("mate", Shop::of(1..=4)), ("tea", Shop::of(1..=4))]).await;
    rig.run().await;
    let before = rig.versions().await;
    rig.later(HOUR_MS);
    record(&rig, vec![said(&rig, "tea", 1, 45_000), said(&rig, "mate", 2, 49_900)]).await;
    let written = ObjectPath::from(files(&rig).await.remove(0));
    let kept = get_bytes(&rig.storage, &written).await.unwrap().unwrap();
    rig.later(HOUR_MS);
    let report = rig.run().await;
    assert_eq!(outcomes(&report), ["mate unchanged", "tea unchanged"]);
    assert_eq!(prices(&rig, "tea", 1).await, [Some(49_900), Some(45_000), Some(49_900)]);
    assert_eq!(prices(&rig, "mate", 2).await, [Some(49_900)]);
    assert_eq!((live(&report).folded, live(&report).price_changes), (2, 2));
    let after = rig.versions().await;
    for table in ["products", "variants", "brands"] {
        assert_eq!(before[table], after[table], "{table} is what the crawl saw");
    }
    // This run was killed before it deleted the file.
    let name = "observations/2026-11-21/00000000000000000001-00000000000000000000000000000001.jsonl.zst";
    put_over(&rig.storage, &ObjectPath::from(name), kept).await.unwrap();
    let again = rig.run().await;
    assert_eq!((again.commits, live(&again).dropped_outdated), (0, 2));
    assert_eq!((rig.versions().await, files(&rig).await.len()), (after, 0));
}

#[tokio::test]
async fn what_cannot_be_folded_in_is_counted_and_a_file_of_something_else_is_left() {
    let rig = Rig::with([("tea", Shop::of(1..=4))]).await;
    rig.run().await;
    rig.later(HOUR_MS);
    let mut dollars = said(&rig, "tea", 1, 5);
    dollars.currency = "USD".parse().unwrap();
    let mut tomorrow = said(&rig, "tea", 1, 5);
    tomorrow.observed_at = tomorrow.observed_at.plus_millis(24 * HOUR_MS);
    let nobody = said(&rig, "nobody", 1, 5);
    record(&rig, vec![said(&rig, "tea", 99, 5), nobody, dollars, tomorrow]).await;
    let foreign = "observations/2026-11-21/00000000000000000001-00000000000000000000000000000000.jsonl.zst";
    put_over(&rig.storage, &ObjectPath::from(foreign), b"else".to_vec())
        .await
        .unwrap();
    let options = RunOptions {
        dry_run: true,
        ..RunOptions::default()
    };
    assert!(live(&rig.run_with(&options).await.unwrap()).is_none());
    assert_eq!(files(&rig).await.len(), 2, "a run that only looks leaves them");
    let report = rig.run().await;
    let expected = LiveTotals {
        files: 1,
        files_damaged: 1,
        dropped_unknown: 2,
        dropped_other_currency: 1,
        dropped_ahead: 1,
        ..LiveTotals::default()
    };
    assert_eq!((live(&report), report.commits), (expected, 0));
    assert_eq!(files(&rig).await, [foreign]);
    rig.storage.store().delete(&ObjectPath::from(foreign)).await.unwrap();
    assert!(live(&rig.run().await).is_none());
}

#[tokio::test]
async fn the_country_that_prices_were_asked_for_is_kept_and_another_one_is_another_reading() {
    let mut rig = Rig::with([("tea", Shop::of(1..=4))]).await;
    let country = async |rig: &Rig| {
        let brands = rig.lake().await.snapshot().await.unwrap().brands().await.unwrap();
        brands[0].brand.crawl_country.clone()
    };
    rig.country = None;
    rig.run().await;
    assert_eq!(country(&rig).await, None);
    for (asked, expected) in [
        (Some("IN"), "changed"),
        (Some("IN"), "unchanged"),
        (Some("US"), "changed"),
    ] {
        rig.country = asked;
        let report = rig.run().await;
        assert_eq!(outcomes(&report), [format!("tea {expected}")], "{asked:?}");
        assert_eq!(country(&rig).await.as_deref(), asked);
    }
    assert_eq!(prices(&rig, "tea", 1).await, [Some(49_900)]);
}

/// Lets two minutes pass while a store is read.
#[derive(Debug)]
struct SlowProgress(Arc<ShiftedClock>);

impl Progress for SlowProgress {
    fn store_started(&self, _: &BrandSlug, _: Option<u64>) {
        self.0.advance_ms(120_000);
    }
}

#[tokio::test]
async fn a_price_that_was_seen_live_while_the_store_was_read_is_not_taken_back_by_an_older_page() {
    let mut rig = Rig::with([("tea", Shop::of(1..=4))]).await;
    rig.run().await;
    rig.later(HOUR_MS);
    // The page with the first product was read before that product's price changed. The second product's page already
    // shows the new price.
    let seen_at = rig.now().plus_millis(60_000);
    let one = Observation {
        observed_at: seen_at,
        ..said(&rig, "tea", 1, 45_000)
    };
    record(&rig, vec![one]).await;
    let price = |id| if id == 2 { "450.00" } else { "499.00" };
    rig.street
        .change("tea", |shop| shop.list((1..=4).map(|id| product(id, price(id)))));
    rig.progress = Arc::new(SlowProgress(Arc::clone(&rig.clock)));
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    let expected = [Some(45_000), Some(49_900)];
    assert_eq!(
        (prices(&rig, "tea", 1).await, prices(&rig, "tea", 2).await),
        (expected.to_vec(), expected.to_vec())
    );
    // The next crawl finds the same price and adds nothing.
    rig.later(HOUR_MS);
    let price = |id| if id < 3 { "450.00" } else { "499.00" };
    rig.street
        .change("tea", |shop| shop.list((1..=4).map(|id| product(id, price(id)))));
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(went(&rig, "tea", 1).await[0], (seen_at, Some(45_000)));
    assert_eq!(prices(&rig, "tea", 1).await, expected);
}
