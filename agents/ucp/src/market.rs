//! Calls of the REST operations.

use std::collections::BTreeMap;

use api::{Asker, OperationAnswer, OperationCall};
use futures::future::join_all;
use http::{HeaderValue, Method, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::ids::Ident;
use crate::wire::{BrandOffer, Card, Cart, Checkout, Detail, Envelope, Page};
use crate::{Inner, Ucp, Version};

/// Number of products that count as one request.
const PRODUCTS_A_REQUEST: usize = 10;

/// Field with the agent's original request. Operations ignore the field, but it distinguishes two different requests
/// with one idempotency key.
const AS_SENT: &str = "as_sent";
/// Parts of a product that are read.
const PARTS: &str = "variants,media,offers,attributes";

pub(crate) type Parameters = BTreeMap<&'static str, String>;

/// Operations on behalf of a caller.
#[derive(Debug)]
pub(crate) struct Market<'a> {
    inner: &'a Inner,
    asker: Asker,
    version: Version,
}

/// Price that the buyer was shown, an extension of the protocol: an amount or a signed quote, as for items of the REST
/// API.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
pub(crate) struct ShownPrice {
    /// Shown price, also under its name in the ACP draft.
    #[serde(alias = "suggested_price", skip_serializing_if = "Option::is_none")]
    price_minor: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quote: Option<Value>,
}

#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) ident: Ident,
    pub(crate) quantity: u32,
    pub(crate) shown: ShownPrice,
}

impl Ucp {
    pub(crate) fn market(&self, asker: Asker, version: Version) -> Market<'_> {
        Market {
            inner: &self.0,
            asker,
            version,
        }
    }
}

fn read<T: DeserializeOwned>(answer: &OperationAnswer) -> Result<T, Failure> {
    if !answer.is_success() {
        return Err(Failure::of(answer));
    }
    let envelope: Result<Envelope<T>, _> = serde_json::from_slice(&answer.body);
    envelope
        .map(|envelope| envelope.data)
        .map_err(|error| Failure::unreadable(&error))
}

impl Market<'_> {
    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// Returns the server's own URL, for `continue_url` if there is no better one.
    pub(crate) fn home(&self) -> &str {
        &self.inner.config.public_url
    }

    fn operation(&self, id: &'static str, method: Method, path: impl Into<String>) -> OperationCall {
        OperationCall::new(id, method, path, self.asker.clone())
    }

    async fn ask<T: DeserializeOwned>(&self, call: OperationCall) -> Result<T, Failure> {
        read(&self.inner.operations.call(call).await)
    }

    /// Returns the ids of the products that a search finds, the best first.
    pub(crate) async fn search(&self, parameters: &Parameters) -> Result<Vec<String>, Failure> {
        let call = self.operation("search_products", Method::GET, "/v1/search");
        let cards: Vec<Card> = self.ask(with(call, parameters)).await?;
        Ok(cards.into_iter().map(|card| card.id).collect())
    }

    pub(crate) async fn browse(&self, parameters: &Parameters) -> Result<Page, Failure> {
        let call = self.operation("browse", Method::GET, "/v1/browse");
        self.ask(with(call, parameters)).await
    }

    /// Returns a product. Returns `None` if it does not exist or the identifier is of something else.
    pub(crate) async fn product(&self, product: &str) -> Result<Option<Detail>, Failure> {
        let path = format!("/v1/products/{}", OperationCall::segment(product));
        let call = self.operation("get_product", Method::GET, path).query("include", PARTS);
        let answer = self.inner.operations.call(call).await;
        match answer.status {
            StatusCode::NOT_FOUND | StatusCode::UNPROCESSABLE_ENTITY => Ok(None),
            _ => read(&answer).map(Some),
        }
    }

    /// Returns the offers of all brands for a product, including its own brand; an empty list if they are unknown.
    pub(crate) async fn offers(&self, product: &str) -> Vec<BrandOffer> {
        let path = format!("/v1/products/{}/offers", OperationCall::segment(product));
        let call = self.operation("list_offers", Method::GET, path);
        self.ask(call).await.unwrap_or_default()
    }

    /// Returns products in the order of their identifiers. Every [`PRODUCTS_A_REQUEST`] products count as one request.
    pub(crate) async fn products(&self, products: &[&str]) -> Result<Vec<Option<Detail>>, Failure> {
        self.inner
            .guard
            .owe(&self.asker.caller, products.len().div_ceil(PRODUCTS_A_REQUEST))
            .await;
        let asked = products.iter().map(|product| self.product(product));
        join_all(asked).await.into_iter().collect()
    }

    /// Creates a cart, once per idempotency key.
    pub(crate) async fn create_cart(
        &self,
        items: &[Item],
        email: Option<&str>,
        sent: &Value,
        key: Option<HeaderValue>,
    ) -> Result<Cart, Failure> {
        let mut body = json!({ "items": written(items), AS_SENT: sent });
        if let Some(email) = email {
            body["email"] = email.into();
        }
        let call = self.operation("create_cart", Method::POST, "/v1/cart");
        let mut call = call.body(body.to_string());
        call.idempotency_key = key;
        self.ask(call).await
    }

    pub(crate) async fn cart(&self, id: &str) -> Result<Cart, Failure> {
        self.ask(self.operation("get_cart", Method::GET, path(id, ""))).await
    }

    /// Replaces the items of a cart, once per idempotency key.
    pub(crate) async fn replace_lines(
        &self,
        id: &str,
        items: &[Item],
        sent: &Value,
        key: Option<HeaderValue>,
    ) -> Result<Cart, Failure> {
        let call = self.operation("replace_cart_lines", Method::PUT, path(id, "/lines"));
        let mut call = call.body(json!({ "items": written(items), AS_SENT: sent }).to_string());
        call.idempotency_key = key;
        self.ask(call).await
    }

    /// Adds a discount code. A code that is already in the cart changes nothing.
    pub(crate) async fn add_code(&self, id: &str, code: &str) -> Result<Cart, Failure> {
        let call = self.operation("add_cart_discount", Method::POST, path(id, "/discount"));
        self.ask(call.body(json!({ "code": code }).to_string())).await
    }

    pub(crate) async fn remove_code(&self, id: &str, code: &str) -> Result<Cart, Failure> {
        let place = path(id, &format!("/discount/{}", OperationCall::segment(code)));
        self.ask(self.operation("remove_cart_discount", Method::DELETE, place))
            .await
    }

    /// Ends a cart and returns its last state, once per idempotency key.
    pub(crate) async fn end_cart(&self, id: &str, key: Option<HeaderValue>) -> Result<Cart, Failure> {
        let mut call = self.operation("end_cart", Method::DELETE, path(id, ""));
        call.idempotency_key = key;
        self.ask(call).await
    }

    /// Checks out a cart, once per idempotency key.
    pub(crate) async fn check_out(
        &self,
        id: &str,
        sent: &Value,
        key: Option<HeaderValue>,
    ) -> Result<Checkout, Failure> {
        let call = self.operation("create_checkout", Method::POST, "/v1/checkout");
        let mut call = call.body(json!({ "cart_id": id, AS_SENT: sent }).to_string());
        call.idempotency_key = key;
        self.ask(call).await
    }
}

fn with(call: OperationCall, parameters: &Parameters) -> OperationCall {
    let parameters = parameters.iter();
    parameters.fold(call, |call, (name, value)| call.query(*name, value.clone()))
}

fn path(cart: &str, below: &str) -> String {
    format!("/v1/cart/{}{below}", OperationCall::segment(cart))
}

fn written(items: &[Item]) -> Value {
    let item = |item: &Item| {
        let mut written = json!(item.shown);
        written["product_id"] = item.ident.product.as_str().into();
        written["qty"] = item.quantity.into();
        if let Some(variant) = &item.ident.variant {
            written["variant_id"] = variant.as_str().into();
        }
        written
    };
    items.iter().map(item).collect()
}
