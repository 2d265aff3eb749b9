use serde_json::{Value, json};

use crate::catalogue::small;
use crate::support::Market;

pub(crate) async fn faults(market: &Market, path: &str) -> Vec<(Value, Value)> {
    let answered = market.get(path).await;
    let body = answered.json();
    assert_eq!(
        (answered.status.as_u16(), &body["code"]),
        (422, &"validation".into()),
        "{path}: {body}"
    );
    assert_eq!(answered.headers["content-type"], "application/json");
    let detail = body["detail"].as_array().unwrap();
    detail
        .iter()
        .map(|fault| (fault["loc"].clone(), fault["type"].clone()))
        .collect()
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one whole answer")]
async fn every_fault_of_a_search_is_listed() {
    let market = Market::of(&small()).await;
    let path = "/v1/search?price_min=1.5&price_max=&in_stock=maybe&facets=%7B&sort=up&mode=magic&limit=41&currency=XXX";
    let answered = market.get(path).await;
    assert_eq!(answered.status, 422);
    insta::assert_snapshot!(answered.pretty(), @r#"
{
  "detail": [
    {
      "type": "int_parsing",
      "loc": [
        "query",
        "price_min"
      ],
      "msg": "Input should be a valid integer: amounts are minor units, 49900 stands for 499.00",
      "input": "1.5"
    },
    {
      "type": "value_error",
      "loc": [
        "query",
        "currency"
      ],
      "msg": "Value error, not an ISO 4217 currency with minor units",
      "input": "XXX",
      "ctx": {
        "error": "not an ISO 4217 currency with minor units"
      }
    },
    {
      "type": "bool_parsing",
      "loc": [
        "query",
        "in_stock"
      ],
      "msg": "Input should be a valid boolean, unable to interpret input",
      "input": "maybe"
    },
    {
      "type": "json_invalid",
      "loc": [
        "query",
        "facets"
      ],
      "msg": "Invalid JSON: EOF while parsing an object at line 1 column 1",
      "input": "{",
      "ctx": {
        "error": "EOF while parsing an object at line 1 column 1"
      }
    },
    {
      "type": "enum",
      "loc": [
        "query",
        "sort"
      ],
      "msg": "Input should be 'relevance', 'price_asc', 'price_desc', 'rating' or 'newest'",
      "input": "up",
      "ctx": {
        "expected": "'relevance', 'price_asc', 'price_desc', 'rating' or 'newest'"
      }
    },
    {
      "type": "enum",
      "loc": [
        "query",
        "mode"
      ],
      "msg": "Input should be 'hybrid', 'semantic' or 'lexical'",
      "input": "magic",
      "ctx": {
        "expected": "'hybrid', 'semantic' or 'lexical'"
      }
    },
    {
      "type": "less_than_equal",
      "loc": [
        "query",
        "limit"
      ],
      "msg": "Input should be less than or equal to 40",
      "input": "41",
      "ctx": {
        "le": 40
      }
    }
  ],
  "code": "validation",
  "request_id": "test"
}
"#);
}

#[tokio::test]
async fn each_fault_has_its_place_and_type() {
    let market = Market::of(&small()).await;
    let cases = [
        ("/v1/search?limit=0", r#"["query","limit"]"#, "greater_than_equal"),
        (
            "/v1/search?limit=40&limit=41",
            r#"["query","limit"]"#,
            "less_than_equal",
        ),
        ("/v1/search?limit=ten", r#"["query","limit"]"#, "int_parsing"),
        ("/v1/search?on_sale=2", r#"["query","on_sale"]"#, "bool_parsing"),
        ("/v1/search?sort=up", r#"["query","sort"]"#, "enum"),
        (
            "/v1/search?price_min=2&price_max=1",
            r#"["query","price_min"]"#,
            "value_error",
        ),
        ("/v1/search?facets=%5B%5D", r#"["query","facets"]"#, "dict_type"),
        ("/v1/search?facets=%7B", r#"["query","facets"]"#, "json_invalid"),
        ("/v1/search?facets=%20", r#"["query","facets"]"#, "json_invalid"),
        (
            "/v1/brands/loom-thread/products?facets=%20",
            r#"["query","facets"]"#,
            "json_invalid",
        ),
        (
            "/v1/search?facets=%7B%22color%22:%7B%7D%7D",
            r#"["query","facets","color"]"#,
            "string_type",
        ),
        (
            "/v1/search?facets=%7B%22color%22:%5B%22a%22,null%5D%7D",
            r#"["query","facets","color",1]"#,
            "string_type",
        ),
        ("/v1/search?q=%FF", r#"["query","q"]"#, "string_unicode"),
        ("/v1/products/42", r#"["path","ident"]"#, "uuid_parsing"),
        ("/v1/products/%FF", r#"["path","ident"]"#, "string_unicode"),
        ("/v1/products/a%ffb/reviews", r#"["path","ident"]"#, "string_unicode"),
        ("/v1/products/sha:abc", r#"["path","ident"]"#, "string_pattern_mismatch"),
        (
            "/v1/products/3f2504e0-4f89-51d3-9a0c-0305e82c3301?include=offers,price",
            r#"["query","include"]"#,
            "enum",
        ),
        (
            "/v1/products/3f2504e0-4f89-51d3-9a0c-0305e82c3301/reviews?offset=-1",
            r#"["query","offset"]"#,
            "greater_than_equal",
        ),
        (
            "/v1/products/3f2504e0-4f89-51d3-9a0c-0305e82c3301/reviews?limit=101",
            r#"["query","limit"]"#,
            "less_than_equal",
        ),
        ("/v1/brands?limit=101", r#"["query","limit"]"#, "less_than_equal"),
        ("/v1/brands?cursor=abc", r#"["query","cursor"]"#, "value_error"),
        ("/v1/brands/%FF", r#"["path","slug"]"#, "string_unicode"),
    ];
    for (path, loc, kind) in cases {
        let loc: Value = serde_json::from_str(loc).unwrap();
        assert_eq!(faults(&market, path).await, [(loc, kind.into())], "{path}");
    }
    let long = format!("/v1/search?q={}", "é".repeat(513).replace('é', "%C3%A9"));
    assert_eq!(faults(&market, &long).await[0].1, "string_too_long");
    let both = faults(&market, "/v1/products/42/reviews?limit=x&offset=y").await;
    assert_eq!(both.len(), 3);
}

#[tokio::test]
async fn a_cursor_that_this_server_did_not_sign_is_told_with_the_other_faults() {
    let market = Market::of(&small()).await;
    let listed = market.get("/v1/brands?limit=1").await.json();
    let own = listed["provenance"]["page"]["next_cursor"].as_str().unwrap().to_owned();
    let mut forged = own.clone();
    forged.replace_range(..1, if own.starts_with('A') { "B" } else { "A" });
    let product = "/v1/products/3f2504e0-4f89-51d3-9a0c-0305e82c3301";
    for path in [
        "/v1/brands".to_owned(),
        "/v1/browse".to_owned(),
        "/v1/brands/loom-thread/products".to_owned(),
        format!("{product}/reviews"),
        format!("{product}/price-history"),
    ] {
        for cursor in ["x", &forged] {
            let path = format!("{path}?category=coffee&limit=0&cursor={cursor}");
            let places: Vec<Value> = faults(&market, &path).await.into_iter().map(|(loc, _)| loc).collect();
            assert_eq!(
                places,
                [json!(["query", "limit"]), json!(["query", "cursor"])],
                "{path}"
            );
        }
        // A request with another fault never reaches the release, which is needed to check the cursor's list.
        let path = format!("{path}?category=coffee&limit=0&cursor={own}");
        assert_eq!(faults(&market, &path).await.len(), 1, "{path}");
    }
}

mod any_query {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};

    use super::*;

    const NAMES: &[&str] = &[
        "q",
        "price_min",
        "price_max",
        "in_stock",
        "on_sale",
        "brand",
        "facets",
        "sort",
        "mode",
        "limit",
        "currency",
        "include",
        "cursor",
        "offset",
        "category",
        "kind",
    ];
    const VALUES: &[&str] = &[
        "",
        "1",
        "-1",
        "true",
        "{}",
        "{\"a\":[1]}",
        "coffee shirt",
        "\u{0}",
        "ﷺ",
        "%",
        "9e999",
        "[[[[[",
        "a'b\"c",
        "price_asc",
    ];

    fn escaped(text: &str) -> String {
        text.bytes().map(|byte| format!("%{byte:02X}")).collect()
    }

    #[test]
    fn no_query_string_is_answered_with_a_server_error() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let market = runtime.block_on(Market::of(&small()));
        let (name, plain) = (prop::sample::select(NAMES), prop::sample::select(VALUES));
        let value = prop_oneof![plain.prop_map(str::to_owned), any::<String>()];
        let path = prop::sample::select(vec![
            "/v1/search",
            "/v1/brands",
            "/v1/brands/x",
            "/v1/products/sha:0123456789abcdef0123456789abcdef01234567",
            "/v1/stats",
            "/v1/products/sha:0123456789abcdef0123456789abcdef01234567/reviews",
            "/v1/categories",
            "/",
            "/healthz",
            "/nowhere",
        ]);
        let pairs = prop::collection::vec((name, value), 0..6);
        let mut runner = TestRunner::new(Config {
            cases: 256,
            failure_persistence: None,
            ..Config::default()
        });
        let tried = runner.run(&(path, pairs, "[!-~]{0,20}"), |(path, pairs, raw)| {
            let pairs: Vec<_> = pairs
                .iter()
                .map(|(name, value)| format!("{name}={}", escaped(value)))
                .collect();
            let uri = format!(
                "{path}?{}&{}",
                pairs.join("&"),
                raw.replace(['#', '"', '<', '>', '`', '{', '}', '\\', '^', '|'], "")
            );
            prop_assume!(uri.parse::<http::Uri>().is_ok());
            let answered = runtime.block_on(market.get(&uri));
            prop_assert!(answered.status.as_u16() < 500, "{uri}: {}", answered.status);
            prop_assert!(answered.headers.contains_key("x-request-id"));
            Ok(())
        });
        tried.unwrap();
    }
}
