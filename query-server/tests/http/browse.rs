use std::collections::BTreeSet;

use query_server::schema::{BrowseAnswer, BrowsePage, Facet, ProductCard};
use serde_json::{Value, json};

use crate::browse_faults::fault;
use crate::catalogue::{brand, product, small};
use crate::support::Market;
use crate::wide::wide;

pub(crate) async fn page(market: &Market, path: &str) -> BrowsePage<'static> {
    let answer: BrowseAnswer<'static> = market.get(path).await.read();
    answer.data
}

/// Reads all pages of a list, with different page lengths.
pub(crate) async fn pages(market: &Market, path: &str) -> Vec<ProductCard<'static>> {
    let (mut items, mut cursor) = (Vec::new(), String::new());
    for limit in [60, 1, 7, 59, 24].iter().cycle() {
        let page = page(market, &format!("{path}&limit={limit}{cursor}")).await;
        assert!(page.items.len() <= *limit, "{path}");
        items.extend(page.items);
        let is_cut = page.next_cursor.is_none() && items.len() == 1_000;
        assert_eq!(page.capped, is_cut.then_some(true), "{path}");
        let Some(next) = page.next_cursor else { break };
        cursor = format!("&cursor={next}");
    }
    items
}

fn counts<'a>(page: &'a BrowsePage<'static>, facet: &str) -> Vec<(&'a str, u32)> {
    let facet: Option<&Facet<'static>> = page.facets.iter().find(|one| one.name == facet);
    let values = facet.map_or(&[][..], |facet| &facet.values);
    values.iter().map(|value| (value.value.as_ref(), value.count)).collect()
}

pub(crate) fn facets(object: &Value) -> String {
    percent_encoded(&object.to_string())
}

fn percent_encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one whole answer")]
async fn a_category_is_answered_with_items_facets_and_prices() {
    let market = Market::of(&small()).await;
    let path = "/v1/browse?category=coffee&limit=1";
    let cursor = page(&market, path).await.next_cursor.unwrap();
    insta::assert_snapshot!(market.body(path).await.replace(&*cursor, "[cursor]"), @r#"
        {
          "data": {
            "items": [
              {
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
                "rating": 4.7,
                "image": "https://cdn.example/vienna.jpg"
              }
            ],
            "facets": [
              {
                "name": "brand",
                "values": [
                  {
                    "value": "blue-tokai",
                    "label": "Blue Tokai",
                    "count": 4
                  }
                ],
                "values_total": 1
              },
              {
                "name": "roast",
                "values": [
                  {
                    "value": "dark",
                    "label": "Dark",
                    "count": 1
                  }
                ],
                "values_total": 1
              },
              {
                "name": "vendor",
                "values": [
                  {
                    "value": "blue tokai",
                    "label": "Blue Tokai",
                    "count": 1
                  }
                ],
                "values_total": 1
              },
              {
                "name": "weight",
                "values": [
                  {
                    "value": "1 kg",
                    "label": "1 kg",
                    "count": 1
                  },
                  {
                    "value": "250 g",
                    "label": "250 g",
                    "count": 1
                  }
                ],
                "values_total": 2
              },
              {
                "name": "tag",
                "values": [
                  {
                    "value": "best <seller>",
                    "label": "best <seller>",
                    "count": 1
                  },
                  {
                    "value": "dark",
                    "label": "dark",
                    "count": 1
                  }
                ],
                "values_total": 2
              }
            ],
            "price": {
              "min_minor": 49900,
              "max_minor": 100000,
              "currency": "INR",
              "histogram": [
                {
                  "from_minor": 48000,
                  "to_minor": 50000,
                  "count": 1
                },
                {
                  "from_minor": 50000,
                  "to_minor": 52000,
                  "count": 0
                },
                {
                  "from_minor": 52000,
                  "to_minor": 54000,
                  "count": 0
                },
                {
                  "from_minor": 54000,
                  "to_minor": 56000,
                  "count": 1
                },
                {
                  "from_minor": 56000,
                  "to_minor": 58000,
                  "count": 0
                },
                {
                  "from_minor": 58000,
                  "to_minor": 60000,
                  "count": 0
                },
                {
                  "from_minor": 60000,
                  "to_minor": 62000,
                  "count": 1
                },
                {
                  "from_minor": 62000,
                  "to_minor": 102000,
                  "count": 1
                }
              ]
            },
            "next_cursor": "[cursor]"
          },
          "provenance": {
            "release": "[release]",
            "price": {
              "currency": "INR",
              "left_out": false
            }
          },
          "tier": "graph"
        }
        "#);
}

#[tokio::test]
async fn every_sort_pages_through_the_whole_list_once_and_ends_at_a_thousand() {
    let market = Market::of(&wide()).await;
    for sort in ["relevance", "price_asc", "price_desc", "rating", "newest"] {
        let items = pages(&market, &format!("/v1/browse?brand=bazaar&sort={sort}")).await;
        let ids: BTreeSet<_> = items.iter().map(|card| &card.id).collect();
        assert_eq!((items.len(), ids.len()), (1_000, 1_000), "{sort}");
        let narrow = pages(
            &market,
            &format!("/v1/browse?category=coffee&in_stock=true&sort={sort}"),
        )
        .await;
        let ids: BTreeSet<_> = narrow.iter().map(|card| &card.id).collect();
        assert_eq!(narrow.len(), ids.len(), "{sort}");
        // Products in the market's currency come first, then the other currencies.
        let of_currency = |card: &ProductCard<'static>| (card.currency != "INR", card.currency.clone());
        let ordered = match sort {
            "price_asc" => narrow.is_sorted_by_key(|card| (of_currency(card), card.price_min_minor)),
            "price_desc" => narrow.is_sorted_by_key(|card| (of_currency(card), -card.price_min_minor)),
            // Products without a rating come last.
            "rating" => narrow.is_sorted_by_key(|card| card.rating.map_or(1, |rating| -(rating * 10.0) as i64)),
            _ => true,
        };
        assert!(ordered && narrow.len() > 100, "{sort}");
    }
}

#[tokio::test]
async fn newest_first_means_those_without_a_date_last() {
    let facts = brand("Dates", "INR");
    let dated = |id: u64, day: Option<&str>| {
        let mut product = product(&facts, id, &format!("Thing {id}"));
        product.published_at = day.map(|day| format!("{day}T00:00:00Z").parse().unwrap());
        product
    };
    let days = [None, Some("2026-01-02"), Some("2026-03-01"), None, Some("1969-12-31")];
    let products = (1..).zip(days).map(|(id, day)| dated(id, day)).collect();
    let market = Market::of(&vec![(facts.clone(), products)]).await;
    let items = pages(&market, "/v1/browse?brand=dates&sort=newest").await;
    let titles: Vec<_> = items.iter().take(3).map(|card| card.title.as_ref()).collect();
    assert_eq!(titles, ["Thing 3", "Thing 2", "Thing 5"]);
    assert_eq!(items.len(), 5);
}

#[tokio::test]
async fn a_count_tells_how_many_products_choosing_its_value_answers() {
    let market = Market::of(&wide()).await;
    for (scope, chosen) in [
        ("category=apparel-accessories", json!({})),
        (
            "category=apparel-accessories",
            json!({"color": ["navy", "Rose"], "size": "M"}),
        ),
        (
            "category=apparel-accessories&price_min=60000&price_max=120000&in_stock=true",
            json!({"Colour": "white"}),
        ),
        (
            "brand=corner&on_sale=true&sort=price_asc",
            json!({"tag": "everything", "category": "shoes"}),
        ),
    ] {
        let path = format!("/v1/browse?{scope}");
        let first = page(&market, &format!("{path}&facets={}", facets(&chosen))).await;
        assert!(first.facets.len() >= 4, "{path}");
        for facet in &first.facets {
            assert!(
                facet.values.is_sorted_by_key(|value| std::cmp::Reverse(value.count)),
                "{}",
                facet.name
            );
            for value in facet.values.iter().take(6) {
                let mut object = chosen.clone();
                if facet.name == "color" {
                    object.as_object_mut().unwrap().remove("Colour");
                }
                object[&*facet.name] = (*value.value).into();
                let items = pages(&market, &format!("{path}&facets={}", facets(&object))).await;
                assert_eq!(items.len(), value.count as usize, "{path} {object}");
            }
        }
        // The price range does not limit the histogram, and each bin works as a price filter.
        let wide = path.replace("&price_min=60000&price_max=120000", "");
        let bins: u32 = first.price.histogram.iter().map(|bin| bin.count).sum();
        let whole = format!("{wide}&facets={}&price_min=0", facets(&chosen));
        let whole = pages(&market, &whole).await;
        assert_eq!(bins as usize, whole.len(), "{path}");
        assert_eq!(
            first.price.min_minor,
            whole.iter().map(|card| card.price_min_minor).min()
        );
        assert_eq!(
            first.price.max_minor,
            whole.iter().map(|card| card.price_min_minor).max()
        );
        let bin = &first.price.histogram[1];
        let ends = format!("&price_min={}&price_max={}", bin.from_minor, bin.to_minor - 1);
        let within = pages(&market, &format!("{wide}&facets={}{ends}", facets(&chosen))).await;
        assert_eq!(within.len(), bin.count as usize, "{path}");
    }
}

#[tokio::test]
async fn a_facets_own_filter_does_not_narrow_its_counts_but_every_other() {
    let market = Market::of(&small()).await;
    let all = page(&market, "/v1/browse?category=shirts-tops").await;
    assert_eq!(counts(&all, "color"), [("green", 1), ("navy", 1), ("white", 1)]);
    let navy = facets(&json!({"Colour": " NAVY "}));
    let chosen = page(&market, &format!("/v1/browse?category=shirts-tops&facets={navy}")).await;
    assert_eq!(chosen.items.len(), 1);
    assert_eq!(counts(&chosen, "color"), counts(&all, "color"));
    let both = page(
        &market,
        &format!("/v1/browse?category=shirts-tops&facets={navy}&price_max=200000"),
    )
    .await;
    assert!(both.items.is_empty());
    // Values in the filter are shown even if no product has them.
    assert_eq!(counts(&both, "color"), [("green", 1), ("white", 1), ("navy", 0)]);
    assert_eq!(
        (both.price.min_minor, both.price.max_minor),
        (Some(249_900), Some(249_900))
    );
    let odd = facets(&json!({"color": ["Chartreuse", "green"], "No such": ["x", 41.0]}));
    let odd = page(&market, &format!("/v1/browse?category=shirts-tops&facets={odd}")).await;
    assert_eq!(counts(&odd, "color"), [("green", 0), ("chartreuse", 0)]);
    assert_eq!(counts(&odd, "no such"), [("41", 0), ("x", 0)]);
}

#[tokio::test]
async fn categories_are_counted_one_level_down() {
    let market = Market::of(&wide()).await;
    let browsed = page(&market, "/v1/browse?category=apparel-accessories").await;
    assert_eq!(browsed.facets[0].name, "category");
    let names: BTreeSet<_> = browsed.facets[0]
        .values
        .iter()
        .map(|value| (&*value.value, &*value.label))
        .collect();
    assert_eq!(names, BTreeSet::from([("clothing", "Clothing"), ("shoes", "Shoes")]));
    let leaf = page(&market, "/v1/browse?category=coffee").await;
    assert!(leaf.facets.iter().all(|facet| facet.name != "category"));
    let top = page(&market, "/v1/browse?brand=bazaar").await;
    let names: BTreeSet<_> = counts(&top, "category").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, BTreeSet::from(["apparel-accessories", "food-beverages-tobacco"]));
    let chosen = facets(&json!({"category": ["1868", "furniture"]}));
    let chosen = page(&market, &format!("/v1/browse?brand=bazaar&facets={chosen}")).await;
    let coffee = counts(&chosen, "category")
        .into_iter()
        .find(|(name, _)| *name == "coffee")
        .unwrap();
    assert!(coffee.1 > 0 && counts(&chosen, "category").contains(&("furniture", 0)));
}

#[tokio::test]
async fn facets_and_values_are_bounded() {
    let facts = brand("Many", "INR");
    let many = |id: u64| {
        let mut product = product(&facts, id, &format!("Thing {id}"));
        product.tags = (0..30).map(|tag| format!("tag {}", id * 30 + tag)).collect();
        let attribute = |at| data_model::Attribute {
            name: format!("attribute {at}"),
            values: vec![format!("Value {id}")],
        };
        product.attributes = (0..40).map(attribute).collect();
        product
    };
    let market = Market::of(&vec![(facts.clone(), (1..80).map(many).collect())]).await;
    let browsed = page(&market, "/v1/browse?brand=many").await;
    assert_eq!(browsed.facets.len(), 12);
    assert_eq!(browsed.facets[11].name, "tag");
    assert!(browsed.facets.iter().all(|facet| facet.values.len() == 50));
    // Values in the filter are shown in addition, even of facets that would not be shown otherwise.
    let chosen = facets(&json!({"tag": "tag 2399", "attribute 39": "value 79"}));
    let chosen = page(&market, &format!("/v1/browse?brand=many&facets={chosen}")).await;
    assert_eq!(chosen.facets.len(), 13);
    assert!(
        counts(&chosen, "tag").contains(&("tag 2399", 1)),
        "{:?}",
        counts(&chosen, "tag")
    );
    assert!(counts(&chosen, "attribute 39").contains(&("value 79", 1)));
}

#[tokio::test]
async fn prices_are_those_of_one_currency() {
    let market = Market::of(&wide()).await;
    let yen = page(&market, "/v1/browse?brand=ekiben").await;
    assert_eq!(
        (yen.items.len(), yen.price.currency.as_ref(), yen.price.min_minor),
        (
            5,
            "JPY",
            Some(yen.items.iter().map(|card| card.price_min_minor).min().unwrap())
        )
    );
    let yen = page(&market, "/v1/browse?brand=ekiben&currency=jpy&sort=price_asc").await;
    assert_eq!((yen.items.len(), yen.price.currency.as_ref()), (5, "JPY"));
    assert_eq!(yen.price.min_minor, Some(yen.items[0].price_min_minor));
    // A price filter excludes products in other currencies; a price sort does not.
    let filtered = page(&market, "/v1/browse?brand=ekiben&price_min=0&currency=INR").await;
    assert!(filtered.items.is_empty());
    let sorted = page(&market, "/v1/browse?brand=ekiben&sort=price_desc&currency=INR").await;
    assert_eq!(sorted.items.len(), 5);
    let euros = page(&market, "/v1/browse?brand=ekiben&currency=EUR").await;
    assert_eq!((euros.items.len(), euros.price.max_minor), (5, None));
    let not_given = page(&market, "/v1/browse?brand=ekiben&currency=").await;
    assert_eq!((not_given.items.len(), not_given.price.currency.as_ref()), (5, "JPY"));
    for odd in ["XXX", "rupees", "%F0%9F%92%B0"] {
        let answered = market.get(&format!("/v1/browse?brand=ekiben&currency={odd}")).await;
        assert_eq!(fault(&answered).0, json!(["query", "currency"]), "{odd}");
    }
}
