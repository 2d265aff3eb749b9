//! A dump of one database can be loaded into another one, of the same or the other kind.

use std::time::Duration;

use state::{
    AuditQuery, CartRow, KeyFate, KeyIndex, KeyStatus, KeysSince, LOCAL_ISSUER, Lease, NewSession, SessionLimits,
    SignInMethod, State, StateError, TakeDump,
};

use crate::support::{Place, at, cli, create};

async fn dumped(state: &State) -> String {
    let mut dump = Vec::new();
    state.dump(&mut dump).await.unwrap();
    String::from_utf8(dump).unwrap()
}

async fn all_known(state: &State) -> KeysSince {
    let mut keys = KeysSince::dump_of(at(5));
    for key in state.keys(None).await.unwrap() {
        let fate = KeyFate {
            revoked_at: key.revoked_at,
            ends_at: key.ends_at,
            is_final: key.unconfirmed_since.is_none(),
        };
        keys.learn(&key.id, fate);
    }
    keys
}

fn whole(keys: &KeysSince) -> TakeDump<'_> {
    TakeDump {
        without_sealed: false,
        keys,
    }
}

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

async fn restored(dump: &str, keys: &KeysSince, place: &Place) -> State {
    let state = place.open().await;
    let rows = state.take_dump(&mut dump.as_bytes(), whole(keys)).await.unwrap();
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

/// The order of the lines depends on the database.
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
            let keys = all_known(&state).await;
            let mut targets = vec![Place::sqlite()];
            targets.extend(Place::postgres().await);
            for to in &targets {
                let taken = restored(&dump, &keys, to).await;
                let again = dumped(&taken).await;
                assert_eq!(sorted(&again), sorted(&dump));
                assert_eq!(taken.keys(None).await.unwrap(), state.keys(None).await.unwrap());
                // The loaded state is usable: revisions continue, and servers notice new keys.
                let index = KeyIndex::load(taken.clone()).await.unwrap();
                let key = create(&taken, "later", at(9)).await;
                index.refresh().await.unwrap();
                assert!(index.find(&key.key.hash(), at(10)).is_some());
                taken.close().await;
            }
            state.close().await;
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
            let keys = KeysSince::dump_of(at(5));
            let refused = state.take_dump(&mut dump.as_bytes(), whole(&keys)).await;
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
        let keys = KeysSince::dump_of(at(5));
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
                assert!(
                    state.take_dump(&mut bad.as_bytes(), whole(&keys)).await.is_err(),
                    "{bad}"
                );
                assert_eq!(dumped(&state).await, empty);
            }
            state.take_dump(&mut dump.as_bytes(), whole(&keys)).await.unwrap();
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
        let keys = all_known(&from).await;
        let unsealed = TakeDump {
            without_sealed: true,
            keys: &keys,
        };
        let taken = state.take_dump(&mut dump.as_bytes(), unsealed).await.unwrap();
        assert_eq!(
            usize::try_from(taken).unwrap(),
            dump.lines().count() - 3,
            "all but a cart"
        );
        assert!(state.holds_dump(&mut dump.as_bytes(), unsealed).await.unwrap());
        assert!(!state.holds_dump(&mut dump.as_bytes(), whole(&keys)).await.unwrap());
        assert_eq!(state.cart("c1", "asha \u{1f6d2}", at(1)).await.unwrap(), None);
        assert_eq!(state.keys(None).await.unwrap(), from.keys(None).await.unwrap());
    });
}

#[test]
fn nobody_is_signed_in_on_a_state_that_was_restored() {
    run(async {
        let source = Place::sqlite();
        let from = filled(&source).await;
        let who = from.find_or_create_account(LOCAL_ISSUER, "asha", None, at(0)).await;
        let new = NewSession {
            method: SignInMethod::Link,
            client: "Browser".to_owned(),
            limits: SessionLimits {
                idle_ms: 600_000,
                total_ms: 600_000,
            },
            replaces: None,
        };
        let issued = from.create_session(&who.unwrap().id, new, at(1)).await.unwrap();
        let session = issued.token.hash();
        assert!(from.find_session(&session, at(3)).await.unwrap().is_some());
        let dump = dumped(&from).await;
        assert!(dump.contains("{\"table\":\"sessions\""));
        let target = Place::sqlite();
        let state = target.open().await;
        let keys = KeysSince::dump_of(at(5));
        state.take_dump(&mut dump.as_bytes(), whole(&keys)).await.unwrap();
        assert_eq!(state.find_session(&session, at(3)).await.unwrap(), None);
        // An interrupted restore must recognise its own rows to continue.
        assert!(state.holds_dump(&mut dump.as_bytes(), whole(&keys)).await.unwrap());
    });
}

#[test]
fn a_key_that_was_ended_after_a_dump_stays_ended_and_one_of_which_nothing_is_known_is_refused_until_it_is_confirmed() {
    run(async {
        let mut places = vec![Place::sqlite()];
        places.extend(Place::postgres().await);
        for place in places {
            let source = Place::sqlite();
            let from = source.open().await;
            let mut issued = Vec::new();
            for (second, name) in ["revoked", "rotated", "kept", "unknown"].into_iter().enumerate() {
                issued.push(create(&from, name, at(second as i64)).await);
            }
            let ids: Vec<_> = issued.iter().map(|key| key.record.id.clone()).collect();
            let dump = dumped(&from).await;
            // The later dump and the state itself contain a revocation and a rotation.
            from.revoke_key(&ids[0], &cli(), at(20)).await.unwrap();
            from.rotate_key(&ids[1], Duration::ZERO, &cli(), at(21)).await.unwrap();
            let mut keys = KeysSince::dump_of(at(10));
            keys.learn_dump(&mut dumped(&from).await.as_bytes()).unwrap();
            let kept = KeyFate {
                is_final: true,
                ..KeyFate::default()
            };
            keys.learn(&ids[2], kept);
            let state = place.open().await;
            state.take_dump(&mut dump.as_bytes(), whole(&keys)).await.unwrap();
            assert!(state.holds_dump(&mut dump.as_bytes(), whole(&keys)).await.unwrap());
            assert!(
                !state
                    .holds_dump(&mut dump.as_bytes(), whole(&KeysSince::dump_of(at(10))))
                    .await
                    .unwrap()
            );

            let index = KeyIndex::load(state.clone()).await.unwrap();
            let taken = || issued.iter().map(|key| index.find(&key.key.hash(), at(30)).is_some());
            assert_eq!(taken().collect::<Vec<_>>(), [false, false, true, false]);
            let listed = state.keys(None).await.unwrap();
            let statuses: Vec<_> = listed.iter().map(|key| key.status(at(30))).collect();
            assert_eq!(
                statuses,
                [
                    KeyStatus::Revoked,
                    KeyStatus::Ended,
                    KeyStatus::Active,
                    KeyStatus::Unconfirmed
                ]
            );
            assert_eq!(
                (listed[0].revoked_at, listed[3].unconfirmed_since),
                (Some(at(20)), Some(at(10)))
            );
            let rotated = state.rotate_key(&ids[3], Duration::ZERO, &cli(), at(31)).await;
            assert!(matches!(rotated, Err(StateError::KeyUnconfirmed { .. })), "{rotated:?}");

            // An ended key cannot be confirmed. Confirming all keys confirms the remaining one.
            let refused = state.confirm_keys(Some(&ids[..1]), &cli(), at(32)).await;
            assert!(matches!(refused, Err(StateError::KeyOver { .. })), "{refused:?}");
            let confirmed = state.confirm_keys(None, &cli(), at(33)).await.unwrap();
            assert_eq!(confirmed.iter().map(|key| &key.id).collect::<Vec<_>>(), [&ids[3]]);
            index.refresh().await.unwrap();
            assert_eq!(taken().collect::<Vec<_>>(), [false, false, true, true]);
            assert!(state.confirm_keys(None, &cli(), at(34)).await.unwrap().is_empty());
            let events = state.audit(&AuditQuery::default(), 1).await.unwrap();
            assert_eq!((events[0].action.as_str(), events[0].at), ("key.confirmed", at(33)));
        }
    });
}

#[test]
fn a_key_that_is_named_twice_is_confirmed_once() {
    run(async {
        let source = Place::sqlite();
        let from = source.open().await;
        let keys = [create(&from, "one", at(0)).await, create(&from, "two", at(1)).await];
        let [one, two] = keys.map(|key| key.record.id);
        let target = Place::sqlite();
        let state = restored(&dumped(&from).await, &KeysSince::dump_of(at(10)), &target).await;
        let named = [one.clone(), two.clone(), one.clone()];
        let confirmed = state.confirm_keys(Some(&named), &cli(), at(20)).await.unwrap();
        assert_eq!(confirmed.iter().map(|key| &key.id).collect::<Vec<_>>(), [&one, &two]);
        let events = state.audit(&AuditQuery::default(), 10).await.unwrap();
        let told = events.iter().filter(|event| event.action.as_str() == "key.confirmed");
        assert_eq!(told.count(), 2);
    });
}

#[test]
fn a_key_that_waits_to_be_confirmed_waits_on_after_another_restore_and_can_be_revoked() {
    run(async {
        let source = Place::sqlite();
        let from = source.open().await;
        let key = create(&from, "app", at(0)).await.record.id;
        let first = KeysSince::dump_of(at(10));
        let middle = Place::sqlite();
        let again = restored(&dumped(&from).await, &first, &middle).await;
        // The state's own key list says that the key is unconfirmed.
        let target = Place::sqlite();
        let state = restored(&dumped(&again).await, &all_known(&again).await, &target).await;
        assert_eq!(state.key(&key).await.unwrap().unwrap().unconfirmed_since, Some(at(10)));
        state.revoke_key(&key, &cli(), at(40)).await.unwrap();
        assert!(state.confirm_keys(None, &cli(), at(41)).await.unwrap().is_empty());
        let status = state.key(&key).await.unwrap().unwrap().status(at(42));
        assert_eq!(status, KeyStatus::Revoked);
    });
}
