//! Tests slow stores next to fast ones.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use data_model::BrandSlug;
use pipeline_crawl::Progress;

use crate::support::{Rig, Shop};

/// Records the order in which stores finished.
#[derive(Debug, Default)]
struct Order(Mutex<Vec<String>>);

impl Progress for Order {
    fn store_finished(&self, brand: &BrandSlug, outcome: &str, _: Option<&str>) {
        self.0.lock().unwrap().push(format!("{brand} {outcome}"));
    }
}

#[tokio::test(start_paused = true)]
async fn slow_stores_do_not_keep_the_places_of_quick_ones() {
    let mut rig = Rig::with([]).await;
    rig.config.crawl.stores_concurrent = 4;
    rig.config.crawl.stores_open_max = 64;
    // The slow stores come first by name.
    for number in 0..40 {
        let shop = Shop {
            delay: Duration::from_secs(6),
            ..Shop::of(1..=5)
        };
        let name = format!("slow{number:02}");
        rig.street.open(&name, shop);
        rig.register(&name).await;
    }
    for number in 0..6 {
        let name = format!("well{number}");
        rig.street.open(&name, Shop::of(1..=5));
        rig.register(&name).await;
    }
    let order = Arc::new(Order::default());
    rig.progress = Arc::<Order>::clone(&order);
    let report = rig.run().await;
    assert_eq!((report.totals.changed, report.totals.failed), (46, 0));
    let order = order.0.lock().unwrap().clone();
    assert!(order[..6].iter().all(|store| store.starts_with("well")), "{order:?}");
}

#[tokio::test(start_paused = true)]
async fn no_more_stores_are_on_their_way_than_may_be() {
    let mut rig = Rig::with([]).await;
    rig.config.crawl.stores_concurrent = 1;
    rig.config.crawl.stores_open_max = 2;
    for name in ["slow1", "slow2", "well"] {
        let delay = Duration::from_secs(if name == "well" { 0 } else { 6 });
        rig.street.open(
            name,
            Shop {
                delay,
                ..Shop::of(1..=5)
            },
        );
        rig.register(name).await;
    }
    let order = Arc::new(Order::default());
    rig.progress = Arc::<Order>::clone(&order);
    rig.run().await;
    let order = order.0.lock().unwrap().clone();
    assert!(order[0].starts_with("slow"), "{order:?}");
}
