//! Tests reading the price history and stores' responses about delivery.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeSet;

use crate::support::*;
use data_lake::{Lake, StoreUpdate};
use data_model::{DeliverySample, KnownDelivery, PriceEvent, Timestamp};
use data_storage::Storage;

fn sample(pincode: &str, days: u16, at: i64) -> DeliverySample {
    DeliverySample {
        pincode: pincode.parse().unwrap(),
        serviceable: Some(days > 0),
        zone: None,
        days_min: Some(days),
        days_max: None,
        sampled_at: Timestamp::from_micros(START + at),
    }
}

/// Returns the price points of a product: the run's hour, the variant's last digit, the event and the price.
async fn went(lake: &Lake, name: &str, product: u64) -> Vec<(i64, u64, PriceEvent, Option<i64>)> {
    let snapshot = lake.snapshot().await.unwrap();
    let histories = snapshot.price_history(&BTreeSet::from([host(name)])).await.unwrap();
    assert!(histories.keys().all(|store| *store == host(name)));
    let points = histories.get(&host(name)).and_then(|history| history.get(&product));
    let hour = |moment: Timestamp| (moment.micros() - START) / 3_600_000_000;
    let points = points.into_iter().flatten();
    points
        .map(|point| {
            (
                hour(point.observed_at),
                point.variant.0 % 10,
                point.event,
                point.price_minor,
            )
        })
        .collect()
}

#[tokio::test]
async fn price_history_tells_every_observed_change_newest_first() {
    use PriceEvent::{Changed, FirstSeen, Gone};
    let lake = open(&Storage::memory(), &midnight()).await;
    lake.commit(first(), run(1)).await.unwrap();
    lake.commit(second(), run(2)).await.unwrap();
    let gone = [
        (2, 1, Gone, None),
        (2, 2, Gone, None),
        (1, 1, FirstSeen, Some(1050)),
        (1, 2, FirstSeen, Some(1000)),
    ];
    assert_eq!(went(&lake, "alpha", 1).await, gone);
    let changed = [
        (2, 2, Changed, Some(2500)),
        (1, 1, FirstSeen, Some(3050)),
        (1, 2, FirstSeen, Some(3000)),
    ];
    assert_eq!(went(&lake, "alpha", 3).await, changed);
    assert_eq!(went(&lake, "gamma", u64::MAX).await.len(), 2);
    assert!(went(&lake, "nobody", 1).await.is_empty());
    lake.compact(false).await.unwrap();
    assert_eq!(went(&lake, "alpha", 1).await, gone, "however the files are cut");
    assert_eq!(went(&lake, "alpha", 3).await, changed);
}

#[tokio::test]
async fn a_variant_that_was_gone_and_is_there_again_returned() {
    use PriceEvent::{FirstSeen, Gone, Returned};
    let lake = open(&Storage::memory(), &midnight()).await;
    lake.commit(first(), run(1)).await.unwrap();
    lake.commit(second(), run(2)).await.unwrap();
    lake.commit(read_at(first(), 3), run(3)).await.unwrap();
    let went = went(&lake, "alpha", 1).await;
    let of_one = went.iter().filter(|(_, variant, ..)| *variant == 1);
    let events: Vec<_> = of_one.map(|(_, _, event, price)| (*event, *price)).collect();
    assert_eq!(events, [(Returned, Some(1050)), (Gone, None), (FirstSeen, Some(1050))]);
}

#[tokio::test]
async fn a_clock_that_ran_ahead_and_was_set_right_does_not_disorder_the_history() {
    let clock = midnight();
    let lake = open(&Storage::memory(), &clock).await;
    let mut now = 0_u32;
    let mut shows = |hour: u32| {
        clock.advance_ms((i64::from(hour) - i64::from(now)) * 3_600_000);
        now = hour;
    };
    // The second crawl ran while the clock was two days ahead. Later rows must not get the date of that crawl.
    for (hour, price) in [(1, 100), (49, 200), (3, 300), (50, 400)] {
        shows(hour);
        let crawl = vec![refresh("alpha", hour, vec![product("alpha", 1, price)])];
        lake.commit(crawl, run(hour)).await.unwrap();
    }
    let prices = went(&lake, "alpha", 1).await.into_iter();
    let prices: Vec<_> = prices
        .filter(|(_, variant, ..)| *variant == 2)
        .map(|(at, _, _, price)| (at, price))
        .collect();
    assert_eq!(
        prices,
        [(50, Some(400)), (3, Some(300)), (49, Some(200)), (1, Some(100))]
    );
    let last = "SELECT variant_id, last_value(price_minor ORDER BY observed_at, tick) AS price \
        FROM price_history WHERE variant_id = 12 GROUP BY 1";
    assert!(sql(&lake, last).await.contains("| 400 "));
    let brand = lake.snapshot().await.unwrap().brands().await.unwrap().remove(0);
    assert_eq!(brand.refreshed_at, Timestamp::from_micros(START + 50 * 3_600_000_000));
    // A crawl that began two minutes before the stored crawl ended must not undo it, whichever of the two clocks is
    // right.
    let mut late = refresh("alpha", 51, vec![product("alpha", 1, 450)]);
    late.read_since = late.read_since.plus_millis(-62 * 60_000);
    let report = lake.commit(vec![late], run(51)).await.unwrap();
    assert_eq!((report.overtaken, report.ticks), (vec![host("alpha")], vec![]));
    assert_eq!(
        went(&lake, "alpha", 1).await[0].3,
        Some(450),
        "the other variant costs 50 more"
    );
    // After a kill, the rows that a run committed itself do not count as those of another run.
    let mut own = refresh("alpha", 50, vec![product("alpha", 1, 400), product("alpha", 2, 7)]);
    own.read_since = own.read_since.plus_millis(-62 * 60_000);
    assert_eq!(lake.commit(vec![own], run(50)).await.unwrap().overtaken, []);
    // A brand that is removed while the clock is right gets its last event at the end of the history.
    shows(99);
    lake.commit(vec![refresh("alpha", 99, vec![product("alpha", 1, 500)])], run(9))
        .await
        .unwrap();
    shows(51);
    lake.remove_brands(&[host("alpha")]).await.unwrap();
    let newest = went(&lake, "alpha", 1).await[0];
    assert_eq!((newest.0, newest.2), (51, PriceEvent::Gone));
}

#[tokio::test]
async fn delivery_is_committed_apart_from_crawls_and_kept_by_them() {
    let storage = Storage::memory();
    let lake = open(&storage, &midnight()).await;
    lake.commit(first(), run(1)).await.unwrap();
    let slug = |name: &str| brand(name).slug;
    let asked = vec![
        sample("560001", 2, 5),
        sample("110001", 3, 5),
        sample("560001", 4, 1),
        sample("744301", 0, 5),
    ];
    let known = |samples| KnownDelivery {
        samples,
        ..KnownDelivery::default()
    };
    let sampled = vec![
        StoreUpdate::new(host("beta"), slug("beta"), known(asked)),
        StoreUpdate::new(host("nobody"), slug("nobody"), known(vec![sample("110001", 1, 0)])),
    ];
    let report = lake.commit_delivery(sampled.clone()).await.unwrap();
    assert_eq!(
        (report.changed, report.unchanged),
        (vec![host("beta")], vec![host("nobody")])
    );
    let expected = vec![sample("110001", 3, 5), sample("560001", 2, 5), sample("744301", 0, 5)];
    let known = lake.snapshot().await.unwrap().delivery(None).await.unwrap();
    assert_eq!(
        known.into_iter().collect::<Vec<_>>(),
        [(host("beta"), expected.clone())]
    );

    let before = (
        objects(&storage).await,
        lake.snapshot().await.unwrap().versions().clone(),
    );
    assert!(lake.commit_delivery(sampled).await.unwrap().ticks.is_empty());
    assert_eq!(objects(&storage).await, before.0, "the same answers write nothing");
    assert_eq!(
        products(&lake.snapshot().await.unwrap(), &["alpha", "beta", "gamma"])
            .await
            .len(),
        10
    );

    lake.commit(second(), run(2)).await.unwrap();
    let snapshot = lake.snapshot().await.unwrap();
    assert_eq!(snapshot.versions()["delivery_matrix"], before.1["delivery_matrix"]);
    assert_eq!(snapshot.delivery(None).await.unwrap()[&host("beta")], expected);
    lake.remove_brands(&[host("beta")]).await.unwrap();
    assert!(lake.snapshot().await.unwrap().delivery(None).await.unwrap().is_empty());
}
