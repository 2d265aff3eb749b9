use http::HeaderValue;

use super::shape::{Answer, CartAnswer, trouble, written};
use super::{CartBody, unknown};
use crate::failure::Failure;
use crate::ids::Ident;
use crate::market::{Item, Market};
use crate::message::Message;
use crate::wire::Cart;

const NO_CART: &str = "There is no such cart, or nothing is in it.";

/// The cart as it is answered. One without lines is over, and one of several sellers is none of the protocol's.
fn told(market: &Market<'_>, cart: &Cart, answer: Answer) -> Result<CartAnswer, Failure> {
    written(cart, market.version(), answer).ok_or_else(|| match cart.groups.len() {
        0 if !cart.problems.is_empty() => Failure::Outcome(cart.problems.iter().map(trouble).collect()),
        0 => Failure::not_found(NO_CART),
        _ => {
            let content = "The cart has items of several sellers; a cart of this protocol is one seller's.";
            Failure::Outcome(vec![Message::unrecoverable("several_sellers", content)])
        }
    })
}

/// Makes a cart with what is asked for, of one seller.
async fn made(market: &Market<'_>, body: &CartBody, key: Option<HeaderValue>) -> Result<Cart, Failure> {
    let items = body.items()?;
    one_seller(market, &idents(&items)).await?;
    if items.is_empty() {
        return Err(Failure::bad("invalid", "line_items: there must be one."));
    }
    let email = body.buyer.email.as_deref();
    let cart = market.create_cart(&items, email, &body.sent, key).await?;
    body.discounts.set(market, cart).await
}

fn idents(items: &[Item]) -> Vec<&Ident> {
    items.iter().map(|item| &item.ident).collect()
}

/// Refuses products that nobody knows, and those of several sellers.
async fn one_seller(market: &Market<'_>, idents: &[&Ident]) -> Result<(), Failure> {
    let names: Vec<&str> = idents.iter().map(|ident| ident.product.as_str()).collect();
    let details = market.products(&names).await?;
    let mut seller: Option<&str> = None;
    for (ident, detail) in idents.iter().zip(&details) {
        let detail = detail.as_ref().ok_or_else(|| unknown(&ident.to_string()))?;
        if *seller.get_or_insert(&detail.brand_slug) != detail.brand_slug {
            let content = "The items are of several sellers: make a cart for each. A variant's seller is in `seller`.";
            return Err(Failure::Outcome(vec![Message::recoverable("several_sellers", content)]));
        }
    }
    Ok(())
}

/// Makes a cart, or a checkout of one that is there or made for it.
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
            // An empty cart is not handed over.
            told(market, &cart, Answer::Cart)?;
            cart.cart_id
        }
    };
    let handed = market
        .check_out(&id, &body.sent, key)
        .await
        .map_err(|failure| match failure {
            // The one member of the request is the cart's id: that of no cart, or of an empty one.
            Failure::Transport(fault) if fault.code == "validation" => Failure::not_found(NO_CART),
            failure => failure,
        })?;
    let cart = market.cart(&id).await?;
    let (url, token) = handed
        .checkouts
        .into_iter()
        .next()
        .map(|one| (one.checkout_url, one.attribution_token))
        .unzip();
    let answer = Answer::Checkout { url, token };
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

/// A cart before it is changed; `None` where there is none, but the same may have been asked before under its key.
async fn before(market: &Market<'_>, id: &str, key: Option<&HeaderValue>) -> Result<Option<Cart>, Failure> {
    match market.cart(id).await {
        Err(Failure::Outcome(_)) if key.is_some() => Ok(None),
        told => told.map(Some),
    }
}

/// Makes a cart what the request says, once for each key: lines that it does not name go.
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
            "line_items: there must be one; a cart is ended by cancelling it.",
        ));
    }
    let cart = before(market, id, key.as_ref()).await?;
    if let Some(cart) = &cart {
        // A cart that is over stays over.
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

/// Ends a cart or a checkout, once for each key: its lines go, and what it was is answered.
pub(crate) async fn cancel(
    market: &Market<'_>,
    id: &str,
    key: Option<HeaderValue>,
    answer: Answer,
) -> Result<CartAnswer, Failure> {
    if let Some(cart) = before(market, id, key.as_ref()).await? {
        // One of several sellers is no cart of the protocol, and is left as it is.
        told(market, &cart, answer.clone())?;
    }
    told(market, &market.end_cart(id, key).await?, answer)
}
