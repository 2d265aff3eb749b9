use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};

use crate::mcp::{Market, market_of};
use crate::support::Haat;
use crate::ucp::{Agent, line};

/// Code that a store accepts, for a variant of one of its products.
pub(super) struct Code {
    pub(super) code: String,
    pub(super) variant: String,
    pub(super) amount: i64,
}

/// Market, an agent in it, and the products that the agent buys.
pub(super) struct Shop {
    _market: Market,
    pub(super) agent: Agent,
    pub(super) variant: String,
    pub(super) price: i64,
    pub(super) sold_out: String,
    /// Codes of each store by kind.
    pub(super) codes: Vec<BTreeMap<String, Code>>,
}

impl Shop {
    pub(super) fn open() -> Self {
        let market = market_of(Haat::new(), &["--products", "300", "--stores", "16", "--seed", "5"]);
        let agent = Agent::of(format!("{}/v1/ucp", market.base), market.key.clone());
        let mut shop = Self {
            _market: market,
            agent,
            variant: String::new(),
            price: 0,
            sold_out: String::new(),
            codes: Vec::new(),
        };
        let pages = ["cotton", "steel", "kurta", "tea"].map(|query| {
            let asked = json!({ "query": query, "pagination": { "limit": 20 } });
            shop.ask(Method::POST, "/catalog/search", &asked).1["products"].clone()
        });
        let products: Vec<&Value> = pages.iter().flat_map(|page| page.as_array().unwrap()).collect();
        let variants = || products.iter().flat_map(|one| one["variants"].as_array().unwrap());
        let is_available = |wanted: bool| move |one: &&Value| one["availability"]["available"] == wanted;
        // Automatic discounts need large orders.
        let price = |one: &&Value| one["price"]["amount"].as_i64();
        let bought = variants().filter(is_available(true)).min_by_key(price).unwrap();
        shop.variant = text(&bought["id"]);
        shop.price = bought["price"]["amount"].as_i64().unwrap();
        shop.sold_out = text(&variants().find(is_available(false)).unwrap()["id"]);
        let brands = shop.ask(Method::GET, "/../brands?limit=100", &Value::Null).1["data"].clone();
        let brands = brands.as_array().unwrap().iter();
        shop.codes = brands.map(|brand| shop.codes_of(&text(&brand["slug"]))).collect();
        shop
    }

    /// Returns the codes that work at a brand's store.
    fn codes_of(&self, brand: &str) -> BTreeMap<String, Code> {
        let path = format!("/../coupons?brand={brand}");
        let found = self.ask(Method::GET, &path, &Value::Null).1;
        let data = &found["data"];
        let coupons = data["coupons"].as_array().map_or(&[][..], Vec::as_slice);
        let codes = coupons.iter().map(|coupon| {
            let code = Code {
                code: text(&coupon["code"]),
                variant: format!("{}:{}", text(&data["product_id"]), text(&data["variant_id"])),
                amount: coupon["discount_minor"].as_i64().unwrap(),
            };
            (text(&coupon["kind"]), code)
        });
        codes.filter(|(_, code)| code.amount > 0).collect()
    }

    /// Returns the code of a kind with the smallest reduction. Small orders get no other discounts.
    pub(super) fn code(&self, kind: &str) -> &Code {
        let codes = self.codes.iter().filter_map(|codes| codes.get(kind));
        let code = codes.min_by_key(|code| code.amount);
        code.unwrap_or_else(|| panic!("no store has a code of the kind {kind}"))
    }

    /// Sends a request with the agent's key; `null` means no body.
    pub(super) fn ask(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let body = (!body.is_null()).then(|| body.to_string());
        let (status, answer) = self.agent.send(method, path, Some(&self.agent.key), body.as_deref());
        (status.as_u16(), answer)
    }

    /// Sends a request with an idempotency key.
    pub(super) fn ask_once(&mut self, key: &'static str, method: Method, path: &str, body: &Value) -> (u16, Value) {
        self.agent.once = Some(key);
        let answered = self.ask(method, path, body);
        self.agent.once = None;
        answered
    }

    /// Sends a request that creates an object, and returns the response.
    #[track_caller]
    pub(super) fn made(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask(Method::POST, path, body);
        assert!(
            status == 201 && answer["id"].is_string(),
            "{path} {body}: {status} {answer}"
        );
        answer
    }

    pub(super) fn checkout(&self) -> Value {
        self.made("/checkout-sessions", &json!({ "line_items": [line(&self.variant, 1)] }))
    }

    /// Creates two checkouts of one unit of the code's product: one without the code, and one with the code and
    /// `others`.
    pub(super) fn discounted(&self, code: &Code, others: &[&str]) -> [Value; 2] {
        let items = json!([line(&code.variant, 1)]);
        let plain = self.made("/checkout-sessions", &json!({ "line_items": items }));
        let codes: Vec<&str> = [code.code.as_str()].iter().chain(others).copied().collect();
        let body = json!({ "id": plain["id"], "line_items": items, "discounts": { "codes": codes } });
        let (status, with) = self.ask(Method::PUT, &session(&plain, ""), &body);
        assert_eq!(status, 200, "{with}");
        [plain, with]
    }
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

pub(super) fn session(checkout: &Value, below: &str) -> String {
    format!("/checkout-sessions/{}{below}", text(&checkout["id"]))
}

pub(super) fn sum(totals: &Value, kinds: &[&str]) -> i64 {
    let entries = totals.as_array().unwrap().iter();
    let of_kind = entries.filter(|entry| kinds.contains(&entry["type"].as_str().unwrap()));
    of_kind.map(|entry| entry["amount"].as_i64().unwrap()).sum()
}

pub(super) fn items(answer: &Value) -> Vec<(String, u64)> {
    let lines = answer["line_items"].as_array().unwrap().iter();
    let mut items: Vec<_> = lines
        .map(|line| (text(&line["item"]["id"]), line["quantity"].as_u64().unwrap()))
        .collect();
    items.sort();
    items
}

pub(super) fn applied(answer: &Value) -> Vec<String> {
    let applied = answer["discounts"]["applied"].as_array().map_or(&[][..], Vec::as_slice);
    applied
        .iter()
        .filter_map(|one| one["code"].as_str())
        .map(str::to_owned)
        .collect()
}

/// Asserts that a response is a business error, whose messages have all required fields, and which occurs with an
/// unfinished resource or without one.
#[track_caller]
pub(super) fn is_business_error((status, answer): &(u16, Value), codes: &[&str]) {
    assert!([200, 201].contains(status), "{status} {answer}");
    let messages = answer["messages"].as_array().unwrap().iter();
    let errors: Vec<_> = messages.filter(|one| one["type"] == "error").collect();
    for error in &errors {
        assert!(
            ["code", "content", "severity"]
                .iter()
                .all(|name| error[name].is_string()),
            "{error}"
        );
    }
    assert!(
        errors.iter().any(|one| codes.contains(&one["code"].as_str().unwrap())),
        "{answer}"
    );
    if answer["id"].is_null() {
        assert_eq!(answer["ucp"]["status"], "error", "{answer}");
    } else {
        assert!(
            answer["ucp"]["status"].is_null() && answer["order"].is_null(),
            "{answer}"
        );
        assert_ne!(answer["status"], "completed", "{answer}");
    }
}

pub(super) fn payment(token: &str) -> Value {
    let credential = json!({ "type": "token", "token": token });
    json!({ "payment": { "instruments": [{ "id": "instr_1", "type": "card", "credential": credential }] } })
}
