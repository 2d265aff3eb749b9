//! Tests the memory limits that all stores share.

use pipeline_refresh::Outcome;
use serde_json::json;

use crate::support::{Rig, Shop, product};

/// Each product has two thousand variants.
fn large(products: u64) -> Shop {
    let mut shop = Shop::of([]);
    shop.list((1..=products).map(|id| {
        let mut product = product(id, "499.00");
        let variant = |nth: u64| json!({"id": id * 10_000 + nth, "price": "499.00", "option1": format!("{nth}"), "position": nth});
        product["options"] = json!([{"name": "Number", "values": []}]);
        product["variants"] = (1..=2000).map(variant).collect();
        product
    }));
    shop
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stores_that_do_not_fit_together_take_turns_and_one_that_never_fits_fails_by_name() {
    let mut rig = Rig::with([("mate", Shop::of(1..=3)), ("vast", large(30))]).await;
    for name in ["large1", "large2", "large3"] {
        rig.street.open(name, large(9));
        rig.register(name).await;
    }
    rig.config.memory_bytes_max = 64 << 20;
    let report = rig.run().await;
    for store in &report.stores {
        match (store.slug.as_str(), &store.outcome) {
            ("vast", Outcome::Failed { code, reason }) => {
                assert_eq!(code, "over_memory");
                assert!(reason.contains("refresh.memory_bytes_max"), "{reason}");
            }
            ("mate", outcome) => assert_eq!((outcome, store.products), (&Outcome::Changed, 3)),
            (_, outcome) => assert_eq!((outcome, store.products), (&Outcome::Changed, 9)),
        }
    }
    let memory = report.memory.unwrap();
    assert_eq!(memory.bytes_max, 64 << 20);
    assert!(
        (1..=memory.bytes_max).contains(&memory.reserved_bytes_peak),
        "{memory:?}"
    );
    assert!(memory.waits > 0, "{memory:?}");
    rig.config.memory_bytes_max = 512 << 20;
    let report = rig.run().await;
    assert_eq!((report.totals.changed, report.totals.unchanged), (1, 4));
}
