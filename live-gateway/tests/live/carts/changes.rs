//! Tests that responses report the changes that stores made since a cart was created.

use http::Method;
use serde_json::{Value, json};

use super::mall::{Call, Mall, assert_sums, group, path};

fn line(cart: &Value, brand: &str, nth: usize) -> Value {
    group(cart, brand)["lines"][nth].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_product_that_its_store_sells_no_more_is_named_when_its_line_is_gone() {
    let mall = Mall::open(2).await;
    let server = mall.server().await;
    let items = [mall.item(0, 0, 1), mall.item(0, 1, 2), mall.item(1, 0, 1)];
    let cart = server.cart(&items).await;
    let (product, variant, _) = mall.goods(0)[1].clone();
    let lines = group(&cart, &mall.brand(0))["lines"].as_array().unwrap().clone();
    let name = variant.to_string();
    let line = lines
        .iter()
        .find(|line| line["variant_id"].as_str() == Some(name.as_str()));
    let title = line.unwrap()["title"].as_str().unwrap().to_owned();
    mall.stores.remove_product(&mall.slug(0), variant).unwrap();
    let problem = json!({
        "brand_slug": mall.brand(0),
        "product_id": product,
        "code": "product_not_found",
        "detail": format!(
            "The store's cart no longer has “{title}”: the store has stopped selling it, or somebody removed it at \
             the store."
        ),
    });
    for _ in 0..2 {
        let read = server.data(Call::get(path(&cart, ""))).await;
        assert_sums(&read);
        assert_eq!(read["problems"], json!([problem]), "each reader is told");
        assert_eq!(group(&read, &mall.brand(0))["lines"].as_array().unwrap().len(), 1);
    }
    // The next change also reports the removed line, and the cart no longer contains it.
    let changed = server
        .data(Call::post(path(&cart, "/discount"), json!({ "code": "X" })))
        .await;
    assert_eq!(changed["problems"], json!([problem]));
    let read = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(read["problems"], json!([]));
    // A problem reports a brand that has no lines left.
    mall.stores.remove_product(&mall.slug(1), mall.goods(1)[0].1).unwrap();
    let read = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(group(&read, &mall.brand(1)), Value::Null);
    assert_eq!(
        (&read["problems"][0]["code"], &read["problems"][0]["brand_slug"]),
        (&json!("product_not_found"), &json!(mall.brand(1)))
    );
    assert_sums(&read);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_caller_took_out_is_no_problem() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(0, 1, 2)]).await;
    let id = line(&cart, &mall.brand(0), 0)["line_id"].clone();
    let below = format!("/lines/{}", id.as_str().unwrap());
    let after = server.data(Call::new(Method::DELETE, path(&cart, &below))).await;
    assert_eq!(after["problems"], json!([]));
    let read = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(read["problems"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_is_set_and_taken_out_once_for_each_key() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(0, 1, 2)]).await;
    let id = line(&cart, &mall.brand(0), 0)["line_id"].clone();
    let at = path(&cart, &format!("/lines/{}", id.as_str().unwrap()));
    let set = |qty: u32| {
        Call::new(Method::PATCH, at.clone())
            .with(json!({ "qty": qty }))
            .once("set")
    };
    let first = server.data(set(3)).await;
    server
        .data(Call::new(Method::PATCH, at.clone()).with(json!({ "qty": 5 })))
        .await;
    let (status, headers, again) = server.send_whole(set(3)).await;
    assert_eq!((status.as_u16(), &again["data"]), (200, &first));
    assert_eq!(headers["idempotent-replayed"], "true");
    let (status, body) = server.send(set(4)).await;
    assert_eq!((status.as_u16(), &body["code"]), (422, &json!("idempotency_mismatch")));

    let remove = || Call::new(Method::DELETE, at.clone()).once("remove");
    let removed = server.data(remove()).await;
    assert_eq!(
        server.data(remove()).await,
        removed,
        "though there is no such line any more"
    );
    let change = Call::new(Method::PATCH, at.clone()).with(json!({ "qty": 1 }));
    for call in [Call::new(Method::DELETE, at.clone()), change] {
        let (status, told) = server.send(call).await;
        assert_eq!(
            (status.as_u16(), &told["code"]),
            (404, &json!("line_not_found")),
            "{told}"
        );
    }

    server
        .data(Call::post(path(&cart, "/discount"), json!({ "code": "X" })))
        .await;
    let code = || Call::new(Method::DELETE, path(&cart, "/discount/X")).once("code");
    let without = server.data(code()).await;
    assert_eq!(server.data(code()).await, without);
    let other = Call::new(Method::DELETE, path(&cart, "/discount/Y")).once("code");
    let (status, body) = server.send(other).await;
    assert_eq!((status.as_u16(), &body["code"]), (422, &json!("idempotency_mismatch")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_whose_price_changed_since_it_was_added_says_so_until_it_is_put_in_anew() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let (product, variant, before) = mall.goods(0).remove(0);
    let currency = mall.shelf.brands[0].currency;
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(0, 1, 1)]).await;
    let warnings = |cart: &Value| group(cart, &mall.brand(0))["warnings"].clone();
    assert_eq!(warnings(&cart), json!([]));

    mall.stores.reprice(&mall.slug(0), variant, "77777.00").unwrap();
    let read = server.data(Call::get(path(&cart, ""))).await;
    let lines = group(&read, &mall.brand(0))["lines"].as_array().unwrap().clone();
    let id = variant.to_string();
    let line = lines.iter().find(|line| line["variant_id"] == id.as_str()).unwrap();
    let was = data_model::Money::from_minor(before, currency).unwrap();
    let told = json!([{
        "code": "price_changed",
        "detail": format!(
            "{} cost {was} when it was added; its store now asks 77777.00 {currency}.",
            line["title"].as_str().unwrap()
        ),
        "line_id": line["line_id"],
    }]);
    assert_eq!(warnings(&read), told);
    // A new quantity does not change the price that was recorded when the line was added.
    let at = path(&cart, &format!("/lines/{}", line["line_id"].as_str().unwrap()));
    let changed = server
        .data(Call::new(Method::PATCH, at.clone()).with(json!({ "qty": 2 })))
        .await;
    assert_eq!(warnings(&changed), told);

    server.data(Call::new(Method::DELETE, at)).await;
    let item = json!({ "product_id": product, "variant_id": variant.to_string(), "qty": 1 });
    let again = server
        .data(Call::post(path(&cart, "/lines"), json!({ "items": [item] })))
        .await;
    assert_eq!(warnings(&again), json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_brand_whose_amounts_are_in_another_currency_than_its_catalogue_says_so() {
    let mut mall = Mall::open(1).await;
    let shelf = std::sync::Arc::get_mut(&mut mall.shelf).unwrap();
    let stated = shelf.brands[0].currency;
    let other = if stated.as_str() == "USD" { "EUR" } else { "USD" };
    shelf.brands[0].currency = other.parse().unwrap();
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let told = group(&cart, &mall.brand(0));
    assert_eq!(told["currency"], stated.as_str());
    assert_eq!(
        told["warnings"],
        json!([{
            "code": "currency_changed",
            "detail": format!("The store now states amounts in {stated}, but its catalogue was last read in {other}."),
            "line_id": null,
        }])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_variant_beyond_the_listed_ones_is_asked_of_its_store() {
    for is_whole in [false, true] {
        let mut mall = Mall::open(1).await;
        let shelf = std::sync::Arc::get_mut(&mut mall.shelf).unwrap();
        let several = shelf.products.iter_mut().find(|(_, product)| {
            let mut variants = product.variants.iter().skip(1);
            variants.any(|variant| variant.available)
        });
        let (ident, product) = several.unwrap();
        let at = product
            .variants
            .iter()
            .skip(1)
            .position(|variant| variant.available)
            .unwrap()
            + 1;
        let unlisted = product.variants.remove(at).id.to_string();
        product.variants_complete = is_whole;
        let ident = ident.to_string();
        let server = mall.server().await;
        let item = |variant: &str| json!({ "items": [{ "product_id": ident, "variant_id": variant, "qty": 1 }] });
        let (status, told) = server.send(Call::post("/v1/cart", item(&unlisted))).await;
        if is_whole {
            assert_eq!(
                (status.as_u16(), told["code"].as_str()),
                (404, Some("product_not_found"))
            );
            continue;
        }
        let line = &group(&told["data"], &mall.brand(0))["lines"][0];
        assert_eq!(
            (&line["variant_id"], &line["qty"]),
            (&json!(unlisted), &json!(1)),
            "{told:#}"
        );
        let told = server.data(Call::post("/v1/cart", item("1"))).await;
        assert_eq!(told["problems"][0]["code"], "product_not_found", "{told:#}");
    }
}
