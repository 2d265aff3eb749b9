//! Tests of analysts' statements over the network: as docs/analysts.md shows them, through third-party clients, and
//! with access rights.

use std::process::Command;

use serde_json::{Value, json};

use crate::documents::{Mark, documents};
use crate::support::{Haat, ServerProcess, has_program, is_built_with, post};

const HERE: &str = "tests/cli/sql.rs";
/// Document whose blocks are run here.
const ANALYSTS: &str = "docs/analysts.md";
/// Address of the lake's server in the document.
const LAKE: &str = "127.0.0.1:8083";

fn market() -> (Haat, ServerProcess) {
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
    is_built_with("flight", cfg!(feature = "flight"))
        && has_program("python3", &["-c", "import adbc_driver_flightsql, pyarrow"])
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
            // The server already runs on another port.
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

pub(crate) fn asked(url: &str, key: Option<&str>, statement: &str) -> (u16, Value) {
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

/// Script that requests the catalogue, runs a statement, and runs an invalid statement.
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
        text(&told, "unknown").contains("there are brands, facets, product_matches, products"),
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
        "columns.table_schema",
    ];
    assert_eq!(told["uncommented"], json!(own_columns));
}

/// Script with the first calls of JDBC and ODBC, and with the format of columns.
const LOOKS_AROUND: &str = r#"
import json, sys
import pyarrow.flight as flight
client = flight.FlightClient(sys.argv[1].replace("http://", "grpc://"))
TYPES = "type.googleapis.com/arrow.flight.protocol.sql."
def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])
def field(number, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value
def ask(kind, value=b""):
    command = field(1, TYPES + kind) + field(2, value)
    info = client.get_flight_info(flight.FlightDescriptor.for_command(command))
    table = client.do_get(info.endpoints[0].ticket).read_all()
    assert table.schema.equals(info.schema), kind
    return table
def act(kind, body=b""):
    return [result.body.to_pybytes() for result in client.do_action(flight.Action(kind, body))]
class Nothing(flight.ClientAuthHandler):
    def authenticate(self, outgoing, incoming):
        pass
    def get_token(self):
        return b""
client.authenticate(Nothing())
facts = {row["info_name"]: row["value"] for row in ask("CommandGetSqlInfo").to_pylist()}
types = ask("CommandGetXdbcTypeInfo").to_pylist()
option = lambda name, value: field(1, field(1, name) + field(2, field(1, value)))
print(json.dumps({
    "facts": [number for number in range(500, 577) if number not in facts],
    "quote": facts[504], "read_only": facts[3], "conversions": len(facts[517]),
    "types": [one["type_name"] for one in types],
    "catalogs": ask("CommandGetCatalogs").to_pylist(),
    "schemas": [row["db_schema_name"] for row in ask("CommandGetDbSchemas").to_pylist()],
    "keys": ask("CommandGetPrimaryKeys", field(3, "products")).num_rows,
    "columns": {one.name: str(one.type) for one in ask("CommandStatementQuery", field(1, "select title, tags from products")).schema},
    "taken": act("SetSessionOptions", option("catalog", "haat"))[0].hex(),
    "not_taken": act("SetSessionOptions", option("warehouse", "large"))[0].decode("latin1"),
    "closed": act("CloseSession")[0].hex(), "cancelled": act("CancelFlightInfo")[0].hex(),
    "actions": sorted(action.type for action in client.list_actions()),
}))
"#;

#[test]
fn clients_that_look_around_before_they_ask_are_told_all_they_ask_for() {
    if !is_built_with("flight", cfg!(feature = "flight")) || !has_program("python3", &["-c", "import pyarrow.flight"]) {
        return;
    }
    let (haat, _stores) = market();
    let (_server, served) = haat.serve(&["lake", "serve", "--listen", "127.0.0.1:0"]);
    let told: Value = serde_json::from_str(&python(LOOKS_AROUND, &[&text(&served, "address")])).unwrap();
    // Only lists of keywords and functions are missing.
    assert_eq!(told["facts"], json!([508, 509, 510, 511, 512]), "{told}");
    assert_eq!((&told["quote"], &told["read_only"]), (&json!("\""), &json!(true)));
    assert_eq!((&told["conversions"], &told["keys"]), (&json!(0), &json!(0)));
    assert!(told["types"].as_array().unwrap().contains(&json!("varchar")), "{told}");
    assert_eq!(told["catalogs"], json!([{ "catalog_name": "haat" }]));
    assert_eq!(told["schemas"], json!(["haat", "public"]));
    // Columns have the type `string`, because JDBC clients cannot read the engine's text view types.
    let columns = json!({ "title": "string", "tags": "list<item: string>" });
    let shown = told["columns"].to_string().replace("element", "item");
    assert_eq!(shown, columns.to_string(), "{told}");
    assert_eq!(told["taken"], "");
    assert!(text(&told, "not_taken").contains("warehouse"), "{told}");
    assert_eq!((&told["closed"], &told["cancelled"]), (&json!("0801"), &json!("0803")));
    assert_eq!(told["actions"].as_array().unwrap().len(), 7, "{told}");
}

/// Returns the output of `tests/peers/jdbc/Client.java`: names with their values, in order.
fn over_jdbc(driver: &str, address: &str, key: &str) -> Vec<(String, String)> {
    let url = format!(
        "jdbc:arrow-flight-sql://{}/?useEncryption=false",
        address.replace("http://", "")
    );
    let output = Command::new("java")
        .args(["--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", driver])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/jdbc/Client.java"))
        .args([&url, key])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8(output.stdout).unwrap();
    let line = |line: &str| {
        line.split_once('\t')
            .map(|(name, told)| (name.to_owned(), told.to_owned()))
    };
    told.lines().filter_map(line).collect()
}

/// `TEST_FLIGHT_SQL_JDBC` is the class path of Apache Arrow's driver: its jar from Maven Central.
#[test]
fn programs_over_jdbc_see_the_catalogue_ask_and_are_told_what_is_wrong() {
    if !is_built_with("flight", cfg!(feature = "flight")) {
        return;
    }
    let Ok(driver) = std::env::var("TEST_FLIGHT_SQL_JDBC") else {
        println!("skipped: TEST_FLIGHT_SQL_JDBC names no driver; the registries that CI installs from have none");
        return;
    };
    let (haat, _stores) = market();
    let count = haat.sql("select count(*) n from products")[0]["n"].clone();
    let haat = haat
        .with("HAAT_SQL__LISTEN", "127.0.0.1:0")
        .with("HAAT_SQL__KEYS", "granted");
    let key = |args: &[&str]| text(&haat.run(&[&["keys", "create"], args].concat()).json(), "key");
    let (analyst, app) = (key(&["analyst", "--plan", "granted"]), key(&["app"]));
    let (_release, of_release) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let (_lake, of_lake) = haat.serve(&["lake", "serve", "--listen", "127.0.0.1:0"]);
    for (served, member, schemas) in [
        (&of_release, "sql_address", "[haat, lake, public]"),
        (&of_lake, "address", "[haat, public]"),
    ] {
        let told = over_jdbc(&driver, &text(served, member), &analyst);
        let of = |name: &str| -> Vec<&str> {
            let named = told.iter().filter(|(known, _)| known == name);
            named.map(|(_, told)| told.as_str()).collect()
        };
        assert_eq!(
            (of("server"), of("read_only"), of("quote")),
            (vec!["haat"], vec!["true"], vec!["\""])
        );
        assert_eq!((of("catalogs"), of("schemas")), (vec!["[haat]"], vec![schemas]));
        assert!(of("tables")[0].contains("products"), "{told:?}");
        assert_eq!(of("column"), ["price_min_minor BIGINT"]);
        assert!(of("remarks")[0].contains("minor"), "{told:?}");
        assert_eq!(of("products"), [format!("[{count}]")]);
        assert_eq!(of("rows"), [count.to_string()]);
        let errors = of("error");
        assert!(
            errors[0].contains("table 'nothing' not found; there are brands"),
            "{told:?}"
        );
        assert!(errors[1].contains("DROP is refused"), "{told:?}");
        assert_eq!((of("prepared_columns"), of("prepared")), (vec!["1"], vec!["3", "3"]));
        // Every metadata request that a program can make succeeds.
        assert_eq!(of("cannot_tell"), ["[]"]);
    }
    let refused = over_jdbc(&driver, &text(&of_release, "sql_address"), &app);
    assert!(refused[0].1.contains("may not send statements"), "{refused:?}");
}

#[test]
fn where_no_key_is_asked_for_a_valid_one_is_no_hindrance() {
    let (haat, _stores) = market();
    let haat = haat.with("HAAT_SQL__LISTEN", "127.0.0.1:0");
    let app = text(&haat.run(&["keys", "create", "app"]).json(), "key");
    let (_server, served) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let own = text(&served, "sql_address");
    let statement = "select count(*) n from products";
    let (open, _) = asked(&own, None, statement);
    let (known, rows) = asked(&own, Some(&app), statement);
    let (unknown, refused) = asked(&own, Some(&app.to_uppercase()), statement);
    assert_eq!((open, known, unknown), (200, 200, 401), "{rows} {refused}");
    assert_eq!(refused["code"], "invalid_key");
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

fn children(program: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{program}/task")).unwrap();
    let started = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
    let started: String = tasks.map(Result::unwrap).map(started).collect();
    started.split_whitespace().map(|child| child.parse().unwrap()).collect()
}

/// Reads a file of a process below `/proc`.
fn of_process(process: u32, file: &str) -> String {
    std::fs::read_to_string(format!("/proc/{process}/{file}")).unwrap()
}

#[test]
fn statements_run_in_a_process_of_the_lowest_priority_that_has_no_secret_and_ends_with_its_server() {
    let (haat, _stores) = market();
    let haat = haat
        .with("HAAT_SQL__LISTEN", "127.0.0.1:0")
        .with(
            "HAAT_QUERY_SERVER__CURSOR_SECRET",
            "a-secret-of-the-server-that-signs-cursors",
        )
        .with("PGPASSWORD", "a-password-that-is-none-of-theirs");
    let mut served = haat.serve_logged(&["query-server", "--listen", "127.0.0.1:0"]);
    let own = text(&served.document, "sql_address");
    let server = served.serving.child.id();
    assert_eq!(children(server), Vec::<u32>::new());
    assert_eq!(asked(&own, None, "select count(*) n from products").0, 200);
    let workers = children(server);
    let [worker] = workers.as_slice() else {
        panic!("{workers:?}");
    };
    // The second statement runs in the worker process of the first.
    assert_eq!(asked(&own, None, "select 1").0, 200);
    assert_eq!(children(server), workers);
    // The scheduling policy must be `SCHED_IDLE`.
    let figures = of_process(*worker, "stat");
    assert_eq!(figures.split_whitespace().nth(40), Some("5"), "{figures}");
    let environment = of_process(*worker, "environ");
    assert!(
        !environment.contains("HAAT_") && !environment.contains("PGPASSWORD"),
        "{environment}"
    );
    let arguments = of_process(*worker, "cmdline");
    assert!(arguments.ends_with("\0sql-worker\0"), "{arguments}");
    served.serving.child.kill().unwrap();
    // The worker inherits the server's standard error, so the stream ends when both have ended.
    for line in served.log {
        assert!(!line.contains("ERROR"), "{line}");
    }
}

#[test]
fn a_worker_that_ends_costs_its_statement_at_most_and_no_other() {
    let (haat, _stores) = market();
    let haat = haat
        .with("HAAT_SQL__LISTEN", "127.0.0.1:0")
        .with("HAAT_SQL__CONCURRENCY_MAX", "1");
    let (server, served) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let own = text(&served, "sql_address");
    // Neither the engine nor an earlier check counts the memory of this statement.
    let cube = "select count(*) from products a, products b, products c group by cube(a.title, a.brand, a.vendor, \
                a.handle, a.product_id, b.title, b.brand, b.vendor, b.handle, b.product_id, c.title, c.brand, c.vendor, \
                c.handle, c.product_id)";
    let (status, told) = asked(&own, None, cube);
    assert_eq!((status, &told["reason"]), (422, &json!("memory")), "{told}");
    for _ in 0..3 {
        assert_eq!(asked(&own, None, "select count(*) n from search('a')").0, 200);
        let workers = children(server.child.id());
        assert_eq!(workers.len(), 1, "{workers:?}");
        let mut kill = Command::new("kill");
        assert!(kill.args(["-9", &workers[0].to_string()]).status().unwrap().success());
        // The threads end one after the other.
        let threads = || std::fs::read_dir(format!("/proc/{}/task", workers[0])).unwrap().count();
        while threads() > 1 || !of_process(workers[0], "stat").contains(") Z ") {
            std::thread::yield_now();
        }
    }
}
