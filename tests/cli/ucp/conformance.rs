//! Tests of the rules of the protocol's public conformance suite on a running market. The table in
//! `agents/ucp/README.md` lists all rules, including those that do not apply.

mod carts;
mod checkouts;
mod protocol;
mod shop;

use self::shop::Shop;

const README: &str = include_str!("../../../agents/ucp/README.md");

/// Name of a rule in the suite, and its test.
type Rule = (&'static str, fn(&mut Shop));

/// Rules that apply, in the order of the table.
const RULES: &[Rule] = &[
    ("protocol: discovery", protocol::discovery),
    ("protocol: version_negotiation", protocol::version_negotiation),
    ("idempotency: header_accepted", protocol::idempotency_header_accepted),
    ("idempotency: create", protocol::idempotency_create),
    ("idempotency: update", protocol::idempotency_update),
    ("idempotency: complete", protocol::idempotency_complete),
    ("idempotency: cancel", protocol::idempotency_cancel),
    (
        "cart: conversion_uses_cart_contents_over_payload",
        carts::conversion_uses_the_cart,
    ),
    (
        "cart: second_conversion_returns_the_existing_checkout",
        carts::second_conversion,
    ),
    (
        "cart: cancel_returns_the_cart_state_before_deletion",
        carts::cancel_returns_the_cart,
    ),
    (
        "cart: discount_codes_carry_forward_to_checkout",
        carts::codes_carry_forward,
    ),
    ("totals: single_subtotal_entry", |shop| {
        carts::single_entry(shop, "subtotal")
    }),
    ("totals: single_total_entry", |shop| carts::single_entry(shop, "total")),
    (
        "totals: entries_have_type_and_amount",
        carts::entries_have_type_and_amount,
    ),
    (
        "totals: additive_entries_non_negative",
        carts::additive_entries_non_negative,
    ),
    ("totals: discount_entry_is_negative", carts::discount_entry_is_negative),
    (
        "business_logic: totals_calculation_on_create",
        carts::totals_calculation_on_create,
    ),
    (
        "business_logic: totals_recalculation_on_update",
        carts::totals_recalculation_on_update,
    ),
    ("discount: discount_flow", |shop| carts::takes_off(shop, "percentage")),
    ("discount: fixed_amount_discount", |shop| {
        carts::takes_off(shop, "fixed")
    }),
    (
        "discount: multiple_discounts_accepted",
        carts::multiple_discounts_accepted,
    ),
    (
        "discount: multiple_discounts_one_rejected",
        carts::multiple_discounts_one_rejected,
    ),
    ("discount: unknown_discount_code", carts::unknown_discount_code),
    ("checkout_lifecycle: create_checkout", checkouts::create_checkout),
    ("checkout_lifecycle: get_checkout", checkouts::get_checkout),
    ("checkout_lifecycle: update_checkout", checkouts::update_checkout),
    ("checkout_lifecycle: cancel_checkout", checkouts::cancel_checkout),
    ("checkout_lifecycle: escalation_flow", checkouts::escalation_flow),
    ("checkout_lifecycle: cancel_is_idempotent", |shop| {
        checkouts::canceled_stays(shop, "cancel")
    }),
    ("checkout_lifecycle: cannot_update_canceled_checkout", |shop| {
        checkouts::canceled_stays(shop, "update")
    }),
    ("checkout_lifecycle: cannot_complete_canceled_checkout", |shop| {
        checkouts::canceled_stays(shop, "complete")
    }),
    ("validation: out_of_stock", checkouts::out_of_stock),
    (
        "validation: update_inventory_validation",
        checkouts::update_inventory_validation,
    ),
    ("validation: product_not_found", checkouts::product_not_found),
    ("validation: structured_error_messages", checkouts::out_of_stock),
    ("security: simulation_endpoint", checkouts::simulation_endpoint),
];

struct Row {
    rule: String,
    outcome: String,
}

fn rows() -> Vec<Row> {
    let table = README.split("## The public conformance suite").nth(1).unwrap();
    let lines = table.lines().filter(|line| line.starts_with("| `"));
    let cells = |line: &str| {
        line.split('|')
            .map(|cell| cell.trim().replace('`', ""))
            .collect::<Vec<_>>()
    };
    lines
        .map(cells)
        .map(|cells| Row {
            rule: cells[1].clone(),
            outcome: cells[2].clone(),
        })
        .collect()
}

#[test]
fn every_rule_of_the_conformance_suite_is_held_or_listed_with_the_reason_why_it_does_not_apply() {
    let rows = rows();
    let held: Vec<_> = rows
        .iter()
        .filter(|row| row.outcome.starts_with("held"))
        .map(|row| row.rule.as_str())
        .collect();
    let names: Vec<_> = RULES.iter().map(|(name, _)| *name).collect();
    assert_eq!(held, names, "the table and the tests name the same rules");
    for row in rows.iter().filter(|row| !row.outcome.starts_with("held")) {
        let reason = row.outcome.strip_prefix("does not apply: ");
        assert!(
            reason.is_some_and(|reason| !reason.is_empty()),
            "{}: {}",
            row.rule,
            row.outcome
        );
    }
    let mut shop = Shop::open();
    for (name, rule) in RULES {
        println!("{name}");
        rule(&mut shop);
    }
}
