use serde_json::{Value, json};

use crate::market::{Market, column};

fn list<'a>(answer: &'a Value, name: &str) -> &'a [Value] {
    answer[name].as_array().unwrap()
}

fn group<'a>(answer: &'a Value, value: &Value) -> &'a Value {
    let mut groups = list(answer, "data").iter();
    groups
        .find(|group| group["value"] == *value)
        .unwrap_or_else(|| panic!("no group {value}: {answer}"))
}

fn sum(answer: &Value, name: &str) -> u64 {
    list(answer, "data")
        .iter()
        .filter_map(|group| group[name].as_u64())
        .sum()
}

#[tokio::test]
async fn figures_by_group_add_up_to_the_totals_and_those_with_most_products_stand_first() {
    let market = Market::new().await;
    let totals = market.get("/v1/stats").await["data"].take();
    for by in ["brand", "category", "currency"] {
        let answer = market.get(&format!("/v1/stats?by={by}")).await;
        for name in ["products", "variants", "in_stock", "on_sale"] {
            assert_eq!(sum(&answer, name), totals[name], "{by} {name}");
        }
        let counts: Vec<u64> = column(list(&answer, "data"), "products")
            .iter()
            .filter_map(|count| count.as_u64())
            .collect();
        assert!(counts.is_sorted_by(|one, next| one >= next), "{counts:?}");
        assert_eq!(
            (&answer["provenance"]["by"], &answer["provenance"]["more"]),
            (&json!(by), &json!(false))
        );
        assert_eq!(answer["tier"], "graph");
    }
}

#[tokio::test]
async fn figures_of_a_brand_a_category_and_a_currency_are_those_that_other_operations_tell() {
    let market = Market::new().await;
    let by_brand = market.get("/v1/stats?by=brand").await;
    for brand in list(&market.get("/v1/brands").await, "data") {
        let told = group(&by_brand, &brand["slug"]);
        let names = [
            ("products", "product_count"),
            ("in_stock", "in_stock_count"),
            ("on_sale", "on_sale_count"),
            ("label", "name"),
        ];
        for (name, of_brand) in names {
            assert_eq!(told[name], brand[of_brand], "{brand}");
        }
        let prices = market
            .rows(&format!(
                "select price_min_minor p from products where brand_slug = {} and price_min_minor is not null order by 1",
                brand["slug"].to_string().replace('"', "'")
            ))
            .await;
        let prices: Vec<i64> = column(&prices, "p").iter().filter_map(|price| price.as_i64()).collect();
        let half = prices.len() / 2;
        let expected = json!([{
            "currency": brand["currency"],
            "products": prices.len(),
            "min_minor": brand["price_min_minor"],
            "median_minor": i64::midpoint(prices[half], prices[(prices.len() - 1) / 2]),
            "max_minor": brand["price_max_minor"],
        }]);
        assert_eq!(told["prices"], expected, "{brand}");
    }
    let by_currency = market.get("/v1/stats?by=currency").await;
    for one in list(&market.get("/v1/stats").await["data"], "currencies") {
        assert_eq!(group(&by_currency, &one["currency"])["products"], one["products"]);
    }
    let by_category = market.get("/v1/stats?by=category").await;
    let coffee = market.get("/v1/browse?category=coffee").await;
    let names = column(list(&coffee["data"], "items"), "id").len();
    assert_eq!(group(&by_category, &json!("coffee"))["products"], names);
}

#[tokio::test]
async fn what_is_not_a_group_is_refused_by_its_parameter() {
    let market = Market::new().await;
    let refused = market.get("/v1/stats?by=size").await;
    assert_eq!(refused["detail"][0]["loc"], json!(["query", "by"]), "{refused}");
    let ignored = market.get("/v1/stats?of=brand").await;
    assert_eq!(ignored["provenance"]["ignored"][0]["name"], "of", "{ignored}");
}
