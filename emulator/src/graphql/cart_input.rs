//! Readers of the inputs of cart mutations.

use apollo_compiler::response::JsonValue;

use super::args::Args;
use super::gid;
use super::view::View;
use crate::cart::{AddressChange, AddressInput, Attribute, BuyerInput, LineChange, LineInput, Place};
use crate::shop::lock;

fn owned(text: &JsonValue) -> Option<String> {
    text.as_str().map(str::to_owned)
}

pub(super) fn texts(args: Args<'_>, name: &str) -> Vec<String> {
    args.list(name).iter().filter_map(owned).collect()
}

fn objects<'a>(args: Args<'a>, name: &str) -> impl Iterator<Item = Args<'a>> + use<'a> {
    args.list(name).iter().filter_map(Args::in_object)
}

pub(super) fn object<'a>(args: Args<'a>, name: &str) -> Option<Args<'a>> {
    args.get(name).and_then(Args::in_object)
}

pub(super) fn attributes(args: Args<'_>) -> Vec<Attribute> {
    let attribute = |given: Args<'_>| {
        Some(Attribute {
            key: given.text("key")?.to_owned(),
            value: given.text("value")?.to_owned(),
        })
    };
    objects(args, "attributes").filter_map(attribute).collect()
}

fn given_attributes(args: Args<'_>) -> Option<Vec<Attribute>> {
    args.get("attributes").map(|_| attributes(args))
}

fn variant(id: &str) -> Option<u64> {
    match gid::parse(id)? {
        ("ProductVariant", number) => number,
        _ => None,
    }
}

pub(super) fn lines(args: Args<'_>) -> Vec<LineInput> {
    objects(args, "lines")
        .map(|line| {
            let merchandise = line.text("merchandiseId").unwrap_or_default();
            LineInput {
                variant: variant(merchandise),
                merchandise: merchandise.to_owned(),
                quantity: line.number("quantity").unwrap_or(1),
                attributes: attributes(line),
                selling_plan: line.get("sellingPlanId").is_some(),
            }
        })
        .collect()
}

/// Returns the identifier in a line's id: `gid://shopify/CartLine/{this}?cart=…`.
pub(super) fn line_id(id: &str) -> String {
    let bare = id.strip_prefix("gid://shopify/CartLine/").unwrap_or(id);
    bare.split('?').next().unwrap_or_default().to_owned()
}

pub(super) fn line_changes(args: Args<'_>) -> Vec<LineChange> {
    objects(args, "lines")
        .map(|line| LineChange {
            id: line_id(line.text("id").unwrap_or_default()),
            merchandise: line.text("merchandiseId").map(|id| (id.to_owned(), variant(id))),
            quantity: line.number("quantity"),
            attributes: given_attributes(line),
            selling_plan: line.get("sellingPlanId").is_some(),
        })
        .collect()
}

fn place(address: Args<'_>) -> Option<Place> {
    let given = object(address, "deliveryAddress")?;
    let part = |name: &str| {
        given
            .text(name)
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty())
    };
    Some(Place {
        first_name: part("firstName"),
        last_name: part("lastName"),
        company: part("company"),
        address1: part("address1"),
        address2: part("address2"),
        city: part("city"),
        province: part("provinceCode").map(|code| code.to_uppercase()),
        country: part("countryCode"),
        zip: part("zip"),
        phone: part("phone"),
    })
}

fn is_strict(address: Args<'_>) -> bool {
    address.text("validationStrategy") == Some("STRICT")
}

pub(super) fn addresses(args: Args<'_>) -> Vec<AddressInput> {
    objects(args, "addresses")
        .map(|address| AddressInput {
            place: object(address, "address").and_then(place),
            is_selected: address.flag("selected").unwrap_or(false),
            is_for_once: address.flag("oneTimeUse").unwrap_or(false),
            is_strict: is_strict(address),
        })
        .collect()
}

pub(super) fn address_changes(args: Args<'_>) -> Vec<AddressChange> {
    objects(args, "addresses")
        .map(|address| AddressChange {
            id: address.text("id").unwrap_or_default().to_owned(),
            place: object(address, "address").and_then(place),
            is_selected: address.flag("selected"),
            is_for_once: address.flag("oneTimeUse"),
            is_strict: is_strict(address),
        })
        .collect()
}

/// Reads the buyer. A customer token is looked up among the store's customers.
pub(super) fn buyer(view: &View<'_>, args: Args<'_>) -> BuyerInput {
    let text = |name: &str| args.text(name).map(str::to_owned);
    let customer = args.text("customerAccessToken").map(|token| {
        let customers = lock(&view.shop.customers);
        let known = customers.of_token(token, view.shop.clock.now());
        known.map(|customer| (customer.id, customer.email.clone())).ok_or(())
    });
    BuyerInput {
        country: text("countryCode"),
        email: text("email"),
        phone: text("phone"),
        customer,
    }
}
