use std::process::ExitCode;

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
    anyhow::Error::new(UsageError(format!("{error:#}")))
}

pub(crate) fn lost_race(message: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(LostRaceError(message.into()))
}

impl Outcome {
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        if error.is::<UsageError>() {
            Self::Usage
        } else if error.is::<LostRaceError>() {
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
