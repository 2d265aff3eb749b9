use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::json;

use crate::market::{DrawnProduct, Market, any_product};

async fn market() -> Market {
    let mut runner = TestRunner::deterministic();
    let draw = |runner: &mut TestRunner, count| -> Vec<DrawnProduct> {
        let products = prop::collection::vec(any_product(), count);
        products.new_tree(runner).unwrap().current()
    };
    let products = [70, 12, 5].map(|count| draw(&mut runner, count));
    Market::of(&products).await
}

async fn plan(market: &Market, statement: &str) -> String {
    let rows = market.sql(&format!("explain {statement}")).await;
    rows.iter()
        .map(|row| row[1].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Conditions on a table, each with an equivalent one in which no column is compared to a literal.
const CONDITIONS: &[(&str, &str, &str)] = &[
    ("products", "in_stock", "coalesce(in_stock, false)"),
    (
        "products",
        "not in_stock and on_sale = true",
        "not coalesce(in_stock, false) and coalesce(on_sale, false)",
    ),
    ("products", "brand_slug = 'brand-1'", "brand_slug || '' = 'brand-1'"),
    (
        "products",
        "brand_slug in ('brand-1', 'nobody', 'brand-2')",
        "brand_slug || '' in ('brand-1', 'brand-2')",
    ),
    (
        "products",
        "brand_slug = 'brand-1' or brand_slug = 'brand-0'",
        "brand_slug || '' != 'brand-2'",
    ),
    (
        "products",
        "brand_slug = 'brand-1' or in_stock",
        "brand_slug || '' = 'brand-1' or coalesce(in_stock, false)",
    ),
    (
        "products",
        "store = 'S0.MYSHOPIFY.EXAMPLE'",
        "store || '' = 'S0.MYSHOPIFY.EXAMPLE'",
    ),
    (
        "products",
        "currency = 'INR' and price_min_minor > 20000",
        "currency || '' = 'INR' and price_min_minor + 0 > 20000",
    ),
    ("products", "currency = 'usd'", "currency || '' = 'usd'"),
    (
        "products",
        "price_min_minor between 10000 and 30000",
        "price_min_minor + 0 between 10000 and 30000",
    ),
    (
        "products",
        "currency = 'USD' and 10000 <= price_min_minor and price_min_minor < 30000",
        "currency || '' = 'USD' and price_min_minor + 0 >= 10000 and price_min_minor + 0 < 30000",
    ),
    ("products", "category_id = 1604", "category_id + 0 = 1604"),
    ("products", "vendor = 'Vendor 1'", "vendor || '' = 'Vendor 1'"),
    ("products", "vendor = 'VENDOR 1'", "vendor || '' = 'VENDOR 1'"),
    (
        "facets",
        "name = 'color' and value = 'navy'",
        "name || '' = 'color' and value || '' = 'navy'",
    ),
    (
        "facets",
        "name = 'Colour' and value = 'navy'",
        "name || '' = 'Colour' and value || '' = 'navy'",
    ),
    (
        "facets",
        "value = 'navy' and brand_slug = 'brand-0'",
        "value || '' = 'navy' and brand_slug || '' = 'brand-0'",
    ),
    (
        "facets",
        "name = 'category' and value in ('1604', '166')",
        "name || '' = 'category' and value || '' in ('1604', '166')",
    ),
    ("variants", "brand_slug = 'brand-2'", "brand_slug || '' = 'brand-2'"),
    (
        "brands",
        "price_min_minor >= 2000 and name = 'Brand 1'",
        "price_min_minor + 0 >= 2000 and name || '' = 'Brand 1'",
    ),
];

#[tokio::test]
async fn a_condition_that_posting_lists_answer_answers_the_same_as_one_they_do_not() {
    let market = market().await;
    for (table, short, long) in CONDITIONS {
        let counted = |condition| format!("select count(*), count(distinct store) from {table} where {condition}");
        let (short_answer, long_answer) = (market.sql(&counted(short)).await, market.sql(&counted(long)).await);
        assert_eq!(short_answer, long_answer, "{table}: {short}");
    }
}

#[tokio::test]
async fn a_product_is_found_by_its_identifiers_as_they_are_spelled() {
    let market = market().await;
    let any = market
        .sql("select product_id, product_uid from products limit 1")
        .await
        .remove(0);
    let (id, uid) = (any[0].as_str().unwrap(), any[1].as_str().unwrap());
    for (ident, count) in [(id.to_owned(), 1), (id.to_uppercase(), 0), ("nothing".to_owned(), 0)] {
        let found = market
            .sql(&format!("select count(*) from products where product_id = '{ident}'"))
            .await;
        assert_eq!(found, [[json!(count)]], "{ident}");
    }
    let found = market
        .sql(&format!("select product_id from products where product_uid = '{uid}'"))
        .await;
    assert_eq!(found, [[json!(id)]]);
    let variants = market
        .sql(&format!("select count(*) from variants where product_id = '{id}'"))
        .await;
    assert_eq!(variants, [[json!(1)]]);
}

#[tokio::test]
async fn only_what_a_statement_asks_for_is_made() {
    let market = market().await;
    assert_eq!(market.sql("select count(*) from products").await, [[json!(87)]]);
    assert_eq!(market.sql("select title from products limit 3").await.len(), 3);
    let limited = market.sql("select title from products where in_stock limit 3").await;
    assert_eq!(limited.len(), 3);
    let exact = plan(&market, "select title from products where in_stock limit 3").await;
    assert!(!exact.contains("FilterExec"), "{exact}");
    let narrow = plan(&market, "select title from products where vendor = 'Vendor 1'").await;
    assert!(
        narrow.contains("projection=[vendor, title]") || narrow.contains("projection=[title, vendor]"),
        "{narrow}"
    );
    let lists = "select array_length(tags), options[1]['name'], attributes[1]['values'][1] from products where in_stock limit 1";
    assert_eq!(market.sql(&lists.replace("array_length(tags), ", "")).await.len(), 1);
    let totals = market
        .sql("select sum(product_count), sum(in_stock_count) from brands")
        .await;
    let counted = market
        .sql("select count(*), count(*) filter (where in_stock) from products")
        .await;
    assert_eq!(totals, counted);
}

#[tokio::test]
async fn what_nothing_can_match_is_sorted_counted_and_joined_like_anything_else() {
    let market = market().await;
    let nobody = "products where brand_slug = 'nobody'";
    let sorted = market
        .sql(&format!("select title from {nobody} order by newest_at desc, title"))
        .await;
    assert_eq!(sorted, Vec::<Vec<serde_json::Value>>::new());
    let counted = market.sql(&format!("select count(*) from {nobody}")).await;
    assert_eq!(counted, [[json!(0)]]);
    let joined = format!("select count(*) from brands b join (select * from {nobody} order by title) p on true");
    assert_eq!(market.sql(&joined).await, [[json!(0)]]);
}
