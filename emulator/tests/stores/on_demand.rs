//! Tests of changes on demand, which take effect in every view at once.

use emulator::{Change, EmulatorError};
use serde_json::json;

use super::*;

/// Returns price and availability of a variant in every view.
async fn views(store: &StoreAddress, handle: &str, variant: u64) -> Vec<(String, Option<bool>)> {
    let of = |variants: &Value| {
        let mut variants = variants.as_array().unwrap().iter();
        variants.find(|it| it["id"] == variant).unwrap().clone()
    };
    let listed = crawl(store, 250).await;
    let listed = of(&listed.iter().find(|it| it["handle"] == handle).unwrap()["variants"]);
    let detail = of(&get(store, &format!("/products/{handle}.json")).await.json()["product"]["variants"]);
    let script = of(&get(store, &format!("/products/{handle}.js")).await.json()["variants"]);
    let node = query(
        store,
        "query ($id: ID!) { node(id: $id) { ... on ProductVariant { availableForSale price { amount } } } }",
        json!({ "id": format!("gid://shopify/ProductVariant/{variant}") }),
    )
    .await
    .json();
    let node = &node["data"]["node"];
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let hundredths = script["price"].as_u64().unwrap();
    vec![
        (text(&listed["price"]), listed["available"].as_bool()),
        (text(&detail["price"]), None),
        (
            format!("{}.{:02}", hundredths / 100, hundredths % 100),
            script["available"].as_bool(),
        ),
        (
            format!("{:.2}", text(&node["price"]["amount"]).parse::<f64>().unwrap()),
            node["availableForSale"].as_bool(),
        ),
    ]
}

/// Starts a store and returns the handle and the first variant of its first product.
async fn subject() -> (RunningStores, StoreAddress, String, u64) {
    let (running, store) = store(30).await;
    let products = crawl(&store, 250).await;
    let product = products
        .iter()
        .find(|it| it["variants"].as_array().unwrap().len() > 1)
        .unwrap();
    let handle = product["handle"].as_str().unwrap().to_owned();
    let variant = product["variants"][0]["id"].as_u64().unwrap();
    (running, store, handle, variant)
}

fn all(price: &str, available: bool) -> Vec<(String, Option<bool>)> {
    [Some(available), None, Some(available), Some(available)]
        .map(|available| (price.to_owned(), available))
        .to_vec()
}

#[tokio::test]
async fn a_change_shows_in_every_view_and_can_be_undone() {
    let (running, store, handle, variant) = subject().await;
    let before = views(&store, &handle, variant).await;
    let etag = get(&store, "/products.json").await.header("etag").to_owned();

    let changed = running.reprice(&store.slug, variant, "1234.5").unwrap();
    assert_eq!(
        (changed.handle.as_deref(), changed.variants),
        (Some(handle.as_str()), vec![variant])
    );
    running.set_stock(&store.slug, variant, 3).unwrap();
    assert_eq!(views(&store, &handle, variant).await, all("1234.50", true));
    let page = get(&store, &format!("/products/{handle}")).await.text();
    assert!(page.contains("\"price\":\"1234.50\""));
    let listing = get_with(&store, "/products.json", &[("if-none-match", &etag)]).await;
    assert_eq!(listing.status, 200);

    running.set_stock(&store.slug, handle.as_str(), 0).unwrap();
    assert_eq!(views(&store, &handle, variant).await, all("1234.50", false));

    running.restore(&store.slug).unwrap();
    assert_eq!(views(&store, &handle, variant).await, before);
    assert_eq!(get(&store, "/products.json").await.header("etag"), etag);
}

#[tokio::test]
async fn a_change_tells_its_moment_and_leaves_all_else() {
    let (running, store, handle, variant) = subject().await;
    let before = crawl(&store, 250).await;
    running.reprice(&store.slug, variant, "1").unwrap();
    let after = crawl(&store, 250).await;
    for (old, new) in before.iter().zip(&after) {
        if new["handle"] != handle.as_str() {
            assert_eq!(old, new);
            continue;
        }
        assert!(new["updated_at"].as_str().unwrap() > old["updated_at"].as_str().unwrap());
        assert_eq!(old["variants"][1]["price"], new["variants"][1]["price"]);
        assert_eq!(
            (&old["title"], &old["tags"], &old["images"][0]["src"]),
            (&new["title"], &new["tags"], &new["images"][0]["src"])
        );
    }
    running.reprice(&store.slug, handle.as_str(), "2").unwrap();
    let product = get(&store, &format!("/products/{handle}.json")).await.json();
    let prices = product["product"]["variants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|variant| &variant["price"]);
    assert!(prices.into_iter().all(|price| price == "2.00"));
}

#[tokio::test]
async fn a_product_that_is_removed_is_gone_everywhere() {
    let (running, store, handle, variant) = subject().await;
    let before = crawl(&store, 250).await.len();
    let changed = running.remove_product(&store.slug, variant).unwrap();
    let listed = crawl(&store, 250).await;
    assert_eq!(listed.len(), before - 1);
    assert!(listed.iter().all(|product| product["handle"] != handle.as_str()));
    for path in [
        format!("/products/{handle}"),
        format!("/products/{handle}.js"),
        format!("/products/{handle}.json"),
    ] {
        assert_eq!(get(&store, &path).await.status, 404);
    }
    assert!(!get(&store, "/sitemap_products_1.xml").await.text().contains(&handle));
    assert_eq!(
        get(&store, "/meta.json").await.json()["published_products_count"],
        before - 1
    );
    let asked = "query ($variant: ID!, $product: ID!, $handle: String!) {
      nodes(ids: [$variant, $product]) { id } product(handle: $handle) { id }
    }";
    let variables = json!({
        "variant": format!("gid://shopify/ProductVariant/{variant}"),
        "product": format!("gid://shopify/Product/{}", changed.product.unwrap()),
        "handle": handle,
    });
    let answer = query(&store, asked, variables).await.json();
    assert_eq!(answer["data"], json!({ "nodes": [null, null], "product": null }));
    running
        .change(
            &store.slug,
            Change::Restore {
                item: Some(handle.as_str().into()),
            },
        )
        .unwrap();
    assert_eq!(crawl(&store, 250).await.len(), before);
}

#[tokio::test]
async fn what_cannot_be_changed_is_refused() {
    let (running, store, handle, variant) = subject().await;
    for refused in [
        running.reprice(&store.slug, 7, "1.00"),
        running.reprice(&store.slug, "no-such-handle", "1.00"),
        running.reprice(&store.slug, handle.as_str(), "free"),
        running.reprice(&store.slug, variant, "1.005"),
    ] {
        assert!(matches!(refused, Err(EmulatorError::Change { .. })), "{refused:?}");
    }
    assert!(matches!(
        running.restore("nobody"),
        Err(EmulatorError::UnknownStore { .. })
    ));
}

/// Starts a store that accepts changes over HTTP.
async fn controlled() -> (RunningStores, StoreAddress) {
    let source = Source::Generated {
        products: 5,
        stores: 1,
        seed: 42,
    };
    let config = EmulatorConfig {
        control: true,
        ..EmulatorConfig::new(source)
    };
    let running = Emulator::start(config).await.unwrap();
    let store = running.stores().remove(0);
    (running, store)
}

const CONTROL: &str = "/emulator/change";

#[tokio::test]
async fn changes_are_taken_over_http_where_the_configuration_says_so() {
    let (running, store) = controlled().await;
    let product = crawl(&store, 250).await.remove(0);
    let (handle, id) = (product["handle"].as_str().unwrap(), &product["variants"][0]["id"]);
    let change = json!({ "kind": "reprice", "item": format!("gid://shopify/ProductVariant/{id}"), "price": "99" });
    let answer = post(&store, CONTROL, &[], &change).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.json(),
        json!({ "product": product["id"], "handle": handle, "variants": [id] })
    );
    assert_eq!(
        get(&store, &format!("/products/{handle}.js")).await.json()["variants"][0]["price"],
        9900
    );

    let statuses = [
        (json!({ "kind": "remove-product", "item": 5 }), 404),
        (json!({ "kind": "reprice", "item": id, "price": "much" }), 422),
        (json!({ "kind": "burn" }), 400),
        (json!([]), 400),
        (json!({ "kind": "restore" }), 200),
    ];
    for (change, status) in statuses {
        assert_eq!(post(&store, CONTROL, &[], &change).await.status, status, "{change}");
    }
    let faults =
        json!({ "kind": "faults", "rules": [{ "fault": { "kind": "status", "status": 503, "retry_after_s": null } }] });
    assert_eq!(post(&store, CONTROL, &[], &faults).await.status, 200);
    assert_eq!(get(&store, "/products.json").await.status, 503);
    let well = json!({ "kind": "faults", "rules": [] });
    assert_eq!(post(&store, CONTROL, &[], &well).await.status, 200);
    assert_eq!(get(&store, "/products.json").await.json()["products"][0], product);
    assert_eq!(running.requests(&store.slug).unwrap().count_of(CONTROL), 0);
}

#[tokio::test]
async fn no_changes_are_taken_from_pages_or_where_nobody_allowed_them() {
    let (_running, store) = controlled().await;
    let form = client()
        .post(format!("{}{CONTROL}", store.base_url))
        .header("content-type", "text/plain");
    assert_eq!(form.body("{\"kind\":\"restore\"}").send().await.unwrap().status(), 415);
    assert_eq!(get(&store, CONTROL).await.status, 404);
    let (_running, closed) = super::store(5).await;
    assert_eq!(
        post(&closed, CONTROL, &[], &json!({ "kind": "restore" })).await.status,
        404
    );
}

#[tokio::test]
async fn recorded_stores_are_changed_too() {
    let Some(folder) = super::recorded::recordings("recorded") else {
        return;
    };
    let running = Emulator::start(EmulatorConfig::new(Source::Recorded(folder)))
        .await
        .unwrap();
    for store in running.stores() {
        let product = crawl(&store, 250).await.remove(0);
        let (handle, variant) = (
            product["handle"].as_str().unwrap(),
            product["variants"][0]["id"].as_u64().unwrap(),
        );
        running.reprice(&store.slug, variant, "4321").unwrap();
        running.set_stock(&store.slug, variant, 1).unwrap();
        assert_eq!(
            views(&store, handle, variant).await,
            all("4321.00", true),
            "{}",
            store.slug
        );
    }
}
