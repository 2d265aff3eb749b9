use std::collections::HashMap;

use data_model::{CurrencyCode, VariantId};
use serde::Deserialize;
use storefront::{GraphqlAnswer, GraphqlErrorKind};

use super::arithmetic::{AppliedDiscount, By, LineDiscounts, Parts, automatic, by_code, parts};
use super::wire;
use super::{
    CartAddress, CartAnswer, CartAttribute, CartFault, DiscountKind, Refusal, StoreCart, StoreDelivery, StoreLine,
    StoreOption, StoreWarning,
};
use crate::hidden::SecretText;
use crate::rules::money::from_decimal;
use crate::rules::reason::Nonsense;

/// Maximum length of a store's message in characters.
const WORDS_CHARS_MAX: usize = 300;
/// Largest accepted amount of a cart, in minor units. The sum of all amounts in a response then fits into 64 bits.
const AMOUNT_MINOR_MAX: i64 = 10_000_000_000_000;
/// Maximum number of lines in a cart, and of discounts of a line or cart.
const ITEMS_MAX: usize = 250;
/// Maximum quantity of one line on the platform.
const PIECES_MAX: u32 = 1_000_000;
/// Title of the only variant of a product without options.
const DEFAULT_TITLE: &str = "Default Title";

/// Codes of the platform's `CartErrorCode` that report a failure of the store instead of an invalid call: the cart
/// could not be saved, a function of the store failed, or delivery is still being calculated. The outcome of such a
/// call is unknown. All other codes are final.
pub(crate) const PASSING: [&str; 3] = [
    "SERVICE_UNAVAILABLE",
    "MERCHANDISE_LINE_TRANSFORMERS_RUN_ERROR",
    "PENDING_DELIVERY_GROUPS",
];

/// Parses the response to a mutation whose name is `field` (`cartLinesAdd`).
pub(crate) fn read_mutation(answer: &GraphqlAnswer, field: &str) -> Result<CartAnswer, CartFault> {
    let payload: wire::Payload = payload(answer, field)?.ok_or_else(|| refused(answer))?;
    let mut codes = payload.user_errors.iter().filter_map(|error| error.code.as_deref());
    if codes.any(|code| PASSING.contains(&code)) {
        return Err(CartFault::Refused(GraphqlErrorKind::Failure));
    }
    if payload.cart.is_none() && payload.user_errors.is_empty() {
        return Err(CartFault::Unreadable(Nonsense::Form("no cart and no error".to_owned())));
    }
    let refusals = payload.user_errors.into_iter().map(refusal).collect();
    let cart = payload.cart.map(|cart| cart_of(cart, payload.warnings)).transpose()?;
    Ok(CartAnswer {
        cart,
        refusals,
        is_open: answer.is_open,
    })
}

/// Parses the response to `CartRead`. Returns `None` if the cart no longer exists.
pub(crate) fn read_cart(answer: &GraphqlAnswer) -> Result<Option<StoreCart>, CartFault> {
    let cart: Option<wire::Cart> = payload(answer, "cart")?;
    match cart {
        Some(cart) => Ok(Some(cart_of(cart, Vec::new())?)),
        None if answer.errors.is_empty() => Ok(None),
        None => Err(refused(answer)),
    }
}

/// Returns the value of `field`; `None` if it is null.
fn payload<T: for<'d> Deserialize<'d>>(answer: &GraphqlAnswer, field: &str) -> Result<Option<T>, CartFault> {
    let Some(data) = &answer.data else {
        return Err(refused(answer));
    };
    let form = |error: serde_json::Error| CartFault::Unreadable(Nonsense::Form(error.to_string()));
    let mut data: HashMap<String, Option<T>> = serde_json::from_str(data.get()).map_err(form)?;
    let missing = || CartFault::Unreadable(Nonsense::Form(format!("no {field}")));
    data.remove(field).ok_or_else(missing)
}

fn refused(answer: &GraphqlAnswer) -> CartFault {
    CartFault::Refused(answer.error_kind())
}

fn refusal(error: wire::UserError) -> Refusal {
    Refusal {
        code: error.code,
        field: error.field.unwrap_or_default(),
        message: words(&error.message),
    }
}

/// Returns a store's message as one line of limited length.
pub(crate) fn words(text: &str) -> String {
    let clean = text.chars().map(|char| if char.is_control() { ' ' } else { char });
    clean.take(WORDS_CHARS_MAX).collect()
}

fn cart_of(cart: wire::Cart, warnings: Vec<wire::Warning>) -> Result<StoreCart, Nonsense> {
    let code = &cart.cost.total_amount.currency_code;
    let currency: CurrencyCode = code
        .parse()
        .map_err(|_| Nonsense::Form(format!("currency {}", words(code))))?;
    let amount = |amount: &wire::Amount| minor(amount, currency);
    let total_minor = amount(&cart.cost.total_amount)?;
    if cart.lines.nodes.len() > ITEMS_MAX || cart.delivery_groups.nodes.len() > ITEMS_MAX {
        return Err(Nonsense::Form(
            "the cart has more lines than a cart can have".to_owned(),
        ));
    }
    let mut lines = Vec::with_capacity(cart.lines.nodes.len());
    let mut taken_of_lines = Vec::with_capacity(cart.lines.nodes.len());
    for line in cart.lines.nodes {
        taken_of_lines.push(LineDiscounts {
            subtotal_minor: amount(&line.cost.subtotal_amount)?,
            total_minor: amount(&line.cost.total_amount)?,
            taken: taken(&line.discount_allocations, currency)?,
        });
        lines.push(line_of(line, currency)?);
    }
    let of_cart = taken(&cart.discount_allocations, currency)?;
    let groups = cart.delivery_groups.nodes;
    let chosen = groups
        .iter()
        .filter_map(|group| group.selected_delivery_option.as_ref());
    let delivery_minor: i64 = chosen
        .map(|option| amount(&option.estimated_cost))
        .sum::<Result<_, _>>()?;
    let parts = parts(&taken_of_lines, &of_cart, delivery_minor, total_minor);
    check_discounts(&taken_of_lines, &parts)?;
    let deliveries = groups.into_iter().map(|group| delivery(group, currency));
    let warnings = warnings.into_iter().map(|one| warning(one, &lines)).collect();
    Ok(StoreCart {
        id: SecretText::new(cart.id),
        checkout_url: checkout_url(cart.checkout_url)?,
        currency,
        subtotal_minor: parts.subtotal_minor,
        discounts: parts.discounts,
        delivery_minor: parts.delivery_minor,
        other_minor: parts.other_minor,
        total_minor,
        codes: by_code(cart.discount_codes, &taken_of_lines, &of_cart),
        automatic: automatic(&taken_of_lines, &of_cart),
        deliveries: deliveries.collect::<Result<_, _>>()?,
        attributes: cart
            .attributes
            .into_iter()
            .map(|one| CartAttribute {
                key: one.key,
                value: one.value.unwrap_or_default(),
            })
            .collect(),
        address: cart
            .delivery
            .addresses
            .into_iter()
            .find(|one| one.selected)
            .and_then(|one| address(one.address)),
        warnings,
        lines,
    })
}

fn check_discounts(lines: &[LineDiscounts], parts: &Parts) -> Result<(), Nonsense> {
    let fault = if lines.iter().any(|line| line.total_minor > line.subtotal_minor) {
        "a line costs more after its discounts than before"
    } else if parts.discounts.line_minor + parts.discounts.order_minor > parts.subtotal_minor {
        "the discounts are larger than the prices of the goods"
    } else {
        return Ok(());
    };
    Err(Nonsense::Form(fault.to_owned()))
}

fn minor(amount: &wire::Amount, currency: CurrencyCode) -> Result<i64, Nonsense> {
    if amount.currency_code != currency.as_str() {
        let answered = words(&amount.currency_code);
        return Err(Nonsense::Currency {
            answered,
            stored: currency,
        });
    }
    let minor = from_decimal(&amount.amount, currency)?;
    if minor > AMOUNT_MINOR_MAX {
        return Err(Nonsense::Amount(format!(
            "the amount {minor} {currency} of a cart is too large"
        )));
    }
    Ok(minor)
}

fn taken(allocations: &[wire::Allocation], currency: CurrencyCode) -> Result<Vec<AppliedDiscount>, Nonsense> {
    let one = |allocation: &wire::Allocation| {
        let by = match (&allocation.code, &allocation.title) {
            (Some(code), _) => By::Code(words(code)),
            (None, title) => By::Title(words(title.as_deref().unwrap_or_default())),
        };
        let value = allocation
            .discount_application
            .as_ref()
            .and_then(|application| application.value.as_ref());
        let stated = value.and_then(|value| match (&value.percentage, &value.amount) {
            (Some(_), None) => Some(DiscountKind::Percentage),
            (None, Some(_)) => Some(DiscountKind::Amount),
            _ => None,
        });
        Ok(AppliedDiscount {
            by,
            stated,
            is_shipping: allocation.target_type == "SHIPPING_LINE",
            minor: minor(&allocation.discounted_amount, currency)?,
        })
    };
    if allocations.len() > ITEMS_MAX {
        return Err(Nonsense::Form(
            "the cart has more discounts than a cart can have".to_owned(),
        ));
    }
    allocations.iter().map(one).collect()
}

fn line_of(line: wire::Line, currency: CurrencyCode) -> Result<StoreLine, Nonsense> {
    let merchandise = line.merchandise;
    let number = |gid: &str, kind: &str| {
        let number = gid
            .strip_prefix("gid://shopify/")
            .and_then(|rest| rest.strip_prefix(kind));
        let number = number
            .and_then(|rest| rest.strip_prefix('/'))
            .and_then(|number| number.parse::<u64>().ok());
        number.ok_or_else(|| Nonsense::Form(format!("not an id of a {kind}")))
    };
    if line.quantity > PIECES_MAX {
        return Err(Nonsense::Form(
            "a line has a larger quantity than a line can have".to_owned(),
        ));
    }
    let subtotal_minor = minor(&line.cost.subtotal_amount, currency)?;
    let image = merchandise
        .image
        .or(merchandise.product.featured_image)
        .map(|image| image.url);
    Ok(StoreLine {
        id: SecretText::new(line.id),
        variant: VariantId(number(&merchandise.id, "ProductVariant")?),
        product: number(&merchandise.product.id, "Product")?,
        title: words(&merchandise.product.title),
        variant_title: Some(words(&merchandise.title))
            .filter(|title| title != DEFAULT_TITLE)
            .unwrap_or_default(),
        image: image.filter(|url| url.starts_with("https://") || url.starts_with("http://")),
        quantity: line.quantity,
        has_attributes: !line.attributes.is_empty(),
        unit_price_minor: minor(&line.cost.amount_per_quantity, currency)?,
        subtotal_minor,
        discount_minor: subtotal_minor - minor(&line.cost.total_amount, currency)?,
        available: merchandise.available_for_sale,
    })
}

fn address(address: wire::DeliveryAddress) -> Option<CartAddress> {
    Some(CartAddress {
        country: address.country_code?,
        province: address.province_code,
        city: address.city,
        zip: address.zip,
    })
}

fn delivery(group: wire::DeliveryGroup, currency: CurrencyCode) -> Result<StoreDelivery, Nonsense> {
    let option = |option: wire::DeliveryOption| {
        let code = option.code.map(|code| words(&code));
        let title = option.title.or(code.clone()).unwrap_or_default();
        Ok(StoreOption {
            handle: option.handle,
            code,
            title: words(&title),
            description: option
                .description
                .map(|text| words(&text))
                .filter(|text| !text.trim().is_empty()),
            amount_minor: minor(&option.estimated_cost, currency)?,
        })
    };
    Ok(StoreDelivery {
        id: SecretText::new(group.id),
        selected: group.selected_delivery_option.map(|option| option.handle),
        options: group
            .delivery_options
            .into_iter()
            .map(option)
            .collect::<Result<_, _>>()?,
    })
}

/// Checks that the store's checkout link leads to a page over TLS. Links to this machine may lack TLS.
fn checkout_url(text: String) -> Result<SecretText, Nonsense> {
    let is_link = url::Url::parse(&text).is_ok_and(|url| matches!(url.scheme(), "https" | "http") && url.has_host());
    if is_link {
        Ok(SecretText::new(text))
    } else {
        Err(Nonsense::Form("the checkout link is not a URL".to_owned()))
    }
}

/// Converts a warning, which is about a line if its target is that line's id. Such ids contain the cart's id, so they
/// are not stored.
fn warning(warning: wire::Warning, lines: &[StoreLine]) -> StoreWarning {
    let line = lines.iter().find(|line| line.id.expose() == warning.target);
    StoreWarning {
        code: words(&warning.code),
        message: words(&warning.message),
        variant: line.map(|line| line.variant),
    }
}
