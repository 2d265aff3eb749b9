//! Tests of customers with e-mail address and password.

use std::time::Duration;

use emulator::{CustomerState, Fault};
use serde_json::json;

use super::*;

const CREATE: &str = "mutation ($input: CustomerCreateInput!) { customerCreate(input: $input) {
    customer { id email displayName } customerUserErrors { code field message } userErrors { field message } } }";
const LOG_IN: &str = "mutation ($input: CustomerAccessTokenCreateInput!) { customerAccessTokenCreate(input: $input) {
    customerAccessToken { accessToken expiresAt } customerUserErrors { code field message } } }";

struct Desk {
    running: RunningStores,
    store: StoreAddress,
    token: String,
}

impl Desk {
    async fn open() -> Self {
        let (running, store) = store(20).await;
        let token = running.storefront_token(&store.slug).unwrap();
        Self { running, store, token }
    }

    async fn ask(&self, query: &str, variables: Value) -> Value {
        let headers = [("x-shopify-storefront-access-token", self.token.as_str())];
        post(
            &self.store,
            GRAPHQL,
            &headers,
            &json!({ "query": query, "variables": variables }),
        )
        .await
        .json()
    }

    async fn create(&self, email: &str, password: &str) -> Value {
        self.ask(
            CREATE,
            json!({ "input": { "email": email, "password": password, "firstName": "Asha" } }),
        )
        .await
    }

    async fn log_in(&self, email: &str, password: &str) -> Value {
        self.ask(LOG_IN, json!({ "input": { "email": email, "password": password } }))
            .await
    }
}

fn code(answer: &Value, call: &str) -> String {
    answer["data"][call]["customerUserErrors"][0]["code"]
        .as_str()
        .unwrap_or("none")
        .to_owned()
}

#[tokio::test]
async fn a_customer_registers_logs_in_buys_and_logs_out() {
    let desk = Desk::open().await;
    let made = desk.create("asha@example.com", "correct horse").await;
    assert_eq!(made["data"]["customerCreate"]["customer"]["displayName"], "Asha");
    let token = desk.log_in("ASHA@example.com", "correct horse").await;
    let token = token["data"]["customerAccessTokenCreate"]["customerAccessToken"]["accessToken"].clone();
    assert!(token.is_string());
    let asked = "query ($token: String!) { customer(customerAccessToken: $token) { email numberOfOrders } }";
    let read = async || desk.ask(asked, json!({ "token": token })).await["data"]["customer"].clone();
    assert_eq!(
        read().await,
        json!({ "email": "asha@example.com", "numberOfOrders": "0" })
    );

    let create = "mutation ($token: String!) { cartCreate(input: { buyerIdentity: { customerAccessToken: $token } }) {
        cart { id buyerIdentity { email customer { email } } } userErrors { code field } } }";
    let cart = desk.ask(create, json!({ "token": token })).await["data"]["cartCreate"].clone();
    assert_eq!(
        cart["cart"]["buyerIdentity"],
        json!({ "email": "asha@example.com", "customer": { "email": "asha@example.com" } })
    );
    let wrong = desk.ask(create, json!({ "token": "no-token" })).await["data"]["cartCreate"].clone();
    assert_eq!(
        wrong,
        json!({ "cart": null, "userErrors": [{ "code": "INVALID", "field": ["input", "buyerIdentity", "customerAccessToken"] }] })
    );

    desk.running.advance_clock(Duration::from_secs(41 * 86_400));
    let renew = "mutation ($token: String!) { customerAccessTokenRenew(customerAccessToken: $token) {
        customerAccessToken { expiresAt } userErrors { message } } }";
    let renewed = desk.ask(renew, json!({ "token": token })).await;
    assert!(renewed["data"]["customerAccessTokenRenew"]["customerAccessToken"]["expiresAt"].is_string());
    desk.running.advance_clock(Duration::from_secs(41 * 86_400));
    assert!(read().await.is_object());
    let delete =
        "mutation ($token: String!) { customerAccessTokenDelete(customerAccessToken: $token) { deletedAccessToken } }";
    assert!(desk.ask(delete, json!({ "token": token })).await["data"]["customerAccessTokenDelete"].is_object());
    assert_eq!(read().await, Value::Null);
    let again = desk.ask(delete, json!({ "token": token })).await;
    assert_eq!(again["errors"][0]["extensions"]["code"], "ACCESS_DENIED");
}

#[tokio::test]
async fn tokens_run_out() {
    let desk = Desk::open().await;
    desk.create("asha@example.com", "correct horse").await;
    let token = desk.log_in("asha@example.com", "correct horse").await;
    let token = token["data"]["customerAccessTokenCreate"]["customerAccessToken"]["accessToken"].clone();
    desk.running.advance_clock(Duration::from_secs(43 * 86_400));
    let asked = "query ($token: String!) { customer(customerAccessToken: $token) { email } }";
    assert_eq!(
        desk.ask(asked, json!({ "token": token })).await["data"]["customer"],
        Value::Null
    );
}

#[tokio::test]
async fn the_platform_tells_apart_what_it_tells_apart() {
    let desk = Desk::open().await;
    desk.create("asha@example.com", "correct horse").await;
    let add = |email: &str, password: Option<&str>, state| {
        desk.running
            .add_customer(&desk.store.slug, email, password, state)
            .unwrap()
    };
    add("shut@example.com", Some("correct horse"), CustomerState::Disabled);
    add("guest@example.com", None, CustomerState::Invited);
    let mut told = Vec::new();
    for (email, password) in [
        ("asha@example.com", "correct horse"),
        ("guest@example.com", "correct horse"),
        ("nobody", "correct horse"),
        ("b@example.com", ""),
        ("b@example.com", "1234"),
        ("b@example.com", " spaced "),
    ] {
        told.push(format!(
            "create {email} {password:?}: {}",
            code(&desk.create(email, password).await, "customerCreate")
        ));
    }
    for email in [
        "asha@example.com",
        "shut@example.com",
        "guest@example.com",
        "unknown@example.com",
    ] {
        let answer = desk.log_in(email, "wrong").await;
        told.push(format!(
            "log in {email}: {}",
            code(&answer, "customerAccessTokenCreate")
        ));
    }
    let shut = desk.log_in("shut@example.com", "correct horse").await;
    told.push(format!("log in shut: {}", code(&shut, "customerAccessTokenCreate")));
    let recover = "mutation ($email: String!) { customerRecover(email: $email) { customerUserErrors { code } } }";
    for email in ["asha@example.com", "unknown@example.com"] {
        let answer = desk.ask(recover, json!({ "email": email })).await;
        told.push(format!("recover {email}: {}", code(&answer, "customerRecover")));
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    create asha@example.com "correct horse": TAKEN
    create guest@example.com "correct horse": CUSTOMER_DISABLED
    create nobody "correct horse": INVALID
    create b@example.com "": BLANK
    create b@example.com "1234": TOO_SHORT
    create b@example.com " spaced ": PASSWORD_STARTS_OR_ENDS_WITH_WHITESPACE
    log in asha@example.com: UNIDENTIFIED_CUSTOMER
    log in shut@example.com: UNIDENTIFIED_CUSTOMER
    log in guest@example.com: UNIDENTIFIED_CUSTOMER
    log in unknown@example.com: UNIDENTIFIED_CUSTOMER
    log in shut: UNIDENTIFIED_CUSTOMER
    recover asha@example.com: none
    recover unknown@example.com: UNIDENTIFIED_CUSTOMER
    "#);
}

#[tokio::test]
async fn nobody_registers_without_a_token_or_while_the_store_is_throttled() {
    let desk = Desk::open().await;
    let variables = json!({ "input": { "email": "a@example.com", "password": "correct horse" } });
    let bare = query(&desk.store, CREATE, variables.clone()).await.json();
    assert_eq!(
        (
            &bare["errors"][0]["extensions"]["code"],
            &bare["data"]["customerCreate"]
        ),
        (&json!("ACCESS_DENIED"), &Value::Null)
    );
    desk.running
        .set_fault(&desk.store.slug, Fault::CustomersThrottled)
        .unwrap();
    let answer = desk.ask(CREATE, variables).await;
    insta::assert_snapshot!(answer, @r#"
    {"data":{"customerCreate":null},"errors":[{"extensions":{"code":"THROTTLED"},"locations":[{"column":43,"line":1}],"message":"Creating Customer Limit exceeded. Please try again later.","path":["customerCreate"]}],"extensions":{"cost":{"requestedQueryCost":13}}}
    "#);
    let answer = desk.log_in("a@example.com", "x").await;
    assert_eq!(answer["errors"][0]["extensions"]["code"], "THROTTLED");
    // Carts stay available while customers are throttled.
    assert!(
        desk.ask("{ cart(id: \"gid://shopify/Cart/x\") { id } }", json!({}))
            .await["errors"]
            .is_null()
    );
}

#[tokio::test]
async fn a_store_on_the_newer_accounts_has_no_passwords_and_says_where_its_accounts_are() {
    let desk = Desk::open().await;
    let url = "{ shop { customerAccountUrl } }";
    assert_eq!(
        desk.ask(url, json!({})).await["data"]["shop"]["customerAccountUrl"],
        Value::Null
    );
    desk.running.set_passwords(&desk.store.slug, false).unwrap();
    assert!(desk.ask(url, json!({})).await["data"]["shop"]["customerAccountUrl"].is_string());
    assert_eq!(
        code(&desk.create("a@example.com", "correct horse").await, "customerCreate"),
        "CUSTOMER_DISABLED"
    );
    assert_eq!(
        code(
            &desk.log_in("a@example.com", "correct horse").await,
            "customerAccessTokenCreate"
        ),
        "UNIDENTIFIED_CUSTOMER"
    );
}
