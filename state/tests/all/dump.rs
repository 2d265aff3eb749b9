//! What was dumped from one database holds in another, of the same kind or the other.

use std::time::Duration;

use state::{CartRow, KeyIndex, Lease, State, StateError};

use crate::support::{Place, at, cli, create};

async fn dumped(state: &State) -> String {
    let mut dump = Vec::new();
    state.dump(&mut dump).await.unwrap();
    String::from_utf8(dump).unwrap()
}

/// Something in most tables, a key that another one replaced among it.
async fn filled(place: &Place) -> State {
    let state = place.open().await;
    let first = create(&state, "first", at(0)).await;
    let second = create(&state, "second", at(1)).await;
    state
        .rotate_key(&first.record.id, Duration::from_secs(60), &cli(), at(2))
        .await
        .unwrap();
    state.revoke_key(&second.record.id, &cli(), at(3)).await.unwrap();
    let cart = CartRow {
        sealed: vec![0, 255, 7],
        created_at: at(0),
        expires_at: at(1_000),
    };
    state
        .create_cart("c1", "asha \u{1f6d2}", &cart, &Lease::new(at(10)).unwrap())
        .await
        .unwrap();
    state
}

async fn restored(dump: &str, place: &Place) -> State {
    let state = place.open().await;
    let rows = state.take_dump(&mut dump.as_bytes(), false).await.unwrap();
    assert_eq!(rows as usize, dump.lines().count() - 2);
    state
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.unwrap().block_on(test);
}

/// The lines of a dump in an order that does not depend on the database.
fn sorted(dump: &str) -> Vec<&str> {
    let mut lines: Vec<_> = dump.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn what_was_dumped_from_one_database_is_what_another_holds() {
    run(async {
        let mut places = vec![Place::sqlite()];
        places.extend(Place::postgres().await);
        for from in &places {
            let state = filled(from).await;
            let dump = dumped(&state).await;
            let mut targets = vec![Place::sqlite()];
            targets.extend(Place::postgres().await);
            for to in &targets {
                let taken = restored(&dump, to).await;
                let again = dumped(&taken).await;
                assert_eq!(sorted(&again), sorted(&dump));
                assert_eq!(taken.keys(None).await.unwrap(), state.keys(None).await.unwrap());
                // It is in use again: numbers go on, and servers learn of new keys.
                let index = KeyIndex::load(taken.clone()).await.unwrap();
                let key = create(&taken, "later", at(9)).await;
                index.refresh().await.unwrap();
                assert!(index.find(&key.key.hash(), at(10)).is_some());
                taken.close().await;
            }
            state.close().await;
            // The next round begins anew.
        }
    });
}

#[test]
fn a_state_that_is_not_empty_takes_no_dump_and_keeps_what_it_has() {
    run(async {
        let mut places = vec![Place::sqlite()];
        places.extend(Place::postgres().await);
        let dump = dumped(&filled(&Place::sqlite()).await).await;
        for place in places {
            let state = filled(&place).await;
            let before = dumped(&state).await;
            let refused = state.take_dump(&mut dump.as_bytes(), false).await;
            assert!(matches!(refused, Err(StateError::NotEmpty { .. })), "{refused:?}");
            assert_eq!(dumped(&state).await, before);
        }
    });
}

#[test]
fn a_dump_that_was_cut_short_or_changed_is_taken_in_nowhere() {
    run(async {
        let dump = dumped(&filled(&Place::sqlite()).await).await;
        let lines: Vec<&str> = dump.lines().collect();
        let mut places = vec![Place::sqlite()];
        places.extend(Place::postgres().await);
        for place in places {
            let state = place.open().await;
            let empty = dumped(&state).await;
            let without_end = lines[..lines.len() - 1].join("\n");
            let without_row = [&lines[..3], &lines[4..]].concat().join("\n");
            let unknown = dump.replacen("\"table\":\"keys\"", "\"table\":\"keys; drop table keys\"", 1);
            let column = dump.replacen("\"hint\":", "\"hint) select\":", 1);
            let newer = dump.replacen("\"schema\":", "\"schema\":9", 1);
            for bad in [&without_end, &without_row, &unknown, &column, &newer, &String::new()] {
                assert_ne!(bad, &dump);
                assert!(state.take_dump(&mut bad.as_bytes(), false).await.is_err(), "{bad}");
                assert_eq!(dumped(&state).await, empty);
            }
            state.take_dump(&mut dump.as_bytes(), false).await.unwrap();
        }
    });
}

#[test]
fn what_a_lost_master_key_has_sealed_is_left_out_where_that_is_wanted() {
    run(async {
        let source = Place::sqlite();
        let from = filled(&source).await;
        let dump = dumped(&from).await;
        let target = Place::sqlite();
        let state = target.open().await;
        let taken = state.take_dump(&mut dump.as_bytes(), true).await.unwrap();
        assert_eq!(
            usize::try_from(taken).unwrap(),
            dump.lines().count() - 3,
            "all but a cart"
        );
        assert!(state.holds_dump(&mut dump.as_bytes(), true).await.unwrap());
        assert!(!state.holds_dump(&mut dump.as_bytes(), false).await.unwrap());
        assert_eq!(state.cart("c1", "asha \u{1f6d2}", at(1)).await.unwrap(), None);
        assert_eq!(state.keys(None).await.unwrap(), from.keys(None).await.unwrap());
    });
}
