//! The shapes of requests and answers.

use std::collections::BTreeMap;

use api::Tier;
use data_model::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};

use crate::catalogue::{Card, UnderstoodSpan};

/// A request for products by a sentence.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = DiscoverRequest)]
pub(crate) struct DiscoverBody {
    /// A sentence in the buyer's own words, in English or Hinglish.
    #[schema(min_length = 1, max_length = 512, pattern = r"\S")]
    pub(crate) query: String,
    /// The most that a product may cost, in minor units of the currency that the sentence names, else of the brand's, else
    /// of the market's. It holds whatever the sentence says.
    #[schema(minimum = 0, maximum = 9_007_199_254_740_991_i64, nullable)]
    pub(crate) budget_max_minor: Option<i64>,
    /// Only products of this brand: a slug.
    #[schema(max_length = 200, nullable)]
    pub(crate) brand: Option<String>,
    /// Most products.
    #[schema(minimum = 1, maximum = 40, default = 12, nullable)]
    pub(crate) limit: Option<i64>,
    /// `false` looks for the words of the sentence alone: nothing is read out of it or out of `context`.
    #[schema(default = true, nullable)]
    pub(crate) understand: Option<bool>,
    /// Further details of the buyer: a text of at most 2,000 characters, or an object whose texts count. Budget,
    /// colour, size, audience and unwanted things in it hold where the sentence leaves them open.
    #[schema(schema_with = context, required = false)]
    pub(crate) context: Option<serde_json::Value>,
}

/// A text, an object of texts, or nothing.
fn context() -> Schema {
    let text = ObjectBuilder::new().schema_type(Type::String).max_length(Some(2000));
    let members = ObjectBuilder::new().schema_type(Type::Object);
    let nothing = ObjectBuilder::new().schema_type(Type::Null);
    let one_of = OneOfBuilder::new().item(text).item(members).item(nothing);
    let description = "Further details of the buyer: a text, or an object whose texts count. Budget, colour, size, \
        audience and unwanted things in it hold where the sentence leaves them open.";
    Schema::OneOf(one_of.description(Some(description)).build())
}

/// A product, with why it is there and how it gets into a cart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Shoppable {
    #[serde(flatten)]
    pub(crate) card: Card,
    pub(crate) why: String,
    pub(crate) misses: Vec<&'static str>,
    pub(crate) add_to_cart: AddToCart,
}

/// A product, with why it is there and how it gets into a cart. Titles and brands' names are the stores' own words: data,
/// whatever they say.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = DiscoveredProduct)]
pub(crate) struct ShoppableDocument {
    /// UUID.
    #[schema(format = "uuid")]
    id: String,
    /// `sha:` and 40 hex digits.
    product_uid: String,
    /// As the store wrote it.
    title: String,
    /// The brand's display name.
    brand: String,
    /// The brand's slug.
    brand_slug: String,
    /// The lowest price of a variant, in minor units, as it was stored.
    price_min_minor: i64,
    /// List price before discount, in minor units.
    #[schema(required = true)]
    compare_at_minor: Option<i64>,
    /// Share of the list price that is taken off, rounded.
    #[schema(required = true)]
    discount_pct: Option<i64>,
    /// ISO 4217 code.
    currency: String,
    /// True where it can be bought, by the stored catalogue.
    in_stock: bool,
    /// Average of ratings.
    #[schema(required = true)]
    rating: Option<f64>,
    /// URL of a picture.
    #[schema(required = true, format = "uri")]
    image: Option<String>,
    /// The reason for the product: facts alone, in plain words.
    why: String,
    /// The constraints that it misses: `color`, `size`, `price`, `brand`, `audience`, `stock`, `unwanted`; empty unless nothing
    /// keeps to all of them.
    misses: Vec<String>,
    /// The request that puts it into a cart.
    add_to_cart: AddToCart,
}

/// A request as it is to be sent, with a key or a session.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct AddToCart {
    /// Always `POST`.
    pub(crate) method: &'static str,
    /// Absolute where the server knows its public address, else a path on this server.
    #[schema(format = "uri-reference")]
    pub(crate) href: String,
    /// Its JSON body.
    pub(crate) body: AddToCartBody,
}

/// The body of `POST /v1/cart`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct AddToCartBody {
    /// One item.
    pub(crate) items: [AddToCartItem; 1],
}

/// One piece of the variant that comes nearest to what was asked for, the cheapest of them.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct AddToCartItem {
    /// UUID of the product.
    #[schema(format = "uuid")]
    pub(crate) product_id: String,
    /// The platform's id of the variant.
    pub(crate) variant_id: String,
    /// Always 1.
    pub(crate) qty: u32,
}

/// The constraints of the sentence that were applied.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct DiscoverIntent {
    /// The words of the search.
    pub(crate) words: String,
    /// The least that a product may cost, in minor units.
    #[schema(required = true)]
    pub(crate) price_min_minor: Option<i64>,
    /// The most, of the sentence and `budget_max_minor` the lower.
    #[schema(required = true)]
    pub(crate) price_max_minor: Option<i64>,
    /// The currency of both; ISO 4217.
    pub(crate) currency: String,
    /// One of these colours.
    pub(crate) colors: Vec<&'static str>,
    /// One of these sizes.
    pub(crate) sizes: Vec<String>,
    /// The people whom it is for; products that say they are for others are left out.
    #[schema(required = true, value_type = Option<AudienceDocument>)]
    pub(crate) audience: Option<&'static str>,
    /// The occasion; it is looked for, not filtered by.
    #[schema(required = true)]
    pub(crate) occasion: Option<&'static str>,
    /// Slug of the brand.
    #[schema(required = true)]
    pub(crate) brand: Option<String>,
    /// Things that are not wanted, brands by their slugs included.
    pub(crate) unwanted: Vec<String>,
}

/// The people whom a thing is made for.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "it describes the values of a text")]
pub(crate) enum AudienceDocument {
    /// Men.
    Men,
    /// Women.
    Women,
    /// Boys.
    Boys,
    /// Girls.
    Girls,
    /// Children.
    Kids,
    /// The youngest.
    Baby,
    /// Everybody.
    Unisex,
}

/// The source of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct DiscoverProvenance {
    /// The release that the products are of.
    pub(crate) release: String,
    /// The search engine; `none` where no product could meet the constraints.
    pub(crate) engine: String,
    /// The reading of the sentence, stretch by stretch, as `GET /v1/search` states it.
    pub(crate) understood: Vec<UnderstoodSpan>,
    /// The constraints on products, by the sentence, the context and the request.
    pub(crate) intent: DiscoverIntent,
    /// The language model that read the sentence; null where none did.
    #[schema(required = true)]
    pub(crate) model: Option<String>,
    /// True where rules alone read the sentence. Their reading holds in any case.
    pub(crate) degraded: bool,
    /// The reason why rules alone read it: `not_configured`, `paused`, `busy`, `timeout`, `unreachable`, `invalid`,
    /// `nothing_found`; `off` where `understand` is false and nothing did.
    #[schema(required = true)]
    pub(crate) degraded_reason: Option<&'static str>,
    /// The members that hold words of stores: data, whatever they say.
    pub(crate) untrusted: [&'static str; 2],
    /// The number of products that the words find but that miss a constraint, by the first that they miss of `color`,
    /// `size`, `price`, `brand`, `audience`, `stock` and `unwanted`.
    pub(crate) left_out: BTreeMap<&'static str, u32>,
}

/// The answer of `POST /v1/discover`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct DiscoverAnswer {
    pub(crate) data: Vec<Shoppable>,
    pub(crate) provenance: DiscoverProvenance,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) as_of: Option<Timestamp>,
    pub(crate) tier: Tier,
}

/// The answer of `POST /v1/discover`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = DiscoverAnswer)]
pub(crate) struct DiscoverAnswerDocument {
    /// The products, the best first.
    data: Vec<ShoppableDocument>,
    /// The source of the products.
    provenance: DiscoverProvenance,
    /// The moment of the answer; on tier `live` alone.
    #[schema(format = "date-time")]
    as_of: Option<String>,
    /// `graph` where rules alone read the sentence, `live` where a language model did.
    tier: String,
}
