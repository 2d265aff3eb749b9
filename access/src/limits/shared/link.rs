//! Connection to the Valkey or Redis server, with automatic reconnection.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use futures::FutureExt;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Script, TlsCertificates};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::InvalidServer;
use crate::config::LimitsConfig;

/// Reply of the script, which documents the values.
pub(super) type Reply = (u8, u64, u32, u64, u64, u64);

/// Arguments of the script, which documents them.
#[derive(Debug)]
pub(super) struct Question {
    /// Names of the counters, each with its multiple of the limit. The caller's own counter is first.
    pub(super) tallies: Vec<(String, u32)>,
    pub(super) per_second: u32,
    pub(super) burst: u32,
    /// Maximum number of requests per day; 0 for no limit.
    pub(super) per_day: u64,
    /// Day in the market's time zone according to this process, then the start times of that day and the next two.
    pub(super) day: i64,
    pub(super) begins: [i64; 3],
    pub(super) what: TallyRequest,
    /// Microseconds since 1970; `None` uses the server's time.
    pub(super) moment: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TallyRequest {
    /// Returns the verdict on a request without counting it.
    Look,
    /// Counts a request.
    Take,
    /// Counts several requests that are already admitted.
    Owe(u32),
}

impl Question {
    /// Returns a request that is always allowed and that writes, to test the connection.
    fn probe() -> Self {
        Self {
            tallies: vec![("haat:limits:probe".to_owned(), 1)],
            per_second: 1_000,
            burst: 1_000_000,
            per_day: 0,
            day: 0,
            begins: [0; 3],
            what: TallyRequest::Take,
            moment: None,
        }
    }
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Delay before a new connection. The delay doubles each time that the attempt fails or the connection ends early.
const PAUSE: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// Minimum lifetime of a connection that counts as working.
const LASTED: Duration = Duration::from_secs(5);

const UP: &str = "limits_shared_up";

const PEM_CERTIFICATE: &[u8] = b"-----BEGIN CERTIFICATE-----";

#[derive(Debug, thiserror::Error)]
enum LinkError {
    #[error("it does not answer in time")]
    Slow,
    #[error("it refuses, or cannot be reached")]
    Refused(#[source] redis::RedisError),
    #[error("the program's TLS is not set up")]
    Tls,
}

/// Connection with a number that distinguishes it from earlier ones.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) redis: MultiplexedConnection,
    pub(super) number: u64,
}

/// The only connection for all requests, with the data for a new one.
pub(super) struct Link {
    client: Client,
    script: Script,
    answer_timeout: Duration,
    connection: RwLock<Option<Connection>>,
    lost: Notify,
}

impl Link {
    pub(super) fn new(config: &LimitsConfig, script: Script) -> Result<Self, InvalidServer> {
        metrics::describe_gauge!(UP, "1 if limits are counted in Valkey, 0 if in this process");
        metrics::gauge!(UP).set(0.0);
        Ok(Self {
            client: client(config)?,
            script,
            answer_timeout: Duration::from_millis(config.timeout_ms),
            connection: RwLock::new(None),
            lost: Notify::new(),
        })
    }

    pub(super) async fn ask(
        &self,
        connection: &mut MultiplexedConnection,
        question: &Question,
    ) -> redis::RedisResult<Reply> {
        let moment = question.moment.map(|moment| moment.to_string());
        let mut invocation = self.script.prepare_invoke();
        for (tally, _) in &question.tallies {
            invocation.key(tally.as_str());
        }
        invocation
            .arg(question.per_second)
            .arg(question.burst)
            .arg(question.per_day)
            .arg(match question.what {
                TallyRequest::Look => 0,
                TallyRequest::Take => 1,
                TallyRequest::Owe(requests) => -i64::from(requests),
            })
            .arg(moment.unwrap_or_default())
            .arg(question.day)
            .arg(&question.begins);
        for (_, times) in &question.tallies {
            invocation.arg(times);
        }
        invocation.invoke_async(connection).await
    }

    pub(super) fn connection(&self) -> Option<Connection> {
        let connection = self.connection.read().unwrap_or_else(PoisonError::into_inner);
        connection.clone()
    }

    /// Closes the given connection after a failure or timeout, unless it is already closed.
    pub(super) fn give_up(&self, number: u64) {
        let mut connection = self.connection.write().unwrap_or_else(PoisonError::into_inner);
        if connection.take_if(|connection| connection.number == number).is_some() {
            metrics::gauge!(UP).set(0.0);
            self.lost.notify_one();
        }
    }

    /// Opens the connection, and opens it again whenever it closes, until `stop` is cancelled.
    pub(super) async fn keep(&self, stop: CancellationToken) {
        let mut warned = false;
        let mut pause = PAUSE;
        for number in 0_u64.. {
            let made = tokio::select! {
                () = stop.cancelled() => return,
                made = self.connect() => made,
            };
            match made {
                Ok(redis) => {
                    let connection = Connection { redis, number };
                    *self.connection.write().unwrap_or_else(PoisonError::into_inner) = Some(connection);
                    metrics::gauge!(UP).set(1.0);
                    if std::mem::take(&mut warned) {
                        tracing::info!("limits are counted together with other servers again");
                    }
                    let since = Instant::now();
                    tokio::select! {
                        () = stop.cancelled() => return,
                        () = self.lost.notified() => {}
                    }
                    pause = if since.elapsed() < LASTED { pause * 2 } else { PAUSE };
                    warned = true;
                    tracing::warn!("limits.url does not answer: limits are counted in this process alone");
                }
                Err(why) => {
                    if !std::mem::replace(&mut warned, true) {
                        let why: &dyn std::error::Error = &why;
                        tracing::warn!(
                            error = why,
                            "limits.url cannot be used: limits are counted in this process alone"
                        );
                    }
                    pause *= 2;
                }
            }
            pause = pause.min(PAUSE_MAX);
            tokio::select! {
                () = stop.cancelled() => return,
                () = sleep(pause) => {}
            }
        }
    }

    /// Connects to Valkey and checks that the server knows the script, allows writes, and responds in time.
    async fn connect(&self) -> Result<MultiplexedConnection, LinkError> {
        // Each request has a timeout of its own.
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(None)
            .set_response_timeout(None);
        let making = async {
            let mut connection = self
                .client
                .get_multiplexed_async_connection_with_config(&config)
                .await?;
            self.script.load_async(&mut connection).await?;
            Ok(connection)
        };
        // rustls panics if the program has several cryptographic providers and chose none.
        let making = AssertUnwindSafe(timeout(CONNECT_TIMEOUT, making)).catch_unwind();
        let mut connection = making
            .await
            .map_err(|_| LinkError::Tls)?
            .map_err(|_| LinkError::Slow)?
            .map_err(LinkError::Refused)?;
        let probe = Question::probe();
        let answered = timeout(self.answer_timeout, self.ask(&mut connection, &probe));
        answered
            .await
            .map_err(|_| LinkError::Slow)?
            .map_err(LinkError::Refused)?;
        Ok(connection)
    }
}

/// Creates a client for the configured server. With `limits.ca_file`, only certificates from that file are trusted.
fn client(config: &LimitsConfig) -> Result<Client, InvalidServer> {
    let LimitsConfig { url, ca_file, .. } = config;
    let is_tls = url.starts_with("rediss://");
    if !is_tls && !url.starts_with("redis://") {
        return Err(InvalidServer::Url);
    }
    let plain = Client::open(url.as_str()).map_err(|_| InvalidServer::Url)?;
    if ca_file.is_empty() {
        return Ok(plain);
    }
    if !is_tls {
        return Err(InvalidServer::NoTls);
    }
    let pem = std::fs::read(ca_file).map_err(|error| InvalidServer::Unreadable(ca_file.clone(), error))?;
    let unusable = || InvalidServer::NoCertificate(ca_file.clone());
    // With an empty file no certificate would be trusted, which nobody intends.
    if !pem.windows(PEM_CERTIFICATE.len()).any(|part| part == PEM_CERTIFICATE) {
        return Err(unusable());
    }
    let certificates = TlsCertificates {
        client_tls: None,
        root_cert: Some(pem),
    };
    Client::build_with_tls(url.as_str(), certificates).map_err(|_| unusable())
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The output omits the client, which contains the password.
        let up = self.connection().is_some();
        f.debug_struct("Link").field("up", &up).finish_non_exhaustive()
    }
}
