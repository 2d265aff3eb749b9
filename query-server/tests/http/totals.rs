use query_server::schema::{CategoriesAnswer, StatsAnswer};

use crate::catalogue::small;
use crate::support::Market;

#[tokio::test]
async fn stats_are_the_releases_totals() {
    let market = Market::of(&small()).await;
    let _: StatsAnswer<'static> = market.get("/v1/stats").await.read();
    insta::assert_snapshot!(market.body("/v1/stats").await, @r#"
{
  "data": {
    "brands": 3,
    "products": 9,
    "variants": 10,
    "in_stock": 8,
    "on_sale": 2,
    "reviews": 3,
    "categories": 2,
    "currencies": [
      {
        "currency": "INR",
        "products": 7
      },
      {
        "currency": "JPY",
        "products": 2
      }
    ],
    "pincodes_covered": 0,
    "shipping_known": {
      "threshold": 0,
      "cod": 0,
      "days": 0,
      "matrix": 0
    },
    "release": {
      "id": "[release]",
      "published_at": "2026-11-21T12:00:00Z"
    },
    "refreshed_at": {
      "oldest": "2026-11-20T06:30:00Z",
      "newest": "2026-11-20T06:30:00Z"
    },
    "checked_at": {
      "oldest": null,
      "newest": null
    },
    "check_outcomes": {
      "changed": 0,
      "unchanged": 0,
      "held_back": 0,
      "failed": 0,
      "never_checked": 3
    }
  },
  "provenance": {
    "release": "[release]"
  },
  "tier": "graph"
}
"#);
}

#[tokio::test]
async fn the_category_tree_is_pruned_and_counts_descendants() {
    let market = Market::of(&small()).await;
    let _: CategoriesAnswer<'static> = market.get("/v1/categories").await.read();
    insta::assert_snapshot!(market.body("/v1/categories").await, @r#"
{
  "data": [
    {
      "id": 166,
      "slug": "apparel-accessories",
      "name": "Apparel & Accessories",
      "path": "Apparel & Accessories",
      "product_count": 3,
      "image": null,
      "children": [
        {
          "id": 1604,
          "slug": "clothing",
          "name": "Clothing",
          "path": "Apparel & Accessories > Clothing",
          "product_count": 3,
          "image": null,
          "children": [
            {
              "id": 212,
              "slug": "shirts-tops",
              "name": "Shirts & Tops",
              "path": "Apparel & Accessories > Clothing > Shirts & Tops",
              "product_count": 3,
              "image": null,
              "children": []
            }
          ]
        }
      ]
    },
    {
      "id": 412,
      "slug": "food-beverages-tobacco",
      "name": "Food, Beverages & Tobacco",
      "path": "Food, Beverages & Tobacco",
      "product_count": 4,
      "image": "https://cdn.example/vienna.jpg",
      "children": [
        {
          "id": 413,
          "slug": "beverages",
          "name": "Beverages",
          "path": "Food, Beverages & Tobacco > Beverages",
          "product_count": 4,
          "image": "https://cdn.example/vienna.jpg",
          "children": [
            {
              "id": 1868,
              "slug": "coffee",
              "name": "Coffee",
              "path": "Food, Beverages & Tobacco > Beverages > Coffee",
              "product_count": 4,
              "image": "https://cdn.example/vienna.jpg",
              "children": []
            }
          ]
        }
      ]
    }
  ],
  "provenance": {
    "release": "[release]"
  },
  "tier": "graph"
}
"#);
}

#[tokio::test]
async fn stats_count_the_categories_that_a_client_finds_products_filed_under() {
    fn filed(nodes: &[query_server::schema::Category<'static>]) -> u64 {
        nodes
            .iter()
            .map(|node| {
                let below: u64 = node.children.iter().map(|child| child.product_count).sum();
                u64::from(node.product_count > below) + filed(&node.children)
            })
            .sum()
    }
    let mut catalogue = small();
    // One product is filed directly under `Clothing`, which is also the parent of `Shirts & Tops`.
    catalogue[2].1[2].category = Some(data_model::CategoryId(1604));
    let market = Market::of(&catalogue).await;
    let stats: StatsAnswer<'static> = market.get("/v1/stats").await.read();
    let tree: CategoriesAnswer<'static> = market.get("/v1/categories").await.read();
    assert_eq!((stats.data.categories, filed(&tree.data)), (3, 3));
}
