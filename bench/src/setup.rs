//! Catalogue for all benchmarks, which is created once.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use anyhow::Context;
use kit::SetClock;
use serde_json::Value;

/// Returns a fixed clock, later than the crawl. The clock only names runs and measures nothing.
pub(crate) fn still() -> Arc<SetClock> {
    SetClock::at("2027-01-15T08:00:00Z")
}

#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) products: u64,
    pub(crate) stores: u32,
    /// Folder of recorded pages to crawl as well.
    pub(crate) recorded: Option<String>,
    /// Python interpreter with the other crawlers.
    pub(crate) peers: Option<PathBuf>,
    home: PathBuf,
    _scratch: Option<tempfile::TempDir>,
    binary: PathBuf,
}

/// Child process that serves until this value is dropped.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    pub(crate) child: Child,
    pub(crate) document: Value,
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Bench {
    pub(crate) fn new(products: u64, stores: u32, home: Option<PathBuf>) -> anyhow::Result<Self> {
        let binary = std::env::current_exe()?.with_file_name("haat");
        anyhow::ensure!(
            binary.exists(),
            "{} is absent: `cargo build --release` first",
            binary.display()
        );
        let scratch = if home.is_none() {
            Some(tempfile::tempdir()?)
        } else {
            None
        };
        let home = match (&scratch, home) {
            (Some(scratch), _) => scratch.path().to_owned(),
            (None, home) => home.unwrap_or_default(),
        };
        Ok(Self {
            products,
            stores,
            recorded: None,
            peers: None,
            home,
            _scratch: scratch,
            binary,
        })
    }

    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Returns a command on `home` that may crawl this machine without a rate limit.
    pub(crate) fn command(&self, home: &Path, args: &[&str]) -> Command {
        Self::prepared(Command::new(&self.binary), home, args)
    }

    /// Runs a command that an operator would run on another machine, so it gets only the CPU time that others leave.
    pub(crate) fn run_elsewhere(&self, home: &Path, args: &[&str]) -> anyhow::Result<Value> {
        let mut command = Command::new("nice");
        command.args(["-n", "19"]).arg(&self.binary);
        Self::ran(Self::prepared(command, home, args), args)
    }

    /// Configures a command of any `haat` program on `home` with the settings of the benchmarks.
    pub(crate) fn prepared(mut command: Command, home: &Path, args: &[&str]) -> Command {
        command.args(args).args(["--json", "--quiet", "--home"]).arg(home);
        command
            .env("HAAT_STOREFRONT__ALLOW_LOOPBACK", "true")
            .env("HAAT_STOREFRONT__RATE_START_PER_S", "1e9")
            // Requests are counted as usual, but the limit is never reached.
            .env("HAAT_LIMITS__ANONYMOUS__PER_SECOND", "100000")
            .env("HAAT_LIMITS__ANONYMOUS__BURST", "1000000");
        command
    }

    pub(crate) fn run(&self, home: &Path, args: &[&str]) -> anyhow::Result<Value> {
        Self::ran(self.command(home, args), args)
    }

    fn ran(mut command: Command, args: &[&str]) -> anyhow::Result<Value> {
        let output = command.stderr(Stdio::inherit()).output()?;
        anyhow::ensure!(output.status.success(), "haat {args:?} ended with {}", output.status);
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Starts a server command, and waits for its first line of output.
    pub(crate) fn serve(&self, home: &Path, args: &[&str]) -> anyhow::Result<ServerProcess> {
        Self::serving(self.command(home, args))
    }

    /// Starts a prepared server command, and waits for its first line of output.
    pub(crate) fn serving(mut command: Command) -> anyhow::Result<ServerProcess> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("stdout")?).read_line(&mut line)?;
        Ok(ServerProcess {
            child,
            document: serde_json::from_str(&line)?,
        })
    }

    /// Serves the generated stores at an epoch.
    pub(crate) fn emulate(&self, epoch: u32) -> anyhow::Result<ServerProcess> {
        self.emulate_in(self.stores, epoch)
    }

    /// Serves the generated products in this number of stores.
    pub(crate) fn emulate_in(&self, stores: u32, epoch: u32) -> anyhow::Result<ServerProcess> {
        let (products, stores, epoch) = (self.products.to_string(), stores.to_string(), epoch.to_string());
        let args = [
            "emulate",
            "--products",
            &products,
            "--stores",
            &stores,
            "--seed",
            "1",
            "--epoch",
            &epoch,
            "--identity",
        ];
        self.serve(self.home(), &args)
    }

    pub(crate) fn emulate_recorded(&self, folder: &str) -> anyhow::Result<ServerProcess> {
        self.serve(self.home(), &["emulate", "--recorded", folder, "--identity"])
    }

    /// Registers the first `count` of the served stores and returns their slugs.
    pub(crate) fn register(&self, home: &Path, stores: &ServerProcess, count: usize) -> anyhow::Result<Vec<String>> {
        let urls = stores.document["stores"]
            .as_array()
            .context("stores")?
            .iter()
            .take(count);
        let urls: Vec<&str> = urls.filter_map(|store| store["base_url"].as_str()).collect();
        let mut slugs = Vec::new();
        for urls in urls.chunks(500) {
            let added = self.run(home, &[&["brands", "add", "--moved"], urls].concat())?;
            let added = added["brands"].as_array().context("brands")?;
            slugs.extend(
                added
                    .iter()
                    .filter_map(|brand| Some(brand["brand"]["slug"].as_str()?.to_owned())),
            );
        }
        Ok(slugs)
    }

    /// Crawls the whole catalogue into the home and releases it, unless an earlier run did so.
    pub(crate) fn fill(&self) -> anyhow::Result<()> {
        if self.home.join("releases").exists() {
            return Ok(());
        }
        let stores = self.emulate(0)?;
        self.register(&self.home, &stores, usize::MAX)?;
        self.run(&self.home, &["crawl", "--release"])?;
        Ok(())
    }
}
