use proptest::prelude::*;

use super::*;
use crate::discount::{CombinesWith, DiscountValue, Item};

fn item(product: u64, quantity: u64, unit_minor: u64) -> Item {
    Item {
        product,
        quantity,
        unit_minor,
        is_delivered: true,
    }
}

fn basket(items: &[Item]) -> Basket<'_> {
    Basket {
        items,
        delivery_minor: None,
        is_customer: false,
        now: "2026-11-20T12:00:00Z".parse().unwrap(),
    }
}

fn entered(codes: &[&str]) -> Vec<String> {
    codes.iter().map(|code| (*code).to_owned()).collect()
}

fn percentage(code: &str, percent: u32) -> DiscountRule {
    DiscountRule::code(code, DiscountValue::Percentage { percent })
}

fn amount(code: &str, amount_minor: u64) -> DiscountRule {
    DiscountRule::code(
        code,
        DiscountValue::Amount {
            amount_minor,
            each_item: false,
        },
    )
}

const ALL: CombinesWith = CombinesWith {
    order: true,
    product: true,
    shipping: true,
};

#[test]
fn an_order_is_cheaper_by_a_share_of_each_line() {
    let rules = [percentage("TAKE20", 20)];
    let items = [item(1, 1, 1_250), item(2, 4, 1_250)];
    let applied = apply(&rules, &entered(&["take20 "]), &basket(&items));
    let amounts: Vec<u64> = applied.allocations.iter().map(|it| it.amount_minor).collect();
    assert_eq!(amounts, [250, 1_000]);
    assert_eq!((applied.subtotal_minor(), applied.goods_minor), (6_250, 5_000));
    assert_eq!(applied.codes[0].discount_minor, 1_250);
    assert_eq!(applied.codes[0].code, "take20 ");
}

#[test]
fn a_discount_of_products_lowers_the_subtotal_and_an_amount_is_never_more_than_its_lines() {
    let rules = [DiscountRule {
        products: vec![1],
        ..amount("PICK", 5_000)
    }];
    let items = [item(1, 2, 1_000), item(2, 1, 9_000)];
    let applied = apply(&rules, &entered(&["PICK"]), &basket(&items));
    assert_eq!(applied.item_totals_minor, [0, 9_000]);
    assert_eq!((applied.subtotal_minor(), applied.goods_minor), (9_000, 9_000));
    assert_eq!(applied.codes[0].discount_minor, 2_000);
}

#[test]
fn every_reason_is_told_apart() {
    let now = basket(&[]).now;
    let day = chrono::TimeDelta::days(1);
    let rules = [
        DiscountRule {
            ends_at: Some(now),
            ..percentage("ENDED", 10)
        },
        DiscountRule {
            starts_at: Some(now + day),
            ..percentage("SOON", 10)
        },
        DiscountRule {
            usage_limit: Some(5),
            used: 5,
            ..percentage("USED", 10)
        },
        DiscountRule {
            customers_only: true,
            ..percentage("VIP", 10)
        },
        DiscountRule {
            products: vec![9],
            ..percentage("OTHER", 10)
        },
        DiscountRule {
            minimum_subtotal_minor: Some(2_001),
            ..percentage("MORE", 10)
        },
        DiscountRule {
            minimum_quantity: Some(3),
            ..percentage("THREE", 10)
        },
        percentage("TEN", 10),
        percentage("FIVE", 5),
        DiscountRule::code("SHIP", DiscountValue::Shipping),
    ];
    let codes = entered(&[
        "ENDED", "SOON", "USED", "VIP", "OTHER", "MORE", "THREE", "NONE", "TEN", "FIVE", "SHIP",
    ]);
    let told = |basket: &Basket<'_>| -> Vec<String> {
        let verdicts = apply(&rules, &codes, basket).codes.into_iter();
        verdicts
            .map(|it| it.refusal.map_or("ok", DiscountRefusal::warning).to_owned())
            .collect()
    };
    let items = [Item {
        is_delivered: false,
        ..item(1, 2, 1_000)
    }];
    insta::assert_snapshot!(told(&basket(&items)).join("\n"), @r"
    DISCOUNT_CURRENTLY_INACTIVE
    DISCOUNT_CURRENTLY_INACTIVE
    DISCOUNT_USAGE_LIMIT_REACHED
    DISCOUNT_ELIGIBLE_CUSTOMER_MISSING
    DISCOUNT_NO_ENTITLED_LINE_ITEMS
    DISCOUNT_PURCHASE_NOT_IN_RANGE
    DISCOUNT_QUANTITY_NOT_IN_RANGE
    DISCOUNT_NOT_FOUND
    ok
    DISCOUNT_CODE_NOT_HONOURED
    DISCOUNT_NO_ENTITLED_SHIPPING_LINES
    ");
    let empty = told(&basket(&[]));
    assert_eq!(empty[0], "DISCOUNT_CURRENTLY_INACTIVE");
    assert_eq!(empty[7], "DISCOUNT_NOT_FOUND");
    assert!(empty[8..].iter().all(|it| it == "DISCOUNT_CODE_NOT_HONOURED"));
}

#[test]
fn the_better_of_two_that_do_not_combine_applies_whatever_the_order() {
    let rules = [
        percentage("TEN", 10),
        amount("FLAT", 500),
        DiscountRule::automatic("3%", DiscountValue::Percentage { percent: 3 }),
    ];
    let items = [item(1, 1, 3_000)];
    for codes in [["TEN", "FLAT"], ["FLAT", "TEN"]] {
        let applied = apply(&rules, &entered(&codes), &basket(&items));
        let flat = applied.codes.iter().find(|it| it.code == "FLAT").unwrap();
        let ten = applied.codes.iter().find(|it| it.code == "TEN").unwrap();
        assert!(flat.applicable && !ten.applicable);
        assert_eq!(applied.goods_minor, 2_500);
    }
}

#[test]
fn those_that_combine_are_taken_together_and_delivery_comes_last() {
    let together = |rule: DiscountRule| DiscountRule {
        combines_with: ALL,
        ..rule
    };
    let rules = [
        together(percentage("TEN", 10)),
        together(DiscountRule::code("SHIP", DiscountValue::Shipping)),
        together(DiscountRule {
            products: vec![1],
            ..amount("PICK", 1_000)
        }),
    ];
    let items = [item(1, 1, 3_000), item(2, 1, 1_000)];
    let paid = Basket {
        delivery_minor: Some(4_900),
        ..basket(&items)
    };
    let applied = apply(&rules, &entered(&["TEN", "SHIP", "PICK"]), &paid);
    assert!(applied.codes.iter().all(|it| it.applicable));
    let taken: Vec<u64> = applied.codes.iter().map(|it| it.discount_minor).collect();
    assert_eq!(taken, [300, 4_900, 1_000]);
    assert_eq!((applied.goods_minor, applied.delivery_minor), (2_700, 0));
}

fn rule(code: usize) -> impl Strategy<Value = DiscountRule> {
    let takes = prop_oneof![
        (1u32..=100).prop_map(|percent| DiscountValue::Percentage { percent }),
        (1u64..100_000, any::<bool>()).prop_map(|(amount_minor, each_item)| DiscountValue::Amount {
            amount_minor,
            each_item
        }),
        Just(DiscountValue::Shipping),
    ];
    let products = proptest::collection::vec(0u64..4, 0..3);
    let flags = any::<[bool; 4]>();
    (takes, products, flags, proptest::option::of(0u64..50_000)).prop_map(
        move |(takes, products, [order, product, shipping, by_itself], least)| DiscountRule {
            code: (!by_itself).then(|| format!("CODE{code}")),
            title: format!("Title {code}"),
            products,
            minimum_subtotal_minor: least,
            combines_with: CombinesWith {
                order,
                product,
                shipping,
            },
            ..DiscountRule::automatic("", takes)
        },
    )
}

proptest! {
    #[test]
    fn what_is_taken_off_sums_up_and_nothing_costs_less_than_nothing(
        rules in (0usize..12).prop_flat_map(|count| (0..count).map(rule).collect::<Vec<_>>()),
        items in proptest::collection::vec((0u64..4, 0u64..5, 0u64..100_000), 0..8),
        delivery in proptest::option::of(0u64..20_000),
    ) {
        let items: Vec<Item> = items.into_iter().map(|(product, quantity, unit)| item(product, quantity, unit)).collect();
        let basket = Basket { delivery_minor: delivery, ..basket(&items) };
        let codes: Vec<String> = rules.iter().filter_map(|rule| rule.code.clone()).collect();
        let applied = apply(&rules, &codes, &basket);

        let taken: u64 = applied.allocations.iter().map(|it| it.amount_minor).sum();
        let before = basket.list_minor() + delivery.unwrap_or(0);
        prop_assert_eq!(applied.goods_minor + applied.delivery_minor + taken, before);
        for (nth, item) in items.iter().enumerate() {
            let of_item: u64 = applied.allocations.iter().filter(|it| it.item == Some(nth)).map(|it| it.amount_minor).sum();
            prop_assert!(of_item <= item.amount_minor());
            let of_products: u64 = applied.allocations.iter()
                .filter(|it| it.item == Some(nth) && it.class == Class::Product).map(|it| it.amount_minor).sum();
            prop_assert_eq!(applied.item_totals_minor[nth] + of_products, item.amount_minor());
        }
        for verdict in &applied.codes {
            prop_assert_eq!(verdict.applicable, verdict.refusal.is_none());
            prop_assert!(verdict.applicable || verdict.discount_minor == 0);
        }
        let used: std::collections::HashSet<usize> = applied.allocations.iter().map(|it| it.rule).collect();
        for one in &used {
            prop_assert!(used.iter().all(|other| one == other || rules[*one].goes_with(&rules[*other])));
        }
    }

    #[test]
    fn no_single_code_would_have_taken_off_more(
        rules in (1usize..6).prop_flat_map(|count| (0..count).map(rule).collect::<Vec<_>>()),
        items in proptest::collection::vec((0u64..4, 1u64..5, 1u64..100_000), 1..5),
    ) {
        let items: Vec<Item> = items.into_iter().map(|(product, quantity, unit)| item(product, quantity, unit)).collect();
        let basket = basket(&items);
        let codes: Vec<String> = rules.iter().filter_map(|rule| rule.code.clone()).collect();
        let together = apply(&rules, &codes, &basket).goods_minor;
        for code in &codes {
            let alone = apply(&rules, std::slice::from_ref(code), &basket).goods_minor;
            prop_assert!(together <= alone, "{code}: {together} > {alone}");
        }
    }
}
