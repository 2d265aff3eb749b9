use std::io::ErrorKind;
use std::mem::{Discriminant, discriminant};

use data_model::ReleaseId;
use data_release::ReleaseError;

use super::FollowError;

/// Factor between the failure counts that are logged.
const GROWTH: u64 = 8;

/// Properties that identify a kind of failure. The error text is not one of them, because it contains times and names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kind {
    follow: Discriminant<FollowError>,
    release: Option<ReleaseId>,
    store: Option<Discriminant<ReleaseError>>,
    local: Option<ErrorKind>,
}

impl Kind {
    fn of(error: &FollowError) -> Self {
        let (release, source) = match error {
            FollowError::NoAnswer { .. } => (None, None),
            FollowError::Fetch { release, source } => (*release, Some(source.as_ref())),
            FollowError::Unfit { release, .. } | FollowError::Aborted { release, .. } => (Some(*release), None),
        };
        let local = match source {
            Some(ReleaseError::Local { source, .. }) => Some(source.kind()),
            _ => None,
        };
        Self {
            follow: discriminant(error),
            release,
            store: source.map(discriminant),
            local,
        }
    }
}

/// Filter for the log: of repeated failures, the first of a kind is logged, then the 8th, the 64th, and so on.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    last: Option<Kind>,
    looks: u64,
    next: u64,
}

impl Repeats {
    /// Records a failure. Returns the number of consecutive failures of this kind if this one must be logged.
    pub(crate) fn failed(&mut self, error: &FollowError) -> Option<u64> {
        let kind = Kind::of(error);
        if self.last != Some(kind) {
            *self = Self {
                last: Some(kind),
                looks: 0,
                next: 1,
            };
        }
        self.looks = self.looks.saturating_add(1);
        if self.looks < self.next {
            return None;
        }
        self.next = self.next.saturating_mul(GROWTH);
        Some(self.looks)
    }

    /// Records a success. The next failure is then logged again.
    pub(crate) fn succeeded(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn full_disk(file: u32) -> FollowError {
        FollowError::Fetch {
            release: Some(ReleaseId::from_digest([1; 8])),
            source: Box::new(ReleaseError::Local {
                action: "write",
                path: PathBuf::from(format!("cache/partial/{file}")),
                source: ErrorKind::StorageFull.into(),
            }),
        }
    }

    #[test]
    fn a_full_disk_is_logged_at_growing_intervals_whatever_the_file_is_called() {
        let mut repeats = Repeats::default();
        let logged: Vec<u64> = (0..1_000).filter_map(|look| repeats.failed(&full_disk(look))).collect();
        assert_eq!(logged, [1, 8, 64, 512]);
        repeats.succeeded();
        assert_eq!(repeats.failed(&full_disk(0)), Some(1));
        assert_eq!(repeats.failed(&full_disk(1)), None);
        assert_eq!(
            repeats.failed(&FollowError::NoAnswer { waited_ms: 5 }),
            Some(1),
            "another failure"
        );
    }
}
