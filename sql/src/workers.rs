//! The workers of a server: started where there is none, kept while they read the state that statements read, ended
//! whatever they are at.

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

/// The longest wait for a worker that closed its socket.
const BREAK_OFF_MAX: Duration = Duration::from_secs(5);

/// The variables that a worker's process gets of its server's: no secret is among them.
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

/// Starts workers, and names the state that they read.
pub trait Workers: fmt::Debug + Send + Sync {
    /// The name of the state that statements read now. A worker reads the same for as long as it lives: one of another
    /// state is ended.
    ///
    /// # Errors
    /// [`SqlError::NotReady`]
    fn state(&self) -> Result<String, SqlError> {
        Ok(String::new())
    }

    /// All that a worker must know to find its tables.
    fn setup(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// Starts the worker at the other end of a socket: a process ([`start_program`]), or something that ends with the
    /// socket.
    ///
    /// # Errors
    /// It cannot be started.
    fn start(&self, link: UnixStream) -> io::Result<Option<Child>>;
}

/// Starts this program again, with other arguments, at the other end of a socket. Its environment holds only
/// the places of the system's own files.
///
/// # Errors
/// It cannot be started.
#[expect(clippy::disallowed_methods, reason = "it is no configuration, and handed on unread")]
pub fn start_program(arguments: &[&str], link: UnixStream) -> io::Result<Child> {
    // The program that runs, even where another one has taken its place on the disk.
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
        // Ctrl-C is for the server, which ends its workers when it has answered.
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
}

/// Workers within this process, for programs that embed the crate: nothing ends a statement there that cannot be interrupted.
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

/// A worker, as its server sees it. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Worker {
    link: tokio::net::UnixStream,
    child: Option<Child>,
    state: String,
    /// Removed after the process has ended.
    spill: TempDir,
}

impl Worker {
    /// Sends the request; the frames of its answer follow.
    pub(crate) async fn ask(&mut self, request: &Request) -> io::Result<()> {
        self.link.write_all(&wire::message(request)?).await
    }

    pub(crate) async fn told(&mut self) -> io::Result<Reply> {
        wire::told(&mut self.link).await
    }

    /// True while nobody has ended it.
    fn is_there(&mut self) -> bool {
        self.child
            .as_mut()
            .is_none_or(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// Ends it, whatever it is at.
    pub(crate) async fn end(mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill().await;
        }
    }

    /// True where a worker that broke off asked for too much memory: the program gives up where it gets none, and the
    /// kernel ends the largest process where none is left.
    pub(crate) async fn lacked_memory(mut self) -> bool {
        let Some(child) = &mut self.child else { return false };
        let ended = tokio::time::timeout(BREAK_OFF_MAX, child.wait()).await;
        let signal = ended.ok().and_then(Result::ok).and_then(|status| status.signal());
        matches!(signal, Some(SIGABRT | SIGKILL))
    }
}

/// The workers of a server that have nothing to do.
#[derive(Debug)]
pub(crate) struct IdleWorkers {
    config: SqlConfig,
    source: Arc<dyn Workers>,
    idle: Mutex<Vec<Worker>>,
    /// Held while one is started ahead.
    starting: tokio::sync::Mutex<()>,
}

impl IdleWorkers {
    /// Starts none before the first statement.
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

    /// A worker that reads the state that statements read now.
    pub(crate) async fn take(&self) -> Result<Worker, SqlError> {
        let state = self.source.state()?;
        loop {
            let idle = self.idle().pop();
            let Some(mut worker) = idle else {
                if self.starting.try_lock().is_ok() {
                    return self.start(state).await;
                }
                // One is on its way.
                drop(self.starting.lock().await);
                continue;
            };
            if worker.state == state && worker.is_there() {
                return Ok(worker);
            }
            worker.end().await;
        }
    }

    /// Keeps a worker for the next statement, unless as many wait as there may be at work.
    pub(crate) fn keep(&self, worker: Worker) {
        let mut idle = self.idle();
        if idle.len() < self.config.concurrency_max {
            idle.push(worker);
        }
    }

    /// One that reads something else than statements read now.
    pub(crate) fn outdated(&self) -> Option<Worker> {
        let state = self.source.state().ok();
        let mut idle = self.idle();
        let at = idle.iter().position(|worker| Some(&worker.state) != state.as_ref())?;
        Some(idle.swap_remove(at))
    }

    /// Starts one ahead of the next statement, with its tables open; no second one meanwhile.
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
        // Without one the next statement starts one, and reports its fault.
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

    /// A worker's own folder for data that does not fit into memory.
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

/// A worker that cannot be started, or broke off for no reason that a statement gives.
pub(crate) fn broken(error: &io::Error) -> SqlError {
    tracing::error!(%error, "a worker of statements is broken");
    SqlError::Internal
}
