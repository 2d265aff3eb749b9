use std::io::{BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::support::{Haat, get, request_body};

/// Letters whose numbers are the embedding of a text.
const LETTERS: [char; 8] = ['a', 'e', 'i', 'o', 'r', 's', 't', 'n'];

/// Starts a server with OpenAI's embeddings API whose model counts letters. Also returns a switch that makes it fail.
fn model() -> (String, Arc<AtomicBool>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let failing = Arc::new(AtomicBool::new(false));
    let fails = Arc::clone(&failing);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let fails = Arc::clone(&fails);
            // Each connection has a thread of its own, because clients keep connections open.
            std::thread::spawn(move || {
                let mut stream = BufReader::new(stream.unwrap());
                while let Some(body) = request_body(&mut stream, "/v1/embeddings") {
                    let (status, answer) = if fails.load(Ordering::SeqCst) {
                        ("500 Internal Server Error", String::new())
                    } else {
                        ("200 OK", counted(&serde_json::from_slice(&body).unwrap()).to_string())
                    };
                    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", answer.len());
                    stream.get_mut().write_all((head + &answer).as_bytes()).unwrap();
                }
            });
        }
    });
    (base, failing)
}

fn counted(request: &Value) -> Value {
    let counts = |text: &Value| LETTERS.map(|letter| text.as_str().unwrap().matches(letter).count());
    let texts = request["input"].as_array().unwrap().iter().enumerate();
    let entry = |(index, text)| json!({"index": index, "embedding": counts(text)});
    json!({"data": texts.map(entry).collect::<Vec<_>>()})
}

#[test]
fn a_model_behind_an_endpoint_embeds_builds_and_queries_and_may_be_gone() {
    let (base, failing) = model();
    let haat = Haat::new()
        .with("HAAT_EMBEDDING__EMBEDDER", "endpoint")
        .with("HAAT_EMBEDDING__ENDPOINT__URL", &base)
        .with("HAAT_EMBEDDING__ENDPOINT__MODEL", "letters")
        .with("HAAT_EMBEDDING__ENDPOINT__API_KEY", "hunter2")
        .with("HAAT_EMBEDDING__ENDPOINT__QUERY_TIMEOUT_MS", "60000")
        .with("HAAT_EMBEDDING__ENDPOINT__DIMENSIONS", "8");
    let (_stores, _) = haat.with_stores(&["--products", "80", "--stores", "2", "--seed", "3"]);
    haat.run(&["crawl", "--release"]).json();
    let shown = haat.run(&["release", "show"]).json();
    assert_eq!(
        shown["embedding"],
        json!({"embedder": "endpoint:letters:8", "dimensions": 8})
    );
    assert!(!haat.run(&["config"]).stdout.contains("hunter2"));
    assert_eq!(haat.run(&["doctor"]).code, 0);

    let (_server, serving) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let address = serving["address"].as_str().unwrap();
    let search = |text: &str| get(&format!("{address}/v1/search?mode=semantic&q={text}")).1;
    let found = search("tarot");
    assert_eq!(found["provenance"]["engine"], "semantic");
    assert_eq!(found["provenance"]["degraded"], Value::Null);
    assert!(!found["data"].as_array().unwrap().is_empty());

    failing.store(true, Ordering::SeqCst);
    let without = search("rotor");
    assert_eq!(without["provenance"]["engine"], "lexical");
    assert_eq!(without["provenance"]["degraded"], "embedder_failed");
    assert_eq!(haat.run(&["doctor"]).code, 1);

    failing.store(false, Ordering::SeqCst);
    assert_eq!(search("otter")["provenance"]["degraded"], Value::Null);

    // With other settings, the release is complete but differs from the configuration.
    let told = haat
        .command(&["doctor"])
        .env("HAAT_EMBEDDING__EMBEDDER", "table")
        .output();
    let told: Value = serde_json::from_slice(&told.unwrap().stdout).unwrap();
    let findings = told["findings"].as_array().unwrap();
    let release = findings.iter().find(|finding| finding["subject"] == "release").unwrap();
    assert_eq!(release["severity"], "warning");
    let advice = release["advice"].as_str().unwrap_or_default();
    assert!(advice.contains("another embedder"), "{told}");
}

#[test]
fn the_doctor_reads_the_synonyms() {
    let haat = Haat::new().with("HAAT_QUERY_SERVER__SYNONYMS", "synonyms.tsv");
    // The home is a subfolder, because a folder with other files is no home.
    let home = haat.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let haat = haat.at(home.to_str().unwrap());
    std::fs::write(haat.path().join("synonyms.tsv"), "=\tvac\tvacuum\n").unwrap();
    assert_eq!(haat.run(&["doctor"]).code, 0);
    std::fs::remove_file(haat.path().join("synonyms.tsv")).unwrap();
    let told = haat.run(&["doctor"]);
    assert_eq!(told.code, 1);
    assert!(told.stdout.contains("query_server.synonyms"), "{}", told.stdout);
}

#[test]
fn the_doctor_names_the_settings_with_which_no_server_starts() {
    for (setting, value, key) in [
        ("HAAT_QUERY_SERVER__HOLIDAYS", "/nowhere", "query_server.holidays"),
        (
            "HAAT_QUERY_SERVER__INTERNAL_LISTEN",
            "nowhere",
            "query_server.internal_listen",
        ),
        ("HAAT_SQL__LISTEN", "nowhere", "sql.listen"),
        ("HAAT_PUBLIC_URL", "nowhere", "public_url"),
        ("HAAT_ACCESS__KEYED", "no_operation", "no_operation"),
        ("HAAT_DISCOVER__MODEL__URL", "nowhere", "url"),
    ] {
        let haat = Haat::new().with(setting, value);
        let home = haat.path().join("home");
        std::fs::create_dir(&home).unwrap();
        let haat = haat.at(home.to_str().unwrap());
        let told = haat.run(&["doctor"]);
        assert_eq!(told.code, 1, "{setting}: {}", told.stdout);
        assert!(told.stdout.contains(key), "{setting}: {}", told.stdout);
        let refused = haat.run(&["up", "--listen", "127.0.0.1:0"]);
        assert!(
            refused.code != 0 && refused.stderr.contains(key),
            "{setting}: {}",
            refused.stderr
        );
    }
}

#[test]
fn an_embedder_that_is_not_told_enough_is_a_wrong_configuration() {
    let transformer = Haat::new().with("HAAT_EMBEDDING__EMBEDDER", "transformer");
    let refused = transformer.run(&["query-server", "--listen", "127.0.0.1:0"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("embedding.transformer"), "{}", refused.stderr);
    let endpoint = Haat::new().with("HAAT_EMBEDDING__EMBEDDER", "endpoint");
    let refused = endpoint.run(&["query-server", "--listen", "127.0.0.1:0"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("embedding.endpoint.url"), "{}", refused.stderr);
    let elsewhere = Haat::new()
        .with("HAAT_EMBEDDING__EMBEDDER", "transformer")
        .with("HAAT_EMBEDDING__TRANSFORMER", "/nowhere");
    let refused = elsewhere.run(&["query-server", "--listen", "127.0.0.1:0"]);
    if cfg!(feature = "transformer") {
        assert_eq!(refused.code, 1);
        assert!(refused.stderr.contains("/nowhere/config.json"), "{}", refused.stderr);
    } else {
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains("--features transformer"), "{}", refused.stderr);
    }
}
