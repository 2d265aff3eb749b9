//! Tests the display names of brands.

use pipeline_crawl::{NewBrand, Registry};

use crate::support::{Rig, Shop, outcomes};

async fn names(rig: &Rig) -> Vec<String> {
    let brands = rig.lake().await.snapshot().await.unwrap().brands().await.unwrap();
    brands.into_iter().map(|row| row.brand.name).collect()
}

#[tokio::test]
async fn a_store_that_takes_the_name_of_another_brand_is_shown_with_its_domain() {
    let rig = Rig::with([("fake", Shop::of(1..=3)), ("kith", Shop::of(1..=3))]).await;
    rig.run().await;
    assert_eq!(names(&rig).await, ["fake", "kith"]);
    for name in ["Kith", "  KITH ", "Ｋｉｔｈ", "ki\u{200d}th"] {
        rig.street.change("fake", |shop| shop.name = Some(name));
        assert_eq!(outcomes(&rig.run().await), ["fake changed", "kith unchanged"]);
        assert_eq!(
            names(&rig).await,
            [format!("{} (fake.localhost)", name.trim()), "kith".into()]
        );
    }
    // The brand that owns the name keeps it when it is read again, and a different name does not change.
    rig.street.change("kith", |shop| {
        *shop = Shop {
            name: Some("Kith"),
            ..Shop::of(1..=4)
        }
    });
    rig.street.change("fake", |shop| shop.name = Some("Kith Kin"));
    rig.run().await;
    assert_eq!(names(&rig).await, ["Kith Kin", "Kith"]);
}

#[tokio::test]
async fn a_name_that_another_brand_only_came_to_be_shown_under_is_that_brands_too() {
    let rig = Rig::with([("fake", Shop::of(1..=3)), ("tea", Shop::of(1..=3))]).await;
    rig.street.change("tea", |shop| shop.name = Some("Leaf & Co"));
    rig.run().await;
    rig.street.change("fake", |shop| shop.name = Some("LEAF & CO"));
    rig.run().await;
    assert_eq!(names(&rig).await, ["LEAF & CO (fake.localhost)", "Leaf & Co"]);
}

#[tokio::test]
async fn a_name_that_the_operator_gave_stays_though_another_brand_has_it() {
    let rig = Rig::with([("kith", Shop::of(1..=3))]).await;
    rig.street.open("own", Shop::of(1..=3));
    let mut registry = Registry::load(&rig.storage).await.unwrap();
    let brand = NewBrand::at("http://own.localhost".parse().unwrap()).named("Kith");
    registry.add(&rig.storage, &[brand], rig.now()).await.unwrap();
    rig.run().await;
    // A name that the operator set for one brand no longer belongs to the other brand.
    assert_eq!(names(&rig).await, ["kith (kith.localhost)", "Kith"]);
}
