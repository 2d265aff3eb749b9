use emulator::{ZoneKind, ZoneRules};
use http::Method;
use serde_json::json;

use super::mall::{Call, Mall, assert_sums, group, minor, path};

#[tokio::test(flavor = "multi_thread")]
async fn a_cart_lives_at_each_brands_own_store_and_is_one() {
    let mall = Mall::open(2).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 2), mall.item(1, 0, 1)]).await;
    assert_sums(&cart);
    assert_eq!(cart["problems"], json!([]));
    assert_eq!(cart["groups"].as_array().unwrap().len(), 2);
    let (_, variant, price) = mall.goods(0)[0].clone();
    let first = group(&cart, &mall.brand(0));
    assert_eq!(first["verified"], true);
    assert_eq!(first["lines"][0]["variant_id"], variant.to_string());
    assert_eq!(minor(&first["lines"][0]["line_total_minor"]), 2 * price);
    assert_eq!(mall.calls(0, "cartCreate"), 1);

    // The quantity of the existing variant increases, and another variant is added.
    let more = json!({ "items": [mall.item(0, 0, 1), mall.item(0, 1, 1)] });
    let cart = server.data(Call::post(path(&cart, "/lines"), more)).await;
    assert_sums(&cart);
    let lines = group(&cart, &mall.brand(0))["lines"].as_array().unwrap().clone();
    let mut quantities: Vec<_> = lines.iter().map(|line| line["qty"].as_u64().unwrap()).collect();
    quantities.sort_unstable();
    assert_eq!(quantities, [1, 3]);

    let line = lines.iter().find(|line| line["qty"] == 3).unwrap();
    let at = path(&cart, &format!("/lines/{}", line["line_id"].as_str().unwrap()));
    let cart = server
        .data(Call::new(Method::PATCH, &at).with(json!({ "qty": 5 })))
        .await;
    let told = group(&cart, &mall.brand(0));
    let told = told["lines"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["line_id"] == line["line_id"])
        .cloned();
    assert_eq!(told.unwrap()["requested_qty"], 5);
    let cart = server.data(Call::new(Method::DELETE, &at)).await;
    assert_eq!(group(&cart, &mall.brand(0))["lines"].as_array().unwrap().len(), 1);

    // A repeated read returns the same cart.
    let again = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(
        (&again["totals"], &again["combined_total_minor"]),
        (&cart["totals"], &cart["combined_total_minor"])
    );
    for store in 0..2 {
        let (mut before, after) = (group(&cart, &mall.brand(store)), group(&again, &mall.brand(store)));
        // The last change queried only the first store.
        assert_eq!(before["verified"], store == 0);
        (before["verified"], before["snapshot_at"]) = (json!(true), json!(null));
        assert_eq!(before, after);
    }
    assert_eq!((mall.calls(0, "cartCreate"), mall.calls(1, "cartCreate")), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_line_of_a_brand_takes_its_group_along() {
    let mall = Mall::open(2).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(1, 0, 1)]).await;
    let line = group(&cart, &mall.brand(1))["lines"][0]["line_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let cart = server
        .data(Call::new(Method::DELETE, path(&cart, &format!("/lines/{line}"))))
        .await;
    assert_eq!(cart["groups"].as_array().unwrap().len(), 1);
    assert_sums(&cart);
    let (status, _) = server
        .send(Call::new(Method::DELETE, path(&cart, &format!("/lines/{line}"))))
        .await;
    assert_eq!(status, 404, "it is there no longer");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_brings_ways_of_delivery_and_one_is_chosen() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    assert_eq!(group(&cart, &mall.brand(0))["delivery_options"], json!([]));
    let address = json!({ "zip": "560001", "country": "in", "province": "KA", "city": "Bengaluru" });
    let cart = server.data(Call::post(path(&cart, "/address"), address)).await;
    assert_sums(&cart);
    let options = group(&cart, &mall.brand(0))["delivery_options"]
        .as_array()
        .unwrap()
        .clone();
    assert!(!options.is_empty(), "{cart}");
    let last = options.last().unwrap();
    let choice = json!({ "brand": mall.brand(0), "handle": last["handle"] });
    let cart = server.data(Call::post(path(&cart, "/delivery"), choice)).await;
    assert_sums(&cart);
    assert_eq!(cart["problems"], json!([]));
    let told = group(&cart, &mall.brand(0));
    let chosen = told["delivery_options"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["selected"] == true)
        .cloned();
    assert_eq!(chosen.unwrap()["handle"], last["handle"]);
    assert_eq!(told["delivery_minor"], last["amount_minor"]);
    assert_eq!(told["other_minor"], 0);

    let choice = json!({ "brand": mall.brand(0), "handle": "no-such" });
    let cart = server.data(Call::post(path(&cart, "/delivery"), choice)).await;
    assert_eq!(cart["problems"][0]["code"], "store_rejected");
    let choice = json!({ "brand": "nobody", "handle": "x" });
    let (status, body) = server.send(Call::post(path(&cart, "/delivery"), choice)).await;
    assert_eq!((status.as_u16(), body["code"].as_str()), (404, Some("brand_not_found")));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_store_does_not_have_is_told_and_costs_nothing_else() {
    let mall = Mall::open(2).await;
    let server = mall.server().await;
    let (_, variant, _) = mall.goods(0)[0];
    mall.stores.set_stock(&mall.slug(0), variant, 3).unwrap();
    let unknown = json!({ "product_id": "sha:0000000000000000000000000000000000000000", "qty": 1 });
    let cart = server.cart(&[mall.item(0, 0, 9), unknown, mall.item(1, 0, 1)]).await;
    assert_sums(&cart);
    let line = &group(&cart, &mall.brand(0))["lines"][0];
    assert_eq!(
        (minor(&line["qty"]), minor(&line["requested_qty"]), &line["available"]),
        (3, 9, &json!(false))
    );
    let warnings = group(&cart, &mall.brand(0))["warnings"].clone();
    assert_eq!(warnings[0]["code"], "merchandise_not_enough_stock");
    assert_eq!(warnings[0]["line_id"], line["line_id"]);
    assert_eq!(cart["problems"].as_array().unwrap().len(), 1);
    assert_eq!(cart["problems"][0]["code"], "product_not_found");
    assert_eq!(group(&cart, &mall.brand(1))["verified"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_no_store_was_asked_of_says_since_when_it_stands() {
    let mall = Mall::open(2).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(1, 0, 1)]).await;
    let brands = [mall.brand(0), mall.brand(1)];
    let since = |cart: &serde_json::Value| {
        brands.each_ref().map(|brand| {
            let group = group(cart, brand);
            let snapshot_at = group.get("snapshot_at").cloned().expect("a member of every group");
            let is_snapshot = group["verified"] == false;
            assert_eq!(
                snapshot_at,
                if is_snapshot {
                    group["as_of"].clone()
                } else {
                    json!(null)
                }
            );
            is_snapshot
        })
    };
    assert_eq!(since(&cart), [false, false]);
    let more = json!({ "items": [mall.item(0, 1, 1)] });
    let told = server.data(Call::post(path(&cart, "/lines"), more)).await;
    assert_eq!((since(&told), &told["problems"]), ([false, true], &json!([])));
    let ended = server.data(Call::new(Method::DELETE, path(&cart, ""))).await;
    assert_eq!(since(&ended), [true, true]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_needs_no_postcode_where_its_country_has_none() {
    let mall = Mall::open(2).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(1, 0, 1)]).await;
    let to = async |body| server.data(Call::post(path(&cart, "/address"), body)).await;
    for body in [json!({}), json!({ "zip": null, "country": "US", "city": "Austin" })] {
        let told = to(body).await;
        let problems = told["problems"].as_array().unwrap();
        let brands: Vec<_> = problems.iter().map(|one| one["brand_slug"].clone()).collect();
        assert_eq!(brands, [json!(mall.brand(0)), json!(mall.brand(1))], "{told}");
        let says_so =
            |one: &serde_json::Value| one["code"] == "validation" && one["detail"].as_str().unwrap().contains("`zip`");
        assert!(problems.iter().all(says_so), "{told}");
    }
    for body in [json!({ "country": "AE", "city": "Dubai" }), json!({ "zip": "560001" })] {
        let told = to(body).await;
        let problems = told["problems"].as_array().unwrap();
        assert!(problems.iter().all(|one| one["code"] != "validation"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pincode_is_taken_with_spaces_and_one_that_none_can_be_is_refused() {
    let mall = Mall::open(1).await;
    let rules = ZoneRules {
        kind: ZoneKind::Flat,
        seed: 2,
    };
    mall.stores.set_zone_rules(&mall.slug(0), Some(rules)).unwrap();
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let to = |zip: &str, country: &str| {
        let body = json!({ "zip": zip, "country": country });
        server.send(Call::post(path(&cart, "/address"), body))
    };
    let of = |told: &serde_json::Value| group(&told["data"], &mall.brand(0));
    let options = |told: &serde_json::Value| of(told)["delivery_options"].clone();
    let codes = |told: &serde_json::Value| -> Vec<serde_json::Value> {
        let warnings = of(told)["warnings"].as_array().unwrap().clone();
        warnings.iter().map(|one| one["code"].clone()).collect()
    };
    let (_, plain) = to("560001", "IN").await;
    assert_ne!(options(&plain), json!([]));
    for zip in ["560 001", " 560 001 ", "5 6 0 0 0 1"] {
        let (status, told) = to(zip, "in").await;
        assert_eq!((status.as_u16(), options(&told)), (200, options(&plain)), "{zip}");
        assert_eq!(codes(&told), Vec::<serde_json::Value>::new());
    }
    for zip in ["ABC", "56001", "5600011", "060001", "५६०००१"] {
        let (status, told) = to(zip, "IN").await;
        let fault = &told["detail"][0];
        assert_eq!(
            (status.as_u16(), &fault["loc"], &fault["type"]),
            (422, &json!(["body", "zip"]), &json!("string_pattern_mismatch")),
            "{zip}: {told}"
        );
    }
    // The postal code is plausible, but the store does not deliver there.
    let (status, told) = to("999999", "IN").await;
    assert_eq!((status.as_u16(), options(&told)), (200, json!([])));
    assert_eq!(codes(&told), ["no_delivery_options"]);
    assert!(of(&told)["warnings"][0]["detail"].as_str().unwrap().contains("999999"));
    let (status, _) = to("SW1A 1AA", "GB").await;
    assert_eq!(status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_optional_member_is_not_given() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let mut item = mall.item(0, 0, 1);
    item["variant_id"] = json!("");
    let cart = server
        .data(Call::post("/v1/cart", json!({ "items": [item], "email": "" })))
        .await;
    assert_eq!(
        (&cart["problems"], cart["groups"].as_array().unwrap().len()),
        (&json!([]), 1)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn items_that_nobody_sells_are_not_found_where_nothing_else_is_asked_for() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let unknown = json!({ "product_id": "sha:0000000000000000000000000000000000000000", "qty": 1 });
    let mut foreign = mall.item(0, 0, 1);
    foreign["variant_id"] = json!(mall.goods(0)[1].1.to_string());
    let body = json!({ "items": [unknown.clone(), foreign.clone()] });
    let names_both = |problems: &serde_json::Value| {
        let named = [&unknown["product_id"], &foreign["variant_id"]].map(|id| id.as_str().unwrap());
        let problems = problems.as_array().unwrap();
        let names = |(problem, id): (&serde_json::Value, &str)| {
            problem["code"] == "product_not_found" && problem["detail"].as_str().unwrap().contains(id)
        };
        problems.len() == 2 && problems.iter().zip(named).all(names)
    };
    for at in ["/v1/cart".to_owned(), path(&cart, "/lines")] {
        let (status, told) = server.send(Call::post(at, body.clone()).once("k")).await;
        assert_eq!(
            (status.as_u16(), &told["code"]),
            (404, &json!("product_not_found")),
            "{told}"
        );
        assert!(names_both(&told["problems"]), "{told}");
    }
    // Unknown items are reported as problems next to the available items.
    let some = server
        .cart(&[mall.item(0, 0, 1), unknown.clone(), foreign.clone()])
        .await;
    assert!(names_both(&some["problems"]), "{some}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_cart_that_expired_is_made_anew_of_what_is_known() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 2), mall.item(0, 1, 1)]).await;
    let before = group(&cart, &mall.brand(0));
    // The store deletes its expired cart. This service keeps its cart, because its own clock does not advance.
    mall.stores.advance_clock(std::time::Duration::from_secs(40 * 86_400));
    let cart = server.data(Call::get(path(&cart, ""))).await;
    let after = group(&cart, &mall.brand(0));
    assert_eq!(after["warnings"][0]["code"], "cart_rebuilt");
    assert_eq!(after["total_minor"], before["total_minor"]);
    let ids = |group: &serde_json::Value| {
        let mut ids: Vec<_> = group["lines"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line["line_id"].to_string())
            .collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&after), ids(&before), "lines keep their names");
    assert_ne!(after["checkout_url"], before["checkout_url"]);
    // A change also works after the store has lost its cart.
    mall.stores.advance_clock(std::time::Duration::from_secs(40 * 86_400));
    let more = json!({ "items": [mall.item(0, 0, 1)] });
    let cart = server.data(Call::post(path(&cart, "/lines"), more)).await;
    let lines = group(&cart, &mall.brand(0));
    let quantities: i64 = lines["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| minor(&line["qty"]))
        .sum();
    assert_eq!(quantities, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_of_a_request_are_named_each() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let items = json!([
        { "product_id": "sha:zz", "qty": 0 },
        { "qty": 1_000, "variant_id": "x" },
        7,
    ]);
    let body = json!({ "items": items, "email": "no address" });
    let (status, body) = server.send(Call::post("/v1/cart", body)).await;
    assert_eq!(status, 422);
    let told: Vec<String> = body["detail"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| format!("{} {}", fault["loc"], fault["type"]))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    ["body","items",0,"product_id"] "string_pattern_mismatch"
    ["body","items",0,"qty"] "greater_than_equal"
    ["body","items",1,"product_id"] "missing"
    ["body","items",1,"variant_id"] "string_pattern_mismatch"
    ["body","items",1,"qty"] "less_than_equal"
    ["body","items",2] "dict_type"
    ["body","email"] "value_error"
    "#);
    let (status, body) = server.send(Call::post("/v1/cart", json!({}))).await;
    assert_eq!(
        (status.as_u16(), body["detail"][0]["type"].as_str()),
        (422, Some("missing"))
    );
    let many: Vec<_> = (0..101).map(|_| mall.item(0, 0, 1)).collect();
    let (status, body) = server.send(Call::post("/v1/cart", json!({ "items": many }))).await;
    assert_eq!(
        (status.as_u16(), body["detail"][0]["type"].as_str()),
        (422, Some("too_long"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cart_takes_no_more_than_its_bounds() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 999)]).await;
    // The cart gets all units that the store has. A quantity above the limit is refused without a query.
    let there = minor(&group(&cart, &mall.brand(0))["lines"][0]["qty"]);
    let over = u32::try_from(1_000 - there).unwrap();
    let calls = mall.calls(0, "cartLinesUpdate");
    let body = json!({ "items": [mall.item(0, 0, over.min(999)), mall.item(0, 0, 999)] });
    let (status, told) = server.send(Call::post(path(&cart, "/lines"), body)).await;
    assert_eq!(
        (status.as_u16(), &told["detail"][0]["loc"]),
        (422, &json!(["body", "items"]))
    );
    assert_eq!(mall.calls(0, "cartLinesUpdate"), calls);
    // The cart was unlocked, so the next change is possible immediately.
    let line = group(&cart, &mall.brand(0))["lines"][0]["line_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let cart = server
        .data(Call::new(Method::PATCH, path(&cart, &format!("/lines/{line}"))).with(json!({ "qty": 1 })))
        .await;
    assert_eq!(minor(&group(&cart, &mall.brand(0))["lines"][0]["qty"]), 1);
}
