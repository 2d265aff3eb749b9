//! Calls to a store's cart, each one mutation or one read.
//!
//! In: a [`storefront::Store`] with its priority and deadline, and what is wanted. Out: [`CartAnswer`], or why there is
//! none. What must not be done twice (making a cart, adding lines, setting their quantities) is sent once: its outcome may
//! be unknown ([`CartError::is_unknown`]), and is looked up before it is asked for again. Everything else sets what it names,
//! so that twice is as once.

use data_model::{Classify, ErrorCode};
use serde_json::{Value, json};
use storefront::{Effect, GraphqlErrorKind, GraphqlRequest, Store, StoreError, documents};
use tokio::time::Instant;

use crate::hidden::SecretText;
use crate::rules::store_cart::{
    Buyer, CartAddress, CartAnswer, CartAttribute, CartDraft, CartFault, DeliveryChoice, LineQuantity, StoreCart,
    VariantQuantity, attributes_input, lines_input, read_cart, read_mutation,
};

/// A store, as carts are asked for there.
#[derive(Debug, Clone)]
pub(crate) struct CartClient {
    store: Store,
}

/// Reasons why a call brought no cart.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CartError {
    /// The store could not be asked, or did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It answered something else.
    #[error(transparent)]
    Fault(#[from] CartFault),
}

impl CartError {
    /// True where the store got a call that must not be made twice, and did not answer its outcome.
    pub(crate) const fn is_lost(&self) -> bool {
        matches!(self, Self::Store(StoreError::OutcomeUnknown { .. }))
    }

    /// True where the store may have carried out the call.
    pub(crate) const fn is_unknown(&self) -> bool {
        match self {
            Self::Store(error) => error.leaves_open(),
            // An answer that is not believed says nothing of what was done.
            Self::Fault(CartFault::Unreadable(_)) => true,
            Self::Fault(CartFault::Refused(kind)) => kind.leaves_open(),
        }
    }
}

impl CartError {
    /// For whoever waits for the cart: what they can make of it, not what went wrong inside.
    pub(crate) fn detail(&self) -> &'static str {
        match self {
            Self::Store(StoreError::OutcomeUnknown { .. }) => {
                "The store may have done it and did not say so: the cart tells when it is read."
            }
            Self::Store(StoreError::Timeout { .. } | StoreError::Deadline { .. }) => "The store took too long.",
            Self::Store(StoreError::Throttled { .. }) => "The store asks to be left alone for a while.",
            Self::Store(StoreError::BreakerOpen { .. }) => "The store failed repeatedly and is left alone for a while.",
            Self::Store(StoreError::PasswordPage) => "The store is behind a password page.",
            Self::Store(_) | Self::Fault(CartFault::Refused(GraphqlErrorKind::Failure)) => {
                "The store does not answer as it should."
            }
            Self::Fault(CartFault::Refused(GraphqlErrorKind::Access)) => "The store takes no carts from us for now.",
            Self::Fault(CartFault::Refused(_)) => "The store refuses the call.",
            Self::Fault(CartFault::Unreadable(_)) => "The store's answer cannot be understood.",
        }
    }
}

impl Classify for CartError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Store(error) => error.code(),
            Self::Fault(CartFault::Refused(kind)) => kind.code(),
            Self::Fault(CartFault::Unreadable(_)) => ErrorCode::StoreUnavailable,
        }
    }
}

type CartResult = Result<CartAnswer, CartError>;

impl CartClient {
    pub(crate) const fn new(store: Store) -> Self {
        Self { store }
    }

    /// The same client, of which no call takes longer than until then.
    pub(crate) fn until(&self, deadline: Instant) -> Self {
        Self {
            store: self.store.clone().with_deadline(deadline),
        }
    }

    /// Makes a cart. One whose id was never answered is left behind.
    pub(crate) async fn create(&self, draft: &CartDraft) -> CartResult {
        let request = GraphqlRequest::new(documents::CART_CREATE, "CartCreate", json!({ "input": draft.input() }));
        self.mutate(&request, "cartCreate", Effect::Unsafe).await
    }

    /// Reads a cart; `None` where it is gone.
    pub(crate) async fn read(&self, id: &SecretText) -> Result<Option<StoreCart>, CartError> {
        let variables = json!({ "cartId": id.expose() });
        let request = GraphqlRequest::new(documents::CART_READ, "CartRead", variables);
        let answer = self.store.graphql(&request, Effect::Safe).await?;
        Ok(read_cart(&answer)?)
    }

    /// Adds lines: what is there already grows by as many.
    pub(crate) async fn add_lines(&self, id: &SecretText, lines: &[VariantQuantity]) -> CartResult {
        let request = of(
            documents::CART_LINES_ADD,
            "CartLinesAdd",
            id,
            "lines",
            lines_input(lines),
        );
        self.mutate(&request, "cartLinesAdd", Effect::Unsafe).await
    }

    /// Sets how many there are of lines. A store that makes several of one line makes more of them each time, and a call
    /// that comes late undoes a later one.
    pub(crate) async fn update_lines(&self, id: &SecretText, lines: &[LineQuantity]) -> CartResult {
        let request = of(
            documents::CART_LINES_UPDATE,
            "CartLinesUpdate",
            id,
            "lines",
            json!(lines),
        );
        self.mutate(&request, "cartLinesUpdate", Effect::Unsafe).await
    }

    /// Takes lines away.
    pub(crate) async fn remove_lines(&self, id: &SecretText, lines: &[SecretText]) -> CartResult {
        let lines: Vec<_> = lines.iter().map(SecretText::expose).collect();
        let request = of(
            documents::CART_LINES_REMOVE,
            "CartLinesRemove",
            id,
            "lineIds",
            json!(lines),
        );
        self.mutate(&request, "cartLinesRemove", Effect::Idempotent).await
    }

    /// Sets the whole list of codes. Codes that do not apply are no refusal: see [`StoreCart::codes`].
    pub(crate) async fn set_codes(&self, id: &SecretText, codes: &[String]) -> CartResult {
        let request = of(
            documents::CART_DISCOUNT_CODES,
            "CartDiscountCodes",
            id,
            "discountCodes",
            json!(codes),
        );
        self.mutate(&request, "cartDiscountCodesUpdate", Effect::Idempotent)
            .await
    }

    /// Says who buys.
    pub(crate) async fn set_buyer(&self, id: &SecretText, buyer: &Buyer) -> CartResult {
        let request = of(
            documents::CART_BUYER_IDENTITY,
            "CartBuyerIdentity",
            id,
            "buyerIdentity",
            buyer.input(),
        );
        self.mutate(&request, "cartBuyerIdentityUpdate", Effect::Idempotent)
            .await
    }

    /// Sets the cart's attributes, all of them.
    pub(crate) async fn set_attributes(&self, id: &SecretText, attributes: &[CartAttribute]) -> CartResult {
        let input = attributes_input(attributes);
        let request = of(documents::CART_ATTRIBUTES, "CartAttributes", id, "attributes", input);
        self.mutate(&request, "cartAttributesUpdate", Effect::Idempotent).await
    }

    /// Sets where to deliver, in place of all addresses that were there.
    pub(crate) async fn set_address(&self, id: &SecretText, address: &CartAddress) -> CartResult {
        let input = json!([address.input()]);
        let request = of(documents::CART_ADDRESSES, "CartAddresses", id, "addresses", input);
        self.mutate(&request, "cartDeliveryAddressesReplace", Effect::Idempotent)
            .await
    }

    /// Chooses options of delivery: groups and handles.
    pub(crate) async fn choose_delivery(&self, id: &SecretText, chosen: &[DeliveryChoice]) -> CartResult {
        let request = of(
            documents::CART_DELIVERY_OPTIONS,
            "CartDeliveryOptions",
            id,
            "selectedDeliveryOptions",
            json!(chosen),
        );
        self.mutate(&request, "cartSelectedDeliveryOptionsUpdate", Effect::Idempotent)
            .await
    }

    async fn mutate(&self, request: &GraphqlRequest, field: &str, effect: Effect) -> CartResult {
        let answer = Box::pin(self.store.graphql(request, effect)).await?;
        Ok(read_mutation(&answer, field)?)
    }
}

/// A request about one cart.
fn of(document: &'static str, operation: &'static str, id: &SecretText, name: &str, input: Value) -> GraphqlRequest {
    let mut variables = json!({ "cartId": id.expose() });
    variables[name] = input;
    GraphqlRequest::new(document, operation, variables)
}
