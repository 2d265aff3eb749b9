use serde::Serialize;

/// A store's verdict on one code for one basket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiscountVerdict {
    /// The code as it was entered.
    pub code: String,
    /// True if the code applies.
    pub applicable: bool,
    /// Reduction in minor units of the store's currency. A delivery code takes nothing off before a delivery is
    /// selected.
    pub discount_minor: u64,
    /// Reason why the code does not apply.
    pub refusal: Option<DiscountRefusal>,
}

/// The reasons why a code does not apply to a basket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DiscountRefusal {
    /// The store has no such code.
    NotFound,
    /// The code has ended or has not started.
    CurrentlyInactive,
    /// No line of the cart is entitled to the discount.
    NoEntitledLineItems,
    /// No line of the cart is delivered.
    NoEntitledShippingLines,
    /// The cart's value is below the minimum.
    PurchaseNotInRange,
    /// The cart's quantity is below the minimum.
    QuantityNotInRange,
    /// The code's usage limit is reached.
    UsageLimitReached,
    /// The buyer is not logged in.
    EligibleCustomerMissing,
    /// The code is valid, but the cart is empty, or another discount takes off more and cannot be combined with it.
    CodeNotHonoured,
}

impl DiscountRefusal {
    /// Returns the platform's warning code (`CartWarningCode`).
    pub(crate) fn warning(self) -> &'static str {
        match self {
            Self::NotFound => "DISCOUNT_NOT_FOUND",
            Self::CurrentlyInactive => "DISCOUNT_CURRENTLY_INACTIVE",
            Self::NoEntitledLineItems => "DISCOUNT_NO_ENTITLED_LINE_ITEMS",
            Self::NoEntitledShippingLines => "DISCOUNT_NO_ENTITLED_SHIPPING_LINES",
            Self::PurchaseNotInRange => "DISCOUNT_PURCHASE_NOT_IN_RANGE",
            Self::QuantityNotInRange => "DISCOUNT_QUANTITY_NOT_IN_RANGE",
            Self::UsageLimitReached => "DISCOUNT_USAGE_LIMIT_REACHED",
            Self::EligibleCustomerMissing => "DISCOUNT_ELIGIBLE_CUSTOMER_MISSING",
            Self::CodeNotHonoured => "DISCOUNT_CODE_NOT_HONOURED",
        }
    }

    /// Returns the message to the buyer, in the platform's words if recordings have them.
    pub(crate) fn message(self, code: &str) -> String {
        match self {
            Self::NotFound => "Enter a valid discount code".to_owned(),
            Self::CurrentlyInactive => "This discount is not valid anymore".to_owned(),
            Self::UsageLimitReached => format!("The {code} discount code has reached its usage limit"),
            Self::EligibleCustomerMissing => format!("The {code} discount code is not available to you right now"),
            Self::CodeNotHonoured => format!("The {code} discount code is not honoured"),
            _ => format!("The {code} discount code is not valid for the items in your cart"),
        }
    }
}

/// A quantity of one variant in a basket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BasketLine {
    /// Id of the variant in the basket.
    pub variant: u64,
    /// Number of units.
    pub quantity: u64,
}

/// The true price of a basket at the store, and the effect of each code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BasketTruth {
    /// Price of the lines without any discount, in minor units.
    pub list_minor: u64,
    /// `cost.subtotalAmount`: price after product discounts and before order discounts.
    pub subtotal_minor: u64,
    /// `cost.totalAmount`: price after all discounts, without delivery.
    pub total_minor: u64,
    /// One verdict for each code, in the order requested.
    pub codes: Vec<DiscountVerdict>,
}
