use state::StateTarget;

use crate::support::{Options, Street, coupons};

/// Asserts that either database stores the found codes, and that a server that opens the database again returns them.
async fn remembers(target: StateTarget) {
    let street = Street::open(
        2,
        Options {
            state: Some(target),
            ..Options::default()
        },
    )
    .await;
    let mut found = 0;
    for store in (0..2).filter(|store| !street.shop(*store).samples.is_empty()) {
        let first = street.find(store, 40).await;
        street.clock.advance_ms(1_000);
        let other = street.another(Options::default().coupons);
        let again = other.find(store, 40).await;
        assert_eq!(coupons(&again), coupons(&first));
        assert!(again["provenance"]["remembered"].as_u64().unwrap() > 30, "{again}");
        found += coupons(&first).len();
    }
    assert!(found > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn outcomes_are_remembered_in_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    remembers(StateTarget::Folder(folder.path().join("state"))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn outcomes_are_remembered_in_postgres() {
    if let Some(url) = kit::postgres_database().await {
        remembers(StateTarget::postgres(&url).unwrap()).await;
    }
}
