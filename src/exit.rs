use std::process::ExitCode;

use data_lake::LakeError;
use pipeline_crawl::RegistryError;

/// How a command ended, as its exit code tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    Failed,
    Usage,
    /// Some stores failed or were held back; the others are done.
    Partial,
    /// Another writer was first.
    LostRace,
}

/// Marks an error as the fault of the command line or the configuration.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UsageError(String);

/// Marks an error as a race lost to another writer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct LostRaceError(String);

pub(crate) fn usage(error: anyhow::Error) -> anyhow::Error {
    anyhow::Error::new(UsageError(plain(&error)))
}

pub(crate) fn lost_race(message: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(LostRaceError(message.into()))
}

/// The error and its causes in one line. Some causes carry a backtrace in their text; it is for a debugger, not for
/// an operator.
pub(crate) fn plain(error: &anyhow::Error) -> String {
    let causes = error.chain().map(|cause| {
        let text = cause.to_string();
        let end = ["stack backtrace:", "Backtrace:", "\n   0: "]
            .iter()
            .filter_map(|mark| text.find(mark))
            .min();
        text[..end.unwrap_or(text.len())]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    });
    let mut line = String::new();
    for cause in causes {
        // A cause that the text before already tells is not told twice.
        if !line.contains(&cause) {
            line.push_str(if line.is_empty() { "" } else { ": " });
            line.push_str(&cause);
        }
    }
    line
}

/// Whether nobody reads what is printed any more.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let cause = cause.downcast_ref::<std::io::Error>();
        cause.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    }) && error.to_string() == crate::output::STANDARD_OUTPUT
}

/// Whether other writers were first each time.
fn is_contended(cause: &(dyn std::error::Error + 'static)) -> bool {
    matches!(cause.downcast_ref(), Some(LakeError::Contended { .. }))
        || matches!(cause.downcast_ref(), Some(RegistryError::Contended))
}

impl Outcome {
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        if error.is::<UsageError>() {
            Self::Usage
        } else if error.is::<LostRaceError>() || error.chain().any(is_contended) {
            Self::LostRace
        } else {
            Self::Failed
        }
    }

    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Partial => 3,
            Self::LostRace => 4,
        }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome.code())
    }
}
