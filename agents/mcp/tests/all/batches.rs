use agents_mcp::McpConfig;
use serde_json::{Value, json};

use crate::support::{Market, call, told};

const PING: &str = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
const NOTIFIED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn batch(items: &[&str]) -> String {
    format!("[{}]", items.join(","))
}

#[tokio::test]
async fn a_batch_is_answered_item_by_item_in_its_order() {
    let market = Market::new();
    let calls: Vec<_> = (0..8)
        .map(|id| call(id, "search_products", &json!({ "q": id.to_string() })))
        .collect();
    let mut items: Vec<&str> = calls.iter().map(String::as_str).collect();
    items.insert(3, NOTIFIED);
    items.insert(5, "17");
    items.push(PING);
    let answer = market.post(&[], batch(&items)).await;
    let answers = answer.json();
    let ids: Vec<_> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].clone())
        .collect();
    let wanted = [
        json!(0),
        json!(1),
        json!(2),
        json!(3),
        Value::Null,
        json!(4),
        json!(5),
        json!(6),
        json!(7),
        json!("p"),
    ];
    assert_eq!((answer.status, ids.as_slice()), (200, &wanted[..]));
    assert_eq!(answers[4]["error"]["code"], -32600);
    assert_eq!(answers[5]["result"]["structuredContent"]["data"]["q"], "4");
}

#[tokio::test]
async fn a_batch_without_requests_is_taken_and_an_empty_one_is_refused() {
    let market = Market::new();
    let taken = market
        .post(&[], batch(&[NOTIFIED, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]))
        .await;
    assert_eq!((taken.status, taken.text.as_str()), (202, ""));
    let empty = market.post(&[], "[]").await;
    assert_eq!(
        (empty.status, &empty.json()["error"]["code"], &empty.json()["id"]),
        (400, &json!(-32600), &Value::Null)
    );
    let ones = market.post(&[], "[1]").await;
    assert_eq!((ones.status, ones.json().as_array().unwrap().len()), (200, 1));
    assert_eq!(market.post(&[], "[1,2]").await.json().as_array().unwrap().len(), 2);
    let nested = market.post(&[], batch(&[&batch(&[PING])])).await;
    assert_eq!(nested.json()[0]["error"]["code"], -32600);
}

#[tokio::test]
async fn a_batch_has_a_bound() {
    let market = Market::with(
        McpConfig {
            batch_items_max: 3,
            ..McpConfig::default()
        },
        u32::MAX,
    );
    assert_eq!(
        market
            .post(&[], batch(&[PING; 3]))
            .await
            .json()
            .as_array()
            .unwrap()
            .len(),
        3
    );
    let many = market.post(&[], batch(&[PING; 4])).await;
    assert_eq!((many.status, &many.json()["error"]["code"]), (400, &json!(-32600)));
}

#[tokio::test]
async fn each_request_of_a_batch_counts_once_and_what_is_too_much_is_told() {
    let items = [
        call(1, "search_products", &json!({})),
        NOTIFIED.to_owned(),
        call(2, "search_products", &json!({})),
        call(3, "search_products", &json!({})),
        r#"{"jsonrpc":"2.0","id":4,"method":"tools/list"}"#.to_owned(),
    ];
    let items: Vec<&str> = items.iter().map(String::as_str).collect();
    let market = Market::with(McpConfig::default(), 2);
    let answers = market.post(&[], batch(&items)).await.json();
    assert_eq!(answers[0]["result"]["isError"], false);
    assert_eq!(answers[1]["result"]["isError"], false);
    let refused = &answers[2]["result"];
    assert_eq!(
        (&refused["isError"], &told(refused)["code"]),
        (&json!(true), &json!("rate_limit"))
    );
    assert_eq!(answers[3]["error"]["data"]["code"], "rate_limit");
    let later = market.post(&[], PING).await;
    assert_eq!((later.status, later.header("retry-after")), (429, "2"));
    let single = Market::with(McpConfig::default(), 1);
    assert_eq!(single.post(&[], PING).await.status, 200, "one request costs one");
}

#[tokio::test]
async fn a_batch_as_an_event_stream_is_an_event_for_each_answer() {
    let market = Market::new();
    let answer = market
        .post(&[("accept", "text/event-stream")], batch(&[PING, NOTIFIED, PING]))
        .await;
    let event = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}\n\n";
    assert_eq!(answer.text, event.repeat(2));
}

#[tokio::test(start_paused = true)]
async fn all_of_a_batch_is_answered_in_time() {
    let market = Market::new();
    let slow = call(1, "search_products", &json!({ "q": "slow" }));
    let quick = call(2, "search_products", &json!({}));
    let items: Vec<&str> = std::iter::repeat_n(slow.as_str(), 9).chain([quick.as_str()]).collect();
    let answers = market.post(&[], batch(&items)).await.json();
    assert_eq!(told(&answers[0]["result"])["code"], "overloaded");
    assert_eq!(told(&answers[8]["result"])["code"], "overloaded");
    assert_eq!(answers.as_array().unwrap().len(), 10);
}
