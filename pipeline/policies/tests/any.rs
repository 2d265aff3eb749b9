//! Whatever a text holds, it is read, and what is read is in bounds.

use pipeline_policies::read;
use proptest::prelude::*;

proptest! {
    #[test]
    fn any_text_is_read(text in "\\PC{0,300}") {
        let reading = read(&text, "INR".parse().unwrap());
        prop_assert!(reading.facts.len() <= 64);
    }

    #[test]
    fn words_of_policies_in_any_order_give_facts_in_bounds(
        words in proptest::collection::vec(
            prop_oneof![
                Just("free"), Just("shipping"), Just("above"), Just("Rs. 499"), Just("COD"), Just("not"), Just("available"),
                Just("within"), Just("3-5"), Just("working days"), Just("."), Just(","), Just("Metro"), Just("50%"), Just("₹1,00,000"),
                Just("dispatch"), Just("24 hours"), Just("2 PM"), Just("Sunday"), Just("<p>"), Just("99999999999"), Just("up to"),
            ],
            0..40,
        ),
    ) {
        let reading = read(&words.join(" "), "INR".parse().unwrap());
        for fact in &reading.facts {
            prop_assert!(fact.days_min.zip(fact.days_max).is_none_or(|(min, max)| min <= max), "{fact:?}");
            prop_assert!(fact.amount_minor.is_none_or(|amount| amount >= 0), "{fact:?}");
            prop_assert!(fact.min_order_minor.zip(fact.max_order_minor).is_none_or(|(min, max)| min <= max), "{fact:?}");
            prop_assert!(!fact.sentence.is_empty());
        }
        for unknown in &reading.unknown {
            prop_assert!(!reading.facts.iter().any(|fact| fact.kind == unknown.kind), "{unknown:?}");
        }
    }
}
