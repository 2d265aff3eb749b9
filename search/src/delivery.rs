use data_model::{Pincode, TimeZone, Timestamp};

/// A date of the calendar, in the market's time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i64);

impl Day {
    /// The date that ISO 8601 writes as `2026-11-24`; `None` for any other text, and for dates that no calendar has.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let is_shaped = |(at, byte): (usize, u8)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        };
        if text.len() != 10 || !text.bytes().enumerate().all(is_shaped) {
            return None;
        }
        let midnight: Timestamp = format!("{text}T00:00:00Z").parse().ok()?;
        Some(Self(TimeZone::UTC.day(midnight)))
    }

    /// Days since 1970-01-01.
    #[must_use]
    pub const fn since_epoch(self) -> i64 {
        self.0
    }
}

/// The place and the day of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeliveryTo {
    /// To this pincode.
    pub pincode: Pincode,
    /// Only products that are known to be there by this day.
    pub by: Option<Day>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_read_as_iso_writes_it() {
        let read = |text| Day::read(text).map(Day::since_epoch);
        assert_eq!(read("1970-01-01"), Some(0));
        assert_eq!(read("2026-11-24"), Some(20_781));
        assert_eq!(read("2028-02-29"), Some(read("2028-03-01").unwrap() - 1));
        for wrong in [
            "2026-02-29",
            "2026-13-01",
            "2026-1-01",
            "26-11-24",
            "2026/11/24",
            "2026-11-24T00:00:00Z",
            "tomorrow",
            "",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
