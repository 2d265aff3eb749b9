//! Tests that hosts accept the tools. The table in `docs/agents.md` lists the rules with the hosts that have them. A
//! tool that breaks a rule makes some hosts refuse every tool of a server.

use serde_json::{Map, Value, json};

use crate::mcp::market;
use crate::support::{Haat, post};

const DOCUMENT: &str = include_str!("../../docs/agents.md");

/// Answer of an endpoint to `tools/list`.
struct Endpoint {
    path: &'static str,
    tools: Vec<Value>,
}

/// Name of a rule in the table, and a function that returns its violations.
type Rule = (&'static str, fn(&Endpoint) -> Vec<String>);

const RULES: [Rule; 14] = [
    ("name", |of| broken(of, |tool| !is_name(text(&tool["name"])))),
    ("description", |of| {
        broken(of, |tool| {
            !(1..=1_024).contains(&text(&tool["description"]).chars().count())
        })
    }),
    ("title and hints", |of| broken(of, |tool| !is_annotated(tool))),
    ("object", |of| broken(of, |tool| !is_object(&tool["inputSchema"]))),
    ("keywords", |of| {
        broken_schemas(of, |schema| {
            schema.keys().any(|name| !KEYWORDS.contains(&name.as_str()))
        })
    }),
    ("one type", |of| {
        broken_schemas(of, |schema| !schema["type"].is_string())
    }),
    ("items", |of| {
        broken_schemas(of, |schema| {
            schema["type"] == "array" && !schema.get("items").is_some_and(Value::is_object)
        })
    }),
    ("members", |of| {
        broken_schemas(of, |schema| {
            schema["type"] == "object" && members(schema).next().is_none()
        })
    }),
    ("names of arguments", |of| {
        broken_schemas(of, |schema| members(schema).any(|(name, _)| !is_argument(name)))
    }),
    ("enum", |of| {
        broken_schemas(of, |schema| list(schema.get("enum")).iter().any(|one| !one.is_string()))
    }),
    ("required", |of| {
        broken_schemas(of, |schema| {
            list(schema.get("required"))
                .iter()
                .any(|name| members(schema).all(|(one, _)| name != one))
        })
    }),
    ("answers", |of| broken(of, |tool| !is_answer(tool.get("outputSchema")))),
    ("choice", |of| {
        broken(of, |tool| of.path == "/v1/mcp" && !has_choice(tool))
    }),
    ("size", sizes),
];

const KEYWORDS: [&str; 17] = [
    "additionalProperties",
    "default",
    "description",
    "enum",
    "examples",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
];

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn members(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

/// Returns the names of the tools for which `is_broken` is true.
fn broken(of: &Endpoint, is_broken: impl Fn(&Value) -> bool) -> Vec<String> {
    let tools = of.tools.iter().filter(|tool| is_broken(tool));
    tools.map(|tool| format!("{}: {}", of.path, tool["name"])).collect()
}

/// Returns the input schemas, and their parts, for which `is_broken` is true.
fn broken_schemas(of: &Endpoint, is_broken: impl Fn(&Map<String, Value>) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for tool in &of.tools {
        let mut open = vec![&tool["inputSchema"]];
        while let Some(schema) = open.pop() {
            let schema = schema.as_object().unwrap();
            if is_broken(schema) {
                found.push(format!("{} {}: {}", of.path, tool["name"], json!(schema)));
            }
            open.extend(members(schema).map(|(_, member)| member));
            open.extend(schema.get("items"));
        }
    }
    found
}

/// True if a name is short enough after the prefix of a server's name.
fn is_name(name: &str) -> bool {
    let is_of = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|first: char| first.is_ascii_lowercase()) && name.len() <= 40 && name.bytes().all(is_of)
}

fn is_argument(name: &str) -> bool {
    let is_of = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=64).contains(&name.len()) && name.bytes().all(is_of)
}

fn is_annotated(tool: &Value) -> bool {
    let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    !text(&tool["title"]).is_empty() && hints.iter().all(|hint| tool["annotations"][hint].is_boolean())
}

/// True if the arguments are one object, without combining keywords such as `oneOf`.
fn is_object(schema: &Value) -> bool {
    let combines = ["$ref", "allOf", "anyOf", "enum", "not", "oneOf"];
    schema["type"] == "object"
        && schema["properties"].is_object()
        && combines.iter().all(|one| schema.get(one).is_none())
}

/// True if there is no output schema, or an object whose references stay within the schema.
fn is_answer(schema: Option<&Value>) -> bool {
    let Some(schema) = schema else { return true };
    let mut open = vec![schema];
    while let Some(part) = open.pop() {
        match part {
            Value::Object(members) => {
                let to = members.get("$ref").and_then(Value::as_str);
                if to.is_some_and(|to| to.strip_prefix('#').and_then(|to| schema.pointer(to)).is_none()) {
                    return false;
                }
                open.extend(members.values());
            }
            Value::Array(parts) => open.extend(parts),
            _ => {}
        }
    }
    schema["type"] == "object"
}

/// True if the caller chooses the fields of the result. Hosts fix the input of `search` and `fetch`.
fn has_choice(tool: &Value) -> bool {
    let taken = &tool["inputSchema"]["properties"];
    let chooses = taken["fields"].is_object() && list(taken["view"].get("enum")).contains(&json!("compact"));
    chooses || ["search", "fetch"].contains(&text(&tool["name"]))
}

/// Checks the size of the whole list, and of the text for a model: at most 25,000 tokens of two bytes.
fn sizes(of: &Endpoint) -> Vec<String> {
    let whole = json!(of.tools).to_string().len();
    let read = of.tools.iter().map(|tool| {
        json!([tool["name"], tool["description"], tool["inputSchema"]])
            .to_string()
            .len()
    });
    let read: usize = read.sum();
    println!(
        "{}: {} tools, {whole} bytes, of which a model reads {read}",
        of.path,
        of.tools.len()
    );
    let fits = of.tools.len() <= 40 && whole <= 100_000 && read <= 50_000;
    if fits {
        Vec::new()
    } else {
        vec![format!("{}: {whole} bytes, {read} read", of.path)]
    }
}

#[test]
fn every_tool_of_every_endpoint_is_as_hosts_accept_it() {
    let table = DOCUMENT.split("## What hosts accept").nth(1).unwrap();
    let table = table.split("\n## ").next().unwrap();
    let rows = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(rows.collect::<Vec<_>>(), RULES.map(|(name, _)| name));
    let market = market(Haat::new().with("HAAT_MCP__CART_TOOLS", "true"));
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for path in ["/v1/mcp", "/v1/ucp/mcp", "/v1/ucp/2026-08-25/mcp"] {
        let (status, listed) = post(&format!("{}{path}", market.base), &list);
        assert_eq!(status, 200, "{listed}");
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        assert!(!tools.is_empty());
        let endpoint = Endpoint { path, tools };
        for (name, rule) in RULES {
            let broken = rule(&endpoint);
            assert!(broken.is_empty(), "{name}:\n{}", broken.join("\n"));
        }
    }
}
