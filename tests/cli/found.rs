//! Tests of search hits joined with the release and the lake: the questions in docs/found.md, and the callers who may
//! send them.

use serde_json::{Value, json};

use crate::documents::{Mark, document, project};
use crate::questions::python;
use crate::support::{Haat, ServerProcess, has_program, is_built_with, post};

const HERE: &str = "tests/cli/found.rs";
const QUESTIONS: &str = "docs/found.md";
const PACKAGES: &str = "import adbc_driver_flightsql, deltalake, duckdb, pyarrow";

/// Starts stores, two of which also sell products of the others.
fn market() -> (Haat, ServerProcess) {
    let haat = Haat::new()
        .with("HAAT_SQL__LISTEN", "127.0.0.1:0")
        .with("HAAT_REFRESH__PRODUCT_PAGES_MAX", "500");
    let (stores, _) = haat.with_stores(&["--products", "240", "--stores", "6", "--resellers", "2", "--seed", "11"]);
    haat.run(&["crawl"]).json();
    haat.run(&["shipping", "refresh"]).json();
    haat.run(&["release", "build"]).json();
    (haat, stores)
}

fn text<'a>(document: &'a Value, member: &str) -> &'a str {
    document[member].as_str().unwrap_or_else(|| panic!("{document}"))
}

fn asked(url: &str, statement: &str) -> (u16, Value) {
    post(&format!("{url}/v1/sql"), &json!({ "sql": statement }))
}

#[test]
fn twelve_questions_about_what_a_search_found_have_one_answer_over_http_flight_and_in_duckdb() {
    let (haat, _stores) = market();
    let (_server, served) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let blocks = document(QUESTIONS).blocks();
    let here = |mark: &Option<Mark>| matches!(mark, Some(Mark::RunBy(file)) if file == HERE);
    assert_eq!(blocks.iter().filter(|block| here(&block.mark)).count(), 12);
    if !is_built_with("flight", cfg!(feature = "flight")) || !has_program("python3", &["-c", PACKAGES]) {
        return;
    }
    let answered = python(
        "tests/peers/found.py",
        &[
            project().to_str().unwrap(),
            haat.path().to_str().unwrap(),
            env!("CARGO_BIN_EXE_haat"),
            text(&served, "address"),
            text(&served, "sql_address"),
        ],
    );
    assert_eq!(answered["unequal"], json!([]), "{}", answered["rows"]);
    for (engine, rows) in answered["rows"].as_object().unwrap() {
        let rows: Vec<u64> = rows.as_array().unwrap().iter().filter_map(Value::as_u64).collect();
        assert!(
            rows.len() == 12 && rows.iter().all(|rows| *rows > 0),
            "{engine}: {rows:?}"
        );
    }
}

#[test]
fn a_server_answers_over_its_release_and_the_lake_as_it_is_now() {
    let (haat, stores) = market();
    let (_server, served) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let own = text(&served, "sql_address");
    let count = "select count(*) n from lake.price_history";
    let (status, before) = asked(own, count);
    assert_eq!(
        (status, &before["data"]),
        (200, &json!(haat.sql("select count(*) n from price_history"))),
        "{before}"
    );
    // The lake is newer than the release after a crawl alone.
    drop(stores);
    let (_stores, _) = haat.with_stores(&["--products", "40", "--stores", "1", "--seed", "99"]);
    haat.run(&["crawl"]).document();
    let (_, after) = asked(own, count);
    assert_eq!(
        after["data"],
        json!(haat.sql("select count(*) n from price_history")),
        "{after}"
    );
    assert_ne!(after["data"], before["data"]);
    let source = |told: &Value| text(&told["provenance"], "source").to_owned();
    assert_ne!(source(&before), source(&after));
    let (_, schemas) = asked(own, "select distinct table_schema s from haat.columns order by 1");
    assert_eq!(schemas["data"], json!([{ "s": "lake" }, { "s": "public" }]));
    let (status, past) = post(&format!("{own}/v1/sql"), &json!({ "sql": count, "as_of": "1" }));
    assert_eq!((status, &past["reason"]), (422, &json!("as_of")), "{past}");
}

#[test]
fn where_there_is_no_lake_a_statement_over_it_is_told_so_and_the_release_answers() {
    let (haat, _stores) = market();
    std::fs::remove_dir_all(haat.path().join("lake")).unwrap();
    let (_server, served) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let own = text(&served, "sql_address");
    let (status, told) = asked(own, "select * from lake.products");
    assert_eq!(status, 422, "{told}");
    assert!(
        text(&told["detail"][0], "msg").starts_with("this server has no lake, only a release"),
        "{told}"
    );
    let (status, told) = asked(own, "select count(*) n from search('earbuds')");
    assert_eq!(status, 200, "{told}");
    assert!(!haat.path().join("lake").exists());
}

#[test]
fn keys_of_the_plan_granted_send_statements_by_default_and_none_do_where_the_operator_says_so() {
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&["--products", "20", "--stores", "1", "--seed", "5"]);
    haat.run(&["crawl", "--release"]).json();
    let key = |args: &[&str]| text(&haat.run(&[&["keys", "create"], args].concat()).json(), "key").to_owned();
    let (analyst, app) = (key(&["analyst", "--plan", "granted"]), key(&["app"]));
    let statement = "select count(*) n from search('a') join products using (product_id)";
    let (server, served) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let public = text(&served, "address");
    let status = |url: &str, key: Option<&str>| crate::sql::asked(url, key, statement).0;
    assert_eq!(status(public, Some(&analyst)), 200);
    assert_eq!((status(public, Some(&app)), status(public, None)), (403, 401));
    drop(server);
    let haat = haat.with("HAAT_SQL__KEYS", "none");
    let (_server, served) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    assert_eq!(status(text(&served, "address"), Some(&analyst)), 404);
}
