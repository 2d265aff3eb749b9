use serde_json::{Value, json};
use state::{Day, KeyId, UsageBatch, UsageEntry};

use crate::support::{Browser, Site};

async fn key(browser: &mut Browser<'_>, name: &str) -> KeyId {
    let made = browser
        .post("/dashboard/api/keys", &json!({ "name": name }))
        .await
        .data();
    made["id"].as_str().unwrap().parse().unwrap()
}

fn entry(key: &KeyId, day: &str, route: &str, requests: u64) -> UsageEntry {
    UsageEntry {
        key: key.clone(),
        day: day.parse::<Day>().unwrap(),
        route: route.to_owned(),
        requests,
    }
}

#[tokio::test]
async fn use_is_told_by_the_markets_day_and_route_of_all_keys_of_the_account() {
    let site = Site::new().await;
    // The clock shows 18:30 UTC, which is midnight in the market's time zone.
    site.clock.advance_ms(6 * 3_600_000 + 30 * 60_000);
    let mut browser = site.signed_in("asha").await;
    let mut other = site.signed_in("ravi").await;
    let (one, two, theirs) = (
        key(&mut browser, "One").await,
        key(&mut browser, "Two").await,
        key(&mut other, "x").await,
    );
    let batch = UsageBatch::new([
        entry(&one, "2026-11-22", "/v1/search", 3),
        entry(&two, "2026-11-22", "/v1/search", 4),
        entry(&two, "2026-11-22", "/v1/prices", 1),
        entry(&one, "2026-11-20", "/v1/prices", 2),
        entry(&one, "2026-11-19", "/v1/search", 100),
        entry(&theirs, "2026-11-22", "/v1/search", 1000),
    ]);
    site.state.add_usage(&batch).await.unwrap();
    let told = browser.get("/dashboard/api/usage?days=3").await.data();
    assert_eq!(
        told,
        json!({
            "requests": 10,
            "routes": [{"route": "/v1/search", "requests": 7}, {"route": "/v1/prices", "requests": 3}],
            "days": [
                {"day": "2026-11-20", "requests": 2, "routes": {"/v1/prices": 2}},
                {"day": "2026-11-21", "requests": 0, "routes": {}},
                {"day": "2026-11-22", "requests": 8, "routes": {"/v1/prices": 1, "/v1/search": 7}},
            ],
        })
    );
    for wrong in ["0", "91", "x", "1.5"] {
        let answer = browser.get(&format!("/dashboard/api/usage?days={wrong}")).await;
        answer.refused(422, "validation");
    }
    let usual = browser.get("/dashboard/api/usage").await.data();
    assert_eq!(
        (usual["days"].as_array().unwrap().len(), &usual["requests"]),
        (30, &json!(110))
    );
}

#[tokio::test]
async fn what_each_key_may_ask_and_asked_today_is_told_by_its_plan() {
    let site = Site::new().await;
    let mut browser = site.signed_in("asha").await;
    let (one, over) = (key(&mut browser, "One").await, key(&mut browser, "Over").await);
    browser.delete(&format!("/dashboard/api/keys/{over}")).await;
    let granted = state::NewKey {
        name: "Granted".parse().unwrap(),
        plan: state::Plan::Granted,
        account: site.state.key(&one).await.unwrap().unwrap().account,
    };
    let operator = state::Actor::Operator("cli".to_owned());
    let now = data_model::Clock::now(&*site.clock).plus_millis(1);
    site.state.create_key(granted, &operator, now).await.unwrap();
    site.state
        .add_usage(&UsageBatch::new([entry(&one, "2026-11-21", "/v1/search", 9)]))
        .await
        .unwrap();
    let told = browser.get("/dashboard/api/quota").await.data();
    let limits = |key: &Value| {
        let members = ["name", "plan", "rate_limit_rps", "burst", "daily_limit", "used_today"];
        members.map(|member| key[member].clone()).to_vec()
    };
    let told: Vec<_> = told["keys"].as_array().unwrap().iter().map(limits).collect();
    assert_eq!(
        json!(told),
        json!([
            ["Granted", "granted", null, null, null, 0],
            ["One", "free", 20, 60, 50_000, 9]
        ])
    );
}
