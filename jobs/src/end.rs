use std::collections::BTreeMap;
use std::error::Error;

use data_model::Timestamp;
use state::{JobRunEnd, JobRunOutcome};

use crate::decide::Policy;

/// The results of a job, in numbers.
pub type Counts = BTreeMap<String, u64>;

/// A job's own report on a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobReport {
    /// The end of the run.
    pub ended: JobOutcome,
    /// The results, in numbers.
    pub counts: Counts,
    /// Remarks, in words.
    pub detail: Option<String>,
}

/// The end of a job, as the job itself reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobOutcome {
    /// All is done.
    Done,
    /// Its work is done, and something in it needs somebody.
    Partial,
    /// It was told to stop, and did, with something left to do.
    Stopped,
}

/// The reason why a job failed, in words: an error with its causes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JobFailure(String);

impl JobFailure {
    /// A failure that says so.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// An error with all that caused it.
    pub fn of(error: &(dyn Error + 'static)) -> Self {
        let causes = std::iter::successors(Some(error), |error: &&(dyn Error + 'static)| (*error).source());
        let mut texts: Vec<String> = Vec::new();
        for text in causes.map(ToString::to_string) {
            // Some errors repeat what caused them.
            if texts.last().is_none_or(|last| !last.ends_with(&text)) {
                texts.push(text);
            }
        }
        Self(texts.join(": "))
    }
}

impl JobReport {
    /// All is done.
    #[must_use]
    pub const fn done() -> Self {
        Self {
            ended: JobOutcome::Done,
            counts: Counts::new(),
            detail: None,
        }
    }

    /// The same, with one more result in numbers.
    #[must_use]
    pub fn count(mut self, name: &str, count: u64) -> Self {
        self.counts.insert(name.to_owned(), count);
        self
    }

    /// The same of a task over stores: stopped where it was told to stop, partial where some are left.
    pub(crate) fn of_stores(self, is_stopped: bool, left: u64, detail: String) -> Self {
        match left {
            _ if is_stopped => Self {
                ended: JobOutcome::Stopped,
                ..self
            },
            0 => self,
            _ => self.partial(detail),
        }
    }

    /// The same, with something that needs somebody.
    #[must_use]
    pub fn partial(self, detail: impl Into<String>) -> Self {
        Self {
            ended: JobOutcome::Partial,
            detail: Some(detail.into()),
            ..self
        }
    }
}

/// The reason why the process that runs a job ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndReason {
    /// It took too long.
    Limit,
    /// The process was told to stop.
    Stop,
    /// Somebody else may have the job.
    Fenced,
}

/// The outcome of the work: its own report, or a failure.
#[derive(Debug, Clone)]
pub(crate) enum WorkOutcome {
    Reported(JobReport),
    Failed(JobFailure),
    /// It did not stop when it was told to, and was dropped.
    Dropped,
}

impl From<Result<JobReport, JobFailure>> for WorkOutcome {
    fn from(reported: Result<JobReport, JobFailure>) -> Self {
        match reported {
            Ok(report) => Self::Reported(report),
            Err(failure) => Self::Failed(failure),
        }
    }
}

/// The length of the text that the ledger keeps.
const DETAIL_CHARS_MAX: usize = 2_000;

/// The end of a run as the ledger has it, and the time of the next try.
pub(crate) fn end_of(
    came: WorkOutcome,
    ended: Option<EndReason>,
    attempt: u32,
    policy: &Policy,
    now: Timestamp,
) -> JobRunEnd {
    let (outcome, counts, detail) = match (came, ended) {
        (WorkOutcome::Reported(report), _) if report.ended == JobOutcome::Done => {
            (JobRunOutcome::Done, report.counts, report.detail)
        }
        (WorkOutcome::Reported(report), _) if report.ended == JobOutcome::Partial => {
            (JobRunOutcome::Partial, report.counts, report.detail)
        }
        (WorkOutcome::Reported(report), Some(EndReason::Limit)) => {
            (JobRunOutcome::TimedOut, report.counts, report.detail)
        }
        (WorkOutcome::Reported(report), _) => (JobRunOutcome::Interrupted, report.counts, report.detail),
        // A failure while the job is told to stop is due to that.
        (WorkOutcome::Failed(failure), Some(EndReason::Stop)) => {
            (JobRunOutcome::Interrupted, Counts::new(), Some(failure.0))
        }
        (WorkOutcome::Failed(failure), Some(EndReason::Limit)) => {
            (JobRunOutcome::TimedOut, Counts::new(), Some(failure.0))
        }
        (WorkOutcome::Failed(failure), _) => (JobRunOutcome::Failed, Counts::new(), Some(failure.0)),
        (WorkOutcome::Dropped, Some(EndReason::Limit)) => (JobRunOutcome::TimedOut, Counts::new(), None),
        (WorkOutcome::Dropped, _) => (JobRunOutcome::Interrupted, Counts::new(), None),
    };
    let retry_at = match outcome {
        JobRunOutcome::Failed | JobRunOutcome::TimedOut => policy.retry_at(attempt, now),
        // Whoever runs jobs next goes on with it at once.
        JobRunOutcome::Interrupted => Some(now),
        _ => None,
    };
    JobRunEnd {
        outcome,
        counts,
        detail: detail.map(|detail| cut(&detail)),
        retry_at,
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(DETAIL_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
