//! Response and request types of carts.

use data_model::{ErrorCode, StoredBrand, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// Cart over several brands. Amounts are whole minor units. In each group and in each total, `subtotal + delivery +
/// other - discount = total`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Cart {
    /// Id of the cart: 32 hexadecimal digits that cannot be guessed.
    pub cart_id: String,
    /// Time at which the cart was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Time at which the cart is deleted, unless it is changed before.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// Groups of the cart, one for each brand. Each group is a cart at that brand's own store.
    pub groups: Vec<CartGroup>,
    /// Totals over the groups, by currency.
    pub totals: Vec<CartTotal>,
    /// Total of all groups; null if the groups have several currencies.
    #[schema(required = true)]
    pub combined_total_minor: Option<i64>,
    /// Requested changes that failed, with their brands. Failed changes do not affect the groups of other brands.
    pub problems: Vec<CartProblem>,
}

/// One brand's part of a cart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartGroup {
    /// Name of the brand.
    pub brand: String,
    /// Slug of the brand, as used in paths.
    pub brand_slug: String,
    /// ISO 4217 code of all amounts of the group, as the store states it.
    pub currency: String,
    /// Time at which the store returned the content of the group.
    #[schema(value_type = String, format = DateTime)]
    pub as_of: Timestamp,
    /// True if the store returned the content for this response. `false`: the content is the last known one, because
    /// the store was not queried or did not respond. If the store did not respond, a problem gives the reason.
    pub verified: bool,
    /// Time at which the store returned the content, if that was not for this response; otherwise null.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub snapshot_at: Option<Timestamp>,
    /// Lines of the group.
    pub lines: Vec<CartLine>,
    /// Price of the lines before discounts.
    pub subtotal_minor: i64,
    /// Total discount on lines, order and shipping.
    pub discount_minor: i64,
    /// Part of the discount that applies to delivery.
    pub delivery_discount_minor: i64,
    /// Price of the selected delivery before discounts, once the store includes it.
    pub delivery_minor: i64,
    /// Other amounts in the store's total, such as taxes; nearly always 0.
    pub other_minor: i64,
    /// Total that the buyer pays, as stated by the store.
    pub total_minor: i64,
    /// All discount codes in the store's list, each with the store's verdict.
    pub discount_codes: Vec<CartCode>,
    /// Discounts that need no code.
    pub automatic_discounts: Vec<CartDiscount>,
    /// Delivery options; empty until there is an address, and if the store does not deliver there.
    pub delivery_options: Vec<CartDelivery>,
    /// Page on which a person checks out with the brand; a problem is listed if it does not open. For responses to
    /// `GET` and to `POST /v1/checkout` the page was checked within the last minutes.
    #[schema(format = "uri")]
    pub checkout_url: String,
    /// Notices for the buyer.
    pub warnings: Vec<CartWarning>,
}

/// Line of a cart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartLine {
    /// Id of the line within the cart.
    pub line_id: String,
    /// UUID of the product.
    #[schema(format = "uuid")]
    pub product_id: String,
    /// The platform's id of the variant.
    pub variant_id: String,
    /// Title of the product at the store.
    pub title: String,
    /// Title of the variant; null for a product's only default variant.
    #[schema(required = true)]
    pub variant_title: Option<String>,
    /// URL of an image.
    #[schema(required = true, format = "uri")]
    pub image: Option<String>,
    /// Quantity in the store's cart; 0 if the item is sold out.
    pub qty: u32,
    /// Requested quantity; 0 for a line that was not requested here. If it is above `qty`, the store has no more. A
    /// quantity that was changed at the store's own page is the requested one from the next change on.
    pub requested_qty: u32,
    /// True for a line that was not requested here: the store added it, or somebody changed the cart at the store. The
    /// line counts like any other line.
    pub added_by_store: bool,
    /// Requested variants that the store has merged into this line. The list is empty if a variant may be in several
    /// lines.
    pub merged: Vec<MergedItem>,
    /// Unit price.
    pub unit_price_minor: i64,
    /// True if the store's price equals the price that was shown for one unit (`price_minor` or `quote` of the item).
    /// A price in another currency does not. Null if no price was shown.
    #[schema(required = true)]
    pub price_held: Option<bool>,
    /// Shown price and the store's price, if they differ.
    #[schema(required = true)]
    pub price_changed: Option<CartPriceChange>,
    /// Price of the whole quantity before discounts.
    pub line_total_minor: i64,
    /// Discounts of this line. Discounts of the whole order are not divided among the lines.
    pub discount_minor: i64,
    /// True if the store sells the item and has put the requested quantity into the cart.
    pub available: bool,
}

/// Requested variant that a store has merged into another line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MergedItem {
    /// The platform's id of the variant.
    pub variant_id: String,
    /// UUID of the product, if known.
    #[schema(required = true, format = "uuid")]
    pub product_id: Option<String>,
    /// Requested quantity of the variant.
    pub qty: u32,
}

/// Difference between the shown price and the store's price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartPriceChange {
    /// Unit price that the caller showed to the buyer.
    pub shown_minor: i64,
    /// ISO 4217 code of the shown price: of the quote, or else of the product's price here. The group's currency is
    /// that of the store's price.
    pub shown_currency: String,
    /// Current unit price at the store: `unit_price_minor`.
    pub now_minor: i64,
}

/// Discount code in a store's list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartCode {
    /// The code as it was entered.
    pub code: String,
    /// True if the store applies the code to this cart.
    pub applicable: bool,
    /// Total discount of the code on lines, order and shipping.
    pub discount_minor: i64,
    /// Reason why the code does not apply; null if it applies.
    #[schema(required = true)]
    pub refusal: Option<CodeRefusal>,
}

/// The store's reason for not applying a code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CodeRefusal {
    /// Reason for which the store does not apply the code.
    pub reason: RefusalReason,
    /// The platform's own code in lowercase, as in warnings; null if the store states no reason.
    #[schema(required = true)]
    pub store_code: Option<String>,
    /// The store's message with the reason.
    #[schema(required = true)]
    pub detail: Option<String>,
}

/// Reasons for not applying a code. The list is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefusalReason {
    /// The store does not know the code.
    UnknownCode,
    /// The code has expired or is not valid yet.
    NotActive,
    /// The code is for goods that are not in the cart.
    NotForTheseItems,
    /// The code is for a kind of delivery that the cart does not have.
    NotForThisDelivery,
    /// The subtotal is too low or too high.
    SubtotalOutOfRange,
    /// The quantity is too low or too high.
    QuantityOutOfRange,
    /// The code has reached its usage limit.
    UsedUp,
    /// The code is only for customers who are signed in.
    SignInNeeded,
    /// The code is not valid for this customer, or not any more.
    NotForThisCustomer,
    /// The code cannot be combined with another discount in the cart.
    NotCombinable,
    /// The store states a different reason.
    Other,
    /// The store states no reason, or several reasons that cannot be assigned to codes.
    NotStated,
}

/// Discount that needs no code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartDiscount {
    /// The store's title of the discount.
    pub title: String,
    /// Amount of the discount.
    pub discount_minor: i64,
}

/// Delivery option of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartDelivery {
    /// Handle by which the option is selected.
    pub handle: String,
    /// The store's title of the option.
    pub title: String,
    /// Price of the option before discounts.
    pub amount_minor: i64,
    /// Minimum number of days, if the title or description states it.
    #[schema(required = true)]
    pub days_min: Option<u32>,
    /// Maximum number of days, if the title or description states it.
    #[schema(required = true)]
    pub days_max: Option<u32>,
    /// True if the option is selected.
    pub selected: bool,
}

/// Notice about a group for the buyer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartWarning {
    /// The platform's code in lowercase (`merchandise_not_enough_stock`, `discount_not_found`, …), or one of this
    /// service's codes: `cart_rebuilt` (the store had forgotten its cart, and the cart was rebuilt), `cart_made_twice`
    /// (it was unclear whether the store had created a cart, so another one was created; the first is abandoned and has
    /// no effect), `signed_out` (the store no longer accepts the customer's sign-in), `changed_at_store`
    /// (a quantity, the codes, the address or the delivery option were changed at the store's own page, and are kept
    /// there), `amounts_differ` (the total
    /// differs from the sum of the listed amounts), `added_by_store` (the line was not requested here), `lines_merged`
    /// (the store has merged several lines into this one), `currency_changed` (the store's currency differs from that
    /// of its catalogue when it was last read), `price_changed` (the store's price of the line has changed since it was
    /// added), `no_delivery_options` (the store lists no delivery option for the cart's address: it does not deliver
    /// there, or shows the options only in its checkout).
    pub code: String,
    /// Human-readable notice; the store's message if the warning is from the store.
    pub detail: String,
    /// Line that the notice is about.
    #[schema(required = true)]
    pub line_id: Option<String>,
}

/// Total of all groups in one currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartTotal {
    /// ISO 4217 code.
    pub currency: String,
    /// Price of the lines before discounts.
    pub subtotal_minor: i64,
    /// Total of the discounts.
    pub discount_minor: i64,
    /// Price of the selected delivery before discounts.
    pub delivery_minor: i64,
    /// Other amounts in the stores' totals.
    pub other_minor: i64,
    /// Total that the buyer pays.
    pub total_minor: i64,
}

/// Requested change that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartProblem {
    /// Slug of the brand that the problem is about.
    #[schema(required = true)]
    pub brand_slug: Option<String>,
    /// Product that the problem is about.
    #[schema(required = true)]
    pub product_id: Option<String>,
    /// Error code: `product_not_found` (the product or variant does not exist, or its store no longer sells it; then
    /// the line is gone from the group), `store_rejected` (the store refuses, and will refuse again),
    /// `store_unavailable`, `store_throttled`, `store_timeout` (no response, and a later attempt may succeed), …
    #[schema(value_type = String)]
    pub code: ErrorCode,
    /// Reason within the code, if repeating the request will not help until the store changes something: `no_api` (the
    /// store does not offer this to this service), `store_closed` (the store shows only a password page, or is
    /// suspended), `checkout_closed` (the store's checkout cannot be opened). Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reason: Option<&'static str>,
    /// Human-readable description of the problem.
    pub detail: String,
}

impl CartProblem {
    /// Sets the reason why repeating the request will not help.
    pub(crate) fn because(self, reason: Option<&'static str>) -> Self {
        Self { reason, ..self }
    }

    /// Creates a problem about a brand.
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
            reason: None,
            detail: detail.into(),
        }
    }
}

/// Sources of a response about a cart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartProvenance {
    /// Engine of the response: always `live`.
    pub engine: &'static str,
}

/// Answer of cart operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CartAnswerDocument<T> {
    /// Result of the operation.
    pub data: T,
    /// Sources of the response.
    pub provenance: CartProvenance,
    /// Time since which the whole response was valid: the oldest `as_of` of its parts.
    #[schema(value_type = String, format = DateTime)]
    pub as_of: Timestamp,
    /// Tier of the response: always `live`.
    pub tier: &'static str,
}

/// Cart in a response, with a name for the API description.
pub type CartDocument = CartAnswerDocument<Cart>;

impl<T> CartAnswerDocument<T> {
    /// Creates a response that was entirely valid at `as_of`.
    pub(crate) const fn new(data: T, as_of: Timestamp) -> Self {
        Self {
            data,
            provenance: CartProvenance { engine: "live" },
            as_of,
            tier: "live",
        }
    }
}

/// Cart after the search for codes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OptimizedCart {
    /// Cart after the search.
    #[serde(flatten)]
    pub cart: Cart,
    /// Results of the search, by brand.
    pub optimized: Vec<OptimizedGroup>,
    /// Savings by currency.
    pub saved: Vec<Saving>,
}

/// Result of the search for codes at one store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OptimizedGroup {
    /// Slug of the brand.
    pub brand_slug: String,
    /// Total of the group before the search.
    pub total_before_minor: i64,
    /// Amount saved; 0 if no better codes were found and the group is unchanged.
    pub saved_minor: i64,
    /// Codes in the group after the search.
    pub codes: Vec<String>,
    /// Number of codes that were tried.
    #[schema(value_type = u32)]
    pub tested: usize,
    /// Number of codes that were not tried because the time or the number of calls was used up.
    #[schema(value_type = u32)]
    pub untested: usize,
    /// Reason why the search ended early: `budget`, `throttled`, `store`, `changed`; null if it did not end early.
    #[schema(required = true)]
    pub stopped_by: Option<&'static str>,
}

/// Amount saved in one currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Saving {
    /// ISO 4217 code.
    pub currency: String,
    /// Amount saved, in minor units.
    pub saved_minor: i64,
}

/// Item to add to a cart.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct ItemBody {
    /// Id or uid of the product.
    pub product_id: String,
    /// The platform's id of the variant. Without it, the first variant that can be bought is used.
    #[schema(required = false)]
    pub variant_id: Option<String>,
    /// Quantity to add.
    #[schema(minimum = 1, maximum = 999)]
    pub qty: u32,
    /// Unit price shown to the buyer, in minor units of the product's currency. The line reports whether this price still
    /// holds, also at later reads.
    #[schema(required = false, minimum = 0)]
    pub price_minor: Option<i64>,
    /// Signed quote of the variant's price, used instead of `price_minor`. The quote must come from this server, from a
    /// live price that was requested with `quote`. Without `variant_id`, the item is the first variant of the quote
    /// that can be bought. An expired quote is still compared, and its line has the warning `quote_expired`.
    #[schema(required = false)]
    pub quote: Option<String>,
}

/// Body of `POST /v1/cart`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct CreateBody {
    /// Items of the new cart; may be empty.
    #[schema(max_items = 100)]
    pub items: Vec<ItemBody>,
    /// E-mail address of the buyer, which is sent to the stores.
    #[schema(required = false, format = Email)]
    pub email: Option<String>,
}

/// Body of `POST /v1/cart/{cart_id}/lines`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct LinesBody {
    /// Items to add, or to replace the cart's items with.
    #[schema(min_items = 1, max_items = 100)]
    pub items: Vec<ItemBody>,
}

/// Body of `PATCH /v1/cart/{cart_id}/lines/{line_id}`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct LineBody {
    /// New quantity of the line.
    #[schema(minimum = 1, maximum = 999)]
    pub qty: u32,
}

/// Body of `POST /v1/cart/{cart_id}/discount`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct DiscountBody {
    /// Discount code.
    #[schema(min_length = 1, max_length = 64)]
    pub code: String,
    /// Slug of the brand at whose store the code is added. Without it, the code is added at all stores of the cart.
    #[schema(required = false)]
    pub brand: Option<String>,
}

/// Body of `POST /v1/cart/{cart_id}/address`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct AddressBody {
    /// Postal code. In India it has six digits, and the first is not 0; spaces are ignored.
    #[schema(required = false, max_length = 16)]
    pub zip: Option<String>,
    /// Two-letter country code (ISO 3166-1).
    #[schema(required = false, pattern = "^[A-Za-z]{2}$")]
    pub country: Option<String>,
    /// Code of the state or province, for example `KA`. In India the name is accepted too. If none is given there, the
    /// state of the pincode is sent.
    #[schema(required = false, max_length = 64)]
    pub province: Option<String>,
    /// City of the address.
    #[schema(required = false, max_length = 100)]
    pub city: Option<String>,
}

/// Body of `POST /v1/cart/{cart_id}/delivery`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct DeliveryBody {
    /// Slug of the brand.
    pub brand: String,
    /// Handle of one of the brand's delivery options.
    pub handle: String,
}
