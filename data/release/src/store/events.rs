use std::fmt;

use data_model::{ReleaseId, Timestamp};
use serde::{Deserialize, Serialize};

/// An event of the log: which release is current from then on, and whether anything may be published over it.
///
/// The last event alone tells both. A program that does not know an event refuses to read the log: one that knows no
/// pins cannot publish over one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LogEvent {
    /// A new release was published.
    Publish {
        /// The release.
        release: ReleaseId,
        /// When.
        at: Timestamp,
    },
    /// An older release was made current again.
    Rollback {
        /// The release.
        release: ReleaseId,
        /// When.
        at: Timestamp,
    },
    /// A release was pinned: it is current, and nothing is published over it.
    Pin {
        /// The release.
        release: ReleaseId,
        /// When.
        at: Timestamp,
        /// When the release became current: before the pin, or with it.
        published_at: Timestamp,
        /// Since when and by what it is pinned. A roll-back from a pinned release keeps what was there.
        pin: Pin,
    },
    /// The pin was taken off; the release stays current.
    Unpin {
        /// The release.
        release: ReleaseId,
        /// When.
        at: Timestamp,
        /// When the release became current.
        published_at: Timestamp,
    },
}

/// That nothing is published over the current release until it is unpinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// Since when.
    pub since: Timestamp,
    /// The request that pinned it.
    pub by: PinnedBy,
}

/// Requests that pin a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinnedBy {
    /// A pin.
    Pin,
    /// A roll-back that was to be kept.
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
    /// The release that is current after the event.
    #[must_use]
    pub const fn release(&self) -> ReleaseId {
        match self {
            Self::Publish { release, .. }
            | Self::Rollback { release, .. }
            | Self::Pin { release, .. }
            | Self::Unpin { release, .. } => *release,
        }
    }

    /// When the event happened.
    #[must_use]
    pub const fn at(&self) -> Timestamp {
        match self {
            Self::Publish { at, .. } | Self::Rollback { at, .. } | Self::Pin { at, .. } | Self::Unpin { at, .. } => *at,
        }
    }

    /// When its release became current.
    #[must_use]
    pub const fn published_at(&self) -> Timestamp {
        match self {
            Self::Publish { at, .. } | Self::Rollback { at, .. } => *at,
            Self::Pin { published_at, .. } | Self::Unpin { published_at, .. } => *published_at,
        }
    }

    /// The pin of its release after the event.
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
    /// The number of the last event: what [`Publication::expected`](crate::Publication::expected) takes.
    pub seq: u64,
    /// The release.
    pub id: ReleaseId,
    /// When it became current.
    pub published_at: Timestamp,
    /// Its pin, where it has one.
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

/// The releases that a roll-back can go through, the current one last. What was published stands on what was current
/// then; a roll-back takes away what stands on the release that it goes to.
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

    /// Capitals are published, small letters rolled back to.
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
            // The next release does not stand on what was rolled back.
            ("ABaC", "AC"),
            // Forward by its id, on purpose.
            ("ABab", "AB"),
            // Published again, since what it was made of came back.
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
