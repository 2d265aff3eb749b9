use serde::{Deserialize, Serialize};

/// Rates at which a catalogue changes from one epoch to the next, in thousandths.
///
/// A change is a pure function of the seed and the epoch, so going back to an epoch restores its catalogue. Each
/// product changes at its own epochs: a rate of 50 changes one product in twenty at every epoch, not all products at
/// every twentieth epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Drift {
    /// Share of stores that change at all. The other rates apply only to these stores.
    pub stores: u16,
    /// Share of products whose prices change.
    pub repriced: u16,
    /// Share of products whose availability flips.
    pub restocked: u16,
    /// Share of products that are removed and replaced by a new product at the same place.
    pub replaced: u16,
    /// Share of products of which only `updated_at` changes.
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

/// Number of changes of one aspect up to an epoch, and the epoch of the last change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// Number of changes so far; 0 at epoch 0.
    pub(crate) count: u64,
    /// Epoch of the latest change; 0 if there was none.
    pub(crate) since: u64,
}

impl Step {
    /// Returns the step of an aspect at a rate of `permille`. `phase` may be any number and determines the epochs of
    /// the changes.
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

/// Highest epoch. Later epochs count as this one, because ids allow no more generations of a product.
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
