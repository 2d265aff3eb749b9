//! Test that sends recorded requests to an emulated store. The responses must have the same shape, or a known reason
//! for a difference.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::recorded::recordings;
use super::*;

/// Recorded request with its response.
struct Capture {
    operation: String,
    path: String,
    query: String,
    variables: Value,
    answer: Value,
}

fn captures(folder: &Path) -> Vec<Capture> {
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let recording: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        collect(&recording, &mut found);
    }
    found
}

fn collect(value: &Value, found: &mut Vec<Capture>) {
    match value {
        Value::Object(members) if value["apiSurface"] == "storefront" && value["query"].is_string() => {
            let text = |key: &str| members[key].as_str().unwrap().to_owned();
            found.push(Capture {
                operation: text("operationName"),
                path: text("path"),
                query: text("query"),
                variables: value["variables"].clone(),
                answer: value["response"]["body"].clone(),
            });
        }
        // `upstreamCalls` is skipped, because it contains a second copy of a request.
        Value::Object(members) => members
            .iter()
            .filter(|(key, _)| *key != "upstreamCalls")
            .for_each(|(_, value)| collect(value, found)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

/// Ids of the emulated store that replace those of the recorded store.
struct EmulatorIds {
    product: Value,
    collection: Value,
}

impl EmulatorIds {
    async fn of(store: &StoreAddress) -> Self {
        let products = crawl(store, 250).await;
        // The product must be like the recorded one: reduced in price, with a SKU, and without pictures.
        let is_alike = |product: &Value| {
            let variant = &product["variants"][0];
            product["images"][0].is_null() && variant["compare_at_price"].is_string() && variant["sku"].is_string()
        };
        let product = products.iter().find(|product| is_alike(product)).unwrap();
        let collections = get(store, "/collections.json?limit=250").await.json();
        let collections = collections["collections"].as_array().unwrap();
        let collection = collections
            .iter()
            .max_by_key(|it| it["products_count"].as_u64())
            .unwrap();
        Self {
            product: product.clone(),
            collection: collection.clone(),
        }
    }

    /// Returns the variables of a capture with this store's ids. Ids that the recorded store did not know stay unknown
    /// here.
    fn variables(&self, capture: &Capture) -> Value {
        let mut variables = capture.variables.clone();
        let data = &capture.answer["data"];
        let is_product = capture.operation.contains("Catalog");
        let (kind, ours) = if is_product {
            ("Product", &self.product)
        } else {
            ("Collection", &self.collection)
        };
        let title = format!("title:\"{}\"", ours["title"].as_str().unwrap());
        let had_none = |key: &str| data[key].is_null();
        let listed = ["products", "catalog", "firstPage"]
            .iter()
            .find_map(|key| data.get(*key));
        let lists_any = listed.is_some_and(|list| list["nodes"][0].is_object() || list["edges"][0].is_object());
        let Some(members) = variables.as_object_mut() else {
            return variables;
        };
        for (name, value) in members.iter_mut() {
            *value = match name.as_str() {
                "id" if had_none("byId") => format!("gid://shopify/{kind}/1").into(),
                "id" => format!("gid://shopify/{kind}/{}", ours["id"]).into(),
                "handle" if had_none("byHandle") && had_none("byHandleArgument") => "no-such-handle".into(),
                "handle" | "newHandle" => ours["handle"].clone(),
                "oldHandle" => "no-such-handle".into(),
                "query" if lists_any => title.clone().into(),
                "query" => "no-such-thing-anywhere".into(),
                "selectedOptions" => {
                    json!([{ "name": ours["options"][0]["name"], "value": ours["variants"][0]["option1"] }])
                }
                _ => continue,
            };
        }
        variables
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

/// Collects the paths at which the shapes of two values differ: another type, or other keys. List items are compared
/// with the first recorded item; an empty list matches any shape.
fn differences(at: &str, recorded: &Value, ours: &Value, found: &mut BTreeMap<String, String>) {
    match (recorded, ours) {
        (Value::Object(one), Value::Object(two)) => {
            for key in one.keys().chain(two.keys()) {
                let inner = if at.is_empty() {
                    key.clone()
                } else {
                    format!("{at}.{key}")
                };
                match (one.get(key), two.get(key)) {
                    (Some(one), Some(two)) => differences(&inner, one, two, found),
                    (Some(_), None) => drop(found.insert(inner, "missing".to_owned())),
                    _ => drop(found.insert(inner, "not recorded".to_owned())),
                }
            }
        }
        (Value::Array(one), Value::Array(two)) => {
            if let Some(first) = one.first() {
                two.iter()
                    .for_each(|item| differences(&format!("{at}[]"), first, item, found));
            }
        }
        _ if kind(recorded) == kind(ours) => {}
        _ => drop(found.insert(at.to_owned(), format!("{} for {}", kind(ours), kind(recorded)))),
    }
}

/// Reasons why the shapes may differ at a path. A difference without a reason fails the test.
const REASONS: &[(&str, &str)] = &[
    ("metafield", "no emulated store has metafields"),
    ("seo.", "no emulated store has texts for search engines"),
    (".barcode", "few emulated stores state barcodes"),
    ("byId.image", "no emulated collection has a picture"),
    ("brand.coverImage", "no emulated store has pictures of its brand"),
    ("shippingPolicy", "the recorded store has other policies"),
    ("termsOfService", "the recorded store has other policies"),
];

/// Returns the result of a capture: a match, or the differences with their reasons.
fn verdict(capture: &Capture, ours: &Value) -> String {
    if let Some(error) = ours["errors"].as_array().and_then(|errors| errors.first()) {
        let reason = "nothing of this project reads content and metaobjects";
        return format!(
            "deviation: not in the schema: {} ({reason})",
            error["message"].as_str().unwrap()
        );
    }
    let mut found = BTreeMap::new();
    differences("", &capture.answer["data"], &ours["data"], &mut found);
    if found.is_empty() {
        return "match".to_owned();
    }
    let told: Vec<String> = found
        .iter()
        .map(|(at, what)| {
            let reason = REASONS
                .iter()
                .find(|(part, _)| at.contains(part))
                .map_or("UNEXPLAINED", |(_, reason)| reason);
            format!("{at} is {what} ({reason})")
        })
        .collect();
    format!("deviation: {}", told.join("; "))
}

fn cost(answer: &Value) -> String {
    answer["extensions"]["cost"]["requestedQueryCost"]
        .as_u64()
        .map_or("–".to_owned(), |cost| cost.to_string())
}

/// True if a query reads the results of earlier mutations.
fn has_state(query: &str) -> bool {
    query.contains("cart(id:") || query.contains("customer(customerAccessToken:")
}

#[tokio::test]
async fn recorded_reads_are_answered_in_the_recorded_shape() {
    let Some(folder) = recordings("recorded/graphql") else {
        return;
    };
    let (running, store) = store(2_000).await;
    let ours = EmulatorIds::of(&store).await;
    let token = running.storefront_token(&store.slug).unwrap();
    let headers = [("x-shopify-storefront-access-token", token.as_str())];
    let mut table: BTreeMap<(String, String), usize> = BTreeMap::new();
    for capture in captures(&folder) {
        // `replay_carts.rs` replays carts and customers in their own order.
        if capture.query.trim_start().starts_with("mutation") || has_state(&capture.query) {
            continue;
        }
        let asked = json!({ "query": capture.query, "variables": ours.variables(&capture), "operationName": capture.operation });
        let answer = post(&store, &capture.path, &headers, &asked).await;
        assert_eq!(answer.status, 200);
        let answer = answer.json();
        let row = format!(
            "{} (cost {}, recorded {})",
            verdict(&capture, &answer),
            cost(&answer),
            cost(&capture.answer)
        );
        *table.entry((capture.operation, row)).or_default() += 1;
    }
    let mut told = String::new();
    for ((operation, row), count) in &table {
        told.push_str(&format!("{operation} ×{count}: {row}\n"));
    }
    println!("{told}");
    assert!(!told.contains("UNEXPLAINED"), "{told}");
    insta::assert_snapshot!(told, @r#"
    StorefrontCatalogHiddenRead ×2: match (cost 9, recorded 9)
    StorefrontCatalogReadAfterAdminSetup ×1: deviation: byId.selectedOrFirstAvailableVariant.barcode is null for text (few emulated stores state barcodes); byId.seo.description is null for text (no emulated store has texts for search engines); byId.seo.title is null for text (no emulated store has texts for search engines); byId.variantBySelectedOptions.barcode is null for text (few emulated stores state barcodes); byId.variants.edges[].node.barcode is null for text (few emulated stores state barcodes) (cost 55, recorded 56)
    StorefrontCatalogReadAfterAdminSetup ×2: match (cost 55, recorded 56)
    StorefrontCatalogUpdatedRead ×1: match (cost 6, recorded 6)
    StorefrontCollectionsAbsentRead ×2: match (cost 7, recorded 7)
    StorefrontCollectionsProductsRead ×7: match (cost 12, recorded 12)
    StorefrontCollectionsReadAfterAdminSetup ×1: deviation: byId.image is null for object (no emulated collection has a picture); byId.metafield is null for object (no emulated store has metafields); byId.metafields[] is null for object (no emulated store has metafields); byId.seo.description is null for text (no emulated store has texts for search engines); byId.seo.title is null for text (no emulated store has texts for search engines) (cost 41, recorded 40)
    StorefrontContentReadAfterAdminSetup ×1: deviation: not in the schema: Field 'article' doesn't exist on type 'QueryRoot' (nothing of this project reads content and metaobjects) (cost –, recorded 86)
    StorefrontCustomDataReadAfterAdminSetup ×1: deviation: not in the schema: Unknown type "MetaobjectHandleInput". (nothing of this project reads content and metaobjects) (cost –, recorded 43)
    StorefrontEnrichmentContextHydrate ×1: match (cost 5, recorded 5)
    StorefrontFirstSliceContext ×1: match (cost 25, recorded 25)
    StorefrontFirstSliceDefault ×1: match (cost 38, recorded 38)
    StorefrontFirstSliceHydrate ×1: deviation: shop.brand.coverImage is null for object (no emulated store has pictures of its brand); shop.shippingPolicy is object for null (the recorded store has other policies); shop.termsOfService is object for null (the recorded store has other policies) (cost 97, recorded 97)
    StorefrontFirstSliceHydrateWithContext ×1: deviation: shop.brand.coverImage is null for object (no emulated store has pictures of its brand); shop.shippingPolicy is object for null (the recorded store has other policies); shop.termsOfService is object for null (the recorded store has other policies) (cost 97, recorded 97)
    StorefrontMenuHydrate ×1: deviation: not in the schema: Field 'menu' doesn't exist on type 'QueryRoot' (nothing of this project reads content and metaobjects) (cost –, recorded 8)
    StorefrontShopNameProxyParity ×1: match (cost 1, recorded 1)
    StorefrontUrlRedirectsEmpty ×1: deviation: not in the schema: Field 'urlRedirects' doesn't exist on type 'QueryRoot' (nothing of this project reads content and metaobjects) (cost –, recorded 7)
    "#);
}
