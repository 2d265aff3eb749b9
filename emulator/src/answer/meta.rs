use serde_json::{Value, json};

use crate::catalogue::Goods;
use crate::json::platform_bytes;
use crate::reply::{Cache, Reply};
use crate::shop::Shop;

/// Handles `/meta.json`. Recorded values stay unchanged, except the store's address: a client that follows `domain` and
/// `url` must reach the emulator, not the real store.
pub(crate) fn meta(shop: &Shop, currency: &str) -> Reply {
    let persona = shop.catalogue.persona();
    let (city, province) = persona.place;
    let epoch = shop.epoch();
    let or = |key: &str, drawn: Value| shop.catalogue.fact(key).cloned().unwrap_or(drawn);
    let members = [
        ("id", or("id", json!(persona.shop_id()))),
        ("name", json!(shop.address.name)),
        ("city", or("city", json!(city))),
        ("province", or("province", json!(province))),
        ("country", or("country", json!(persona.coin.country))),
        ("currency", json!(currency)),
        ("domain", json!(shop.address.domain)),
        ("url", json!(shop.address.base_url)),
        ("myshopify_domain", json!(shop.address.myshopify_domain)),
        ("description", or("description", json!(description(shop)))),
        (
            "ships_to_countries",
            or("ships_to_countries", json!([persona.coin.country])),
        ),
        ("money_format", or("money_format", json!(persona.coin.money_format))),
        (
            "published_collections_count",
            json!(shop.catalogue.shelves(epoch).len()),
        ),
        ("published_products_count", json!(shop.catalogue.places(epoch).len())),
        (
            "shopify_pay_enabled_card_brands",
            or("shopify_pay_enabled_card_brands", json!([])),
        ),
        (
            "offers_shop_pay_installments",
            or("offers_shop_pay_installments", json!(false)),
        ),
    ];
    // The keys are written one by one to keep the platform's order.
    let mut body = b"{".to_vec();
    for (nth, (name, value)) in members.iter().enumerate() {
        body.extend_from_slice(format!("{}\"{name}\":", if nth > 0 { "," } else { "" }).as_bytes());
        body.extend_from_slice(&platform_bytes(value.to_string().as_bytes()));
    }
    body.push(b'}');
    Reply::json(body).validated()
}

fn description(shop: &Shop) -> String {
    match &shop.catalogue.goods {
        Goods::Recorded { .. } => String::new(),
        Goods::Generated(generated) => {
            let persona = &generated.persona;
            let mut types: Vec<&str> = persona.trade.kinds.iter().map(|kind| kind.product_type).collect();
            types.dedup();
            types.truncate(3);
            format!(
                "{} from {}: {} & more.",
                persona.name,
                persona.place.0,
                types.join(", ")
            )
        }
    }
}

/// Returns `/cart.js` for a session with an empty cart, which states the store's currency.
pub(crate) fn cart(currency: &str) -> Reply {
    let body = json!({
        "token": "hWN0000000000000000000000000000?key=0000", "note": "", "attributes": {}, "original_total_price": 0,
        "total_price": 0, "total_discount": 0, "total_weight": 0.0, "item_count": 0, "items": [],
        "requires_shipping": false, "currency": currency, "items_subtotal_price": 0,
        "cart_level_discount_applications": [], "discount_codes": [],
    });
    Reply {
        cache: Cache::Unsaid,
        ..Reply::script(platform_bytes(body.to_string().as_bytes()))
    }
}
