use clap::Subcommand;

use super::examples;
use crate::listen::ListenAddress;

/// The commands parse job names themselves, so that their errors can list the known jobs.
#[derive(Debug, Subcommand)]
pub(crate) enum JobsCommand {
    /// Run scheduled jobs when they are due (jobs.*), until stopped
    ///
    /// Any number of these processes may work on one home. The processes may run on several machines that share a
    /// PostgreSQL state. Each run is started by only one process. After Ctrl-C or SIGTERM, running jobs have time to
    /// finish (jobs.stop_s); the next process runs the remaining jobs. All runs that were missed while no process ran
    /// are replaced by a single run.
    #[command(after_help = examples::JOBS_RUN)]
    Run {
        /// Address of probes and metrics, HOST:PORT; port 0 picks a free one [default: 127.0.0.1:9091, or
        /// jobs.ops_listen]
        #[arg(long, value_name = "ADDR")]
        ops_listen: Option<ListenAddress>,
    },
    /// List the jobs: when each is due, if it is paused or running, and what its last run did
    #[command(after_help = examples::JOBS_LIST)]
    List,
    /// Show the runs of one job or all jobs, newest first: why they started, how they ended and what they did
    #[command(after_help = examples::JOBS_HISTORY)]
    History {
        /// The job [default: all jobs]
        job: Option<String>,
        /// Number of runs to show
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,
    },
    /// Run a job immediately in this process, regardless of its schedule, and wait until it ends
    ///
    /// If another process is already running the job, the job is not started and the exit code is 4. In all other cases
    /// the exit code is that of the run: 0 done, 1 failed, 3 partly done or interrupted.
    #[command(after_help = examples::JOBS_TRIGGER)]
    Trigger {
        /// Name of the job
        job: String,
        /// Do not run it here: queue it for the next `haat jobs run` process, and do not wait
        #[arg(long)]
        queue: bool,
    },
    /// Pause a job: its schedule starts no run until `jobs resume`; a current run continues
    #[command(after_help = examples::JOBS_PAUSE)]
    Pause {
        /// Name of the job
        job: String,
    },
    /// Resume a paused job; runs that were due during the pause are not caught up
    #[command(after_help = examples::JOBS_RESUME)]
    Resume {
        /// Name of the job
        job: String,
    },
}
