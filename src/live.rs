//! Wiring of the live gateway: the catalogue that it uses, and the receivers of the stores' responses.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use api::OpenRouter;
use async_trait::async_trait;
use data_model::{
    Classify as _, Clock, ErrorCode, Observation, ProductIdent, ResolvedProducts, StoreHost, StoredBrand, StoredShop,
    TestedCode,
};
use data_observations::Recorder;
use data_storage::Storage;
use live_gateway::coupons::{Finder, FinderDeps, HttpShops, ShopKey, Shops, TestLedger};
use live_gateway::{CartConfig, CartDependencies, Catalogue, CatalogueError, HttpCatalogue, LiveGateway, Observe};
use metrics_exporter_prometheus::PrometheusHandle;
use query_server::QueryServer;
use query_server::operations::{BrandKey, OperationError};
use state::{MasterKeys, State};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use url::Url;
use watches::ObservationSender;

use crate::access::Doors;
use crate::exit::usage;
use crate::wiring::Context;

/// Maximum time for storing the results of code tests. Responses do not wait for it.
const KEPT_WITHIN: Duration = Duration::from_millis(1_500);
/// Interval at which expired carts and stored responses are deleted.
const TIDIED_EVERY: Duration = Duration::from_secs(3600);

/// Query server in the same process.
#[derive(Debug)]
struct InProcess(QueryServer);

#[async_trait]
impl Catalogue for InProcess {
    async fn resolve(&self, idents: &[ProductIdent]) -> Result<ResolvedProducts, CatalogueError> {
        self.0.resolve(idents).map_err(told)
    }

    async fn brand(&self, name: &str) -> Result<Option<StoredBrand>, CatalogueError> {
        if let Ok(slug) = name.parse()
            && let Some(brand) = self.0.stored_brand(&BrandKey::Slug(slug)).map_err(told)?
        {
            return Ok(Some(brand));
        }
        self.0.stored_brand(&BrandKey::Domain(name.to_owned())).map_err(told)
    }
}

#[async_trait]
impl Shops for InProcess {
    async fn shop(&self, key: &ShopKey) -> Result<Option<StoredShop>, CatalogueError> {
        let key = match key {
            ShopKey::Slug(slug) => BrandKey::Slug(slug.clone()),
            ShopKey::Domain(domain) => BrandKey::Domain(domain.clone()),
        };
        self.0.shop(&key).await.map_err(told)
    }
}

fn told(error: OperationError) -> CatalogueError {
    match error.code() {
        ErrorCode::NotReady => CatalogueError::NotReady,
        code => CatalogueError::Answer(code.as_str().to_owned()),
    }
}

#[derive(Debug)]
pub(crate) struct Brands {
    pub(crate) catalogue: Arc<dyn Catalogue>,
    pub(crate) shops: Arc<dyn Shops>,
}

impl Brands {
    /// Uses the catalogue of the query server in the same process.
    pub(crate) fn of(server: &QueryServer) -> Self {
        let own = Arc::new(InProcess(server.clone()));
        Self {
            catalogue: Arc::clone(&own) as Arc<dyn Catalogue>,
            shops: own,
        }
    }
}

/// Passes live responses of stores to the watches, and to the lake if they are recorded.
#[derive(Debug)]
struct Observers {
    watches: Option<ObservationSender>,
    lake: Option<Recorder>,
}

impl Observe for Observers {
    fn observe(&self, observation: Observation) {
        if let Some(watches) = &self.watches {
            watches.send(observation.clone());
        }
        if let Some(lake) = &self.lake {
            lake.record(observation);
        }
    }
}

/// Ledger of code tests in the home, where servers of stored data find them.
#[derive(Debug)]
struct HomeLedger {
    storage: Storage,
    clock: Arc<dyn Clock>,
    /// Lock for writes, so that two tests at one store do not overwrite each other.
    turn: Mutex<()>,
}

#[async_trait]
impl TestLedger for HomeLedger {
    async fn keep(&self, store: &StoreHost, tests: Vec<TestedCode>) {
        let kept = async {
            let _turn = self.turn.lock().await;
            data_codes::take_tested(&self.storage, store, &tests, self.clock.now()).await
        };
        match timeout(KEPT_WITHIN, kept).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "results of discount code tests could not be stored");
            }
            Err(_) => tracing::warn!("storing results of discount code tests in the home takes too long"),
        }
        metrics::counter!("coupon_ledger_failures_total").increment(1);
    }
}

/// Gateway, and the recorder of the stores' responses.
#[derive(Debug)]
pub(crate) struct LiveService {
    gateway: LiveGateway,
    coupons: Finder,
    writer: Option<Writer>,
}

#[derive(Debug)]
pub(crate) struct Writer {
    stop: CancellationToken,
    written: JoinHandle<()>,
}

impl LiveService {
    /// Creates a gateway over the catalogue of `brands`, with carts in `state` and the public address `public_url`.
    /// Observations go to `storage` and to `watches`. Expired data is deleted periodically until the servers behind
    /// `doors` have stopped.
    pub(crate) fn new(
        context: &Context,
        storage: &Storage,
        brands: Brands,
        SealedState { state, keys }: SealedState,
        public_url: String,
        doors: &Doors,
        watches: Option<ObservationSender>,
    ) -> anyhow::Result<Self> {
        let Brands { catalogue, shops } = brands;
        let given = &context.config.live_gateway;
        let (lake, writer) = if given.observe {
            let stop = CancellationToken::new();
            let clock = Arc::clone(&context.clock);
            let (recorder, write) = Recorder::start(storage, clock, &given.observations, stop.clone());
            (Some(recorder), Some(Writer::start(stop, write)))
        } else {
            (None, None)
        };
        let observer = Arc::new(Observers { watches, lake });
        let storefront = context.storefront()?;
        let deps = FinderDeps {
            catalogue: Arc::clone(&catalogue),
            shops,
            storefront: storefront.clone(),
            state: state.clone(),
            ledger: given.observe.then(|| {
                Arc::new(HomeLedger {
                    storage: storage.clone(),
                    clock: Arc::clone(&context.clock),
                    turn: Mutex::default(),
                }) as Arc<dyn TestLedger>
            }),
            clock: Arc::clone(&context.clock),
        };
        let coupons = Finder::new(deps, given.coupons.clone());
        let carts = CartConfig {
            public_url,
            ..given.carts.clone()
        };
        let dependencies = CartDependencies::new(state, keys, carts).with_candidates(Arc::new(coupons.clone()));
        let clock = Arc::clone(&context.clock);
        let gateway = LiveGateway::new(catalogue, storefront, clock, observer, given.ask.clone());
        let gateway = gateway.with_carts(dependencies).with_guard(doors.guard());
        tokio::spawn(gateway.clone().keep_tidy(TIDIED_EVERY, doors.stopped()));
        Ok(Self {
            gateway,
            coupons,
            writer,
        })
    }

    pub(crate) fn open_router(&self) -> OpenRouter {
        self.gateway.open_router().merge(self.coupons.open_router())
    }

    /// Returns the gateway, whose clones share one state.
    pub(crate) fn gateway(&self) -> &LiveGateway {
        &self.gateway
    }

    /// Returns the probes, and the metrics if shown, for a server that has no others.
    pub(crate) fn probes(&self, metrics: Option<PrometheusHandle>) -> OpenRouter {
        self.gateway.probes(metrics)
    }

    /// Returns the gateway, which must be told of the stop, and the recorder, which must write the last responses.
    pub(crate) fn into_parts(self) -> (LiveGateway, Option<Writer>) {
        (self.gateway, self.writer)
    }
}

impl Writer {
    /// Starts a writer that ends when `stop` is cancelled.
    pub(crate) fn start(stop: CancellationToken, write: impl Future<Output = ()> + Send + 'static) -> Self {
        let written = tokio::spawn(write);
        Self { stop, written }
    }

    /// Writes everything that was recorded, and stops.
    pub(crate) async fn finish(self) -> anyhow::Result<()> {
        self.stop.cancel();
        self.written.await.context("a background writer did not stop")
    }
}

/// Message that explains why carts need a master key.
pub(crate) const NO_MASTER_KEY: &str = "carts are stored encrypted: set state.master_key (HAAT_STATE__MASTER_KEY) to \
    64 hexadecimal digits, the same for all servers that share state.url";

/// State of servers that store carts, with the keys that seal it.
#[derive(Debug, Clone)]
pub(crate) struct SealedState {
    pub(crate) state: State,
    pub(crate) keys: MasterKeys,
}

/// Opens the state of servers that store carts. Fails without master keys.
pub(crate) async fn kept(context: &Context) -> anyhow::Result<SealedState> {
    let (state, keys) = context.served_state().await?;
    let keys = keys.context(NO_MASTER_KEY);
    keys.map(|keys| SealedState { state, keys }).map_err(usage)
}

/// Returns the catalogue of another query server, as configured.
pub(crate) fn brands_elsewhere(context: &Context) -> anyhow::Result<Brands> {
    let given = &context.config.live_gateway;
    let url: Url = given
        .catalogue
        .parse()
        .context("live_gateway.catalogue")
        .map_err(usage)?;
    let timeout = Duration::from_millis(given.ask.budget_ms);
    let made = || {
        Ok::<_, CatalogueError>(Brands {
            catalogue: Arc::new(HttpCatalogue::new(&url, timeout)?),
            shops: Arc::new(HttpShops::new(&url, timeout)?),
        })
    };
    made().context("live_gateway.catalogue").map_err(usage)
}
