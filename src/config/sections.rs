use access::{AccessConfig, LimitsConfig};
use agents_discover::DiscoverConfig;
use agents_mcp::McpConfig;
use clap::ValueEnum;
use dashboard::DashboardConfig;
use data_model::{CurrencyCode, TimeZone};
use data_observations::ObservationsConfig;
use jobs::{JobsConfig, QueueConfig};
use live_gateway::coupons::CouponsConfig;
use live_gateway::{CartConfig, GatewayConfig};
use pipeline_probe::ProbeConfig;
use pipeline_quality::QualityConfig;
use pipeline_refresh::RefreshConfig;
use pipeline_reviews::ReviewsConfig;
use pipeline_shipping::ShippingConfig;
use serde::{Deserialize, Serialize};
use sql::SqlConfig;
use storefront::StorefrontConfig;
use watches::WatchesConfig;

use crate::listen::ListenAddress;

/// Whole configuration. Every key has a default, and unknown keys are refused by name.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// Folder or `s3://bucket/prefix` that contains all data.
    pub(crate) home: String,
    /// Currency in which prices are filtered and sorted when a request names none.
    pub(crate) market_currency: CurrencyCode,
    /// Time zone of the market for the days of delivery, limits and schedules.
    pub(crate) market_time_zone: TimeZone,
    /// URL at which browsers and clients reach the servers. If empty, it is the listen address, on this machine only.
    pub(crate) public_url: String,
    pub(crate) s3: S3,
    pub(crate) api: Api,
    #[serde(default)]
    pub(crate) access: AccessConfig,
    #[serde(default)]
    pub(crate) limits: LimitsConfig,
    #[serde(default)]
    pub(crate) dashboard: DashboardConfig,
    /// Settings of discovery, which finds products for sentences.
    #[serde(default)]
    pub(crate) discover: DiscoverConfig,
    #[serde(default)]
    pub(crate) storefront: StorefrontConfig,
    /// Limits on delivery questions to stores.
    #[serde(default)]
    pub(crate) delivery: ProbeConfig,
    /// Settings for reading shipping terms.
    #[serde(default)]
    pub(crate) shipping: ShippingConfig,
    /// Settings of a run and of its crawl.
    #[serde(default)]
    pub(crate) refresh: RefreshConfig,
    pub(crate) landing: Landing,
    pub(crate) lake: Lake,
    #[serde(default)]
    pub(crate) jobs: JobsConfig,
    /// Settings of `haat worker` and its queue.
    #[serde(default)]
    pub(crate) queue: QueueConfig,
    pub(crate) release: Release,
    /// Thresholds of data quality beyond which a release is held back.
    #[serde(default)]
    pub(crate) quality: QualityConfig,
    /// URLs of review apps, and the limits on requests to them.
    #[serde(default)]
    pub(crate) reviews: ReviewsConfig,
    pub(crate) embedding: Embedding,
    pub(crate) query_server: QueryServer,
    pub(crate) live_gateway: LiveGateway,
    #[serde(default)]
    pub(crate) mcp: McpConfig,
    #[serde(default)]
    pub(crate) sql: SqlConfig,
    pub(crate) state: State,
    #[serde(default)]
    pub(crate) watches: WatchesConfig,
    pub(crate) log: Log,
    pub(crate) traces: Traces,
    pub(crate) doctor: Doctor,
    pub(crate) metrics: Metrics,
}

/// Settings shared by all servers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Api {
    /// Origins whose pages may send requests with a key, separated by commas. Pages of any origin may read stored data.
    pub(crate) cors_origins: String,
    /// True to show adult categories among categories and suggestions.
    pub(crate) adult: bool,
}

/// Access to an S3-compatible store. An empty text means that the key is not set.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct S3 {
    pub(crate) endpoint: String,
    pub(crate) region: String,
    pub(crate) access_key_id: String,
    pub(crate) secret_access_key: String,
    pub(crate) allow_http: bool,
    /// Seconds for which a request is retried while the object store does not respond.
    pub(crate) retry_timeout_s: u64,
    /// True to use the machine's own role. Only then is the instance metadata service queried.
    pub(crate) instance_role: bool,
}

/// Settings of landed pages, the pages as stores sent them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Landing {
    /// Number of days for which landed pages are kept.
    pub(crate) keep_days: u32,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lake {
    pub(crate) buckets: u32,
    pub(crate) retention_hours: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Release {
    /// Number of releases that `haat release gc` keeps.
    pub(crate) keep: usize,
    /// Minimum age in seconds at which unneeded files are removed. A running build may be about to publish younger
    /// ones.
    pub(crate) gc_min_age_s: u64,
    /// Minimum share of the previous release's products. A release with fewer products is not published.
    pub(crate) collapse_share: f64,
}

/// Text embedder for builds and queries.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Embedding {
    pub(crate) embedder: EmbedderChoice,
    /// Folder with a model in the format of sentence-transformers, for `embedder = "transformer"`.
    pub(crate) transformer: String,
    pub(crate) endpoint: Endpoint,
}

/// Server with OpenAI's embeddings API, for `embedder = "endpoint"`. An empty text means that the key is not set.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Endpoint {
    /// Base URL of the API, to which `embeddings` is appended.
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) api_key: String,
    /// Number of dimensions of the model's vectors.
    pub(crate) dimensions: usize,
    /// True to send the number of dimensions as `dimensions`.
    pub(crate) shorten: bool,
    /// True to allow plain `http` to another machine.
    pub(crate) allow_http: bool,
    /// Maximum time for a query's vector, in milliseconds. A slower query is searched by words only.
    pub(crate) query_timeout_ms: u64,
    /// Maximum time for the vectors of 64 products, in milliseconds.
    pub(crate) documents_timeout_ms: u64,
}

/// The kind of embedder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EmbedderChoice {
    /// The table that is built into the program.
    Table,
    /// A model that runs in this process, read from a folder.
    Transformer,
    /// A model that another server runs.
    Endpoint,
    /// No embedder: releases are built without vectors, and searches use only words.
    None,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueryServer {
    pub(crate) listen: ListenAddress,
    /// Address of a separate listener for product lookups by gateways; empty means none.
    pub(crate) internal_listen: String,
    /// Address of a separate listener for probes and metrics; empty means none.
    pub(crate) ops_listen: String,
    /// True to serve `/metrics` at any address of `listen`.
    pub(crate) metrics_public: bool,
    pub(crate) connections_per_address_max: usize,
    /// Addresses and networks of trusted proxies, separated by commas. Trusted proxies are exempt from the connection
    /// limit.
    pub(crate) trusted_proxies: String,
    /// Header in which proxies name their client.
    pub(crate) forwarded_header: api::ForwardedHeader,
    /// Folder for fetched release files; empty means `cache` in the home folder.
    pub(crate) cache: String,
    /// Interval between checks for a newer release, in milliseconds.
    pub(crate) poll_ms: u64,
    pub(crate) request_timeout_ms: u64,
    /// Maximum time until the body of a request has arrived, in milliseconds.
    pub(crate) body_timeout_ms: u64,
    /// Maximum number of request bodies that arrive concurrently, in total and per caller or network.
    pub(crate) bodies_max: usize,
    pub(crate) bodies_per_client_max: usize,
    /// Maximum number of concurrent requests. Others get a 503.
    pub(crate) concurrency_max: usize,
    pub(crate) drain_ms: u64,
    /// Time in milliseconds for which requests are still accepted after the stop signal, while `/readyz` makes proxies
    /// leave.
    pub(crate) leave_ms: u64,
    /// Secret that signs cursors, which servers behind one address must share. If empty, each process creates its own.
    pub(crate) cursor_secret: String,
    /// File of additional synonyms; empty means only the built-in ones.
    pub(crate) synonyms: String,
    /// File of movable holidays; empty means none.
    pub(crate) holidays: String,
    /// True to count the words of searches by day.
    pub(crate) count_searches: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LiveGateway {
    /// Address of `haat live-gateway`. `haat up` uses the query server's address instead.
    pub(crate) listen: ListenAddress,
    /// URL of the query server's internal listener, which tells the gateway the stores of products.
    pub(crate) catalogue: String,
    #[serde(default)]
    pub(crate) ask: GatewayConfig,
    #[serde(default)]
    pub(crate) carts: CartConfig,
    #[serde(default)]
    pub(crate) coupons: CouponsConfig,
    /// True to store the live responses of stores for the price history.
    pub(crate) observe: bool,
    #[serde(default)]
    pub(crate) observations: ObservationsConfig,
}

/// State of servers: API keys, usage and audit. An empty text means that the key is not set.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    /// URL of a PostgreSQL server. If empty, SQLite under a local home is used.
    pub(crate) url: String,
    /// Master keys, separated by commas, the current one first. The keys for stored secrets are derived from them. If
    /// empty, a key file beside SQLite is created and used.
    pub(crate) master_key: String,
}

/// The interface used for live requests to a store: the values of [`live_gateway::Way`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum WayChoice {
    Auto,
    Graphql,
    Js,
}

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Log {
    pub(crate) filter: String,
    pub(crate) format: LogFormat,
}

/// Collector of trace spans, if any.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Traces {
    /// Base URL of an OTLP collector that accepts HTTP with protobuf. If empty, no traces are sent.
    pub(crate) endpoint: String,
    /// Spans to send, as a `tracing` filter.
    pub(crate) filter: String,
    /// Share of traces to record if the caller has not decided.
    pub(crate) sample_share: f64,
}

/// Thresholds of `haat doctor`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Doctor {
    /// Age in seconds after which a brand without a crawl is reported.
    pub(crate) check_age_s_max: u64,
}

/// Target for the metrics of a short command.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Metrics {
    /// File that a crawl writes at its end for the textfile collector of Prometheus. If empty, none is written.
    pub(crate) textfile: String,
}

impl Traces {
    /// Returns the settings of the trace exporter, or `None` without a collector.
    pub(crate) fn collector(&self) -> Option<api::TraceConfig> {
        (!self.endpoint.is_empty()).then(|| api::TraceConfig {
            endpoint: self.endpoint.clone(),
            filter: self.filter.clone(),
            sample_share: self.sample_share,
            service: "haat".into(),
        })
    }
}

impl Config {
    /// Returns the built-in values: those of `defaults.toml`, and those of other crates' sections from their types.
    pub(crate) fn defaults() -> anyhow::Result<Self> {
        let text = config::File::from_str(include_str!("defaults.toml"), config::FileFormat::Toml);
        Ok(config::Config::builder().add_source(text).build()?.try_deserialize()?)
    }
}
