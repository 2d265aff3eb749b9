//! Tests of UCP over emulated stores. Every response is checked against the protocol's own schemas.

mod conformance;
mod discounts;
mod program;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{Haat, has_program};

/// Script that checks documents against the schemas of their versions below a folder, and prints the errors in each.
const VALIDATOR: &str = r##"
import json, pathlib, sys, jsonschema, referencing
def registry(root):
    known = []
    for path in (root / "source").rglob("*.json"):
        one = json.loads(path.read_text())
        # What the profile's schema refers to lies beside its folder, not beside what it calls itself.
        if path.parent.name == "discovery":
            one["$id"] = f"https://ucp.dev/discovery/{path.name}"
        if "$id" in one:
            known.append((one["$id"], referencing.Resource(one, referencing.jsonschema.DRAFT202012)))
    return referencing.Registry().with_resources(known)
registries = {root.name: registry(root) for root in pathlib.Path(sys.argv[1]).iterdir() if root.is_dir()}
faults = []
for one in json.load(sys.stdin):
    validator = jsonschema.Draft202012Validator({"$ref": one["schema"]}, registry=registries[one["of"]], format_checker=jsonschema.FormatChecker())
    faults += [f"{one['name']}: {error.json_path}: {error.message[:200]}" for error in validator.iter_errors(one["document"])]
print(json.dumps(faults))
"##;

/// Agent with the responses that it received.
struct Agent {
    base: String,
    key: String,
    runtime: tokio::runtime::Runtime,
    client: reqwest::Client,
    /// Value of the header `UCP-Agent`, with which the agent identifies itself.
    identity: String,
    /// Idempotency key of the requests.
    once: Option<&'static str>,
    answers: Vec<Value>,
}

/// Identity of an agent that names its profile.
const PROFILE: &str = r#"profile="https://agent.example/profile.json""#;

impl Agent {
    /// Creates an agent that sends requests below `base` with a key.
    fn of(base: String, key: String) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Self {
            base,
            key,
            runtime: runtime.unwrap(),
            client: reqwest::Client::new(),
            identity: PROFILE.to_owned(),
            once: None,
            answers: Vec::new(),
        }
    }

    fn send(&self, method: Method, path: &str, key: Option<&str>, body: Option<&str>) -> (StatusCode, Value) {
        let mut request = self
            .client
            .request(method, format!("{}{path}", self.base))
            .header("ucp-agent", &self.identity);
        if let Some(key) = key {
            request = request.header("x-service-key", key);
        }
        if let Some(once) = self.once {
            request = request.header("idempotency-key", once);
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_owned());
        }
        self.runtime.block_on(async {
            let answer = request.send().await.unwrap();
            let status = answer.status();
            (
                status,
                serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or(Value::Null),
            )
        })
    }

    /// Sends a request whose response must be valid against a schema of the protocol.
    fn ask(&mut self, method: Method, path: &str, body: Option<&Value>, (status, schema): (u16, &str)) -> Value {
        let text = body.map(ToString::to_string);
        let (told, answer) = self.send(method.clone(), path, Some(&self.key), text.as_deref());
        assert_eq!(told, status, "{method} {path}: {answer}");
        self.note(format!("{method} {path}"), (EARLIER, schema), &answer);
        answer
    }

    /// Records a response that must be valid against a schema of a version.
    fn note(&mut self, name: String, (of, schema): (&str, &str), answer: &Value) {
        let schema = format!("https://ucp.dev/{schema}");
        let op = operation(&name);
        self.answers
            .push(json!({ "name": name, "of": of, "op": op, "schema": schema, "document": answer }));
    }

    /// Calls a tool at an MCP endpoint. The result must be valid too.
    fn call(&mut self, endpoint: &str, (tool, arguments): (&str, Value), schema: (&str, &str)) -> Value {
        let mut arguments = arguments;
        arguments["meta"] = json!({ "ucp-agent": { "profile": "https://agent.example/profile.json" } });
        let params = json!({ "name": tool, "arguments": arguments });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let rest = std::mem::replace(&mut self.base, endpoint.to_owned());
        let (status, answer) = self.send(Method::POST, "", Some(&self.key), Some(&message.to_string()));
        self.base = rest;
        assert_eq!(status, 200, "{tool}: {answer}");
        let result = answer["result"]["structuredContent"].clone();
        self.note(format!("{endpoint} {tool}"), schema, &result);
        result
    }

    fn post(&mut self, path: &str, body: &Value, expected: (u16, &str)) -> Value {
        self.ask(Method::POST, path, Some(body), expected)
    }
}

/// Schema folder of the first version. The next constant is the newest available folder of the later version.
const EARLIER: &str = "v2026-04-08";
const LATER: &str = "main-2026-08-22";

const SEARCH: (u16, &str) = (200, "schemas/shopping/catalog_search.json#/$defs/search_response");
const LOOKUP: (u16, &str) = (200, "schemas/shopping/catalog_lookup.json#/$defs/lookup_response");
const PRODUCT: (u16, &str) = (200, "schemas/shopping/catalog_lookup.json#/$defs/get_product_response");
const ERROR: (u16, &str) = (200, "schemas/shopping/types/error_response.json");
const CART: &str = "schemas/shopping/cart.json";
const CHECKOUT: &str = "schemas/shopping/checkout.json";

/// Returns the protocol's name of a request or a tool.
fn operation(name: &str) -> &'static str {
    let says = |any: &[&str]| any.iter().any(|one| name.contains(one));
    match name {
        _ if says(&["/catalog/search", "search_catalog"]) => "search",
        _ if says(&["/catalog/", "lookup_catalog", "get_product"]) => "lookup",
        _ if says(&["/cancel", "cancel_"]) => "cancel",
        _ if says(&["/complete", "complete_"]) => "complete",
        _ if says(&["PUT ", "update_"]) => "update",
        _ if says(&["POST ", "create_"]) => "create",
        _ => "read",
    }
}

fn error_code(answer: &Value) -> (&str, &str) {
    let message = &answer["messages"][0];
    (
        answer["ucp"]["status"].as_str().unwrap(),
        message["code"].as_str().unwrap(),
    )
}

/// Looks up a product by its own id, by its variant's id, and by an unknown id.
fn looks_up(agent: &mut Agent, product: &Value) {
    let (id, variant) = (&product["id"], &product["variants"][0]["id"]);
    let looked = agent.post(
        "/catalog/lookup",
        &json!({ "ids": [id, variant, id, "nothing"] }),
        LOOKUP,
    );
    assert_eq!(looked["products"].as_array().unwrap().len(), 1);
    assert_eq!(looked["messages"][0]["content"], "nothing");
    let inputs = &looked["products"][0]["variants"][0]["inputs"];
    assert_eq!(
        inputs,
        &json!([{ "id": id, "match": "featured" }, { "id": variant, "match": "exact" }])
    );
    let whole = agent.post("/catalog/product", &json!({ "id": variant }), PRODUCT);
    assert_eq!(&whole["product"]["variants"][0]["id"], variant);
    let absent = agent.post("/catalog/product", &json!({ "id": "nothing" }), ERROR);
    assert_eq!(error_code(&absent), ("error", "not_found"));
}

/// Searches the catalogue and returns variants for sale with their sellers.
fn catalogue(agent: &mut Agent) -> Vec<(String, String)> {
    let found = agent.post(
        "/catalog/search",
        &json!({ "query": "steel", "pagination": { "limit": 3 } }),
        SEARCH,
    );
    assert_eq!(found["products"].as_array().unwrap().len(), 3);
    let cursor = &found["pagination"]["cursor"];
    let next = json!({ "query": "steel", "pagination": { "limit": 3, "cursor": cursor } });
    let next = agent.post("/catalog/search", &next, SEARCH);
    let ids = |page: &Value| -> Vec<String> {
        let products = page["products"].as_array().unwrap().iter();
        products.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    assert!(
        ids(&next).iter().all(|id| !ids(&found).contains(id)),
        "a page has other products"
    );
    let other = json!({ "query": "saree", "pagination": { "cursor": cursor } });
    let (status, refused) = agent.send(Method::POST, "/catalog/search", None, Some(&other.to_string()));
    assert_eq!((status.as_u16(), &refused["code"]), (400, &json!("invalid")));

    let product = &found["products"][0];
    let max = product["price_range"]["max"]["amount"].as_i64().unwrap();
    let currency = &product["price_range"]["max"]["currency"];
    let cheap =
        json!({ "query": "steel", "filters": { "price": { "max": max } }, "context": { "currency": currency } });
    let cheap = agent.post("/catalog/search", &cheap, SEARCH);
    for product in cheap["products"].as_array().unwrap() {
        for variant in product["variants"].as_array().unwrap() {
            assert!(variant["price"]["amount"].as_i64().unwrap() <= max, "{variant}");
        }
    }
    let category = found["products"]
        .as_array()
        .unwrap()
        .iter()
        .find_map(|one| one["categories"][2]["value"].as_str());
    let category = category.unwrap().to_owned();
    let shelf = agent.post(
        "/catalog/search",
        &json!({ "filters": { "categories": [category] } }),
        SEARCH,
    );
    assert!(!shelf["products"].as_array().unwrap().is_empty());

    looks_up(agent, product);

    let all = agent.post(
        "/catalog/search",
        &json!({ "query": "cotton", "pagination": { "limit": 20 } }),
        SEARCH,
    );
    let variants = all["products"]
        .as_array()
        .unwrap()
        .iter()
        .chain(found["products"].as_array().unwrap());
    let bought = variants
        .map(|one| &one["variants"][0])
        .filter(|one| one["availability"]["available"] == true);
    bought
        .map(|one| {
            (
                one["seller"]["name"].as_str().unwrap().to_owned(),
                one["id"].as_str().unwrap().to_owned(),
            )
        })
        .collect()
}

fn line(id: &str, quantity: u32) -> Value {
    json!({ "item": { "id": id }, "quantity": quantity })
}

/// Repeats the requests over MCP in both versions.
fn over_mcp(agent: &mut Agent, profile: &Value, variant: &str) {
    let endpoint = |profile: &Value| {
        let services = profile["ucp"]["services"]["dev.ucp.shopping"]
            .as_array()
            .unwrap()
            .iter();
        let mut of_mcp = services.filter(|service| service["transport"] == "mcp");
        of_mcp.next().unwrap()["endpoint"].as_str().unwrap().to_owned()
    };
    let later = profile["ucp"]["supported_versions"]["2026-08-25"].as_str().unwrap();
    let (status, later) = agent.runtime.block_on(async {
        let answer = agent.client.get(later).send().await.unwrap();
        let status = answer.status().as_u16();
        (
            status,
            serde_json::from_slice::<Value>(&answer.bytes().await.unwrap()).unwrap(),
        )
    });
    assert_eq!(status, 200, "{later}");
    assert!(later["ucp"].get("supported_versions").is_none(), "a leaf: {later}");
    agent.note(
        "later profile".to_owned(),
        (LATER, "schemas/ucp.json#/$defs/business_schema"),
        &later["ucp"],
    );
    for (of, endpoint, error) in [
        (EARLIER, endpoint(profile), "schemas/shopping/types/error_response.json"),
        (LATER, endpoint(&later), "schemas/common/types/error_response.json"),
    ] {
        let mut shown = line(variant, 1);
        shown["price_minor"] = json!(1);
        let items = json!([shown]);
        let catalogue = |asked: Value| json!({ "catalog": asked });
        let search = catalogue(json!({ "query": "steel", "pagination": { "limit": 3 } }));
        agent.call(&endpoint, ("search_catalog", search), (of, SEARCH.1));
        let lookup = catalogue(json!({ "ids": [variant, "nothing"] }));
        agent.call(&endpoint, ("lookup_catalog", lookup), (of, LOOKUP.1));
        let detail = catalogue(json!({ "id": variant }));
        agent.call(&endpoint, ("get_product", detail), (of, PRODUCT.1));
        let absent = catalogue(json!({ "id": "nothing" }));
        let absent = agent.call(&endpoint, ("get_product", absent), (of, error));
        assert_eq!(error_code(&absent), ("error", "not_found"));
        let cart = json!({ "cart": { "line_items": items } });
        let cart = agent.call(&endpoint, ("create_cart", cart), (of, CART));
        assert_eq!(cart["line_items"][0]["price_held"], false, "{cart}");
        let id = cart["id"].clone();
        let more = json!({ "id": id, "cart": { "line_items": [line(variant, 2)] } });
        agent.call(&endpoint, ("update_cart", more), (of, CART));
        agent.call(&endpoint, ("get_cart", json!({ "id": id })), (of, CART));
        let checkout = json!({ "checkout": { "cart_id": id, "line_items": [] } });
        let checkout = agent.call(&endpoint, ("create_checkout", checkout), (of, CHECKOUT));
        assert_eq!(checkout["status"], "requires_escalation", "{checkout}");
        for tool in ["get_checkout", "complete_checkout", "cancel_checkout"] {
            agent.call(&endpoint, (tool, json!({ "id": id })), (of, CHECKOUT));
        }
        let gone = agent.call(&endpoint, ("cancel_cart", json!({ "id": id })), (of, error));
        assert_eq!(error_code(&gone), ("error", "not_found"));
    }
}

/// Tests carts and checkouts of one seller, and requests that are refused.
fn carts(agent: &mut Agent, variants: &[(String, String)]) {
    let (seller, one) = &variants[0];
    let same = variants.iter().find(|(other, id)| other == seller && id != one);
    let other = variants.iter().find(|(other, _)| other != seller).unwrap();
    let mixed = json!({ "line_items": [line(one, 1), line(&other.1, 1)] });
    let refused = agent.post("/carts", &mixed, ERROR);
    assert_eq!(error_code(&refused), ("error", "several_sellers"));
    let unknown = agent.post("/carts", &json!({ "line_items": [line("0190:7", 1)] }), ERROR);
    assert_eq!(error_code(&unknown), ("error", "not_found"));

    let cart = agent.post("/carts", &json!({ "line_items": [line(one, 1)] }), (201, CART));
    assert_eq!(cart["line_items"][0]["item"]["id"], json!(one));
    let path = format!("/carts/{}", cart["id"].as_str().unwrap());
    let mut wanted = vec![line(one, 2)];
    wanted.extend(same.map(|(_, id)| line(id, 1)));
    let body = json!({ "id": cart["id"], "line_items": wanted });
    let more = agent.ask(Method::PUT, &path, Some(&body), (200, CART));
    assert_eq!(more["line_items"].as_array().unwrap().len(), wanted.len());
    let less = json!({ "id": cart["id"], "line_items": [line(one, 1)] });
    let less = agent.ask(Method::PUT, &path, Some(&less), (200, CART));
    assert_eq!(less["totals"], cart["totals"], "as it was");

    is_done_once(agent, (&cart["id"], one));
    let checkout = agent.post(
        "/checkout-sessions",
        &json!({ "cart_id": cart["id"], "line_items": [] }),
        (201, CHECKOUT),
    );
    assert_eq!(checkout["status"], "requires_escalation");
    assert!(
        checkout["messages"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["severity"] == "requires_buyer_input")
    );
    assert!(
        checkout["attribution"]["haat_attribution"]
            .as_str()
            .unwrap()
            .split('.')
            .count()
            == 3
    );
    let session = format!("/checkout-sessions/{}", checkout["id"].as_str().unwrap());
    let again = agent.ask(Method::GET, &session, None, (200, CHECKOUT));
    assert_eq!(again["continue_url"], checkout["continue_url"]);
    let completed = agent.ask(Method::POST, &format!("{session}/complete"), None, (200, CHECKOUT));
    assert_eq!(completed["status"], "requires_escalation", "no agent pays");
    let page = agent.runtime.block_on(async {
        let url = checkout["continue_url"].as_str().unwrap();
        agent.client.get(url).send().await.unwrap().status()
    });
    assert_eq!(page, 200, "a person finds the seller's checkout");

    let canceled = agent.ask(Method::POST, &format!("{session}/cancel"), None, (200, CHECKOUT));
    assert_eq!(canceled["status"], "canceled");
    let gone = agent.ask(Method::GET, &path, None, ERROR);
    assert_eq!(error_code(&gone), ("error", "not_found"));
    let direct = agent.post(
        "/checkout-sessions",
        &json!({ "line_items": [line(one, 1)] }),
        (201, CHECKOUT),
    );
    let path = format!("/carts/{}", direct["id"].as_str().unwrap());
    let last = agent.ask(Method::POST, &format!("{path}/cancel"), None, (200, CART));
    assert_eq!(last["line_items"].as_array().unwrap().len(), 1);
    let nobody = agent.send(Method::GET, &path, None, None);
    assert_eq!(nobody.0, 401, "{}", nobody.1);
}

/// Tests an update and a cancellation with an idempotency key. A repeated request gets the same response, and a
/// different request with the key is refused.
fn is_done_once(agent: &mut Agent, (cart, variant): (&Value, &str)) {
    let path = format!("/carts/{}", cart.as_str().unwrap());
    let body = |quantity: u32| json!({ "id": cart, "line_items": [line(variant, quantity)] });
    agent.once = Some("an update");
    let first = agent.ask(Method::PUT, &path, Some(&body(2)), (200, CART));
    agent.once = None;
    agent.ask(Method::PUT, &path, Some(&body(1)), (200, CART));
    agent.once = Some("an update");
    assert_eq!(agent.ask(Method::PUT, &path, Some(&body(2)), (200, CART)), first);
    // Fields that the server does not read are a difference too.
    let mut elsewhere = body(2);
    elsewhere["context"] = json!({ "currency": "EUR" });
    for other in [body(3), elsewhere] {
        let (status, refused) = agent.send(Method::PUT, &path, Some(&agent.key), Some(&other.to_string()));
        assert_eq!(
            (status.as_u16(), &refused["code"]),
            (409, &json!("idempotency_mismatch")),
            "{other}"
        );
    }
    agent.once = None;
    let another = agent.post("/carts", &json!({ "line_items": [line(variant, 1)] }), (201, CART));
    let cancel = format!("/carts/{}/cancel", another["id"].as_str().unwrap());
    agent.once = Some("an end");
    let ended = agent.ask(Method::POST, &cancel, None, (200, CART));
    assert_eq!(agent.ask(Method::POST, &cancel, None, (200, CART)), ended);
    agent.once = None;
    let gone = agent.ask(Method::POST, &cancel, None, ERROR);
    assert_eq!(error_code(&gone), ("error", "not_found"));
}

/// Checks the responses against the schemas with a JSON Schema validator.
fn are_valid(answers: &[Value], schemas: &Path) {
    let mut python = Command::new("python3")
        .args(["-c", VALIDATOR])
        .arg(schemas)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let documents = Value::Array(answers.to_vec()).to_string();
    python.stdin.take().unwrap().write_all(documents.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    let faults: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(faults, json!([]), "of {} answers", answers.len());
}

#[test]
fn every_answer_of_the_shared_protocol_is_valid_against_its_schemas() {
    let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/ucp");
    if !schemas.is_dir() {
        println!("skipped: the protocol's schemas are absent: {}", schemas.display());
        return;
    }
    if !has_program("python3", &["-c", "import jsonschema, referencing"]) {
        return;
    }
    let haat = Haat::new();
    let _stores = haat.with_stores(&["--products", "400", "--stores", "4", "--seed", "11"]);
    haat.run(&["crawl", "--release"]).json();
    let key = haat.run(&["keys", "create", "agent", "--plan", "granted"]).json();
    let (_server, served) = haat.serve(&["up", "--listen", "127.0.0.1:0"]);
    let address = served["address"].as_str().unwrap();
    let mut agent = Agent::of(address.to_owned(), key["key"].as_str().unwrap().to_owned());
    let profile = agent.ask(
        Method::GET,
        "/.well-known/ucp",
        None,
        (200, "discovery/profile_schema.json#/$defs/business_profile"),
    );
    let service = &profile["ucp"]["services"]["dev.ucp.shopping"][0];
    agent.base = service["endpoint"].as_str().unwrap().to_owned();
    assert_eq!(agent.base, format!("{address}/v1/ucp"));
    let variants = catalogue(&mut agent);
    carts(&mut agent, &variants);
    discounts::discounts(&mut agent, &variants[0].1);
    over_mcp(&mut agent, &profile, &variants[0].1);

    for (body, code) in [
        ("{", "malformed_json"),
        ("[]", "invalid"),
        ("{}", "invalid"),
        (r#"{"query":7}"#, "invalid"),
    ] {
        let (status, answer) = agent.send(Method::POST, "/catalog/search", None, Some(body));
        assert_eq!((status.as_u16(), answer["code"].as_str()), (400, Some(code)), "{body}");
    }
    let many: Vec<String> = (0..51).map(|nth| format!("{nth}")).collect();
    let (status, answer) = agent.send(
        Method::POST,
        "/catalog/lookup",
        None,
        Some(&json!({ "ids": many }).to_string()),
    );
    assert_eq!(
        (status.as_u16(), answer["code"].as_str()),
        (400, Some("request_too_large"))
    );

    are_valid(&agent.answers, &schemas);
    program::finds_nothing_wrong(&agent.answers, &schemas);
}
