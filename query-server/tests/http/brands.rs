use data_model::{CategoryId, Product};
use query_server::schema::{BrandAnswer, BrandsAnswer, BrowseAnswer};

use crate::catalogue::{brand, product, small};
use crate::support::Market;

async fn slugs(market: &Market, query: &str) -> Vec<String> {
    let answer: BrandsAnswer<'static> = market.get(&format!("/v1/brands?{query}")).await.read();
    answer.data.into_iter().map(|brand| brand.slug.into_owned()).collect()
}

#[tokio::test]
async fn brands_are_listed_with_what_their_products_add_up_to() {
    let market = Market::of(&small()).await;
    insta::assert_snapshot!(market.body("/v1/brands?limit=1&q=blue").await, @r#"
{
  "data": [
    {
      "slug": "blue-tokai",
      "name": "Blue Tokai",
      "domain": "blue-tokai.example",
      "logo": null,
      "currency": "INR",
      "country": "IN",
      "product_count": 4,
      "in_stock_count": 3,
      "on_sale_count": 1,
      "categories": [
        {
          "id": 1868,
          "slug": "coffee",
          "name": "Coffee",
          "product_count": 4
        }
      ],
      "price_min_minor": 49900,
      "price_max_minor": 159900,
      "rating": 4.7,
      "rating_count": 128,
      "refreshed_at": "2026-11-20T06:30:00Z",
      "checked_at": null,
      "check_outcome": null,
      "catalogue_complete": null
    }
  ],
  "provenance": {
    "release": "[release]",
    "page": {
      "next_cursor": null
    }
  },
  "tier": "graph"
}
"#);
}

#[tokio::test]
async fn categories_of_a_brand_count_what_a_grid_of_them_has() {
    let brand = brand("Teahouse", "INR");
    // Files products under coffee and under its parent category.
    let filed = |id: u64, category: u32| Product {
        category: Some(CategoryId(category)),
        ..product(&brand, id, &format!("Tin {id}"))
    };
    let products = vec![filed(1, 1868), filed(2, 1868), filed(3, 413), filed(4, 422)];
    let market = Market::of(&vec![(brand.clone(), products)]).await;
    let answer: BrandAnswer<'static> = market.get("/v1/brands/teahouse").await.read();
    let mut told = Vec::new();
    for category in &answer.data.categories {
        let grid = format!("/v1/browse?brand=teahouse&category={}", category.slug);
        let grid: BrowseAnswer<'static> = market.get(&grid).await.read();
        assert_eq!(
            grid.data.items.len() as u64,
            category.product_count,
            "{}",
            category.slug
        );
        told.push((category.id, category.product_count));
    }
    assert_eq!(told, [(413, 3), (1868, 2), (422, 1)]);
}

#[tokio::test]
async fn brands_are_found_by_name_slug_domain_and_category() {
    let market = Market::of(&small()).await;
    assert_eq!(slugs(&market, "").await, ["blue-tokai", "loom-thread", "kissaten"]);
    assert_eq!(slugs(&market, "q=LOOM").await, ["loom-thread"]);
    // Accents and word breaks do not matter.
    assert_eq!(slugs(&market, "q=l%C3%B6om%20thread").await, ["loom-thread"]);
    assert!(slugs(&market, "q=loom%20thread%20co").await.is_empty());
    // Every word must match, in any order, and surrounding white space is ignored.
    assert_eq!(slugs(&market, "q=%20thread++LOOM%09").await, ["loom-thread"]);
    assert_eq!(slugs(&market, "q=tokai%20example").await, ["blue-tokai"]);
    assert!(slugs(&market, "q=loom%20tokai").await.is_empty());
    assert_eq!(slugs(&market, "q=%20%E2%80%83").await.len(), 3);
    assert_eq!(slugs(&market, "q=kissaten.example").await, ["kissaten"]);
    assert_eq!(slugs(&market, "category=apparel-accessories").await, ["loom-thread"]);
    assert_eq!(slugs(&market, "category=1868").await, ["blue-tokai"]);
    // The taxonomy has this category, but the catalogue has no such products.
    assert!(slugs(&market, "category=furniture").await.is_empty());
}

#[tokio::test]
async fn brands_of_an_unknown_category_are_not_found() {
    let market = Market::of(&small()).await;
    for query in ["category=no-such", "category=999999999999", "q=loom&category=no-such"] {
        let answered = market.get(&format!("/v1/brands?{query}")).await;
        assert_eq!(
            (answered.status.as_u16(), &answered.json()["code"]),
            (404, &"category_not_found".into()),
            "{query}"
        );
    }
}

#[tokio::test]
async fn a_cursor_walks_the_list_of_its_own_query_and_release_only() {
    let market = Market::of(&small()).await;
    let mut path = "limit=2".to_owned();
    let mut seen = Vec::new();
    loop {
        let page: BrandsAnswer<'static> = market.get(&format!("/v1/brands?{path}")).await.read();
        seen.extend(page.data.into_iter().map(|brand| brand.slug));
        let Some(cursor) = page.provenance.page.next_cursor else {
            break;
        };
        assert_eq!(
            market.get(&format!("/v1/brands?q=other&cursor={cursor}")).await.status,
            422
        );
        path = format!("limit=2&cursor={cursor}");
    }
    assert_eq!(seen, ["blue-tokai", "loom-thread", "kissaten"]);
    let facts = brand("New Brand", "INR");
    let mut more = small();
    more.insert(2, (facts.clone(), vec![product(&facts, 99, "New Thing")]));
    more.sort_by(|one, other| one.0.brand.store.cmp(&other.0.brand.store));
    market.publish(&more).await;
    market.server.refresh().await.unwrap();
    let expired = market.get(&format!("/v1/brands?{path}")).await;
    assert_eq!(
        (
            expired.status.as_u16(),
            &expired.json()["code"],
            &expired.json()["detail"][0]["loc"]
        ),
        (422, &"cursor_expired".into(), &serde_json::json!(["query", "cursor"]))
    );
    let answered = market.get("/v1/brands?cursor=made-up").await;
    assert_eq!(answered.json()["code"], "validation");
}

#[tokio::test]
async fn slugs_and_uids_are_taken_in_letters_of_either_case() {
    let market = Market::of(&small()).await;
    let card = market.get("/v1/search?q=vienna&limit=1").await.json()["data"][0].clone();
    let uid = card["product_uid"].as_str().unwrap();
    let answers = async |path: &str| {
        let answered = market.get(path).await;
        assert_eq!(answered.status, 200, "{path}");
        answered.json()["data"].clone()
    };
    for (path, spelled) in [
        ("/v1/brands/blue-tokai".to_owned(), "/v1/brands/BLUE-Tokai".to_owned()),
        (
            "/v1/search?brand=blue-tokai".to_owned(),
            "/v1/search?brand=Blue-TOKAI".to_owned(),
        ),
        (
            "/v1/browse?category=coffee".to_owned(),
            "/v1/browse?category=COFFEE".to_owned(),
        ),
        (
            "/v1/brands/blue-tokai/products".to_owned(),
            "/v1/brands/Blue-Tokai/products".to_owned(),
        ),
        (
            format!("/v1/products/{uid}"),
            format!("/v1/products/{}", uid.to_uppercase()),
        ),
        (
            format!("/v1/recommend?product_id={uid}"),
            format!("/v1/recommend?product_id={}", uid.to_uppercase()),
        ),
    ] {
        let told = answers(&path).await;
        assert_ne!(told, serde_json::json!([]), "{path}");
        assert_eq!(answers(&spelled).await, told, "{spelled}");
    }
    let wrong = market.get("/v1/products/SHA:12").await.json();
    assert_eq!(wrong["detail"][0]["type"], "string_pattern_mismatch");
}

#[tokio::test]
async fn one_brand_adds_description_and_shipping() {
    let market = Market::of(&small()).await;
    let answer: BrandAnswer<'static> = market.get("/v1/brands/loom-thread").await.read();
    assert_eq!(answer.data.description.as_deref(), Some("Loom & Thread makes things."));
    assert_eq!((answer.data.shipping, answer.data.in_stock_count), (None, 3));
    for unknown in ["no-such-brand", "NO%20SLUG", "%E0%A4%97"] {
        let answered = market.get(&format!("/v1/brands/{unknown}")).await;
        assert_eq!(
            (answered.status.as_u16(), &answered.json()["code"]),
            (404, &"brand_not_found".into()),
            "{unknown}"
        );
    }
}
