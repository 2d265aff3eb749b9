use std::borrow::Cow;

use data_model::{CouponKind, CouponSource, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

/// Discount code that worked at the product's store when it was tested. The store may have ended it since, so it may no
/// longer work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Discount<'a> {
    /// Code that the buyer enters.
    pub code: Cow<'a, str>,
    /// Always `true`: the store accepted the code at `tested_at`. Codes that did not apply are not listed.
    pub applicable: bool,
    /// Kind of discount.
    #[schema(schema_with = kinds)]
    pub kind: CouponKind,
    /// Discount as a whole percentage of the price; null if it is not a percentage.
    #[schema(required = true)]
    pub percent: Option<u8>,
    /// Amount of the discount in the test, in minor units; null for a percentage, or if the test showed no amount.
    #[schema(required = true)]
    pub discount_minor: Option<i64>,
    /// Currency code of all amounts (ISO 4217).
    pub currency: Cow<'a, str>,
    /// Known condition under which the code worked.
    pub condition: DiscountCondition,
    /// Goods on which the code was tested.
    pub basis: DiscountBasis,
    /// Origin of the code.
    #[schema(schema_with = sources)]
    pub source: CouponSource,
    /// Time of the test at the store, at most 30 days ago.
    #[schema(value_type = String, format = DateTime)]
    pub tested_at: Timestamp,
}

/// Condition under which a code worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiscountCondition {
    /// Minimum value of the goods, in minor units. Null, because stores do not state the minimum of a code that works;
    /// `tested_subtotal_minor` is an upper bound.
    #[schema(required = true)]
    pub min_subtotal_minor: Option<i64>,
    /// Price of the single item in the test, in minor units. A cart of this value meets the minimum, even if the
    /// minimum is unknown.
    pub tested_subtotal_minor: i64,
}

/// Goods on which a code was tested, closest to the product first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiscountBasis {
    /// The code was tested on this product.
    ThisProduct,
    /// The code was tested on another product of the store in the same category.
    ThisCategory,
    /// A product of the store in another or an unknown category.
    ThisStore,
}

fn kinds() -> Schema {
    let names = CouponKind::ALL.map(CouponKind::as_str);
    let about =
        "The kind of discount, as the store states it or as its amounts show. `unknown` if neither is conclusive.";
    one_of(&names, about)
}

fn sources() -> Schema {
    let about = "The origin of the code: the code worked in a cart of this store before, and no other source states \
                 it now; the code is stated on the store's front page, in one of its policies, or in a product's own \
                 description; many stores use the code; or the code is formed from the brand's name.";
    one_of(&CouponSource::NAMES, about)
}

fn one_of(words: &[&str], about: &str) -> Schema {
    let text = ObjectBuilder::new().schema_type(Type::String).description(Some(about));
    Schema::Object(text.enum_values(Some(words.iter().copied())).build())
}
