//! Checks that any text can be read and that all results are within bounds.

#[path = "../../../fuzz/checks/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/checks/policies.rs"]
mod policies;

use std::time::{Duration, Instant};

use data_model::ShippingFactKind;
use pipeline_policies::read;
use proptest::prelude::*;

/// Time limit far above the time that any of these texts needs, and far below that of an algorithm with quadratic cost.
const LONGEST: Duration = Duration::from_secs(300);

#[test]
fn amounts_are_in_the_minor_units_of_the_stores_currency() {
    let from = |text: &str, currency: &str| {
        let found = read(text, currency.parse().unwrap()).facts;
        let free = found
            .into_iter()
            .find(|fact| fact.kind == ShippingFactKind::FreeShipping);
        free.and_then(|fact| fact.min_order_minor)
    };
    for (text, currency, minor) in [
        ("Free standard shipping on orders over JPY 1499.", "JPY", Some(1_499)),
        ("Free shipping on orders over ¥1,499.", "JPY", Some(1_499)),
        ("Free shipping on orders over 1499 yen.", "JPY", Some(1_499)),
        ("Free shipping on orders over 1499.", "JPY", Some(1_499)),
        ("Free shipping on orders over KWD 15.", "KWD", Some(15_000)),
        ("Free shipping on orders over 150.", "KWD", Some(150_000)),
        ("Free shipping on orders above 5.500 KWD.", "KWD", Some(5_500)),
        ("Free shipping on orders above KWD 12.000.", "KWD", Some(12_000)),
        ("Free shipping on orders above KWD 12.5.", "KWD", Some(12_500)),
        ("Free shipping on orders above KWD 1,255.5", "KWD", Some(1_255_500)),
        ("Livraison gratuite à partir de 1 299,50 €.", "EUR", Some(129_950)),
        ("Livraison gratuite à partir de 1\u{202f}299 €.", "EUR", Some(129_900)),
        ("Livraison offerte dès 1\u{a0}500 € d'achat", "EUR", Some(150_000)),
        ("Kostenlose Lieferung ab 1.299 €", "EUR", Some(129_900)),
        ("Free shipping on orders over Rs 1,49,999/-", "INR", Some(14_999_900)),
        ("Free shipping on orders over $1299.505.", "USD", None),
        ("Free shipping on orders over Rs. 999.", "INR", Some(99_900)),
        ("Free shipping on orders over JPY 5000.", "INR", None),
        ("Free shipping on orders over KWD 15.", "INR", None),
    ] {
        assert_eq!(from(text, currency), minor, "{text} {currency}");
    }
}

#[test]
fn a_hostile_text_takes_no_more_time_than_any_other() {
    let texts = [
        "a.",
        "<",
        "<a",
        "<svg></svg>",
        "<svg>",
        "</",
        "<!--",
        "&",
        "&amp",
        "|",
        ";",
        ".",
        "\n",
        "<table>",
        "<tr><td>",
        "<h2>",
        "<h2>a",
        "free ",
        "Rs. 500 ",
        "500 - ",
        "(",
        "[",
        "<td>a<td>b",
        "no ",
        "except ",
        "?",
        "a? ",
        "Mumbai ",
        "3 days ",
        "to ",
        "<p>International shipping</p>",
        "A.B",
        "é.",
        "a;",
    ];
    for text in texts {
        let begun = Instant::now();
        let source = text.repeat((600 << 10) / text.len());
        let _ = read(&source, "INR".parse().unwrap());
        let took = begun.elapsed();
        assert!(took < LONGEST, "{text:?} took {took:?}");
    }
    // The table has one long heading cell above many short cells.
    let head = format!("<table><tr><th>a<th>{}</tr>", "b".repeat(250 << 10));
    let begun = Instant::now();
    let _ = read(
        &format!("{head}{}", "<tr><td>c<td>d".repeat(20_000)),
        "INR".parse().unwrap(),
    );
    assert!(begun.elapsed() < LONGEST);
}

#[test]
fn numbers_that_no_integer_holds_are_no_facts() {
    for text in [
        "Delivery in 9000000000 crore weeks.",
        "Delivery in 9999999999 crore days.",
        "Shipping for 9000000000 crore kg costs Rs. 50.",
        "Delivery takes 9000000000 crore weeks to 9999999999 crore weeks.",
        "Shipping costs Rs. 9999999999 crore.",
        "Free shipping above Rs. 9999999999 crore.",
        "Delivery in 9999999999 lakh hours.",
    ] {
        for currency in ["INR", "KWD", "JPY"] {
            let reading = read(text, currency.parse().unwrap());
            assert!(
                reading.facts.iter().all(|fact| fact.days_max.is_none()),
                "{text}: {reading:?}"
            );
        }
    }
}

#[test]
fn no_more_than_two_thousand_sentences_are_read() {
    let last = "Free shipping on all orders above Rs. 499";
    let told = |before: &str| read(&format!("{before}{last}"), "INR".parse().unwrap()).facts.len();
    assert_eq!(told(&"a; ".repeat(1_990)), 1);
    assert_eq!(told(&"a; ".repeat(2_000)), 0);
    assert_eq!(told(&"Hello. ".repeat(1_990)), 1);
    assert_eq!(told(&"Hello. ".repeat(2_000)), 0);
}

#[test]
fn facts_of_each_policy_that_fuzzing_kept_are_in_bounds() {
    corpus::replay("policies", policies::check);
}

proptest! {
    #[test]
    fn any_text_is_read(text in "\\PC{0,300}") {
        let reading = read(&text, "INR".parse().unwrap());
        prop_assert!(reading.facts.len() <= 64);
    }

    #[test]
    fn a_fee_for_some_orders_holds_beside_another_fee_for_all_which_is_left_open_and_fees_for_the_same_orders_are_none(
        (general, other) in (1_u32..400, 1_u32..400),
        limit in 400_u32..9_000,
        is_below in any::<bool>(),
        is_first in any::<bool>(),
    ) {
        let side = if is_below { "below" } else { "above" };
        let all = format!("Shipping costs Rs. {general} per order.");
        let all_again = format!("Shipping costs Rs. {other} per order.");
        let some = format!("For orders {side} Rs. {limit} shipping costs Rs. {other}.");
        let fees = |first: &str, second: &str| {
            let text = if is_first { format!("{first} {second}") } else { format!("{second} {first}") };
            let facts = read(&text, "INR".parse().unwrap()).facts.into_iter();
            let fees = facts.filter(|fact| fact.kind == ShippingFactKind::Fee);
            let mut fees: Vec<_> = fees.map(|fee| (fee.amount_minor, fee.min_order_minor, fee.max_order_minor)).collect();
            fees.sort();
            fees
        };
        let [of_all, of_some] = [&all, &some].map(|text| fees(text, ""));
        prop_assert_eq!((of_all.len(), of_some.len()), (1, 1), "{}", some);
        let mut found = if general == other { [of_all, of_some].concat() } else { of_some };
        found.sort();
        prop_assert_eq!(fees(&all, &some), found);
        let same = fees(&all, &all_again).len();
        prop_assert_eq!(same, usize::from(general == other));
    }

    #[test]
    fn words_of_policies_in_any_order_give_facts_in_bounds(
        words in proptest::collection::vec(
            prop_oneof![
                Just("free"), Just("shipping"), Just("above"), Just("Rs. 499"), Just("COD"), Just("not"), Just("available"),
                Just("within"), Just("3-5"), Just("working days"), Just("."), Just(","), Just("Metro"), Just("50%"), Just("₹1,00,000"),
                Just("dispatch"), Just("24 hours"), Just("2 PM"), Just("Sunday"), Just("<p>"), Just("99999999999"), Just("up to"),
                Just("("), Just(")"), Just("except"), Just("North East"), Just("USA"), Just("?"), Just("/"), Just("crore"), Just("weeks"),
                Just("<h2>International</h2>"), Just("<table><tr><td>"), Just("<td>"), Just("</table>"), Just("\n"), Just("|"), Just(":"),
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
