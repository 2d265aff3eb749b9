use data_model::CouponKind;
use proptest::prelude::*;

use super::*;
use crate::hidden::SecretText;
use crate::rules::store_cart::{Discounts, StoreWarning};

/// Rules of an emulated store: each code's discount, and if the code can be combined with others.
#[derive(Debug, Clone)]
struct Rules {
    codes: Vec<(String, i64, bool)>,
    /// Existing codes that do not apply to this cart.
    elsewhere: Vec<String>,
    /// True if the store gives no reason for a code that does not apply.
    is_silent: bool,
}

impl Rules {
    /// Returns the codes that apply: all that can be combined, or the single code with the highest discount.
    fn applied(&self, entered: &[String]) -> Vec<(String, i64)> {
        let known = |code: &String| self.codes.iter().find(|(known, ..)| known == code);
        let known: Vec<_> = entered.iter().filter_map(known).collect();
        let together: Vec<_> = known.iter().filter(|(.., combines)| *combines).collect();
        let sum: i64 = together.iter().map(|(_, minor, _)| minor).sum();
        let best = known
            .iter()
            .filter(|(.., combines)| !combines)
            .max_by_key(|(_, minor, _)| *minor);
        match best {
            Some((code, minor, _)) if *minor > sum || together.is_empty() => vec![(code.clone(), *minor)],
            _ => together.iter().map(|(code, minor, _)| (code.clone(), *minor)).collect(),
        }
    }

    fn cart(&self, entered: &[String]) -> StoreCart {
        let applied = self.applied(entered);
        let order_minor: i64 = applied.iter().map(|(_, minor)| minor).sum();
        let mut warnings = Vec::new();
        let codes = entered.iter().map(|code| {
            let minor = applied
                .iter()
                .find(|(applied, _)| applied == code)
                .map(|(_, minor)| *minor);
            if minor.is_none() && !self.is_silent {
                let has = self.elsewhere.contains(code);
                let loses = self.codes.iter().any(|(known, ..)| known == code);
                let (kind, message) = match (has, loses) {
                    (true, _) => (
                        "DISCOUNT_PURCHASE_NOT_IN_RANGE",
                        format!("The {code} discount code is not valid"),
                    ),
                    (_, true) => (
                        "DISCOUNT_CODE_NOT_HONOURED",
                        format!("The {code} discount code is not honoured"),
                    ),
                    _ => ("DISCOUNT_NOT_FOUND", "Enter a valid discount code".to_owned()),
                };
                warnings.push(StoreWarning {
                    code: kind.to_owned(),
                    message,
                    variant: None,
                });
            }
            StoreCode {
                code: code.clone(),
                applicable: minor.is_some(),
                discount_minor: minor.unwrap_or(0),
                shipping_minor: 0,
                is_for_shipping: false,
                stated: None,
            }
        });
        let codes = codes.collect();
        StoreCart {
            id: SecretText::new("gid://shopify/Cart/1"),
            checkout_url: SecretText::new("https://tea.example/cart/c/1"),
            currency: "INR".parse().unwrap(),
            lines: Vec::new(),
            subtotal_minor: 999_900,
            discounts: Discounts {
                order_minor,
                ..Discounts::default()
            },
            delivery_minor: 0,
            other_minor: 0,
            total_minor: 999_900 - order_minor,
            codes,
            automatic: Vec::new(),
            deliveries: Vec::new(),
            attributes: Vec::new(),
            address: None,
            warnings,
        }
    }
}

/// Enters all codes until the plan is finished. Returns each code's verdict and the number of calls.
fn entered(rules: &Rules, codes: &[String], size: usize) -> (Vec<(String, CouponVerdict)>, usize) {
    let (mut plan, mut proven, mut calls) = (Plan::of(codes, size), Vec::new(), 0);
    while let Some(group) = plan.next() {
        calls += 1;
        assert!(calls < 1_000, "it never ends");
        proven.extend(plan.told(&group, &rules.cart(&group)));
    }
    proven.sort_by(|one, other| one.0.cmp(&other.0));
    (proven, calls)
}

fn texts(codes: &[&str]) -> Vec<String> {
    codes.iter().map(|code| (*code).to_owned()).collect()
}

#[test]
fn forty_codes_of_which_none_is_there_take_two_calls() {
    let rules = Rules {
        codes: Vec::new(),
        elsewhere: Vec::new(),
        is_silent: false,
    };
    let codes: Vec<String> = (0..40).map(|at| format!("CODE{at}")).collect();
    let (proven, calls) = entered(&rules, &codes, 20);
    assert_eq!((proven.len(), calls), (40, 2));
    assert!(proven.iter().all(|(_, verdict)| *verdict == CouponVerdict::UnknownCode));
}

#[test]
fn a_code_that_loses_against_another_is_entered_again_without_it() {
    let rules = Rules {
        codes: vec![("TEN".into(), 99_990, false), ("FLAT".into(), 10_000, false)],
        elsewhere: texts(&["BIG"]),
        is_silent: false,
    };
    let (proven, calls) = entered(&rules, &texts(&["FLAT", "NOPE", "TEN", "BIG"]), 20);
    let told: Vec<_> = proven
        .iter()
        .map(|(code, verdict)| match verdict {
            CouponVerdict::Applicable(effect) => format!("{code} {} {:?}", effect.discount_minor, effect.kind),
            other => format!("{code} {other:?}"),
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    BIG NotApplicable
    FLAT 10000 Fixed
    NOPE UnknownCode
    TEN 99990 Percentage
    "#);
    assert_eq!(calls, 3);
}

#[test]
fn what_the_store_keeps_silent_about_is_asked_for_once_more_and_left() {
    let rules = Rules {
        codes: Vec::new(),
        elsewhere: Vec::new(),
        is_silent: true,
    };
    let mut plan = Plan::of(&texts(&["ONE", "TWO", "THREE"]), 3);
    let group = plan.next().unwrap();
    let mut cart = rules.cart(&group);
    cart.codes.pop();
    assert_eq!(plan.told(&group, &cart).len(), 2);
    let again = plan.next().unwrap();
    assert_eq!(again, ["THREE"]);
    cart.codes.clear();
    assert_eq!((plan.told(&again, &cart), plan.next()), (vec![], None));
}

#[test]
fn codes_that_are_too_many_at_once_are_entered_in_halves() {
    let mut plan = Plan::of(&texts(&["ONE", "TWO", "THREE"]), 3);
    let group = plan.next().unwrap();
    assert!(plan.halve(&group));
    assert_eq!(
        (plan.next(), plan.next(), plan.next()),
        (Some(texts(&["ONE"])), Some(texts(&["TWO", "THREE"])), None)
    );
    assert!(!plan.halve(&texts(&["ONE"])));
}

proptest! {
    #[test]
    fn every_code_gets_the_verdict_that_it_has_alone(
        kinds in proptest::collection::vec((0_u8..5, 1_i64..50_000, any::<bool>()), 1..30),
        size in 1_usize..25,
        is_silent in any::<bool>(),
    ) {
        let name = |at: usize| format!("CODE{at:02}");
        let rules = Rules {
            codes: kinds.iter().enumerate().filter(|(_, kind)| kind.0 == 0)
                .map(|(at, (_, minor, combines))| (name(at), *minor, *combines)).collect(),
            elsewhere: kinds.iter().enumerate().filter(|(_, kind)| kind.0 == 1).map(|(at, _)| name(at)).collect(),
            is_silent,
        };
        let codes: Vec<String> = (0..kinds.len()).map(name).collect();
        let (proven, calls) = entered(&rules, &codes, size);
        prop_assert_eq!(proven.len(), codes.len());
        for (code, verdict) in proven {
            let known = rules.codes.iter().find(|(known, ..)| *known == code);
            match verdict {
                CouponVerdict::Applicable(effect) => {
                    prop_assert_eq!(Some(effect.discount_minor), known.map(|(_, minor, _)| *minor));
                    prop_assert_ne!(effect.kind, CouponKind::Shipping);
                }
                _ => prop_assert!(known.is_none(), "{code}"),
            }
            if verdict == CouponVerdict::UnknownCode {
                prop_assert!(!rules.elsewhere.contains(&code));
            }
        }
        let works = rules.codes.len();
        prop_assert!(calls <= codes.len().div_ceil(size) + 2 * works, "{calls} calls for {works} codes");
    }
}
