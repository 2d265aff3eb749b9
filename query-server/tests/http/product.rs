use query_server::schema::{ProductAnswer, ReviewsAnswer};

use crate::catalogue::small;
use crate::support::Market;

async fn vienna(market: &Market) -> (String, String) {
    let answered = market.get("/v1/search?q=VR-250&limit=1").await.json();
    let text = |name: &str| answered["data"][0][name].as_str().unwrap().to_owned();
    (text("id"), text("product_uid"))
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one whole answer")]
async fn a_product_is_answered_whole_by_either_identifier() {
    let market = Market::of(&small()).await;
    let (id, uid) = vienna(&market).await;
    let body = market.body(&format!("/v1/products/{id}")).await;
    assert_eq!(market.body(&format!("/v1/products/{uid}")).await, body);
    assert_eq!(market.body(&format!("/v1/products/{}", id.to_uppercase())).await, body);
    let _: ProductAnswer<'static> = market.get(&format!("/v1/products/{id}")).await.read();
    insta::assert_snapshot!(body, @r#"
{
  "data": {
    "id": "3184d755-3f80-5149-ac36-3f630b93c84d",
    "product_uid": "sha:4ad5da2baf81d11491511f8e7abbafcb4a73b4d3",
    "title": "Vienna Roast Coffee",
    "brand": "Blue Tokai",
    "brand_slug": "blue-tokai",
    "price_min_minor": 49900,
    "compare_at_minor": 59900,
    "discount_pct": 17,
    "currency": "INR",
    "in_stock": true,
    "variants_complete": true,
    "kind": "goods",
    "rating": 4.7,
    "image": "https://cdn.example/vienna.jpg",
    "price_max_minor": 159900,
    "rating_count": 128,
    "rating_source": "page",
    "delivers_to_india": null,
    "media": [
      {
        "url": "https://cdn.example/vienna.jpg",
        "kind": "image",
        "alt": "A bag",
        "width": 800,
        "height": 600
      },
      {
        "url": "https://cdn.example/vienna.mp4",
        "kind": "video",
        "alt": null,
        "width": null,
        "height": null
      }
    ],
    "variants": [
      {
        "id": "11",
        "sku": "VR-250",
        "title": "250 g",
        "options": {
          "Weight": "250 g"
        },
        "image": null
      },
      {
        "id": "12",
        "sku": null,
        "title": "1 kg",
        "options": {
          "Weight": "1 kg"
        },
        "image": null
      }
    ],
    "offers": [
      {
        "variant_id": "11",
        "amount_minor": 49900,
        "compare_at_minor": 59900,
        "currency": "INR",
        "available": true
      },
      {
        "variant_id": "12",
        "amount_minor": 159900,
        "compare_at_minor": null,
        "currency": "INR",
        "available": false
      }
    ],
    "attributes": {
      "description": "A dark roast with notes of cocoa.\nBrew it \"strong\" & sweet.",
      "vendor": "Blue Tokai",
      "product_type": "Coffee",
      "tags": [
        "dark",
        "best <seller>"
      ],
      "category": {
        "id": 1868,
        "slug": "coffee",
        "name": "Coffee",
        "path": "Food, Beverages & Tobacco > Beverages > Coffee"
      },
      "url": "https://blue-tokai.example/products/vienna-roast-coffee",
      "options": {
        "Weight": [
          "250 g",
          "1 kg"
        ]
      },
      "attributes": {
        "roast": [
          "Dark"
        ]
      },
      "created_at": "2025-01-02T03:04:05Z",
      "published_at": "2025-01-03T00:00:00Z",
      "updated_at": "2026-11-19T00:00:00Z"
    },
    "reviews": [
      {
        "rating": 5.0,
        "author": "Reader 0",
        "title": null,
        "body": "Review 0",
        "created_at": "2026-11-01T00:00:00Z",
        "source": "page"
      },
      {
        "rating": 4.0,
        "author": null,
        "title": null,
        "body": "Review 1",
        "created_at": null,
        "source": "page"
      },
      {
        "rating": 3.0,
        "author": "Reader 2",
        "title": null,
        "body": "Review 2",
        "created_at": null,
        "source": "page"
      }
    ],
    "discounts": []
  },
  "provenance": {
    "release": "[release]",
    "refreshed_at": "2026-11-20T06:30:00Z"
  },
  "tier": "graph"
}
"#);
}

#[tokio::test]
async fn parts_that_are_not_included_are_absent() {
    let market = Market::of(&small()).await;
    let (id, _) = vienna(&market).await;
    let members = async |include: &str| {
        let answered = market.get(&format!("/v1/products/{id}?include={include}")).await;
        let product = answered.json()["data"].clone();
        let present = ["attributes", "discounts", "media", "offers", "reviews", "variants"].into_iter();
        present.filter(|part| product.get(part).is_some()).collect::<Vec<_>>()
    };
    assert_eq!(members("offers").await, ["offers"]);
    assert_eq!(members("variants,%20media,,variants").await, ["media", "variants"]);
    assert_eq!(
        members("variants,media,offers,attributes,reviews,discounts")
            .await
            .len(),
        6
    );
    // An empty parameter counts as absent.
    assert_eq!(members("").await.len(), 6);
    // Repeated parameters are combined into one list.
    assert_eq!(members("variants&include=media").await, ["media", "variants"]);
    assert_eq!(members("&include=offers,media&include=").await, ["media", "offers"]);
    let refused = market
        .get(&format!("/v1/products/{id}?include=price&include=media"))
        .await;
    assert_eq!(refused.status, 422);
}

#[tokio::test]
async fn a_product_about_which_little_is_known_has_nulls_not_guesses() {
    let market = Market::of(&small()).await;
    let id = market.get("/v1/search?q=kettle&limit=1").await.json()["data"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    insta::assert_snapshot!(market.body(&format!("/v1/products/{id}?include=variants,offers,attributes,reviews")).await, @r#"
{
  "data": {
    "id": "24fe6006-0b0c-59bd-b1da-efd65b8f709d",
    "product_uid": "sha:86f7876380a55462de86402a05746cf89b0953c6",
    "title": "Drip Coffee Kettle",
    "brand": "Kissaten",
    "brand_slug": "kissaten",
    "price_min_minor": 4400,
    "compare_at_minor": null,
    "discount_pct": null,
    "currency": "JPY",
    "in_stock": true,
    "variants_complete": true,
    "kind": "goods",
    "rating": null,
    "image": null,
    "price_max_minor": 4400,
    "rating_count": 0,
    "rating_source": null,
    "delivers_to_india": null,
    "variants": [
      {
        "id": "80",
        "sku": null,
        "title": "",
        "options": {},
        "image": null
      }
    ],
    "offers": [
      {
        "variant_id": "80",
        "amount_minor": 4400,
        "compare_at_minor": null,
        "currency": "JPY",
        "available": true
      }
    ],
    "attributes": {
      "description": "",
      "vendor": null,
      "product_type": null,
      "tags": [],
      "category": null,
      "url": "https://kissaten.example/products/drip-coffee-kettle",
      "options": {},
      "attributes": {},
      "created_at": null,
      "published_at": null,
      "updated_at": null
    },
    "reviews": []
  },
  "provenance": {
    "release": "[release]",
    "refreshed_at": "2026-11-20T06:30:00Z"
  },
  "tier": "graph"
}
"#);
}

#[tokio::test]
async fn an_unknown_product_is_404() {
    let market = Market::of(&small()).await;
    for path in ["", "/reviews"] {
        let answered = market
            .get(&format!("/v1/products/3f2504e0-4f89-51d3-9a0c-0305e82c3301{path}"))
            .await;
        assert_eq!(
            (answered.status.as_u16(), &answered.json()["code"]),
            (404, &"product_not_found".into())
        );
        assert!(!answered.headers.contains_key("etag"));
    }
}

#[tokio::test]
async fn reviews_come_in_pages_newest_first() {
    let market = Market::of(&small()).await;
    let (id, _) = vienna(&market).await;
    let page = async |query: &str| {
        market
            .get(&format!("/v1/products/{id}/reviews?{query}"))
            .await
            .read::<ReviewsAnswer<'static>>()
    };
    let bodies =
        |answer: &ReviewsAnswer<'static>| answer.data.iter().map(|review| review.body.clone()).collect::<Vec<_>>();
    let first = page("limit=2").await;
    assert_eq!(bodies(&first), ["Review 0", "Review 1"]);
    let cursor = first.provenance.page.next_cursor.unwrap();
    let second = page(&format!("limit=2&offset=99&cursor={cursor}")).await;
    assert_eq!(
        (bodies(&second), second.provenance.page.next_cursor),
        (vec!["Review 2".into()], None)
    );
    assert_eq!(bodies(&page("offset=1").await), ["Review 1", "Review 2"]);
    assert!(page("offset=99999999999999999999").await.data.is_empty());
    let answered = market.get(&format!("/v1/brands?cursor={cursor}")).await;
    assert_eq!(answered.status, 422, "a cursor of another list is refused");
}
