//! Wiring of watches: the market that they read, the data that they are evaluated on, and the tasks that evaluate and
//! deliver.

use std::sync::Arc;

use anyhow::Context as _;
use api::OpenRouter;
use async_trait::async_trait;
use data_index::Release;
use data_model::{
    Classify as _, ErrorCode, PriceEvent, ProductId, ProductIdent, ResolvedProducts, Timestamp, VariantId,
};
use live_gateway::LiveGateway;
use mailer::Mailer;
use query_server::QueryServer;
use query_server::operations::{OperationError, SearchLimit, SearchRequest, Text};
use query_server::schema::ProductCard;
use state::{MasterKeys, State};
use tokio_util::sync::CancellationToken;
use url::Url;
use watches::{MailSender, Market, MarketError, MatchedProduct, ObservationReceiver, Watches, WatchesParts};

use crate::wiring::Context;

/// Maximum number of products of a query that a watch looks at.
const MATCHES_MAX: i64 = 40;

/// Servers in the same process.
#[derive(Debug)]
struct InProcess {
    server: QueryServer,
    gateway: LiveGateway,
}

fn told(error: &OperationError) -> MarketError {
    match error.code() {
        ErrorCode::NotReady | ErrorCode::Overloaded => MarketError::NotReady,
        _ => MarketError::Failed,
    }
}

#[async_trait]
impl Market for InProcess {
    async fn resolve(&self, idents: &[ProductIdent]) -> Result<ResolvedProducts, MarketError> {
        self.server.resolve(idents).map_err(|error| told(&error))
    }

    async fn matches(&self, query: &str) -> Result<Vec<MatchedProduct>, MarketError> {
        let server = self.server.pinned().ok_or(MarketError::NotReady)?;
        let release = server.releases().borrow().clone().ok_or(MarketError::NotReady)?;
        let request = SearchRequest {
            text: Text::new(query).ok_or(MarketError::Failed)?,
            limit: SearchLimit::new(MATCHES_MAX).unwrap_or_default(),
            ..SearchRequest::default()
        };
        let found = server.search_with(request, move |answer| {
            answer.data.iter().map(|card| matched(&release, card)).collect()
        });
        found.await.map_err(|error| told(&error))
    }

    async fn quote(&self, product: ProductId, variant: Option<VariantId>) -> Option<String> {
        self.gateway.quote(ProductIdent::Id(product), variant).await
    }
}

fn matched(release: &Release, card: &ProductCard<'_>) -> MatchedProduct {
    MatchedProduct {
        id: card.id,
        title: card.title.to_string(),
        brand_slug: card.brand_slug.to_string(),
        first_seen_at: first_seen_at(release, card.id),
    }
}

fn first_seen_at(release: &Release, product: ProductId) -> Option<Timestamp> {
    let at = release.find(&ProductIdent::Id(product))?;
    let oldest = release.part(at.part)?.price_history(at.row).last()?;
    (oldest.event == PriceEvent::FirstSeen).then_some(oldest.observed_at)
}

/// Parts of a server that watches need.
pub(crate) struct WatchService<'a> {
    pub(crate) server: &'a QueryServer,
    pub(crate) gateway: &'a LiveGateway,
    pub(crate) mailer: Option<Mailer>,
    /// Base URL at which people reach the market.
    pub(crate) public_url: &'a str,
    pub(crate) observations: ObservationReceiver,
    /// Token that is cancelled when the servers stop.
    pub(crate) stop: CancellationToken,
}

impl WatchService<'_> {
    /// Starts the tasks that evaluate watches and deliver events. Returns the routes of the operations.
    pub(crate) fn start(self, context: &Context, state: State, keys: MasterKeys) -> anyhow::Result<OpenRouter> {
        let Self {
            server,
            gateway,
            mailer,
            public_url,
            observations,
            stop,
        } = self;
        let config = context.config.watches.clone();
        let public_url: Url = public_url.parse().context("public_url")?;
        let mails_max = config.mails_per_address_per_day_max;
        let watches = Watches::new(WatchesParts {
            state,
            keys,
            market: Arc::new(InProcess {
                server: server.clone(),
                gateway: gateway.clone(),
            }),
            transport: context.storefront()?.transport(),
            mail: mailer.map(|mailer| MailSender::new(mailer, public_url, mails_max)),
            allow_loopback: context.config.storefront.allow_loopback,
            clock: Arc::clone(&context.clock),
            config,
        });
        let mut released = server.releases();
        let (judging, stopped) = (watches.clone(), stop.clone());
        tokio::spawn(async move {
            while let Some(Ok(())) = stopped.run_until_cancelled(released.changed()).await {
                judging.judge_until_done(&stopped).await;
            }
        });
        tokio::spawn(watches.clone().judge_observations(observations, stop.clone()));
        tokio::spawn(watches.clone().deliver(stop));
        Ok(watches::open_router(watches))
    }
}
