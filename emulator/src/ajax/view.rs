use serde_json::{Value, json};

use super::session::{Session, key_of};
use super::written;
use crate::answer::{basket_page, empty_cart};
use crate::cart::{Attribute, Cart};
use crate::cart_service::{Bill, BillLine, CartService};
use crate::discount::{Allocation, Class, DiscountValue};
use crate::product::schemeless;
use crate::reply::{Reply, uncached};
use crate::shop::Shop;

/// Converts an amount to hundredths of the currency's unit.
pub(super) fn hundredths(minor: u64, exponent: u32) -> u64 {
    let exact = u128::from(minor) * 100;
    u64::try_from(exact / 10_u128.pow(exponent)).unwrap_or(u64::MAX)
}

pub(super) fn cart_js(service: &CartService<'_>, session: &Session) -> Reply {
    let reply = match session.cart(service) {
        Some(cart) => written(200, &whole(service, &cart, &service.bill(&cart))),
        None => empty_cart(service.offers.currency()),
    };
    uncached(reply)
}

/// Handles `/cart`, the HTML page of the cart.
pub(super) fn page(shop: &Shop, service: &CartService<'_>, session: &Session) -> Reply {
    let cart = session.cart(service);
    basket_page(shop, service, cart.as_ref())
}

/// Returns a changed cart as JSON, with the cookie that names the cart.
pub(super) fn changed(service: &CartService<'_>, cart: &Cart, bill: &Bill) -> Reply {
    Reply {
        cookies: vec![cart.cookie()],
        ..written(200, &whole(service, cart, bill))
    }
}

fn taken(bill: &Bill, keep: impl Fn(&Allocation) -> bool) -> u64 {
    let kept = bill.applied.allocations.iter().filter(|it| keep(it));
    kept.map(|it| it.amount_minor).sum()
}

/// Returns a cart with every field that themes read.
pub(super) fn whole(service: &CartService<'_>, cart: &Cart, bill: &Bill) -> Value {
    let exponent = service.offers.exponent();
    let list: u64 = bill.lines.iter().map(BillLine::subtotal_minor).sum();
    let goods = bill.applied.goods_minor;
    let weight: u64 = bill.lines.iter().map(|line| grams(line) * line.line.quantity).sum();
    let items: Vec<Value> = (0..bill.lines.len()).map(|nth| line(service, bill, nth)).collect();
    let codes = bill.applied.codes.iter();
    let codes: Vec<Value> = codes
        .map(|verdict| json!({ "code": verdict.code, "applicable": verdict.applicable }))
        .collect();
    let requires_shipping = bill.lines.iter().any(|line| line.offer.is_delivered());
    json!({
        "token": format!("{}?key={}", cart.token, cart.key),
        "note": cart.note,
        "attributes": members(&cart.attributes),
        "original_total_price": hundredths(list, exponent),
        "total_price": hundredths(goods, exponent),
        "total_discount": hundredths(list.saturating_sub(goods), exponent),
        "total_weight": weight as f64,
        "item_count": bill.quantity(),
        "items": items,
        "requires_shipping": requires_shipping,
        "currency": service.offers.currency(),
        "items_subtotal_price": hundredths(bill.subtotal_minor, exponent),
        "cart_level_discount_applications": applications(service, bill),
        "discount_codes": codes,
    })
}

/// Returns attributes as a JSON object.
fn members(attributes: &[Attribute]) -> Value {
    let members = attributes
        .iter()
        .map(|one| (one.key.clone(), one.value.as_str().into()));
    Value::Object(members.collect())
}

/// Returns the discounts of the whole order.
fn applications(service: &CartService<'_>, bill: &Bill) -> Value {
    let exponent = service.offers.exponent();
    let rules = service.rules().iter().enumerate();
    let listed = rules.filter_map(|(nth, rule)| {
        let total = taken(bill, |it| it.rule == nth && it.class == Class::Order);
        let (value_type, value) = match rule.takes {
            DiscountValue::Percentage { percent } => ("percentage", format!("{percent}.0")),
            DiscountValue::Amount { amount_minor, .. } => {
                ("fixed_amount", crate::money::decimal_of(amount_minor, exponent))
            }
            DiscountValue::Shipping => return None,
        };
        (total > 0).then(|| {
            json!({
                "type": if rule.code.is_some() { "discount_code" } else { "automatic" },
                "key": format!("{nth:032x}"),
                "title": rule.name(),
                "description": rule.name(),
                "value": value,
                "created_at": null,
                "value_type": value_type,
                "allocation_method": "across",
                "target_selection": if rule.products.is_empty() { "all" } else { "entitled" },
                "target_type": "line_item",
                "total_allocated_amount": hundredths(total, exponent),
            })
        })
    });
    listed.collect::<Vec<_>>().into()
}

fn grams(line: &BillLine) -> u64 {
    line.offer.variant().map_or(0, |variant| variant.grams)
}

/// Returns one line. As measured, an order discount changes `line_price` but not `final_line_price`.
pub(super) fn line(service: &CartService<'_>, bill: &Bill, nth: usize) -> Value {
    let Some(billed) = bill.lines.get(nth) else {
        return Value::Null;
    };
    let exponent = service.offers.exponent();
    let of_order = taken(bill, |it| it.item == Some(nth) && it.class == Class::Order);
    let of_line = taken(bill, |it| it.item == Some(nth) && it.class == Class::Product);
    let each = billed.total_minor.checked_div(billed.line.quantity);
    let each = each.unwrap_or(billed.offer.unit_minor);
    let mut told = goods(billed);
    for (name, minor) in [
        ("price", billed.offer.unit_minor),
        ("original_price", billed.offer.unit_minor),
        ("discounted_price", each),
        ("final_price", each),
        ("original_line_price", billed.subtotal_minor()),
        ("line_price", billed.total_minor.saturating_sub(of_order)),
        ("final_line_price", billed.total_minor),
        ("total_discount", of_line + of_order),
        ("line_level_total_discount", of_line),
    ] {
        told[name] = hundredths(minor, exponent).into();
    }
    let own = bill.applied.allocations.iter();
    let own = own.filter(|it| it.item == Some(nth) && it.class == Class::Product);
    let own: Vec<(u64, &str)> = own
        .filter_map(|it| {
            let rule = service.rules().get(it.rule)?;
            Some((hundredths(it.amount_minor, exponent), rule.name()))
        })
        .collect();
    let listed = own
        .iter()
        .map(|(amount, title)| json!({ "amount": amount, "title": title }));
    told["discounts"] = listed.collect::<Vec<_>>().into();
    let listed = own.iter().map(|(amount, title)| {
        let application = json!({ "title": title, "target_selection": "entitled", "target_type": "line_item" });
        json!({ "amount": amount, "discount_application": application })
    });
    told["line_level_discount_allocations"] = listed.collect::<Vec<_>>().into();
    told
}

/// Returns the product fields of a line, without prices.
fn goods(billed: &BillLine) -> Value {
    let offer = &billed.offer;
    let (product, variant) = (&offer.product, offer.variant());
    let is_default = variant.is_none_or(|variant| variant.is_default());
    let options = variant.map(|variant| variant.options()).unwrap_or_default();
    let named = product.options.iter().zip(&options);
    let named: Vec<Value> = named
        .map(|(option, value)| json!({ "name": option.name, "value": value }))
        .collect();
    let own = variant.and_then(|variant| variant.featured_image.as_ref());
    let image = own.or(product.images.first());
    let featured = image.map(|image| {
        let (width, height) = (image.width.unwrap_or(1), image.height.unwrap_or(1).max(1));
        json!({
            "aspect_ratio": width as f64 / height as f64, "alt": product.title, "height": height, "url": image.src,
            "width": width,
        })
    });
    json!({
        "id": billed.line.variant,
        "properties": members(&billed.line.attributes),
        "quantity": billed.line.quantity,
        "variant_id": billed.line.variant,
        "key": key_of(billed.line.variant, &billed.line.attributes),
        "title": offer.name(),
        "product_title": product.title,
        "product_id": product.id,
        "product_has_only_default_variant": is_default,
        "product_type": product.product_type,
        "product_description": product.body_html,
        "handle": product.handle,
        "url": format!("/products/{}?variant={}", product.handle, billed.line.variant),
        "vendor": product.vendor,
        "sku": variant.and_then(|variant| variant.sku.as_deref()),
        "grams": grams(billed),
        "taxable": variant.is_some_and(|variant| variant.taxable),
        "requires_shipping": offer.is_delivered(),
        "gift_card": false,
        "has_components": false,
        "variant_title": variant.filter(|_| !is_default).map(|variant| variant.title.as_str()),
        "variant_options": options,
        "options_with_values": named,
        "image": image.map(|image| schemeless(&image.src)),
        "featured_image": featured,
        "quantity_rule": { "min": 1, "max": null, "increment": 1 },
    })
}
