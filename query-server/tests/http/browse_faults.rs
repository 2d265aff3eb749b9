use serde_json::{Value, json};

use crate::browse::{facets, page};
use crate::catalogue::small;
use crate::support::{Market, TestAnswer};
use crate::wide::wide;

pub(crate) fn fault(answered: &TestAnswer) -> (Value, String) {
    assert_eq!(answered.status, 422, "{}", String::from_utf8_lossy(&answered.body));
    let document = answered.json();
    let faults = document["detail"].as_array().unwrap();
    assert_eq!(faults.len(), 1, "{document}");
    (faults[0]["loc"].clone(), faults[0]["type"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_category_or_a_brand_is_asked_for_and_both_are_known() {
    let market = Market::of(&small()).await;
    for nothing in ["", "?category=&brand=", "?sort=newest"] {
        let answered = market.get(&format!("/v1/browse{nothing}")).await;
        assert_eq!(
            fault(&answered),
            (json!(["query", "category"]), "missing".to_owned()),
            "{nothing}"
        );
    }
    let long = "x".repeat(201);
    assert_eq!(
        fault(&market.get(&format!("/v1/browse?category={long}")).await),
        (json!(["query", "category"]), "string_too_long".to_owned())
    );
    for (query, code) in [
        ("category=no-such", "category_not_found"),
        ("category=%2B166", "category_not_found"),
        ("category=999999999999", "category_not_found"),
        ("category=%E0%A4%97", "category_not_found"),
        ("brand=no-such", "brand_not_found"),
        ("brand=NO%20SLUG", "brand_not_found"),
        ("brand=no-such&category=coffee", "brand_not_found"),
    ] {
        let answered = market.get(&format!("/v1/browse?{query}")).await;
        assert_eq!(
            (answered.status.as_u16(), &answered.json()["code"]),
            (404, &code.into()),
            "{query}"
        );
    }
    // A category of the taxonomy without products gives an empty list.
    let empty = page(&market, "/v1/browse?category=furniture").await;
    assert!(empty.items.is_empty() && empty.facets.is_empty() && empty.price.histogram.is_empty());
    assert_eq!((empty.price.min_minor, empty.next_cursor), (None, None));
    let both = page(&market, "/v1/browse?category=1868&brand=blue-tokai").await;
    assert_eq!(both.items.len(), 4);
    let apart = page(&market, "/v1/browse?category=coffee&brand=loom-thread").await;
    assert!(apart.items.is_empty());
}

#[tokio::test]
async fn a_cursor_is_good_for_its_own_list_in_its_own_release() {
    let market = Market::of(&wide()).await;
    let path = "/v1/browse?category=coffee&sort=rating";
    let cursor = page(&market, &format!("{path}&limit=3")).await.next_cursor.unwrap();
    let again = page(&market, &format!("{path}&limit=5&cursor={cursor}&unknown=1")).await;
    assert_eq!(again.items.len(), 5);
    // These parameters describe the same list in different forms.
    let words = "/v1/browse?category=1868&sort=rating&in_stock=false&facets=%7B%7D&currency=inr";
    assert_eq!(
        page(&market, &format!("{words}&limit=5&cursor={cursor}")).await.items,
        again.items
    );
    let mut tampered = cursor.clone().into_owned().into_bytes();
    tampered[3] = if tampered[3] == b'A' { b'B' } else { b'A' };
    let tampered = String::from_utf8(tampered).unwrap();
    let long = "A".repeat(7_000);
    for (list, cursor) in [
        ("category=coffee&sort=newest", cursor.as_ref()),
        ("category=coffee&sort=rating&in_stock=true", &cursor),
        ("category=coffee&sort=rating&facets=%7B%22size%22%3A%22m%22%7D", &cursor),
        ("category=beverages&sort=rating", &cursor),
        ("category=coffee&sort=rating&brand=bazaar", &cursor),
        ("category=coffee&sort=rating&price_max=99999999", &cursor),
        ("category=coffee&sort=rating&currency=USD", &cursor),
        ("category=coffee&sort=rating", &tampered),
        ("category=coffee&sort=rating", "0"),
        ("category=coffee&sort=rating", "%00%FF"),
        ("category=coffee&sort=rating", "..%2F..%2Fetc%2Fpasswd"),
        ("category=coffee&sort=rating", &long),
    ] {
        let answered = market.get(&format!("/v1/browse?{list}&cursor={cursor}")).await;
        assert_eq!(fault(&answered).0, json!(["query", "cursor"]), "{list} {cursor:.40}");
    }
    let mut other = wide();
    other[0].1.truncate(900);
    other[0].0.catalogue_hash = "other".to_owned();
    market.publish(&other).await;
    market.server.refresh().await.unwrap();
    assert_eq!(
        fault(&market.get(&format!("{path}&cursor={cursor}")).await).0,
        json!(["query", "cursor"])
    );
}

#[tokio::test]
async fn hostile_facets_are_refused_or_answered_never_an_error() {
    let market = Market::of(&small()).await;
    let deep = format!("{}{}", "[".repeat(1_500), "]".repeat(1_500));
    let many: Vec<Value> = (0..1_000).map(|at| at.into()).collect();
    for (text, place) in [
        (deep, json!(["query", "facets"])),
        (json!({"color": many}).to_string(), json!(["query", "facets", "color"])),
        (
            json!({"color": {"a": 1}}).to_string(),
            json!(["query", "facets", "color"]),
        ),
        (
            json!({"color": ["a", null]}).to_string(),
            json!(["query", "facets", "color", 1]),
        ),
        ("{\"color\":".to_owned(), json!(["query", "facets"])),
        ("[]".to_owned(), json!(["query", "facets"])),
        ("%20".to_owned(), json!(["query", "facets"])),
        (
            format!("{{\"a\":\"{}\"}}", "x".repeat(4_100)),
            json!(["query", "facets"]),
        ),
    ] {
        let answered = market
            .get(&format!(
                "/v1/browse?category=coffee&facets={}",
                text.replace('"', "%22")
            ))
            .await;
        assert_eq!(fault(&answered).0, place, "{text:.60}");
    }
    for odd in [
        json!({"": ""}),
        json!({"color": []}),
        json!({"color": "\u{0}\u{202e}🧵"}),
        json!({"कपड़ा": ["सूती", true, -1e300]}),
        json!({"size": "' OR 1=1 --"}),
    ] {
        let browsed = page(&market, &format!("/v1/browse?category=coffee&facets={}", facets(&odd))).await;
        assert!(browsed.items.is_empty(), "{odd}");
    }
    let some: serde_json::Map<_, _> = (0..20).map(|at| (format!("f{at}"), json!(["a", "b", "c"]))).collect();
    let some = page(
        &market,
        &format!("/v1/browse?category=coffee&facets={}", facets(&some.into())),
    )
    .await;
    assert!(some.items.is_empty());
}

#[tokio::test]
async fn limits_and_prices_out_of_bounds_are_told_together() {
    let market = Market::of(&small()).await;
    for (query, place) in [
        ("limit=0", "limit"),
        ("limit=61", "limit"),
        ("price_min=5&price_max=4", "price_min"),
        ("sort=best", "sort"),
        ("on_sale=perhaps", "on_sale"),
    ] {
        let answered = market.get(&format!("/v1/browse?category=coffee&{query}")).await;
        assert_eq!(fault(&answered).0, json!(["query", place]), "{query}");
    }
    let answered = market.get("/v1/browse?limit=x&sort=y").await;
    let places: Vec<_> = answered.json()["detail"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["loc"][1].clone())
        .collect();
    assert_eq!(places, ["sort", "limit", "category"]);
    let answered = market.get("/v1/browse?limit=x&cursor=y").await;
    assert_eq!(answered.json()["detail"].as_array().unwrap().len(), 3, "the cursor too");
}

#[tokio::test]
async fn what_the_client_has_is_not_sent_again() {
    let market = Market::of(&small()).await;
    let first = market.get("/v1/browse?brand=blue-tokai").await;
    let tag = first.headers["etag"].to_str().unwrap().to_owned();
    let request = http::Request::get("/v1/browse?brand=blue-tokai").header("if-none-match", tag);
    let second = market.send(request.body(axum::body::Body::empty()).unwrap()).await;
    assert_eq!((second.status.as_u16(), second.body.len()), (304, 0));
}
