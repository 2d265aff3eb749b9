use clap::{Args, Subcommand};

use super::examples;
use crate::listen::ListenAddress;

/// Text of `haat worker --help`.
pub(super) const WORKER: &str =
    "Take stores from the queue and refresh them, with any number of workers on any number of machines

`haat crawl --queue` puts stores into the queue. One worker at a time crawls a store. A worker without a sign of life \
for queue.lease_s loses the store to another worker, which continues after the pages that were landed. One of the \
workers commits the results of all workers to the lake. Workers on several machines share a PostgreSQL state \
(state.url) and a home on S3. Ctrl-C or SIGTERM returns unfinished stores to the queue.";

#[derive(Debug, Args)]
pub(crate) struct QueuedArgs {
    /// Put the stores into the queue for `haat worker` processes, and do not wait for them
    #[arg(long, conflicts_with_all = ["dry_run", "release"])]
    pub(crate) queue: bool,
    /// Priority in the queue: higher priorities are taken first
    #[arg(
        long,
        value_name = "N",
        requires = "queue",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    pub(crate) priority: i64,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Exit when no run is left in the queue, instead of waiting for the next
    #[arg(long)]
    pub(crate) until_empty: bool,
    /// Address of probes and metrics, HOST:PORT; port 0 picks a free one [default: queue.ops_listen, or none]
    #[arg(long, value_name = "ADDR")]
    pub(crate) ops_listen: Option<ListenAddress>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum QueueCommand {
    /// Show the content of the queue: its size, its runs, and each store with the worker that has it and until when
    #[command(after_help = examples::QUEUE_LIST)]
    List {
        /// Number of stores to show
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,
    },
    /// Show the dead letters with their errors: stores whose attempts all failed (queue.attempts_max)
    #[command(after_help = examples::QUEUE_DEAD)]
    Dead {
        /// Number of dead letters to show
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,
    },
    /// Put dead letters into the queue again, as a new run
    #[command(after_help = examples::QUEUE_RETRY)]
    Retry(LettersArgs),
    /// Discard dead letters; the next crawl of all brands still includes their stores
    #[command(after_help = examples::QUEUE_DROP)]
    Drop(LettersArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LettersArgs {
    /// Slugs of the brands with dead letters
    #[arg(required_unless_present = "all", value_name = "SLUG")]
    pub(crate) brands: Vec<String>,
    /// All dead letters
    #[arg(long, conflicts_with = "brands")]
    pub(crate) all: bool,
}
