//! Tests the categories that stores themselves state.

use std::collections::BTreeMap;

use pipeline_refresh::RunOptions;
use serde_json::{Value, json};

use crate::support::{Fault, Rig, Shop, outcomes, product};

const MATS: &str = "Sporting Goods > Fitness & General Exercise Equipment > Yoga & Pilates > Yoga & Pilates Mats";
const SHIRTS: &str = "Apparel & Accessories > Clothing > Clothing Tops > T-Shirts";
const GRAPHQL: &str = "tea/api/2026-04/graphql.json";

/// Category ids of mats and of tea in Google's taxonomy.
const OF_MATS: Option<u32> = Some(3640);
const OF_TEA: Option<u32> = Some(2073);

/// Runs of this rig query the store for categories.
async fn asking(shop: Shop, stated: &[(u64, &'static str)]) -> Rig {
    let mut rig = Rig::with([("tea", shop)]).await;
    rig.config.category_requests_max = 8;
    state(&rig, stated);
    rig
}

fn state(rig: &Rig, stated: &[(u64, &'static str)]) {
    let stated: BTreeMap<u64, &str> = stated.iter().copied().collect();
    rig.street.change("tea", |shop| shop.categories = Some(stated));
}

async fn categories(rig: &Rig) -> Vec<Option<u32>> {
    let products = rig.products("tea").await;
    products.iter().map(|product| product.category.map(|id| id.0)).collect()
}

/// Returns the number of GraphQL requests since the last call.
fn asked(rig: &Rig) -> usize {
    let asked = rig.street.take_asked();
    asked.iter().filter(|asked| asked.starts_with(GRAPHQL)).count()
}

fn updated(id: u64, day: u32) -> Value {
    let mut product = product(id, "499.00");
    product["updated_at"] = json!(format!("2026-02-{day:02}T00:00:00Z"));
    product
}

#[tokio::test]
async fn a_stated_category_comes_before_the_rules_and_stays_with_runs_that_do_not_ask() {
    let mut rig = asking(Shop::of(1..=3), &[(1, MATS), (2, "Uncategorized")]).await;
    let first = rig.run().await;
    assert_eq!((outcomes(&first), asked(&rig)), (vec!["tea changed".into()], 1));
    assert_eq!(categories(&rig).await, [OF_MATS, OF_TEA, OF_TEA]);

    let versions = rig.versions().await;
    assert_eq!(outcomes(&rig.run().await), ["tea unchanged"]);
    assert_eq!((asked(&rig), rig.versions().await), (0, versions));

    // Only a changed product is queried again.
    state(&rig, &[(1, SHIRTS), (2, MATS)]);
    rig.street
        .change("tea", |shop| shop.list([product(1, "499.00"), updated(2, 1)]));
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!((asked(&rig), categories(&rig).await), (1, vec![OF_MATS, OF_MATS]));

    rig.config.category_requests_max = 0;
    rig.street
        .change("tea", |shop| shop.list([updated(1, 2), updated(2, 2)]));
    rig.run().await;
    assert_eq!((asked(&rig), categories(&rig).await), (0, vec![OF_MATS, OF_MATS]));
}

#[tokio::test]
async fn a_store_that_was_crawled_before_is_asked_though_its_catalogue_is_unchanged() {
    let mut rig = asking(Shop::of(1..=2), &[(1, MATS)]).await;
    rig.config.category_requests_max = 0;
    rig.run().await;
    assert_eq!(categories(&rig).await, [OF_TEA, OF_TEA]);
    rig.config.category_requests_max = 8;
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(categories(&rig).await, [OF_MATS, OF_TEA]);
    assert_eq!(outcomes(&rig.run().await), ["tea unchanged"]);
}

#[tokio::test]
async fn requests_of_a_run_are_bounded_and_the_next_run_goes_on() {
    let stated: Vec<_> = (1..=50).chain([250]).map(|id| (id, MATS)).collect();
    let mut rig = asking(Shop::of(1..=250), &stated).await;
    rig.config.category_requests_max = 1;
    for (requests, of_mats) in [(1, 1), (1, 51), (0, 51)] {
        rig.run().await;
        let found = categories(&rig).await;
        let found = found.into_iter().filter(|found| *found == OF_MATS);
        assert_eq!((asked(&rig), found.count()), (requests, of_mats));
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_states_nothing_or_refuses_is_left_alone_for_days_and_keeps_its_catalogue() {
    let no_such_field = r#"{"errors":[{"message":"Field 'category' doesn't exist on type 'Product'",
        "extensions":{"code":"undefinedField"}}]}"#;
    for fault in [
        None,
        Some(Fault::Answer(200, no_such_field.into())),
        Some(Fault::Answer(200, "<html>".into())),
        Some(Fault::Answer(403, String::new())),
        Some(Fault::Answer(404, String::new())),
        Some(Fault::Answer(429, String::new())),
        Some(Fault::Answer(500, String::new())),
    ] {
        let rig = asking(Shop::of(1..=3), &[]).await;
        if let Some(fault) = fault.clone() {
            rig.street.fault("tea", "graphql", fault);
        }
        assert_eq!(outcomes(&rig.run().await), ["tea changed"], "{fault:?}");
        assert_eq!((asked(&rig), categories(&rig).await), (1, vec![OF_TEA; 3]), "{fault:?}");
        rig.street
            .change("tea", |shop| shop.list([product(1, "450.00"), product(2, "499.00")]));
        rig.run().await;
        assert_eq!(asked(&rig), 0, "{fault:?}");
        rig.later(8 * 24 * 3_600_000);
        state(&rig, &[(1, MATS)]);
        rig.street.change("tea", |shop| {
            shop.faults.clear();
            shop.list([updated(1, 1), product(2, "499.00")]);
        });
        rig.run().await;
        assert_eq!(
            (asked(&rig), categories(&rig).await),
            (1, vec![OF_MATS, OF_TEA]),
            "{fault:?}"
        );
    }
}

#[tokio::test]
async fn a_store_that_gives_all_its_different_goods_one_category_is_not_believed() {
    let titles = [
        "Ceramic Mug",
        "Yoga Mat",
        "Leather Wallet",
        "Running Shoes",
        "Phone Case",
        "T-Shirt",
    ];
    let goods = titles.iter().zip(1..).map(|(title, id)| {
        let mut product = product(id, "499.00");
        (product["title"], product["product_type"], product["tags"]) = (json!(title), json!(""), json!([]));
        product
    });
    let goods: Vec<Value> = goods.collect();
    let rig = asking(Shop::of([]), &[]).await;
    rig.street.change("tea", |shop| shop.list(goods.clone()));
    rig.run().await;
    let before = categories(&rig).await;
    assert_eq!(before.iter().flatten().count(), titles.len());

    let all: Vec<_> = (1..=6).map(|id| (id, SHIRTS)).collect();
    let rig = asking(Shop::of([]), &all).await;
    rig.street.change("tea", |shop| shop.list(goods));
    rig.run().await;
    assert_eq!((asked(&rig), categories(&rig).await), (1, before));
}

#[tokio::test]
async fn a_run_that_is_killed_between_the_answers_and_the_commit_loses_nothing() {
    let mut rig = asking(Shop::of(1..=2), &[(1, MATS)]).await;
    rig.street.open("coffee", Shop::of(1..=2));
    rig.register("coffee").await;
    rig.street.fault("coffee", "/products.json", Fault::Hang);
    rig.config.tick_ms = 600_000;
    let is_saved = async || {
        while !rig
            .objects()
            .await
            .iter()
            .any(|path| path.ends_with("-categories.json.zst"))
        {
            tokio::task::yield_now().await;
        }
    };
    let options = RunOptions::default();
    tokio::select! {
        ended = rig.run_with(&options) => panic!("the run ended: {ended:?}"),
        () = is_saved() => {}
    }
    assert_eq!(categories(&rig).await, []);
    rig.config.tick_ms = 50;
    rig.street.change("coffee", |shop| shop.faults.clear());
    assert_eq!(outcomes(&rig.run().await), ["coffee changed", "tea changed"]);
    assert_eq!((categories(&rig).await, asked(&rig)), (vec![OF_MATS, OF_TEA], 1));
    let versions = rig.versions().await;
    assert_eq!(outcomes(&rig.run().await), ["coffee unchanged", "tea unchanged"]);
    assert_eq!(rig.versions().await, versions);
}
