use pipeline_refresh::Outcome;

use crate::support::{Rig, Shop};

#[tokio::test]
async fn a_store_that_two_brands_stand_for_is_in_the_lake_once() {
    let rig = Rig::with([("mate", Shop::of(1..=3)), ("tea", Shop::of(1..=3))]).await;
    for brand in ["mate", "tea"] {
        rig.street
            .change(brand, |shop| shop.states.0 = Some("cha.myshopify.com"));
    }
    for _ in 0..2 {
        let report = rig.run().await;
        let refused = report
            .stores
            .iter()
            .filter(|store| matches!(&store.outcome, Outcome::Failed { code, .. } if code == "another_store"));
        assert_eq!(refused.count(), 1, "{report:?}");
        assert_eq!(rig.ids("mate").await.len() + rig.ids("tea").await.len(), 3);
    }
}
