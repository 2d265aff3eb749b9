use serde_json::{Value, json};

use crate::market::{Market, column};

/// Returns the product cards of a REST response.
fn cards(answer: &Value) -> &[Value] {
    answer["data"].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[tokio::test]
async fn a_search_finds_in_a_statement_what_it_finds_over_rest_in_the_same_order() {
    let market = Market::new().await;
    for (q, mode, limit) in [
        ("running shoes under 3000", "hybrid", 20),
        ("running shoes under 3000", "lexical", 40),
        ("linen shirt", "semantic", 5),
        ("", "hybrid", 7),
        ("zzzz", "lexical", 3),
    ] {
        let encoded = q.replace(' ', "+");
        let found = market
            .get(&format!(
                "/v1/search?q={encoded}&mode={mode}&limit={limit}&explain=true"
            ))
            .await;
        let call = format!("select * from search('{q}', mode => '{mode}', limit => {limit}) order by rank");
        let rows = market.rows(&call).await;
        assert_eq!(column(&rows, "product_id"), column(cards(&found), "id"), "{call}");
        let scores = found["provenance"]["explain"].as_array().unwrap();
        assert_eq!(column(&rows, "score"), column(scores, "score"), "{call}");
        let ranks: Vec<Value> = (1..=rows.len()).map(Value::from).collect();
        assert_eq!(column(&rows, "rank"), ranks.iter().collect::<Vec<_>>(), "{call}");
    }
    let branded = market.rows("from search('shirt', brand := 'brand-1')").await;
    let found = market.get("/v1/search?q=shirt&brand=brand-1").await;
    assert_eq!(column(&branded, "product_id"), column(cards(&found), "id"));
}

#[tokio::test]
async fn similar_and_recommend_answer_what_rest_does() {
    let market = Market::new().await;
    let first = market
        .rows("select product_id from search('running shoes', limit => 1)")
        .await;
    let id = first[0]["product_id"].as_str().unwrap();
    let like = market.get(&format!("/v1/search?similar_to={id}&limit=9")).await;
    let rows = market.rows(&format!("select * from similar('{id}', limit => 9)")).await;
    assert!(!rows.is_empty());
    assert_eq!(column(&rows, "product_id"), column(cards(&like), "id"));
    for intent in ["related", "cross_brand", "complement", "cheaper", "same_brand"] {
        let over_rest = market
            .get(&format!("/v1/recommend?product_id={id}&intent={intent}&limit=8"))
            .await;
        let rows = market
            .rows(&format!("select * from recommend('{id}', '{intent}', 8)"))
            .await;
        assert_eq!(column(&rows, "product_id"), column(cards(&over_rest), "id"), "{intent}");
    }
}

#[tokio::test]
async fn shipping_tells_of_each_brand_what_rest_tells_of_its_products() {
    let market = Market::new().await;
    let ids = "select min(product_id) product_id, brand_slug from products group by 2 order by 2";
    let rows = market
        .rows(&format!(
            "select * from ({ids}) join shipping('560001') using (brand_slug) order by brand_slug"
        ))
        .await;
    assert_eq!(rows.len(), 3);
    for row in &rows {
        let id = row["product_id"].as_str().unwrap();
        let told = market.get(&format!("/v1/shipping?product={id}&pincode=560001")).await["data"].take();
        for name in [
            "serviceable",
            "days_min",
            "days_max",
            "earliest_date",
            "latest_date",
            "basis",
            "confidence",
        ] {
            assert_eq!(row[name], told["delivery"][name], "{name}: {told}");
        }
        for name in ["free_shipping_threshold_minor", "currency"] {
            assert_eq!(row[name], told[name], "{name}: {told}");
        }
    }
    assert_eq!(column(&rows, "days_max"), [&json!(4), &json!(5), &Value::Null]);
}

/// Pairs of an invalid call and its expected error message.
const REFUSALS: &[(&str, &str)] = &[
    ("search()", "search: q is missing"),
    ("search(null)", "search: q is missing"),
    ("search(5)", "search: q must be a text in single quotes, not 5"),
    (
        "search('a', mode => 'fast')",
        "search: mode must be one of hybrid, semantic, lexical, not 'fast'",
    ),
    (
        "search('a', limit => 0)",
        "search: limit must be a whole number from 1 to 40, not 0",
    ),
    (
        "search('a', limit => 41)",
        "search: limit must be a whole number from 1 to 40, not 41",
    ),
    (
        "search('a', limit => 'ten')",
        "search: limit must be a whole number from 1 to 40, not ten",
    ),
    (
        "search('a', limits => 3)",
        "search has no argument limits: its arguments are q, mode, limit, brand",
    ),
    ("search('a', q => 'b')", "search: q is given twice"),
    (
        "search(q => 'a', 'lexical')",
        "search: mode follows a named argument, so it must be named too",
    ),
    (
        "search('a', 'lexical', 3, 'b', 5)",
        "search accepts at most 4 arguments: its arguments are q, mode, limit, brand",
    ),
    (
        "search(\"running shoes\")",
        "search: \"running shoes\" in double quotes is the name of a column: write a text in single quotes",
    ),
    (
        "products p, search(p.title)",
        "search: an argument must be a value, but p.title is a column: join the rows that the function finds instead",
    ),
    (
        "similar((select min(product_id) from products))",
        "similar: product_id must be a constant value, not a column or a query",
    ),
    (
        "similar('1')",
        "similar: product_id must be a product's UUID or `sha:` and 40 hex digits, not '1'",
    ),
    (
        "recommend('11111111-1111-1111-1111-111111111111')",
        "product_id: the release has no such product",
    ),
    (
        "shipping('1')",
        "shipping: pincode must be a pincode of six digits, not '1'",
    ),
    (
        "serch('a')",
        "table function 'serch' not found; there are generate_series, range, recommend, search, shipping, similar",
    ),
];

#[tokio::test]
async fn a_bad_argument_is_refused_by_its_name() {
    let market = Market::new().await;
    for (call, words) in REFUSALS {
        assert_eq!(market.refusal(&format!("select * from {call}")).await, *words, "{call}");
    }
    let long = "a".repeat(513);
    let told = market.refusal(&format!("select * from search('{long}')")).await;
    assert!(
        told.starts_with("search: q must be at most 512 characters long"),
        "{told}"
    );
}

#[tokio::test]
async fn a_plan_shows_the_call_with_what_is_asked_of_it() {
    let market = Market::new().await;
    let rows = market
        .rows("explain select product_id from SEARCH('running shoes', limit => 30) limit 4")
        .await;
    let plan = rows.iter().find(|row| row["plan_type"] == "physical_plan").unwrap();
    let plan = plan["plan"].as_str().unwrap();
    let shown = "FunctionExec: search('running shoes', mode => 'hybrid', limit => 30), columns=[product_id], fetch=4";
    assert!(plan.contains(shown), "{plan}");
    let four = market
        .rows("select product_id from search('running shoes', limit => 30) limit 4")
        .await;
    let all = market
        .rows("select product_id from search('running shoes', limit => 30) order by rank")
        .await;
    assert_eq!(four, all[..4]);
}
