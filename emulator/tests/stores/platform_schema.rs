//! Tests that the emulator's schema is a subset of the platform's own, and that the project's requests are valid in the
//! platform's schema.
//!
//! The platform's schema is not part of the project. The npm package that CI installs contains it, as the response to
//! an introspection query.

use std::path::{Path, PathBuf};

use apollo_compiler::ast::{FieldDefinition, InputValueDefinition};
use apollo_compiler::schema::{ExtendedType, Type};
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Node, Schema};

use super::*;

const OWN: &str = concat!(
    include_str!("../../src/graphql/schema.graphql"),
    include_str!("../../src/graphql/cart.graphql"),
    include_str!("../../src/graphql/mutation.graphql"),
    include_str!("../../src/graphql/customer.graphql"),
    include_str!("../../src/graphql/codes.graphql")
);

/// Returns the platform's schema. Prints a line and returns `None` if it is absent. In CI it is always present.
#[expect(clippy::disallowed_methods, reason = "the build in CI says where it put the schema")]
fn platform() -> Option<Valid<Schema>> {
    let beside = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/storefront/storefront.schema.graphql"
    ));
    let file = std::env::var_os("TEST_STOREFRONT_SCHEMA").map_or(beside.to_owned(), PathBuf::from);
    let Ok(text) = std::fs::read_to_string(&file) else {
        assert!(
            std::env::var_os("CI").is_none(),
            "no schema of the platform at {}",
            file.display()
        );
        println!("skipped: no schema of the platform at {}", file.display());
        return None;
    };
    let sdl = if file.extension().is_some_and(|kind| kind == "json") {
        written(&text)
    } else {
        text
    };
    Some(Schema::parse_and_validate(sdl, "platform.graphql").unwrap_or_else(|error| panic!("{error}")))
}

/// Converts an introspection result to schema text.
fn written(introspected: &str) -> String {
    let read: Value = serde_json::from_str(introspected).unwrap();
    let schema = if read["data"].is_object() {
        &read["data"]["__schema"]
    } else {
        &read["__schema"]
    };
    let mut out = format!(
        "schema {{ query: {} mutation: {} }}\n",
        word(&schema["queryType"]["name"]),
        word(&schema["mutationType"]["name"])
    );
    for directive in list(&schema["directives"]) {
        if !["skip", "include", "deprecated", "specifiedBy", "oneOf"].contains(&word(&directive["name"])) {
            let places: Vec<&str> = list(&directive["locations"]).iter().map(word).collect();
            out.push_str(&format!(
                "directive @{}{} on {}\n",
                word(&directive["name"]),
                arguments(&directive["args"]),
                places.join(" | ")
            ));
        }
    }
    for kind in list(&schema["types"]) {
        let name = word(&kind["name"]);
        if name.starts_with("__") || ["String", "Int", "Float", "Boolean", "ID"].contains(&name) {
            continue;
        }
        let names = |key: &str, between: &str| {
            list(&kind[key])
                .iter()
                .map(|it| word(&it["name"]))
                .collect::<Vec<_>>()
                .join(between)
        };
        let implements = if list(&kind["interfaces"]).is_empty() {
            String::new()
        } else {
            format!(" implements {}", names("interfaces", " & "))
        };
        let fields = || -> String {
            let fields = list(&kind["fields"]).iter();
            fields
                .map(|field| {
                    format!(
                        "  {}{}: {}\n",
                        word(&field["name"]),
                        arguments(&field["args"]),
                        type_of(&field["type"])
                    )
                })
                .collect()
        };
        out.push_str(&match word(&kind["kind"]) {
            "SCALAR" => format!("scalar {name}\n"),
            "ENUM" => format!("enum {name} {{ {} }}\n", names("enumValues", " ")),
            "UNION" => format!("union {name} = {}\n", names("possibleTypes", " | ")),
            "INPUT_OBJECT" => {
                let one_of = if kind["isOneOf"] == true { " @oneOf" } else { "" };
                let members: Vec<String> = list(&kind["inputFields"]).iter().map(input).collect();
                format!("input {name}{one_of} {{ {} }}\n", members.join("\n"))
            }
            "INTERFACE" => format!("interface {name}{implements} {{\n{}}}\n", fields()),
            _ => format!("type {name}{implements} {{\n{}}}\n", fields()),
        });
    }
    out
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn type_of(value: &Value) -> String {
    match word(&value["kind"]) {
        "NON_NULL" => format!("{}!", type_of(&value["ofType"])),
        "LIST" => format!("[{}]", type_of(&value["ofType"])),
        _ => word(&value["name"]).to_owned(),
    }
}

fn input(value: &Value) -> String {
    let default = value["defaultValue"]
        .as_str()
        .map_or(String::new(), |default| format!(" = {default}"));
    format!("{}: {}{default}", word(&value["name"]), type_of(&value["type"]))
}

fn arguments(value: &Value) -> String {
    let listed: Vec<String> = list(value).iter().map(input).collect();
    if listed.is_empty() {
        String::new()
    } else {
        format!("({})", listed.join(", "))
    }
}

/// Returns the parts of one schema that the other lacks; none if the first is a subset of the second.
fn beyond(part: &Schema, whole: &Schema) -> Vec<String> {
    let mut found = Vec::new();
    for (name, kind) in part.types.iter().filter(|(_, kind)| !kind.is_built_in()) {
        match (kind, whole.types.get(name)) {
            (ExtendedType::Object(one), Some(ExtendedType::Object(two))) => {
                let missing = one
                    .implements_interfaces
                    .iter()
                    .filter(|it| !two.implements_interfaces.contains(*it));
                found.extend(missing.map(|it| format!("{name} implements {}", it.name)));
                one.fields
                    .values()
                    .for_each(|field| fields(name, field, two.fields.get(&field.name).map(|it| &it.node), &mut found));
            }
            (ExtendedType::Interface(one), Some(ExtendedType::Interface(two))) => {
                one.fields
                    .values()
                    .for_each(|field| fields(name, field, two.fields.get(&field.name).map(|it| &it.node), &mut found));
            }
            (ExtendedType::Enum(one), Some(ExtendedType::Enum(two))) => {
                found.extend(
                    one.values
                        .keys()
                        .filter(|it| !two.values.contains_key(*it))
                        .map(|it| format!("{name}.{it}")),
                );
            }
            (ExtendedType::InputObject(one), Some(ExtendedType::InputObject(two))) => {
                inputs(
                    name,
                    one.fields.values().map(|it| &it.node),
                    &|wanted| two.fields.get(wanted).map(|it| &it.node),
                    &mut found,
                );
                // A field that the platform requires must be required in the emulator too, or the emulator could accept
                // requests that the platform refuses.
                let demanded = two
                    .fields
                    .values()
                    .filter(|it| it.is_required() && !one.fields.contains_key(&it.name));
                found.extend(demanded.map(|it| format!("{name}.{} is required", it.name)));
            }
            (ExtendedType::Scalar(_), Some(ExtendedType::Scalar(_))) => {}
            (ExtendedType::Union(one), Some(ExtendedType::Union(two))) => {
                found.extend(
                    one.members
                        .iter()
                        .filter(|it| !two.members.contains(*it))
                        .map(|it| format!("{name} = {}", it.name)),
                );
            }
            _ => found.push(name.to_string()),
        }
    }
    for (name, directive) in part.directive_definitions.iter().filter(|(_, it)| !it.is_built_in()) {
        match whole.directive_definitions.get(name) {
            Some(same) => inputs(
                name,
                directive.arguments.iter(),
                &|wanted| same.arguments.iter().find(|it| it.name == wanted),
                &mut found,
            ),
            None => found.push(format!("@{name}")),
        }
    }
    found
}

fn fields(of: &str, one: &FieldDefinition, two: Option<&Node<FieldDefinition>>, found: &mut Vec<String>) {
    let Some(two) = two else {
        found.push(format!("{of}.{}", one.name));
        return;
    };
    if one.ty != two.ty {
        found.push(format!("{of}.{}: {} for {}", one.name, one.ty, two.ty));
    }
    let at = format!("{of}.{}", one.name);
    inputs(
        &at,
        one.arguments.iter(),
        &|wanted| two.arguments.iter().find(|it| it.name == wanted),
        found,
    );
    let demanded = two
        .arguments
        .iter()
        .filter(|it| it.is_required() && !one.arguments.iter().any(|own| own.name == it.name));
    found.extend(demanded.map(|it| format!("{at}({}) is required", it.name)));
}

fn inputs<'a>(
    of: &str,
    one: impl Iterator<Item = &'a Node<InputValueDefinition>>,
    two: &dyn Fn(&str) -> Option<&'a Node<InputValueDefinition>>,
    found: &mut Vec<String>,
) {
    for input in one {
        let same = |other: &Node<InputValueDefinition>| -> (Type, Option<String>) {
            (
                other.ty.as_ref().clone(),
                other.default_value.as_ref().map(ToString::to_string),
            )
        };
        match two(&input.name) {
            Some(other) if same(input) == same(other) => {}
            Some(other) => found.push(format!("{of}({}: {} for {})", input.name, input.ty, other.ty)),
            None => found.push(format!("{of}({})", input.name)),
        }
    }
}

#[test]
fn the_emulators_schema_is_a_part_of_the_platforms() {
    let own = Schema::parse_and_validate(OWN, "schema.graphql").unwrap_or_else(|error| panic!("{error}"));
    let Some(platform) = platform() else { return };
    let beyond = beyond(&own, &platform);
    assert!(beyond.is_empty(), "{beyond:#?}");
    println!(
        "{} types of the emulator's schema are among the platform's {}",
        own.types.len(),
        platform.types.len()
    );
}

#[test]
fn what_is_no_part_of_another_schema_is_found() {
    let schema = |text: &str| Schema::parse_and_validate(text, "test.graphql").unwrap();
    let whole = schema(
        "type Query { a(x: Int!, y: Int = 1): String! b: E } enum E { ONE } input I { p: Int! } directive @d(i: I) on QUERY",
    );
    let part =
        schema("type Query { a(y: Int = 2): String c: Int } enum E { ONE TWO } type Z { a: E } input I { q: Int }");
    let found = beyond(&part, &whole);
    let expected = [
        "Query.a: String for String!",
        "Query.a(y: Int for Int)",
        "Query.a(x) is required",
        "Query.c",
        "E.TWO",
        "Z",
        "I(q)",
        "I.p is required",
    ];
    assert_eq!(found, expected);
    assert_eq!(beyond(&whole, &whole), [""; 0]);
}

/// Returns the project's GraphQL requests by file.
fn documents() -> Vec<(PathBuf, String)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../storefront/src/documents"));
    let mut files: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no requests in {}", folder.display());
    let text = |file: &PathBuf| std::fs::read_to_string(file).unwrap();
    // Fragments that several requests share are sent with each of them.
    let (shared, whole): (Vec<PathBuf>, Vec<PathBuf>) = files
        .into_iter()
        .partition(|file| file.to_string_lossy().ends_with("_fragment.graphql"));
    let shared: String = shared.iter().map(text).collect();
    let with_shared = |file: PathBuf| {
        let own = text(&file);
        let all = if own.contains("...Cart\n") { own + &shared } else { own };
        (file, all)
    };
    whole.into_iter().map(with_shared).collect()
}

#[test]
fn the_requests_of_this_project_are_valid_at_the_platform() {
    let Some(platform) = platform() else { return };
    let own = Schema::parse_and_validate(OWN, "schema.graphql").unwrap();
    for (file, text) in documents() {
        for (whose, schema) in [("the platform", &platform), ("the emulator", &own)] {
            if let Err(error) = ExecutableDocument::parse_and_validate(schema, text.as_str(), &file) {
                panic!("{} is not valid at {whose}: {}", file.display(), error.errors);
            }
        }
    }
}

#[tokio::test]
async fn the_requests_of_this_project_are_answered_without_a_token() {
    let (_running, store) = store(300).await;
    let products = crawl(&store, 250).await;
    let ids = |kind: &str, path: &str, most: usize| -> Vec<String> {
        let ids = products.iter().filter_map(|product| product.pointer(path)).take(most);
        ids.map(|id| format!("gid://shopify/{kind}/{id}")).collect()
    };
    for (file, text) in documents() {
        // The query has the maximum number of ids, because the cost of a product's fields counts for each id.
        let ids = if text.contains("category {") {
            ids("Product", "/id", 200)
        } else if text.contains("... on Product {") {
            ids("Product", "/id", 14)
        } else {
            ids("ProductVariant", "/variants/0/id", 250)
        };
        let variables = serde_json::json!({
            "ids": ids, "id": format!("gid://shopify/Product/{}", products[0]["id"]), "country": "IN", "cartId": "gid://shopify/Cart/none?key=none", "input": {}, "lines": [],
            "lineIds": [], "discountCodes": [], "buyerIdentity": {}, "attributes": [], "addresses": [], "note": "",
            "selectedDeliveryOptions": [],
        });
        if file.to_string_lossy().contains("customer") {
            // Reading or creating a customer needs a token.
            continue;
        }
        let answer = query(&store, &text, variables).await.json();
        assert!(
            answer.get("errors").is_none() && answer["data"].is_object(),
            "{}: {answer}",
            file.display()
        );
        println!(
            "{}: cost {}",
            file.display(),
            answer["extensions"]["cost"]["requestedQueryCost"]
        );
    }
}
