//! Wires the live gateway: which catalogue it asks, and where what stores say goes.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use data_model::{Classify as _, ErrorCode, Observation, ProductIdent, Resolved};
use data_observations::Recorder;
use data_storage::Storage;
use live_gateway::{Catalogue, CatalogueError, HttpCatalogue, LiveGateway, NotObserved, Observe};
use query_server::QueryServer;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::exit::usage;
use crate::wiring::Context;

/// The query server of the same process.
#[derive(Debug)]
pub(crate) struct InProcess(pub(crate) QueryServer);

#[async_trait]
impl Catalogue for InProcess {
    async fn resolve(&self, idents: &[ProductIdent]) -> Result<Resolved, CatalogueError> {
        self.0.resolve(idents).map_err(|error| match error.code() {
            ErrorCode::NotReady => CatalogueError::NotReady,
            code => CatalogueError::Answer(code.as_str().to_owned()),
        })
    }
}

/// Records for the lake.
#[derive(Debug)]
struct Recorded(Recorder);

impl Observe for Recorded {
    fn observe(&self, observation: Observation) {
        self.0.record(observation);
    }
}

/// A gateway, and what writes down what stores told it.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) gateway: LiveGateway,
    writer: Option<Writer>,
}

#[derive(Debug)]
pub(crate) struct Writer {
    stop: CancellationToken,
    written: JoinHandle<()>,
}

impl Live {
    /// A gateway over `catalogue`, whose observations go to `storage`.
    pub(crate) fn new(context: &Context, storage: &Storage, catalogue: Arc<dyn Catalogue>) -> anyhow::Result<Self> {
        let given = &context.config.live_gateway;
        let (observer, writer): (Arc<dyn Observe>, _) = if given.observe {
            let stop = CancellationToken::new();
            let clock = Arc::clone(&context.clock);
            let (recorder, write) = Recorder::start(storage, clock, &given.observations, stop.clone());
            let written = tokio::spawn(write);
            (Arc::new(Recorded(recorder)), Some(Writer { stop, written }))
        } else {
            (Arc::new(NotObserved), None)
        };
        let storefront = context.storefront()?;
        let clock = Arc::clone(&context.clock);
        let gateway = LiveGateway::new(catalogue, storefront, clock, observer, given.ask.clone());
        Ok(Self { gateway, writer })
    }

    /// Lets go of the gateway; what was seen is still to be written.
    pub(crate) fn into_writer(self) -> Option<Writer> {
        self.writer
    }
}

impl Writer {
    /// Writes what was recorded until now, and ends.
    pub(crate) async fn finish(self) -> anyhow::Result<()> {
        self.stop.cancel();
        self.written.await.context("observations")
    }
}

/// The catalogue of a query server elsewhere, as configured.
pub(crate) fn catalogue_elsewhere(context: &Context) -> anyhow::Result<HttpCatalogue> {
    let given = &context.config.live_gateway;
    let url: Url = given
        .catalogue
        .parse()
        .context("live_gateway.catalogue")
        .map_err(usage)?;
    let timeout = Duration::from_millis(given.ask.budget_ms);
    HttpCatalogue::new(&url, timeout)
        .context("live_gateway.catalogue")
        .map_err(usage)
}
