use std::collections::BTreeSet;

use data_storage::{ObjectPath, put_over};
use pipeline_refresh::{RunOptions, RunReport, RunState, list_runs};

use crate::support::{Rig, Shop, product, slug};

/// Crawls only the store `tea`, which has a new price.
async fn crawl_tea(rig: &Rig, price: u32) -> RunReport {
    let price = format!("{price}.00");
    rig.street.change("tea", |shop| shop.list([product(1, &price)]));
    let options = RunOptions {
        only: Some(vec![slug("tea")]),
        ..RunOptions::default()
    };
    rig.run_with(&options).await.unwrap()
}

async fn landed(rig: &Rig) -> BTreeSet<String> {
    let objects = rig.objects().await;
    let landed = objects.iter().filter_map(|path| path.strip_prefix("landing/"));
    landed
        .map(|path| path.split('/').take(2).collect::<Vec<_>>().join(" "))
        .collect()
}

#[tokio::test]
async fn crawls_of_one_brand_leave_the_latest_landings_and_those_that_other_brands_need() {
    let mut rig = Rig::with([("mate", Shop::of(1..=3)), ("tea", Shop::of(1..=3))]).await;
    (rig.config.crawl.landing_runs_kept, rig.config.reports_kept) = (3, 4);
    rig.config.crawl.landing_keep_days = 0;
    let whole = rig.run().await;
    let mut runs = Vec::new();
    for price in 1..=12 {
        runs.push(crawl_tea(&rig, price).await.run);
    }
    let mut kept = BTreeSet::from([format!("{} mate.localhost", whole.run)]);
    kept.extend(runs.iter().skip(9).map(|run| format!("{run} tea.localhost")));
    assert_eq!(landed(&rig).await, kept);
    assert_eq!(list_runs(&rig.storage).await.unwrap().len(), 4);
}

#[tokio::test]
async fn the_pages_of_a_run_that_may_be_gone_on_with_stay_as_long_as_it_may() {
    let mut rig = Rig::with([("tea", Shop::of(1..=3))]).await;
    (rig.config.crawl.landing_runs_kept, rig.config.crawl.landing_keep_days) = (1, 0);
    let whole = rig.run().await;
    // This run is in progress on other brands.
    let at_work = RunReport {
        state: RunState::Running,
        ..whole.clone()
    };
    let path = ObjectPath::from(format!("runs/{}.json", whole.run));
    let json = serde_json::to_vec(&at_work).unwrap();
    put_over(&rig.storage, &path, json).await.unwrap();
    for price in 1..=10 {
        crawl_tea(&rig, price).await;
    }
    let of_whole = format!("{} tea.localhost", whole.run);
    assert!(landed(&rig).await.contains(&of_whole));
    rig.later(7 * 3_600_000);
    let last = crawl_tea(&rig, 11).await;
    assert_eq!(
        landed(&rig).await,
        BTreeSet::from([format!("{} tea.localhost", last.run)])
    );
}
