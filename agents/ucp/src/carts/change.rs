use http::HeaderValue;

use super::shape::{Answer, CartAnswer, trouble, written};
use super::{CartBody, unknown};
use crate::failure::Failure;
use crate::ids::Ident;
use crate::market::{Item, Market};
use crate::message::Message;
use crate::wire::Cart;

const NO_CART: &str = "The cart does not exist, or it is empty.";

/// Converts a cart to the response. Fails for an ended cart, which has no lines, and for a cart with several sellers,
/// which the protocol does not support.
fn told(market: &Market<'_>, cart: &Cart, answer: Answer) -> Result<CartAnswer, Failure> {
    written(cart, market.version(), answer).ok_or_else(|| match cart.groups.len() {
        0 if !cart.problems.is_empty() => Failure::Outcome(cart.problems.iter().map(trouble).collect()),
        0 => Failure::not_found(NO_CART),
        _ => {
            let content = "The cart has items of several sellers, but a cart of this protocol belongs to one seller.";
            Failure::Outcome(vec![Message::unrecoverable("several_sellers", content)])
        }
    })
}

/// Creates a cart with the requested items of one seller.
async fn made(market: &Market<'_>, body: &CartBody, key: Option<HeaderValue>) -> Result<Cart, Failure> {
    let items = body.items()?;
    one_seller(market, &idents(&items)).await?;
    if items.is_empty() {
        return Err(Failure::bad("invalid", "line_items must contain at least one item."));
    }
    let email = body.buyer.email.as_deref();
    let cart = market.create_cart(&items, email, &body.sent, key).await?;
    body.discounts.set(market, cart).await
}

fn idents(items: &[Item]) -> Vec<&Ident> {
    items.iter().map(|item| &item.ident).collect()
}

/// Rejects unknown products and products of several sellers.
async fn one_seller(market: &Market<'_>, idents: &[&Ident]) -> Result<(), Failure> {
    let names: Vec<&str> = idents.iter().map(|ident| ident.product.as_str()).collect();
    let details = market.products(&names).await?;
    let mut seller: Option<&str> = None;
    for (ident, detail) in idents.iter().zip(&details) {
        let detail = detail.as_ref().ok_or_else(|| unknown(&ident.to_string()))?;
        if *seller.get_or_insert(&detail.brand_slug) != detail.brand_slug {
            let content = "The items are of several sellers: create one cart for each seller. `seller` of a variant \
                names its seller.";
            return Err(Failure::Outcome(vec![Message::recoverable("several_sellers", content)]));
        }
    }
    Ok(())
}

/// Creates a cart or a checkout. A checkout uses an existing cart or a new one.
pub(crate) async fn create(
    market: &Market<'_>,
    body: CartBody,
    key: Option<HeaderValue>,
    is_checkout: bool,
) -> Result<CartAnswer, Failure> {
    if !is_checkout {
        return told(market, &made(market, &body, key).await?, Answer::Cart);
    }
    let id = match &body.cart_id {
        Some(id) => {
            body.discounts.set_of(market, id).await?;
            id.clone()
        }
        None => {
            let cart = made(market, &body, key.clone()).await?;
            // An empty cart cannot be checked out.
            told(market, &cart, Answer::Cart)?;
            cart.cart_id
        }
    };
    let handed = market
        .check_out(&id, &body.sent, key)
        .await
        .map_err(|failure| match failure {
            // The request contains only the cart id, so a validation error means that the cart is missing or empty.
            Failure::Transport(fault) if fault.code == "validation" => Failure::not_found(NO_CART),
            failure => failure,
        })?;
    let mut cart = market.cart(&id).await?;
    let (url, token) = handed
        .checkouts
        .into_iter()
        .next()
        .map(|one| (one.checkout_url, one.attribution_token))
        .unzip();
    let answer = Answer::Checkout { url, token };
    for problem in handed.problems {
        // The cart and the checkout report the same closed link.
        if !cart.problems.contains(&problem) {
            cart.problems.push(problem);
        }
    }
    told(market, &cart, answer)
}

pub(crate) async fn read(market: &Market<'_>, id: &str, answer: Answer) -> Result<CartAnswer, Failure> {
    told(market, &market.cart(id).await?, answer)
}

/// Returns a cart before a change. Returns `None` if it does not exist but the request has a key, and may therefore be
/// a repetition.
async fn before(market: &Market<'_>, id: &str, key: Option<&HeaderValue>) -> Result<Option<Cart>, Failure> {
    match market.cart(id).await {
        Err(Failure::Outcome(_)) if key.is_some() => Ok(None),
        told => told.map(Some),
    }
}

/// Replaces a cart with the requested state, once per idempotency key. Lines that the request lacks are removed.
pub(crate) async fn replace(
    market: &Market<'_>,
    id: &str,
    key: Option<HeaderValue>,
    body: CartBody,
    answer: Answer,
) -> Result<CartAnswer, Failure> {
    let items = body.items()?;
    if items.is_empty() {
        return Err(Failure::bad(
            "invalid",
            "line_items must contain at least one item. To end a cart, cancel it.",
        ));
    }
    let cart = before(market, id, key.as_ref()).await?;
    if let Some(cart) = &cart {
        // An ended cart cannot be opened again.
        told(market, cart, answer.clone())?;
    }
    let groups = cart.iter().flat_map(|cart| &cart.groups);
    let line = groups.flat_map(|group| &group.lines).next();
    let of_cart = line.map(|line| {
        let product = line.product_id.clone();
        Ident { product, variant: None }
    });
    let mut idents = idents(&items);
    idents.extend(&of_cart);
    one_seller(market, &idents).await?;
    let cart = market.replace_lines(id, &items, &body.sent, key).await?;
    told(market, &body.discounts.set(market, cart).await?, answer)
}

/// Ends a cart or a checkout, once per idempotency key. Removes the cart's lines and returns its last state.
pub(crate) async fn cancel(
    market: &Market<'_>,
    id: &str,
    key: Option<HeaderValue>,
    answer: Answer,
) -> Result<CartAnswer, Failure> {
    if let Some(cart) = before(market, id, key.as_ref()).await? {
        // The protocol does not support a cart with several sellers, so the cart stays unchanged.
        told(market, &cart, answer.clone())?;
    }
    told(market, &market.end_cart(id, key).await?, answer)
}
