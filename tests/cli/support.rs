use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use serde_json::Value;

pub(crate) struct Haat {
    pub(crate) home: tempfile::TempDir,
    variables: Vec<(String, String)>,
    home_url: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Answer {
    /// Returns the JSON document on standard output of a command, which must have succeeded.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, 0, "stderr: {}\nstdout: {}", self.stderr, self.stdout);
        self.document()
    }

    /// Returns the JSON document on standard output, whatever the exit code.
    #[track_caller]
    pub(crate) fn document(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {} / {}", self.stdout, self.stderr))
    }
}

/// Setting that makes the demo probe its stores for delivery.
pub(crate) const PROBES: &str = "HAAT_JOBS__PROBE_DELIVERY__ENABLED";

impl Haat {
    /// Creates a new home. The home's crawler may query stores on this machine without a rate limit, and its servers
    /// have no request limits and long timeouts.
    pub(crate) fn new() -> Self {
        let variables = [
            ("HAAT_STOREFRONT__ALLOW_LOOPBACK", "true"),
            ("HAAT_STOREFRONT__RATE_START_PER_S", "1e9"),
            ("HAAT_LIMITS__ANONYMOUS__PER_SECOND", "0"),
            // Requests to stores on this machine have a long timeout, because the machine may be busy.
            ("HAAT_STOREFRONT__INTERACTIVE_TIMEOUT_MS", "30000"),
            ("HAAT_LIVE_GATEWAY__ASK__BUDGET_MS", "30000"),
            ("HAAT_LIVE_GATEWAY__CARTS__BUDGET_MS", "40000"),
            ("HAAT_LIVE_GATEWAY__CARTS__OPTIMIZE_BUDGET_MS", "40000"),
            ("HAAT_LIVE_GATEWAY__COUPONS__BUDGET_MS", "40000"),
            ("HAAT_MCP__TIMEOUT_MS", "50000"),
            ("HAAT_QUERY_SERVER__REQUEST_TIMEOUT_MS", "60000"),
            ("HAAT_SQL__TIMEOUT_MS", "600000"),
            // The demo's delivery probes cause a release at an unpredictable time, so only tests that need it enable
            // them.
            (PROBES, "false"),
        ];
        let variables = variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec();
        Self {
            home: tempfile::tempdir().unwrap(),
            variables,
            home_url: None,
        }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Uses `url` instead of the folder for all data.
    pub(crate) fn at(mut self, url: &str) -> Self {
        self.home_url = Some(url.to_owned());
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.home.path()
    }

    /// Returns a command whose environment has only the haat variables that the test sets.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let home = self
            .home_url
            .clone()
            .unwrap_or_else(|| self.home.path().to_string_lossy().into_owned());
        let mut command = Command::new(env!("CARGO_BIN_EXE_haat"));
        command
            .current_dir(self.home.path())
            .args(args)
            .args(["--json", "--quiet", "--home", &home]);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Answer {
        let output = self.command(args).output().unwrap();
        Answer {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Returns a command that prints text for people.
    pub(crate) fn plain(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_haat"));
        command
            .current_dir(self.home.path())
            .args(args)
            .arg("--home")
            .arg(self.path());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command, which must succeed, and returns its text output.
    #[track_caller]
    pub(crate) fn told(&self, args: &[&str]) -> String {
        let output = self.plain(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    pub(crate) fn sql(&self, statement: &str) -> Vec<Value> {
        self.run(&["sql", statement, "--limit", "1000000"])
            .json()
            .as_array()
            .unwrap()
            .clone()
    }

    /// Starts a server command, and waits for the JSON line that it prints when it is ready.
    pub(crate) fn serve(&self, args: &[&str]) -> (ServerProcess, Value) {
        let logged = self.serve_logged(args);
        (logged.serving, logged.document)
    }

    /// Starts a server like `serve`, and also returns the log lines.
    pub(crate) fn serve_logged(&self, args: &[&str]) -> LoggedProgram {
        let mut child = self
            .command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let Ok(document) = serde_json::from_str(&line) else {
            let _ = child.kill();
            let mut stderr = String::new();
            child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
            panic!("{args:?} did not serve: {line:?} {stderr}");
        };
        // The log is always read, so that a full pipe never blocks the server.
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (sender, log) = mpsc::channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        LoggedProgram {
            serving: ServerProcess { child },
            document,
            log,
        }
    }

    /// Serves emulated stores and registers them.
    pub(crate) fn with_stores(&self, args: &[&str]) -> (ServerProcess, Value) {
        let (serving, stores) = self.serve(&[&["emulate"], args].concat());
        self.register(&stores);
        (serving, stores)
    }

    /// Registers every store in the output of `haat emulate`.
    #[track_caller]
    pub(crate) fn register(&self, stores: &Value) {
        let urls: Vec<_> = stores["stores"]
            .as_array()
            .unwrap()
            .iter()
            .map(|store| store["base_url"].as_str().unwrap())
            .collect();
        self.run(&[&["brands", "add", "--moved"], urls.as_slice()].concat())
            .json();
    }
}

/// Server with its start-up document and its log lines, which end with the server.
pub(crate) struct LoggedProgram {
    pub(crate) serving: ServerProcess,
    pub(crate) document: Value,
    pub(crate) log: mpsc::Receiver<String>,
}

/// Server that runs until this value is dropped.
pub(crate) struct ServerProcess {
    pub(crate) child: Child,
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a folder of test data outside the project. Prints a line and returns `None` if it is absent.
pub(crate) fn shared_data(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/data")
        .join(folder);
    if path.is_dir() {
        return Some(path);
    }
    // Recordings are not part of the project, so a plain clone does not have them.
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    assert!(
        std::env::var_os("CI").is_none() || !beside.exists(),
        "{} is absent",
        path.display()
    );
    println!("skipped: {} is absent", path.display());
    None
}

/// True if `program` can be run. Prints a line if not.
pub(crate) fn has_program(program: &str, args: &[&str]) -> bool {
    let ran = Command::new(program)
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if ran.is_ok_and(|status| status.success()) {
        return true;
    }
    assert!(std::env::var_os("CI").is_none(), "{program} is absent");
    println!("skipped: {program} {args:?} does not run here");
    false
}

/// True if the program was built with an optional feature. Prints a line if not, because a test is skipped.
pub(crate) fn is_built_with(feature: &str, is_built: bool) -> bool {
    if !is_built {
        println!("skipped: build with `--features {feature}`");
    }
    is_built
}

/// Sends a GET request and returns status and JSON body.
pub(crate) fn get(url: &str) -> (u16, Value) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let answer = reqwest::get(url).await.unwrap();
        let status = answer.status().as_u16();
        (
            status,
            serde_json::from_str(&answer.text().await.unwrap()).unwrap_or(Value::Null),
        )
    })
}

/// Sends a POST request with JSON and returns status and JSON body.
pub(crate) fn post(url: &str, body: &Value) -> (u16, Value) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let request = reqwest::Client::new().post(url).body(body.to_string());
        let request = request.header("content-type", "application/json");
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (
            status,
            serde_json::from_str(&answer.text().await.unwrap()).unwrap_or(Value::Null),
        )
    })
}

/// Returns every file below `folder` whose path contains `part`, sorted.
pub(crate) fn files(folder: &Path, part: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().contains(part) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Reads the next request of a connection, which must be a `POST` to `path`, and returns its body. Returns `None` if
/// the connection is closed.
pub(crate) fn request_body(stream: &mut impl BufRead, path: &str) -> Option<Vec<u8>> {
    let (mut line, mut length) = (String::new(), 0);
    stream.read_line(&mut line).ok().filter(|read| *read > 0)?;
    assert!(line.starts_with(&format!("POST {path} ")), "{line}");
    while line.trim_end() != "" {
        line.clear();
        stream.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    Some(body)
}
