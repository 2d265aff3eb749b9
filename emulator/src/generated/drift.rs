use serde::{Deserialize, Serialize};

/// The amount of change in a catalogue from one epoch to the next, in thousandths.
///
/// A change is a pure function of the seed and the epoch: going back to an epoch gives its catalogue again. Each thing
/// changes at its own epochs, so that a rate of 50 changes one in twenty things an epoch, not all at every twentieth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Drift {
    /// Stores that change at all; the other rates count within these.
    pub stores: u16,
    /// Products whose prices move.
    pub repriced: u16,
    /// Products whose stock flips.
    pub restocked: u16,
    /// Products that leave, each with a new one in its place.
    pub replaced: u16,
    /// Products of which only `updated_at` moves.
    pub touched: u16,
}

impl Default for Drift {
    fn default() -> Self {
        Self {
            stores: 1000,
            repriced: 50,
            restocked: 40,
            replaced: 10,
            touched: 20,
        }
    }
}

/// The number of changes of a thing by an epoch, and the epoch of the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// Number of changes so far; 0 at epoch 0.
    pub(crate) count: u64,
    /// The epoch of the latest change; 0 for none.
    pub(crate) since: u64,
}

impl Step {
    /// The step of a thing with its own `phase` (any number) at a rate of `permille`.
    pub(crate) fn at(epoch: u64, permille: u16, phase: u64) -> Self {
        let (rate, phase) = (u64::from(permille.min(1000)), phase % 1000);
        let count = (epoch.min(EPOCH_MAX) * rate + phase) / 1000;
        let since = if count == 0 {
            0
        } else {
            (count * 1000 - phase).div_ceil(rate)
        };
        Self { count, since }
    }
}

/// Epochs above this are this one: generations of a product number no more.
pub(crate) const EPOCH_MAX: u64 = 4000;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_step_begins_where_its_count_rises(epoch in 0u64..5000, rate in 0u16..1200, phase in 0u64..100_000) {
            let step = Step::at(epoch, rate, phase);
            prop_assert!(step.since <= epoch);
            prop_assert_eq!(Step::at(step.since, rate, phase), step);
            if step.since > 0 {
                prop_assert_eq!(Step::at(step.since - 1, rate, phase).count + 1, step.count);
            }
        }
    }

    #[test]
    fn the_rate_is_the_share_that_changes_in_an_epoch() {
        let changed = (0..1000)
            .filter(|phase| Step::at(7, 50, *phase).count != Step::at(6, 50, *phase).count)
            .count();
        assert_eq!(changed, 50);
        assert!((0..1000).all(|phase| Step::at(0, 999, phase).count == 0));
        assert!((0..1000).all(|phase| Step::at(9, 0, phase).count == 0));
    }
}
