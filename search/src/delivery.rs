use data_model::{Pincode, TimeZone, Timestamp};

/// Calendar date in the market's time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i64);

impl Day {
    /// Parses an ISO 8601 date such as `2026-11-24`. Returns `None` for other texts and dates that do not exist.
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

    /// Returns the number of days since 1970-01-01.
    #[must_use]
    pub const fn since_epoch(self) -> i64 {
        self.0
    }
}

/// Destination and latest day of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeliveryTo {
    /// Pincode of the destination.
    pub pincode: Pincode,
    /// Latest day of delivery. Only products that are known to arrive by then pass.
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
