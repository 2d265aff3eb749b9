//! Carts, idempotent requests, customers and signing keys, on both databases.

use std::sync::Arc;

use data_model::{StoreHost, Timestamp};
use state::{CartLock, CartRow, CustomerRow, IdempotentSlot, Lease, RequestStart, SigningKeyRow, State};

use crate::support::{Place, at, on_both};

fn row(sealed: &[u8]) -> CartRow {
    CartRow {
        sealed: sealed.to_vec(),
        created_at: at(0),
        expires_at: at(1_000),
    }
}

fn lease(until: i64) -> Lease {
    Lease::new(at(until)).unwrap()
}

async fn lock(state: &State, caller: &str, now: i64) -> (CartLock, Lease) {
    let lease = lease(now + 10);
    (state.lock_cart("c1", caller, &lease, at(now)).await.unwrap(), lease)
}

#[test]
fn a_cart_is_changed_by_one_holder_at_a_time_and_found_by_its_caller_alone() {
    on_both(async |place| {
        let state = place.open().await;
        let first = lease(10);
        assert!(state.create_cart("c1", "asha", &row(b"1"), &first).await.unwrap());
        assert!(!state.create_cart("c1", "ravi", &row(b"x"), &lease(10)).await.unwrap());
        assert_eq!(state.cart("c1", "asha", at(1)).await.unwrap(), Some(row(b"1")));
        for (caller, now) in [("ravi", 1), ("asha", 1_000)] {
            assert_eq!(state.cart("c1", caller, at(now)).await.unwrap(), None);
            assert_eq!(lock(&state, caller, now).await.0, CartLock::Absent);
        }
        assert_eq!(lock(&state, "asha", 9).await.0, CartLock::Busy { until: at(10) });
        assert!(state.save_cart("c1", &row(b"2"), &first, true).await.unwrap());
        let (held, second) = lock(&state, "asha", 9).await;
        assert_eq!(held, CartLock::Held(row(b"2")));
        // The lease of the first holder has expired.
        let (held, third) = lock(&state, "asha", 19).await;
        assert_eq!(held, CartLock::Held(row(b"2")));
        assert!(!state.save_cart("c1", &row(b"late"), &second, true).await.unwrap());
        state.unlock_cart("c1", &second).await.unwrap();
        assert_eq!(lock(&state, "asha", 20).await.0, CartLock::Busy { until: at(29) });
        state.unlock_cart("c1", &third).await.unwrap();
        assert!(matches!(lock(&state, "asha", 20).await.0, CartLock::Held(_)));
    });
}

#[test]
fn a_right_lasts_as_long_as_it_is_renewed_and_not_once_it_is_given_up_or_taken_over() {
    on_both(async |place| {
        let state = place.open().await;
        let first = lease(10);
        state.create_cart("c1", "asha", &row(b"1"), &first).await.unwrap();
        assert!(state.renew_cart("c1", &first, at(20)).await.unwrap());
        // Saving the cart does not shorten the lease.
        assert!(state.save_cart("c1", &row(b"2"), &first, false).await.unwrap());
        assert_eq!(lock(&state, "asha", 19).await.0, CartLock::Busy { until: at(20) });
        let (held, second) = lock(&state, "asha", 20).await;
        assert_eq!(held, CartLock::Held(row(b"2")));
        assert!(!state.renew_cart("c1", &first, at(99)).await.unwrap());
        assert!(state.save_cart("c1", &row(b"3"), &second, true).await.unwrap());
        assert!(!state.renew_cart("c1", &second, at(99)).await.unwrap());
        assert!(matches!(lock(&state, "asha", 21).await.0, CartLock::Held(_)));

        let slot = IdempotentSlot::new("asha", "create_cart", "k");
        let (_, first) = begin(&state, "k", 10, 0).await;
        assert!(state.renew_idempotent(&slot, &first, at(20)).await.unwrap());
        assert!(!state.resume_idempotent(&slot, &lease(30), at(19)).await.unwrap());
        let second = lease(30);
        assert!(state.resume_idempotent(&slot, &second, at(20)).await.unwrap());
        assert!(!state.renew_idempotent(&slot, &first, at(99)).await.unwrap());
        let finished = state.finish_idempotent(&slot, &second, 200, b"answer".to_vec());
        assert!(finished.await.unwrap());
        assert!(!state.renew_idempotent(&slot, &second, at(99)).await.unwrap());
    });
}

#[tokio::test]
async fn whoever_opens_a_folder_alone_ends_the_rights_of_those_who_are_gone() {
    let place = Place::sqlite();
    let gone = place.open().await;
    gone.create_cart("c1", "asha", &row(b"1"), &lease(200)).await.unwrap();
    let slot = IdempotentSlot::new("asha", "create_cart", "k");
    begin(&gone, "k", 200, 0).await;
    let beside = place.open().await;
    // The first process still has the folder open, so its lease counts.
    assert_eq!(lock(&beside, "asha", 5).await.0, CartLock::Busy { until: at(200) });
    drop(gone);
    assert!(!beside.resume_idempotent(&slot, &lease(30), at(5)).await.unwrap());
    drop(beside);
    let alone = place.open().await;
    assert!(matches!(lock(&alone, "asha", 5).await.0, CartLock::Held(_)));
    assert!(alone.resume_idempotent(&slot, &lease(30), at(5)).await.unwrap());
}

#[test]
fn of_many_who_ask_at_once_one_holds_the_cart() {
    on_both(async |place| {
        let state = Arc::new(place.open().await);
        state.create_cart("c1", "asha", &row(b""), &lease(0)).await.unwrap();
        let asking = (0..12).map(|_| {
            let state = Arc::clone(&state);
            tokio::spawn(async move { lock(&state, "asha", 5).await.0 })
        });
        let mut held = 0;
        for asked in asking.collect::<Vec<_>>() {
            held += usize::from(matches!(asked.await.unwrap(), CartLock::Held(_)));
        }
        assert_eq!(held, 1);
    });
}

async fn begin(state: &State, key: &str, until: i64, now: i64) -> (RequestStart, Lease) {
    let (slot, lease) = (IdempotentSlot::new("asha", "create_cart", key), lease(until));
    let begun = state.begin_idempotent(&slot, b"asked".to_vec(), &lease, at(now), at(now + 100));
    (begun.await.unwrap(), lease)
}

#[test]
fn a_request_is_begun_once_answered_once_and_taken_over_once() {
    on_both(async |place| {
        let state = place.open().await;
        let slot = IdempotentSlot::new("asha", "create_cart", "k");
        let (begun, first) = begin(&state, "k", 10, 0).await;
        assert_eq!(begun, RequestStart::New);
        let RequestStart::Before(before) = begin(&state, "k", 10, 1).await.0 else {
            panic!("it was begun before");
        };
        assert_eq!(
            (before.request.as_slice(), before.answer, before.lease_until),
            (b"asked".as_slice(), None, at(10))
        );
        let other = lease(30);
        assert!(!state.resume_idempotent(&slot, &other, at(9)).await.unwrap());
        assert!(state.resume_idempotent(&slot, &other, at(10)).await.unwrap());
        assert!(
            !state
                .finish_idempotent(&slot, &first, 200, b"late".to_vec())
                .await
                .unwrap()
        );
        assert!(
            state
                .finish_idempotent(&slot, &other, 200, b"answer".to_vec())
                .await
                .unwrap()
        );
        let RequestStart::Before(done) = begin(&state, "k", 50, 20).await.0 else {
            panic!("it was begun before");
        };
        assert_eq!(done.answer, Some((200, b"answer".to_vec())));
        assert!(!state.resume_idempotent(&slot, &lease(60), at(50)).await.unwrap());
        state.forget_idempotent(&slot, &other).await.unwrap();
        assert!(
            matches!(begin(&state, "k", 50, 21).await.0, RequestStart::Before(_)),
            "what was answered is not forgotten"
        );
        // Another caller, route or key is another request. An expired request may start again.
        for slot in [
            IdempotentSlot::new("ravi", "create_cart", "k"),
            IdempotentSlot::new("asha", "checkout", "k"),
            IdempotentSlot::new("asha", "create_cart", "K"),
        ] {
            let lease = lease(10);
            let begun = state.begin_idempotent(&slot, Vec::new(), &lease, at(0), at(5));
            assert_eq!(begun.await.unwrap(), RequestStart::New);
        }
        assert_eq!(begin(&state, "k", 200, 101).await.0, RequestStart::New);
    });
}

#[test]
fn a_request_that_did_nothing_is_forgotten_and_one_that_may_have_is_gone_on_with() {
    on_both(async |place| {
        let state = place.open().await;
        let slot = IdempotentSlot::new("asha", "create_cart", "k");
        let (_, first) = begin(&state, "k", 10, 0).await;
        state.forget_idempotent(&slot, &first).await.unwrap();
        let (begun, second) = begin(&state, "k", 10, 1).await;
        assert_eq!(begun, RequestStart::New);
        state.suspend_idempotent(&slot, &second).await.unwrap();
        assert!(matches!(begin(&state, "k", 10, 2).await.0, RequestStart::Before(row) if row.answer.is_none()));
        assert!(state.resume_idempotent(&slot, &lease(20), at(2)).await.unwrap());
    });
}

#[test]
fn what_is_over_is_forgotten_and_nothing_else() {
    on_both(async |place| {
        let state = place.open().await;
        state.create_cart("c1", "asha", &row(b""), &lease(0)).await.unwrap();
        let young = CartRow {
            expires_at: at(5_000),
            ..row(b"")
        };
        state.create_cart("c2", "asha", &young, &lease(0)).await.unwrap();
        begin(&state, "k", 10, 0).await;
        assert_eq!(state.purge_carts(at(999)).await.unwrap(), 1);
        assert_eq!(state.purge_carts(at(1_000)).await.unwrap(), 1);
        assert!(state.cart("c2", "asha", at(1_000)).await.unwrap().is_some());
    });
}

#[test]
fn a_customer_is_bound_to_caller_and_store() {
    on_both(async |place| {
        let state = place.open().await;
        let store = |name: &str| -> StoreHost { format!("{name}.myshopify.com").parse().unwrap() };
        let customer = |sealed: &[u8], ends| CustomerRow {
            sealed: sealed.to_vec(),
            expires_at: at(ends),
        };
        state
            .put_customer("asha", &store("a"), &customer(b"old", 10))
            .await
            .unwrap();
        state
            .put_customer("asha", &store("a"), &customer(b"new", 20))
            .await
            .unwrap();
        state
            .put_customer("asha", &store("b"), &customer(b"b", 10))
            .await
            .unwrap();
        state
            .put_customer("ravi", &store("a"), &customer(b"r", 20))
            .await
            .unwrap();
        assert_eq!(
            state.customers("asha", at(10)).await.unwrap(),
            [(store("a"), customer(b"new", 20))]
        );
        assert!(state.forget_customer("asha", &store("a")).await.unwrap());
        assert!(!state.forget_customer("asha", &store("a")).await.unwrap());
        assert_eq!(state.customers("ravi", at(10)).await.unwrap().len(), 1);

        assert_eq!(state.storefront_token(&store("a")).await.unwrap(), None);
        for sealed in [b"1", b"2"] {
            state
                .put_storefront_token(&store("a"), sealed.to_vec(), at(0))
                .await
                .unwrap();
        }
        assert_eq!(state.storefront_token(&store("a")).await.unwrap(), Some(b"2".to_vec()));
    });
}

fn key(id: &str, signs_from: Timestamp) -> SigningKeyRow {
    SigningKeyRow {
        id: id.to_owned(),
        public_key: vec![7; 32],
        sealed: id.as_bytes().to_vec(),
        signs_from,
        ends_at: None,
    }
}

#[test]
fn servers_that_make_the_first_signing_key_together_share_one() {
    on_both(async |place: Place| {
        let state = Arc::new(place.open().await);
        let made = (0..6).map(|nth| {
            let state = Arc::clone(&state);
            tokio::spawn(async move {
                state
                    .add_first_signing_key(&key(&format!("k{nth}"), at(0)))
                    .await
                    .unwrap()
            })
        });
        let mut all = Vec::new();
        for keys in made.collect::<Vec<_>>() {
            all.push(keys.await.unwrap());
        }
        assert!(all.iter().all(|keys| keys.len() == 1 && keys == &all[0]));
    });
}

#[test]
fn the_first_signing_key_signs_at_once_also_where_a_rotation_made_it() {
    on_both(async |place| {
        let state = place.open().await;
        let keys = state
            .rotate_signing_key(&key("first", at(3_600)), at(9_000), at(10))
            .await;
        let told = |keys: &[SigningKeyRow]| {
            let told = keys.iter().map(|key| (key.id.clone(), key.signs_from, key.ends_at));
            told.collect::<Vec<_>>()
        };
        assert_eq!(told(&keys.unwrap()), [("first".to_owned(), at(10), None)]);
        let keys = state
            .rotate_signing_key(&key("next", at(3_620)), at(9_020), at(20))
            .await;
        let first = ("first".to_owned(), at(10), Some(at(9_020)));
        assert_eq!(told(&keys.unwrap()), [("next".to_owned(), at(3_620), None), first]);
    });
}

#[test]
fn a_signing_key_is_published_until_its_tokens_are_over() {
    on_both(async |place| {
        let state = place.open().await;
        state.add_first_signing_key(&key("old", at(0))).await.unwrap();
        let keys = state
            .rotate_signing_key(&key("new", at(20)), at(100), at(10))
            .await
            .unwrap();
        let ids = |keys: &[SigningKeyRow]| keys.iter().map(|key| key.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&keys), ["new", "old"]);
        assert_eq!(keys[1].ends_at, Some(at(100)));
        assert_eq!(ids(&state.signing_keys(at(99)).await.unwrap()), ["new", "old"]);
        assert_eq!(ids(&state.signing_keys(at(100)).await.unwrap()), ["new"]);
        let keys = state
            .rotate_signing_key(&key("newer", at(220)), at(300), at(200))
            .await
            .unwrap();
        assert_eq!(ids(&keys), ["newer", "new"]);
    });
}

#[test]
fn a_cart_that_a_clock_which_was_ahead_locked_is_free_for_the_next_one() {
    on_both(async |place| {
        let state = place.open().await;
        assert!(state.create_cart("c1", "us", &row(b"1"), &lease(0)).await.unwrap());
        let (lock, _) = lock(&state, "us", 900).await;
        assert!(matches!(lock, CartLock::Held(_)), "{lock:?}");
        let (lock, _) = self::lock(&state, "us", 1).await;
        assert!(matches!(lock, CartLock::Held(_)), "{lock:?}");
    });
}
