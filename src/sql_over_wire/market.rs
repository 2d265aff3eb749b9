//! Tables for SQL statements on a server of the market, as a worker reads them: the served release, and the current
//! lake.

use std::sync::Arc;

use anyhow::Context as _;
use data_lake::{Lake, LakeSnapshot};
use data_model::ReleaseId;
use data_storage::Storage;
use query_server::QueryServer;
use sql::{Absent, Bounds, Source, SqlError, Tables};
use tokio::sync::Mutex;

use crate::exit::plain;
use crate::wiring::Context;

/// Schema name of the lake's tables.
const LAKE: &str = "lake";

/// Tables of the market, created when a statement first needs them.
#[derive(Debug)]
pub(super) struct MarketTables {
    /// Query server with one fixed release.
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

/// Open tables, and the lake state that they belong to.
#[derive(Debug)]
struct CachedTables {
    tick: Option<u64>,
    tables: Arc<Tables>,
}

/// Lake with its newest state.
struct LakeNow {
    lake: Lake,
    snapshot: LakeSnapshot,
}

impl MarketTables {
    /// Opens the tables of a release of a server. Files that the cache lacks are fetched.
    pub(super) async fn open(context: &Context, bounds: Bounds, release: ReleaseId) -> anyhow::Result<Self> {
        let home = context.storage()?;
        let server = context.query_server(&home, None)?;
        let remembered = server.open_remembered().await;
        if remembered.ok().flatten() != Some(release) {
            server.refresh().await?;
        }
        Ok(Self {
            server: server.pinned().context("there is no release any more")?,
            bounds,
            context: context.clone(),
            home,
            cache: Mutex::default(),
        })
    }

    /// Opens the lake at its newest state. The error is a sentence with the reason.
    async fn lake(&self, held: &mut Option<Lake>) -> Result<LakeNow, String> {
        let lake = match held {
            Some(lake) => lake.clone(),
            None => {
                let opened = self.context.lake_if_any(&self.home).await;
                let opened = opened.map_err(|error| unreadable(&error))?;
                let absent =
                    "this server has no lake, only a release: query the lake's tables on the machine that crawls";
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
        if let Some(known) = cache.tables.as_ref().filter(|known| known.tick == tick) {
            return Ok(Some(Arc::clone(&known.tables)));
        }
        let Some(session) = engine::session(&self.server)? else {
            return Ok(None);
        };
        let release = self.server.release();
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
            let words = "this server answers from its current release and the current lake; `haat lake serve` also \
                         answers for earlier states of the lake";
            return Err(SqlError::Moment(words.to_owned()));
        }
        let mut cache = self.cache.lock().await;
        let made = Box::pin(self.make(&mut cache)).await.map_err(|error| {
            tracing::error!(
                error = error.as_ref() as &dyn std::error::Error,
                "the tables for SQL cannot be registered"
            );
            SqlError::Internal
        })?;
        made.ok_or(SqlError::NotReady)
    }
}

/// Returns the message for a lake that exists but cannot be read.
fn unreadable(error: &anyhow::Error) -> String {
    tracing::warn!("statements are answered from the release alone: {}", plain(error));
    "the lake cannot be read now, see the server's log: only tables of the release are available".to_owned()
}
