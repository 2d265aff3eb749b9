//! Checks that catalogues are read as they were written, that only changed content is rewritten, and that the state
//! after any commit batch can be read.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::support::*;
use data_lake::{AsOf, HashedRefresh, Lake, LakeConfig, LakeError, VacuumKeep};
use data_model::Timestamp;
use data_storage::{ObjectPath, ObjectStoreExt, Storage};

const ALL: [&str; 3] = ["alpha", "beta", "gamma"];

#[tokio::test]
async fn products_come_out_as_they_went_in() {
    let lake = open(&Storage::memory(), &midnight()).await;
    let report = lake.commit(first(), run(1)).await.unwrap();
    assert_eq!(
        (report.ticks.as_slice(), report.changed.len(), report.unchanged.len()),
        ([1].as_slice(), 3, 0)
    );
    let snapshot = lake.snapshot().await.unwrap();
    for refresh in first() {
        let name = refresh.brand.slug.as_str();
        assert_eq!(products(&snapshot, &[name]).await, refresh.products, "{name}");
    }
    assert_eq!(products(&snapshot, &ALL).await.len(), 10);
    assert!(products(&snapshot, &["nobody"]).await.is_empty());
    let brands = snapshot.brands().await.unwrap();
    let facts: Vec<_> = brands
        .iter()
        .map(|row| (row.brand.clone(), row.product_count, row.catalogue_hash.clone()))
        .collect();
    let expected: Vec<_> = first()
        .iter()
        .map(|refresh| {
            (
                refresh.brand.clone(),
                refresh.products.len() as u64,
                HashedRefresh::new(refresh.clone()).unwrap().hash().to_owned(),
            )
        })
        .collect();
    assert_eq!(facts, expected);
    let stores: BTreeSet<_> = ALL.into_iter().map(host).collect();
    let shipping = snapshot.shipping(&stores).await.unwrap();
    assert_eq!(shipping.get(&host("alpha")), first()[0].shipping.as_ref());
    assert_eq!(shipping.get(&host("gamma")), None);
    assert_eq!(snapshot.quarantined(&stores).await.unwrap(), first()[1].quarantined);
}

#[tokio::test]
async fn what_has_not_changed_writes_not_a_single_object() {
    let storage = Storage::memory();
    let lake = open(&storage, &midnight()).await;
    lake.commit(first(), run(1)).await.unwrap();
    let before = objects(&storage).await;
    let mut same = first();
    same.iter_mut().for_each(|refresh| {
        refresh.run = "run-9".parse().unwrap();
        refresh.observed_at = Timestamp::from_micros(START * 2);
        refresh
            .products
            .iter_mut()
            .for_each(|product| product.updated_at = None);
    });
    let report = lake.commit(same, run(9)).await.unwrap();
    assert_eq!((report.ticks.len(), report.unchanged.len()), (0, 3));
    assert_eq!(objects(&storage).await, before);
    open(&storage, &midnight())
        .await
        .commit(first(), run(10))
        .await
        .unwrap();
    assert_eq!(
        objects(&storage).await,
        before,
        "nor does another process that opens the lake"
    );
}

#[tokio::test]
async fn a_refresh_replaces_its_brand_and_leaves_the_others() {
    let storage = Storage::memory();
    let lake = open(&storage, &midnight()).await;
    lake.commit(first(), run(1)).await.unwrap();
    let before = lake.snapshot().await.unwrap();
    let report = lake.commit(second(), run(2)).await.unwrap();
    assert_eq!(report.unchanged, [host("beta")]);
    assert_eq!(
        (
            report.counts.products_added,
            report.counts.products_removed,
            report.counts.price_changes
        ),
        (1, 1, 5)
    );
    let after = lake.snapshot().await.unwrap();
    assert_eq!(products(&after, &["alpha"]).await, second()[0].products);
    assert_eq!(products(&after, &["beta"]).await, first()[1].products);
    assert_eq!(products(&after, &["gamma"]).await, second()[2].products);
    assert_eq!(
        products(&before, &["alpha"]).await,
        first()[0].products,
        "a snapshot does not move"
    );
    assert_eq!(
        before.versions()["shipping_policies"],
        after.versions()["shipping_policies"],
        "no commit without a change"
    );
    let runs = "SELECT tick, kind, run_id, brands_unchanged AS same, brands_changed AS changed, products, \
        products_added AS added, products_removed AS gone, price_changes AS prices FROM crawl_runs ORDER BY tick";
    insta::assert_snapshot!(sql(&lake, runs).await, @"
    +------+---------+--------+------+---------+----------+-------+------+--------+
    | tick | kind    | run_id | same | changed | products | added | gone | prices |
    +------+---------+--------+------+---------+----------+-------+------+--------+
    | 1    | refresh | run-1  | 0    | 3       | 10       | 10    | 0    | 20     |
    | 2    | refresh | run-2  | 1    | 2       | 7        | 1     | 1    | 5      |
    +------+---------+--------+------+---------+----------+-------+------+--------+
    ");
    let history = "SELECT month, store, variant_id AS variant, event, price_minor AS price, available AS there, \
        previous_price_minor AS before FROM price_history WHERE tick = 2 ORDER BY store, variant_id";
    insta::assert_snapshot!(sql(&lake, history).await, @"
    +---------+---------------------+---------+------------+-------+-------+--------+
    | month   | store               | variant | event      | price | there | before |
    +---------+---------------------+---------+------------+-------+-------+--------+
    | 2026-11 | alpha.myshopify.com | 11      | gone       |       |       | 1050   |
    | 2026-11 | alpha.myshopify.com | 12      | gone       |       |       | 1000   |
    | 2026-11 | alpha.myshopify.com | 32      | changed    | 2500  | true  | 3000   |
    | 2026-11 | alpha.myshopify.com | 61      | first_seen | 6050  | true  |        |
    | 2026-11 | alpha.myshopify.com | 62      | first_seen | 6000  | true  |        |
    +---------+---------------------+---------+------------+-------+-------+--------+
    ");
}

#[tokio::test]
async fn a_removed_brand_is_gone_but_for_its_history() {
    let lake = open(&Storage::memory(), &midnight()).await;
    lake.commit(first(), run(1)).await.unwrap();
    let report = lake.remove_brands(&[host("alpha"), host("nobody")]).await.unwrap();
    assert_eq!(
        (report.changed, report.unchanged),
        (vec![host("alpha")], vec![host("nobody")])
    );
    let content = content(&lake).await;
    for (table, rows) in &content {
        let has_alpha = rows.iter().any(|row| row.contains("alpha.myshopify.com"));
        assert_eq!(
            has_alpha,
            ["price_history", "product_history", "crawl_runs"].contains(&table.as_str()),
            "{table}"
        );
    }
    let gone = sql(
        &lake,
        "SELECT count(*) AS gone FROM price_history WHERE event = 'gone' AND price_minor IS NULL",
    )
    .await;
    assert!(gone.contains("10"), "{gone}");
    assert!(lake.remove_brands(&[host("alpha")]).await.unwrap().ticks.is_empty());
    lake.commit(read_at(first(), 3), run(3)).await.unwrap();
    assert_eq!(
        products(&lake.snapshot().await.unwrap(), &["alpha"]).await,
        first()[0].products
    );
}

#[tokio::test]
async fn any_tick_can_be_read_by_time_and_by_versions() {
    let (storage, clock) = (Storage::memory(), midnight());
    let lake = open(&storage, &clock).await;
    clock.advance_ms(1000);
    lake.commit(first(), run(1)).await.unwrap();
    let versions = lake.snapshot().await.unwrap().versions().clone();
    clock.advance_ms(60_000);
    lake.commit(second(), run(2)).await.unwrap();
    let at = |millis: i64| AsOf::Timestamp(Timestamp::from_micros(START).plus_millis(millis));
    for as_of in [at(1000), at(60_999), AsOf::Versions(versions)] {
        let snapshot = lake.snapshot_at(&as_of).await.unwrap();
        assert_eq!(products(&snapshot, &["alpha"]).await, first()[0].products, "{as_of:?}");
    }
    let latest = lake.snapshot_at(&at(61_000)).await.unwrap();
    assert_eq!(
        (latest.tick(), products(&latest, &["alpha"]).await),
        (Some(2), second()[0].products.clone())
    );
    assert!(matches!(
        lake.snapshot_at(&at(0)).await,
        Err(LakeError::NoTickThen { .. })
    ));
    assert!(matches!(
        lake.snapshot_at(&AsOf::Tick(999)).await,
        Err(LakeError::NoSuchTick { tick: 999, newest: 2 })
    ));
    let nothing = AsOf::Versions(std::collections::BTreeMap::new());
    assert!(matches!(
        lake.snapshot_at(&nothing).await,
        Err(LakeError::VersionMissing { .. })
    ));
}

#[tokio::test]
async fn a_store_cannot_occur_twice_and_buckets_cannot_change() {
    let storage = Storage::memory();
    let lake = open(&storage, &midnight()).await;
    let twice = vec![first().remove(0), first().remove(0)];
    assert!(matches!(
        lake.commit(twice, run(1)).await,
        Err(LakeError::StoreTwice { .. })
    ));
    let reopened = Lake::open(storage, LakeConfig::default(), midnight()).await;
    assert!(matches!(reopened, Err(LakeError::Buckets { lake: 4, config: 64 })));
}

#[tokio::test]
async fn two_processes_commit_in_turn_and_at_once() {
    let (storage, clock) = (Storage::memory(), midnight());
    let [one, two] = [open(&storage, &clock).await, open(&storage, &clock).await];
    let [alpha, beta, gamma] = <[_; 3]>::try_from(first()).unwrap();
    one.commit(vec![alpha], run(1)).await.unwrap();
    let (left, right) = tokio::join!(one.commit(vec![beta], run(2)), two.commit(vec![gamma], run(3)));
    let mut ticks = [left.unwrap().ticks, right.unwrap().ticks].concat();
    ticks.sort_unstable();
    assert_eq!(ticks, [2, 3]);
    let third = open(&storage, &clock).await;
    assert_eq!(content(&one).await, content(&third).await);
    assert_eq!(products(&two.snapshot().await.unwrap(), &ALL).await.len(), 10);
    let history = sql(
        &third,
        "SELECT count(*), count(DISTINCT (store, variant_id)) FROM price_history",
    )
    .await;
    assert_eq!(history.matches("20").count(), 2, "{history}");
}

#[tokio::test]
async fn compaction_and_vacuum_keep_every_row_and_every_live_release() {
    let (storage, clock) = (Storage::memory(), midnight());
    let lake = open(&storage, &clock).await;
    lake.commit(first(), run(1)).await.unwrap();
    let live = lake.snapshot().await.unwrap().versions().clone();
    lake.commit(second(), run(2)).await.unwrap();
    let mut third = second();
    third[0].products.pop();
    clock.advance_ms(1000);
    lake.commit(third.clone(), run(3)).await.unwrap();
    let before = content(&lake).await;
    let dry = lake.compact(true).await.unwrap();
    let tables: Vec<&str> = dry.merged.iter().map(|merged| merged.table.as_str()).collect();
    let expected = ["price_history", "product_history", "product_history", "crawl_runs"];
    assert_eq!((dry.tick, tables), (None, expected.to_vec()), "{dry:?}");
    let done = lake.compact(false).await.unwrap();
    assert_eq!((done.tick, &done.merged), (Some(4), &dry.merged));
    assert_eq!(content(&lake).await, before);
    assert_eq!(lake.compact(false).await.unwrap().tick, None);

    // Two days later, only the live release and the current state need files.
    clock.advance_ms(48 * 3_600_000);
    let mut keep = VacuumKeep {
        retention: Duration::from_secs(24 * 3600),
        versions: vec![live.clone()],
        dry_run: true,
    };
    let stored = objects(&storage).await;
    let listed = lake.vacuum(&keep).await.unwrap();
    assert_eq!(objects(&storage).await, stored, "a dry run removes nothing");
    assert!(
        listed.files.iter().any(|file| file.starts_with("products/bucket=")),
        "{listed:?}"
    );
    keep.dry_run = false;
    let removed = lake.vacuum(&keep).await.unwrap();
    assert_eq!(removed.files, listed.files);
    let left = objects(&storage).await;
    assert!(removed.files.iter().all(|file| !left.contains_key(file)));
    let reopened = open(&storage, &clock).await;
    assert_eq!(content(&reopened).await, before);
    let release = reopened.snapshot_at(&AsOf::Versions(live)).await.unwrap();
    assert_eq!(products(&release, &ALL).await.len(), 10);
    assert_eq!(products(&release, &["alpha"]).await, first()[0].products);
    let again = VacuumKeep {
        versions: Vec::new(),
        ..keep
    };
    assert!(
        !reopened.vacuum(&again).await.unwrap().files.is_empty(),
        "a release that is gone needs nothing"
    );
    assert_eq!(content(&reopened).await, before);
    reopened.commit(read_at(first(), 4), run(4)).await.unwrap();
    assert_eq!(
        products(&reopened.snapshot().await.unwrap(), &["alpha"]).await,
        first()[0].products
    );
    let long = VacuumKeep {
        retention: Duration::from_secs(400 * 24 * 3600),
        versions: Vec::new(),
        dry_run: true,
    };
    assert!(matches!(
        reopened.vacuum(&long).await,
        Err(LakeError::RetentionTooLong { .. })
    ));
}

#[tokio::test]
async fn a_retention_keeps_the_states_within_it() {
    let (storage, clock) = (Storage::memory(), midnight());
    let lake = open(&storage, &clock).await;
    lake.commit(first(), run(1)).await.unwrap();
    clock.advance_ms(3_600_000);
    lake.commit(second(), run(2)).await.unwrap();
    clock.advance_ms(3_600_000);
    let keep = VacuumKeep {
        retention: Duration::from_secs(90 * 60),
        versions: Vec::new(),
        dry_run: false,
    };
    lake.vacuum(&keep).await.unwrap();
    let then = AsOf::Timestamp(Timestamp::from_micros(START).plus_millis(1_800_000));
    let snapshot = open(&storage, &clock).await.snapshot_at(&then).await.unwrap();
    assert_eq!(
        products(&snapshot, &["alpha"]).await,
        first()[0].products,
        "the state when the retention began"
    );
}

#[tokio::test]
async fn a_release_whose_versions_are_gone_does_not_keep_a_vacuum_from_its_work() {
    let (storage, clock) = (Storage::memory(), midnight());
    let lake = open(&storage, &clock).await;
    lake.commit(first(), run(1)).await.unwrap();
    let lost = lake.snapshot().await.unwrap().versions().clone();
    let one = |number: u32| {
        let mut refresh = first().remove(0);
        refresh.products[0].variants[0].price_minor = 5000 + i64::from(number);
        vec![refresh]
    };
    for number in 2..9 {
        lake.commit(one(number), run(number)).await.unwrap();
    }
    let live = lake.snapshot().await.unwrap().versions().clone();
    // The time is later than the system clock's timestamps of the objects.
    clock.advance_ms(200 * 365 * 24 * 3_600_000);
    let mut keep = VacuumKeep {
        retention: Duration::from_secs(3600),
        versions: vec![live.clone()],
        dry_run: false,
    };
    assert!(lake.vacuum(&keep).await.unwrap().log_files > 0);
    let lost_snapshot = open(&storage, &clock)
        .await
        .snapshot_at(&AsOf::Versions(lost.clone()))
        .await;
    assert!(lost_snapshot.unwrap().brands().await.is_err(), "its log is gone");
    for number in 9..16 {
        lake.commit(one(number), run(number)).await.unwrap();
    }
    clock.advance_ms(48 * 3_600_000);
    keep.versions = vec![lost, live.clone()];
    let report = lake.vacuum(&keep).await.unwrap();
    assert!(!report.files.is_empty());
    let release = open(&storage, &clock)
        .await
        .snapshot_at(&AsOf::Versions(live))
        .await
        .unwrap();
    assert_eq!(
        products(&release, &["alpha"]).await,
        one(8)[0].products,
        "what is there yet is kept"
    );
}

#[tokio::test]
async fn a_version_that_cannot_be_read_just_now_is_not_taken_for_gone() {
    let (storage, clock) = (Storage::memory(), midnight());
    let lake = open(&storage, &clock).await;
    lake.commit(first(), run(1)).await.unwrap();
    let live = lake.snapshot().await.unwrap().versions().clone();
    lake.commit(second(), run(2)).await.unwrap();
    clock.advance_ms(48 * 3_600_000);
    // The log entry of the retained version exists but is damaged.
    let commit = ObjectPath::from(format!("products/_delta_log/{:020}.json", live["products"]));
    let intact = data_storage::get_bytes(&storage, &commit).await.unwrap().unwrap();
    data_storage::put_over(&storage, &commit, b"{\"add\": 3".to_vec())
        .await
        .unwrap();
    let stored: Vec<_> = objects(&storage).await.into_keys().collect();
    let keep = VacuumKeep {
        retention: Duration::from_secs(3600),
        versions: vec![live],
        dry_run: false,
    };
    assert!(matches!(lake.vacuum(&keep).await, Err(LakeError::Table { .. })));
    let left: Vec<_> = objects(&storage).await.into_keys().collect();
    let of_products = |paths: &[String]| paths.iter().filter(|path| path.starts_with("products/")).count();
    assert_eq!(of_products(&left), of_products(&stored));
    data_storage::put_over(&storage, &commit, intact).await.unwrap();
    lake.vacuum(&keep).await.unwrap();
}

#[tokio::test]
async fn many_ticks_leave_checkpoints_and_one_file_a_partition() {
    let storage = Storage::memory();
    let lake = open(&storage, &midnight()).await;
    for number in 0..12 {
        let mut refresh = first().remove(0);
        refresh.products[0].variants[0].price_minor = 5000 + i64::from(number);
        lake.commit(vec![refresh], run(number)).await.unwrap();
    }
    let stored = objects(&storage).await;
    assert!(
        stored
            .keys()
            .any(|path| path.starts_with("products/_delta_log/") && path.ends_with(".checkpoint.parquet"))
    );
    assert!(
        !stored.keys().any(|path| path.ends_with(".arrow")),
        "staged rows are gone"
    );
    let reopened = open(&storage, &midnight()).await;
    let files = sql(&reopened, "SELECT count(*) FROM price_history WHERE event = 'changed'").await;
    assert!(files.contains("11"), "{files}");
}

#[tokio::test]
async fn comments_of_columns_are_in_the_schema() {
    let storage = Storage::memory();
    open(&storage, &midnight()).await;
    let path = data_storage::ObjectPath::from("products/_delta_log/00000000000000000000.json");
    let log = data_storage::get_bytes(&storage, &path).await.unwrap().unwrap();
    let log = String::from_utf8_lossy(&log);
    assert!(
        log.contains("Lowest price of all variants that have a price, in minor units; 0 if none has a price"),
        "{log}"
    );
    assert!(
        log.contains(r#""minReaderVersion":1"#) && !log.contains("columnMapping"),
        "{log}"
    );
}

#[tokio::test]
async fn lost_records_of_ticks_are_made_up_from_the_tables() {
    let storage = Storage::memory();
    let lake = open(&storage, &midnight()).await;
    lake.commit(first(), run(1)).await.unwrap();
    let before = content(&lake).await;
    for path in objects(&storage)
        .await
        .into_keys()
        .filter(|path| path.starts_with("_ticks/"))
    {
        storage.store().delete(&ObjectPath::from(path)).await.unwrap();
    }
    let lake = open(&storage, &midnight()).await;
    assert_eq!(content(&lake).await, before);
    assert_eq!(lake.commit(second(), run(2)).await.unwrap().ticks, [2]);
    assert_eq!(
        products(&lake.snapshot().await.unwrap(), &["alpha"]).await,
        second()[0].products
    );
}
