use std::sync::Arc;

use api::{Allowance, Asker, Caller, CallerId, KnownCaller, OperationAnswer, RequestId, Via};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::book::Book;
use super::*;
use crate::protocol::version::Era;

/// Returns an OpenAPI description of every operation that a tool calls. Most of these operations have the same form.
fn document() -> Value {
    let answer = json!({ "200": { "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Answer" } } } } });
    let text = |name: &str, place: &str, required: bool| json!({ "name": name, "in": place, "required": required, "description": "d", "schema": { "type": "string" } });
    let key = json!({ "name": "Idempotency-Key", "in": "header", "schema": { "type": "string" } });
    let operation =
        |id: &str, parameters: Vec<Value>| json!({ "operationId": id, "parameters": parameters, "responses": answer });
    let with_body = |mut operation: Value, body: &str| {
        operation["requestBody"] = json!({ "content": { "application/json": { "schema": { "$ref": format!("#/components/schemas/{body}") } } } });
        operation
    };
    let limit = json!({
        "name": "limit", "in": "query", "description": "Most.", "example": 3,
        "schema": { "type": "integer", "format": "int64", "minimum": 1, "maximum": 40, "default": 20 }
    });
    let flag = json!({ "name": "in_stock", "in": "query", "schema": { "type": "boolean" } });
    json!({
        "paths": {
            "/v1/search": { "get": operation("search_products", vec![text("q", "query", false), limit, flag, text("facets", "query", false)]) },
            "/v1/products/{ident}": { "get": operation("get_product", vec![text("ident", "path", true), text("include", "query", false)]) },
            "/v1/products/{ident}/price": { "get": operation("get_price", vec![text("ident", "path", true)]) },
            "/v1/products/{ident}/offers": { "get": operation("list_offers", vec![text("ident", "path", true)]) },
            "/v1/recommend": { "get": operation("recommend", vec![text("product_id", "query", true)]) },
            "/v1/browse": { "get": operation("browse", vec![]) },
            "/v1/suggest": { "get": operation("suggest", vec![]) },
            "/v1/coupons": { "get": operation("find_coupons", vec![]) },
            "/v1/brands": { "get": operation("list_brands", vec![]) },
            "/v1/categories": { "get": operation("list_categories", vec![]) },
            "/v1/cart": { "post": with_body(operation("create_cart", vec![key.clone()]), "Create") },
            "/v1/cart/{cart_id}": { "get": operation("get_cart", vec![text("cart_id", "path", true)]) },
            "/v1/cart/{cart_id}/lines": { "post": with_body(operation("add_cart_lines", vec![text("cart_id", "path", true), key.clone()]), "Create") },
            "/v1/cart/{cart_id}/lines/{line_id}": {
                "patch": with_body(operation("update_cart_line", vec![text("cart_id", "path", true), text("line_id", "path", true)]), "Line"),
                "delete": operation("remove_cart_line", vec![text("cart_id", "path", true), text("line_id", "path", true)]),
            },
            "/v1/cart/{cart_id}/discount": { "post": with_body(operation("add_cart_discount", vec![text("cart_id", "path", true), key.clone()]), "Create") },
            "/v1/checkout": { "post": with_body(operation("create_checkout", vec![key]), "Create") },
        },
        "components": { "schemas": {
            "Answer": {
                "type": "object",
                "required": ["data"],
                "properties": {
                    "data": { "$ref": "#/components/schemas/Node" },
                    "format": { "type": "string", "format": "uri", "enum": ["int64"] },
                }
            },
            "Node": {
                "type": "object",
                "properties": {
                    "count": { "type": ["integer", "null"], "format": "uint32", "minimum": 0 },
                    "rating": { "type": "number", "format": "double", "example": 4.5 },
                    "children": { "type": "array", "items": { "$ref": "#/components/schemas/Node" } }
                }
            },
            "Create": { "type": "object", "required": ["items"], "properties": { "items": { "type": "array", "items": { "$ref": "#/components/schemas/Item" } } } },
            "Item": { "type": "object", "properties": { "qty": { "type": "integer", "format": "int32" } } },
            "Line": { "type": "object", "required": ["qty"], "properties": { "qty": { "type": "integer" } } },
        } }
    })
}

fn asker() -> Asker {
    let known = KnownCaller {
        id: CallerId::account("a1"),
        via: Via::Session,
        allowance: Arc::new(Allowance::unlimited()),
    };
    Asker {
        caller: Caller::Known(Arc::new(known)),
        request_id: RequestId::of(&HeaderMap::from_iter([(
            http::HeaderName::from_static("x-request-id"),
            http::HeaderValue::from_static("r-1"),
        )])),
    }
}

fn listed(with_carts: bool) -> Vec<Value> {
    let book = Book::of(&document(), with_carts).unwrap();
    serde_json::from_str(book.listed()).unwrap()
}

/// Returns a tool's request (method, path, query and body), or the error in its arguments.
fn called(tool: &str, arguments: Value) -> Result<Value, Value> {
    let book = Book::of(&document(), true).unwrap();
    let Value::Object(arguments) = arguments else {
        panic!("no object")
    };
    match book.find(tool).unwrap().call(arguments, asker()) {
        Ok(call) => {
            let body = call.body.map(|body| serde_json::from_slice::<Value>(&body).unwrap());
            let key = call.idempotency_key.map(|key| key.to_str().unwrap().to_owned());
            Ok(json!([
                call.operation_id,
                call.method.as_str(),
                call.path,
                call.query,
                body,
                key
            ]))
        }
        Err(problem) => {
            let answer = OperationAnswer::problem(problem, &asker());
            let document: Value = serde_json::from_slice(&answer.body).unwrap();
            let faults = document["detail"].as_array().unwrap().iter();
            Err(faults.map(|fault| json!([fault["loc"], fault["type"]])).collect())
        }
    }
}

#[test]
fn what_a_tool_takes_is_described_without_formats_of_numbers() {
    insta::assert_json_snapshot!(listed(false)[0]["inputSchema"], @r#"
    {
      "additionalProperties": false,
      "properties": {
        "facets": {
          "description": "d",
          "type": "string"
        },
        "fields": {
          "description": "Fields of each entry to return, separated by commas: `id,title,variants.title`. Default: all.",
          "type": "string"
        },
        "in_stock": {
          "type": "boolean"
        },
        "limit": {
          "default": 20,
          "description": "Most.",
          "examples": [
            3
          ],
          "maximum": 40,
          "minimum": 1,
          "type": "integer"
        },
        "list_from": {
          "description": "Index of the first entry to return of longer lists. `provenance.cut` states where a truncated list continues.",
          "minimum": 0,
          "type": "integer"
        },
        "q": {
          "description": "d",
          "type": "string"
        },
        "view": {
          "description": "`compact` leaves out images, long texts and nulls.",
          "enum": [
            "full",
            "compact"
          ],
          "type": "string"
        }
      },
      "type": "object"
    }
    "#);
}

#[test]
fn what_a_tool_takes_refers_to_nothing() {
    let create = &listed(true)[10]["inputSchema"];
    let item = json!({ "type": "object", "properties": { "qty": { "type": "integer" } } });
    assert_eq!(create["properties"]["items"], json!({ "type": "array", "items": item }));
    assert_eq!(create.get("$defs"), None);
}

#[test]
fn what_a_tool_answers_is_described_by_itself() {
    insta::assert_json_snapshot!(listed(false)[0]["outputSchema"], @r##"
    {
      "$defs": {
        "Node": {
          "properties": {
            "children": {
              "items": {
                "$ref": "#/$defs/Node"
              },
              "type": "array"
            },
            "count": {
              "minimum": 0,
              "type": [
                "integer",
                "null"
              ]
            },
            "rating": {
              "type": "number"
            }
          },
          "type": "object"
        }
      },
      "properties": {
        "data": {
          "$ref": "#/$defs/Node"
        },
        "format": {
          "enum": [
            "int64"
          ],
          "format": "uri",
          "type": "string"
        }
      },
      "required": [
        "data"
      ],
      "type": "object"
    }
    "##);
}

#[test]
fn tools_stand_in_a_fixed_order_and_those_of_carts_where_they_are_offered() {
    let names = |tools: &[Value]| {
        tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let read = [
        "search_products",
        "get_product",
        "get_price",
        "list_offers",
        "recommend",
        "browse",
        "suggest",
        "find_coupons",
        "list_brands",
        "list_categories",
    ];
    assert_eq!(names(&listed(false))[..10], read);
    let all = listed(true);
    assert_eq!(
        names(&all[10..]),
        [
            "create_cart",
            "update_cart",
            "get_cart",
            "apply_discount",
            "checkout_links",
            "search",
            "fetch"
        ]
    );
    for tool in &all {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert!(tool["annotations"]["readOnlyHint"].is_boolean() && tool["title"].is_string());
    }
    assert_eq!(
        all[11]["inputSchema"]["required"],
        json!(["cart_id"]),
        "whatever it changes"
    );
    assert_eq!(all[2]["inputSchema"]["required"], json!(["ident"]));
}

#[test]
fn a_tool_over_an_operation_that_is_not_described_is_no_tool() {
    let mut document = document();
    document["paths"].as_object_mut().unwrap().remove("/v1/suggest");
    let error = Book::of(&document, false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the tool suggest calls suggest, which the API description does not contain"
    );
}

#[test]
fn arguments_become_the_request_of_rest() {
    let search = json!({ "q": "a&b", "limit": 5, "in_stock": true, "facets": { "color": ["red"] }, "brand": null });
    assert_eq!(
        called("search_products", search),
        Ok(json!([
            "search_products",
            "GET",
            "/v1/search",
            [
                ["q", "a&b"],
                ["limit", "5"],
                ["in_stock", "true"],
                ["facets", "{\"color\":[\"red\"]}"]
            ],
            null,
            null
        ]))
    );
    let product = json!({ "ident": "sha:0/..", "include": ["variants", "offers"] });
    assert_eq!(
        called("get_product", product),
        Ok(json!([
            "get_product",
            "GET",
            "/v1/products/sha%3A0%2F..",
            [["include", "variants,offers"]],
            null,
            null
        ]))
    );
    let cart = json!({ "items": [{ "qty": 1 }], "idempotency_key": "once" });
    assert_eq!(
        called("create_cart", cart),
        Ok(json!(["create_cart", "POST", "/v1/cart", [], { "items": [{ "qty": 1 }] }, "once"]))
    );
    assert_eq!(called("list_categories", json!({ "q": null })).unwrap()[3], json!([]));
}

#[test]
fn what_no_path_and_no_query_can_say_is_told_all_at_once() {
    let faults = called(
        "search_products",
        json!({ "q": ["a"], "limit": [1], "in_stock": {}, "facets": [1] }),
    );
    let wanted = json!([
        [["query", "q"], "string_type"],
        [["query", "limit"], "int_type"],
        [["query", "in_stock"], "bool_type"],
        [["query", "facets"], "string_type"],
    ]);
    assert_eq!(faults, Err(wanted));
    assert_eq!(
        called("get_price", json!({})),
        Err(json!([[["path", "ident"], "missing"]]))
    );
    assert_eq!(
        called("get_price", json!({ "ident": null })),
        Err(json!([[["path", "ident"], "missing"]]))
    );
    for traversal in ["", ".", ".."] {
        let refused = called("get_price", json!({ "ident": traversal }));
        assert_eq!(
            refused,
            Err(json!([[["path", "ident"], "string_too_short"]])),
            "{traversal}"
        );
    }
}

#[test]
fn an_argument_that_no_operation_has_is_refused_by_name() {
    let refused = called(
        "search_products",
        json!({ "query": "coffee", "limit": 5, "page": null }),
    );
    assert_eq!(refused, Err(json!([[["query", "query"], "extra_forbidden"]])));
    let refused = called("update_cart", json!({ "cart_id": "c", "lines": [] }));
    assert_eq!(refused, Err(json!([[["body", "lines"], "extra_forbidden"]])));
}

#[test]
fn a_cart_is_changed_by_the_operation_that_takes_the_arguments() {
    let update =
        |arguments: Value| called("update_cart", arguments).map(|call| json!([call[0], call[1], call[2], call[4]]));
    assert_eq!(
        update(json!({ "cart_id": "c", "items": [] })),
        Ok(json!(["add_cart_lines", "POST", "/v1/cart/c/lines", { "items": [] }]))
    );
    assert_eq!(
        update(json!({ "cart_id": "c", "line_id": "l", "qty": 2 })),
        Ok(json!(["update_cart_line", "PATCH", "/v1/cart/c/lines/l", { "qty": 2 }]))
    );
    assert_eq!(
        update(json!({ "cart_id": "c", "line_id": "l", "qty": 0 })),
        Ok(json!(["remove_cart_line", "DELETE", "/v1/cart/c/lines/l", null]))
    );
    let both = update(json!({ "cart_id": "c", "items": [], "qty": 1 }));
    assert_eq!(both, Err(json!([[["body", "items"], "value_error"]])));
    assert_eq!(
        update(json!({ "cart_id": "c", "qty": 1 })),
        Err(json!([[["path", "line_id"], "missing"]]))
    );
}

#[test]
fn a_result_is_the_answer_twice_and_says_whose_text_it_holds() {
    let answer = OperationAnswer {
        status: StatusCode::OK,
        body: "{\"data\":\n\"</script>\u{2028}\\n\"}".into(),
        retry_after: None,
    };
    let results = Results::new(&["/structuredContent/data", "/content/0"], "\"s\":1");
    for (era, resulted) in [(Era::Legacy, Value::Null), (Era::Modern, json!("complete"))] {
        let result = results.written(&answer, era).unwrap();
        assert!(!result.contains('\n'));
        let result: Value = serde_json::from_str(&result).unwrap();
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(result["structuredContent"], text);
        assert_eq!(text, json!({ "data": "</script>\u{2028}\n" }));
        assert_eq!(result["content"][1]["text"], DATA_NOTICE);
        assert_eq!(result["_meta"]["haat/untrusted"][0], "/structuredContent/data");
        assert_eq!((&result["isError"], &result["resultType"]), (&json!(false), &resulted));
    }
    let refused = OperationAnswer {
        status: StatusCode::NOT_FOUND,
        body: "{\"code\":\"product_not_found\"}".into(),
        retry_after: None,
    };
    let result: Value = serde_json::from_str(&results.written(&refused, Era::Modern).unwrap()).unwrap();
    let wanted = json!({
        "content": [{ "type": "text", "text": "{\"code\":\"product_not_found\"}" }],
        "isError": true, "resultType": "complete", "_meta": { "s": 1 },
    });
    assert_eq!(result, wanted);
    let throttled = OperationAnswer {
        retry_after: Some(std::time::Duration::from_millis(2_500)),
        ..refused.clone()
    };
    let result: Value = serde_json::from_str(&results.written(&throttled, Era::Legacy).unwrap()).unwrap();
    let told = "{\"code\":\"product_not_found\",\"retry_after_s\":2}";
    assert_eq!(result["content"][0]["text"], told);
    let broken = OperationAnswer {
        body: "<html>".into(),
        ..refused
    };
    assert_eq!(results.written(&broken, Era::Legacy), None);
}
