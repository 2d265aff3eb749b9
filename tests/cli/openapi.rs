//! Tests of the OpenAPI descriptions of running servers, operation by operation.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::{Haat, ServerProcess, get};

pub(crate) struct RunningServers {
    _servers: Vec<ServerProcess>,
    _home: Haat,
}

/// Starts the query server, the gateway and the combined server. Returns the address and OpenAPI description of each.
pub(crate) fn descriptions() -> (RunningServers, BTreeMap<&'static str, (String, Value)>) {
    let haat = Haat::new().with("HAAT_QUERY_SERVER__INTERNAL_LISTEN", "127.0.0.1:0");
    let (mut running, mut found) = (Vec::new(), BTreeMap::new());
    let mut serve = |haat: &Haat, command: &'static str| {
        let (serving, served) = haat.serve(&[command, "--listen", "127.0.0.1:0"]);
        let base = served["address"].as_str().unwrap().to_owned();
        let (status, document) = get(&format!("{base}/openapi.json"));
        assert_eq!(status, 200, "{command}");
        running.push(serving);
        found.insert(command, (base, document));
        served
    };
    serve(&haat, "up");
    let query = serve(&haat, "query-server");
    let haat = haat.with(
        "HAAT_LIVE_GATEWAY__CATALOGUE",
        query["internal_address"].as_str().unwrap(),
    );
    serve(&haat, "live-gateway");
    let running = RunningServers {
        _servers: running,
        _home: haat,
    };
    (running, found)
}

/// Returns every operation as method, path and description.
pub(crate) fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, item)| {
        let methods = ["get", "post", "put", "patch", "delete"].into_iter();
        methods.filter_map(move |method| Some((method, path.as_str(), item.get(method)?)))
    });
    operations.collect()
}

/// Returns the missing parts of an operation's description.
fn missing(method: &str, path: &str, operation: &Value, sections: &BTreeSet<&str>) -> Vec<String> {
    let mut missing = Vec::new();
    let mut ask = |holds: bool, what: &str| {
        if !holds {
            missing.push(format!("{method} {path}: {what}"));
        }
    };
    let text = |member: &str| operation[member].as_str().unwrap_or_default();
    for member in ["summary", "description"] {
        let sentence = text(member);
        ask(
            sentence.ends_with(['.', ':']),
            &format!("no sentence as {member}: {sentence:?}"),
        );
    }
    ask(text("summary").chars().count() <= 120, "a summary of more than a line");
    ask(
        text("summary") != text("description"),
        "the description only repeats the summary",
    );
    let tags = operation["tags"].as_array().cloned().unwrap_or_default();
    let tag = tags.first().and_then(Value::as_str).unwrap_or_default();
    ask(
        tags.len() == 1 && sections.contains(tag),
        "not in one section that is described",
    );
    let responses = operation["responses"].as_object().unwrap();
    ask(responses.contains_key("401"), "no 401");
    let may_be_foreign = method != "get" && path.starts_with("/v1/");
    ask(!may_be_foreign || responses.contains_key("403"), "no 403");
    ask(
        responses.keys().any(|status| status.starts_with('2')),
        "no answer of success",
    );
    for (status, response) in responses {
        let described = response["description"].as_str().is_some_and(|words| !words.is_empty());
        ask(described, &format!("{status} without a description"));
    }
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let described = parameter["description"].as_str().is_some_and(|words| !words.is_empty());
        ask(
            described,
            &format!("parameter {} without a description", parameter["name"]),
        );
    }
    missing
}

#[test]
fn every_operation_of_every_server_is_described_for_strangers() {
    let (_running, descriptions) = descriptions();
    let mut faults = Vec::new();
    for (server, (_, document)) in &descriptions {
        let sections = document["tags"].as_array().unwrap().iter();
        let described = sections.filter(|section| section["description"].is_string());
        let names: Vec<_> = described.map(|section| section["name"].as_str().unwrap()).collect();
        let sections: BTreeSet<_> = names.iter().copied().collect();
        assert_eq!(sections.len(), names.len(), "{server}: a section twice in {names:?}");
        let operations = operations(document);
        assert!(operations.len() > 10, "{server}");
        for (method, path, operation) in operations {
            let of = missing(method, path, operation, &sections);
            faults.extend(of.into_iter().map(|fault| format!("{server}: {fault}")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_both_servers_describe_they_describe_alike() {
    let (_running, descriptions) = descriptions();
    let (_, together) = &descriptions["up"];
    for server in ["query-server", "live-gateway"] {
        let (_, document) = &descriptions[server];
        for (method, path, operation) in operations(document) {
            // Each server has probes of its own.
            if !path.ends_with("z") {
                assert_eq!(operation, &together["paths"][path][method], "{server}: {method} {path}");
            }
        }
    }
}

#[test]
fn a_parameter_that_may_be_empty_counts_as_absent_where_it_is() {
    let haat = Haat::new();
    let _stores = haat.with_stores(&["--products", "60", "--stores", "2", "--seed", "5"]);
    haat.run(&["crawl", "--release"]).json();
    let (_server, served) = haat.serve(&["up", "--listen", "127.0.0.1:0"]);
    let base = served["address"].as_str().unwrap();
    let (_, document) = get(&format!("{base}/openapi.json"));
    let answer = |address: &str| {
        let (status, mut body) = get(address);
        // Each request has another `request_id` and `as_of`, because it queries the store.
        for part in ["", "/data", "/provenance"] {
            if let Some(part) = body.pointer_mut(part).and_then(Value::as_object_mut) {
                part.retain(|name, _| name != "request_id" && name != "as_of");
            }
        }
        (status, body)
    };
    let found = get(&format!("{base}/v1/search")).1["data"][0].take();
    let text = |name: &str| found[name].as_str().unwrap();
    let address = |path: &str| {
        let path = path
            .replace("{slug}", text("brand_slug"))
            .replace("{ident}", text("id"));
        format!("{base}{path}")
    };
    let mut answered = 0;
    for (method, path, operation) in operations(&document) {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        for parameter in parameters.filter(|parameter| method == "get" && parameter["allowEmptyValue"] == true) {
            let name = parameter["name"].as_str().unwrap();
            let absent = answer(&address(path));
            assert_eq!(answer(&format!("{}?{name}=", address(path))), absent, "{path} {name}");
            answered += usize::from(absent.0 == 200);
        }
    }
    assert!(answered > 50, "{answered}");
}
