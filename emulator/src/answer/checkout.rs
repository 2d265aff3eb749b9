//! Page behind a checkout link, which shows the order but accepts no payment.

use super::announcement::amount;
use super::product_html::page;
use crate::ask::Ask;
use crate::cart::Cart;
use crate::cart_service::{Bill, BillLine, CartService};
use crate::discount::Class;
use crate::fault::Lie;
use crate::generated::push_html;
use crate::reply::{Cache, Reply};
use crate::shop::Shop;

/// Returns the checkout page of the cart with this token, or `None` if the cart is missing or the key is wrong. The
/// visitor's session continues with this cart, so that the store's own pages show and change it.
pub(super) fn checkout(shop: &Shop, token: &str, ask: &Ask) -> Option<Reply> {
    let lie = Lie::default();
    let service = CartService::new(shop, &lie);
    let cart = service.find(token)?;
    if ask.parameter("key").as_deref() != Some(cart.checkout_key.as_str()) {
        return None;
    }
    let bill = service.bill(&cart);
    let main = main(shop, &service, &cart, &bill, "Checkout");
    let head = "<meta name=\"robots\" content=\"noindex\">\n";
    Some(Reply {
        cache: Cache::Never,
        cookies: vec![cart.cookie()],
        ..Reply::html(200, page(shop, "Checkout", head, &main))
    })
}

/// Returns the HTML page of a cart, which may be empty.
pub(crate) fn basket_page(shop: &Shop, service: &CartService<'_>, cart: Option<&Cart>) -> Reply {
    let main = match cart.filter(|cart| !cart.lines.is_empty()) {
        Some(cart) => main(shop, service, cart, &service.bill(cart), "Your cart"),
        None => "<h1>Your cart is empty</h1>\n<p><a href=\"/\">Continue shopping</a></p>".to_owned(),
    };
    Reply {
        cache: Cache::Never,
        ..Reply::html(200, page(shop, "Your Shopping Cart", "", &main))
    }
}

fn text(plain: &str) -> String {
    let mut html = String::new();
    push_html(&mut html, plain);
    html
}

fn main(shop: &Shop, service: &CartService<'_>, cart: &Cart, bill: &Bill, title: &str) -> String {
    let lines: String = bill.lines.iter().map(|line| row(shop, line)).collect();
    let sums: String = sums(shop, service, bill)
        .into_iter()
        .map(|(name, value)| {
            format!("<tr><th scope=\"row\" colspan=\"2\">{name}</th><td colspan=\"2\">{value}</td></tr>\n")
        })
        .collect();
    let notices = notices(bill);
    let address = cart.selected_address().map_or(String::new(), |address| {
        let lines: Vec<String> = address.place.formatted().iter().map(|line| text(line)).collect();
        let name = address
            .place
            .name()
            .map_or(String::new(), |name| format!("{}<br>", text(&name)));
        format!("<h2>Delivery</h2>\n<address>{name}{}</address>\n", lines.join("<br>"))
    });
    let contact = cart.buyer.email.as_deref();
    let contact = contact.map_or(String::new(), |email| format!("<p>Contact: {}</p>\n", text(email)));
    let note = if cart.note.is_empty() {
        String::new()
    } else {
        format!("<p>Note: {}</p>\n", text(&cart.note))
    };
    format!(
        "<style>table{{border-collapse:collapse;width:100%}}th,td{{padding:.4rem .25rem;border-bottom:1px solid #ddd;text-align:left}}\
         th:nth-child(n+2),td:nth-child(n+2),tfoot td{{text-align:right;white-space:nowrap}}[role=note]{{padding:1rem;background:#f3efe6}}img{{vertical-align:middle}}</style>\n\
         <h1>{title}</h1>\n{notices}<table>\n<thead><tr><th>Product</th><th>Pieces</th><th>Each</th><th>Total</th></tr></thead>\n\
         <tbody>\n{lines}</tbody>\n<tfoot>\n{sums}</tfoot>\n</table>\n{address}{contact}{note}\
         <p role=\"note\"><strong>This shop takes no payment.</strong> It is emulated: the walk from search to checkout ends here.</p>"
    )
}

/// Returns notices to the buyer: items that are sold out, and the reasons why codes do not apply.
fn notices(bill: &Bill) -> String {
    let refused = bill.applied.codes.iter();
    let refused = refused.filter_map(|verdict| Some((verdict, verdict.refusal?)));
    let refused = refused.map(|(verdict, refusal)| format!("{}: {}", verdict.code, refusal.message(&verdict.code)));
    let of_lines = bill.notices().into_iter().filter(|notice| notice.line.is_some());
    let told = of_lines.map(|notice| notice.message).chain(refused);
    let told: String = told.map(|message| format!("<li>{}</li>\n", text(&message))).collect();
    if told.is_empty() {
        told
    } else {
        format!("<ul role=\"alert\">\n{told}</ul>\n")
    }
}

fn row(shop: &Shop, line: &BillLine) -> String {
    let name = text(&line.offer.name());
    let picture = line.offer.product.images.first().map_or(String::new(), |image| {
        format!(
            "<img src=\"{}\" alt=\"\" width=\"48\" height=\"48\"> ",
            text(&image.src)
        )
    });
    let total = if line.total_minor == line.subtotal_minor() {
        amount(shop, line.total_minor)
    } else {
        format!(
            "<s>{}</s> {}",
            amount(shop, line.subtotal_minor()),
            amount(shop, line.total_minor)
        )
    };
    format!(
        "<tr><td>{picture}{name}</td><td>{}</td><td>{}</td><td>{total}</td></tr>\n",
        line.line.quantity,
        amount(shop, line.offer.unit_minor)
    )
}

/// Returns names and values of the sums below the lines.
fn sums(shop: &Shop, service: &CartService<'_>, bill: &Bill) -> Vec<(String, String)> {
    let mut sums = vec![("Subtotal".to_owned(), amount(shop, bill.subtotal_minor))];
    for (nth, rule) in service.rules().iter().enumerate() {
        let own = bill.applied.allocations.iter().filter(|it| it.rule == nth);
        let taken: u64 = own
            .filter(|it| it.class == Class::Order)
            .map(|it| it.amount_minor)
            .sum();
        if taken > 0 {
            let name = format!("Discount {}", text(rule.name()));
            sums.push((name, format!("&minus;{}", amount(shop, taken))));
        }
    }
    let delivery = match bill.selected_rate() {
        Some(rate) => {
            let cost = amount(shop, bill.applied.delivery_minor);
            (format!("Delivery ({})", text(rate.title)), cost)
        }
        None => ("Delivery".to_owned(), "needs an address".to_owned()),
    };
    sums.push(delivery);
    let currency = text(&shop.address.currency);
    sums.push((
        "Total".to_owned(),
        format!("<strong>{} {currency}</strong>", amount(shop, bill.total_minor)),
    ));
    sums
}
