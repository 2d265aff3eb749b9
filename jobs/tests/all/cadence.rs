use data_checks::{ChangeRate, Check, CheckOutcome};
use data_model::Timestamp;
use jobs::CadenceConfig;
use jobs::cadence::{due_at, due_stores, interval_s, is_due};
use proptest::prelude::*;

const HOUR_MS: i64 = 3_600_000;

fn noon() -> Timestamp {
    "2026-11-21T12:00:00Z".parse().unwrap()
}

fn checked(outcome: CheckOutcome, changing: ChangeRate, bad_in_row: u32) -> Check {
    Check {
        slug: "kith".parse().unwrap(),
        run: "20261121T112725Z-3f9a01c7".parse().unwrap(),
        checked_at: noon(),
        outcome,
        code: None,
        detail: None,
        is_incomplete: false,
        good_at: Some(noon()),
        bad_in_row,
        changing,
    }
}

fn wait_h(check: &Check) -> i64 {
    due_at(Some(check), &CadenceConfig::default())
        .unwrap()
        .millis_since(noon())
        / HOUR_MS
}

/// Simulates checks of a brand, each when the brand is due.
fn followed(changes: impl Fn(i64) -> bool, checks: usize) -> (ChangeRate, i64) {
    let config = CadenceConfig::default();
    let (mut changing, mut passed_s) = (ChangeRate::default(), 0);
    for _ in 0..checks {
        let wait_s = interval_s(&changing, &config) as i64;
        let is_changed = (passed_s..passed_s + wait_s).any(|second| second % 3600 == 0 && changes(second / 3600));
        changing = changing.with(is_changed, wait_s * 1000);
        passed_s += wait_s;
    }
    (changing, interval_s(&changing, &config) as i64 / 60)
}

#[test]
fn a_brand_that_changes_every_hour_is_asked_every_hour_and_one_that_rests_once_a_day() {
    assert_eq!(followed(|_| true, 12).1, 60);
    assert_eq!(followed(|_| false, 12).1, 24 * 60);
    // The brand changes every ten hours. Checks are more frequent, so that half of them find a change.
    let (_, minutes) = followed(|hour| hour % 10 == 0, 60);
    assert!((4 * 60..=10 * 60).contains(&minutes), "{minutes}");
}

#[test]
fn a_brand_that_fails_is_asked_less_and_less_and_a_doubtful_one_soon() {
    let failed = |times| wait_h(&checked(CheckOutcome::Failed, ChangeRate::default(), times));
    assert_eq!([1, 2, 3, 4, 5, 6, 40].map(failed), [1, 2, 4, 8, 16, 24, 24]);
    assert_eq!(wait_h(&checked(CheckOutcome::HeldBack, ChangeRate::default(), 1)), 1);
    assert_eq!(wait_h(&checked(CheckOutcome::Changed, ChangeRate::default(), 0)), 6);
}

#[test]
fn a_brand_that_was_never_asked_is_due_and_so_is_one_whose_check_lies_far_ahead() {
    let config = CadenceConfig::default();
    assert!(is_due(None, &config, noon()));
    let check = checked(CheckOutcome::Unchanged, ChangeRate::default(), 0);
    assert!(!is_due(Some(&check), &config, noon()));
    assert!(!is_due(Some(&check), &config, noon().plus_millis(-2 * HOUR_MS)));
    assert!(is_due(Some(&check), &config, noon().plus_millis(6 * HOUR_MS)));
    assert!(is_due(Some(&check), &config, noon().plus_millis(-365 * 24 * HOUR_MS)));
}

proptest! {
    #[test]
    fn waits_stay_between_the_bounds_whatever_is_known(
        checks in prop::num::f64::ANY, changes in prop::num::f64::ANY, span_s in prop::num::f64::ANY,
    ) {
        let config = CadenceConfig::default();
        let wait_s = interval_s(&ChangeRate { checks, changes, span_s }, &config);
        prop_assert!((config.interval_min_s..=config.interval_max_s).contains(&wait_s));
    }

    #[test]
    fn a_brand_that_changed_more_often_never_waits_longer(
        checks in 1.0f64..8.0, share in 0.0f64..1.0, more in 0.0f64..1.0, span_s in 3_600.0f64..600_000.0,
    ) {
        let config = CadenceConfig::default();
        let of = |share: f64| interval_s(&ChangeRate { checks, changes: checks * share, span_s }, &config);
        prop_assert!(of((share + more).min(1.0)) <= of(share));
    }

    #[test]
    fn one_more_check_that_finds_a_change_never_makes_the_next_come_later_than_one_that_finds_none(
        changes in prop::collection::vec(any::<bool>(), 0..20), after_ms in 3_600_000i64..86_400_000,
    ) {
        let config = CadenceConfig::default();
        let before = changes.iter().fold(ChangeRate::default(), |before, is| before.with(*is, after_ms));
        let of = |is_changed| interval_s(&before.with(is_changed, after_ms), &config);
        prop_assert!(of(true) <= of(false));
    }
}

#[test]
fn stores_of_damaged_files_are_due_together_and_no_oftener_than_may_be() {
    let (one, two, three) = ("one.example", "two.example", "three.example");
    let hosts: Vec<data_model::StoreHost> = [one, two, three].map(|host| host.parse().unwrap()).to_vec();
    let stores: Vec<&data_model::StoreHost> = hosts.iter().collect();
    let damaged: std::collections::BTreeSet<_> = hosts[..2].iter().cloned().collect();
    let check = checked(CheckOutcome::Unchanged, ChangeRate::default(), 0);
    let late = Check {
        checked_at: noon().plus_millis(HOUR_MS / 2),
        ..check.clone()
    };
    let config = CadenceConfig::default();
    let due = |damaged: &std::collections::BTreeSet<_>, minutes: i64| {
        let of = |store: &data_model::StoreHost| Some(if store.as_str() == two { &late } else { &check });
        due_stores(&stores, damaged, of, &config, noon().plus_millis(minutes * 60_000)).len()
    };
    // The second store was queried half an hour later.
    assert_eq!((due(&damaged, 61), due(&damaged, 91)), (0, 2));
    let none = std::collections::BTreeSet::new();
    assert_eq!((due(&none, 91), due(&none, 6 * 60)), (0, 2));
    // The first and the third store are due, and the second is queried together with the first.
    assert_eq!(due(&damaged, 6 * 60), 3);
}
