//! The shapes of carts in answers.

use data_model::{ErrorCode, StoredBrand, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// A cart over several brands. Money is whole minor units; in a group and in all of them together
/// `subtotal + delivery + other - discount = total`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Cart {
    /// Names the cart: 32 hexadecimal digits that nobody can guess.
    pub cart_id: String,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it is forgotten, unless it is changed before.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// One for each brand; each is a cart of that brand's own store.
    pub groups: Vec<CartGroup>,
    /// Sums of the groups, by currency.
    pub totals: Vec<CartTotal>,
    /// The price of all of it; null where the groups are in several currencies.
    #[schema(required = true)]
    pub combined_total_minor: Option<i64>,
    /// Requested things that could not be done, with their brands. They cost no other brand's group.
    pub problems: Vec<CartProblem>,
}

/// One brand's part of a cart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartGroup {
    /// The brand's name.
    pub brand: String,
    /// Its name in paths.
    pub brand_slug: String,
    /// ISO 4217 code of all amounts of the group, as the store states it.
    pub currency: String,
    /// When the store said what stands here.
    #[schema(value_type = String, format = DateTime)]
    pub as_of: Timestamp,
    /// True where it said so for this answer. `false`: it stands as it was last known, for the store was not asked, or
    /// a problem says why it did not answer.
    pub verified: bool,
    /// When the store said what stands here, where it did not say so for this answer; null where it did.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub snapshot_at: Option<Timestamp>,
    /// The lines in it.
    pub lines: Vec<CartLine>,
    /// The price of the lines before any discount.
    pub subtotal_minor: i64,
    /// The sum that discounts take off lines, order and shipping together.
    pub discount_minor: i64,
    /// The part of it that is taken off delivery.
    pub delivery_discount_minor: i64,
    /// The chosen delivery before discounts, once the store counts it in.
    pub delivery_minor: i64,
    /// Other amounts that the store counts in, such as taxes; nearly always 0.
    pub other_minor: i64,
    /// The total that the buyer pays, as the store says.
    pub total_minor: i64,
    /// Every code of the store's list, with the store's own verdict.
    pub discount_codes: Vec<CartCode>,
    /// Discounts that need no code.
    pub automatic_discounts: Vec<CartDiscount>,
    /// Ways of delivery; empty until there is an address, and where the store does not deliver there.
    pub delivery_options: Vec<CartDelivery>,
    /// The page where a person checks out with the brand; a problem says where it does not open. The answers to `GET`
    /// and to `POST /v1/checkout` have looked at it within the last minutes.
    #[schema(format = "uri")]
    pub checkout_url: String,
    /// Notices for the buyer.
    pub warnings: Vec<CartWarning>,
}

/// A line of a cart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartLine {
    /// Names the line within the cart.
    pub line_id: String,
    /// UUID of the product.
    #[schema(format = "uuid")]
    pub product_id: String,
    /// The platform's id of the variant.
    pub variant_id: String,
    /// The product's title at the store.
    pub title: String,
    /// The variant's title; null for the one default variant.
    #[schema(required = true)]
    pub variant_title: Option<String>,
    /// Address of a picture.
    #[schema(required = true, format = "uri")]
    pub image: Option<String>,
    /// The quantity that the store has put into the cart; 0 where it is sold out.
    pub qty: u32,
    /// The quantity that was asked for; 0 for a line that nobody asked for here. More than `qty`: the store has no
    /// more.
    pub requested_qty: u32,
    /// True of a line that nobody asked for here: the store put it in, or somebody did so there. It is counted like any other.
    pub added_by_store: bool,
    /// Asked-for variants that the store shows within this line. Empty where several lines may be the one.
    pub merged: Vec<MergedItem>,
    /// Price of one.
    pub unit_price_minor: i64,
    /// True where the store asks the price that was shown for one (`price_minor` or `quote` of the item); null where none was shown, and
    /// where the store's currency is another one since.
    #[schema(required = true)]
    pub price_held: Option<bool>,
    /// The price that was shown and the store's, where they differ.
    #[schema(required = true)]
    pub price_changed: Option<CartPriceChange>,
    /// Price of all of them before any discount.
    pub line_total_minor: i64,
    /// The sum that discounts of this line take off; a discount of the whole order is not divided among lines.
    pub discount_minor: i64,
    /// True where the store sells it and has put as many as asked for into the cart.
    pub available: bool,
}

/// An asked-for variant that a store shows within another line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MergedItem {
    /// The platform's id of the variant.
    pub variant_id: String,
    /// UUID of the product, where it is known.
    #[schema(required = true, format = "uuid")]
    pub product_id: Option<String>,
    /// Pieces that were asked for.
    pub qty: u32,
}

/// A price that is not what it was shown as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartPriceChange {
    /// The price that the caller showed for one.
    pub shown_minor: i64,
    /// The store's price of one: `unit_price_minor`.
    pub now_minor: i64,
}

/// A discount code of a store's list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartCode {
    /// The code, as it was given.
    pub code: String,
    /// True where it takes effect on this cart, by the store's own verdict.
    pub applicable: bool,
    /// The sum that it takes off lines, order and shipping together.
    pub discount_minor: i64,
    /// The reason why it does not apply; null where it does.
    #[schema(required = true)]
    pub refusal: Option<CodeRefusal>,
}

/// The store's reason for not applying a code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CodeRefusal {
    /// The reason.
    pub reason: RefusalReason,
    /// The platform's own code in small letters, as warnings have it; null where the store states no reason.
    #[schema(required = true)]
    pub store_code: Option<String>,
    /// The same in the store's words.
    #[schema(required = true)]
    pub detail: Option<String>,
}

/// Reasons for not applying a code: a closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefusalReason {
    /// The store has no such code.
    UnknownCode,
    /// It is over, or has not begun.
    NotActive,
    /// The cart has no goods that it is for.
    NotForTheseItems,
    /// The cart has no delivery that it is for.
    NotForThisDelivery,
    /// The goods cost too little, or too much.
    SubtotalOutOfRange,
    /// There are too few pieces, or too many.
    QuantityOutOfRange,
    /// It was used as often as it may be.
    UsedUp,
    /// It is for customers whom the store knows.
    SignInNeeded,
    /// It is not for this customer, or no more.
    NotForThisCustomer,
    /// Another discount does not go with it.
    NotCombinable,
    /// The store states a reason that is none of these.
    Other,
    /// The store states no reason, or several of which it is not clear which is meant.
    NotStated,
}

/// A discount that needs no code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartDiscount {
    /// The store's name for it.
    pub title: String,
    /// The sum that it takes off.
    pub discount_minor: i64,
}

/// A way of delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartDelivery {
    /// Names it, to be chosen by.
    pub handle: String,
    /// The store's name for it.
    pub title: String,
    /// Its price before discounts.
    pub amount_minor: i64,
    /// Fewest days, where its words state them.
    #[schema(required = true)]
    pub days_min: Option<u32>,
    /// Most days, where its words state them.
    #[schema(required = true)]
    pub days_max: Option<u32>,
    /// True for the chosen one.
    pub selected: bool,
}

/// A notice about a group for the buyer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartWarning {
    /// The platform's code in small letters (`merchandise_not_enough_stock`, `discount_not_found`, …), or one of ours:
    /// `cart_rebuilt` (the store had forgotten its cart, and it was made anew), `cart_made_twice` (the store did not say
    /// whether it had made a cart, so another was made; the first is left behind, empty of effect), `signed_out` (the store
    /// does not know the customer any more), `amounts_differ` (the total is not the sum of what the store lists), `added_by_store` (nobody asked
    /// for the line here), `lines_merged` (the store shows several lines as this one), `currency_changed` (the store's
    /// amounts are in another currency than its catalogue was when it was last read), `price_changed` (the store asks
    /// another price for the line now than when it was added), `no_delivery_options` (the store names no way to deliver to
    /// the cart's address: it does not deliver there, or says so at its checkout alone).
    pub code: String,
    /// The same, for people; in the store's words where it is the store's.
    pub detail: String,
    /// The line that it is about.
    #[schema(required = true)]
    pub line_id: Option<String>,
}

/// The sum of all groups in one currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartTotal {
    /// ISO 4217 code.
    pub currency: String,
    /// The price of the lines before any discount.
    pub subtotal_minor: i64,
    /// The sum that discounts take off.
    pub discount_minor: i64,
    /// Chosen delivery before discounts.
    pub delivery_minor: i64,
    /// Other amounts that the stores count in.
    pub other_minor: i64,
    /// The sum that is paid.
    pub total_minor: i64,
}

/// A thing that could not be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartProblem {
    /// The brand that it is about.
    #[schema(required = true)]
    pub brand_slug: Option<String>,
    /// The product that it is about.
    #[schema(required = true)]
    pub product_id: Option<String>,
    /// One of the codes of problems: `product_not_found` (there is none, it has no such variant, or its store does not sell it
    /// any more: then the line is gone from the group), `store_rejected` (the store refuses, and will again),
    /// `store_unavailable`, `store_throttled`, `store_timeout` (it gave no answer, and may give one later), …
    #[schema(value_type = String)]
    pub code: ErrorCode,
    /// The same, for people.
    pub detail: String,
}

impl CartProblem {
    /// A problem with something of a brand's.
    pub(crate) fn new(
        brand: Option<&StoredBrand>,
        product_id: Option<String>,
        code: ErrorCode,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            brand_slug: brand.map(|brand| brand.slug.to_string()),
            product_id,
            code,
            detail: detail.into(),
        }
    }
}

/// The sources of a cart's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartProvenance {
    /// Always `live`.
    pub engine: &'static str,
}

/// The answer of operations on a cart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartAnswerDocument<T> {
    /// The result.
    pub data: T,
    /// The sources of the answer.
    pub provenance: CartProvenance,
    /// Since when all of it was so: the oldest `as_of` of what stands in it.
    #[schema(value_type = String, format = DateTime)]
    pub as_of: Timestamp,
    /// Always `live`.
    pub tier: &'static str,
}

/// A cart in an answer, named for the description.
pub type CartDocument = CartAnswerDocument<Cart>;

impl<T> CartAnswerDocument<T> {
    /// The answer of which all was so since `as_of`.
    pub(crate) const fn new(data: T, as_of: Timestamp) -> Self {
        Self {
            data,
            provenance: CartProvenance { engine: "live" },
            as_of,
            tier: "live",
        }
    }
}

/// A cart after the search for codes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OptimizedCart {
    /// The cart as it is now.
    #[serde(flatten)]
    pub cart: Cart,
    /// The results of the search, by brand.
    pub optimized: Vec<OptimizedGroup>,
    /// The savings, by currency.
    pub saved: Vec<Saving>,
}

/// The result of the search for codes at one store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OptimizedGroup {
    /// The brand.
    pub brand_slug: String,
    /// The group's total before.
    pub total_before_minor: i64,
    /// The amount saved; 0 where nothing better was found, and the group is as it was.
    pub saved_minor: i64,
    /// The codes that it has now.
    pub codes: Vec<String>,
    /// The number of codes that were tried.
    #[schema(value_type = u32)]
    pub tested: usize,
    /// The number of codes that were not, because time or calls ran out.
    #[schema(value_type = u32)]
    pub untested: usize,
    /// The reason why the search ended early: `budget`, `throttled`, `store`, `changed`; null where it did not.
    #[schema(required = true)]
    pub stopped_by: Option<&'static str>,
}

/// The amount saved in one currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Saving {
    /// ISO 4217 code.
    pub currency: String,
    /// The amount.
    pub saved_minor: i64,
}

/// An item that is to be put into a cart.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct ItemBody {
    /// The product, by id or uid.
    pub product_id: String,
    /// The platform's id of the variant; without it the first one that can be bought.
    #[schema(required = false)]
    pub variant_id: Option<String>,
    /// The quantity.
    #[schema(minimum = 1, maximum = 999)]
    pub qty: u32,
    /// The price that was shown for one, in minor units of its store's currency: the line says if it held, at later reads too.
    #[schema(required = false, minimum = 0)]
    pub price_minor: Option<i64>,
    /// A signed quote of the variant's price, in place of `price_minor`: this server's own, of a live price that was asked for with
    /// `quote`. Without `variant_id` the item is the first variant of the quote that can be bought. One that has ended is compared all
    /// the same, and its line has the warning `quote_expired`.
    #[schema(required = false)]
    pub quote: Option<String>,
}

/// The body of `POST /v1/cart`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct CreateBody {
    /// The items that it is to have; may be empty.
    #[schema(max_items = 100)]
    pub items: Vec<ItemBody>,
    /// The buyer's address, sent to the stores.
    #[schema(required = false, format = Email)]
    pub email: Option<String>,
}

/// The body of `POST /v1/cart/{cart_id}/lines`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct LinesBody {
    /// The items that are to come into it.
    #[schema(max_items = 100)]
    pub items: Vec<ItemBody>,
}

/// The body of `PATCH /v1/cart/{cart_id}/lines/{line_id}`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct LineBody {
    /// The quantity that the line is to have.
    #[schema(minimum = 1, maximum = 999)]
    pub qty: u32,
}

/// The body of `POST /v1/cart/{cart_id}/discount`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct DiscountBody {
    /// The code.
    #[schema(min_length = 1, max_length = 64)]
    pub code: String,
    /// The brand at whose store it is put in, by slug; without it all stores of the cart.
    #[schema(required = false)]
    pub brand: Option<String>,
}

/// The body of `POST /v1/cart/{cart_id}/address`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct AddressBody {
    /// Postal code; in India six digits, of which the first is not 0. Spaces in those do not count.
    #[schema(required = false, max_length = 16)]
    pub zip: Option<String>,
    /// Two-letter code (ISO 3166-1).
    #[schema(required = false, pattern = "^[A-Za-z]{2}$")]
    pub country: Option<String>,
    /// Code of the state or province, as `KA`. In India its name will do, and where none is given the state of the
    /// pincode is sent.
    #[schema(required = false, max_length = 64)]
    pub province: Option<String>,
    /// City.
    #[schema(required = false, max_length = 100)]
    pub city: Option<String>,
}

/// The body of `POST /v1/cart/{cart_id}/delivery`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct DeliveryBody {
    /// The brand, by slug.
    pub brand: String,
    /// The handle of one of its delivery options.
    pub handle: String,
}
