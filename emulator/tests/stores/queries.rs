//! Tests that Storefront GraphQL responds like the platform.

use serde_json::json;

use super::*;

/// Returns the global ids of the first variant of each of the first products.
async fn variants(store: &StoreAddress) -> Vec<String> {
    let products = crawl(store, 250).await;
    let ids = products
        .iter()
        .map(|product| format!("gid://shopify/ProductVariant/{}", product["variants"][0]["id"]));
    ids.collect()
}

async fn with_token(running: &RunningStores, store: &StoreAddress, asked: &str) -> Value {
    let token = running.storefront_token(&store.slug).unwrap();
    let headers = [("x-shopify-storefront-access-token", token.as_str())];
    post(store, GRAPHQL, &headers, &json!({ "query": asked })).await.json()
}

#[tokio::test]
async fn a_product_is_told_whole() {
    let (running, store) = store(40).await;
    let products = crawl(&store, 250).await;
    let product = products
        .iter()
        .find(|it| it["variants"].as_array().unwrap().len() == 2)
        .unwrap();
    let asked = format!(
        "{{ product(handle: {}) {{
            id title handle vendor productType description(truncateAt: 30) createdAt publishedAt availableForSale
            onlineStoreUrl tags totalInventory options {{ name values }} variantsCount {{ count precision }}
            priceRange {{ minVariantPrice {{ amount }} maxVariantPrice {{ amount currencyCode }} }}
            compareAtPriceRange {{ maxVariantPrice {{ amount }} }}
            featuredImage {{ id url width }}
            variants(first: 5) {{ nodes {{ id sku title price {{ amount }} compareAtPrice {{ amount }}
                availableForSale currentlyNotInStock quantityAvailable selectedOptions {{ name value }} }} }}
        }} }}",
        product["handle"]
    );
    let answer = with_token(&running, &store, &asked).await;
    insta::assert_snapshot!(answer["data"].to_string().replace(&store.base_url, "STORE"), @r#"{"product":{"availableForSale":true,"compareAtPriceRange":{"maxVariantPrice":{"amount":"0.0"}},"createdAt":"2025-12-20T10:10:44Z","description":"Willow Beans began with one...","featuredImage":{"id":"gid://shopify/ProductImage/28407412824342","url":"STORE/cdn/shop/files/aria-classic-cold-brew-bags-5_1.svg?v=1766245304","width":1200},"handle":"aria-classic-cold-brew-bags-5","id":"gid://shopify/Product/6196290540730","onlineStoreUrl":"STORE/products/aria-classic-cold-brew-bags-5","options":[{"name":"Pack","values":["Pack of 2","Pack of 4"]}],"priceRange":{"maxVariantPrice":{"amount":"1136.0","currencyCode":"INR"},"minVariantPrice":{"amount":"649.0"}},"productType":"Cold Brew","publishedAt":"2025-12-20T10:15:55Z","tags":["Cold Brew","Classic","gifting","handmade","wh_BLR","bestseller"],"title":"Aria Classic Cold Brew Bags","totalInventory":26,"variants":{"nodes":[{"availableForSale":false,"compareAtPrice":null,"currentlyNotInStock":false,"id":"gid://shopify/ProductVariant/52718735359530","price":{"amount":"649.0"},"quantityAvailable":0,"selectedOptions":[{"name":"Pack","value":"Pack of 2"}],"sku":"WIL-540730-1","title":"Pack of 2"},{"availableForSale":true,"compareAtPrice":null,"currentlyNotInStock":false,"id":"gid://shopify/ProductVariant/63462920289989","price":{"amount":"1136.0"},"quantityAvailable":26,"selectedOptions":[{"name":"Pack","value":"Pack of 4"}],"sku":"WIL-540730-2","title":"Pack of 4"}]},"variantsCount":{"count":2,"precision":"EXACT"},"vendor":"Willow Beans"}}"#);
}

#[tokio::test]
async fn nodes_are_in_the_order_asked_and_null_where_there_is_none() {
    let (_running, store) = store(20).await;
    let mut ids = variants(&store).await;
    ids.insert(1, "gid://shopify/ProductVariant/1".to_owned());
    ids.insert(3, "gid://shopify/Metaobject/7".to_owned());
    let asked = "query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }";
    let answer = query(&store, asked, json!({ "ids": ids })).await;
    assert_eq!(answer.header("x-shopify-api-version"), "2026-04");
    let answer = answer.json();
    let nodes = answer["data"]["nodes"].as_array().unwrap();
    for (nth, (id, node)) in ids.iter().zip(nodes).enumerate() {
        let expected = if nth == 1 || nth == 3 {
            Value::Null
        } else {
            json!({ "__typename": "ProductVariant", "id": id })
        };
        assert_eq!(*node, expected);
    }
    let answer = query(&store, asked, json!({ "ids": ["52718735359530"] })).await.json();
    insta::assert_snapshot!(answer, @r#"{"data":null,"errors":[{"locations":[{"column":24,"line":1}],"message":"Invalid global id '52718735359530'","path":["nodes"]}],"extensions":{"cost":{"requestedQueryCost":1}}}"#);
}

#[tokio::test]
async fn versions_are_echoed_and_expired_ones_fall_forward() {
    let (_running, store) = store(3).await;
    for (asked, answered) in [
        ("2025-10", "2025-10"),
        ("2026-10", "2026-10"),
        ("unstable", "unstable"),
        ("2024-01", "2025-10"),
    ] {
        let path = format!("/api/{asked}/graphql.json");
        let answer = post(&store, &path, &[], &json!({ "query": "{ shop { name } }" })).await;
        assert_eq!((answer.status, answer.header("x-shopify-api-version")), (200, answered));
        assert_eq!(answer.json()["data"]["shop"]["name"], store.name.as_str());
    }
    assert_eq!(
        post(
            &store,
            "/api/2031-01/graphql.json",
            &[],
            &json!({ "query": "{ shop { name } }" })
        )
        .await
        .status,
        404
    );
    assert_eq!(get(&store, GRAPHQL).await.status, 404);
}

#[tokio::test]
async fn what_is_no_query_is_refused() {
    let (_running, store) = store(3).await;
    let send = async |content_type: &str, body: &str| {
        let request = client()
            .post(format!("{}{GRAPHQL}", store.base_url))
            .header("content-type", content_type.to_owned());
        request.body(body.to_owned()).send().await.unwrap().status().as_u16()
    };
    assert_eq!(send("application/json", "{").await, 400);
    assert_eq!(send("application/json", "[]").await, 400);
    assert_eq!(send("text/plain", "{\"query\":\"{ shop { name } }\"}").await, 400);
    assert_eq!(
        send("application/json; charset=utf-8", "{\"query\":\"{ shop { name } }\"}").await,
        200
    );
}

#[tokio::test]
async fn no_body_breaks_the_store() {
    use proptest::strategy::{Strategy, ValueTree};
    use proptest::test_runner::TestRunner;
    let (_running, store) = store(3).await;
    let mut runner = TestRunner::deterministic();
    let words =
        "([{}()!:@$|=\\[\\]\" ]|query|fragment|on|shop|name|nodes|products|first|Product|ids|ID|\\.\\.\\.|7){0,40}";
    for _ in 0..150 {
        let asked = words.new_tree(&mut runner).unwrap().current();
        let answer = query(&store, &asked, json!({ "ids": asked })).await;
        assert_eq!(answer.status, 200, "{asked}");
        assert!(answer.json().is_object());
    }
    assert_eq!(query(&store, "{ shop { name } }", json!({})).await.status, 200);
}

#[tokio::test]
async fn invalid_queries_are_answered_with_200_and_what_is_wrong() {
    let (_running, store) = store(3).await;
    let mut told = String::new();
    for (asked, variables) in [
        ("{ shop { nmae } }", json!({})),
        ("{ shop { name }", json!({})),
        ("{ product(id: 5, hndle: \"x\") { id } }", json!({})),
        ("{ shop }", json!({})),
        ("query ($id: ID!) { product(id: $id) { id } }", json!({})),
        (
            "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }",
            json!({ "ids": "x" }),
        ),
        ("query @inContext(country: XX) { shop { name } }", json!({})),
        ("{ products { nodes { id } } }", json!({})),
        ("mutation { cartMake { cart { id } } }", json!({})),
    ] {
        let answer = query(&store, asked, variables).await;
        assert_eq!(answer.status, 200);
        let answer = answer.json();
        assert!(
            answer["errors"].as_array().is_some_and(|errors| !errors.is_empty()),
            "{asked}: {answer}"
        );
        told.push_str(&format!("{asked}\n  {}\n", answer["errors"][0]));
    }
    insta::assert_snapshot!(told, @r#"
{ shop { nmae } }
  {"extensions":{"code":"undefinedField","fieldName":"nmae","typeName":"Shop"},"locations":[{"column":10,"line":1}],"message":"Field 'nmae' doesn't exist on type 'Shop'"}
{ shop { name }
  {"locations":[{"column":16,"line":1}],"message":"syntax error: expected R_CURLY, got EOF"}
{ product(id: 5, hndle: "x") { id } }
  {"extensions":{"argumentName":"hndle","code":"argumentNotAccepted"},"locations":[{"column":18,"line":1}],"message":"Unknown argument \"hndle\" on field \"QueryRoot.product\"."}
{ shop }
  {"extensions":{"code":"selectionMismatch"},"locations":[{"column":3,"line":1}],"message":"Field \"shop\" of type \"QueryRoot\" must have a selection of subfields. Did you mean \"shop { ... }\"?"}
query ($id: ID!) { product(id: $id) { id } }
  {"extensions":{"code":"INVALID_VARIABLE"},"locations":[{"column":8,"line":1}],"message":"missing value for non-null variable 'id'"}
query ($ids: [ID!]!) { nodes(ids: $ids) { id } }
  {"locations":[{"column":24,"line":1}],"message":"Invalid global id 'x'","path":["nodes"]}
query @inContext(country: XX) { shop { name } }
  {"extensions":{"code":"argumentLiteralsIncompatible"},"locations":[{"column":27,"line":1}],"message":"Value \"XX\" does not exist in \"CountryCode\" enum."}
{ products { nodes { id } } }
  {"locations":[{"column":3,"line":1}],"message":"you must provide one of first or last","path":["products"]}
mutation { cartMake { cart { id } } }
  {"extensions":{"code":"undefinedField","fieldName":"cartMake","typeName":"Mutation"},"locations":[{"column":12,"line":1}],"message":"Field 'cartMake' doesn't exist on type 'Mutation'"}
"#);
}

#[tokio::test]
async fn without_a_token_complexity_is_bounded() {
    let (running, store) = store(3).await;
    let asked = "{ products(first: 250) { nodes { variants(first: 250) { nodes { price { amount } compareAtPrice { amount } product { id } } } } } }";
    let answer = query(&store, asked, json!({})).await;
    assert_eq!(answer.status, 200);
    insta::assert_snapshot!(answer.text(), @r#"{"errors":[{"extensions":{"code":"MAX_COMPLEXITY_EXCEEDED","cost":1232,"maxCost":1000},"message":"Complexity exceeded"}]}"#);
    assert!(with_token(&running, &store, asked).await["data"]["products"]["nodes"].is_array());
    let cheap = query(&store, "{ shop { name } }", json!({})).await.json();
    assert_eq!(cheap["extensions"], json!({ "cost": { "requestedQueryCost": 1 } }));
}

#[tokio::test]
async fn lists_of_more_than_250_values_are_refused() {
    let (_running, store) = store(3).await;
    let ids: Vec<String> = (0..251).map(|id| format!("gid://shopify/Product/{id}")).collect();
    let asked = "query ($ids: [ID!]!) {\n  nodes(ids: $ids) { id }\n}";
    let answer = query(&store, asked, json!({ "ids": ids })).await;
    assert_eq!(answer.status, 200);
    insta::assert_snapshot!(answer.text(), @r#"{"errors":[{"extensions":{"code":"MAX_INPUT_SIZE_EXCEEDED"},"locations":[{"column":3,"line":2}],"message":"The input array size of 251 is greater than the maximum allowed of 250.","path":["nodes","ids"]}]}"#);
    let answer = query(&store, asked, json!({ "ids": ids[..250] })).await.json();
    assert_eq!(answer["data"]["nodes"].as_array().unwrap().len(), 250);
}

#[tokio::test]
async fn what_needs_a_token_is_denied_without_one() {
    let (running, store) = store(20).await;
    let ids = variants(&store).await;
    let asked = format!(
        "{{ node(id: \"{}\") {{ ... on ProductVariant {{ sku quantityAvailable }} }} }}",
        ids[0]
    );
    let answer = query(&store, &asked, json!({})).await.json();
    assert!(answer["data"]["node"]["quantityAvailable"].is_null());
    insta::assert_snapshot!(answer["errors"], @r#"[{"extensions":{"code":"ACCESS_DENIED","documentation":"https://shopify.dev/api/usage/access-scopes","requiredAccess":"`unauthenticated_read_product_inventory` access scope"},"locations":[{"column":89,"line":1}],"message":"Access denied for quantityAvailable field. Required access: `unauthenticated_read_product_inventory` access scope.","path":["node","quantityAvailable"]}]"#);
    let answer = with_token(&running, &store, &asked).await;
    assert!(answer["data"]["node"]["quantityAvailable"].is_u64() && answer.get("errors").is_none());

    let tags = query(&store, "{ products(first: 1) { nodes { id tags } } }", json!({}))
        .await
        .json();
    assert_eq!(
        (&tags["data"], &tags["errors"][0]["extensions"]["code"]),
        (&Value::Null, &json!("ACCESS_DENIED"))
    );
    let headers = [("x-shopify-storefront-access-token", "0123456789abcdef0123456789abcdef")];
    let answer = post(&store, GRAPHQL, &headers, &json!({ "query": "{ shop { name } }" })).await;
    assert_eq!(
        (answer.status, answer.json()["errors"][0]["extensions"]["code"].clone()),
        (401, json!("UNAUTHORIZED"))
    );
}

#[tokio::test]
async fn the_token_of_the_pages_reads_no_stock() {
    let (_running, store) = store(5).await;
    let page = get(&store, "/").await.text();
    let token = page
        .split("\"accessToken\":\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let headers = [("x-shopify-storefront-access-token", token)];
    let asked = json!({ "query": "{ products(first: 1) { nodes { tags totalInventory } } }" });
    let answer = post(&store, GRAPHQL, &headers, &asked).await.json();
    let node = &answer["data"]["products"]["nodes"][0];
    assert!(node["tags"].is_array() && node["totalInventory"].is_null());
    assert_eq!(answer["errors"][0]["extensions"]["code"], "ACCESS_DENIED");
}

#[tokio::test]
async fn stock_is_a_number_that_agrees_with_what_is_for_sale() {
    let (running, store) = store(120).await;
    let asked = "{ products(first: 120) { nodes { totalInventory availableForSale
        variants(first: 100) { nodes { quantityAvailable availableForSale currentlyNotInStock } } } } }";
    let answer = with_token(&running, &store, asked).await;
    let (mut sold_out, mut on_order, mut in_stock) = (0, 0, 0);
    for product in answer["data"]["products"]["nodes"].as_array().unwrap() {
        let mut sum = 0;
        for variant in product["variants"]["nodes"].as_array().unwrap() {
            let quantity = variant["quantityAvailable"].as_u64().unwrap();
            sum += quantity;
            match (
                variant["availableForSale"].as_bool().unwrap(),
                variant["currentlyNotInStock"].as_bool().unwrap(),
            ) {
                (true, true) => {
                    assert_eq!(quantity, 0);
                    on_order += 1;
                }
                (true, false) => {
                    assert!(quantity > 0);
                    in_stock += 1;
                }
                (false, not_in_stock) => {
                    assert!(quantity == 0 && !not_in_stock);
                    sold_out += 1;
                }
            }
        }
        assert_eq!(product["totalInventory"], sum);
    }
    assert!(
        sold_out > 5 && on_order > 0 && in_stock > 50,
        "{sold_out} {on_order} {in_stock}"
    );
}

#[tokio::test]
async fn pages_by_cursor_are_the_whole_list() {
    let (_running, store) = store(130).await;
    let asked = "query ($after: String) {
      products(first: 40, after: $after, sortKey: TITLE) { nodes { id title } pageInfo { hasNextPage endCursor } } }";
    let (mut after, mut titles, mut ids) = (Value::Null, Vec::new(), std::collections::HashSet::new());
    loop {
        let answer = query(&store, asked, json!({ "after": after })).await.json();
        let page = &answer["data"]["products"];
        for node in page["nodes"].as_array().unwrap() {
            titles.push(node["title"].as_str().unwrap().to_lowercase());
            assert!(ids.insert(node["id"].as_str().unwrap().to_owned()));
        }
        if !page["pageInfo"]["hasNextPage"].as_bool().unwrap() {
            break;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
    assert_eq!(ids.len(), 130);
    assert!(titles.is_sorted());
}

#[tokio::test]
async fn collections_hold_what_the_json_views_say() {
    let (_running, store) = store(60).await;
    let listed = get(&store, "/collections.json?limit=250").await.json();
    let asked = "{ collections(first: 250, sortKey: TITLE) { totalCount nodes { id title handle
        products(first: 250) { nodes { handle } } } } }";
    let answer = query(&store, asked, json!({})).await.json();
    let nodes = answer["data"]["collections"]["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), listed["collections"].as_array().unwrap().len());
    for node in nodes {
        let handle = node["handle"].as_str().unwrap();
        let json = get(&store, &format!("/collections/{handle}/products.json?limit=250"))
            .await
            .json();
        let handles = |products: &Value| -> Vec<String> {
            products
                .as_array()
                .unwrap()
                .iter()
                .map(|product| product["handle"].to_string())
                .collect()
        };
        assert_eq!(handles(&json["products"]), handles(&node["products"]["nodes"]));
        let collection = get(&store, &format!("/collections/{handle}.json")).await.json();
        assert_eq!(
            node["id"],
            format!("gid://shopify/Collection/{}", collection["collection"]["id"])
        );
    }
}

#[tokio::test]
async fn the_country_asked_for_is_the_country_told_and_prices_are_the_stores() {
    let (_running, store) = store(10).await;
    let asked = "query ($country: CountryCode) @inContext(country: $country, language: HI) {
      localization { country { isoCode name currency { isoCode } } language { isoCode } }
      products(first: 10) { nodes { priceRange { minVariantPrice { amount currencyCode } } } } }";
    let india = query(&store, asked, json!({ "country": "IN" })).await.json();
    let states = query(&store, asked, json!({ "country": "US" })).await.json();
    assert_eq!(
        states["extensions"]["context"],
        json!({ "country": "US", "language": "HI" })
    );
    assert_eq!(india["data"]["products"], states["data"]["products"]);
    insta::assert_snapshot!(states["data"]["localization"], @r#"{"country":{"currency":{"isoCode":"INR"},"isoCode":"US","name":"United States"},"language":{"isoCode":"HI"}}"#);
    let own = query(&store, "{ localization { country { isoCode } } }", json!({}))
        .await
        .json();
    assert_eq!(own["data"]["localization"]["country"]["isoCode"], "IN");
    assert!(own["extensions"].get("context").is_none());
}

#[tokio::test]
async fn policies_are_the_pages_that_robots_keeps_clients_from() {
    let running = market(12, 12).await;
    let asked = "{ shop { name primaryDomain { host url } paymentSettings { currencyCode countryCode } shipsToCountries
      shippingPolicy { title handle body url } refundPolicy { handle body url }
      privacyPolicy { handle body url } termsOfService { handle body url } subscriptionPolicy { body } } }";
    let mut absent = 0;
    for store in running.stores() {
        let answer = query(&store, asked, json!({})).await.json();
        let shop = &answer["data"]["shop"];
        assert_eq!(
            (&shop["name"], &shop["primaryDomain"]["host"]),
            (&json!(store.name), &json!(store.domain))
        );
        assert_eq!(shop["paymentSettings"]["currencyCode"], store.currency.as_str());
        for (field, handle) in [
            ("shippingPolicy", "shipping-policy"),
            ("refundPolicy", "refund-policy"),
            ("privacyPolicy", "privacy-policy"),
            ("termsOfService", "terms-of-service"),
        ] {
            let page = get(&store, &format!("/policies/{handle}")).await;
            if shop[field].is_null() {
                assert_eq!(page.status, 404);
                absent += 1;
            } else {
                assert!(page.text().contains(shop[field]["body"].as_str().unwrap()), "{field}");
            }
        }
        assert!(
            get(&store, "/robots.txt")
                .await
                .text()
                .contains("\nDisallow: /policies/\n")
        );
    }
    assert!(absent > 2);
}
