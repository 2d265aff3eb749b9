use data_model::{Brand, Product, slugify};
use query_server::schema::LookupAnswer;
use serde_json::json;

use crate::support::{Catalogue, Market};

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Returns a brand with an accent in its name, and another brand with the same SKU and handle.
fn catalogue() -> Catalogue {
    let brand = Brand {
        name: "Café Noir".to_owned(),
        slug: slugify("Café Noir").unwrap(),
        domain: "café-noir.example".to_owned(),
        base_url: "https://café-noir.example".to_owned(),
        ..kit::brand("Cafe Noir")
    };
    let (cafe, depot) = (kit::facts(brand), kit::facts(kit::brand("Depot")));
    let product = |facts: &data_index::BrandFacts, id: u64, handle: &str, sku: &str| {
        let mut product = kit::product(&facts.brand, id, &format!("Thing {id}"));
        product.handle = handle.to_owned();
        product.variants[0].sku = Some(sku.to_owned());
        product
    };
    let many = |id: u64| product(&depot, id, &format!("thing-{id}"), "1");
    let mut of_depot: Vec<Product> = vec![product(&depot, 1, "mug", "AB  12"), product(&depot, 2, "™", "AB 12")];
    of_depot.extend((100..130).map(many));
    let of_cafe = vec![
        // One store writes its letters decomposed (Unicode NFD), and another escaped.
        product(&cafe, 1, "cafe\u{301}-mug", "AB  12"),
        product(&cafe, 2, "caf%C3%A9-pot", "ab-12"),
        product(&cafe, 3, "caffè™", "C\u{e9}3"),
    ];
    vec![(cafe, of_cafe), (depot, of_depot)]
}

async fn found(market: &Market, query: &str) -> Vec<(String, String, Vec<String>)> {
    let answer: LookupAnswer<'static> = market.get(&format!("/v1/lookup?{query}")).await.read();
    let told = answer.data.into_iter().map(|one| {
        let products = one.products.into_iter();
        let products = products.map(|card| format!("{} {}", card.brand_slug, card.title));
        (one.by.into_owned(), one.value.into_owned(), products.collect())
    });
    told.collect()
}

#[tokio::test]
async fn a_sku_is_found_as_it_is_written_and_not_otherwise() {
    let market = Market::of(&catalogue()).await;
    let of = async |query: String| found(&market, &query).await.remove(0).2;
    let mut both = of(format!("sku={}", encoded("AB  12"))).await;
    both.sort();
    assert_eq!(both, ["café-noir Thing 1", "depot Thing 1"]);
    assert_eq!(of(format!("sku={}", encoded("AB 12"))).await, ["depot Thing 2"]);
    assert_eq!(of("sku=ab-12".to_owned()).await, ["café-noir Thing 2"]);
    assert_eq!(of(format!("sku={}", encoded("AB12"))).await, [""; 0]);
    assert_eq!(
        of(format!("sku={}&brand=depot", encoded("AB  12"))).await,
        ["depot Thing 1"]
    );
    assert_eq!(of("sku=%20".to_owned()).await, [""; 0]);
    let answer: LookupAnswer<'static> = market.get("/v1/lookup?sku=1").await.read();
    assert_eq!((answer.data[0].products.len(), answer.data[0].more), (20, true));
}

#[tokio::test]
async fn a_handle_is_found_however_its_letters_are_written() {
    let market = Market::of(&catalogue()).await;
    for (handle, title) in [
        ("café-mug", "Thing 1"),
        ("cafe\u{301}-mug", "Thing 1"),
        ("caf%C3%A9-mug", "Thing 1"),
        ("café-pot", "Thing 2"),
        ("cafe\u{301}-pot", "Thing 2"),
        ("caf%c3%a9-pot", "Thing 2"),
        ("caffè™", "Thing 3"),
    ] {
        for brand in ["café-noir", "cafe\u{301}-noir"] {
            let query = format!("handle={}&brand={}", encoded(handle), encoded(brand));
            let told = found(&market, &query).await.remove(0);
            assert_eq!(
                told,
                (
                    "handle".to_owned(),
                    handle.to_owned(),
                    vec![format!("café-noir {title}")]
                ),
                "{brand}"
            );
        }
    }
    for query in [
        "handle=cafe-mug&brand=caf%C3%A9-noir",
        "handle=caf%C3%A9-mug&brand=depot",
        "handle=mug&brand=nobody",
    ] {
        assert_eq!(found(&market, query).await[0].2, [""; 0], "{query}");
    }
    let sign = format!("handle={}&brand=depot", encoded("™"));
    assert_eq!(found(&market, &sign).await[0].2, ["depot Thing 2"]);
}

#[tokio::test]
async fn an_address_is_that_of_any_host_of_the_brand() {
    let market = Market::of(&catalogue()).await;
    for url in [
        "https://depot.example/products/mug",
        "http://www.depot.example/products/mug/?variant=10&utm_source=x",
        "depot.myshopify.example/en-in/collections/all/products/mug#reviews",
        "//DEPOT.example/products/mug.js",
    ] {
        let told = found(&market, &format!("url={}", encoded(url))).await.remove(0);
        assert_eq!(
            told,
            ("url".to_owned(), url.to_owned(), vec!["depot Thing 1".to_owned()])
        );
    }
    for url in [
        "https://depot.example/",
        "https://elsewhere.example/products/mug",
        "mug",
        "",
    ] {
        assert_eq!(
            found(&market, &format!("url={}", encoded(url))).await[0].2,
            [""; 0],
            "{url}"
        );
    }
    // The product URL in an answer finds the product again.
    let id = market.get("/v1/lookup?sku=C%C3%A93").await.json()["data"][0]["products"][0]["id"].clone();
    let detail = market
        .get(&format!("/v1/products/{}", id.as_str().unwrap()))
        .await
        .json();
    let url = detail["data"]["attributes"]["url"].as_str().unwrap();
    assert_eq!(url, "https://café-noir.example/products/caff%C3%A8%E2%84%A2");
    assert_eq!(
        found(&market, &format!("url={}", encoded(url))).await[0].2,
        ["café-noir Thing 3"]
    );
}

#[tokio::test]
async fn what_is_asked_is_answered_in_its_order_and_is_bounded() {
    let market = Market::of(&catalogue()).await;
    let told = found(&market, "sku=nothing&handle=mug&brand=depot&url=x&sku=ab-12").await;
    let told: Vec<_> = told
        .iter()
        .map(|(by, value, products)| (by.as_str(), value.as_str(), products.len()))
        .collect();
    assert_eq!(
        told,
        [
            ("sku", "nothing", 0),
            ("handle", "mug", 1),
            ("url", "x", 0),
            ("sku", "ab-12", 0)
        ]
    );
    assert_eq!(found(&market, &"&sku=a".repeat(20)).await.len(), 20);
    let long = format!("sku={}", "x".repeat(2_049));
    let handles = "&handle=a".repeat(21);
    for (query, loc, kind) in [
        ("", json!(["query", "url"]), "missing"),
        ("handle=mug", json!(["query", "brand"]), "missing"),
        (&handles, json!(["query", "handle"]), "too_long"),
        (&long, json!(["query", "sku", 0]), "string_too_long"),
        ("sku=a&sku=%FF", json!(["query", "sku", 1]), "string_unicode"),
    ] {
        let answered = market.get(&format!("/v1/lookup?{query}")).await;
        assert_eq!(answered.status, 422, "{query}");
        let detail = &answered.json()["detail"][0];
        assert_eq!((&detail["loc"], &detail["type"]), (&loc, &json!(kind)), "{query}");
    }
    let brand = market.get("/v1/brands/cafe%CC%81-noir").await;
    assert_eq!(brand.json()["data"]["slug"], "café-noir");
    let first = market.get("/v1/lookup?sku=1").await;
    let tag = first.headers["etag"].clone();
    let request = http::Request::get("/v1/lookup?sku=1").header("if-none-match", tag);
    assert_eq!(
        market
            .send(request.body(axum::body::Body::empty()).unwrap())
            .await
            .status,
        304
    );
}
