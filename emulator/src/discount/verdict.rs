use serde::Serialize;

/// A store's verdict on one code for one basket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiscountVerdict {
    /// The code as it was entered.
    pub code: String,
    /// True where it applies.
    pub applicable: bool,
    /// The reduction, in minor units of the store's currency. A code of the delivery takes nothing off before one is
    /// chosen.
    pub discount_minor: u64,
    /// The reason why it does not apply.
    pub refusal: Option<DiscountRefusal>,
}

/// The reason why a code does not apply to a basket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DiscountRefusal {
    /// The store has no such code.
    NotFound,
    /// It has ended, or not begun.
    CurrentlyInactive,
    /// No line of the cart is one that it is for.
    NoEntitledLineItems,
    /// No line of the cart is delivered.
    NoEntitledShippingLines,
    /// The cart costs too little.
    PurchaseNotInRange,
    /// The cart holds too few pieces.
    QuantityNotInRange,
    /// It was used as often as it may be.
    UsageLimitReached,
    /// The buyer is not logged in.
    EligibleCustomerMissing,
    /// It would apply, but the cart is empty, or another takes off more and does not go with it.
    CodeNotHonoured,
}

impl DiscountRefusal {
    /// The platform's code for it, as warnings carry it (`CartWarningCode`).
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

    /// The message for the buyer; the words are the platform's where recordings have them.
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

/// Pieces of a variant in a basket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BasketLine {
    /// The variant's id.
    pub variant: u64,
    /// Pieces.
    pub quantity: u64,
}

/// The true facts of a basket: its price at the store, and the effect of each code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BasketTruth {
    /// The price of the lines without any discount, in minor units.
    pub list_minor: u64,
    /// `cost.subtotalAmount`: after discounts of lines, before those of the order.
    pub subtotal_minor: u64,
    /// `cost.totalAmount`: after all discounts, without delivery.
    pub total_minor: u64,
    /// One verdict a code, in the order asked.
    pub codes: Vec<DiscountVerdict>,
}
