use std::rc::Rc;

use apollo_compiler::resolvers::{FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use serde_json::Value;

use super::args::Args;
use super::cart_input as input;
use super::cart_node::{CartNode, CartView};
use super::cart_value::{self as value, Coinage};
use super::customer;
use super::fixed::fixed;
use super::view::View;
use crate::cart::{Cart, CartRefusal, Notice, Refusal};
use crate::cart_service::{Bill, CartAccess, CartOutcome, CartService, group_id};

/// Resolver for the mutations of a store.
pub(super) struct Mutation<'v> {
    view: &'v View<'v>,
}

pub(super) fn service<'v>(view: &'v View<'v>) -> CartService<'v> {
    CartService::new(view.shop, view.lie)
}

/// Returns a cart as shown in this request.
pub(super) fn shown(view: &View<'_>, service: &CartService<'_>, cart: Cart, bill: Bill, has_key: bool) -> CartView {
    CartView {
        cart,
        bill,
        rules: service.rules().to_vec(),
        coins: Coinage {
            currency: view.currency().to_owned(),
            exponent: service.offers.exponent(),
        },
        has_key,
    }
}

/// Returns token and key in a cart's id: `gid://shopify/Cart/{token}?key={key}`.
pub(super) fn token_and_key(id: &str) -> Option<(&str, Option<&str>)> {
    let rest = id.strip_prefix("gid://shopify/Cart/")?;
    let (token, query) = rest.split_once('?').unwrap_or((rest, ""));
    let key = query.split('&').find_map(|pair| pair.strip_prefix("key="));
    Some((token, key))
}

type MutationResult = Result<Vec<Notice>, CartRefusal>;

impl<'v> Mutation<'v> {
    pub(super) fn new(view: &'v View<'v>) -> Self {
        Self { view }
    }

    fn payload(&self, service: &CartService<'v>, served: CartOutcome, info: &ResolveInfo<'_>) -> ResolvedValue<'v> {
        let CartOutcome { cart, errors, notices } = served;
        let warnings = value::warnings(cart.as_ref().map(|(cart, _)| cart), &notices);
        let cart = cart.map(|(cart, bill)| Rc::new(shown(self.view, service, cart, bill, true)));
        ResolvedValue::object(Payload {
            view: self.view,
            kind: info.field_definition().ty.inner_named_type().to_string(),
            cart,
            errors: value::refusals(&errors),
            warnings,
        })
    }

    fn create(&self, info: &ResolveInfo<'_>) -> ResolvedValue<'v> {
        let service = service(self.view);
        let given = input::object(Args::of(info), "input");
        let served = service.create(Some(self.view.country()), |cart, service| match given {
            Some(given) => self.fill(cart, service, given),
            None => Ok(Vec::new()),
        });
        self.payload(&service, served, info)
    }

    /// Applies the input of a cart creation to a new cart.
    fn fill(&self, cart: &mut Cart, service: &CartService<'_>, given: Args<'_>) -> MutationResult {
        cart.set_note(given.text("note").unwrap_or_default(), &["input", "note"])?;
        cart.set_attributes(input::attributes(given), &["input", "attributes"])?;
        let buyer = input::object(given, "buyerIdentity");
        if let Some(buyer) = buyer {
            let refused = cart.set_buyer(input::buyer(self.view, buyer), &["input", "buyerIdentity"]);
            // There is no cart yet that the response could show.
            refused.map_err(|refused| CartRefusal {
                shows_cart: false,
                ..refused
            })?;
        }
        let short = cart.add_lines(&input::lines(given), &["input", "lines"], &service.offers)?;
        cart.set_codes(input::texts(given, "discountCodes"));
        if let Some(delivery) = input::object(given, "delivery") {
            let added = cart.add_addresses(input::addresses(delivery), &["input", "delivery", "addresses"]);
            added.map_err(|refused| CartRefusal {
                shows_cart: false,
                ..refused
            })?;
        }
        Ok(short)
    }

    fn change(
        &self,
        info: &ResolveInfo<'_>,
        change: impl FnOnce(&mut Cart, &CartService<'_>, Args<'_>) -> MutationResult,
    ) -> ResolvedValue<'v> {
        let service = service(self.view);
        let args = Args::of(info);
        let known = token_and_key(args.text("cartId").unwrap_or_default());
        let known = known.and_then(|(token, key)| Some(CartAccess { token, key: key? }));
        let served = service.change(known, |cart, service| change(cart, service, args));
        self.payload(&service, served, info)
    }

    fn of_cart(&self, name: &str, info: &ResolveInfo<'_>) -> Option<ResolvedValue<'v>> {
        let silent = |done: Result<(), CartRefusal>| done.map(|()| Vec::new());
        Some(match name {
            "cartCreate" => self.create(info),
            "cartLinesAdd" => self.change(info, |cart, service, args| {
                cart.add_lines(&input::lines(args), &["lines"], &service.offers)
            }),
            "cartLinesUpdate" => self.change(info, |cart, service, args| {
                cart.change_lines(&input::line_changes(args), &service.offers)
            }),
            "cartLinesRemove" => self.change(info, |cart, _, args| {
                let ids: Vec<String> = input::texts(args, "lineIds")
                    .iter()
                    .map(|id| input::line_id(id))
                    .collect();
                silent(cart.remove_lines(&ids))
            }),
            "cartDiscountCodesUpdate" => self.change(info, |cart, _, args| {
                cart.set_codes(input::texts(args, "discountCodes"));
                Ok(Vec::new())
            }),
            "cartBuyerIdentityUpdate" => self.change(info, |cart, _, args| {
                let buyer = input::object(args, "buyerIdentity").map(|buyer| input::buyer(self.view, buyer));
                silent(cart.set_buyer(buyer.unwrap_or_default(), &["buyerIdentity"]))
            }),
            "cartAttributesUpdate" => self.change(info, |cart, _, args| {
                silent(cart.set_attributes(input::attributes(args), &["attributes"]))
            }),
            "cartNoteUpdate" => self.change(info, |cart, _, args| {
                silent(cart.set_note(args.text("note").unwrap_or_default(), &["note"]))
            }),
            "cartDeliveryAddressesAdd" => self.change(info, |cart, _, args| {
                silent(cart.add_addresses(input::addresses(args), &["addresses"]))
            }),
            "cartDeliveryAddressesReplace" => self.change(info, |cart, _, args| {
                silent(cart.replace_addresses(input::addresses(args), &["addresses"]))
            }),
            "cartDeliveryAddressesUpdate" => self.change(info, |cart, _, args| {
                silent(cart.change_addresses(input::address_changes(args)))
            }),
            "cartDeliveryAddressesRemove" => self.change(info, |cart, _, args| {
                silent(cart.remove_addresses(&input::texts(args, "addressIds")))
            }),
            "cartSelectedDeliveryOptionsUpdate" => self.change(info, select_delivery),
            _ => return None,
        })
    }
}

/// Selects a delivery option. A cart has at most one delivery group.
fn select_delivery(cart: &mut Cart, service: &CartService<'_>, args: Args<'_>) -> MutationResult {
    let field = ["selectedDeliveryOptions"];
    let asked = args.list("selectedDeliveryOptions").iter().filter_map(Args::in_object);
    for selected in asked {
        let group = selected.text("deliveryGroupId").unwrap_or_default();
        let handle = selected.text("deliveryOptionHandle").unwrap_or_default();
        let bare = group
            .strip_prefix("gid://shopify/CartDeliveryGroup/")
            .unwrap_or_default();
        let rates = service.bill(cart).rates;
        if rates.is_empty() || bare.split('?').next() != Some(group_id(cart).as_str()) {
            let message = format!("The delivery group with id {group} does not exist.");
            return Err(CartRefusal::whole(Refusal::new(
                "INVALID_DELIVERY_GROUP",
                &field,
                message,
            )));
        }
        if !rates.iter().any(|rate| rate.handle == handle) {
            let message = format!("The delivery option with handle {handle} is not valid.");
            return Err(CartRefusal::whole(Refusal::new(
                "INVALID_DELIVERY_OPTION",
                &field,
                message,
            )));
        }
        cart.delivery = Some(handle.to_owned());
    }
    Ok(Vec::new())
}

impl ObjectValue for Mutation<'_> {
    fn type_name(&self) -> &str {
        "Mutation"
    }

    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Result<ResolvedValue<'a>, FieldError> {
        let name = info.field_name();
        if let Some(payload) = self.of_cart(name, info) {
            return Ok(payload);
        }
        match customer::mutate(self.view, name, Args::of(info)) {
            Some(payload) => Ok(fixed(self.view, payload?, &info.field_definition().ty)),
            None => Err(self.unknown_field_error(info)),
        }
    }
}

struct Payload<'v> {
    view: &'v View<'v>,
    kind: String,
    cart: Option<Rc<CartView>>,
    errors: Value,
    warnings: Value,
}

impl ObjectValue for Payload<'_> {
    fn type_name(&self) -> &str {
        &self.kind
    }

    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Result<ResolvedValue<'a>, FieldError> {
        let ty = &info.field_definition().ty;
        Ok(match info.field_name() {
            "cart" => ResolvedValue::nullable_object(self.cart.as_ref().map(|shown| CartNode {
                view: self.view,
                shown: Rc::clone(shown),
            })),
            "userErrors" => fixed(self.view, self.errors.clone(), ty),
            "warnings" => fixed(self.view, self.warnings.clone(), ty),
            _ => return Err(self.unknown_field_error(info)),
        })
    }
}
