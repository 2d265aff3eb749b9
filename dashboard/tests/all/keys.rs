use serde_json::{Value, json};
use state::{AuditQuery, Day, UsageBatch, UsageEntry};

use crate::browser::{BrowserSite, has_chromium, here, lived_in};
use crate::support::{Browser, Site, config};

async fn create(browser: &mut Browser<'_>, name: &str) -> Value {
    let made = browser.post("/dashboard/api/keys", &json!({ "name": name })).await;
    assert_eq!(made.status, 201, "{}", made.text());
    made.data()
}

fn path(key: &Value) -> String {
    format!("/dashboard/api/keys/{}", key["id"].as_str().unwrap())
}

#[tokio::test]
async fn a_key_is_made_and_shown_in_that_answer_alone() {
    let site = Site::new().await;
    let mut browser = site.signed_in("asha").await;
    let mut made = create(&mut browser, " Mobile app ").await;
    let text = made["key"].as_str().unwrap().to_owned();
    let key: state::ApiKey = text.parse().unwrap();
    let kept = site.state.find_key(&key.hash()).await.unwrap().unwrap();
    assert_eq!((kept.name.as_str(), kept.plan), ("Mobile app", state::Plan::Free));
    assert!(kept.account.is_some());
    made.as_object_mut().unwrap().remove("key");
    let listed = browser.get("/dashboard/api/keys").await;
    assert_eq!(listed.data(), json!([made]));
    for path in ["session", "sessions", "keys", "usage", "quota", "audit"] {
        let told = browser.get(&format!("/dashboard/api/{path}")).await;
        assert!(
            told.status.is_success() && !told.text().contains(&text[10..37]),
            "{path}"
        );
    }
    let told = made
        .to_string()
        .replace(made["id"].as_str().unwrap(), "ID")
        .replace(&text[39..], "HINT");
    insta::assert_snapshot!(told, @r#"{"created_at":"2026-11-21T12:00:00Z","ends_at":null,"hint":"HINT","id":"ID","last_used_on":null,"name":"Mobile app","plan":"free","replaced_by":null,"revoked_at":null,"status":"active","unconfirmed_since":null}"#);
}

#[tokio::test]
async fn a_key_is_renamed_rotated_with_grace_and_revoked() {
    let site = Site::new().await;
    let mut browser = site.signed_in("asha").await;
    let made = create(&mut browser, "App").await;
    let renamed = browser
        .with_body("PATCH", &path(&made), &json!({ "name": "Shop" }))
        .await;
    assert_eq!(renamed.data()["name"], "Shop");
    let rotated = browser
        .post(&format!("{}/rotate", path(&made)), &json!({ "grace_hours": 24 }))
        .await;
    assert_eq!(rotated.status, 201);
    let new = rotated.data();
    assert_eq!(
        (&new["name"], &new["replaces"]["status"]),
        (&json!("Shop"), &json!("ending"))
    );
    assert_ne!(new["key"], made["key"]);
    assert_eq!(new["replaces"]["ends_at"], "2026-11-22T12:00:00Z");
    // After a rotation, only the new key can be rotated.
    let again = browser.post(&format!("{}/rotate", path(&made)), &json!({})).await;
    again.refused(403, "forbidden");
    let revoked = browser.delete(&path(&new)).await;
    assert_eq!(revoked.data()["status"], "revoked");
    browser.delete(&path(&new)).await.refused(403, "forbidden");
}

#[tokio::test]
async fn what_is_wrong_with_a_name_or_a_grace_is_told_and_a_key_is_not_repeated() {
    let site = Site::new().await;
    let mut browser = site.signed_in("asha").await;
    let key = create(&mut browser, "App").await;
    let secret = key["key"].as_str().unwrap();
    for name in [
        json!(null),
        json!(""),
        json!("  "),
        json!("a\nb"),
        json!("x".repeat(65)),
        json!(7),
        json!(secret),
        json!(format!("my {secret} {}", "x".repeat(999))),
    ] {
        let body = json!({ "name": name });
        for answer in [
            browser.post("/dashboard/api/keys", &body).await,
            browser.with_body("PATCH", &path(&key), &body).await,
        ] {
            answer.refused(422, "validation");
            assert_eq!(answer.json()["detail"][0]["loc"], json!(["body", "name"]));
            assert!(!answer.text().contains("haat_live_"), "{}", answer.text());
        }
    }
    for hours in [json!(-1), json!(721), json!("soon")] {
        let answer = browser
            .post(&format!("{}/rotate", path(&key)), &json!({ "grace_hours": hours }))
            .await;
        answer.refused(422, "validation");
    }
    assert_eq!(
        browser
            .get("/dashboard/api/keys")
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn another_accounts_key_looks_absent_on_every_verb_and_is_left_alone() {
    let site = Site::new().await;
    let mut theirs = site.signed_in("ravi").await;
    let key = create(&mut theirs, "Theirs").await;
    let before = theirs.get("/dashboard/api/keys").await.data();
    let mut mine = site.signed_in("asha").await;
    let none = json!({ "id": "key_000000000000" });
    let mut told = Vec::new();
    for key in [&key, &none] {
        let body = json!({ "name": "Mine", "grace_hours": 0 });
        for (method, path) in [
            ("PATCH", path(key)),
            ("DELETE", path(key)),
            ("POST", format!("{}/rotate", path(key))),
        ] {
            let answer = mine.with_body(method, &path, &body).await;
            answer.refused(404, "key_not_found");
            told.push(answer.json()["detail"].clone());
        }
    }
    // A key of another account and a key that does not exist give identical responses.
    assert!(told.iter().all(|detail| *detail == told[0]), "{told:?}");
    assert_eq!(theirs.get("/dashboard/api/keys").await.data(), before);
    assert_eq!(mine.get("/dashboard/api/keys").await.data(), json!([]));
    let audit = mine.get("/dashboard/api/audit").await.text();
    assert!(!audit.contains(key["id"].as_str().unwrap()), "{audit}");
}

#[tokio::test]
async fn an_account_has_so_many_keys_and_no_more() {
    let few = dashboard::DashboardConfig {
        keys_per_account_max: 2,
        ..config()
    };
    let site = Site::with(few).await;
    let mut browser = site.signed_in("asha").await;
    let first = create(&mut browser, "One").await;
    create(&mut browser, "Two").await;
    let body = json!({ "name": "Three" });
    let full = browser.post("/dashboard/api/keys", &body).await;
    full.refused(403, "forbidden");
    assert_eq!(
        full.json()["detail"],
        "An account may have at most 2 keys: revoke one that is not needed."
    );
    browser.delete(&path(&first)).await;
    assert_eq!(browser.post("/dashboard/api/keys", &body).await.status, 201);
}

#[tokio::test]
async fn changes_in_a_loop_are_stopped_and_go_on_after_a_minute() {
    let site = Site::new().await;
    let mut browser = site.signed_in("asha").await;
    let key = create(&mut browser, "App").await;
    let mut refused = None;
    for nth in 0..40 {
        let name = json!({ "name": format!("App {nth}") });
        let answer = browser.with_body("PATCH", &path(&key), &name).await;
        if answer.status == 429 {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.unwrap();
    assert_eq!(
        (refused.header("retry-after"), &refused.json()["code"]),
        ("60", &json!("rate_limit"))
    );
    site.clock.advance_ms(60_000);
    let name = json!({ "name": "App" });
    assert_eq!(browser.with_body("PATCH", &path(&key), &name).await.status, 200);
}

#[tokio::test]
async fn everything_that_was_done_stands_in_the_audit_and_is_shown_to_its_account() {
    let site = Site::new().await;
    let mut browser = site.signed_in("asha").await;
    let key = create(&mut browser, "App").await;
    browser
        .with_body("PATCH", &path(&key), &json!({ "name": "Shop" }))
        .await;
    browser.post(&format!("{}/rotate", path(&key)), &json!({})).await;
    let told = browser.get("/dashboard/api/audit").await.data();
    let lines = told["events"].as_array().unwrap().iter().rev().map(|event| {
        let of = event["key"]
            .as_str()
            .map_or("-", |id| if key["id"] == id { "KEY" } else { "OTHER" });
        format!(
            "{} {} {of}",
            event["by"].as_str().unwrap(),
            event["action"].as_str().unwrap()
        )
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    you account.created -
    operator link.created -
    you session.started -
    you key.created KEY
    you key.renamed KEY
    you key.rotated KEY
    "#);
    browser.post("/dashboard/api/sign-out", &json!({})).await;
    let newest = site.state.audit(&AuditQuery::default(), 1).await.unwrap().remove(0);
    assert_eq!(newest.action.as_str(), "session.ended");
}

#[tokio::test]
async fn the_audit_is_read_in_pages() {
    let site = Site::new().await;
    let mut browser = site.signed_in("asha").await;
    // The key is renamed 34 times, three seconds apart, which stays below the limit on changes per minute.
    let key = create(&mut browser, "App").await;
    for nth in 0..34 {
        site.clock.advance_ms(3_000);
        let name = json!({ "name": format!("App {nth}") });
        assert_eq!(browser.with_body("PATCH", &path(&key), &name).await.status, 200);
    }
    let first = browser.get("/dashboard/api/audit").await.data();
    assert_eq!(first["events"].as_array().unwrap().len(), 30);
    let older = browser
        .get(&format!("/dashboard/api/audit?before={}", first["before"]))
        .await
        .data();
    assert_eq!(
        (older["events"].as_array().unwrap().len(), &older["before"]),
        (8, &json!(null))
    );
    for wrong in ["0", "x", "-1"] {
        browser
            .get(&format!("/dashboard/api/audit?before={wrong}"))
            .await
            .refused(422, "validation");
    }
}

/// Script of a user who looks up when a key was last used.
const USED: &str = r"
await until(() => shown('door'));
$('door-button').click();
await until(() => document.querySelector('.key'));
const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
tell({ keys: $('keys').textContent, today: days.format(new Date()) });
";

#[tokio::test(flavor = "multi_thread")]
async fn a_key_was_last_used_on_no_day_that_has_not_begun_for_the_visitor() {
    if !has_chromium() {
        return;
    }
    let served = BrowserSite::start(USED, here).await;
    let (link, account) = served.site.link("asha").await;
    lived_in(&served.site, &account).await;
    let keys = served.site.state.keys(Some(&account)).await.unwrap();
    // The market's date may be ahead of the visitor's. Chromium uses the clock of this machine.
    let now = data_model::Clock::now(&*served.site.clock);
    let ahead = Day::of(now, "Asia/Kolkata".parse().unwrap()).plus(36_500);
    let entry = |key: &state::KeyRecord| UsageEntry {
        key: key.id.clone(),
        day: ahead,
        route: "/v1/me".to_owned(),
        requests: 1,
    };
    let used = UsageBatch::new(keys.iter().map(entry));
    served.site.state.add_usage(&used).await.unwrap();
    let (_, told) = served.open(&format!("/dashboard/link#{}", link.text()), &[]).await;
    let expected = format!("Last used {}", told["today"].as_str().unwrap());
    assert!(told["keys"].as_str().unwrap().contains(&expected), "{told}");
}
