//! Computes the matching times of cron expressions minute by minute, without the crate under test.

use std::collections::BTreeSet;

use chrono::{Datelike, TimeDelta, TimeZone as _, Timelike, Utc};
use chrono_tz::Tz;
use data_model::Timestamp;

/// Minute, hour and day of the week of an expression; `None` stands for `*`.
pub(crate) struct Expression {
    minutes: Vec<u32>,
    hours: Vec<u32>,
    weekdays: Vec<u32>,
}

impl Expression {
    pub(crate) fn new(text: &str) -> Self {
        let fields: Vec<_> = text.split(' ').collect();
        assert_eq!((fields.len(), fields[2], fields[3]), (5, "*", "*"));
        Self {
            minutes: values(fields[0], 0..=59),
            hours: values(fields[1], 0..=23),
            weekdays: values(fields[4], 0..=6),
        }
    }

    fn is_time_of_day(&self) -> bool {
        self.minutes.len() == 1 && self.hours.len() == 1
    }

    /// Returns every matching time after `begin` up to and including `end`.
    pub(crate) fn moments(&self, zone: &str, begin: Timestamp, end: Timestamp) -> BTreeSet<Timestamp> {
        let zone: Tz = zone.parse().unwrap();
        let utc = |moment: Timestamp| Utc.timestamp_micros(moment.micros()).unwrap();
        let mut found = BTreeSet::new();
        // The search starts two days earlier, because a skipped time of day is due later than stated.
        let first = utc(begin).with_second(0).unwrap().with_nanosecond(0).unwrap() - TimeDelta::days(2);
        let minutes = (utc(end) - first).num_minutes();
        if self.is_time_of_day() {
            for day in 0..=minutes / 1440 + 1 {
                let date = first.with_timezone(&zone).date_naive() + TimeDelta::days(day);
                if self.weekdays.contains(&date.weekday().num_days_from_sunday()) {
                    let mut local = date.and_hms_opt(self.hours[0], self.minutes[0], 0).unwrap();
                    let moment = loop {
                        match zone.from_local_datetime(&local).earliest() {
                            Some(moment) => break moment,
                            None => local += TimeDelta::minutes(1),
                        }
                    };
                    found.insert(Timestamp::from_micros(moment.timestamp_micros()));
                }
            }
        } else {
            for minute in 0..=minutes {
                let moment = first + TimeDelta::minutes(minute);
                let local = moment.with_timezone(&zone);
                let is_now = self.minutes.contains(&local.minute())
                    && self.hours.contains(&local.hour())
                    && self.weekdays.contains(&local.weekday().num_days_from_sunday());
                if is_now {
                    found.insert(Timestamp::from_micros(moment.timestamp_micros()));
                }
            }
        }
        found.retain(|moment| begin < *moment && *moment <= end);
        found
    }
}

fn values(field: &str, all: std::ops::RangeInclusive<u32>) -> Vec<u32> {
    let mut found = Vec::new();
    for part in field.split(',') {
        let (range, step) = part.split_once('/').unwrap_or((part, "1"));
        let (low, high) = match range.split_once('-') {
            Some((low, high)) => (low.parse().unwrap(), high.parse().unwrap()),
            None if range == "*" => (*all.start(), *all.end()),
            None => (range.parse().unwrap(), range.parse().unwrap()),
        };
        found.extend((low..=high).step_by(step.parse().unwrap()));
    }
    found
}
