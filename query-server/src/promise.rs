//! Delivery dates promised in a store's text: dispatch time plus transit time, given its cut-off time, working days and
//! known holidays. Days count in local time. A day that the text does not state is not promised.

use data_model::{DaySpan, ShippingFactKind, ShippingRegion, ShippingTerms, Timestamp};

use crate::holidays::Holidays;

const DAY_MICROS: i64 = 86_400_000_000;
const MONDAY_TO_SATURDAY: u8 = 0b011_1111;
const MONDAY_TO_FRIDAY: u8 = 0b001_1111;
const ALL_DAYS: u8 = 0b111_1111;
/// Maximum number of calendar days to step through.
const STEPS_MAX: u32 = 1_000;

/// Number of days until an order arrives; a bound is `None` if unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Promise {
    pub(crate) days_min: Option<u16>,
    pub(crate) days_max: Option<u16>,
}

/// Calendar that counts the days to the earliest or the latest date.
#[derive(Debug, Clone, Copy)]
struct Calendar<'a> {
    weekdays: u8,
    country: Option<&'a str>,
    holidays: &'a Holidays,
}

/// Order placed now, in the store's time and calendar.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrderedAt<'a> {
    /// Country of the store, if known.
    pub(crate) country: Option<&'a str>,
    /// Current time in the store's time zone.
    pub(crate) local: Timestamp,
    /// Holidays that are not on fixed dates.
    pub(crate) holidays: &'a Holidays,
}

/// Computes the promised delivery of an order in days from the store's today. If the region of the pincode is unknown,
/// the promise must be true for all regions. Days of a text that does not mention the dispatch count from the order; if
/// it mentions the dispatch but not its time, the latest day is unknown. If the text says "working days" without naming
/// them, Saturdays count as working days for the earliest day but not for the latest.
pub(crate) fn promise(terms: &ShippingTerms, region: Option<ShippingRegion>, order: OrderedAt<'_>) -> Option<Promise> {
    let OrderedAt {
        country,
        local,
        holidays,
    } = order;
    let (transit, dispatch) = (terms.delivery(region)?, terms.dispatch());
    let stated = terms.of(ShippingFactKind::WorkingDays).find_map(|fact| fact.weekdays);
    let calendar = |usual: u8| Calendar {
        weekdays: stated.filter(|mask| mask & ALL_DAYS != 0).unwrap_or(usual),
        country,
        holidays,
    };
    let (today, minute) = (
        local.micros().div_euclid(DAY_MICROS),
        local.micros().rem_euclid(DAY_MICROS) / 60_000_000,
    );
    let cut_off = terms.of(ShippingFactKind::CutOff).find_map(|fact| fact.minute_of_day);
    let ordered = today + i64::from(cut_off.is_some_and(|cut_off| minute >= i64::from(cut_off)));
    let end = |usual: u8, spans: [(Option<u16>, DaySpan); 2]| {
        let calendar = calendar(usual);
        spans.into_iter().try_fold(ordered, |day, (days, span)| {
            calendar.after(day, days?, span.in_working_days)
        })
    };
    let at_once = DaySpan {
        min: 0,
        max: terms.counts_from_order().then_some(0),
        in_working_days: false,
    };
    let sent = dispatch.unwrap_or(at_once);
    let earliest = end(
        MONDAY_TO_SATURDAY,
        [(Some(sent.min), sent), (Some(transit.min), transit)],
    );
    let latest = end(MONDAY_TO_FRIDAY, [(sent.max, sent), (transit.max, transit)]);
    let days = |day: Option<i64>| day.and_then(|day| u16::try_from(day - today).ok());
    Some(Promise {
        days_min: days(earliest),
        days_max: days(latest),
    })
}

impl Calendar<'_> {
    fn after(self, day: i64, days: u16, in_working_days: bool) -> Option<i64> {
        if !in_working_days {
            return Some(day + i64::from(days));
        }
        let (mut day, mut left) = (day, days);
        for _ in 0..STEPS_MAX {
            if left == 0 && self.is_working(day) {
                return Some(day);
            }
            day += 1;
            left -= u16::from(left > 0 && self.is_working(day));
        }
        None
    }

    fn is_working(self, day: i64) -> bool {
        // 1970-01-01 was a Thursday.
        let weekday = (day + 3).rem_euclid(7);
        self.weekdays & (1 << weekday) != 0 && !self.is_holiday(day)
    }

    /// True for a country's holidays on fixed dates and for holidays in the operator's file. The server knows no
    /// others.
    fn is_holiday(self, day: i64) -> bool {
        if self.country.is_some_and(|country| self.holidays.has(country, day)) {
            return true;
        }
        let of_year = month_and_day(day);
        match self.country {
            Some("IN") => matches!(of_year, (1, 26) | (8, 15) | (10, 2)),
            Some("DE") => matches!(of_year, (1, 1) | (5, 1) | (10, 3) | (12, 25) | (12, 26)),
            Some("FR") => matches!(
                of_year,
                (1, 1) | (5, 1) | (5, 8) | (7, 14) | (8, 15) | (11, 1) | (11, 11) | (12, 25)
            ),
            Some("ES") => matches!(
                of_year,
                (1, 1) | (1, 6) | (5, 1) | (8, 15) | (10, 12) | (11, 1) | (12, 6) | (12, 8) | (12, 25)
            ),
            _ => false,
        }
    }
}

/// Returns the month and the day of the month for a day that counts from 1970-01-01 in the Gregorian calendar. Years
/// start in March here, so that the leap day is the last day of a year.
const fn month_and_day(day: i64) -> (u8, u8) {
    let day_of_era = (day + 719_468).rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (month as u8, day_of_month as u8)
}

#[cfg(test)]
mod tests {
    use data_model::ShippingFact;

    use super::*;

    fn span(kind: ShippingFactKind, min: u16, max: u16, is_working: bool) -> ShippingFact {
        ShippingFact {
            days_min: Some(min),
            days_max: Some(max),
            in_working_days: Some(is_working),
            ..ShippingFact::new(kind, "A sentence.")
        }
    }

    fn promised(
        facts: Vec<ShippingFact>,
        region: Option<ShippingRegion>,
        local: &str,
    ) -> Option<(Option<u16>, Option<u16>)> {
        promised_beside(&Holidays::default(), facts, region, local)
    }

    fn promised_beside(
        holidays: &Holidays,
        facts: Vec<ShippingFact>,
        region: Option<ShippingRegion>,
        local: &str,
    ) -> Option<(Option<u16>, Option<u16>)> {
        let terms = ShippingTerms {
            source_url: None,
            observed_at: "2026-11-20T00:00:00Z".parse().unwrap(),
            facts,
            unknown: Vec::new(),
        };
        let order = OrderedAt {
            country: Some("IN"),
            local: local.parse().unwrap(),
            holidays,
        };
        let promise = promise(&terms, region, order)?;
        Some((promise.days_min, promise.days_max))
    }

    // 2026-11-20 is a Friday.
    const FRIDAY: &str = "2026-11-20T10:00:00Z";

    #[test]
    fn dispatch_and_transit_add_up() {
        let facts = vec![
            span(ShippingFactKind::Dispatch, 1, 2, false),
            span(ShippingFactKind::Delivery, 3, 5, false),
        ];
        assert_eq!(promised(facts, None, FRIDAY), Some((Some(4), Some(7))));
    }

    #[test]
    fn working_days_leave_out_sundays_and_the_latest_leaves_out_saturdays_too() {
        let facts = vec![
            span(ShippingFactKind::Dispatch, 1, 1, true),
            span(ShippingFactKind::Delivery, 1, 1, true),
        ];
        // Saturday and Monday count as working days for the earliest date, Monday and Tuesday for the latest.
        assert_eq!(promised(facts.clone(), None, FRIDAY), Some((Some(3), Some(4))));
        let stated = ShippingFact {
            weekdays: Some(MONDAY_TO_SATURDAY),
            ..ShippingFact::new(ShippingFactKind::WorkingDays, "Monday to Saturday.")
        };
        let facts = [facts, vec![stated]].concat();
        assert_eq!(promised(facts, None, FRIDAY), Some((Some(3), Some(3))));
    }

    #[test]
    fn an_order_after_the_cut_off_counts_from_the_next_day() {
        let cut_off = ShippingFact {
            minute_of_day: Some(10 * 60),
            ..ShippingFact::new(ShippingFactKind::CutOff, "Before 10 am.")
        };
        let facts = vec![
            span(ShippingFactKind::Dispatch, 1, 1, false),
            span(ShippingFactKind::Delivery, 2, 3, false),
            cut_off,
        ];
        assert_eq!(promised(facts.clone(), None, FRIDAY), Some((Some(4), Some(5))));
        assert_eq!(promised(facts, None, "2026-11-20T09:59:00Z"), Some((Some(3), Some(4))));
    }

    #[test]
    fn a_holiday_is_no_working_day() {
        let facts = vec![
            span(ShippingFactKind::Dispatch, 0, 0, true),
            span(ShippingFactKind::Delivery, 1, 1, true),
        ];
        // Tuesday, 26 January 2027, is a holiday.
        assert_eq!(promised(facts, None, "2027-01-25T08:00:00Z"), Some((Some(2), Some(2))));
    }

    #[test]
    fn a_holiday_of_the_operator_is_no_working_day_either() {
        let facts = vec![
            span(ShippingFactKind::Dispatch, 0, 0, true),
            span(ShippingFactKind::Delivery, 1, 1, true),
        ];
        let holidays = Holidays::read("IN\t2026-11-24\n").unwrap();
        let told = promised_beside(&holidays, facts, None, "2026-11-23T08:00:00Z");
        assert_eq!(told, Some((Some(2), Some(2))));
    }

    #[test]
    fn abroad_only_what_is_told_of_it_is_promised() {
        let facts = vec![span(ShippingFactKind::Delivery, 2, 3, false)];
        assert_eq!(promised(facts, Some(ShippingRegion::Abroad), FRIDAY), None);
    }

    #[test]
    fn a_region_has_its_own_days_and_an_unknown_one_those_of_all() {
        let region = |region, min, max| ShippingFact {
            region: Some(region),
            ..span(ShippingFactKind::Delivery, min, max, false)
        };
        let facts = vec![
            span(ShippingFactKind::Dispatch, 0, 1, false),
            region(ShippingRegion::Metro, 2, 3),
            region(ShippingRegion::Rest, 4, 6),
        ];
        assert_eq!(
            promised(facts.clone(), Some(ShippingRegion::Metro), FRIDAY),
            Some((Some(2), Some(4)))
        );
        assert_eq!(promised(facts.clone(), None, FRIDAY), Some((Some(2), Some(7))));
        assert_eq!(
            promised(facts[..2].to_vec(), None, FRIDAY),
            None,
            "nothing is told of the rest"
        );
    }

    #[test]
    fn without_a_dispatch_the_latest_day_is_not_known() {
        let facts = vec![span(ShippingFactKind::Delivery, 3, 5, false)];
        assert_eq!(promised(facts, None, FRIDAY), Some((Some(3), None)));
    }

    #[test]
    fn months_and_days_are_those_of_the_calendar() {
        for day in -40_000..40_000 {
            let date = Timestamp::from_micros(day * DAY_MICROS).to_string();
            let (month, of_month) = month_and_day(day);
            assert_eq!(format!("{month:02}-{of_month:02}"), date[5..10], "{date}");
        }
    }
}
