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

/// The whole configuration. Every key has a default; unknown keys are refused by name.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// Folder or `s3://bucket/prefix` under which everything is kept.
    pub(crate) home: String,
    /// Currency in which prices are filtered and sorted when a request names none.
    pub(crate) market_currency: CurrencyCode,
    /// The market's time zone: delivery, limits and schedules count by its days.
    pub(crate) market_time_zone: TimeZone,
    /// The address under which browsers and clients reach the servers; empty: where they listen, on this machine alone.
    pub(crate) public_url: String,
    pub(crate) s3: S3,
    pub(crate) api: Api,
    pub(crate) access: AccessConfig,
    pub(crate) limits: LimitsConfig,
    pub(crate) dashboard: DashboardConfig,
    /// The way from sentences to products.
    pub(crate) discover: DiscoverConfig,
    /// The way of talking to stores.
    pub(crate) storefront: StorefrontConfig,
    /// The limits on questions about delivery.
    pub(crate) delivery: ProbeConfig,
    /// The reading of shipping terms.
    pub(crate) shipping: ShippingConfig,
    /// Settings of a run, and the bounds of its crawl.
    pub(crate) refresh: RefreshConfig,
    pub(crate) landing: Landing,
    pub(crate) lake: Lake,
    /// Settings and schedules of jobs.
    pub(crate) jobs: JobsConfig,
    /// Settings of `haat worker` and its queue.
    pub(crate) queue: QueueConfig,
    pub(crate) release: Release,
    /// When the quality of the data holds a release back.
    pub(crate) quality: QualityConfig,
    /// The addresses of review apps, and the limits on questions to them.
    pub(crate) reviews: ReviewsConfig,
    pub(crate) embedding: Embedding,
    pub(crate) query_server: QueryServer,
    pub(crate) live_gateway: LiveGateway,
    /// Settings of the endpoint for agents.
    pub(crate) mcp: McpConfig,
    /// Statements of analysts.
    pub(crate) sql: SqlConfig,
    pub(crate) state: State,
    /// Watches of callers.
    pub(crate) watches: WatchesConfig,
    pub(crate) log: Log,
    pub(crate) traces: Traces,
    pub(crate) doctor: Doctor,
    pub(crate) metrics: Metrics,
}

/// Settings that all servers share.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Api {
    /// Origins whose pages may ask with a key, separated by commas; stored data is for pages of any origin.
    pub(crate) cors_origins: String,
    /// True where adult categories are among categories and suggestions.
    pub(crate) adult: bool,
}

/// The way to an S3-compatible store; empty text means "not set".
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct S3 {
    pub(crate) endpoint: String,
    pub(crate) region: String,
    pub(crate) access_key_id: String,
    pub(crate) secret_access_key: String,
    pub(crate) allow_http: bool,
    /// The time for which a request is tried again while the store does not answer.
    pub(crate) retry_timeout_s: u64,
    /// True where the machine's own role gives the key; the instance metadata service is asked only then.
    pub(crate) instance_role: bool,
}

/// Settings of landed pages: the pages as stores sent them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Landing {
    /// The number of days.
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
    /// Releases kept by `haat release gc`.
    pub(crate) keep: usize,
    /// Seconds for which files that no kept release needs are left alone: a build may be about to publish them.
    pub(crate) gc_min_age_s: u64,
    /// A release with less than this share of the products of the one before is not published.
    pub(crate) collapse_share: f64,
}

/// The embedder of texts, for builds and for queries alike.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Embedding {
    pub(crate) embedder: EmbedderChoice,
    /// Folder of a model as sentence-transformers writes it, for `embedder = "transformer"`.
    pub(crate) transformer: String,
    pub(crate) endpoint: Endpoint,
}

/// A server that speaks OpenAI's embeddings API, for `embedder = "endpoint"`; empty text means "not set".
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Endpoint {
    /// The API's base, to which `embeddings` is added.
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) api_key: String,
    /// Components of the model's vectors.
    pub(crate) dimensions: usize,
    /// True where the model is asked for that many.
    pub(crate) shorten: bool,
    /// Plain `http` may be spoken to another machine.
    pub(crate) allow_http: bool,
    /// Longest time for a query's vector; the search then goes on by words alone.
    pub(crate) query_timeout_ms: u64,
    /// Longest time for the vectors of 64 products.
    pub(crate) documents_timeout_ms: u64,
}

/// The kind of embedder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EmbedderChoice {
    /// The table that is part of the program.
    Table,
    /// A model that runs in this process, read from a folder.
    Transformer,
    /// A model that another server runs.
    Endpoint,
    /// None: releases are built without vectors, and searched by words alone.
    None,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueryServer {
    pub(crate) listen: ListenAddress,
    /// Address of a listener for gateways alone, which look products up there; empty means none.
    pub(crate) internal_listen: String,
    /// Address of a second listener, for probes and metrics alone; empty means none.
    pub(crate) ops_listen: String,
    /// True where `listen` answers `/metrics` wherever it listens.
    pub(crate) metrics_public: bool,
    /// Most connections of one client address.
    pub(crate) connections_per_address_max: usize,
    /// Addresses and networks of proxies, which have no such bound; separated by commas.
    pub(crate) trusted_proxies: String,
    /// The header in which they say whom they forward for.
    pub(crate) forwarded_header: api::ForwardedHeader,
    /// Folder for fetched release files; empty means `cache` beside the home folder's other parts.
    pub(crate) cache: String,
    /// The interval between looks for a newer release.
    pub(crate) poll_ms: u64,
    pub(crate) request_timeout_ms: u64,
    /// Longest time in which the body of a request must have arrived.
    pub(crate) body_timeout_ms: u64,
    /// Most bodies of requests that arrive at the same time, and most of them of one caller or network.
    pub(crate) bodies_max: usize,
    pub(crate) bodies_per_client_max: usize,
    /// Requests answered at the same time; more are refused with 503.
    pub(crate) concurrency_max: usize,
    pub(crate) drain_ms: u64,
    /// The time for which requests are still taken once the server is told to stop, while `/readyz` sends proxies away.
    pub(crate) leave_ms: u64,
    /// Signs cursors; servers behind one address share it. Empty: every process has its own.
    pub(crate) cursor_secret: String,
    /// File of further synonyms, beside those that ship; empty means none.
    pub(crate) synonyms: String,
    /// File of movable holidays; empty means none.
    pub(crate) holidays: String,
    /// True where the words of searches are counted by day.
    pub(crate) count_searches: bool,
}

/// Settings of live questions to stores.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LiveGateway {
    /// Address of `haat live-gateway`; `haat up` serves on that of the query server.
    pub(crate) listen: ListenAddress,
    /// The internal listener of the query server that says which store sells what.
    pub(crate) catalogue: String,
    /// Rules of asking.
    pub(crate) ask: GatewayConfig,
    /// Carts, checkouts and customers' accounts.
    pub(crate) carts: CartConfig,
    /// Discount codes.
    pub(crate) coupons: CouponsConfig,
    /// True where the live answers of stores are kept for the price history.
    pub(crate) observe: bool,
    /// The way in which they are kept.
    pub(crate) observations: ObservationsConfig,
}

/// The state of servers: API keys, usage, audit; empty text means "not set".
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    /// Address of a PostgreSQL server; empty: SQLite under a local home.
    pub(crate) url: String,
    /// Keys from which those of secrets at rest are derived, the current one first, separated by commas; empty: a key in a
    /// file beside SQLite, made once.
    pub(crate) master_key: String,
}

/// The interface of a store that is asked live: the values of [`live_gateway::Way`].
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

/// The collector of spans; none by default.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Traces {
    /// Base URL of an OTLP collector that takes HTTP with protobuf; empty: no traces.
    pub(crate) endpoint: String,
    /// The spans to send, as a `tracing` filter.
    pub(crate) filter: String,
    /// Share of traces that are recorded, where the caller has not decided.
    pub(crate) sample_share: f64,
}

/// When `haat doctor` speaks up.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Doctor {
    /// Seconds after which a brand that no crawl asked is one to look at.
    pub(crate) check_age_s_max: u64,
}

/// The place where a short command leaves its metrics.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Metrics {
    /// File that a crawl writes at its end, for the textfile collector of Prometheus; empty: none.
    pub(crate) textfile: String,
}

impl Traces {
    /// The settings of the trace exporter; `None` when there is no collector.
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
    /// The configuration without any settings.
    pub(crate) fn defaults() -> anyhow::Result<Self> {
        Ok(Self {
            home: "haat-home".into(),
            market_currency: "INR".parse()?,
            market_time_zone: TimeZone::INDIA,
            public_url: String::new(),
            api: Api {
                cors_origins: String::new(),
                adult: false,
            },
            access: AccessConfig::default(),
            limits: LimitsConfig::default(),
            dashboard: DashboardConfig::default(),
            discover: DiscoverConfig::default(),
            s3: S3 {
                endpoint: String::new(),
                region: "us-east-1".into(),
                access_key_id: String::new(),
                secret_access_key: String::new(),
                allow_http: false,
                retry_timeout_s: 75,
                instance_role: false,
            },
            storefront: StorefrontConfig::default(),
            delivery: ProbeConfig::default(),
            shipping: ShippingConfig::default(),
            refresh: RefreshConfig::default(),
            jobs: JobsConfig::default(),
            landing: Landing {
                keep_days: RefreshConfig::default().crawl.landing_keep_days,
            },
            queue: QueueConfig::default(),
            lake: Lake {
                buckets: 64,
                retention_hours: 168,
            },
            release: Release {
                keep: 5,
                gc_min_age_s: 86_400,
                collapse_share: 0.5,
            },
            quality: QualityConfig::default(),
            reviews: ReviewsConfig::default(),
            embedding: Embedding::defaults(),
            query_server: QueryServer::defaults()?,
            live_gateway: LiveGateway::defaults()?,
            mcp: McpConfig::default(),
            sql: SqlConfig::default(),
            state: State {
                url: String::new(),
                master_key: String::new(),
            },
            watches: WatchesConfig::default(),
            log: Log {
                filter: "warn,haat=info,jobs=info,query_server=info,live_gateway=info".into(),
                format: LogFormat::Text,
            },
            traces: Traces {
                endpoint: String::new(),
                filter: "info".into(),
                sample_share: 1.0,
            },
            doctor: Doctor {
                check_age_s_max: 172_800,
            },
            metrics: Metrics {
                textfile: String::new(),
            },
        })
    }
}

impl Embedding {
    fn defaults() -> Self {
        Self {
            embedder: EmbedderChoice::Table,
            transformer: String::new(),
            endpoint: Endpoint {
                url: String::new(),
                model: String::new(),
                api_key: String::new(),
                dimensions: 384,
                shorten: false,
                allow_http: false,
                query_timeout_ms: 1_000,
                documents_timeout_ms: 60_000,
            },
        }
    }
}

impl QueryServer {
    fn defaults() -> anyhow::Result<Self> {
        Ok(Self {
            listen: "127.0.0.1:8080".parse().map_err(anyhow::Error::msg)?,
            internal_listen: String::new(),
            ops_listen: String::new(),
            metrics_public: false,
            connections_per_address_max: 1024,
            trusted_proxies: "127.0.0.0/8, ::1".into(),
            forwarded_header: api::ForwardedHeader::default(),
            cache: String::new(),
            poll_ms: 1_000,
            request_timeout_ms: 10_000,
            body_timeout_ms: 5_000,
            bodies_max: 512,
            bodies_per_client_max: 64,
            concurrency_max: 512,
            drain_ms: 10_000,
            leave_ms: 0,
            cursor_secret: String::new(),
            synonyms: String::new(),
            holidays: String::new(),
            count_searches: true,
        })
    }
}

impl LiveGateway {
    fn defaults() -> anyhow::Result<Self> {
        Ok(Self {
            listen: "127.0.0.1:8081".parse().map_err(anyhow::Error::msg)?,
            catalogue: "http://127.0.0.1:8082".into(),
            ask: GatewayConfig::default(),
            carts: CartConfig::default(),
            coupons: CouponsConfig::default(),
            observe: true,
            observations: ObservationsConfig::default(),
        })
    }
}
