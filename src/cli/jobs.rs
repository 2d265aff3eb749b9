use clap::Subcommand;

use super::examples;
use crate::listen::ListenAddress;

/// Names of jobs are read by the commands themselves, which list those that there are.
#[derive(Debug, Subcommand)]
pub(crate) enum JobsCommand {
    /// Run what is due by the schedules of the configuration (jobs.*), until it is told to stop
    ///
    /// Any number of these processes may work on one home, on any number of machines that share a PostgreSQL state: each
    /// run is begun by one of them. Ctrl-C or SIGTERM lets the jobs that are at work come to a good end (jobs.stop_s); what
    /// is left is run by the next process. Runs that were missed meanwhile are caught up by one.
    #[command(after_help = examples::JOBS_RUN)]
    Run {
        /// Address of probes and metrics, HOST:PORT; port 0 takes a free one [default: 127.0.0.1:9091, or jobs.ops_listen]
        #[arg(long, value_name = "ADDR")]
        ops_listen: Option<ListenAddress>,
    },
    /// List the jobs: when each is due, whether it rests or is at work, and what its last run did
    #[command(after_help = examples::JOBS_LIST)]
    List,
    /// Show the runs of a job, or of all, newest first: why they began, what came of them and what they did
    #[command(after_help = examples::JOBS_HISTORY)]
    History {
        /// The job [default: all of them]
        job: Option<String>,
        /// The number of runs to show
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,
    },
    /// Run a job here and now, whatever its schedule says, and wait for its end
    ///
    /// A job that somebody else is at work on is not run, and the exit code is 4. Else the exit code is that of the
    /// run: 0 done, 1 failed, 3 done in part or interrupted.
    #[command(after_help = examples::JOBS_TRIGGER)]
    Trigger {
        /// The job
        job: String,
        /// Do not run it here: ask the next `haat jobs run` that looks for it, and do not wait
        #[arg(long)]
        queue: bool,
    },
    /// Let a job rest: its schedule begins no run until `jobs resume`; a run that is at work goes on
    #[command(after_help = examples::JOBS_PAUSE)]
    Pause {
        /// The job
        job: String,
    },
    /// End a job's rest; what was due meanwhile is not caught up
    #[command(after_help = examples::JOBS_RESUME)]
    Resume {
        /// The job
        job: String,
    },
}
