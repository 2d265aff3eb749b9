//! Measures searches while fifty clients send expensive statements, alternating with searches without statements.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Context;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::load::Pace;
use crate::meter::{Figure, quantile};
use crate::overload::{for_a_while, searches};
use crate::setup::{Bench, ServerProcess};

/// Number of clients that send expensive statements.
const WILD_CLIENTS: usize = 50;
/// Number of turns in which both are measured.
const TURNS: usize = 5;
/// A single search client, so that the time of a response is measured instead of that of a queue.
const CALM: Pace = Pace {
    clients: 1,
    each_per_s: None,
};

/// Expensive statements: cross joins, sorts of all rows, regular expressions, recursion, and very long texts.
const WILD: [&str; 12] = [
    "select sum(a.quality * b.quality * c.price_minor) from products a, products b, variants c",
    "select a.title, b.description from products a cross join products b order by b.description, a.title",
    "select * from variants order by title, sku, price_minor",
    "select count(*) from products where regexp_like(description, '(a|b|c)*[aeiou]{3,}.*(cotton|linen)+$')",
    "with recursive n as (select 1 i union all select i + 1 from n) select count(*) from n",
    "select repeat(description, 1000000) from products",
    "select brand_slug, array_agg(description order by title) from products group by 1",
    "select count(*) over (), first_value(description) over (order by title), * from products",
    "select title || repeat('x', 100000) from products",
    "select (select string_agg(description, '') from products) t, title from products",
    "with a as (select product_id i from products), b as (select x.i from a x, a y), c as (select x.i from b x, b y), \
     d as (select x.i from c x, c y), e as (select x.i from d x, d y) select count(*) from e",
    "select count(distinct a.title || b.title) from products a join products b on a.currency = b.currency",
];

/// Prints the p99 of searches, without and during the statements, and the server's memory.
pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    let mut command = bench.command(bench.home(), &["query-server", "--listen", "127.0.0.1:0"]);
    command.env("HAAT_SQL__LISTEN", "127.0.0.1:0");
    let server = Bench::serving(command)?;
    let text = |member: &str| server.document[member].as_str().map(str::to_owned).context("address");
    let (address, sql) = (text("address")?, text("sql_address")?);
    let paths = searches(bench)?;
    for_a_while(&address, &paths, CALM)?;
    let before = memory_mib(&server)?;
    let (mut alone, mut beside, mut most) = (Vec::new(), Vec::new(), before);
    let told = Arc::new(StatementOutcomes::default());
    for _ in 0..TURNS {
        alone.extend(for_a_while(&address, &paths, CALM)?.times);
        let stop = Arc::new(AtomicBool::new(false));
        let wild = std::thread::spawn({
            let (host, stop, told) = (sql.replace("http://", ""), Arc::clone(&stop), Arc::clone(&told));
            move || storm(&host, &stop, &told)
        });
        beside.extend(for_a_while(&address, &paths, CALM)?.times);
        most = most.max(memory_mib(&server)?);
        stop.store(true, Ordering::Relaxed);
        wild.join().map_err(|_| anyhow::anyhow!("the statements broke off"))??;
    }
    for (name, share) in [("statements.search_p50_ms", 0.5), ("statements.search_p99_ms", 0.99)] {
        Figure::alone(name, quantile(&mut beside, share), "ms")
            .beside(quantile(&mut alone, share), "without statements, in turn")
            .print()?;
    }
    Figure::alone("statements.memory_mib", most, "MiB")
        .beside(before, "before the first statement")
        .print()?;
    for (name, count) in [
        ("statements.answered", &told.answered),
        ("statements.told_what_to_change", &told.refused),
        ("statements.told_to_come_back", &told.busy),
        ("statements.failed", &told.failed),
    ] {
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        Figure::alone(name, count.load(Ordering::Relaxed) as f64, "statements").print()?;
    }
    Ok(())
}

#[derive(Debug, Default)]
struct StatementOutcomes {
    answered: AtomicUsize,
    refused: AtomicUsize,
    busy: AtomicUsize,
    failed: AtomicUsize,
}

fn storm(host: &str, stop: &Arc<AtomicBool>, told: &Arc<StatementOutcomes>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let clients = (0..WILD_CLIENTS).map(|number| async move {
            for statement in WILD.iter().cycle().skip(number) {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let count = match send(host, statement).await {
                    Ok(200) => &told.answered,
                    Ok(422) => &told.refused,
                    Ok(503) => &told.busy,
                    _ => &told.failed,
                };
                count.fetch_add(1, Ordering::Relaxed);
                // This is about the time in the response's `Retry-After`.
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        });
        futures::future::join_all(clients).await;
    });
    Ok(())
}

/// Sends a statement, and reads the response without keeping it.
async fn send(host: &str, statement: &str) -> anyhow::Result<u16> {
    let body = json!({ "sql": statement }).to_string();
    let request = format!(
        "POST /v1/sql HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(host).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut head = [0; 12];
    stream.read_exact(&mut head).await?;
    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
    let status = std::str::from_utf8(&head)?.split(' ').nth(1).context("no status")?;
    Ok(status.parse()?)
}

/// Returns the anonymous memory of the server and its workers in MiB.
fn memory_mib(server: &ServerProcess) -> anyhow::Result<f64> {
    let server = server.child.id().to_string();
    let mut workers = String::new();
    for task in std::fs::read_dir(format!("/proc/{server}/task"))? {
        // A thread may have ended meanwhile.
        workers += &std::fs::read_to_string(task?.path().join("children")).unwrap_or_default();
    }
    let of_worker = |process: &str| anonymous_mib(process).unwrap_or(0.0);
    Ok(anonymous_mib(&server)? + workers.split_whitespace().map(of_worker).sum::<f64>())
}

fn anonymous_mib(process: &str) -> anyhow::Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib: f64 = line.context("RssAnon")?.trim().trim_end_matches(" kB").parse()?;
    Ok(kib / 1024.0)
}
