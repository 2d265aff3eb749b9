use http::Method;
use serde_json::Value;

/// Location of an argument in the HTTP request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Path,
    Query,
    Body,
}

/// Type of a value, as precise as a path or query requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Integer,
    Boolean,
    /// Text that contains a JSON object.
    JsonText,
    /// Text with comma-separated words.
    List,
    /// Text that may be given as a number, such as an id or a pincode. The schema allows only text, because hosts
    /// reject lists of types.
    Code,
    /// A JSON array or object.
    Structure,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) kind: Kind,
    pub(super) required: bool,
    /// Schema of the parameter with its description.
    pub(super) schema: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operation {
    pub(super) id: String,
    pub(super) method: Method,
    /// Path template with `{names}`.
    pub(super) path: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) has_body: bool,
    pub(super) idempotent_by_key: bool,
    pub(super) answer: Value,
}

const METHODS: [(&str, Method); 5] = [
    ("get", Method::GET),
    ("post", Method::POST),
    ("put", Method::PUT),
    ("patch", Method::PATCH),
    ("delete", Method::DELETE),
];

impl Operation {
    /// Finds an operation in an OpenAPI description. Returns `None` if it is missing or has an unexpected form.
    pub(super) fn find(document: &Value, id: &str) -> Option<Self> {
        for (path, item) in document.get("paths")?.as_object()? {
            for (name, method) in METHODS {
                let Some(described) = item.get(name) else { continue };
                if described.get("operationId").and_then(Value::as_str) == Some(id) {
                    return Self::read(document, described, id, method, path);
                }
            }
        }
        None
    }

    fn read(document: &Value, described: &Value, id: &str, method: Method, path: &str) -> Option<Self> {
        let listed = described.get("parameters").and_then(Value::as_array);
        let listed = listed.map_or(&[][..], Vec::as_slice);
        let mut parameters: Vec<_> = listed.iter().filter_map(parameter).collect();
        let idempotent_by_key = listed.iter().any(|one| {
            let named = one.get("name").and_then(Value::as_str);
            named.is_some_and(|name| name.eq_ignore_ascii_case("idempotency-key"))
        });
        let body = described.pointer("/requestBody/content/application~1json/schema");
        if let Some(body) = body {
            parameters.extend(members(document, resolved(document, body)));
        }
        let answer = described.pointer("/responses/200/content/application~1json/schema")?;
        Some(Self {
            id: id.to_owned(),
            method,
            path: path.to_owned(),
            parameters,
            has_body: body.is_some(),
            idempotent_by_key,
            answer: answer.clone(),
        })
    }
}

/// Returns the schema that a reference within the document points to, or the schema itself.
pub(super) fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let referred = schema.get("$ref").and_then(Value::as_str);
    referred
        .and_then(|to| document.pointer(to.strip_prefix('#')?))
        .unwrap_or(schema)
}

/// Parses a path or query parameter. The protocol handles headers.
fn parameter(described: &Value) -> Option<Parameter> {
    let place = match described.get("in")?.as_str()? {
        "path" => Place::Path,
        "query" => Place::Query,
        _ => return None,
    };
    let name = described.get("name")?.as_str()?;
    let mut schema = described.get("schema")?.clone();
    let members = schema.as_object_mut()?;
    for told in ["description", "example"] {
        if let Some(value) = described.get(told) {
            members.insert(told.to_owned(), value.clone());
        }
    }
    let kind = kind(name, &schema);
    Some(Parameter {
        name: name.to_owned(),
        place,
        kind,
        required: described.get("required").and_then(Value::as_bool).unwrap_or(false),
        schema,
    })
}

fn kind(name: &str, schema: &Value) -> Kind {
    let is = |wanted: &str| match schema.get("type") {
        Some(Value::String(one)) => one == wanted,
        Some(Value::Array(several)) => several.iter().any(|one| one == wanted),
        _ => false,
    };
    match name {
        "facets" => Kind::JsonText,
        "include" | "kind" => Kind::List,
        "category" | "pincode" => Kind::Code,
        _ if is("array") || is("object") => Kind::Structure,
        _ if is("integer") => Kind::Integer,
        _ if is("boolean") => Kind::Boolean,
        _ => Kind::Text,
    }
}

/// Returns the schema of a nullable value without null.
pub(super) fn meant<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let several = ["oneOf", "anyOf"]
        .iter()
        .find_map(|keyword| schema.get(keyword)?.as_array());
    let one = several.and_then(|several| several.iter().find(|one| one.get("type").is_none_or(|of| of != "null")));
    resolved(document, one.unwrap_or(schema))
}

/// Returns the fields of a request body.
fn members(document: &Value, body: &Value) -> Vec<Parameter> {
    let required = body.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
    let described = body.get("properties").and_then(Value::as_object);
    let members = described.into_iter().flatten().map(|(name, schema)| Parameter {
        name: name.clone(),
        place: Place::Body,
        kind: kind(name, meant(document, schema)),
        required: is_required(name),
        schema: schema.clone(),
    });
    members.collect()
}
