//! Worker processes for SQL: this program, started with the minimum that it needs.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Arc;

use query_server::QueryServer;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sql::{Bounds, Source, SourceError, SqlError, WorkerLink, Workers};

use super::lake::LakeTables;
use super::market::MarketTables;
use crate::config::{Config, EmbedderChoice, LogFormat};
use crate::exit::{Outcome, plain};
use crate::output::Output;
use crate::wiring::Context;

/// Argument that starts the program as a worker. The argument is no command of the CLI, because users do not need it.
const ARGUMENT: &str = "sql-worker";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum WorkerTables {
    Market,
    Lake,
}

/// Settings that a server sends to its workers.
#[derive(Debug, Serialize, Deserialize)]
struct WorkerSetup {
    tables: WorkerTables,
    config: Config,
}

/// Starts worker processes for SQL statements.
#[derive(Debug)]
pub(super) struct WorkerPrograms {
    /// Server whose release the workers read, if any.
    server: Option<QueryServer>,
    setup: Value,
}

impl WorkerPrograms {
    pub(super) fn of_market(config: &Config, server: &QueryServer) -> anyhow::Result<Self> {
        let mut told = told(config)?;
        if config.embedding.embedder == EmbedderChoice::Endpoint {
            told.embedding = config.embedding.clone();
        }
        Self::of(WorkerTables::Market, told, Some(server.clone()))
    }

    pub(super) fn of_lake(config: &Config) -> anyhow::Result<Self> {
        Self::of(WorkerTables::Lake, told(config)?, None)
    }

    fn of(tables: WorkerTables, config: Config, server: Option<QueryServer>) -> anyhow::Result<Self> {
        Ok(Self {
            server,
            setup: serde_json::to_value(WorkerSetup { tables, config })?,
        })
    }
}

/// Returns the configuration that the tables need, whose only secret is that of the object store.
fn told(config: &Config) -> anyhow::Result<Config> {
    let mut told = Config {
        home: config.home.clone(),
        market_currency: config.market_currency,
        market_time_zone: config.market_time_zone,
        s3: config.s3.clone(),
        api: config.api.clone(),
        lake: config.lake.clone(),
        embedding: config.embedding.clone(),
        query_server: config.query_server.clone(),
        log: config.log.clone(),
        ..Config::defaults()?
    };
    told.query_server.cursor_secret.clear();
    told.embedding.endpoint.api_key.clear();
    // The parent server already logs the served release.
    told.log.filter.push_str(",query_server=warn");
    Ok(told)
}

impl Workers for WorkerPrograms {
    fn state(&self) -> Result<String, SqlError> {
        match &self.server {
            None => Ok(String::new()),
            Some(server) => server.release().map(|id| id.to_string()).ok_or(SqlError::NotReady),
        }
    }

    fn setup(&self) -> Value {
        self.setup.clone()
    }

    fn start(&self, link: UnixStream) -> io::Result<Option<tokio::process::Child>> {
        sql::start_program(&[ARGUMENT], link).map(Some)
    }
}

/// True if the program was started as a worker.
pub(crate) fn is_asked_for() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().as_deref() == Some(OsStr::new(ARGUMENT)) && arguments.next().is_none()
}

/// Runs as a worker until the parent server is gone.
pub(crate) fn run() -> ExitCode {
    match serve() {
        Ok(()) => Outcome::Done.into(),
        Err(error) => {
            let _ = writeln!(io::stderr(), "haat {ARGUMENT}: {}", plain(&error));
            Outcome::Failed.into()
        }
    }
}

fn serve() -> anyhow::Result<()> {
    let link = WorkerLink::of_standard_input().map_err(|error| {
        anyhow::Error::new(error).context("only servers start this command; use `haat sql` to run a statement")
    })?;
    let WorkerSetup { tables, config } = link.setup()?;
    let format = match config.log.format {
        LogFormat::Text => api::LogFormat::Pretty,
        LogFormat::Json => api::LogFormat::Json,
    };
    api::init_logs(format, &config.log.filter, None)?;
    let state = link.state().to_owned();
    let mut context = Context::new(config, Output { json: false }, true, false);
    context.only_reads = true;
    let source = async move |bounds: Bounds| {
        let source: Arc<dyn Source> = match tables {
            WorkerTables::Market => Arc::new(Box::pin(MarketTables::open(&context, bounds, state.parse()?)).await?),
            WorkerTables::Lake => Arc::new(LakeTables::of(context.lake().await?, bounds)),
        };
        Ok::<_, SourceError>(source)
    };
    link.serve(source).map_err(anyhow::Error::from_boxed)
}
