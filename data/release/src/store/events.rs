use std::fmt;

use data_model::{ReleaseId, Timestamp};
use serde::{Deserialize, Serialize};

/// An event of the release log. It determines the current release and whether another release may be published over it.
///
/// Only the last event counts. A program refuses to read a log with an unknown event type, so that a program without
/// support for pins cannot publish over a pinned release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LogEvent {
    /// A new release was published.
    Publish {
        /// Release that became current.
        release: ReleaseId,
        /// Time of the event.
        at: Timestamp,
    },
    /// An older release was made current again.
    Rollback {
        /// Release that became current.
        release: ReleaseId,
        /// Time of the event.
        at: Timestamp,
    },
    /// A release was pinned: it is current, and nothing is published over it.
    Pin {
        /// Release that was pinned.
        release: ReleaseId,
        /// Time of the event.
        at: Timestamp,
        /// Time at which the release became current, at most the time of the pin.
        published_at: Timestamp,
        /// Time and origin of the pin. A rollback from a pinned release keeps its pin.
        pin: Pin,
    },
    /// The pin was removed. The release stays current.
    Unpin {
        /// Release that is no longer pinned.
        release: ReleaseId,
        /// Time of the event.
        at: Timestamp,
        /// Time at which the release became current.
        published_at: Timestamp,
    },
}

/// A pin, which prevents publishing over the current release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// Time at which the release was pinned.
    pub since: Timestamp,
    /// Kind of request that pinned the release.
    pub by: PinnedBy,
}

/// Kind of request that pins a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinnedBy {
    /// A request to pin a release.
    Pin,
    /// A rollback that also pinned the release.
    Rollback,
}

impl fmt::Display for PinnedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pin => "release pin",
            Self::Rollback => "release rollback --pin",
        })
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pinned since {} by `haat {}`", self.since, self.by)
    }
}

impl LogEvent {
    /// Returns the release that is current after the event.
    #[must_use]
    pub const fn release(&self) -> ReleaseId {
        match self {
            Self::Publish { release, .. }
            | Self::Rollback { release, .. }
            | Self::Pin { release, .. }
            | Self::Unpin { release, .. } => *release,
        }
    }

    /// Returns the time of the event.
    #[must_use]
    pub const fn at(&self) -> Timestamp {
        match self {
            Self::Publish { at, .. } | Self::Rollback { at, .. } | Self::Pin { at, .. } | Self::Unpin { at, .. } => *at,
        }
    }

    /// Returns the time at which the event's release became current.
    #[must_use]
    pub const fn published_at(&self) -> Timestamp {
        match self {
            Self::Publish { at, .. } | Self::Rollback { at, .. } => *at,
            Self::Pin { published_at, .. } | Self::Unpin { published_at, .. } => *published_at,
        }
    }

    /// Returns the pin of the release after the event.
    #[must_use]
    pub const fn pin(&self) -> Option<Pin> {
        match self {
            Self::Pin { pin, .. } => Some(*pin),
            Self::Publish { .. } | Self::Rollback { .. } | Self::Unpin { .. } => None,
        }
    }
}

/// The current release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Current {
    /// Number of the last event, for [`Publication::expected`](crate::Publication::expected).
    pub seq: u64,
    /// Id of the release.
    pub id: ReleaseId,
    /// Time at which the release became current.
    pub published_at: Timestamp,
    /// Pin of the release, if it has one.
    #[serde(default)]
    pub pinned: Option<Pin>,
}

impl Current {
    pub(super) const fn of(seq: u64, event: &LogEvent) -> Self {
        Self {
            seq,
            id: event.release(),
            published_at: event.published_at(),
            pinned: event.pin(),
        }
    }
}

/// Returns the releases that a rollback can go through, ending with the current one. A published release follows the
/// one that was current then. A rollback removes the releases after its target.
pub(super) fn lineage<'a>(events: impl Iterator<Item = &'a LogEvent>) -> Vec<ReleaseId> {
    let mut line: Vec<ReleaseId> = Vec::new();
    for event in events {
        let release = event.release();
        let earlier = line.iter().rposition(|held| *held == release);
        match (event, earlier) {
            (LogEvent::Publish { .. }, _) | (_, None) => {
                if line.last() != Some(&release) {
                    line.push(release);
                }
            }
            (_, Some(at)) => line.truncate(at + 1),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(name: u8) -> ReleaseId {
        ReleaseId::from_digest([name; 8])
    }

    /// An uppercase letter publishes a release, and a lowercase letter rolls back to it.
    fn line(events: &str) -> String {
        let at = Timestamp::from_micros(0);
        let events: Vec<_> = events
            .bytes()
            .map(
                |name| match (name.is_ascii_uppercase(), release(name.to_ascii_uppercase())) {
                    (true, release) => LogEvent::Publish { release, at },
                    (false, release) => LogEvent::Rollback { release, at },
                },
            )
            .collect();
        let names = |id: ReleaseId| (b'A'..=b'Z').find(|name| release(*name) == id).map(char::from);
        lineage(events.iter()).into_iter().filter_map(names).collect()
    }

    #[test]
    fn a_roll_back_goes_to_what_was_current_before_and_never_forward() {
        for (events, expected) in [
            ("", ""),
            ("ABC", "ABC"),
            ("ABa", "A"),
            ("ABCb", "AB"),
            ("ABCba", "A"),
            // The next release does not follow the one that was rolled back.
            ("ABaC", "AC"),
            // A rollback by id may deliberately go forward.
            ("ABab", "AB"),
            // The inputs of the release came back.
            ("ABA", "ABA"),
            ("ABAb", "AB"),
            ("AA", "A"),
        ] {
            assert_eq!(line(events), expected, "{events}");
        }
    }

    #[test]
    fn a_pin_and_its_end_keep_the_moment_at_which_a_release_became_current() {
        let at = Timestamp::from_micros;
        let pin = Pin {
            since: at(2),
            by: PinnedBy::Pin,
        };
        let (id, published_at) = (release(1), at(1));
        let pinned = LogEvent::Pin {
            release: id,
            at: at(2),
            published_at,
            pin,
        };
        let unpinned = LogEvent::Unpin {
            release: id,
            at: at(3),
            published_at,
        };
        let json = serde_json::to_string(&pinned).unwrap();
        assert!(json.starts_with("{\"event\":\"pin\""), "{json}");
        assert_eq!(serde_json::from_str::<LogEvent>(&json).unwrap(), pinned);
        assert_eq!(Current::of(7, &pinned).pinned, Some(pin));
        assert_eq!(Current::of(7, &pinned).published_at, at(1));
        assert_eq!(Current::of(8, &unpinned).pinned, None);
        assert_eq!(Current::of(8, &unpinned).published_at, at(1));
    }
}
