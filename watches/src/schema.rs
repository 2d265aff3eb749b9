//! Request and response types of watches.

use data_model::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use crate::rules::conditions::{Conditions, WatchReason};
pub use crate::rules::reading::{Reading, WatchedProduct};

/// Watch to create.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WatchBody {
    /// UUID or `sha:` uid of the product; exactly one of `product` and `query` must be given.
    #[schema(
        nullable = false,
        pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$"
    )]
    pub product_id: Option<String>,
    /// Variant of the product. Without it, the cheapest variant in stock is watched.
    #[schema(nullable = false, pattern = "^[0-9]{1,19}$")]
    pub variant_id: Option<String>,
    /// Search query. Each new product that the query finds sends an event.
    #[schema(nullable = false, min_length = 1, max_length = 512)]
    pub query: Option<String>,
    /// Sends an event when the price falls below this amount, in minor units of the product's currency.
    #[schema(nullable = false, minimum = 1, maximum = 1_000_000_000_000_i64)]
    pub price_below: Option<i64>,
    /// Sends an event when the markdown reaches this percentage.
    #[schema(nullable = false, minimum = 1, maximum = 99)]
    pub discount_at_least: Option<i64>,
    /// Sends an event when the product is back in stock.
    #[schema(nullable = false)]
    pub back_in_stock: Option<bool>,
    /// Program that receives the events; exactly one of `webhook` and `email` must be given.
    #[schema(nullable = false)]
    pub webhook: Option<WebhookBody>,
    /// E-mail address that receives the events. Only the address with which the caller's account signs in by e-mail is
    /// allowed.
    #[schema(nullable = false, format = "email", max_length = 254)]
    pub email: Option<String>,
}

/// Program that receives events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WebhookBody {
    /// Public `https` URL that accepts POST requests.
    #[schema(format = "uri", max_length = 2048)]
    pub url: String,
}

/// Change of a watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WatchChangeBody {
    /// True pauses the watch, false resumes it.
    pub paused: bool,
}

/// Watch of a product or a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Watch {
    /// Id of the watch.
    pub id: String,
    /// Watched product; null for a watch of a query.
    #[schema(required = true)]
    pub product: Option<WatchedProduct>,
    /// Watched query; null for a watch of a product.
    #[schema(required = true)]
    pub query: Option<String>,
    /// Conditions of the watch. Each fulfilled condition is sufficient for an event.
    pub conditions: Conditions,
    /// URL to which events are posted; null if they are sent by e-mail.
    #[schema(required = true, format = "uri")]
    pub webhook_url: Option<String>,
    /// Address to which events are sent by e-mail; null if they are posted.
    #[schema(required = true, format = "email")]
    pub email: Option<String>,
    /// Secret that signs posted events: `whsec_` and Base64. The secret is present only in the response to the request
    /// that created it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub secret: Option<String>,
    /// Time at which the watch was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Time at which the watch was paused; null if it is not paused.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub paused_at: Option<Timestamp>,
    /// Last known price and stock; null for a watch of a query.
    #[schema(required = true)]
    pub seen: Option<Reading>,
}

/// Event of a watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WatchEvent {
    /// Id of the event, used as the `webhook-id` of every POST and as part of the `Message-ID` of every e-mail.
    pub id: String,
    /// `waiting`, `done`, or `dead` if delivery was given up.
    pub state: &'static str,
    /// Number of delivery attempts.
    pub attempts: u32,
    /// Time at which the event happened.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Time of the next delivery attempt; null if there is none.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub next_attempt_at: Option<Timestamp>,
    /// Human-readable reason why the last attempt failed.
    #[schema(required = true)]
    pub failure: Option<String>,
}

/// Source of responses about watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct WatchProvenance {
    /// Engine of the response: always `watches`.
    pub engine: &'static str,
}

macro_rules! answers {
    ($($(#[$about:meta])* $answer:ident of $data:ty;)*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
        pub struct $answer {
            /// Result of the operation.
            pub data: $data,
            /// Source of the response.
            pub provenance: WatchProvenance,
            /// Time at which the response was valid.
            #[schema(value_type = String, format = DateTime)]
            pub as_of: Timestamp,
            /// Tier of the response: always `live`.
            pub tier: &'static str,
        }

        impl $answer {
            pub(crate) const fn new(data: $data, as_of: Timestamp) -> Self {
                let provenance = WatchProvenance { engine: "watches" };
                Self { data, provenance, as_of, tier: "live" }
            }
        }
    )*};
}

answers! {
    /// Answer with one watch.
    WatchAnswer of Watch;
    /// Answer with the caller's watches.
    WatchesAnswer of Vec<Watch>;
    /// Answer with one event.
    WatchEventAnswer of WatchEvent;
    /// Answer with the events of a watch.
    WatchEventsAnswer of Vec<WatchEvent>;
}
