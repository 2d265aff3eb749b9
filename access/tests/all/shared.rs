//! Tests of limits that several servers share.

use std::future::Future;
use std::io::Write;
use std::sync::{Arc, Mutex};

use access::{InvalidServer, LimitsConfig, LocalLimits, Plans, SharedLimits};
use api::{Caller, Limit, Outcome};
use data_model::Clock;
use kit::SetClock;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use state::Plan;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::limits::{Rig, of_1000_exactly_as_many_pass_as_may};
use crate::redis_server::{self, Server};
use crate::support::{EVENING, INDIA, all, holder, limits, nobody, there, until};

/// Returns a configuration with a long timeout, because these tests need no slow server.
pub(crate) fn at(url: String, config: &LimitsConfig) -> LimitsConfig {
    LimitsConfig {
        url,
        timeout_ms: 5_000,
        ..config.clone()
    }
}

/// Creates the limits of one program in the server of `config`.
pub(crate) fn program(config: &LimitsConfig, clock: Option<&Arc<SetClock>>) -> (SharedLimits, DropGuard) {
    let plans = Plans::of(config).unwrap();
    let clock = clock.map(|clock| {
        let clock: Arc<dyn Clock> = Arc::<SetClock>::clone(clock);
        clock
    });
    let own: Arc<dyn Clock> = SetClock::at(EVENING);
    let local = LocalLimits::new(plans, config.addresses_max, INDIA, clock.clone().unwrap_or(own));
    let stop = CancellationToken::new();
    let (limits, keeping) = SharedLimits::start_by(config, local, clock, stop.clone()).unwrap();
    tokio::spawn(keeping);
    (limits, stop.drop_guard())
}

pub(crate) async fn is_up(limits: &SharedLimits) {
    until("the server is used", async || limits.is_up()).await;
}

pub(crate) async fn rig(config: &LimitsConfig) -> Option<Rig> {
    let config = at(redis_server::database()?, config);
    let clock = SetClock::at(EVENING);
    let (limits, guard) = program(&config, Some(&clock));
    // The connection stays open until the test's runtime ends.
    guard.disarm();
    is_up(&limits).await;
    Some(Rig {
        limits: Arc::new(limits),
        clock,
        plans: Plans::of(&config).unwrap(),
    })
}

fn two_programs<F: Future<Output = ()>>(config: &LimitsConfig, test: impl FnOnce(Rig, Arc<dyn Limit>) -> F) {
    let Some(url) = redis_server::database() else { return };
    let config = at(url, config);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let clock = SetClock::at(EVENING);
        let (one, _one) = program(&config, Some(&clock));
        let (other, _other) = program(&config, Some(&clock));
        is_up(&one).await;
        is_up(&other).await;
        let rig = Rig {
            limits: Arc::new(one),
            clock,
            plans: Plans::of(&config).unwrap(),
        };
        test(rig, Arc::new(other)).await;
    });
}

#[test]
fn of_1000_parallel_requests_over_two_servers_exactly_the_burst_passes() {
    two_programs(&all(limits(5, 137, 0)), async |one, other| {
        of_1000_exactly_as_many_pass_as_may(&one, &other, 137).await;
    });
}

#[test]
fn of_1000_parallel_requests_over_two_servers_exactly_the_days_limit_passes() {
    two_programs(&all(limits(1_000, 5_000, 41)), async |one, other| {
        of_1000_exactly_as_many_pass_as_may(&one, &other, 41).await;
    });
}

#[test]
fn what_one_server_let_pass_the_other_knows() {
    two_programs(&all(limits(1, 3, 5)), async |one, other| {
        let caller = holder("key_1", &one.plans);
        one.admit(&caller).await;
        one.admit(&caller).await;
        let looked = there(other.look(&caller)).await;
        assert_eq!((looked.remaining, looked.today.unwrap().0), (Some(1), 3));
        assert_eq!(there(other.admit(&caller)).await.outcome, Outcome::Allowed);
        assert!(matches!(one.admit(&caller).await.outcome, Outcome::TooFast(_)));
    });
}

#[tokio::test]
async fn by_its_own_clock_the_server_counts_and_forgets() {
    let Some(url) = redis_server::database() else { return };
    let config = at(url, &all(limits(20, 2, 0)));
    let (limits, _guard) = program(&config, None);
    is_up(&limits).await;
    let caller = nobody("2001:db8::1");
    // One request becomes available every 50 milliseconds. The third one is refused at once, and a later one passes.
    until("too fast", async || {
        there(limits.admit(&caller)).await.outcome != Outcome::Allowed
    })
    .await;
    until("slow enough", async || {
        there(limits.admit(&caller)).await.outcome == Outcome::Allowed
    })
    .await;
    let mut connection = redis::Client::open(config.url.as_str())
        .unwrap()
        .get_multiplexed_async_connection()
        .await
        .unwrap();
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
    let own = "haat:limits:network:2001:db8::/64";
    // Two keys belong to the networks around the caller. The last key is that of the programs, to test that they may
    // write.
    assert_eq!(keys.len(), 4, "{keys:?}");
    assert!(keys.iter().any(|key| key == own), "{keys:?}");
    let left: i64 = redis::cmd("PTTL").arg(own).query_async(&mut connection).await.unwrap();
    assert!((1..=10_200).contains(&left), "{left}");
}

fn recorded() -> (metrics::LocalRecorderGuard<'static>, PrometheusHandle) {
    let recorder = Box::leak(Box::new(PrometheusBuilder::new().build_recorder()));
    let handle = recorder.handle();
    (metrics::set_default_local_recorder(recorder), handle)
}

fn lines(handle: &PrometheusHandle) -> Vec<String> {
    let text = handle.render();
    let own = text.lines().filter(|line| line.starts_with("limits_"));
    own.map(str::to_owned).collect()
}

/// Returns the number of requests of one caller until a refusal.
pub(crate) async fn passed(limits: &SharedLimits, caller: &Caller) -> u32 {
    let mut passed = 0;
    while there(limits.admit(caller)).await.outcome == Outcome::Allowed {
        passed += 1;
    }
    passed
}

#[tokio::test]
async fn a_server_that_is_killed_is_done_without_and_used_again_when_it_is_back() {
    let (_recorder, handle) = recorded();
    let Some(mut server) = Server::start(None) else { return };
    let config = at(server.url(), &all(limits(1, 10, 0)));
    let clock = SetClock::at(EVENING);
    let (limits, _guard) = program(&config, Some(&clock));
    is_up(&limits).await;
    assert_eq!(passed(&limits, &nobody("192.0.2.1")).await, 10);
    assert!(lines(&handle).contains(&"limits_shared_up 1".to_owned()));
    assert!(lines(&handle).contains(&"limits_fallback_total 0".to_owned()));

    server.kill();
    // Without Valkey, this process counts alone. The first requests are admitted, and the limit still applies.
    let caller = nobody("192.0.2.2");
    assert_eq!(passed(&limits, &caller).await, 10);
    assert!(!limits.is_up());
    assert!(matches!(there(limits.look(&caller)).await.outcome, Outcome::TooFast(_)));
    assert!(lines(&handle).contains(&"limits_shared_up 0".to_owned()));
    assert!(lines(&handle).contains(&"limits_fallback_total 11".to_owned()));

    server.restart();
    is_up(&limits).await;
    assert!(lines(&handle).contains(&"limits_shared_up 1".to_owned()));
    assert_eq!(passed(&limits, &caller).await, 10);
    assert!(lines(&handle).contains(&"limits_fallback_total 11".to_owned()));
}

#[tokio::test]
async fn a_server_that_hangs_costs_its_time_limit_and_no_more() {
    let (_recorder, handle) = recorded();
    let Some(server) = Server::start(None) else { return };
    let config = LimitsConfig {
        timeout_ms: 5_000,
        ..at(server.url(), &all(limits(1, 10, 0)))
    };
    let clock = SetClock::at(EVENING);
    let (limits, _guard) = program(&config, Some(&clock));
    is_up(&limits).await;
    server.signal("STOP");
    let caller = nobody("192.0.2.1");
    until("the server is given up", async || {
        there(limits.look(&caller)).await;
        !limits.is_up()
    })
    .await;
    assert_eq!(passed(&limits, &caller).await, 10);
    assert!(
        lines(&handle).contains(&"limits_fallback_total 11".to_owned()),
        "{:?}",
        lines(&handle)
    );
    server.signal("CONT");
    is_up(&limits).await;
    assert_eq!(passed(&limits, &caller).await, 10);
}

#[tokio::test]
async fn a_server_that_may_not_write_is_done_without_until_it_may() {
    let Some(server) = Server::start(None) else { return };
    let config = at(server.url(), &all(limits(1, 5, 0)));
    let (log, _logging) = Log::here();
    let (limits, _guard) = program(&config, Some(&SetClock::at(EVENING)));
    is_up(&limits).await;
    let client = redis::Client::open(config.url.as_str()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut replica_of = async |host: &str, port: &str| {
        let mut command = redis::cmd("REPLICAOF");
        command.arg(host).arg(port);
        command.query_async::<()>(&mut connection).await.unwrap();
    };
    let before = log.text().len();
    let since = || log.text()[before..].to_owned();
    replica_of("127.0.0.1", "1").await;
    assert_eq!(passed(&limits, &nobody("192.0.2.1")).await, 5);
    until("told", async || since().contains("does not answer")).await;
    assert!(!limits.is_up());
    replica_of("NO", "ONE").await;
    is_up(&limits).await;
    assert_eq!(passed(&limits, &nobody("192.0.2.2")).await, 5);
    assert_eq!(since().matches("WARN").count(), 1, "{}", since());
}

#[tokio::test]
async fn a_script_that_the_server_forgot_is_sent_again() {
    let Some(mut server) = Server::start(None) else { return };
    let config = at(server.url(), &all(limits(1, 3, 0)));
    let (limits, _guard) = program(&config, Some(&SetClock::at(EVENING)));
    is_up(&limits).await;
    let client = redis::Client::open(config.url.as_str()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    redis::cmd("SCRIPT")
        .arg("FLUSH")
        .query_async::<()>(&mut connection)
        .await
        .unwrap();
    assert_eq!(passed(&limits, &nobody("192.0.2.1")).await, 3);
    assert!(limits.is_up());
    server.kill();
}

#[tokio::test]
async fn a_server_that_asks_for_a_password_gets_it_and_nobody_else_does() {
    let Some(server) = Server::start(Some("planted-password")) else {
        return;
    };
    let config = at(server.url(), &all(limits(1, 3, 0)));
    let (limits, _guard) = program(&config, None);
    is_up(&limits).await;
    let shown = format!("{limits:?} {config:?}");
    assert!(!shown.contains("planted"), "{shown}");
    assert!(shown.contains("up: true"), "{shown}");
}

/// Log lines of the current thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    pub(crate) fn here() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let written = log.clone();
        let logging = tracing_subscriber::fmt().with_writer(move || written.clone()).finish();
        (log, tracing::subscriber::set_default(logging))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

#[tokio::test]
async fn a_password_that_the_server_refuses_stands_in_no_log() {
    let Some(mut server) = Server::start(Some("another-password")) else {
        return;
    };
    let url = server.url().replace("another", "planted");
    let (log, _logging) = Log::here();
    let (limits, _guard) = program(&at(url, &all(limits(1, 3, 0))), None);
    until("told", async || log.text().contains("limits.url cannot be used")).await;
    server.kill();
    let shown = format!("{} {limits:?}", log.text());
    assert!(!shown.contains("planted") && !shown.contains("another"), "{shown}");
}

#[tokio::test]
async fn a_server_that_is_tried_again_and_again_is_warned_of_once() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    let (log, _logging) = Log::here();
    let (limits, _guard) = program(&at(url, &all(limits(1, 3, 0))), None);
    for _ in 0..4 {
        // The test closes the connection.
        listener.accept().await.unwrap();
    }
    assert_eq!(log.text().matches("WARN").count(), 1, "{}", log.text());
    assert!(!limits.is_up());
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_done_without_where_tls_is_asked_for() {
    let Some(server) = Server::start(None) else { return };
    let url = server.url().replace("redis://", "rediss://");
    let (log, _logging) = Log::here();
    let (limits, _guard) = program(&at(url, &all(limits(1, 3, 0))), None);
    until("told", async || log.text().contains("limits.url cannot be used")).await;
    assert!(!limits.is_up());
    assert_eq!(passed(&limits, &nobody("192.0.2.1")).await, 3);
}

#[test]
fn an_address_that_is_none_is_refused_without_being_shown() {
    let clock: Arc<dyn Clock> = SetClock::noon();
    for url in [
        "",
        "localhost:6379",
        "http://:planted@localhost",
        "redis://:planted@",
        "redis://:planted@localhost/database",
        "unix:///run/planted.sock",
    ] {
        let config = LimitsConfig {
            url: url.to_owned(),
            ..LimitsConfig::default()
        };
        let local = LocalLimits::new(Plans::of(&config).unwrap(), 1_000, INDIA, Arc::clone(&clock));
        let refused = SharedLimits::start(&config, local, CancellationToken::new());
        let refused = refused.map(|_| ()).unwrap_err();
        assert!(matches!(refused, InvalidServer::Url), "{url}: {refused}");
        assert!(!refused.to_string().contains("planted"));
    }
}

#[tokio::test]
async fn a_server_that_was_never_there_is_waited_for_by_nobody() {
    let Some(mut server) = Server::start(None) else { return };
    server.kill();
    let config = at(server.url(), &LimitsConfig::default());
    let (limits, _guard) = program(&config, Some(&SetClock::at(EVENING)));
    assert_eq!(passed(&limits, &nobody("192.0.2.1")).await, 20);
    let granted = Plans::of(&config).unwrap();
    let granted = crate::support::with_allowance("key_granted", granted.of_plan(Plan::Granted));
    assert_eq!(there(limits.admit(&granted)).await, api::Verdict::UNLIMITED);
    server.restart();
    is_up(&limits).await;
}
