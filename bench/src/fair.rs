//! Measures how much other callers lose to callers who take more than their share: searches during request bodies that
//! never end, and price requests while ten keys read carts without a pause.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::http::Client;
use crate::load::Pace;
use crate::meter::{Figure, quantile};
use crate::overload::{for_a_while, searches};
use crate::setup::{Bench, ServerProcess};

/// Numbers of request bodies that start and never end.
const SLOW: [usize; 2] = [520, 5_000];
/// Number of concurrent HTTP/2 streams per connection that every server accepts.
const STREAMS: usize = 100;
/// Source address of the slow bodies, which differs from that of the searches.
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
/// Number of pairs of loads, one with slow bodies and one without.
const TURNS: usize = 3;
/// Clients that search at the same time. Each waits for its response.
const SEARCHING: Pace = Pace {
    clients: 2,
    each_per_s: None,
};

/// Number of keys that read carts without a pause.
const KEYS: usize = 10;
/// Number of price requests by the other caller, each for different products.
const PRICES: usize = 60;
const STORES: usize = 4;
/// Maximum request rate to a store (`storefront.rate_max_per_s`).
const RATE_PER_S: &str = "4";
/// Time between two price requests. Each store gets a quarter of its rate limit, so that a single request hardly ever
/// waits.
const LOOK: Duration = Duration::from_millis(250);
/// Time that a refused caller waits before it retries.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    One,
    Two,
}

/// Measures searches during endless bodies over both protocols, and during as many connections that send nothing.
/// Connections that the server refuses are opened again in both cases.
pub(crate) fn slow_bodies(bench: &Bench) -> anyhow::Result<()> {
    let paths = searches(bench)?;
    let mut up = bench.command(bench.home(), &["up", "--listen", "127.0.0.1:0"]);
    // By default, loopback addresses are trusted proxies, which have no limit of connections per address.
    up.env("HAAT_QUERY_SERVER__TRUSTED_PROXIES", "");
    let server = Bench::serving(up)?;
    ready(&server)?;
    let address = address(&server)?.to_owned();
    for_a_while(&address, &paths, SEARCHING)?;
    for (name, protocol) in [("http1", Protocol::One), ("http2", Protocol::Two)] {
        for count in SLOW {
            let (mut alone, mut idle, mut slow, mut refused) = (Vec::new(), Vec::new(), Vec::new(), 0);
            for _ in 0..TURNS {
                let beside = protocol.connections(count);
                for (times, connections, sent) in [
                    (&mut alone, 0, None),
                    (&mut idle, beside, None),
                    (&mut slow, beside, Some(protocol)),
                ] {
                    let held = SlowBodies::begin(&address, connections, sent);
                    let searched = for_a_while(&address, &paths, SEARCHING)?;
                    held.end()?;
                    refused += searched.refused + searched.failed;
                    times.extend(searched.times);
                }
            }
            anyhow::ensure!(
                refused == 0,
                "{refused} searches were refused beside {count} bodies of {name}"
            );
            let idle_p99 = quantile(&mut idle, 0.99);
            let figure =
                |what: &str, p99| Figure::named(format!("fair.{name}.{count}_{what}.search_p99_ms"), p99, "ms");
            figure("slow_bodies", quantile(&mut slow, 0.99))
                .beside(idle_p99, "beside as many idle connections, in turn")
                .print()?;
            figure("idle", idle_p99)
                .beside(quantile(&mut alone, 0.99), "without them, in turn")
                .print()?;
        }
    }
    Ok(())
}

/// Endless request bodies, which start again whenever the server ends them.
struct SlowBodies {
    stop: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<anyhow::Result<()>>,
}

impl SlowBodies {
    /// Opens connections and waits until each was opened once. With a protocol, bodies are sent over them.
    fn begin(address: &str, connections: usize, sent: Option<Protocol>) -> Self {
        let host = address.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let (stop, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let thread = std::thread::spawn({
            let (stop, begun) = (Arc::clone(&stop), Arc::clone(&begun));
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                runtime.block_on(async {
                    let held = (0..connections).map(|_| hold(&host, sent, &stop, &begun));
                    futures::future::join_all(held).await;
                });
                Ok(())
            }
        });
        while begun.load(Ordering::Relaxed) < connections {
            std::thread::sleep(Duration::from_millis(5));
        }
        Self { stop, thread }
    }

    fn end(self) -> anyhow::Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread
            .join()
            .map_err(|_| anyhow::anyhow!("the slow bodies broke off"))?
    }
}

impl Protocol {
    /// Returns the number of connections needed for this number of bodies.
    fn connections(self, bodies: usize) -> usize {
        match self {
            Self::One => bodies,
            Self::Two => bodies.div_ceil(STREAMS),
        }
    }
}

/// Keeps one connection and its bodies open until `stop`.
async fn hold(host: &str, sent: Option<Protocol>, stop: &AtomicBool, begun: &AtomicUsize) {
    let mut is_first = true;
    while !stop.load(Ordering::Relaxed) {
        let stream = begin(host, sent).await;
        if std::mem::take(&mut is_first) {
            begun.fetch_add(1, Ordering::Relaxed);
        }
        let mut read = [0; 4096];
        if let Ok(mut stream) = stream {
            while !stop.load(Ordering::Relaxed) {
                let wait = Duration::from_millis(200);
                if let Ok(Ok(0) | Err(_)) = tokio::time::timeout(wait, stream.read(&mut read)).await {
                    break;
                }
            }
        }
        // A refused caller retries after a pause.
        tokio::time::sleep(PAUSE).await;
    }
}

async fn begin(host: &str, sent: Option<Protocol>) -> anyhow::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((ELSEWHERE, 0).into())?;
    let mut stream = socket.connect(host.parse()?).await?;
    let bytes = match sent {
        None => Vec::new(),
        Some(Protocol::One) => format!(
            "POST /v1/mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{"
        )
        .into_bytes(),
        Some(Protocol::Two) => streams(host),
    };
    stream.write_all(&bytes).await?;
    Ok(stream)
}

/// Returns the bytes of an HTTP/2 connection with streams whose bodies have started (RFC 9113, RFC 7541).
fn streams(host: &str) -> Vec<u8> {
    const DATA: u8 = 0;
    const HEADERS: u8 = 1;
    const SETTINGS: u8 = 4;
    const END_HEADERS: u8 = 4;
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    let mut frame = |kind: u8, flags: u8, stream: u32, payload: &[u8]| {
        let length = u32::try_from(payload.len()).unwrap_or(0).to_be_bytes();
        bytes.extend_from_slice(&length[1..]);
        bytes.extend_from_slice(&[kind, flags]);
        bytes.extend_from_slice(&stream.to_be_bytes());
        bytes.extend_from_slice(payload);
    };
    // `POST` and `http` are encoded by their index in the static table. Path, authority and media type are literal
    // texts.
    let mut head = vec![0x83, 0x86];
    for (name, text) in [
        (&[0x04][..], "/v1/mcp"),
        (&[0x01], host),
        (&[0x0f, 0x10], "application/json"),
    ] {
        head.extend_from_slice(name);
        head.push(u8::try_from(text.len()).unwrap_or(0));
        head.extend_from_slice(text.as_bytes());
    }
    frame(SETTINGS, 0, 0, &[]);
    for stream in (1..).step_by(2).take(STREAMS) {
        frame(HEADERS, END_HEADERS, stream, &head);
        frame(DATA, 0, stream, b"{");
    }
    bytes
}

/// Measures price requests while ten keys read carts over all stores.
pub(crate) fn carts(bench: &Bench) -> anyhow::Result<()> {
    let scratch = tempfile::tempdir()?;
    let home = scratch.path();
    let stores = STORES.to_string();
    let emulate = [
        "emulate",
        "--products",
        "600",
        "--stores",
        &stores,
        "--seed",
        "1",
        "--identity",
    ];
    let stores = bench.serve(home, &emulate)?;
    bench.register(home, &stores, usize::MAX)?;
    bench.run(home, &["crawl", "--release"])?;
    let mut up = bench.command(home, &["up", "--listen", "127.0.0.1:0"]);
    // Requests to stores are limited to the rate of a busy market, with and without the attack.
    up.env("HAAT_STOREFRONT__RATE_START_PER_S", RATE_PER_S);
    let server = Bench::serving(up)?;
    ready(&server)?;
    let address = address(&server)?.to_owned();
    let key = |name: &str, plan: &str| {
        let made = bench.run(home, &["keys", "create", name, "--plan", plan])?;
        made["key"].as_str().map(str::to_owned).context("key")
    };
    let goods = bench.run(home, &["sql", GOODS])?;
    let goods = goods.as_array().context("rows")?;
    let somebody = key("somebody", "granted")?;
    let mut asking = PriceClient::new(&address, goods, &somebody)?;
    let alone = asking.prices()?;
    let stop = Arc::new(AtomicBool::new(false));
    let keys = (0..KEYS)
        .map(|nth| key(&format!("attacker {nth}"), "free"))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let attacks: Vec<_> = keys
        .into_iter()
        .map(|key| {
            let (address, goods, stop) = (address.clone(), goods.clone(), Arc::clone(&stop));
            std::thread::spawn(move || attack(&address, &goods, &key, &stop))
        })
        .collect();
    std::thread::sleep(Duration::from_secs(2));
    let beside = asking.prices();
    stop.store(true, Ordering::Relaxed);
    let mut reads = 0;
    for attack in attacks {
        reads += attack.join().map_err(|_| anyhow::anyhow!("an attack broke off"))??;
    }
    let (mut alone, mut beside) = (alone, beside?);
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    let counts = (reads as f64, beside.verified as f64, alone.verified as f64);
    Figure::alone("fair.ten_keys.cart_reads", counts.0, "requests").print()?;
    Figure::alone("fair.ten_keys.prices_verified", counts.1, "prices")
        .beside(counts.2, "without them")
        .print()?;
    Figure::alone("fair.ten_keys.price_median_ms", quantile(&mut beside.times, 0.5), "ms")
        .beside(quantile(&mut alone.times, 0.5), "without them")
        .print()?;
    Figure::alone("fair.ten_keys.price_p90_ms", quantile(&mut beside.times, 0.9), "ms")
        .beside(quantile(&mut alone.times, 0.9), "without them")
        .print()
}

/// Statement that selects products for sale, each with a variant, alternating between stores.
const GOODS: &str = "select product_id, cast(min(variant_id) as varchar) as variant_id, store, \
    row_number() over (partition by store order by product_id) as nth from variants where available \
    group by product_id, store order by nth, store";

/// Reads a cart over all stores without a pause, and returns the number of responses.
fn attack(address: &str, goods: &[Value], key: &str, stop: &AtomicBool) -> anyhow::Result<usize> {
    let items: Vec<_> = goods[..STORES]
        .iter()
        .map(|good| json!({ "product_id": good["product_id"], "variant_id": good["variant_id"], "qty": 1 }))
        .collect();
    let mut client = Client::connect(address)?;
    let body = json!({ "items": items }).to_string();
    let (status, cart) = client.post_with("/v1/cart", &head(key), body.as_bytes())?;
    let cart: Value = serde_json::from_slice(cart)?;
    let id = cart["data"]["cart_id"]
        .as_str()
        .with_context(|| format!("{status}: {cart}"))?;
    let path = format!("/v1/cart/{id}");
    let mut reads = 0;
    while !stop.load(Ordering::Relaxed) {
        client.ask_with(&path, &head(key))?;
        if client.answer()?.0 == 200 {
            reads += 1;
        } else {
            std::thread::sleep(PAUSE);
        }
    }
    Ok(reads)
}

fn head(key: &str) -> String {
    format!("X-Service-Key: {key}\r\n")
}

/// Client that requests one price after another, each product once.
struct PriceClient<'a> {
    client: Client,
    key: &'a str,
    products: std::slice::Iter<'a, Value>,
}

#[derive(Default)]
struct Prices {
    verified: usize,
    times: Vec<f64>,
}

impl<'a> PriceClient<'a> {
    fn new(address: &str, goods: &'a [Value], key: &'a str) -> anyhow::Result<Self> {
        Ok(Self {
            client: Client::connect(address)?,
            key,
            products: goods[STORES..].iter(),
        })
    }

    fn prices(&mut self) -> anyhow::Result<Prices> {
        let mut prices = Prices::default();
        for product in self.products.by_ref().take(PRICES) {
            let id = product["product_id"].as_str().context("product_id")?;
            let began = Instant::now();
            self.client
                .ask_with(&format!("/v1/products/{id}/price"), &head(self.key))?;
            let (status, body) = self.client.answer()?;
            anyhow::ensure!(status == 200, "{status}: {}", String::from_utf8_lossy(body));
            prices.times.push(began.elapsed().as_secs_f64() * 1e3);
            let answer: Value = serde_json::from_slice(body)?;
            prices.verified += usize::from(answer["data"]["verified"] == true);
            std::thread::sleep(LOOK);
        }
        Ok(prices)
    }
}

fn address(server: &ServerProcess) -> anyhow::Result<&str> {
    server.document["address"].as_str().context("address")
}

fn ready(server: &ServerProcess) -> anyhow::Result<()> {
    let mut client = Client::connect(address(server)?)?;
    while client.get("/readyz")?.0 != 200 {
        std::thread::yield_now();
    }
    Ok(())
}
