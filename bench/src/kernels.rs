//! Sends the same queries to the search kernels and to SQL alternately, checks that the results are equal, and measures
//! how much more SQL costs. Another measurement compares the memory of a server that accepts statements with one that
//! does not.

use std::time::Instant;

use anyhow::Context;
use serde_json::{Value, json};

use crate::http::Client;
use crate::meter::{Figure, cpu_of_process, memory_of_process, quantile};
use crate::setup::{Bench, ServerProcess};

/// Number of rounds for each side, and number of requests in a round.
const TURNS: usize = 10;
const REQUESTS: usize = 40;
const PAGE: usize = 20;

/// Kind of query for both sides, and the position of the ids or the count in the responses.
struct Kind {
    name: &'static str,
    paths: Vec<String>,
    statements: Vec<String>,
    /// Function that returns the part of an HTTP response that the statement's rows must match.
    of_path: fn(&Value) -> Value,
}

struct BenchServer {
    server: ServerProcess,
    client: Client,
    sql: Option<Client>,
}

impl BenchServer {
    fn of(bench: &Bench, takes_statements: bool) -> anyhow::Result<Self> {
        let mut command = bench.command(bench.home(), &["query-server", "--listen", "127.0.0.1:0"]);
        if takes_statements {
            command.env("HAAT_SQL__LISTEN", "127.0.0.1:0");
        }
        let server = Bench::serving(command)?;
        let mut client = Client::connect(server.document["address"].as_str().context("address")?)?;
        while client.get("/readyz")?.0 != 200 {
            std::thread::yield_now();
        }
        let sql = server.document["sql_address"]
            .as_str()
            .map(Client::connect)
            .transpose()?;
        Ok(Self { server, client, sql })
    }

    fn own_mib(&self) -> anyhow::Result<f64> {
        Ok(memory_of_process(self.server.child.id())?.0 / 1_048_576.0)
    }

    fn path(&mut self, path: &str) -> anyhow::Result<Value> {
        let (status, body) = self.client.get(path)?;
        anyhow::ensure!(status == 200, "{path}: {status}");
        Ok(serde_json::from_slice(body)?)
    }

    fn statement(&mut self, statement: &str) -> anyhow::Result<Value> {
        let body = json!({ "sql": statement }).to_string();
        let client = self.sql.as_mut().context("no address for statements")?;
        let (status, body) = client.post("/v1/sql", body.as_bytes())?;
        anyhow::ensure!(status == 200, "{statement}: {status} {}", String::from_utf8_lossy(body));
        Ok(serde_json::from_slice(body)?)
    }
}

/// Prints the cost of statements compared with kernels, and their memory.
pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    let without = {
        let mut plain = BenchServer::of(bench, false)?;
        plain.path("/v1/stats")?;
        plain.own_mib()?
    };
    let mut asked = BenchServer::of(bench, true)?;
    asked.path("/v1/stats")?;
    // The tables are registered while the server already handles requests.
    while asked.statement("select 1 one").is_err() {
        std::thread::yield_now();
    }
    Figure::alone("statements.held_at_first_mib", asked.own_mib()?, "MiB")
        .beside(without, "a server that takes no statements")
        .print()?;
    let kinds = kinds(bench)?;
    for kind in &kinds {
        compare(&mut asked, kind)?;
    }
    Figure::alone("statements.held_afterwards_mib", asked.own_mib()?, "MiB")
        .beside(without, "a server that takes no statements")
        .print()
}

fn ids(answer: &Value) -> Value {
    let ids = answer["data"]["items"].as_array().into_iter().flatten();
    ids.map(|one| json!({ "answer": one["id"] })).collect()
}

fn kinds(bench: &Bench) -> anyhow::Result<Vec<Kind>> {
    let statement = "select product_id, brand_slug from products order by product_uid";
    let rows = bench.run(bench.home(), &["sql", statement, "--limit", "200"])?;
    let texts = |column: &str| -> Vec<String> {
        let rows = rows.as_array().into_iter().flatten();
        rows.filter_map(|row| row[column].as_str().map(str::to_owned)).collect()
    };
    let (products, brands) = (texts("product_id"), texts("brand_slug"));
    anyhow::ensure!(!products.is_empty(), "the catalogue is empty");
    let each = |values: &[String], text: &str| values.iter().map(|value| text.replace("{}", value)).collect();
    let list = format!(
        "select product_id answer from products where brand_slug = '{{}}' and in_stock order by quality desc, product_id \
         limit {PAGE}"
    );
    Ok(vec![
        Kind {
            name: "product",
            paths: each(&products, "/v1/products/{}"),
            statements: each(
                &products,
                "select product_id answer, * from products where product_id = '{}'",
            ),
            of_path: |answer| json!([{ "answer": answer["data"]["id"] }]),
        },
        Kind {
            name: "brand_list",
            paths: each(&brands, &format!("/v1/brands/{{}}/products?in_stock=true&limit={PAGE}")),
            statements: each(&brands, &list),
            of_path: ids,
        },
        Kind {
            name: "count",
            paths: vec!["/v1/stats".to_owned()],
            statements: vec!["select count(*) answer from products".to_owned()],
            of_path: |answer| json!([{ "answer": answer["data"]["products"] }]),
        },
    ])
}

/// Measures both sides alternately, after checking that each pair of results is equal.
fn compare(asked: &mut BenchServer, kind: &Kind) -> anyhow::Result<()> {
    for (path, statement) in kind.paths.iter().zip(&kind.statements) {
        let expected = (kind.of_path)(&asked.path(path)?);
        let rows = asked.statement(statement)?;
        let rows = rows["data"].as_array().into_iter().flatten();
        let told: Value = rows.map(|row| json!({ "answer": row["answer"] })).collect();
        anyhow::ensure!(told == expected, "{path} is {expected}, and {statement} is {told}");
    }
    let (mut kernel, mut sql) = (Side::default(), Side::default());
    let (mut paths, mut statements) = (kind.paths.iter().cycle(), kind.statements.iter().cycle());
    for _ in 0..TURNS {
        kernel.turn(asked, |asked| asked.path(paths.next().map_or("", String::as_str)))?;
        sql.turn(asked, |asked| {
            asked.statement(statements.next().map_or("", String::as_str))
        })?;
    }
    for (what, sql, kernel, unit) in [
        ("server_cpu_us", sql.cpu_us(), kernel.cpu_us(), "µs"),
        (
            "p50_us",
            quantile(&mut sql.times, 0.5),
            quantile(&mut kernel.times, 0.5),
            "µs",
        ),
    ] {
        Figure::named(format!("statements.{}.{what}", kind.name), sql, unit)
            .beside(kernel, "the same by its own route, in turn")
            .print()?;
    }
    Ok(())
}

/// Measured times of one side, kernels or SQL.
#[derive(Default)]
struct Side {
    times: Vec<f64>,
    cpu_us: f64,
}

impl Side {
    fn turn(
        &mut self,
        asked: &mut BenchServer,
        mut ask: impl FnMut(&mut BenchServer) -> anyhow::Result<Value>,
    ) -> anyhow::Result<()> {
        let before = cpu_of_process(asked.server.child.id())?;
        for _ in 0..REQUESTS {
            let begun = Instant::now();
            ask(asked)?;
            self.times.push(begun.elapsed().as_secs_f64() * 1e6);
        }
        let after = cpu_of_process(asked.server.child.id())?;
        self.cpu_us += after.saturating_sub(before).as_secs_f64() * 1e6;
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    fn cpu_us(&self) -> f64 {
        self.cpu_us / self.times.len() as f64
    }
}
