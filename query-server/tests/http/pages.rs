//! Tests of the HTML documents of products and brands.

use std::sync::Arc;
use std::time::Duration;

use api::{Caller, Guard, Limit, Outcome, Prompt, Verdict};
use http::StatusCode;
use kit::SetClock;
use query_server::{QueryConfig, QueryServer};
use serde_json::Value;

use crate::catalogue::{brand, product, small};
use crate::support::{Catalogue, Market};

/// Extracts the JSON-LD from a document.
fn json_ld(html: &str) -> Value {
    let written = html.split_once("<script type=\"application/ld+json\">").unwrap().1;
    serde_json::from_str(written.split_once("</script>").unwrap().0).unwrap()
}

async fn html(market: &Market, path: &str) -> String {
    let answered = market.get(path).await;
    assert_eq!(answered.status, StatusCode::OK, "{path}");
    String::from_utf8(answered.body).unwrap()
}

async fn first_id(market: &Market, query: &str) -> String {
    let found = market.get(&format!("/v1/search?{query}&limit=1")).await.json();
    found["data"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_product_has_a_document_with_its_facts_as_json_ld() {
    let market = Market::of(&small()).await;
    let id = first_id(&market, "q=VR-250").await;
    let page = html(&market, &format!("/products/{id}")).await;
    let written = serde_json::to_string_pretty(&json_ld(&page)).unwrap();
    insta::assert_snapshot!(written, @r#"
        {
          "@context": "https://schema.org",
          "@id": "urn:uuid:3184d755-3f80-5149-ac36-3f630b93c84d",
          "@type": "Product",
          "aggregateRating": {
            "@type": "AggregateRating",
            "bestRating": 5,
            "ratingCount": 128,
            "ratingValue": 4.7
          },
          "brand": {
            "@type": "Brand",
            "name": "Blue Tokai"
          },
          "category": "Food, Beverages & Tobacco > Beverages > Coffee",
          "description": "A dark roast with notes of cocoa.\nBrew it \"strong\" & sweet.",
          "image": [
            "https://cdn.example/vienna.jpg"
          ],
          "name": "Vienna Roast Coffee",
          "offers": [
            {
              "@type": "Offer",
              "availability": "https://schema.org/InStock",
              "price": "499.00",
              "priceCurrency": "INR",
              "seller": {
                "@type": "Organization",
                "name": "Blue Tokai",
                "url": "https://blue-tokai.example"
              },
              "sku": "VR-250",
              "url": "https://blue-tokai.example/products/vienna-roast-coffee"
            },
            {
              "@type": "Offer",
              "availability": "https://schema.org/OutOfStock",
              "price": "1599.00",
              "priceCurrency": "INR",
              "seller": {
                "@type": "Organization",
                "name": "Blue Tokai",
                "url": "https://blue-tokai.example"
              },
              "url": "https://blue-tokai.example/products/vienna-roast-coffee"
            }
          ],
          "productID": "sha:4ad5da2baf81d11491511f8e7abbafcb4a73b4d3"
        }
        "#);
    // Both product ids lead to the document, whose canonical URL has one of them.
    let uid = market.get(&format!("/v1/products/{id}")).await.json()["data"]["product_uid"].clone();
    assert_eq!(
        html(&market, &format!("/products/{}", uid.as_str().unwrap())).await,
        page
    );
    assert!(
        page.contains(&format!("<link rel=\"canonical\" href=\"../products/{id}\">")),
        "{page}"
    );
    assert!(
        page.contains("<h1 id=\"product-title\" tabindex=\"-1\" dir=\"auto\">Vienna Roast Coffee</h1>"),
        "{page}"
    );
    assert!(page.contains("Brew it &quot;strong&quot; &amp; sweet."), "{page}");
}

#[tokio::test]
async fn documents_name_their_whole_address_where_the_server_knows_its_own() {
    let mut market = Market::of(&small()).await;
    let id = first_id(&market, "q=VR-250").await;
    let mut config = QueryConfig::new("INR".parse().unwrap());
    config.public_url = "https://market.example/".to_owned();
    let cache = market.dir.path().join("named");
    let server = QueryServer::new(market.store(), cache, SetClock::noon(), config);
    server.refresh().await.unwrap();
    market.router = server.router(None);
    for path in [format!("/products/{id}"), "/brands/blue-tokai".to_owned()] {
        let page = html(&market, &path).await;
        let canonical = format!("<link rel=\"canonical\" href=\"https://market.example{path}\">");
        assert!(page.contains(&canonical), "{page}");
    }
}

#[tokio::test]
async fn nothing_that_a_store_says_becomes_markup() {
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\" autofocus='";
    let mut facts = brand("Hostile", "INR");
    facts.brand.name = hostile.to_owned();
    facts.brand.description = Some(hostile.to_owned());
    facts.brand.logo = Some("javascript:alert(3)".to_owned());
    let mut one = product(&facts, 1, hostile);
    one.description = format!("{hostile}\n• {hostile}");
    one.variants[0].sku = Some(hostile.to_owned());
    let slug = facts.brand.slug.to_string();
    let catalogue: Catalogue = vec![(facts, vec![one])];
    let market = Market::of(&catalogue).await;
    let id = first_id(&market, "in_stock=true").await;
    let plain = html(&market, "/").await;
    for path in [format!("/products/{id}"), format!("/brands/{slug}")] {
        let page = html(&market, &path).await;
        assert!(
            !page.contains("<img src=x") && !page.contains("alert(1)</script>"),
            "{page}"
        );
        assert!(!page.contains("javascript:"), "{page}");
        let scripts = |html: &str| html.matches("<script").count();
        assert_eq!(scripts(&page), scripts(&plain) + 1, "{page}");
        assert_eq!(json_ld(&page)["name"], hostile);
    }
}

#[tokio::test]
async fn a_document_is_cached_by_its_tag_and_guarded_by_the_policy_of_the_page() {
    let market = Market::of(&small()).await;
    let id = first_id(&market, "q=VR-250").await;
    let policy = market.get("/").await.headers["content-security-policy"].clone();
    for path in [format!("/products/{id}"), "/brands/blue-tokai".to_owned()] {
        let answered = market.get(&path).await;
        assert_eq!(answered.headers["content-type"], "text/html; charset=utf-8");
        assert_eq!(answered.headers["content-security-policy"], policy);
        let tag = answered.headers["etag"].clone();
        let request = http::Request::get(&path).header("if-none-match", tag.clone());
        let again = market.send(request.body(axum::body::Body::empty()).unwrap()).await;
        assert_eq!(
            (again.status, again.body.len()),
            (StatusCode::NOT_MODIFIED, 0),
            "{path}"
        );
        assert_eq!(again.headers["etag"], tag);
    }
}

/// Rate limit that refuses every counted request.
#[derive(Debug)]
struct Nothing;

impl Limit for Nothing {
    fn admit(&self, _caller: &Caller) -> Prompt<Verdict> {
        let outcome = Outcome::TooFast(Duration::from_secs(1));
        Prompt::Now(Verdict {
            outcome,
            ..Verdict::UNLIMITED
        })
    }
}

#[tokio::test]
async fn documents_count_like_other_reads_and_the_parts_of_the_page_do_not() {
    let mut market = Market::of(&small()).await;
    let id = first_id(&market, "q=VR-250").await;
    let mut config = QueryConfig::new("INR".parse().unwrap());
    config.edge.guard = Arc::new(Guard {
        limit: Some(Arc::new(Nothing)),
        ..Guard::default()
    });
    let cache = market.dir.path().join("counted");
    let server = QueryServer::new(market.store(), cache, SetClock::noon(), config);
    server.refresh().await.unwrap();
    market.router = server.router(None);
    for (path, status) in [
        (format!("/products/{id}"), 429_u16),
        ("/products/nothing".to_owned(), 429),
        ("/brands/blue-tokai".to_owned(), 429),
        (format!("/v1/products/{id}"), 429),
        ("/".to_owned(), 200),
        ("/app.js".to_owned(), 200),
        ("/healthz".to_owned(), 200),
    ] {
        assert_eq!(market.get(&path).await.status, status, "{path}");
    }
}

#[tokio::test]
async fn what_there_is_not_has_a_document_that_says_so() {
    let market = Market::of(&small()).await;
    for path in [
        "/products/00000000-0000-4000-8000-000000000000",
        "/products/nothing",
        "/brands/nobody",
        "/brands/%FF",
    ] {
        let answered = market.get(path).await;
        assert_eq!(answered.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(answered.headers["cache-control"], "no-store");
        let page = String::from_utf8(answered.body).unwrap();
        assert!(page.contains("<h1>No such ") && page.contains("noindex"), "{page}");
    }
}

#[tokio::test]
async fn a_brand_has_the_page_with_its_list_and_says_what_it_is() {
    let market = Market::of(&small()).await;
    let page = html(&market, "/brands/blue-tokai").await;
    assert!(page.contains("<title>Blue Tokai · haat</title>"), "{page}");
    assert!(page.contains("content=\"Blue Tokai makes things.\""), "{page}");
    assert!(
        page.contains("src=\"../app.js\"") && page.contains("id=\"grid\""),
        "{page}"
    );
    assert_eq!(json_ld(&page)["@type"], "OnlineStore");
}

#[tokio::test]
async fn a_category_shows_the_picture_of_a_product_in_stock_that_is_filed_under_it() {
    let market = Market::of(&small()).await;
    let tree = market.get("/v1/categories").await.json();
    let mut nodes: Vec<&Value> = tree["data"].as_array().unwrap().iter().collect();
    let mut pictured = 0;
    while let Some(node) = nodes.pop() {
        nodes.extend(node["children"].as_array().unwrap());
        let path = format!(
            "/v1/browse?category={}&in_stock=true&limit=60",
            node["slug"].as_str().unwrap()
        );
        let walked = market.get(&path).await.json();
        let items = walked["data"]["items"].as_array().unwrap();
        let images: Vec<&Value> = items
            .iter()
            .map(|card| &card["image"])
            .filter(|image| !image.is_null())
            .collect();
        let image = &node["image"];
        assert_eq!(image.is_null(), images.is_empty(), "{node}");
        assert!(image.is_null() || images.contains(&image), "{node}");
        pictured += usize::from(!image.is_null());
    }
    assert!(pictured > 0, "{tree}");
}
