//! PostgreSQL server for tests: the one in `TEST_POSTGRES`, or a temporary one from the installed programs.

#![expect(
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test that cannot go on says so at once, says what it skips, and is told by the environment where it runs"
)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};

/// Server for all tests of this process. A shell stops the server and removes its files when this process ends for any
/// reason, because the shell's input pipe then closes.
struct Server {
    url: String,
    _shell: Child,
}

/// Script that runs a server with the programs in `$1` and the files in `$2` until its standard input ends.
const SCRIPT: &str = include_str!("../postgres.sh");

static SERVER: OnceLock<Option<Server>> = OnceLock::new();

/// Creates a new, empty database and returns its URL. Prints a line and returns `None` if there is no server.
///
/// # Panics
/// Panics if the server does not work, or if `CI` is set and there is no server.
pub async fn database() -> Option<String> {
    let base = match std::env::var("TEST_POSTGRES") {
        Ok(url) => url,
        Err(_) => tokio::task::spawn_blocking(|| SERVER.get_or_init(start).as_ref().map(|server| server.url.clone()))
            .await
            .unwrap()?,
    };
    let name = format!("haat_{}", uuid::Uuid::new_v4().simple());
    let options: PgConnectOptions = base.parse().unwrap();
    let mut connection = options.connect().await.unwrap();
    let sql = AssertSqlSafe(format!("CREATE DATABASE {name}"));
    connection.execute(sql).await.unwrap();
    connection.close().await.unwrap();
    let mut url: url::Url = base.parse().unwrap();
    url.set_path(&name);
    Some(url.to_string())
}

/// Returns the folder of PostgreSQL's programs: on the `PATH`, or Debian's.
fn programs() -> Option<PathBuf> {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<_> = debian.map(|entry| entry.path().join("bin")).collect();
    folders.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&path));
    folders
        .into_iter()
        .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

fn start() -> Option<Server> {
    let Some(programs) = programs() else {
        assert!(
            std::env::var_os("CI").is_none(),
            "PostgreSQL is not installed, and TEST_POSTGRES names no server"
        );
        println!("skipped on PostgreSQL: it is not installed, and TEST_POSTGRES names no server");
        return None;
    };
    // The folder is not in the user's temporary folder. PostgreSQL refuses to run as root, and the other user must
    // reach it.
    let folder = tempfile::Builder::new().prefix("haat-postgres-").tempdir_in("/tmp");
    let folder = folder.unwrap().keep();
    let root = std::os::unix::fs::MetadataExt::uid(&folder.metadata().unwrap()) == 0;
    let mut shell = if root {
        assert!(
            Command::new("chown")
                .arg("postgres")
                .arg(&folder)
                .status()
                .unwrap()
                .success()
        );
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "sh"]);
        command
    } else {
        Command::new("sh")
    };
    let shell = shell
        .args(["-c", SCRIPT, "sh"])
        .arg(programs)
        .arg(&folder)
        .current_dir("/")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for(&folder, shell)
}

/// Waits until the server responds.
fn wait_for(folder: &Path, mut shell: Child) -> Option<Server> {
    let url = format!("postgres://haat@localhost/postgres?host={}", folder.display());
    let options: PgConnectOptions = url.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let begin = Instant::now();
    while runtime.block_on(options.connect()).is_err() {
        let ended = shell.try_wait().unwrap();
        let late = begin.elapsed() > Duration::from_secs(300);
        if late || ended.is_some() {
            let told = std::fs::read_to_string(folder.join("server.log")).unwrap_or_default();
            let _ = shell.stdin.take().map(|mut stdin| stdin.write_all(b"\n"));
            panic!("PostgreSQL did not start: {ended:?} {told}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Some(Server { url, _shell: shell })
}
