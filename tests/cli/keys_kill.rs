//! Tests of servers that are killed with `kill -9` while keys are created, revoked and used. Acknowledged changes must
//! stay, and no change may be doubled or half applied.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

use crate::support::{Haat, ServerProcess};

/// Number of people who sign in and change their keys, each in a task of their own.
const PEOPLE: usize = 6;
/// Number of clients that use one key meanwhile.
const CLIENTS: usize = 4;
/// Number of kills on each database. `TEST_KILLS=all` tries more.
const KILLS: usize = 4;
const KILLS_ALL: usize = 60;
/// Number of acknowledged changes before a server is killed. Other changes are then running.
const CHANGES: usize = 12;
/// Maximum number of changes for each person, below the dashboard's limit per minute.
const CHANGES_EACH_MAX: usize = 25;

const MASTER_KEY: &str = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";

#[derive(Default)]
struct Ledger {
    made: BTreeMap<String, String>,
    revoked: BTreeSet<String>,
}

struct Market {
    haat: Haat,
    client: Client,
    runtime: tokio::runtime::Runtime,
    /// Session cookie of each person.
    people: Vec<String>,
    /// Key of the clients, and the number of requests with it, with or without a response.
    used: String,
    sent: AtomicU64,
    ledger: Mutex<Ledger>,
}

fn text(document: &Value, member: &str) -> String {
    document[member].as_str().unwrap().to_owned()
}

impl Market {
    fn open(database: Option<&str>) -> Self {
        let mut haat = Haat::new()
            .with("HAAT_ACCESS__USAGE_FLUSH_MS", "100")
            .with("HAAT_LIMITS__FREE__PER_SECOND", "0")
            .with("HAAT_LIMITS__FREE__PER_DAY", "0")
            .with("HAAT_DASHBOARD__KEYS_PER_ACCOUNT_MAX", "10000");
        if let Some(url) = database {
            haat = haat
                .with("HAAT_STATE__URL", url)
                .with("HAAT_STATE__MASTER_KEY", MASTER_KEY);
        }
        let used = text(&haat.run(&["keys", "create", "used"]).json(), "key");
        Self {
            haat,
            client: Client::new(),
            runtime: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap(),
            people: Vec::new(),
            used,
            sent: AtomicU64::new(0),
            ledger: Mutex::default(),
        }
    }

    fn serve(&self, command: &str) -> (ServerProcess, String) {
        let (serving, served) = self.haat.serve(&[command, "--listen", "127.0.0.1:0"]);
        (serving, text(&served, "address"))
    }

    fn sign_in(&mut self, base: &str) {
        for person in 0..PEOPLE {
            let link = self
                .haat
                .run(&["keys", "dashboard", "--account", &format!("person {person}")]);
            let link = text(&link.json(), "link");
            let body = json!({ "token": link.split_once('#').unwrap().1 });
            let (status, cookie) = self.runtime.block_on(async {
                let request = self.client.post(format!("{base}/dashboard/api/link"));
                let request = request.header("x-haat-dashboard", "1").header("origin", base);
                let request = request
                    .header("content-type", "application/json")
                    .body(body.to_string());
                let answer = request.send().await.unwrap();
                (answer.status(), answer.headers().get("set-cookie").cloned())
            });
            assert_eq!(status, 200);
            let cookie = cookie.unwrap().to_str().unwrap().to_owned();
            self.people.push(cookie.split(';').next().unwrap().to_owned());
        }
    }

    /// Creates or revokes a key of a person. Returns `None` if the server is gone.
    async fn change(&self, base: &str, person: usize, revoked: Option<&str>) -> Option<(StatusCode, Value)> {
        let path = format!("{base}/dashboard/api/keys");
        let request = match revoked {
            Some(id) => self.client.delete(format!("{path}/{id}")),
            None => {
                let body = json!({ "name": format!("key of {person}") });
                let request = self.client.post(path).body(body.to_string());
                request.header("content-type", "application/json")
            }
        };
        let request = request.header("x-haat-dashboard", "1").header("origin", base);
        let answer = request.header("cookie", &self.people[person]).send().await.ok()?;
        let status = answer.status();
        let body = answer.bytes().await.ok()?;
        Some((status, serde_json::from_slice(&body).ok()?))
    }

    /// Creates and revokes keys of a person until the server is gone.
    async fn person(&self, base: &str, person: usize) {
        for _ in 0..CHANGES_EACH_MAX / 2 {
            let Some((status, made)) = self.change(base, person, None).await else {
                return;
            };
            assert_eq!(status, 201, "{made}");
            let id = text(&made["data"], "id");
            let count = {
                let mut ledger = self.ledger.lock().unwrap();
                ledger.made.insert(id.clone(), text(&made["data"], "key"));
                ledger.made.len()
            };
            if count.is_multiple_of(2) {
                let Some((status, told)) = self.change(base, person, Some(&id)).await else {
                    return;
                };
                assert_eq!(status, 200, "{told}");
                self.ledger.lock().unwrap().revoked.insert(id);
            }
        }
    }

    /// Returns the response of `/v1/me` with this key, or `None` if the server is gone.
    async fn me(&self, base: &str, key: &str) -> Option<(StatusCode, Value)> {
        let request = self.client.get(format!("{base}/v1/me")).header("x-service-key", key);
        let answer = request.send().await.ok()?;
        let status = answer.status();
        let body = answer.bytes().await.ok()?;
        Some((status, serde_json::from_slice(&body).ok()?))
    }

    /// Returns the number of uses of the key according to the server.
    async fn used(&self, base: &str) -> Option<u64> {
        self.sent.fetch_add(1, Ordering::SeqCst);
        let (status, told) = self.me(base, &self.used).await?;
        assert_eq!(status, 200, "{told}");
        Some(told["data"]["usage_today"]["requests"].as_u64().unwrap())
    }

    /// Runs all people and clients until the server is killed. Returns the number of uses that the server `witness`,
    /// another server on the same state, stated just before.
    fn kill_under_load(&self, mut server: ServerProcess, base: &str, witness: &str) -> u64 {
        let before = self.changes();
        self.runtime.block_on(async {
            let people = futures::future::join_all((0..PEOPLE).map(|person| self.person(base, person)));
            let clients =
                futures::future::join_all((0..CLIENTS).map(async |_| while self.used(base).await.is_some() {}));
            let killer = async {
                let mut written = 0;
                // The other server knows the counts that the server has saved, not those in its memory.
                while self.changes() < before + CHANGES || written == 0 {
                    written = self.used(witness).await.unwrap();
                }
                server.child.kill().unwrap();
                server.child.wait().unwrap();
                written
            };
            tokio::join!(people, clients, killer).2
        })
    }

    fn changes(&self) -> usize {
        let ledger = self.ledger.lock().unwrap();
        ledger.made.len() + ledger.revoked.len()
    }

    /// Compares the data of a new server with the acknowledged changes.
    fn check(&self, base: &str, told: &str) {
        let ledger = self.ledger.lock().unwrap();
        for (id, key) in &ledger.made {
            let (status, body) = self.runtime.block_on(self.me(base, key)).unwrap();
            // A revocation that was not acknowledged may have happened.
            let is_revoked = ledger.revoked.contains(id);
            let listed = || self.listed().into_iter().find(|one| one["id"] == *id).unwrap();
            let holds = if is_revoked {
                status == 401
            } else {
                status == 200 || listed()["revoked_at"].is_string()
            };
            assert!(holds, "{told}: {id}, revoked: {is_revoked}: {status} {body}");
        }
        let mut actions: BTreeMap<(String, String), usize> = BTreeMap::new();
        let audit = self.haat.run(&["keys", "audit", "--limit", "100000"]).json();
        for event in audit["events"].as_array().unwrap() {
            let key = event["key"].as_str().unwrap_or_default().to_owned();
            *actions.entry((key, text(event, "action"))).or_default() += 1;
        }
        let times = |id: &str, action: &str| actions.get(&(id.to_owned(), action.to_owned())).copied();
        for id in ledger.made.keys() {
            assert_eq!(times(id, "key.created"), Some(1), "{told}: {id}");
        }
        for id in &ledger.revoked {
            assert_eq!(times(id, "key.revoked"), Some(1), "{told}: {id}");
        }
        // A change and its audit entry are stored together or not at all, even without an acknowledgement.
        let listed = self.listed();
        let audited = |action: &str| -> BTreeMap<String, usize> {
            let of_action = actions.iter().filter(|((_, known), _)| known == action);
            of_action.map(|((id, _), times)| (id.clone(), *times)).collect()
        };
        let once = |holds: fn(&Value) -> bool| -> BTreeMap<String, usize> {
            let ids = listed.iter().filter(|key| holds(key)).map(|key| text(key, "id"));
            ids.map(|id| (id, 1)).collect()
        };
        assert_eq!(audited("key.created"), once(|_| true), "{told}");
        assert_eq!(
            audited("key.revoked"),
            once(|key| key["revoked_at"].is_string()),
            "{told}"
        );
    }

    fn listed(&self) -> Vec<Value> {
        let listed = self.haat.run(&["keys", "list"]).json();
        listed["keys"].as_array().unwrap().clone()
    }
}

fn sweep(database: Option<&str>) {
    let mut market = Market::open(database);
    let (_witness, witness) = market.serve("query-server");
    let (mut server, mut base) = market.serve("up");
    market.sign_in(&base);
    let kills = if std::env::var_os("TEST_KILLS").is_some() {
        KILLS_ALL
    } else {
        KILLS
    };
    for kill in 0..kills {
        let told = format!("kill {kill}");
        let written = market.kill_under_load(server, &base, &witness);
        (server, base) = market.serve("up");
        market.check(&base, &told);
        // Saved counts stay, and nothing is counted twice. Counts that were only in the server's memory are lost.
        let after = market.runtime.block_on(market.used(&witness)).unwrap();
        let fresh = market.runtime.block_on(market.used(&base)).unwrap();
        let sent = market.sent.load(Ordering::SeqCst);
        assert!(
            written < after && after <= sent && fresh <= sent,
            "{told}: {written}, {after}, {fresh} of {sent}"
        );
    }
    let ledger = market.ledger.lock().unwrap();
    println!(
        "{kills} kills, {} keys made, {} revoked, {} requests",
        ledger.made.len(),
        ledger.revoked.len(),
        market.sent.load(Ordering::SeqCst)
    );
    assert!(ledger.made.len() + ledger.revoked.len() >= kills * CHANGES);
}

#[test]
fn what_was_acknowledged_of_keys_on_sqlite_outlives_kills_under_load() {
    sweep(None);
}

#[test]
fn what_was_acknowledged_of_keys_on_postgresql_outlives_kills_under_load() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    if let Some(url) = runtime.block_on(kit::postgres_database()) {
        sweep(Some(&url));
    }
}
