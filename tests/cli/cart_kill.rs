//! Tests of servers that are killed with `kill -9` at any state-changing call and at any step in the life of a cart.
//! Acknowledged changes must stay, nothing may be doubled at a store, the cart must be readable at once after the
//! restart, and each repeated request must get its earlier response.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::kill::copy;
use crate::support::{Haat, ServerProcess, has_program};

/// System calls by which a server changes a database, or sends data to a store or a caller.
const CALLS: &[&str] = &["pwrite64", "fdatasync", "fsync", "sendto", "sendmsg", "writev"];

/// Number of kills on each database, spread evenly. `TEST_KILLS=all` tries every one.
const KILLS_SPREAD: usize = 8;

/// Maximum time to wait for another server's lease, which lasts six seconds.
const LEASE_MAX: Duration = Duration::from_secs(8);

const MASTER_KEY: &str = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";

/// The n-th call of one name in any thread, at which strace can kill the process.
type Call = (String, usize);

struct Step {
    method: Method,
    path: String,
    body: Option<Value>,
}

/// Variants and quantities, by brand.
type Pieces = BTreeMap<String, Vec<(String, u64)>>;

struct Server {
    serving: ServerProcess,
    base: String,
    is_traced: bool,
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.is_traced {
            // strace ends when its child ends. A kill of strace itself would leave the child running.
            let strace = self.serving.child.id();
            let children = std::fs::read_to_string(format!("/proc/{strace}/task/{strace}/children"));
            for child in children.unwrap_or_default().split_whitespace() {
                let _ = Command::new("kill").args(["-9", child]).status();
            }
            let _ = self.serving.child.wait();
        }
    }
}

/// Home whose server is killed, with a client that sends the steps.
struct Walk {
    haat: Haat,
    key: String,
    runtime: tokio::runtime::Runtime,
    client: reqwest::Client,
    server: Option<Server>,
    restarts: usize,
    /// Responses so far, in the order of the steps.
    answers: Vec<Value>,
}

impl Walk {
    fn open(before: &Haat, database: Option<&str>) -> Self {
        let mut haat = copy(before);
        if let Some(url) = database {
            haat = haat
                .with("HAAT_STATE__URL", url)
                .with("HAAT_STATE__MASTER_KEY", MASTER_KEY);
        }
        let made = haat.run(&["keys", "create", "asha", "--plan", "granted"]).json();
        Self {
            key: made["key"].as_str().unwrap().to_owned(),
            haat,
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap(),
            client: reqwest::Client::new(),
            server: None,
            restarts: 0,
            answers: Vec::new(),
        }
    }

    /// Sends a request to the server. Returns `None` if the server is gone.
    fn send(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Option<(StatusCode, u64, Value)> {
        let base = &self.server.as_ref()?.base;
        let mut request = self
            .client
            .request(method.clone(), format!("{base}{path}"))
            .header("x-service-key", &self.key);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        self.runtime.block_on(async {
            let answer = request.send().await.ok()?;
            let status = answer.status();
            let wait = answer
                .headers()
                .get("retry-after")
                .map(|wait| wait.to_str().unwrap().parse().unwrap());
            let body = answer.bytes().await.ok()?;
            Some((
                status,
                wait.unwrap_or_default(),
                serde_json::from_slice(&body).unwrap_or(Value::Null),
            ))
        })
    }

    /// Starts a server in place of the killed one, and first checks that the cart can be read.
    fn restart(&mut self, told: &str) {
        self.server = None;
        let (serving, served) = self.haat.serve(&["up", "--listen", "127.0.0.1:0"]);
        self.restarts += 1;
        self.server = Some(Server {
            serving,
            base: served["address"].as_str().unwrap().to_owned(),
            is_traced: false,
        });
        let Some(cart) = self.answers.first() else { return };
        let path = format!("/v1/cart/{}", cart["data"]["cart_id"].as_str().unwrap());
        let (status, _, body) = self.send(&Method::GET, &path, None, None).unwrap();
        assert_eq!(status, 200, "{told}: a cart is read at once: {body}");
    }

    fn take(&mut self, nth: usize, step: &Step, (is_shared, told): (bool, &str)) {
        let key = format!("step-{nth}");
        let mut waited = Duration::ZERO;
        loop {
            let Some((status, wait_s, body)) = self.send(&step.method, &step.path, step.body.as_ref(), Some(&key))
            else {
                self.restart(told);
                continue;
            };
            if status == 200 {
                self.answers.push(body);
                return;
            }
            // The lease belongs to a killed server. With a shared database, other servers cannot know that it is gone.
            let is_held = matches!(status.as_u16(), 409 | 503) && is_shared && wait_s > 0;
            assert!(is_held && waited < LEASE_MAX, "{told}, step {nth}: {status} {body}");
            let wait = Duration::from_secs(wait_s);
            std::thread::sleep(wait);
            waited += wait;
        }
    }
}

/// Returns the variants and quantities in a cart, by brand.
fn pieces(cart: &Value) -> Pieces {
    let mut pieces = Pieces::new();
    for group in cart["groups"].as_array().unwrap() {
        let lines = group["lines"].as_array().unwrap().iter();
        let mut of_brand: Vec<_> = lines
            .map(|line| {
                (
                    line["variant_id"].as_str().unwrap().to_owned(),
                    line["qty"].as_u64().unwrap(),
                )
            })
            .collect();
        of_brand.sort();
        pieces.insert(group["brand_slug"].as_str().unwrap().to_owned(), of_brand);
    }
    pieces
}

/// Returns the content of a cart that must not depend on how it was created.
fn told(cart: &Value) -> Value {
    let mut groups: Vec<_> = cart["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| {
            json!([
                group["brand_slug"],
                group["verified"],
                group["total_minor"],
                group["delivery_options"].as_array().unwrap().len(),
                group["discount_codes"],
            ])
        })
        .collect();
    groups.sort_by_key(ToString::to_string);
    json!([groups, cart["totals"], cart["problems"]])
}

/// Returns the steps: the first creates the cart, and the others change it.
fn steps(items: &[Value], cart: Option<&Value>) -> Vec<Step> {
    let cart = cart.map(|cart| cart["data"].clone()).unwrap_or_default();
    let below = |below: &str| format!("/v1/cart/{}{below}", cart["cart_id"].as_str().unwrap_or_default());
    let line = &cart["groups"][0]["lines"][0]["line_id"];
    let line = below(&format!("/lines/{}", line.as_str().unwrap_or_default()));
    let step = |method, path, body| Step { method, path, body };
    vec![
        step(
            Method::POST,
            "/v1/cart".to_owned(),
            Some(json!({ "items": &items[..2] })),
        ),
        step(Method::POST, below("/lines"), Some(json!({ "items": &items[2..] }))),
        step(Method::PATCH, line, Some(json!({ "qty": 3 }))),
        step(Method::POST, below("/discount"), Some(json!({ "code": "NOPE" }))),
        step(
            Method::POST,
            below("/address"),
            Some(json!({ "zip": "560001", "province": "KA" })),
        ),
        step(Method::DELETE, below("/discount/NOPE"), None),
        step(
            Method::POST,
            "/v1/checkout".to_owned(),
            Some(json!({ "cart_id": cart["cart_id"] })),
        ),
    ]
}

/// Returns four variants for sale, two from each of two stores, alternating.
fn items(haat: &Haat) -> Vec<Value> {
    let rows = haat.sql(
        "select p.store, p.product_id, min(v.variant_id) variant_id from products p join variants v \
         on v.product_id = p.product_id where v.available group by 1, 2 order by 1, 2",
    );
    let mut by_store: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for row in rows {
        let item = json!({ "product_id": row["product_id"], "variant_id": row["variant_id"].to_string().trim_matches('"'), "qty": 1 });
        by_store.entry(row["store"].to_string()).or_default().push(item);
    }
    let mut stores = by_store.into_values().filter(|items| items.len() >= 2);
    let (one, other) = (stores.next().unwrap(), stores.next().unwrap());
    [&one[0], &other[0], &one[1], &other[1]].map(Clone::clone).to_vec()
}

/// Returns how often each thread has made each call so far.
fn counts(trace: &Path) -> BTreeMap<(String, String), usize> {
    let text = std::fs::read_to_string(trace).unwrap_or_default();
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        // A line has the format `12345 fsync(7) = 0`.
        let Some((thread, rest)) = line.split_once(' ') else {
            continue;
        };
        let Some((name, _)) = rest.trim_start().split_once('(') else {
            continue;
        };
        if CALLS.contains(&name) {
            *counts.entry((thread.to_owned(), name.to_owned())).or_default() += 1;
        }
    }
    counts
}

/// Starts a server under strace, which kills it at `inject`. Returns `None` if it was killed before it served.
fn traced(haat: &Haat, inject: Option<&Call>) -> Option<Server> {
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq", "-o"])
        .arg(haat.path().join("trace"))
        .args(["-e", &format!("trace=?{}", CALLS.join(",?"))]);
    if let Some((name, nth)) = inject {
        strace.args(["-e", &format!("inject={name}:signal=KILL:when={nth}")]);
    }
    let up = haat.command(&["up", "--listen", "127.0.0.1:0"]);
    strace
        .arg(up.get_program())
        .args(up.get_args())
        .current_dir(haat.path());
    strace.envs(up.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = strace.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let served = serde_json::from_str::<Value>(&line);
    let base = served.ok().map(|served| served["address"].as_str().unwrap().to_owned());
    let server = Server {
        serving: ServerProcess { child },
        is_traced: true,
        base: base.clone().unwrap_or_default(),
    };
    base.map(|_| server)
}

/// Runs all steps with a kill at `inject`, and checks the result.
fn walk(walk: &mut Walk, items: &[Value], inject: Option<&Call>, is_shared: bool) -> (Value, Pieces) {
    let place = format!("killed at call {inject:?}");
    walk.server = traced(&walk.haat, inject);
    for nth in 0..steps(items, None).len() {
        let step = steps(items, walk.answers.first()).remove(nth);
        walk.take(nth, &step, (is_shared, &place));
    }
    let path = format!("/v1/cart/{}", walk.answers[0]["data"]["cart_id"].as_str().unwrap());
    let read = loop {
        match walk.send(&Method::GET, &path, None, None) {
            Some((status, _, body)) => {
                assert_eq!(status, 200, "{place}: {body}");
                break body["data"].clone();
            }
            None => walk.restart(&place),
        }
    };
    // A repeated request gets the same response from any server.
    for (nth, answer) in walk.answers.iter().enumerate() {
        let step = steps(items, walk.answers.first()).remove(nth);
        let key = format!("step-{nth}");
        let again = walk.send(&step.method, &step.path, step.body.as_ref(), Some(&key));
        let Some((status, _, body)) = again else { break };
        assert_eq!((status.as_u16(), &body), (200, answer), "{place}, step {nth}");
    }
    (told(&read), pieces(&read))
}

fn sweep(database: impl Fn() -> Option<String>) {
    let before = Haat::new();
    let (_stores, _) = before.with_stores(&["--products", "24", "--stores", "2", "--seed", "9"]);
    before.run(&["crawl", "--release"]).json();
    let items = items(&before);

    // An undisturbed run gives the expected result and the list of calls.
    let url = database();
    let is_shared = url.is_some();
    let mut whole = Walk::open(&before, url.as_deref());
    let trace = whole.haat.path().join("trace");
    drop(traced(&whole.haat, None).unwrap());
    let at_start = counts(&trace);
    let expected = walk(&mut whole, &items, None, is_shared);
    assert_eq!(expected.1.values().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(whole.restarts, 0);
    whole.server = None;
    let most = |counts: BTreeMap<(String, String), usize>, name: &str| {
        let of_name = counts.into_iter().filter(|((_, known), _)| known == name);
        of_name.map(|(_, count)| count).max().unwrap_or_default()
    };
    let mut calls: BTreeSet<Call> = BTreeSet::new();
    for name in CALLS {
        // Calls up to these numbers belong to the start of the server.
        let from = most(at_start.clone(), name).min(most(counts(&trace), name).saturating_sub(1));
        calls.extend((from + 1..=most(counts(&trace), name)).map(|nth| ((*name).to_owned(), nth)));
    }
    assert!(calls.len() > KILLS_SPREAD, "{calls:?}");

    let step = match std::env::var_os("TEST_KILLS") {
        Some(_) => 1,
        None => calls.len().div_ceil(KILLS_SPREAD),
    };
    let mut killed = 0;
    for call in calls.iter().step_by(step) {
        let mut again = Walk::open(&before, database().as_deref());
        assert_eq!(
            walk(&mut again, &items, Some(call), is_shared),
            expected,
            "killed at call {call:?}"
        );
        killed += usize::from(again.restarts > 0);
    }
    // A call may be in another thread in each run, so some kills do not happen.
    println!("{killed} kills at {} calls", calls.len());
    assert!(killed * 2 > calls.len().div_ceil(step), "{killed} of {calls:?}");
}

#[test]
fn a_cart_on_sqlite_outlives_a_kill_at_any_step() {
    if has_program("strace", &["-qq", "-e", "trace=none", "true"]) {
        sweep(|| None);
    }
}

#[test]
fn a_cart_on_postgresql_outlives_a_kill_at_any_step() {
    if !has_program("strace", &["-qq", "-e", "trace=none", "true"]) {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let database = || runtime.block_on(kit::postgres_database());
    if database().is_some() {
        sweep(database);
    }
}
