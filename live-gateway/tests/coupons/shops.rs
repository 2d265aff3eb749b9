use std::time::Duration;

use axum::Router;
use axum::extract::RawQuery;
use axum::response::IntoResponse;
use axum::routing::get;
use http::StatusCode;
use live_gateway::CatalogueError;
use live_gateway::coupons::{HttpShops, ShopKey, Shops};

use crate::support::{Options, Street};

/// Starts an internal listener of a query server that knows one shop and returns wrong responses for some names.
async fn listener(shop: String) -> HttpShops {
    let answer = move |RawQuery(query): RawQuery| {
        let shop = shop.clone();
        async move {
            match query.unwrap_or_default().as_str() {
                "slug=tea-house" | "domain=tea%26co.example%2F%3Fx" => (StatusCode::OK, shop).into_response(),
                "slug=starting" => StatusCode::SERVICE_UNAVAILABLE.into_response(),
                "slug=broken" => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
                "slug=garbled" => (StatusCode::OK, "{").into_response(),
                "slug=huge" => (StatusCode::OK, " ".repeat(33 << 20)).into_response(),
                _ => StatusCode::NOT_FOUND.into_response(),
            }
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().route("/internal/v1/shop", get(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });
    HttpShops::new(&base.parse().unwrap(), Duration::from_secs(5)).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_apart_asks_the_internal_listener_and_believes_only_what_it_understands() {
    let street = Street::open(1, Options::default()).await;
    let known = street.shop(0).clone();
    let shops = listener(serde_json::to_string(&known).unwrap()).await;
    let slug = |slug: &str| ShopKey::Slug(slug.parse().unwrap());
    assert_eq!(shops.shop(&slug("tea-house")).await.unwrap(), Some(known.clone()));
    let odd = ShopKey::Domain("tea&co.example/?x".to_owned());
    assert_eq!(shops.shop(&odd).await.unwrap(), Some(known));
    assert_eq!(shops.shop(&slug("nobody")).await.unwrap(), None);
    let failed = async |name: &str| shops.shop(&slug(name)).await.unwrap_err();
    assert!(matches!(failed("starting").await, CatalogueError::NotReady));
    for name in ["broken", "garbled", "huge"] {
        assert!(matches!(failed(name).await, CatalogueError::Answer(_)), "{name}");
    }
    let nowhere = HttpShops::new(&"http://127.0.0.1:9".parse().unwrap(), Duration::from_secs(5)).unwrap();
    let gone = nowhere.shop(&slug("tea-house")).await.unwrap_err();
    assert!(matches!(gone, CatalogueError::Unreachable(_)), "{gone}");
}
