//! Tests of lines that a store adds or merges, and of implausible quantities.

use emulator::{CartFunction, Fault, FaultRule};
use http::Method;
use serde_json::{Value, json};

use super::mall::{Call, Mall, assert_sums, group, path};

const MONTH: std::time::Duration = std::time::Duration::from_secs(40 * 86_400);

/// Returns quantity and requested quantity of each line, requested lines first.
fn lines(cart: &Value, mall: &Mall) -> Vec<(u64, u64)> {
    let lines = group(cart, &mall.brand(0))["lines"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let pieces = |line: &Value, name: &str| line[name].as_u64().unwrap();
    let mut lines: Vec<_> = lines
        .iter()
        .map(|line| (pieces(line, "qty"), pieces(line, "requested_qty")))
        .collect();
    lines.sort_by_key(|(_, requested)| std::cmp::Reverse(*requested));
    lines
}

/// Returns the path of the requested line or, without `is_asked`, of the other line.
fn line_path(cart: &Value, mall: &Mall, is_asked: bool) -> String {
    let lines = group(cart, &mall.brand(0))["lines"].as_array().unwrap().clone();
    let line = lines
        .iter()
        .find(|line| (line["requested_qty"] != 0) == is_asked)
        .unwrap();
    path(cart, &format!("/lines/{}", line["line_id"].as_str().unwrap()))
}

fn warnings(cart: &Value, mall: &Mall) -> Vec<String> {
    let warnings = group(cart, &mall.brand(0))["warnings"].as_array().unwrap().clone();
    warnings
        .iter()
        .map(|warning| warning["code"].as_str().unwrap().to_owned())
        .collect()
}

async fn gift(of_another_variant: bool) -> (Mall, Value) {
    let mall = Mall::open(1).await;
    let goods = mall.goods(0);
    for (_, variant, _) in &goods[..2] {
        mall.stores.set_stock(&mall.slug(0), *variant, 50).unwrap();
    }
    let function = CartFunction::Gift {
        with: goods[0].1,
        free: goods[usize::from(of_another_variant)].1,
    };
    mall.stores.set_cart_function(&mall.slug(0), Some(function)).unwrap();
    let cart = mall.server().await.cart(&[mall.item(0, 0, 2)]).await;
    (mall, cart)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gift_is_the_stores_and_is_never_counted_nor_removed() {
    for of_another_variant in [false, true] {
        let (mall, cart) = gift(of_another_variant).await;
        let server = mall.server().await;
        assert_sums(&cart);
        assert_eq!(
            (&cart["problems"], lines(&cart, &mall)),
            (&json!([]), vec![(2, 2), (1, 0)])
        );
        assert_eq!(warnings(&cart, &mall), ["added_by_store"]);
        let told = group(&cart, &mall.brand(0))["lines"].as_array().unwrap().clone();
        for line in &told {
            let is_asked = line["requested_qty"] != 0;
            assert_eq!(
                (&line["added_by_store"], &line["merged"]),
                (&json!(!is_asked), &json!([])),
                "{line}"
            );
        }
        let at = line_path(&cart, &mall, true);
        let told = server
            .data(Call::new(Method::PATCH, &at).with(json!({ "qty": 3 })))
            .await;
        assert_eq!(lines(&told, &mall), [(3, 3), (1, 0)]);
        let more = json!({ "items": [mall.item(0, 0, 1)] });
        let told = server.data(Call::post(path(&cart, "/lines"), more)).await;
        assert_eq!(lines(&told, &mall), [(4, 4), (1, 0)]);
        let put = Call::new(Method::PUT, path(&cart, "/lines")).with(json!({ "items": [mall.item(0, 0, 1)] }));
        assert_eq!(lines(&server.data(put).await, &mall), [(1, 1), (1, 0)]);
        assert_eq!(mall.calls(0, "cartLinesRemove"), 0);
        mall.stores.advance_clock(MONTH);
        let told = server.data(Call::get(path(&cart, ""))).await;
        assert_eq!(
            (&told["problems"], lines(&told, &mall)),
            (&json!([]), vec![(1, 1), (1, 0)])
        );
        // The store removes the free line together with the line that it belongs to.
        let told = server
            .data(Call::new(Method::DELETE, line_path(&told, &mall, true)))
            .await;
        assert_eq!((&told["problems"], &told["groups"]), (&json!([]), &json!([])));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_a_store_puts_back_is_taken_out_once() {
    for of_another_variant in [false, true] {
        let (mall, cart) = gift(of_another_variant).await;
        let server = mall.server().await;
        let told = server
            .data(Call::new(Method::DELETE, line_path(&cart, &mall, false)))
            .await;
        assert_eq!(lines(&told, &mall), [(2, 2), (1, 0)]);
        assert_eq!(mall.calls(0, "cartLinesRemove"), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gift_is_not_taken_for_what_is_asked_for_of_the_same_variant() {
    for fault in [
        Fault::Delayed { status: 504 },
        Fault::AnswerLost { hold_ms: 0 },
        Fault::Status {
            status: 500,
            retry_after_s: None,
        },
    ] {
        let (mall, cart) = gift(true).await;
        let server = mall.server().await;
        let rule = FaultRule::from(fault).on_operation("cartLinesAdd").first(1);
        mall.stores.set_faults(&mall.slug(0), [rule]).unwrap();
        let more = json!({ "items": [mall.item(0, 1, 2)] });
        let told = server.data(Call::post(path(&cart, "/lines"), more)).await;
        assert_eq!(
            (&told["problems"], lines(&told, &mall)),
            (&json!([]), vec![(2, 2), (2, 2), (1, 0)])
        );
        mall.stores.catch_up(&mall.slug(0)).unwrap();
        let told = server.data(Call::get(path(&cart, ""))).await;
        assert_eq!(lines(&told, &mall), [(2, 2), (2, 2), (1, 0)], "{told:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_late_of_a_line_that_a_store_splits_is_taken_back() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let variant = mall.goods(0)[1].1;
    mall.stores.set_stock(&mall.slug(0), variant, 50).unwrap();
    let function = CartFunction::Split { variant };
    mall.stores.set_cart_function(&mall.slug(0), Some(function)).unwrap();
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let late = FaultRule::from(Fault::Delayed { status: 504 });
    let late = late.on_operation("cartLinesAdd").first(1);
    mall.stores.set_faults(&mall.slug(0), [late]).unwrap();
    let more = json!({ "items": [mall.item(0, 1, 2)] });
    server.data(Call::post(path(&cart, "/lines"), more)).await;
    assert_eq!(mall.stores.catch_up(&mall.slug(0)).unwrap(), 1);
    let told = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(lines(&told, &mall), [(1, 1), (1, 1), (1, 1)], "{told:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_a_store_merges_are_not_missing() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let variants: Vec<u64> = mall.goods(0).iter().map(|(_, variant, _)| *variant).collect();
    for variant in &variants[..4] {
        mall.stores.set_stock(&mall.slug(0), *variant, 50).unwrap();
    }
    let function = CartFunction::Merge {
        variants: variants[..2].to_vec(),
        into: variants[2],
    };
    mall.stores.set_cart_function(&mall.slug(0), Some(function)).unwrap();
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(0, 1, 1)]).await;
    assert_sums(&cart);
    assert_eq!((&cart["problems"], lines(&cart, &mall)), (&json!([]), vec![(1, 0)]));
    assert_eq!(warnings(&cart, &mall), ["lines_merged"]);
    let goods = mall.goods(0);
    let mut merged = goods[..2].to_vec();
    merged.sort_by_key(|(_, variant, _)| *variant);
    let merged: Vec<_> = merged
        .iter()
        .map(|(product, variant, _)| json!({ "variant_id": variant.to_string(), "product_id": product, "qty": 1 }))
        .collect();
    let of_bundle = |cart: &Value| {
        let lines = group(cart, &mall.brand(0))["lines"].as_array().unwrap().clone();
        let line = lines.into_iter().find(|line| line["requested_qty"] == 0).unwrap();
        (line["added_by_store"].clone(), line["merged"].clone())
    };
    assert_eq!(of_bundle(&cart), (json!(false), json!(merged)));
    let more = json!({ "items": [mall.item(0, 3, 2)] });
    let told = server.data(Call::post(path(&cart, "/lines"), more)).await;
    assert_eq!(
        (&told["problems"], lines(&told, &mall)),
        (&json!([]), vec![(2, 2), (1, 0)])
    );
    mall.stores.advance_clock(MONTH);
    let told = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(
        (&told["problems"], lines(&told, &mall)),
        (&json!([]), vec![(2, 2), (1, 0)])
    );
    assert_eq!(of_bundle(&told), (json!(false), json!(merged)));
    let told = server
        .data(Call::new(Method::DELETE, line_path(&told, &mall, false)))
        .await;
    assert_eq!((&told["problems"], lines(&told, &mall)), (&json!([]), vec![(2, 2)]));
    mall.stores.advance_clock(MONTH);
    let told = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(lines(&told, &mall), [(2, 2)], "what went with it stays gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_whose_total_is_not_its_price_times_its_quantity_has_a_warning() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let items = [mall.item(0, 0, 2), mall.item(0, 1, 2)];
    let is_of_amounts = |warning: &&Value| warning["code"] == "amounts_differ";
    for (quantity, lines_named) in [(2, 0), (1, 2), (3, 2)] {
        mall.stores
            .set_fault(&mall.slug(0), Fault::ManyPieces { quantity })
            .unwrap();
        let cart = server.cart(&items).await;
        let group = group(&cart, &mall.brand(0));
        let warnings = group["warnings"].as_array().unwrap();
        let named = warnings
            .iter()
            .filter(is_of_amounts)
            .filter(|one| one["line_id"].is_string());
        assert_eq!(named.count(), lines_named, "{quantity}: {warnings:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn quantities_that_no_cart_has_are_a_problem_of_their_store() {
    let mall = Mall::open(2).await;
    let server = mall.server().await;
    let cart = server
        .cart(&[
            mall.item(0, 0, 1),
            mall.item(0, 1, 1),
            mall.item(0, 2, 1),
            mall.item(1, 0, 1),
        ])
        .await;
    let lie = Fault::ManyPieces {
        quantity: 2_000_000_000,
    };
    mall.stores.set_fault(&mall.slug(0), lie).unwrap();
    let told = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(group(&told, &mall.brand(0))["verified"], false);
    assert_eq!(told["problems"][0]["code"], "store_unavailable");
    let body = json!({ "cart_id": cart["cart_id"] });
    let told = server.data(Call::post("/v1/checkout", body)).await;
    assert_eq!(told["problems"][0]["brand_slug"], mall.brand(0));
    let open = told["checkouts"].as_array().unwrap();
    assert_eq!((open.len(), &open[0]["brand_slug"]), (1, &json!(mall.brand(1))));
    let other = server
        .data(Call::post("/v1/cart", json!({ "items": [mall.item(0, 0, 1)] })))
        .await;
    assert_eq!(
        (&other["groups"], other["problems"].as_array().unwrap().len()),
        (&json!([]), 1)
    );
}
