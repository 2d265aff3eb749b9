use std::rc::Rc;

use apollo_compiler::ast::Type;
use apollo_compiler::resolvers::{FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use apollo_compiler::response::JsonValue;
use serde_json::{Value, json};

use super::args::Args;
use super::cart_node::CartNode;
use super::collection::{self, CollectionNode};
use super::connection::{Entry, connection};
use super::customer;
use super::fixed::fixed;
use super::mutation::{service, shown, token_and_key};
use super::node::Node;
use super::product::ProductNode;
use super::search::Search;
use super::sort::{self, SortOrder};
use super::variant::NthVariant;
use super::view::View;
use super::{gid, shop, version};
use crate::product::Product;

/// Resolver for the query fields of a store.
pub(super) struct Root<'v> {
    view: &'v View<'v>,
}

impl<'v> Root<'v> {
    pub(super) fn new(view: &'v View<'v>) -> Self {
        Self { view }
    }

    fn product(&self, args: Args<'_>) -> Result<ResolvedValue<'v>, FieldError> {
        let good = match (args.text("id"), args.text("handle")) {
            (Some(id), None) => match gid::expect(id)? {
                ("Product", Some(id)) => self.view.product(id),
                _ => None,
            },
            (None, Some(handle)) => self.view.product_of(handle),
            _ => {
                return Err(FieldError {
                    message: "Exactly one of id and handle must be given".to_owned(),
                });
            }
        };
        let view = self.view;
        Ok(ResolvedValue::nullable_object(
            good.map(|good| ProductNode { view, good }),
        ))
    }

    fn collection(&self, args: Args<'_>) -> Result<ResolvedValue<'v>, FieldError> {
        let shelf = match (args.text("id"), args.text("handle")) {
            (Some(id), None) => match gid::expect(id)? {
                ("Collection", Some(id)) => collection::by_id(self.view, id),
                _ => None,
            },
            (None, Some(handle)) => collection::by_handle(self.view, handle),
            _ => {
                return Err(FieldError {
                    message: "Exactly one of id and handle must be given".to_owned(),
                });
            }
        };
        let view = self.view;
        Ok(ResolvedValue::nullable_object(shelf.map(|shelf| CollectionNode {
            view,
            shelf: Rc::new(shelf),
        })))
    }

    /// Returns the cart with an id, or `None` if it was removed, never existed, or has another key.
    fn cart(&self, id: &str) -> Option<CartNode<'v>> {
        let (token, key) = token_and_key(id)?;
        let service = service(self.view);
        let cart = service.find(token)?;
        if key.is_some_and(|key| key != cart.key) {
            return None;
        }
        let bill = service.bill(&cart);
        let shown = shown(self.view, &service, cart, bill, key.is_some());
        Some(CartNode {
            view: self.view,
            shown: Rc::new(shown),
        })
    }

    /// Returns the node with a global id, or `None` if it does not exist.
    fn node(&self, id: &str, ty: &Type) -> Result<Option<ResolvedValue<'v>>, FieldError> {
        let (kind, Some(number)) = gid::expect(id)? else {
            return Ok(None);
        };
        let view = self.view;
        Ok(match kind {
            "Product" => view.product(number).map(|good| good.resolve(view, ty)),
            "ProductVariant" => view
                .variant(number)
                .map(|(good, nth)| NthVariant { good, nth }.resolve(view, ty)),
            "Collection" => collection::by_id(view, number).map(|shelf| Rc::new(shelf).resolve(view, ty)),
            _ => shop::node(view, kind, number).map(|value| value.resolve(view, ty)),
        })
    }

    fn nodes(&self, info: &ResolveInfo<'_>) -> Result<ResolvedValue<'v>, FieldError> {
        let ids = Args::of(info).list("ids").iter().filter_map(JsonValue::as_str);
        let nodes = ids.zip(1_u64..).map(|(id, nth)| {
            let node = self.node(id, info.field_definition().ty.item_type())?;
            let is_withheld = self.view.lie.null_every.is_some_and(|every| nth.is_multiple_of(every));
            Ok(node.filter(|_| !is_withheld).unwrap_or_else(ResolvedValue::null))
        });
        Ok(ResolvedValue::list(nodes.collect::<Result<Vec<_>, FieldError>>()?))
    }

    fn products(&self, info: &ResolveInfo<'_>) -> Result<ResolvedValue<'v>, FieldError> {
        let args = Args::of(info);
        let order = SortOrder::of(args, "ID");
        let search = args.text("query").map(Search::parse);
        let found = |product: &Product| search.as_ref().is_some_and(|search| search.matches(product));
        let keep: Option<&dyn Fn(&Product) -> bool> = if search.is_some() { Some(&found) } else { None };
        let places = self.view.shop.catalogue.places(self.view.epoch);
        let entries = sort::products(self.view, &places, order, keep);
        connection(self.view, info, &entries, |place| self.view.good(*place))
    }

    fn api_versions(&self, info: &ResolveInfo<'_>) -> ResolvedValue<'v> {
        let versions = version::all().map(
            |(handle, name, is_supported)| json!({ "handle": handle, "displayName": name, "supported": is_supported }),
        );
        fixed(
            self.view,
            versions.collect::<Vec<Value>>().into(),
            &info.field_definition().ty,
        )
    }
}

impl ObjectValue for Root<'_> {
    fn type_name(&self) -> &str {
        "QueryRoot"
    }

    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Result<ResolvedValue<'a>, FieldError> {
        let args = Args::of(info);
        let ty = &info.field_definition().ty;
        match info.field_name() {
            "product" | "productByHandle" => self.product(args),
            "products" => self.products(info),
            "cart" => {
                let cart = self.cart(args.text("id").unwrap_or_default());
                Ok(ResolvedValue::nullable_object(cart))
            }
            "customer" => {
                let token = args.text("customerAccessToken").unwrap_or_default();
                Ok(fixed(self.view, customer::read(self.view, token)?, ty))
            }
            "collection" | "collectionByHandle" => self.collection(args),
            "collections" => collection::connection_of_all(self.view, info),
            "nodes" => self.nodes(info),
            "node" => {
                let node = self.node(args.text("id").unwrap_or_default(), ty)?;
                Ok(node.unwrap_or_else(ResolvedValue::null))
            }
            "shop" => Ok(fixed(self.view, shop::shop(self.view), ty)),
            "paymentSettings" => Ok(fixed(self.view, shop::payment_settings(self.view), ty)),
            "localization" => Ok(fixed(self.view, shop::localization(self.view), ty)),
            // Emulated stores have no pickup locations.
            "locations" => connection(self.view, info, &[] as &[Entry<u64>], |_| None::<Value>),
            "publicApiVersions" => Ok(self.api_versions(info)),
            _ => Err(self.unknown_field_error(info)),
        }
    }
}
