//! Tests of settings of optional features, which the program may lack.

use crate::support::Haat;

#[test]
fn a_setting_that_needs_a_feature_names_it_where_the_program_lacks_it() {
    let settings = [
        (
            "postgres",
            cfg!(feature = "postgres"),
            "HAAT_STATE__URL",
            "postgres://haat@127.0.0.1:9/haat",
        ),
        (
            "otlp",
            cfg!(feature = "otlp"),
            "HAAT_TRACES__ENDPOINT",
            "http://127.0.0.1:9",
        ),
    ];
    for (feature, is_built, name, value) in settings {
        let answer = Haat::new().with(name, value).run(&["brands", "list"]);
        let is_named = answer.stderr.contains(&format!("--features {feature}"));
        assert_eq!(
            (is_named, answer.code),
            (!is_built, if is_built { 0 } else { 2 }),
            "{answer:?}"
        );
    }
}
