use serde_json::{Value, json};

use crate::support::Haat;

#[test]
fn a_link_to_the_dashboard_names_its_address_and_is_no_part_of_the_state() {
    let haat = Haat::new();
    let made = haat.run(&["keys", "dashboard", "--account", "asha"]).json();
    assert_eq!(made["account"], "asha");
    let link = made["link"].as_str().unwrap();
    let token = link.strip_prefix("http://127.0.0.1:8080/dashboard/link#").unwrap();
    let _: state::LinkToken = token.parse().unwrap();
    for file in haat.path().join("state").read_dir().unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let holds = |part: &str| bytes.windows(part.len()).any(|window| window == part.as_bytes());
        assert!(!holds(&token[10..40]));
    }
    let events = haat.run(&["keys", "audit"]).json();
    let told = |event: &Value| json!([event["actor"]["kind"], event["action"], event["key"]]);
    let told: Vec<_> = events["events"].as_array().unwrap().iter().map(told).collect();
    assert_eq!(
        json!(told),
        json!([["account", "account.created", null], ["operator", "link.created", null]])
    );
    assert!(!events.to_string().contains(&token[10..]));

    // The same name is the same account. Without a name, the account is the operator.
    let again = haat.run(&["keys", "dashboard", "--account", "asha"]).json();
    assert_ne!(again["link"], made["link"]);
    assert_eq!(haat.run(&["keys", "dashboard"]).json()["account"], "operator");
    let events = haat.run(&["keys", "audit", "--limit", "3"]).json();
    let actions = events["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["action"].clone());
    let actions: Vec<_> = actions.collect();
    assert_eq!(
        json!(actions),
        json!(["link.created", "account.created", "link.created"])
    );
}

#[test]
fn a_link_leads_to_the_server_that_runs_on_the_home() {
    let haat = Haat::new();
    let link = || haat.told(&["keys", "dashboard"]);
    let (mut server, served) = haat.serve(&["up", "--listen", "127.0.0.1:0"]);
    let address = served["address"].as_str().unwrap();
    let told = link();
    assert!(told.starts_with(&format!("{address}/dashboard/link#")), "{told}");
    assert!(!told.contains("No server is running"), "{told}");
    let page = told.split('#').next().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let status = runtime
        .unwrap()
        .block_on(async { reqwest::get(page).await.unwrap().status() });
    assert_eq!(status, 200);
    // The server that started last is listed, and a killed server is not.
    let (_other, other) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    assert!(link().starts_with(other["address"].as_str().unwrap()));
    drop(_other);
    assert!(link().starts_with(address));
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let told = link();
    assert!(told.starts_with("http://127.0.0.1:8080/"), "{told}");
    assert!(
        told.contains("No server is running on this home: start one with `haat up`."),
        "{told}"
    );
}

#[test]
fn a_link_stands_under_the_address_that_browsers_reach_and_no_other() {
    let there = Haat::new().with("HAAT_PUBLIC_URL", "https://market.example/");
    let made = there.run(&["keys", "dashboard"]).json();
    let link = made["link"].as_str().unwrap();
    assert!(
        link.starts_with("https://market.example/dashboard/link#haat_link_"),
        "{link}"
    );

    let plain = Haat::new().with("HAAT_PUBLIC_URL", "http://market.example");
    let refused = plain.run(&["keys", "dashboard"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("https"), "{refused:?}");
    let events = plain.run(&["keys", "audit"]).json();
    assert_eq!(events["events"], json!([]), "no link was made");
}

#[test]
fn a_key_that_is_given_as_a_name_is_refused_and_not_repeated() {
    let haat = Haat::new();
    let key = state::ApiKey::generate().unwrap();
    let refused = haat.run(&["keys", "dashboard", "--account", key.expose()]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(!format!("{refused:?}").contains(&key.expose()[10..]), "{refused:?}");
    assert!(!haat.path().join("state").exists());
}
