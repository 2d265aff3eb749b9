use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use data_model::Timestamp;
use state::{JobRunEnd, JobRunOutcome};

use crate::decide::Policy;

/// Results of a job as named counts.
pub type Counts = BTreeMap<String, u64>;

/// Report of a job about its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobReport {
    /// Outcome of the run.
    pub ended: JobOutcome,
    /// Results as named counts.
    pub counts: Counts,
    /// Remarks for an operator.
    pub detail: Option<String>,
}

/// Outcome of a run, as reported by the job itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobOutcome {
    /// The job is completely done.
    Done,
    /// The work is done, but something needs an operator's attention.
    Partial,
    /// The job stopped on request before it was done.
    Stopped,
}

/// Reason why a job failed: an error with its causes, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFailure(String);

impl fmt::Display for JobFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: Error + 'static> From<E> for JobFailure {
    fn from(error: E) -> Self {
        Self::of(&error)
    }
}

impl JobFailure {
    /// Creates a failure with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Creates a failure from an error and all of its causes.
    pub fn of(error: &(dyn Error + 'static)) -> Self {
        let causes = std::iter::successors(Some(error), |error: &&(dyn Error + 'static)| (*error).source());
        let mut texts: Vec<String> = Vec::new();
        for text in causes.map(ToString::to_string) {
            // Some errors already contain the text of their cause.
            if texts.last().is_none_or(|last| !last.ends_with(&text)) {
                texts.push(text);
            }
        }
        Self(texts.join(": "))
    }
}

impl JobReport {
    /// Returns a report of a run that is completely done.
    #[must_use]
    pub const fn done() -> Self {
        Self {
            ended: JobOutcome::Done,
            counts: Counts::new(),
            detail: None,
        }
    }

    /// Adds a named count to the report.
    #[must_use]
    pub fn count(mut self, name: &str, count: u64) -> Self {
        self.counts.insert(name.to_owned(), count);
        self
    }

    /// Sets the outcome of a task over stores: stopped if it was stopped on request, partial if some stores are left.
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

    /// Marks the report as needing an operator's attention.
    #[must_use]
    pub fn partial(self, detail: impl Into<String>) -> Self {
        Self {
            ended: JobOutcome::Partial,
            detail: Some(detail.into()),
            ..self
        }
    }
}

/// Reason why the process ended a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndReason {
    /// The job exceeded its time limit.
    Limit,
    Stop,
    /// Another process may have taken over the job.
    Fenced,
}

/// Result of the work: its own report, or a failure.
#[derive(Debug, Clone)]
pub(crate) enum WorkOutcome {
    Reported(JobReport),
    Failed(JobFailure),
    /// The job did not stop on request and was dropped.
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

/// Maximum length of the detail in the ledger, in characters.
const DETAIL_CHARS_MAX: usize = 2_000;

/// Returns the run's end for the ledger, with the time of the next attempt.
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
        // The stop causes a failure during the stop.
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
        // The next process that runs jobs continues at once.
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
