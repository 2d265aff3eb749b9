//! Tests of the counting and writing of keys' usage.

use std::future::Future;
use std::sync::Arc;

use access::{AccessConfig, UsageMeter};
use api::{Allowance, Caller, KnownCaller, Meter};
use data_model::Clock;
use kit::SetClock;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use state::{Day, KeyId, Plan, State, StateTarget};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::support::{EVENING, INDIA, create, memory, session, until, with_allowance};

const OFTEN_MS: u64 = 2;
const NEVER_MS: u64 = 3_600_000;

struct Office {
    clock: Arc<SetClock>,
    meter: Arc<UsageMeter>,
    stop: CancellationToken,
    writer: JoinHandle<()>,
}

impl Office {
    fn open(state: &State, usage_flush_ms: u64) -> Self {
        let clock = SetClock::at(EVENING);
        let as_clock: Arc<dyn Clock> = Arc::<SetClock>::clone(&clock);
        let config = AccessConfig {
            usage_flush_ms,
            ..AccessConfig::default()
        };
        let stop = CancellationToken::new();
        let (meter, writing) = UsageMeter::start(state.clone(), as_clock, INDIA, &config, stop.clone());
        Self {
            clock,
            meter,
            stop,
            writer: tokio::spawn(writing),
        }
    }

    fn ask(&self, key: &KeyId, route: &str, times: usize) {
        let caller = caller(key);
        for _ in 0..times {
            self.meter.count(&caller, route);
        }
    }

    async fn end(self) {
        self.stop.cancel();
        self.writer.await.unwrap();
    }
}

fn caller(key: &KeyId) -> Arc<KnownCaller> {
    match with_allowance(key.as_str(), &Arc::new(Allowance::unlimited())) {
        Caller::Known(known) => known,
        Caller::Anonymous(_) => panic!("a holder of a key is known"),
    }
}

/// Returns day, route and requests as stored in the state.
async fn written(state: &State, key: &KeyId) -> Vec<String> {
    let today = Day::of(EVENING.parse().unwrap(), INDIA);
    let usage = state.usage_of_key(key, today, today.plus(9)).await.unwrap();
    let rows = usage
        .iter()
        .map(|row| format!("{} {} {}", row.day, row.route, row.requests));
    rows.collect()
}

async fn a_key(state: &State) -> KeyId {
    create(state, "App", Plan::Free, None).await.record.id
}

#[tokio::test]
async fn counts_are_written_now_and_then_by_key_day_and_route() {
    let state = memory().await;
    let (one, two) = (a_key(&state).await, a_key(&state).await);
    let office = Office::open(&state, OFTEN_MS);
    office.ask(&one, "/v1/search", 3);
    office.ask(&one, "/v1/browse", 1);
    office.ask(&two, "/v1/search", 2);
    until("written", async || {
        written(&state, &two).await == ["2026-11-23 /v1/search 2"]
    })
    .await;
    // The market's next day has begun half an hour later.
    office.clock.advance_ms(1_799_999);
    office.ask(&one, "/v1/search", 1);
    office.clock.advance_ms(1);
    office.ask(&one, "/v1/search", 5);
    let expected = [
        "2026-11-23 /v1/browse 1",
        "2026-11-23 /v1/search 4",
        "2026-11-24 /v1/search 5",
    ];
    until("written", async || written(&state, &one).await == expected).await;
    let last = state.key(&one).await.unwrap().unwrap().last_used_on.unwrap();
    assert_eq!(last.to_string(), "2026-11-24");
}

#[tokio::test]
async fn sessions_are_not_counted() {
    let state = memory().await;
    let office = Office::open(&state, NEVER_MS);
    let plans = access::Plans::of(&access::LimitsConfig::default()).unwrap();
    let Caller::Known(signed_in) = session("acc_1", &plans) else {
        panic!("known")
    };
    office.meter.count(&signed_in, "/v1/search");
    office.end().await;
    let today = Day::of(EVENING.parse().unwrap(), INDIA);
    assert_eq!(state.usage_on(today).await.unwrap(), []);
}

#[tokio::test]
async fn a_graceful_stop_loses_nothing() {
    let state = memory().await;
    let key = a_key(&state).await;
    let office = Office::open(&state, NEVER_MS);
    office.ask(&key, "/v1/search", 1_234);
    assert_eq!(written(&state, &key).await, [""; 0]);
    office.end().await;
    assert_eq!(written(&state, &key).await, ["2026-11-23 /v1/search 1234"]);
}

#[test]
fn counts_of_many_threads_are_all_written_while_others_are_being_written() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let state = memory().await;
        let keys = [a_key(&state).await, a_key(&state).await, a_key(&state).await];
        let office = Office::open(&state, OFTEN_MS);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..3_000 {
                        keys.iter().for_each(|key| office.ask(key, "/v1/search", 1));
                    }
                });
            }
        });
        office.end().await;
        for key in &keys {
            assert_eq!(written(&state, key).await, ["2026-11-23 /v1/search 12000"]);
        }
    });
}

fn recorded() -> (metrics::LocalRecorderGuard<'static>, PrometheusHandle) {
    let recorder = Box::leak(Box::new(PrometheusBuilder::new().build_recorder()));
    let handle = recorder.handle();
    (metrics::set_default_local_recorder(recorder), handle)
}

fn metric(handle: &PrometheusHandle, name: &str) -> u64 {
    let text = handle.render();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap().parse().unwrap()
}

/// Runs a test with a state on disk, and with direct access to its tables.
async fn on_disk<F: Future<Output = ()>>(test: impl FnOnce(State, sqlx::SqlitePool) -> F) {
    let folder = tempfile::tempdir().unwrap();
    let state = State::open(&StateTarget::Folder(folder.path().to_owned()))
        .await
        .unwrap();
    let file = folder.path().join("state.sqlite3");
    let behind = sqlx::SqlitePool::connect(&format!("sqlite://{}", file.display()))
        .await
        .unwrap();
    test(state, behind.clone()).await;
    behind.close().await;
}

#[tokio::test]
async fn what_cannot_be_written_is_kept_and_counts_once_when_it_can() {
    let (_recorder, handle) = recorded();
    on_disk(async |state, behind| {
        let key = a_key(&state).await;
        let office = Office::open(&state, OFTEN_MS);
        let change = async |sql: &'static str| sqlx::query(sql).execute(&behind).await.unwrap();
        change("ALTER TABLE usage RENAME TO usage_away").await;
        office.ask(&key, "/v1/search", 5);
        until("sent again and again", async || {
            metric(&handle, "usage_write_failures_total") >= 3
        })
        .await;
        // Requests that arrive during the write are counted too.
        office.ask(&key, "/v1/search", 2);
        office.ask(&key, "/v1/browse", 1);
        change("ALTER TABLE usage_away RENAME TO usage").await;
        let expected = ["2026-11-23 /v1/browse 1", "2026-11-23 /v1/search 7"];
        until("written", async || written(&state, &key).await == expected).await;
        office.end().await;
        assert_eq!(written(&state, &key).await, expected);
        assert_eq!(metric(&handle, "usage_written_total"), 8);
        assert_eq!(metric(&handle, "usage_lost_total"), 0);
    })
    .await;
}

#[tokio::test]
async fn while_the_state_stays_away_counts_are_bounded_and_what_is_lost_is_told() {
    let (_recorder, handle) = recorded();
    let state = memory().await;
    let office = Office::open(&state, NEVER_MS);
    let routes: Vec<String> = (0..50).map(|number| format!("/v1/{number}")).collect();
    for number in 0..5_000 {
        let key: KeyId = format!("key_{number:012}").parse().unwrap();
        for route in &routes {
            office.ask(&key, route, 1);
        }
    }
    assert_eq!(metric(&handle, "usage_lost_total"), 5_000 * 50 - 200_000);
    // A key that already has a count is still counted.
    office.ask(&"key_000000000000".parse().unwrap(), "/v1/0", 7);
    assert_eq!(metric(&handle, "usage_lost_total"), 5_000 * 50 - 200_000);
}
