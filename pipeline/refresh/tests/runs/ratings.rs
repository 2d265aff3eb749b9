use data_model::Product;

use crate::support::{Fault, Rig, Shop, outcomes, product};

fn page(average: &str, count: u32, reviews: &str) -> String {
    format!(
        r#"<html><script type="application/ld+json">{{"@context":"https://schema.org","@type":"Product","name":"Tea",
        "aggregateRating":{{"@type":"AggregateRating","ratingValue":"{average}","reviewCount":{count}}},"review":[{reviews}]}}
        </script></html>"#
    )
}

const REVIEWS: &str = r#"{"@type":"Review","author":{"@type":"Person","name":"Asha"},"datePublished":"2026-03-01",
    "reviewRating":{"ratingValue":5},"reviewBody":"Fine."},
    {"@type":"Review","author":{"@type":"Person","name":"Ben"},"datePublished":"2026-04-01",
    "reviewRating":{"ratingValue":3},"reviewBody":"Fair."}"#;

async fn averages(rig: &Rig) -> Vec<Option<(f32, u32)>> {
    let products = rig.products("tea").await;
    products
        .iter()
        .map(|product| product.rating.map(|rating| (rating.average, rating.count)))
        .collect()
}

#[tokio::test]
async fn ratings_are_read_a_few_pages_a_run_in_turn_and_kept_by_runs_that_read_none() {
    let mut rig = Rig::with([("tea", Shop::of(1..=3))]).await;
    rig.config.product_pages_max = 2;
    rig.street.change("tea", |shop| {
        shop.html.insert("tea-1".into(), page("4.5", 12, REVIEWS));
        shop.html.insert("tea-3".into(), page("3", 2, ""));
    });
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(averages(&rig).await, [Some((4.5, 12)), None, None]);
    let reviews = rig.products("tea").await.remove(0).reviews;
    assert_eq!(
        reviews
            .iter()
            .map(|review| review.author.as_deref().unwrap())
            .collect::<Vec<_>>(),
        ["Ben", "Asha"]
    );

    // The catalogue is unchanged except for its last page.
    rig.street.take_asked();
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    let asked = rig.street.take_asked();
    assert_eq!(
        asked
            .iter()
            .filter(|asked| asked.contains("/products/"))
            .collect::<Vec<_>>(),
        ["tea/products/tea-3 200", "tea/products/tea-1 200"]
    );
    assert_eq!(averages(&rig).await, [Some((4.5, 12)), None, Some((3.0, 2))]);

    rig.config.product_pages_max = 0;
    let versions = rig.versions().await;
    assert_eq!(outcomes(&rig.run().await), ["tea unchanged"]);
    assert_eq!(rig.versions().await, versions);
    rig.street.change("tea", |shop| {
        shop.list([product(1, "450.00"), product(2, "499.00"), product(3, "499.00")])
    });
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(averages(&rig).await, [Some((4.5, 12)), None, Some((3.0, 2))]);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_has_had_enough_of_product_pages_keeps_its_catalogue() {
    let mut rig = Rig::with([("tea", Shop::of(1..=3))]).await;
    rig.config.product_pages_max = 3;
    rig.street.change("tea", |shop| {
        drop(shop.html.insert("tea-1".into(), page("4.5", 12, "")))
    });
    rig.street
        .fault("tea", "/products/tea-2", Fault::Answer(429, String::new()));
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(averages(&rig).await, [Some((4.5, 12)), None, None]);
}

#[tokio::test]
async fn barcodes_of_product_pages_come_to_their_variants_and_stay_with_runs_that_read_none() {
    let mut rig = Rig::with([("tea", Shop::of(1..=3))]).await;
    rig.config.product_pages_max = 3;
    let offer = |barcode: &str| {
        format!(
            r#"<script type="application/ld+json">{{"@type":"Product","name":"Tea","offers":[{{"@type":"Offer",
            "url":"https://tea.example/products/tea?variant=10","gtin13":{barcode}}}]}}</script>"#
        )
    };
    rig.street.change("tea", |shop| {
        shop.html.insert("tea-1".into(), offer("8901030865275"));
        // The page names a variant that the product does not have.
        shop.html.insert("tea-2".into(), offer("4006381333931"));
    });
    let barcodes = async |rig: &Rig| {
        let products = rig.products("tea").await;
        let barcode = |product: &Product| product.variants[0].barcode.clone();
        products.iter().map(barcode).collect::<Vec<_>>()
    };
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(barcodes(&rig).await, [Some("8901030865275".to_owned()), None, None]);

    rig.config.product_pages_max = 0;
    let versions = rig.versions().await;
    assert_eq!(outcomes(&rig.run().await), ["tea unchanged"]);
    assert_eq!(rig.versions().await, versions);
    rig.street
        .change("tea", |shop| shop.list([product(1, "450.00"), product(2, "499.00")]));
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(barcodes(&rig).await, [Some("8901030865275".to_owned()), None]);
}
