use std::rc::Rc;

use apollo_compiler::ast::Type;
use apollo_compiler::resolvers::{FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use serde_json::{Value, json};

use super::args::Args;
use super::cart_value as value;
use super::cart_value::Coinage;
use super::connection::{Entry, connection};
use super::customer;
use super::fixed::fixed;
use super::node::Node;
use super::variant::VariantNode;
use super::view::View;
use crate::cart::Cart;
use crate::cart_service::{Bill, BillLine, group_id};
use crate::discount::{Class, DiscountRule};
use crate::generated::dice::fold_bytes;

/// Cart as shown in one request.
#[derive(Debug)]
pub(super) struct CartView {
    pub(super) cart: Cart,
    pub(super) bill: Bill,
    pub(super) rules: Vec<DiscountRule>,
    pub(super) coins: Coinage,
    /// True if the caller knows the cart's key. Other callers do not see private fields.
    pub(super) has_key: bool,
}

impl CartView {
    fn line(&self, nth: usize) -> Option<&BillLine> {
        self.bill.lines.get(nth)
    }

    /// Returns the discount allocations that `keep` selects by class and line, in the order in which lines are shown.
    fn allocations(&self, keep: impl Fn(Class, Option<usize>) -> bool) -> Value {
        let mut kept: Vec<_> = self.bill.applied.allocations.iter().collect();
        kept.retain(|it| keep(it.class, it.item));
        let told = kept
            .into_iter()
            .filter_map(|it| value::allocation(it, &self.rules, &self.coins));
        told.collect::<Vec<_>>().into()
    }
}

pub(super) struct CartNode<'v> {
    pub(super) view: &'v View<'v>,
    pub(super) shown: Rc<CartView>,
}

impl<'v> CartNode<'v> {
    fn lines(&self, info: &ResolveInfo<'_>, keep: impl Fn(&BillLine) -> bool) -> Result<ResolvedValue<'v>, FieldError> {
        let lines = self.shown.bill.lines.iter().enumerate();
        let mut entries: Vec<Entry<usize>> = lines
            .filter(|(_, line)| keep(line))
            .map(|(nth, line)| {
                let id = line.line.id.to_string();
                Entry {
                    id: fold_bytes(id.as_bytes()),
                    value: id.into(),
                    item: nth,
                }
            })
            .collect();
        if Args::of(info).flag("reverse") == Some(true) {
            entries.reverse();
        }
        connection(self.view, info, &entries, |nth| {
            let shown = Rc::clone(&self.shown);
            Some(NthLine { shown, nth: *nth })
        })
    }

    fn groups(&self, info: &ResolveInfo<'_>) -> Result<ResolvedValue<'v>, FieldError> {
        let group = Entry {
            id: fold_bytes(self.shown.cart.token.as_bytes()),
            value: group_id(&self.shown.cart).into(),
            item: (),
        };
        let groups: &[Entry<()>] = if self.shown.bill.rates.is_empty() {
            &[]
        } else {
            &[group]
        };
        connection(self.view, info, groups, |()| Some(CartGroup(Rc::clone(&self.shown))))
    }

    fn buyer(&self) -> Value {
        let buyer = &self.shown.cart.buyer;
        let private = |text: &Option<String>| text.clone().filter(|_| self.shown.has_key);
        let customer = buyer.customer.filter(|_| self.shown.has_key);
        json!({
            "countryCode": buyer.country,
            "email": private(&buyer.email),
            "phone": private(&buyer.phone),
            "customer": customer.and_then(|id| customer::value_of(self.view, id)),
            "purchasingCompany": null,
        })
    }
}

impl ObjectValue for CartNode<'_> {
    fn type_name(&self) -> &str {
        "Cart"
    }

    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Result<ResolvedValue<'a>, FieldError> {
        let CartView { cart, bill, coins, .. } = self.shown.as_ref();
        let leaf = |value: Value| Ok(ResolvedValue::leaf(value));
        let known = |value: Value| Ok(fixed(self.view, value, &info.field_definition().ty));
        match info.field_name() {
            "id" => leaf(value::cart_id(cart, self.shown.has_key).into()),
            "checkoutUrl" => {
                let stated = self.view.lie.checkout_origin.as_ref();
                let base = stated.unwrap_or(&self.view.shop.address.base_url);
                leaf(format!("{base}/cart/c/{}?key={}", cart.token, cart.checkout_key).into())
            }
            "createdAt" => leaf(value::dates(cart).0.into()),
            "updatedAt" => leaf(value::dates(cart).1.into()),
            "note" => leaf(cart.note.as_str().into()),
            "totalQuantity" => leaf(bill.quantity().into()),
            "attributes" => known(json!(cart.attributes)),
            "attribute" => {
                let key = Args::of(info).text("key").unwrap_or_default();
                known(value::attribute(&cart.attributes, key))
            }
            "buyerIdentity" => known(self.buyer()),
            "cost" | "estimatedCost" => known(value::cost(bill, coins)),
            "discountCodes" => known(value::codes(bill)),
            "discountAllocations" => known(self.shown.allocations(|class, _| class != Class::Product)),
            "appliedGiftCards" | "metafields" => known(json!([])),
            "metafield" => Ok(ResolvedValue::null()),
            "delivery" => Ok(ResolvedValue::object(DeliveryNode {
                view: self.view,
                shown: Rc::clone(&self.shown),
            })),
            "deliveryGroups" => self.groups(info),
            "lines" => self.lines(info, |_| true),
            _ => Err(self.unknown_field_error(info)),
        }
    }
}

struct DeliveryNode<'v> {
    view: &'v View<'v>,
    shown: Rc<CartView>,
}

impl ObjectValue for DeliveryNode<'_> {
    fn type_name(&self) -> &str {
        "CartDelivery"
    }

    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Result<ResolvedValue<'a>, FieldError> {
        match info.field_name() {
            "addresses" if self.shown.has_key => {
                let only_selected = Args::of(info).flag("selected").unwrap_or(false);
                let listed = value::addresses(&self.shown.cart, only_selected);
                Ok(fixed(self.view, listed, &info.field_definition().ty))
            }
            "addresses" => Ok(fixed(self.view, json!([]), &info.field_definition().ty)),
            _ => Err(self.unknown_field_error(info)),
        }
    }
}

/// Only delivery group of a cart.
struct CartGroup(Rc<CartView>);

impl Node for CartGroup {
    fn resolve<'v>(&self, view: &'v View<'v>, _: &Type) -> ResolvedValue<'v> {
        let shown = Rc::clone(&self.0);
        ResolvedValue::object(GroupNode { view, shown })
    }
}

struct GroupNode<'v> {
    view: &'v View<'v>,
    shown: Rc<CartView>,
}

impl ObjectValue for GroupNode<'_> {
    fn type_name(&self) -> &str {
        "CartDeliveryGroup"
    }

    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Result<ResolvedValue<'a>, FieldError> {
        let CartView { cart, bill, coins, .. } = self.shown.as_ref();
        let known = |value: Value| Ok(fixed(self.view, value, &info.field_definition().ty));
        match info.field_name() {
            "id" => {
                let id = format!("gid://shopify/CartDeliveryGroup/{}?cart={}", group_id(cart), cart.token);
                Ok(ResolvedValue::leaf(id))
            }
            "groupType" => Ok(ResolvedValue::leaf("ONE_TIME_PURCHASE")),
            "deliveryAddress" => {
                let place = cart.selected_address().map(|address| address.place.clone());
                known(value::group_address(&place.unwrap_or_default()))
            }
            "deliveryOptions" => {
                let rates = bill.rates.iter().map(|rate| value::rate(rate, coins));
                known(rates.collect::<Vec<_>>().into())
            }
            "selectedDeliveryOption" => {
                let rate = bill.selected_rate();
                known(rate.map_or(Value::Null, |rate| value::rate(rate, coins)))
            }
            "cartLines" => {
                let cart = CartNode {
                    view: self.view,
                    shown: Rc::clone(&self.shown),
                };
                cart.lines(info, |line| line.offer.is_delivered() && line.line.quantity > 0)
            }
            _ => Err(self.unknown_field_error(info)),
        }
    }
}

struct NthLine {
    shown: Rc<CartView>,
    nth: usize,
}

impl Node for NthLine {
    fn resolve<'v>(&self, view: &'v View<'v>, _: &Type) -> ResolvedValue<'v> {
        let shown = Rc::clone(&self.shown);
        ResolvedValue::object(LineNode {
            view,
            shown,
            nth: self.nth,
        })
    }
}

struct LineNode<'v> {
    view: &'v View<'v>,
    shown: Rc<CartView>,
    nth: usize,
}

impl ObjectValue for LineNode<'_> {
    fn type_name(&self) -> &str {
        "CartLine"
    }

    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Result<ResolvedValue<'a>, FieldError> {
        let gone = || FieldError {
            message: "the merchandise is gone".to_owned(),
        };
        let line = self.shown.line(self.nth).ok_or_else(gone)?;
        let known = |value: Value| Ok(fixed(self.view, value, &info.field_definition().ty));
        match info.field_name() {
            "id" => Ok(ResolvedValue::leaf(value::line_id(&self.shown.cart, line.line.id))),
            "quantity" => {
                let pieces = self.view.lie.pieces.map_or(line.line.quantity, u64::from);
                Ok(ResolvedValue::leaf(pieces))
            }
            "attributes" => known(json!(line.line.attributes)),
            "attribute" => {
                let key = Args::of(info).text("key").unwrap_or_default();
                known(value::attribute(&line.line.attributes, key))
            }
            "cost" | "estimatedCost" => known(value::line_cost(line, &self.shown.coins)),
            "discountAllocations" => {
                let own = |class, item| class == Class::Product && item == Some(self.nth);
                known(self.shown.allocations(own))
            }
            "sellingPlanAllocation" => Ok(ResolvedValue::null()),
            "merchandise" => {
                let (good, nth) = self.view.variant(line.line.variant).ok_or_else(gone)?;
                Ok(ResolvedValue::object(VariantNode {
                    view: self.view,
                    good,
                    nth,
                }))
            }
            _ => Err(self.unknown_field_error(info)),
        }
    }
}
