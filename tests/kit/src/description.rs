use std::collections::BTreeSet;

use serde_json::Value;

/// Returns the faults in the response schemas of an OpenAPI description. Schemas must allow additional keys, because
/// responses may gain fields. Timestamps, dates, URLs and numbers need a format. Required keys must exist. The document
/// must name its servers.
#[must_use]
pub fn description_faults(document: &Value) -> Vec<String> {
    let mut walk = Walk {
        document,
        known: BTreeSet::new(),
        faults: Vec::new(),
    };
    if document["servers"].as_array().is_none_or(Vec::is_empty) {
        walk.faults.push("no server is told".to_owned());
    }
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in item.as_object().into_iter().flatten() {
            for (status, answer) in operation["responses"].as_object().into_iter().flatten() {
                for content in answer["content"].as_object().into_iter().flat_map(|all| all.values()) {
                    walk.schema(&format!("{method} {path} {status}"), &content["schema"]);
                }
            }
        }
    }
    walk.faults
}

struct Walk<'a> {
    document: &'a Value,
    /// Names of the visited schemas.
    known: BTreeSet<&'a str>,
    faults: Vec<String>,
}

impl<'a> Walk<'a> {
    fn schema(&mut self, at: &str, schema: &'a Value) {
        if let Some(to) = schema["$ref"].as_str() {
            if self.known.insert(to) {
                let name = to.rsplit('/').next().unwrap_or(to);
                match to.strip_prefix('#').and_then(|pointer| self.document.pointer(pointer)) {
                    Some(named) => self.schema(name, named),
                    None => self.faults.push(format!("{at}: {to} leads nowhere")),
                }
            }
            return;
        }
        if schema["additionalProperties"] == false {
            self.faults.push(format!("{at}: further members are forbidden"));
        }
        for name in schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            if schema["properties"].get(name).is_none() {
                self.faults.push(format!("{at}.{name}: required, but not described"));
            }
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let at = format!("{at}.{name}");
            if let Some(wanted) = wanted(name, property)
                && property
                    .get("format")
                    .is_none_or(|format| !wanted.contains(&format.as_str().unwrap_or_default()))
            {
                self.faults.push(format!("{at}: no format {}", wanted.join(" or ")));
            }
            self.schema(&at, property);
        }
        for name in ["allOf", "anyOf", "oneOf"] {
            for part in schema[name].as_array().into_iter().flatten() {
                self.schema(at, part);
            }
        }
        for name in ["items", "additionalProperties"] {
            if schema[name].is_object() {
                self.schema(at, &schema[name]);
            }
        }
    }
}

/// Returns the formats of which a property with this name and type must have one.
fn wanted(name: &str, property: &Value) -> Option<&'static [&'static str]> {
    let is = |wanted: &str| match &property["type"] {
        Value::String(one) => one == wanted,
        Value::Array(several) => several.iter().any(|one| one == wanted),
        _ => false,
    };
    let moment = name.ends_with("_at") || ["as_of", "since", "oldest", "newest"].contains(&name);
    if is("integer") {
        Some(&["int32", "int64"])
    } else if is("number") {
        Some(&["float", "double"])
    } else if !is("string") {
        None
    } else if moment {
        Some(&["date-time"])
    } else if name.ends_with("_date") || name == "day" {
        Some(&["date"])
    } else if name.ends_with("url") || ["image", "logo"].contains(&name) {
        Some(&["uri"])
    } else if name == "email" {
        Some(&["email"])
    } else {
        None
    }
}
