//! The days in which each brand is known to deliver to a pincode: computed for every brand once, and kept for the
//! pincodes that lists were asked for last. It belongs to a release and ends with it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use data_model::Pincode;

/// Pincodes that are kept at the same time.
const KEPT_MAX: usize = 64;

/// The pincode, and the part of the day of the request: promises depend on it.
type DeliveryKey = (Pincode, [u8; 8]);

/// The most days that delivery by each brand takes, by the brand's place; `None` where that is not known.
pub(crate) type LatestDays = Arc<[Option<u16>]>;

/// The newest entry stands first.
#[derive(Debug, Default)]
pub(crate) struct Reach(Mutex<VecDeque<(DeliveryKey, LatestDays)>>);

impl Reach {
    /// The entry of `asked`, or the result of `find`.
    pub(crate) fn of(&self, asked: DeliveryKey, find: impl FnOnce() -> LatestDays) -> LatestDays {
        if let Some(known) = self.kept(asked) {
            return known;
        }
        // Not under the lock: two that ask for the same at once find the same.
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
        // Another part of the day is another question, and takes the place of the oldest.
        assert_eq!(reach.of((pincode(1), [1; 8]), || days(7)), days(7));
        assert_eq!(reach.of((pincode(1), [0; 8]), || days(9)), days(9));
    }
}
