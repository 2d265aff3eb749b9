use serde_json::{Value, json};

use crate::support::{Haat, files, get, post};

/// Product of the lake with its identifiers at the store.
struct LiveProduct {
    id: String,
    platform_id: u64,
    base_url: String,
}

/// Returns products of different stores whose variants are all for sale.
fn sold(haat: &Haat, count: usize) -> Vec<LiveProduct> {
    let rows = haat.sql(
        "select p.product_id, p.platform_product_id, b.base_url from products p join brands b on b.store = p.store \
         where p.product_id in (select product_id from variants group by 1 having bool_and(available)) order by 1",
    );
    let mut sold: Vec<LiveProduct> = Vec::new();
    for row in rows {
        let base_url = row["base_url"].as_str().unwrap().to_owned();
        if sold.len() < count && sold.iter().all(|one| one.base_url != base_url) {
            sold.push(LiveProduct {
                id: row["product_id"].as_str().unwrap().to_owned(),
                platform_id: row["platform_product_id"].as_u64().unwrap(),
                base_url,
            });
        }
    }
    assert_eq!(sold.len(), count);
    sold
}

#[track_caller]
fn change(product: &LiveProduct, change: Value) {
    let mut change = change;
    change["item"] = product.platform_id.into();
    let (status, answer) = post(&format!("{}/emulator/change", product.base_url), &change);
    assert_eq!(status, 200, "{answer}");
}

fn price(base: &str, product: &LiveProduct) -> Value {
    let (status, answer) = get(&format!("{base}/v1/products/{}/price", product.id));
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["tier"], "live");
    answer["data"].clone()
}

#[test]
fn what_stores_change_is_told_live_and_kept_for_the_history_of_prices() {
    let haat = Haat::new().with("HAAT_LIVE_GATEWAY__OBSERVATIONS__FLUSH_INTERVAL_MS", "50");
    let _stores = haat.with_stores(&["--products", "300", "--stores", "6", "--seed", "5", "--control"]);
    haat.run(&["crawl", "--release"]).json();
    let (mut server, served) = haat.serve(&["up", "--listen", "127.0.0.1:0"]);
    let base = served["address"].as_str().unwrap();
    let products = sold(&haat, 4);
    let [same, dearer, empty, gone] = &products[..] else {
        panic!("too few")
    };
    change(dearer, json!({ "kind": "reprice", "price": "4321.00" }));
    change(empty, json!({ "kind": "set-stock", "quantity": 0 }));
    change(gone, json!({ "kind": "remove-product" }));

    let told = price(base, same);
    assert_eq!(
        (&told["verified"], &told["changes"]["variants"]),
        (&json!(true), &json!([])),
        "{told}"
    );
    let told = price(base, dearer);
    assert_eq!(
        (&told["verified"], &told["price_min_minor"]),
        (&json!(true), &json!(432_100)),
        "{told}"
    );
    assert_eq!(told["changes"]["price"], true);
    let told = price(base, empty);
    assert_eq!(
        (&told["verified"], &told["in_stock"]),
        (&json!(true), &json!(false)),
        "{told}"
    );
    let told = price(base, gone);
    assert_eq!(
        (&told["verified"], &told["code"]),
        (&json!(false), &json!("product_gone")),
        "{told}"
    );

    let idents: Vec<&str> = products.iter().map(|product| product.id.as_str()).collect();
    let (status, answer) = post(&format!("{base}/v1/prices"), &json!({ "idents": idents }));
    assert_eq!(status, 200, "{answer}");
    let verified: Vec<_> = answer["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["verified"])
        .collect();
    assert_eq!(verified, [&json!(true), &json!(true), &json!(true), &json!(false)]);

    // One document describes the routes of both servers.
    let (_, document) = get(&format!("{base}/openapi.json"));
    assert!(document["paths"]["/v1/prices"]["post"].is_object() && document["paths"]["/v1/search"].is_object());
    assert_eq!(kit::description_faults(&document), Vec::<String>::new());

    // The server saves its observations after this signal.
    let told = std::process::Command::new("kill")
        .args(["-TERM", &server.child.id().to_string()])
        .status();
    assert!(told.unwrap().success());
    assert!(server.child.wait().unwrap().success());
    assert!(!files(haat.path(), "observations/").is_empty());
    haat.run(&["crawl"]).json();
    assert_eq!(files(haat.path(), "observations/"), Vec::<std::path::PathBuf>::new());
    let rows =
        haat.sql("select distinct product_id, event, source from price_history where source = 'live' order by 1, 2");
    let mut expected = vec![
        json!({ "product_id": dearer.id, "event": "changed", "source": "live" }),
        json!({ "product_id": empty.id, "event": "changed", "source": "live" }),
        json!({ "product_id": gone.id, "event": "gone", "source": "live" }),
    ];
    expected.sort_by_key(|row| row["product_id"].to_string());
    assert_eq!(rows, expected);
}

#[test]
fn a_gateway_alone_looks_products_up_at_the_query_server() {
    let haat = Haat::new();
    let _stores = haat.with_stores(&["--products", "60", "--stores", "3", "--seed", "5"]);
    haat.run(&["crawl", "--release"]).json();
    let server = Haat::new()
        .at(haat.path().to_str().unwrap())
        .with("HAAT_QUERY_SERVER__INTERNAL_LISTEN", "127.0.0.1:0");
    let (server, served) = server.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let (public, internal) = (
        served["address"].as_str().unwrap(),
        served["internal_address"].as_str().unwrap(),
    );
    let gateway = Haat::new()
        .at(haat.path().to_str().unwrap())
        .with("HAAT_LIVE_GATEWAY__CATALOGUE", internal);
    let (_gateway, serves) = gateway.serve(&["live-gateway", "--listen", "127.0.0.1:0"]);
    let base = serves["address"].as_str().unwrap();
    let told = price(base, &sold(&haat, 1)[0]);
    assert_eq!(told["verified"], true, "{told}");
    assert_eq!(get(&format!("{base}/readyz")).0, 200);
    // Internal routes are not public, and the query server has no live routes.
    assert_eq!(
        post(&format!("{public}/internal/v1/resolve"), &json!({ "idents": [] })).0,
        404
    );
    assert_eq!(post(&format!("{public}/v1/prices"), &json!({ "idents": [] })).0, 404);
    drop(server);
    let (status, answer) = get(&format!("{base}/v1/products/{}/price", sold(&haat, 1)[0].id));
    assert_eq!((status, &answer["code"]), (503, &json!("not_ready")));
}
