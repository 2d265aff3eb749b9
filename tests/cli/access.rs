//! Tests of access rights on running servers.

use reqwest::header::HeaderMap;
use serde_json::{Value, json};

use crate::support::Haat;

struct HttpAnswer {
    status: u16,
    headers: HeaderMap,
    text: String,
}

impl HttpAnswer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

async fn send(client: &reqwest::Client, method: &str, url: &str, headers: &[(&str, &str)]) -> HttpAnswer {
    let mut request = client.request(method.parse().unwrap(), url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if method != "GET" {
        request = request.header("content-type", "application/json").body("{}");
    }
    let answer = request.send().await.unwrap();
    HttpAnswer {
        status: answer.status().as_u16(),
        headers: answer.headers().clone(),
        text: answer.text().await.unwrap(),
    }
}

fn ask(method: &str, url: &str, headers: &[(&str, &str)]) -> HttpAnswer {
    runtime().block_on(send(&reqwest::Client::new(), method, url, headers))
}

/// Returns a home with limits that no caller reaches unless a test sets others.
fn market() -> Haat {
    Haat::new()
}

fn key(haat: &Haat, name: &str) -> (String, String) {
    let made = haat.run(&["keys", "create", name]).json();
    let text = |member: &str| made[member].as_str().unwrap().to_owned();
    (text("key"), text("id"))
}

/// Returns every operation in a server's OpenAPI description, with its parameters filled in.
fn operations(base: &str) -> Vec<(String, String)> {
    let document = ask("GET", &format!("{base}/openapi.json"), &[]).json();
    let paths = document["paths"].as_object().unwrap();
    let mut found = Vec::new();
    for (path, item) in paths {
        let path = path
            .split('/')
            .map(|part| if part.starts_with('{') { "x" } else { part });
        let path = path.collect::<Vec<_>>().join("/");
        for method in ["get", "post", "put", "patch", "delete"] {
            if item.get(method).is_some() {
                found.push((method.to_uppercase(), path.clone()));
            }
        }
    }
    found
}

#[test]
fn a_wrong_key_is_refused_alike_by_every_operation_of_both_servers() {
    let haat = market().with("HAAT_QUERY_SERVER__INTERNAL_LISTEN", "127.0.0.1:0");
    std::fs::create_dir_all(haat.path()).unwrap();
    // A running server learns of a revocation within a second. The servers in this test knew the key from their start.
    let (revoked, id) = key(&haat, "revoked");
    haat.run(&["keys", "revoke", &id]).json();
    let (_together, together) = haat.serve(&["up", "--listen", "127.0.0.1:0"]);
    let (_graph, graph) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let haat = haat.with(
        "HAAT_LIVE_GATEWAY__CATALOGUE",
        graph["internal_address"].as_str().unwrap(),
    );
    let (_live, live) = haat.serve(&["live-gateway", "--listen", "127.0.0.1:0"]);
    let (good, _) = key(&haat, "good");
    // The change is in the middle, because some bits of the last character have no meaning.
    let (head, tail) = good.split_at(good.len() / 2);
    let mistyped = format!("{head}{}{}", if tail.starts_with('0') { '1' } else { '0' }, &tail[1..]);
    let mut tried = 0;
    for served in [&together, &graph, &live] {
        let base = served["address"].as_str().unwrap();
        let operations = operations(base);
        assert!(operations.len() >= 5, "{operations:?}");
        for (method, path) in operations {
            for (name, value) in [
                ("x-service-key", "nonsense".to_owned()),
                ("x-service-key", mistyped.clone()),
                ("authorization", format!("Bearer {revoked}")),
                ("authorization", "Basic aGFhdDpoYWF0".to_owned()),
            ] {
                let answered = ask(&method, &format!("{base}{path}"), &[(name, &value)]);
                let mut told = answered.json();
                assert_eq!(answered.status, 401, "{method} {path}: {}", answered.text);
                assert_eq!(
                    answered.header("www-authenticate"),
                    Some("Bearer realm=\"haat\", error=\"invalid_token\"")
                );
                // UCP has an error format of its own, except for its tools over MCP.
                let (own_words, expected) = if path.starts_with("/v1/ucp/") && !path.ends_with("/mcp") {
                    (&["content"][..], json!({ "code": "invalid_key", "content": null }))
                } else {
                    let expected = json!({
                        "type": "urn:haat:problem:invalid_key", "title": "The key is not valid", "status": 401,
                        "detail": null, "code": "invalid_key", "request_id": null,
                    });
                    (&["detail", "request_id"][..], expected)
                };
                for member in own_words {
                    let words = told[*member].take();
                    assert!(
                        words.as_str().is_some_and(|words| !words.is_empty()),
                        "{method} {path}: {member}"
                    );
                }
                assert_eq!(told, expected, "{method} {path}");
                tried += 1;
            }
        }
    }
    println!("{tried} requests with a wrong key");
}

#[test]
fn a_key_is_taken_when_it_is_printed_counted_and_refused_within_seconds_of_its_end() {
    let haat = market();
    std::fs::create_dir_all(haat.path()).unwrap();
    let (mut serving, served) = haat.serve(&["up", "--listen", "127.0.0.1:0"]);
    let base = served["address"].as_str().unwrap();
    let (key, id) = key(&haat, "a client");
    let sent = [("x-service-key", key.as_str())];
    let known = || ask("GET", &format!("{base}/v1/me"), &sent);
    // Another process created the key. The server must accept it as soon as it is printed.
    let told = known().json();
    assert_eq!(
        (&told["data"]["kind"], &told["data"]["key"]["id"], &told["tier"]),
        (&json!("key"), &json!(id), &json!("live"))
    );
    let counted = told["data"]["usage_today"]["requests"].as_u64().unwrap();
    assert_eq!(known().json()["data"]["usage_today"]["requests"], counted + 1);
    let quota = ask("GET", &format!("{base}/v1/quota"), &sent);
    assert_eq!(quota.json()["data"]["daily_limit"], 50_000);
    assert!(
        quota
            .header("ratelimit")
            .is_some_and(|told| told.starts_with("\"burst\";r="))
    );

    haat.run(&["keys", "revoke", &id]).json();
    let begun = std::time::Instant::now();
    while known().status != 401 {
        assert!(begun.elapsed().as_secs() < 120, "the server never learns of the end");
    }
    // The server saves the counts in its memory when it stops.
    let stopped = std::process::Command::new("kill")
        .args(["-TERM", &serving.child.id().to_string()])
        .status();
    assert!(stopped.unwrap().success() && serving.child.wait().unwrap().success());
    let listed = haat.run(&["keys", "list"]).json();
    let listed = listed["keys"].as_array().or(listed.as_array()).unwrap();
    let own = listed.iter().find(|key| key["id"] == json!(id)).unwrap();
    assert!(own["last_used_on"].is_string(), "{own}");
}

#[test]
fn of_a_thousand_requests_at_once_as_many_pass_as_may() {
    let haat = market()
        .with("HAAT_LIMITS__ANONYMOUS__PER_SECOND", "1")
        .with("HAAT_LIMITS__ANONYMOUS__BURST", "100")
        // The daily limit is reached at once, so that no burst is refilled meanwhile.
        .with("HAAT_LIMITS__ANONYMOUS__PER_DAY", "60");
    std::fs::create_dir_all(haat.path()).unwrap();
    let (_serving, served) = haat.serve(&["up", "--listen", "127.0.0.1:0"]);
    let base = served["address"].as_str().unwrap();
    let url = format!("{base}/v1/none");
    let client = reqwest::Client::new();
    let answered = runtime().block_on(async {
        let sent = (0..1_000).map(|_| send(&client, "GET", &url, &[]));
        futures::future::join_all(sent).await
    });
    let count = |status: u16| answered.iter().filter(|one| one.status == status).count();
    assert_eq!((count(404), count(429)), (60, 940));
    let refused = answered.iter().find(|one| one.status == 429).unwrap();
    assert_eq!(refused.json()["code"], "daily_limit");
    assert!(refused.header("retry-after").is_some());
    // Pages and probes are not counted, and the response states the limit.
    for path in [
        "/v1/plans",
        "/v1/quota",
        "/",
        "/healthz",
        "/openapi.json",
        "/dashboard/",
        "/docs/",
        "/docs/swagger-ui.css",
    ] {
        assert_eq!(ask("GET", &format!("{base}{path}"), &[]).status, 200, "{path}");
    }
}

#[test]
fn a_discovery_path_that_there_is_not_is_a_problem_whatever_is_accepted() {
    let haat = market();
    let (_serving, served) = haat.serve(&["up", "--listen", "127.0.0.1:0"]);
    let base = served["address"].as_str().unwrap();
    for path in [
        "",
        "oauth-authorization-server",
        "oauth-protected-resource/v1/mcp",
        "openid-configuration",
        "ucp/none",
    ] {
        for accept in ["*/*", "application/json", "text/html"] {
            let told = ask("GET", &format!("{base}/.well-known/{path}"), &[("accept", accept)]);
            assert_eq!(
                (told.status, told.header("content-type")),
                (404, Some("application/problem+json")),
                "{path} {accept}"
            );
            assert_eq!(told.json()["code"], "route_not_found", "{path} {accept}");
        }
    }
}

#[test]
fn a_market_behind_tls_keeps_browsers_to_it() {
    let haat = market().with("HAAT_PUBLIC_URL", "https://market.example");
    let (_together, together) = haat.serve(&["up", "--listen", "127.0.0.1:0"]);
    let haat = haat.with("HAAT_LIVE_GATEWAY__CATALOGUE", together["address"].as_str().unwrap());
    let (_live, live) = haat.serve(&["live-gateway", "--listen", "127.0.0.1:0"]);
    for served in [&together, &live] {
        let base = served["address"].as_str().unwrap();
        for path in [
            "/healthz",
            "/v1/plans",
            "/v1/me",
            "/nowhere",
            "/docs/",
            "/dashboard/",
            "/openapi.json",
        ] {
            let answered = ask("GET", &format!("{base}{path}"), &[]);
            let told = answered.header("strict-transport-security");
            assert_eq!(told, Some("max-age=31536000"), "{path}: {}", answered.status);
        }
    }
    let here = market();
    let (_here, served) = here.serve(&["up", "--listen", "127.0.0.1:0"]);
    let answered = ask("GET", &format!("{}/healthz", served["address"].as_str().unwrap()), &[]);
    assert_eq!(answered.header("strict-transport-security"), None);
}

#[test]
fn secrets_in_requests_are_in_no_log_answer_metric_or_file() {
    let haat = market()
        .with("HAAT_LOG__FILTER", "trace")
        // An endless stream ends within the test.
        .with("HAAT_MCP__STREAM_LIFETIME_S", "1");
    std::fs::create_dir_all(haat.path()).unwrap();
    let log = haat.path().join("server.log");
    let (key, _) = key(&haat, "planted");
    let mut child = haat
        .command(&["up", "--listen", "127.0.0.1:0"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
    let served: Value = serde_json::from_str(&line).unwrap();
    let base = served["address"].as_str().unwrap();
    let secret = "s3cr3tPlant3dV4lu3";
    let key_mistyped = format!("haat_live_{secret}0000000000000000");
    let mut answers = String::new();
    for (method, path) in operations(base) {
        let url = format!("{base}{path}");
        for headers in [
            vec![("x-service-key", key.as_str())],
            vec![("x-service-key", key_mistyped.as_str())],
            vec![("authorization", key_mistyped.as_str())],
            vec![("cookie", "__Host-haat_session=s3cr3tPlant3dV4lu3")],
            vec![("idempotency-key", secret), ("x-other", secret), ("user-agent", secret)],
        ] {
            let answered = ask(&method, &url, &headers);
            answers += &format!("{:?} {}\n", answered.headers, answered.text);
        }
        answers += &ask(&method, &format!("{url}?api_key={key}"), &[]).text;
    }
    answers += &ask("GET", &format!("{base}/metrics"), &[]).text;
    let stopped = std::process::Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    assert!(stopped.unwrap().success() && child.wait().unwrap().success());
    assert!(!answers.contains(&key), "an answer holds a key");
    assert!(!answers.contains(secret), "an answer holds a secret");
    let mut looked_at = 0;
    for file in crate::support::files(haat.path(), "") {
        let bytes = std::fs::read(&file).unwrap();
        for planted in [key.as_bytes(), secret.as_bytes()] {
            let found = bytes.windows(planted.len()).any(|window| window == planted);
            assert!(!found, "{} holds a secret", file.display());
        }
        looked_at += bytes.len();
    }
    assert!(looked_at > 10_000, "neither a log nor a database was looked at");
}
