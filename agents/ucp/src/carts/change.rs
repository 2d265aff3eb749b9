use http::HeaderValue;

use super::shape::{Answer, CartAnswer, trouble, written};
use super::{CartBody, unknown};
use crate::failure::Failure;
use crate::ids::Ident;
use crate::market::Market;
use crate::message::Message;
use crate::wire::Cart;

/// The cart as it is answered. One without lines is over, and one of several sellers is none of the protocol's.
fn told(market: &Market<'_>, cart: &Cart, answer: Answer) -> Result<CartAnswer, Failure> {
    written(cart, market.version(), answer).ok_or_else(|| match cart.groups.len() {
        0 if !cart.problems.is_empty() => Failure::Outcome(cart.problems.iter().map(trouble).collect()),
        0 => Failure::not_found("There is no such cart, or nothing is in it."),
        _ => {
            let content = "The cart has items of several sellers; a cart of this protocol is one seller's.";
            Failure::Outcome(vec![Message::unrecoverable("several_sellers", content)])
        }
    })
}

/// Makes a cart with what is asked for, of one seller.
async fn made(market: &Market<'_>, body: &CartBody, key: Option<HeaderValue>) -> Result<Cart, Failure> {
    let items = one_seller(market, body.items()?).await?;
    if items.is_empty() {
        return Err(Failure::bad("invalid", "line_items: there must be one."));
    }
    let email = body.buyer.email.as_deref();
    market.create_cart(&items, email, key).await
}

/// Finds the variant that each item is, and refuses items of several sellers.
async fn one_seller(market: &Market<'_>, items: Vec<(Ident, u32)>) -> Result<Vec<(Ident, u32)>, Failure> {
    let names: Vec<&str> = items.iter().map(|(ident, _)| ident.product.as_str()).collect();
    let details = market.products(&names).await?;
    let mut seller: Option<&str> = None;
    for ((ident, _), detail) in items.iter().zip(&details) {
        let detail = detail.as_ref().ok_or_else(|| unknown(&ident.to_string()))?;
        if *seller.get_or_insert(&detail.brand_slug) != detail.brand_slug {
            let content = "The items are of several sellers: make a cart for each. A variant's seller is in `seller`.";
            return Err(Failure::Outcome(vec![Message::recoverable("several_sellers", content)]));
        }
    }
    Ok(items)
}

/// Makes a cart, or a checkout of one that is there or made for it.
pub(crate) async fn create(
    market: &Market<'_>,
    body: CartBody,
    (key, is_checkout): (Option<HeaderValue>, bool),
) -> Result<CartAnswer, Failure> {
    if !is_checkout {
        return told(market, &made(market, &body, key).await?, Answer::Cart);
    }
    let id = match &body.cart_id {
        Some(id) => id.clone(),
        None => {
            let cart = made(market, &body, key.clone()).await?;
            // Nothing is handed over of a cart with nothing in it.
            told(market, &cart, Answer::Cart)?;
            cart.cart_id
        }
    };
    let handed = market.check_out(&id, key).await?;
    let cart = market.cart(&id).await?;
    let answer = Answer::Checkout {
        url: handed.checkouts.into_iter().next().map(|one| one.checkout_url),
        token: handed.attribution.map(|attribution| attribution.token),
    };
    let cart = Cart {
        problems: cart.problems.into_iter().chain(handed.problems).collect(),
        ..cart
    };
    told(market, &cart, answer)
}

/// A cart or a checkout as it is now.
pub(crate) async fn read(market: &Market<'_>, id: &str, answer: Answer) -> Result<CartAnswer, Failure> {
    told(market, &market.cart(id).await?, answer)
}

/// Makes a cart what the request says: lines that it does not name go.
pub(crate) async fn replace(
    market: &Market<'_>,
    id: &str,
    body: CartBody,
    answer: Answer,
) -> Result<CartAnswer, Failure> {
    let items = body.items()?;
    if items.is_empty() {
        return Err(Failure::bad(
            "invalid",
            "line_items: there must be one; a cart is ended by cancelling it.",
        ));
    }
    let mut cart = market.cart(id).await?;
    // A cart that is over stays over.
    told(market, &cart, answer.clone())?;
    let brand = cart
        .groups
        .first()
        .and_then(|group| group.lines.first())
        .map(|line| line.product_id.clone());
    let with_brand = brand.map(|product| (Ident { product, variant: None }, 0));
    one_seller(market, items.iter().cloned().chain(with_brand).collect()).await?;
    let lines: Vec<_> = cart.groups.iter().flat_map(|group| &group.lines).cloned().collect();
    let names = |ident: &Ident, line: &crate::wire::Line| {
        let is_variant = ident.variant.as_ref().is_none_or(|variant| *variant == line.variant_id);
        ident.product == line.product_id && is_variant
    };
    let mut new = Vec::new();
    for (ident, quantity) in &items {
        match lines.iter().find(|line| names(ident, line)) {
            None => new.push((ident.clone(), *quantity)),
            Some(line) if line.requested_qty != *quantity => {
                cart = market.set_line(id, &line.line_id, *quantity).await?;
            }
            Some(_) => {}
        }
    }
    // New ones first: a cart whose last line goes is over.
    if !new.is_empty() {
        cart = market.add_lines(id, &new).await?;
    }
    for line in &lines {
        if !items.iter().any(|(ident, _)| names(ident, line)) {
            cart = market.set_line(id, &line.line_id, 0).await?;
        }
    }
    told(market, &cart, answer)
}

/// Ends a cart or a checkout: its lines go, and what it was is answered.
pub(crate) async fn cancel(market: &Market<'_>, id: &str, answer: Answer) -> Result<CartAnswer, Failure> {
    let cart = market.cart(id).await?;
    let last = told(market, &cart, answer)?;
    for line in cart.groups.iter().flat_map(|group| &group.lines) {
        market.set_line(id, &line.line_id, 0).await?;
    }
    Ok(last)
}
