//! Worker that answers one statement after another, in a process of its own or inside a program that embeds the crate.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::bounds::{Bounds, SourceError};
use crate::limits::{Limits, held_bytes, yield_to_all};
use crate::tables::{Source, Tables};
use crate::wire::{self, Request, Setup, Task};
use crate::work::{Encoder, Work, Write};
use crate::{SqlConfig, SqlError};

/// Stack size of the main thread in bytes. Parsing and planning recurse over a statement, and only the used part of the
/// stack takes memory.
const STACK_BYTES: usize = 256 << 20;
/// Stack size in bytes of the threads that run steps of query plans.
const THREAD_STACK_BYTES: usize = 8 << 20;

/// Worker's side of the socket to its server.
#[derive(Debug)]
pub struct WorkerLink {
    stream: UnixStream,
    setup: Setup,
    /// True if the process does nothing else. The operating system then limits it, and it ends when the socket closes.
    has_process: bool,
}

impl WorkerLink {
    /// Opens the link of a process that a server started ([`crate::start_program`]).
    ///
    /// # Errors
    /// Standard input is not a socket, or closed early.
    pub fn of_standard_input() -> io::Result<Self> {
        let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        // This fails unless standard input is a socket, because only a socket has a peer address.
        stream.peer_addr()?;
        yield_to_all();
        Self::of(stream, true)
    }

    pub(crate) fn of(mut stream: UnixStream, has_process: bool) -> io::Result<Self> {
        let setup = wire::read(&mut stream)?;
        Ok(Self {
            stream,
            setup,
            has_process,
        })
    }

    /// Returns the name of the state that the worker reads ([`crate::Workers::state`]).
    #[must_use]
    pub fn state(&self) -> &str {
        &self.setup.state
    }

    /// Parses the extra settings from the server ([`crate::Workers::setup`]).
    ///
    /// # Errors
    /// The settings do not deserialize as `T`.
    pub fn setup<T: DeserializeOwned>(&self) -> io::Result<T> {
        Ok(T::deserialize(&self.setup.own)?)
    }

    /// Answers statements until the server closes the socket.
    ///
    /// # Errors
    /// Threads cannot be started, or the tables cannot be opened.
    pub fn serve<S, F>(self, source: S) -> Result<(), SourceError>
    where
        S: FnOnce(Bounds) -> F + Send + 'static,
        F: Future<Output = Result<Arc<dyn Source>, SourceError>>,
    {
        let runtime = runtime(&self.setup.config)?;
        let answering = move || {
            let bounds = Bounds::new(&self.setup.config, &self.setup.spill)?;
            let served = runtime.block_on(async {
                // A service manager sends SIGTERM to all processes of a service. The worker ignores it and ends after
                // the server.
                let _told = self.has_process.then(|| signal(SignalKind::terminate()));
                let source = source(bounds.clone()).await?;
                let answers = Answers {
                    bounds,
                    source,
                    opened: None,
                    has_process: self.has_process,
                };
                self.answer(answers).await
            });
            // Steps of plans that cannot be interrupted are not awaited.
            runtime.shutdown_background();
            served
        };
        let thread = std::thread::Builder::new().name("sql".to_owned());
        let thread = thread.stack_size(STACK_BYTES).spawn(answering)?;
        thread.join().unwrap_or_else(|_| Err("the worker panicked".into()))
    }

    async fn answer(mut self, mut answers: Answers) -> Result<(), SourceError> {
        let mut requests = self.requests()?;
        while let Some(request) = requests.recv().await {
            let mut write = |bytes: &[u8]| wire::write(&mut self.stream, bytes);
            let answering = AssertUnwindSafe(Box::pin(answers.answer(&request, &mut write))).catch_unwind();
            let answered = tokio::select! {
                answered = answering => answered,
                // The channel of requests is closed, so the server is gone.
                _ = requests.recv() => return Ok(()),
            };
            if self.has_process {
                Limits::lift();
            }
            // The unwinding of a panic also drops the statement.
            let answered = answered.unwrap_or_else(|_| Err(SqlError::engine_failed()));
            wire::end(&mut self.stream, answered)?;
        }
        Ok(())
    }

    /// Reads requests in a thread of its own, so that the process ends with its server even while it is busy.
    fn requests(&self) -> io::Result<mpsc::Receiver<Request>> {
        let (sender, requests) = mpsc::channel(1);
        let mut stream = self.stream.try_clone()?;
        let gone = self.has_process.then(|| self.setup.spill.clone());
        let reading = move || {
            while let Ok(request) = wire::read(&mut stream) {
                if sender.blocking_send(request).is_err() {
                    return;
                }
            }
            if let Some(spill) = gone {
                leave(&spill);
            }
        };
        std::thread::Builder::new().name("requests".to_owned()).spawn(reading)?;
        Ok(requests)
    }
}

#[expect(
    clippy::exit,
    reason = "a statement cannot be interrupted in any other way, and no caller waits for its result"
)]
fn leave(spill: &Path) {
    // A killed server could not remove the folder.
    let _ = std::fs::remove_dir_all(spill);
    std::process::exit(0);
}

fn runtime(config: &SqlConfig) -> io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(config.threads)
        // Some of these threads write and read temporary files.
        .max_blocking_threads(config.threads * 4)
        .thread_name("sql")
        .thread_stack_size(THREAD_STACK_BYTES)
        .enable_all()
        .build()
}

struct Answers {
    bounds: Bounds,
    source: Arc<dyn Source>,
    opened: Option<OpenTables>,
    has_process: bool,
}

/// Tables of the last request, and the memory of the process when they were opened. Memory that later statements leave
/// in the allocator must not raise the limit.
struct OpenTables {
    tables: Arc<Tables>,
    held_bytes: Option<u64>,
}

impl Answers {
    async fn answer(&mut self, request: &Request, write: &mut Write<'_>) -> Result<(), SqlError> {
        let tables = self.source.tables(request.as_of.as_deref()).await?;
        let held_bytes = match &self.opened {
            Some(opened) if Arc::ptr_eq(&opened.tables, &tables) => opened.held_bytes,
            _ => held_bytes(),
        };
        self.opened = Some(OpenTables {
            tables: Arc::clone(&tables),
            held_bytes,
        });
        if self.has_process {
            Limits {
                held_bytes,
                pool_bytes: self.bounds.memory_bytes_max as u64,
                cpu_s: request.timeout_ms.div_ceil(1_000) * (self.bounds.config.threads as u64 + 1),
            }
            .set();
        }
        let work = Work {
            bounds: &self.bounds,
            tables: &tables,
        };
        match &request.task {
            Task::Open => Ok(()),
            Task::Rows { statement, format } => {
                let encoder: Encoder<'_> = &|schema| format.encoder(schema, &tables.name);
                work.rows(statement, encoder, write).await
            }
            #[cfg(feature = "flight")]
            Task::FlightRows { statement } => {
                let encoder: Encoder<'_> = &|schema| Ok(Box::new(crate::ipc::FlightRows::of(schema)));
                work.rows(statement, encoder, write).await
            }
            #[cfg(feature = "flight")]
            Task::Columns { statement } => work.columns(statement, write).await,
            #[cfg(feature = "flight")]
            Task::Catalogue => work.catalogue(write),
        }
    }
}
