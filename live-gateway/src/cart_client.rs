//! Calls to a store's cart API: one mutation or one read each.
//!
//! In: a [`storefront::Store`] with its priority and deadline, and the wanted change. Out: a [`CartAnswer`], or the
//! reason for its absence. Creating a cart, adding lines and setting quantities are not idempotent, so each of these
//! calls is sent only once. If the outcome is unknown ([`CartError::is_unknown`]), the caller reads the cart before it
//! repeats the call. All other calls are idempotent because they set a value.

use data_model::{Classify, ErrorCode};
use serde_json::{Value, json};
use storefront::{Effect, GraphqlErrorKind, GraphqlRequest, Store, StoreError, documents};
use tokio::time::Instant;
use url::Url;

use crate::hidden::SecretText;
use crate::rules::store_cart::{
    Buyer, CartAddress, CartAnswer, CartAttribute, CartDraft, CartFault, DeliveryChoice, LineQuantity, StoreCart,
    VariantQuantity, attributes_input, lines_input, read_cart, read_mutation,
};

#[derive(Debug, Clone)]
pub(crate) struct CartClient {
    store: Store,
}

/// Reasons why a call returned no cart.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CartError {
    /// The store could not be queried, or did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store's response is not the expected cart.
    #[error(transparent)]
    Fault(#[from] CartFault),
}

impl CartError {
    /// True if the store received a call that must not be repeated, and the response is missing.
    pub(crate) const fn is_lost(&self) -> bool {
        matches!(self, Self::Store(StoreError::OutcomeUnknown { .. }))
    }

    /// True if the store may have carried out the call.
    pub(crate) const fn is_unknown(&self) -> bool {
        match self {
            Self::Store(error) => error.leaves_open(),
            // A malformed response does not show whether the store carried out the call.
            Self::Fault(CartFault::Unreadable(_)) => true,
            Self::Fault(CartFault::Refused(kind)) => kind.leaves_open(),
        }
    }
}

impl CartError {
    /// Returns the reason why repeating the call will not help, if there is one.
    pub(crate) fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Store(error) => reason(error.cause()),
            Self::Fault(CartFault::Refused(GraphqlErrorKind::Access)) => Some("no_api"),
            Self::Fault(CartFault::Refused(GraphqlErrorKind::Closed)) => Some("store_closed"),
            Self::Fault(_) => None,
        }
    }

    /// Returns a message for a waiting caller, without internal causes.
    pub(crate) fn detail(&self) -> &'static str {
        match self {
            Self::Store(error) => detail(error),
            Self::Fault(CartFault::Refused(GraphqlErrorKind::Failure)) => "The store does not answer correctly.",
            Self::Fault(CartFault::Refused(GraphqlErrorKind::Access | GraphqlErrorKind::Closed)) => {
                "The store does not accept carts from this service for now."
            }
            Self::Fault(CartFault::Refused(_)) => "The store refuses the request.",
            Self::Fault(CartFault::Unreadable(_)) => "The store's answer cannot be read.",
        }
    }
}

/// Returns the reason why a repetition of a call will not help until the store changes something. The code of these
/// errors stays `store_unavailable`, because the store has not refused the request itself.
pub(crate) fn reason(error: &StoreError) -> Option<&'static str> {
    match error {
        StoreError::PasswordPage | StoreError::Suspended { .. } => Some("store_closed"),
        StoreError::RobotsDisallowed { .. } | StoreError::Redirect { .. } => Some("no_api"),
        StoreError::Status { .. } if !error.is_transient() => Some("no_api"),
        _ => None,
    }
}

/// Returns a message for the caller who waits for the store.
pub(crate) fn detail(error: &StoreError) -> &'static str {
    match error {
        StoreError::OutcomeUnknown { .. } => {
            "The store did not confirm the change, which may have happened. Read the cart to see its state."
        }
        StoreError::Timeout { .. } | StoreError::Deadline { .. } => "The store took too long.",
        StoreError::Throttled { .. } => "The store limits our requests for now.",
        StoreError::BreakerOpen { .. } => "The store failed repeatedly and is not queried for a while.",
        StoreError::PasswordPage => "The store is behind a password page.",
        StoreError::RobotsDisallowed { .. } => "The store's robots.txt does not allow this request.",
        StoreError::RobotsUnavailable { .. } => "The store's robots.txt cannot be read, so the store is not queried.",
        _ if reason(error) == Some("no_api") => {
            "The store does not offer this to other services, so a repetition will not help. Its own pages are not \
             affected."
        }
        _ => "The store does not answer correctly.",
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

    /// Returns a copy of the client with an earlier deadline for all calls.
    pub(crate) fn until(&self, deadline: Instant) -> Self {
        Self {
            store: self.store.clone().with_deadline(deadline),
        }
    }

    /// Creates a cart. If the store's response is lost, the created cart is abandoned.
    pub(crate) async fn create(&self, draft: &CartDraft) -> CartResult {
        let request = GraphqlRequest::new(documents::CART_CREATE, "CartCreate", json!({ "input": draft.input() }));
        self.mutate(&request, "cartCreate", Effect::Unsafe).await
    }

    /// Reads a cart. Returns `None` if the store no longer has the cart.
    pub(crate) async fn read(&self, id: &SecretText) -> Result<Option<StoreCart>, CartError> {
        let variables = json!({ "cartId": id.expose() });
        let request = GraphqlRequest::new(documents::CART_READ, "CartRead", variables);
        let answer = self.store.graphql(&request, Effect::Safe).await?;
        Ok(read_cart(&answer)?.map(|cart| self.at_home(cart)))
    }

    /// Adds lines. The quantity of an existing line grows by the given amount.
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

    /// Sets the quantities of lines. The call is not idempotent: some stores split a line, and a repeated call splits
    /// it again. A late call overwrites a newer one.
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

    /// Replaces all discount codes. The store does not refuse codes that do not apply; [`StoreCart::codes`] reports
    /// them.
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

    pub(crate) async fn set_attributes(&self, id: &SecretText, attributes: &[CartAttribute]) -> CartResult {
        let input = attributes_input(attributes);
        let request = of(documents::CART_ATTRIBUTES, "CartAttributes", id, "attributes", input);
        self.mutate(&request, "cartAttributesUpdate", Effect::Idempotent).await
    }

    /// Sets the delivery address and removes all earlier addresses.
    pub(crate) async fn set_address(&self, id: &SecretText, address: &CartAddress) -> CartResult {
        let input = json!([address.input()]);
        let request = of(documents::CART_ADDRESSES, "CartAddresses", id, "addresses", input);
        self.mutate(&request, "cartDeliveryAddressesReplace", Effect::Idempotent)
            .await
    }

    /// Selects delivery options.
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
        let answer = read_mutation(&answer, field)?;
        Ok(CartAnswer {
            cart: answer.cart.map(|cart| self.at_home(cart)),
            ..answer
        })
    }

    /// Moves a checkout link to the store's own host if the stated host is not known to belong to the store.
    fn at_home(&self, cart: StoreCart) -> StoreCart {
        let link = Url::parse(cart.checkout_url.expose()).ok();
        let moved = link.and_then(|link| self.store.at_home(&link));
        StoreCart {
            checkout_url: moved.map_or(cart.checkout_url, SecretText::new),
            ..cart
        }
    }
}

fn of(document: &'static str, operation: &'static str, id: &SecretText, name: &str, input: Value) -> GraphqlRequest {
    let mut variables = json!({ "cartId": id.expose() });
    variables[name] = input;
    GraphqlRequest::new(document, operation, variables)
}
