//! Tests the net content of products, and other facts derived from their texts.

use std::sync::Arc;

use data_index::BuildOptions;
use data_model::{CategoryId, Product, Variant};
use data_tables::ReleaseTables;
use serde_json::{Value, json};

use crate::market::value;

const COFFEE: u32 = 1868;
const SHOES: u32 = 187;

/// Title, title of the only variant, category, price, and the expected content with the price per kilogram or litre.
type Case = (
    &'static str,
    &'static str,
    u32,
    i64,
    [Option<i64>; 2],
    Option<&'static str>,
);

const CASES: &[Case] = &[
    (
        "Filter Coffee Beans 250 g",
        "",
        COFFEE,
        33_333,
        [Some(250), Some(133_332)],
        Some("g"),
    ),
    (
        "Filter Coffee Beans",
        "1.5 kg",
        COFFEE,
        150_000,
        [Some(1_500), Some(100_000)],
        Some("g"),
    ),
    (
        "Cold Brew 250 g",
        "500 ml",
        COFFEE,
        10_000,
        [Some(500), Some(20_000)],
        Some("ml"),
    ),
    ("Cold Brew 1 L", "", COFFEE, 0, [Some(1_000), None], Some("ml")),
    ("Filter Coffee Beans", "", COFFEE, 10_000, [None, None], None),
    ("Cold Brew 200 ml + 50 ml free", "", COFFEE, 10_000, [None, None], None),
    ("Cold Brew 200 ml (Pack of 2)", "", COFFEE, 10_000, [None, None], None),
    ("Cold Brew 6 x 330 ml", "", COFFEE, 10_000, [None, None], None),
    ("Coffee 0 g", "", COFFEE, 10_000, [None, None], None),
    // Products of the category `SHOES` are not sold by content.
    ("Running Shoes 250 g", "", SHOES, 10_000, [None, None], None),
];

async fn rows(statement: &str) -> Vec<Vec<Value>> {
    let dir = tempfile::tempdir().unwrap();
    let facts = kit::facts(kit::brand("Brand"));
    let cases = (1..).zip(CASES);
    let products = cases.map(|(id, (title, variant, category, price_minor, ..))| Product {
        category: Some(CategoryId(*category)),
        variants: vec![Variant {
            title: (*variant).to_owned(),
            ..kit::variant(id, *price_minor)
        }],
        handle: format!("p {id}"),
        ..kit::product(&facts.brand, id, title)
    });
    let store = kit::StoreProducts {
        facts: &facts,
        products: &products.collect::<Vec<_>>(),
    };
    let manifest = kit::build(&[store], &BuildOptions::default(), dir.path());
    let tables = ReleaseTables::new(&Arc::new(kit::open(manifest, dir.path()))).unwrap();
    let batches = tables.context().sql(statement).await.unwrap().collect().await.unwrap();
    let row = |batch: &datafusion::arrow::array::RecordBatch, row| {
        batch.columns().iter().map(|column| value(column, row)).collect()
    };
    batches
        .iter()
        .flat_map(|batch| (0..batch.num_rows()).map(move |at| row(batch, at)))
        .collect()
}

#[tokio::test]
async fn the_one_amount_that_titles_state_is_the_content_of_what_is_sold_by_it() {
    for table in ["products", "variants"] {
        let columns = "cast(content_amount as bigint), unit_price_minor, content_unit";
        let told = rows(&format!("select {columns} from {table} order by platform_product_id")).await;
        for ((title, .., numbers, unit), told) in CASES.iter().zip(told) {
            assert_eq!(
                told,
                [json!(numbers[0]), json!(numbers[1]), json!(unit)],
                "{table}: {title}"
            );
        }
    }
}

#[tokio::test]
async fn a_price_of_0_is_none_and_a_product_has_a_page_and_a_department() {
    let columns = "price_min_minor, price_max_minor, url, department";
    let told = rows(&format!(
        "select {columns} from products where platform_product_id in (1, 4, 10) order by platform_product_id"
    ))
    .await;
    let food = "Food, Beverages & Tobacco";
    assert_eq!(
        told,
        [
            [
                json!(33_333),
                json!(33_333),
                json!("https://brand.example/products/p%201"),
                json!(food)
            ],
            [
                json!(null),
                json!(null),
                json!("https://brand.example/products/p%204"),
                json!(food)
            ],
            [
                json!(10_000),
                json!(10_000),
                json!("https://brand.example/products/p%2010"),
                json!("Apparel & Accessories")
            ],
        ]
    );
    let unpriced = rows("select count(*) from variants where price_minor is null").await;
    assert_eq!(unpriced, [[json!(1)]]);
}
