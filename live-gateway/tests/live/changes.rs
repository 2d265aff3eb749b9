use live_gateway::{GatewayConfig, Way};
use serde_json::json;

use crate::support::{Market, Options, generated, offers, stored_offers};

fn by(way: Way) -> Options {
    Options {
        gateway: GatewayConfig {
            way,
            reuse_ms: 0,
            ..GatewayConfig::default()
        },
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
        assert_eq!(offers(told_gone), stored_offers(market.stored(&gone)));

        let seen = market.seen.all();
        let of = |ident| {
            seen.iter()
                .filter(|one| one.product == market.stored(ident).platform_id)
                .collect::<Vec<_>>()
        };
        assert_eq!(of(&gone)[0].gone.len(), market.stored(&gone).variants.len());
        assert!(of(&gone)[0].variants.is_empty());
        assert_eq!(of(&dearer)[0].variants.len(), stored.variants.len());
        // The same again is no news.
        market.prices(&[dearer, empty, gone]).await;
        assert_eq!(market.seen.all().len(), seen.len());
    }
}

#[tokio::test]
async fn a_verified_price_is_told_whole() {
    let market = Market::open(generated(3, 1), by(Way::Auto)).await;
    let ident = market.idents(0)[0];
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
        "price_max_minor": 1112600,
        "price_min_minor": 264900,
        "product_id": "257a6eb7-63f9-5988-95d1-4f374cbaee48",
        "product_uid": "sha:3b7d8b71c894a8071f40d6fbfca7950a7f36f5e4",
        "snapshot_at": null,
        "source": "graphql",
        "title": "Second Flush Darjeeling Tea - Aspen Edition",
        "variants": [
          {
            "amount_minor": 264900,
            "available": true,
            "compare_at_minor": null,
            "sku": null,
            "title": "100 g",
            "variant_id": "40000000000000"
          },
          {
            "amount_minor": 476900,
            "available": true,
            "compare_at_minor": null,
            "sku": null,
            "title": "250 g",
            "variant_id": "60437167767251"
          },
          {
            "amount_minor": 688800,
            "available": true,
            "compare_at_minor": null,
            "sku": null,
            "title": "500 g",
            "variant_id": "61305099608927"
          },
          {
            "amount_minor": 900700,
            "available": true,
            "compare_at_minor": null,
            "sku": null,
            "title": "1 kg",
            "variant_id": "59368475405732"
          },
          {
            "amount_minor": 1112600,
            "available": true,
            "compare_at_minor": null,
            "sku": null,
            "title": "2 kg",
            "variant_id": "54875745699518"
          }
        ],
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
