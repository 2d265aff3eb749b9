//! Tests of valid and invalid configuration values.

use access::{AccessConfig, LimitsConfig, Plans};
use state::Plan;

use crate::support::{all, limits};

#[test]
fn the_defaults_are_those_of_the_contract() {
    let plans = Plans::of(&LimitsConfig::default()).unwrap();
    let told = [
        plans.anonymous(),
        plans.of_plan(Plan::Free),
        plans.of_plan(Plan::Granted),
    ]
    .map(|allowance| (allowance.rate().map(|(a, b)| (a.get(), b.get())), allowance.per_day()));
    assert_eq!(
        told,
        [(Some((5, 20)), None), (Some((20, 60)), Some(50_000)), (None, None)]
    );
    let access = AccessConfig::default();
    access.check().unwrap();
    assert_eq!(access.keyed.len(), 25);
    for id in ["find_coupons", "replace_cart_lines", "end_cart"] {
        assert!(access.keyed.contains(id), "{id}");
    }
    assert!(!access.keyed.contains("get_quota"));
}

#[test]
fn what_cannot_be_is_refused_by_its_name() {
    let refused = |change: fn(&mut LimitsConfig)| {
        let mut config = LimitsConfig::default();
        change(&mut config);
        Plans::of(&config).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused(|config| config.timeout_ms = 0), @"limits.timeout_ms must be between 1 and 5000, not 0");
    insta::assert_snapshot!(refused(|config| config.addresses_max = 10), @"limits.addresses_max must be between 1000 and 10000000, not 10");
    insta::assert_snapshot!(refused(|config| config.free.burst = 0), @"limits.free.burst must be between 1 and 1000000, not 0");
    insta::assert_snapshot!(refused(|config| config.anonymous.per_second = 2_000_000), @"limits.anonymous.per_second must be between 0 and 100000, not 2000000");
    insta::assert_snapshot!(refused(|config| config.granted.per_day = 5), @"limits.granted.per_day is 5, but limits.granted.per_second is 0, which disables all limits: set per_second too");
    let access = AccessConfig {
        usage_flush_ms: 1,
        ..AccessConfig::default()
    };
    insta::assert_snapshot!(access.check().unwrap_err(), @"access.usage_flush_ms must be between 100 and 600000, not 1");
    let access = AccessConfig {
        keyed: ["GET /v1/me".to_owned()].into(),
        ..AccessConfig::default()
    };
    insta::assert_snapshot!(access.check().unwrap_err(), @r#"access.keyed must contain ids of operations, such as get_me; "GET /v1/me" is not one"#);
}

#[test]
fn a_section_is_read_by_name_and_unknown_keys_are_not() {
    let read = serde_json::from_str::<LimitsConfig>;
    let partial = read(r#"{ "anonymous": { "per_second": 1, "burst": 2, "per_day": 3 } }"#).unwrap();
    let expected = LimitsConfig {
        anonymous: limits(1, 2, 3),
        ..LimitsConfig::default()
    };
    assert_eq!(partial, expected);
    assert!(read(r#"{ "adresses_max": 5 }"#).is_err());
    assert!(read(r#"{ "free": { "per_second": 1, "burst": 2, "per_day": 3, "per_hour": 4 } }"#).is_err());
    assert!(serde_json::from_str::<AccessConfig>(r#"{ "key": [] }"#).is_err());
}

#[test]
fn the_address_of_the_server_is_not_shown() {
    let config = LimitsConfig {
        url: "redis://:planted-password@localhost".to_owned(),
        ..all(limits(1, 1, 0))
    };
    assert!(!format!("{config:?}").contains("planted"), "{config:?}");
}
