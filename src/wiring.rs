//! Conversion of the configuration to the crates' own types.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::Context as _;
use data_embedders::{Endpoint, EndpointConfig};
use data_embedding::Embedder;
use data_lake::{Lake, LakeConfig, LakeError};
use data_model::{Clock, Secret};
use data_release::ReleaseStore;
use data_searches::SearchLog;
use data_storage::{S3Options, Storage, StorageError, StorageOptions};
use futures::StreamExt;
use pipeline_reviews::Widgets;
use pipeline_shipping::TermsModel;
use pipeline_task::StoreDeps;
use query_server::{CursorKey, Holidays, QueryConfig, QueryServer, Synonyms};
use storefront::{Storefront, StorefrontConfig};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use url::Url;

use crate::clock::SystemClock;
use crate::config::{Config, EmbedderChoice};
use crate::exit::usage;
use crate::home_folder::url_of;
use crate::output::Output;

async fn is_empty(storage: &Storage) -> bool {
    storage.store().list(None).next().await.is_none()
}

/// Shared dependencies that every command receives.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) config: Config,
    pub(crate) output: Output,
    pub(crate) quiet: bool,
    pub(crate) clock: Arc<dyn Clock>,
    /// True if `home` is the default, which neither file, environment nor flag changes.
    pub(crate) home_is_default: bool,
    /// True if the command only reads. Then an absent lake is empty and is not created.
    pub(crate) only_reads: bool,
    /// Temporary home for the case that none is configured. The folder is removed when its last owner is dropped, after
    /// the runtime ends, because tasks may write to it until then.
    pub(crate) scratch: Arc<OnceLock<TempDir>>,
}

impl Context {
    pub(crate) fn new(config: Config, output: Output, quiet: bool, home_is_default: bool) -> Self {
        Self {
            config,
            output,
            quiet,
            clock: Arc::new(SystemClock),
            home_is_default,
            only_reads: false,
            scratch: Arc::default(),
        }
    }

    /// Opens the storage that `home` names. A path is a local folder, which is created if absent.
    pub(crate) fn storage_new(&self) -> anyhow::Result<Storage> {
        self.storage_at("home", &self.config.home)
    }

    /// Like [`Context::storage_at`]. In a dry run, an absent folder counts as empty and is not created.
    pub(crate) fn storage_at_unless_dry(&self, what: &str, place: &str, dry_run: bool) -> anyhow::Result<Storage> {
        let is_absent = crate::home_folder::folder_of(place).is_some_and(|folder| !folder.exists());
        if dry_run && is_absent {
            return Ok(Storage::memory());
        }
        self.storage_at(what, place)
    }

    /// Opens the storage of backups. Only the owner may read new files in a local folder.
    pub(crate) fn backups_at(&self, place: &str) -> anyhow::Result<Storage> {
        match crate::home_folder::folder_of(place) {
            Some(folder) if !place.trim().is_empty() => {
                Storage::private(&folder).with_context(|| format!("backups {place}"))
            }
            _ => self.storage_at("backups", place),
        }
    }

    /// Opens the storage at a path or URL; `what` is its name in error messages.
    pub(crate) fn storage_at(&self, what: &str, home: &str) -> anyhow::Result<Storage> {
        if home.trim().is_empty() {
            return Err(usage(anyhow::anyhow!(
                "{what} is empty: set it to a folder, file:// or s3://bucket/prefix"
            )));
        }
        if home.starts_with("memory:") {
            return Err(usage(anyhow::anyhow!(
                "home {home}: a home in memory is lost when the command ends; name a folder, file:// or \
                 s3://bucket/prefix (`haat demo` creates a home of its own and removes it)"
            )));
        }
        if let Some((scheme, _)) = home.split_once("://")
            && !matches!(scheme, "file" | "s3")
        {
            return Err(usage(anyhow::anyhow!(
                "{what} {home}: must be a folder, file:// or s3://bucket/prefix, not {scheme}://"
            )));
        }
        let opened = match url_of(home) {
            Some(url) => {
                let retry_timeout = Duration::from_secs(self.config.s3.retry_timeout_s);
                Storage::open_retrying(&url, &self.storage_options(), retry_timeout)
            }
            None => Storage::from_path(std::path::Path::new(home)),
        };
        let is_configured = |error: &StorageError| {
            // These errors are the machine's fault, and all others come from the configuration.
            !matches!(error, StorageError::CreateDirectory { .. } | StorageError::Open { .. })
        };
        opened.map_err(|error| {
            let configured = is_configured(&error);
            let error = anyhow::Error::new(error).context(format!("{what} {home}"));
            if configured { usage(error) } else { error }
        })
    }

    fn storage_options(&self) -> StorageOptions {
        let s3 = &self.config.s3;
        let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        StorageOptions {
            s3: S3Options {
                endpoint: given(&s3.endpoint),
                region: given(&s3.region),
                access_key_id: given(&s3.access_key_id),
                secret: given(&s3.secret_access_key).map(Secret::new),
                allow_http: s3.allow_http,
                instance_role: s3.instance_role,
            },
        }
    }

    /// Returns the fault of the configured user agent. The default names the program's makers instead of the operator.
    /// Emulated stores may get the default.
    pub(crate) fn unnamed_crawler(&self) -> Option<&'static str> {
        let given = &self.config.storefront;
        let own = given.user_agent != StorefrontConfig::default().user_agent;
        (!own && !given.allow_loopback).then_some(
            "stores cannot contact you: storefront.user_agent names somebody else; set it to your own, such as \
             \"haat/0.0 (+https://market.example/bot; bots@market.example)\"",
        )
    }

    pub(crate) fn storefront(&self) -> anyhow::Result<Storefront> {
        Storefront::new(self.config.storefront.clone(), Arc::clone(&self.clock)).context("storefront")
    }

    /// Creates the dependencies of a task over the stores of a home, for a process that alone queries these stores.
    pub(crate) async fn store_deps(&self, storage: &Storage) -> anyhow::Result<StoreDeps> {
        let (lake, clock) = (self.lake_in(storage).await?, Arc::clone(&self.clock));
        Ok(StoreDeps::new(storage.clone(), lake, self.storefront()?, clock))
    }

    pub(crate) fn widgets(&self) -> anyhow::Result<Widgets> {
        let config = &self.config;
        let made = Widgets::new(config.reviews.clone(), &config.storefront, Arc::clone(&self.clock));
        made.map_err(|error| usage(error.into()))
    }

    /// Opens the lake under `storage`. If the lake is absent and the command only reads, the lake is empty.
    pub(crate) async fn lake_in(&self, storage: &Storage) -> anyhow::Result<Lake> {
        let config = self.lake_config();
        let mut at = storage.child("lake");
        if self.only_reads && is_empty(&at).await {
            at = Storage::memory();
        }
        let opened = Lake::open(at, config, Arc::clone(&self.clock)).await;
        opened.map_err(|error| match error {
            LakeError::Buckets { .. } | LakeError::BucketsUnknown { .. } => {
                usage(anyhow::Error::new(error).context("lake.buckets"))
            }
            error => anyhow::Error::new(error).context("lake"),
        })
    }

    pub(crate) async fn lake_if_any(&self, storage: &Storage) -> anyhow::Result<Option<Lake>> {
        if is_empty(&storage.child("lake")).await {
            return Ok(None);
        }
        self.lake_in(storage).await.map(Some)
    }

    pub(crate) fn lake_config(&self) -> LakeConfig {
        LakeConfig {
            buckets: self.config.lake.buckets,
            ..LakeConfig::default()
        }
    }

    pub(crate) async fn lake(&self) -> anyhow::Result<Lake> {
        self.lake_in(&self.storage()?).await
    }

    pub(crate) fn releases(&self, storage: &Storage) -> ReleaseStore {
        ReleaseStore::new(storage.child("releases"), Arc::clone(&self.clock))
    }

    /// Creates a query server over the releases under `storage`. With a log, it counts searched words.
    pub(crate) fn query_server(&self, storage: &Storage, search_log: Option<SearchLog>) -> anyhow::Result<QueryServer> {
        let given = &self.config.query_server;
        let cache = self.cache_dir(storage);
        // A cache inside a home must not create the home, because an absent folder is a mistake for a server.
        if let Some(home) = storage.local_dir().filter(|home| cache.starts_with(home))
            && !home.is_dir()
        {
            return Err(usage(anyhow::anyhow!("home {} does not exist", self.config.home)));
        }
        std::fs::create_dir_all(&cache).with_context(|| {
            format!(
                "cache folder {} for release files (query_server.cache)",
                cache.display()
            )
        })?;
        let defaults = QueryConfig::new(self.config.market_currency);
        let secret = Some(given.cursor_secret.as_str()).filter(|secret| !secret.is_empty());
        let config = QueryConfig {
            market_time_zone: self.config.market_time_zone,
            poll_ms: given.poll_ms,
            checks: Some(storage.clone()),
            synonyms: self.synonyms()?,
            holidays: Arc::new(self.holidays()?),
            embedder: self.embedder()?,
            adult: self.config.api.adult,
            public_url: self.config.public_url.clone(),
            search_log,
            reads: Some(Arc::new(engine::EngineReads)),
            cursor_key: secret.map_or(defaults.cursor_key.clone(), CursorKey::from_secret),
            edge: api::EdgeConfig {
                timeout_ms: given.request_timeout_ms,
                in_flight_max: given.concurrency_max,
                body_timeout_ms: given.body_timeout_ms,
                bodies_max: given.bodies_max,
                bodies_per_client_max: given.bodies_per_client_max,
                ..api::EdgeConfig::default()
            },
            ..defaults
        };
        Ok(QueryServer::new(
            self.releases(storage),
            self.cache_dir(storage),
            Arc::clone(&self.clock),
            config,
        ))
    }

    /// Returns the built-in synonyms and those in the operator's file.
    pub(crate) fn synonyms(&self) -> anyhow::Result<Synonyms> {
        let path = &self.config.query_server.synonyms;
        if path.is_empty() {
            return Ok(Synonyms::shipped());
        }
        let file = std::fs::read_to_string(path).with_context(|| path.clone())?;
        Synonyms::with_operators(&file).with_context(|| path.clone())
    }

    pub(crate) fn holidays(&self) -> anyhow::Result<Holidays> {
        let path = &self.config.query_server.holidays;
        if path.is_empty() {
            return Ok(Holidays::default());
        }
        let key = || format!("query_server.holidays: {path}");
        let file = std::fs::read_to_string(path).with_context(key)?;
        Holidays::read(&file).with_context(key)
    }

    /// Creates the configured embedder of products and queries. Must be called within the runtime that will query an
    /// endpoint.
    pub(crate) fn embedder(&self) -> anyhow::Result<Option<Arc<dyn Embedder>>> {
        let given = &self.config.embedding;
        match given.embedder {
            EmbedderChoice::Table => data_embedding::shipped()
                .map(Some)
                .context("the embedding table in the program is damaged"),
            EmbedderChoice::Transformer if given.transformer.is_empty() => Err(usage(anyhow::anyhow!(
                "embedding.transformer is not set; it must name the folder of a model"
            ))),
            #[cfg(feature = "transformer")]
            EmbedderChoice::Transformer => {
                let transformer = data_embedders::Transformer::open(std::path::Path::new(&given.transformer));
                Ok(Some(Arc::new(transformer.context("embedding.transformer")?)))
            }
            #[cfg(not(feature = "transformer"))]
            EmbedderChoice::Transformer => Err(usage(anyhow::anyhow!(
                "embedding.embedder is \"transformer\", but this program was built without it: build it with \
                 `--features transformer`, or use \"table\" or \"endpoint\""
            ))),
            EmbedderChoice::Endpoint => Ok(Some(Arc::new(self.endpoint()?))),
            EmbedderChoice::None => Ok(None),
        }
    }

    /// Creates the language model for shipping terms that the rules cannot interpret, if one is configured.
    pub(crate) fn terms_model(&self) -> anyhow::Result<Option<Arc<TermsModel>>> {
        let model = TermsModel::of(&self.config.shipping).map_err(|error| usage(error.into()))?;
        Ok(model.map(Arc::new))
    }

    fn endpoint(&self) -> anyhow::Result<Endpoint> {
        let given = &self.config.embedding.endpoint;
        let url = Url::parse(&given.url).with_context(|| format!("embedding.endpoint.url {:?}", given.url));
        let config = EndpointConfig {
            url: url.map_err(usage)?,
            model: given.model.clone(),
            api_key: Some(&given.api_key).filter(|key| !key.is_empty()).map(Secret::new),
            dimensions: given.dimensions,
            shorten: given.shorten,
            allow_http: given.allow_http,
            query_timeout_ms: given.query_timeout_ms,
            documents_timeout_ms: given.documents_timeout_ms,
        };
        Endpoint::new(config, tokio::runtime::Handle::current()).map_err(|error| usage(error.into()))
    }

    /// Returns the limits for connections of servers.
    pub(crate) fn server_config(&self) -> anyhow::Result<api::ServerConfig> {
        let given = &self.config.query_server;
        Ok(api::ServerConfig {
            drain_ms: given.drain_ms,
            connections_per_address_max: given.connections_per_address_max,
            trusted_proxies: given.trusted_proxies.parse().context("query_server.trusted_proxies")?,
            ..api::ServerConfig::default()
        })
    }

    /// Returns the folder in which releases are built before they are published.
    pub(crate) fn build_dir(&self, storage: &Storage) -> PathBuf {
        self.cache_dir(storage).join("build")
    }

    /// Returns the cache folder for release files: the configured one, else one beside a local home, else one in the
    /// working directory.
    pub(crate) fn cache_dir(&self, storage: &Storage) -> PathBuf {
        match (self.config.query_server.cache.as_str(), storage.local_dir()) {
            ("", Some(dir)) => dir.join("cache"),
            // Each home has a cache of its own, because garbage collection knows only one home's releases.
            ("", None) => PathBuf::from("haat-cache").join(folder_of(&self.config.home)),
            (path, _) => PathBuf::from(path),
        }
    }
}

/// Returns a folder name for a home that is no folder. The letters make the name readable. A hash makes it unique,
/// because `s3://a/b-c` and `s3://a-b/c` have the same letters.
fn folder_of(home: &str) -> String {
    let home = home.trim_end_matches('/');
    let plain = |char: char| {
        if char.is_alphanumeric() || char == '.' {
            char
        } else {
            '-'
        }
    };
    // FNV-1a gives the same hash in every version of the program, so that an existing cache is found.
    let hash = home.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{}-{hash:016x}", home.chars().map(plain).collect::<String>())
}

/// Ends on Ctrl-C or, if the platform has it, SIGTERM.
#[cfg(unix)]
pub(crate) fn shutdown_signal() -> impl Future<Output = ()> + Send + 'static {
    use tokio::signal::unix::{SignalKind, signal};
    // The handlers are installed now instead of at the first poll, so that no signal is lost in between.
    let told = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    async move {
        // Without a handler the signal kills the process, which every writer here survives.
        let told = told.into_iter().filter_map(Result::ok);
        let waits = told.map(|mut told| Box::pin(async move { told.recv().await }));
        let waits: Vec<_> = waits.collect();
        if waits.is_empty() {
            std::future::pending::<()>().await;
        }
        futures::future::select_all(waits).await;
    }
}

#[cfg(not(unix))]
pub(crate) async fn shutdown_signal() {
    let _ = tokio::signal::ctrl_c().await;
}

/// Returns a token that is cancelled when [`shutdown_signal`] ends, unless the listener is dropped before.
pub(crate) fn until_signal() -> (CancellationToken, AbortOnDropHandle<()>) {
    let told = CancellationToken::new();
    let listener = tokio::spawn({
        let told = told.clone();
        async move {
            shutdown_signal().await;
            told.cancel();
        }
    });
    (told, AbortOnDropHandle::new(listener))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_home_in_a_bucket_has_a_cache_of_its_own() {
        assert_ne!(folder_of("s3://a/b-c"), folder_of("s3://a-b/c"));
        assert_eq!(folder_of("s3://a/b"), folder_of("s3://a/b/"));
        // Later versions must produce the same name.
        assert_eq!(folder_of("s3://a/b"), "s3---a-b-8718aaf3716922b5");
    }
}
