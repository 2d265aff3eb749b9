//! Statements of analysts over the wire: as docs/analysts.md shows them, through clients that others wrote, and by whom.

use std::process::Command;

use serde_json::{Value, json};

use crate::documents::{Mark, documents};
use crate::support::{Haat, Serving, has_program, post};

const HERE: &str = "tests/cli/sql.rs";
/// The document whose blocks are run here.
const ANALYSTS: &str = "docs/analysts.md";
/// The address that it gives the lake's server.
const LAKE: &str = "127.0.0.1:8083";

fn market() -> (Haat, Serving) {
    let haat = Haat::new();
    let (stores, _) = haat.with_stores(&["--products", "60", "--stores", "3", "--seed", "5"]);
    haat.run(&["crawl", "--release"]).json();
    (haat, stores)
}

fn text(document: &Value, member: &str) -> String {
    document[member]
        .as_str()
        .unwrap_or_else(|| panic!("{document}"))
        .to_owned()
}

fn has_adbc() -> bool {
    has_program("python3", &["-c", "import adbc_driver_flightsql, pyarrow"])
}

fn python(script: &str, args: &[&str]) -> String {
    let mut python = Command::new("python3");
    let output = python.args(["-c", script]).args(args).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_analysts_are_told_to_send_is_answered_over_the_lake() {
    let (haat, _stores) = market();
    let (_server, served) = haat.serve(&["lake", "serve", "--listen", "127.0.0.1:0"]);
    let address = text(&served, "address").replace("http://", "");
    let mut run = 0;
    for document in documents().iter().filter(|document| document.path == ANALYSTS) {
        for block in document.blocks() {
            if !matches!(&block.mark, Some(Mark::RunBy(file)) if file == HERE) {
                continue;
            }
            // Runs already, on a port of its own.
            if block.text.starts_with("haat lake serve") {
                continue;
            }
            let script = block.text.replace(LAKE, &address);
            let printed = match block.language.as_str() {
                "sh" => {
                    let mut bash = Command::new("bash");
                    let output = bash.args(["-eu", "-o", "pipefail", "-c", &script]).output().unwrap();
                    assert!(output.status.success(), "{}: {output:?}", block.at);
                    String::from_utf8(output.stdout).unwrap()
                }
                "python" if has_adbc() => python(&script, &[]),
                "python" => continue,
                other => panic!("{}: nothing runs {other}", block.at),
            };
            assert!(printed.contains("brand_slug"), "{}: {printed}", block.at);
            run += 1;
        }
    }
    assert!(run > 0);
}

#[test]
fn the_lake_answers_as_it_was_at_a_moment_or_after_a_tick() {
    let (haat, _stores) = market();
    let (_server, served) = haat.serve(&["lake", "serve", "--listen", "127.0.0.1:0"]);
    let url = format!("{}/v1/sql", text(&served, "address"));
    let count = |as_of: Value| {
        post(
            &url,
            &json!({ "sql": "select count(*) n from products", "as_of": as_of }),
        )
    };
    let products = haat.sql("select count(*) n from products")[0]["n"].clone();
    let (status, now) = count(Value::Null);
    assert_eq!((status, &now["data"][0]["n"]), (200, &products), "{now}");
    let tick = text(&now["provenance"], "source").replace("tick ", "");
    let (_, then) = count(json!(tick));
    assert_eq!(then["data"], now["data"]);
    let (_, before) = count(json!("0"));
    assert_eq!(before["data"][0]["n"], 0);
    let (status, refused) = count(json!("2001-01-01T00:00:00Z"));
    assert_eq!((status, &refused["reason"]), (422, &json!("as_of")), "{refused}");
    let (status, refused) = count(json!("yesterday"));
    assert_eq!((status, &refused["reason"]), (422, &json!("as_of")), "{refused}");
}

fn asked(url: &str, key: Option<&str>, statement: &str) -> (u16, Value) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut request = reqwest::Client::new()
            .post(format!("{url}/v1/sql"))
            .header("content-type", "application/json")
            .body(json!({ "sql": statement }).to_string());
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap())
    })
}

/// Asks the catalogue, a statement, and one that cannot be run.
const CLIENT: &str = r#"
import json, sys
import adbc_driver_flightsql.dbapi as flight_sql
from adbc_driver_flightsql import DatabaseOptions
uri, key = sys.argv[1].replace("http://", "grpc://"), sys.argv[2]
options = {DatabaseOptions.AUTHORIZATION_HEADER.value: f"Bearer {key}"} if key else {}
out = {}
with flight_sql.connect(uri, db_kwargs=options) as market:
    with market.cursor() as cursor:
        cursor.execute("select count(*) n from products")
        out["products"] = cursor.fetch_arrow_table().to_pylist()[0]["n"]
        cursor.execute("select title, tags, price_min_minor, created_at from products")
        out["rows"] = cursor.fetch_arrow_table().num_rows
        for name, statement in [("unknown", "select * from nothing"), ("writes", "drop table products")]:
            try:
                cursor.execute(statement)
                cursor.fetch_arrow_table()
                out[name] = "answered"
            except Exception as error:
                out[name] = str(error)
    objects = market.adbc_get_objects(depth="all").read_all().to_pylist()
    columns = {}
    for catalogue in objects:
        for schema in catalogue["catalog_db_schemas"]:
            for table in schema["db_schema_tables"]:
                # The driver tells remarks with a table's schema, not among the objects.
                name = table["table_name"]
                shape = market.adbc_get_table_schema(name, db_schema_filter=schema["db_schema_name"])
                for column in table["table_columns"]:
                    remarks = (shape.field(column["column_name"]).metadata or {}).get(b"ARROW:FLIGHT:SQL:REMARKS")
                    columns[f'{name}.{column["column_name"]}'] = remarks.decode() if remarks else None
    out["comment"] = columns["products.price_min_minor"]
    out["uncommented"] = sorted(name for name, remarks in columns.items() if not remarks)
    out["vendor"] = market.adbc_get_info()["vendor_name"]
print(json.dumps(out))
"#;

#[test]
fn keys_that_the_operator_allowed_ask_the_release_over_http_and_flight_and_others_do_not() {
    let (haat, _stores) = market();
    let haat = haat
        .with("HAAT_SQL__LISTEN", "127.0.0.1:0")
        .with("HAAT_SQL__KEYS", "granted");
    let key = |args: &[&str]| text(&haat.run(&[&["keys", "create"], args].concat()).json(), "key");
    let (analyst, app) = (key(&["analyst", "--plan", "granted"]), key(&["app"]));
    let (_server, served) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let (public, own) = (text(&served, "address"), text(&served, "sql_address"));
    let statement = "select count(*) n from products";
    let expected = haat.run(&["sql", "--release", statement]).json()[0]["n"].clone();
    for url in [&public, &own] {
        let (status, rows) = asked(url, Some(&analyst), statement);
        assert_eq!((status, &rows["data"][0]["n"]), (200, &expected), "{rows}");
        assert!(text(&rows["provenance"], "source").starts_with('r'));
        assert_eq!(asked(url, Some(&app), statement).0, 403);
        assert_eq!(asked(url, None, statement).0, 401);
    }
    if !has_adbc() {
        return;
    }
    let told: Value = serde_json::from_str(&python(CLIENT, &[&own, &analyst])).unwrap();
    assert_eq!((&told["products"], &told["rows"]), (&expected, &expected), "{told}");
    assert!(
        text(&told, "unknown").contains("there are brands, facets, products"),
        "{told}"
    );
    assert!(text(&told, "writes").contains("DROP is refused"), "{told}");
    assert!(text(&told, "comment").contains("minor"), "{told}");
    assert_eq!(told["vendor"], "haat");
    let own_columns = [
        "columns.column_name",
        "columns.comment",
        "columns.data_type",
        "columns.is_nullable",
        "columns.table_name",
    ];
    assert_eq!(told["uncommented"], json!(own_columns));
}

#[test]
fn an_address_that_others_reach_is_refused_without_keys() {
    let (haat, _stores) = market();
    let told = haat.run(&["lake", "serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(told.code, 2, "{told:?}");
    assert!(told.stderr.contains("set sql.keys"), "{told:?}");
    let haat = haat.with("HAAT_SQL__KEYS", "haat_live_secret");
    let told = haat.run(&["config"]);
    assert!(told.code != 0 && !told.stderr.contains("haat_live_secret"), "{told:?}");
}
