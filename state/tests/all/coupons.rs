use data_model::{CouponEffect, CouponKind, CouponVerdict, StoreHost, Timestamp, VariantId};
use state::{CouponBounds, CouponOutcome, State};

use crate::support::{at, on_both};

const SHIRT: VariantId = VariantId(11);
const SHOE: VariantId = VariantId(12);

fn store(name: &str) -> StoreHost {
    format!("{name}.myshopify.example").parse().unwrap()
}

fn works(code: &str, variant: VariantId, second: i64) -> CouponOutcome {
    CouponOutcome {
        verdict: CouponVerdict::Applicable(CouponEffect {
            kind: CouponKind::Percentage,
            discount_minor: 4_990,
            subtotal_minor: 49_900,
            total_minor: 44_910,
            currency: "INR".parse().unwrap(),
        }),
        ..fails(code, variant, second)
    }
}

fn fails(code: &str, variant: VariantId, second: i64) -> CouponOutcome {
    CouponOutcome {
        code: code.to_owned(),
        variant: Some(variant),
        verdict: CouponVerdict::NotApplicable,
        tested_at: at(second),
    }
}

fn unknown(code: &str, second: i64) -> CouponOutcome {
    CouponOutcome {
        variant: None,
        verdict: CouponVerdict::UnknownCode,
        ..fails(code, SHIRT, second)
    }
}

fn all() -> CouponBounds {
    CouponBounds {
        oldest: Timestamp::from_micros(0),
        per_store_max: 1_000,
    }
}

async fn note(state: &State, outcomes: &[CouponOutcome]) {
    state.note_coupons(&store("tea"), outcomes, all()).await.unwrap();
}

async fn known(state: &State, variant: VariantId) -> Vec<CouponOutcome> {
    state.coupons(&store("tea"), variant, at(-1_000)).await.unwrap()
}

#[test]
fn what_a_store_said_of_a_code_is_known_of_the_item_that_it_was_asked_with() {
    on_both(async |place| {
        let state = place.open().await;
        let said = [works("TEA10", SHIRT, 3), fails("TEA20", SHIRT, 2), unknown("NOPE", 1)];
        note(&state, &said).await;
        assert_eq!(known(&state, SHIRT).await, said);
        assert_eq!(known(&state, SHOE).await, [unknown("NOPE", 1)]);
        assert_eq!(state.coupons(&store("mate"), SHIRT, at(0)).await.unwrap(), []);
        assert_eq!(
            state.coupons(&store("tea"), SHIRT, at(3)).await.unwrap(),
            [works("TEA10", SHIRT, 3)]
        );
        state.close().await;
        assert_eq!(known(&place.open().await, SHIRT).await, said);
    });
}

#[test]
fn the_later_of_two_outcomes_stays_in_whatever_order_they_come() {
    on_both(async |place| {
        let state = place.open().await;
        note(&state, &[fails("TEA10", SHIRT, 5)]).await;
        note(&state, &[works("TEA10", SHIRT, 4)]).await;
        assert_eq!(known(&state, SHIRT).await, [fails("TEA10", SHIRT, 5)]);
        // A code that does not exist at the store is unknown for every item, until it works again.
        note(&state, &[works("TEA10", SHOE, 6), unknown("TEA10", 7)]).await;
        assert_eq!(known(&state, SHIRT).await, [unknown("TEA10", 7)]);
        assert_eq!(known(&state, SHOE).await, [unknown("TEA10", 7)]);
        note(&state, &[works("TEA10", SHOE, 8)]).await;
        assert_eq!(known(&state, SHIRT).await, []);
        assert_eq!(known(&state, SHOE).await, [works("TEA10", SHOE, 8)]);
    });
}

#[test]
fn codes_that_worked_are_known_when_they_do_not_work_any_more() {
    on_both(async |place| {
        let state = place.open().await;
        note(
            &state,
            &[works("OLD", SHIRT, 1), works("NEW", SHOE, 9), fails("NEVER", SHIRT, 9)],
        )
        .await;
        note(&state, &[fails("OLD", SHIRT, 10)]).await;
        let worked = async |since, most| {
            let worked = state.coupons_that_worked(&store("tea"), at(since), most).await;
            worked.unwrap()
        };
        assert_eq!(worked(0, 10).await, ["NEW", "OLD"]);
        assert_eq!(worked(0, 1).await, ["NEW"]);
        assert_eq!(worked(2, 10).await, ["NEW"]);
        // The code applied to another cart, so its outcome for an item is unknown.
        state
            .note_worked(&store("tea"), &["CART".to_owned()], at(12))
            .await
            .unwrap();
        assert_eq!(worked(2, 10).await, ["CART", "NEW"]);
        assert!(!known(&state, SHIRT).await.iter().any(|outcome| outcome.code == "CART"));
        note(&state, &[unknown("CART", 13)]).await;
        // A code that the store removed is not listed again after an `unknown` outcome.
        note(&state, &[unknown("OLD", 11)]).await;
        assert_eq!(worked(0, 10).await, ["NEW"]);
    });
}

#[test]
fn what_is_kept_is_bounded_by_age_and_by_store() {
    on_both(async |place| {
        let state = place.open().await;
        let many: Vec<_> = (0..50).map(|nth| fails(&format!("CODE{nth:02}"), SHIRT, nth)).collect();
        let bounds = CouponBounds {
            per_store_max: 20,
            ..all()
        };
        state
            .note_coupons(&store("mate"), &[works("MATE", SHIRT, 0)], all())
            .await
            .unwrap();
        state.note_coupons(&store("tea"), &many, bounds).await.unwrap();
        let kept = known(&state, SHIRT).await;
        assert_eq!(
            (kept.len(), kept[0].code.as_str(), kept[19].code.as_str()),
            (20, "CODE49", "CODE30")
        );
        assert_eq!(state.coupons(&store("mate"), SHIRT, at(0)).await.unwrap().len(), 1);
        let aged = CouponBounds {
            oldest: at(40),
            ..all()
        };
        state.note_coupons(&store("tea"), &[], aged).await.unwrap();
        assert_eq!(known(&state, SHIRT).await.len(), 10);
        assert_eq!(state.coupons(&store("mate"), SHIRT, at(0)).await.unwrap(), []);
    });
}

#[test]
fn servers_that_note_the_same_at_the_same_time_do_not_stop_each_other() {
    on_both(async |place| {
        let servers = (0..6).map(|server: i64| {
            let target = place.target.clone();
            tokio::spawn(async move {
                let state = State::open(&target).await.unwrap();
                for round in 0..5 {
                    let codes = (0..20).map(|nth| fails(&format!("CODE{}", (nth + server) % 20), SHIRT, round));
                    let codes: Vec<_> = codes.collect();
                    state.note_coupons(&store("tea"), &codes, all()).await.unwrap();
                }
            })
        });
        for server in servers.collect::<Vec<_>>() {
            server.await.unwrap();
        }
        assert_eq!(known(&place.open().await, SHIRT).await.len(), 20);
    });
}
