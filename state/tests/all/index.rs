use std::time::Duration;

use state::{ApiKeyError, KeyIndex, KeyRefusal};
use tokio_util::sync::CancellationToken;

use crate::support::{Place, at, cli, create, on_both};

#[test]
fn an_index_takes_the_keys_that_are_active_and_refuses_all_others() {
    on_both(async |place| {
        let state = place.open().await;
        let active = create(&state, "Active", at(0)).await;
        let revoked = create(&state, "Revoked", at(0)).await;
        state.revoke_key(&revoked.record.id, &cli(), at(1)).await.unwrap();
        let index = KeyIndex::load(state.clone()).await.unwrap();
        let grant = index.check(active.key.expose(), at(2)).unwrap();
        assert_eq!((&grant.id, grant.plan), (&active.record.id, active.record.plan));
        assert_eq!(index.check(revoked.key.expose(), at(2)), Err(KeyRefusal::Unknown));
        let unknown = state::ApiKey::generate().unwrap();
        assert_eq!(index.check(unknown.expose(), at(2)), Err(KeyRefusal::Unknown));
        let mistyped = active.key.expose().replace("haat_live_", "haat_live_x");
        assert_eq!(
            index.check(&mistyped[..43], at(2)),
            Err(KeyRefusal::Malformed(ApiKeyError::Checksum))
        );
        assert_eq!(index.len(), 1);
    });
}

#[test]
fn an_index_learns_what_other_servers_change() {
    on_both(async |place| {
        let index = KeyIndex::load(place.open().await).await.unwrap();
        assert!(index.is_empty());
        // The second instance simulates another process with its own connections.
        let other = place.open().await;
        let first = create(&other, "First", at(0)).await;
        let second = create(&other, "Second", at(0)).await;
        assert_eq!(index.check(first.key.expose(), at(1)), Err(KeyRefusal::Unknown));
        assert_eq!(index.refresh().await.unwrap(), 2);
        index.check(first.key.expose(), at(1)).unwrap();
        assert_eq!(index.refresh().await.unwrap(), 0);

        other.revoke_key(&first.record.id, &cli(), at(2)).await.unwrap();
        let hour = Duration::from_secs(3600);
        let rotated = other.rotate_key(&second.record.id, hour, &cli(), at(2)).await.unwrap();
        assert_eq!(index.refresh().await.unwrap(), 3);
        assert_eq!(index.check(first.key.expose(), at(3)), Err(KeyRefusal::Unknown));
        index.check(rotated.issued.key.expose(), at(3)).unwrap();
        // The old key expires without another refresh of the index.
        index.check(second.key.expose(), at(3601)).unwrap();
        assert_eq!(index.check(second.key.expose(), at(3602)), Err(KeyRefusal::Unknown));
    });
}

#[test]
fn every_change_reaches_an_index_that_asks_while_others_change() {
    on_both(async |place| {
        let state = place.open().await;
        let index = KeyIndex::load(state.clone()).await.unwrap();
        let changing = (0..4).map(|nth| {
            let target = place.target.clone();
            tokio::spawn(async move {
                let state = state::State::open(&target).await.unwrap();
                let mut kept = Vec::new();
                for round in 0..5 {
                    let key = create(&state, &format!("Key {nth}.{round}"), at(0)).await;
                    if round % 2 == 0 {
                        state.revoke_key(&key.record.id, &cli(), at(1)).await.unwrap();
                    } else {
                        kept.push(key);
                    }
                }
                kept
            })
        });
        let changing: Vec<_> = changing.collect();
        while !changing.iter().all(tokio::task::JoinHandle::is_finished) {
            index.refresh().await.unwrap();
        }
        index.refresh().await.unwrap();
        let mut count = 0;
        for changed in changing {
            for key in changed.await.unwrap() {
                index.check(key.key.expose(), at(2)).unwrap();
                count += 1;
            }
        }
        assert_eq!((index.len(), count), (8, 8));
    });
}

#[tokio::test]
async fn an_index_goes_on_with_what_it_knows_while_the_database_is_gone() {
    let place = Place::sqlite();
    let state = place.open().await;
    let key = create(&state, "One", at(0)).await;
    let index = KeyIndex::load(state.clone()).await.unwrap();
    state.close().await;
    assert!(index.refresh().await.unwrap_err().is_transient());
    index.check(key.key.expose(), at(1)).unwrap();
}

#[tokio::test]
async fn an_index_kept_fresh_learns_of_a_revocation_by_itself_and_ends_when_told() {
    let place = Place::sqlite();
    let state = place.open().await;
    let key = create(&state, "One", at(0)).await;
    let index = KeyIndex::load(state.clone()).await.unwrap();
    let stop = CancellationToken::new();
    let fresh = tokio::spawn(index.clone().keep_fresh(Duration::from_millis(10), stop.clone()));
    index.check(key.key.expose(), at(1)).unwrap();
    state.revoke_key(&key.record.id, &cli(), at(1)).await.unwrap();
    let refused = async {
        while index.check(key.key.expose(), at(2)).is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), refused).await.unwrap();
    stop.cancel();
    fresh.await.unwrap();
}

#[tokio::test]
async fn without_state_every_key_is_refused() {
    let index = KeyIndex::none();
    let key = state::ApiKey::generate().unwrap();
    assert_eq!(index.check(key.expose(), at(0)), Err(KeyRefusal::Unknown));
    assert_eq!(index.refresh().await.unwrap(), 0);
    assert!(index.is_empty());
}
