//! Builds the schemas of tools from those of the OpenAPI description.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::operation::{Operation, meant, resolved};

const COMPONENTS: &str = "#/components/schemas/";

/// Builder of self-contained schemas, with referenced schemas under `$defs`.
struct Maker<'a> {
    document: &'a Value,
    defs: BTreeMap<String, Value>,
}

/// Keywords that are left out of response schemas. Field names are descriptive enough, and callers select fields.
const NOT_OF_ANSWERS: [&str; 4] = ["description", "example", "examples", "required"];

/// Keywords that stay in input schemas. Because of other keywords, hosts reject a tool or all tools of a server. The
/// operation checks what those keywords expressed.
const OF_INPUT: [&str; 13] = [
    "default",
    "description",
    "enum",
    "examples",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
    "required",
    "title",
];

/// Returns the input schema of a tool: the parameters of its operations without duplicates.
pub(super) fn input(document: &Value, operations: &[Operation]) -> Value {
    let mut properties = Map::new();
    for parameter in operations.iter().flat_map(|operation| &operation.parameters) {
        if !properties.contains_key(&parameter.name) {
            properties.insert(parameter.name.clone(), inlined(document, &parameter.schema));
        }
    }
    if operations.iter().any(|operation| operation.idempotent_by_key) {
        let told = "Repeating a call with the same key has no further effect: the first answer is kept for a day. \
            Printable ASCII.";
        let key = json!({ "type": "string", "description": told, "minLength": 1, "maxLength": 255 });
        properties.insert("idempotency_key".to_owned(), key);
    }
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    let required = required(operations);
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// Returns an input schema without references, in which each value has a single type. Null is left out because it means
/// the same as absence.
fn inlined(document: &Value, schema: &Value) -> Value {
    let meant = meant(document, schema);
    let mut made = Map::new();
    // Keywords beside a reference override those of its target.
    for (name, value) in [schema, meant].into_iter().filter_map(Value::as_object).flatten() {
        let (name, value) = match (name.as_str(), value) {
            ("example", value) => ("examples", json!([value])),
            ("type", Value::Array(types)) => (
                "type",
                types.iter().find(|one| *one != "null").cloned().unwrap_or_default(),
            ),
            ("items", items) => ("items", inlined(document, items)),
            ("properties", Value::Object(named)) => {
                let named = named
                    .iter()
                    .map(|(name, schema)| (name.clone(), inlined(document, schema)));
                ("properties", Value::Object(named.collect()))
            }
            ("type", value) => ("type", value.clone()),
            ("additionalProperties", Value::Bool(_)) => ("additionalProperties", value.clone()),
            (name, value) if OF_INPUT.contains(&name) => (name, value.clone()),
            _ => continue,
        };
        made.entry(name).or_insert(value);
    }
    Value::Object(made)
}

fn required(operations: &[Operation]) -> Vec<&str> {
    let requires = |operation: &Operation, name: &str| {
        let mut own = operation.parameters.iter();
        own.any(|one| one.name == name && one.required)
    };
    let first = operations.first().map_or(&[][..], |first| &first.parameters);
    let names = first.iter().map(|parameter| parameter.name.as_str());
    names
        .filter(|name| operations.iter().all(|operation| requires(operation, name)))
        .collect()
}

/// Returns the output schema of a tool. The envelope's fields are always present.
pub(super) fn output(document: &Value, operation: &Operation) -> Value {
    let mut maker = Maker {
        document,
        defs: BTreeMap::new(),
    };
    let answer = resolved(document, &operation.answer);
    let mut schema = maker.made(answer);
    if let Some(required) = answer.get("required") {
        schema["required"] = required.clone();
    }
    maker.with_defs(schema)
}

/// Maximum number of levels of a selected field. A category has categories below it, and so on.
const FIELD_LEVELS_MAX: usize = 16;

/// Returns true if an entry of a tool's answers may have this field, which has dots between levels.
pub(super) fn has_field(output: &Value, field: &str) -> bool {
    let data = meant(output, &output["properties"]["data"]);
    let list = &data["properties"]["items"];
    let is_list = meant(output, list)["type"] == "array";
    let path: Vec<&str> = field.split('.').collect();
    path.len() <= FIELD_LEVELS_MAX && has_path(output, if is_list { list } else { data }, &path)
}

fn has_path(output: &Value, schema: &Value, path: &[&str]) -> bool {
    let schema = meant(output, schema);
    let Some((name, rest)) = path.split_first() else {
        return true;
    };
    if let Some(member) = schema["properties"].get(*name) {
        return has_path(output, member, rest);
    }
    let more = &schema["additionalProperties"];
    let mut parts = schema["allOf"].as_array().into_iter().flatten();
    // A value without a description may have any field.
    *schema == Value::Bool(true)
        || schema.as_object().is_some_and(Map::is_empty)
        || more.is_object() && has_path(output, more, rest)
        || schema.get("items").is_some_and(|items| has_path(output, items, path))
        || parts.any(|part| has_path(output, part, path))
}

impl Maker<'_> {
    fn made(&mut self, schema: &Value) -> Value {
        match schema {
            Value::Object(members) => self.object(members),
            Value::Array(items) => items.iter().map(|item| self.made(item)).collect(),
            other => other.clone(),
        }
    }

    fn object(&mut self, members: &Map<String, Value>) -> Value {
        // Clients that check formats do not know OpenAPI's number formats.
        let of_number = members.get("format").is_some_and(is_of_number);
        let mut made = Map::new();
        for (name, value) in members {
            match (name.as_str(), value) {
                ("format", _) if of_number => {}
                (keyword, _) if NOT_OF_ANSWERS.contains(&keyword) => {}
                ("$ref", Value::String(to)) => {
                    made.insert("$ref".to_owned(), self.reference(to).into());
                }
                // Field names are no keywords.
                ("properties", Value::Object(named)) => {
                    let named = named.iter().map(|(name, schema)| (name.clone(), self.made(schema)));
                    made.insert(name.clone(), Value::Object(named.collect()));
                }
                ("enum" | "const" | "default" | "required", value) => {
                    made.insert(name.clone(), value.clone());
                }
                (_, value) => {
                    let value = self.made(value);
                    made.insert(name.clone(), value);
                }
            }
        }
        Value::Object(made)
    }

    fn reference(&mut self, to: &str) -> String {
        let Some(name) = to.strip_prefix(COMPONENTS) else {
            return to.to_owned();
        };
        if !self.defs.contains_key(name) {
            // The name is inserted first, so that recursive schemas end.
            self.defs.insert(name.to_owned(), Value::Null);
            let pointer = format!("/components/schemas/{name}");
            let described = self.document.pointer(&pointer).cloned().unwrap_or(Value::Bool(true));
            let made = self.made(&described);
            self.defs.insert(name.to_owned(), made);
        }
        format!("#/$defs/{name}")
    }

    fn with_defs(self, mut schema: Value) -> Value {
        if let (Some(members), false) = (schema.as_object_mut(), self.defs.is_empty()) {
            members.insert("$defs".to_owned(), Value::Object(self.defs.into_iter().collect()));
        }
        schema
    }
}

fn is_of_number(format: &Value) -> bool {
    let Some(format) = format.as_str() else { return false };
    let digits = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    let sized = format.strip_prefix("uint").or_else(|| format.strip_prefix("int"));
    sized.is_some_and(digits) || matches!(format, "float" | "double")
}
