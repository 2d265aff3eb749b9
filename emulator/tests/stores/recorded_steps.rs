//! Helpers that replay recorded requests in order: substitutes for recorded texts, and the differences between two
//! responses.

use std::collections::BTreeMap;
use std::path::Path;

use super::*;

/// Recorded request with its response.
pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) operation: String,
    pub(crate) query: String,
    pub(crate) variables: Value,
    pub(crate) answer: Value,
}

/// Returns the Storefront requests of a recording in the order recorded.
pub(crate) fn steps(file: &Path) -> Vec<Step> {
    let text = std::fs::read_to_string(file).unwrap();
    let recording: Value = serde_json::from_str(&text).unwrap();
    let mut found = Vec::new();
    collect(&recording, "", &mut found);
    // Object keys are parsed in alphabetical order, so the recorded order is taken from their positions in the file. A
    // response may contain the same name, but no request follows it there.
    let begins = |rest: &str| {
        ["name", "method", "apiSurface"]
            .iter()
            .any(|key| rest.trim_start().starts_with(&format!("\"{key}\"")))
    };
    found.sort_by_key(|step: &Step| {
        let head = format!("\"{}\": {{", step.name);
        let mut places = text.match_indices(&head).map(|(at, _)| at);
        places.find(|at| begins(&text[at + head.len()..])).unwrap()
    });
    found
}

fn collect(value: &Value, name: &str, found: &mut Vec<Step>) {
    match value {
        Value::Object(members) if value["apiSurface"] == "storefront" && value["query"].is_string() => {
            let text = |key: &str| members[key].as_str().unwrap().to_owned();
            found.push(Step {
                name: name.to_owned(),
                operation: text("operationName"),
                query: text("query"),
                variables: value["variables"].clone(),
                answer: value["response"]["body"].clone(),
            });
        }
        Value::Object(members) => members
            .iter()
            .filter(|(key, _)| *key != "upstreamCalls")
            .for_each(|(key, value)| collect(value, key, found)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, name, found)),
        _ => {}
    }
}

/// Substitutes for texts of the recording: ids, tokens and handles.
#[derive(Default)]
pub(crate) struct RecordedTexts(BTreeMap<String, String>);

impl RecordedTexts {
    pub(crate) fn put(&mut self, recorded: impl Into<String>, ours: impl Into<String>) {
        self.0.insert(recorded.into(), ours.into());
    }

    fn text(&self, recorded: &str) -> String {
        if let Some(ours) = self.0.get(recorded) {
            return ours.clone();
        }
        let parts = self.0.iter().filter(|(from, _)| from.len() > 12);
        parts.fold(recorded.to_owned(), |text, (from, to)| text.replace(from.as_str(), to))
    }

    pub(crate) fn value(&self, recorded: &Value) -> Value {
        match recorded {
            Value::String(text) => self.text(text).into(),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect::<Vec<_>>().into(),
            Value::Object(members) => {
                let members = members.iter().map(|(key, value)| (key.clone(), self.value(value)));
                Value::Object(members.collect())
            }
            other => other.clone(),
        }
    }

    /// Learns which emulator ids correspond to the ids in the recording.
    pub(crate) fn learn(&mut self, recorded: &Value, ours: &Value) {
        match (recorded, ours) {
            (Value::Object(one), Value::Object(two)) => {
                for (key, one) in one {
                    let Some(two) = two.get(key) else { continue };
                    match (key.as_str(), one.as_str(), two.as_str()) {
                        ("id" | "handle", Some(one), Some(two)) if !one.contains("/Cart/") => {
                            self.put(bare(one), bare(two));
                        }
                        _ => self.learn(one, two),
                    }
                }
            }
            (Value::Array(one), Value::Array(two)) => {
                one.iter().zip(two).for_each(|(one, two)| self.learn(one, two));
            }
            _ => {}
        }
    }
}

/// Returns the last part of a global id, without the kind and the part after `?`.
fn bare(id: &str) -> &str {
    let id = id.split('?').next().unwrap();
    id.rsplit('/').next().unwrap()
}

/// Returns a short description of a value. One word describes an array or object.
fn short(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        other => other.to_string(),
    }
}

/// Keys whose values are specific to a store. Only their presence and type are compared.
const OWN: &[&str] = &[
    "id",
    "createdAt",
    "updatedAt",
    "expiresAt",
    "checkoutUrl",
    "cursor",
    "startCursor",
    "endCursor",
    "target",
    "title",
    "handle",
    "accessToken",
    "deletedAccessToken",
    "deletedCustomerAccessTokenId",
    "currencyCode",
    "description",
    "code",
    "lastCharacters",
    "documentation",
];

/// Collects the differences between two responses. Of values specific to a store, only the type is compared.
fn differences(at: &str, recorded: &Value, ours: &Value, found: &mut BTreeMap<String, String>) {
    let key = at.rsplit('.').next().unwrap().trim_end_matches("[]");
    let is_coded = at.contains("rrors") || at.contains("arnings");
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
            if one.len() != two.len() {
                found.insert(at.to_owned(), format!("{} for {} items", two.len(), one.len()));
                return;
            }
            one.iter()
                .zip(two)
                .for_each(|(one, two)| differences(&format!("{at}[]"), one, two, found));
        }
        (Value::String(one), Value::String(two)) if key == "message" => {
            let plain = |text: &str| {
                if text.contains('\'') {
                    text.split('\'').next_back().unwrap().to_owned()
                } else {
                    text.to_owned()
                }
            };
            if plain(one) != plain(two) {
                found.insert(at.to_owned(), format!("{two:?} for {one:?}"));
            }
        }
        (Value::String(_), Value::String(_)) if OWN.contains(&key) && !(key == "code" && is_coded) => {}
        _ if recorded == ours => {}
        _ => drop(found.insert(at.to_owned(), format!("{} for {}", short(ours), short(recorded)))),
    }
}

/// Reasons why the responses may differ at a path. A difference without a reason fails the test.
const REASONS: &[(&str, &str, &str)] = &[
    (
        "",
        "Ownership",
        "what is for sale does not depend on the buyer's country here",
    ),
    ("", "GiftCard", "no emulated store sells gift cards"),
    ("appliedGiftCards", "", "no emulated store sells gift cards"),
    (
        "ost.totalAmount.amount",
        "",
        "a gift card pays it there, and no emulated store sells any",
    ),
    ("metafield", "", "carts here have no metafields"),
    ("deliveryOptions", "", "the recorded store has other rates"),
    ("selectedDeliveryOption", "", "the recorded store has other rates"),
    (
        "compareAtAmount",
        "",
        "the recorded product was reduced from another price",
    ),
    ("quantityAvailable", "", "the recorded product has another stock"),
    (
        "provinceCode",
        "Normalizations",
        "zones are not made of postal codes here",
    ),
    ("formatted", "Normalizations", "zones are not made of postal codes here"),
    (
        "formattedArea",
        "Normalizations",
        "zones are not made of postal codes here",
    ),
    (
        "",
        "AdminUpdate",
        "nobody is activated by mail here, so nobody logs in after it",
    ),
    (
        "totalQuantity",
        "ForeignCart",
        "what is for sale does not depend on the buyer's country here",
    ),
];

fn told(step: &Step, found: &BTreeMap<String, String>) -> String {
    if found.is_empty() {
        return "match".to_owned();
    }
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (at, what) in found {
        let is_reason = |(part, name, _): &&(&str, &str, &str)| at.contains(part) && step.name.contains(name);
        let reason = REASONS
            .iter()
            .find(is_reason)
            .map_or("UNEXPLAINED", |(_, _, reason)| reason);
        reasons.entry(reason).or_default().push(format!("{at} is {what}"));
    }
    let told: Vec<String> = reasons
        .into_iter()
        .map(|(reason, places)| {
            let more = if places.len() > 2 {
                format!("; and {} more", places.len() - 2)
            } else {
                String::new()
            };
            format!("{}{more} ({reason})", places[..places.len().min(2)].join("; "))
        })
        .collect();
    format!("deviation: {}", told.join("; "))
}

pub(crate) fn verdict(step: &Step, known: &RecordedTexts, answer: &Value) -> String {
    if let Some(error) = answer["errors"].as_array().and_then(|errors| errors.first())
        && answer["data"].is_null()
        && step.answer["data"].is_object()
    {
        return format!(
            "deviation: not in the schema: {} (nothing of this project needs it)",
            error["message"].as_str().unwrap()
        );
    }
    let mut found = BTreeMap::new();
    let expected = known.value(&step.answer);
    // The only field of a response is named like its step.
    let field = |answer: &Value| -> Value {
        let members = answer["data"].as_object();
        members
            .and_then(|members| members.values().next().cloned())
            .unwrap_or_default()
    };
    differences("", &field(&expected), &field(answer), &mut found);
    let codes = |answer: &Value| -> Vec<Value> {
        let errors = answer["errors"].as_array().cloned().unwrap_or_default();
        errors.iter().map(|error| error["extensions"]["code"].clone()).collect()
    };
    if codes(&step.answer) != codes(answer) {
        found.insert(
            "errors".to_owned(),
            format!("{:?} for {:?}", codes(answer), codes(&step.answer)),
        );
    }
    told(step, &found)
}

/// Returns the cost of the request now and in the recording, if they differ.
pub(crate) fn costs(step: &Step, answer: &Value) -> String {
    let cost = |answer: &Value| answer["extensions"]["cost"]["requestedQueryCost"].as_u64();
    match (cost(answer), cost(&step.answer)) {
        (Some(ours), Some(recorded)) if ours != recorded => format!(" (cost {ours}, recorded {recorded})"),
        _ => String::new(),
    }
}

/// Formats the rows: each verdict with the steps that had it.
pub(crate) fn table(rows: &[(String, String)]) -> String {
    let mut told: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, row) in rows {
        match told.iter_mut().find(|(known, _)| known == row) {
            Some((_, names)) => names.push(name),
            None => told.push((row, vec![name])),
        }
    }
    let lines = told.iter().map(|(row, names)| format!("{}: {row}\n", names.join(" ")));
    lines.collect()
}
