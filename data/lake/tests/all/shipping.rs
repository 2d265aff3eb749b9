//! Checks that shipping terms are committed separately from crawls, and that crawls keep them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeSet;

use crate::support::*;
use data_lake::{Lake, StoreUpdate};
use data_model::{BrandRefresh, ShippingPolicy, StoreHost};
use data_storage::Storage;

fn policy(hour: i64) -> ShippingPolicy {
    ShippingPolicy {
        currency: "INR".parse().unwrap(),
        free_shipping_threshold_minor: None,
        cod_available: Some(true),
        tiers: Vec::new(),
        terms: Some(Box::new(terms(hour))),
    }
}

/// Removes the shipping terms from refreshes, because crawls find none.
fn crawl(refreshes: Vec<BrandRefresh>) -> Vec<BrandRefresh> {
    let silent = |refresh| BrandRefresh {
        shipping: None,
        ..refresh
    };
    refreshes.into_iter().map(silent).collect()
}

async fn held(lake: &Lake, name: &str) -> Option<ShippingPolicy> {
    let stores: BTreeSet<StoreHost> = BTreeSet::from([host(name)]);
    lake.snapshot()
        .await
        .unwrap()
        .shipping(&stores)
        .await
        .unwrap()
        .remove(&host(name))
}

#[tokio::test]
async fn a_crawl_keeps_the_terms_and_the_brand_takes_them_with_it() {
    let storage = Storage::memory();
    let lake = open(&storage, &midnight()).await;
    lake.commit(crawl(first()), run(1)).await.unwrap();
    let told = vec![
        StoreUpdate::new(host("beta"), brand("beta").slug, Some(policy(1))),
        StoreUpdate::new(host("nobody"), brand("nobody").slug, Some(policy(1))),
    ];
    let report = lake.commit_shipping(told).await.unwrap();
    assert_eq!(
        (report.changed, report.unchanged),
        (vec![host("beta")], vec![host("nobody")])
    );
    assert_eq!(held(&lake, "beta").await, Some(policy(1)));

    lake.commit(crawl(second()), run(2)).await.unwrap();
    let lake = open(&storage, &midnight()).await;
    assert_eq!(held(&lake, "beta").await, Some(policy(1)), "a changed crawl keeps them");
    lake.remove_brands(&[host("beta")]).await.unwrap();
    assert_eq!(held(&lake, "beta").await, None);
}

#[tokio::test]
async fn terms_that_say_the_same_write_nothing_and_none_forgets() {
    let storage = Storage::memory();
    let lake = open(&storage, &midnight()).await;
    lake.commit(crawl(first()), run(1)).await.unwrap();
    let told = |policy: Option<ShippingPolicy>| vec![StoreUpdate::new(host("alpha"), brand("alpha").slug, policy)];
    lake.commit_shipping(told(Some(policy(1)))).await.unwrap();
    let before = objects(&storage).await;
    let report = lake.commit_shipping(told(Some(policy(9)))).await.unwrap();
    assert_eq!((report.ticks, report.unchanged), (vec![], vec![host("alpha")]));
    assert_eq!(objects(&storage).await, before);

    let columns = "SELECT cod_fee_minor AS fee, dispatch_days_min AS low, dispatch_days_max AS high, \
        delivery_days_min AS transit FROM shipping_policies WHERE store = 'alpha.myshopify.com'";
    insta::assert_snapshot!(sql(&lake, columns).await, @"
    +------+-----+------+---------+
    | fee  | low | high | transit |
    +------+-----+------+---------+
    | 5000 | 1   | 2    |         |
    +------+-----+------+---------+
    ");
    let apart = "SELECT array_length(facts) AS ruled, array_length(model_facts) AS proposed FROM shipping_policies \
        WHERE store = 'alpha.myshopify.com'";
    insta::assert_snapshot!(sql(&lake, apart).await, @"
    +-------+----------+
    | ruled | proposed |
    +-------+----------+
    | 2     | 1        |
    +-------+----------+
    ");
    lake.commit_shipping(told(None)).await.unwrap();
    assert_eq!(held(&lake, "alpha").await, None);
    let twice = [told(None), told(None)].concat();
    let refused = lake.commit_shipping(twice).await.unwrap_err();
    assert_eq!(refused.to_string(), "alpha.myshopify.com occurs twice in one tick");
}
