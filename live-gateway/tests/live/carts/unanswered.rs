//! Tests of invalid responses, one for each operation. An invalid response never counts as a refusal, and the key of
//! the request stays free. A repeated request leads to the same cart as without the fault.

use emulator::{Fault, FaultRule};
use http::Method;
use serde_json::{Value, json};

use super::late::{ZIPS, address, tell_places};
use super::mall::{Call, Mall, assert_sums, group, path};
use super::stores::prepare;

/// Returns all faults that replace a response and are detected immediately.
pub(super) fn no_answers() -> Vec<Fault> {
    let statuses = [400, 401, 403, 404, 405, 410, 500, 503].map(|status| Fault::Status {
        status,
        retry_after_s: None,
    });
    let others = [
        Fault::HtmlForJson,
        Fault::BrokenJson,
        Fault::Truncated { after_bytes: 10 },
        Fault::GzipBomb { decoded_bytes: 1 << 30 },
        Fault::QueryErrors { partial: false },
        Fault::QueryErrors { partial: true },
        Fault::CartError {
            code: Some("SERVICE_UNAVAILABLE".to_owned()),
        },
        Fault::CartError { code: None },
        Fault::PasswordPage,
        Fault::Challenge,
        Fault::Reset,
        Fault::AnswerLost { hold_ms: 0 },
        Fault::EdgeFailed { status: 502 },
        Fault::Delayed { status: 504 },
    ];
    statuses.into_iter().chain(others).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Create,
    Add,
    Change,
    Remove,
    Replace,
    AddCode,
    RemoveCode,
    Address,
    Deliver,
    CheckOut,
}

impl Operation {
    fn call(self, mall: &Mall, cart: &Value) -> Call {
        let items = |items: &[Value]| json!({ "items": items });
        let group = || group(cart, &mall.brand(0));
        let below = |below: &str| path(cart, below);
        let line = || below(&format!("/lines/{}", group()["lines"][0]["line_id"].as_str().unwrap()));
        match self {
            Self::Create => Call::post("/v1/cart", items(&[mall.item(0, 0, 1), mall.item(0, 1, 2)])),
            Self::Add => Call::post(below("/lines"), items(&[mall.item(0, 1, 3), mall.item(0, 2, 3)])),
            Self::Change => Call::new(Method::PATCH, line()).with(json!({ "qty": 5 })),
            Self::Remove => Call::new(Method::DELETE, line()),
            Self::Replace => {
                let items = items(&[mall.item(0, 1, 1), mall.item(0, 3, 4)]);
                Call::new(Method::PUT, below("/lines")).with(items)
            }
            Self::AddCode => Call::post(below("/discount"), json!({ "code": "TEN" })),
            Self::RemoveCode => Call::new(Method::DELETE, below("/discount/NOPE")),
            Self::Address => address(cart, ZIPS[1]),
            Self::Deliver => {
                let options = group()["delivery_options"].as_array().unwrap().clone();
                let other = options.iter().find(|option| option["selected"] == false).unwrap();
                let body = json!({ "brand": mall.brand(0), "handle": other["handle"] });
                Call::post(below("/delivery"), body)
            }
            Self::CheckOut => Call::post("/v1/checkout", json!({ "cart_id": cart["cart_id"] })),
        }
    }
}

/// Creates a cart with two lines, a code and a delivery address.
async fn begun(mall: &Mall) -> Value {
    let server = mall.server().await;
    let cart = server.data(Operation::Create.call(mall, &Value::Null)).await;
    let code = Call::post(path(&cart, "/discount"), json!({ "code": "NOPE" }));
    server.data(code).await;
    server.data(address(&cart, ZIPS[0])).await
}

/// Returns the state of a cart that matters to its buyer, without the cart's id.
async fn state(mall: &Mall, cart: &Value) -> Value {
    let read = mall.server().await.data(Call::get(path(cart, ""))).await;
    assert_sums(&read);
    assert_eq!(read["problems"], json!([]), "{read:#}");
    let group = group(&read, &mall.brand(0));
    assert_eq!(group["verified"], true, "{group:#}");
    let members = |list: &str, names: &[&str]| -> Vec<Value> {
        let all = group[list].as_array().unwrap().iter();
        let mut told: Vec<_> = all
            .map(|one| names.iter().map(|name| one[*name].clone()).collect::<Value>())
            .collect();
        told.sort_by_key(Value::to_string);
        told
    };
    json!([
        members("lines", &["variant_id", "qty", "requested_qty"]),
        members("discount_codes", &["code", "applicable"]),
        members("delivery_options", &["title", "amount_minor", "selected"]),
        group["total_minor"],
    ])
}

async fn passes(operation: Operation) {
    let mall = Mall::open(1).await;
    prepare(&mall);
    tell_places(&mall, 0);
    let mut cart = begun(&mall).await;
    let call = operation.call(&mall, &cart);
    let done = mall.server().await.data(call).await;
    let wanted = state(&mall, if operation == Operation::Create { &done } else { &cart }).await;
    let rules = no_answers()
        .into_iter()
        .map(|fault| FaultRule::from(fault).on_path("/api/"));
    let rules = rules.flat_map(|rule| [rule.clone(), rule.first(1)]);
    for (nth, rule) in rules.enumerate() {
        cart = begun(&mall).await;
        let call = operation.call(&mall, &cart).once(format!("key-{nth}"));
        mall.stores.set_faults(&mall.slug(0), [rule.clone()]).unwrap();
        let first = mall.server().await.data(call.clone()).await;
        mall.stores.set_fault(&mall.slug(0), None).unwrap();
        mall.stores.catch_up(&mall.slug(0)).unwrap();
        // No call can be running any more.
        mall.clock.advance_ms(120_000);
        let problems = first["problems"].as_array().unwrap();
        let is_passing = |problem: &Value| problem["code"] == "store_unavailable";
        assert!(problems.iter().all(is_passing), "{rule:?}: {problems:#?}");
        assert!(rule.first.is_some() || !problems.is_empty(), "{rule:?}: {first:#}");
        // Each attempt needs a new server, because a server that received a challenge waits before its next request.
        for is_replay in [problems.is_empty(), true] {
            let (status, headers, again) = mall.server().await.send_whole(call.clone()).await;
            let told = (status.as_u16(), &again["data"]["problems"]);
            assert_eq!(told, (200, &json!([])), "{rule:?}: {again:#}");
            assert_eq!(headers.contains_key("idempotent-replayed"), is_replay, "{rule:?}");
            if operation == Operation::Create {
                cart = again["data"].clone();
            }
        }
        assert_eq!(state(&mall, &cart).await, wanted, "{rule:?}");
    }
}

mod what_is_no_answer_is_no_refusal_and_the_same_request_does_the_rest_once {
    use super::{Operation, passes};

    macro_rules! of_operations {
        ($($name:ident: $operation:ident),*) => { $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                passes(Operation::$operation).await;
            }
        )* };
    }

    of_operations!(
        create: Create, add: Add, change: Change, remove: Remove, replace: Replace, add_code: AddCode,
        remove_code: RemoveCode, address: Address, deliver: Deliver, check_out: CheckOut
    );
}
