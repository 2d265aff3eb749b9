use live_gateway::{GatewayConfig, Way};
use serde_json::json;

use crate::support::{Market, Options, generated, offers, patient, stored_offers};

fn by(way: Way) -> Options {
    Options {
        gateway: GatewayConfig { way, ..patient() },
        ..Options::default()
    }
}

#[tokio::test]
async fn a_repriced_a_sold_out_and_a_vanished_product_are_told_with_what_changed() {
    for way in [Way::Auto, Way::Js] {
        let market = Market::open(generated(40, 1), by(way)).await;
        let slug = market.slug(0);
        let idents = market.idents(0).to_vec();
        let in_stock: Vec<_> = idents
            .iter()
            .filter(|ident| market.stored(ident).variants.iter().all(|variant| variant.available))
            .take(3)
            .copied()
            .collect();
        let [dearer, empty, gone] = in_stock[..] else {
            panic!("too few")
        };
        let stored = market.stored(&dearer);
        // Later requests must not reuse the earlier responses.
        for entry in market.prices(&in_stock).await {
            assert_eq!(entry["verified"], true, "{entry}");
        }
        market.stores.reprice(&slug, stored.platform_id, "77777.00").unwrap();
        market
            .stores
            .set_stock(&slug, market.stored(&empty).platform_id, 0)
            .unwrap();
        market
            .stores
            .remove_product(&slug, market.stored(&gone).platform_id)
            .unwrap();

        let [told_dearer, told_empty, told_gone] = &market.prices(&[dearer, empty, gone]).await[..] else {
            panic!()
        };
        assert_eq!(told_dearer["verified"], true, "{told_dearer}");
        assert!(offers(told_dearer).iter().all(|(_, amount, _, _)| *amount != 0));
        assert_eq!(told_dearer["changes"]["price"], true, "{told_dearer}");
        let changed = told_dearer["changes"]["variants"].as_array().unwrap();
        assert_eq!(changed.len(), stored.variants.len());
        assert_eq!(changed[0]["before"]["amount_minor"], stored.variants[0].price_minor);

        assert_eq!(told_empty["verified"], true, "{told_empty}");
        assert_eq!(told_empty["in_stock"], false);
        assert_eq!(
            (&told_empty["changes"]["stock"], &told_empty["changes"]["price"]),
            (&json!(true), &json!(false))
        );

        assert_eq!(told_gone["verified"], false, "{told_gone}");
        assert_eq!(told_gone["code"], "product_gone");
        assert_eq!(told_gone["snapshot_at"], crate::support::CRAWLED);
        // The entry has the last known prices, and nothing is in stock.
        let mut last = stored_offers(market.stored(&gone));
        last.iter_mut().for_each(|(_, _, _, available)| *available = false);
        assert_eq!((offers(told_gone), &told_gone["in_stock"]), (last, &json!(false)));

        let seen = market.seen.all();
        let last_of = |ident| {
            let mut seen = seen.iter().rev();
            seen.find(|one| one.product == market.stored(ident).platform_id)
                .unwrap()
        };
        assert_eq!(last_of(&gone).gone.len(), market.stored(&gone).variants.len());
        assert!(last_of(&gone).variants.is_empty());
        assert_eq!(last_of(&dearer).variants.len(), stored.variants.len());
        market.prices(&[dearer, empty, gone]).await;
        assert_eq!(market.seen.all().len(), seen.len());
    }
}

#[tokio::test]
async fn a_verified_price_is_told_whole() {
    let market = Market::open(generated(40, 1), by(Way::Auto)).await;
    let mut idents = market.idents(0).iter();
    let ident = idents.find(|ident| market.stored(ident).variants.len() == 1).unwrap();
    let (_, answer) = market.get(&format!("/v1/products/{ident}/price")).await;
    insta::assert_json_snapshot!(answer, @r#"
    {
      "as_of": "2026-11-21T12:00:00Z",
      "data": {
        "as_of": "2026-11-21T12:00:00Z",
        "brand_slug": "peacock-tea-house",
        "changes": {
          "price": false,
          "since": "2026-11-21T00:00:00Z",
          "stock": false,
          "variants": []
        },
        "code": null,
        "currency": "INR",
        "detail": null,
        "in_stock": true,
        "price_max_minor": 214900,
        "price_min_minor": 214900,
        "product_id": "abc64bdd-92be-5971-8749-9dc34a76a00c",
        "product_uid": "sha:e523543cf72bcb0474bc1c8dc574350134d5c675",
        "snapshot_at": null,
        "source": "graphql",
        "title": "Dev Culinary Matcha",
        "variants": [
          {
            "amount_minor": 214900,
            "available": true,
            "compare_at_minor": null,
            "sku": "PEA-1744494-1",
            "title": "",
            "variant_id": "55010619838714"
          }
        ],
        "variants_complete": true,
        "verified": true
      },
      "provenance": {
        "engine": "live",
        "release": "r0123456789abcdef"
      },
      "tier": "live"
    }
    "#);
}

#[tokio::test]
async fn a_live_price_says_whether_its_variants_are_all_that_the_product_has() {
    for cut in [false, true] {
        let options = Options { cut, ..by(Way::Auto) };
        let market = Market::open(generated(8, 1), options).await;
        let idents = market.idents(0).to_vec();
        for told in market.prices(&idents).await {
            assert_eq!(told["verified"], true, "{told}");
            assert_eq!(told["variants_complete"], !cut, "{told}");
            // Variants that are not listed may be cheaper or in stock.
            assert_eq!(told["price_min_minor"].is_null(), cut, "{told}");
            assert_eq!(told["price_max_minor"].is_null(), cut, "{told}");
            assert!(told["in_stock"] == true || told["in_stock"].is_null() == cut, "{told}");
        }
    }
}
