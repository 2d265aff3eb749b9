/// Start of epoch 0: midnight of 2026-09-01 in the shop's local time, as seconds since 1970. An epoch is one day.
pub(crate) const EPOCH_ZERO_S: u64 = 1_788_220_800;

const DAY_S: u64 = 86_400;

/// Returns the time of an epoch's changes, in seconds since 1970 by the shop's own clock.
pub(crate) fn epoch_s(epoch: u64, second_of_day: u64) -> u64 {
    EPOCH_ZERO_S + epoch * DAY_S + second_of_day % DAY_S
}

/// Appends a timestamp such as `2026-09-17T12:06:11+05:30`.
pub(crate) fn push_moment(out: &mut Vec<u8>, local_s: u64, offset: &str) {
    let (year, month, day) = civil(local_s / DAY_S);
    let second = local_s % DAY_S;
    let mut text = *b"0000-00-00T00:00:00";
    two(&mut text, 0, year / 100);
    two(&mut text, 2, year % 100);
    two(&mut text, 5, month);
    two(&mut text, 8, day);
    two(&mut text, 11, second / 3600);
    two(&mut text, 14, second / 60 % 60);
    two(&mut text, 17, second % 60);
    out.extend_from_slice(&text);
    out.extend_from_slice(offset.as_bytes());
}

fn two(text: &mut [u8; 19], at: usize, number: u64) {
    text[at] = b'0' + (number / 10 % 10) as u8;
    text[at + 1] = b'0' + (number % 10) as u8;
}

/// Returns year, month and day for a number of days since 1970-01-01 (the inverse of Howard Hinnant's
/// `days_from_civil`).
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(local_s: u64) -> String {
        let mut out = Vec::new();
        push_moment(&mut out, local_s, "+05:30");
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn moments_are_written_as_the_platform_does() {
        assert_eq!(text(0), "1970-01-01T00:00:00+05:30");
        assert_eq!(text(EPOCH_ZERO_S), "2026-09-01T00:00:00+05:30");
        assert_eq!(text(951_827_696), "2000-02-29T12:34:56+05:30");
        assert_eq!(text(epoch_s(31, 59)), "2026-10-02T00:00:59+05:30");
    }
}
