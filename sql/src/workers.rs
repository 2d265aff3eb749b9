//! Idle workers of a server. A worker is started if none is idle, reused while its tables are current, and can be
//! stopped even if it is busy.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::libc::{SIGABRT, SIGKILL};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

use crate::bounds::StartError;
use crate::tables::Source;
use crate::wire::{self, Reply, Request, Setup, Task};
use crate::worker::WorkerLink;
use crate::{SqlConfig, SqlError};

/// Maximum time to wait for the end of a worker that closed its socket.
const BREAK_OFF_MAX: Duration = Duration::from_secs(5);

/// Environment variables, without secrets, that a worker process gets from its server.
const VARIABLES: [&str; 16] = [
    "ALL_PROXY",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LD_LIBRARY_PATH",
    "NO_PROXY",
    "PATH",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TMPDIR",
    "TZ",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Starts workers and names the state that they read.
pub trait Workers: fmt::Debug + Send + Sync {
    /// Returns the name of the state that statements read now. A worker reads one state for its whole life, so workers
    /// of another state end.
    ///
    /// # Errors
    /// [`SqlError::NotReady`]
    fn state(&self) -> Result<String, SqlError> {
        Ok(String::new())
    }

    /// Returns the settings with which a worker finds its tables.
    fn setup(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// Starts a worker at the other end of a socket: a process ([`start_program`]), or anything else that ends when the
    /// socket closes.
    ///
    /// # Errors
    /// The worker cannot be started.
    fn start(&self, link: UnixStream) -> io::Result<Option<Child>>;
}

/// Starts this program again with other arguments, with the socket as standard input. The new process gets only a fixed
/// list of environment variables.
///
/// # Errors
/// The process cannot be started.
#[expect(
    clippy::disallowed_methods,
    reason = "the value is not configuration, and is passed on without being read"
)]
pub fn start_program(arguments: &[&str], link: UnixStream) -> io::Result<Child> {
    // The running program is started, even if its file on disk was replaced.
    let program = match cfg!(target_os = "linux") {
        true => "/proc/self/exe".into(),
        false => std::env::current_exe()?,
    };
    let kept = VARIABLES
        .iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(kept)
        .stdin(Stdio::from(OwnedFd::from(link)))
        .stdout(Stdio::null())
        // Ctrl-C must reach only the server, which ends its workers after it has answered.
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
}

/// Workers inside this process, for programs that embed the crate. A statement that cannot be interrupted runs to its
/// end there.
#[derive(Debug)]
pub struct WorkersWithin(pub Arc<dyn Source>);

impl Workers for WorkersWithin {
    fn start(&self, link: UnixStream) -> io::Result<Option<Child>> {
        let source = Arc::clone(&self.0);
        let answering = move || {
            let link = WorkerLink::of(link, false)?;
            link.serve(move |_| async { Ok(source) })
        };
        let logged = move || {
            if let Err(error) = answering() {
                tracing::debug!(%error, "a worker ended");
            }
        };
        std::thread::Builder::new().spawn(logged)?;
        Ok(None)
    }
}

/// Handle of a worker at the server. Dropping it ends the worker.
#[derive(Debug)]
pub(crate) struct Worker {
    link: tokio::net::UnixStream,
    child: Option<Child>,
    state: String,
    /// Folder for spilled data, removed after the end of the process.
    spill: TempDir,
}

impl Worker {
    /// Sends a request. The worker then sends the frames of its answer.
    pub(crate) async fn ask(&mut self, request: &Request) -> io::Result<()> {
        self.link.write_all(&wire::message(request)?).await
    }

    pub(crate) async fn told(&mut self) -> io::Result<Reply> {
        wire::told(&mut self.link).await
    }

    /// True while the worker process runs.
    fn is_there(&mut self) -> bool {
        self.child
            .as_mut()
            .is_none_or(|child| matches!(child.try_wait(), Ok(None)))
    }

    pub(crate) async fn end(mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill().await;
        }
    }

    /// True if a worker ended because of too little memory. The program aborts if an allocation fails, and the kernel
    /// kills the largest process if memory runs out.
    pub(crate) async fn lacked_memory(mut self) -> bool {
        let Some(child) = &mut self.child else { return false };
        let ended = tokio::time::timeout(BREAK_OFF_MAX, child.wait()).await;
        let signal = ended.ok().and_then(Result::ok).and_then(|status| status.signal());
        matches!(signal, Some(SIGABRT | SIGKILL))
    }
}

#[derive(Debug)]
pub(crate) struct IdleWorkers {
    config: SqlConfig,
    source: Arc<dyn Workers>,
    idle: Mutex<Vec<Worker>>,
    /// Lock while a worker is started in advance.
    starting: tokio::sync::Mutex<()>,
}

impl IdleWorkers {
    /// Creates an empty set of workers. The first statement starts the first one.
    pub(crate) fn new(config: &SqlConfig, source: Arc<dyn Workers>) -> Result<Self, StartError> {
        let workers = Self {
            config: config.clone(),
            source,
            idle: Mutex::default(),
            starting: tokio::sync::Mutex::default(),
        };
        workers.folder().map_err(|error| StartError::Spill(error.into()))?;
        Ok(workers)
    }

    /// Returns an idle worker with current tables, or starts one.
    pub(crate) async fn take(&self) -> Result<Worker, SqlError> {
        let state = self.source.state()?;
        loop {
            let idle = self.idle().pop();
            let Some(mut worker) = idle else {
                if self.starting.try_lock().is_ok() {
                    return self.start(state).await;
                }
                // The lock is free once the worker that is started in advance is ready.
                drop(self.starting.lock().await);
                continue;
            };
            if worker.state == state && worker.is_there() {
                return Ok(worker);
            }
            worker.end().await;
        }
    }

    /// Keeps a worker for the next statement, unless as many workers are idle as statements may run.
    pub(crate) fn keep(&self, worker: Worker) {
        let mut idle = self.idle();
        if idle.len() < self.config.concurrency_max {
            idle.push(worker);
        }
    }

    /// Returns an idle worker whose tables are outdated.
    pub(crate) fn outdated(&self) -> Option<Worker> {
        let state = self.source.state().ok();
        let mut idle = self.idle();
        let at = idle.iter().position(|worker| Some(&worker.state) != state.as_ref())?;
        Some(idle.swap_remove(at))
    }

    /// Starts one worker in advance and opens its tables, unless another one is being started.
    pub(crate) async fn spare(&self) {
        let Ok(_only) = self.starting.try_lock() else {
            return;
        };
        let opened = async {
            let mut worker = self.start(self.source.state()?).await?;
            let open = Request {
                task: Task::Open,
                as_of: None,
                timeout_ms: self.config.timeout_ms,
            };
            worker.ask(&open).await.map_err(|error| broken(&error))?;
            let told = worker.told().await.map_err(|error| broken(&error))?;
            match told {
                Reply::Failed(error) => Err(error),
                Reply::Piece(_) | Reply::Ended => Ok(worker),
            }
        };
        let limit = Duration::from_millis(self.config.timeout_ms);
        // After a failure, the next statement starts a worker itself and reports the error.
        if let Ok(Ok(worker)) = tokio::time::timeout(limit, opened).await {
            self.keep(worker);
        }
    }

    async fn start(&self, state: String) -> Result<Worker, SqlError> {
        let started = async {
            let spill = self.folder()?;
            let (ours, theirs) = UnixStream::pair()?;
            ours.set_nonblocking(true)?;
            let mut worker = Worker {
                link: tokio::net::UnixStream::from_std(ours)?,
                child: self.source.start(theirs)?,
                state,
                spill,
            };
            let setup = wire::message(&Setup {
                config: self.config.clone(),
                spill: worker.spill.path().to_owned(),
                state: worker.state.clone(),
                own: self.source.setup(),
            })?;
            worker.link.write_all(&setup).await?;
            Ok(worker)
        };
        started.await.map_err(|error: io::Error| broken(&error))
    }

    /// Creates a worker's own folder for data that does not fit into memory.
    fn folder(&self) -> io::Result<TempDir> {
        let mut named = tempfile::Builder::new();
        named.prefix("haat-sql-");
        match self.config.spill.as_str() {
            "" => named.tempdir(),
            folder => {
                std::fs::create_dir_all(folder)?;
                named.tempdir_in(folder)
            }
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Logs and returns the error for a worker that cannot be started or ended for an unknown reason.
pub(crate) fn broken(error: &io::Error) -> SqlError {
    tracing::error!(%error, "a worker process for statements failed");
    SqlError::Internal
}
