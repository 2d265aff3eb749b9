use std::process::ExitCode;

use data_lake::LakeError;
use data_storage::StorageError;
use pipeline_crawl::RegistryError;

pub(crate) use crate::plain::plain;

/// Outcome of a command, as its exit code reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    Failed,
    Usage,
    /// Some stores failed or were held back, the command was interrupted, or a check found something that works but
    /// needs the operator. All other work was done.
    Partial,
    /// Another writer committed first.
    LostRace,
}

/// Mark of an error that the command line or the configuration caused.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UsageError(String);

/// Mark of an error because another writer was faster.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct LostRaceError(String);

pub(crate) fn usage(error: anyhow::Error) -> anyhow::Error {
    anyhow::Error::new(UsageError(plain(&error)))
}

pub(crate) fn lost_race(message: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(LostRaceError(message.into()))
}

/// True if the reader of the output has closed the pipe.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let cause = cause.downcast_ref::<std::io::Error>();
        cause.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    }) && error.to_string() == crate::output::STANDARD_OUTPUT
}

/// True if other writers committed first at each attempt.
fn is_contended(cause: &(dyn std::error::Error + 'static)) -> bool {
    matches!(cause.downcast_ref(), Some(LakeError::Contended))
        || matches!(cause.downcast_ref(), Some(RegistryError::Contended))
        || matches!(cause.downcast_ref(), Some(StorageError::LogContended { .. }))
}

impl Outcome {
    pub(crate) const fn partial_if(is_partial: bool) -> Self {
        if is_partial { Self::Partial } else { Self::Done }
    }

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

#[cfg(test)]
mod tests {
    use pipeline_refresh::{RefreshError, RemoveError};
    use pipeline_release::ReleaseBuildError;

    use super::*;

    #[test]
    fn whoever_loses_every_race_exits_with_four_however_the_error_is_wrapped() {
        let contended = || LakeError::Contended;
        let numbers = || StorageError::LogContended {
            prefix: "log".into(),
            attempts: 3,
        };
        let errors = [
            anyhow::Error::new(RegistryError::Contended),
            anyhow::Error::new(RegistryError::Contended).context("brands"),
            RemoveError::from(RegistryError::Contended).into(),
            RemoveError::Lake(contended()).into(),
            RefreshError::LakeWrite {
                refused: 3,
                source: contended(),
            }
            .into(),
            anyhow::Error::new(ReleaseBuildError::Publish(data_release::ReleaseError::Storage {
                action: "append to the release log",
                source: numbers(),
            }))
            .context("no release was published"),
            lost_race("another was first"),
        ];
        for error in errors {
            assert_eq!(Outcome::of(&error), Outcome::LostRace, "{error:?}");
        }
        let full = RegistryError::Write(StorageError::UnsupportedScheme { scheme: "x".into() });
        assert_eq!(Outcome::of(&RemoveError::from(full).into()), Outcome::Failed);
    }

    #[test]
    fn a_failed_removal_names_its_cause_once() {
        let error = anyhow::Error::new(RemoveError::from(RegistryError::Contended));
        assert_eq!(
            plain(&error),
            "the brand could not be removed from the registry: other processes keep changing the brand registry"
        );
    }
}
