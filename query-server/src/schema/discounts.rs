use std::borrow::Cow;

use data_model::{CouponKind, CouponSource, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

/// A code that worked at the product's store when it was tested. The store may have ended it since: nothing is promised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Discount<'a> {
    /// The code that the buyer enters.
    pub code: Cow<'a, str>,
    /// Always `true`: the store's own word at `tested_at`. Codes that did not apply are not listed.
    pub applicable: bool,
    /// The sort of discount.
    #[schema(schema_with = kinds)]
    pub kind: CouponKind,
    /// The share of the price that it takes off, in whole percent; null where it is no percentage.
    #[schema(required = true)]
    pub percent: Option<u8>,
    /// The amount that it took off in the test, in minor units; null for a percentage, and where nothing showed.
    #[schema(required = true)]
    pub discount_minor: Option<i64>,
    /// ISO 4217 code of all amounts.
    pub currency: Cow<'a, str>,
    /// The condition under which it worked, as far as it is known.
    pub condition: DiscountCondition,
    /// The goods that it was tested on.
    pub basis: DiscountBasis,
    /// The origin of the code.
    #[schema(schema_with = sources)]
    pub source: CouponSource,
    /// When the store was asked; at most 30 days ago.
    #[schema(value_type = String, format = DateTime)]
    pub tested_at: Timestamp,
}

/// The condition under which a code worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiscountCondition {
    /// The least that goods must cost, in minor units; null where the store did not state it.
    #[schema(required = true)]
    pub min_subtotal_minor: Option<i64>,
    /// The price of the one item at which it worked, in minor units: enough, whatever the least is.
    pub tested_subtotal_minor: i64,
}

/// The goods that a code was tested on, the nearest to the product first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiscountBasis {
    /// This product.
    ThisProduct,
    /// Another product of the store in the same category.
    ThisCategory,
    /// A product of the store in another category, or in one that is not known.
    ThisStore,
}

fn kinds() -> Schema {
    let names = CouponKind::ALL.map(CouponKind::as_str);
    let about =
        "The sort of discount, as the store states it or as its arithmetic tells; `unknown` where neither does.";
    one_of(&names, about)
}

fn sources() -> Schema {
    let about = "The origin of the code: it applied to a cart of this store before, and nothing else tells of it now; the \
                 store's front page, one of its policies, or a product's own description states it; many stores have it; \
                 or it is made of the brand's name.";
    one_of(&CouponSource::NAMES, about)
}

fn one_of(words: &[&str], about: &str) -> Schema {
    let text = ObjectBuilder::new().schema_type(Type::String).description(Some(about));
    Schema::Object(text.enum_values(Some(words.iter().copied())).build())
}
