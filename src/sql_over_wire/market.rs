//! Tables of statements on a server of the market: the release that it serves, and beside it the lake as it is now.

use std::sync::Arc;

use data_lake::{Lake, LakeSnapshot};
use data_model::ReleaseId;
use data_storage::Storage;
use query_server::QueryServer;
use sql::{Absent, Bounds, Source, SqlError, Tables};
use tokio::sync::Mutex;

use crate::exit::plain;
use crate::wiring::Context;

/// The schema of the lake's tables.
const LAKE: &str = "lake";

/// The tables of the market, made when a statement first asks for them.
#[derive(Debug)]
pub(super) struct MarketTables {
    server: QueryServer,
    bounds: Bounds,
    context: Context,
    home: Storage,
    cache: Mutex<Cache>,
}

#[derive(Debug, Default)]
struct Cache {
    lake: Option<Lake>,
    tables: Option<CachedTables>,
}

/// Tables, and the states that they are of.
#[derive(Debug)]
struct CachedTables {
    release: Option<ReleaseId>,
    tick: Option<u64>,
    tables: Arc<Tables>,
}

/// The lake, and its newest state.
struct LakeNow {
    lake: Lake,
    snapshot: LakeSnapshot,
}

impl MarketTables {
    pub(super) fn of(server: &QueryServer, bounds: &Bounds, context: &Context, home: &Storage) -> Arc<Self> {
        let tables = Arc::new(Self {
            server: server.clone(),
            bounds: bounds.clone(),
            context: context.clone(),
            home: home.clone(),
            cache: Mutex::default(),
        });
        tokio::spawn(let_go(Arc::clone(&tables)));
        tables
    }

    /// The lake with its newest state; in words, why there is none.
    async fn lake(&self, held: &mut Option<Lake>) -> Result<LakeNow, String> {
        let lake = match held {
            Some(lake) => lake.clone(),
            None => {
                let opened = self.context.lake_if_any(&self.home).await;
                let opened = opened.map_err(|error| unreadable(&error))?;
                let absent =
                    "this server has no lake beside its release: tables of the lake are where stores are crawled";
                held.insert(opened.ok_or_else(|| absent.to_owned())?).clone()
            }
        };
        let snapshot = Box::pin(lake.snapshot()).await;
        let snapshot = snapshot.map_err(|error| unreadable(&error.into()))?;
        Ok(LakeNow { lake, snapshot })
    }

    async fn make(&self, cache: &mut Cache) -> anyhow::Result<Option<Arc<Tables>>> {
        let found = self.lake(&mut cache.lake).await;
        let tick = found.as_ref().ok().map(|now| now.snapshot.tick().unwrap_or_default());
        let release = self.server.release();
        let is_same = |known: &&CachedTables| (known.release, known.tick) == (release, tick);
        if let Some(known) = cache.tables.as_ref().filter(is_same) {
            return Ok(Some(Arc::clone(&known.tables)));
        }
        let Some(pinned) = self.server.pinned() else {
            return Ok(None);
        };
        let Some(session) = engine::session(&pinned)? else {
            return Ok(None);
        };
        let release = pinned.release();
        let mut name = release.map(|release| release.to_string()).unwrap_or_default();
        let registered = match found {
            Ok(LakeNow { lake, snapshot }) => {
                name = format!("{name}, tick {}", tick.unwrap_or_default());
                let registered = Box::pin(lake.register(&snapshot, &session, LAKE)).await;
                registered.map_err(|error| unreadable(&error.into()))
            }
            Err(why) => Err(why),
        };
        let absent = registered.err().map(|why| Absent { schema: LAKE, why });
        let tables = Tables::of(&self.bounds, name, &session, absent).await?;
        cache.tables = Some(CachedTables {
            release,
            tick,
            tables: Arc::clone(&tables),
        });
        Ok(Some(tables))
    }
}

#[async_trait::async_trait]
impl Source for MarketTables {
    async fn tables(&self, as_of: Option<&str>) -> Result<Arc<Tables>, SqlError> {
        if as_of.is_some() {
            let words = "this server answers from the release that it serves and from the lake as it is now; \
                         `haat lake serve` has the lake's past";
            return Err(SqlError::Moment(words.to_owned()));
        }
        let mut cache = self.cache.lock().await;
        let made = Box::pin(self.make(&mut cache)).await.map_err(|error| {
            tracing::error!(
                error = error.as_ref() as &dyn std::error::Error,
                "tables cannot be registered"
            );
            SqlError::Internal
        })?;
        made.ok_or(SqlError::NotReady)
    }
}

/// The sentence for whoever asks a lake that is there and cannot be read.
fn unreadable(error: &anyhow::Error) -> String {
    tracing::warn!("statements answer from the release alone: {}", plain(error));
    "the lake cannot be read now, as the server's log tells: only tables of the release are there".to_owned()
}

/// Lets tables of a release go when another one is served: it is freed when nobody answers from it any more.
async fn let_go(tables: Arc<MarketTables>) {
    let mut releases = tables.server.releases();
    while releases.changed().await.is_ok() {
        tables.cache.lock().await.tables = None;
    }
}
