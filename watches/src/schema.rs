//! The shapes of requests and answers.

use data_model::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use crate::rules::conditions::{Conditions, WatchReason};
pub use crate::rules::reading::{Reading, WatchedProduct};

/// A watch that is to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WatchBody {
    /// The product, by its UUID or `sha:` uid; either this or `query`.
    #[schema(
        nullable = false,
        pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$"
    )]
    pub product_id: Option<String>,
    /// The variant of the product; without it the cheapest in stock counts.
    #[schema(nullable = false, pattern = "^[0-9]{1,19}$")]
    pub variant_id: Option<String>,
    /// The words to search for: each product that is new and found is told.
    #[schema(nullable = false, min_length = 1, max_length = 512)]
    pub query: Option<String>,
    /// Tells when the price falls below this, in minor units of the product's currency.
    #[schema(nullable = false, minimum = 1, maximum = 1_000_000_000_000_i64)]
    pub price_below: Option<i64>,
    /// Tells when the markdown reaches so many percent.
    #[schema(nullable = false, minimum = 1, maximum = 99)]
    pub discount_at_least: Option<i64>,
    /// Tells when it is in stock again.
    #[schema(nullable = false)]
    pub back_in_stock: Option<bool>,
    /// The program that is told; either this or `email`.
    #[schema(nullable = false)]
    pub webhook: Option<WebhookBody>,
    /// The address that is mailed: the one that the caller's account signs in with by mail, and no other.
    #[schema(nullable = false, format = "email", max_length = 254)]
    pub email: Option<String>,
}

/// A program that takes events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WebhookBody {
    /// Public `https` address that takes a POST.
    #[schema(format = "uri", max_length = 2048)]
    pub url: String,
}

/// A change of a watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WatchChangeBody {
    /// True to pause it, false to let it go on.
    pub paused: bool,
}

/// A watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Watch {
    /// Names it.
    pub id: String,
    /// The product; null where it watches a query.
    #[schema(required = true)]
    pub product: Option<WatchedProduct>,
    /// The query; null where it watches a product.
    #[schema(required = true)]
    pub query: Option<String>,
    /// The conditions, any of which is enough.
    pub conditions: Conditions,
    /// The address that events are posted to; null where they are mailed.
    #[schema(required = true, format = "uri")]
    pub webhook_url: Option<String>,
    /// The address that events are mailed to; null where they are posted.
    #[schema(required = true, format = "email")]
    pub email: Option<String>,
    /// The secret that posted events are signed with, `whsec_` and Base64: in the answers that made it alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub secret: Option<String>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Since when it is paused; null where it is not.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub paused_at: Option<Timestamp>,
    /// Price and stock as they were last seen; null where it watches a query.
    #[schema(required = true)]
    pub seen: Option<Reading>,
}

/// An event of a watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WatchEvent {
    /// Names it; `webhook-id` of every POST, and part of the `Message-ID` of every mail.
    pub id: String,
    /// `waiting`, `done`, or `dead` when it is tried no more.
    pub state: &'static str,
    /// Attempts to deliver it.
    pub attempts: u32,
    /// When it happened.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it is tried next; null where it is not.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub next_attempt_at: Option<Timestamp>,
    /// The reason why the last attempt failed, for people.
    #[schema(required = true)]
    pub failure: Option<String>,
}

/// The source of these answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct WatchProvenance {
    /// Always `watches`.
    pub engine: &'static str,
}

macro_rules! answers {
    ($($(#[$about:meta])* $answer:ident of $data:ty;)*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
        pub struct $answer {
            /// The result.
            pub data: $data,
            /// The source of the answer.
            pub provenance: WatchProvenance,
            /// When it was so.
            #[schema(value_type = String, format = DateTime)]
            pub as_of: Timestamp,
            /// Always `live`.
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
    /// One watch.
    WatchAnswer of Watch;
    /// The caller's watches.
    WatchesAnswer of Vec<Watch>;
    /// One event.
    WatchEventAnswer of WatchEvent;
    /// Events of a watch.
    WatchEventsAnswer of Vec<WatchEvent>;
}
