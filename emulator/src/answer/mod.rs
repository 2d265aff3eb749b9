//! Responses of a store by path, as the platform sends them to a third party.

mod announcement;
mod checkout;
mod listing;
mod meta;
mod policy;
mod product_html;
mod product_js;
mod product_json;
mod robots;
mod sitemap;

pub(crate) use checkout::basket_page;
pub(crate) use listing::{Twist, collection_id, collection_updated_at};
pub(crate) use meta::cart as empty_cart;
pub(crate) use policy::{POLICIES, Policy, policy};
use product_html::{page, page_in};
pub(crate) use robots::forbidding;

use crate::ask::Ask;
use crate::fault::Lie;
use crate::generated::dice::fold_bytes;
use crate::picture::{Picture, draw};
use crate::reply::Reply;
use crate::shop::Shop;

pub(crate) fn answer(shop: &Shop, ask: &Ask, twist: &Twist) -> Reply {
    let path = ask.path.as_str();
    let reply = match path {
        "/" => Some(front(shop, twist.currency(shop))),
        "/products.json" => return listing::products(shop, ask, &shop.catalogue.places(shop.epoch()), twist),
        "/collections.json" => Some(listing::collections(shop, ask)),
        "/meta.json" => Some(meta::meta(shop, twist.currency(shop))),
        "/robots.txt" => Some(robots::robots(shop)),
        "/sitemap.xml" => Some(sitemap::index(shop)),
        "/pages/shipping-policy" => policy::page_of(shop, "shipping-policy"),
        "/password" => Some(Reply::redirect(302, "/")),
        _ if path.starts_with("/sitemap_") => sitemap::sitemap(shop, ask),
        _ => below(shop, ask, twist),
    };
    reply.unwrap_or_else(|| not_found(shop)).conditional(ask)
}

fn below(shop: &Shop, ask: &Ask, twist: &Twist) -> Option<Reply> {
    if let Some(rest) = ask.path.strip_prefix("/products/") {
        return product(shop, rest, &twist.lie);
    }
    if let Some(handle) = ask.path.strip_prefix("/policies/") {
        return policy::page_of(shop, handle);
    }
    let checkout = ask.path.strip_prefix("/cart/c/");
    if let Some(token) = checkout.or_else(|| ask.path.strip_prefix("/checkouts/cn/")) {
        return checkout::checkout(shop, token, ask);
    }
    if let Some(rest) = ask.path.strip_prefix("/collections/") {
        return collection(shop, rest, ask, twist);
    }
    picture(shop, ask.path.strip_prefix("/cdn/shop/files/")?)
}

fn product(shop: &Shop, rest: &str, lie: &Lie) -> Option<Reply> {
    let (catalogue, epoch) = (&shop.catalogue, shop.epoch());
    let currency = lie.currency(&shop.address.currency);
    let find = |handle: &str| {
        let place = lie.place(catalogue, catalogue.find(handle, epoch)?, epoch);
        Some((place, lie.tell(shop.product(place)?)))
    };
    // A handle may itself end in `.js`, so the whole name is tried first.
    if let Some((place, product)) = find(rest) {
        return Some(product_html::product_html(shop, place, &product, currency));
    }
    if let Some(handle) = rest.strip_suffix(".json") {
        return product_json::product_json(&find(handle)?.1, currency);
    }
    let script = product_js::product_js(&find(rest.strip_suffix(".js")?)?.1)?;
    Some(Reply {
        cart_currency: Some(currency.to_owned()),
        ..script
    })
}

fn collection(shop: &Shop, rest: &str, ask: &Ask, twist: &Twist) -> Option<Reply> {
    if let Some(handle) = rest.strip_suffix("/products.json") {
        return Some(listing::products(
            shop,
            ask,
            &shop.catalogue.shelf(handle, shop.epoch())?,
            twist,
        ));
    }
    if let Some(handle) = rest.strip_suffix(".json") {
        return listing::collection(shop, handle);
    }
    shop.catalogue
        .shelf(rest, shop.epoch())
        .map(|_| Reply::html(200, page(shop, rest, "", "<h1>Collection</h1>")))
}

fn front(shop: &Shop, currency: &str) -> Reply {
    let shelves = shop.catalogue.shelves(shop.epoch());
    let links = shelves.iter().take(50).map(|shelf| {
        format!(
            "<li><a href=\"/collections/{}\">{} products</a></li>\n",
            shelf.handle, shelf.products
        )
    });
    let main = format!("<h1>Welcome</h1>\n<ul>{}</ul>", links.collect::<String>());
    Reply::html(200, page_in(shop, currency, "Home", "", &main)).validated()
}

/// Returns the generated picture `{handle}_{nth}.svg`. Pictures stay after their product is removed, as on the
/// platform's own servers.
fn picture(shop: &Shop, file: &str) -> Option<Reply> {
    let (handle, nth) = file.strip_suffix(".svg")?.rsplit_once('_')?;
    let nth: u64 = nth.parse().ok().filter(|nth| (1..=9).contains(nth))?;
    let brand = &shop.address.name;
    let seed = fold_bytes(handle.as_bytes());
    let found = shop
        .catalogue
        .find(handle, shop.epoch())
        .and_then(|place| shop.catalogue.sketch(place, shop.epoch()));
    let svg = match found {
        Some(sketch) => {
            let (shape, tone) = (sketch.kind.shape, sketch.picture_tone(nth));
            draw(&Picture {
                shape,
                tone,
                nth,
                seed,
                title: &sketch.title(),
                brand,
            })
        }
        None => {
            let kinds = &shop.catalogue.persona().trade.kinds;
            let shape = kinds[(seed % kinds.len() as u64) as usize].shape;
            draw(&Picture {
                shape,
                tone: "#8a8f98",
                nth,
                seed,
                title: handle,
                brand,
            })
        }
    };
    Some(Reply::svg(svg).validated())
}

/// Returns the platform's HTML page for a missing resource, which is the same for every path.
pub(crate) fn not_found(shop: &Shop) -> Reply {
    let main = "<h1>404 Page Not Found</h1>\n<p>The page you requested does not exist.</p>";
    Reply::html(404, page(shop, "404 Not Found", "", main))
}

pub(crate) fn password(shop: &Shop) -> Reply {
    let main = "<h1>Opening soon</h1>\n<form method=\"post\" action=\"/password\"><label>Enter store using password \
                <input type=\"password\" name=\"password\"></label></form>";
    Reply::html(200, page(shop, "Opening Soon", "", main))
}
