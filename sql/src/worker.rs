//! A worker: answers statements one after the other, in a process of its own or within a program that embeds the crate.

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

/// Reading and planning recurse over a statement; only the used part of the stack takes memory.
const STACK_BYTES: usize = 256 << 20;
/// The threads beside it run steps of plans.
const THREAD_STACK_BYTES: usize = 8 << 20;

/// A worker's end of the socket to its server.
#[derive(Debug)]
pub struct WorkerLink {
    stream: UnixStream,
    setup: Setup,
    /// It is all that its process does: the system bounds it, and it ends with the socket.
    has_process: bool,
}

impl WorkerLink {
    /// The link of a process that a server started ([`crate::start_program`]).
    ///
    /// # Errors
    /// Standard input is no socket, or ended early.
    pub fn of_standard_input() -> io::Result<Self> {
        let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        // Anything but a socket has no peer.
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

    /// The name of the state that the worker reads ([`crate::Workers::state`]).
    #[must_use]
    pub fn state(&self) -> &str {
        &self.setup.state
    }

    /// The server's further words ([`crate::Workers::setup`]).
    ///
    /// # Errors
    /// It was something else.
    pub fn setup<T: DeserializeOwned>(&self) -> io::Result<T> {
        Ok(T::deserialize(&self.setup.own)?)
    }

    /// Answers statements until the server is gone.
    ///
    /// # Errors
    /// There are no threads, or nothing to read from.
    pub fn serve<S, F>(self, source: S) -> Result<(), SourceError>
    where
        S: FnOnce(Bounds) -> F + Send + 'static,
        F: Future<Output = Result<Arc<dyn Source>, SourceError>>,
    {
        let runtime = runtime(&self.setup.config)?;
        let answering = move || {
            let bounds = Bounds::new(&self.setup.config, &self.setup.spill)?;
            let served = runtime.block_on(async {
                // A service manager stops all processes of a service: this one ends when the server has answered.
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
            // A step that cannot be interrupted is not waited for.
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
                // No request can come: the server is gone.
                _ = requests.recv() => return Ok(()),
            };
            if self.has_process {
                Limits::lift();
            }
            // A panic drops the statement as any other end does.
            let answered = answered.unwrap_or_else(|_| Err(SqlError::engine_failed()));
            wire::end(&mut self.stream, answered)?;
        }
        Ok(())
    }

    /// Reads requests beside their answers, so that a process ends with its server whatever it is busy with.
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
    reason = "no statement can be interrupted otherwise, and nobody waits for it"
)]
fn leave(spill: &Path) {
    // A server that was killed removes nothing.
    let _ = std::fs::remove_dir_all(spill);
    std::process::exit(0);
}

fn runtime(config: &SqlConfig) -> io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(config.threads)
        // Some of these threads write and read spilled data.
        .max_blocking_threads(config.threads * 4)
        .thread_name("sql")
        .thread_stack_size(THREAD_STACK_BYTES)
        .enable_all()
        .build()
}

/// The means by which a worker answers.
struct Answers {
    bounds: Bounds,
    source: Arc<dyn Source>,
    opened: Option<OpenTables>,
    has_process: bool,
}

/// The tables that were read last, and the memory of the process when they were opened: the memory that statements
/// leave behind in the allocator raises no bound.
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
