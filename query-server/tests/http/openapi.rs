use std::collections::BTreeSet;

use query_server::QueryServer;
use serde_json::Value;

use crate::support::Market;

fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[tokio::test]
async fn the_description_holds_together() {
    let answered = Market::empty().get("/openapi.json").await;
    assert_eq!(answered.headers["content-type"], "application/json");
    let document = answered.json();
    assert_eq!(
        (
            document["openapi"].as_str().unwrap().starts_with("3."),
            &document["info"]["version"]
        ),
        (true, &"1.0".into())
    );
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(!found.is_empty());
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
    }
    let mut ids = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"]
                .as_str()
                .unwrap_or_else(|| panic!("{method} {path} has no id"));
            assert!(ids.insert(id), "{id} twice");
            let named: BTreeSet<_> = path
                .split('{')
                .skip(1)
                .filter_map(|rest| rest.split('}').next())
                .collect();
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let documented = parameters.iter().filter(|one| one["in"] == "path");
            let documented: Vec<_> = documented.map(|one| one["name"].as_str().unwrap().to_owned()).collect();
            assert_eq!(
                documented.iter().map(String::as_str).collect::<BTreeSet<_>>(),
                named,
                "{path}"
            );
        }
    }
}

#[test]
fn every_operation_lists_every_status_it_can_answer() {
    let document = serde_json::to_value(QueryServer::openapi()).unwrap();
    let mut lines = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let statuses: Vec<_> = operation["responses"]
                .as_object()
                .unwrap()
                .keys()
                .map(String::as_str)
                .collect();
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let names: Vec<_> = parameters.iter().map(|one| one["name"].as_str().unwrap()).collect();
            let id = operation["operationId"].as_str().unwrap();
            lines.push(format!(
                "{} {path} {id}({}) {}",
                method.to_uppercase(),
                names.join(" "),
                statuses.join(" ")
            ));
        }
    }
    insta::assert_snapshot!(lines.join("\n"), @"
        GET /healthz health() 200 405
        GET /readyz ready() 200 405 503
        GET /v1/brands list_brands(q category limit cursor) 200 304 401 404 405 408 413 414 422 429 431 500 503
        GET /v1/brands/{slug} get_brand(slug) 200 304 401 404 405 408 413 414 422 429 431 500 503
        GET /v1/brands/{slug}/products list_brand_products(slug category limit cursor price_min price_max in_stock on_sale facets kind sort currency fold pincode deliver_by facet_values_max facet_query) 200 304 401 404 405 408 413 414 422 429 431 500 503
        GET /v1/browse browse(brand category limit cursor price_min price_max in_stock on_sale facets kind sort currency fold pincode deliver_by facet_values_max facet_query) 200 304 401 404 405 408 413 414 422 429 431 500 503
        GET /v1/categories list_categories() 200 304 401 405 408 413 414 422 429 431 500 503
        GET /v1/changes list_changes(since brand limit cursor) 200 304 401 404 405 408 413 414 422 429 431 500 503
        GET /v1/lookup lookup_products(url sku handle brand) 200 304 401 405 408 413 414 422 429 431 500 503
        GET /v1/products/{ident} get_product(ident include pincode) 200 304 401 404 405 408 413 414 422 429 431 500 503
        GET /v1/products/{ident}/offers list_offers(ident limit pincode) 200 304 401 404 405 408 413 414 422 429 431 500 503
        GET /v1/products/{ident}/price-history list_price_history(ident limit cursor) 200 304 401 404 405 408 413 414 422 429 431 500 503
        GET /v1/products/{ident}/reviews list_reviews(ident limit offset cursor) 200 304 401 404 405 408 413 414 422 429 431 500 503
        GET /v1/recommend recommend(product_id intent kind limit) 200 304 401 404 405 408 413 414 422 429 431 500 503
        GET /v1/search search_products(q brand mode limit per_brand_max similar_to facet_counts understand explain price_min price_max in_stock on_sale facets kind sort currency fold pincode deliver_by facet_values_max facet_query) 200 304 401 404 405 408 413 414 422 429 431 500 503
        GET /v1/shipping get_shipping(product pincode) 200 304 401 404 405 408 413 414 422 429 431 500 503
        GET /v1/stats get_stats(by) 200 304 401 405 408 413 414 422 429 431 500 503
        GET /v1/suggest suggest(q limit) 200 304 401 405 408 413 414 422 429 431 500 503
        ");
}

#[tokio::test]
async fn every_answer_with_a_request_id_says_so() {
    let document = serde_json::to_value(QueryServer::openapi()).unwrap();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (status, answer) in item["get"]["responses"].as_object().unwrap() {
            assert!(answer["headers"].get("X-Request-Id").is_some(), "{path} {status}");
        }
    }
    let market = Market::empty();
    for (method, path, status) in [
        ("GET", "/healthz", 200),
        ("POST", "/healthz", 405),
        ("POST", "/readyz", 405),
        ("GET", "/readyz", 503),
    ] {
        let request = http::Request::builder().method(method).uri(path);
        let answered = market.send(request.body(axum::body::Body::empty()).unwrap()).await;
        assert_eq!(answered.status.as_u16(), status, "{method} {path}");
        assert!(answered.headers.contains_key("x-request-id"), "{method} {path}");
        let headers = document["paths"][path]["get"]["responses"][status.to_string()]["headers"].as_object();
        for name in ["allow", "retry-after"] {
            let documented = headers.unwrap().keys().any(|header| header.eq_ignore_ascii_case(name));
            assert_eq!(
                answered.headers.contains_key(name),
                documented,
                "{method} {path} {name}"
            );
        }
    }
}

fn schema_of<'a>(document: &'a Value, path: &str, name: &str) -> &'a Value {
    let parameters = document["paths"][path]["get"]["parameters"].as_array().unwrap();
    &parameters.iter().find(|one| one["name"] == name).unwrap()["schema"]
}

#[test]
fn parameters_are_described_as_narrowly_as_they_are_read() {
    let document = serde_json::to_value(QueryServer::openapi()).unwrap();
    let ident = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$";
    for path in [
        "/v1/products/{ident}",
        "/v1/products/{ident}/reviews",
        "/v1/products/{ident}/price-history",
        "/v1/products/{ident}/offers",
    ] {
        assert_eq!(schema_of(&document, path, "ident")["pattern"], ident, "{path}");
    }
    assert_eq!(
        schema_of(&document, "/v1/search", "currency")["pattern"],
        "^([A-Za-z]{3})?$"
    );
    for (path, name, length) in [
        ("/v1/search", "q", 512),
        ("/v1/search", "brand", 200),
        ("/v1/search", "facets", 4096),
        ("/v1/browse", "category", 200),
        ("/v1/browse", "brand", 200),
        ("/v1/browse", "facets", 4096),
        ("/v1/browse", "cursor", 200),
        ("/v1/brands/{slug}/products", "cursor", 200),
        ("/v1/suggest", "q", 512),
        ("/v1/brands", "q", 200),
        ("/v1/brands", "category", 200),
        ("/v1/brands", "cursor", 200),
        ("/v1/products/{ident}", "include", 200),
        ("/v1/products/{ident}/reviews", "cursor", 200),
        ("/v1/products/{ident}/price-history", "cursor", 200),
        ("/v1/changes", "cursor", 200),
    ] {
        assert_eq!(schema_of(&document, path, name)["maxLength"], length, "{path} {name}");
    }
}

#[test]
fn the_input_of_a_fault_may_be_any_json() {
    let document = serde_json::to_value(QueryServer::openapi()).unwrap();
    let input = document["components"]["schemas"]["Violation"]["properties"]["input"]
        .as_object()
        .unwrap();
    let names: Vec<_> = input.keys().map(String::as_str).collect();
    assert_eq!(names, ["description"], "only words, no type: {input:?}");
    let required = &document["components"]["schemas"]["Violation"]["required"];
    assert_eq!(required, &serde_json::json!(["loc", "msg", "type"]));
}

#[test]
fn answers_may_gain_members_and_say_what_their_texts_and_numbers_are() {
    let document = serde_json::to_value(QueryServer::openapi()).unwrap();
    assert_eq!(kit::description_faults(&document), Vec::<String>::new());
    let card = &document["components"]["schemas"]["ProductCard"];
    assert_eq!(
        (
            &card["properties"]["id"]["format"],
            &card["properties"]["image"]["format"],
            &card["properties"]["price_min_minor"]["format"],
        ),
        (&"uuid".into(), &"uri".into(), &"int64".into())
    );
}

#[test]
fn what_is_not_always_sent_is_not_required() {
    let document = serde_json::to_value(QueryServer::openapi()).unwrap();
    let mut optional = Vec::new();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let members = schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(member, _)| member);
        let absent = members.filter(|member| !required.contains(&member.as_str().into()));
        optional.extend(absent.map(|member| format!("{name}.{member}")));
    }
    optional.sort();
    insta::assert_snapshot!(optional.join("\n"), @r"
    BrandOffer.delivery
    BrowsePage.capped
    BrowseProvenance.ignored
    ChangesAnswer.capped
    FacetValue.value_capped
    OffersProvenance.ignored
    Pages.ignored
    PriceBasis.histogram
    PriceBasis.max_minor
    PriceBasis.min_minor
    PriceBin.value_capped
    ProductCard.delivery
    ProductCard.swatches
    ProductDetail.attributes
    ProductDetail.delivery
    ProductDetail.discounts
    ProductDetail.media
    ProductDetail.offers
    ProductDetail.reviews
    ProductDetail.variants
    ProductProvenance.ignored
    Provenance.ignored
    RecommendProvenance.ignored
    SearchProvenance.explain
    SearchProvenance.facets
    SearchProvenance.ignored
    SearchProvenance.price
    StatsByProvenance.ignored
    UnderstoodFilter.categories
    UnderstoodFilter.currency
    UnderstoodFilter.excluded
    UnderstoodFilter.in_stock
    UnderstoodFilter.on_sale
    UnderstoodFilter.price_max
    UnderstoodFilter.price_min
    UnderstoodFilter.required
    UnderstoodFilter.sizes
    UnderstoodPhrase.order
    Violation.ctx
    Violation.input
    ");
}
