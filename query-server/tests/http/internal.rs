use api::OpenRouter;
use axum::Router;
use axum::body::Body;
use axum::routing::get;
use data_model::{ProductIdent, ResolvedProducts, StoredBrand};
use http::Request;
use query_server::QueryServer;
use query_server::operations::{BrandKey, OperationError};
use serde_json::json;

use crate::catalogue::{brand, product, small};
use crate::support::{Catalogue, Market, TestAnswer, send};

/// Returns the small catalogue, in which Blue Tokai shows the prices for India.
fn asked_for_india() -> Catalogue {
    let mut catalogue = small();
    for (facts, _) in &mut catalogue {
        if facts.brand.name == "Blue Tokai" {
            facts.brand.crawl_country = Some("IN".to_owned());
            facts.brand.domain = "www.bluetokai.example".to_owned();
        }
    }
    catalogue
}

/// Returns idents of the products with these platform ids, alternating between the two forms. The id 0 gives an unknown
/// ident.
fn idents(catalogue: &Catalogue, platform_ids: &[u64]) -> Vec<ProductIdent> {
    let products = || catalogue.iter().flat_map(|(_, products)| products);
    let ident = |(at, wanted): (usize, &u64)| {
        let known = products().find(|product| product.key.platform_id == *wanted);
        match known {
            Some(product) if at.is_multiple_of(2) => ProductIdent::Id(product.key.id()),
            Some(product) => ProductIdent::Uid(product.key.uid()),
            None => "00000000-0000-5000-8000-000000000000".parse().unwrap(),
        }
    };
    platform_ids.iter().enumerate().map(ident).collect()
}

#[tokio::test]
async fn idents_are_resolved_in_order_with_their_brands_once_each() {
    let catalogue = asked_for_india();
    let market = Market::of(&catalogue).await;
    let resolved = market.server.resolve(&idents(&catalogue, &[8, 1, 0, 8, 2])).unwrap();
    assert_eq!(Some(resolved.release), market.server.release());
    let brands: Vec<_> = resolved.brands.iter().map(|brand| brand.slug.as_str()).collect();
    assert_eq!(brands, ["kissaten", "blue-tokai"]);
    let products: Vec<_> = resolved
        .products
        .iter()
        .map(|product| product.as_ref().map(|product| (product.platform_id, product.brand)))
        .collect();
    assert_eq!(products, [Some((8, 0)), Some((1, 1)), None, Some((8, 0)), Some((2, 1))]);
    for product in resolved.products.iter().flatten() {
        assert_eq!(product.key(&resolved.brands[product.brand]).id(), product.id);
    }
    insta::assert_json_snapshot!((&resolved.brands[1], &resolved.products[1]), @r#"
[
  {
    "store": "blue-tokai.myshopify.example",
    "slug": "blue-tokai",
    "name": "Blue Tokai",
    "domain": "www.bluetokai.example",
    "base_url": "https://blue-tokai.example",
    "currency": "INR",
    "crawl_country": "IN",
    "refreshed_at": "2026-11-20T06:30:00Z"
  },
  {
    "id": "3184d755-3f80-5149-ac36-3f630b93c84d",
    "product_uid": "sha:4ad5da2baf81d11491511f8e7abbafcb4a73b4d3",
    "platform_id": 1,
    "brand": 1,
    "handle": "vienna-roast-coffee",
    "title": "Vienna Roast Coffee",
    "description": "A dark roast with notes of cocoa.\nBrew it \"strong\" & sweet.",
    "currency": "INR",
    "variants_complete": true,
    "variants": [
      {
        "id": 11,
        "title": "250 g",
        "sku": "VR-250",
        "price_minor": 49900,
        "compare_at_minor": 59900,
        "available": true
      },
      {
        "id": 12,
        "title": "1 kg",
        "sku": null,
        "price_minor": 159900,
        "compare_at_minor": null,
        "available": false
      }
    ]
  }
]
"#);
}

#[tokio::test]
async fn twenty_idents_are_resolved_at_once_and_no_more() {
    let catalogue = small();
    let market = Market::of(&catalogue).await;
    let most = market.server.resolve(&idents(&catalogue, &[1; 20])).unwrap();
    assert_eq!((most.products.len(), most.brands.len()), (20, 1));
    assert_eq!(
        market.server.resolve(&idents(&catalogue, &[1; 21])),
        Err(OperationError::TooManyIdents { max: 20, asked: 21 })
    );
    let none = market.server.resolve(&[]).unwrap();
    assert!(none.products.is_empty() && none.brands.is_empty());
}

#[tokio::test]
async fn a_brand_is_found_by_its_slug_and_by_every_spelling_of_its_hosts() {
    let market = Market::of(&asked_for_india()).await;
    let slug = |key: &BrandKey| {
        let stored = market.server.stored_brand(key).unwrap();
        stored.map(|stored| stored.slug.to_string())
    };
    let domain = |domain: &str| slug(&BrandKey::Domain(domain.to_owned()));
    let tokai = Some("blue-tokai".to_owned());
    assert_eq!(slug(&BrandKey::Slug("blue-tokai".parse().unwrap())), tokai);
    assert_eq!(
        slug(&BrandKey::Store("blue-tokai.myshopify.example".parse().unwrap())),
        tokai
    );
    for host in [
        "www.bluetokai.example",
        "bluetokai.example",
        "WWW.BlueTokai.Example.",
        "Blue-Tokai.MyShopify.example",
        "www.blue-tokai.myshopify.example",
    ] {
        assert_eq!(domain(host), tokai, "{host}");
    }
    assert_eq!(domain("loom-thread.example"), Some("loom-thread".to_owned()));
    for host in [
        "",
        "www.",
        "example",
        "shop.bluetokai.example",
        "bluetokai.example:8443",
        "blue tokai",
    ] {
        assert_eq!(domain(host), None, "{host}");
    }
    assert_eq!(slug(&BrandKey::Slug("no-such".parse().unwrap())), None);
    assert_eq!(slug(&BrandKey::Store("bluetokai.example".parse().unwrap())), None);
}

#[tokio::test]
async fn a_domain_that_two_brands_tell_is_that_of_the_larger() {
    let (mut small, large) = (brand("Tea Outlet", "INR"), brand("Tea", "INR"));
    small.brand.domain = large.brand.domain.clone();
    let teas = (2..5).map(|id| product(&large, id, "Green Tea")).collect();
    let market = Market::of(&vec![
        (small.clone(), vec![product(&small, 1, "Old Tea")]),
        (large, teas),
    ])
    .await;
    let stored = |domain: &str| {
        market
            .server
            .stored_brand(&BrandKey::Domain(domain.to_owned()))
            .unwrap()
            .unwrap()
    };
    assert_eq!(stored("tea.example").name, "Tea");
    assert_eq!(stored("tea-outlet.myshopify.example").name, "Tea Outlet");
}

async fn ask(market: &Market, method: &str, path: &str, body: &str) -> TestAnswer {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json")
        .header("x-request-id", "test")
        .body(Body::from(body.to_owned()))
        .unwrap();
    send(market.server.internal_router(), request).await
}

#[tokio::test]
async fn the_internal_listener_answers_what_the_operations_answer() {
    let catalogue = asked_for_india();
    let market = Market::of(&catalogue).await;
    let idents = idents(&catalogue, &[8, 1, 0]);
    let texts: Vec<String> = idents.iter().map(ToString::to_string).collect();
    let body = json!({ "idents": texts, "more": 1 }).to_string();
    let answered = ask(&market, "POST", "/internal/v1/resolve", &body).await;
    assert_eq!(answered.headers["cache-control"], "no-store");
    assert_eq!(
        answered.read::<ResolvedProducts>(),
        market.server.resolve(&idents).unwrap()
    );
    for query in ["slug=blue-tokai", "domain=BLUETOKAI.example"] {
        let answered = ask(&market, "GET", &format!("/internal/v1/brand?{query}"), "").await;
        let brand: StoredBrand = answered.read();
        assert_eq!(
            (brand.slug.as_str(), brand.crawl_country.as_deref()),
            ("blue-tokai", Some("IN"))
        );
    }
    for query in ["slug=no-such", "slug=NO%20SLUG", "domain=no.example"] {
        let answered = ask(&market, "GET", &format!("/internal/v1/brand?{query}"), "").await;
        assert_eq!(
            (answered.status.as_u16(), &answered.json()["code"]),
            (404, &"brand_not_found".into()),
            "{query}"
        );
    }
}

#[tokio::test]
async fn the_internal_listener_tells_every_fault_as_the_public_one_does() {
    let market = Market::of(&small()).await;
    let faults = |answered: &TestAnswer| -> Vec<(String, String)> {
        let told = answered.json();
        let faults = told["detail"].as_array().unwrap().iter();
        let text = |fault: &serde_json::Value| (fault["type"].as_str().unwrap().to_owned(), fault["loc"].to_string());
        faults.map(text).collect()
    };
    let many = json!({ "idents": vec!["zz"; 21] }).to_string();
    for (body, expected) in [
        ("", vec![("missing", r#"["body"]"#)]),
        ("[]", vec![("dict_type", r#"["body"]"#)]),
        ("{}", vec![("missing", r#"["body","idents"]"#)]),
        (&many, vec![("too_long", r#"["body","idents"]"#)]),
        (
            r#"{"idents": [1, "sha:12"]}"#,
            vec![
                ("string_type", r#"["body","idents",0]"#),
                ("string_pattern_mismatch", r#"["body","idents",1]"#),
            ],
        ),
    ] {
        let answered = ask(&market, "POST", "/internal/v1/resolve", body).await;
        let told = faults(&answered);
        let told: Vec<_> = told.iter().map(|(kind, loc)| (kind.as_str(), loc.as_str())).collect();
        assert_eq!((answered.status.as_u16(), told), (422, expected), "{body}");
    }
    for (query, expected) in [
        ("", vec![("missing", r#"["query","slug"]"#)]),
        ("?slug=a&domain=b", vec![("value_error", r#"["query","domain"]"#)]),
    ] {
        let answered = ask(&market, "GET", &format!("/internal/v1/brand{query}"), "").await;
        let told = faults(&answered);
        let told: Vec<_> = told.iter().map(|(kind, loc)| (kind.as_str(), loc.as_str())).collect();
        assert_eq!(told, expected, "{query}");
    }
    assert_eq!(ask(&market, "GET", "/internal/v1/resolve", "").await.status, 405);
    // The operations that a gateway calls for agents are available here. Only the public listener has the page and the
    // OpenAPI description.
    let stats = ask(&market, "GET", "/v1/stats", "").await.body;
    assert_eq!(stats, market.get("/v1/stats").await.body);
    for public in ["/", "/openapi.json"] {
        assert_eq!(ask(&market, "GET", public, "").await.status, 404, "{public}");
    }
    assert_eq!(ask(&market, "GET", "/readyz", "").await.status, 200);
    let nothing = ask(&Market::empty(), "POST", "/internal/v1/resolve", r#"{"idents": []}"#).await;
    assert_eq!(
        (nothing.status.as_u16(), &nothing.headers["retry-after"]),
        (503, &"1".parse().unwrap())
    );
}

#[tokio::test]
async fn the_public_neither_reaches_nor_reads_of_what_is_internal() {
    let market = Market::of(&small()).await;
    for path in ["/internal/v1/resolve", "/internal/v1/brand?slug=blue-tokai"] {
        assert_eq!(market.get(path).await.status, 404, "{path}");
    }
    let document = QueryServer::openapi().to_json().unwrap();
    assert!(!document.contains("internal/v1"));
}

#[tokio::test]
async fn another_servers_routes_fit_behind_the_same_edge() {
    let market = Market::of(&small()).await;
    let extra = OpenRouter::new(Router::new().route("/v1/extra", get(async || "more")), ["/v1/extra"]);
    let router = market
        .server
        .open_router(None)
        .merge(extra)
        .edge(api::EdgeConfig::default());
    let ask = async |path: &str| send(router.clone(), Request::get(path).body(Body::empty()).unwrap()).await;
    assert_eq!(ask("/v1/extra").await.body, b"more");
    assert_eq!(ask("/v1/stats").await.body, market.get("/v1/stats").await.body);
    assert_eq!(ask("/openapi.json").await.body, market.get("/openapi.json").await.body);
}
