//! Temporary `redis-server` or `valkey-server` for the tests.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "what is skipped is said, and the environment tells where tests run"
)]

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

/// Number of databases in the server that tests share. Each test has a database of its own.
const DATABASES: u32 = 1_000;

/// Server of a single test, which may stop the server. The server ends with the test.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    port: u16,
    password: Option<&'static str>,
    tls: bool,
    folder: TempDir,
}

fn program() -> Option<&'static str> {
    let found = ["valkey-server", "redis-server"].into_iter().find(|program| {
        let asked = Command::new(program).arg("--version").stdout(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    });
    if found.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "neither valkey-server nor redis-server is installed"
        );
        println!("skipped: neither valkey-server nor redis-server is installed");
    }
    found
}

/// Returns a free port outside the range that the system uses for connections. No port is returned twice.
fn free_port() -> u16 {
    static NEXT_PORT: AtomicU32 = AtomicU32::new(0);
    loop {
        let nth = std::process::id() * 97 + NEXT_PORT.fetch_add(1, Ordering::Relaxed);
        let port = u16::try_from(12_000 + nth % 8_000).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn run(port: u16, password: Option<&str>, tls: bool, folder: &TempDir) -> Option<Child> {
    let mut command = Command::new(program()?);
    let port = port.to_string();
    if tls {
        command.args(["--port", "0", "--tls-port", &port, "--tls-auth-clients", "no"]);
        for (setting, file) in [("cert", "server.pem"), ("key", "server.key"), ("ca-cert", "ca.pem")] {
            command
                .arg(format!("--tls-{setting}-file"))
                .arg(folder.path().join(file));
        }
    } else {
        command.args(["--port", &port]);
    }
    command.args(["--bind", "127.0.0.1"]);
    command.args(["--save", "", "--appendonly", "no"]);
    command.args(["--databases", &DATABASES.to_string()]);
    command.arg("--dir").arg(folder.path());
    if let Some(password) = password {
        command.args(["--requirepass", password]);
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Some(command.spawn().unwrap())
}

impl Server {
    /// Starts a server. Prints a line and returns `None` if none is installed.
    pub(crate) fn start(password: Option<&'static str>) -> Option<Self> {
        let port = free_port();
        let folder = tempfile::tempdir().unwrap();
        Some(Self {
            child: run(port, password, false, &folder)?,
            port,
            password,
            tls: false,
            folder,
        })
    }

    /// Starts a server that speaks only TLS. A new authority signs its certificate for `host`; [`Server::ca_file`] is
    /// the authority's certificate.
    pub(crate) fn start_with_tls(host: &str) -> Option<Self> {
        program()?;
        let port = free_port();
        let folder = tempfile::tempdir().unwrap();
        let names = format!("subjectAltName={host}");
        openssl(
            &folder,
            &[
                "req",
                "-x509",
                "-subj",
                "/CN=haat test",
                "-out",
                "ca.pem",
                "-keyout",
                "ca.key",
            ],
            &[],
        );
        let signed = [
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca.key",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ];
        let server = [
            "req",
            "-x509",
            "-subj",
            "/CN=server",
            "-out",
            "server.pem",
            "-keyout",
            "server.key",
        ];
        openssl(&folder, &server, &[&signed[..], &["-addext", &names]].concat());
        Some(Self {
            child: run(port, None, true, &folder)?,
            port,
            password: None,
            tls: true,
            folder,
        })
    }

    pub(crate) fn ca_file(&self) -> String {
        self.folder.path().join("ca.pem").to_string_lossy().into_owned()
    }

    pub(crate) fn url(&self) -> String {
        let password = self.password.map(|password| format!(":{password}@"));
        let scheme = if self.tls { "rediss" } else { "redis" };
        format!("{scheme}://{}127.0.0.1:{}/0", password.unwrap_or_default(), self.port)
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn restart(&mut self) {
        self.child = run(self.port, self.password, self.tls, &self.folder).unwrap();
    }

    /// Sends the process a signal: `STOP`, after which it does not respond, or `CONT`.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }
}

fn openssl(folder: &TempDir, command: &[&str], more: &[&str]) {
    let made = Command::new("openssl")
        .current_dir(folder.path())
        .args(command)
        .args([
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
        ])
        .args(more)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
}

impl Drop for Server {
    fn drop(&mut self) {
        // A kill also ends a process that a signal stopped.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Server for all tests of this process. A shell stops it when this process ends for any reason, because the shell's
/// input pipe then closes.
struct Common {
    port: u16,
    _shell: Child,
}

static COMMON: OnceLock<Option<Common>> = OnceLock::new();
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Returns the address of an empty database. Returns `None` if no server is installed.
pub(crate) fn database() -> Option<String> {
    let port = COMMON.get_or_init(start_common).as_ref()?.port;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    assert!(number < DATABASES, "more databases than the server has");
    Some(format!("redis://127.0.0.1:{port}/{number}"))
}

fn start_common() -> Option<Common> {
    let program = program()?;
    let port = free_port();
    let script = format!(
        "folder=$(mktemp -d)
         {program} --port {port} --bind 127.0.0.1 --save '' --databases {DATABASES} --dir \"$folder\" >/dev/null 2>&1 &
         server=$!
         trap 'kill $server; wait $server; rm -rf \"$folder\"' EXIT
         read -r _"
    );
    let shell = Command::new("sh")
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    Some(Common {
        port,
        _shell: shell.unwrap(),
    })
}
