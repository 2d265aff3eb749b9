//! Measures the cost of ten thousand watches at a release. A server that evaluates them is compared with one without
//! watches that opens the same releases, and with the build of a release.

use std::time::Duration;

use anyhow::Context;
use serde_json::json;

use crate::http::Client;
use crate::meter::{Figure, cpu_of_process, of_children, quantile};
use crate::setup::{Bench, ServerProcess};

const WATCHES: usize = 10_000;
/// Number of releases. Each follows a change in another hundredth of the stores.
const TURNS: u32 = 3;
/// CPU time per second below which a server counts as idle. An idle server still checks for releases and events.
const REST: Duration = Duration::from_millis(25);

pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    let home = bench.home();
    let (_, full) = of_children(|| bench.run(home, &["release", "build", "--full"]))?;
    let key = bench.run(home, &["keys", "create", "bench", "--plan", "granted"])?;
    let mut up = bench.command(home, &["up", "--listen", "127.0.0.1:0"]);
    up.env("HAAT_WATCHES__PER_CALLER_MAX", WATCHES.to_string());
    let judges = Bench::serving(up)?;
    let bare = bench.serve(home, &["query-server", "--listen", "127.0.0.1:0"])?;
    make(bench, &judges, key["key"].as_str().context("key")?)?;
    let (mut with, mut without, mut builds) = (Vec::new(), Vec::new(), Vec::new());
    for epoch in 1..=TURNS {
        let later = bench.emulate(epoch)?;
        let slugs = bench.register(home, &later, (bench.stores / 100).max(1) as usize)?;
        let brands = slugs.iter().flat_map(|slug| ["--brand", slug]);
        bench.run(home, &["crawl"].into_iter().chain(brands).collect::<Vec<_>>())?;
        let before = [rested(&judges)?, rested(&bare)?];
        let (built, build) = of_children(|| bench.run(home, &["release", "build"]))?;
        let release = built["release"].as_str().context("release")?;
        for server in [&judges, &bare] {
            serves(server, release)?;
        }
        with.push(rested(&judges)?.saturating_sub(before[0]).as_secs_f64());
        without.push(rested(&bare)?.saturating_sub(before[1]).as_secs_f64());
        builds.push(build.cpu.as_secs_f64());
    }
    let [with, without, build] = [&mut with, &mut without, &mut builds].map(|each| quantile(each, 0.5));
    Figure::alone("watches.release_server_cpu_s", with, "s")
        .beside(without, "a server without watches that takes the same releases")
        .print()?;
    let full = full.cpu.as_secs_f64();
    Figure::alone("watches.full_release_cpu_s", full + with - without, "s")
        .beside(full, "the full build alone")
        .print()?;
    Figure::alone("watches.incremental_release_cpu_s", build + with - without, "s")
        .beside(build, "the build after a hundredth of the stores changed, alone")
        .print()
}

/// Creates the watches, each for a different product.
fn make(bench: &Bench, server: &ServerProcess, key: &str) -> anyhow::Result<()> {
    let statement = format!("select product_id from products order by product_id limit {WATCHES}");
    let rows = bench.run(bench.home(), &["sql", &statement])?;
    let mut client = Client::connect(address(server)?)?;
    while client.get("/readyz")?.0 != 200 {
        std::thread::yield_now();
    }
    let head = format!("X-Service-Key: {key}\r\n");
    let rows = rows.as_array().context("rows")?;
    anyhow::ensure!(rows.len() == WATCHES, "{} products", rows.len());
    for row in rows {
        // The threshold is below every price, so that no watch sends an event.
        let wanted = json!({
            "product_id": row["product_id"], "price_below": 1, "webhook": { "url": "http://127.0.0.1:9/" },
        });
        let (status, body) = client.post_with("/v1/watches", &head, wanted.to_string().as_bytes())?;
        anyhow::ensure!(status == 200, "{}", String::from_utf8_lossy(body));
    }
    Ok(())
}

fn address(server: &ServerProcess) -> anyhow::Result<&str> {
    server.document["address"].as_str().context("address")
}

fn serves(server: &ServerProcess, release: &str) -> anyhow::Result<()> {
    let mut client = Client::connect(address(server)?)?;
    loop {
        let (_, body) = client.get("/v1/stats")?;
        let told: serde_json::Value = serde_json::from_slice(body)?;
        if told["data"]["release"]["id"] == *release {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Waits until a server is idle and returns its CPU time.
fn rested(server: &ServerProcess) -> anyhow::Result<Duration> {
    let mut before = cpu_of_process(server.child.id())?;
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let now = cpu_of_process(server.child.id())?;
        if now.saturating_sub(before) <= REST {
            return Ok(now);
        }
        before = now;
    }
}
