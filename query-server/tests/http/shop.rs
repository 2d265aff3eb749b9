use axum::body::Body;
use data_codes::{Reading, StatedCodes, codes_at, save};
use data_model::{CodePlace, StatedCode, StoreHost, StoredShop};
use data_storage::put_over;
use http::Request;
use query_server::operations::BrandKey;

use crate::catalogue::{brand, product, small};
use crate::support::{Catalogue, Market, TestAnswer, send};

/// Returns a brand with products at these prices, the marked ones sold out, and another brand.
fn priced(prices: &[(i64, bool)]) -> Catalogue {
    let facts = brand("Chai Point", "INR");
    let products = (1..).zip(prices).map(|(id, (price_minor, available))| {
        let mut product = product(&facts, id, &format!("Chai {id}"));
        product.variants[0].price_minor = *price_minor;
        product.variants[0].available = *available;
        product
    });
    let mut catalogue = small();
    catalogue.push((facts.clone(), products.collect()));
    catalogue
}

async fn prices(prices: &[(i64, bool)]) -> Vec<i64> {
    let market = Market::of(&priced(prices)).await;
    let key = BrandKey::Slug("chai-point".parse().unwrap());
    let shop = market.server.shop(&key).await.unwrap().unwrap();
    assert!(shop.samples.iter().all(|product| product.brand == 0));
    shop.samples
        .iter()
        .map(|product| product.variants[0].price_minor)
        .collect()
}

#[tokio::test]
async fn products_that_are_rather_dear_stand_for_a_brand_those_of_no_round_price_first() {
    let many: Vec<(i64, bool)> = (1..=10).map(|at| (at * 10_000 - 100, true)).collect();
    assert_eq!(prices(&many).await, [79_900, 89_900, 69_900, 99_900]);
    // Sold-out products are never samples. A round price is used only if there is no other.
    let mixed = [
        (50_000, true),
        (99_900, true),
        (200_000, false),
        (149_900, true),
        (0, true),
    ];
    assert_eq!(prices(&mixed).await, [99_900, 149_900, 50_000]);
    assert_eq!(prices(&[(10_000, false)]).await, Vec::<i64>::new());
}

fn stated(code: &str) -> StatedCodes {
    let stated = StatedCode {
        code: code.to_owned(),
        place: CodePlace::FrontPage,
        plainness: 3,
    };
    StatedCodes {
        front: Reading {
            codes: vec![stated],
            ..Reading::default()
        },
        ..StatedCodes::default()
    }
}

#[tokio::test]
async fn codes_are_those_that_the_last_crawl_kept_whatever_the_release() {
    let market = Market::of(&priced(&[(10_000, true)])).await;
    let key = BrandKey::Domain("chai-point.example".to_owned());
    let codes = async || {
        let shop = market.server.shop(&key).await.unwrap().unwrap();
        (
            shop.brand.store,
            shop.codes.into_iter().map(|stated| stated.code).collect::<Vec<_>>(),
        )
    };
    let (store, none): (StoreHost, _) = codes().await;
    assert_eq!(none, Vec::<String>::new());
    save(&market.home, &store, stated("CHAI10")).await.unwrap();
    assert_eq!(codes().await.1, ["CHAI10"]);
    save(&market.home, &store, stated("CHAI20")).await.unwrap();
    assert_eq!(codes().await.1, ["CHAI20"]);
    put_over(&market.home, &codes_at(&store), "nonsense").await.unwrap();
    assert_eq!(codes().await.1, Vec::<String>::new());
}

#[tokio::test]
async fn the_gateway_asks_for_a_shop_on_the_internal_listener() {
    let market = Market::of(&priced(&[(10_000, true)])).await;
    let get = async |path: &str| -> TestAnswer {
        let request = Request::get(path).body(Body::empty()).unwrap();
        send(market.server.internal_router(), request).await
    };
    let told = get("/internal/v1/shop?slug=chai-point").await;
    let shop: StoredShop = serde_json::from_slice(&told.body).unwrap();
    assert_eq!((shop.brand.slug.as_str(), shop.samples.len()), ("chai-point", 1));
    let by_domain = get("/internal/v1/shop?domain=www.Chai-Point.example").await;
    assert_eq!(by_domain.body, told.body);
    for (path, status) in [
        ("/internal/v1/shop?slug=nobody", 404),
        ("/internal/v1/shop?slug=No%20Slug", 404),
        ("/internal/v1/shop?domain=10.0.0.1", 404),
        ("/internal/v1/shop", 422),
        ("/internal/v1/shop?slug=chai-point&domain=chai-point.example", 422),
    ] {
        assert_eq!(get(path).await.status, status, "{path}");
    }
    assert_eq!(
        Market::empty()
            .server
            .shop(&BrandKey::Domain("x".to_owned()))
            .await
            .unwrap_err()
            .to_string(),
        "no release is open yet"
    );
}
