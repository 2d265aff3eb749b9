//! Selection of the response that a tool's caller wants, in a size that a model can read.
//!
//! Input: an operation's response and the arguments `fields`, `view` and `list_from`. Output: the response with the
//! selected fields. Lists are shortened if the response exceeds the size limit. `provenance.cut` names every shortened
//! list with its full length.

use std::collections::BTreeMap;

use api::{OperationAnswer, Problem, Rule, Violation};
use serde_json::{Map, Value, json};

/// Fields that a compact view leaves out: images, prose and redundant fields.
const NOT_COMPACT: [&str; 10] = [
    "attributes",
    "description",
    "image",
    "images",
    "logo",
    "media",
    "path",
    "product_uid",
    "reviews",
    "swatches",
];

/// Selection by the caller.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct View {
    /// Names of the selected fields, with dots between levels. An empty list selects all fields.
    pub(super) fields: Vec<String>,
    is_compact: bool,
    /// Index of the first entry to return, for longer lists.
    list_from: usize,
}

/// Returns the arguments for a selection, which every tool's schema has.
pub(super) fn parameters() -> [(&'static str, Value); 3] {
    [
        (
            "fields",
            json!({ "type": "string", "description": "Fields of each entry to return, separated by commas: \
                `id,title,variants.title`. Default: all." }),
        ),
        (
            "view",
            json!({ "type": "string", "enum": ["full", "compact"], "description": "`compact` leaves out images, long \
                texts and nulls." }),
        ),
        (
            "list_from",
            json!({ "type": "integer", "minimum": 0, "description": "Index of the first entry to return of longer \
                lists. `provenance.cut` states where a truncated list continues." }),
        ),
    ]
}

impl View {
    /// Removes the selection from a tool's arguments.
    ///
    /// # Errors
    /// Returns a 422 problem with the invalid arguments.
    pub(super) fn take(arguments: &mut Map<String, Value>) -> Result<Self, Problem> {
        let mut violations = Vec::new();
        let mut refuse = |name: &str, rule: Rule, input: Value| {
            violations.push(Violation::new(
                vec!["query".into(), name.to_owned().into()],
                &rule,
                Some(input),
            ));
        };
        let mut view = Self::default();
        let mut given = |name: &str| arguments.remove(name).filter(|value| !value.is_null());
        match given("fields").map(names) {
            Some(Ok(names)) => view.fields = names,
            Some(Err(input)) => refuse("fields", Rule::StringType, input),
            None => {}
        }
        match given("view") {
            Some(Value::String(text)) if text == "compact" => view.is_compact = true,
            Some(input) if input != "full" => refuse("view", Rule::Enum(vec!["full", "compact"]), input),
            _ => {}
        }
        match given("list_from").map(|value| (count(&value), value)) {
            Some((Some(from), _)) => view.list_from = from,
            Some((None, input)) => refuse("list_from", Rule::IntType, input),
            None => {}
        }
        if violations.is_empty() {
            Ok(view)
        } else {
            Err(Problem::invalid(violations))
        }
    }

    /// Returns the selected fields of `answer`, with lists that are shortened to `bytes_max` if possible. A small
    /// response without a selection is not parsed.
    pub(super) fn shown(&self, mut answer: OperationAnswer, bytes_max: usize) -> OperationAnswer {
        if !answer.is_success() || (*self == Self::default() && answer.body.len() <= bytes_max) {
            return answer;
        }
        let Ok(mut document) = serde_json::from_slice::<Value>(&answer.body) else {
            return answer;
        };
        if let Some(data) = document.get_mut("data") {
            for entry in entries(data) {
                if !self.fields.is_empty() {
                    keep(entry, &self.fields);
                }
                if self.is_compact {
                    compact(entry);
                }
            }
        }
        let whole = lengths(&document);
        if let Some(data) = document.get_mut("data").filter(|_| self.list_from > 0) {
            begin(data, self.list_from);
        }
        if size(&document) > bytes_max {
            shorten(&mut document, bytes_max);
        }
        self.tell_cut(&mut document, &whole);
        answer.body = document.to_string().into();
        answer
    }

    /// Records which lists were shortened.
    fn tell_cut(&self, document: &mut Value, whole: &BTreeMap<String, usize>) {
        let left = lengths(document);
        let cut = whole.iter().filter_map(|(list, of)| {
            let shown = left.get(list).copied().unwrap_or(0);
            (shown < *of).then(|| json!({ "list": list, "from": self.list_from, "shown": shown, "of": of }))
        });
        let cut: Vec<_> = cut.collect();
        if let (false, Some(provenance)) = (
            cut.is_empty(),
            document.get_mut("provenance").and_then(Value::as_object_mut),
        ) {
            provenance.insert("cut".to_owned(), cut.into());
        }
    }
}

/// Parses names from a comma-separated text, a list, or a list written as a text.
fn names(given: Value) -> Result<Vec<String>, Value> {
    let list = match &given {
        Value::String(text) if text.starts_with('[') => serde_json::from_str(text).unwrap_or_default(),
        Value::String(text) => text.split(',').map(Value::from).collect(),
        other => other.clone(),
    };
    let names = list
        .as_array()
        .and_then(|list| list.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
    let Some(names) = names else { return Err(given) };
    Ok(names
        .into_iter()
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect())
}

fn count(given: &Value) -> Option<usize> {
    match given {
        Value::String(text) => text.parse().ok(),
        other => usize::try_from(other.as_u64()?).ok(),
    }
}

/// Returns the entries of the response's list, or the single object.
fn entries(data: &mut Value) -> Vec<&mut Value> {
    if data.get("items").is_some_and(Value::is_array) {
        return entries(&mut data["items"]);
    }
    match data {
        Value::Array(entries) => entries.iter_mut().collect(),
        one => vec![one],
    }
}

/// Keeps only the fields with these names in an entry and its objects.
fn keep(entry: &mut Value, fields: &[String]) {
    match entry {
        Value::Array(entries) => entries.iter_mut().for_each(|entry| keep(entry, fields)),
        Value::Object(members) => members.retain(|name, value| {
            if fields.iter().any(|field| field == name) {
                return true;
            }
            let below = fields
                .iter()
                .filter_map(|field| field.strip_prefix(name.as_str())?.strip_prefix('.'));
            let below: Vec<_> = below.map(str::to_owned).collect();
            if !below.is_empty() {
                keep(value, &below);
            }
            !below.is_empty()
        }),
        _ => {}
    }
}

fn compact(entry: &mut Value) {
    match entry {
        Value::Array(entries) => entries.iter_mut().for_each(compact),
        Value::Object(members) => {
            members.retain(|name, value| !value.is_null() && !NOT_COMPACT.contains(&name.as_str()));
            members.values_mut().for_each(compact);
        }
        _ => {}
    }
}

/// Removes the first `from` entries of longer lists.
fn begin(data: &mut Value, from: usize) {
    match data {
        Value::Array(entries) if entries.len() > from => drop(entries.drain(..from)),
        Value::Object(members) => members.values_mut().for_each(|member| begin(member, from)),
        _ => {}
    }
}

/// Shrinks a document: first the lowest levels of a tree, then the last entries of every list, all to one length.
fn shorten(document: &mut Value, bytes_max: usize) {
    let mut levels = document.get("data").map_or(0, depth);
    while levels > 1 && size(document) > bytes_max {
        levels -= 1;
        document
            .get_mut("data")
            .into_iter()
            .for_each(|data| prune(data, levels));
    }
    let (mut fits, mut least_too_long) = (1, lengths(document).into_values().max().unwrap_or(0) + 1);
    while size(document) > bytes_max && fits + 1 < least_too_long {
        let length = fits.midpoint(least_too_long);
        let mut tried = document.clone();
        truncate(&mut tried, length);
        if size(&tried) > bytes_max {
            least_too_long = length;
        } else {
            fits = length;
        }
    }
    if size(document) > bytes_max {
        truncate(document, fits);
    }
}

fn truncate(value: &mut Value, length: usize) {
    match value {
        Value::Array(entries) => {
            entries.truncate(length);
            entries.iter_mut().for_each(|entry| truncate(entry, length));
        }
        Value::Object(members) => members.values_mut().for_each(|member| truncate(member, length)),
        _ => {}
    }
}

/// Returns the number of levels of a tree whose nodes have `children`.
fn depth(nodes: &Value) -> usize {
    let nodes = nodes.as_array().map_or(&[][..], Vec::as_slice);
    let below = nodes.iter().filter_map(|node| node.get("children")).map(depth);
    below.max().map_or(usize::from(!nodes.is_empty()), |below| below + 1)
}

fn prune(nodes: &mut Value, levels: usize) {
    for node in nodes.as_array_mut().into_iter().flatten() {
        if levels > 1 {
            node.get_mut("children")
                .into_iter()
                .for_each(|below| prune(below, levels - 1));
        } else if let Some(members) = node.as_object_mut() {
            members.remove("children");
        }
    }
}

fn size(document: &Value) -> usize {
    document.to_string().len()
}

/// Returns the length of every list by path, such as `data.variants`. The longest of several lists with the same path
/// counts.
fn lengths(document: &Value) -> BTreeMap<String, usize> {
    let mut lengths = BTreeMap::new();
    let mut open = vec![(String::new(), document)];
    while let Some((place, value)) = open.pop() {
        match value {
            Value::Array(entries) => {
                let longest = lengths.entry(place.clone()).or_insert(0);
                *longest = entries.len().max(*longest);
                open.extend(entries.iter().map(|entry| (place.clone(), entry)));
            }
            Value::Object(members) => open.extend(members.iter().map(|(name, member)| {
                let dot = if place.is_empty() { "" } else { "." };
                (format!("{place}{dot}{name}"), member)
            })),
            _ => {}
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    fn shown(arguments: Value, document: &Value, bytes_max: usize) -> Value {
        let answer = OperationAnswer {
            status: StatusCode::OK,
            body: document.to_string().into(),
            retry_after: None,
        };
        let Value::Object(mut arguments) = arguments else {
            panic!("no object")
        };
        let view = View::take(&mut arguments).unwrap();
        assert!(arguments.is_empty());
        serde_json::from_slice(&view.shown(answer, bytes_max).body).unwrap()
    }

    #[test]
    fn every_list_is_cut_to_one_length_and_the_answer_says_so() {
        let entry = |index: usize| json!({ "id": index, "options": ["a", "b"] });
        let entries: Vec<_> = (0..500).map(entry).collect();
        let whole = json!({ "data": { "variants": entries, "offers": entries, "media": [1, 2] }, "provenance": {} });
        for bytes_max in [200, 1_000, 5_000, 15_000] {
            let cut = shown(json!({}), &whole, bytes_max);
            let [variants, offers] = ["variants", "offers"].map(|list| cut["data"][list].as_array().unwrap());
            assert_eq!(variants, offers);
            assert_eq!(variants[..], entries[..variants.len()]);
            let data = json!({ "data": cut["data"], "provenance": {} }).to_string().len();
            assert!(data <= bytes_max, "{data}");
            let told = cut["provenance"]["cut"].as_array().unwrap();
            let of = json!({ "list": "data.variants", "from": 0, "shown": variants.len(), "of": 500 });
            assert!(told.contains(&of), "{told:?}");
        }
        assert_eq!(shown(json!({}), &whole, 1_000_000), whole);
        let last = shown(json!({ "list_from": 499 }), &whole, 1_000_000);
        assert_eq!(
            last["data"],
            json!({ "variants": [entry(499)], "offers": [entry(499)], "media": [1, 2] })
        );
    }

    #[test]
    fn a_tree_loses_its_lowest_levels_first() {
        let leaves = |of: usize| {
            (0..40)
                .map(|leaf| json!({ "slug": format!("{of}-{leaf}"), "children": [] }))
                .collect::<Vec<_>>()
        };
        let nodes: Vec<_> = (0..10)
            .map(|node| json!({ "slug": node, "children": leaves(node) }))
            .collect();
        let cut = shown(json!({}), &json!({ "data": nodes, "provenance": {} }), 1_000);
        let slugs = (0..10).map(|node| json!({ "slug": node })).collect::<Vec<_>>();
        assert_eq!(cut["data"], json!(slugs));
        let told = json!([{ "list": "data.children", "from": 0, "shown": 0, "of": 40 }]);
        assert_eq!(cut["provenance"]["cut"], told);
    }

    #[test]
    fn chosen_members_are_kept_at_every_level_and_the_rest_of_the_envelope_stays() {
        let page = json!({
            "data": { "items": [{ "id": 1, "brand": { "slug": "b", "name": "B" }, "image": "i", "rating": null }], "next_cursor": "c" },
            "tier": "graph",
        });
        let chosen = shown(json!({ "fields": "id, brand.slug" }), &page, 1_000);
        assert_eq!(
            chosen["data"],
            json!({ "items": [{ "id": 1, "brand": { "slug": "b" } }], "next_cursor": "c" })
        );
        assert_eq!(chosen["tier"], "graph");
        let compact = shown(json!({ "view": "compact" }), &page, 1_000);
        assert_eq!(
            compact["data"]["items"],
            json!([{ "id": 1, "brand": { "slug": "b", "name": "B" } }])
        );
    }
}
