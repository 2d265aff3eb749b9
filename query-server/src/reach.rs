//! Cache of each brand's delivery days to recently requested pincodes, for one release. All brands are computed in one
//! pass.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use data_model::Pincode;

/// Maximum number of cached pincodes.
const KEPT_MAX: usize = 64;

/// Pincode, and the quarter of an hour of the request, because promised days depend on the time.
type DeliveryKey = (Pincode, [u8; 8]);

/// Maximum number of delivery days of each brand, by the brand's position; `None` if unknown.
pub(crate) type LatestDays = Arc<[Option<u16>]>;

/// Cache entries, newest first.
#[derive(Debug, Default)]
pub(crate) struct Reach(Mutex<VecDeque<(DeliveryKey, LatestDays)>>);

impl Reach {
    /// Returns the cached entry for `asked`, or computes it with `find`.
    pub(crate) fn of(&self, asked: DeliveryKey, find: impl FnOnce() -> LatestDays) -> LatestDays {
        if let Some(known) = self.kept(asked) {
            return known;
        }
        // No lock is held during the computation. Two concurrent requests compute the same result.
        let found = find();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_front((asked, Arc::clone(&found)));
        kept.truncate(KEPT_MAX);
        found
    }

    fn kept(&self, asked: DeliveryKey) -> Option<LatestDays> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|(one, _)| *one == asked);
        found.map(|(_, known)| Arc::clone(known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_is_found_once_and_the_oldest_is_forgotten_first() {
        let reach = Reach::default();
        let pincode = |number: u32| (110_000 + number).to_string().parse::<Pincode>().unwrap();
        let days = |number: usize| -> LatestDays { Arc::from([u16::try_from(number).ok()]) };
        for number in 1..=KEPT_MAX {
            let asked = (pincode(u32::try_from(number).unwrap()), [0; 8]);
            assert_eq!(reach.of(asked, || days(number)), days(number));
            assert_eq!(reach.of(asked, || days(0)), days(number), "it is kept");
        }
        // A request in another quarter of an hour needs a new entry, which replaces the oldest one.
        assert_eq!(reach.of((pincode(1), [1; 8]), || days(7)), days(7));
        assert_eq!(reach.of((pincode(1), [0; 8]), || days(9)), days(9));
    }
}
