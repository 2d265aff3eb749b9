use std::collections::BTreeMap;
use std::time::Duration;

use state::{AccountId, KeyStatus, NewKey, Plan, StateError};

use crate::support::{account, at, cli, create, named, on_both, told};

const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn a_created_key_is_found_by_its_hash_and_listed_without_it() {
    on_both(async |place| {
        let state = place.open().await;
        let new = NewKey {
            plan: Plan::Granted,
            ..named("Mobile app")
        };
        let issued = state.create_key(new, &cli(), at(0)).await.unwrap();
        let found = state.find_key(&issued.key.hash()).await.unwrap().unwrap();
        assert_eq!(found, issued.record);
        assert_eq!(state.key(&found.id).await.unwrap(), Some(found.clone()));
        assert_eq!(found.status(at(1)), KeyStatus::Active);

        let other = create(&state, "Other", at(1)).await;
        let listed = state.keys(None).await.unwrap();
        let names = BTreeMap::from([
            (found.id.to_string(), "FIRST"),
            (other.record.id.to_string(), "SECOND"),
            (format!("\"{}\"", found.hint), "\"1st\""),
            (format!("\"{}\"", other.record.hint), "\"2nd\""),
        ]);
        let shown = told(&listed, &names);
        assert!(!shown.contains(&issued.key.expose()[..20]), "{shown}");
        // The result is the same on both databases.
        insta::allow_duplicates! {
            insta::assert_snapshot!(shown, @r#"
            [
              {
                "id": "FIRST",
                "name": "Mobile app",
                "plan": "granted",
                "account": null,
                "hint": "1st",
                "created_at": "2026-11-23T04:00:00Z",
                "last_used_on": null,
                "ends_at": null,
                "revoked_at": null,
                "replaced_by": null,
                "unconfirmed_since": null
              },
              {
                "id": "SECOND",
                "name": "Other",
                "plan": "free",
                "account": null,
                "hint": "2nd",
                "created_at": "2026-11-23T04:00:01Z",
                "last_used_on": null,
                "ends_at": null,
                "revoked_at": null,
                "replaced_by": null,
                "unconfirmed_since": null
              }
            ]
            "#);
        }
    });
}

#[test]
fn a_key_that_nobody_made_is_not_found() {
    on_both(async |place| {
        let state = place.open().await;
        create(&state, "One", at(0)).await;
        let other = state::ApiKey::generate().unwrap();
        assert_eq!(state.find_key(&other.hash()).await.unwrap(), None);
        let id = "key_000000000000".parse().unwrap();
        assert_eq!(state.key(&id).await.unwrap(), None);
        let refused = state.revoke_key(&id, &cli(), at(1)).await.unwrap_err();
        assert!(matches!(refused, StateError::UnknownKey { .. }), "{refused}");
    });
}

#[test]
fn a_revoked_key_is_over_at_once_and_for_good() {
    on_both(async |place| {
        let state = place.open().await;
        let id = create(&state, "One", at(0)).await.record.id;
        let revoked = state.revoke_key(&id, &cli(), at(5)).await.unwrap();
        assert_eq!(revoked.revoked_at, Some(at(5)));
        assert_eq!(state.key(&id).await.unwrap(), Some(revoked.clone()));
        assert_eq!(revoked.status(at(5)), KeyStatus::Revoked);
        for refused in [
            state.revoke_key(&id, &cli(), at(6)).await.unwrap_err(),
            state.rotate_key(&id, HOUR, &cli(), at(6)).await.unwrap_err(),
        ] {
            assert!(
                matches!(&refused, StateError::KeyOver { since, .. } if *since == at(5)),
                "{refused}"
            );
        }
    });
}

#[test]
fn a_rotated_key_is_taken_until_its_grace_is_over_and_the_new_one_has_its_name_and_plan() {
    on_both(async |place| {
        let state = place.open().await;
        let new = NewKey {
            plan: Plan::Granted,
            account: Some("acme".parse().unwrap()),
            ..named("Mobile app")
        };
        let old = state.create_key(new, &cli(), at(0)).await.unwrap();
        let rotated = state.rotate_key(&old.record.id, HOUR, &cli(), at(10)).await.unwrap();
        let fresh = &rotated.issued.record;
        assert_ne!(rotated.issued.key.hash(), old.key.hash());
        assert_eq!((fresh.name.as_str(), fresh.plan), ("Mobile app", Plan::Granted));
        assert_eq!(fresh.account, old.record.account);
        assert_eq!(fresh.status(at(10)), KeyStatus::Active);

        let kept = state.find_key(&old.key.hash()).await.unwrap().unwrap();
        assert_eq!(kept, rotated.old);
        assert_eq!(kept.replaced_by.as_ref(), Some(&fresh.id));
        assert_eq!(kept.status(at(3609)), KeyStatus::Ending);
        assert_eq!(kept.status(at(3610)), KeyStatus::Ended);

        let again = state.rotate_key(&kept.id, HOUR, &cli(), at(11)).await.unwrap_err();
        assert!(
            matches!(&again, StateError::KeyReplaced { by, .. } if *by == fresh.id),
            "{again}"
        );
        state.revoke_key(&kept.id, &cli(), at(12)).await.unwrap();
        let late = state
            .rotate_key(&fresh.id, Duration::ZERO, &cli(), at(13))
            .await
            .unwrap();
        assert_eq!(late.old.status(at(13)), KeyStatus::Ended);
    });
}

#[test]
fn an_account_sees_and_touches_its_own_keys_alone() {
    on_both(async |place| {
        let state = place.open().await;
        let of = |account: &str| NewKey {
            account: Some(account.parse().unwrap()),
            ..named("Theirs")
        };
        let mine = state.create_key(of("me"), &account("me"), at(0)).await.unwrap();
        let theirs = state.create_key(of("them"), &account("them"), at(0)).await.unwrap();
        let operators = create(&state, "Nobody's", at(0)).await;
        let me: AccountId = "me".parse().unwrap();
        assert_eq!(state.keys(Some(&me)).await.unwrap(), std::slice::from_ref(&mine.record));
        for id in [&theirs.record.id, &operators.record.id] {
            let name = "Mine now".parse().unwrap();
            for refused in [
                state.revoke_key(id, &account("me"), at(1)).await.unwrap_err(),
                state.rotate_key(id, HOUR, &account("me"), at(1)).await.unwrap_err(),
                state.rename_key(id, name, &account("me"), at(1)).await.unwrap_err(),
            ] {
                assert!(matches!(refused, StateError::UnknownKey { .. }), "{refused}");
            }
        }
        let name = "Renamed".parse().unwrap();
        let renamed = state
            .rename_key(&mine.record.id, name, &account("me"), at(1))
            .await
            .unwrap();
        assert_eq!(state.key(&mine.record.id).await.unwrap(), Some(renamed));
        state.revoke_key(&mine.record.id, &account("me"), at(2)).await.unwrap();
    });
}

#[test]
fn of_many_that_revoke_or_rotate_one_key_at_the_same_time_one_succeeds() {
    on_both(async |place| {
        let state = place.open().await;
        let id = create(&state, "One", at(0)).await.record.id;
        let tries = (0..12).map(|nth| {
            let (state, id) = (state.clone(), id.clone());
            tokio::spawn(async move {
                if nth % 2 == 0 {
                    state.revoke_key(&id, &cli(), at(1)).await.map(|_| ())
                } else {
                    state.rotate_key(&id, Duration::ZERO, &cli(), at(1)).await.map(|_| ())
                }
            })
        });
        let mut done = 0;
        for tried in tries.collect::<Vec<_>>() {
            match tried.await.unwrap() {
                Ok(()) => done += 1,
                Err(error) => assert!(matches!(error, StateError::KeyOver { .. }), "{error}"),
            }
        }
        assert_eq!(done, 1);
        assert_eq!(state.audit(&Default::default(), 100).await.unwrap().len(), 2);
    });
}
