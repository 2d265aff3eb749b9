//! Binary `haat`: reads the configuration, wires the crates and prints results. The binary contains no business rules.
//!
//! Input: the command line, a configuration file and `HAAT_…` variables. Output: results on standard output, logs and
//! progress on standard error, and an exit code.

mod access;
mod agents;
mod allocator;
mod cli;
mod clock;
mod commands;
mod config;
mod discover;
mod exit;
mod home;
mod home_folder;
mod listen;
mod listeners;
mod live;
mod output;
mod plain;
mod progress;
mod running;
mod sql_over_wire;
mod state;
mod textfile;
mod watch;
mod watches;
mod wiring;

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, Parser};

use crate::cli::{Cli, Command};
use crate::config::Layers;
use crate::exit::Outcome;
use crate::output::Output;
use crate::wiring::Context;

fn main() -> ExitCode {
    // The threshold must be set before any thread starts.
    allocator::give_back_large_blocks();
    if sql_over_wire::worker::is_asked_for() {
        return sql_over_wire::worker::run();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && std::env::args_os().any(|argument| argument == "--json") => {
            let message = error.to_string();
            let message = message.strip_prefix("error: ").unwrap_or(&message).trim();
            let report = serde_json::json!({ "error": { "message": message, "exit_code": Outcome::Usage.code() } });
            let _ = writeln!(std::io::stderr(), "{report}");
            return Outcome::Usage.into();
        }
        Err(error) => error.exit(),
    };
    let json = cli.global.json;
    match start(cli) {
        Ok(outcome) => outcome.into(),
        // The reader of standard output closed it early, as in `haat sql … | head`.
        Err(error) if exit::is_closed_pipe(&error) => Outcome::Done.into(),
        Err(error) => {
            let outcome = Outcome::of(&error);
            let report = if json {
                serde_json::json!({ "error": { "message": exit::plain(&error), "exit_code": outcome.code() } })
                    .to_string()
            } else {
                format!("haat: {}", exit::plain(&error))
            };
            // Standard error may be closed, and there is no other output.
            let _ = writeln!(std::io::stderr(), "{report}");
            outcome.into()
        }
    }
}

fn start(cli: Cli) -> anyhow::Result<Outcome> {
    let output = Output { json: cli.global.json };
    if let Command::Completions { shell } = cli.command {
        // The script is generated in memory first, because the generator panics if a write fails.
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "haat", &mut script);
        // A completion script is printed unchanged, even with `--json`.
        Output { json: false }.print(&(), |out| out.write_all(&script))?;
        return Ok(Outcome::Done);
    }
    if let Command::Man { to } = &cli.command {
        return commands::man::write(to, output);
    }
    let layers = Layers::read(&cli.global).map_err(exit::usage)?;
    let config = layers.merge().map_err(exit::usage)?;
    if let Command::Config(args) = &cli.command {
        return commands::config::show(args, &layers, output);
    }
    let format = match config.log.format {
        config::LogFormat::Text => api::LogFormat::Pretty,
        config::LogFormat::Json => api::LogFormat::Json,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let collector = config.traces.collector();
    let collector = collector.as_ref().map(|config| api::TraceCollector {
        config,
        runtime: runtime.handle().clone(),
    });
    let traces = api::init_logs(format, &config.log.filter, collector).map_err(|error| exit::usage(error.into()))?;
    let context = Context::new(config, output, cli.global.quiet, layers.is_default("home"));
    let scratch = Arc::clone(&context.scratch);
    // The future is boxed because it contains every command's state and is large.
    let outcome = runtime.block_on(Box::pin(commands::run(cli.command, context)));
    if let Some(traces) = traces {
        traces.end();
    }
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    drop(scratch);
    outcome
}
